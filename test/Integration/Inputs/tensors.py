# Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cuts inputs into pieces, and compares results of pieces with those of the whole.

    tensors.py cut IN OUT [--constants=NAME,...] [--rows=A:B] [--tokens=A:B]
                          [--state=RESULTS] [--position=N]
        Takes rows and tokens of all inputs; expected results are left out.
        --state takes final states of RESULTS as the initial ones.
    tensors.py pack IN OUT [--constants=NAME,...]
        Makes rows of a batch packed sequences.
    tensors.py repeat-heads IN OUT NAME,... TIMES
        Gives each head of these operands to that many neighbours of its own.
    tensors.py same WHOLE [--rows | --tokens] PART...
        Results are the same bit by bit: those of PARTs put together along the
        rows or the tokens are those of WHOLE. Along tokens, final states are
        those of the last.
"""

import json
import struct
import sys

EXPECTED = ("out.", "final.", "grad.", "cot.")
WIDTHS = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8}


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


def write(path, tensors, metadata):
    header, data = {"__metadata__": metadata}, b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def product(sizes):
    result = 1
    for size in sizes:
        result *= size
    return result


def take(tensor, axis, begin, end):
    dtype, shape, data = tensor
    inner = product(shape[axis + 1 :]) * WIDTHS[dtype]
    size = shape[axis] * inner
    pieces = [data[i * size + begin * inner : i * size + end * inner] for i in range(product(shape[:axis]))]
    return dtype, shape[:axis] + [end - begin] + shape[axis + 1 :], b"".join(pieces)


def join(tensors, axis):
    dtype, shape, _ = tensors[0]
    inner = product(shape[axis + 1 :]) * WIDTHS[dtype]
    pieces = []
    for i in range(product(shape[:axis])):
        for _, part, data in tensors:
            size = part[axis] * inner
            pieces.append(data[i * size : (i + 1) * size])
    return b"".join(pieces)


def parse(words):
    plain = [word for word in words if not word.startswith("--")]
    options = dict(word[2:].partition("=")[::2] for word in words if word.startswith("--"))
    constants = set(options.get("constants", "").split(","))
    return plain, options, constants


def inputs(path):
    tensors, metadata = read(path)
    return {name: tensor for name, tensor in tensors.items() if not name.startswith(EXPECTED)}, metadata


def cut(words):
    (source, target), options, constants = parse(words)
    tensors, metadata = inputs(source)
    result = {}
    for name, tensor in tensors.items():
        if name not in constants:
            if "rows" in options:
                begin, end = map(int, options["rows"].split(":"))
                tensor = take(tensor, 0, begin, end)
            if "tokens" in options and "." not in name and name != "position":
                begin, end = map(int, options["tokens"].split(":"))
                tensor = take(tensor, 1, begin, end)
        result[name] = tensor
    if "state" in options:
        for name, tensor in read(options["state"])[0].items():
            if name.startswith("final."):
                name = name[len("final.") :]
                result[name if name.startswith("anchor.") else "state." + name] = tensor
    if "position" in options:
        rows = next(tensor[1][0] for name, tensor in result.items() if "." not in name and name not in constants)
        result["position"] = ("I64", [rows], struct.pack("<q", int(options["position"])) * rows)
    write(target, result, metadata)


def pack(words):
    (source, target), _, constants = parse(words)
    tensors, metadata = inputs(source)
    rows = tokens = 0
    for name, (dtype, shape, data) in tensors.items():
        if "." not in name and name not in constants:
            rows, tokens = shape[:2]
            tensors[name] = (dtype, [1, rows * tokens] + shape[2:], data)
    offsets = [i * tokens for i in range(rows + 1)]
    tensors["cu_seqlens"] = ("I64", [rows + 1], struct.pack("<%dq" % len(offsets), *offsets))
    write(target, tensors, metadata)


def repeat_heads(words):
    source, target, names, times = words
    tensors, metadata = inputs(source)
    for name in names.split(","):
        dtype, shape, data = tensors[name]
        size = product(shape[3:]) * WIDTHS[dtype]
        heads = [data[i : i + size] * int(times) for i in range(0, len(data), size)]
        tensors[name] = (dtype, shape[:2] + [shape[2] * int(times)] + shape[3:], b"".join(heads))
    write(target, tensors, metadata)


def same(words):
    (whole, *parts), options, _ = parse(words)
    whole = read(whole)[0]
    parts = [read(part)[0] for part in parts]
    assert whole
    for name, (dtype, shape, data) in whole.items():
        pieces = [part[name] for part in parts]
        if len(parts) == 1:
            joined = pieces[0][2]
        elif "rows" in options:
            joined = join(pieces, 0)
        elif name.startswith("out."):
            joined = join(pieces, 1)
        else:
            joined = pieces[-1][2]
        assert joined == data, "%s differs" % name


{"cut": cut, "pack": pack, "repeat-heads": repeat_heads, "same": same}[sys.argv[1]](sys.argv[2:])
