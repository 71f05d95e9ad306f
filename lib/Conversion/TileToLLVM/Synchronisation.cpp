//===- Synchronisation.cpp - Barriers and votes -*- C++ -*- ---------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramEmitter.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace larc::tile;

void ProgramEmitter::emitBarrier(BarrierOp op) {
  if (!op.getId()) {
    NVVM::Barrier0Op::create(builder, loc);
    return;
  }
  Value id = toI32(scalars.lookupOrDefault(op.getId()));
  Value threads = i32(32 * static_cast<int64_t>(*op.getWarps()));
  assembly("bar.sync $0, $1;", "r,r,~{memory}", {id, threads}, {});
}

void ProgramEmitter::emitArrive(ArriveOp op) {
  Value id = toI32(scalars.lookupOrDefault(op.getId()));
  Value threads = i32(32 * static_cast<int64_t>(op.getWarps()));
  assembly("bar.arrive $0, $1;", "r,r,~{memory}", {id, threads}, {});
}

void ProgramEmitter::emitVote(VoteOp op) {
  bool all = op.getKind() == VoteKind::All;
  Value own;
  for (Value value : unpack(op.getPredicate())) {
    if (!own)
      own = value;
    else if (all)
      own = arith::AndIOp::create(builder, loc, own, value);
    else
      own = arith::OrIOp::create(builder, loc, own, value);
  }
  own = arith::ExtUIOp::create(builder, loc, builder.getI32Type(), own);
  Value id = op.getId() ? toI32(scalars.lookupOrDefault(op.getId())) : i32(0);
  auto asked = op.getWarps() ? static_cast<int64_t>(*op.getWarps()) : numWarps;
  std::string text =
      (Twine("{ .reg .pred p, q; setp.ne.b32 p, $1, 0; barrier.cta.red.") +
       (all ? "and" : "or") + ".pred q, $2, $3, p; selp.b32 $0, 1, 0, q; }")
          .str();
  Value voted = assembly(text, "=r,r,r,r,~{memory}", {own, id, i32(32 * asked)},
                         builder.getI32Type())
                    .front();
  Value result = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                       voted, i32(0));
  scalars.map(op.getResult(), result);
}
