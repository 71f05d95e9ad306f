#!/usr/bin/env python3
# Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs clang-tidy over every source file of a build, in parallel.

A file that passed is not looked at again until it, a header of the project
that it includes, its compile command, .clang-tidy or clang-tidy changes.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
import threading


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, help="build folder")
    parser.add_argument("--root", required=True, help="root of the checkout")
    parser.add_argument("--clang-tidy", default="clang-tidy-22")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--fix", action="store_true", help="apply the fixes")
    parser.add_argument("files", nargs="*", help="only these files")
    return parser.parse_args()


def project_headers(build, root):
    """Maps each object file to the project's own headers that it includes."""
    listing = subprocess.run(
        ["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True
    ).stdout
    headers = {}
    current = None
    for line in listing.splitlines():
        if not line.startswith(" "):
            current = headers.setdefault(line.split(":")[0], set()) if line else None
        elif current is not None:
            path = os.path.normpath(os.path.join(build, line.strip()))
            if path.startswith(root + os.sep):
                current.add(path)
    return headers


class Hasher:
    """Content hashes of files, each read once."""

    def __init__(self):
        self.known = {}

    def __call__(self, path):
        if path not in self.known:
            try:
                with open(path, "rb") as file:
                    self.known[path] = hashlib.sha256(file.read()).hexdigest()
            except OSError:
                self.known[path] = "missing"
        return self.known[path]


def main():
    args = parse_arguments()
    root = os.path.realpath(args.root)
    build = os.path.realpath(args.build)
    cache = os.path.join(build, "tidy-cache")
    os.makedirs(cache, exist_ok=True)

    with open(os.path.join(build, "compile_commands.json")) as file:
        commands = json.load(file)
    chosen = {os.path.realpath(f) for f in args.files}
    version = subprocess.run(
        [args.clang_tidy, "--version"], capture_output=True, text=True, check=True
    ).stdout
    headers = project_headers(build, root)
    content = Hasher()

    work = []
    seen = set()
    fresh = 0
    for entry in commands:
        path = os.path.normpath(os.path.join(entry["directory"], entry["file"]))
        # Not what the build generates.
        if path.startswith(build + os.sep) or path in seen:
            continue
        if chosen and path not in chosen:
            continue
        seen.add(path)
        key = hashlib.sha256()
        key.update(version.encode())
        # The configurations of all folders down to the file's.
        folder = os.path.dirname(path)
        while folder.startswith(root):
            key.update(content(os.path.join(folder, ".clang-tidy")).encode())
            folder = os.path.dirname(folder)
        key.update(entry["command"].encode())
        key.update(content(path).encode())
        output = entry.get("output") or re.search(
            r" -o (\S+)", entry["command"]
        ).group(1)
        if os.path.isabs(output):
            output = os.path.relpath(output, build)
        for header in sorted(headers.get(output, ())):
            key.update(header.encode() + content(header).encode())
        stamp = os.path.join(cache, key.hexdigest())
        if os.path.exists(stamp) and not args.fix:
            fresh += 1
        else:
            work.append((path, stamp))

    lock = threading.Lock()
    done = 0
    failed = []

    def check(item):
        nonlocal done
        path, stamp = item
        command = [
            args.clang_tidy,
            "--quiet",
            "-p=" + build,
            "--header-filter=^%s/(include|lib|tools|test)/.*\\.h$" % re.escape(root),
        ]
        if args.fix:
            command.append("--fix")
        run = subprocess.run(command + [path], capture_output=True, text=True)
        with lock:
            done += 1
            name = os.path.relpath(path, root)
            print("[%d/%d] %s" % (done, len(work), name), flush=True)
            if run.returncode == 0:
                open(stamp, "w").close()
            else:
                failed.append(name)
                print(run.stdout, flush=True)
                # The compiler's own errors; not its count of suppressed warnings.
                for line in run.stderr.splitlines():
                    if not re.match(r"\d+ warnings? generated", line):
                        print(line, flush=True)

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        # Large files first, so that the last one is not waited for alone.
        work.sort(key=lambda item: -os.path.getsize(item[0]))
        list(pool.map(check, work))

    print(
        "clang-tidy: %d files checked, %d unchanged, %d with findings"
        % (len(work), fresh, len(failed))
    )
    for name in sorted(failed):
        print("  " + name)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
