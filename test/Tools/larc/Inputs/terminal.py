# Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command on a terminal of its own until it has printed a text.

    terminal.py REGEX COMMAND...

Ends the command then. It is an error if the command ends by itself before that.
"""

import os
import pty
import re
import signal
import sys

pattern, command = sys.argv[1], sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    os.execvp(command[0], command)

output = ""
while not re.search(pattern, output):
    try:
        data = os.read(terminal, 4096)
    except OSError:  # Linux's end of a terminal
        data = b""
    if not data:
        sys.exit("the command ended without %r: %r" % (pattern, output))
    output += data.decode(errors="replace")
os.kill(child, signal.SIGTERM)
os.waitpid(child, 0)
