//===- TileMatrixUnit.cpp - Matrix products on a CPU ------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product of the matrix unit is computed when it is started, and given out
// when it was waited for. Everything that it uses is marked in the meantime.
//
//===----------------------------------------------------------------------===//

#include "TileMachine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace larc;
using namespace larc::tile;
using namespace larc::tilerun;

/// Rows that each warp has of a product of four.
static constexpr int64_t kRows = 16;

/// A float32 as the matrix unit reads it: without the last 13 bits.
static float truncateToTf32(float value) {
  return llvm::bit_cast<float>(llvm::bit_cast<uint32_t>(value) & ~0x1fffu);
}

std::vector<float> TileMachine::getMatrix(RegType type,
                                          const Elements &elements) {
  std::vector<float> matrix(type.getRows() * type.getCols());
  bool isSingle = type.getElementType().isF32();
  for (auto [place, element] :
       llvm::zip_equal(getGeometry(type).places, elements)) {
    auto value = static_cast<float>(element.real);
    matrix[place.first * type.getCols() + place.second] =
        isSingle ? truncateToTf32(value) : value;
  }
  return matrix;
}

void TileMachine::addProduct(RegType type, ArrayRef<float> lhs,
                             ArrayRef<float> rhs, int64_t depth,
                             Elements &sums) {
  int64_t rows = type.getRows(), cols = type.getCols();
  const Geometry &geometry = getGeometry(type);
  std::vector<float> matrix(rows * cols);
  for (auto [place, sum] : llvm::zip_equal(geometry.places, sums))
    matrix[place.first * cols + place.second] = static_cast<float>(sum.real);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t k = 0; k < depth; ++k)
      for (int64_t j = 0; j < cols; ++j)
        matrix[i * cols + j] += lhs[i * depth + k] * rhs[k * cols + j];
  for (auto [place, sum] : llvm::zip_equal(geometry.places, sums))
    sum.real = matrix[place.first * cols + place.second];
  statistics.multiplications += rows * cols * depth;
}

static std::vector<float> transpose(ArrayRef<float> matrix, int64_t rows,
                                    int64_t cols) {
  std::vector<float> result(matrix.size());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j)
      result[j * rows + i] = matrix[i * cols + j];
  return result;
}

template <typename MmaT>
LogicalResult TileMachine::multiply(Warp &warp, MmaT op, bool transposed) {
  const Registers *lhs = getTile(warp, op, op.getLhs());
  const Registers *rhs = lhs ? getTile(warp, op, op.getRhs()) : nullptr;
  const Registers *sums =
      rhs ? getTile(warp, op, op.getAccumulator()) : nullptr;
  if (!sums)
    return failure();
  Elements result = sums->elements;
  RegType left = op.getLhs().getType(), right = op.getRhs().getType();
  std::vector<float> matrix = getMatrix(right, rhs->elements);
  if (transposed)
    matrix = transpose(matrix, right.getRows(), right.getCols());
  addProduct(op.getAccumulator().getType(), getMatrix(left, lhs->elements),
             matrix, left.getCols(), result);
  setTile(warp, op, std::move(result));
  return success();
}

LogicalResult TileMachine::runMma(Warp &warp, MmaOp op) {
  return multiply(warp, op, /*transposed=*/false);
}

LogicalResult TileMachine::runMmaRows(Warp &warp, MmaRowsOp op) {
  return multiply(warp, op, /*transposed=*/true);
}

//===----------------------------------------------------------------------===//
// Products of four warps
//===----------------------------------------------------------------------===//

LogicalResult TileMachine::checkFenced(Warp &warp, Operation *op,
                                       const Registers &registers) {
  if (warp.fenceStep >= 0 && registers.step <= warp.fenceStep)
    return success();
  return op->emitOpError("expected a tile.wgmma_fence after its registers were "
                         "written");
}

LogicalResult TileMachine::takeAccumulators(Warp &warp, WgmmaOp op,
                                            Product &product) {
  Slot &slot = getSlot(warp, op.getAccumulator());
  if (isa<FlightType>(op.getAccumulator().getType())) {
    if (slot.product->taken)
      return op.emitOpError("its accumulators were given to another operation");
    slot.product->taken = true;
    product.sums = slot.product->sums;
    product.accumulators = slot.product->accumulators;
    return success();
  }
  const Registers *registers = getTile(warp, op, op.getAccumulator());
  if (!registers || failed(checkFenced(warp, op, *registers)))
    return failure();
  product.sums = registers->elements;
  // Copies of a splat are made for each product.
  if (registers->equal)
    return success();
  product.accumulators = slot.registers;
  product.accumulators->inFlight = true;
  return success();
}

LogicalResult TileMachine::joinProduct(Warp &warp, WgmmaOp op) {
  if (warps.size() % 4 != 0)
    return op.emitOpError("needs four warps, found a block of ")
           << warps.size();
  Joint joint{op, {}};
  for (Value value : {op.getLhsRow(), op.getLhsCol(), op.getRow(), op.getCol()})
    joint.numbers.push_back(value ? getInteger(warp, value) : 0);
  joint.numbers.push_back(getSlot(warp, op.getRhs()).memory);
  if (isa<SharedType>(op.getLhs().getType()))
    joint.numbers.push_back(getSlot(warp, op.getLhs()).memory);

  std::vector<Joint> &joints = products[warp.number / 4];
  auto number = static_cast<size_t>(warp.products++);
  if (number == joints.size()) {
    joints.push_back(std::move(joint));
  } else if (joints[number].op != joint.op ||
             joints[number].numbers != joint.numbers) {
    InFlightDiagnostic error =
        op.emitOpError("warp ")
        << warp.number << " does not start the product that the other three do";
    error.attachNote(joints[number].op->getLoc()) << "another warp's product";
    return error;
  }
  ++joints[number].warps;
  return success();
}

LogicalResult TileMachine::readMatrix(Warp &warp, Operation *op, Value memory,
                                      int64_t row, int64_t col, int64_t rows,
                                      int64_t cols, std::vector<float> &matrix,
                                      Product &product) {
  auto type = cast<SharedType>(memory.getType());
  int64_t base = getSlot(warp, memory).memory;
  if (row < 0 || col < 0 || row + rows > type.getRows() ||
      col + cols > type.getCols())
    return op->emitOpError("reads ")
           << rows << "x" << cols << " elements from row " << row << ", column "
           << col << ", outside of " << type;
  Format format = *getFormat(type.getElementType());
  matrix.clear();
  for (int64_t i = row; i < row + rows; ++i) {
    for (int64_t j = col; j < col + cols; ++j) {
      char data[sizeof(Element)];
      if (Fault fault =
              shared->readHeld(warp.number, base + type.getOffset(i, j),
                               format.bits / 8, data, product.held))
        return op->emitOpError(*fault)
               << " (row " << i << ", column " << j << ")";
      matrix.push_back(static_cast<float>(readElement(format, data).real));
    }
  }
  return success();
}

LogicalResult TileMachine::runWgmma(Warp &warp, WgmmaOp op) {
  auto product = std::make_shared<Product>();
  if (failed(joinProduct(warp, op)) ||
      failed(takeAccumulators(warp, op, *product)))
    return failure();
  RegType type = op.getTile();
  int64_t depth = op.getContraction(), cols = type.getCols();

  std::vector<float> lhs, rhs;
  if (auto left = dyn_cast<RegType>(op.getLhs().getType())) {
    const Registers *registers = getTile(warp, op, op.getLhs());
    if (!registers || failed(checkFenced(warp, op, *registers)))
      return failure();
    lhs = getMatrix(left, registers->elements);
  } else if (failed(readMatrix(warp, op, op.getLhs(),
                               getInteger(warp, op.getLhsRow()) +
                                   warp.number % 4 * kRows,
                               getInteger(warp, op.getLhsCol()), kRows, depth,
                               lhs, *product))) {
    return failure();
  }
  int64_t row = getInteger(warp, op.getRow());
  int64_t col = getInteger(warp, op.getCol());
  bool transposed = op.getTransposed();
  if (failed(readMatrix(warp, op, op.getRhs(), row, col,
                        transposed ? cols : depth, transposed ? depth : cols,
                        rhs, *product)))
    return failure();
  if (transposed)
    rhs = transpose(rhs, cols, depth);
  addProduct(type, lhs, rhs, depth, product->sums);
  warp.openProducts.push_back(product);
  getSlot(warp, op).product = std::move(product);
  return success();
}

LogicalResult TileMachine::runWgmmaWait(Warp &warp, WgmmaWaitOp op) {
  auto pending = static_cast<size_t>(op.getPending());
  while (warp.productGroups.size() > pending) {
    for (ProductRef &product : warp.productGroups.front()) {
      product->complete = true;
      shared->release(warp.number, product->held);
    }
    warp.productGroups.erase(warp.productGroups.begin());
  }
  for (auto [tile, result] : llvm::zip_equal(op.getTiles(), op.getResults())) {
    ProductRef product = getSlot(warp, tile).product;
    if (!product->committed)
      return op.emitOpError("waits for a product that was not committed");
    if (!product->complete)
      return op.emitOpError("asks for accumulators of a product that still "
                            "runs");
    if (product->taken)
      return op.emitOpError("its accumulators were given to another operation");
    product->taken = true;
    if (product->accumulators)
      product->accumulators->inFlight = false;
    setTile(warp, result, std::move(product->sums));
    // The matrix unit wrote them, and needs no fence to go on with them.
    getSlot(warp, result).registers->step = 0;
  }
  return success();
}
