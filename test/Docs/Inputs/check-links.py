#!/usr/bin/env python3
# Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Follows the links between pages, to files and to headings.

usage: check-links.py PAGE...
"""

import os
import re
import sys


def read_text(path):
    """The page without its code blocks."""
    with open(path, encoding="utf-8") as file:
        return re.sub(r"^```.*?^```", "", file.read(), flags=re.DOTALL | re.MULTILINE)


def headings(path):
    """The names by which links find the headings of a page."""
    names = set()
    for heading in re.findall(r"^#+ (.*)", read_text(path), re.MULTILINE):
        name = re.sub(r"[^\w\- ]", "", heading.strip().lower())
        names.add(name.replace(" ", "-"))
    return names


def main():
    faults, count = [], 0
    for page in sys.argv[1:]:
        for link in re.findall(r"\]\(([^)\s]+)\)", read_text(page)):
            if link.startswith("https://"):
                continue
            count += 1
            target, _, heading = link.partition("#")
            path = os.path.join(os.path.dirname(page), target) if target else page
            if not os.path.exists(path):
                faults.append("%s: there is no %s" % (page, link))
            elif heading and heading not in headings(path):
                faults.append("%s: there is no heading %s" % (page, link))
    if faults or not count:
        sys.exit("\n".join(faults) or "no links")
    print("%d links followed" % count)


if __name__ == "__main__":
    main()
