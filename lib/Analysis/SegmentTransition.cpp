//===- SegmentTransition.cpp - Transitions over many tokens -*- C++ -*- ---===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SegmentTransition.h"

#include "larc/Dialect/Larc/Transforms/Dependence.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace larc;

using chunk::TransitionClass;

//===----------------------------------------------------------------------===//
// Operations on known values
//===----------------------------------------------------------------------===//

Value SegmentTransition::multiply(Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return MulOp::create(builder, loc, lhs, rhs);
}

Value SegmentTransition::add(Value lhs, Value rhs, bool subtract) {
  if (subtract)
    return SubOp::create(builder, loc, lhs, rhs);
  return AddOp::create(builder, loc, lhs, rhs);
}

Value SegmentTransition::negate(Value value) {
  return NegOp::create(builder, loc, value);
}

Value SegmentTransition::getConstant(double value) {
  return ConstantOp::create(builder, loc, builder.getF64FloatAttr(value));
}

/// The product, or null of no factors.
Value SegmentTransition::getProduct(ArrayRef<Value> factors) {
  Value product;
  for (Value factor : factors)
    product = multiply(product, factor);
  return product;
}

Value SegmentTransition::materialize(const Sum &sum) {
  Value result;
  for (const Product &product : sum) {
    Value term;
    if (product.coefficient != 1.0 || product.factors.empty())
      term = getConstant(product.coefficient);
    for (Value factor : product.factors)
      term = multiply(term, mapped(factor));
    for (Value divisor : product.divisors)
      term = DivOp::create(builder, loc, term, mapped(divisor));
    result = result ? add(result, term, /*subtract=*/false) : term;
  }
  return result ? result : getConstant(0.0);
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

bool SegmentTransition::isMap() const {
  return transition.transitionClass == TransitionClass::LowRank;
}

LogicalResult SegmentTransition::refuse(Operation &op, const Twine &why,
                                        const Twine &remedy) const {
  StringRef name = cast<StateDeclAttr>(
                       analysis.getRecurrence().getStates()[transition.state])
                       .getName();
  InFlightDiagnostic error =
      op.emitError() << "the sequence cannot be cut into segments: this " << why
                     << " state '" << name << "'";
  error.attachNote(op.getLoc()) << remedy;
  return error;
}

/// What would help where no one matrix is the transition.
static constexpr char sameFactors[] =
    "one matrix would be the transition if decays and step sizes had only axes "
    "that reads sum over, or if all terms had the same factors along others";
static constexpr char linearUpdate[] =
    "an update that is linear in the state, with coefficients that do not "
    "depend on it, would compose";

std::optional<SegmentTransition::Tangent>
SegmentTransition::lookup(Value value) const {
  auto it = tangents.find(value);
  if (it == tangents.end())
    return std::nullopt;
  return it->second;
}

/// Whether the two have the same elements, in any order.
static bool isPermutation(ArrayRef<Value> lhs, ArrayRef<Value> rhs) {
  return lhs.size() == rhs.size() &&
         std::is_permutation(lhs.begin(), lhs.end(), rhs.begin());
}

SegmentTransition::MaybeTangent SegmentTransition::deriveSum(Operation &op,
                                                             bool subtract) {
  std::optional<Tangent> lhs = lookup(op.getOperand(0)),
                         rhs = lookup(op.getOperand(1));
  if (!rhs)
    return lhs;
  if (!lhs) {
    if (subtract && isMap())
      rhs->matrix = negate(rhs->matrix);
    else if (subtract)
      rhs->factors.push_back(getConstant(-1.0));
    return rhs;
  }
  if (!isMap()) {
    auto valueOf = [&](const Tangent &tangent) {
      Value product = getProduct(tangent.factors);
      return product ? product : getConstant(1.0);
    };
    return std::optional<Tangent>(
        Tangent{{add(valueOf(*lhs), valueOf(*rhs), subtract)}, {}});
  }
  if (!isPermutation(lhs->factors, rhs->factors))
    return refuse(op,
                  "adds values that factors along other axes than the "
                  "reads' scale differently, so that no one matrix is the "
                  "transition of",
                  sameFactors);
  lhs->matrix = add(lhs->matrix, rhs->matrix, subtract);
  return lhs;
}

/// Multiplies or divides a derivative by a known value. A product that has axes
/// of the other side is taken apart, so that equal factors are found equal.
LogicalResult SegmentTransition::scaleBy(Operation &op, Value factor,
                                         bool divide, Tangent &tangent) {
  bool onKey = false, onValue = false;
  for (StringAttr axis : arrayOf(factor).getAxes())
    (llvm::is_contained(transition.keyAxes, axis) ? onKey : onValue) = true;
  if (isMap() && onValue)
    if (auto product = factor.getDefiningOp<MulOp>())
      return success(
          succeeded(scaleBy(op, product.getLhs(), divide, tangent)) &&
          succeeded(scaleBy(op, product.getRhs(), divide, tangent)));
  if (isMap() && onKey && onValue)
    return refuse(op, "scales by a factor along axes of both sides of",
                  sameFactors);
  if (isMap() && !onValue) {
    tangent.matrix =
        divide ? DivOp::create(builder, loc, tangent.matrix, mapped(factor))
               : multiply(tangent.matrix, mapped(factor));
    return success();
  }
  if (!divide) {
    tangent.factors.push_back(mapped(factor));
    return success();
  }
  Value &reciprocal = reciprocals[factor];
  if (!reciprocal)
    reciprocal = ReciprocalOp::create(builder, loc, mapped(factor));
  tangent.factors.push_back(reciprocal);
  return success();
}

SegmentTransition::MaybeTangent
SegmentTransition::deriveRead(Operation &op, Value array, Value coefficient) {
  SmallVector<StringAttr> reduced =
      cast<ReductionOpInterface>(op).getReducedAxes();
  auto isKey = [&](StringAttr axis) {
    return llvm::is_contained(transition.keyAxes, axis);
  };
  if (!isMap() || !llvm::all_of(reduced, isKey))
    return refuse(op, "sums over an axis that other reads keep of",
                  "reads over the same axes, in all that the update uses, "
                  "would compose");
  Tangent tangent = *lookup(array);
  Builder attributes(op.getContext());
  SmallVector<Attribute> axes(reduced.begin(), reduced.end());
  ArrayAttr axesAttr = attributes.getArrayAttr(axes);
  if (!coefficient) {
    tangent.matrix = ReduceOp::create(builder, loc, ReduceKind::Sum,
                                      tangent.matrix, axesAttr);
    return std::optional<Tangent>(std::move(tangent));
  }
  if (!llvm::all_of(arrayOf(coefficient).getAxes(), isKey))
    return refuse(op,
                  "reads with a coefficient along other axes than the "
                  "sum's, so that no one matrix is the transition of",
                  sameFactors);
  tangent.matrix = ContractOp::create(builder, loc, tangent.matrix,
                                      mapped(coefficient), axesAttr);
  return std::optional<Tangent>(std::move(tangent));
}

SegmentTransition::MaybeTangent SegmentTransition::deriveSelect(SelectOp op) {
  if (depends(op.getLhs()) || depends(op.getRhs()))
    return refuse(*op, "compares values of", linearUpdate);
  std::optional<Tangent> x = lookup(op.getX()), y = lookup(op.getY());
  Value zero = getConstant(0.0);
  auto choose = [&](Value ofX, Value ofY) -> Value {
    return SelectOp::create(builder, loc, op.getPredicate(),
                            mapped(op.getLhs()), mapped(op.getRhs()), ofX, ofY);
  };
  if (!isMap()) {
    auto valueOf = [&](const std::optional<Tangent> &tangent) {
      if (!tangent)
        return zero;
      Value product = getProduct(tangent->factors);
      return product ? product : getConstant(1.0);
    };
    return std::optional<Tangent>(
        Tangent{{choose(valueOf(x), valueOf(y))}, {}});
  }
  bool isKnown =
      llvm::all_of(arrayOf(choose(zero, zero)).getAxes(), [&](StringAttr axis) {
        return llvm::is_contained(transition.keyAxes, axis);
      });
  if (!isKnown || (x && y && !isPermutation(x->factors, y->factors)))
    return refuse(*op, "chooses by other axes than the reads' parts of",
                  sameFactors);
  Tangent result{x ? x->factors : y->factors, {}};
  result.matrix = choose(x ? x->matrix : zero, y ? y->matrix : zero);
  return std::optional<Tangent>(std::move(result));
}

SegmentTransition::MaybeTangent
SegmentTransition::deriveBroadcast(BroadcastOp op) {
  Tangent tangent = *lookup(op.getOperand());
  if (!isMap())
    return std::optional<Tangent>(std::move(tangent));
  SmallVector<Attribute> axes;
  for (StringAttr axis : op.getAxes().getAsRange<StringAttr>())
    if (llvm::is_contained(transition.keyAxes, axis))
      axes.push_back(axis);
  if (!axes.empty())
    tangent.matrix = BroadcastOp::create(builder, loc, tangent.matrix,
                                         builder.getArrayAttr(axes));
  return std::optional<Tangent>(std::move(tangent));
}

SegmentTransition::MaybeTangent SegmentTransition::derive(Operation &op) {
  if (isa<AddOp, SubOp>(op))
    return deriveSum(op, isa<SubOp>(op));
  if (auto neg = dyn_cast<NegOp>(op)) {
    Tangent tangent = *lookup(neg.getOperand());
    if (isMap())
      tangent.matrix = negate(tangent.matrix);
    else
      tangent.factors.push_back(getConstant(-1.0));
    return std::optional<Tangent>(std::move(tangent));
  }
  if (auto select = dyn_cast<SelectOp>(op))
    return deriveSelect(select);
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return deriveBroadcast(broadcast);
  if (auto reduce = dyn_cast<ReduceOp>(op))
    if (reduce.getKind() == ReduceKind::Sum)
      return deriveRead(op, reduce.getOperand(), {});
  if (isa<MulOp, DivOp, ContractOp>(op)) {
    Value lhs = op.getOperand(0), rhs = op.getOperand(1);
    bool isDivisor = isa<DivOp>(op) && depends(rhs);
    if ((depends(lhs) && depends(rhs)) || isDivisor)
      return refuse(op, "is not linear in", linearUpdate);
    Value array = depends(lhs) ? lhs : rhs, factor = depends(lhs) ? rhs : lhs;
    if (isa<ContractOp>(op))
      return deriveRead(op, array, factor);
    Tangent tangent = *lookup(array);
    if (failed(scaleBy(op, factor, isa<DivOp>(op), tangent)))
      return failure();
    return std::optional<Tangent>(std::move(tangent));
  }
  return refuse(op, "is no part of a transition that composes: it depends on",
                linearUpdate);
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// One part for each set of axes; factors whose axes others have, too, join
/// those.
void SegmentTransition::addProducts(ArrayRef<Value> factors, AddState addState,
                                    SmallVectorImpl<TransitionPart> &parts) {
  SmallVector<std::pair<ArrayType, Value>> groups;
  unsigned rank = 0;
  for (Value factor : factors)
    rank = std::max<unsigned>(rank, arrayOf(factor).getRank());
  // Those of most axes first, so that a group has the axes of all that join it.
  for (int64_t wanted = rank; wanted >= 0; --wanted)
    for (Value factor : factors) {
      if (arrayOf(factor).getRank() != wanted)
        continue;
      auto covers = [&](const std::pair<ArrayType, Value> &group) {
        return ArrayType::unionOf(group.first, arrayOf(factor)) == group.first;
      };
      auto *group = llvm::find_if(groups, covers);
      if (group != groups.end())
        group->second = multiply(group->second, factor);
      else
        groups.push_back({arrayOf(factor), factor});
    }
  for (auto [type, factor] : groups) {
    SmallVector<StringAttr> axes(type.getAxes());
    Value part = addState(TransitionPart::Kind::Product, axes);
    parts.push_back(
        {TransitionPart::Kind::Product, axes, multiply(part, factor)});
  }
}

FailureOr<SmallVector<TransitionPart>>
SegmentTransition::buildLinear(AddState addState) {
  SmallVector<TransitionPart> parts;
  Block &step = analysis.getRecurrence().getBody().front();
  Tangent start;
  if (isMap()) {
    SmallVector<StringAttr> axes(transition.keyAxes);
    llvm::append_range(axes, startAxes);
    start.matrix = addState(TransitionPart::Kind::Map, axes);
    parts.push_back({TransitionPart::Kind::Map, axes, {}});
  }
  RecurrenceOp recurrence = analysis.getRecurrence();
  tangents[recurrence.getStateArguments()[transition.state]] = start;
  Value next = recurrence.getYield().getValues()[transition.state];
  llvm::SetVector<Operation *> slice = Dependence(recurrence).getSlice(next);
  for (Operation &op : step) {
    if (!slice.contains(&op) || op.getNumResults() != 1 ||
        !depends(op.getResult(0)))
      continue;
    loc = op.getLoc();
    MaybeTangent tangent = derive(op);
    if (failed(tangent))
      return failure();
    if (*tangent)
      tangents[op.getResult(0)] = **tangent;
  }
  std::optional<Tangent> end = lookup(next);
  if (isMap())
    parts.front().next = end->matrix;
  addProducts(end->factors, addState, parts);
  return parts;
}

/// Adding to a state and then combining it with inputs, again and again, adds
/// the sum of what was added. Of several shifts a token the sum is that of the
/// semiring.
SmallVector<TransitionPart> SegmentTransition::buildShift(AddState addState) {
  using Kind = SemiringForm::Kind;
  const SemiringForm &form = *transition.semiring;
  Value shift;
  for (const Sum &sum : form.shifts) {
    Value next = materialize(sum);
    if (!shift)
      shift = next;
    else if (form.kind == Kind::Max)
      shift = MaxOp::create(builder, loc, shift, next);
    else if (form.kind == Kind::Min)
      shift = MinOp::create(builder, loc, shift, next);
    else
      shift = LogAddExpOp::create(builder, loc, shift, next);
  }
  SmallVector<StringAttr> axes(arrayOf(shift).getAxes());
  Value part = addState(TransitionPart::Kind::Shift, axes);
  return {{TransitionPart::Kind::Shift, axes, add(part, shift, false)}};
}

FailureOr<SmallVector<TransitionPart>>
SegmentTransition::build(AddState addState) {
  if (transition.transitionClass == TransitionClass::Constant)
    return SmallVector<TransitionPart>();
  RecurrenceOp recurrence = analysis.getRecurrence();
  if (!depends(recurrence.getYield().getValues()[transition.state])) {
    // Not a decay of 0: what is forgotten may be infinite.
    addState(TransitionPart::Kind::Keep, {});
    return SmallVector<TransitionPart>{
        {TransitionPart::Kind::Keep, {}, getConstant(0.0)}};
  }
  if (transition.transitionClass == TransitionClass::Semiring)
    return buildShift(addState);
  return buildLinear(addState);
}
