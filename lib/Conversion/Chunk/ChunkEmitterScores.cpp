//===- ChunkEmitterScores.cpp - Scores of pairs of tokens -*- C++ -*- -----===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChunkEmitter.h"

using namespace mlir;
using namespace larc;

void ChunkEmitter::emitScores(OpBuilder &builder, chunk::ScoresOp op) {
  Buffer result;
  if (hasWholeTiles(op.getTokenAttr()))
    result = allocateResult(builder, cast<OpResult>(op.getResult()));
  else
    result = allocate(cast<ArrayType>(op.getType()));
  bind(op.getResult(), result);
  bool isScalar = llvm::all_of(op.getDecays(), [](Value decay) {
    return cast<ArrayType>(decay.getType()).getRank() <= 1;
  });
  if (isScalar)
    emitMaskedScores(builder, op, result);
  else
    emitDecayedScores(builder, op, result);
}

//===----------------------------------------------------------------------===//
// Decays that are the same along the summed axes
//===----------------------------------------------------------------------===//

/// A product of matrices, then row by row times the decays between: row i has
/// those of row i - 1 times the decay of token i - 1.
void ChunkEmitter::emitMaskedScores(OpBuilder &builder, chunk::ScoresOp op,
                                    const Buffer &result) {
  Location loc = op.getLoc();
  LaneLoops loops(plan, loc);
  StringAttr token = op.getTokenAttr(), source = op.getSourceAttr();
  TileProduct product;
  product.lhs = materialize(builder, op.getReader());
  product.rhs = renameAxis(materialize(builder, op.getWriter()), token, source);
  product.result = result;
  SmallVector<StringAttr> missing;
  for (auto axis : op.getAxes().getAsRange<StringAttr>())
    if (!hasAxis(product.lhs, axis) && !hasAxis(product.rhs, axis))
      missing.push_back(axis);
  if (!missing.empty())
    product.lhs = expand(builder, loc, product.lhs, missing);
  product.causal = {token, source};
  addExtents(builder, product);
  getTiles().emit(builder, loc, product);

  std::optional<Buffer> decays, diagonal;
  if (!op.getDecays().empty())
    decays = combineDecays(builder, loc, op.getDecays());
  if (op.getDiagonal())
    diagonal = materialize(builder, op.getDiagonal());
  int64_t width = plan.lanes;
  int64_t columns = llvm::alignTo(plan.getExtent(source), width);
  auto intType = VectorType::get({width}, builder.getI32Type());
  SmallVector<int32_t> numbers(width);
  std::iota(numbers.begin(), numbers.end(), 0);
  auto splatInt = [&](OpBuilder &at, Value value) -> Value {
    Value number = arith::IndexCastOp::create(at, loc, at.getI32Type(), value);
    return vector::BroadcastOp::create(at, loc, intType, number);
  };
  auto compare = [&](OpBuilder &at, arith::CmpIPredicate predicate, Value lhs,
                     Value rhs) -> Value {
    return arith::CmpIOp::create(at, loc, predicate, lhs, rhs);
  };
  auto emitColumns = [&](OpBuilder &outer, const Position &position,
                         Value first) {
    Lanes lanes{source, first, width, width};
    Value zeros = loops.splat(outer, 0.0, lanes);
    Value ones = loops.splat(outer, 1.0, lanes);
    Value column = arith::AddIOp::create(
        outer, loc,
        arith::ConstantOp::create(
            outer, loc, DenseElementsAttr::get(intType, ArrayRef(numbers))),
        splatInt(outer, first));
    // Whole tiles of rows: their sums go beyond the diagonal.
    Value firstRow = first;
    if (width < plan.getTokenPadding())
      firstRow = arith::AndIOp::create(
          outer, loc, first, loops.index(outer, -plan.getTokenPadding()));
    loops.emitFor(
        outer, firstRow, getBound(token), decays ? Values{zeros} : Values(),
        [&](OpBuilder &inner, Value i, const Values &running) {
          Position at = position;
          Value row = splatInt(inner, i);
          Values next;
          at[token] = i;
          Value scores = loops.load(inner, result, at, lanes);
          if (decays) {
            Value before = arith::MaxSIOp::create(
                inner, loc, loops.add(inner, i, -1), loops.index(inner, 0));
            Position earlier;
            earlier[token] = before;
            Value decay = loops.load(inner, *decays, earlier, lanes);
            Value isNext = compare(
                inner, arith::CmpIPredicate::eq, column,
                arith::SubIOp::create(inner, loc, row,
                                      splatInt(inner, loops.index(inner, 1))));
            next.push_back(arith::SelectOp::create(
                inner, loc, isNext, ones,
                loops.multiply(inner, running[0], decay)));
            scores = loops.multiply(inner, scores, next[0]);
          }
          scores = arith::SelectOp::create(
              inner, loc,
              compare(inner, arith::CmpIPredicate::slt, column, row), scores,
              zeros);
          if (diagonal)
            scores = arith::SelectOp::create(
                inner, loc,
                compare(inner, arith::CmpIPredicate::eq, column, row),
                loops.load(inner, *diagonal, at, lanes), scores);
          loops.store(inner, scores, result, at, lanes);
          return next;
        });
  };
  loops.emitLoops(builder, dropAxes(result.axes, {token, source}), Position(),
                  [&](OpBuilder &outer, Position &at) {
                    if (columns == width)
                      return emitColumns(outer, at, loops.index(outer, 0));
                    loops.emitFor(outer, loops.index(outer, 0),
                                  getBound(source), width,
                                  [&](OpBuilder &inner, Value first) {
                                    emitColumns(inner, at, first);
                                  });
                  });
}

//===----------------------------------------------------------------------===//
// Decays along the summed axes
//===----------------------------------------------------------------------===//

namespace {

/// Rows of scores against as many writers as a vector has lanes. For each row
/// the reader decays on its way back from writer to writer; every writer has a
/// vector of sums, which are added across lanes at the end.
struct DecayedRows {
  const LaneLoops &loops;
  mutable chunk::ScoresOp op;
  Buffer reader, writer, decays, result;
  std::optional<Buffer> diagonal;
  /// Readers on their way to the panels further back; none for one panel.
  std::optional<Buffer> waiting;
  /// The summed axes: the one with the lanes, and others.
  StringAttr lane;
  SmallVector<StringAttr> summed;
  int64_t width;

  /// Row `row` against the writers [first, first + count): all of a panel, or
  /// those of the row's own panel before it.
  void emitRow(OpBuilder &builder, const Position &at, Value row, Value first,
               int64_t count, bool isOwn) const;
};

} // namespace

void DecayedRows::emitRow(OpBuilder &builder, const Position &position,
                          Value row, Value first, int64_t count,
                          bool isOwn) const {
  StringAttr token = op.getTokenAttr();
  Lanes whole{lane, {}, width, width};
  Values sums(count, loops.splat(builder, 0.0, whole));
  const Buffer &source = isOwn ? reader : *waiting;
  auto emitLanes = [&](OpBuilder &inner, Position &at, const Values &outside) {
    return loops.emitLaneSums(
        inner, lane, outside,
        [&](OpBuilder &body, const Lanes &lanes, const Values &inside) {
          Values next = inside;
          at[token] = row;
          Value value = loops.load(body, source, at, lanes);
          for (int64_t j = count; j-- > 0;) {
            at[token] = loops.add(body, first, j);
            next[j] = loops.multiplyAdd(
                body, value, loops.load(body, writer, at, lanes), next[j]);
            if (j || waiting)
              value = loops.multiply(body, value,
                                     loops.load(body, decays, at, lanes));
          }
          if (waiting) {
            at[token] = row;
            loops.store(body, value, *waiting, at, lanes);
          }
          return next;
        });
  };
  if (count || waiting)
    sums = loops.emitSums(builder, summed, position, sums, emitLanes);
  sums.resize(width, loops.splat(builder, 0.0, whole));
  Value scores = loops.addLanes(builder, sums);
  Position at = position;
  at[token] = row;
  if (isOwn && diagonal)
    scores = vector::InsertOp::create(builder, op.getLoc(),
                                      loops.loadScalar(builder, *diagonal, at),
                                      scores, count);
  loops.store(builder, scores, result, at,
              {op.getSourceAttr(), first, width, width});
}

void ChunkEmitter::emitDecayedScores(OpBuilder &builder, chunk::ScoresOp op,
                                     const Buffer &result) {
  Location loc = op.getLoc();
  LaneLoops loops(plan, loc);
  StringAttr token = op.getTokenAttr(), source = op.getSourceAttr();
  SmallVector<StringAttr> axes(op.getAxes().getAsRange<StringAttr>());
  Buffer decays = combineDecays(builder, loc, op.getDecays());
  DecayedRows rows{loops,
                   op,
                   materialize(builder, op.getReader()),
                   materialize(builder, op.getWriter()),
                   decays,
                   result,
                   {},
                   {},
                   {},
                   {},
                   plan.lanes};
  if (op.getDiagonal())
    rows.diagonal = materialize(builder, op.getDiagonal());
  // Lanes where the arrays are dense, if that fills vectors.
  rows.lane = loops.chooseLaneAxis(axes);
  if (decays.axes.back() != token &&
      plan.getExtent(decays.axes.back()) >= plan.lanes)
    rows.lane = decays.axes.back();
  rows.summed = dropAxes(axes, rows.lane);
  SmallVector<StringAttr> further = dropAxes(result.axes, {token, source});
  int64_t width = plan.lanes;
  bool onePanel = plan.getExtent(token) <= width;
  if (!onePanel) {
    SmallVector<StringAttr> all = {token};
    llvm::append_range(all, rows.summed);
    all.push_back(rows.lane);
    rows.waiting = allocate(all);
  }

  Value bound = getBound(token);
  auto emitPanel = [&](OpBuilder &outer, const Position &at, Value first) {
    for (int64_t i = 0; i < std::min(width, plan.getExtent(token)); ++i) {
      Value row = loops.add(outer, first, i);
      Value exists = arith::CmpIOp::create(
          outer, loc, arith::CmpIPredicate::slt, row, bound);
      auto branch =
          scf::IfOp::create(outer, loc, exists, /*withElseRegion=*/false);
      OpBuilder inner = OpBuilder::atBlockTerminator(branch.thenBlock());
      rows.emitRow(inner, at, row, first, i, /*isOwn=*/true);
    }
    if (onePanel)
      return;
    Value next = loops.add(outer, first, width);
    loops.emitFor(outer, next, bound, 1, [&](OpBuilder &inner, Value row) {
      rows.emitRow(inner, at, row, first, width, /*isOwn=*/false);
    });
  };
  loops.emitLoops(
      builder, further, Position(), [&](OpBuilder &outer, Position &at) {
        if (onePanel)
          return emitPanel(outer, at, loops.index(outer, 0));
        // From the last panel to the first.
        Value numPanels = arith::CeilDivSIOp::create(outer, loc, bound,
                                                     loops.index(outer, width));
        loops.emitFor(outer, loops.index(outer, 0), numPanels, 1,
                      [&](OpBuilder &inner, Value i) {
                        Value panel = arith::SubIOp::create(
                            inner, loc, loops.add(inner, numPanels, -1), i);
                        emitPanel(
                            inner, at,
                            arith::MulIOp::create(inner, loc, panel,
                                                  loops.index(inner, width)));
                      });
      });
}
