# Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# lit configuration of the GoogleTest executables: every one in the build tree
# whose name ends in `Tests`; lit reports each test case by itself.

import os

import lit.formats

config.name = "larc-Unit"
config.suffixes = []
config.test_exec_root = os.path.join(config.larc_obj_root, "test", "Unit")
config.test_source_root = config.test_exec_root
config.test_format = lit.formats.GoogleTest(".", "Tests")

# The last ones tell where NVIDIA's assembler is.
for variable in (
    "HOME",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "LARC_PTXAS",
    "CUDA_HOME",
    "CUDA_PATH",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
):
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]
# The user's cache of compiled code is none of the tests' business.
config.environment["LARC_CACHE"] = "off"
if "Address" in config.sanitizers:
    # libMLIR.so and libLLVM.so are not instrumented, so containers and
    # allocators that both sides touch would be reported wrongly.
    config.environment["ASAN_OPTIONS"] = (
        "detect_container_overflow=0:allow_user_poisoning=0:detect_leaks=0"
    )
