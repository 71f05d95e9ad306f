//===- FuzzTargets.h - What the fuzzers run ------------------- -*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function reads one input as the driver would read a file of that
// content, and aborts if a property fails. The libFuzzer executables call them
// with mutated inputs, the corpus test with the inputs kept in corpus/.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TEST_FUZZ_FUZZTARGETS_H
#define LARC_TEST_FUZZ_FUZZTARGETS_H

#include "llvm/ADT/StringRef.h"

namespace larc {

/// Reads a safetensors file; what is read must survive writing and reading
/// again.
void fuzzSafetensors(llvm::StringRef input);

/// Parses and verifies a spec file, and runs the passes that every form begins
/// with. What is valid must survive printing and parsing again; passes may
/// refuse it, but must give a reason and must not leave anything invalid.
void fuzzSpec(llvm::StringRef input);

} // namespace larc

#endif // LARC_TEST_FUZZ_FUZZTARGETS_H
