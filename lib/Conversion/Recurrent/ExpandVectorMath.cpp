//===- ExpandVectorMath.cpp - Functions on vectors -*- C++ -*- ------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Conversion/Passes.h"

#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Dialect/Math/Transforms/Approximation.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace larc;

namespace larc {
#define GEN_PASS_DEF_EXPANDVECTORMATH
#include "larc/Conversion/Passes.h.inc"
} // namespace larc

namespace {

struct ExpandVectorMathPass
    : larc::impl::ExpandVectorMathBase<ExpandVectorMathPass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    {
      RewritePatternSet patterns(context);
      // MLIR's sine and cosine lose digits as soon as x is not small.
      populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
        return name != math::SinOp::getOperationName() &&
               name != math::CosOp::getOperationName();
      });
      if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
        return signalPassFailure();
    }
    RewritePatternSet patterns(context);
    populateMathToLibmConversionPatterns(patterns);
    ConversionTarget target(*context);
    target.addLegalDialect<arith::ArithDialect, func::FuncDialect,
                           vector::VectorDialect, LLVM::LLVMDialect>();
    target.addIllegalDialect<math::MathDialect>();
    // Single instructions.
    target.addLegalOp<math::AbsFOp, math::SqrtOp, math::FmaOp, math::CopySignOp,
                      math::FloorOp, math::CeilOp, math::RoundEvenOp,
                      math::TruncOp>();
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
