//===- Library.h - Writing compiled libraries -------------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A shared library that runs one recurrence, by the C interface of
// `larc/Runtime/Library.h`, on any of the targets that it has code for. It
// needs nothing of larc or LLVM, and no CUDA to be loaded.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TARGET_LIBRARY_H
#define LARC_TARGET_LIBRARY_H

#include "larc/Runtime/Library.h"
#include "larc/Target/CPU/CompiledRecurrence.h"
#include "larc/Target/CUDA/CompileRecurrence.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace larc {

/// One form's code for a CPU.
struct CPUFormCode {
  CPUForm form = CPUForm::Recurrent;
  int64_t chunkSize = 0; ///< 0: no chunks
  /// Chosen for sequences of at least that many tokens, if no later form is.
  int64_t leastTokens = 0;
  std::string symbol; ///< of the recurrence that the object was made of
  std::string object; ///< an ELF file
};

/// Code of one recurrence for a CPU.
struct CPUCode {
  std::string cpu;                 ///< as LLVM calls it
  std::vector<std::string> levels; ///< what it must have: avx2, avx512
  std::vector<CPUFormCode> forms;
};

/// Compiles a flat, bound recurrence in the forms of `forms` (all if empty) for
/// a CPU. Errors are emitted at its operations.
mlir::FailureOr<CPUCode> compileForLibrary(RecurrenceOp recurrence,
                                           const CPUOptions &options,
                                           llvm::ArrayRef<CPUForm> forms = {},
                                           const CompileHooks &hooks = {});

/// What goes into a library.
struct LibraryContents {
  /// Flat and bound.
  RecurrenceOp recurrence;
  /// What `--dtype` and `--gate-dtype` were: the types of tensors but states.
  DType dtype = DType::F32, gateDType = DType::F32;
  /// Of states and anchors, on all targets.
  DType stateDType = DType::F32;
  std::optional<CPUCode> cpu;
  /// For one GPU each.
  std::vector<CudaCode> cuda;
  /// The NAME of the functions `larc_NAME_run` and so on; the recurrence's name
  /// if empty.
  std::string name;

  std::string getName();
};

/// Writes the library, a shared object for this machine's kind of processor
/// with the name `soname` (`lib<name>.so` if empty). Needs no linker to be
/// installed.
llvm::Error writeLibrary(LibraryContents &contents, llvm::raw_ostream &os,
                         llvm::StringRef soname = "");

/// The header that goes with it, for C and C++.
std::string writeLibraryHeader(LibraryContents &contents);

/// The manifest inside, as JSON. docs/library.md describes it.
std::string writeLibraryManifest(LibraryContents &contents);

} // namespace larc

#endif // LARC_TARGET_LIBRARY_H
