//===- LaneLoops.cpp - Loops over vectors of arrays -*- C++ -*- -----------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneLoops.h"

using namespace mlir;
using namespace larc;

SmallVector<StringAttr> larc::dropAxes(ArrayRef<StringAttr> axes,
                                       ArrayRef<StringAttr> dropped) {
  SmallVector<StringAttr> rest;
  llvm::copy_if(axes, std::back_inserter(rest), [&](StringAttr axis) {
    return !llvm::is_contained(dropped, axis);
  });
  return rest;
}

Buffer larc::renameAxis(Buffer buffer, StringAttr from, StringAttr to) {
  llvm::replace(buffer.axes, from, to);
  return buffer;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value LaneLoops::index(OpBuilder &builder, int64_t value) const {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value LaneLoops::add(OpBuilder &builder, Value base, int64_t offset) const {
  if (offset == 0)
    return base;
  return arith::AddIOp::create(builder, loc, base, index(builder, offset));
}

Value LaneLoops::splat(OpBuilder &builder, double value,
                       const Lanes &lanes) const {
  auto number = builder.getFloatAttr(plan.computeType, value);
  if (lanes.width == 0)
    return arith::ConstantOp::create(builder, loc, number);
  auto type = VectorType::get({lanes.width}, plan.computeType);
  return arith::ConstantOp::create(builder, loc,
                                   DenseElementsAttr::get(type, number));
}

Value LaneLoops::multiply(OpBuilder &builder, Value lhs, Value rhs) const {
  return arith::MulFOp::create(builder, loc, lhs, rhs);
}

Value LaneLoops::multiplyAdd(OpBuilder &builder, Value lhs, Value rhs,
                             Value sum) const {
  if (lhs.getType() != sum.getType())
    lhs = vector::BroadcastOp::create(builder, loc,
                                      cast<VectorType>(sum.getType()), lhs);
  return LLVM::FMulAddOp::create(builder, loc, lhs, rhs, sum);
}

StringAttr LaneLoops::chooseLaneAxis(ArrayRef<StringAttr> axes) const {
  StringAttr best;
  for (StringAttr axis : axes)
    if (!best || plan.getExtent(axis) >= plan.lanes ||
        (plan.getExtent(best) < plan.lanes &&
         plan.getExtent(axis) >= plan.getExtent(best)))
      best = axis;
  return best;
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

Values LaneLoops::indicesOf(const Buffer &buffer, const Position &at,
                            const Lanes &lanes) const {
  return llvm::map_to_vector(buffer.axes, [&](StringAttr axis) {
    return axis == lanes.axis ? lanes.first : at.lookup(axis);
  });
}

/// Null if all lanes are active.
Value LaneLoops::maskOf(OpBuilder &builder, const Lanes &lanes) const {
  if (lanes.active == lanes.width)
    return {};
  SmallVector<bool> bits(lanes.width, false);
  std::fill_n(bits.begin(), lanes.active, true);
  auto type = VectorType::get({lanes.width}, builder.getI1Type());
  return arith::ConstantOp::create(builder, loc,
                                   DenseElementsAttr::get(type, bits));
}

/// Whether lanes along `axis` lie one after another.
static bool isDense(const Buffer &buffer, StringAttr axis) {
  return buffer.axes.back() == axis &&
         cast<MemRefType>(buffer.memref.getType()).isLastDimUnitStride();
}

Value LaneLoops::load(OpBuilder &builder, const Buffer &buffer,
                      const Position &at, const Lanes &lanes) const {
  auto type =
      VectorType::get({std::max<int64_t>(lanes.width, 1)}, plan.computeType);
  if (!lanes.axis || !hasAxis(buffer, lanes.axis)) {
    Value scalar = memref::LoadOp::create(builder, loc, buffer.memref,
                                          indicesOf(buffer, at, lanes));
    if (lanes.width == 0)
      return scalar;
    return vector::BroadcastOp::create(builder, loc, type, scalar);
  }
  if (isDense(buffer, lanes.axis)) {
    Values indices = indicesOf(buffer, at, lanes);
    if (Value mask = maskOf(builder, lanes))
      return vector::MaskedLoadOp::create(builder, loc, type, buffer.memref,
                                          indices, mask,
                                          splat(builder, 0.0, lanes));
    return vector::LoadOp::create(builder, loc, type, buffer.memref, indices);
  }
  Values elements;
  for (int64_t i = 0; i < lanes.width; ++i) {
    Lanes one = lanes;
    one.first = add(builder, lanes.first, i);
    elements.push_back(i < lanes.active ? Value(memref::LoadOp::create(
                                              builder, loc, buffer.memref,
                                              indicesOf(buffer, at, one)))
                                        : splat(builder, 0.0, Lanes()));
  }
  return vector::FromElementsOp::create(builder, loc, type, elements);
}

void LaneLoops::store(OpBuilder &builder, Value value, const Buffer &buffer,
                      const Position &at, const Lanes &lanes) const {
  Values indices = indicesOf(buffer, at, lanes);
  if (lanes.width == 0) {
    memref::StoreOp::create(builder, loc, value, buffer.memref, indices);
    return;
  }
  if (isDense(buffer, lanes.axis)) {
    if (Value mask = maskOf(builder, lanes))
      vector::MaskedStoreOp::create(builder, loc, buffer.memref, indices, mask,
                                    value);
    else
      vector::StoreOp::create(builder, loc, value, buffer.memref, indices);
    return;
  }
  for (int64_t i = 0; i < lanes.active; ++i) {
    Lanes one = lanes;
    one.first = add(builder, lanes.first, i);
    memref::StoreOp::create(builder, loc,
                            vector::ExtractOp::create(builder, loc, value, i),
                            buffer.memref, indicesOf(buffer, at, one));
  }
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void LaneLoops::emitLoops(
    OpBuilder &builder, ArrayRef<StringAttr> axes, const Position &at,
    function_ref<void(OpBuilder &, Position &)> body) const {
  Position position = at;
  OpBuilder inner = builder;
  for (StringAttr axis : axes) {
    auto loop =
        scf::ForOp::create(inner, loc, index(inner, 0),
                           index(inner, plan.getExtent(axis)), index(inner, 1));
    position[axis] = loop.getInductionVar();
    inner = OpBuilder::atBlockTerminator(loop.getBody());
  }
  body(inner, position);
}

void LaneLoops::emitFor(OpBuilder &builder, Value first, Value last,
                        int64_t step,
                        function_ref<void(OpBuilder &, Value)> body) const {
  auto loop =
      scf::ForOp::create(builder, loc, first, last, index(builder, step));
  OpBuilder inner = OpBuilder::atBlockTerminator(loop.getBody());
  body(inner, loop.getInductionVar());
}

Values LaneLoops::emitFor(
    OpBuilder &builder, Value first, Value last, const Values &carried,
    function_ref<Values(OpBuilder &, Value, const Values &)> body) const {
  if (carried.empty()) {
    emitFor(builder, first, last, 1,
            [&](OpBuilder &inner, Value at) { body(inner, at, carried); });
    return {};
  }
  auto loop =
      scf::ForOp::create(builder, loc, first, last, index(builder, 1), carried);
  OpBuilder inner = OpBuilder::atBlockEnd(loop.getBody());
  Values results =
      body(inner, loop.getInductionVar(), Values(loop.getRegionIterArgs()));
  scf::YieldOp::create(inner, loc, results);
  return Values(loop.getResults());
}

Values LaneLoops::emitSums(
    OpBuilder &builder, ArrayRef<StringAttr> axes, const Position &at,
    const Values &sums,
    function_ref<Values(OpBuilder &, Position &, const Values &)> body) const {
  Position position = at;
  if (axes.empty())
    return body(builder, position, sums);
  return emitFor(
      builder, index(builder, 0), index(builder, plan.getExtent(axes.front())),
      sums, [&](OpBuilder &inner, Value i, const Values &inside) {
        position[axes.front()] = i;
        return emitSums(inner, axes.drop_front(), position, inside, body);
      });
}

void LaneLoops::emitLanes(
    OpBuilder &builder, StringAttr axis, int64_t count,
    function_ref<void(OpBuilder &, ArrayRef<Lanes>)> body) const {
  if (!axis)
    return body(builder, Lanes());
  int64_t extent = plan.getExtent(axis), width = plan.lanes;
  int64_t whole = extent / width / count * count * width;
  auto makeGroup = [&](OpBuilder &at, Value base, int64_t end) {
    SmallVector<Lanes> group;
    for (int64_t offset = 0; offset < end; offset += width)
      group.push_back(
          {axis, add(at, base, offset), width, std::min(width, end - offset)});
    return group;
  };
  if (whole > count * width)
    emitFor(builder, index(builder, 0), index(builder, whole), count * width,
            [&](OpBuilder &inner, Value base) {
              body(inner, makeGroup(inner, base, count * width));
            });
  else if (whole)
    body(builder, makeGroup(builder, index(builder, 0), whole));
  if (whole < extent)
    body(builder, makeGroup(builder, index(builder, whole), extent - whole));
}

Values LaneLoops::emitLaneSums(
    OpBuilder &builder, StringAttr axis, const Values &sums,
    function_ref<Values(OpBuilder &, const Lanes &, const Values &)> body)
    const {
  int64_t extent = plan.getExtent(axis), width = plan.lanes;
  int64_t whole = extent / width * width;
  Values totals = sums;
  if (whole == width) {
    totals = body(builder, {axis, index(builder, 0), width, width}, totals);
  } else if (whole) {
    auto loop = scf::ForOp::create(builder, loc, index(builder, 0),
                                   index(builder, whole), index(builder, width),
                                   totals);
    OpBuilder inner = OpBuilder::atBlockEnd(loop.getBody());
    if (totals.empty())
      inner.setInsertionPoint(loop.getBody()->getTerminator());
    Values inside = body(inner, {axis, loop.getInductionVar(), width, width},
                         Values(loop.getRegionIterArgs()));
    if (!totals.empty())
      scf::YieldOp::create(inner, loc, inside);
    totals.assign(loop.getResults().begin(), loop.getResults().end());
  }
  if (whole < extent)
    totals = body(builder, {axis, index(builder, whole), width, extent - whole},
                  totals);
  return totals;
}

Value LaneLoops::addLanes(OpBuilder &builder, Values vectors) const {
  int64_t width = plan.lanes;
  // Every vector has one segment for each of some sums; two vectors become one
  // by folding the segments of both.
  for (int64_t length = width; length > 1; length /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t segment = 0; segment < width; segment += length)
      for (int64_t source : {int64_t(0), width})
        for (int64_t i = 0; i < length / 2; ++i) {
          low.push_back(source + segment + i);
          high.push_back(source + segment + length / 2 + i);
        }
    size_t half = vectors.size() / 2;
    for (size_t i = 0; i < half; ++i) {
      Value lhs = vectors[i], rhs = vectors[i + half];
      vectors[i] = arith::AddFOp::create(
          builder, loc, vector::ShuffleOp::create(builder, loc, lhs, rhs, low),
          vector::ShuffleOp::create(builder, loc, lhs, rhs, high));
    }
    vectors.resize(half);
  }
  return vectors.front();
}
