# Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the JSON of `larc bench` on stdin: one object for each FORM:T given."""

import json
import sys

KEYS = (
    "spec form dims dtype threads chunk_size segments median_ms min_ms max_ms runs flops bytes "
    "gflops gbps peak_gflops copy_gbps share workspace_bytes compile_ms predicted_ms"
).split()

expected = [argument.split(":") for argument in sys.argv[1:]]
reports = json.load(sys.stdin)
if len(expected) == 1:
    reports = [reports]
assert [[report["form"], str(report["dims"]["T"])] for report in reports] == expected, reports
for report in reports:
    assert sorted(report) == sorted(KEYS), report
    assert 0 < report["min_ms"] <= report["median_ms"] <= report["max_ms"], report
    assert report["runs"] >= 1 and report["threads"] == 1, report
    assert report["flops"] > 0 and report["bytes"] > 0, report
    limit_ms = max(report["flops"] / report["peak_gflops"], report["bytes"] / report["copy_gbps"]) * 1e-6
    assert abs(report["share"] - limit_ms / report["min_ms"]) < 1e-6 * report["share"], report
