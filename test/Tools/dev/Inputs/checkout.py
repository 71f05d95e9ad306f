# Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a checkout with nothing but tools/dev, to run it on programs of no use.

    checkout.py FOLDER DEV [NAME=TEXT...]

FOLDER gets tools/dev (a copy of DEV), a configured build, LLVM as far as the
script looks for it, and in bin/ a program for each that the script runs: a shell
script that does nothing, or TEXT. `python3` is the one that runs this.
"""

import os
import shutil
import sys

PROGRAMS = (
    "apt-get clang++-22 clang-format-22 clang-tidy-22 cmake dpkg-query git lit ninja sudo"
).split()

folder, dev, *given = sys.argv[1:]
texts = dict.fromkeys(PROGRAMS, "exit 0")
texts["dpkg-query"] = "echo installed"
texts["python3"] = 'exec "%s" "$@"' % sys.executable
texts["git"] = "echo tools/file.cpp"
texts.update(argument.split("=", 1) for argument in given)


def write(path, text, mode=0o644):
    path = os.path.join(folder, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text + "\n")
    os.chmod(path, mode)


shutil.rmtree(folder, ignore_errors=True)
for name, text in texts.items():
    write("bin/" + name, "#!/bin/sh\n" + text, 0o755)
for name in ("FileCheck", "not", "count", "split-file"):
    write("llvm/bin/" + name, "#!/bin/sh", 0o755)
write("llvm/lib/cmake/mlir/MLIRConfig.cmake", "")
write("build/build.ninja", "")
write("build/CMakeCache.txt", "LLVM_EXTERNAL_LIT:STRING=%s/bin/lit" % folder)
write("build/test/here", "")
write("tools/file.cpp", "")
shutil.copy(dev, os.path.join(folder, "tools", "dev"))
