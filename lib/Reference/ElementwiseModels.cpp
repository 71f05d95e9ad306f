//===- ElementwiseModels.cpp - Elementwise operations -----------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Functions.h"
#include "Nest.h"
#include "ReferenceModels.h"

using namespace mlir;
using namespace larc;

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

namespace {

template <typename Fn>
class UnaryInstruction final : public Instruction {
public:
  UnaryInstruction(const View &x, const View &r)
      : nest({&r, &x}), active(x.active) {}

  void forward(const TokenContext &context) const override {
    double *v = context.values;
    forEachElement(nest,
                   [=](const auto &at) { v[at[0]] = Fn::eval(v[at[1]]); });
  }

  void backward(const TokenContext &context) const override {
    if (!active)
      return;
    const double *v = context.values;
    double *c = context.cotangents;
    forEachElement(nest, [=](const auto &at) {
      c[at[1]] += guarded(c[at[0]], Fn::dx(v[at[1]], v[at[0]]));
    });
  }

private:
  Nest<2> nest; // result, operand
  bool active;
};

template <typename OpTy, typename Fn>
struct UnaryModel
    : ReferenceOpInterface::ExternalModel<UnaryModel<OpTy, Fn>, OpTy> {
  LogicalResult buildReference(Operation *op, ProgramBuilder &builder) const {
    auto typed = cast<OpTy>(op);
    View x = builder.getView(typed.getOperand());
    View r = builder.allocate(typed.getType(), x.active);
    builder.add(std::make_unique<UnaryInstruction<Fn>>(x, r));
    builder.setView(typed.getResult(), r);
    return success();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

/// r = f(x, y) over one row.
template <typename Fn, int64_t xStride, int64_t yStride>
static void evaluateRow(double *__restrict r, const double *x, const double *y,
                        int64_t size) {
  for (int64_t i = 0; i < size; ++i)
    r[i] = Fn::eval(x[i * xStride], y[i * yStride]);
}

/// Adds to the cotangent `c` of x (`first`) or y what the cotangent `g` of the
/// result gives it.
template <typename Fn, bool first, int64_t xStride, int64_t yStride>
static void differentiateRow(double *__restrict c, const double *g,
                             const double *x, const double *y, const double *r,
                             int64_t size) {
  auto term = [&](int64_t i) {
    double left = x[i * xStride], right = y[i * yStride];
    double factor =
        first ? Fn::dx(left, right, r[i]) : Fn::dy(left, right, r[i]);
    return guarded(g[i], factor);
  };
  constexpr int64_t stride = first ? xStride : yStride;
  if constexpr (stride == 0) {
// Sums in lanes: the order is the compiler's, and the same in every run.
#pragma clang fp reassociate(on)
    double sum = 0;
    for (int64_t i = 0; i < size; ++i)
      sum += term(i);
    *c += sum;
  } else {
    for (int64_t i = 0; i < size; ++i)
      c[i] += term(i);
  }
}

namespace {

template <typename Fn>
class BinaryInstruction final : public Instruction {
public:
  BinaryInstruction(const View &x, const View &y, const View &r)
      : nest({&r, &x, &y}), xActive(x.active), yActive(y.active) {}

  void forward(const TokenContext &context) const override {
    double *v = context.values;
    auto [rs, xs, ys] = nest.inner.strides;
    int64_t size = nest.inner.size;
    auto run = [&](auto row) {
      nest.forEachRow([&](const std::array<int64_t, 3> &at) {
        row(v + at[0], v + at[1], v + at[2], size);
      });
    };
    if (rs == 1 && xs == 1 && ys == 1)
      return run(evaluateRow<Fn, 1, 1>);
    if (rs == 1 && xs == 1 && ys == 0)
      return run(evaluateRow<Fn, 1, 0>);
    if (rs == 1 && xs == 0 && ys == 1)
      return run(evaluateRow<Fn, 0, 1>);
    forEachElement(
        nest, [=](const auto &at) { v[at[0]] = Fn::eval(v[at[1]], v[at[2]]); });
  }

  void backward(const TokenContext &context) const override {
    if (xActive)
      differentiate<true>(context);
    if (yActive)
      differentiate<false>(context);
  }

private:
  template <bool first>
  void differentiate(const TokenContext &context) const {
    const double *v = context.values;
    double *c = context.cotangents;
    auto [rs, xs, ys] = nest.inner.strides;
    int64_t size = nest.inner.size;
    auto run = [&](auto row) {
      nest.forEachRow([&](const std::array<int64_t, 3> &at) {
        row(c + at[first ? 1 : 2], c + at[0], v + at[1], v + at[2], v + at[0],
            size);
      });
    };
    if (rs == 1 && xs == 1 && ys == 1)
      return run(differentiateRow<Fn, first, 1, 1>);
    if (rs == 1 && xs == 1 && ys == 0)
      return run(differentiateRow<Fn, first, 1, 0>);
    if (rs == 1 && xs == 0 && ys == 1)
      return run(differentiateRow<Fn, first, 0, 1>);
    forEachElement(nest, [=](const auto &at) {
      double x = v[at[1]], y = v[at[2]], r = v[at[0]];
      c[at[first ? 1 : 2]] +=
          guarded(c[at[0]], first ? Fn::dx(x, y, r) : Fn::dy(x, y, r));
    });
  }

  Nest<3> nest; // result, operands
  bool xActive, yActive;
};

} // namespace

template <typename Fn>
static void addBinary(Operation *op, ProgramBuilder &builder) {
  View x = builder.getView(op->getOperand(0));
  View y = builder.getView(op->getOperand(1));
  View r = builder.allocate(cast<ArrayType>(op->getResult(0).getType()),
                            x.active || y.active);
  builder.add(std::make_unique<BinaryInstruction<Fn>>(x, y, r));
  builder.setView(op->getResult(0), r);
}

namespace {

template <typename OpTy, typename Fn>
struct BinaryModel
    : ReferenceOpInterface::ExternalModel<BinaryModel<OpTy, Fn>, OpTy> {
  LogicalResult buildReference(Operation *op, ProgramBuilder &builder) const {
    addBinary<Fn>(op, builder);
    return success();
  }
};

/// Max and min: a tie is shared, unless an operand is constant.
template <typename OpTy, template <int> typename Fn>
struct ExtremeModel
    : ReferenceOpInterface::ExternalModel<ExtremeModel<OpTy, Fn>, OpTy> {
  LogicalResult buildReference(Operation *op, ProgramBuilder &builder) const {
    if (builder.getView(op->getOperand(0)).active &&
        builder.getView(op->getOperand(1)).active)
      addBinary<Fn<50>>(op, builder);
    else
      addBinary<Fn<0>>(op, builder);
    return success();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Select
//===----------------------------------------------------------------------===//

static bool holds(Predicate predicate, double lhs, double rhs) {
  switch (predicate) {
  case Predicate::GT:
    return lhs > rhs;
  case Predicate::GE:
    return lhs >= rhs;
  case Predicate::LT:
    return lhs < rhs;
  case Predicate::LE:
    return lhs <= rhs;
  case Predicate::EQ:
    return lhs == rhs;
  case Predicate::NE:
    return lhs != rhs;
  }
  return false;
}

namespace {

class SelectInstruction final : public Instruction {
public:
  SelectInstruction(Predicate predicate, const View &lhs, const View &rhs,
                    const View &x, const View &y, const View &r)
      : predicate(predicate), nest({&r, &lhs, &rhs, &x, &y}), xActive(x.active),
        yActive(y.active) {}

  void forward(const TokenContext &context) const override {
    double *v = context.values;
    forEachElement(nest, [v, p = predicate](const auto &at) {
      v[at[0]] = holds(p, v[at[1]], v[at[2]]) ? v[at[3]] : v[at[4]];
    });
  }

  void backward(const TokenContext &context) const override {
    const double *v = context.values;
    double *c = context.cotangents;
    forEachElement(nest, [=](const auto &at) {
      bool first = holds(predicate, v[at[1]], v[at[2]]);
      if (first ? xActive : yActive)
        c[at[first ? 3 : 4]] += c[at[0]];
    });
  }

private:
  Predicate predicate;
  Nest<5> nest; // result, lhs, rhs, x, y
  bool xActive, yActive;
};

struct SelectModel
    : ReferenceOpInterface::ExternalModel<SelectModel, SelectOp> {
  LogicalResult buildReference(Operation *op, ProgramBuilder &builder) const {
    auto select = cast<SelectOp>(op);
    View lhs = builder.getView(select.getLhs());
    View rhs = builder.getView(select.getRhs());
    View x = builder.getView(select.getX());
    View y = builder.getView(select.getY());
    // What is compared gives its choice no derivative.
    View r = builder.allocate(select.getType(), x.active || y.active);
    builder.add(std::make_unique<SelectInstruction>(select.getPredicate(), lhs,
                                                    rhs, x, y, r));
    builder.setView(select.getResult(), r);
    return success();
  }
};

} // namespace

void larc::attachElementwiseModels(MLIRContext &context) {
  NegOp::attachInterface<UnaryModel<NegOp, functions::Neg>>(context);
  AbsOp::attachInterface<UnaryModel<AbsOp, functions::Abs>>(context);
  ExpOp::attachInterface<UnaryModel<ExpOp, functions::Exp>>(context);
  Expm1Op::attachInterface<UnaryModel<Expm1Op, functions::Expm1>>(context);
  LogOp::attachInterface<UnaryModel<LogOp, functions::Log>>(context);
  Log1pOp::attachInterface<UnaryModel<Log1pOp, functions::Log1p>>(context);
  SqrtOp::attachInterface<UnaryModel<SqrtOp, functions::Sqrt>>(context);
  RsqrtOp::attachInterface<UnaryModel<RsqrtOp, functions::Rsqrt>>(context);
  ReciprocalOp::attachInterface<
      UnaryModel<ReciprocalOp, functions::Reciprocal>>(context);
  SquareOp::attachInterface<UnaryModel<SquareOp, functions::Square>>(context);
  SigmoidOp::attachInterface<UnaryModel<SigmoidOp, functions::Sigmoid>>(
      context);
  LogSigmoidOp::attachInterface<
      UnaryModel<LogSigmoidOp, functions::LogSigmoid>>(context);
  SoftplusOp::attachInterface<UnaryModel<SoftplusOp, functions::Softplus>>(
      context);
  TanhOp::attachInterface<UnaryModel<TanhOp, functions::Tanh>>(context);
  ReluOp::attachInterface<UnaryModel<ReluOp, functions::Relu>>(context);
  SinOp::attachInterface<UnaryModel<SinOp, functions::Sin>>(context);
  CosOp::attachInterface<UnaryModel<CosOp, functions::Cos>>(context);
  ErfOp::attachInterface<UnaryModel<ErfOp, functions::Erf>>(context);
  AddOp::attachInterface<BinaryModel<AddOp, functions::Add>>(context);
  SubOp::attachInterface<BinaryModel<SubOp, functions::Sub>>(context);
  MulOp::attachInterface<BinaryModel<MulOp, functions::Mul>>(context);
  DivOp::attachInterface<BinaryModel<DivOp, functions::Div>>(context);
  LogAddExpOp::attachInterface<BinaryModel<LogAddExpOp, functions::LogAddExp>>(
      context);
  MaxOp::attachInterface<ExtremeModel<MaxOp, functions::Max>>(context);
  MinOp::attachInterface<ExtremeModel<MinOp, functions::Min>>(context);
  SelectOp::attachInterface<SelectModel>(context);
}
