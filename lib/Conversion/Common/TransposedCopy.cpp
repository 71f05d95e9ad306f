//===- TransposedCopy.cpp - Copies with another lane axis -*- C++ -*- -----===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductLoops.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace larc;

namespace {

/// A copy is the product with a scalar that is not there: it has the same axes
/// and loops.
class TransposedCopy : ProductLoops {
public:
  TransposedCopy(TileTarget target, const TileProduct &copy, Location loc)
      : ProductLoops(target, copy, loc) {
    if (!product.lhs.axes.empty())
      row = product.lhs.axes.back();
    outer.assign(product.result.axes.begin(), product.result.axes.end());
    llvm::erase(outer, lane);
    llvm::erase(outer, row);
  }
  void emit(OpBuilder &builder);

private:
  void emitBlock(OpBuilder &builder, Position at) const;
};

} // namespace

void TransposedCopy::emit(OpBuilder &builder) {
  Position at;
  if (!lane || row == lane || !isDenseAlong(product.lhs, row) ||
      !isDenseAlong(product.result, lane)) {
    emitLoops(builder, product.result.axes, at, [&](OpBuilder &inner) {
      storeVector(inner, loadVector(inner, product.lhs, at, {}, 1),
                  product.result, at, {});
    });
    return;
  }
  SmallVector<int64_t> sizes = {target.lanes};
  if (target.lanes > 1)
    sizes.push_back(1);
  emitLoops(builder, outer, at, [&](OpBuilder &inOuter) {
    SmallVector<TileSpan> rowSpans = makeSpans(inOuter, row, sizes);
    SmallVector<TileSpan> laneSpans = makeSpans(inOuter, lane, sizes);
    for (const TileSpan &rows : rowSpans)
      for (const TileSpan &lanes : laneSpans)
        emitSpan(inOuter, rows, [&](OpBuilder &inRows, Value rowBase) {
          emitSpan(inRows, lanes, [&](OpBuilder &inLanes, Value laneBase) {
            at[row] = rowBase;
            at[lane] = laneBase;
            if (rows.getStep() == target.lanes &&
                lanes.getStep() == target.lanes)
              return emitBlock(inLanes, at);
            Position here = at;
            for (int64_t i = 0; i < rows.getStep(); ++i)
              for (int64_t j = 0; j < lanes.getStep(); ++j) {
                here[row] = add(inLanes, rowBase, i);
                here[lane] = add(inLanes, laneBase, j);
                storeVector(inLanes,
                            loadVector(inLanes, product.lhs, here, {}, 1),
                            product.result, here, {});
              }
          });
        });
  });
}

/// Transposes a square of vectors by exchanging halves, then halves of halves.
void TransposedCopy::emitBlock(OpBuilder &builder, Position at) const {
  int64_t size = target.lanes;
  Value first = at.lookup(lane);
  Values vectors;
  for (int64_t j = 0; j < size; ++j) {
    at[lane] = add(builder, first, j);
    vectors.push_back(loadVector(builder, product.lhs, at, row, size));
  }
  for (int64_t half = size / 2; half > 0; half /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t i = 0; i < size; ++i) {
      int64_t which = i & half ? size - half : 0;
      low.push_back(i + which);
      high.push_back(i + which + half);
    }
    for (int64_t i = 0; i < size; ++i) {
      if (i & half)
        continue;
      Value lower = vectors[i], upper = vectors[i + half];
      vectors[i] = vector::ShuffleOp::create(builder, loc, lower, upper, low);
      vectors[i + half] =
          vector::ShuffleOp::create(builder, loc, lower, upper, high);
    }
  }
  at[lane] = first;
  Value firstRow = at.lookup(row);
  for (int64_t i = 0; i < size; ++i) {
    at[row] = add(builder, firstRow, i);
    storeVector(builder, vectors[i], product.result, at, lane);
  }
}

void TileEmitter::emitTransposedCopy(
    OpBuilder &builder, Location loc, const Buffer &from, const Buffer &to,
    ArrayRef<std::pair<StringAttr, OpFoldResult>> extents) const {
  TileProduct copy;
  copy.lhs = from;
  copy.rhs = from;
  copy.result = to;
  copy.extents.assign(extents.begin(), extents.end());
  TransposedCopy(target, copy, loc).emit(builder);
}
