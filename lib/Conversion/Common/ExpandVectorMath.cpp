//===- ExpandVectorMath.cpp - Functions on vectors -*- C++ -*- ------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VectorFunctions.h"

#include "larc/Conversion/Passes.h"

#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace larc;

namespace larc {
#define GEN_PASS_DEF_EXPANDVECTORMATH
#include "larc/Conversion/Passes.h.inc"
} // namespace larc

/// True for x = e^-|y|, which lies between 0 and 1.
static bool isDecay(Value x) {
  auto exp = x.getDefiningOp<math::ExpOp>();
  auto neg = exp ? exp.getOperand().getDefiningOp<arith::NegFOp>() : nullptr;
  return neg && neg.getOperand().getDefiningOp<math::AbsFOp>();
}

Value larc::buildPolynomial(OpBuilder &builder, Operation *op) {
  if (op->getNumOperands() != 1 || op->getNumResults() != 1)
    return {};
  Value x = op->getOperand(0);
  Type type = getElementTypeOrSelf(x.getType());
  if (!type.isF32() && !type.isF64())
    return {};
  Location loc = op->getLoc();
  if (isa<math::ExpOp>(op))
    return buildExp(builder, loc, x);
  if (isa<math::ExpM1Op>(op))
    return buildExpm1(builder, loc, x);
  if (isa<math::TanhOp>(op))
    return buildTanh(builder, loc, x);
  if (isa<math::Log1pOp>(op) && isDecay(x))
    return buildLog1pOfFraction(builder, loc, x);
  if (!type.isF32())
    return {};
  if (isa<math::LogOp>(op))
    return buildLog(builder, loc, x);
  if (isa<math::Log1pOp>(op))
    return buildLog1p(builder, loc, x);
  if (isa<math::ErfOp>(op))
    return buildErf(builder, loc, x);
  return {};
}

namespace {

struct ExpandVectorMathPass
    : larc::impl::ExpandVectorMathBase<ExpandVectorMathPass> {
  void runOnOperation() override {
    SmallVector<Operation *> functions;
    getOperation()->walk([&](Operation *op) {
      if (isa_and_present<math::MathDialect>(op->getDialect()))
        functions.push_back(op);
    });
    // Backwards: of what a function takes its operand is still to be seen.
    for (Operation *op : llvm::reverse(functions)) {
      OpBuilder builder(op);
      if (Value value = buildPolynomial(builder, op)) {
        op->getResult(0).replaceAllUsesWith(value);
        op->erase();
      }
    }

    MLIRContext *context = &getContext();
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
