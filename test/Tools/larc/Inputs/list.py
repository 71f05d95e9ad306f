# Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the JSON of `larc list` on stdin."""

import json
import sys

specs = {spec["name"]: spec for spec in json.load(sys.stdin)}
for spec in specs.values():
    assert set(spec) == {"name", "summary", "operands", "states", "attributes"}, spec
    assert spec["summary"], spec
    for operand in spec["operands"]:
        assert operand["kind"] in ("data", "gate", "coefficient"), operand

assert [operand["name"] for operand in specs["gla"]["operands"]] == ["q", "k", "v", "g"]
assert specs["gla"]["operands"][3]["kind"] == "gate"
assert specs["gla"]["attributes"][0]["default"] == "rsqrt(K)"
assert specs["retention"]["operands"][3]["constant"] is True
assert specs["abc"]["states"][2]["init"] == "-inf"
domains = {operand["name"]: operand["domain"] for operand in specs["lattice_dec_l1"]["operands"]}
assert domains["gamma"] == "interval"
assert domains["mu"] == "interval(0.5,1)"
assert domains["threshold"] == "interval(0,0.02)"
assert specs["lattice_dec"]["states"][0]["required"] is True
attributes = {attribute["name"]: attribute for attribute in specs["nested_gdn2"]["attributes"]}
assert attributes["intervals"]["default"] == [1, 2, 4]
assert attributes["period"]["default"] == 64
assert attributes["promotion"]["values"] == ["learned", "additive"]
