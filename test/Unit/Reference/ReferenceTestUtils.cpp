//===- ReferenceTestUtils.cpp - Running specs in tests ----------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReferenceTestUtils.h"

#include "larc/Execution/Compare.h"
#include "larc/Specs/Specs.h"
#include "larc/Support/Error.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace larc;
using namespace larc::test;

ReferenceTest::ReferenceTest() : context(MLIRContext::Threading::DISABLED) {
  DialectRegistry registry;
  registry.insert<LarcDialect>();
  registerReferenceModels(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

RecurrenceOp ReferenceTest::parse(llvm::StringRef source) {
  auto module = parseSourceString<ModuleOp>(source, ParserConfig(&context));
  if (!module) {
    ADD_FAILURE() << "wrong spec:\n" << source.str();
    return {};
  }
  modules.push_back(std::move(module));
  return getRecurrence(*modules.back());
}

RecurrenceOp ReferenceTest::load(llvm::StringRef name) {
  llvm::Expected<LoadedSpec> spec = loadSpec(context, name);
  if (!spec) {
    ADD_FAILURE() << renderError(spec.takeError());
    return {};
  }
  modules.push_back(std::move(spec->module));
  return spec->recurrence;
}

TensorMap ReferenceTest::run(RecurrenceOp spec, const TensorMap &inputs,
                             bool gradients, const Values &values,
                             unsigned threads) {
  if (!spec)
    return {};
  ConversionOptions conversion;
  conversion.allFloat64 = true;
  llvm::Expected<Problem> problem =
      bindProblem(spec, values, cloneTensors(inputs), conversion, gradients);
  if (!problem) {
    ADD_FAILURE() << renderError(problem.takeError());
    return {};
  }
  ReferenceOptions options;
  options.gradients = gradients;
  options.threads = threads;
  llvm::Expected<TensorMap> results = runReference(*problem, options);
  if (!results) {
    ADD_FAILURE() << renderError(results.takeError());
    return {};
  }
  return std::move(*results);
}

TensorMap test::cloneTensors(const TensorMap &tensors) {
  TensorMap copies;
  for (const auto &[name, tensor] : tensors)
    copies.try_emplace(name, llvm::cantFail(tensor.clone()));
  return copies;
}

Tensor test::makeTensor(llvm::ArrayRef<int64_t> shape,
                        llvm::ArrayRef<double> values) {
  return llvm::cantFail(Tensor::fromValues(DType::F64, shape, values));
}

Tensor test::makeIntegers(llvm::ArrayRef<int64_t> values) {
  Tensor tensor =
      llvm::cantFail(Tensor::create(DType::I64, {int64_t(values.size())}));
  llvm::copy(values, tensor.getValues<int64_t>().begin());
  return tensor;
}

std::vector<double> test::getValues(const Tensor &tensor) {
  Tensor numbers = llvm::cantFail(tensor.toFloat64());
  auto values = numbers.getValues<double>();
  return {values.begin(), values.end()};
}

Tensor test::sliceTensor(const Tensor &tensor, int64_t axis, int64_t begin,
                         int64_t end) {
  int64_t outer = 1, inner = 1, size = tensor.getDim(axis);
  for (int64_t i = 0; i < tensor.getRank(); ++i)
    (i < axis ? outer : inner) *= i == axis ? 1 : tensor.getDim(i);
  llvm::SmallVector<int64_t> shape(tensor.getShape());
  shape[axis] = end - begin;
  std::vector<double> all = getValues(tensor), values;
  for (int64_t i = 0; i < outer; ++i)
    values.insert(values.end(), all.begin() + (i * size + begin) * inner,
                  all.begin() + (i * size + end) * inner);
  return makeTensor(shape, values);
}

void test::expectClose(const TensorMap &got, const TensorMap &expected,
                       double limit) {
  for (const auto &[name, tensor] : expected) {
    auto it = got.find(name);
    if (it == got.end()) {
      ADD_FAILURE() << "no result " << name;
      continue;
    }
    llvm::Expected<Comparison> comparison = compareTensors(
        name, it->second, tensor, limit * (isGradientName(name) ? 3 : 1));
    if (!comparison) {
      ADD_FAILURE() << renderError(comparison.takeError());
      continue;
    }
    EXPECT_TRUE(comparison->pass)
        << name << ": relative error " << comparison->rel << ", largest "
        << comparison->maxAbs << ", limit " << comparison->limit;
  }
}
