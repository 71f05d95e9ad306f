//===- Results.cpp - Tensors that a problem's results go to -----*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Execution/Problem.h"

using namespace mlir;
using namespace larc;

llvm::Expected<TensorMap> larc::createResults(Problem &problem, bool float64) {
  TensorMap results;
  auto add = [&](const std::string &name, DType type, ArrayRef<int64_t> leading,
                 ArrayRef<StringAttr> axes) -> llvm::Error {
    SmallVector<int64_t> shape(leading);
    for (StringAttr axis : axes)
      shape.push_back(problem.getSize(axis));
    llvm::Expected<Tensor> tensor =
        Tensor::createUninitialized(float64 ? DType::F64 : type, shape, name);
    if (!tensor)
      return tensor.takeError();
    results.try_emplace(name, std::move(*tensor));
    return llvm::Error::success();
  };

  RecurrenceOp recurrence = problem.recurrence;
  for (auto decl : recurrence.getOutputs().getAsRange<OutputDeclAttr>())
    if (llvm::Error error =
            add("out." + decl.getName().str(), problem.outputDType,
                {problem.batch, problem.tokens, problem.heads}, decl.getAxes()))
      return std::move(error);
  SmallVector<int64_t> leading = {problem.numSequences, problem.heads};
  for (auto decl : recurrence.getStates().getAsRange<StateDeclAttr>())
    if (llvm::Error error = add("final." + decl.getName().str(),
                                problem.stateDType, leading, decl.getAxes()))
      return std::move(error);
  for (unsigned index : recurrence.getAnchoredStates()) {
    auto decl = cast<StateDeclAttr>(recurrence.getStates()[index]);
    if (llvm::Error error = add("final.anchor." + decl.getName().str(),
                                problem.stateDType, leading, decl.getAxes()))
      return std::move(error);
  }
  return results;
}
