//===- LoadedLibrary.h - Running compiled libraries -------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TARGET_LOADEDLIBRARY_H
#define LARC_TARGET_LOADEDLIBRARY_H

#include "larc/Execution/Problem.h"
#include "larc/Runtime/Library.h"

#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <string>
#include <vector>

namespace larc {

/// A tensor of a library's calls.
struct LibraryTensor {
  enum class Role {
    Operand,
    Constant,
    Output,
    InitialState,
    FinalState,
    InitialAnchor,
    FinalAnchor
  };
  Role role = Role::Operand;
  std::string name; ///< in files: `q`, `out.o`, `state.S`, `final.S`
  DType dtype = DType::F32;
  llvm::SmallVector<std::string> axes;
  llvm::SmallVector<int64_t> sizes; ///< of the axes
  int64_t alignment = 1; ///< of the pointer and of all strides, in bytes
  bool required = true;  ///< a run must have it
};

/// What a library says of itself.
struct LibraryManifest {
  std::string name;    ///< of the recurrence
  std::string version; ///< of larc
  std::string spec;    ///< the flat, bound recurrence, as MLIR text
  DType dtype = DType::F32, gateDType = DType::F32, stateDType = DType::F32;
  std::vector<std::pair<std::string, int64_t>> dims; ///< sizes of axes
  std::vector<LibraryTensor> tensors;                ///< in the order of a call
  struct Code {
    std::string target; ///< `cpu`, or `cuda:90`
    std::vector<std::string> forms;
  };
  std::vector<Code> code;
};

/// The manifest that `text` is.
llvm::Expected<LibraryManifest> parseLibraryManifest(llvm::StringRef text);

/// How a call is run.
struct LibraryRunOptions {
  larc_target target = LARC_CPU;
  larc_form form = LARC_FORM_AUTO;
  unsigned threads = 0; ///< of LARC_CPU; 0: all of the machine
  int32_t segments = 0; ///< of LARC_CUDA; 0: the library's choice
  int device = 0;       ///< of LARC_CUDA: the GPU's number
};

/// How a call is timed on a GPU.
struct LibraryTimeOptions {
  bool graph = true;      ///< the call is recorded once, and replayed
  double seconds = 1.0;   ///< about as long
  unsigned samples = 200; ///< at most
};

/// The times of a call whose tensors are on the device.
struct LibraryTimes {
  std::vector<double> milliseconds; ///< of a call, one for each sample
  double hostMicroseconds = 0;      ///< median of a call of `run` on the host
  double firstMilliseconds = 0; ///< of loading the kernels and making the plan
};

/// A library in this process.
class LoadedLibrary {
public:
  /// Whether `path` looks like a library: a file that starts as ELF files do.
  static bool isLibrary(llvm::StringRef path);

  /// Loads it. A fault of the file if it is none of larc's, or of another
  /// version.
  static llvm::Expected<std::unique_ptr<LoadedLibrary>>
  open(llvm::StringRef path);
  ~LoadedLibrary();

  const LibraryManifest &getManifest() const;
  const larc_library &getFunctions() const;

  /// The recurrence inside, parsed: what `bindProblem` takes. Errors go to the
  /// context's diagnostic handler too.
  llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
  parseSpec(mlir::MLIRContext &context) const;

  /// Runs on host tensors of any float types, which are converted to the
  /// library's. `results` is what `createResults` made; on a GPU the memory of
  /// results holds NaN before.
  llvm::Error run(Problem &problem, TensorMap &results,
                  const LibraryRunOptions &options) const;

  /// What would be run.
  llvm::Expected<larc_plan_info>
  describe(const Problem &problem, const LibraryRunOptions &options) const;

  /// Runs again and again on the device's copies of the tensors. Final states
  /// are in place of initial ones where `T` is 1, as a decoder has them.
  llvm::Expected<LibraryTimes> measure(Problem &problem, TensorMap &results,
                                       const LibraryRunOptions &options,
                                       const LibraryTimeOptions &time) const;

private:
  LoadedLibrary();
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace larc

#endif // LARC_TARGET_LOADEDLIBRARY_H
