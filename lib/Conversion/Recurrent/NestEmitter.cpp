//===- NestEmitter.cpp - Loops of one nest -*- C++ -*- --------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NestEmitter.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <limits>

using namespace mlir;
using namespace larc;

/// Vector registers that a group of lanes has along the last axis: enough
/// independent sums to hide the latency of a multiply-add together with
/// unrolling, few enough to leave registers.
static constexpr int64_t groupRegisters = 4;
/// Groups of twice as many go along whole rows of an array more often, which
/// caches like; a nest has them if what it keeps for every lane fits into this
/// many registers.
static constexpr int64_t keptRegisters = 16;
/// Independent sums that hide that latency.
static constexpr unsigned sumsInFlight = 8;

static constexpr arith::FastMathFlags contract = arith::FastMathFlags::contract;

/// Whether elements along `axis` lie one after another.
static bool isDenseAlong(const Buffer &buffer, StringAttr axis) {
  return !buffer.axes.empty() && buffer.axes.back() == axis &&
         cast<MemRefType>(buffer.memref.getType()).isLastDimUnitStride();
}

/// The element that leaves a reduction as it is.
static double identityOf(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
    return 0.0;
  case ReduceKind::Max:
    return -std::numeric_limits<double>::infinity();
  case ReduceKind::Min:
    return std::numeric_limits<double>::infinity();
  }
  return 0.0;
}

static Value index(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value NestEmitter::splat(OpBuilder &builder, double value, int64_t width) {
  auto number = builder.getFloatAttr(plan.computeType, value);
  if (width == 0)
    return arith::ConstantOp::create(builder, nest.getLoc(), number);
  auto type = VectorType::get({width}, plan.computeType);
  return arith::ConstantOp::create(builder, nest.getLoc(),
                                   DenseElementsAttr::get(type, number));
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

/// The number of outer loops that fix every index of `value`.
unsigned NestEmitter::depthOf(Value value) {
  auto it = depths.find(value);
  if (it != depths.end())
    return it->second;
  unsigned depth = 0;
  Operation *producer = value.getDefiningOp();
  if (producer && producer->getParentOp() == nest) {
    for (Value operand : producer->getOperands())
      depth = std::max(depth, depthOf(operand));
  } else {
    for (StringAttr axis : cast<ArrayType>(value.getType()).getAxes()) {
      auto *loop = llvm::find(outer, axis);
      if (loop != outer.end())
        depth = std::max<unsigned>(depth, loop - outer.begin() + 1);
    }
  }
  return depths[value] = depth;
}

void NestEmitter::analyze() {
  for (Attribute axis : nest.getAxes())
    outer.push_back(cast<StringAttr>(axis));
  if (!outer.empty())
    lane = outer.pop_back_val();
  bool isBounded = llvm::any_of(
      outer, [&](StringAttr axis) { return bounds.contains(axis); });

  auto yield = cast<YieldOp>(nest.getBody().front().getTerminator());
  for (auto [i, value] : llvm::enumerate(yield.getValues())) {
    auto reduction = value.getDefiningOp<ReductionOpInterface>();
    if (!reduction || reduction->getParentOp() != nest) {
      backward = !outer.empty() && !isBounded;
      continue;
    }
    SmallVector<StringAttr> reduced = reduction.getReducedAxes();
    auto isReduced = [&](StringAttr axis) {
      return llvm::is_contained(reduced, axis);
    };
    Accumulator accumulator{reduction, static_cast<unsigned>(i), 0,
                            lane && isReduced(lane), false};
    for (auto [depth, axis] : llvm::enumerate(outer))
      if (!isReduced(axis))
        accumulator.depth = depth + 1;
    bool reducedOutside =
        llvm::any_of(ArrayRef(outer).take_front(accumulator.depth), isReduced);
    accumulator.inMemory =
        reducedOutside || (accumulator.reducesLane && !oneGroup);
    accumulators.push_back(accumulator);
  }
}

/// Registers of a group: those for all lanes of what the rows share (sums, and
/// arrays along the lanes alone) must leave some for the rows themselves.
int64_t NestEmitter::chooseGroupSize() {
  Block &body = nest.getBody().front();
  auto lastAxis = cast<StringAttr>(nest.getAxes().getValue().back());
  int64_t kept = 0;
  llvm::SmallPtrSet<Value, 8> seen;
  for (Operation &op : body.without_terminator()) {
    kept += isa<ReductionOpInterface>(op);
    for (Value operand : op.getOperands()) {
      auto type = cast<ArrayType>(operand.getType());
      kept += type.getRank() == 1 && type.hasAxis(lastAxis) &&
              seen.insert(operand).second;
    }
  }
  bool hasRows = nest.getAxes().size() > 1;
  return hasRows && 2 * groupRegisters * kept <= keptRegisters
             ? 2 * groupRegisters
             : groupRegisters;
}

void NestEmitter::emit(OpBuilder &builder) {
  Location loc = nest.getLoc();
  // Lanes: whole groups in a loop, then one group of what is left, in powers of
  // two.
  int64_t extent = 0, registers = 0, groups = 0, groupSize = groupRegisters;
  if (!nest.getAxes().empty()) {
    extent = plan.getExtent(cast<StringAttr>(nest.getAxes().getValue().back()));
    registers = extent / plan.lanes;
    groupSize = chooseGroupSize();
    groups = registers / groupSize;
  }
  int64_t grouped = groups * groupSize * plan.lanes;
  Pieces rest;
  for (int64_t offset = grouped, width = plan.lanes; offset < extent;) {
    if (offset + width > extent) {
      width /= 2;
      continue;
    }
    rest.push_back({offset, width});
    offset += width;
  }
  if (nest.getAxes().empty())
    rest.push_back({0, 0});
  oneGroup = groups + (rest.empty() ? 0 : 1) == 1;

  analyze();
  for (const Accumulator &accumulator : accumulators)
    if (accumulator.inMemory)
      emitFill(builder, loc, plan, results[accumulator.result],
               identityOf(accumulator.op.getCombiner()));

  Pieces whole;
  for (int64_t i = 0; i < groupSize; ++i)
    whole.push_back({i * plan.lanes, plan.lanes});
  if (groups == 1) {
    emitGroup(builder, index(builder, loc, 0), whole);
  } else if (groups > 1) {
    auto loop = scf::ForOp::create(builder, loc, index(builder, loc, 0),
                                   index(builder, loc, grouped),
                                   index(builder, loc, groupSize * plan.lanes));
    OpBuilder inner = OpBuilder::atBlockTerminator(loop.getBody());
    Value first = loop.getInductionVar();
    if (backward)
      first = arith::SubIOp::create(
          inner, loc, index(inner, loc, grouped - groupSize * plan.lanes),
          first);
    emitGroup(inner, first, whole);
  }
  if (!rest.empty())
    emitGroup(builder, index(builder, loc, 0), rest);
}

void NestEmitter::emitGroup(OpBuilder &builder, Value groupBase,
                            const Pieces &groupPieces) {
  base = groupBase;
  pieces = groupPieces;
  Scope scope;
  SmallVector<Values> totals(accumulators.size());
  emitLevel(builder, 0, scope, totals);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// How many iterations of the innermost loop to interleave, each with sums of
/// its own.
unsigned NestEmitter::unrollFactor(unsigned depth,
                                   ArrayRef<unsigned> starting) {
  if (depth + 1 != outer.size() || starting.empty() ||
      bounds.contains(outer[depth]))
    return 1;
  int64_t trips = plan.getExtent(outer[depth]);
  unsigned factor = 1;
  unsigned sums = starting.size() * pieces.size();
  while (2 * factor * sums <= sumsInFlight && trips % (2 * factor) == 0)
    factor *= 2;
  return factor;
}

void NestEmitter::emitLevel(OpBuilder &builder, unsigned depth, Scope &scope,
                            MutableArrayRef<Values> totals) {
  Location loc = nest.getLoc();
  for (Operation &op : nest.getBody().front().without_terminator())
    if (isa<ElementwiseOpInterface>(op) && depthOf(op.getResult(0)) == depth &&
        depth < outer.size())
      get(builder, op.getResult(0), scope);
  // Loads that the loops inside do not change.
  if (depth < outer.size()) {
    for (Operation &op : nest.getBody().front().without_terminator())
      for (Value operand : op.getOperands())
        if (depthOf(operand) == depth)
          get(builder, operand, scope);
  }
  if (depth == outer.size())
    return emitInnermost(builder, scope, totals);

  // Reductions that start here, and those that go on through this loop.
  SmallVector<unsigned> starting, carried;
  for (auto [i, accumulator] : llvm::enumerate(accumulators)) {
    if (accumulator.depth == depth)
      starting.push_back(i);
    if (accumulator.depth < depth)
      carried.push_back(i);
  }
  unsigned factor = unrollFactor(depth, starting);
  SmallVector<Value> inits;
  for (unsigned i : carried)
    llvm::append_range(inits, totals[i]);
  for (unsigned copy = 0; copy < factor; ++copy)
    for (unsigned i : starting)
      for (const Piece &piece : pieces)
        inits.push_back(splat(builder,
                              identityOf(accumulators[i].op.getCombiner()),
                              piece.width));

  Value bound = bounds.lookup(outer[depth]);
  if (!bound)
    bound = index(builder, loc, plan.getExtent(outer[depth]));
  auto loop = scf::ForOp::create(builder, loc, index(builder, loc, 0), bound,
                                 index(builder, loc, factor), inits);
  OpBuilder inner = OpBuilder::atBlockEnd(loop.getBody());
  if (inits.empty())
    inner.setInsertionPoint(loop.getBody()->getTerminator());
  ValueRange arguments = loop.getRegionIterArgs();
  auto take = [&](ValueRange &from) {
    Values values(from.take_front(pieces.size()));
    from = from.drop_front(pieces.size());
    return values;
  };
  SmallVector<Values> inside(totals.begin(), totals.end());
  for (unsigned i : carried)
    inside[i] = take(arguments);
  SmallVector<Value> yielded;
  for (unsigned copy = 0; copy < factor; ++copy) {
    for (unsigned i : starting)
      inside[i] = take(arguments);
    Scope innerScope = scope;
    Value position = loop.getInductionVar();
    if (backward)
      position = arith::SubIOp::create(
          inner, loc,
          index(inner, loc, plan.getExtent(outer[depth]) - 1 - copy), position);
    else if (copy)
      position =
          arith::AddIOp::create(inner, loc, position, index(inner, loc, copy));
    innerScope.indices.push_back(position);
    emitLevel(inner, depth + 1, innerScope, inside);
    for (unsigned i : starting)
      llvm::append_range(yielded, inside[i]);
  }
  SmallVector<Value> all;
  for (unsigned i : carried)
    llvm::append_range(all, inside[i]);
  llvm::append_range(all, yielded);
  if (!inits.empty())
    scf::YieldOp::create(inner, loc, all);

  ValueRange after = loop.getResults();
  for (unsigned i : carried)
    totals[i] = take(after);
  SmallVector<Values> sums(accumulators.size());
  for (unsigned copy = 0; copy < factor; ++copy)
    for (unsigned i : starting) {
      Values part = take(after);
      sums[i] = copy ? combine(builder, accumulators[i].op.getCombiner(),
                               sums[i], part)
                     : part;
    }
  for (unsigned i : starting)
    finish(builder, accumulators[i], sums[i], scope);
}

void NestEmitter::emitInnermost(OpBuilder &builder, Scope &scope,
                                MutableArrayRef<Values> totals) {
  Location loc = nest.getLoc();
  auto yield = cast<YieldOp>(nest.getBody().front().getTerminator());
  for (auto [i, accumulator] : llvm::enumerate(accumulators)) {
    Operation *op = accumulator.op;
    Values terms = get(builder, op->getOperand(0), scope);
    if (op->getNumOperands() == 2) {
      Values factors = get(builder, op->getOperand(1), scope);
      for (auto [term, factor] : llvm::zip(terms, factors))
        term = arith::MulFOp::create(builder, loc, term, factor, contract);
    }
    if (accumulator.reducesLane && bounds.contains(lane))
      maskLanes(builder, accumulator, terms);
    if (accumulator.depth == outer.size())
      finish(builder, accumulator, terms, scope);
    else
      totals[i] =
          combine(builder, accumulator.op.getCombiner(), totals[i], terms);
  }
  // All loads of this element are made before it is written.
  SmallVector<std::pair<Values, unsigned>> stores;
  for (auto [i, value] : llvm::enumerate(yield.getValues())) {
    Operation *producer = value.getDefiningOp();
    if (producer && producer->getParentOp() == nest &&
        isa<ReductionOpInterface>(producer))
      continue;
    stores.emplace_back(get(builder, value, scope), i);
  }
  for (auto &[values, i] : stores)
    store(builder, values, results[i], scope);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

const NestEmitter::Values &NestEmitter::get(OpBuilder &builder, Value value,
                                            Scope &scope) {
  auto it = scope.values.find(value);
  if (it != scope.values.end())
    return it->second;
  Values values;
  Operation *producer = value.getDefiningOp();
  if (auto constant = dyn_cast_or_null<ConstantOp>(producer)) {
    for (const Piece &piece : pieces)
      values.push_back(
          splat(builder, constant.getValue().convertToDouble(), piece.width));
  } else if (producer && producer->getParentOp() == nest) {
    SmallVector<Values> operands;
    for (Value operand : producer->getOperands())
      operands.push_back(get(builder, operand, scope));
    for (size_t i = 0; i < pieces.size(); ++i) {
      SmallVector<Value> args;
      for (const Values &operand : operands)
        args.push_back(operand[i]);
      values.push_back(cast<ElementwiseOpInterface>(producer).buildScalar(
          builder, producer->getLoc(), args));
    }
  } else {
    values = load(builder, lookup(value), scope);
  }
  return scope.values[value] = values;
}

SmallVector<Value> NestEmitter::indicesOf(const Buffer &buffer, Scope &scope,
                                          Value laneIndex) {
  SmallVector<Value> indices;
  for (StringAttr axis : buffer.axes) {
    if (axis == lane) {
      indices.push_back(laneIndex);
      continue;
    }
    indices.push_back(scope.indices[llvm::find(outer, axis) - outer.begin()]);
  }
  return indices;
}

NestEmitter::Values NestEmitter::load(OpBuilder &builder, const Buffer &buffer,
                                      Scope &scope) {
  Location loc = nest.getLoc();
  Values values;
  if (!lane || !hasAxis(buffer, lane)) {
    Value scalar = memref::LoadOp::create(builder, loc, buffer.memref,
                                          indicesOf(buffer, scope, {}));
    llvm::DenseMap<int64_t, Value> splats;
    for (const Piece &piece : pieces) {
      Value &vector = splats[piece.width];
      if (!vector)
        vector =
            piece.width
                ? Value(vector::BroadcastOp::create(
                      builder, loc,
                      VectorType::get({piece.width}, plan.computeType), scalar))
                : scalar;
      values.push_back(vector);
    }
    return values;
  }
  for (const Piece &piece : pieces) {
    auto type = VectorType::get({piece.width}, plan.computeType);
    Value first = arith::AddIOp::create(builder, loc, base,
                                        index(builder, loc, piece.offset));
    if (isDenseAlong(buffer, lane)) {
      values.push_back(vector::LoadOp::create(builder, loc, type, buffer.memref,
                                              indicesOf(buffer, scope, first)));
      continue;
    }
    // Lanes are apart in memory.
    SmallVector<Value> elements;
    for (int64_t i = 0; i < piece.width; ++i)
      elements.push_back(memref::LoadOp::create(
          builder, loc, buffer.memref,
          indicesOf(buffer, scope,
                    arith::AddIOp::create(builder, loc, first,
                                          index(builder, loc, i)))));
    values.push_back(
        vector::FromElementsOp::create(builder, loc, type, elements));
  }
  return values;
}

void NestEmitter::store(OpBuilder &builder, const Values &values,
                        const Buffer &buffer, Scope &scope) {
  Location loc = nest.getLoc();
  for (auto [value, piece] : llvm::zip(values, pieces)) {
    if (piece.width == 0) {
      memref::StoreOp::create(builder, loc, value, buffer.memref,
                              indicesOf(buffer, scope, {}));
      continue;
    }
    Value first = arith::AddIOp::create(builder, loc, base,
                                        index(builder, loc, piece.offset));
    if (isDenseAlong(buffer, lane)) {
      vector::StoreOp::create(builder, loc, value, buffer.memref,
                              indicesOf(buffer, scope, first));
      continue;
    }
    for (int64_t i = 0; i < piece.width; ++i)
      memref::StoreOp::create(
          builder, loc, vector::ExtractOp::create(builder, loc, value, i),
          buffer.memref,
          indicesOf(buffer, scope,
                    arith::AddIOp::create(builder, loc, first,
                                          index(builder, loc, i))));
  }
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

void NestEmitter::maskLanes(OpBuilder &builder, const Accumulator &accumulator,
                            Values &terms) {
  Location loc = nest.getLoc();
  double identity = identityOf(accumulator.op.getCombiner());
  for (auto [term, piece] : llvm::zip(terms, pieces)) {
    Value first = arith::AddIOp::create(builder, loc, base,
                                        index(builder, loc, piece.offset));
    Value rest =
        arith::SubIOp::create(builder, loc, bounds.lookup(lane), first);
    Value mask = vector::CreateMaskOp::create(
        builder, loc, VectorType::get({piece.width}, builder.getI1Type()),
        rest);
    term = arith::SelectOp::create(builder, loc, mask, term,
                                   splat(builder, identity, piece.width));
  }
}

static Value combineTwo(OpBuilder &builder, Location loc, ReduceKind kind,
                        Value lhs, Value rhs) {
  switch (kind) {
  case ReduceKind::Sum:
    return arith::AddFOp::create(builder, loc, lhs, rhs, contract);
  case ReduceKind::Max:
    return arith::MaximumFOp::create(builder, loc, lhs, rhs);
  case ReduceKind::Min:
    return arith::MinimumFOp::create(builder, loc, lhs, rhs);
  }
  return {};
}

NestEmitter::Values NestEmitter::combine(OpBuilder &builder, ReduceKind kind,
                                         const Values &lhs, const Values &rhs) {
  Values values;
  for (auto [left, right] : llvm::zip(lhs, rhs))
    values.push_back(combineTwo(builder, nest.getLoc(), kind, left, right));
  return values;
}

/// Halves a vector until one lane is left: a fixed order of sums on every
/// machine.
static Value reduceLanes(OpBuilder &builder, Location loc, ReduceKind kind,
                         Value vector) {
  auto type = cast<VectorType>(vector.getType());
  while (type.getNumElements() > 1) {
    int64_t half = type.getNumElements() / 2;
    Value low = vector::ExtractStridedSliceOp::create(
        builder, loc, vector, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{half},
        ArrayRef<int64_t>{1});
    Value high = vector::ExtractStridedSliceOp::create(
        builder, loc, vector, ArrayRef<int64_t>{half}, ArrayRef<int64_t>{half},
        ArrayRef<int64_t>{1});
    vector = combineTwo(builder, loc, kind, low, high);
    type = cast<VectorType>(vector.getType());
  }
  return vector::ExtractOp::create(builder, loc, vector, 0);
}

/// Stores the total of a group, or adds it to what other groups and loops have
/// summed.
void NestEmitter::finish(OpBuilder &builder, const Accumulator &accumulator,
                         const Values &total, Scope &scope) {
  Location loc = nest.getLoc();
  const Buffer &buffer = results[accumulator.result];
  ReduceKind kind = accumulator.op.getCombiner();
  if (accumulator.reducesLane) {
    // Registers of one width first, then lanes.
    Value sum;
    Value wide;
    for (auto [value, piece] : llvm::zip(total, pieces)) {
      if (piece.width == plan.lanes) {
        wide = wide ? combineTwo(builder, loc, kind, wide, value) : value;
        continue;
      }
      Value scalar = reduceLanes(builder, loc, kind, value);
      sum = sum ? combineTwo(builder, loc, kind, sum, scalar) : scalar;
    }
    if (wide) {
      Value scalar = reduceLanes(builder, loc, kind, wide);
      sum = sum ? combineTwo(builder, loc, kind, sum, scalar) : scalar;
    }
    SmallVector<Value> indices = indicesOf(buffer, scope, {});
    if (accumulator.inMemory)
      sum = combineTwo(
          builder, loc, kind,
          memref::LoadOp::create(builder, loc, buffer.memref, indices), sum);
    memref::StoreOp::create(builder, loc, sum, buffer.memref, indices);
    return;
  }
  Values values = total;
  if (accumulator.inMemory)
    values = combine(builder, kind, load(builder, buffer, scope), values);
  store(builder, values, buffer, scope);
}

//===----------------------------------------------------------------------===//
// Fills and copies
//===----------------------------------------------------------------------===//

/// Emits loops over all but the last of `axes` and calls `body` with their
/// indices.
static void emitLoopsOver(OpBuilder &builder, Location loc,
                          ArrayRef<int64_t> extents,
                          function_ref<void(OpBuilder &, ValueRange)> body) {
  SmallVector<Value> indices;
  OpBuilder inner = builder;
  for (int64_t extent : extents) {
    auto loop =
        scf::ForOp::create(inner, loc, index(inner, loc, 0),
                           index(inner, loc, extent), index(inner, loc, 1));
    indices.push_back(loop.getInductionVar());
    inner = OpBuilder::atBlockTerminator(loop.getBody());
  }
  body(inner, indices);
}

/// Lanes of `extent` elements in registers and powers of two: calls `body` with
/// the index of the first lane and the width.
static void emitPieces(OpBuilder &builder, Location loc, int64_t extent,
                       int64_t lanes,
                       function_ref<void(OpBuilder &, Value, int64_t)> body) {
  int64_t whole = extent / lanes * lanes;
  if (whole > lanes) {
    auto loop = scf::ForOp::create(builder, loc, index(builder, loc, 0),
                                   index(builder, loc, whole),
                                   index(builder, loc, lanes));
    OpBuilder inner = OpBuilder::atBlockTerminator(loop.getBody());
    body(inner, loop.getInductionVar(), lanes);
  } else if (whole) {
    body(builder, index(builder, loc, 0), lanes);
  }
  for (int64_t offset = whole, width = lanes; offset < extent;) {
    if (offset + width > extent) {
      width /= 2;
      continue;
    }
    body(builder, index(builder, loc, offset), width);
    offset += width;
  }
}

void NestEmitter::emitFill(OpBuilder &builder, Location loc,
                           const RecurrentPlan &plan, const Buffer &buffer,
                           double value) {
  auto number = builder.getFloatAttr(plan.computeType, value);
  if (buffer.axes.empty()) {
    Value scalar = arith::ConstantOp::create(builder, loc, number);
    memref::StoreOp::create(builder, loc, scalar, buffer.memref, ValueRange());
    return;
  }
  SmallVector<int64_t> extents = plan.getExtents(buffer.axes);
  emitLoopsOver(builder, loc, ArrayRef(extents).drop_back(),
                [&](OpBuilder &inner, ValueRange outer) {
                  emitPieces(
                      inner, loc, extents.back(), plan.lanes,
                      [&](OpBuilder &at, Value first, int64_t width) {
                        auto type = VectorType::get({width}, plan.computeType);
                        Value vector = arith::ConstantOp::create(
                            at, loc, DenseElementsAttr::get(type, number));
                        SmallVector<Value> indices(outer);
                        indices.push_back(first);
                        vector::StoreOp::create(at, loc, vector, buffer.memref,
                                                indices);
                      });
                });
}

/// `value` (a float or vector) with elements of type `type`. Narrowing from f64
/// to 16 bits goes through f32, as LLVM has no direct instruction.
static Value convert(OpBuilder &builder, Location loc, Value value,
                     FloatType type) {
  auto withElements = [&](Type element) -> Type {
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      return VectorType::get(vector.getShape(), element);
    return element;
  };
  auto from = cast<FloatType>(getElementTypeOrSelf(value.getType()));
  if (from == type)
    return value;
  if (from.getWidth() == 64 && type.getWidth() == 16)
    value = arith::TruncFOp::create(builder, loc,
                                    withElements(builder.getF32Type()), value);
  if (from.getWidth() == 16 && type.getWidth() == 64)
    value = arith::ExtFOp::create(builder, loc,
                                  withElements(builder.getF32Type()), value);
  if (cast<FloatType>(getElementTypeOrSelf(value.getType())).getWidth() >
      type.getWidth())
    return arith::TruncFOp::create(builder, loc, withElements(type), value);
  return arith::ExtFOp::create(builder, loc, withElements(type), value);
}

void NestEmitter::emitCopy(OpBuilder &builder, Location loc,
                           const RecurrentPlan &plan, const Buffer &from,
                           const Buffer &to) {
  auto toType =
      cast<FloatType>(cast<MemRefType>(to.memref.getType()).getElementType());
  auto fromType =
      cast<FloatType>(cast<MemRefType>(from.memref.getType()).getElementType());
  // Indices of `from` for the axes of `to`.
  auto permute = [&](ValueRange indices) {
    SmallVector<Value> permuted;
    for (StringAttr axis : from.axes)
      permuted.push_back(indices[llvm::find(to.axes, axis) - to.axes.begin()]);
    return permuted;
  };
  SmallVector<int64_t> extents = plan.getExtents(to.axes);
  if (to.axes.empty() || !isDenseAlong(from, to.axes.back()) ||
      !isDenseAlong(to, to.axes.back())) {
    emitLoopsOver(
        builder, loc, extents, [&](OpBuilder &inner, ValueRange indices) {
          Value value =
              memref::LoadOp::create(inner, loc, from.memref, permute(indices));
          memref::StoreOp::create(inner, loc,
                                  convert(inner, loc, value, toType), to.memref,
                                  indices);
        });
    return;
  }
  emitLoopsOver(builder, loc, ArrayRef(extents).drop_back(),
                [&](OpBuilder &inner, ValueRange outer) {
                  emitPieces(inner, loc, extents.back(), plan.lanes,
                             [&](OpBuilder &at, Value first, int64_t width) {
                               SmallVector<Value> indices(outer);
                               indices.push_back(first);
                               Value value = vector::LoadOp::create(
                                   at, loc, VectorType::get({width}, fromType),
                                   from.memref, permute(indices));
                               vector::StoreOp::create(
                                   at, loc, convert(at, loc, value, toType),
                                   to.memref, indices);
                             });
                });
}
