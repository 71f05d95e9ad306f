//===- ReductionModels.cpp - Operations along axes --------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Nest.h"
#include "ReferenceModels.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace larc;

/// `type` without `axes`.
static ArrayType reducedType(ArrayType type, ArrayAttr axes) {
  SmallVector<StringAttr> names;
  for (Attribute axis : axes)
    names.push_back(cast<StringAttr>(axis));
  return type.without(names);
}

//===----------------------------------------------------------------------===//
// Contraction
//===----------------------------------------------------------------------===//

namespace {

class ContractInstruction final : public Instruction {
public:
  ContractInstruction(const View &x, const View &y, const View &r)
      : result(r), product({&r, &x, &y}), xActive(x.active), yActive(y.active) {
    if (xActive)
      toX = Nest<3>({&x, &r, &y});
    if (yActive)
      toY = Nest<3>({&y, &r, &x});
  }

  void forward(const TokenContext &context) const override {
    double *v = context.values;
    fillArray(v, result, 0);
    multiplyAdd(product, v, v, v, /*guard=*/false);
  }

  void backward(const TokenContext &context) const override {
    const double *v = context.values;
    double *c = context.cotangents;
    if (xActive)
      multiplyAdd(toX, c, c, v, /*guard=*/true);
    if (yActive)
      multiplyAdd(toY, c, c, v, /*guard=*/true);
  }

private:
  View result;
  Nest<3> product;  // result, operands
  Nest<3> toX, toY; // operand, result, other operand
  bool xActive, yActive;
};

struct ContractModel
    : ReferenceOpInterface::ExternalModel<ContractModel, ContractOp> {
  LogicalResult buildReference(Operation *op, ProgramBuilder &builder) const {
    auto contract = cast<ContractOp>(op);
    View x = builder.getView(contract.getLhs());
    View y = builder.getView(contract.getRhs());
    View r = builder.allocate(contract.getType(), x.active || y.active);
    builder.add(std::make_unique<ContractInstruction>(x, y, r));
    builder.setView(contract.getResult(), r);
    return success();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Sum, largest, smallest
//===----------------------------------------------------------------------===//

/// The larger (`sign` 1) or smaller (-1) of two; NaN if either is.
static double extremeOf(double x, double y, double sign) {
  if (std::isnan(x) || std::isnan(y))
    return x + y;
  return (x > y) == (sign > 0) ? x : y;
}

namespace {

class SumInstruction final : public Instruction {
public:
  SumInstruction(const View &x, const View &r)
      : result(r), nest({&r, &x}), active(x.active) {}

  void forward(const TokenContext &context) const override {
    double *v = context.values;
    fillArray(v, result, 0);
    forEachElement(nest, [v](const auto &at) { v[at[0]] += v[at[1]]; });
  }

  void backward(const TokenContext &context) const override {
    double *c = context.cotangents;
    if (active)
      forEachElement(nest, [c](const auto &at) { c[at[1]] += c[at[0]]; });
  }

private:
  View result;
  Nest<2> nest; // result, operand
  bool active;
};

/// Max or min over axes.
class ExtremeInstruction final : public Instruction {
public:
  /// `count` is scratch of the result's shape.
  ExtremeInstruction(double sign, const View &x, const View &r,
                     const View &count)
      : sign(sign), result(r), count(count), reduce({&r, &x}),
        attain({&x, &r, &count}), active(x.active) {}

  void forward(const TokenContext &context) const override {
    double *v = context.values;
    fillArray(v, result, -sign * std::numeric_limits<double>::infinity());
    forEachElement(reduce, [v, s = sign](const auto &at) {
      v[at[0]] = extremeOf(v[at[0]], v[at[1]], s);
    });
  }

  void backward(const TokenContext &context) const override {
    if (!active)
      return;
    const double *v = context.values;
    double *c = context.cotangents;
    fillArray(c, count, 0);
    forEachElement(attain, [=](const auto &at) {
      c[at[2]] += v[at[0]] == v[at[1]] ? 1 : 0;
    });
    forEachElement(attain, [=](const auto &at) {
      if (v[at[0]] == v[at[1]])
        c[at[0]] += c[at[1]] / c[at[2]];
    });
  }

private:
  double sign;
  View result, count;
  Nest<2> reduce; // result, operand
  Nest<3> attain; // operand, result, count
  bool active;
};

struct ReduceModel
    : ReferenceOpInterface::ExternalModel<ReduceModel, ReduceOp> {
  LogicalResult buildReference(Operation *op, ProgramBuilder &builder) const {
    auto reduce = cast<ReduceOp>(op);
    View x = builder.getView(reduce.getOperand());
    View r = builder.allocate(reduce.getType(), x.active);
    if (reduce.getKind() == ReduceKind::Sum) {
      builder.add(std::make_unique<SumInstruction>(x, r));
    } else {
      View count = builder.allocate(reduce.getType(), false);
      double sign = reduce.getKind() == ReduceKind::Max ? 1 : -1;
      builder.add(std::make_unique<ExtremeInstruction>(sign, x, r, count));
    }
    builder.setView(reduce.getResult(), r);
    return success();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Norm and normalisation
//===----------------------------------------------------------------------===//

/// n = |x| over the axes that n lacks.
static void computeNorm(const Nest<3> &squares, const View &n, double *v) {
  fillArray(v, n, 0);
  multiplyAdd(squares, v, v, v, /*guard=*/false);
  for (int64_t i = n.offset, e = i + n.getNumElements(); i < e; ++i)
    v[i] = std::sqrt(v[i]);
}

namespace {

class NormInstruction final : public Instruction {
public:
  NormInstruction(const View &x, const View &r)
      : result(r), squares({&r, &x, &x}), nest({&x, &r}), active(x.active) {}

  void forward(const TokenContext &context) const override {
    computeNorm(squares, result, context.values);
  }

  void backward(const TokenContext &context) const override {
    if (!active)
      return;
    const double *v = context.values;
    double *c = context.cotangents;
    forEachElement(nest, [=](const auto &at) {
      double norm = v[at[1]];
      c[at[0]] += norm == 0 ? 0 : guarded(c[at[1]], v[at[0]] / norm);
    });
  }

private:
  View result;
  Nest<3> squares; // result, operand, operand
  Nest<2> nest;    // operand, result
  bool active;
};

struct NormModel : ReferenceOpInterface::ExternalModel<NormModel, NormOp> {
  LogicalResult buildReference(Operation *op, ProgramBuilder &builder) const {
    auto norm = cast<NormOp>(op);
    View x = builder.getView(norm.getOperand());
    View r = builder.allocate(norm.getType(), x.active);
    builder.add(std::make_unique<NormInstruction>(x, r));
    builder.setView(norm.getResult(), r);
    return success();
  }
};

/// y = x / d, with d made from the norm n by the eps rule.
class NormalizeInstruction final : public Instruction {
public:
  NormalizeInstruction(EpsRule rule, double eps, const View &x, const View &y,
                       const View &n, const View &d)
      : rule(rule), eps(eps), norm(n), divisor(d), squares({&n, &x, &x}),
        divide({&y, &x, &d}), project({&n, &y, &y}), spread({&x, &y, &n, &d}),
        active(x.active) {}

  void forward(const TokenContext &context) const override {
    double *v = context.values;
    computeNorm(squares, norm, v);
    for (int64_t i = 0, e = norm.getNumElements(); i < e; ++i) {
      double n = v[norm.offset + i];
      v[divisor.offset + i] = getDivisor(n);
    }
    forEachElement(divide,
                   [v](const auto &at) { v[at[0]] = v[at[1]] / v[at[2]]; });
  }

  void backward(const TokenContext &context) const override {
    if (!active)
      return;
    const double *v = context.values;
    double *c = context.cotangents;
    // What scaling x by 1 + t would change, in the cotangents of n: g . y.
    fillArray(c, norm, 0);
    multiplyAdd(project, c, c, v, /*guard=*/true);
    forEachElement(spread, [=](const auto &at) {
      double x = v[at[0]], n = v[at[2]], d = v[at[3]];
      double g = c[at[1]], gy = c[at[2]];
      double direct = g == 0 ? 0 : g / d;
      // d' along x over d: x / (n d) where d is n, or n plus eps.
      double slope = n == 0                 ? 0
                     : rule == EpsRule::Max ? (n <= eps ? 0 : x / (n * d))
                     : rule == EpsRule::Add ? x / (n * d)
                                            : x / (d * d);
      c[at[0]] += direct - guarded(gy, slope);
    });
  }

private:
  double getDivisor(double n) const {
    switch (rule) {
    case EpsRule::Max:
      return n < eps ? eps : n;
    case EpsRule::Add:
      return n + eps;
    case EpsRule::Inside:
      return std::sqrt(n * n + eps);
    }
    return n;
  }

  EpsRule rule;
  double eps;
  View norm, divisor;
  Nest<3> squares; // norm, operand, operand
  Nest<3> divide;  // result, operand, divisor
  Nest<3> project; // norm, result, result
  Nest<4> spread;  // operand, result, norm, divisor
  bool active;
};

struct NormalizeModel
    : ReferenceOpInterface::ExternalModel<NormalizeModel, NormalizeOp> {
  LogicalResult buildReference(Operation *op, ProgramBuilder &builder) const {
    auto normalize = cast<NormalizeOp>(op);
    View x = builder.getView(normalize.getOperand());
    View y = builder.allocate(normalize.getType(), x.active);
    ArrayType rest = reducedType(normalize.getType(), normalize.getAxes());
    View n = builder.allocate(rest, false), d = builder.allocate(rest, false);
    builder.add(std::make_unique<NormalizeInstruction>(
        normalize.getRule(), normalize.getEps().convertToDouble(), x, y, n, d));
    builder.setView(normalize.getResult(), y);
    return success();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

namespace {

class SoftmaxInstruction final : public Instruction {
public:
  /// `high` and `sum` are scratch of the reduced shape.
  SoftmaxInstruction(const View &x, const View &y, const View &high,
                     const View &sum)
      : high(high), sum(sum), reduce({&x, &high}),
        spread({&y, &x, &high, &sum}), project({&sum, &y, &y}),
        back({&x, &y, &sum}), active(x.active) {}

  void forward(const TokenContext &context) const override {
    double *v = context.values;
    fillArray(v, high, -std::numeric_limits<double>::infinity());
    fillArray(v, sum, 0);
    forEachElement(reduce, [v](const auto &at) {
      v[at[1]] = extremeOf(v[at[1]], v[at[0]], 1);
    });
    forEachElement(spread, [v](const auto &at) {
      double e = std::exp(v[at[1]] - v[at[2]]);
      v[at[0]] = e;
      v[at[3]] += e;
    });
    forEachElement(spread, [v](const auto &at) { v[at[0]] /= v[at[3]]; });
  }

  void backward(const TokenContext &context) const override {
    if (!active)
      return;
    const double *v = context.values;
    double *c = context.cotangents;
    fillArray(c, sum, 0);
    multiplyAdd(project, c, c, v, /*guard=*/true);
    forEachElement(back, [=](const auto &at) {
      c[at[0]] += guarded(c[at[1]] - c[at[2]], v[at[1]]);
    });
  }

private:
  View high, sum;
  Nest<2> reduce;  // operand, high
  Nest<4> spread;  // result, operand, high, sum
  Nest<3> project; // sum, result, result
  Nest<3> back;    // operand, result, sum
  bool active;
};

struct SoftmaxModel
    : ReferenceOpInterface::ExternalModel<SoftmaxModel, SoftmaxOp> {
  LogicalResult buildReference(Operation *op, ProgramBuilder &builder) const {
    auto softmax = cast<SoftmaxOp>(op);
    View x = builder.getView(softmax.getOperand());
    View y = builder.allocate(softmax.getType(), x.active);
    ArrayType rest = reducedType(softmax.getType(), softmax.getAxes());
    View high = builder.allocate(rest, false);
    View sum = builder.allocate(rest, false);
    builder.add(std::make_unique<SoftmaxInstruction>(x, y, high, sum));
    builder.setView(softmax.getResult(), y);
    return success();
  }
};

} // namespace

void larc::attachReductionModels(MLIRContext &context) {
  ContractOp::attachInterface<ContractModel>(context);
  ReduceOp::attachInterface<ReduceModel>(context);
  NormOp::attachInterface<NormModel>(context);
  NormalizeOp::attachInterface<NormalizeModel>(context);
  SoftmaxOp::attachInterface<SoftmaxModel>(context);
}
