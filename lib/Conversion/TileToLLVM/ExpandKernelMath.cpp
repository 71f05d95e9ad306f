//===- ExpandKernelMath.cpp - Functions as instructions of a GPU -*- C++ -*-
//===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Common/VectorFunctions.h"

#include "larc/Conversion/Passes.h"

using namespace mlir;
using namespace larc;

namespace larc {
#define GEN_PASS_DEF_EXPANDKERNELMATH
#include "larc/Conversion/Passes.h.inc"
} // namespace larc

static Value constant(OpBuilder &builder, Location loc, float number) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getF32FloatAttr(number));
}

static Value callUnit(OpBuilder &builder, Location loc, StringRef name,
                      Value x) {
  auto call = LLVM::CallIntrinsicOp::create(builder, loc, builder.getF32Type(),
                                            builder.getStringAttr(name), x);
  return call.getResults();
}

/// e^x as 2^t (1 + r ln 2), where t is x log2(e) rounded and r what that lost.
static Value buildUnitExp(OpBuilder &builder, Location loc, Value x) {
  auto at = [&](float number) { return constant(builder, loc, number); };
  // Beyond these bounds the result is 0 or infinite whatever the rest; within
  // them nothing here is infinite. NaN stays.
  auto clamp = [&](arith::CmpFPredicate predicate, float bound) {
    Value outside =
        arith::CmpFOp::create(builder, loc, predicate, x, at(bound));
    x = arith::SelectOp::create(builder, loc, outside, at(bound), x);
  };
  clamp(arith::CmpFPredicate::OLT, -128.0f);
  clamp(arith::CmpFPredicate::OGT, 128.0f);
  Value log2e = at(1.44269504088896341f);
  Value t = arith::MulFOp::create(builder, loc, x, log2e);
  Value minusT = arith::NegFOp::create(builder, loc, t);
  Value lost = math::FmaOp::create(builder, loc, x, log2e, minusT);
  lost = math::FmaOp::create(builder, loc, x, at(1.925963033500e-8f), lost);
  Value factor =
      math::FmaOp::create(builder, loc, lost, at(0.693147180559945f), at(1.0f));
  Value power = callUnit(builder, loc, "llvm.nvvm.ex2.approx.ftz.f", t);
  return arith::MulFOp::create(builder, loc, power, factor);
}

/// e^x as the unit has it: the error grows with x, to some 2^-18 of the result
/// near the ends of float32's range.
static Value buildApproximateExp(OpBuilder &builder, Location loc, Value x) {
  Value log2e = constant(builder, loc, 1.44269504088896341f);
  return callUnit(builder, loc, "llvm.nvvm.ex2.approx.ftz.f",
                  arith::MulFOp::create(builder, loc, x, log2e));
}

/// ln(1 + x) as the unit has it, for x from 0 on: what it lacks is some 2^-23 of
/// 1 where x is small.
static Value buildApproximateLog1p(OpBuilder &builder, Location loc, Value x) {
  Value one = constant(builder, loc, 1.0f);
  Value log2 = callUnit(builder, loc, "llvm.nvvm.lg2.approx.ftz.f",
                        arith::AddFOp::create(builder, loc, x, one));
  return arith::MulFOp::create(builder, loc, log2,
                               constant(builder, loc, 0.693147180559945f),
                               arith::FastMathFlags::contract);
}

/// e^x - 1: near 0 the Taylor polynomial, whose first missing term is below
/// 2^-26 of the result there, else what the power gives.
static Value buildUnitExpm1(OpBuilder &builder, Location loc, Value x,
                            bool approximate) {
  constexpr float bound = 0.35f;
  auto at = [&](float number) { return constant(builder, loc, number); };
  Value sum = at(1.0f / 5040);
  for (float factorial : {720.0f, 120.0f, 24.0f, 6.0f, 2.0f, 1.0f})
    sum = math::FmaOp::create(builder, loc, sum, x, at(1 / factorial));
  Value near = arith::MulFOp::create(builder, loc, sum, x);
  Value power = approximate ? buildApproximateExp(builder, loc, x)
                            : buildUnitExp(builder, loc, x);
  Value far = arith::SubFOp::create(builder, loc, power, at(1.0f));
  Value isNear =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT,
                            math::AbsFOp::create(builder, loc, x), at(bound));
  return arith::SelectOp::create(builder, loc, isNear, near, far);
}

/// What `op` becomes, or null for what later conversions know.
static Value expand(OpBuilder &builder, Operation *op) {
  // Without the branches that rounding to nearest takes; 2 ulp.
  if (isa<arith::DivFOp>(op) && op->getResult(0).getType().isF32())
    return LLVM::CallIntrinsicOp::create(
               builder, op->getLoc(), builder.getF32Type(),
               builder.getStringAttr("llvm.nvvm.div.full"), op->getOperands())
        .getResults();
  if (op->getNumOperands() != 1 || op->getNumResults() != 1 ||
      !op->getResult(0).getType().isF32())
    return {};
  Location loc = op->getLoc();
  Value x = op->getOperand(0);
  auto fast = dyn_cast<arith::ArithFastMathInterface>(op);
  bool approximate =
      fast && arith::bitEnumContainsAll(fast.getFastMathFlagsAttr().getValue(),
                                        arith::FastMathFlags::afn);
  if (isa<math::ExpOp>(op))
    return approximate ? buildApproximateExp(builder, loc, x)
                       : buildUnitExp(builder, loc, x);
  if (isa<math::ExpM1Op>(op))
    return buildUnitExpm1(builder, loc, x, approximate);
  if (isa<math::Log1pOp>(op) && approximate)
    return buildApproximateLog1p(builder, loc, x);
  if (isa<math::Exp2Op>(op))
    return callUnit(builder, loc, "llvm.nvvm.ex2.approx.ftz.f", x);
  if (isa<math::RsqrtOp>(op))
    return callUnit(builder, loc, "llvm.nvvm.rsqrt.approx.ftz.f", x);
  return buildPolynomial(builder, op);
}

namespace {
struct ExpandKernelMathPass
    : larc::impl::ExpandKernelMathBase<ExpandKernelMathPass> {
  void runOnOperation() override {
    SmallVector<Operation *> functions;
    getOperation()->walk([&](Operation *op) {
      if (isa<arith::DivFOp>(op) ||
          isa_and_present<math::MathDialect>(op->getDialect()))
        functions.push_back(op);
    });
    for (Operation *op : functions) {
      OpBuilder builder(op);
      if (Value value = expand(builder, op)) {
        op->getResult(0).replaceAllUsesWith(value);
        op->erase();
        continue;
      }
      if (isa<arith::DivFOp, math::AbsFOp, math::SqrtOp, math::FmaOp,
              math::CopySignOp, math::FloorOp, math::CeilOp, math::RoundEvenOp,
              math::TruncOp>(op))
        continue;
      op->emitOpError("has no instruction on a GPU");
      return signalPassFailure();
    }
  }
};
} // namespace
