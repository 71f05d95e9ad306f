//===- ExecutionTestUtils.cpp - Specs and tensors in tests ------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExecutionTestUtils.h"

#include "larc/Specs/Specs.h"

#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace larc;
using namespace larc::test;

RecurrenceOp ExecutionTest::parse(llvm::StringRef source) {
  auto module = parseSourceString<ModuleOp>(source, ParserConfig(&context));
  if (!module) {
    ADD_FAILURE() << "wrong spec:\n" << source.str();
    return {};
  }
  modules.push_back(std::move(module));
  return getRecurrence(*modules.back());
}

RecurrenceOp ExecutionTest::load(llvm::StringRef name) {
  llvm::Expected<LoadedSpec> spec = loadSpec(context, name);
  if (!spec) {
    ADD_FAILURE() << renderError(spec.takeError());
    return {};
  }
  modules.push_back(std::move(spec->module));
  return spec->recurrence;
}

Tensor test::makeTensor(llvm::ArrayRef<int64_t> shape, DType type) {
  std::vector<double> values(llvm::cantFail(countElements(shape)));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = 1 + double(i % 7) / 3;
  return llvm::cantFail(Tensor::fromValues(type, shape, values));
}

Tensor test::makeIntegers(llvm::ArrayRef<int64_t> values, DType type) {
  std::vector<double> numbers(values.begin(), values.end());
  return llvm::cantFail(
      Tensor::fromValues(type, {int64_t(values.size())}, numbers));
}
