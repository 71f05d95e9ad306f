//===- MatrixForms.cpp - Matrix forms of the values of a step -*- C++ -*- -===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixForms.h"

using namespace mlir;
using namespace larc;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

ArrayType Product::getAxes(MLIRContext *context) const {
  ArrayType axes = ArrayType::scalar(context);
  for (Value factor : factors)
    axes = ArrayType::unionOf(axes, arrayOf(factor));
  for (Value divisor : divisors)
    axes = ArrayType::unionOf(axes, arrayOf(divisor));
  return axes;
}

Product larc::operator*(const Product &lhs, const Product &rhs) {
  Product product = lhs;
  product.coefficient *= rhs.coefficient;
  llvm::append_range(product.factors, rhs.factors);
  llvm::append_range(product.divisors, rhs.divisors);
  return product;
}

Sides::Sides(ArrayType state, ArrayRef<StringAttr> keyAxes)
    : key(keyAxes.begin(), keyAxes.end()) {
  for (StringAttr axis : state.getAxes())
    if (!llvm::is_contained(keyAxes, axis))
      value.push_back(axis);
}

bool Sides::straddles(Value array) const {
  auto has = [&](StringAttr axis) { return arrayOf(array).hasAxis(axis); };
  return llvm::any_of(key, has) && llvm::any_of(value, has);
}

/// How many products a sum may be written apart into.
static constexpr size_t maxTerms = 64;

/// `value` as a sum of products of the operands of its operation, or nothing
/// where that is no sum, product or quotient.
static std::optional<SmallVector<Product>> expandOnce(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  using Terms = SmallVector<Product>;
  if (isa<MulOp>(op))
    return Terms{{1.0, {op->getOperand(0), op->getOperand(1)}, {}}};
  if (isa<SquareOp>(op))
    return Terms{{1.0, {op->getOperand(0), op->getOperand(0)}, {}}};
  if (isa<NegOp>(op))
    return Terms{{-1.0, {op->getOperand(0)}, {}}};
  if (isa<BroadcastOp>(op))
    return Terms{{1.0, {op->getOperand(0)}, {}}};
  if (isa<DivOp>(op))
    return Terms{{1.0, {op->getOperand(0)}, {op->getOperand(1)}}};
  if (isa<ReciprocalOp>(op))
    return Terms{{1.0, {}, {op->getOperand(0)}}};
  if (isa<AddOp, SubOp>(op))
    return Terms{{1.0, {op->getOperand(0)}, {}},
                 {isa<SubOp>(op) ? -1.0 : 1.0, {op->getOperand(1)}, {}}};
  if (auto constant = dyn_cast<ConstantOp>(op))
    return Terms{{constant.getValue().convertToDouble(), {}, {}}};
  return std::nullopt;
}

SmallVector<Product> larc::expand(const Product &product, ArrayRef<Sides> sides,
                                  const Dependence &dependence) {
  auto straddles = [&](Value value) {
    return !dependence.isInvariant(value) &&
           llvm::any_of(
               sides, [&](const Sides &pair) { return pair.straddles(value); });
  };
  SmallVector<Product> finished, open = {product};
  while (!open.empty()) {
    Product current = open.pop_back_val();
    auto *factor = llvm::find_if(current.factors, straddles);
    if (factor != current.factors.end()) {
      std::optional<SmallVector<Product>> terms = expandOnce(*factor);
      if (!terms || finished.size() + open.size() > maxTerms)
        return {product};
      Product rest = current;
      rest.factors.erase(rest.factors.begin() +
                         (factor - current.factors.begin()));
      // The first term is taken up next, so that terms stay in order.
      for (const Product &term : llvm::reverse(*terms))
        open.push_back(rest * term);
      continue;
    }
    auto *divisor = llvm::find_if(current.divisors, straddles);
    if (divisor == current.divisors.end()) {
      finished.push_back(current);
      continue;
    }
    std::optional<SmallVector<Product>> terms = expandOnce(*divisor);
    if (!terms || terms->size() != 1)
      return {product};
    Product term = terms->front(), rest = current;
    rest.divisors.erase(rest.divisors.begin() +
                        (divisor - current.divisors.begin()));
    Product inverse{1.0 / term.coefficient, {}, {}};
    inverse.factors.assign(term.divisors.begin(), term.divisors.end());
    inverse.divisors.assign(term.factors.begin(), term.factors.end());
    open.push_back(rest * inverse);
  }
  return finished;
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

MatrixForms::MatrixForms(RecurrenceOp recurrence, const Dependence &dependence)
    : dependence(dependence) {
  unsigned numStates = dependence.getNumStates();
  reads.resize(numStates);
  wholeUses.resize(numStates);
  wholeOutputs.resize(numStates);
  for (unsigned state = 0; state < numStates; ++state)
    forms[dependence.getState(state)] = {state, {Product()}, {}};
  for (Operation &op : recurrence.getBody().front())
    visit(op);
  YieldOp yield = recurrence.getYield();
  for (Value output : yield.getValues().drop_front(numStates)) {
    output = Dependence::throughFire(output);
    if (const MatrixForm *form = lookup(output))
      wholeOutputs[form->state].push_back(
          output.getDefiningOp() ? output.getDefiningOp() : yield);
  }
}

std::optional<MatrixForm> MatrixForms::getUpdate(unsigned state) const {
  Value next = Dependence::throughFire(dependence.getNext(state));
  if (!dependence.dependsOn(next, state))
    return MatrixForm{state, {}, {Product{1.0, {next}, {}}}};
  const MatrixForm *form = lookup(next);
  if (form && form->state == state)
    return *form;
  return std::nullopt;
}

void MatrixForms::visit(Operation &op) {
  if (isa<FireOp, AnchorOp, YieldOp>(op))
    return;
  SmallVector<const MatrixForm *, 2> used;
  for (Value operand : op.getOperands())
    if (const MatrixForm *form = lookup(operand))
      used.push_back(form);
  for (Region &region : op.getRegions())
    region.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (const MatrixForm *form = lookup(operand))
          used.push_back(form);
    });
  if (used.empty())
    return;
  if (std::optional<MatrixForm> form = combine(op)) {
    // The other summand may be a whole state as well.
    for (const MatrixForm *other : used)
      if (other->state != form->state)
        wholeUses[other->state].push_back(&op);
    forms[op.getResult(0)] = std::move(*form);
    return;
  }
  if (addRead(op))
    return;
  for (const MatrixForm *form : used)
    if (!llvm::is_contained(wholeUses[form->state], &op))
      wholeUses[form->state].push_back(&op);
}

bool MatrixForms::fits(Value value, unsigned state) const {
  ArrayType axes = arrayOf(dependence.getState(state));
  return ArrayType::unionOf(axes, arrayOf(value)) == axes;
}

/// Whether `value` holds the whole of any state over several axes.
bool MatrixForms::holdsMatrix(Value value) const {
  for (unsigned state : dependence.getWholes(value).set_bits())
    if (arrayOf(dependence.getState(state)).getRank() > 1)
      return true;
  return false;
}

/// The form of the result of a chain's operation, or nothing.
std::optional<MatrixForm> MatrixForms::combine(Operation &op) {
  if (auto neg = dyn_cast<NegOp>(op)) {
    MatrixForm form = *lookup(neg.getOperand());
    for (Product &product : form.decay)
      product.coefficient *= -1.0;
    for (Product &product : form.writes)
      product.coefficient *= -1.0;
    return form;
  }
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    const MatrixForm *form = lookup(broadcast.getOperand());
    if (fits(broadcast, form->state))
      return *form;
    return std::nullopt;
  }
  if (isa<AddOp, SubOp>(op))
    return addUp(op.getOperand(0), op.getOperand(1),
                 isa<SubOp>(op) ? -1.0 : 1.0);
  if (isa<MulOp, DivOp>(op)) {
    Value lhs = op.getOperand(0), rhs = op.getOperand(1);
    const MatrixForm *left = lookup(lhs), *right = lookup(rhs);
    if (left && !right)
      return scale(*left, rhs, isa<DivOp>(op));
    if (right && !left && isa<MulOp>(op))
      return scale(*right, lhs, /*divide=*/false);
  }
  return std::nullopt;
}

std::optional<MatrixForm> MatrixForms::scale(const MatrixForm &form,
                                             Value factor, bool divide) {
  if (!fits(factor, form.state) || holdsMatrix(factor))
    return std::nullopt;
  Product scalar;
  if (auto constant = factor.getDefiningOp<ConstantOp>()) {
    double number = constant.getValue().convertToDouble();
    scalar.coefficient = divide ? 1.0 / number : number;
  } else {
    (divide ? scalar.divisors.emplace_back(factor)
            : scalar.factors.emplace_back(factor));
  }
  MatrixForm scaled{form.state, {}, {}};
  for (const Product &product : form.decay)
    scaled.decay.push_back(scalar * product);
  for (const Product &product : form.writes)
    scaled.writes.push_back(scalar * product);
  return scaled;
}

std::optional<MatrixForm> MatrixForms::addUp(Value lhs, Value rhs,
                                             double rhsSign) {
  const MatrixForm *left = lookup(lhs), *right = lookup(rhs);
  // Of two states, the one whose update depends on the other is meant.
  if (left && right && left->state != right->state) {
    bool rightUsesLeft =
        dependence.dependsOn(dependence.getNext(right->state), left->state);
    (rightUsesLeft ? left : right) = nullptr;
  }
  unsigned state = left ? left->state : right->state;
  for (Value value : {lhs, rhs})
    if (!lookup(value) && holdsMatrix(value))
      return std::nullopt;
  MatrixForm sum{state, {}, {}};
  auto append = [&](const MatrixForm *form, Value value, double sign) {
    if (!form) {
      sum.writes.push_back({sign, {value}, {}});
      return;
    }
    for (Product product : form->decay) {
      product.coefficient *= sign;
      sum.decay.push_back(product);
    }
    for (Product product : form->writes) {
      product.coefficient *= sign;
      sum.writes.push_back(product);
    }
  };
  append(left, lhs, 1.0);
  append(right, rhs, rhsSign);
  if (!fits(lhs, state) || !fits(rhs, state) || sum.writes.size() > maxTerms ||
      sum.decay.size() > maxTerms)
    return std::nullopt;
  return sum;
}

/// A contraction or sum of a matrix form is a read, unless what it is
/// multiplied by holds the whole of a state, too.
bool MatrixForms::addRead(Operation &op) {
  Value point, other;
  SmallVector<StringAttr> axes;
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    if (reduce.getKind() != ReduceKind::Sum)
      return false;
    point = reduce.getOperand();
    axes = reduce.getReducedAxes();
  } else if (auto contract = dyn_cast<ContractOp>(op)) {
    point = contract.getLhs();
    other = contract.getRhs();
    if (!lookup(point))
      std::swap(point, other);
    if (lookup(other) || holdsMatrix(other))
      return false;
    axes = contract.getReducedAxes();
  } else {
    return false;
  }
  const MatrixForm &form = *lookup(point);
  ArrayType state = arrayOf(dependence.getState(form.state));
  // An axis that only the coefficient has is summed before.
  for (StringAttr axis : axes)
    if (!state.hasAxis(axis))
      return false;
  Read read;
  read.op = &op;
  read.point = point;
  read.form = form;
  if (other)
    read.coefficient.factors.push_back(other);
  read.axes = axes;
  reads[form.state].push_back(std::move(read));
  return true;
}

void MatrixForms::expandAll(unsigned state, ArrayRef<Sides> sides) {
  auto expandForm = [&](MatrixForm &form) {
    Sum decay;
    for (const Product &product : form.decay)
      llvm::append_range(decay, expand(product, sides, dependence));
    SmallVector<Product> writes;
    for (const Product &product : form.writes)
      llvm::append_range(writes, expand(product, sides, dependence));
    form.decay = std::move(decay);
    form.writes = std::move(writes);
  };
  for (auto &[value, form] : forms)
    if (form.state == state)
      expandForm(form);
  for (Read &read : reads[state]) {
    expandForm(read.form);
    SmallVector<Product> coefficient =
        expand(read.coefficient, sides, dependence);
    // A coefficient that is a sum would make several reads.
    if (coefficient.size() == 1)
      read.coefficient = coefficient.front();
  }
}
