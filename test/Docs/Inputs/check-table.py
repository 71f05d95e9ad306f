#!/usr/bin/env python3
# Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the README's table of built-in recurrences with what there is.

usage: check-table.py README SPECS_FOLDER <LIST.json

Names and states are those of `larc list --json`, the papers those of the specs.
"""

import json
import re
import sys

ROW = re.compile(r"^\| `(\w+)` \| ([^|]*) \|")
PAPER = re.compile(r"\b\d{4}\.\d{5}\b")


def format_state(state):
    text = state["name"]
    if state["axes"]:
        text += "[%s]" % ",".join(state["axes"])
    if state["levels"]:
        text += " per " + state["levels"]["axis"]
    if state["required"]:
        return text + " required"
    return text if state["init"] == 0 else "%s=%s" % (text, state["init"])


def main():
    readme, specs = sys.argv[1:]
    listed = {spec["name"]: spec for spec in json.load(sys.stdin)}
    faults, rows = [], []
    with open(readme, encoding="utf-8") as file:
        for line in file:
            row = ROW.match(line)
            if not row:
                continue
            name, states = row.groups()
            rows.append(name)
            if name not in listed:
                faults.append("%s is in the README, but not built in" % name)
                continue
            expected = " ".join(map(format_state, listed[name]["states"]))
            if states.strip() != expected:
                faults.append("%s: states are %r, not %r" % (name, expected, states.strip()))
            with open("%s/%s.mlir" % (specs, name), encoding="utf-8") as spec:
                paper = re.search(r'^ *paper "(.*)"', spec.read(), re.MULTILINE).group(1)
            if set(PAPER.findall(line)) != set(PAPER.findall(paper)):
                faults.append("%s: the paper is %r" % (name, paper))
    faults += ["%s is not in the README" % name for name in sorted(set(listed) - set(rows))]
    faults += ["%s is twice in the README" % name for name in sorted(set(rows)) if rows.count(name) > 1]
    if faults:
        sys.exit("\n".join(faults))
    print("%d recurrences compared" % len(rows))


if __name__ == "__main__":
    main()
