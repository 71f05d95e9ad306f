//===- Prepare.cpp - The form that the analysis reads -*- C++ -*- ---------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Analysis/Transitions.h"
#include "larc/Dialect/Larc/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace larc;

LogicalResult larc::prepareForAnalysis(RecurrenceOp recurrence) {
  PassManager pm(recurrence.getContext(), RecurrenceOp::getOperationName());
  pm.addPass(createDecompose());
  pm.addPass(createUnrollFolds());
  pm.addPass(createCSEPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createDistribute());
  pm.addPass(createFactor());
  pm.addPass(createCSEPass());
  pm.addPass(createCanonicalizerPass());
  return pm.run(recurrence);
}
