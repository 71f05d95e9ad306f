//===- CopyRole.cpp - Brings operands -*- C++ -*- -------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FactorRole.h"

using namespace mlir;
using namespace larc;

void larc::emitCopies(const ScanPlan &plan, SharedArrays &shared,
                      ValueRange arguments, tile::RoleOp role,
                      TokenRange tokens) {
  Location loc = plan.scan.getLoc();
  OpBuilder builder = OpBuilder::atBlockBegin(&role.getBody().front());
  auto index = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, number);
  };
  bool isBulk = plan.hasBulkCopies();
  // The copy unit needs no more than one warp that tells it what to do.
  if (isBulk) {
    Value warp = tile::WarpOp::create(builder, loc);
    Value isFirst = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, warp, index(0));
    auto branch =
        scf::IfOp::create(builder, loc, isFirst, /*withElseRegion=*/false);
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  }
  Value size = index(plan.chunk);
  auto loop = scf::ForOp::create(builder, loc, tokens.first, tokens.end, size);
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  Value first = loop.getInductionVar();
  Value passed = arith::SubIOp::create(builder, loc, first, tokens.first);
  Value number = arith::DivUIOp::create(builder, loc, passed, size);
  Value stage =
      arith::RemUIOp::create(builder, loc, number, shared.getStages());
  // The phase of the chunk that had the stage before. A wait for the phase
  // before the first one passes.
  Value before = arith::SubIOp::create(builder, loc, index(1),
                                       shared.getParity(builder, number));
  const Phases &phases = shared.getPhases();
  tile::PhaseWaitOp::create(builder, loc, phases.done, stage, before);
  chunk::ScanOp scan = plan.scan;
  for (unsigned i = 0; i < scan.getNumOperands(); ++i) {
    Value ring = shared.getRing(i);
    if (!ring)
      continue;
    StringAttr axis = plan.getChannels(scan.getBody().getArgument(i));
    Value col = axis == plan.dividedAxis ? tokens.channel : index(0);
    Value target = tile::StageOp::create(builder, loc, ring, stage);
    if (isBulk)
      tile::CopyBulkOp::create(builder, loc, arguments[i], first, col, target,
                               phases.landed, stage);
    else
      tile::CopyAsyncOp::create(builder, loc, arguments[i], first, col,
                                tokens.end, target);
  }
  tile::PhaseArriveOp::create(builder, loc, phases.landed, stage);
}
