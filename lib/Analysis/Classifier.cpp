//===- Classifier.cpp - Classes of transitions -*- C++ -*- ----------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Classifier.h"

#include "llvm/ADT/Twine.h"

using namespace mlir;
using namespace larc;

using chunk::TransitionClass;

/// What would help where a coefficient depends on a read of its own state.
static constexpr char knownCoefficient[] =
    "a coefficient made from the token, from a read of another state or from "
    "the state at the start of a period (larc.anchor) would be known before "
    "the state is";

Classifier::Classifier(RecurrenceOp recurrence, const Dependence &dependence,
                       MatrixForms &forms, StateTransition &transition)
    : recurrence(recurrence), dependence(dependence), forms(forms),
      transition(transition),
      stateType(arrayOf(dependence.getState(transition.state))),
      slice(dependence.getSlice(dependence.getNext(transition.state))) {}

std::string Classifier::describeState() const {
  auto decl = cast<StateDeclAttr>(recurrence.getStates()[transition.state]);
  return ("state '" + decl.getName().getValue() + "'").str();
}

void Classifier::addObstacle(Obstacle obstacle) {
  // What was one operation of the spec tells of one obstacle.
  Location place = placeOf(obstacle.op);
  for (const Obstacle &other : transition.obstacles)
    if (!isa<UnknownLoc>(place) && placeOf(other.op) == place)
      return;
  transition.obstacles.push_back(std::move(obstacle));
}

void Classifier::run() {
  unsigned state = transition.state;
  Value next = Dependence::throughFire(dependence.getNext(state));
  transition.reads = std::move(forms.reads[state]);
  for (Read &read : transition.reads)
    read.isInner = slice.contains(read.op);
  if (next == dependence.getState(state)) {
    transition.transitionClass = TransitionClass::Constant;
    transition.update = forms.getUpdate(state);
    forms.reads[state] = std::move(transition.reads);
    finishLinear(getKeyCandidates().front());
    transition.nonlinearReads.clear();
    return;
  }
  std::optional<MatrixForm> update = forms.getUpdate(state);
  forms.reads[state] = std::move(transition.reads);
  if (update && !getNonlinearUpdate())
    classifyLinear(std::move(*update));
  else
    classifyOther();
}

Operation *Classifier::getNonlinearUpdate() const {
  for (Operation *op : forms.wholeUses[transition.state])
    if (slice.contains(op))
      return op;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Linear classes
//===----------------------------------------------------------------------===//

void Classifier::classifyLinear(MatrixForm update) {
  bool hasInner = llvm::any_of(forms.reads[transition.state],
                               [](const Read &read) { return read.isInner; });
  if (hasInner)
    classifySolved(update);
  else
    classifyDiagonal(update);
}

/// The axes that reads may be said to sum over: those of reads, then all but
/// the last declared, then each alone.
SmallVector<SmallVector<StringAttr>> Classifier::getKeyCandidates() {
  SmallVector<SmallVector<StringAttr>> candidates;
  auto add = [&](ArrayRef<StringAttr> axes) {
    if (!llvm::is_contained(candidates, axes))
      candidates.emplace_back(axes);
  };
  unsigned rank = stateType.getRank();
  ArrayRef<Read> reads = forms.reads[transition.state];
  // A read over all axes leaves no columns to keep apart.
  for (const Read &read : reads)
    if (read.axes.size() < rank || rank <= 1)
      add(read.axes);
  auto decl = cast<StateDeclAttr>(recurrence.getStates()[transition.state]);
  add(decl.getAxes().drop_back(rank ? 1 : 0));
  for (StringAttr axis : decl.getAxes())
    if (rank > 1)
      add(axis);
  return candidates;
}

void Classifier::classifyDiagonal(const MatrixForm &update) {
  Check first;
  const SmallVector<SmallVector<StringAttr>> candidates = getKeyCandidates();
  const SmallVector<StringAttr> *keyAxes = nullptr;
  for (const SmallVector<StringAttr> &candidate : candidates) {
    Check obstacle =
        checkForm(update, Sides(stateType, candidate),
                  dependence.getNext(transition.state).getDefiningOp());
    if (!obstacle) {
      keyAxes = &candidate;
      break;
    }
    if (!first)
      first = std::move(obstacle);
  }
  if (!keyAxes) {
    addObstacle(*first);
    if (!becomeElementwise())
      becomeSequential(*first);
    return;
  }
  // The values of a small state exist for every token anyhow.
  bool isWhole = !forms.wholeUses[transition.state].empty() ||
                 !forms.wholeOutputs[transition.state].empty();
  if (stateType.getRank() <= 1 && isWhole && becomeElementwise())
    return;
  transition.transitionClass = TransitionClass::Diagonal;
  finishLinear(*keyAxes);
}

/// Degrees of all values that depend on reads of `state`.
static DenseMap<Value, Degree> getDegrees(RecurrenceOp recurrence,
                                          const Dependence &dependence,
                                          unsigned state,
                                          ArrayRef<Read> reads) {
  DenseMap<Value, Degree> degrees;
  auto degreeOf = [&](Value value) {
    value = Dependence::throughFire(value);
    auto it = degrees.find(value);
    if (it != degrees.end())
      return it->second;
    return dependence.dependsOn(value, state) ? Degree::Nonlinear
                                              : Degree::None;
  };
  for (const Read &read : reads)
    degrees[read.getResult()] = Degree::Affine;
  for (Operation &op : recurrence.getBody().front()) {
    if (op.getNumResults() != 1 || op.getNumOperands() == 0 ||
        degrees.contains(op.getResult(0)))
      continue;
    Degree first = degreeOf(op.getOperand(0)), degree = Degree::Nonlinear;
    Degree second =
        op.getNumOperands() == 2 ? degreeOf(op.getOperand(1)) : Degree::None;
    bool isSum =
        isa<ReduceOp>(op) && cast<ReduceOp>(op).getKind() == ReduceKind::Sum;
    if (isa<AddOp, SubOp>(op))
      degree = std::max(first, second);
    else if (isSum || isa<NegOp, BroadcastOp, RenameOp, SliceOp>(op))
      degree = first;
    else if (isa<DivOp>(op) && second == Degree::None)
      degree = first;
    else if (isa<MulOp, ContractOp>(op) &&
             (first == Degree::None || second == Degree::None))
      degree = std::max(first, second);
    if (dependence.dependsOn(op.getResult(0), state))
      degrees[op.getResult(0)] = degree;
  }
  return degrees;
}

void Classifier::classifySolved(const MatrixForm &update) {
  unsigned state = transition.state;
  Operation *next =
      Dependence::throughFire(dependence.getNext(state)).getDefiningOp();
  const Read *first = nullptr;
  for (const Read &read : forms.reads[state]) {
    if (!read.isInner)
      continue;
    if (!first)
      first = &read;
    if (!llvm::equal(read.axes, first->axes))
      return becomeSequential(
          {read.op,
           "sums " + describeState() +
               " over other axes than the first read that its update uses",
           "reads over the same axes, in all that the update uses, would make "
           "it low rank"});
  }
  Sides sides(stateType, first->axes);
  if (Check obstacle = checkForm(update, sides, next))
    return becomeSequential(*obstacle);
  if (Check obstacle = checkKnown(update, sides, next))
    return becomeSequential(*obstacle);
  for (const Read &read : forms.reads[state]) {
    if (!read.isInner)
      continue;
    if (Check obstacle = checkRead(read))
      return becomeSequential(*obstacle);
    if (Check obstacle = checkKnown(read.form, sides, read.op))
      return becomeSequential(*obstacle);
    for (Value factor : read.coefficient.factors)
      if (depends(factor))
        return becomeSequential(
            {read.op,
             "multiplies " + describeState() +
                 " by a read of itself, and its update uses the product",
             knownCoefficient});
  }
  DenseMap<Value, Degree> degrees =
      getDegrees(recurrence, dependence, state, forms.reads[state]);
  transition.transitionClass = TransitionClass::LowRank;
  for (const Product &write : update.writes)
    for (const Product &product : expand(write, sides, dependence)) {
      unsigned affine = 0;
      Value culprit;
      for (Value factor : product.factors) {
        Degree degree = degrees.lookup(factor);
        affine += degree == Degree::Affine;
        if (degree == Degree::Nonlinear || affine > 1)
          culprit = factor;
      }
      for (Value divisor : product.divisors)
        if (depends(divisor))
          culprit = divisor;
      if (!culprit)
        continue;
      transition.transitionClass = TransitionClass::Implicit;
      // The operation at which it stops being affine.
      Operation *op = culprit.getDefiningOp();
      for (Operation *member : dependence.getSlice(culprit))
        if (member->getNumResults() == 1 &&
            degrees.lookup(member->getResult(0)) == Degree::Nonlinear) {
          op = member;
          break;
        }
      addObstacle({op,
                   "is not affine in the read of " + describeState() +
                       " that its update uses: tokens are solved one after "
                       "the other",
                   "a write that is affine in the read would make it low "
                   "rank"});
    }
  SmallVector<StringAttr> keyAxes = first->axes;
  finishLinear(keyAxes);
}

void Classifier::finishLinear(ArrayRef<StringAttr> keyAxes) {
  unsigned state = transition.state;
  transition.keyAxes.assign(keyAxes.begin(), keyAxes.end());
  SmallVector<Sides> allSides = {Sides(stateType, keyAxes)};
  SmallVector<Read, 1> inner, outer;
  SmallVector<Operation *> uncovered;
  for (Operation *op : forms.wholeUses[state]) {
    if (transition.transitionClass == TransitionClass::Constant)
      break;
    addObstacle({op,
                 "is not linear in " + describeState() +
                     ": what it makes is computed token by token",
                 "a function of what a linear read gives, rather than of the "
                 "state, would be free"});
    uncovered.push_back(op);
  }
  for (Operation *op : forms.wholeOutputs[state]) {
    if (transition.transitionClass == TransitionClass::Constant)
      break;
    addObstacle({op,
                 "gives the whole of " + describeState() +
                     " out: it is computed token by token",
                 "a read of it in its place would be a matrix product"});
    uncovered.push_back(op);
  }
  for (Read &read : forms.reads[state]) {
    if (Check obstacle = checkRead(read)) {
      addObstacle(*obstacle);
      uncovered.push_back(read.op);
      continue;
    }
    allSides.emplace_back(stateType, read.axes);
    (read.isInner ? inner : outer).push_back(read);
  }
  forms.reads[state] = std::move(inner);
  llvm::append_range(forms.reads[state], outer);
  forms.expandAll(state, allSides);
  transition.reads = forms.reads[state];
  transition.update = forms.getUpdate(state);
  if (transition.update->decay.empty() && transition.update->writes.size() == 1)
    transition.update->writes =
        expand(transition.update->writes.front(), allSides, dependence);
  transition.nonlinearReads = std::move(uncovered);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// The operation that makes `value`, or `op` for an argument of the step.
static Operation *faultOf(Value value, Operation *op) {
  return value.getDefiningOp() ? value.getDefiningOp() : op;
}

Classifier::Check Classifier::checkForm(const MatrixForm &form,
                                        const Sides &sides,
                                        Operation *op) const {
  Sum decay;
  for (const Product &product : form.decay)
    llvm::append_range(decay, expand(product, sides, dependence));
  if (Check obstacle = checkDecay(decay, sides, op))
    return obstacle;
  for (const Product &write : form.writes)
    for (const Product &product : expand(write, sides, dependence))
      if (Check obstacle = checkWrite(product, decay, sides, op))
        return obstacle;
  return std::nullopt;
}

Classifier::Check Classifier::checkDecay(const Sum &decay, const Sides &sides,
                                         Operation *op) const {
  std::string property = "scales " + describeState() +
                         " along axes that a read sums over and axes that it "
                         "keeps, and is no product of a factor for each";
  std::string remedy = "a decay that is a product of one factor along the axes "
                       "that are summed over and one along the others would "
                       "need no loop";
  ArrayType axes = ArrayType::scalar(recurrence.getContext());
  for (const Product &product : decay) {
    for (Value factor : product.factors)
      if (sides.straddles(factor))
        return Obstacle{faultOf(factor, op), property, remedy};
    for (Value divisor : product.divisors)
      if (sides.straddles(divisor))
        return Obstacle{faultOf(divisor, op), property, remedy};
    axes = ArrayType::unionOf(axes, product.getAxes(axes.getContext()));
  }
  auto has = [&](StringAttr axis) { return axes.hasAxis(axis); };
  if (decay.size() > 1 && llvm::any_of(sides.key, has) &&
      llvm::any_of(sides.value, has))
    return Obstacle{op, property, remedy};
  return std::nullopt;
}

Classifier::Check Classifier::checkWrite(const Product &write, const Sum &decay,
                                         const Sides &sides,
                                         Operation *op) const {
  // With an invariant Phi over both sides, the rest is a small state of its
  // own: known, and without axes of both sides.
  ArrayType rest = ArrayType::scalar(recurrence.getContext());
  bool straddles = false, isKnown = true;
  auto check = [&](Value factor) -> Check {
    if (!sides.straddles(factor)) {
      rest = ArrayType::unionOf(rest, arrayOf(factor));
      isKnown &= !depends(factor);
      return std::nullopt;
    }
    straddles = true;
    if (dependence.isInvariant(factor))
      return std::nullopt;
    return Obstacle{faultOf(factor, op),
                    "is written to " + describeState() +
                        " and is no product of a factor over axes that a read "
                        "sums over and one over axes that it keeps",
                    "an outer product of one array over each would need no "
                    "loop, and so would a matrix that is the same for a whole "
                    "period"};
  };
  for (Value factor : write.factors)
    if (Check obstacle = check(factor))
      return obstacle;
  for (Value divisor : write.divisors)
    if (Check obstacle = check(divisor))
      return obstacle;
  if (!straddles)
    return std::nullopt;
  for (const Product &product : decay)
    rest = ArrayType::unionOf(rest, product.getAxes(rest.getContext()));
  auto has = [&](StringAttr axis) { return rest.hasAxis(axis); };
  if (llvm::any_of(sides.key, has) && llvm::any_of(sides.value, has))
    return Obstacle{op,
                    "writes to " + describeState() +
                        " a matrix of the period times factors over all "
                        "of its axes",
                    "factors along the axes that a read sums over, or along "
                    "the others, would need no loop"};
  if (!isKnown)
    return Obstacle{op,
                    "writes to " + describeState() +
                        " a matrix of the period times a read of it",
                    knownCoefficient};
  return std::nullopt;
}

Classifier::Check Classifier::checkRead(const Read &read) const {
  Sides sides(stateType, read.axes);
  SmallVector<Product> coefficient =
      expand(read.coefficient, sides, dependence);
  for (const Product &product : coefficient) {
    bool straddles =
        llvm::any_of(product.factors,
                     [&](Value factor) { return sides.straddles(factor); }) ||
        llvm::any_of(product.divisors,
                     [&](Value factor) { return sides.straddles(factor); });
    if (straddles || coefficient.size() > 1)
      return Obstacle{read.op,
                      "reads " + describeState() +
                          " with an array over axes that it sums over and "
                          "axes that it keeps",
                      "a product of one array for each would be a matrix "
                      "product"};
  }
  return checkForm(read.form, sides, read.op);
}

Classifier::Check Classifier::checkKnown(const MatrixForm &form,
                                         const Sides &sides,
                                         Operation *op) const {
  for (const Product &product : form.decay)
    for (ArrayRef<Value> values :
         {ArrayRef<Value>(product.factors), ArrayRef<Value>(product.divisors)})
      for (Value value : values)
        if (depends(value))
          return Obstacle{faultOf(value, op),
                          "scales " + describeState() +
                              " by a factor that depends on a read of it",
                          knownCoefficient};
  for (const Product &write : form.writes)
    for (const Product &product : expand(write, sides, dependence))
      for (ArrayRef<Value> values : {ArrayRef<Value>(product.factors),
                                     ArrayRef<Value>(product.divisors)})
        for (Value value : values)
          if (depends(value) && llvm::any_of(sides.key, [&](StringAttr axis) {
                return arrayOf(value).hasAxis(axis);
              }))
            return Obstacle{faultOf(value, op),
                            "is the key of a write to " + describeState() +
                                " and depends on a read of it",
                            knownCoefficient};
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Other classes
//===----------------------------------------------------------------------===//

void Classifier::classifyOther() {
  if (becomeSemiring() || becomeElementwise())
    return;
  Operation *op = getNonlinearUpdate();
  if (!op)
    op = Dependence::throughFire(dependence.getNext(transition.state))
             .getDefiningOp();
  if (isa<FoldOp>(op))
    return becomeSequential(
        {op,
         "runs steps of " + describeState() +
             " whose number is unknown or above 16",
         "a known number of steps, at most 16, would be written out"});
  becomeSequential(
      {op, "is not linear in " + describeState() + ", and its update uses it",
       "a function of a read of the state, in place of the state, would leave "
       "the update linear; so would larc.anchor, since a state at the start of "
       "a period is known for all of it"});
}

void Classifier::becomeSequential(Obstacle obstacle) {
  transition.transitionClass = TransitionClass::Sequential;
  addObstacle(std::move(obstacle));
}

bool Classifier::becomeElementwise() {
  for (Operation *op : slice)
    if (llvm::any_of(op->getResults(), [&](Value v) { return depends(v); }) &&
        !isa<ElementwiseOpInterface>(op))
      return false;
  transition.transitionClass = TransitionClass::Elementwise;
  if (Operation *op = getNonlinearUpdate())
    addObstacle({op,
                 "is not linear in " + describeState() +
                     ": its elements are computed token by token",
                 "an update that is linear in the state, or max, min or "
                 "logaddexp of shifted states, would be a faster class"});
  return true;
}

namespace {

/// A semiring form under construction.
struct SemiringBuilder {
  const Dependence &dependence;
  unsigned state;
  std::optional<SemiringForm::Kind> kind = std::nullopt;

  /// The form of `value`; its kind is `this->kind`, or any if there is none.
  std::optional<SemiringForm> visit(Value value) {
    value = Dependence::throughFire(value);
    SemiringForm form;
    if (value == dependence.getState(state)) {
      form.shifts.emplace_back();
      return form;
    }
    if (!dependence.dependsOn(value, state)) {
      form.inputs.push_back({Product{1.0, {value}, {}}});
      return form;
    }
    Operation *op = value.getDefiningOp();
    if (isa<BroadcastOp>(op))
      return visit(op->getOperand(0));
    if (isa<AddOp, SubOp>(op))
      return visitShift(op);
    std::optional<SemiringForm::Kind> combiner;
    if (isa<MaxOp>(op))
      combiner = SemiringForm::Kind::Max;
    else if (isa<MinOp>(op))
      combiner = SemiringForm::Kind::Min;
    else if (isa<LogAddExpOp>(op))
      combiner = SemiringForm::Kind::LogAddExp;
    if (!combiner || (kind && *kind != *combiner))
      return std::nullopt;
    kind = combiner;
    std::optional<SemiringForm> lhs = visit(op->getOperand(0)),
                                rhs = visit(op->getOperand(1));
    if (!lhs || !rhs)
      return std::nullopt;
    llvm::append_range(lhs->shifts, rhs->shifts);
    llvm::append_range(lhs->inputs, rhs->inputs);
    return lhs;
  }

  std::optional<SemiringForm> visitShift(Operation *op) {
    Value moved = op->getOperand(0), shift = op->getOperand(1);
    bool isSub = isa<SubOp>(op);
    if (!isSub && dependence.dependsOn(shift, state))
      std::swap(moved, shift);
    if (dependence.dependsOn(shift, state))
      return std::nullopt;
    std::optional<SemiringForm> form = visit(moved);
    if (!form)
      return std::nullopt;
    Product term{isSub ? -1.0 : 1.0, {shift}, {}};
    for (Sum &sum : form->shifts)
      sum.push_back(term);
    for (Sum &sum : form->inputs)
      sum.push_back(term);
    return form;
  }
};

} // namespace

bool Classifier::becomeSemiring() {
  SemiringBuilder builder{dependence, transition.state};
  std::optional<SemiringForm> form =
      builder.visit(dependence.getNext(transition.state));
  if (!form || !builder.kind)
    return false;
  form->kind = *builder.kind;
  transition.transitionClass = TransitionClass::Semiring;
  transition.semiring = std::move(*form);
  return true;
}
