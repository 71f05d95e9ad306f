//===- Matrices.cpp - ldmatrix and stmatrix -*- C++ -*- -------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The fragments of matrix units are made of 8x8 matrices of 16-bit elements, of
// which a lane holds two neighbours; one instruction moves four of them. Which
// ones follows from the layout: a matrix is a pair of registers.
//
//===----------------------------------------------------------------------===//

#include "ProgramEmitter.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace larc::tile;

/// The dimension along which a pair of registers lies, if pairs of `layout` are
/// 8x8 matrices.
static std::optional<unsigned> getPairDimension(LayoutAttr layout) {
  ArrayRef<int64_t> lanes = layout.getLanes();
  ArrayRef<int64_t> registers = layout.getRegisters();
  if (registers.size() < 2)
    return std::nullopt;
  for (unsigned pair : {0, 1}) {
    unsigned other = 1 - pair;
    const int64_t along[] = {2, 4, 0, 0, 0}, across[] = {0, 0, 1, 2, 4};
    bool fits = registers[pair] == 1;
    for (unsigned bit = 0; bit < 5; ++bit)
      fits &= lanes[2 * bit + pair] == along[bit] &&
              lanes[2 * bit + other] == across[bit];
    if (fits)
      return pair;
  }
  return std::nullopt;
}

/// Whether every row's 16-byte pieces are aligned, and so is what starts at a
/// column that `divisor` divides.
static bool isAligned(SharedType type, int64_t divisor) {
  return divisor % 8 == 0 &&
         (type.getSwizzle() != 0 || (type.getCols() + type.getPad()) % 8 == 0);
}

namespace {
/// Up to four 8x8 matrices that one instruction moves.
struct MatrixGroup {
  int64_t firstPair, count;
  // Places in memory, from the access's.
  SmallVector<std::pair<int64_t, int64_t>, 4> places;
};
} // namespace

static SmallVector<MatrixGroup> getGroups(RegType type, bool transposed) {
  SmallVector<MatrixGroup> groups;
  int64_t pairs = type.getNumRegisters() / 2;
  for (int64_t first = 0; first < pairs;) {
    int64_t count = pairs - first >= 4 ? 4 : pairs - first >= 2 ? 2 : 1;
    MatrixGroup group = {first, count, {}};
    for (int64_t pair = first; pair < first + count; ++pair) {
      auto [row, col] = type.getElement(/*lane=*/0, 2 * pair);
      group.places.push_back(transposed ? std::pair(col, row)
                                        : std::pair(row, col));
    }
    groups.push_back(std::move(group));
    first += count;
  }
  return groups;
}

/// The place of the row of 8 elements that a lane has the address of: lane 8m +
/// r that of row r of matrix m.
static LaneOffsets getRowOffsets(OpBuilder &builder, Location loc, Value lane,
                                 const MatrixGroup &group) {
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, number);
  };
  LaneOffsets offsets;
  offsets.row = arith::AndIOp::create(builder, loc, lane, constant(7));
  offsets.col = constant(0);
  for (int64_t bit = 0; (int64_t(2) << bit) <= group.count; ++bit) {
    int64_t matrix = int64_t(1) << bit;
    int64_t rows = group.places[matrix].first - group.places[0].first;
    int64_t cols = group.places[matrix].second - group.places[0].second;
    Value set = arith::AndIOp::create(builder, loc, lane, constant(8 << bit));
    set = arith::ShRUIOp::create(builder, loc, set, constant(3 + bit));
    auto accumulate = [&](Value &sum, int64_t amount) {
      if (amount == 0)
        return;
      Value moved = arith::MulIOp::create(builder, loc, set, constant(amount));
      sum = arith::AddIOp::create(builder, loc, sum, moved);
    };
    accumulate(offsets.row, rows);
    accumulate(offsets.col, cols);
    offsets.colBits |= cols;
  }
  return offsets;
}

/// Whether the places of the four are those of two steps added up.
static bool isRegular(const MatrixGroup &group) {
  if (group.count < 4)
    return true;
  ArrayRef<std::pair<int64_t, int64_t>> at = group.places;
  return at[3].first == at[1].first + at[2].first - at[0].first &&
         at[3].second == at[1].second + at[2].second - at[0].second;
}

namespace {
/// How a tile is moved as 8x8 matrices.
struct MatrixPlan {
  SharedType memory;
  SmallVector<MatrixGroup> groups;
  NVVM::MMALayout layout;
};
} // namespace

/// The plan of a load or store, if type and layouts allow one.
template <typename AccessOp>
static std::optional<MatrixPlan> planMatrices(AccessOp op, RegType type) {
  auto shared = dyn_cast<SharedType>(op.getMemory().getType());
  std::optional<unsigned> pair = getPairDimension(type.getLayout());
  if (!shared || !pair || op.getBelow() ||
      type.getElementType().getIntOrFloatBitWidth() != 16 ||
      !isAligned(shared, getKnownDivisor(op.getCol())))
    return std::nullopt;
  bool transposed = op.getTransposed();
  SmallVector<MatrixGroup> groups = getGroups(type, transposed);
  if (!llvm::all_of(groups, isRegular))
    return std::nullopt;
  // A row in memory is a row of a matrix where pairs lie along memory's
  // columns.
  bool pairsAlongMemory = (*pair == 1) != transposed;
  return MatrixPlan{shared, std::move(groups),
                    pairsAlongMemory ? NVVM::MMALayout::row
                                     : NVVM::MMALayout::col};
}

std::optional<Values> ProgramEmitter::loadMatrices(LoadOp op, RegType type) {
  std::optional<MatrixPlan> plan = planMatrices(op, type);
  if (!plan)
    return std::nullopt;
  Type word = builder.getI32Type();
  Values components;
  for (const MatrixGroup &group : plan->groups) {
    LaneOffsets offsets = getRowOffsets(builder, loc, lane, group);
    Value address =
        getSharedAddress(plan->memory, scalars.lookupOrDefault(op.getMemory()),
                         scalars.lookupOrDefault(op.getRow()),
                         scalars.lookupOrDefault(op.getCol()), offsets,
                         group.places[0].first, group.places[0].second);
    Type result = word;
    if (group.count > 1)
      result = LLVM::LLVMStructType::getLiteral(
          builder.getContext(), SmallVector<Type>(group.count, word));
    Value loaded = NVVM::LdMatrixOp::create(
        builder, loc, result, address, static_cast<uint32_t>(group.count),
        plan->layout,
        NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8),
        NVVM::LdStMatrixEltType::B16);
    for (int64_t i = 0; i < group.count; ++i) {
      Value part = group.count == 1
                       ? loaded
                       : LLVM::ExtractValueOp::create(builder, loc, loaded, i)
                             .getResult();
      components.push_back(
          LLVM::BitcastOp::create(builder, loc, getComponentType(type), part));
    }
  }
  return components;
}

bool ProgramEmitter::storeMatrices(StoreOp op, RegType type,
                                   ArrayRef<Value> values) {
  if (computeCapability < kHopper)
    return false;
  std::optional<MatrixPlan> plan = planMatrices(op, type);
  if (!plan)
    return false;
  for (const MatrixGroup &group : plan->groups) {
    LaneOffsets offsets = getRowOffsets(builder, loc, lane, group);
    Value address =
        getSharedAddress(plan->memory, scalars.lookupOrDefault(op.getMemory()),
                         scalars.lookupOrDefault(op.getRow()),
                         scalars.lookupOrDefault(op.getCol()), offsets,
                         group.places[0].first, group.places[0].second);
    Values words;
    for (Value value : values.slice(group.firstPair, group.count))
      words.push_back(
          LLVM::BitcastOp::create(builder, loc, builder.getI32Type(), value));
    NVVM::StMatrixOp::create(
        builder, loc, address, words, plan->layout,
        NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8),
        NVVM::LdStMatrixEltType::B16);
  }
  return true;
}
