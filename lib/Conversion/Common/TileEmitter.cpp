//===- TileEmitter.cpp - Register-tiled products -*- C++ -*- --------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileEmitter.h"

#include "ProductLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <map>

using namespace mlir;
using namespace larc;

void TileEmitter::emit(OpBuilder &builder, Location loc,
                       const TileProduct &product) const {
  RowTiles rows(target, product, loc);
  if (rows.matches())
    rows.emit(builder);
  else
    LaneTiles(target, product, loc).emit(builder);
}

//===----------------------------------------------------------------------===//
// Sizes of tiles
//===----------------------------------------------------------------------===//

/// Rows of a tile: with two vectors along lanes enough independent sums to hide
/// the latency of a multiply-add, and more multiply-adds than loads.
static int64_t getTileRows(const TileTarget &target) {
  return target.getRegisters() / 4;
}

/// Vectors along lanes of a tile of `rows` rows: as many as leave half of the
/// registers, which is faster than more.
static int64_t getTileVectors(const TileTarget &target, int64_t rows) {
  return std::clamp<int64_t>(target.getRegisters() / 2 / rows, 1, 8);
}

/// The most that fit: sums, vectors of the one operand, and one register for an
/// element of the other.
static int64_t getMaxVectors(const TileTarget &target, int64_t rows) {
  return std::max<int64_t>(1, (target.getRegisters() - 1) / (rows + 1));
}

/// A number of rows known is cut into tiles that differ little; of an unknown
/// one, what whole tiles leave is cut by its binary digits.
SmallVector<TileSpan> LaneTiles::makeRowSpans(OpBuilder &builder) const {
  if (!row)
    return {{builder.getIndexAttr(0), builder.getIndexAttr(1), {1}}};
  int64_t most = getTileRows(target);
  if (std::optional<int64_t> rows = getConstantIntValue(getExtent(row))) {
    if (*rows == 0)
      return {};
    int64_t tiles = (*rows + most - 1) / most;
    int64_t size = (*rows + tiles - 1) / tiles;
    SmallVector<int64_t> sizes = {size};
    if (*rows % size)
      sizes.push_back(*rows % size);
    return makeSpans(builder, row, sizes);
  }
  SmallVector<int64_t> sizes = {most};
  while (!isPadded(row) && sizes.back() > 1)
    sizes.push_back(sizes.back() / 2);
  return makeSpans(builder, row, sizes);
}

SmallVector<TileSpan> LaneTiles::makeLaneSpans(OpBuilder &builder,
                                               int64_t rows) const {
  if (!lane)
    return {{builder.getIndexAttr(0), builder.getIndexAttr(1), {1}}};
  int64_t vectors = getTileVectors(target, rows);
  std::optional<int64_t> extent = getConstantIntValue(getExtent(lane));
  if (!extent) {
    SmallVector<int64_t> sizes = {vectors * target.lanes};
    if (vectors > 1)
      sizes.push_back(target.lanes);
    while (!isPadded(lane) && sizes.back() > 1)
      sizes.push_back(sizes.back() / 2);
    SmallVector<TileSpan> spans = makeSpans(builder, lane, sizes);
    for (TileSpan &span : spans)
      if (span.widths.front() > target.lanes)
        span.widths.assign(span.widths.front() / target.lanes, target.lanes);
    return spans;
  }
  // Whole vectors and what is left in powers of two; groups of these.
  SmallVector<int64_t> units(*extent / target.lanes, target.lanes);
  for (int64_t width = target.lanes / 2; width > 0; width /= 2)
    if (*extent & width)
      units.push_back(width);
  SmallVector<TileSpan> spans;
  int64_t whole = *extent / target.lanes / vectors * vectors;
  int64_t left = units.size() - whole, max = getMaxVectors(target, rows);
  // A small last group joins the one before.
  if (whole && left && left + vectors <= max)
    whole -= vectors;
  int64_t begin = whole * target.lanes;
  if (whole)
    spans.push_back({builder.getIndexAttr(0), builder.getIndexAttr(begin),
                     SmallVector<int64_t>(vectors, target.lanes)});
  ArrayRef<int64_t> rest = ArrayRef(units).drop_front(whole);
  while (!rest.empty()) {
    TileSpan span{builder.getIndexAttr(begin), {}, {}};
    span.widths.assign(rest.take_front(max).begin(),
                       rest.take_front(max).end());
    rest = rest.drop_front(span.widths.size());
    begin += span.getStep();
    span.end = builder.getIndexAttr(begin);
    spans.push_back(span);
  }
  return spans;
}

//===----------------------------------------------------------------------===//
// Lanes along the result
//===----------------------------------------------------------------------===//

/// Lanes are the outer loop: what is loaded along them for one tile of rows is
/// in cache for the next.
void LaneTiles::emit(OpBuilder &builder) {
  Position at;
  emitLoops(builder, outer, at, [&](OpBuilder &inner) {
    for (const TileSpan &rows : makeRowSpans(inner))
      for (const TileSpan &lanes : makeLaneSpans(inner, rows.getStep()))
        emitSpan(inner, lanes, [&](OpBuilder &inLanes, Value laneBase) {
          at[lane] = laneBase;
          emitSpan(inLanes, rows, [&](OpBuilder &inRows, Value rowBase) {
            at[row] = rowBase;
            emitTile(inRows, at, rows.getStep(), lanes.widths);
          });
        });
  });
}

void LaneTiles::emitTile(OpBuilder &builder, const Position &at, int64_t rows,
                         ArrayRef<int64_t> widths) const {
  auto forEach = [&](function_ref<void(const Position &, int64_t)> body) {
    for (int64_t i = 0; i < rows; ++i) {
      int64_t offset = 0;
      for (int64_t width : widths) {
        Position here = at;
        if (row)
          here[row] = add(builder, at.lookup(row), i);
        if (lane)
          here[lane] = add(builder, at.lookup(lane), offset);
        body(here, width);
        offset += width;
      }
    }
  };
  Values sums;
  forEach([&](const Position &here, int64_t width) {
    sums.push_back(product.init ? scale(builder,
                                        loadVector(builder, *product.init, here,
                                                   lane, width),
                                        product.initFactors, here, lane)
                                : zero(builder, width));
  });
  bool isCausal = product.causal && product.causal->row == row &&
                  ArrayRef(reduced) == ArrayRef(product.causal->column);
  sums = isCausal ? emitCausalSums(builder, at, rows, widths, sums)
                  : emitSums(builder, reduced, at, rows, widths, sums);
  unsigned next = 0;
  forEach([&](const Position &here, int64_t) {
    storeVector(builder,
                scale(builder, sums[next++], product.resultFactors, here, lane),
                product.result, here, lane);
  });
  if (product.afterTile)
    product.afterTile(builder);
}

LaneTiles::Values LaneTiles::emitSums(OpBuilder &builder,
                                      ArrayRef<StringAttr> axes, Position at,
                                      int64_t rows, ArrayRef<int64_t> widths,
                                      ValueRange sums) const {
  if (axes.empty())
    return emitTerms(builder, at, 0, rows, widths, sums);
  llvm::SmallDenseMap<StringAttr, int64_t> sizes;
  if (row)
    sizes[row] = rows;
  if (lane)
    sizes[lane] = TileSpan{{}, {}, SmallVector<int64_t>(widths)}.getStep();
  auto loop = scf::ForOp::create(builder, loc, index(builder, 0),
                                 getBound(builder, axes.front(), at, sizes),
                                 index(builder, 1), sums);
  OpBuilder inner = OpBuilder::atBlockEnd(loop.getBody());
  at[axes.front()] = loop.getInductionVar();
  Values next = emitSums(inner, axes.drop_front(), at, rows, widths,
                         loop.getRegionIterArgs());
  scf::YieldOp::create(inner, loc, next);
  return Values(loop.getResults());
}

/// The columns before the tile for all rows, then those of the tile itself for
/// the rows from each one on. Nothing is multiplied by a zero above the
/// diagonal, where the other operand may not be finite.
LaneTiles::Values LaneTiles::emitCausalSums(OpBuilder &builder, Position at,
                                            int64_t rows,
                                            ArrayRef<int64_t> widths,
                                            ValueRange sums) const {
  StringAttr column = product.causal->column;
  Value begin = at.lookup(row);
  auto loop = scf::ForOp::create(builder, loc, index(builder, 0), begin,
                                 index(builder, 1), sums);
  OpBuilder inner = OpBuilder::atBlockEnd(loop.getBody());
  at[column] = loop.getInductionVar();
  scf::YieldOp::create(
      inner, loc,
      emitTerms(inner, at, 0, rows, widths, loop.getRegionIterArgs()));
  Values totals(loop.getResults());
  for (int64_t i = 0; i < rows; ++i) {
    at[column] = add(builder, begin, i);
    totals = emitTerms(builder, at, i, rows, widths, totals);
  }
  return totals;
}

LaneTiles::Values LaneTiles::emitTerms(OpBuilder &builder, const Position &at,
                                       int64_t first, int64_t rows,
                                       ArrayRef<int64_t> widths,
                                       ValueRange sums) const {
  // Each is loaded once for all rows or all lanes that share it.
  std::map<std::tuple<int64_t, int64_t, int64_t>, Value> loaded[2];
  auto get = [&](unsigned which, int64_t i, int64_t offset, int64_t width) {
    const Buffer &operand = which ? product.rhs : product.lhs;
    bool hasRow = row && hasAxis(operand, row);
    bool hasLane = lane && hasAxis(operand, lane);
    Value &value = loaded[which][{hasRow ? i : 0, hasLane ? offset : 0, width}];
    if (value)
      return value;
    Position here = at;
    if (hasRow)
      here[row] = add(builder, at.lookup(row), i);
    if (hasLane)
      here[lane] = add(builder, at.lookup(lane), offset);
    value = loadVector(builder, operand, here, lane, width);
    if (product.subtract && which == 0)
      value = arith::NegFOp::create(builder, loc, value);
    return value;
  };
  Values next(sums.take_front(first * widths.size()));
  for (int64_t i = first; i < rows; ++i) {
    int64_t offset = 0;
    for (int64_t width : widths) {
      Value lhs = get(0, i, offset, width), rhs = get(1, i, offset, width);
      next.push_back(multiplyAdd(builder, lhs, rhs, sums[next.size()]));
      offset += width;
    }
  }
  return next;
}
