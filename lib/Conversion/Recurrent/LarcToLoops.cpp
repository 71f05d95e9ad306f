//===- LarcToLoops.cpp - The token loop of one head -*- C++ -*- -----------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PassOptions.h"
#include "TokensFunction.h"

using namespace mlir;
using namespace larc;

namespace larc {
#define GEN_PASS_DEF_CONVERTLARCTOLOOPS
#include "larc/Conversion/Passes.h.inc"
} // namespace larc

/// Builds `@NAME_tokens`: a loop over tokens with the step.
static LogicalResult buildTokenLoop(const RecurrentPlan &plan) {
  TokensFunction function(plan);
  Location loc = plan.recurrence.getLoc();
  ScratchMemory scratch(plan, function.scratch, function.getScratchBuilder());
  StepEmitter step(plan, scratch);
  OpBuilder builder = function.getBodyBuilder();
  function.bindStep(step, function.stageConstants(builder, step));

  auto loop = scf::ForOp::create(
      builder, loc, arith::ConstantIndexOp::create(builder, loc, 0),
      function.numTokens, arith::ConstantIndexOp::create(builder, loc, 1));
  OpBuilder inner = OpBuilder::atBlockTerminator(loop.getBody());
  Value token = loop.getInductionVar();
  Value globalToken =
      arith::AddIOp::create(inner, loc, token, function.position);
  step.setGlobalToken(globalToken);
  function.emitAnchorCopies(inner, globalToken);
  if (failed(function.emitStep(inner, token, step, /*prefetch=*/true)) ||
      failed(function.setScratchBytes(scratch)))
    return failure();

  builder = function.getBodyBuilder();
  Value end = arith::AddIOp::create(builder, loc, function.position,
                                    function.numTokens);
  function.emitAnchorCopies(builder, end);
  return success();
}

namespace {
struct ConvertLarcToLoopsPass
    : WithRecurrentOptions<
          larc::impl::ConvertLarcToLoopsBase<ConvertLarcToLoopsPass>> {
  using WithRecurrentOptions::WithRecurrentOptions;

  void runOnOperation() override {
    RecurrentOptions options = getRecurrentOptions();
    for (RecurrenceOp op :
         llvm::to_vector(getOperation().getOps<RecurrenceOp>())) {
      FailureOr<RecurrentPlan> plan = RecurrentPlan::create(op, options);
      if (failed(plan) || failed(buildTokenLoop(*plan)))
        return signalPassFailure();
    }
  }
};
} // namespace
