//===- TileScalarOps.cpp - Scalar operations of tile programs ---*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums, products, quotients and roots of float32 and narrower types, computed
// in double and then rounded, are those that the narrow type gives: a double
// has more than twice the digits.
//
//===----------------------------------------------------------------------===//

#include "TileElements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace larc;
using namespace larc::tilerun;

static double maximum(double x, double y) {
  if (std::isnan(x) || std::isnan(y))
    return x + y;
  if (x == y)
    return std::signbit(x) ? y : x;
  return x > y ? x : y;
}

static double minimum(double x, double y) {
  if (std::isnan(x) || std::isnan(y))
    return x + y;
  if (x == y)
    return std::signbit(x) ? x : y;
  return x < y ? x : y;
}

static bool compareReals(arith::CmpFPredicate predicate, double x, double y) {
  bool unordered = std::isnan(x) || std::isnan(y);
  switch (predicate) {
  case arith::CmpFPredicate::AlwaysFalse:
    return false;
  case arith::CmpFPredicate::AlwaysTrue:
    return true;
  case arith::CmpFPredicate::ORD:
    return !unordered;
  case arith::CmpFPredicate::UNO:
    return unordered;
  case arith::CmpFPredicate::OEQ:
    return x == y;
  case arith::CmpFPredicate::OGT:
    return x > y;
  case arith::CmpFPredicate::OGE:
    return x >= y;
  case arith::CmpFPredicate::OLT:
    return x < y;
  case arith::CmpFPredicate::OLE:
    return x <= y;
  case arith::CmpFPredicate::ONE:
    return x < y || x > y;
  case arith::CmpFPredicate::UEQ:
    return unordered || x == y;
  case arith::CmpFPredicate::UGT:
    return unordered || x > y;
  case arith::CmpFPredicate::UGE:
    return unordered || x >= y;
  case arith::CmpFPredicate::ULT:
    return unordered || x < y;
  case arith::CmpFPredicate::ULE:
    return unordered || x <= y;
  case arith::CmpFPredicate::UNE:
    return unordered || x != y;
  }
  return false;
}

static bool compareIntegers(arith::CmpIPredicate predicate, int64_t x,
                            int64_t y) {
  // Extending both with their sign keeps the order of unsigned numbers too.
  auto ux = static_cast<uint64_t>(x), uy = static_cast<uint64_t>(y);
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return x == y;
  case arith::CmpIPredicate::ne:
    return x != y;
  case arith::CmpIPredicate::slt:
    return x < y;
  case arith::CmpIPredicate::sle:
    return x <= y;
  case arith::CmpIPredicate::sgt:
    return x > y;
  case arith::CmpIPredicate::sge:
    return x >= y;
  case arith::CmpIPredicate::ult:
    return ux < uy;
  case arith::CmpIPredicate::ule:
    return ux <= uy;
  case arith::CmpIPredicate::ugt:
    return ux > uy;
  case arith::CmpIPredicate::uge:
    return ux >= uy;
  }
  return false;
}

/// Truncation, as the GPU's conversions do it: NaN is zero, what is too large
/// is the last number.
static int64_t truncateReal(double value, Format format, bool isSigned) {
  if (std::isnan(value))
    return 0;
  int digits = static_cast<int>(format.bits) - (isSigned ? 1 : 0);
  double limit = std::ldexp(1.0, digits);
  double lowest = isSigned ? -limit : 0;
  uint64_t last = llvm::maskTrailingOnes<uint64_t>(digits);
  if (value >= limit)
    return wrapTo(format, static_cast<int64_t>(last));
  if (value <= lowest)
    return isSigned ? wrapTo(format, static_cast<int64_t>(last + 1)) : 0;
  if (isSigned)
    return static_cast<int64_t>(value);
  return wrapTo(format, static_cast<int64_t>(static_cast<uint64_t>(value)));
}

namespace {
/// Computes the results of one operation, whatever the number of elements.
class Evaluator {
public:
  Evaluator(Operation *op, ArrayRef<ElementSpan> operands, Element *results,
            int64_t count, Format from, Format to)
      : op(op), operands(operands), results(results), count(count), from(from),
        to(to) {}

  LogicalResult evaluate();

private:
  LogicalResult evaluateArithmetic();
  LogicalResult evaluateIntegers();
  LogicalResult evaluateDivisions();
  LogicalResult evaluateConversions();
  LogicalResult evaluateFunctions();

  template <typename Function>
  LogicalResult forEach(Function function) {
    for (int64_t i = 0; i < count; ++i)
      results[i] = function(i);
    return success();
  }
  template <typename Function>
  LogicalResult unary(Function function) {
    return forEach(
        [&](int64_t i) { return real(function(operands[0][i].real)); });
  }
  template <typename Function>
  LogicalResult binary(Function function) {
    return forEach([&](int64_t i) {
      return real(function(operands[0][i].real, operands[1][i].real));
    });
  }
  template <typename Function>
  LogicalResult integers(Function function) {
    return forEach([&](int64_t i) {
      return integer(function(operands[0][i].integer, operands[1][i].integer));
    });
  }
  template <typename Function>
  LogicalResult unsignedIntegers(Function function) {
    return forEach([&](int64_t i) {
      return integer(static_cast<int64_t>(function(
          toBits(from, operands[0][i]), toBits(from, operands[1][i]))));
    });
  }
  /// As `integers` or `unsignedIntegers`, for quotients and remainders.
  template <bool isSigned, typename Function>
  LogicalResult division(Function function) {
    for (int64_t i = 0; i < count; ++i)
      if (operands[1][i].integer == 0)
        return op->emitOpError("divides by zero");
    if constexpr (isSigned) {
      for (int64_t i = 0; i < count; ++i)
        if (operands[1][i].integer == -1 &&
            operands[0][i].integer == std::numeric_limits<int64_t>::min())
          return op->emitOpError("divides the least number by -1");
      return integers(function);
    } else {
      return unsignedIntegers(function);
    }
  }

  Element real(double value) const {
    Element element;
    element.real = roundTo(to, value);
    return element;
  }
  Element integer(int64_t value) const {
    Element element;
    element.integer = wrapTo(to, value);
    return element;
  }
  /// The value of a predicate is that of its one bit, -1 where it counts as
  /// a signed number.
  int64_t getSigned(int64_t i) const {
    int64_t value = operands[0][i].integer;
    return from.bits == 1 ? -value : value;
  }
  uint64_t getUnsigned(int64_t i) const { return toBits(from, operands[0][i]); }

  Operation *op;
  ArrayRef<ElementSpan> operands;
  Element *results;
  int64_t count;
  /// The formats of the first operand and of the result.
  Format from, to;
};
} // namespace

LogicalResult Evaluator::evaluate() {
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return forEach([&](int64_t i) {
      return operands[0][i].integer != 0 ? operands[1][i] : operands[2][i];
    });
  if (isa<math::MathDialect>(op->getDialect()))
    return evaluateFunctions();
  if (isa<arith::ArithDialect>(op->getDialect()))
    return evaluateArithmetic();
  return op->emitOpError("is not known to the interpreter");
}

LogicalResult Evaluator::evaluateArithmetic() {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<arith::AddFOp>([&](auto) {
        return binary([](double x, double y) { return x + y; });
      })
      .Case<arith::SubFOp>([&](auto) {
        return binary([](double x, double y) { return x - y; });
      })
      .Case<arith::MulFOp>([&](auto) {
        return binary([](double x, double y) { return x * y; });
      })
      .Case<arith::DivFOp>([&](auto) {
        return binary([](double x, double y) { return x / y; });
      })
      .Case<arith::RemFOp>([&](auto) {
        return binary([](double x, double y) { return std::fmod(x, y); });
      })
      .Case<arith::NegFOp>(
          [&](auto) { return unary([](double x) { return -x; }); })
      .Case<arith::MaximumFOp>([&](auto) { return binary(maximum); })
      .Case<arith::MinimumFOp>([&](auto) { return binary(minimum); })
      .Case<arith::MaxNumFOp>([&](auto) {
        return binary([](double x, double y) {
          return std::isnan(x) ? y : std::isnan(y) ? x : maximum(x, y);
        });
      })
      .Case<arith::MinNumFOp>([&](auto) {
        return binary([](double x, double y) {
          return std::isnan(x) ? y : std::isnan(y) ? x : minimum(x, y);
        });
      })
      .Case<arith::CmpFOp>([&](arith::CmpFOp compare) {
        return forEach([&](int64_t i) {
          return integer(compareReals(compare.getPredicate(),
                                      operands[0][i].real,
                                      operands[1][i].real));
        });
      })
      .Case<arith::CmpIOp>([&](arith::CmpIOp compare) {
        // A predicate that is true is -1 to signed comparisons.
        int64_t sign = from.bits == 1 ? -1 : 1;
        return forEach([&](int64_t i) {
          return integer(compareIntegers(compare.getPredicate(),
                                         sign * operands[0][i].integer,
                                         sign * operands[1][i].integer));
        });
      })
      .Default([&](Operation *) { return evaluateIntegers(); });
}

LogicalResult Evaluator::evaluateIntegers() {
  using S = int64_t;
  using U = uint64_t;
  // What does not fit is cut off afterwards, and so is computed unsigned.
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<arith::AddIOp>([&](auto) {
        return unsignedIntegers([](U x, U y) { return x + y; });
      })
      .Case<arith::SubIOp>([&](auto) {
        return unsignedIntegers([](U x, U y) { return x - y; });
      })
      .Case<arith::MulIOp>([&](auto) {
        return unsignedIntegers([](U x, U y) { return x * y; });
      })
      .Case<arith::AndIOp>(
          [&](auto) { return integers([](S x, S y) { return x & y; }); })
      .Case<arith::OrIOp>(
          [&](auto) { return integers([](S x, S y) { return x | y; }); })
      .Case<arith::XOrIOp>(
          [&](auto) { return integers([](S x, S y) { return x ^ y; }); })
      .Case<arith::ShLIOp>([&](auto) {
        return unsignedIntegers([](U x, U y) { return y < 64 ? x << y : 0; });
      })
      .Case<arith::ShRUIOp>([&](auto) {
        return unsignedIntegers([](U x, U y) { return y < 64 ? x >> y : 0; });
      })
      .Case<arith::ShRSIOp>([&](auto) {
        return integers([](S x, S y) { return x >> std::clamp<S>(y, 0, 63); });
      })
      .Case<arith::MaxSIOp>([&](auto) {
        return integers([](S x, S y) { return std::max(x, y); });
      })
      .Case<arith::MinSIOp>([&](auto) {
        return integers([](S x, S y) { return std::min(x, y); });
      })
      .Case<arith::MaxUIOp>([&](auto) {
        return unsignedIntegers([](U x, U y) { return std::max(x, y); });
      })
      .Case<arith::MinUIOp>([&](auto) {
        return unsignedIntegers([](U x, U y) { return std::min(x, y); });
      })
      .Default([&](Operation *) { return evaluateDivisions(); });
}

LogicalResult Evaluator::evaluateDivisions() {
  using S = int64_t;
  using U = uint64_t;
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<arith::DivSIOp>(
          [&](auto) { return division<true>([](S x, S y) { return x / y; }); })
      .Case<arith::RemSIOp>(
          [&](auto) { return division<true>([](S x, S y) { return x % y; }); })
      .Case<arith::CeilDivSIOp>([&](auto) {
        return division<true>([](S x, S y) {
          return x / y + (x % y != 0 && (x < 0) == (y < 0) ? 1 : 0);
        });
      })
      .Case<arith::FloorDivSIOp>([&](auto) {
        return division<true>([](S x, S y) {
          return x / y - (x % y != 0 && (x < 0) != (y < 0) ? 1 : 0);
        });
      })
      .Case<arith::DivUIOp>(
          [&](auto) { return division<false>([](U x, U y) { return x / y; }); })
      .Case<arith::RemUIOp>(
          [&](auto) { return division<false>([](U x, U y) { return x % y; }); })
      .Case<arith::CeilDivUIOp>([&](auto) {
        return division<false>(
            [](U x, U y) { return x / y + (x % y != 0 ? 1 : 0); });
      })
      .Default([&](Operation *) { return evaluateConversions(); });
}

LogicalResult Evaluator::evaluateConversions() {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<arith::ExtFOp, arith::TruncFOp>(
          [&](auto) { return unary([](double x) { return x; }); })
      .Case<arith::SIToFPOp>([&](auto) {
        return forEach([&](int64_t i) {
          // Past 2^53 a double would round a first time.
          return real(to.kind == Format::F32
                          ? static_cast<float>(getSigned(i))
                          : static_cast<double>(getSigned(i)));
        });
      })
      .Case<arith::UIToFPOp>([&](auto) {
        return forEach([&](int64_t i) {
          return real(to.kind == Format::F32
                          ? static_cast<float>(getUnsigned(i))
                          : static_cast<double>(getUnsigned(i)));
        });
      })
      .Case<arith::FPToSIOp>([&](auto) {
        return forEach([&](int64_t i) {
          return integer(truncateReal(operands[0][i].real, to, true));
        });
      })
      .Case<arith::FPToUIOp>([&](auto) {
        return forEach([&](int64_t i) {
          return integer(truncateReal(operands[0][i].real, to, false));
        });
      })
      .Case<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp>([&](auto) {
        return forEach([&](int64_t i) { return integer(getSigned(i)); });
      })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>([&](auto) {
        return forEach([&](int64_t i) {
          return integer(static_cast<int64_t>(getUnsigned(i)));
        });
      })
      .Case<arith::BitcastOp>([&](auto) {
        return forEach([&](int64_t i) {
          return fromBits(to, toBits(from, operands[0][i]));
        });
      })
      .Default([](Operation *other) {
        return other->emitOpError("is not known to the interpreter");
      });
}

LogicalResult Evaluator::evaluateFunctions() {
  using F = double (*)(double);
  auto function = [&](F f) { return unary(f); };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<math::AbsFOp>([&](auto) { return function(std::fabs); })
      .Case<math::AbsIOp>([&](auto) {
        return forEach([&](int64_t i) {
          return integer(std::max(getSigned(i), -getSigned(i)));
        });
      })
      .Case<math::ExpOp>([&](auto) { return function(std::exp); })
      .Case<math::Exp2Op>([&](auto) { return function(std::exp2); })
      .Case<math::ExpM1Op>([&](auto) { return function(std::expm1); })
      .Case<math::LogOp>([&](auto) { return function(std::log); })
      .Case<math::Log2Op>([&](auto) { return function(std::log2); })
      .Case<math::Log10Op>([&](auto) { return function(std::log10); })
      .Case<math::Log1pOp>([&](auto) { return function(std::log1p); })
      .Case<math::SqrtOp>([&](auto) { return function(std::sqrt); })
      .Case<math::RsqrtOp>([&](auto) {
        return unary([](double x) { return 1 / std::sqrt(x); });
      })
      .Case<math::SinOp>([&](auto) { return function(std::sin); })
      .Case<math::CosOp>([&](auto) { return function(std::cos); })
      .Case<math::TanOp>([&](auto) { return function(std::tan); })
      .Case<math::SinhOp>([&](auto) { return function(std::sinh); })
      .Case<math::CoshOp>([&](auto) { return function(std::cosh); })
      .Case<math::TanhOp>([&](auto) { return function(std::tanh); })
      .Case<math::AtanOp>([&](auto) { return function(std::atan); })
      .Case<math::ErfOp>([&](auto) { return function(std::erf); })
      .Case<math::FloorOp>([&](auto) { return function(std::floor); })
      .Case<math::CeilOp>([&](auto) { return function(std::ceil); })
      .Case<math::TruncOp>([&](auto) { return function(std::trunc); })
      .Case<math::RoundOp>([&](auto) { return function(std::round); })
      .Case<math::RoundEvenOp>([&](auto) { return function(std::nearbyint); })
      .Case<math::PowFOp>([&](auto) {
        return binary([](double x, double y) { return std::pow(x, y); });
      })
      .Case<math::Atan2Op>([&](auto) {
        return binary([](double x, double y) { return std::atan2(x, y); });
      })
      .Case<math::CopySignOp>([&](auto) {
        return binary([](double x, double y) { return std::copysign(x, y); });
      })
      .Case<math::FmaOp>([&](auto) {
        return forEach([&](int64_t i) {
          double x = operands[0][i].real, y = operands[1][i].real;
          double z = operands[2][i].real;
          // One rounding: a double's sum would add a second one.
          if (to.kind == Format::F32)
            return real(std::fma(static_cast<float>(x), static_cast<float>(y),
                                 static_cast<float>(z)));
          return real(std::fma(x, y, z));
        });
      })
      .Default([](Operation *other) {
        return other->emitOpError("is not known to the interpreter");
      });
}

LogicalResult tilerun::evaluateElements(Operation *op,
                                        ArrayRef<ElementSpan> operands,
                                        Element *results, int64_t count) {
  if (op->getNumResults() != 1)
    return op->emitOpError("is not known to the interpreter");
  std::optional<Format> to = getFormat(op->getResult(0).getType());
  if (!to)
    return op->emitOpError("a result of type ")
           << op->getResult(0).getType() << " is not known to the interpreter";
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    Element element;
    if (auto real = dyn_cast<FloatAttr>(constant.getValue()))
      element.real = real.getValueAsDouble();
    else if (auto integer = dyn_cast<IntegerAttr>(constant.getValue()))
      element.integer = wrapTo(*to, integer.getValue().getSExtValue());
    else
      return op->emitOpError("is not known to the interpreter");
    std::fill_n(results, count, element);
    return success();
  }
  if (operands.empty())
    return op->emitOpError("is not known to the interpreter");
  std::optional<Format> from = getFormat(op->getOperand(0).getType());
  if (!from)
    return op->emitOpError("an operand of type ")
           << op->getOperand(0).getType() << " is not known to the interpreter";
  return Evaluator(op, operands, results, count, *from, *to).evaluate();
}
