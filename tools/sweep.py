#!/usr/bin/env python3
# Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How good the cost model's choice is.

Runs `larc bench` for every spec, length and form, chunks of every size
included, in rounds, and prints for each call what `--form=auto` chose and how
much longer it takes than the best of all: times are the least of all rounds.
The last line says how many choices are within the limit; exit code 1 if one is
not.
"""

import argparse
import json
import random
import subprocess
import sys

SPECS = ("linear_attention,simple_gla,gla,gsa,outer_gate,rwkv6,delta_net,"
         "gated_delta_net,kda,rwkv7,mlstm,abc")
EXTRA = {"gsa": ["M"], "gsa_explicit": ["M"], "abc": ["M"],
         "delta_cascade": ["M"], "gated_delta_product": ["n"]}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--larc", default="build/bin/larc")
    parser.add_argument("--specs", default=SPECS)
    parser.add_argument("--tokens", default="64,256,2048")
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--size", type=int, default=128,
                        help="of the axes K and V")
    parser.add_argument("--slots", type=int, default=64,
                        help="of the axis M")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--chunk-sizes", default="16,32,64,128")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--limit", type=float, default=1.15,
                        help="time of the choice to that of the best")
    return parser.parse_args()


def measure(arguments, spec, tokens, form, chunk_size):
    dims = {"B": 1, "T": tokens, "H": arguments.heads}
    dims.update({"K": arguments.size, "V": arguments.size})
    dims.update({axis: arguments.slots if axis == "M" else 2
                 for axis in EXTRA.get(spec, [])})
    command = [arguments.larc, "bench", spec, "--json", f"--form={form}",
               f"--threads={arguments.threads}",
               "--dims=" + ",".join(f"{a}={n}" for a, n in dims.items())]
    if chunk_size:
        command.append(f"--chunk-size={chunk_size}")
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"{' '.join(command)}: {run.stderr.strip()}")
    result = json.loads(run.stdout)
    return result[0] if isinstance(result, list) else result


def describe(result):
    if result["form"] != "chunk":
        return result["form"]
    return f"chunk {result['chunk_size']}, segments {result['segments']}"


def sweep(arguments, spec, tokens):
    """The best result of each form, and what was chosen."""
    forms = [("auto", 0), ("recurrent", 0)]
    forms += [("chunk", int(size)) for size in arguments.chunk_sizes.split(",")]
    best = {}
    for _ in range(arguments.rounds):
        random.shuffle(forms)
        for form in forms:
            result = measure(arguments, spec, tokens, *form)
            if form not in best or result["min_ms"] < best[form]["min_ms"]:
                best[form] = result
    chosen = best.pop(("auto", 0))
    # The same code twice: the lesser time is that of both.
    for other in best.values():
        if describe(other) == describe(chosen):
            chosen["min_ms"] = min(chosen["min_ms"], other["min_ms"])
    fastest = min(best.values(), key=lambda result: result["min_ms"])
    return chosen, fastest


def main():
    arguments = parse_arguments()
    within = total = 0
    print(f"{'spec':20} {'T':>6}  {'chosen':24} {'ms':>9} {'predicted':>9}  "
          f"{'best':24} {'ms':>9}  ratio")
    for spec in arguments.specs.split(","):
        for tokens in arguments.tokens.split(","):
            chosen, fastest = sweep(arguments, spec, int(tokens))
            ratio = max(1.0, chosen["min_ms"] / fastest["min_ms"])
            total += 1
            within += ratio <= arguments.limit
            print(f"{spec:20} {tokens:>6}  {describe(chosen):24} "
                  f"{chosen['min_ms']:9.4f} {chosen['predicted_ms']:9.4f}  "
                  f"{describe(fastest):24} {fastest['min_ms']:9.4f}  "
                  f"{ratio:.2f}", flush=True)
    print(f"{within} of {total} within {arguments.limit}")
    return 0 if within == total else 1


if __name__ == "__main__":
    sys.exit(main())
