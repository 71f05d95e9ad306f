//===- VectorFunctions.cpp - Functions as polynomials -*- C++ -*- ---------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VectorFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace larc;

//===----------------------------------------------------------------------===//
// Coefficients
//===----------------------------------------------------------------------===//

// Each array holds the coefficients c0, c1, ... of a polynomial of least
// relative error in the function it stands for, that of the constant first.
// The leading terms, which the formulas add, are exact.

// e^r = 1 + r + r^2 P(r), |r| <= ln(2) / 2.
static constexpr double exp32[] = {0x1.fffffcp-2, 0x1.555492p-3, 0x1.5558b2p-5,
                                   0x1.12398ep-7, 0x1.6a4af0p-10};
static constexpr double exp64[] = {
    0x1.000000000000ap-1,  0x1.5555555555504p-3,  0x1.55555555506b1p-5,
    0x1.1111111125710p-7,  0x1.6c16c1847bd6ep-10, 0x1.a01a0135eac7ap-13,
    0x1.a019994c50127p-16, 0x1.71df0cc9b5b32p-19, 0x1.28ae127d46affp-22,
    0x1.ada4da238269dp-26};

// e^r - 1 = r + r^2 P(r), on the same interval.
static constexpr double expm1Of32[] = {
    0x1.fffffep-2, 0x1.5554b2p-3, 0x1.555710p-5, 0x1.122674p-7, 0x1.6b7a2ap-10};
static constexpr double expm1Of64[] = {
    0x1.0000000000000p-1,  0x1.5555555555559p-3,  0x1.5555555555552p-5,
    0x1.111111110f653p-7,  0x1.6c16c16c186dep-10, 0x1.a01a01b004d44p-13,
    0x1.a01a019967216p-16, 0x1.71ddf80ab88b3p-19, 0x1.27e4fb49f12e9p-22,
    0x1.af5f367c139ddp-26, 0x1.1f3e725c129edp-29};

// ln(1 + x) = x + x^2 P(x), 0 <= x <= 1.
static constexpr double log1pOfFraction32[] = {
    -0x1.ffff14p-2, 0x1.5535dcp-2, -0x1.fd1334p-3, 0x1.884426p-3,
    -0x1.19ac1ep-3, 0x1.446622p-4, -0x1.ec84e0p-6, 0x1.5f7d38p-8};
static constexpr double log1pOfFraction64[] = {
    -0x1.fffffffffff9ep-2,  0x1.5555555550fd1p-2,  -0x1.fffffffdd1952p-3,
    0x1.99999951aaf96p-3,   -0x1.55554fb94d0c9p-3, 0x1.2491fea1a5dddp-3,
    -0x1.fffa885c62aa4p-4,  0x1.c6f6942b98d39p-4,  -0x1.98d23e78b14d3p-4,
    0x1.712ccb7c7fff5p-4,   -0x1.4aff0f909e070p-4, 0x1.2027a69e4c9dap-4,
    -0x1.d6fd272125171p-5,  0x1.5a700aabd230dp-5,  -0x1.b6026b934bed0p-6,
    0x1.c539bb870054dp-7,   -0x1.6b05d1cfac100p-8, 0x1.a1f393ccc7147p-10,
    -0x1.319cb8ba83d4dp-12, 0x1.a8703df9a1b4ep-16};

// ln(1 + m) = m + m^2 P(m), |m| <= 1/3.
static constexpr double logNearOne32[] = {
    -0x1.ffffd4p-2, 0x1.555504p-2, -0x1.0014bap-2, 0x1.99d0aep-3,
    -0x1.502bcap-3, 0x1.1ed6e4p-3, -0x1.3b49d8p-3, 0x1.1e49c2p-3};

// erf(x) = x + x P(x^2), |x| <= 0.9.
static constexpr double erfNearZero32[] = {0x1.06eba6p-3, -0x1.8126f4p-2,
                                           0x1.ce1d40p-4, -0x1.b6b862p-6,
                                           0x1.4856a6p-8, -0x1.3edc3cp-11};
// erf(x) = 1 - e^-(x + x P(x)), 0.9 <= x <= 3.95.
static constexpr double erfFar32[] = {0x1.07358ap-3, 0x1.457a54p-1,
                                      0x1.af41e6p-4, -0x1.774c7cp-6,
                                      0x1.a6108ep-9, -0x1.c211e2p-13};

//===----------------------------------------------------------------------===//
// Building blocks
//===----------------------------------------------------------------------===//

namespace {

/// Builds arithmetic on values of one floating type or vectors of it.
class Arithmetic {
public:
  Arithmetic(OpBuilder &builder, Location loc, Value x)
      : builder(loc, builder), type(x.getType()),
        is64(getElementTypeOrSelf(type).isF64()), fractionBits(is64 ? 52 : 23),
        bias(is64 ? 1023 : 127) {
    Type integer = this->builder.getIntegerType(is64 ? 64 : 32);
    auto vector = dyn_cast<VectorType>(type);
    bitsType = vector ? vector.clone(integer) : integer;
  }

  Value number(double value) {
    FloatAttr attr = builder.getFloatAttr(getElementTypeOrSelf(type), value);
    return constant(type, attr);
  }
  Value integer(int64_t value) {
    IntegerAttr attr =
        builder.getIntegerAttr(getElementTypeOrSelf(bitsType), value);
    return constant(bitsType, attr);
  }

  Value add(Value a, Value b) { return arith::AddFOp::create(builder, a, b); }
  Value sub(Value a, Value b) { return arith::SubFOp::create(builder, a, b); }
  Value mul(Value a, Value b) { return arith::MulFOp::create(builder, a, b); }
  Value div(Value a, Value b) { return arith::DivFOp::create(builder, a, b); }
  Value neg(Value a) { return arith::NegFOp::create(builder, a); }
  Value abs(Value a) { return math::AbsFOp::create(builder, a); }
  /// a b + c, rounded once.
  Value fma(Value a, Value b, Value c) {
    return math::FmaOp::create(builder, a, b, c);
  }
  Value copySign(Value magnitude, Value sign) {
    return math::CopySignOp::create(builder, magnitude, sign);
  }
  /// To the nearest integer, in any rounding mode.
  Value round(Value a) { return math::RoundEvenOp::create(builder, a); }

  Value addBits(Value a, Value b) {
    return arith::AddIOp::create(builder, a, b);
  }
  Value subBits(Value a, Value b) {
    return arith::SubIOp::create(builder, a, b);
  }
  Value andBits(Value a, int64_t mask) {
    return arith::AndIOp::create(builder, a, integer(mask));
  }
  Value bitsOf(Value a) {
    return arith::BitcastOp::create(builder, bitsType, a);
  }
  Value fromBits(Value a) { return arith::BitcastOp::create(builder, type, a); }
  Value toNumber(Value integer) {
    return arith::SIToFPOp::create(builder, type, integer);
  }

  Value select(arith::CmpFPredicate predicate, Value a, double b, Value ifTrue,
               Value ifFalse) {
    Value condition = arith::CmpFOp::create(builder, predicate, a, number(b));
    return arith::SelectOp::create(builder, condition, ifTrue, ifFalse);
  }
  /// `a`, no less than `low` and no more than `high`; NaN stays.
  Value clamp(Value a, double low, double high) {
    a = select(arith::CmpFPredicate::OLT, a, low, number(low), a);
    return select(arith::CmpFPredicate::OGT, a, high, number(high), a);
  }

  /// c0 + c1 x + c2 x^2 + ...
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value sum = number(coefficients.back());
    for (double coefficient : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, number(coefficient));
    return sum;
  }
  /// x + x^2 P(x), to the precision of x where that is small.
  Value polynomialAfterX(Value x, ArrayRef<double> coefficients) {
    return fma(polynomial(x, coefficients), mul(x, x), x);
  }

  /// x = n ln(2) + r with |r| <= ln(2) / 2.
  struct Reduced {
    Value n, r;
  };
  Reduced reduce(Value x) {
    // ln(2) in two parts: an integer times the first is subtracted exactly.
    double high = is64 ? 0x1.62e42fefa39efp-1 : 0x1.62e430p-1;
    double low = is64 ? 0x1.abc9e3b39803fp-56 : -0x1.05c610p-29;
    Value n = round(mul(x, number(1.4426950408889634074)));
    Value r = fma(n, number(-high), x);
    return {n, fma(n, number(-low), r)};
  }

  /// An integral number as the increment of a number's exponent: its bits from
  /// that of the exponent on.
  Value exponentBits(Value n) {
    // The low bits of the sum are those of n.
    Value sum = bitsOf(add(n, number(is64 ? 0x1.8p52 : 0x1.8p23)));
    return arith::ShLIOp::create(builder, sum, integer(fractionBits));
  }
  /// 2^(n + offset), if normal; 0 for the next smaller power.
  Value powerOfTwo(Value n, int64_t offset = 0) {
    return fromBits(
        addBits(exponentBits(n), integer((bias + offset) << fractionBits)));
  }

  /// The power of 2 by which to divide `x`, a normal number, to be near 1:
  /// from 2/3 to 4/3. Bits of its exponent's increment.
  Value exponentNearOne(Value x) {
    int64_t twoThirds = is64 ? 0x3fe5555555555555 : 0x3f2aaaab;
    return andBits(subBits(bitsOf(x), integer(twoThirds)),
                   -(int64_t(1) << fractionBits));
  }
  Value exponentNumber(Value bits) {
    return toNumber(
        arith::ShRSIOp::create(builder, bits, integer(fractionBits)));
  }

  bool isDouble() const { return is64; }

private:
  Value constant(Type type, TypedAttr scalar) {
    if (auto vector = dyn_cast<VectorType>(type))
      scalar = DenseElementsAttr::get(vector, Attribute(scalar));
    return arith::ConstantOp::create(builder, scalar);
  }

  ImplicitLocOpBuilder builder;
  Type type, bitsType;
  bool is64;
  int64_t fractionBits, bias;
};

} // namespace

using Predicate = arith::CmpFPredicate;

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

Value larc::buildExp(OpBuilder &builder, Location loc, Value x) {
  Arithmetic a(builder, loc, x);
  if (a.isDouble()) {
    // Two factors, since 2^n may be no normal number where the result is one,
    // and a denormal result is to be rounded as one.
    auto [n, r] = a.reduce(a.clamp(x, -746, 710));
    Value sum = a.polynomial(r, exp64);
    sum = a.fma(a.fma(sum, r, a.number(1)), r, a.number(1));
    Value half = a.round(a.mul(n, a.number(0.5)));
    sum = a.mul(sum, a.powerOfTwo(half));
    return a.mul(sum, a.powerOfTwo(a.sub(n, half)));
  }
  auto [n, r] = a.reduce(x);
  Value sum = a.polynomial(r, exp32);
  sum = a.fma(a.fma(sum, r, a.number(1)), r, a.number(1));
  Value scaled = a.fromBits(a.addBits(a.bitsOf(sum), a.exponentBits(n)));
  // The bits are those of a number from ln(2^-126) to ln(2^128) only. Above
  // are infinity and NaN, of which x is one, or gives one.
  scaled = a.select(Predicate::UGT, x, 0x1.62e42ep+6,
                    a.add(x, a.number(infinity)), scaled);
  return a.select(Predicate::OLT, x, -0x1.5d589ep+6, a.number(0), scaled);
}

Value larc::buildExpm1(OpBuilder &builder, Location loc, Value x) {
  Arithmetic a(builder, loc, x);
  // Below the clamp lies -1, above infinity.
  auto [n, r] = a.isDouble() ? a.reduce(a.clamp(x, -40, 710))
                             : a.reduce(a.clamp(x, -20, 89));
  Value q = a.polynomialAfterX(r, a.isDouble() ? ArrayRef(expm1Of64)
                                               : ArrayRef(expm1Of32));
  // 2^n q + (2^n - 1), of which half is taken: 2^n overflows before it does.
  Value half = a.powerOfTwo(n, -1);
  Value sum = a.fma(half, q, a.sub(half, a.number(0.5)));
  // The sign of a zero, too.
  return a.copySign(a.add(sum, sum), x);
}

Value larc::buildTanh(OpBuilder &builder, Location loc, Value x) {
  Arithmetic a(builder, loc, x);
  // t / (t + 2) with t = e^(2 |x|) - 1; above the clamp the result is 1.
  Value size = a.clamp(a.abs(x), 0, a.isDouble() ? 20 : 10);
  auto [n, r] = a.reduce(a.add(size, size));
  Value q = a.polynomialAfterX(r, a.isDouble() ? ArrayRef(expm1Of64)
                                               : ArrayRef(expm1Of32));
  Value power = a.powerOfTwo(n);
  Value t = a.fma(power, q, a.sub(power, a.number(1)));
  return a.copySign(a.div(t, a.add(t, a.number(2))), x);
}

//===----------------------------------------------------------------------===//
// Logarithms
//===----------------------------------------------------------------------===//

Value larc::buildLog1pOfFraction(OpBuilder &builder, Location loc, Value x) {
  Arithmetic a(builder, loc, x);
  return a.polynomialAfterX(x, a.isDouble() ? ArrayRef(log1pOfFraction64)
                                            : ArrayRef(log1pOfFraction32));
}

/// ln(1 + m) + k ln(2).
static Value buildLogOf(Arithmetic &a, Value m, Value k) {
  Value sum = a.polynomialAfterX(m, logNearOne32);
  sum = a.fma(k, a.number(-0x1.05c610p-29), sum);
  return a.fma(k, a.number(0x1.62e430p-1), sum);
}

Value larc::buildLog(OpBuilder &builder, Location loc, Value x) {
  Arithmetic a(builder, loc, x);
  // Denormal numbers have no exponent of their own.
  double smallest = 0x1p-126;
  Value normal =
      a.select(Predicate::OLT, x, smallest, a.mul(x, a.number(0x1p24)), x);
  Value bits = a.exponentNearOne(normal);
  Value k = a.exponentNumber(bits);
  k = a.select(Predicate::OLT, x, smallest, a.sub(k, a.number(24)), k);
  Value m = a.sub(a.fromBits(a.subBits(a.bitsOf(normal), bits)), a.number(1));
  Value result = buildLogOf(a, m, k);
  result = a.select(Predicate::UGE, x, infinity, x, result);
  result = a.select(Predicate::OEQ, x, 0, a.number(-infinity), result);
  return a.select(Predicate::OLT, x, 0, a.number(notANumber), result);
}

Value larc::buildLog1p(OpBuilder &builder, Location loc, Value x) {
  Arithmetic a(builder, loc, x);
  // 1 + x = 2^k (1 + m), with m = 2^-k x + (2^-k - 1), from x unrounded. 2^-k
  // is made four times as large, so that it is a normal number for all k.
  Value bits = a.exponentNearOne(a.add(x, a.number(1)));
  Value four = a.fromBits(a.subBits(a.bitsOf(a.number(4)), bits));
  Value m = a.add(a.fromBits(a.subBits(a.bitsOf(x), bits)),
                  a.fma(four, a.number(0.25), a.number(-1)));
  Value result = buildLogOf(a, m, a.exponentNumber(bits));
  result = a.select(Predicate::UGE, x, infinity, x, result);
  result = a.select(Predicate::OEQ, x, -1, a.number(-infinity), result);
  result = a.select(Predicate::OLT, x, -1, a.number(notANumber), result);
  // Its sign, too.
  return a.select(Predicate::OEQ, x, 0, x, result);
}

//===----------------------------------------------------------------------===//
// The error function
//===----------------------------------------------------------------------===//

Value larc::buildErf(OpBuilder &builder, Location loc, Value x) {
  Arithmetic a(builder, loc, x);
  Value near = a.fma(a.polynomial(a.mul(x, x), erfNearZero32), x, x);
  Value size = a.abs(x);
  // Above the clamp the result is 1.
  Value far = a.clamp(size, 0, 3.95);
  far = a.fma(a.polynomial(far, erfFar32), far, far);
  far = a.sub(a.number(1), buildExp(builder, loc, a.neg(far)));
  return a.select(Predicate::OLT, size, 0.9, near, a.copySign(far, x));
}
