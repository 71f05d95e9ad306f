# Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command that has to end with a given exit code and without a crash.

    exits.py CODE [--writes-nothing FILE] COMMAND...

Prints what the command wrote to stdout and stderr. With `--writes-nothing`, FILE
must not exist afterwards, nor any temporary file beside it.
"""

import glob
import os
import subprocess
import sys

arguments = sys.argv[1:]
expected = int(arguments.pop(0))
absent = None
if arguments[0] == "--writes-nothing":
    arguments.pop(0)
    absent = arguments.pop(0)

result = subprocess.run(
    arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
)
output = result.stdout.decode(errors="replace")
sys.stdout.write(output)
if result.returncode != expected:
    sys.exit("expected exit code %d, not %d: %s" % (expected, result.returncode, arguments))
for crash in ("Stack dump", "PLEASE", "Assertion", "LLVM ERROR", "see current operation"):
    if crash in output:
        sys.exit("the output has %r: %s" % (crash, arguments))
if absent:
    folder = os.path.dirname(absent) or "."
    left = glob.glob(os.path.join(folder, ".larc-*"))
    if os.path.exists(absent):
        left.append(absent)
    if left:
        sys.exit("left behind: %s" % left)
