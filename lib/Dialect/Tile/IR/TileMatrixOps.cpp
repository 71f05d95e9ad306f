//===- TileMatrixOps.cpp - Matrix products of the tile dialect -*- C++ -*- ===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace larc::tile;

static bool isHalf(Type type) { return isa<BFloat16Type, Float16Type>(type); }

/// What either product asks of its left operand and accumulators.
static LogicalResult verifyLeft(Operation *op, RegType lhs, RegType acc) {
  if (acc.getLayout() != LayoutAttr::getAcc(op->getContext()) ||
      !acc.getElementType().isF32())
    return op->emitOpError("expected float32 accumulators in their layout, "
                           "found ")
           << acc;
  unsigned bits = lhs.getElementType().getIntOrFloatBitWidth();
  if ((!isHalf(lhs.getElementType()) && !lhs.getElementType().isF32()) ||
      lhs.getLayout() != LayoutAttr::getLhs(op->getContext(), bits))
    return op->emitOpError("expected bf16, f16 or f32 in the layout of left "
                           "operands, found ")
           << lhs;
  if (lhs.getRows() != acc.getRows())
    return op->emitOpError("expected ")
           << acc.getRows() << " rows of the left operand, found "
           << lhs.getRows();
  return success();
}

LogicalResult MmaOp::verify() {
  RegType lhs = getLhs().getType(), rhs = getRhs().getType();
  RegType acc = getAccumulator().getType();
  if (failed(verifyLeft(*this, lhs, acc)))
    return failure();
  if (rhs.getElementType() != lhs.getElementType() ||
      rhs.getLayout() !=
          LayoutAttr::getRhs(getContext(),
                             rhs.getElementType().getIntOrFloatBitWidth()))
    return emitOpError("expected ")
           << lhs.getElementType() << " in the layout of right operands, found "
           << rhs;
  if (rhs.getRows() != lhs.getCols() || rhs.getCols() != acc.getCols())
    return emitOpError("expected a right operand of ")
           << lhs.getCols() << "x" << acc.getCols() << ", found " << rhs;
  return success();
}

LogicalResult MmaRowsOp::verify() {
  RegType lhs = getLhs().getType(), rhs = getRhs().getType();
  RegType acc = getAccumulator().getType();
  for (RegType type : {lhs, rhs, acc})
    if (type.getLayout() != LayoutAttr::getAcc(getContext()) ||
        !type.getElementType().isF32())
      return emitOpError("expected float32 in the layout of accumulators, "
                         "found ")
             << type;
  if (lhs.getCols() != rhs.getCols())
    return emitOpError("expected operands of as many columns, found ")
           << lhs << " and " << rhs;
  if (acc.getRows() != lhs.getRows() || acc.getCols() != rhs.getRows())
    return emitOpError("expected accumulators of ")
           << lhs.getRows() << "x" << rhs.getRows() << ", found " << acc;
  return success();
}

//===----------------------------------------------------------------------===//
// Products of four warps
//===----------------------------------------------------------------------===//

static RegType getTileOf(Type type) {
  if (auto flight = dyn_cast<FlightType>(type))
    return flight.getTile();
  return dyn_cast<RegType>(type);
}

void WgmmaOp::build(OpBuilder &builder, OperationState &state,
                    Value accumulator, Value lhs, Value rhs, Value row,
                    Value col, bool transposed) {
  build(builder, state,
        FlightType::get(builder.getContext(), getTileOf(accumulator.getType())),
        accumulator, lhs, /*lhsRow=*/Value(), /*lhsCol=*/Value(), rhs, row, col,
        /*depth=*/IntegerAttr(),
        transposed ? builder.getUnitAttr() : UnitAttr());
}

LogicalResult WgmmaOp::inferReturnTypes(MLIRContext *context,
                                        std::optional<Location>,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  RegType tile = getTileOf(adaptor.getAccumulator().getType());
  if (!tile)
    return failure();
  types.push_back(FlightType::get(context, tile));
  return success();
}

RegType WgmmaOp::getTile() { return getType().getTile(); }

int64_t WgmmaOp::getContraction() {
  if (auto lhs = dyn_cast<RegType>(getLhs().getType()))
    return lhs.getCols();
  return *getDepth();
}

LogicalResult WgmmaOp::verify() {
  RegType acc = getTile();
  SharedType rhs = getRhs().getType();
  Type element;
  if (auto lhs = dyn_cast<RegType>(getLhs().getType())) {
    if (getLhsRow() || getDepth())
      return emitOpError("a left operand in registers has no place in memory");
    if (failed(verifyLeft(*this, lhs, acc)))
      return failure();
    element = lhs.getElementType();
  } else {
    auto shared = cast<SharedType>(getLhs().getType());
    if (!getLhsRow() || !getLhsCol() || !getDepth())
      return emitOpError("a left operand in shared memory needs its place and "
                         "its depth");
    if (shared.getStages() != 1 || shared.getSwizzle() == 0)
      return emitOpError("expected one stage of a swizzled matrix, found ")
             << shared;
    element = shared.getElementType();
  }
  if (!isHalf(element))
    return emitOpError("expected operands of type bf16 or f16, found ")
           << element;
  if (rhs.getElementType() != element)
    return emitOpError("expected a right operand of type ")
           << element << ", found " << rhs;
  if (rhs.getStages() != 1 || rhs.getSwizzle() == 0)
    return emitOpError("expected one stage of a swizzled matrix, found ")
           << rhs;
  if (acc.getRows() != 16)
    return emitOpError("expected 16 rows of accumulators in each warp, found ")
           << acc.getRows();
  if (acc.getCols() % 8 != 0 || acc.getCols() > 256)
    return emitOpError("expected at most 256 columns, found ") << acc.getCols();
  int64_t depth = getContraction();
  if (depth <= 0 || depth % 16 != 0)
    return emitOpError("expected a multiple of 16 products to sum, found ")
           << depth;
  int64_t rows = getTransposed() ? acc.getCols() : depth;
  int64_t cols = getTransposed() ? depth : acc.getCols();
  if (rows > rhs.getRows() || cols > rhs.getCols())
    return emitOpError("expected a right operand of at least ")
           << rows << "x" << cols << ", found " << rhs;
  return success();
}

LogicalResult WgmmaWaitOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  for (Value tile : adaptor.getTiles()) {
    auto flight = dyn_cast<FlightType>(tile.getType());
    if (!flight)
      return failure();
    types.push_back(flight.getTile());
  }
  return success();
}
