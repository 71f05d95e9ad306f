//===- LibraryTestUtils.h - Compiled libraries in tests ---------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TEST_UNIT_TARGET_LIBRARY_LIBRARYTESTUTILS_H
#define LARC_TEST_UNIT_TARGET_LIBRARY_LIBRARYTESTUTILS_H

#include "ReferenceTestUtils.h"

#include "larc/Target/Library.h"
#include "larc/Target/LoadedLibrary.h"

namespace larc::test {

/// Writes libraries into a folder of the test, and loads them.
class LibraryTest : public ReferenceTest {
protected:
  void SetUp() override;
  void TearDown() override;

  using Dims = llvm::ArrayRef<std::pair<std::string, int64_t>>;

  /// A built-in spec, flat and bound.
  RecurrenceOp bind(llvm::StringRef spec, Dims dims, const Values &values = {});
  /// What a library of `recurrence` has for all targets, without code.
  LibraryContents describe(RecurrenceOp recurrence, DType dtype = DType::F32);
  /// With code for this CPU.
  LibraryContents compile(RecurrenceOp recurrence, DType dtype = DType::F32);
  /// Code for a GPU that none can run: one kernel of two warps for each form.
  static CudaCode makeCudaCode(unsigned computeCapability = 90);

  std::string getPath(llvm::StringRef name) const;
  void writeFile(llvm::StringRef name, llvm::StringRef text) const;
  /// The path of the library that is written.
  std::string write(LibraryContents &contents, llvm::StringRef name = "");
  std::unique_ptr<LoadedLibrary> loadLibrary(LibraryContents &contents);

  /// Random inputs of the recurrence in a library, bound as it wants them.
  Problem makeProblem(const LoadedLibrary &library,
                      const RandomInputs &request);
  TensorMap runLibrary(const LoadedLibrary &library, Problem &problem,
                       const LibraryRunOptions &options);
  TensorMap runReferenceOf(Problem &problem);

  std::string folder;
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> owned;
};

/// The value, or a failure of the test and its end.
template <typename T>
T take(llvm::Expected<T> value) {
  if (!value) {
    ADD_FAILURE() << llvm::toString(value.takeError());
    abort();
  }
  return std::move(*value);
}

} // namespace larc::test

#endif // LARC_TEST_UNIT_TARGET_LIBRARY_LIBRARYTESTUTILS_H
