//===- ExecutionTestUtils.h - Specs and tensors in tests --------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TEST_UNIT_EXECUTION_EXECUTIONTESTUTILS_H
#define LARC_TEST_UNIT_EXECUTION_EXECUTIONTESTUTILS_H

#include "larc/Execution/Problem.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include "gtest/gtest.h"

namespace larc::test {

class ExecutionTest : public testing::Test {
protected:
  ExecutionTest() : context(mlir::MLIRContext::Threading::DISABLED) {
    context.loadDialect<LarcDialect>();
  }

  RecurrenceOp parse(llvm::StringRef source);
  RecurrenceOp load(llvm::StringRef name);

  mlir::MLIRContext context;

private:
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
};

/// Small numbers that are not zero.
Tensor makeTensor(llvm::ArrayRef<int64_t> shape, DType type = DType::F32);
Tensor makeIntegers(llvm::ArrayRef<int64_t> values, DType type = DType::I64);

/// What the driver prints for `error`.
template <typename T>
std::string getError(llvm::Expected<T> result, int *exitCode = nullptr);

} // namespace larc::test

#include "larc/Support/Error.h"

template <typename T>
std::string larc::test::getError(llvm::Expected<T> result, int *exitCode) {
  if (result)
    return "no error";
  return renderError(result.takeError(), exitCode);
}

#endif // LARC_TEST_UNIT_EXECUTION_EXECUTIONTESTUTILS_H
