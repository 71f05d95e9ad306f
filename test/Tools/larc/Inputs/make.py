# Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a safetensors file, well-formed or not.

    make.py OUTPUT WORD...

Words are, in any order:

    NAME:DTYPE:SIZE,...=VALUE   a tensor (F64 F32 F16 BF16 I64 I32); VALUE is a
                                number, `normal`, `gate`, or all values 1,2,...;
                                a scalar's sizes are empty
    @KEY=VALUE                  an entry of the metadata
    --base=FILE                 start with the tensors and metadata of FILE
    --drop=NAME                 without this tensor
    --rename=NAME:NEW
    --narrow=DTYPE              floats that are no expected results get this type
    --truncate=BYTES            cut so much off the end
    --header-length=N           the length that the file claims
    --overlap                   all data starts at offset 0
    --raw=TEXT                  the file's content, nothing else
"""

import json
import random
import struct
import sys

WIDTHS = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4}
FORMATS = {"F64": "d", "F32": "f", "F16": "e", "I64": "q", "I32": "i"}
EXPECTED = ("out.", "final.", "grad.")


def encode(values, dtype):
    if dtype != "BF16":
        return struct.pack("<%d%s" % (len(values), FORMATS[dtype]), *values)
    words = []
    for value in values:
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        # To nearest, ties to even; NaNs stay NaNs.
        words.append((bits >> 16) | 0x40 if value != value else (bits + 0x7FFF + (bits >> 16 & 1)) >> 16)
    return struct.pack("<%dH" % len(words), *words)


def decode(data, dtype):
    if dtype != "BF16":
        return struct.unpack("<%d%s" % (len(data) // WIDTHS[dtype], FORMATS[dtype]), data)
    words = struct.unpack("<%dH" % (len(data) // 2), data)
    return [struct.unpack("<f", struct.pack("<I", word << 16))[0] for word in words]


def count(shape):
    product = 1
    for size in shape:
        product *= size
    return product


def read(path):
    with open(path, "rb") as file:
        content = file.read()
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        tensors[name] = (entry["dtype"], entry["shape"], content[8 + length + begin : 8 + length + end])
    return tensors, metadata


def make(text):
    head, value = text.split("=", 1)
    name, dtype, sizes = head.split(":")
    shape = [int(size) for size in sizes.split(",") if size]
    generator = random.Random(name)
    number = count(shape)
    if value == "normal":
        values = [generator.gauss(0, 1) for _ in range(number)]
    elif value == "gate":
        values = [-generator.random() for _ in range(number)]
    elif "," in value:
        values = [float(part) for part in value.split(",")]
    else:
        values = [float(value)] * number
    if dtype[0] == "I":
        values = [int(value) for value in values]
    assert len(values) == number, text
    return name, (dtype, shape, encode(values, dtype))


def main():
    output, words = sys.argv[1], sys.argv[2:]
    tensors, metadata = {}, {}
    truncate, header_length, overlap = 0, None, False
    for word in words:
        option, _, value = word.partition("=")
        if option == "--base":
            tensors, metadata = read(value)
        elif option == "--drop":
            del tensors[value]
        elif option == "--rename":
            old, new = value.split(":")
            tensors[new] = tensors.pop(old)
        elif option == "--narrow":
            for name, (dtype, shape, data) in tensors.items():
                if dtype[0] in "FB" and not name.startswith(EXPECTED):
                    tensors[name] = (value, shape, encode(decode(data, dtype), value))
        elif option == "--truncate":
            truncate = int(value)
        elif option == "--header-length":
            header_length = int(value)
        elif option == "--overlap":
            overlap = True
        elif option == "--raw":
            with open(output, "w") as file:
                file.write(value)
            return
        elif word[0] == "@":
            metadata[option[1:]] = value
        else:
            name, tensor = make(word)
            tensors[name] = tensor

    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for name, (dtype, shape, content) in tensors.items():
        begin = 0 if overlap else len(data)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, begin + len(content)]}
        data += content
    text = json.dumps(header).encode()
    content = struct.pack("<Q", len(text) if header_length is None else header_length) + text + data
    with open(output, "wb") as file:
        file.write(content[: len(content) - truncate])


main()
