//===- TileInterpreter.cpp - Tile programs on a CPU -------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Control: what each warp does next, and where warps meet. A warp keeps a stack
// of the blocks of operations that it is in, so that it can stop anywhere.
//
//===----------------------------------------------------------------------===//

#include "TileMachine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace larc;
using namespace larc::tile;
using namespace larc::tilerun;

/// Barriers of a block; the first is its own.
static constexpr int64_t kBarriers = 16;

LogicalResult larc::interpretTileProgram(ProgramOp program,
                                         const TileBlock &block,
                                         TileStatistics *statistics) {
  TileStatistics unused;
  return TileMachine(program, block, statistics ? *statistics : unused).run();
}

static int64_t countBarriers(ProgramOp program) {
  int64_t count = 0;
  program.walk([&](AllocPhasesOp op) { count += op.getType().getStages(); });
  return count;
}

TileMachine::TileMachine(ProgramOp program, const TileBlock &block,
                         TileStatistics &statistics)
    : program(program), block(block), statistics(statistics),
      warps(program.getWarps()),
      ordering(program.getWarps(), countBarriers(program)), globals(ordering),
      waiting(kBarriers), expected(kBarriers),
      products(llvm::divideCeil(program.getWarps(), 4)) {}

//===----------------------------------------------------------------------===//
// Preparation
//===----------------------------------------------------------------------===//

LogicalResult TileMachine::checkArguments() {
  if (!program.getBody().hasOneBlock())
    return program.emitOpError("expected one block of operations");
  ArrayRef<Type> types = program.getArgumentTypes();
  if (types.size() != block.arguments.size())
    return program.emitOpError("expected ")
           << types.size() << " arguments to run with, found "
           << block.arguments.size();
  if (block.length < 0)
    return program.emitOpError("expected a length of at least 0, found ")
           << block.length;
  if (block.part < 0 || block.part >= static_cast<int64_t>(program.getParts()))
    return program.emitOpError("expected one of ")
           << program.getParts() << " parts, found " << block.part;
  for (auto [index, type, view] : llvm::enumerate(types, block.arguments)) {
    auto global = cast<GlobalType>(type);
    int64_t rows = global.hasDynamicRows() ? block.length : global.getRows();
    if (program.getArgumentKind(static_cast<unsigned>(index)) ==
        ArgumentKind::Scratch)
      rows = view.rows;
    if (view.elementType != global.getElementType() || view.rows != rows ||
        view.cols != global.getCols())
      return program.emitOpError("expected argument ")
             << index << " to be " << rows << "x" << global.getCols() << "x"
             << global.getElementType() << ", found " << view.rows << "x"
             << view.cols << "x" << view.elementType;
    if (!view.data && rows != 0)
      return program.emitOpError("argument ") << index << " has no memory";
  }
  return success();
}

void TileMachine::numberValues() {
  auto add = [&](Value value) { numbers.try_emplace(value, numbers.size()); };
  program.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    llvm::for_each(op->getResults(), add);
    for (Region &region : op->getRegions())
      for (Block &inner : region)
        llvm::for_each(inner.getArguments(), add);
  });
  llvm::for_each(program.getBody().getArguments(), add);
}

void TileMachine::placeShared() {
  SmallVector<AllocOp> movable;
  program.walk([&](AllocOp op) {
    if (!op.getOffset())
      return movable.push_back(op);
    int64_t offset = *op.getOffset();
    places[op] = offset;
    sharedBytes = std::max(sharedBytes, offset + op.getType().getBytes());
  });
  for (AllocOp op : movable) {
    auto offset = static_cast<int64_t>(
        llvm::alignTo(sharedBytes, op.getType().getAlignment()));
    places[op] = offset;
    sharedBytes = offset + op.getType().getBytes();
  }
  shared.emplace(sharedBytes, ordering);
  program.walk([&](AllocPhasesOp op) {
    PhasesType type = op.getType();
    places[op] = static_cast<int64_t>(barriers.size());
    barriers.resize(barriers.size() + type.getStages());
    sharedBytes = static_cast<int64_t>(
                      llvm::alignTo(sharedBytes, PhasesType::kBarrierBytes)) +
                  type.getBytes();
  });
}

LogicalResult TileMachine::run() {
  if (failed(checkArguments()))
    return failure();
  numberValues();
  placeShared();
  statistics = TileStatistics();
  statistics.sharedBytes = sharedBytes;
  Block &body = program.getBody().front();
  for (auto [number, warp] : llvm::enumerate(warps)) {
    warp.number = static_cast<int64_t>(number);
    warp.slots.resize(numbers.size());
    warp.frames.push_back({&body, body.begin()});
    for (BlockArgument argument : body.getArguments())
      getSlot(warp, argument).memory = argument.getArgNumber();
  }
  auto ended = [](const Warp &warp) { return warp.state == Warp::Ended; };
  while (!llvm::all_of(warps, ended)) {
    bool moved = false;
    for (Warp &warp : warps) {
      if (warp.state != Warp::Runs)
        continue;
      moved = true;
      if (failed(runWarp(warp)))
        return failure();
    }
    if (!moved)
      return reportDeadlock();
  }
  for (ArrayRef<Joint> joints : products)
    if (failed(checkJoints(joints)))
      return failure();
  return checkJoints(copies);
}

LogicalResult TileMachine::checkJoints(ArrayRef<Joint> joints) {
  for (const Joint &joint : joints)
    if (joint.warps != joint.expected)
      return joint.op->emitOpError("is done by ")
             << joint.warps << " of the " << joint.expected
             << " warps that do it together";
  return success();
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

LogicalResult TileMachine::runWarp(Warp &warp) {
  while (warp.state == Warp::Runs) {
    Operation *op = &*warp.frames.back().next++;
    ++warp.step;
    ++statistics.operations;
    if (failed(runOperation(warp, op)))
      return failure();
  }
  return success();
}

LogicalResult TileMachine::runOperation(Warp &warp, Operation *op) {
  auto setInteger = [&](Value value, int64_t number) {
    getSlot(warp, value).scalar.integer = number;
    return success();
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](scf::ForOp loop) { return runFor(warp, loop); })
      .Case([&](scf::IfOp branch) { return runIf(warp, branch); })
      .Case([&](scf::YieldOp yield) { return runYield(warp, yield); })
      .Case([&](RoleOp role) { return runRole(warp, role); })
      .Case([&](YieldOp) { // of a role
        warp.frames.pop_back();
        return success();
      })
      .Case([&](ReturnOp) {
        warp.state = Warp::Ended;
        return success();
      })
      .Case([&](LengthOp length) { return setInteger(length, block.length); })
      .Case([&](PartOp part) { return setInteger(part, block.part); })
      .Case([&](SegmentOp op) { return setInteger(op, block.segment); })
      .Case([&](SegmentsOp op) { return setInteger(op, block.segments); })
      .Case([&](PositionOp op) { return setInteger(op, block.position); })
      .Case([&](WarpOp number) {
        return setInteger(number, warp.number - getTeam(number).first);
      })
      .Case([&](AllocOp alloc) {
        getSlot(warp, alloc).memory = places.lookup(alloc);
        return success();
      })
      .Case([&](AllocPhasesOp alloc) {
        getSlot(warp, alloc).memory = places.lookup(alloc);
        return success();
      })
      .Case([&](StageOp stage) { return runStage(warp, stage); })
      .Case([&](LoadOp load) { return runLoad(warp, load); })
      .Case([&](StoreOp store) { return runStore(warp, store); })
      .Case([&](CopyAsyncOp copy) { return runCopy(warp, copy); })
      .Case([&](CopyBulkOp copy) { return runCopyBulk(warp, copy); })
      .Case([&](CopyCommitOp) {
        warp.copyGroups.push_back(std::exchange(warp.openCopies, {}));
        return success();
      })
      .Case([&](CopyWaitOp copyWait) { return runCopyWait(warp, copyWait); })
      .Case([&](BarrierOp barrier) {
        return meet(warp, barrier, barrier.getId(), barrier.getWarps());
      })
      .Case([&](ArriveOp arrive) {
        return meet(warp, arrive, arrive.getId(), arrive.getWarps());
      })
      .Case([&](PhaseArriveOp arrive) { return runPhaseArrive(warp, arrive); })
      .Case([&](PhaseWaitOp wait) { return runPhaseWait(warp, wait); })
      // A warp runs one operation after the other.
      .Case([&](SyncWarpOp) { return success(); })
      .Case([&](FenceAsyncOp) {
        ordering.fence(warp.number);
        return success();
      })
      .Case([&](VoteOp vote) { return runVote(warp, vote); })
      .Case([&](SplatOp splat) { return runSplat(warp, splat); })
      .Case([&](IndexOp index) { return runIndex(warp, index); })
      .Case([&](MapOp map) { return runMap(warp, map); })
      .Case([&](ReduceOp reduce) { return runReduce(warp, reduce); })
      .Case([&](ScanOp scan) { return runScan(warp, scan); })
      .Case([&](ExchangeOp exchange) { return runExchange(warp, exchange); })
      .Case([&](PickOp pick) { return runPick(warp, pick); })
      .Case([&](ConvertOp convert) { return runConvert(warp, convert); })
      .Case([&](SliceOp slice) { return runSlice(warp, slice); })
      .Case([&](ConcatOp concat) { return runConcat(warp, concat); })
      .Case([&](MmaOp product) { return runMma(warp, product); })
      .Case([&](MmaRowsOp product) { return runMmaRows(warp, product); })
      .Case([&](WgmmaOp product) { return runWgmma(warp, product); })
      .Case([&](WgmmaFenceOp) {
        warp.fenceStep = warp.step;
        return success();
      })
      .Case([&](WgmmaCommitOp) {
        for (ProductRef &product : warp.openProducts)
          product->committed = true;
        warp.productGroups.push_back(std::exchange(warp.openProducts, {}));
        return success();
      })
      .Case([&](WgmmaWaitOp tiles) { return runWgmmaWait(warp, tiles); })
      .Default([&](Operation *other) { return runScalar(warp, other); });
}

LogicalResult TileMachine::runFor(Warp &warp, scf::ForOp op) {
  int64_t lower = getInteger(warp, op.getLowerBound());
  int64_t upper = getInteger(warp, op.getUpperBound());
  int64_t step = getInteger(warp, op.getStep());
  if (step <= 0)
    return op.emitOpError("expected a positive step, found ") << step;
  bool runs = lower < upper;
  for (auto [init, argument, result] : llvm::zip_equal(
           op.getInitArgs(), op.getRegionIterArgs(), op.getResults()))
    getSlot(warp, runs ? Value(argument) : Value(result)) = getSlot(warp, init);
  if (!runs)
    return success();
  getSlot(warp, op.getInductionVar()).scalar.integer = lower;
  Block *body = op.getBody();
  warp.frames.push_back({body, body->begin(), lower, upper, step});
  return success();
}

LogicalResult TileMachine::runIf(Warp &warp, scf::IfOp op) {
  bool holds = getInteger(warp, op.getCondition()) != 0;
  Block *chosen = holds ? op.thenBlock() : op.elseBlock();
  if (chosen)
    warp.frames.push_back({chosen, chosen->begin()});
  return success();
}

LogicalResult TileMachine::runRole(Warp &warp, RoleOp op) {
  Team team = getTeam(&op.getBody().front().front());
  Block &body = op.getBody().front();
  if (warp.number >= team.first && warp.number < team.first + team.warps)
    warp.frames.push_back({&body, body.begin()});
  return success();
}

Team TileMachine::getTeam(Operation *op) const {
  auto role = op->getParentOfType<RoleOp>();
  if (!role)
    return {nullptr, 0, static_cast<int64_t>(warps.size())};
  return {role, static_cast<int64_t>(role.getFirst()),
          static_cast<int64_t>(role.getWarps())};
}

LogicalResult TileMachine::runYield(Warp &warp, scf::YieldOp op) {
  SmallVector<Slot> values;
  for (Value operand : op.getOperands())
    values.push_back(getSlot(warp, operand));
  auto assign = [&](ValueRange targets) {
    for (auto [target, value] : llvm::zip_equal(targets, values))
      getSlot(warp, target) = std::move(value);
  };
  Operation *parent = op->getParentOp();
  Frame &frame = warp.frames.back();
  if (auto loop = dyn_cast<scf::ForOp>(parent)) {
    frame.variable += frame.step;
    if (frame.variable < frame.upper) {
      assign(loop.getRegionIterArgs());
      getSlot(warp, loop.getInductionVar()).scalar.integer = frame.variable;
      frame.next = frame.block->begin();
      return success();
    }
  } else if (!isa<scf::IfOp>(parent)) {
    return op.emitOpError("is not known to the interpreter here");
  }
  assign(parent->getResults());
  warp.frames.pop_back();
  return success();
}

LogicalResult TileMachine::runScalar(Warp &warp, Operation *op) {
  // A choice between tiles or matrices is one of values as a whole.
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    bool holds = getInteger(warp, select.getCondition()) != 0;
    getSlot(warp, select) =
        getSlot(warp, holds ? select.getTrueValue() : select.getFalseValue());
    return success();
  }
  SmallVector<ElementSpan> operands;
  for (Value operand : op->getOperands()) {
    if (!getFormat(operand.getType()))
      return op->emitOpError("is not known to the interpreter");
    operands.push_back({&getSlot(warp, operand).scalar, true});
  }
  Element result = {};
  if (failed(evaluateElements(op, operands, &result, 1)))
    return failure();
  getSlot(warp, op->getResult(0)).scalar = result;
  return success();
}

//===----------------------------------------------------------------------===//
// Meeting of warps
//===----------------------------------------------------------------------===//

void TileMachine::resume(ArrayRef<Arrival> arrivals) {
  std::vector<int64_t> waited;
  std::vector<std::vector<uint32_t>> notes;
  for (const Arrival &arrival : arrivals) {
    if (isa<ArriveOp>(arrival.op))
      notes.push_back(arrival.note);
    else
      waited.push_back(arrival.warp);
  }
  ordering.meet(waited, notes);
  for (int64_t number : waited) {
    Warp &warp = warps[number];
    warp.state = Warp::Runs;
    auto vote = dyn_cast<VoteOp>(warp.waitsAt);
    if (!vote)
      continue;
    auto answered = [&](int64_t voter) { return warps[voter].answer; };
    bool holds = vote.getKind() == VoteKind::All
                     ? llvm::all_of(waited, answered)
                     : llvm::any_of(waited, answered);
    getSlot(warp, vote).scalar.integer = holds;
  }
}

/// Comes to the barrier `given`, the block's own where there is none, at which
/// `number` warps meet.
LogicalResult TileMachine::meet(Warp &warp, Operation *op, Value given,
                                std::optional<uint64_t> number) {
  auto all = static_cast<int64_t>(warps.size());
  int64_t id = given ? getInteger(warp, given) : 0;
  if (given && (id < 1 || id >= kBarriers))
    return op->emitOpError("expected an id from 1 to ")
           << kBarriers - 1 << ", found " << id;
  int64_t count = number ? static_cast<int64_t>(*number) : all;
  if (count > all)
    return op->emitOpError("waits for ")
           << count << " warps of a block of " << all;

  std::vector<Arrival> &here = waiting[id];
  if (here.empty()) {
    expected[id] = count;
  } else if (isa<VoteOp>(op) != isa<VoteOp>(here.front().op) ||
             count != expected[id]) {
    InFlightDiagnostic error = op->emitOpError(
        "warps do not meet at the same kind of barrier, for as many warps");
    error.attachNote(here.front().op->getLoc())
        << "warp " << here.front().warp << " waits here";
    return error;
  }
  Arrival arrival = {warp.number, op, {}};
  if (isa<ArriveOp>(op)) {
    arrival.note = ordering.leave(warp.number);
  } else {
    warp.state = Warp::Waits;
    warp.waitsAt = op;
  }
  here.push_back(std::move(arrival));
  if (static_cast<int64_t>(here.size()) != count)
    return success();
  ++statistics.meetings;
  resume(std::exchange(here, {}));
  return success();
}

LogicalResult TileMachine::runVote(Warp &warp, VoteOp op) {
  const Registers *predicate = getTile(warp, op, op.getPredicate());
  if (!predicate)
    return failure();
  auto holds = [](Element element) { return element.integer != 0; };
  warp.answer = op.getKind() == VoteKind::All
                    ? llvm::all_of(predicate->elements, holds)
                    : llvm::any_of(predicate->elements, holds);
  return meet(warp, op, op.getId(), op.getWarps());
}

PhaseBarrier *TileMachine::getBarrier(Warp &warp, Operation *op, Value phases,
                                      Value stage) {
  int64_t number = getInteger(warp, stage);
  int64_t stages = cast<PhasesType>(phases.getType()).getStages();
  if (number < 0 || number >= stages)
    return (void)(op->emitOpError("expected a stage below ")
                  << stages << ", found " << number),
           nullptr;
  return &barriers[getSlot(warp, phases).memory + number];
}

LogicalResult TileMachine::runPhaseArrive(Warp &warp, PhaseArriveOp op) {
  PhaseBarrier *barrier = getBarrier(warp, op, op.getPhases(), op.getStage());
  if (!barrier)
    return failure();
  PhasesType type = op.getPhases().getType();
  std::vector<uint32_t> note;
  if (type.getCopies()) {
    for (int64_t copy : std::exchange(warp.flyingCopies, {}))
      shared->landCopy(copy, warp.number);
    note = ordering.land(warp.number);
  } else {
    note = ordering.leave(warp.number);
  }
  std::vector<uint32_t> &known = barrier->notes.back();
  known.resize(note.size(), 0);
  for (auto [time, other] : llvm::zip_equal(known, note))
    time = std::max(time, other);
  llvm::erase_if(barrier->starters,
                 [&](auto starter) { return starter.first == warp.number; });
  return ++barrier->arrived == type.getWarps() ? endPhase(*barrier) : success();
}

LogicalResult TileMachine::endPhase(PhaseBarrier &barrier) {
  if (!barrier.starters.empty())
    return barrier.starters.front().second->emitOpError(
               "counts its bytes in a phase that may end without them: warp ")
           << barrier.starters.front().first << " has not arrived since";
  barrier.arrived = 0;
  // That its arrivals have come does not say yet that it has ended.
  if (std::exchange(barrier.hasBytes, false))
    ordering.endPhase(&barrier - barriers.data(),
                      static_cast<uint32_t>(barrier.notes.size()),
                      barrier.notes.back());
  barrier.notes.emplace_back();
  ++statistics.meetings;
  for (auto [number, parity] : std::exchange(barrier.waiting, {})) {
    warps[number].state = Warp::Runs;
    passPhase(warps[number], barrier, parity);
  }
  return success();
}

/// What a warp knows once it has waited is what it knows for sure, whatever
/// order the warps happen to run in: the first phase that may have let it go
/// on, after those that it knew had ended, and none that ended later.
void TileMachine::passPhase(Warp &warp, const PhaseBarrier &barrier,
                            int64_t parity) {
  int64_t phase = barrier.getPhase();
  while (phase > 0 && !ordering.knows(warp.number, barrier.notes[phase - 1]))
    --phase;
  if (phase % 2 == parity)
    ++phase;
  if (phase > 0)
    ordering.meet(warp.number, barrier.notes[phase - 1]);
}

LogicalResult TileMachine::runPhaseWait(Warp &warp, PhaseWaitOp op) {
  PhaseBarrier *barrier = getBarrier(warp, op, op.getPhases(), op.getStage());
  if (!barrier)
    return failure();
  int64_t parity = getInteger(warp, op.getParity());
  if (parity != 0 && parity != 1)
    return op.emitOpError("expected a parity of 0 or 1, found ") << parity;
  if (barrier->getPhase() % 2 != parity) {
    passPhase(warp, *barrier, parity);
    return success();
  }
  warp.state = Warp::Waits;
  warp.waitsAt = op;
  barrier->waiting.emplace_back(warp.number, parity);
  return success();
}

LogicalResult TileMachine::reportDeadlock() {
  auto waits = [](const Warp &warp) { return warp.state == Warp::Waits; };
  Warp &first = *llvm::find_if(warps, waits);
  InFlightDiagnostic error = first.waitsAt->emitOpError("warp ")
                             << first.number
                             << " waits for warps that do not come";
  for (Warp &warp : warps) {
    if (&warp == &first)
      continue;
    if (warp.state == Warp::Ended)
      error.attachNote(program.getLoc())
          << "warp " << warp.number << " has ended";
    else
      error.attachNote(warp.waitsAt->getLoc())
          << "warp " << warp.number << " waits here";
  }
  return error;
}
