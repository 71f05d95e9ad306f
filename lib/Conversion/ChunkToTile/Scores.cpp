//===- Scores.cpp - Scores of tokens against tokens -*- C++ -*- -----------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoleEmitter.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace larc;

using tile::CombineKind;
using tile::Dimension;
using tile::LayoutAttr;
using tile::RegType;

/// Columns of the warps' tiles, if all together have the chunk's pairs.
static int64_t getPairCols(int64_t chunk, int64_t warps) {
  return std::max<int64_t>(8, chunk * chunk / (ScanPlan::kRows * warps));
}

const RoleEmitter::PairTile &RoleEmitter::getPairTile() {
  if (pairs)
    return *pairs;
  PairTile tile;
  tile.cols = getPairCols(plan.chunk, warps);
  int64_t across = plan.chunk / tile.cols;
  int64_t down = plan.chunk / ScanPlan::kRows;
  tile.warps = across * down;
  Value inRow = builder.createOrFold<arith::RemUIOp>(loc, warp, index(across));
  Value line = builder.createOrFold<arith::DivUIOp>(loc, warp, index(across));
  if (tile.warps < warps)
    line = builder.createOrFold<arith::RemUIOp>(loc, line, index(down));
  tile.row = multiply(line, ScanPlan::kRows);
  tile.col = multiply(inRow, tile.cols);
  RegType type = getTileType(ScanPlan::kRows, tile.cols, getF32(), acc());
  tile.rows = numbers(Dimension::Rows, type, tile.row);
  tile.colNumbers = numbers(Dimension::Cols, type, tile.col);
  pairs = tile;
  return *pairs;
}

Value RoleEmitter::multiplyPairs(MatrixPair reader, MatrixPair writer,
                                 StringAttr axis) {
  const PairTile &pair = getPairTile();
  constexpr int64_t step = 16;
  MLIRContext *context = builder.getContext();
  RegType lhs = getTileType(ScanPlan::kRows, step, getMatrixType(),
                            LayoutAttr::getLhs(context));
  RegType rhs = getTileType(step, pair.cols, getMatrixType(),
                            LayoutAttr::getRhs(context));
  RegType type = getTileType(ScanPlan::kRows, pair.cols, getF32(), acc());
  Value zeros = splat(0, type);
  // Sums of their own, since a product waits for the one whose sum it takes.
  // What both halves round away, multiplied, is too small to count.
  SmallVector<Value> sums(3, zeros);
  auto multiplyInto = [&](Value &sum, Value left, Value right) {
    sum = tile::MmaOp::create(builder, loc, left, right, sum);
  };
  for (int64_t k = 0; k < plan.getPadded(axis); k += step) {
    Value col = index(k);
    Value left = load(reader.high, pair.row, col, lhs);
    Value right = load(writer.high, pair.col, col, rhs, /*transposed=*/true);
    // Few columns are few sums, each of which waits for the one before.
    bool byTurns = !reader.low && !writer.low && pair.cols <= 16;
    multiplyInto(sums[byTurns && k / step % 2 == 1 ? 1 : 0], left, right);
    if (reader.low)
      multiplyInto(sums[1], load(reader.low, pair.row, col, lhs), right);
    if (writer.low)
      multiplyInto(sums[2], left,
                   load(writer.low, pair.col, col, rhs, /*transposed=*/true));
  }
  Value total;
  for (Value part : sums)
    if (part != zeros)
      total = total ? sum(total, part) : part;
  return total;
}

Value RoleEmitter::allocateTokens(int64_t rows) {
  return shared.allocate(rows, plan.chunk);
}

Value RoleEmitter::scanHalf(Value factors, int64_t half, bool toBoundary,
                            bool inclusive) {
  return tile::ScanOp::create(
      builder, loc, CombineKind::Product, factors, getTokenDimension(),
      /*backward=*/toBoundary, /*exclusive=*/toBoundary || !inclusive,
      builder.getI64IntegerAttr(half));
}

void RoleEmitter::storeTokens(Value value) {
  if (!value || !plan.hasTokens(value))
    return;
  Value &memory = tokenMemories[value];
  if (!memory)
    memory = allocateTokens(1);
  storeFloat(evaluate(value), StringAttr(), memory);
}

/// A warp has the products of one size of halves: in row s those from the
/// boundary between halves of 2^s tokens, and `levels` rows further those to
/// it.
void RoleEmitter::storeScalarDecay(const ScoresForm &form) {
  if (!form.scalarDecay)
    return;
  auto levels = static_cast<int64_t>(llvm::Log2_64(plan.chunk));
  Value &memory = tokenMemories[form.op.getResult()];
  if (!memory)
    memory = allocateTokens(2 * levels);
  Value factors = evaluateFactors(form.scalarDecay);
  for (int64_t level = 0; level < levels; ++level) {
    Value runs = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       warp, index(level % warps));
    auto branch =
        scf::IfOp::create(builder, loc, runs, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    int64_t half = int64_t(1) << level;
    store(scanHalf(factors, half, false, form.scalarInclusive), memory,
          index(level), index(0));
    store(scanHalf(factors, half, true, false), memory, index(levels + level),
          index(0));
  }
}

Value larc::differInHalf(OpBuilder &inner, Location loc, Value bits,
                         int64_t level) {
  Value shift = arith::ConstantIntOp::create(inner, loc, level, 32);
  Value one = arith::ConstantIntOp::create(inner, loc, 1, 32);
  Value rest = arith::ShRUIOp::create(inner, loc, bits, shift);
  return arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::eq, rest, one);
}

Value RoleEmitter::finishScores(const ScoresForm &form, Value raw,
                                const PairTile &pair) {
  auto loadRows = [&](Value memory, Value row) {
    return load(memory, row, pair.row,
                getTileType(ScanPlan::kRows, 1, getF32(),
                            acc().getSlice(Dimension::Rows)),
                /*transposed=*/true);
  };
  auto loadCols = [&](Value memory, Value row) {
    return load(
        memory, row, pair.col,
        getTileType(1, pair.cols, getF32(), acc().getSlice(Dimension::Cols)));
  };
  for (Value factor : form.readerFactors)
    raw = product(raw, plan.hasTokens(factor)
                           ? loadRows(tokenMemories.at(factor), index(0))
                           : evaluate(factor));
  for (Value factor : form.writerFactors)
    raw = product(raw, plan.hasTokens(factor)
                           ? loadCols(tokenMemories.at(factor), index(0))
                           : evaluate(factor));

  SmallVector<Value> operands = {raw, pair.rows, pair.colNumbers};
  int64_t levels = 0;
  if (form.scalarDecay) {
    levels = static_cast<int64_t>(llvm::Log2_64(plan.chunk));
    chunk::ScoresOp op = form.op;
    Value memory = tokenMemories.at(op.getResult());
    for (int64_t level = 0; level < levels; ++level) {
      operands.push_back(loadRows(memory, index(level)));
      operands.push_back(loadCols(memory, index(levels + level)));
    }
  }
  if (form.diagonal)
    operands.push_back(plan.hasTokens(form.diagonal)
                           ? loadRows(tokenMemories.at(form.diagonal), index(0))
                           : evaluate(form.diagonal));
  return map(operands, [&](OpBuilder &inner, ValueRange args) -> Value {
    Value value = args[0], row = args[1], col = args[2];
    Value zero = number(inner, 0);
    Value decayed = value;
    if (levels > 0) {
      Value bits = arith::XOrIOp::create(inner, loc, row, col);
      Value decay = zero;
      for (int64_t level = 0; level < levels; ++level) {
        Value both = arith::MulFOp::create(inner, loc, args[3 + 2 * level],
                                           args[4 + 2 * level]);
        decay = arith::SelectOp::create(
            inner, loc, differInHalf(inner, loc, bits, level), both, decay);
      }
      decayed = arith::MulFOp::create(inner, loc, value, decay);
    }
    Value own = form.diagonal ? args.back() : form.ownScore ? value : zero;
    Value same =
        arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::eq, row, col);
    Value later =
        arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::sgt, row, col);
    Value rest = arith::SelectOp::create(inner, loc, same, own, zero);
    return arith::SelectOp::create(inner, loc, later, decayed, rest);
  });
}

void RoleEmitter::storeScores(Value tile, Value memory) {
  const PairTile &pair = getPairTile();
  Value rounded = convert(tile, getMatrixType());
  onlyWarps(pair.warps, [&] { store(rounded, memory, pair.row, pair.col); });
}
