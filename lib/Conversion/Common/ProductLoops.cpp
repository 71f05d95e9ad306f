//===- ProductLoops.cpp - What all tiled products share -*- C++ -*- -------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;
using namespace larc;

int64_t TileSpan::getStep() const {
  return std::accumulate(widths.begin(), widths.end(), int64_t(0));
}

bool larc::isDenseAlong(const Buffer &buffer, StringAttr axis) {
  return !buffer.axes.empty() && buffer.axes.back() == axis &&
         cast<MemRefType>(buffer.memref.getType()).isLastDimUnitStride();
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

ProductLoops::ProductLoops(TileTarget target, const TileProduct &product,
                           Location loc)
    : target(target), product(product), loc(loc) {
  for (const Buffer *operand : {&product.lhs, &product.rhs})
    for (StringAttr axis : operand->axes)
      if (!hasAxis(product.result, axis) && !llvm::is_contained(reduced, axis))
        reduced.push_back(axis);
  if (!product.result.axes.empty())
    lane = product.result.axes.back();
  chooseRowAxis();
  for (StringAttr axis : product.result.axes)
    if (axis != lane && axis != row)
      outer.push_back(axis);
}

/// Rows of a tile share what is loaded along lanes: their axis is one that an
/// operand with the lane axis lacks, of these the longest.
void ProductLoops::chooseRowAxis() {
  // Dynamic extents are those of tokens.
  constexpr int64_t manyRows = 64;
  int64_t most = 0;
  for (StringAttr axis : product.result.axes) {
    if (axis == lane)
      continue;
    auto shares = [&](const Buffer &operand) {
      return hasAxis(operand, lane) && !hasAxis(operand, axis);
    };
    int64_t extent = getConstantIntValue(getExtent(axis)).value_or(manyRows);
    if ((shares(product.lhs) || shares(product.rhs)) && extent >= most) {
      most = extent;
      row = axis;
    }
  }
}

OpFoldResult ProductLoops::getExtent(StringAttr axis) const {
  for (auto &[name, extent] : product.extents)
    if (name == axis)
      return extent;
  for (const Buffer *buffer : {&product.result, &product.lhs, &product.rhs})
    for (auto [name, size] :
         llvm::zip(buffer->axes,
                   cast<MemRefType>(buffer->memref.getType()).getShape()))
      if (name == axis && !ShapedType::isDynamic(size))
        return IntegerAttr::get(IndexType::get(loc.getContext()), size);
  return {};
}

bool ProductLoops::isPadded(StringAttr axis) const {
  return llvm::is_contained(product.padded, axis) &&
         !getConstantIntValue(getExtent(axis));
}

Value ProductLoops::getBound(
    OpBuilder &builder, StringAttr axis, const Position &at,
    const llvm::SmallDenseMap<StringAttr, int64_t> &sizes) const {
  Value extent = toValue(builder, getExtent(axis));
  if (!product.causal || product.causal->column != axis)
    return extent;
  StringAttr token = product.causal->row;
  auto size = sizes.find(token);
  Value end =
      add(builder, at.lookup(token), size == sizes.end() ? 1 : size->second);
  return arith::MinUIOp::create(builder, loc, end, extent);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

SmallVector<TileSpan> ProductLoops::makeSpans(OpBuilder &builder,
                                              StringAttr axis,
                                              ArrayRef<int64_t> sizes) const {
  SmallVector<TileSpan> spans;
  OpFoldResult extent = getExtent(axis);
  if (std::optional<int64_t> number = getConstantIntValue(extent)) {
    int64_t begin = 0;
    for (int64_t size : sizes) {
      int64_t end = begin + (*number - begin) / size * size;
      if (end > begin)
        spans.push_back({builder.getIndexAttr(begin), builder.getIndexAttr(end),
                         SmallVector<int64_t>{size}});
      begin = end;
    }
    return spans;
  }
  Value number = toValue(builder, extent);
  Value begin = index(builder, 0);
  for (int64_t size : sizes) {
    Value end = number;
    if (size != sizes.back()) {
      Value rest = arith::RemUIOp::create(
          builder, loc, arith::SubIOp::create(builder, loc, number, begin),
          index(builder, size));
      end = arith::SubIOp::create(builder, loc, number, rest);
    }
    spans.push_back({begin, end, SmallVector<int64_t>{size}});
    begin = end;
  }
  return spans;
}

void ProductLoops::emitSpan(OpBuilder &builder, const TileSpan &span,
                            function_ref<void(OpBuilder &, Value)> body) const {
  int64_t step = span.getStep();
  std::optional<int64_t> begin = getConstantIntValue(span.begin),
                         end = getConstantIntValue(span.end);
  if (begin && end && *end <= *begin)
    return;
  if (begin && end && *end - *begin <= step)
    return body(builder, index(builder, *begin));
  auto loop =
      scf::ForOp::create(builder, loc, toValue(builder, span.begin),
                         toValue(builder, span.end), index(builder, step));
  OpBuilder inner = OpBuilder::atBlockTerminator(loop.getBody());
  body(inner, loop.getInductionVar());
}

void ProductLoops::emitLoops(OpBuilder &builder, ArrayRef<StringAttr> axes,
                             Position &at,
                             function_ref<void(OpBuilder &)> body) const {
  if (axes.empty())
    return body(builder);
  TileSpan all{builder.getIndexAttr(0), getExtent(axes.front()), {1}};
  emitSpan(builder, all, [&](OpBuilder &inner, Value position) {
    at[axes.front()] = position;
    emitLoops(inner, axes.drop_front(), at, body);
  });
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value ProductLoops::index(OpBuilder &builder, int64_t value) const {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value ProductLoops::toValue(OpBuilder &builder, OpFoldResult value) const {
  return getValueOrCreateConstantIndexOp(builder, loc, value);
}

Value ProductLoops::add(OpBuilder &builder, Value base, int64_t offset) const {
  if (offset == 0)
    return base;
  return arith::AddIOp::create(builder, loc, base, index(builder, offset));
}

Value ProductLoops::zero(OpBuilder &builder, int64_t width) const {
  auto type = VectorType::get({width}, target.element);
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
}

/// Fused where the machine does so, and always in the same way: left to flags
/// on a product and a sum, which of two products is fused with their sum would
/// be for the code generator to choose.
Value ProductLoops::multiplyAdd(OpBuilder &builder, Value lhs, Value rhs,
                                Value sum) const {
  return LLVM::FMulAddOp::create(builder, loc, lhs, rhs, sum);
}

SmallVector<Value> ProductLoops::indicesOf(const Buffer &buffer,
                                           const Position &at) const {
  return llvm::map_to_vector(buffer.axes,
                             [&](StringAttr axis) { return at.lookup(axis); });
}

Value ProductLoops::loadVector(OpBuilder &builder, const Buffer &buffer,
                               Position at, StringAttr lane,
                               int64_t width) const {
  auto type = VectorType::get({width}, target.element);
  auto loadElement = [&]() -> Value {
    return memref::LoadOp::create(builder, loc, buffer.memref,
                                  indicesOf(buffer, at));
  };
  if (!lane || !hasAxis(buffer, lane))
    return vector::BroadcastOp::create(builder, loc, type, loadElement());
  if (isDenseAlong(buffer, lane))
    return vector::LoadOp::create(builder, loc, type, buffer.memref,
                                  indicesOf(buffer, at));
  Values elements;
  Value first = at.lookup(lane);
  for (int64_t i = 0; i < width; ++i) {
    at[lane] = add(builder, first, i);
    elements.push_back(loadElement());
  }
  return vector::FromElementsOp::create(builder, loc, type, elements);
}

void ProductLoops::storeVector(OpBuilder &builder, Value vector,
                               const Buffer &buffer, Position at,
                               StringAttr lane) const {
  if (lane && isDenseAlong(buffer, lane)) {
    vector::StoreOp::create(builder, loc, vector, buffer.memref,
                            indicesOf(buffer, at));
    return;
  }
  Value first = lane ? at.lookup(lane) : Value();
  for (int64_t i = 0; i < cast<VectorType>(vector.getType()).getNumElements();
       ++i) {
    if (lane)
      at[lane] = add(builder, first, i);
    Value element = vector::ExtractOp::create(builder, loc, vector, i);
    memref::StoreOp::create(builder, loc, element, buffer.memref,
                            indicesOf(buffer, at));
  }
}

Value ProductLoops::scale(OpBuilder &builder, Value value,
                          ArrayRef<Buffer> factors, const Position &at,
                          StringAttr lane) const {
  int64_t width = cast<VectorType>(value.getType()).getNumElements();
  for (const Buffer &factor : factors)
    value = arith::MulFOp::create(builder, loc, value,
                                  loadVector(builder, factor, at, lane, width));
  return value;
}
