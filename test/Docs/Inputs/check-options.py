#!/usr/bin/env python3
# Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the options on the driver's page with those that the driver has.

usage: check-options.py PAGE COMMAND...

Reads `larc COMMAND --help`. Every option that a help text lists must be on the
page, and every option on the page must be in a help text.
"""

import re
import subprocess
import sys

GENERIC = {"--help", "--help-list", "--help-hidden", "--version"}


def main():
    page, *commands = sys.argv[1:]
    have = set()
    for command in commands:
        text = subprocess.run(["larc", command, "--help"], check=True, capture_output=True,
                              encoding="utf-8").stdout
        have |= set(re.findall(r"^ +(--?[a-z][-a-z]*)", text, re.MULTILINE))
    with open(page, encoding="utf-8") as file:
        shown = set(re.findall(r"(?<![-\w.])(--?[a-z][-a-z]*)(?![\w.:])", file.read()))
    have -= GENERIC
    shown -= GENERIC | {"--option"}
    faults = ["%s is not on the page" % option for option in sorted(have - shown)]
    faults += ["%s is no option" % option for option in sorted(shown - have)]
    if faults or not have:
        sys.exit("\n".join(faults) or "no options found")
    print("%d options compared" % len(have))


if __name__ == "__main__":
    main()
