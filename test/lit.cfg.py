# Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# lit configuration of the regression tests. A test is a file with RUN lines;
# these substitutions and features exist beside lit's own (%s, %t, ...):
#
#   larc, larc-opt, larc-translate, larc-lsp-server     the tools of the build
#   FileCheck, not, count, split-file   LLVM's
#   %data             test/Data
#   %larc_src_root    the root of the checkout; %larc_obj_root of the build
#   %larc_version     the project's version
#   %host_cc          the C compiler; %host_cxx the C++ compiler
#   %python           a Python 3
#   %shared_vectors   the folder of all test vectors, ../shared/vectors beside
#                     the checkout (or LARC_SHARED_VECTORS): needs the feature
#                     `shared-vectors`
#
# The feature `ptxas` says that NVIDIA's assembler is there, in a version for
# every kernel.
#
# LARC_EXHAUSTIVE=1 gives the feature `exhaustive`: tests that take minutes.

import os
import platform
import subprocess
import sys

import lit.formats
import lit.util
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

config.name = "larc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".c", ".md"]
config.excludes = [
    "CMakeLists.txt",
    "Consumer",
    "Data",
    "Device",
    "Inputs",
    "README.md",
    "lit.cfg.py",
    "lit.site.cfg.py",
]
config.test_source_root = os.path.join(config.larc_src_root, "test")
config.test_exec_root = os.path.join(config.larc_obj_root, "test")

# Other tools than the build's: lit -Dlarc_tools_dir=FOLDER, which gives the
# feature `other-tools`.
if "larc_tools_dir" in lit_config.params:
    config.larc_tools_dir = lit_config.params["larc_tools_dir"]
    config.available_features.add("other-tools")

# Unit has a configuration of its own and is found by it.

llvm_config.with_system_environment(["HOME", "TMP", "TEMP", "TMPDIR"])
llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)
llvm_config.with_environment("PATH", config.larc_tools_dir, append_path=True)

# The user's cache of compiled code is none of the tests' business.
llvm_config.with_environment(
    "LARC_CACHE_DIR", os.path.join(config.test_exec_root, "cache")
)

# `larc` is also a kind of code that the driver writes: not in `--emit=larc`.
llvm_config.add_tool_substitutions(
    [ToolSubst("larc", pre=r".-^/\<="), "larc-opt", "larc-translate", "larc-lsp-server"],
    [config.larc_tools_dir],
)
llvm_config.add_tool_substitutions(
    ["FileCheck", "count", "split-file", ToolSubst("not", extra_args=[])],
    [config.llvm_tools_dir],
)

config.substitutions.append(("%data", os.path.join(config.test_source_root, "Data")))
config.substitutions.append(("%larc_src_root", config.larc_src_root))
config.substitutions.append(("%larc_obj_root", config.larc_obj_root))
config.substitutions.append(("%larc_version", config.larc_version))
config.substitutions.append(("%host_cxx", config.host_cxx))
config.substitutions.append(("%host_cc", config.host_cc))
config.substitutions.append(("%python", config.python_executable or sys.executable))

shared_vectors = os.environ.get("LARC_SHARED_VECTORS") or os.path.join(
    os.path.dirname(config.larc_src_root), "shared", "vectors"
)
if os.path.isdir(shared_vectors):
    config.available_features.add("shared-vectors")
    config.substitutions.append(("%shared_vectors", shared_vectors))

if os.environ.get("LARC_EXHAUSTIVE") == "1":
    config.available_features.add("exhaustive")

for variable in (
    "LARC_PTXAS",
    "CUDA_HOME",
    "CUDA_PATH",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
):
    llvm_config.with_system_environment(variable)


def can_assemble():
    """Whether larc finds an assembler that may be used for wgmma."""
    command = [
        os.path.join(config.larc_tools_dir, "larc-translate"),
        "--mlir-to-cubin",
        os.path.join(config.test_source_root, "Target", "CUDA", "wgmma.mlir"),
    ]
    try:
        process = subprocess.run(
            command,
            env={**os.environ, **config.environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return False
    return process.returncode == 0


if can_assemble():
    config.available_features.add("ptxas")

config.available_features.add("host-" + platform.machine().lower())

if os.geteuid() != 0:
    # Whoever may write everywhere cannot test an unwritable path.
    config.available_features.add("not-root")

if config.sanitizers:
    config.available_features.add("sanitizers")
if "Address" in config.sanitizers:
    config.available_features.add("asan")
    # libMLIR.so and libLLVM.so are not instrumented, so containers and
    # allocators that both sides touch would be reported wrongly.
    config.environment["ASAN_OPTIONS"] = (
        "detect_container_overflow=0:allow_user_poisoning=0:detect_leaks=0"
    )
