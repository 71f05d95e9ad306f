//===- ChunkEmitterMix.cpp - Sums weighted by scores -*- C++ -*- ----------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChunkEmitter.h"

using namespace mlir;
using namespace larc;

/// Rows whose sums are in registers together.
static constexpr int64_t panelRows = 8;

void ChunkEmitter::emitMix(OpBuilder &builder, chunk::MixOp op, Frame &frame) {
  Location loc = op.getLoc();
  StringAttr token = op.getTokenAttr(), source = op.getSourceAttr();
  auto opResult = cast<OpResult>(op.getResult());
  if (!op.getDecays().empty()) {
    Buffer result = hasWholeTiles(token)
                        ? allocateOver(builder, opResult, op.getInit(), frame)
                        : allocate(cast<ArrayType>(op.getType()));
    bind(opResult, result);
    return emitDecayedMix(builder, op, result);
  }
  TileProduct product;
  product.lhs = materialize(builder, op.getScores());
  product.rhs = renameAxis(materialize(builder, op.getValues()), token, source);
  if (op.getInit())
    product.init = materialize(builder, op.getInit());
  product.result = allocateOver(builder, opResult, op.getInit(), frame);
  bind(opResult, product.result);
  product.causal = {token, source};
  addExtents(builder, product);
  getTiles().emit(builder, loc, product);
}

namespace {

/// Panels of a few rows: what earlier panels wrote, decayed up to the panel,
/// then what its own rows write.
struct DecayedMix {
  const LaneLoops &loops;
  mutable chunk::MixOp op;
  Buffer scores, values, decays, result;
  std::optional<Buffer> init;
  /// What each token wrote, decayed up to the end of the last panel; none for
  /// one panel.
  std::optional<Buffer> decayed;

  void emitPanel(OpBuilder &builder, const Position &at, const Lanes &lanes,
                 Value first) const;

private:
  /// Adds what token `writer` wrote, given as `value`, to the rows from `begin`
  /// on, and returns what is left of it after the panel.
  Value addWrite(OpBuilder &builder, Position at, const Lanes &lanes,
                 Value first, Value writer, Value value, int64_t begin,
                 bool isOwn, Values &sums) const;
};

} // namespace

Value DecayedMix::addWrite(OpBuilder &builder, Position at, const Lanes &lanes,
                           Value first, Value writer, Value value,
                           int64_t begin, bool isOwn, Values &sums) const {
  StringAttr token = op.getTokenAttr();
  at[op.getSourceAttr()] = writer;
  for (int64_t r = begin; r < panelRows; ++r) {
    at[token] = loops.add(builder, first, r);
    sums[r] = loops.multiplyAdd(builder, loops.loadScalar(builder, scores, at),
                                value, sums[r]);
    // The decay of a row comes after it, and not that of the writer itself.
    bool isLast = r + 1 == panelRows;
    if ((isOwn && r == begin) || (isLast && !decayed))
      continue;
    value =
        loops.multiply(builder, value, loops.load(builder, decays, at, lanes));
  }
  return value;
}

void DecayedMix::emitPanel(OpBuilder &builder, const Position &position,
                           const Lanes &lanes, Value first) const {
  StringAttr token = op.getTokenAttr();
  Position at = position;
  Values sums;
  for (int64_t r = 0; r < panelRows; ++r) {
    at[token] = loops.add(builder, first, r);
    sums.push_back(init ? loops.load(builder, *init, at, lanes)
                        : loops.splat(builder, 0.0, lanes));
  }
  if (decayed)
    sums =
        loops.emitFor(builder, loops.index(builder, 0), first, sums,
                      [&](OpBuilder &body, Value j, const Values &inside) {
                        Values next = inside;
                        Position writer = position;
                        writer[token] = j;
                        Value value = loops.load(body, *decayed, writer, lanes);
                        value =
                            addWrite(body, position, lanes, first, j, value, 0,
                                     /*isOwn=*/false, next);
                        loops.store(body, value, *decayed, writer, lanes);
                        return next;
                      });
  for (int64_t j = 0; j < panelRows; ++j) {
    Value writer = loops.add(builder, first, j);
    at[token] = writer;
    Value value = loops.load(builder, values, at, lanes);
    value = addWrite(builder, position, lanes, first, writer, value, j,
                     /*isOwn=*/true, sums);
    if (decayed)
      loops.store(builder, value, *decayed, at, lanes);
  }
  for (int64_t r = 0; r < panelRows; ++r) {
    at[token] = loops.add(builder, first, r);
    loops.store(builder, sums[r], result, at, lanes);
  }
}

void ChunkEmitter::emitDecayedMix(OpBuilder &builder, chunk::MixOp op,
                                  const Buffer &result) {
  Location loc = op.getLoc();
  LaneLoops loops(plan, loc);
  StringAttr token = op.getTokenAttr();
  DecayedMix mix{loops,
                 op,
                 materialize(builder, op.getScores()),
                 materialize(builder, op.getValues()),
                 combineDecays(builder, loc, op.getDecays()),
                 result,
                 {},
                 {}};
  if (op.getInit())
    mix.init = materialize(builder, op.getInit());
  SmallVector<StringAttr> axes = dropAxes(result.axes, token);
  // Axes of the scores, and that decays or values lack, are fine too.
  StringAttr lane;
  if (!axes.empty() && !hasAxis(mix.scores, axes.back()))
    lane = axes.back();
  if (plan.getExtent(token) > panelRows)
    mix.decayed = allocate(
        ArrayType::ofAxes(plan.scan.getContext(),
                          lane ? ArrayRef{token, lane} : ArrayRef{token}));
  loops.emitLoops(
      builder, lane ? dropAxes(axes, lane) : axes, Position(),
      [&](OpBuilder &outer, Position &at) {
        loops.emitLanes(
            outer, lane, 1, [&](OpBuilder &middle, ArrayRef<Lanes> lanes) {
              loops.emitFor(middle, loops.index(middle, 0), getBound(token),
                            panelRows, [&](OpBuilder &inner, Value first) {
                              mix.emitPanel(inner, at, lanes[0], first);
                            });
            });
      });
}
