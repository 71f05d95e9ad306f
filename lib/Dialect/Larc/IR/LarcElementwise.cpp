//===- LarcElementwise.cpp - Elementwise operations -*- C++ -*- -----------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Dialect/Larc/IR/Larc.h"
#include "larc/Dialect/Larc/IR/TypeScope.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace larc;

//===----------------------------------------------------------------------===//
// Syntax and types
//===----------------------------------------------------------------------===//

/// The array over every axis that an operand has.
static LogicalResult inferUnion(MLIRContext *context, ValueRange operands,
                                SmallVectorImpl<Type> &types) {
  ArrayType type = ArrayType::scalar(context);
  for (Value operand : operands) {
    auto array = dyn_cast<ArrayType>(operand.getType());
    if (!array)
      return failure();
    type = ArrayType::unionOf(type, array);
  }
  types.push_back(type);
  return success();
}

/// Refuses a family or an index, where an array is wanted.
static ParseResult requireArrays(OpAsmParser &parser, OperationState &result) {
  for (Value operand : result.operands) {
    if (isa<FamilyType>(operand.getType()))
      return parser.emitError(parser.getNameLoc())
             << "'" << result.name
             << "' takes arrays, not a family; read one with larc.member";
    if (!isa<ArrayType>(operand.getType()))
      return parser.emitError(parser.getNameLoc())
             << "'" << result.name << "' takes arrays, not an index of levels";
  }
  return success();
}

template <typename OpTy>
static ParseResult parseElementwise(OpAsmParser &parser, OperationState &result,
                                    unsigned numOperands) {
  for (unsigned i = 0; i < numOperands; ++i)
    if ((i && parser.parseComma()) || asm_format::parseOperand(parser, result))
      return failure();
  if (parser.parseOptionalAttrDict(result.attributes) ||
      requireArrays(parser, result))
    return failure();
  return asm_format::inferTypes<OpTy>(parser, result);
}

static void printElementwise(Operation *op, OpAsmPrinter &printer) {
  printer << ' ' << op->getOperands();
  printer.printOptionalAttrDict(op->getAttrs());
}

#define LARC_ELEMENTWISE(OP, NUM_OPERANDS)                                     \
  LogicalResult OP::inferReturnTypes(MLIRContext *context,                     \
                                     std::optional<Location>, Adaptor adaptor, \
                                     SmallVectorImpl<Type> &types) {           \
    return inferUnion(context, adaptor.getOperands(), types);                  \
  }                                                                            \
  ParseResult OP::parse(OpAsmParser &parser, OperationState &result) {         \
    return parseElementwise<OP>(parser, result, NUM_OPERANDS);                 \
  }                                                                            \
  void OP::print(OpAsmPrinter &printer) { printElementwise(*this, printer); }

/// As LARC_ELEMENTWISE, for an operation that one `arith` or `math` operation
/// is.
#define LARC_UNARY_AS(OP, TARGET)                                              \
  LARC_ELEMENTWISE(OP, 1)                                                      \
  Value OP::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {   \
    return TARGET::create(builder, loc, args[0]);                              \
  }
#define LARC_BINARY_AS(OP, TARGET, ...)                                        \
  LARC_ELEMENTWISE(OP, 2)                                                      \
  Value OP::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {   \
    return TARGET::create(builder, loc, args[0],                               \
                          args[1] __VA_OPT__(, ) __VA_ARGS__);                 \
  }

// Products and sums may be fused: one rounding instead of two.
static constexpr arith::FastMathFlags contract = arith::FastMathFlags::contract;

LARC_UNARY_AS(NegOp, arith::NegFOp)
LARC_UNARY_AS(AbsOp, math::AbsFOp)
LARC_UNARY_AS(ExpOp, math::ExpOp)
LARC_UNARY_AS(Expm1Op, math::ExpM1Op)
LARC_UNARY_AS(LogOp, math::LogOp)
LARC_UNARY_AS(Log1pOp, math::Log1pOp)
LARC_UNARY_AS(SqrtOp, math::SqrtOp)
LARC_UNARY_AS(TanhOp, math::TanhOp)
LARC_UNARY_AS(SinOp, math::SinOp)
LARC_UNARY_AS(CosOp, math::CosOp)
LARC_UNARY_AS(ErfOp, math::ErfOp)
LARC_BINARY_AS(AddOp, arith::AddFOp, contract)
LARC_BINARY_AS(SubOp, arith::SubFOp, contract)
LARC_BINARY_AS(MulOp, arith::MulFOp, contract)
LARC_BINARY_AS(DivOp, arith::DivFOp)
LARC_BINARY_AS(MaxOp, arith::MaximumFOp)
LARC_BINARY_AS(MinOp, arith::MinimumFOp)
LARC_ELEMENTWISE(RsqrtOp, 1)
LARC_ELEMENTWISE(ReciprocalOp, 1)
LARC_ELEMENTWISE(SquareOp, 1)
LARC_ELEMENTWISE(SigmoidOp, 1)
LARC_ELEMENTWISE(LogSigmoidOp, 1)
LARC_ELEMENTWISE(SoftplusOp, 1)
LARC_ELEMENTWISE(ReluOp, 1)
LARC_ELEMENTWISE(LogAddExpOp, 2)

//===----------------------------------------------------------------------===//
// Scalar code of the composite functions
//===----------------------------------------------------------------------===//

/// `value` as a float or a splat vector of `type`.
static Value splat(OpBuilder &builder, Location loc, Type type, double value) {
  TypedAttr number = builder.getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    number = DenseElementsAttr::get(vector, cast<FloatAttr>(number));
  return arith::ConstantOp::create(builder, loc, number);
}

/// e^-|x|, which no x overflows.
static Value decay(OpBuilder &builder, Location loc, Value x) {
  Value minusAbs = arith::NegFOp::create(builder, loc,
                                         math::AbsFOp::create(builder, loc, x));
  return math::ExpOp::create(builder, loc, minusAbs);
}

/// ln(1 + e^-|x|).
static Value softplusOfMinusAbs(OpBuilder &builder, Location loc, Value x) {
  return math::Log1pOp::create(builder, loc, decay(builder, loc, x));
}

Value RsqrtOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {
  // Not math.rsqrt: targets may approximate it.
  return arith::DivFOp::create(builder, loc,
                               splat(builder, loc, args[0].getType(), 1.0),
                               math::SqrtOp::create(builder, loc, args[0]));
}

Value ReciprocalOp::buildScalar(OpBuilder &builder, Location loc,
                                ValueRange args) {
  return arith::DivFOp::create(
      builder, loc, splat(builder, loc, args[0].getType(), 1.0), args[0]);
}

Value SquareOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {
  return arith::MulFOp::create(builder, loc, args[0], args[0], contract);
}

Value SigmoidOp::buildScalar(OpBuilder &builder, Location loc,
                             ValueRange args) {
  // e^x / (1 + e^x) of a negative x: 1 / (1 + e^-x) overflows too early.
  Value x = args[0];
  Value one = splat(builder, loc, x.getType(), 1.0);
  Value e = decay(builder, loc, x);
  Value negative =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, x,
                            splat(builder, loc, x.getType(), 0.0));
  Value numerator = arith::SelectOp::create(builder, loc, negative, e, one);
  return arith::DivFOp::create(builder, loc, numerator,
                               arith::AddFOp::create(builder, loc, one, e));
}

Value LogSigmoidOp::buildScalar(OpBuilder &builder, Location loc,
                                ValueRange args) {
  Value zero = splat(builder, loc, args[0].getType(), 0.0);
  Value low = arith::MinimumFOp::create(builder, loc, args[0], zero);
  return arith::SubFOp::create(builder, loc, low,
                               softplusOfMinusAbs(builder, loc, args[0]));
}

Value SoftplusOp::buildScalar(OpBuilder &builder, Location loc,
                              ValueRange args) {
  Value zero = splat(builder, loc, args[0].getType(), 0.0);
  Value high = arith::MaximumFOp::create(builder, loc, args[0], zero);
  return arith::AddFOp::create(builder, loc, high,
                               softplusOfMinusAbs(builder, loc, args[0]));
}

Value ReluOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {
  return arith::MaximumFOp::create(builder, loc, args[0],
                                   splat(builder, loc, args[0].getType(), 0.0));
}

Value LogAddExpOp::buildScalar(OpBuilder &builder, Location loc,
                               ValueRange args) {
  // Two equal infinities have no difference; theirs is taken as 0.
  Value zero = splat(builder, loc, args[0].getType(), 0.0);
  Value equal = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ,
                                      args[0], args[1]);
  Value difference = arith::SelectOp::create(
      builder, loc, equal, zero,
      arith::SubFOp::create(builder, loc, args[0], args[1]));
  Value high = arith::MaximumFOp::create(builder, loc, args[0], args[1]);
  return arith::AddFOp::create(builder, loc, high,
                               softplusOfMinusAbs(builder, loc, difference));
}

//===----------------------------------------------------------------------===//
// SelectOp
//===----------------------------------------------------------------------===//

LogicalResult SelectOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location>,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  return inferUnion(context, adaptor.getOperands(), types);
}

ParseResult SelectOp::parse(OpAsmParser &parser, OperationState &result) {
  SMLoc loc;
  StringRef keyword;
  if (asm_format::parseOperand(parser, result) ||
      parser.getCurrentLocation(&loc) || parser.parseKeyword(&keyword))
    return failure();
  std::optional<Predicate> predicate = symbolizePredicate(keyword);
  if (!predicate)
    return parser.emitError(loc) << "unknown comparison '" << keyword
                                 << "': expected gt, ge, lt, le, eq or ne";
  result.getOrAddProperties<Properties>().predicate =
      PredicateAttr::get(parser.getContext(), *predicate);
  if (asm_format::parseOperand(parser, result) || parser.parseComma() ||
      asm_format::parseOperand(parser, result) || parser.parseComma() ||
      asm_format::parseOperand(parser, result) ||
      parser.parseOptionalAttrDict(result.attributes) ||
      requireArrays(parser, result))
    return failure();
  return asm_format::inferTypes<SelectOp>(parser, result);
}

void SelectOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getLhs() << ' ' << stringifyPredicate(getPredicate()) << ' '
          << getRhs() << ", " << getX() << ", " << getY();
  printer.printOptionalAttrDict((*this)->getAttrs(), {"predicate"});
}

Value SelectOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {
  static constexpr arith::CmpFPredicate predicates[] = {
      arith::CmpFPredicate::OGT, arith::CmpFPredicate::OGE,
      arith::CmpFPredicate::OLT, arith::CmpFPredicate::OLE,
      arith::CmpFPredicate::OEQ, arith::CmpFPredicate::UNE};
  Value condition = arith::CmpFOp::create(
      builder, loc, predicates[static_cast<unsigned>(getPredicate())], args[0],
      args[1]);
  return arith::SelectOp::create(builder, loc, condition, args[2], args[3]);
}

//===----------------------------------------------------------------------===//
// BroadcastOp
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::inferReturnTypes(MLIRContext *context,
                                            std::optional<Location>,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto array = dyn_cast<ArrayType>(adaptor.getOperand().getType());
  if (!array || !adaptor.getAxes())
    return failure();
  SmallVector<StringAttr> axes(array.getAxes());
  for (Attribute axis : adaptor.getAxes())
    axes.push_back(cast<StringAttr>(axis));
  types.push_back(ArrayType::ofAxes(context, axes));
  return success();
}

ParseResult BroadcastOp::parse(OpAsmParser &parser, OperationState &result) {
  ArrayAttr axes;
  if (asm_format::parseOperand(parser, result) || parser.parseKeyword("to") ||
      parser.parseLSquare() || asm_format::parseAxes(parser, axes) ||
      parser.parseRSquare() ||
      parser.parseOptionalAttrDict(result.attributes) ||
      requireArrays(parser, result))
    return failure();
  result.getOrAddProperties<Properties>().axes = axes;
  return asm_format::inferTypes<BroadcastOp>(parser, result);
}

void BroadcastOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getOperand() << " to [";
  asm_format::printAxes(printer, getAxes().getValue());
  printer << ']';
  printer.printOptionalAttrDict((*this)->getAttrs(), {"axes"});
}

Value BroadcastOp::buildScalar(OpBuilder &, Location, ValueRange args) {
  return args[0];
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  return getOperand().getType() == getType() ? OpFoldResult(getOperand())
                                             : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// ConstantOp
//===----------------------------------------------------------------------===//

LogicalResult ConstantOp::inferReturnTypes(MLIRContext *context,
                                           std::optional<Location>, Adaptor,
                                           SmallVectorImpl<Type> &types) {
  types.push_back(ArrayType::scalar(context));
  return success();
}

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &result) {
  FloatAttr value;
  if (asm_format::parseReal(parser, value) ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  result.getOrAddProperties<Properties>().value = value;
  return asm_format::inferTypes<ConstantOp>(parser, result);
}

void ConstantOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  asm_format::printReal(printer, getValueAttr());
  printer.printOptionalAttrDict((*this)->getAttrs(), {"value"});
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

static std::optional<double> constantOf(Attribute attribute) {
  auto number = dyn_cast_or_null<FloatAttr>(attribute);
  if (!number)
    return std::nullopt;
  return number.getValueAsDouble();
}

/// Folds a binary operation of two constants, and one with a neutral element on
/// the right (or, if it commutes, on the left) where the other operand already
/// has the result's axes.
template <typename OpTy, typename Fn>
static OpFoldResult foldBinary(OpTy op, Attribute lhs, Attribute rhs,
                               double neutral, bool commutes, Fn evaluate) {
  std::optional<double> left = constantOf(lhs), right = constantOf(rhs);
  if (left && right)
    return FloatAttr::get(Float64Type::get(op.getContext()),
                          evaluate(*left, *right));
  if (right && *right == neutral && op.getLhs().getType() == op.getType())
    return op.getLhs();
  if (commutes && left && *left == neutral &&
      op.getRhs().getType() == op.getType())
    return op.getRhs();
  return {};
}

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  return foldBinary(*this, adaptor.getLhs(), adaptor.getRhs(), 0.0, true,
                    std::plus<double>());
}

OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  return foldBinary(*this, adaptor.getLhs(), adaptor.getRhs(), 0.0, false,
                    std::minus<double>());
}

OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  return foldBinary(*this, adaptor.getLhs(), adaptor.getRhs(), 1.0, true,
                    std::multiplies<double>());
}

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  return foldBinary(*this, adaptor.getLhs(), adaptor.getRhs(), 1.0, false,
                    std::divides<double>());
}

OpFoldResult NegOp::fold(FoldAdaptor adaptor) {
  if (std::optional<double> value = constantOf(adaptor.getOperand()))
    return FloatAttr::get(Float64Type::get(getContext()), -*value);
  if (auto inner = getOperand().getDefiningOp<NegOp>())
    return inner.getOperand();
  return {};
}

OpFoldResult ExpOp::fold(FoldAdaptor adaptor) {
  if (std::optional<double> value = constantOf(adaptor.getOperand()))
    return FloatAttr::get(Float64Type::get(getContext()), std::exp(*value));
  return {};
}
