//===- ChunkEmitter.cpp - One chunk on buffers -*- C++ -*- ----------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChunkEmitter.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace larc;

ChunkEmitter::ChunkEmitter(const RecurrentPlan &plan, ScratchMemory &scratch)
    : StepEmitter(plan, scratch) {
  // States are updated in place where nothing reads them any more: as late as
  // possible.
  Block &body = plan.scan.getBody().front();
  Operation *yield = body.getTerminator();
  for (auto update : llvm::to_vector(body.getOps<chunk::UpdateOp>()))
    if (llvm::all_of(update->getUsers(),
                     [&](Operation *user) { return user == yield; }))
      update->moveBefore(yield);
  // 0 is before the first.
  for (auto [i, op] : llvm::enumerate(body))
    order[&op] = i + 1;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The view of scratch memory that `memref` is a part of, or another value.
static Value getRoot(Value memref) {
  while (auto view = memref.getDefiningOp<memref::SubViewOp>())
    memref = view.getSource();
  return memref;
}

Buffer ChunkEmitter::allocate(ArrayRef<StringAttr> axes) {
  ScratchMemory::Place place;
  Buffer buffer = scratch.allocate(axes, place);
  allocations[buffer.memref] = {place, current};
  return buffer;
}

unsigned ChunkEmitter::getLastUse(Value value) const {
  unsigned last = 0;
  Block &body = plan.scan.getBody().front();
  for (Operation *user : value.getUsers())
    if (Operation *op = body.findAncestorOpInBlock(*user))
      last = std::max(last, order.lookup(op));
  return last;
}

void ChunkEmitter::keepUntil(const Buffer &buffer, unsigned lastUse) {
  auto it = allocations.find(getRoot(buffer.memref));
  if (it != allocations.end())
    it->second.lastUse = std::max(it->second.lastUse, lastUse);
}

void ChunkEmitter::finishOp(Operation *op, Frame &frame) {
  if (frame.block != &plan.scan.getBody().front())
    return;
  for (Value result : op->getResults())
    if (buffers.contains(result))
      keepUntil(lookup(result), getLastUse(result));
  SmallVector<Value> dead;
  for (auto &[memref, allocation] : allocations)
    if (allocation.lastUse <= current)
      dead.push_back(memref);
  for (Value memref : dead) {
    scratch.release(allocations.lookup(memref).place);
    allocations.erase(memref);
  }
  ++current;
}

void ChunkEmitter::releaseAll() {
  for (auto &entry : allocations)
    scratch.release(entry.second.place);
  allocations.clear();
}

Buffer ChunkEmitter::allocateOperand(Value argument) {
  Buffer buffer = allocate(cast<ArrayType>(argument.getType()));
  keepUntil(buffer, getLastUse(argument));
  bind(argument, buffer);
  return buffer;
}

/// A part of a stack is made where it belongs.
Buffer ChunkEmitter::allocateResult(OpBuilder &builder, OpResult result) {
  auto type = cast<ArrayType>(result.getType());
  auto stack = result.hasOneUse()
                   ? dyn_cast<chunk::StackOp>(*result.getUsers().begin())
                   : nullptr;
  if (!stack || stack->getBlock() != &plan.scan.getBody().front())
    return allocate(type);
  auto part = cast<StringAttr>(
      stack.getFrom()[result.getUses().begin()->getOperandNumber()]);
  if (!hasWholeTiles(part))
    return allocate(type);
  if (!buffers.contains(stack.getResult())) {
    Buffer whole = allocateResult(builder, cast<OpResult>(stack.getResult()));
    keepUntil(whole, getLastUse(stack.getResult()));
    int64_t covered = 0;
    for (auto from : stack.getFrom().getAsRange<StringAttr>())
      covered += plan.getExtent(from);
    if (covered < plan.getExtent(stack.getToAttr()))
      NestEmitter::emitFill(builder, stack.getLoc(), plan, whole, 0.0);
    bind(stack.getResult(), whole);
  }
  return makeRowsView(builder, stack.getLoc(), lookup(stack.getResult()),
                      stack.getToAttr(), part);
}

Buffer ChunkEmitter::allocateOver(OpBuilder &builder, OpResult result,
                                  Value init, Frame &frame) {
  if (result.hasOneUse() && isa<chunk::StackOp>(*result.getUsers().begin()))
    return allocateResult(builder, result);
  Operation *op = result.getOwner();
  if (init && init.getDefiningOp() && init.getType() == result.getType() &&
      allocations.contains(lookup(init).memref) &&
      llvm::count(op->getOperands(), init) == 1 && isDeadAfter(init, op, frame))
    return lookup(init);
  return allocateResult(builder, result);
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Buffer>> ChunkEmitter::emit(OpBuilder &builder,
                                                  Value numTokens,
                                                  ArrayRef<Buffer> states) {
  chunk::ScanOp scan = plan.scan;
  LaneLoops loops(plan, scan.getLoc());
  // Tokens of each sub-block that exist: min(max(n - offset, 0), size).
  Value zero = loops.index(builder, 0);
  for (auto axis : scan.getTokens().getAsRange<chunk::TokenAxisAttr>()) {
    Value bound = numTokens;
    if (axis.getOffset())
      bound = arith::MaxSIOp::create(
          builder, scan.getLoc(),
          arith::SubIOp::create(builder, scan.getLoc(), bound,
                                loops.index(builder, axis.getOffset())),
          zero);
    if (axis.getOffset() + axis.getSize() <
        static_cast<int64_t>(scan.getSize()))
      bound = arith::MinSIOp::create(builder, scan.getLoc(), bound,
                                     loops.index(builder, axis.getSize()));
    bounds[axis.getAxis()] = bound;
  }
  for (auto [argument, buffer] : llvm::zip(scan.getStateArguments(), states))
    bind(argument, buffer);
  current = 1;
  if (failed(emitBlock(builder, scan.getBody().front(),
                       scan.getStateArguments(), states, {})))
    return failure();
  SmallVector<Buffer> outputs;
  for (Value output :
       scan.getYield().getValues().drop_front(scan.getNumStates()))
    outputs.push_back(materialize(builder, output));
  return outputs;
}

LogicalResult ChunkEmitter::emitOther(OpBuilder &builder, Operation *op,
                                      Frame &frame) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<chunk::RowsOp>([&](auto rows) {
        emitRows(builder, rows);
        return success();
      })
      .Case<chunk::StackOp>([&](auto stack) {
        emitStack(builder, stack);
        return success();
      })
      .Case<chunk::CumulateOp>([&](auto cumulate) {
        emitCumulate(builder, cumulate);
        return success();
      })
      .Case<chunk::TotalOp>([&](auto total) {
        emitTotal(builder, total);
        return success();
      })
      .Case<chunk::ScoresOp>([&](auto scores) {
        emitScores(builder, scores);
        return success();
      })
      .Case<chunk::MixOp>([&](auto mix) {
        emitMix(builder, mix, frame);
        return success();
      })
      .Case<chunk::UpdateOp>([&](auto update) {
        emitUpdate(builder, update, frame);
        return success();
      })
      .Case<chunk::SolveOp>(
          [&](auto solve) { return emitSolve(builder, solve); })
      .Case<chunk::TokensOp>(
          [&](auto tokens) { return emitTokens(builder, tokens, frame); })
      .Default([&](Operation *other) {
        return StepEmitter::emitOther(builder, other, frame);
      });
}

//===----------------------------------------------------------------------===//
// Parts of a chunk
//===----------------------------------------------------------------------===//

Buffer ChunkEmitter::makeRowsView(OpBuilder &builder, Location loc,
                                  const Buffer &buffer, StringAttr whole,
                                  StringAttr part) {
  chunk::ScanOp scan = plan.scan;
  int64_t offset = scan.lookupTokenAxis(part).getOffset() -
                   scan.lookupTokenAxis(whole).getOffset();
  auto type = cast<MemRefType>(buffer.memref.getType());
  SmallVector<OpFoldResult> offsets, sizes, strides;
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<StringAttr> axes = buffer.axes;
  for (auto [axis, size] : llvm::zip(axes, shape)) {
    bool isRow = axis == whole;
    if (isRow) {
      size = plan.getExtent(part);
      axis = part;
    }
    // Not in the type, so that views of all blocks have the same one.
    if (isRow)
      offsets.push_back(
          arith::ConstantIndexOp::create(builder, loc, offset).getResult());
    else
      offsets.push_back(builder.getIndexAttr(0));
    sizes.push_back(builder.getIndexAttr(size));
    strides.push_back(builder.getIndexAttr(1));
  }
  Value view = memref::SubViewOp::create(builder, loc, buffer.memref, offsets,
                                         sizes, strides);
  return {view, axes};
}

void ChunkEmitter::emitRows(OpBuilder &builder, chunk::RowsOp op) {
  Buffer view =
      makeRowsView(builder, op.getLoc(), materialize(builder, op.getOperand()),
                   op.getFromAttr(), op.getToAttr());
  if (!hasWholeTiles(op.getToAttr())) {
    // Tiles would reach beyond the view.
    Buffer copy = allocate(view.axes);
    NestEmitter::emitCopy(builder, op.getLoc(), plan, view, copy);
    view = copy;
  }
  bind(op.getResult(), view);
}

void ChunkEmitter::emitStack(OpBuilder &builder, chunk::StackOp op) {
  Location loc = op.getLoc();
  bool isNew = !buffers.contains(op.getResult());
  if (isNew) {
    bind(op.getResult(),
         allocateResult(builder, cast<OpResult>(op.getResult())));
    int64_t covered = 0;
    for (auto from : op.getFrom().getAsRange<StringAttr>())
      covered += plan.getExtent(from);
    if (covered < plan.getExtent(op.getToAttr()))
      NestEmitter::emitFill(builder, loc, plan, lookup(op.getResult()), 0.0);
  }
  Buffer whole = lookup(op.getResult());
  for (auto [part, from] :
       llvm::zip(op.getParts(), op.getFrom().getAsRange<StringAttr>())) {
    Buffer source = materialize(builder, part);
    // A part that was made in its place is a view of the whole.
    if (getRoot(source.memref) == getRoot(whole.memref))
      continue;
    NestEmitter::emitCopy(
        builder, loc, plan, source,
        makeRowsView(builder, loc, whole, op.getToAttr(), from));
  }
}

Buffer ChunkEmitter::expand(OpBuilder &builder, Location loc,
                            const Buffer &from, ArrayRef<StringAttr> axes) {
  SmallVector<StringAttr> all = from.axes;
  llvm::append_range(all, axes);
  all = plan.getOrder(ArrayType::ofAxes(plan.scan.getContext(), all));
  Buffer to = allocate(all);
  LaneLoops loops(plan, loc);
  StringAttr lane = all.back();
  loops.emitLoops(
      builder, ArrayRef(all).drop_back(), Position(),
      [&](OpBuilder &inner, Position &at) {
        loops.emitLanes(
            inner, lane, 1, [&](OpBuilder &innermost, ArrayRef<Lanes> lanes) {
              Value value = loops.load(innermost, from, at, lanes[0]);
              loops.store(innermost, value, to, at, lanes[0]);
            });
      });
  return to;
}

Buffer ChunkEmitter::combineDecays(OpBuilder &builder, Location loc,
                                   ValueRange decays) {
  if (decays.size() == 1)
    return materialize(builder, decays.front());
  SmallVector<Buffer> factors;
  ArrayType type = ArrayType::scalar(plan.scan.getContext());
  for (Value decay : decays) {
    factors.push_back(materialize(builder, decay));
    type = ArrayType::unionOf(type, cast<ArrayType>(decay.getType()));
  }
  Buffer product = allocate(type);
  LaneLoops loops(plan, loc);
  StringAttr lane = product.axes.back();
  loops.emitLoops(
      builder, ArrayRef(product.axes).drop_back(), Position(),
      [&](OpBuilder &inner, Position &at) {
        loops.emitLanes(
            inner, lane, 1, [&](OpBuilder &innermost, ArrayRef<Lanes> lanes) {
              Value value = loops.load(innermost, factors[0], at, lanes[0]);
              for (const Buffer &factor : ArrayRef(factors).drop_front())
                value =
                    loops.multiply(innermost, value,
                                   loops.load(innermost, factor, at, lanes[0]));
              loops.store(innermost, value, product, at, lanes[0]);
            });
      });
  return product;
}

//===----------------------------------------------------------------------===//
// The state at the end
//===----------------------------------------------------------------------===//

void ChunkEmitter::emitUpdate(OpBuilder &builder, chunk::UpdateOp op,
                              Frame &frame) {
  Location loc = op.getLoc();
  auto result = cast<OpResult>(op.getResult());
  Buffer state = materialize(builder, op.getState());
  Buffer target;
  std::optional<unsigned> carried = findTarget(result, frame);
  if (carried && frame.carried[*carried].memref == state.memref &&
      isDeadAfter(frame.occupants[*carried], op, frame)) {
    target = state;
    frame.occupants[*carried] = result;
  } else {
    target = allocateOver(builder, result, op.getState(), frame);
  }
  bind(result, target);

  auto type = cast<ArrayType>(result.getType());
  for (auto [i, pair] :
       llvm::enumerate(llvm::zip(op.getKeys(), op.getValues()))) {
    auto [key, value] = pair;
    TileProduct product;
    product.lhs = materialize(builder, key);
    product.rhs = materialize(builder, value);
    SmallVector<StringAttr> missing =
        dropAxes(dropAxes(type.getAxes(), product.lhs.axes), product.rhs.axes);
    if (!missing.empty())
      product.rhs = expand(builder, loc, product.rhs, missing);
    product.result = target;
    product.init = i ? target : state;
    if (!i)
      for (Value decay : op.getDecays())
        product.initFactors.push_back(materialize(builder, decay));
    addExtents(builder, product);
    getTiles().emit(builder, loc, product);
  }
  if (!op.getKeys().empty())
    return;
  SmallVector<Buffer> factors;
  for (Value decay : op.getDecays())
    factors.push_back(materialize(builder, decay));
  LaneLoops loops(plan, loc);
  StringAttr lane = target.axes.empty() ? StringAttr() : target.axes.back();
  loops.emitLoops(
      builder,
      lane ? ArrayRef(target.axes).drop_back() : ArrayRef<StringAttr>(),
      Position(), [&](OpBuilder &inner, Position &at) {
        loops.emitLanes(
            inner, lane, 1, [&](OpBuilder &innermost, ArrayRef<Lanes> lanes) {
              Value element = loops.load(innermost, state, at, lanes[0]);
              for (const Buffer &factor : factors)
                element =
                    loops.multiply(innermost, element,
                                   loops.load(innermost, factor, at, lanes[0]));
              loops.store(innermost, element, target, at, lanes[0]);
            });
      });
}
