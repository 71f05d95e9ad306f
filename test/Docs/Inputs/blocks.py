#!/usr/bin/env python3
# Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the fenced code blocks of a Markdown page that have a given language.

usage: blocks.py PAGE LANGUAGE

Blocks are separated by `// -----`, as larc-opt's --split-input-file wants, and
stand on the lines that they have in the page, so that messages point there.
"""

import sys


def main():
    page, language = sys.argv[1:]
    inside = False
    count = 0
    with open(page, encoding="utf-8") as lines:
        for line in lines:
            if not inside and line.rstrip() == "```" + language:
                inside = True
                count += 1
                print("// -----")
            elif inside and line.rstrip() == "```":
                inside = False
                print()
            else:
                print(line.rstrip("\n") if inside else "")
    if inside:
        sys.exit("%s: a code block is not closed" % page)
    if not count:
        sys.exit("%s: no block of %s" % (page, language))


if __name__ == "__main__":
    main()
