//===- ReferenceTestUtils.h - Running specs in tests ------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TEST_UNIT_REFERENCE_REFERENCETESTUTILS_H
#define LARC_TEST_UNIT_REFERENCE_REFERENCETESTUTILS_H

#include "larc/Execution/Problem.h"
#include "larc/Reference/Reference.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include "gtest/gtest.h"

namespace larc::test {

using Values = std::vector<std::pair<std::string, std::string>>;

/// A context that interprets, with one thread.
class ReferenceTest : public testing::Test {
protected:
  ReferenceTest();

  /// Parses a module with one recurrence; null and a failure if it is wrong.
  RecurrenceOp parse(llvm::StringRef source);
  /// A built-in spec.
  RecurrenceOp load(llvm::StringRef name);

  /// Binds and runs in float64; empty and a failure on an error.
  TensorMap run(RecurrenceOp spec, const TensorMap &inputs, bool gradients,
                const Values &values = {}, unsigned threads = 1);

  mlir::MLIRContext context;

private:
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
};

TensorMap cloneTensors(const TensorMap &tensors);

/// All as float64 of `shape`.
Tensor makeTensor(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> values);
Tensor makeIntegers(llvm::ArrayRef<int64_t> values);

/// The elements of a tensor of any type.
std::vector<double> getValues(const Tensor &tensor);

/// Indices [begin, end) along `axis`.
Tensor sliceTensor(const Tensor &tensor, int64_t axis, int64_t begin,
                   int64_t end);

/// Expects every tensor of `expected` in `got` within `limit` (see
/// compareTensors), three times that for gradients.
void expectClose(const TensorMap &got, const TensorMap &expected, double limit);

} // namespace larc::test

#endif // LARC_TEST_UNIT_REFERENCE_REFERENCETESTUTILS_H
