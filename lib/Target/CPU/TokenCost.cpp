//===- TokenCost.cpp - Work of one token -*- C++ -*- ----------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compiler.h"

#include "larc/Dialect/Larc/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace larc;

static double countIndices(RecurrenceOp recurrence, ArrayRef<StringAttr> axes) {
  double count = 1.0;
  for (StringAttr axis : axes)
    count *= static_cast<double>(recurrence.getAxisSize(axis).value_or(1));
  return count;
}

/// Flops of a block, `times` each.
static double countFlops(RecurrenceOp recurrence, Block &block, double times) {
  double flops = 0.0;
  for (Operation &op : block) {
    if (auto elementwise = dyn_cast<ElementwiseOpInterface>(op)) {
      flops +=
          times * elementwise.getFlops() *
          countIndices(recurrence,
                       cast<ArrayType>(op.getResult(0).getType()).getAxes());
    } else if (isa<ReductionOpInterface>(op)) {
      ArrayType space = ArrayType::scalar(op.getContext());
      for (Value operand : op.getOperands())
        space = ArrayType::unionOf(space, cast<ArrayType>(operand.getType()));
      // A contraction multiplies and adds.
      flops += times * op.getNumOperands() *
               countIndices(recurrence, space.getAxes());
    } else if (auto fold = dyn_cast<FoldOp>(op)) {
      flops += countFlops(recurrence, fold.getBody().front(),
                          times * countIndices(recurrence, fold.getAxisAttr()));
    } else if (auto fire = dyn_cast<FireOp>(op)) {
      double tokens =
          static_cast<double>(recurrence.getPeriod()) *
          static_cast<double>(cast<IntegerAttr>(fire.getInterval()).getInt());
      flops += countFlops(recurrence, fire.getBody().front(), times / tokens);
    }
  }
  return flops;
}

TokenCost larc::countTokenCost(RecurrenceOp recurrence,
                               const CPUOptions &options) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(recurrence.getLoc());
  module->push_back(recurrence->clone());
  PassManager pm(recurrence.getContext());
  pm.addNestedPass<RecurrenceOp>(createDecompose());
  TokenCost cost;
  if (failed(pm.run(*module)))
    return cost;
  RecurrenceOp op = getRecurrence(*module);
  cost.flops = countFlops(op, op.getBody().front(), 1.0);
  for (auto [decl, argument, type] :
       llvm::zip(op.getTokenOperands().getAsRange<OperandDeclAttr>(),
                 op.getOperandArguments(), options.operandTypes))
    if (!argument.use_empty())
      cost.bytes += countIndices(op, decl.getAxes()) * getByteWidth(type);
  for (auto [decl, type] : llvm::zip(
           op.getOutputs().getAsRange<OutputDeclAttr>(), options.outputTypes))
    cost.bytes += countIndices(op, decl.getAxes()) * getByteWidth(type);
  return cost;
}
