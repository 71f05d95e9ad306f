# Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints metadata and tensors' names, types and shapes of a safetensors file."""

import json
import struct
import sys

with open(sys.argv[1], "rb") as file:
    length = struct.unpack("<Q", file.read(8))[0]
    header = json.loads(file.read(length))
metadata = header.pop("__metadata__", None)
if metadata:
    print("metadata", json.dumps(metadata, sort_keys=True))
for name in sorted(header):
    print(name, header[name]["dtype"], header[name]["shape"])
