//===- Products.cpp - The matrix units -*- C++ -*- ------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramEmitter.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace larc::tile;

//===----------------------------------------------------------------------===//
// A warp's products
//===----------------------------------------------------------------------===//

/// Adds one instruction's product to `sums`. A word has two 16-bit numbers, or
/// one.
static void addProduct(OpBuilder &builder, Location loc, Type element,
                       ArrayRef<Value> left, ArrayRef<Value> right,
                       MutableArrayRef<Value> sums) {
  bool isTf32 = element.isF32(), isF16 = element.isF16();
  // As the instruction takes them.
  auto toWords = [&](ArrayRef<Value> components) {
    Values words;
    for (Value value : components)
      words.push_back(isF16 ? value
                            : LLVM::BitcastOp::create(
                                  builder, loc, builder.getI32Type(), value)
                                  .getResult());
    return words;
  };
  auto types = std::array<NVVM::MMATypes, 2>();
  types.fill(isTf32  ? NVVM::MMATypes::tf32
             : isF16 ? NVVM::MMATypes::f16
                     : NVVM::MMATypes::bf16);
  auto layouts = std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                                NVVM::MMALayout::col};
  Type f32 = builder.getF32Type();
  Type result = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                                 {f32, f32, f32, f32});
  Value product = NVVM::MmaOp::create(
      builder, loc, result, toWords(left), toWords(right), ValueRange(sums),
      ArrayRef<int64_t>{16, 8, isTf32 ? 8 : 16}, /*b1Op=*/std::nullopt,
      /*intOverflow=*/std::nullopt, types, layouts);
  for (auto [i, sum] : llvm::enumerate(sums))
    sum = LLVM::ExtractValueOp::create(builder, loc, product,
                                       static_cast<int64_t>(i));
}

void ProgramEmitter::emitMma(MmaOp op) {
  RegType lhs = op.getLhs().getType();
  RegType acc = op.getType();
  Type element = lhs.getElementType();
  int64_t depth = element.isF32() ? 8 : 16;
  Values a = tiles.at(op.getLhs()), b = tiles.at(op.getRhs());
  Values c = tiles.at(op.getAccumulator());
  int64_t steps = lhs.getCols() / depth, blocks = acc.getCols() / 8;
  for (int64_t row = 0; row < acc.getRows() / 16; ++row) {
    for (int64_t col = 0; col < blocks; ++col) {
      MutableArrayRef<Value> sums =
          MutableArrayRef<Value>(c).slice((row * blocks + col) * 4, 4);
      for (int64_t step = 0; step < steps; ++step)
        addProduct(builder, loc, element,
                   ArrayRef<Value>(a).slice((row * steps + step) * 4, 4),
                   ArrayRef<Value>(b).slice((step * blocks + col) * 2, 2),
                   sums);
    }
  }
  tiles[op.getResult()] = c;
}

/// A cell of accumulators is an operand as it lies if column 2t of it counts as
/// the instruction's t, and column 2t + 1 as its t + 4: the order of what is
/// summed does not matter, as long as both operands have the same.
void ProgramEmitter::emitMmaRows(MmaRowsOp op) {
  RegType lhs = op.getLhs().getType(), acc = op.getType();
  Values a = tiles.at(op.getLhs()), b = tiles.at(op.getRhs());
  Values c = tiles.at(op.getAccumulator());
  int64_t steps = lhs.getCols() / 8, blocks = acc.getCols() / 8;
  for (int64_t row = 0; row < acc.getRows() / 16; ++row) {
    for (int64_t col = 0; col < blocks; ++col) {
      MutableArrayRef<Value> sums =
          MutableArrayRef<Value>(c).slice((row * blocks + col) * 4, 4);
      for (int64_t step = 0; step < steps; ++step) {
        // Rows g and g + 8 of the left cell, of columns 2t and 2t + 1.
        ArrayRef<Value> left =
            ArrayRef<Value>(a).slice((row * steps + step) * 4, 4);
        // A cell has the rows of two instructions.
        ArrayRef<Value> right = ArrayRef<Value>(b).slice(
            (col / 2 * steps + step) * 4 + col % 2 * 2, 2);
        addProduct(builder, loc, builder.getF32Type(),
                   {left[0], left[2], left[1], left[3]}, right, sums);
      }
    }
  }
  tiles[op.getResult()] = c;
}

//===----------------------------------------------------------------------===//
// Products of four warps
//===----------------------------------------------------------------------===//

/// The descriptor of the operand's part for one step of 16 products: where it
/// starts, how far apart its groups of 8 rows are, and how it is swizzled (PTX
/// ISA, "matrix descriptor"). `depthAcross`: what is summed over runs along the
/// rows of the shared matrix.
Value ProgramEmitter::getDescriptor(SharedType type, Value matrix, Value row,
                                    Value col, bool depthAcross, int64_t step) {
  int64_t swizzle = type.getSwizzle();
  int64_t panel = type.getRows() * swizzle;
  LaneOffsets none = {index(0), index(0), 0};
  int64_t addRow = depthAcross ? 0 : 16 * step;
  int64_t addCol = depthAcross ? 16 * step : 0;
  // Whole panels and groups of 8 rows further the pattern is the same, so that
  // steps differ by a constant.
  int64_t bytes = type.getElementType().getIntOrFloatBitWidth() / 8;
  int64_t perPanel = swizzle / bytes;
  int64_t further = 0;
  if (getKnownDivisor(col) % perPanel == 0 && getKnownDivisor(row) % 8 == 0) {
    further = addRow * swizzle + addCol / perPanel * panel +
              addCol % perPanel * bytes;
    addRow = addCol = 0;
  }
  Value address =
      getSharedAddress(type, matrix, row, col, none, addRow, addCol);
  Value start =
      LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(), address);
  start = arith::ShRUIOp::create(builder, loc, start, i32(4));
  start = arith::AndIOp::create(builder, loc, start, i32(0x3fff));
  Value low = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), start);
  // The stride between panels counts where the operand runs over several of
  // them in the direction that is not summed over.
  int64_t leading = depthAcross ? 1 : panel / 16;
  int64_t stride = 8 * swizzle / 16;
  int64_t mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : 3;
  int64_t rest = static_cast<int64_t>(static_cast<uint64_t>(leading) << 16 |
                                      static_cast<uint64_t>(stride) << 32 |
                                      static_cast<uint64_t>(mode) << 62);
  Value descriptor = arith::OrIOp::create(
      builder, loc, low, arith::ConstantIntOp::create(builder, loc, rest, 64));
  return arith::AddIOp::create(
      builder, loc, descriptor,
      arith::ConstantIntOp::create(builder, loc, further / 16, 64));
}

void ProgramEmitter::emitWgmma(WgmmaOp op) {
  RegType acc = op.getTile();
  SharedType rhs = op.getRhs().getType();
  Values sums = tiles.at(op.getAccumulator());
  bool inRegisters = isa<RegType>(op.getLhs().getType());
  StringRef element = rhs.getElementType().isF16() ? "f16" : "bf16";
  Value row = scalars.lookupOrDefault(op.getRow());
  Value col = scalars.lookupOrDefault(op.getCol());
  Value matrix = scalars.lookupOrDefault(op.getRhs());
  Type i32Type = builder.getI32Type();

  size_t count = sums.size();
  std::string text, constraints;
  llvm::raw_string_ostream stream(text), list(constraints);
  stream << "{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned."
         << "m64n" << acc.getCols() << "k16.f32." << element << "." << element
         << " {";
  for (size_t i = 0; i < count; ++i)
    stream << (i == 0 ? "" : ", ") << "$" << i;
  stream << "}, ";
  // The tied inputs are numbered behind the results.
  size_t next = 2 * count;
  if (inRegisters) {
    stream << "{";
    for (size_t i = 0; i < 4; ++i)
      stream << (i == 0 ? "" : ", ") << "$" << next++;
    stream << "}, ";
  } else {
    stream << "$" << next++ << ", ";
  }
  stream << "$" << next << ", p, 1, 1, ";
  if (!inRegisters)
    stream << "0, ";
  stream << (op.getTransposed() ? 0 : 1) << "; }";
  for (size_t i = 0; i < count; ++i)
    list << "=f,";
  for (size_t i = 0; i < count; ++i)
    list << i << ",";
  list << (inRegisters ? "r,r,r,r,l" : "l,l");

  for (int64_t step = 0; step < op.getContraction() / 16; ++step) {
    Values operands = sums;
    if (inRegisters) {
      for (Value pair :
           ArrayRef<Value>(tiles.at(op.getLhs())).slice(4 * step, 4))
        operands.push_back(
            LLVM::BitcastOp::create(builder, loc, i32Type, pair));
    } else {
      operands.push_back(getDescriptor(cast<SharedType>(op.getLhs().getType()),
                                       scalars.lookupOrDefault(op.getLhs()),
                                       scalars.lookupOrDefault(op.getLhsRow()),
                                       scalars.lookupOrDefault(op.getLhsCol()),
                                       /*depthAcross=*/true, step));
    }
    operands.push_back(
        getDescriptor(rhs, matrix, row, col, op.getTransposed(), step));
    sums = assembly(text, constraints, operands,
                    SmallVector<Type>(count, builder.getF32Type()));
  }
  tiles[op.getResult()] = sums;
}

void ProgramEmitter::emitWgmmaWait(WgmmaWaitOp op) {
  // The accumulators pass through the wait, so that nothing that uses them can
  // be moved before it.
  Values sums;
  for (Value tile : op.getTiles())
    llvm::append_range(sums, tiles.at(tile));
  std::string text, constraints;
  llvm::raw_string_ostream stream(text), list(constraints);
  stream << "wgmma.wait_group.sync.aligned " << op.getPending() << ";";
  for (size_t i = 0; i < sums.size(); ++i)
    list << "=f,";
  for (size_t i = 0; i < sums.size(); ++i)
    list << i << ",";
  list << "~{memory}";
  Values waited =
      assembly(text, constraints, sums,
               SmallVector<Type>(sums.size(), builder.getF32Type()));
  bind(op.getResults(), waited);
}
