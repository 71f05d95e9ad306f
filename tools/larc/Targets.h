//===- Targets.h - What options mean for a target ---------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Not every option can be honoured for every target, nor for a library, in
// which all is decided. Those that cannot be are faults of the command line
// that say why.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TOOLS_LARC_TARGETS_H
#define LARC_TOOLS_LARC_TARGETS_H

#include "Options.h"

#include "llvm/Support/CommandLine.h"

namespace larc::driver {

/// Fails for an option that was given and cannot be honoured.
llvm::Error refuse(const llvm::cl::Option &option, const llvm::Twine &reason);

/// Whether `spec` names a compiled library: a file that ends in `.so`, or that
/// is a shared object by its first bytes.
bool isLibraryFile(llvm::StringRef spec);

/// Whether there are kernels for GPUs of a form.
bool hasCudaForm(Form form);

/// Parses `--target`, with the default.
llvm::Error parseTargets(Options &options);

/// Checks the options that `run`, `check`, `bench`, `explain` and `compile`
/// share against the targets, where the spec is not a library.
llvm::Error checkTargetOptions(const Options &options);

/// The same where it is one.
llvm::Error checkLibraryOptions(const Options &options);

/// Checks `--peers`.
llvm::Error checkPeers(const Options &options);

/// Checks what `--emit` writes, and the options of `compile`, against the
/// targets.
llvm::Error checkEmit(const Options &options);

} // namespace larc::driver

#endif // LARC_TOOLS_LARC_TARGETS_H
