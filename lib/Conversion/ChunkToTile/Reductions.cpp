//===- Reductions.cpp - Reductions over channels --------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoleEmitter.h"

#include <limits>

using namespace mlir;
using namespace larc;

using tile::CombineKind;
using tile::Dimension;
using tile::LayoutAttr;
using tile::SharedType;

std::pair<CombineKind, double> RoleEmitter::getCombination(ReduceKind kind) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (kind) {
  case ReduceKind::Sum:
    return {CombineKind::Sum, 0};
  case ReduceKind::Max:
    return {CombineKind::Max, -infinity};
  case ReduceKind::Min:
    return {CombineKind::Min, infinity};
  }
  llvm_unreachable("an unknown way to combine");
}

Value RoleEmitter::combine(OpBuilder &inner, CombineKind kind, Value lhs,
                           Value rhs) const {
  switch (kind) {
  case CombineKind::Sum:
    return arith::AddFOp::create(inner, loc, lhs, rhs);
  case CombineKind::Product:
    return arith::MulFOp::create(inner, loc, lhs, rhs);
  case CombineKind::Max:
    return arith::MaximumFOp::create(inner, loc, lhs, rhs);
  case CombineKind::Min:
    return arith::MinimumFOp::create(inner, loc, lhs, rhs);
  }
  llvm_unreachable("an unknown way to combine");
}

Value RoleEmitter::reduceOwn(ReductionOpInterface op, StringAttr axis) {
  double neutral = getCombination(op.getCombiner()).second;
  Value tile;
  for (Value operand : op->getOperands()) {
    Value factor = evaluate(operand);
    tile = tile ? product(tile, factor) : factor;
  }
  tile = expand(tile, /*channels=*/true, /*tokens=*/false);
  return selectChannels(tile, axis, neutral);
}

void RoleEmitter::storePartials(ReductionOpInterface op, Value memory) {
  StringAttr axis = op.getReducedAxes().front();
  CombineKind kind = getCombination(op.getCombiner()).first;
  int64_t having = getWarps(axis);
  forPasses(axis, {}, [&](ValueRange) {
    Value partial = tile::ReduceOp::create(
        builder, loc, kind, reduceOwn(op, axis), Dimension::Rows);
    Value row = pass ? add(warp, multiply(pass, having)) : warp;
    onlyWarps(having, [&] { store(partial, memory, row, index(0)); });
    return SmallVector<Value>();
  });
}

/// Every lane reads what the warps have of its own columns.
Value RoleEmitter::combinePartials(ReductionOpInterface op, Value memory) {
  auto type = cast<SharedType>(memory.getType());
  LayoutAttr row = getTileType(false, type.getCols() > 1).getLayout();
  SmallVector<int64_t> registers(row.getRegisters());
  for (int64_t number = 1; number < type.getRows(); number *= 2)
    registers.append({number, 0});
  auto layout =
      LayoutAttr::get(builder.getContext(), row.getLanes(), registers);
  Value all =
      load(memory, index(0), index(0),
           getTileType(type.getRows(), type.getCols(), getF32(), layout));
  return tile::ReduceOp::create(builder, loc,
                                getCombination(op.getCombiner()).first, all,
                                Dimension::Rows);
}

/// Each warp combines its channels; what they have meets in shared memory. With
/// a place for each stage, a warp that goes on to the next chunk writes
/// elsewhere than others may still read.
Value RoleEmitter::evaluateReduction(ReductionOpInterface op) {
  Value &ring = partials[op];
  if (!ring)
    ring = shared.allocateRing({op->getResult(0), Scale::None, {}},
                               ArrayForm::Partials);
  Value memory = getStage(ring, stage);
  storePartials(op, memory);
  barrier();
  return combinePartials(op, memory);
}
