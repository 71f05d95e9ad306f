//===- RegisterOps.cpp - Work within a warp's registers -*- C++ -*- -------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramEmitter.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"

#include <limits>

using namespace mlir;
using namespace larc::tile;

void ProgramEmitter::emitSplat(SplatOp op) {
  Value value = scalars.lookupOrDefault(op.getValue());
  setTile(op.getResult(), Values(op.getType().getNumRegisters(), value));
}

/// The row (or column) of register 0 of this lane: the lane's share.
static Value getLanePart(OpBuilder &builder, Location loc, Value lane,
                         LayoutAttr layout, unsigned dimension) {
  Value sum;
  for (int64_t bit = 0; bit < LayoutAttr::kLaneBits; ++bit) {
    int64_t step = layout.getLanes()[2 * bit + dimension];
    if (step == 0)
      continue;
    Value set = arith::AndIOp::create(
        builder, loc, lane,
        arith::ConstantIndexOp::create(builder, loc, int64_t(1) << bit));
    // The bit is moved to where it counts `step`.
    int64_t shift = static_cast<int64_t>(llvm::Log2_64(step)) - bit;
    Value amount =
        arith::ConstantIndexOp::create(builder, loc, std::abs(shift));
    if (shift > 0)
      set = arith::ShLIOp::create(builder, loc, set, amount);
    else if (shift < 0)
      set = arith::ShRUIOp::create(builder, loc, set, amount);
    sum = sum ? arith::OrIOp::create(builder, loc, sum, set).getResult() : set;
  }
  return sum ? sum
             : arith::ConstantIndexOp::create(builder, loc, 0).getResult();
}

LaneOffsets ProgramEmitter::getLaneOffsets(RegType type, bool transposed) {
  LayoutAttr layout = type.getLayout();
  unsigned rows = transposed ? 1 : 0;
  LaneOffsets offsets;
  offsets.row = getLanePart(builder, loc, lane, layout, rows);
  offsets.col = getLanePart(builder, loc, lane, layout, 1 - rows);
  for (int64_t bit = 0; bit < LayoutAttr::kLaneBits; ++bit)
    offsets.colBits |= layout.getLanes()[2 * bit + 1 - rows];
  return offsets;
}

void ProgramEmitter::emitIndex(IndexOp op) {
  RegType type = op.getType();
  bool rows = op.getDimension() == Dimension::Rows;
  Value own =
      toI32(getLanePart(builder, loc, lane, type.getLayout(), rows ? 0 : 1));
  Values registers;
  for (int64_t reg = 0; reg < type.getNumRegisters(); ++reg) {
    auto [row, col] = type.getElement(/*lane=*/0, reg);
    registers.push_back(add(own, i32(rows ? row : col)));
  }
  setTile(op.getResult(), registers);
}

void ProgramEmitter::emitMap(MapOp op) {
  auto result = cast<RegType>(op.getResult(0).getType());
  SmallVector<Values> operands;
  SmallVector<SmallVector<int64_t>> sources;
  for (Value operand : op.getOperands()) {
    operands.push_back(unpack(operand));
    sources.push_back(
        *getBroadcastMap(cast<RegType>(operand.getType()), result));
  }
  SmallVector<Values> results(op.getNumResults());
  Block &body = op.getBody().front();
  for (int64_t reg = 0; reg < result.getNumRegisters(); ++reg) {
    IRMapping elements = scalars;
    for (auto [argument, values, source] :
         llvm::zip_equal(body.getArguments(), operands, sources))
      elements.map(argument, values[source[reg]]);
    for (Operation &scalar : body.without_terminator())
      builder.clone(scalar, elements);
    for (auto [registers, value] : llvm::zip_equal(
             results, cast<YieldOp>(body.getTerminator()).getValues()))
      registers.push_back(elements.lookupOrDefault(value));
  }
  for (auto [value, registers] : llvm::zip_equal(op.getResults(), results))
    setTile(value, registers);
}

//===----------------------------------------------------------------------===//
// Combining elements
//===----------------------------------------------------------------------===//

Value ProgramEmitter::combine(CombineKind kind, Value lhs, Value rhs) {
  switch (kind) {
  case CombineKind::Sum:
    return arith::AddFOp::create(builder, loc, lhs, rhs);
  case CombineKind::Product:
    return arith::MulFOp::create(builder, loc, lhs, rhs);
  case CombineKind::Max:
    return arith::MaximumFOp::create(builder, loc, lhs, rhs);
  case CombineKind::Min:
    return arith::MinimumFOp::create(builder, loc, lhs, rhs);
  }
  llvm_unreachable("all kinds are handled");
}

Value ProgramEmitter::getNeutral(CombineKind kind, Type type) {
  double number = 0.0;
  if (kind == CombineKind::Product)
    number = 1.0;
  else if (kind == CombineKind::Max)
    number = -std::numeric_limits<double>::infinity();
  else if (kind == CombineKind::Min)
    number = std::numeric_limits<double>::infinity();
  return arith::ConstantOp::create(builder, loc,
                                   builder.getFloatAttr(type, number));
}

Value ProgramEmitter::shuffle(Value value, int64_t laneBit) {
  return shuffle(value, i32(int64_t(1) << laneBit), NVVM::ShflKind::bfly);
}

Value ProgramEmitter::shuffle(Value value, Value from, NVVM::ShflKind kind) {
  // Of 16-bit elements the bits are moved, in the low half of a word.
  Type type = value.getType();
  Value word = value;
  if (type.getIntOrFloatBitWidth() == 16) {
    word = arith::BitcastOp::create(builder, loc, builder.getI16Type(), value);
    word = arith::ExtUIOp::create(builder, loc, builder.getI32Type(), word);
  }
  Value moved = NVVM::ShflOp::create(builder, loc, word.getType(), i32(-1),
                                     word, from, i32(31), kind, UnitAttr());
  if (type.getIntOrFloatBitWidth() != 16)
    return moved;
  moved = arith::TruncIOp::create(builder, loc, builder.getI16Type(), moved);
  return arith::BitcastOp::create(builder, loc, type, moved);
}

void ProgramEmitter::emitReduce(ReduceOp op) {
  RegType type = op.getOperand().getType(), kept = op.getType();
  unsigned along = op.getDimension() == Dimension::Rows ? 0 : 1;
  Values operand = unpack(op.getOperand());
  // Registers first, in their order.
  Values registers(kept.getNumRegisters());
  SmallVector<int64_t> target = *getBroadcastMap(kept, type);
  for (int64_t reg = 0; reg < type.getNumRegisters(); ++reg) {
    Value &sum = registers[target[reg]];
    sum = sum ? combine(op.getKind(), sum, operand[reg]) : operand[reg];
  }
  // Then lanes.
  for (int64_t bit = 0; bit < LayoutAttr::kLaneBits; ++bit) {
    if (type.getLayout().getLanes()[2 * bit + along] == 0)
      continue;
    for (Value &value : registers)
      value = combine(op.getKind(), value, shuffle(value, bit));
  }
  setTile(op.getResult(), registers);
}

namespace {
/// A bit of a lane's or of a register's number that moves along a dimension.
struct StepBit {
  int64_t step, bit;
  bool isLane;
};
} // namespace

/// The bits that move along `dimension`, those of neighbours first.
static SmallVector<StepBit> getSteps(LayoutAttr layout, unsigned dimension) {
  SmallVector<StepBit> steps;
  auto collect = [&](ArrayRef<int64_t> bases, bool isLane) {
    for (size_t bit = 0; 2 * bit < bases.size(); ++bit)
      if (int64_t step = bases[2 * bit + dimension])
        steps.push_back({step, static_cast<int64_t>(bit), isLane});
  };
  collect(layout.getLanes(), true);
  collect(layout.getRegisters(), false);
  llvm::sort(steps, [](const StepBit &lhs, const StepBit &rhs) {
    return lhs.step < rhs.step;
  });
  return steps;
}

/// Scans aligned blocks of 1, 2, 4, ... elements: of each register its prefix
/// within the block, and the total of the block. Then cells, one by one.
void ProgramEmitter::emitScan(ScanOp op) {
  RegType type = op.getType();
  LayoutAttr layout = type.getLayout();
  unsigned along = op.getDimension() == Dimension::Rows ? 0 : 1;
  CombineKind kind = op.getKind();
  bool backward = op.getBackward();
  Values total = unpack(op.getOperand());
  Values prefix = total;
  if (op.getExclusive())
    prefix.assign(total.size(), getNeutral(kind, type.getElementType()));

  int64_t block = op.getBlockSize();
  for (const StepBit &step : getSteps(layout, along)) {
    if (step.step >= block)
      break;
    if (!step.isLane) {
      int64_t mask = int64_t(1) << step.bit;
      for (int64_t first = 0; first < type.getNumRegisters(); ++first) {
        int64_t second = first | mask;
        if (first == second)
          continue;
        int64_t later = backward ? first : second;
        prefix[later] =
            combine(kind, total[first + second - later], prefix[later]);
        total[first] = total[second] =
            combine(kind, total[first], total[second]);
      }
      continue;
    }
    Value bit = arith::AndIOp::create(builder, loc, lane,
                                      index(int64_t(1) << step.bit));
    Value isLater = arith::CmpIOp::create(builder, loc,
                                          backward ? arith::CmpIPredicate::eq
                                                   : arith::CmpIPredicate::ne,
                                          bit, index(0));
    for (size_t reg = 0; reg < total.size(); ++reg) {
      Value other = shuffle(total[reg], step.bit);
      Value joined = combine(kind, other, prefix[reg]);
      prefix[reg] =
          arith::SelectOp::create(builder, loc, isLater, joined, prefix[reg]);
      total[reg] = combine(kind, total[reg], other);
    }
  }

  // Registers of one place in their cells, from cell to cell of a block.
  int64_t perCell = layout.getCellRegisters();
  int64_t cellsPerBlock =
      block / (along == 0 ? layout.getCellRows() : layout.getCellCols());
  int64_t across = type.getCols() / layout.getCellCols();
  int64_t cells = along == 0 ? type.getRows() / layout.getCellRows() : across;
  int64_t lines = type.getNumRegisters() / perCell / cells;
  for (int64_t line = 0; line < lines; ++line) {
    for (int64_t place = 0; place < perCell; ++place) {
      Value carry;
      for (int64_t i = 0; i < cells; ++i) {
        int64_t cell = backward ? cells - 1 - i : i;
        int64_t number =
            along == 0 ? cell * across + line : line * across + cell;
        int64_t reg = number * perCell + place;
        if (cellsPerBlock == 0 || i % cellsPerBlock == 0)
          carry = Value();
        if (carry)
          prefix[reg] = combine(kind, carry, prefix[reg]);
        carry = carry ? combine(kind, carry, total[reg]) : total[reg];
      }
    }
  }
  setTile(op.getResult(), prefix);
}

//===----------------------------------------------------------------------===//
// Moving elements
//===----------------------------------------------------------------------===//

/// The register of `type` in which lane 0 has the element (row, col).
static int64_t findRegister(RegType type, int64_t row, int64_t col) {
  int64_t reg = 0;
  while (type.getElement(/*lane=*/0, reg) != std::pair(row, col))
    ++reg;
  return reg;
}

void ProgramEmitter::emitExchange(ExchangeOp op) {
  RegType type = op.getType();
  unsigned along = op.getDimension() == Dimension::Rows ? 0 : 1;
  auto distance = static_cast<int64_t>(op.getDistance());
  Values operand = unpack(op.getOperand());
  ArrayRef<int64_t> lanes = type.getLayout().getLanes();
  for (int64_t bit = 0; bit < LayoutAttr::kLaneBits; ++bit) {
    if (lanes[2 * bit + along] != distance)
      continue;
    for (Value &value : operand)
      value = shuffle(value, bit);
    setTile(op.getResult(), operand);
    return;
  }
  // A bit of the register's number or of the cell's: the same in all lanes.
  Values registers;
  for (int64_t reg = 0; reg < type.getNumRegisters(); ++reg) {
    auto [row, col] = type.getElement(/*lane=*/0, reg);
    (along == 0 ? row : col) ^= distance;
    registers.push_back(operand[findRegister(type, row, col)]);
  }
  setTile(op.getResult(), registers);
}

void ProgramEmitter::emitPick(PickOp op) {
  RegType from = op.getOperand().getType(), to = op.getType();
  unsigned along = op.getDimension() == Dimension::Rows ? 0 : 1;
  auto number = static_cast<int64_t>(op.getNumber());
  Values operand = unpack(op.getOperand());
  // The lane that has the row: its bits of the row, the others of this lane.
  ArrayRef<int64_t> lanes = from.getLayout().getLanes();
  int64_t ownBits = 0, rowBits = 0, ofLanes = 0;
  for (int64_t bit = 0; bit < LayoutAttr::kLaneBits; ++bit) {
    int64_t step = lanes[2 * bit + along];
    if (step == 0)
      ownBits |= int64_t(1) << bit;
    else if ((number & step) != 0)
      rowBits |= int64_t(1) << bit;
    ofLanes |= step;
  }
  Value source;
  if (ofLanes != 0) {
    source = arith::AndIOp::create(builder, loc, toI32(lane), i32(ownBits));
    source = arith::OrIOp::create(builder, loc, source, i32(rowBits));
  }
  Values registers;
  for (int64_t reg = 0; reg < to.getNumRegisters(); ++reg) {
    auto [row, col] = to.getElement(/*lane=*/0, reg);
    (along == 0 ? row : col) = number & ~ofLanes;
    Value value = operand[findRegister(from, row, col)];
    registers.push_back(source ? shuffle(value, source, NVVM::ShflKind::idx)
                               : value);
  }
  setTile(op.getResult(), registers);
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// bfloat16 is the upper half of float32: of a register with two of them one is
/// masked, the other shifted, which is an instruction each.
Value ProgramEmitter::extendFloat(Value value, Type element) {
  auto extract = value.getDefiningOp<LLVM::ExtractElementOp>();
  APInt position;
  if (!value.getType().isBF16() || !element.isF32() || !extract ||
      extract.getVector().getType() !=
          VectorType::get(2, builder.getBF16Type()) ||
      !matchPattern(extract.getPosition(), m_ConstantInt(&position)))
    return arith::ExtFOp::create(builder, loc, element, value);
  Value word = LLVM::BitcastOp::create(builder, loc, builder.getI32Type(),
                                       extract.getVector());
  if (position.isZero())
    word = LLVM::ShlOp::create(builder, loc, word, i32(16));
  else
    word = LLVM::AndOp::create(builder, loc, word, i32(-65536));
  return LLVM::BitcastOp::create(builder, loc, element, word);
}

void ProgramEmitter::emitConvert(ConvertOp op) {
  RegType from = op.getOperand().getType(), to = op.getType();
  Values operand = unpack(op.getOperand());
  Values registers;
  SmallVector<int64_t> sources = *getRegisterMap(from, to);
  for (int64_t source : sources)
    registers.push_back(operand[source]);
  Type element = to.getElementType();
  if (element == from.getElementType()) {
    setTile(op.getResult(), registers);
    return;
  }
  unsigned bitsFrom = from.getElementType().getIntOrFloatBitWidth();
  unsigned bitsTo = element.getIntOrFloatBitWidth();
  bool isFloat = isa<FloatType>(element);
  auto vector = dyn_cast<VectorType>(getComponentType(to));
  // Two numbers are rounded by one instruction.
  if (isFloat && vector && bitsTo < bitsFrom) {
    RegType wide = to.withElementType(from.getElementType());
    auto wideVector = VectorType::get(2, wide.getElementType());
    Values components;
    for (size_t i = 0; i < registers.size(); i += 2) {
      Value pair = LLVM::PoisonOp::create(builder, loc, wideVector);
      for (size_t j : {0, 1})
        pair = LLVM::InsertElementOp::create(builder, loc, pair,
                                             registers[i + j], i32(j));
      components.push_back(LLVM::FPTruncOp::create(builder, loc, vector, pair));
    }
    tiles[op.getResult()] = components;
    return;
  }
  for (Value &value : registers) {
    if (!isFloat)
      value =
          bitsTo > bitsFrom
              ? arith::ExtSIOp::create(builder, loc, element, value).getResult()
              : arith::TruncIOp::create(builder, loc, element, value)
                    .getResult();
    else if (bitsTo > bitsFrom)
      value = extendFloat(value, element);
    else if (bitsTo < bitsFrom)
      value = arith::TruncFOp::create(builder, loc, element, value);
    else // bf16 and f16
      value = arith::TruncFOp::create(
          builder, loc, element,
          arith::ExtFOp::create(builder, loc, builder.getF32Type(), value));
  }
  setTile(op.getResult(), registers);
}

void ProgramEmitter::emitSlice(SliceOp op) {
  RegType from = op.getOperand().getType(), to = op.getType();
  Values operand = unpack(op.getOperand());
  LayoutAttr layout = from.getLayout();
  int64_t perCell = layout.getCellRegisters();
  int64_t across = from.getCols() / layout.getCellCols();
  int64_t firstRow = static_cast<int64_t>(op.getRow()) / layout.getCellRows();
  int64_t firstCol = static_cast<int64_t>(op.getCol()) / layout.getCellCols();
  Values registers;
  for (int64_t row = 0; row < to.getRows() / layout.getCellRows(); ++row) {
    for (int64_t col = 0; col < to.getCols() / layout.getCellCols(); ++col) {
      int64_t cell = (firstRow + row) * across + firstCol + col;
      for (int64_t reg = 0; reg < perCell; ++reg)
        registers.push_back(operand[cell * perCell + reg]);
    }
  }
  setTile(op.getResult(), registers);
}

void ProgramEmitter::emitConcat(ConcatOp op) {
  LayoutAttr layout = op.getType().getLayout();
  bool alongRows = op.getDimension() == Dimension::Rows;
  // Cells are numbered row after row.
  int64_t lines = alongRows ? 1 : op.getType().getRows() / layout.getCellRows();
  SmallVector<Values> operands;
  for (Value operand : op.getOperands())
    operands.push_back(unpack(operand));
  Values registers;
  for (int64_t line = 0; line < lines; ++line) {
    for (ArrayRef<Value> operand : operands) {
      size_t count = operand.size() / lines;
      llvm::append_range(registers, operand.slice(line * count, count));
    }
  }
  setTile(op.getResult(), registers);
}
