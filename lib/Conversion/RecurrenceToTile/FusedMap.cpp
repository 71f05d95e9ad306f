//===- FusedMap.cpp - Maps and reductions -*- C++ -*- ---------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepTiles.h"

#include <limits>

using namespace mlir;
using namespace larc;

using tile::CombineKind;
using tile::Dimension;
using tile::RegType;
using tile::SharedType;

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

/// Whether `value` is to be computed by this map: nothing else asks for it, and
/// no element of it is used twice.
bool FusedMap::belongs(Value value) {
  if (!value.getDefiningOp<ElementwiseOpInterface>())
    return false;
  if (value.getDefiningOp<BroadcastOp>())
    return true;
  return (value.hasOneUse() || step.isRecomputed(value)) &&
         step.getFreeAxes(value, bindings) == axes;
}

FusedMap::Element FusedMap::addLeaf(Value tile) {
  Element element;
  auto *it = llvm::find(leaves, tile);
  element.leaf = static_cast<unsigned>(it - leaves.begin());
  if (it == leaves.end())
    leaves.push_back(tile);
  return element;
}

void FusedMap::computeSums(Value value) {
  Operation *op = value.getDefiningOp();
  if (!step.plan.keepsShared || !op)
    return;
  if (isa<ReductionOpInterface>(op))
    step.evaluate(value, bindings);
  else if (belongs(value))
    for (Value operand : op->getOperands())
      computeSums(operand);
}

FusedMap::Element FusedMap::collectOperation(ElementwiseOpInterface op) {
  if (auto broadcast = dyn_cast<BroadcastOp>(op.getOperation()))
    return collect(broadcast.getOperand());
  Element element;
  element.op = op;
  for (Value operand : op->getOperands())
    computeSums(operand);
  for (Value operand : op->getOperands())
    element.parts.push_back(collect(operand));
  return element;
}

FusedMap::Element FusedMap::collect(Value value) {
  if (auto constant = value.getDefiningOp<ConstantOp>()) {
    Element element;
    element.constant = constant.getValue().convertToDouble();
    return element;
  }
  if (belongs(value) && !step.lookup(value, step.restrict(value, bindings)))
    return collectOperation(value.getDefiningOp<ElementwiseOpInterface>());
  return addLeaf(step.evaluate(value, bindings));
}

bool FusedMap::usesMatrix(const Element &element) {
  if (element.constant)
    return false;
  if (element.op)
    return llvm::any_of(element.parts,
                        [&](const Element &part) { return usesMatrix(part); });
  auto type = cast<RegType>(leaves[element.leaf].getType());
  return type.getRows() > 1 && type.getCols() > 1;
}

Value FusedMap::build(OpBuilder &builder, const Element &element,
                      ValueRange arguments) {
  if (element.constant)
    return step.number(builder, *element.constant);
  if (!element.op)
    return arguments[element.leaf];
  SmallVector<Value> parts;
  for (const Element &part : element.parts)
    parts.push_back(build(builder, part, arguments));
  // The first product of a sum is contracted with it. It should be one of
  // vectors: the other way they would be multiplied, and kept, before the
  // matrix is there.
  if (isa<AddOp>(element.op.getOperation()) &&
      usesMatrix(element.parts.front()) && !usesMatrix(element.parts.back()))
    std::swap(parts.front(), parts.back());
  return element.op.buildScalar(builder, step.loc, parts);
}

Value FusedMap::emit(
    llvm::function_ref<Value(OpBuilder &,
                             llvm::function_ref<Value(const Element &)>)>
        body) {
  auto buildAll = [&](OpBuilder &builder, ValueRange arguments) {
    return body(builder, [&](const Element &element) {
      return build(builder, element, arguments);
    });
  };
  // What depends on nothing is one number.
  if (leaves.empty())
    return step.splat(buildAll(step.builder, {}), axes);
  return tile::MapOp::create(
             step.builder, step.loc, TypeRange(step.plan.getTileType(axes)),
             leaves,
             [&](OpBuilder &builder, Location, ValueRange arguments) {
               return SmallVector<Value>{buildAll(builder, arguments)};
             })
      ->getResult(0);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

static CombineKind getCombineKind(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
    return CombineKind::Sum;
  case ReduceKind::Max:
    return CombineKind::Max;
  case ReduceKind::Min:
    return CombineKind::Min;
  }
  llvm_unreachable("an unknown way to combine");
}

static double getNeutral(ReduceKind kind) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (kind) {
  case ReduceKind::Sum:
    return 0;
  case ReduceKind::Max:
    return -infinity;
  case ReduceKind::Min:
    return infinity;
  }
  llvm_unreachable("an unknown way to combine");
}

static Value combine(OpBuilder &builder, Location loc, ReduceKind kind,
                     Value lhs, Value rhs) {
  switch (kind) {
  case ReduceKind::Sum:
    return arith::AddFOp::create(builder, loc, lhs, rhs,
                                 arith::FastMathFlags::contract);
  case ReduceKind::Max:
    return arith::MaximumFOp::create(builder, loc, lhs, rhs);
  case ReduceKind::Min:
    return arith::MinimumFOp::create(builder, loc, lhs, rhs);
  }
  llvm_unreachable("an unknown way to combine");
}

/// Which of the axis' elements in the warp's tile there are.
Value StepTiles::getMask(StringAttr axis) {
  Value &mask = masks[axis];
  if (mask)
    return mask;
  Type i32 = builder.getI32Type();
  RegType type = plan.getTileType(axis);
  bool rows = plan.getPlace(axis) == AxisPlace::Rows;
  Value numbers = tile::IndexOp::create(
      entry, loc, type.withElementType(i32),
      tile::DimensionAttr::get(builder.getContext(),
                               rows ? Dimension::Rows : Dimension::Cols));
  SmallVector<Value> operands = {numbers};
  if (rows && plan.warps > 1) {
    Value first =
        arith::IndexCastOp::create(entry, loc, i32, getWarpOffset(axis));
    RegType scalar = plan.getTileType({}).withElementType(i32);
    operands.push_back(tile::SplatOp::create(entry, loc, scalar, first));
  }
  mask = tile::MapOp::create(
             entry, loc, TypeRange(type.withElementType(builder.getI1Type())),
             operands,
             [&](OpBuilder &inner, Location, ValueRange args) {
               Value number = args[0];
               if (args.size() > 1)
                 number = arith::AddIOp::create(inner, loc, number, args[1]);
               Value size = arith::ConstantIntOp::create(inner, loc, i32,
                                                         plan.getSize(axis));
               return SmallVector<Value>{arith::CmpIOp::create(
                   inner, loc, arith::CmpIPredicate::slt, number, size)};
             })
             ->getResult(0);
  return mask;
}

Value StepTiles::exchange(Value partial, CombineKind kind) {
  auto type = cast<RegType>(partial.getType());
  // Two memories by turns: while one is read, the other may be written.
  Exchange *free = llvm::find_if(
      exchanges, [](const Exchange &exchange) { return !exchange.inUse; });
  if (free == std::end(exchanges)) {
    barrier();
    free = exchanges;
  }
  if (!free->memory) {
    int64_t cols = 1;
    for (StringAttr axis : plan.recurrence.getAllAxes())
      if (plan.getPlace(axis) == AxisPlace::Cols)
        cols = std::max(cols, plan.getExtent(axis));
    auto shared = SharedType::get(builder.getContext(), plan.warps, cols,
                                  plan.getComputeType(), /*swizzle=*/0,
                                  /*pad=*/0, /*stages=*/1);
    free->memory = tile::AllocOp::create(entry, loc, shared, IntegerAttr());
  }
  tile::StoreOp::create(builder, loc, partial, free->memory, warp, index(0),
                        Value(), /*transposed=*/false);
  barrier();

  // Every lane reads what the warps have of its own columns.
  // Where these are many, lanes that have the same columns share them out.
  constexpr int64_t mostPartials = 16;
  SmallVector<int64_t> registers(type.getLayout().getRegisters());
  SmallVector<int64_t> lanes(type.getLayout().getLanes());
  int64_t row = 1;
  for (size_t bit = 0; 2 * bit < lanes.size() && row < plan.warps &&
                       plan.warps / row * type.getNumRegisters() > mostPartials;
       ++bit) {
    if (lanes[2 * bit] != 0 || lanes[2 * bit + 1] != 0)
      continue;
    lanes[2 * bit] = row;
    row *= 2;
  }
  for (; row < plan.warps; row *= 2)
    registers.append({row, 0});
  auto layout = tile::LayoutAttr::get(builder.getContext(), lanes, registers);
  auto all = RegType::get(builder.getContext(), plan.warps, type.getCols(),
                          type.getElementType(), layout);
  Value partials =
      tile::LoadOp::create(builder, loc, all, free->memory, index(0), index(0),
                           Value(), /*transposed=*/false);
  free->inUse = true;
  return tile::ReduceOp::create(builder, loc, kind, partials, Dimension::Rows);
}

Value StepTiles::reduceTile(ReductionOpInterface op, const Bindings &bindings,
                            ArrayRef<StringAttr> axes) {
  ReduceKind kind = op.getCombiner();
  SmallVector<StringAttr> space;
  for (StringAttr axis : getSpace(op))
    if (llvm::none_of(bindings,
                      [&](const auto &bound) { return bound.first == axis; }))
      space.push_back(axis);

  FusedMap map(*this, bindings, space);
  for (Value operand : op->getOperands())
    map.computeSums(operand);
  SmallVector<FusedMap::Element> factors, masked;
  for (Value operand : op->getOperands())
    factors.push_back(map.collect(operand));
  for (StringAttr axis : axes)
    if (plan.isPadded(axis))
      masked.push_back(map.addLeaf(getMask(axis)));
  Value tile =
      map.emit([&](OpBuilder &inner,
                   llvm::function_ref<Value(const FusedMap::Element &)> build) {
        Value value = build(factors.front());
        for (const FusedMap::Element &factor : ArrayRef(factors).drop_front())
          value = arith::MulFOp::create(inner, loc, value, build(factor),
                                        arith::FastMathFlags::contract);
        for (const FusedMap::Element &mask : masked)
          value = arith::SelectOp::create(inner, loc, build(mask), value,
                                          number(inner, getNeutral(kind)));
        return value;
      });
  bool overRows = false, overCols = false;
  for (StringAttr axis : axes)
    (plan.getPlace(axis) == AxisPlace::Rows ? overRows : overCols) = true;
  CombineKind combineKind = getCombineKind(kind);
  if (overCols)
    tile = tile::ReduceOp::create(builder, loc, combineKind, tile,
                                  Dimension::Cols);
  if (!overRows)
    return tile;
  tile =
      tile::ReduceOp::create(builder, loc, combineKind, tile, Dimension::Rows);
  return plan.warps > 1 ? exchange(tile, combineKind) : tile;
}

Value StepTiles::reduce(ReductionOpInterface op, const Bindings &bindings,
                        ArrayRef<StringAttr> axes) {
  const auto *loop = llvm::find_if(axes, [&](StringAttr axis) {
    return plan.getPlace(axis) == AxisPlace::Loop;
  });
  if (loop == axes.end())
    return reduceTile(op, bindings, axes);
  StringAttr axis = *loop;
  SmallVector<StringAttr> rest;
  for (StringAttr other : axes)
    if (other != axis)
      rest.push_back(other);
  ReduceKind kind = op.getCombiner();
  SmallVector<StringAttr> free = getFreeAxes(op->getResult(0), bindings);
  prepareOperands(op, bindings, axis);
  Value init = splat(number(builder, getNeutral(kind)), free);
  return loopOver(axis, init,
                  [&](Value at, ValueRange carried) {
                    Bindings inner = bindings;
                    inner.emplace_back(axis, at);
                    Value term = reduce(op, inner, rest);
                    return SmallVector<Value>{
                        tile::MapOp::create(
                            builder, loc, TypeRange(term.getType()),
                            ValueRange{carried[0], term},
                            [&](OpBuilder &nested, Location, ValueRange args) {
                              return SmallVector<Value>{
                                  combine(nested, loc, kind, args[0], args[1])};
                            })
                            ->getResult(0)};
                  })
      .front();
}
