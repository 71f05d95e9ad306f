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

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

static bool isScratch(ProgramOp program, Value memory) {
  auto argument = dyn_cast<BlockArgument>(memory);
  return argument && isa<GlobalType>(memory.getType()) &&
         program.getArgumentKind(argument.getArgNumber()) ==
             ArgumentKind::Scratch;
}

/// Whether what stands in `region`, but not in a role of its own, reads scratch
/// memory, or writes what programs before this one may still read.
static bool followsOthers(ProgramOp program, Region &region) {
  return region
      .walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (isa<RoleOp>(op))
          return WalkResult::skip();
        auto load = dyn_cast<LoadOp>(op);
        auto store = dyn_cast<StoreOp>(op);
        bool follows = (load && isScratch(program, load.getMemory())) ||
                       (store && isa<GlobalType>(store.getMemory().getType()));
        return follows ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// A kernel of several may start while the one before still runs, if its launch
/// says so. What hands something on lets the next one start at once.
void ProgramEmitter::emitProgramStart() {
  if (!program.isSegmented() || computeCapability < kHopper)
    return;
  bool handsOn = program
                     .walk([&](StoreOp store) {
                       return isScratch(program, store.getMemory())
                                  ? WalkResult::interrupt()
                                  : WalkResult::advance();
                     })
                     .wasInterrupted();
  if (handsOn)
    assembly("griddepcontrol.launch_dependents;", "", {}, {});
}

void ProgramEmitter::emitProgramWait(Region &region) {
  if (program.isSegmented() && computeCapability >= kHopper &&
      followsOthers(program, region))
    assembly("griddepcontrol.wait;", "~{memory}", {}, {});
}

//===----------------------------------------------------------------------===//
// Barriers and votes
//===----------------------------------------------------------------------===//

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
  // By halves, so that few wait for each other.
  Values values = unpack(op.getPredicate());
  for (; values.size() > 1; values.resize((values.size() + 1) / 2))
    for (size_t i = 0; 2 * i + 1 < values.size(); ++i) {
      Value other = values[values.size() - 1 - i];
      values[i] = all ? arith::AndIOp::create(builder, loc, values[i], other)
                            .getResult()
                      : arith::OrIOp::create(builder, loc, values[i], other)
                            .getResult();
    }
  Value own = values.front();
  if (op.getWarps() == 1) {
    Value answer = NVVM::VoteSyncOp::create(
        builder, loc, builder.getI1Type(), i32(-1), own,
        all ? NVVM::VoteSyncKind::all : NVVM::VoteSyncKind::any);
    scalars.map(op.getResult(), answer);
    return;
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

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

Value ProgramEmitter::toWord(Value pointer) {
  return LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(), pointer);
}

/// Makes all barriers of the program ready, before any warp comes to one.
void ProgramEmitter::emitPhaseStart() {
  auto allocations = llvm::to_vector(program.getBody().getOps<AllocPhasesOp>());
  if (allocations.empty())
    return;
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        thread, index(0));
  auto guard = scf::IfOp::create(builder, loc, isFirst,
                                 /*withElseRegion=*/false);
  for (AllocPhasesOp op : allocations) {
    PhasesType type = op.getType();
    auto place = static_cast<int32_t>(sharedPlaces.lookup(op));
    Value phases = LLVM::GEPOp::create(builder, loc, sharedBase.getType(),
                                       builder.getI8Type(), sharedBase,
                                       ArrayRef<LLVM::GEPArg>{place});
    phases.getDefiningOp()->moveBefore(guard);
    scalars.map(op.getResult(), phases);
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPoint(guard.thenBlock()->getTerminator());
    // The copies of every lane arrive by themselves.
    bool byLanes = type.getCopies() || laneArrivals;
    Value count = i32(type.getWarps() * (byLanes ? LayoutAttr::kLanes : 1));
    for (int64_t stage = 0; stage < type.getStages(); ++stage)
      NVVM::MBarrierInitOp::create(
          builder, loc, getBarrierAddress(op.getResult(), index(stage)), count,
          /*predicate=*/Value());
  }
  if (computeCapability >= kHopper) {
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPoint(guard.thenBlock()->getTerminator());
    NVVM::FenceMbarrierInitOp::create(builder, loc);
  }
  NVVM::Barrier0Op::create(builder, loc);
}

Value ProgramEmitter::getBarrierAddress(Value phases, Value stage) {
  Value offset = toI32(multiply(stage, PhasesType::kBarrierBytes));
  return LLVM::GEPOp::create(
      builder, loc, sharedBase.getType(), builder.getI8Type(),
      scalars.lookupOrDefault(phases), ArrayRef<LLVM::GEPArg>{offset});
}

void ProgramEmitter::emitPhaseArrive(PhaseArriveOp op) {
  Value barrier =
      getBarrierAddress(op.getPhases(), scalars.lookupOrDefault(op.getStage()));
  if (op.getPhases().getType().getCopies()) {
    NVVM::CpAsyncMBarrierArriveOp::create(builder, loc, barrier,
                                          /*noinc=*/true);
    return;
  }
  if (laneArrivals) {
    assembly("mbarrier.arrive.shared.b64 _, [$0];", "r,~{memory}",
             {toWord(barrier)}, {});
    return;
  }
  // One lane speaks for all, once all are there.
  NVVM::SyncWarpOp::create(builder, loc, i32(-1));
  assembly("{ .reg .pred p; setp.eq.u32 p, $1, 0; "
           "@p mbarrier.arrive.shared.b64 _, [$0]; }",
           "r,r,~{memory}", {toWord(barrier), toI32(lane)}, {});
}

void ProgramEmitter::emitPhaseWait(PhaseWaitOp op) {
  Value barrier =
      getBarrierAddress(op.getPhases(), scalars.lookupOrDefault(op.getStage()));
  Value parity = toI32(scalars.lookupOrDefault(op.getParity()));
  StringRef look = computeCapability >= kHopper ? "try_wait" : "test_wait";
  assembly(("{ .reg .pred p; again: mbarrier." + look +
            ".parity.shared.b64 p, [$0], $1; @!p bra again; }")
               .str(),
           "r,r,~{memory}", {toWord(barrier), parity}, {});
}
