//===- LarcDecompose.cpp - Composite operations in simpler ones -*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Dialect/Larc/IR/Larc.h"

using namespace mlir;
using namespace larc;

static Value constant(OpBuilder &builder, Location loc, double value) {
  return ConstantOp::create(builder, loc, builder.getF64FloatAttr(value));
}

/// Sum of squares over `axes`.
static Value sumOfSquares(OpBuilder &builder, Location loc, Value x,
                          ArrayAttr axes) {
  return ContractOp::create(builder, loc, x, x, axes);
}

FailureOr<Value> NormOp::decompose(OpBuilder &builder) {
  return Value(
      SqrtOp::create(builder, getLoc(),
                     sumOfSquares(builder, getLoc(), getOperand(), getAxes())));
}

FailureOr<Value> NormalizeOp::decompose(OpBuilder &builder) {
  Location loc = getLoc();
  double eps = getEps().convertToDouble();
  Value squares = sumOfSquares(builder, loc, getOperand(), getAxes());
  Value divisor;
  if (getRule() == EpsRule::Inside) {
    Value sum =
        AddOp::create(builder, loc, squares, constant(builder, loc, eps));
    divisor = SqrtOp::create(builder, loc, sum);
  } else {
    divisor = SqrtOp::create(builder, loc, squares);
    if (eps != 0.0) {
      Value limit = constant(builder, loc, eps);
      divisor = getRule() == EpsRule::Max
                    ? Value(MaxOp::create(builder, loc, divisor, limit))
                    : Value(AddOp::create(builder, loc, divisor, limit));
    }
  }
  return Value(DivOp::create(builder, loc, getOperand(), divisor));
}

FailureOr<Value> SoftmaxOp::decompose(OpBuilder &builder) {
  Location loc = getLoc();
  Value high =
      ReduceOp::create(builder, loc, ReduceKind::Max, getOperand(), getAxes());
  Value e = ExpOp::create(builder, loc,
                          SubOp::create(builder, loc, getOperand(), high));
  Value sum = ReduceOp::create(builder, loc, ReduceKind::Sum, e, getAxes());
  return Value(DivOp::create(builder, loc, e, sum));
}

/// x (x^T x) as [rows, columns], where `gram` is x^T x over [columns, other].
static Value timesGram(OpBuilder &builder, Location loc, Value x, Value gram,
                       StringAttr columns, StringAttr other) {
  Value renamed = RenameOp::create(builder, loc, x, columns, other);
  return ContractOp::create(builder, loc, renamed, gram,
                            builder.getArrayAttr({other}));
}

FailureOr<Value> OrthogonalizeOp::decompose(OpBuilder &builder) {
  Location loc = getLoc();
  auto count = dyn_cast<IntegerAttr>(getIterations());
  if (!count)
    return emitOpError("has a number of iterations that is not bound yet");
  StringAttr rows = getRowsAttr(), columns = getColumnsAttr();
  // A second name for the columns that no axis of the operand has.
  StringAttr other = columns;
  do
    other = builder.getStringAttr(other.getValue() + "_");
  while (getOperand().getType().hasAxis(other));

  ArrayAttr both = builder.getArrayAttr({rows, columns});
  Value norm = SqrtOp::create(builder, loc,
                              sumOfSquares(builder, loc, getOperand(), both));
  Value divisor = AddOp::create(
      builder, loc, norm, constant(builder, loc, getEps().convertToDouble()));
  Value x = DivOp::create(builder, loc, getOperand(), divisor);
  for (int64_t i = 0, e = count.getInt(); i < e; ++i) {
    Value renamed = RenameOp::create(builder, loc, x, columns, other);
    Value gram = ContractOp::create(builder, loc, x, renamed,
                                    builder.getArrayAttr({rows}));
    Value term = timesGram(builder, loc, x, gram, columns, other);
    Value sum = MulOp::create(builder, loc, x,
                              constant(builder, loc, getCoefficients()[0]));
    for (double coefficient : getCoefficients().drop_front()) {
      Value scaled = MulOp::create(builder, loc, term,
                                   constant(builder, loc, coefficient));
      sum = AddOp::create(builder, loc, sum, scaled);
      if (&coefficient != &getCoefficients().back())
        term = timesGram(builder, loc, term, gram, columns, other);
    }
    x = sum;
  }
  return x;
}
