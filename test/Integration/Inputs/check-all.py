# Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs `larc check` on all test vectors of a folder, in one process.

    check-all.py FOLDER AT-LEAST [--shape=NAME] OPTION...

Fails if the folder has fewer than AT-LEAST vectors, or if one does not pass.
"""

import glob
import subprocess
import sys

folder, least, options = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
pattern = "*"
if options[0].startswith("--shape="):
    pattern = "*__" + options.pop(0).split("=")[1]
files = sorted(glob.glob("%s/%s.safetensors" % (folder, pattern)))
if len(files) < least:
    sys.exit("expected %d vectors in %s, found %d" % (least, folder, len(files)))
result = subprocess.run(
    ["larc", "check"] + options + ["--data=" + file for file in files],
    stdout=subprocess.PIPE,
    universal_newlines=True,
)
lines = result.stdout.splitlines()
title = ""
for line in lines:
    if not line.startswith(" "):
        title = line
    elif line.endswith("FAIL"):
        print(title)
        print(line)
print(lines[-1])
sys.exit(result.returncode)
