//===- ChunkEmitterTokens.cpp - What goes from token to token -*- C++ -*- -===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChunkEmitter.h"

#include <limits>

using namespace mlir;
using namespace larc;

/// Vectors that go through the tokens together, their running values in
/// registers.
static constexpr int64_t groupVectors = 8;

//===----------------------------------------------------------------------===//
// Running sums
//===----------------------------------------------------------------------===//

static double neutralOf(chunk::CombineKind kind) {
  switch (kind) {
  case chunk::CombineKind::Sum:
    return 0.0;
  case chunk::CombineKind::Product:
    return 1.0;
  case chunk::CombineKind::Max:
    return -std::numeric_limits<double>::infinity();
  }
  return 0.0;
}

static Value combine(OpBuilder &builder, Location loc, chunk::CombineKind kind,
                     Value lhs, Value rhs) {
  switch (kind) {
  case chunk::CombineKind::Sum:
    return arith::AddFOp::create(builder, loc, lhs, rhs);
  case chunk::CombineKind::Product:
    return arith::MulFOp::create(builder, loc, lhs, rhs);
  case chunk::CombineKind::Max:
    return arith::MaximumFOp::create(builder, loc, lhs, rhs);
  }
  return {};
}

/// Emits loops that carry the running values of all elements through the
/// tokens: `step` is given the old ones and returns the new ones, `finish` gets
/// the last.
static void emitRunning(
    OpBuilder &builder, const LaneLoops &loops, ArrayRef<StringAttr> axes,
    double neutral, Value numTokens,
    function_ref<Value(OpBuilder &, Value, Position &, const Lanes &, Value)>
        step,
    function_ref<void(OpBuilder &, Position &, const Lanes &, Value)> finish) {
  StringAttr lane = loops.chooseLaneAxis(axes);
  loops.emitLoops(
      builder, lane ? dropAxes(axes, lane) : SmallVector<StringAttr>(),
      Position(), [&](OpBuilder &outer, Position &at) {
        loops.emitLanes(
            outer, lane, groupVectors,
            [&](OpBuilder &inner, ArrayRef<Lanes> group) {
              Values running;
              for (const Lanes &lanes : group)
                running.push_back(loops.splat(inner, neutral, lanes));
              running = loops.emitFor(
                  inner, loops.index(inner, 0), numTokens, running,
                  [&](OpBuilder &body, Value i, const Values &inside) {
                    Values next;
                    for (auto [lanes, value] : llvm::zip(group, inside))
                      next.push_back(step(body, i, at, lanes, value));
                    return next;
                  });
              for (auto [lanes, value] : llvm::zip(group, running))
                finish(inner, at, lanes, value);
            });
      });
}

void ChunkEmitter::emitCumulate(OpBuilder &builder, chunk::CumulateOp op) {
  Location loc = op.getLoc();
  LaneLoops loops(plan, loc);
  StringAttr token = op.getTokenAttr();
  Buffer operand = materialize(builder, op.getOperand());
  Buffer result = allocateResult(builder, cast<OpResult>(op.getResult()));
  bind(op.getResult(), result);
  Value numTokens = getBound(token);
  emitRunning(
      builder, loops, dropAxes(result.axes, token), neutralOf(op.getKind()),
      numTokens,
      [&](OpBuilder &body, Value i, Position &at, const Lanes &lanes,
          Value running) {
        if (op.getBackward())
          i = arith::SubIOp::create(body, loc, loops.add(body, numTokens, -1),
                                    i);
        at[token] = i;
        Value element = loops.load(body, operand, at, lanes);
        Value next = combine(body, loc, op.getKind(), running, element);
        loops.store(body, op.getExclusive() ? running : next, result, at,
                    lanes);
        return next;
      },
      [](OpBuilder &, Position &, const Lanes &, Value) {});
}

void ChunkEmitter::emitTotal(OpBuilder &builder, chunk::TotalOp op) {
  Location loc = op.getLoc();
  LaneLoops loops(plan, loc);
  Buffer operand = materialize(builder, op.getOperand());
  Buffer result = allocateResult(builder, cast<OpResult>(op.getResult()));
  bind(op.getResult(), result);
  emitRunning(
      builder, loops, result.axes, neutralOf(op.getKind()),
      getBound(op.getTokenAttr()),
      [&](OpBuilder &body, Value i, Position &at, const Lanes &lanes,
          Value running) {
        at[op.getTokenAttr()] = i;
        Value element = loops.load(body, operand, at, lanes);
        return combine(body, loc, op.getKind(), running, element);
      },
      [&](OpBuilder &body, Position &at, const Lanes &lanes, Value total) {
        loops.store(body, total, result, at, lanes);
      });
}

//===----------------------------------------------------------------------===//
// Substitution
//===----------------------------------------------------------------------===//

/// The sums of what tokens before `token` wrote, for one read.
void ChunkEmitter::emitPast(OpBuilder &builder, chunk::SolveOp op,
                            unsigned read, Value token, ArrayRef<Buffer> writes,
                            const Buffer &past) {
  LaneLoops loops(plan, op.getLoc());
  StringAttr lane = loops.chooseLaneAxis(past.axes);
  ArrayRef<int64_t> pairs = op.getPairs();
  Position position;
  position[op.getTokenAttr()] = token;
  loops.emitLoops(
      builder, lane ? dropAxes(past.axes, lane) : SmallVector<StringAttr>(),
      position, [&](OpBuilder &outer, Position &at) {
        loops.emitLanes(
            outer, lane, groupVectors,
            [&](OpBuilder &inner, ArrayRef<Lanes> group) {
              Values sums;
              for (const Lanes &lanes : group)
                sums.push_back(loops.splat(inner, 0.0, lanes));
              sums = loops.emitFor(
                  inner, loops.index(inner, 0), token, sums,
                  [&](OpBuilder &body, Value j, const Values &inside) {
                    Values next = inside;
                    for (auto [i, scores] : llvm::enumerate(op.getScores())) {
                      if (pairs[2 * i] != read)
                        continue;
                      Position writer = at;
                      writer[op.getSourceAttr()] = j;
                      Value score =
                          loops.loadScalar(body, lookup(scores), writer);
                      writer[op.getTokenAttr()] = j;
                      for (auto [lanes, sum] : llvm::zip(group, next))
                        sum = loops.multiplyAdd(
                            body, score,
                            loops.load(body, writes[pairs[2 * i + 1]], writer,
                                       lanes),
                            sum);
                    }
                    return next;
                  });
              for (auto [lanes, sum] : llvm::zip(group, sums))
                loops.store(inner, sum, past, at, lanes);
            });
      });
}

/// Lets what earlier tokens wrote decay by `token`, and adds what it wrote.
void ChunkEmitter::emitDecayedWrites(OpBuilder &builder, chunk::SolveOp op,
                                     Value token, const Buffer &decays,
                                     ArrayRef<Buffer> writes,
                                     ArrayRef<Buffer> decayed) {
  LaneLoops loops(plan, op.getLoc());
  StringAttr axis = op.getTokenAttr();
  for (auto pair : llvm::zip(writes, decayed)) {
    const Buffer &write = std::get<0>(pair), &copy = std::get<1>(pair);
    SmallVector<StringAttr> axes = dropAxes(copy.axes, axis);
    StringAttr lane = loops.chooseLaneAxis(axes);
    Position position;
    position[axis] = token;
    loops.emitLoops(
        builder, lane ? dropAxes(axes, lane) : SmallVector<StringAttr>(),
        position, [&](OpBuilder &outer, Position &at) {
          loops.emitLanes(
              outer, lane, groupVectors,
              [&](OpBuilder &inner, ArrayRef<Lanes> group) {
                Values factors;
                for (const Lanes &lanes : group)
                  factors.push_back(loops.load(inner, decays, at, lanes));
                loops.emitFor(
                    inner, loops.index(inner, 0), token, 1,
                    [&](OpBuilder &body, Value j) {
                      Position writer = at;
                      writer[axis] = j;
                      for (auto [lanes, factor] : llvm::zip(group, factors))
                        loops.store(body,
                                    loops.multiply(
                                        body,
                                        loops.load(body, copy, writer, lanes),
                                        factor),
                                    copy, writer, lanes);
                    });
                for (const Lanes &lanes : group)
                  loops.store(inner, loops.load(inner, write, at, lanes), copy,
                              at, lanes);
              });
        });
  }
}

LogicalResult ChunkEmitter::emitSolve(OpBuilder &builder, chunk::SolveOp op) {
  Location loc = op.getLoc();
  LaneLoops loops(plan, loc);
  StringAttr token = op.getTokenAttr();
  SmallVector<Buffer> results, pasts, decayed;
  for (OpResult result : op->getResults()) {
    results.push_back(allocateResult(builder, result));
    bind(result, results.back());
  }
  ArrayRef<Buffer> writes =
      ArrayRef(results).take_front(static_cast<size_t>(op.getNumWrites()));
  for (Value past : op.getPastArguments()) {
    pasts.push_back(allocate(cast<ArrayType>(past.getType())));
    bind(past, pasts.back());
  }
  Buffer decays;
  if (!op.getDecays().empty()) {
    decays = combineDecays(builder, loc, op.getDecays());
    // Decays may have axes that a write lacks.
    ArrayType decayType =
        ArrayType::ofAxes(plan.scan.getContext(), decays.axes);
    for (OpResult write : op->getResults().take_front(writes.size()))
      decayed.push_back(allocate(
          ArrayType::unionOf(cast<ArrayType>(write.getType()), decayType)));
  }
  for (Value value : op.getOver())
    bind(value, materialize(builder, value));

  auto loop = scf::ForOp::create(builder, loc, loops.index(builder, 0),
                                 getBound(token), loops.index(builder, 1));
  OpBuilder inner = OpBuilder::atBlockTerminator(loop.getBody());
  Value at = loop.getInductionVar();
  for (auto [read, past] : llvm::enumerate(pasts))
    emitPast(inner, op, read, at,
             decayed.empty() ? writes : ArrayRef<Buffer>(decayed), past);
  for (auto [argument, value] : llvm::zip(op.getSliceArguments(), op.getOver()))
    bind(argument, makeSlice(inner, loc, lookup(value), token, at));
  SmallVector<Buffer> rows;
  for (const Buffer &result : results)
    rows.push_back(makeSlice(inner, loc, result, token, at));
  if (failed(emitBlock(inner, op.getBody().front(), {}, {}, rows)))
    return failure();
  if (!decayed.empty())
    emitDecayedWrites(inner, op, at, decays, writes, decayed);
  return success();
}

//===----------------------------------------------------------------------===//
// The loop over tokens
//===----------------------------------------------------------------------===//

LogicalResult ChunkEmitter::emitTokens(OpBuilder &builder, chunk::TokensOp op,
                                       Frame &frame) {
  Location loc = op.getLoc();
  LaneLoops loops(plan, loc);
  StringAttr token = op.getTokenAttr();
  SmallVector<Buffer> carried =
      prepareCarried(builder, op, op.getInits(), frame);
  SmallVector<Buffer> results, sources;
  for (OpResult result : op->getResults().drop_front(carried.size())) {
    results.push_back(allocateResult(builder, result));
    bind(result, results.back());
  }
  for (Value value : op.getOver())
    sources.push_back(materialize(builder, value));

  auto loop = scf::ForOp::create(builder, loc, loops.index(builder, 0),
                                 getBound(token), loops.index(builder, 1));
  OpBuilder inner = OpBuilder::atBlockTerminator(loop.getBody());
  Value at = loop.getInductionVar();
  for (auto [argument, source] : llvm::zip(op.getSliceArguments(), sources))
    bind(argument, makeSlice(inner, loc, source, token, at));
  for (auto [argument, buffer] : llvm::zip(op.getCarriedArguments(), carried))
    bind(argument, buffer);
  SmallVector<Buffer> rows;
  for (const Buffer &result : results)
    rows.push_back(makeSlice(inner, loc, result, token, at));
  if (failed(emitBlock(inner, op.getBody().front(), op.getCarriedArguments(),
                       carried, rows)))
    return failure();
  finishCarried(op, carried, frame);
  return success();
}
