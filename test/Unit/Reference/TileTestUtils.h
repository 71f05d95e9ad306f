//===- TileTestUtils.h - Running tile programs in tests ---------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TEST_UNIT_REFERENCE_TILETESTUTILS_H
#define LARC_TEST_UNIT_REFERENCE_TILETESTUTILS_H

#include "larc/Reference/TileInterpreter.h"
#include "larc/Support/DType.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include "gtest/gtest.h"

#include <string>
#include <vector>

namespace larc::test {

/// An argument of a program, row after row. Values that the type lacks are
/// rounded on the way in.
struct TileMatrix {
  int64_t rows, cols;
  std::vector<double> values;
  DType type = DType::F32;
  /// Whether the program's type has `?` rows.
  bool tokens = false;
  /// Of scratch: the rows that the program's type has, for one segment.
  int64_t recordRows = 0;
  /// The rows of its boxes; 0: it has no tensor map.
  int64_t boxRows = 0;

  double at(int64_t row, int64_t col) const { return values[row * cols + col]; }
};

/// 0, 1, 2, ... row after row.
TileMatrix countMatrix(int64_t rows, int64_t cols, DType type = DType::F32);
TileMatrix zeroMatrix(int64_t rows, int64_t cols, DType type = DType::F32);
/// Numbers from -1 to 1 that all types have exactly.
TileMatrix randomMatrix(int64_t rows, int64_t cols, unsigned seed,
                        DType type = DType::F32);

/// `text` with the types that two letters stand for.
std::string
replaceNames(std::string text,
             llvm::ArrayRef<std::pair<const char *, const char *>> names);

class TileTest : public testing::Test {
protected:
  TileTest();

  /// The text of a program with matrices %a, %b, ..., index constants %c0 to
  /// %c64 (powers of two, and 0) and the body given.
  static std::string makeProgram(llvm::ArrayRef<TileMatrix> matrices,
                                 int64_t warps, const std::string &body);

  /// Runs the body on the matrices, which are written in place. A failure of
  /// the program is one of the test.
  void run(std::vector<TileMatrix> &matrices, int64_t warps,
           const std::string &body, int64_t length = 0, int64_t part = 0);
  /// Runs, and gives the first error's message; empty if there was none.
  std::string getError(std::vector<TileMatrix> matrices, int64_t warps,
                       const std::string &body, int64_t length = 0);

  mlir::MLIRContext context;
  TileStatistics statistics;
  /// Which of how many segments runs.
  int64_t segment = 0, segments = 1;

private:
  std::string interpret(std::vector<TileMatrix> &matrices, int64_t warps,
                        const std::string &body, int64_t length, int64_t part);
};

/// The text of a type or attribute.
template <typename T>
std::string print(T printable) {
  std::string text;
  llvm::raw_string_ostream(text) << printable;
  return text;
}

} // namespace larc::test

#endif // LARC_TEST_UNIT_REFERENCE_TILETESTUTILS_H
