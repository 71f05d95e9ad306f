//===- PrintTransitions.cpp - larc-analyze-transitions -*- C++ -*- --------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Analysis/Passes.h"
#include "larc/Analysis/Transitions.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace larc;

namespace larc {
#define GEN_PASS_DEF_ANALYZETRANSITIONS
#include "larc/Analysis/Passes.h.inc"
} // namespace larc

namespace {
struct AnalyzeTransitionsPass
    : larc::impl::AnalyzeTransitionsBase<AnalyzeTransitionsPass> {
  using AnalyzeTransitionsBase::AnalyzeTransitionsBase;

  void runOnOperation() override {
    // In order, for one reader.
    for (auto recurrence : getOperation().getOps<RecurrenceOp>()) {
      if (prepare && failed(prepareForAnalysis(recurrence)))
        return signalPassFailure();
      TransitionAnalysis analysis(recurrence);
      analysis.print(llvm::outs());
      if (!remarks)
        continue;
      for (const StateTransition &transition : analysis.getTransitions())
        for (const Obstacle &obstacle : transition.obstacles)
          obstacle.op->emitRemark() << obstacle.property;
    }
  }
};
} // namespace
