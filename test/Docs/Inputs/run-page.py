#!/usr/bin/env python3
# Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does what a page of the documentation tells its reader to do.

usage: run-page.py PAGE FOLDER

From the first line to the last:

- A code block after a line `<!-- file: NAME -->` is written to FOLDER/NAME.
- In a block of the language `console`, a line that starts with `$ ` is a
  command, with further lines while it ends in a backslash. It runs in FOLDER,
  in one shell for the whole page, and must succeed, unless the line before the
  block is `<!-- fails: CODE -->`: then its last command must exit with CODE.
- The lines after a command are what it prints (stdout and stderr together).
  A line `...` stands for any number of lines, `...` within a line for any text.
  A number with a fraction or an exponent stands for any such number (after a
  line `<!-- numbers: any -->`, every number does), one space for any number of
  spaces. A command without lines after it may print anything.

Other blocks are only read. Prints what was run; stops at the first difference.
"""

import os
import re
import subprocess
import sys

FENCE = re.compile(r"^( *)```(\S*)")
MARK = re.compile(r"<!-- (file|fails|numbers): (\S+) -->")
REAL = re.compile(r"(?<![\w.])-?\d+(?:\.\d+(?:e[-+]?\d+)?|e[-+]?\d+)(?![\w.])")
INTEGER = re.compile(r"(?<![\w.=:])-?\d+(?![\w.])")
ANY_REAL = r"-?(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|inf)"
END = "--- end of %d: %s ---"


def parse(page):
    """The page's marked and console blocks: (line, language, mark, lines)."""
    blocks = []
    mark = inside = None
    with open(page, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip("\n")
            fence = FENCE.match(line)
            if inside is not None:
                if fence and not fence.group(2):
                    blocks.append(inside)
                    inside = mark = None
                else:
                    inside[3].append(line[indent:])
            elif fence:
                indent = len(fence.group(1))
                inside = (number, fence.group(2), mark, [])
            else:
                found = MARK.match(line.strip())
                mark = found.groups() if found else None
    if inside is not None:
        sys.exit("%s:%d: a code block is not closed" % (page, inside[0]))
    return blocks


def split_commands(lines, first):
    """The commands of a console block: (line number, command, output lines)."""
    commands = []
    continued = False
    for number, line in enumerate(lines, first):
        if continued:
            commands[-1][1].append(line)
        elif line.startswith("$ "):
            commands.append((number, [line[2:]], []))
        elif commands:
            commands[-1][2].append(line)
        else:
            sys.exit("line %d: output before any command" % number)
        continued = (continued or line.startswith("$ ")) and line.endswith("\\")
    return commands


def pattern(line, any_number):
    """The regular expression of a line of expected output."""
    if any_number:
        line = INTEGER.sub("1.0", line)
    result = []
    for i, piece in enumerate(line.split("...")):
        if i:
            result.append(".*")
        position = 0
        for number in REAL.finditer(piece):
            result.append(words(piece[position : number.start()]) + ANY_REAL)
            position = number.end()
        result.append(words(piece[position:]))
    return re.compile("".join(result).rstrip() + r"\s*$")


def words(text):
    return re.sub(r"(?:\\ )+", " +", re.escape(text))


def match(expected, got, any_number):
    """Whether the lines agree; else the first expected line that does not."""
    if not expected:
        return None if not got else "nothing more"
    if expected[0].strip() == "...":
        for skipped in range(len(got) + 1):
            if match(expected[1:], got[skipped:], any_number) is None:
                return None
        return expected[1] if len(expected) > 1 else None
    if not got or not pattern(expected[0], any_number).match(got[0]):
        return expected[0]
    return match(expected[1:], got[1:], any_number)


class Shell:
    """One bash for the whole page, so that `export` and `cd` last."""

    def __init__(self, folder):
        self.process = subprocess.Popen(
            ["bash", "-o", "pipefail"], cwd=folder, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
            errors="replace")
        self.count = 0

    def run(self, command):
        self.count += 1
        end = END % (self.count, "%s")
        self.process.stdin.write("{ %s\n} </dev/null\nprintf '\\n%s\\n' $?\n"
                                 % (command, end % "%s"))
        self.process.stdin.flush()
        lines = []
        closing = re.compile(re.escape(end).replace("%s", r"(\d+)") + "$")
        for line in self.process.stdout:
            found = closing.match(line.rstrip("\n"))
            if found:
                # Empty lines at the end do not matter; one is printf's.
                while lines and not lines[-1].strip():
                    lines.pop()
                return int(found.group(1)), lines
            lines.append(line.rstrip("\n"))
        sys.exit("the shell ended")


def main():
    page, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    shell = Shell(folder)
    count = 0
    for first, language, mark, lines in parse(page):
        if mark and mark[0] == "file":
            with open(os.path.join(folder, mark[1]), "w", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
            print("wrote %s" % mark[1])
        if language != "console":
            continue
        code = int(mark[1]) if mark and mark[0] == "fails" else 0
        commands = split_commands(lines, first + 1)
        for number, command, expected in commands:
            count += 1
            command = "\n".join(command)
            print("$ " + command, flush=True)
            wanted = code if command == "\n".join(commands[-1][1]) else 0
            status, got = shell.run(command)
            print("\n".join(got), flush=True)
            place = "%s:%d: " % (page, number)
            if status != wanted:
                sys.exit("%sexit code %d, expected %d" % (place, status, wanted))
            while expected and not expected[-1].strip():
                expected.pop()
            if expected:
                missing = match(expected, got, bool(mark) and mark[0] == "numbers")
                if missing is not None:
                    sys.exit("%sthe output differs: expected %r" % (place, missing))
    if not count:
        sys.exit("%s: no command in a console block" % page)
    print("%d commands of %s run" % (count, page))


if __name__ == "__main__":
    main()
