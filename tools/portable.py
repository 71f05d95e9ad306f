#!/usr/bin/env python3
# Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that a portable larc runs on a plain Ubuntu 24.04, and packs it.

It may need glibc up to 2.39 and nothing else. What it needs is read from the
file; then its commands run in a root folder that holds glibc alone.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

# What a plain Ubuntu 24.04 has of the C library.
GLIBC = (2, 39)
LIBRARIES = {
    "libc.so.6",
    "libdl.so.2",
    "libm.so.6",
    "libpthread.so.0",
    "librt.so.1",
    "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1",
}
LIMIT = 40 * 10**6  # bytes of the packed file

# Where Debian has the licences of what is linked in; they ask for a copy.
LICENSES = {
    "llvm": "llvm-22",
    "libstdc++": "libstdc++-12-dev",
    "zlib": "zlib1g-dev",
    "zstd": "libzstd-dev",
}

# What runs where there is only glibc: arguments, and what the output has.
COMMANDS = [
    (["--version"], "larc version"),
    (["list"], "gla: "),
    (["explain", "gla"], "diagonal"),
    (["check", "gla", "--dims=B=1,T=70,H=2,K=16,V=24"], "pass"),
    (["check", "gla", "--dims=B=1,T=70,H=2,K=16,V=24", "--dtype=bf16"], "pass"),
    (["check", "gla", "--dims=B=1,T=70,H=2,K=16,V=24", "--form=chunk"], "pass"),
    (["compile", "gla", "--dims=K=64,V=64", "--emit=asm"], ".text"),
    (["compile", "gla", "--dims=K=64,V=64", "-o", "/tmp/gla.so"], ""),
    (["check", "/tmp/gla.so", "--dims=B=1,T=70,H=2"], "pass"),
    (
        ["compile", "gla", "--dims=K=64,V=64", "--target=cuda:90", "--emit=ptx"],
        ".target sm_90a",
    ),
]


class CheckError(Exception):
    """What is wrong with the file, as a sentence."""


def read_elf(*arguments):
    """The output of readelf, whose tables are the same in LLVM's."""
    for tool in ("readelf", "llvm-readelf-22", "llvm-readelf"):
        if shutil.which(tool):
            return subprocess.run(
                [tool, *arguments], capture_output=True, text=True, check=True
            ).stdout
    raise CheckError("readelf is needed")


def check_needs(tool):
    """Raises CheckError where the tool needs more than glibc."""
    dynamic = read_elf("-d", "-W", tool)
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
    if "libc.so.6" not in needed:
        raise CheckError(f"{tool} needs no libc: not a portable tool")
    if needed - LIBRARIES:
        raise CheckError(f"{tool} needs {', '.join(sorted(needed - LIBRARIES))}")
    if re.search(r"\((RPATH|RUNPATH)\)", dynamic):
        raise CheckError(f"{tool} looks for libraries in folders of its own")
    versions = {
        tuple(map(int, version.split(".")))
        for version in re.findall(r"Name: GLIBC_([0-9.]+)", read_elf("-V", "-W", tool))
    }
    newest = ".".join(map(str, max(versions)))
    if max(versions) > GLIBC:
        raise CheckError(f"{tool} needs glibc {newest}")
    if re.search(r"\s\.(symtab|debug_info)\s", read_elf("-S", "-W", tool)):
        raise CheckError(f"{tool} has a symbol table or debug information")
    print(f"needs {', '.join(sorted(needed))}, of glibc {newest}")


def fill_root(root, tool):
    """Copies the tool and glibc's libraries to the places they have."""
    for folder in ("bin", "proc", "tmp"):
        os.makedirs(os.path.join(root, folder))
    shutil.copy(tool, os.path.join(root, "bin", "larc"))
    listing = subprocess.run(["ldd", tool], capture_output=True, text=True, check=True)
    for path in re.findall(r"(/\S+) \(0x", listing.stdout):
        target = root + path
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(path, target)
    # What compiled code calls of vector functions is glibc's, too.
    for path in re.findall(r"(/\S+/libm\.so\.6) ", listing.stdout):
        vectors = path.replace("libm.so.6", "libmvec.so.1")
        if os.path.exists(vectors):
            shutil.copy(vectors, root + vectors)


def change_root():
    """The command that changes the root folder; None where that is forbidden."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    command = [shutil.which("chroot", path=path)]
    if os.geteuid() != 0:
        command = [shutil.which("unshare", path=path), "--map-root-user", *command]
    if None in command:
        return None
    allowed = subprocess.run([*command, "/", "true"], stderr=subprocess.DEVNULL)
    return command if allowed.returncode == 0 else None


def run_alone(command, arguments):
    """Runs larc where the command has changed the root."""
    return subprocess.run(
        [*command, "/bin/larc", *arguments],
        env={"PATH": "/bin", "LARC_CACHE_DIR": "/tmp/cache"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def check_alone(tool):
    """Raises CheckError where a command fails without the rest of a system."""
    command = change_root()
    if not command:
        print("not run on its own: this user may not change the root folder")
        return
    with tempfile.TemporaryDirectory() as root:
        fill_root(root, tool)
        for arguments, expected in COMMANDS:
            process = run_alone([*command, root], arguments)
            words = " ".join(["larc", *arguments])
            if process.returncode != 0 or expected not in process.stdout:
                raise CheckError(
                    f"`{words}` in a root with nothing but glibc: status "
                    f"{process.returncode}\n{process.stdout[-2000:]}"
                )
            print(f"{words}: works with nothing but glibc")


def pack(tool, license_file, output):
    """Writes the tool and its licences as a .tar.xz; raises if it is too big."""
    name = os.path.basename(output).split(".tar")[0]

    def as_root(info):
        info.uid = info.gid = 0
        info.uname = info.gname = "root"
        return info

    with tarfile.open(output, "w:xz", preset=9) as archive:
        archive.add(tool, f"{name}/larc", filter=as_root)
        archive.add(license_file, f"{name}/LICENSE", filter=as_root)
        for part, package in LICENSES.items():
            path = f"/usr/share/doc/{package}/copyright"
            if os.path.exists(path):
                archive.add(
                    os.path.realpath(path), f"{name}/licenses/{part}", filter=as_root
                )
    size = os.path.getsize(output)
    megabytes = f"{os.path.getsize(tool) / 1e6:.1f} MB, packed {size / 1e6:.1f} MB"
    if size > LIMIT:
        raise CheckError(f"{output}: {megabytes}; {LIMIT / 1e6:.0f} MB are the limit")
    print(f"{output}: {megabytes}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", required=True, help="the portable larc")
    parser.add_argument("--license", help="the licence, to pack")
    parser.add_argument("--output", help="the .tar.xz to write")
    arguments = parser.parse_args()
    try:
        check_needs(arguments.tool)
        check_alone(arguments.tool)
        if arguments.output:
            pack(arguments.tool, arguments.license, arguments.output)
    except CheckError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
