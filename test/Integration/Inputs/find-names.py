# Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fails for each word of a list in the project's C++ and TableGen files.

    find-names.py ROOT LIST
"""

import os
import re
import sys

root, names_path = sys.argv[1:]
with open(names_path) as file:
    names = file.read().split()
assert names
word = re.compile(r"\b(%s)\b" % "|".join(map(re.escape, names)))
# A comment that gives a paper, by its arXiv number or its authors.
paper = re.compile(r"//.*(arXiv|et al)")

found = False
for folder in ("lib", "include", "tools"):
    for path, _, files in os.walk(os.path.join(root, folder)):
        for name in files:
            if not name.endswith((".cpp", ".h", ".td")):
                continue
            full = os.path.join(path, name)
            with open(full, encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    if word.search(line) and not paper.search(line):
                        print("%s:%d: %s" % (full, number, line.rstrip()))
                        found = True
sys.exit(found)
