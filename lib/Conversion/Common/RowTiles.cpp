//===- RowTiles.cpp - Products of rows with rows -*- C++ -*- --------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace larc;

/// Lanes that an instruction moves within: what crosses them costs more.
static int64_t getBlockLanes(const TileTarget &target) {
  return 128 / target.element.getWidth();
}

bool RowTiles::matches() const {
  if (reduced.empty())
    return false;
  auto hasDenseLane = [&](const Buffer &operand) {
    return lane && isDenseAlong(operand, lane);
  };
  return !hasDenseLane(product.lhs) && !hasDenseLane(product.rhs) &&
         isDenseAlong(product.lhs, product.lhs.axes.back()) &&
         llvm::is_contained(reduced, product.lhs.axes.back()) &&
         isDenseAlong(product.rhs, product.lhs.axes.back());
}

void RowTiles::emit(OpBuilder &builder) {
  // Lanes run along the last of the axes summed over.
  StringAttr inner = product.lhs.axes.back();
  llvm::erase(reduced, inner);
  reduced.push_back(inner);

  // A tile has half as many sums as there are registers.
  const int64_t numSums = target.getRegisters() / 2;
  SmallVector<int64_t> rowSizes = {4};
  while (!(row && isPadded(row)) && rowSizes.back() > 1)
    rowSizes.push_back(rowSizes.back() / 2);
  SmallVector<TileSpan> one = {
      {builder.getIndexAttr(0), builder.getIndexAttr(1), {1}}};
  Position at;
  emitLoops(builder, outer, at, [&](OpBuilder &inOuter) {
    SmallVector<TileSpan> rowSpans =
        row ? makeSpans(inOuter, row, rowSizes) : one;
    for (const TileSpan &rows : rowSpans) {
      SmallVector<int64_t> sizes = {std::min(
          numSums / rows.getStep(), std::max<int64_t>(8, target.lanes))};
      while (!(lane && isPadded(lane)) && sizes.back() > 1)
        sizes.push_back(sizes.back() / 2);
      SmallVector<TileSpan> columnSpans =
          lane ? makeSpans(inOuter, lane, sizes) : one;
      emitSpan(inOuter, rows, [&](OpBuilder &inRows, Value rowBase) {
        at[row] = rowBase;
        for (TileSpan columns : columnSpans) {
          if (row && product.causal && product.causal->row == row &&
              product.causal->column == lane)
            columns.end = OpFoldResult(arith::MinUIOp::create(
                inRows, loc, toValue(inRows, columns.end),
                add(inRows, rowBase, rows.getStep())));
          emitSpan(inRows, columns, [&](OpBuilder &inTile, Value base) {
            at[lane] = base;
            emitTile(inTile, at, {rows.getStep(), columns.getStep()});
          });
        }
      });
    }
  });
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

void RowTiles::emitTile(OpBuilder &builder, const Position &at,
                        Tile tile) const {
  int64_t numSums = tile.rows * tile.columns;
  Values sums(numSums, zero(builder, target.lanes));
  sums = emitSums(builder, reduced, at, tile, sums);
  // Each group of sums becomes one vector: of some rows, or of a part of one.
  int64_t group = std::min(numSums, target.lanes);
  int64_t width = std::min(group, tile.columns);
  for (int64_t first = 0; first < numSums; first += group) {
    Value all = addLanes(builder, ValueRange(sums).slice(first, group));
    for (int64_t from = 0; from < group; from += width) {
      Value part = all;
      if (width < group)
        part = vector::ExtractStridedSliceOp::create(
            builder, loc, all, ArrayRef<int64_t>{from},
            ArrayRef<int64_t>{width}, ArrayRef<int64_t>{1});
      Position here = at;
      if (row)
        here[row] = add(builder, at.lookup(row), (first + from) / tile.columns);
      if (lane)
        here[lane] =
            add(builder, at.lookup(lane), (first + from) % tile.columns);
      if (product.init || product.subtract) {
        Value init =
            product.init
                ? scale(builder,
                        loadVector(builder, *product.init, here, lane, width),
                        product.initFactors, here, lane)
                : zero(builder, width);
        part = product.subtract
                   ? Value(arith::SubFOp::create(builder, loc, init, part))
                   : Value(arith::AddFOp::create(builder, loc, init, part));
      }
      part = scale(builder, part, product.resultFactors, here, lane);
      storeVector(builder, part, product.result, here, lane);
    }
  }
}

RowTiles::Values RowTiles::emitSums(OpBuilder &builder,
                                    ArrayRef<StringAttr> axes, Position at,
                                    Tile tile, ValueRange sums) const {
  StringAttr axis = axes.front();
  llvm::SmallDenseMap<StringAttr, int64_t> sizes;
  if (row)
    sizes[row] = tile.rows;
  if (lane)
    sizes[lane] = tile.columns;
  Value bound = getBound(builder, axis, at, sizes);
  bool isInner = axes.size() == 1;
  Value end = bound, rest;
  if (isInner) {
    rest = arith::RemUIOp::create(builder, loc, bound,
                                  index(builder, target.lanes));
    end = arith::SubIOp::create(builder, loc, bound, rest);
  }
  auto loop =
      scf::ForOp::create(builder, loc, index(builder, 0), end,
                         index(builder, isInner ? target.lanes : 1), sums);
  OpBuilder inner = OpBuilder::atBlockEnd(loop.getBody());
  at[axis] = loop.getInductionVar();
  Values next = isInner
                    ? emitTerms(inner, at, tile, loop.getRegionIterArgs(), {})
                    : emitSums(inner, axes.drop_front(), at, tile,
                               loop.getRegionIterArgs());
  scf::YieldOp::create(inner, loc, next);
  if (!isInner)
    return Values(loop.getResults());

  // What is left of the axis, in the first lanes.
  at[axis] = end;
  bool isCausal = product.causal && product.causal->column == axis;
  std::optional<int64_t> extent = getConstantIntValue(getExtent(axis));
  if (extent && *extent % target.lanes == 0 && !isCausal)
    return Values(loop.getResults());
  if (extent && !isCausal)
    return emitTerms(builder, at, tile, loop.getResults(),
                     builder.getIndexAttr(*extent % target.lanes));
  Value some = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                     rest, index(builder, 0));
  auto branch = scf::IfOp::create(builder, loc, loop.getResultTypes(), some,
                                  /*withElseRegion=*/true);
  OpBuilder then = branch.getThenBodyBuilder();
  scf::YieldOp::create(then, loc,
                       emitTerms(then, at, tile, loop.getResults(), rest));
  OpBuilder other = branch.getElseBodyBuilder();
  scf::YieldOp::create(other, loc, loop.getResults());
  return Values(branch.getResults());
}

RowTiles::Values RowTiles::emitTerms(OpBuilder &builder, const Position &at,
                                     Tile tile, ValueRange sums,
                                     OpFoldResult count) const {
  auto type = VectorType::get({target.lanes}, target.element);
  Value mask;
  if (count)
    mask = vector::CreateMaskOp::create(
        builder, loc, VectorType::get({target.lanes}, builder.getI1Type()),
        toValue(builder, count));
  auto load = [&](const Buffer &operand, int64_t i, int64_t j) -> Value {
    Position here = at;
    if (row)
      here[row] = add(builder, at.lookup(row), i);
    if (lane)
      here[lane] = add(builder, at.lookup(lane), j);
    if (mask)
      return vector::MaskedLoadOp::create(builder, loc, type, operand.memref,
                                          indicesOf(operand, here), mask,
                                          zero(builder, target.lanes));
    return vector::LoadOp::create(builder, loc, type, operand.memref,
                                  indicesOf(operand, here));
  };
  // Each is loaded once for all rows or columns that share it.
  auto loadAll = [&](const Buffer &operand) {
    Values loaded;
    bool hasRow = row && hasAxis(operand, row);
    bool hasLane = lane && hasAxis(operand, lane);
    for (int64_t i = 0; i < tile.rows; ++i)
      for (int64_t j = 0; j < tile.columns; ++j) {
        if (i > 0 && !hasRow)
          loaded.push_back(loaded[j]);
        else if (j > 0 && !hasLane)
          loaded.push_back(loaded.back());
        else
          loaded.push_back(load(operand, i, j));
      }
    return loaded;
  };
  Values lhs = loadAll(product.lhs), rhs = loadAll(product.rhs), next;
  for (auto [left, right, sum] : llvm::zip(lhs, rhs, sums))
    next.push_back(multiplyAdd(builder, left, right, sum));
  return next;
}

//===----------------------------------------------------------------------===//
// Sums over lanes
//===----------------------------------------------------------------------===//

/// Halves what each sum has of a vector, two vectors becoming one, until each
/// sum is a lane. Lane i of a sum is always added to lane i + half, so the
/// order is the same wherever in the vector a sum is.
Value RowTiles::addLanes(OpBuilder &builder, ValueRange sums) const {
  int64_t count = sums.size(), blockLanes = getBlockLanes(target);
  auto addHalves = [&](Value first, Value second, ArrayRef<int64_t> low,
                       ArrayRef<int64_t> high) -> Value {
    return arith::AddFOp::create(
        builder, loc,
        vector::ShuffleOp::create(builder, loc, first, second, low),
        vector::ShuffleOp::create(builder, loc, first, second, high));
  };
  auto sequence = [](int64_t begin, int64_t length) {
    return llvm::to_vector(llvm::seq(begin, begin + length));
  };
  // Fewer sums than lanes: each by itself until vectors have as many lanes.
  Values vectors(sums);
  for (int64_t half = target.lanes / 2; half >= count; half /= 2)
    for (Value &vector : vectors)
      vector =
          addHalves(vector, vector, sequence(0, half), sequence(half, half));

  // The masks of each step, and where the sums end up if vector i has sum i:
  // the vectors are arranged such that they end up in order.
  struct Step {
    SmallVector<int64_t> low, high;
  };
  SmallVector<Step> steps;
  SmallVector<SmallVector<int64_t>> held;
  for (int64_t i = 0; i < count; ++i)
    held.push_back({i});
  for (int64_t part = count; part > 1; part /= 2) {
    // Parts of at most a block stay in their blocks.
    int64_t block = part > blockLanes ? count : std::min(blockLanes, count);
    Step step;
    SmallVector<int64_t> order; // of sums, by position in the two vectors
    for (int64_t base = 0; base < count; base += block)
      for (int64_t which : {0, 1})
        for (int64_t at = base; at < base + block; at += part) {
          llvm::append_range(step.low, sequence(which * count + at, part / 2));
          llvm::append_range(step.high,
                             sequence(which * count + at + part / 2, part / 2));
          order.push_back(which * (count / part) + at / part);
        }
    SmallVector<SmallVector<int64_t>> merged;
    for (size_t i = 0; i < held.size(); i += 2) {
      SmallVector<int64_t> both = held[i], result;
      llvm::append_range(both, held[i + 1]);
      for (int64_t position : order)
        result.push_back(both[position]);
      merged.push_back(result);
    }
    held = std::move(merged);
    steps.push_back(std::move(step));
  }
  Values arranged(count);
  for (auto [position, sum] : llvm::enumerate(held.front()))
    arranged[sum] = vectors[position];
  for (const Step &step : steps) {
    Values merged;
    for (size_t i = 0; i < arranged.size(); i += 2)
      merged.push_back(
          addHalves(arranged[i], arranged[i + 1], step.low, step.high));
    arranged = std::move(merged);
  }
  return arranged.front();
}
