# Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the JSON of `larc check` on stdin: the number of results given, all passed."""

import json
import sys

number = int(sys.argv[1])
reports = json.load(sys.stdin)
if number == 1:
    reports = [reports]
assert len(reports) == number, reports
for report in reports:
    assert set(report) == {"spec", "form", "dtype", "file", "pass", "tensors"}, report
    assert report["pass"] is True, report
    assert report["tensors"], report
    for tensor in report["tensors"]:
        assert set(tensor) == {"name", "shape", "max_abs", "rel", "limit", "pass"}, tensor
        assert tensor["rel"] <= tensor["limit"] and tensor["pass"] is True, tensor
