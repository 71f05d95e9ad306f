//===- ExactPath.cpp - Decays as products of factors -*- C++ -*- ----------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StateRole.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace larc;

using chunk::MixOp;
using tile::Dimension;
using tile::LayoutAttr;
using tile::RegType;

/// Whether a pair of tokens belongs to a level, given the bits in which their
/// numbers differ; level -1 has tokens with themselves.
static Value chooseLevel(OpBuilder &builder, Location loc, Value bits,
                         int64_t level) {
  if (level >= 0)
    return differInHalf(builder, loc, bits, level);
  Value zero = arith::ConstantIntOp::create(builder, loc, 0, 32);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, bits,
                               zero);
}

/// Scores of 16 sources and 8 readers, those in different halves of a block of
/// 2^(level + 1) tokens, or of tokens with themselves (level -1); all are
/// within 16 aligned tokens.
Value StateRole::maskScores(Value scores, Value reader, int64_t level) {
  auto type = cast<RegType>(scores.getType());
  return mapTo(
      getMatrixType(),
      {scores, numbers(Dimension::Rows, type, Value()),
       numbers(Dimension::Cols, type, reader)},
      [&](OpBuilder &inner, ValueRange args) -> Value {
        Value bits = arith::XOrIOp::create(inner, loc, args[1], args[2]);
        Value zero = arith::ConstantFloatOp::create(
            inner, loc, getMatrixType(),
            llvm::APFloat(llvm::APFloat::BFloat(), "0.0"));
        Value chosen = chooseLevel(inner, loc, bits, level);
        return arith::SelectOp::create(inner, loc, chosen, args[0], zero);
      });
}

/// Level after level, by columns of 8 readers and 16 of their sources: few
/// registers are live besides those of the sums. Where the mix is whole, it
/// begins with tokens themselves.
Value StateRole::exactMix(MixOp op, Value scores, Value init) {
  constexpr int64_t step = 8, depth = 16;
  const MixForm &form = plan.mixes.at(op);
  MLIRContext *context = builder.getContext();
  RegType lhs = getTileType(ScanPlan::kRows, plan.chunk, getMatrixType(),
                            LayoutAttr::getLhs(context));
  RegType rhs =
      getTileType(depth, step, getMatrixType(), LayoutAttr::getRhs(context));
  RegType block = getTileType(ScanPlan::kRows, step, getF32(), acc());
  auto slice = [&](Value tile, RegType type, int64_t col) -> Value {
    return tile::SliceOp::create(builder, loc, type, tile, 0, col);
  };
  // A whole mix counts the decay of the reading token.
  auto scanFactors = [&](int64_t half, bool toBoundary) {
    // What is taken anew shall not stay in registers until then.
    tile::SyncWarpOp::create(builder, loc);
    forget();
    Value factors = evaluateFactors(form.decay);
    return expand(
        scanHalf(factors, half, toBoundary, !toBoundary && form.whole), true,
        true);
  };
  Value zeros = splat(0, block);
  SmallVector<Value> totals;
  for (int64_t col = 0; col < plan.chunk; col += step)
    totals.push_back(init ? slice(expand(init, true, true), block, col)
                          : zeros);
  auto levels = static_cast<int64_t>(llvm::Log2_64(plan.chunk));
  for (int64_t level = form.whole ? -1 : 0; level < levels; ++level) {
    int64_t half = level < 0 ? 0 : int64_t(1) << level;
    Value scaled = expand(evaluate(op.getValues()), true, true);
    if (half > 0)
      scaled = product(scaled, scanFactors(half, /*toBoundary=*/true));
    Value left = convert(scaled, lhs);
    Value after = half > 0 ? scanFactors(half, /*toBoundary=*/false) : Value();
    for (auto [number, total] : llvm::enumerate(totals)) {
      int64_t col = static_cast<int64_t>(number) * step;
      bool isMasked = half < depth;
      // All of these readers may be in the earlier half of their block.
      if (half >= step && (col / half) % 2 == 0)
        continue;
      int64_t first = isMasked ? col / depth * depth : (col / half - 1) * half;
      Value part = zeros;
      for (int64_t k = first; k < first + std::max(half, depth); k += depth) {
        Value right =
            load(scores, index(col), index(k), rhs, /*transposed=*/true);
        if (isMasked)
          right = maskScores(right, index(col % depth), level);
        part = tile::MmaOp::create(
            builder, loc,
            slice(left,
                  getTileType(ScanPlan::kRows, depth, getMatrixType(),
                              lhs.getLayout()),
                  k),
            right, part);
      }
      if (after)
        part = product(part, slice(after, block, col));
      total = sum(total, part);
    }
  }
  return tile::ConcatOp::create(builder, loc, totals, Dimension::Cols);
}

/// Sums products over pairs of halves of blocks of 2, 4, ... tokens, 16 tokens
/// at a time. `temporary` are memories for a reader and a writer.
Value StateRole::exactPairs(const ScoresForm &form, MatrixPair temporary) {
  auto axis = cast<StringAttr>(form.op.getAxes()[0]);
  // Made anew, so that its numbers are not kept in registers for this path.
  std::optional<PairTile> outer = std::exchange(pairs, std::nullopt);
  const PairTile &pair = getPairTile();
  RegType block =
      getTileType(ScanPlan::kRows, ScanPlan::kRows, getF32(), acc());
  auto storeScaled = [&](Value value, int64_t half, bool toBoundary,
                         Value memory) {
    for (int64_t token = 0; token < plan.chunk; token += ScanPlan::kRows) {
      auto slice = [&](Value tile) -> Value {
        return tile::SliceOp::create(builder, loc, block,
                                     expand(tile, true, true), 0, token);
      };
      tile::SyncWarpOp::create(builder, loc);
      forget();
      if (pass)
        forgetChannels();
      Value tile = slice(fillPadding(evaluate(value), value));
      if (half > 0)
        tile = product(tile, scanHalf(slice(evaluateFactors(form.decay)), half,
                                      toBoundary, form.inclusive));
      tile = convert(tile, getMatrixType());
      onlyWarps(getWarps(axis), [&] {
        store(tile, memory, index(token), getFirstChannel(axis),
              /*transposed=*/true);
      });
    }
  };
  Value total =
      splat(0, getTileType(ScanPlan::kRows, pair.cols, getF32(), acc()));
  auto levels = static_cast<int64_t>(llvm::Log2_64(plan.chunk));
  // One more for tokens with themselves.
  for (int64_t level = -1; level < levels; ++level) {
    int64_t half = level < 0 ? 0 : int64_t(1) << level;
    barrier();
    forPasses(axis, {}, [&](ValueRange) {
      storeScaled(form.reader.value, half, false, temporary.high);
      storeScaled(form.writer.value, half, true, temporary.low);
      return SmallVector<Value>();
    });
    barrier();
    Value part = multiplyPairs({temporary.high, {}}, {temporary.low, {}}, axis);
    total = map(
        {total, part, pair.rows, pair.colNumbers},
        [&](OpBuilder &inner, ValueRange args) -> Value {
          Value bits = arith::XOrIOp::create(inner, loc, args[2], args[3]);
          Value chosen = chooseLevel(inner, loc, bits, level);
          return arith::SelectOp::create(inner, loc, chosen, args[1], args[0]);
        });
  }
  pairs = outer;
  return total;
}
