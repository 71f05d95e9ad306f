//===- consumer.cpp - Uses an installed larc --------------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads a recurrence, runs it on random tensors with the reference interpreter
// and with compiled code, and compares the two.
//
//===----------------------------------------------------------------------===//

#include "larc/Execution/Problem.h"
#include "larc/InitAll.h"
#include "larc/Reference/Reference.h"
#include "larc/Specs/Specs.h"
#include "larc/Target/CPU/CompiledRecurrence.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>

using namespace larc;

/// The spec's tensors, the same at every call.
static llvm::Expected<Problem> makeProblem(RecurrenceOp recurrence) {
  RandomInputs request;
  request.dims = {{"B", 2}, {"T", 9}, {"H", 2}, {"K", 8}, {"V", 4}};
  llvm::Expected<TensorMap> inputs = makeRandomInputs(recurrence, {}, request);
  if (!inputs)
    return inputs.takeError();
  ConversionOptions conversion;
  conversion.dtype = DType::F64;
  conversion.allFloat64 = true;
  return bindProblem(recurrence, {}, std::move(*inputs), conversion,
                     /*needCotangents=*/false);
}

/// The largest difference between the two forms' results.
static llvm::Expected<double> compareForms(RecurrenceOp recurrence) {
  llvm::Expected<Problem> problem = makeProblem(recurrence);
  if (!problem)
    return problem.takeError();
  llvm::Expected<TensorMap> expected = runReference(*problem, {});
  if (!expected)
    return expected.takeError();

  mlir::FailureOr<std::unique_ptr<CompiledRecurrence>> compiled =
      CompiledRecurrence::compile(problem->recurrence,
                                  CPUOptions::of(*problem));
  if (mlir::failed(compiled))
    return llvm::createStringError("the recurrence could not be compiled");
  llvm::Expected<TensorMap> results = createResults(*problem, /*float64=*/true);
  if (!results)
    return results.takeError();
  if (llvm::Error error = (*compiled)->run(*problem, *results, /*threads=*/1))
    return std::move(error);

  double largest = 0;
  for (const auto &[name, tensor] : *expected) {
    llvm::Expected<Tensor> got = results->at(name).toFloat64();
    if (!got)
      return got.takeError();
    llvm::ArrayRef<double> values = tensor.getValues<double>();
    for (auto [i, value] : llvm::enumerate(got->getValues<double>()))
      largest = std::max(largest, std::abs(value - values[i]));
  }
  return largest;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: consumer SPEC\n";
    return 2;
  }
  llvm::ExitOnError exitOnError("consumer: ");

  mlir::DialectRegistry registry;
  larc::registerAllDialects(registry);
  registerReferenceModels(registry);
  mlir::MLIRContext context(registry);

  LoadedSpec spec = exitOnError(loadSpec(context, argv[1]));
  double difference = exitOnError(compareForms(spec.recurrence));
  llvm::outs() << "recurrence '" << spec.recurrence.getSymName()
               << "': the compiled and the reference results differ by at most "
               << llvm::format("%.1e", difference) << "\n";
  return difference < 1e-9 ? 0 : 1;
}
