//===- Prepare.cpp - The form that the analysis reads -*- C++ -*- ---------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixForms.h"
#include "larc/Dialect/Larc/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace larc;

/// A choice, known before the state is, between two values that are linear in
/// one state: a sum of both, one of which is multiplied by 0. False where there
/// is none to rewrite.
static bool rewriteOneSelect(RecurrenceOp recurrence) {
  Dependence dependence(recurrence);
  MatrixForms forms(recurrence, dependence);
  for (Operation &op : recurrence.getBody().front()) {
    auto select = dyn_cast<SelectOp>(op);
    if (!select)
      continue;
    const MatrixForm *form = forms.lookup(select.getX());
    if (!form)
      form = forms.lookup(select.getY());
    if (!form || arrayOf(dependence.getState(form->state)).getRank() < 2)
      continue;
    auto isKnown = [&](Value value) {
      return !dependence.dependsOn(value, form->state);
    };
    auto fits = [&](Value value) {
      const MatrixForm *other = forms.lookup(value);
      return isKnown(value) || (other && other->state == form->state);
    };
    if (!isKnown(select.getLhs()) || !isKnown(select.getRhs()) ||
        !fits(select.getX()) || !fits(select.getY()) ||
        arrayOf(select) != arrayOf(dependence.getState(form->state)))
      continue;
    OpBuilder builder(select);
    Location loc = placeOf(select);
    Value one = ConstantOp::create(builder, loc, builder.getF64FloatAttr(1.0));
    Value zero = ConstantOp::create(builder, loc, builder.getF64FloatAttr(0.0));
    auto mask = [&](Value whereTrue, Value whereFalse, Value value) -> Value {
      if (auto number = value.getDefiningOp<ConstantOp>();
          number && number.getValue().isZero())
        return nullptr;
      Value chosen =
          SelectOp::create(builder, loc, select.getPredicate(), select.getLhs(),
                           select.getRhs(), whereTrue, whereFalse);
      return MulOp::create(builder, loc, chosen, value);
    };
    Value x = mask(one, zero, select.getX()),
          y = mask(zero, one, select.getY());
    Value sum = x && y ? Value(AddOp::create(builder, loc, x, y)) : x ? x : y;
    sum.getDefiningOp()->setLoc(select.getLoc());
    select.replaceAllUsesWith(sum);
    select.erase();
    return true;
  }
  return false;
}

/// Rewrites leave several operations where the spec has one. The last of them
/// is the value that its name means.
static void keepNamesOfResults(Block &block) {
  llvm::DenseSet<Location> seen;
  for (Operation &op : llvm::reverse(block)) {
    auto name = dyn_cast<NameLoc>(op.getLoc());
    if (name && !seen.insert(name).second)
      op.setLoc(name.getChildLoc());
  }
}

LogicalResult larc::prepareForAnalysis(RecurrenceOp recurrence) {
  PassManager pm(recurrence.getContext(), RecurrenceOp::getOperationName());
  pm.addPass(createDecompose());
  pm.addPass(createUnrollFolds());
  pm.addPass(createCSEPass());
  pm.addPass(createCanonicalizerPass());
  if (failed(pm.run(recurrence)))
    return failure();
  // Before parts of what had the name are moved elsewhere.
  keepNamesOfResults(recurrence.getBody().front());
  while (rewriteOneSelect(recurrence)) {
  }
  pm.clear();
  pm.addPass(createDistribute());
  pm.addPass(createFactor());
  pm.addPass(createCSEPass());
  pm.addPass(createCanonicalizerPass());
  if (failed(pm.run(recurrence)))
    return failure();
  keepNamesOfResults(recurrence.getBody().front());
  return success();
}
