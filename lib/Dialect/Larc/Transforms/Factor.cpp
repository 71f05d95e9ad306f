//===- Factor.cpp - Moves factors to where they cost least -*- C++ -*- ----===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Dialect/Larc/Transforms/Passes.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace larc;

namespace larc {
#define GEN_PASS_DEF_FACTOR
#include "larc/Dialect/Larc/Transforms/Passes.h.inc"
} // namespace larc

static unsigned rankOfProduct(Value lhs, Value rhs) {
  return ArrayType::unionOf(arrayOf(lhs), arrayOf(rhs)).getRank();
}

namespace {

/// contract(a X, b) -> a contract(X, b) where a has no summed axis, else
/// contract(X, a b) where a b has fewer axes than a X.
struct FactorContraction : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ContractOp op,
                                PatternRewriter &rewriter) const override {
    for (bool swapped : {false, true}) {
      Value product = swapped ? op.getRhs() : op.getLhs();
      Value other = swapped ? op.getLhs() : op.getRhs();
      auto mul = product.getDefiningOp<MulOp>();
      if (!mul)
        continue;
      for (bool second : {false, true}) {
        Value factor = second ? mul.getRhs() : mul.getLhs();
        Value array = second ? mul.getLhs() : mul.getRhs();
        if (succeeded(moveFactor(op, factor, array, other, rewriter)))
          return success();
      }
    }
    return rewriter.notifyMatchFailure(op, "no factor with fewer axes");
  }

  LogicalResult moveFactor(ContractOp op, Value factor, Value array,
                           Value other, PatternRewriter &rewriter) const {
    // The sum must stay over axes that an operand still has.
    ArrayType rest = ArrayType::unionOf(arrayOf(array), arrayOf(other));
    for (StringAttr axis : op.getReducedAxes())
      if (!rest.hasAxis(axis))
        return failure();
    unsigned rank = rankOfProduct(factor, array);
    bool summed = llvm::any_of(op.getReducedAxes(), [&](StringAttr axis) {
      return arrayOf(factor).hasAxis(axis);
    });
    if (!summed && arrayOf(op).getRank() < rank &&
        arrayOf(factor).getRank() < rank) {
      Value sum =
          ContractOp::create(rewriter, placeOf(op), array, other, op.getAxes());
      rewriter.replaceOpWithNewOp<MulOp>(op, sum, factor);
      return success();
    }
    if (summed && arrayOf(array).getRank() == rank &&
        rankOfProduct(factor, other) < rank) {
      Value scaled = MulOp::create(rewriter, placeOf(op), factor, other);
      rewriter.replaceOpWithNewOp<ContractOp>(op, array, scaled, op.getAxes());
      return success();
    }
    return failure();
  }
};

/// (x y) z -> (x z) y where x z has fewer axes than x y.
struct FactorProduct : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MulOp op,
                                PatternRewriter &rewriter) const override {
    for (bool swapped : {false, true}) {
      auto inner = (swapped ? op.getRhs() : op.getLhs()).getDefiningOp<MulOp>();
      Value z = swapped ? op.getLhs() : op.getRhs();
      if (!inner)
        continue;
      unsigned rank = arrayOf(inner).getRank();
      for (bool second : {false, true}) {
        Value x = second ? inner.getRhs() : inner.getLhs();
        Value y = second ? inner.getLhs() : inner.getRhs();
        if (rankOfProduct(x, z) >= rank)
          continue;
        Value cheap = MulOp::create(rewriter, placeOf(op), x, z);
        rewriter.replaceOpWithNewOp<MulOp>(op, cheap, y);
        return success();
      }
    }
    return rewriter.notifyMatchFailure(op, "no factors with fewer axes");
  }
};

/// x / y -> x (1 / y) where y has fewer axes than x.
struct DivideOnce : OpRewritePattern<DivOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DivOp op,
                                PatternRewriter &rewriter) const override {
    if (arrayOf(op.getRhs()).getRank() >= arrayOf(op).getRank())
      return rewriter.notifyMatchFailure(op, "the divisor has all axes");
    Value reciprocal = ReciprocalOp::create(rewriter, placeOf(op), op.getRhs());
    rewriter.replaceOpWithNewOp<MulOp>(op, op.getLhs(), reciprocal);
    return success();
  }
};

struct FactorPass : larc::impl::FactorBase<FactorPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FactorContraction, FactorProduct, DivideOnce>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
