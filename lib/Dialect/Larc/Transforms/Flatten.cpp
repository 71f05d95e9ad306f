//===- Flatten.cpp - From a spec to a flat recurrence -*- C++ -*- ---------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Dialect/Larc/Transforms/Flatten.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace larc;

RecurrenceOp larc::getRecurrence(ModuleOp module) {
  return *module.getOps<RecurrenceOp>().begin();
}

FailureOr<OwningOpRef<ModuleOp>> larc::flatten(RecurrenceOp spec,
                                               AttributeValues values) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(spec.getLoc());
  module->push_back(spec->clone());
  RecurrenceOp op = getRecurrence(*module);
  if (failed(specialize(op, values)) || failed(expandLevels(op)) ||
      failed(verify(op)))
    return failure();
  PassManager pm(spec.getContext());
  pm.addNestedPass<RecurrenceOp>(createCanonicalizerPass());
  pm.addNestedPass<RecurrenceOp>(createCSEPass());
  if (failed(pm.run(*module)))
    return failure();
  return module;
}
