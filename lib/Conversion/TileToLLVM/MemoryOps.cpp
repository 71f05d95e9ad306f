//===- MemoryOps.cpp - Loads, stores and copies -*- C++ -*- ---------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramEmitter.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

#include <numeric>

using namespace mlir;
using namespace larc::tile;

/// The bits of a number or of a vector of numbers.
static int64_t getBits(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.getElementTypeBitWidth() * vector.getNumElements();
  return type.getIntOrFloatBitWidth();
}

static int64_t getBytes(Type element) {
  return element.getIntOrFloatBitWidth() / 8;
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

void ProgramEmitter::placeShared() {
  auto allocate = [&](Operation *op, int64_t offset, int64_t bytes) {
    sharedPlaces[op] = offset;
    sharedBytes = std::max(sharedBytes, offset + bytes);
  };
  auto align = [&](int64_t alignment) {
    return static_cast<int64_t>(llvm::alignTo(sharedBytes, alignment));
  };
  // What has its place already comes first: the others stand behind it.
  program.walk([&](AllocOp op) {
    if (op.getOffset())
      allocate(op, static_cast<int64_t>(*op.getOffset()),
               op.getType().getBytes());
  });
  program.walk([&](AllocOp op) {
    if (!op.getOffset())
      allocate(op, align(op.getType().getAlignment()), op.getType().getBytes());
  });
  program.walk([&](AllocPhasesOp op) {
    allocate(op, align(PhasesType::kBarrierBytes), op.getType().getBytes());
  });
}

/// Division of numbers below 2^31 whose quotient is below 2^20: by a reciprocal
/// that errs by one at most. Addresses of operands wait for it.
Value ProgramEmitter::divideSmall(Value number, Value divisor) {
  Type f32 = builder.getF32Type(), i32Type = builder.getI32Type();
  Value inverse = NVVM::RcpApproxFtzF32Op::create(
      builder, loc, f32,
      arith::SIToFPOp::create(builder, loc, f32, divisor).getResult());
  Value guess = arith::FPToSIOp::create(
      builder, loc, i32Type,
      arith::MulFOp::create(builder, loc,
                            arith::SIToFPOp::create(builder, loc, f32, number),
                            inverse));
  Value rest = arith::SubIOp::create(
      builder, loc, number,
      arith::MulIOp::create(builder, loc, guess, divisor));
  auto compare = [&](arith::CmpIPredicate predicate, Value than) -> Value {
    return arith::CmpIOp::create(builder, loc, predicate, rest, than);
  };
  Value less = arith::SubIOp::create(builder, loc, guess, i32(1));
  Value more = arith::AddIOp::create(builder, loc, guess, i32(1));
  guess = arith::SelectOp::create(
      builder, loc, compare(arith::CmpIPredicate::sge, divisor), more, guess);
  return arith::SelectOp::create(
      builder, loc, compare(arith::CmpIPredicate::slt, i32(0)), less, guess);
}

void ProgramEmitter::emitAlloc(AllocOp op) {
  Value matrix = LLVM::GEPOp::create(
      builder, loc, sharedBase.getType(), builder.getI8Type(), sharedBase,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(sharedPlaces.lookup(op))});
  scalars.map(op.getResult(), matrix);
}

void ProgramEmitter::emitStage(StageOp op) {
  auto ring = cast<SharedType>(op.getRing().getType());
  Value offset = toI32(
      multiply(scalars.lookupOrDefault(op.getIndex()), ring.getStageBytes()));
  Value matrix = LLVM::GEPOp::create(
      builder, loc, sharedBase.getType(), builder.getI8Type(),
      scalars.lookupOrDefault(op.getRing()), ArrayRef<LLVM::GEPArg>{offset});
  scalars.map(op.getResult(), matrix);
}

Value ProgramEmitter::getSharedAddress(SharedType type, Value matrix, Value row,
                                       Value col, const LaneOffsets &lane,
                                       int64_t addRow, int64_t addCol) {
  int64_t bytes = getBytes(type.getElementType());
  auto at = [&](Value offset) -> Value {
    return LLVM::GEPOp::create(builder, loc, matrix.getType(),
                               builder.getI8Type(), matrix,
                               ArrayRef<LLVM::GEPArg>{toI32(offset)});
  };
  if (type.getSwizzle() == 0) {
    int64_t pitch = (type.getCols() + type.getPad()) * bytes;
    Value offset = add(multiply(add(row, lane.row), pitch),
                       multiply(add(col, lane.col), bytes));
    return at(add(offset, index(addRow * pitch + addCol * bytes)));
  }
  // A constant column counts with the register's: its bits are fixed.
  int64_t swizzle = type.getSwizzle(), perPanel = swizzle / bytes;
  int64_t panelBytes = type.getRows() * swizzle;
  APInt constant;
  if (matchPattern(col, m_ConstantInt(&constant))) {
    addCol += constant.getSExtValue();
    col = index(0);
  }
  Value rows = add(row, lane.row);
  // 8 rows further, the pattern is the same.
  int64_t fixedRow = addRow / 8 * 8;
  rows = add(rows, index(addRow - fixedRow));
  int64_t fixedCol = 0;
  if ((lane.colBits & (addCol % perPanel)) == 0 &&
      getKnownDivisor(col) % perPanel == 0) {
    fixedCol = addCol;
    addCol = 0;
  }
  Value cols = add(add(col, lane.col), index(addCol));
  Value panel = arith::DivUIOp::create(builder, loc, cols, index(perPanel));
  Value within = arith::RemUIOp::create(builder, loc, cols, index(perPanel));
  Value line = arith::AndIOp::create(builder, loc, rows, index(7));
  line = arith::ShRUIOp::create(builder, loc, line,
                                index(swizzle == 128  ? 0
                                      : swizzle == 64 ? 1
                                                      : 2));
  Value pattern = multiply(line, 16);
  Value across = multiply(within, bytes);
  across = arith::XOrIOp::create(builder, loc, across, pattern);
  // The bits of the fixed columns are no others' and are turned over likewise.
  int64_t fixedAcross = fixedCol % perPanel * bytes;
  across = arith::XOrIOp::create(builder, loc, across, index(fixedAcross));
  Value offset =
      add(add(multiply(panel, panelBytes), multiply(rows, swizzle)), across);
  return at(add(offset,
                index(fixedRow * swizzle + fixedCol / perPanel * panelBytes)));
}

Value ProgramEmitter::getGlobalAddress(const GlobalMatrix &matrix, Type element,
                                       Value row, Value col) {
  Value offset =
      arith::MulIOp::create(builder, loc, toI64(row), matrix.rowStride);
  offset = arith::AddIOp::create(builder, loc, offset, toI64(col));
  return LLVM::GEPOp::create(builder, loc, matrix.base.getType(), element,
                             matrix.base, ArrayRef<LLVM::GEPArg>{offset});
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

SmallVector<int64_t> ProgramEmitter::getVectorBits(RegType type, Type memory,
                                                   Value col, bool transposed) {
  int64_t bytes = getBytes(type.getElementType());
  ArrayRef<int64_t> registers = type.getLayout().getRegisters();
  unsigned contiguous = transposed ? 0 : 1;
  int64_t limit = 16 / bytes;
  // Every row starts at a multiple of this many elements.
  if (auto shared = dyn_cast<SharedType>(memory)) {
    if (shared.getSwizzle() == 0)
      limit = std::gcd(limit, shared.getCols() + shared.getPad());
  } else {
    limit = std::gcd(limit, cast<GlobalType>(memory).getCols());
  }
  limit = std::gcd(limit, getKnownDivisor(col));
  SmallVector<int64_t> bits;
  for (int64_t width = 1; 2 * width <= limit; width *= 2) {
    size_t bit = 0;
    while (2 * bit < registers.size() &&
           (registers[2 * bit + contiguous] != width ||
            registers[2 * bit + 1 - contiguous] != 0))
      ++bit;
    if (2 * bit >= registers.size())
      break;
    bits.push_back(static_cast<int64_t>(bit));
  }
  return bits;
}

/// How assembly names the memory of `address`.
static StringRef getSpace(Value address) {
  auto type = cast<LLVM::LLVMPointerType>(address.getType());
  return type.getAddressSpace() == 3 ? "shared" : "global";
}

Value ProgramEmitter::loadVector(Value address, Type type, Value predicate) {
  int64_t bits = getBits(type);
  if (!predicate)
    return LLVM::LoadOp::create(builder, loc, type, address,
                                static_cast<unsigned>(bits / 8));
  // What is not there reads as zero, and its address is not touched.
  if (bits == 16) {
    Value word =
        assembly(("{ .reg .pred p; setp.ne.b32 p, $2, 0; mov.b16 $0, 0; "
                  "@p ld." +
                  getSpace(address) + ".b16 $0, [$1]; }")
                     .str(),
                 "=h,l,r,~{memory}", {address, predicate}, builder.getI16Type())
            .front();
    return LLVM::BitcastOp::create(builder, loc, type, word);
  }
  int64_t words = bits / 32;
  std::string text, constraints;
  llvm::raw_string_ostream stream(text), list(constraints);
  stream << "{ .reg .pred p; setp.ne.b32 p, $" << words + 1 << ", 0; ";
  for (int64_t i = 0; i < words; ++i) {
    stream << "mov.b32 $" << i << ", 0; ";
    list << "=r,";
  }
  stream << "@p ld." << getSpace(address) << "."
         << (words == 1   ? "b32 "
             : words == 2 ? "v2.b32 {"
                          : "v4.b32 {");
  for (int64_t i = 0; i < words; ++i)
    stream << (i == 0 ? "" : ", ") << "$" << i;
  stream << (words == 1 ? "" : "}") << ", [$" << words << "]; }";
  list << "l,r,~{memory}";
  Values loaded = assembly(text, constraints, {address, predicate},
                           SmallVector<Type>(words, builder.getI32Type()));
  if (words == 1)
    return LLVM::BitcastOp::create(builder, loc, type, loaded.front());
  auto vector = VectorType::get(words, builder.getI32Type());
  Value joined = LLVM::PoisonOp::create(builder, loc, vector);
  for (auto [i, word] : llvm::enumerate(loaded))
    joined = LLVM::InsertElementOp::create(builder, loc, joined, word,
                                           i32(static_cast<int64_t>(i)));
  return LLVM::BitcastOp::create(builder, loc, type, joined);
}

void ProgramEmitter::storeVector(Value address, Value value, Value predicate) {
  Type type = value.getType();
  int64_t bits = getBits(type);
  if (!predicate) {
    LLVM::StoreOp::create(builder, loc, value, address,
                          static_cast<unsigned>(bits / 8));
    return;
  }
  if (bits == 16) {
    Value word =
        LLVM::BitcastOp::create(builder, loc, builder.getI16Type(), value);
    assembly(("{ .reg .pred p; setp.ne.b32 p, $1, 0; @p st." +
              getSpace(address) + ".b16 [$0], $2; }")
                 .str(),
             "l,r,h,~{memory}", {address, predicate, word}, {});
    return;
  }
  int64_t words = bits / 32;
  std::string text, constraints = "l,r";
  llvm::raw_string_ostream stream(text), list(constraints);
  stream << "{ .reg .pred p; setp.ne.b32 p, $1, 0; @p st." << getSpace(address)
         << "."
         << (words == 1   ? "b32 [$0], "
             : words == 2 ? "v2.b32 [$0], {"
                          : "v4.b32 [$0], {");
  Values operands = {address, predicate};
  Value joined = value;
  if (words > 1)
    joined = LLVM::BitcastOp::create(
        builder, loc, VectorType::get(words, builder.getI32Type()), value);
  else
    joined = LLVM::BitcastOp::create(builder, loc, builder.getI32Type(), value);
  for (int64_t i = 0; i < words; ++i) {
    stream << (i == 0 ? "" : ", ") << "$" << i + 2;
    list << ",r";
    operands.push_back(words == 1 ? joined
                                  : LLVM::ExtractElementOp::create(
                                        builder, loc, joined, i32(i))
                                        .getResult());
  }
  stream << (words == 1 ? "" : "}") << "; }";
  list << ",~{memory}";
  assembly(text, constraints, operands, {});
}

Value ProgramEmitter::getPredicate(int64_t cols, Value row, Value col,
                                   Value below, int64_t width,
                                   bool colsInside) {
  Value predicate;
  auto require = [&](Value value, Value limit) {
    Value holds = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                        value, limit);
    predicate =
        predicate
            ? arith::AndIOp::create(builder, loc, predicate, holds).getResult()
            : holds;
  };
  if (below)
    require(row, below);
  if (!colsInside)
    require(add(col, index(width - 1)), index(cols));
  if (!predicate)
    return {};
  return arith::ExtUIOp::create(builder, loc, builder.getI32Type(), predicate);
}

/// Whether columns [col, col + count) exist for sure.
static bool areColsInside(GlobalType type, Value col, int64_t count) {
  APInt constant;
  return matchPattern(col, m_ConstantInt(&constant)) &&
         constant.getSExtValue() + count <= type.getCols();
}

//===----------------------------------------------------------------------===//
// Register tiles
//===----------------------------------------------------------------------===//

/// Joins registers to one value to be stored.
static Value join(OpBuilder &builder, Location loc, ArrayRef<Value> registers) {
  if (registers.size() == 1)
    return registers.front();
  auto type = VectorType::get(static_cast<int64_t>(registers.size()),
                              registers.front().getType());
  Value vector = LLVM::PoisonOp::create(builder, loc, type);
  for (auto [i, value] : llvm::enumerate(registers))
    vector = LLVM::InsertElementOp::create(
        builder, loc, vector, value,
        arith::ConstantIntOp::create(builder, loc, static_cast<int64_t>(i),
                                     32));
  return vector;
}

namespace {
/// The place in memory of a vector of registers, the lane's share left out.
struct Access {
  SmallVector<int64_t> registers;
  int64_t row, col;
};
} // namespace

/// The accesses of a tile whose vectors are of the registers whose numbers
/// differ in `bits` alone.
static SmallVector<Access> getAccesses(RegType type, ArrayRef<int64_t> bits,
                                       bool transposed) {
  SmallVector<Access> accesses;
  for (int64_t first = 0; first < type.getNumRegisters(); ++first) {
    if (llvm::any_of(bits, [&](int64_t bit) { return (first >> bit) & 1; }))
      continue;
    auto [row, col] = type.getElement(/*lane=*/0, first);
    if (transposed)
      std::swap(row, col);
    Access access = {{}, row, col};
    for (int64_t i = 0; i < int64_t(1) << bits.size(); ++i) {
      int64_t reg = first;
      for (auto [place, bit] : llvm::enumerate(bits))
        reg |= ((i >> place) & 1) << bit;
      access.registers.push_back(reg);
    }
    accesses.push_back(std::move(access));
  }
  return accesses;
}

template <typename AccessOp>
ProgramEmitter::Place
ProgramEmitter::locate(AccessOp op, RegType type, const LaneOffsets &offsets,
                       int64_t addRow, int64_t addCol, int64_t width) {
  Value row = scalars.lookupOrDefault(op.getRow());
  Value col = scalars.lookupOrDefault(op.getCol());
  Value below =
      op.getBelow() ? scalars.lookupOrDefault(op.getBelow()) : Value();
  int64_t span = op.getTransposed() ? type.getRows() : type.getCols();
  Value tileRow = add(add(row, offsets.row), index(addRow));
  Value tileCol = add(add(col, offsets.col), index(addCol));
  if (auto shared = dyn_cast<SharedType>(op.getMemory().getType())) {
    // What fits is taken to lie inside.
    Value predicate = getPredicate(shared.getCols(), tileRow, tileCol, below,
                                   width, span <= shared.getCols());
    return {getSharedAddress(shared, scalars.lookupOrDefault(op.getMemory()),
                             row, col, offsets, addRow, addCol),
            predicate};
  }
  auto global = cast<GlobalType>(op.getMemory().getType());
  row = tileRow;
  col = tileCol;
  Value predicate = getPredicate(global.getCols(), row, col, below, width,
                                 areColsInside(global, op.getCol(), span));
  return {getGlobalAddress(globals.at(op.getMemory()), type.getElementType(),
                           row, col),
          predicate};
}

void ProgramEmitter::emitLoad(LoadOp op) {
  RegType type = op.getType();
  if (std::optional<Values> components = loadMatrices(op, type)) {
    tiles[op.getResult()] = *components;
    return;
  }
  bool transposed = op.getTransposed();
  Type element = type.getElementType();
  LaneOffsets offsets = getLaneOffsets(type, transposed);
  SmallVector<int64_t> bits =
      getVectorBits(type, op.getMemory().getType(), op.getCol(), transposed);
  int64_t width = int64_t(1) << bits.size();
  Type vector = width == 1 ? element : VectorType::get(width, element);
  Values registers(type.getNumRegisters());
  for (const Access &access : getAccesses(type, bits, transposed)) {
    Place place = locate(op, type, offsets, access.row, access.col, width);
    Value loaded = loadVector(place.address, vector, place.predicate);
    for (auto [i, reg] : llvm::enumerate(access.registers))
      registers[reg] =
          width == 1 ? loaded
                     : LLVM::ExtractElementOp::create(
                           builder, loc, loaded, i32(static_cast<int64_t>(i)))
                           .getResult();
  }
  setTile(op.getResult(), registers);
}

void ProgramEmitter::emitStore(StoreOp op) {
  RegType type = op.getValue().getType();
  if (storeMatrices(op, type, tiles.at(op.getValue())))
    return;
  bool transposed = op.getTransposed();
  LaneOffsets offsets = getLaneOffsets(type, transposed);
  SmallVector<int64_t> bits =
      getVectorBits(type, op.getMemory().getType(), op.getCol(), transposed);
  int64_t width = int64_t(1) << bits.size();
  Values registers = unpack(op.getValue());
  for (const Access &access : getAccesses(type, bits, transposed)) {
    Values parts;
    for (int64_t reg : access.registers)
      parts.push_back(registers[reg]);
    Place place = locate(op, type, offsets, access.row, access.col, width);
    storeVector(place.address, join(builder, loc, parts), place.predicate);
  }
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void ProgramEmitter::emitCopyAsync(CopyAsyncOp op) {
  SharedType target = op.getTarget().getType();
  GlobalType source = op.getSource().getType();
  Type element = target.getElementType();
  int64_t bytes = getBytes(element);
  Value row = scalars.lookupOrDefault(op.getRow());
  Value col = scalars.lookupOrDefault(op.getCol());
  Value below = scalars.lookupOrDefault(op.getBelow());
  Value matrix = scalars.lookupOrDefault(op.getTarget());
  // A piece is what one lane copies at once.
  int64_t piece = std::gcd<int64_t>(
      16, std::gcd(source.getCols(), target.getCols()) * bytes);
  piece = std::gcd(piece, target.getPad() * bytes);
  piece = std::gcd(piece, getKnownDivisor(op.getCol()) * bytes);
  int64_t perPiece = piece / bytes;
  int64_t across = target.getCols() / perPiece;
  int64_t pieces = target.getRows() * across;
  int64_t threads = 32 * numWarps;
  bool colsInside = areColsInside(source, op.getCol(), target.getCols());
  LaneOffsets none = {index(0), index(0), 0};
  Value copying = thread;
  if (inRole)
    copying =
        arith::SubIOp::create(builder, loc, readThread(), index(firstThread));
  auto copyPiece = [&](Value number) {
    Value atRow = arith::DivUIOp::create(builder, loc, number, index(across));
    Value atCol = multiply(
        arith::RemUIOp::create(builder, loc, number, index(across)), perPiece);
    Value to = getSharedAddress(target, matrix, atRow, atCol, none, 0, 0);
    Value fromRow = add(row, atRow), fromCol = add(col, atCol);
    Value predicate = getPredicate(source.getCols(), fromRow, fromCol, below,
                                   perPiece, colsInside);
    // Nothing is read of a row that is not there, but its address is formed.
    Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                         predicate, i32(0));
    Value safeRow =
        arith::SelectOp::create(builder, loc, inside, fromRow, index(0));
    Value from =
        getGlobalAddress(globals.at(op.getSource()), element, safeRow, fromCol);
    Value size =
        arith::SelectOp::create(builder, loc, inside, i32(piece), i32(0));
    NVVM::CpAsyncOp::create(builder, loc, to, from,
                            builder.getI32IntegerAttr(piece),
                            NVVM::LoadCacheModifierKindAttr::get(
                                builder.getContext(),
                                piece == 16 ? NVVM::LoadCacheModifierKind::CG
                                            : NVVM::LoadCacheModifierKind::CA),
                            size);
  };
  // A role that copies has few registers, which the addresses of many pieces
  // do not fit: so many make a loop, which LLVM does not unroll since its
  // length is assembly's, and the assembler since it is told not to.
  constexpr int64_t mostTogether = 4;
  int64_t group = mostTogether * threads;
  if (inRole && numWarps > 1 && pieces > group && pieces % group == 0) {
    Value count = assembly("mov.u32 $0, " + std::to_string(pieces) + ";", "=r",
                           {}, builder.getI32Type())
                      .front();
    count =
        arith::IndexCastOp::create(builder, loc, builder.getIndexType(), count);
    auto loop = scf::ForOp::create(builder, loc, index(0), count, index(group));
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPoint(loop.getBody()->getTerminator());
    assembly(".pragma \"nounroll\";", "", {}, {});
    for (int64_t first = 0; first < group; first += threads)
      copyPiece(add(add(copying, loop.getInductionVar()), index(first)));
    return;
  }
  for (int64_t first = 0; first < pieces; first += threads) {
    Value number = add(copying, index(first));
    if (first + threads <= pieces) {
      copyPiece(number);
      continue;
    }
    Value exists = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ult, number, index(pieces));
    auto guard = scf::IfOp::create(builder, loc, exists, false);
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPoint(guard.thenBlock()->getTerminator());
    copyPiece(number);
  }
}
