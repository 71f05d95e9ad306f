//===- TokenStates.cpp - Which states are scanned over tokens -------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScanPlan.h"

#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;
using namespace larc;

using chunk::TokensOp;

bool larc::isScan(TokensOp op) { return op.getSemiring(); }

const CarriedForm *ScanPlan::getCarriedBefore(Value value) const {
  const auto *it = llvm::find_if(
      carried, [&](const CarriedForm &form) { return form.argument == value; });
  return it == carried.end() ? nullptr : it;
}

const CarriedForm *ScanPlan::getCarriedAfter(Value value) const {
  const auto *it = llvm::find_if(
      carried, [&](const CarriedForm &form) { return form.next == value; });
  return it == carried.end() ? nullptr : it;
}

bool ScanPlan::isScanned(Value value) const {
  if (carried.empty())
    return false;
  llvm::SmallDenseSet<Value> seen;
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Value next = open.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op || !seen.insert(next).second)
      continue;
    if (isa<TokensOp>(op))
      return true;
    llvm::append_range(open, op->getOperands());
  }
  return false;
}

/// What a loop over tokens gives for each, or `value` itself.
static Value throughLoop(Value value) {
  auto op = value.getDefiningOp<TokensOp>();
  if (!op)
    return value;
  return op.getYield().getValues()[cast<OpResult>(value).getResultNumber()];
}

const CarriedForm *ScanPlan::getDecreasing(Value exponent) const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Value guarded;
  if (auto select = exponent.getDefiningOp<SelectOp>()) {
    if (select.getPredicate() != Predicate::EQ ||
        chunk::getSplat(select.getRhs()) != -infinity ||
        chunk::getSplat(select.getX()) != 0.0)
      return nullptr;
    guarded = throughLoop(select.getLhs());
    exponent = select.getY();
  }
  auto change = exponent.getDefiningOp<SubOp>();
  if (!change)
    return nullptr;
  const CarriedForm *form =
      getCarriedBefore(throughLoop(change->getOperand(0)));
  if (!form || form != getCarriedAfter(throughLoop(change->getOperand(1))) ||
      (guarded && getCarriedAfter(guarded) != form))
    return nullptr;
  // A state that is -inf must have been so before.
  return !guarded || (!form->shift && !isa<MinOp>(form->combiner)) ? form
                                                                   : nullptr;
}

bool ScanPlan::isExponential(Value decay) const {
  auto exp = decay.getDefiningOp<ExpOp>();
  return exp &&
         (getRawOperand(exp.getOperand()) || isScanned(exp.getOperand()));
}

//===----------------------------------------------------------------------===//
// The form of an update
//===----------------------------------------------------------------------===//

namespace {

/// Finds how a region makes what it carries: as (state + shift) (+) input.
class FormBuilder {
public:
  FormBuilder(TokensOp op, CarriedForm &form)
      : op(op), form(form), builder(op.getYield()) {}

  LogicalResult build() {
    FailureOr<Sides> sides = visit(form.next);
    if (failed(sides))
      return failure();
    if (!form.combiner)
      return op.emitError("expected the maximum, minimum or logaddexp of what "
                          "is carried and what is not");
    form.shift = sides->shift;
    form.input = sides->input;
    return success();
  }

private:
  /// Null where there is none.
  struct Sides {
    Value shift, input;
  };

  bool depends(Value value) const {
    if (value == form.argument)
      return true;
    Operation *inner = value.getDefiningOp();
    return inner && op->isProperAncestor(inner) &&
           llvm::any_of(inner->getOperands(),
                        [&](Value operand) { return depends(operand); });
  }

  /// Of a value that depends on what is carried.
  FailureOr<Sides> visit(Value value) {
    if (value == form.argument)
      return Sides();
    Operation *inner = value.getDefiningOp();
    if (!inner || !depends(value))
      return op.emitError("carries on what does not depend on what was "
                          "carried"),
             failure();
    return llvm::TypeSwitch<Operation *, FailureOr<Sides>>(inner)
        .Case([&](BroadcastOp broadcast) {
          return visit(broadcast.getOperand());
        })
        .Case<AddOp, SubOp>([&](auto) { return visitShift(inner); })
        .Case<MaxOp, MinOp, LogAddExpOp>(
            [&](auto) { return visitCombiner(inner); })
        .Default([&](Operation *) -> FailureOr<Sides> {
          return inner->emitError("changes what is carried otherwise than by "
                                  "sums, maxima, minima or logaddexp"),
                 failure();
        });
  }

  FailureOr<Sides> visitShift(Operation *inner) {
    Value moved = inner->getOperand(0), shift = inner->getOperand(1);
    bool isSub = isa<SubOp>(inner);
    if (!isSub && depends(shift))
      std::swap(moved, shift);
    if (depends(shift))
      return inner->emitError(depends(moved)
                                  ? "has what is carried on both sides"
                                  : "subtracts what is carried"),
             failure();
    FailureOr<Sides> sides = visit(moved);
    if (failed(sides))
      return failure();
    Location loc = inner->getLoc();
    auto addTo = [&](Value value) -> Value {
      if (isSub)
        return SubOp::create(builder, loc, value, shift);
      return AddOp::create(builder, loc, value, shift);
    };
    if (sides->input)
      sides->input = addTo(sides->input);
    if (sides->shift)
      sides->shift = addTo(sides->shift);
    else
      sides->shift =
          isSub ? NegOp::create(builder, loc, shift).getResult() : shift;
    return sides;
  }

  FailureOr<Sides> visitCombiner(Operation *inner) {
    Value of = inner->getOperand(0), input = inner->getOperand(1);
    if (depends(input))
      std::swap(of, input);
    if (depends(input))
      return inner->emitError("has what is carried on both sides"), failure();
    if (form.combiner && form.combiner->getName() != inner->getName())
      return inner->emitError("combines what is carried in another way than '")
                 << form.combiner->getName() << "'",
             failure();
    form.combiner = inner;
    FailureOr<Sides> sides = visit(of);
    if (failed(sides))
      return failure();
    if (!sides->input) {
      sides->input = input;
      return sides;
    }
    Operation *both = builder.clone(*inner);
    both->setOperands({sides->input, input});
    sides->input = both->getResult(0);
    return sides;
  }

  TokensOp op;
  CarriedForm &form;
  OpBuilder builder;
};

} // namespace

/// What is scanned is at hand for all channels of a token at once: operands and
/// constants, and what is computed of them element by element.
LogicalResult ScanPlan::checkScanned(TokensOp op, Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner()->getParentOp() == op) {
      unsigned number = argument.getArgNumber();
      if (number < op.getOver().size())
        return checkScanned(op, op.getOver()[number]);
      return op.emitError("carries a state whose update depends on another "
                          "that it carries");
    }
    if (llvm::is_contained(chunk::ScanOp(scan).getStateArguments(), argument))
      return op.emitError("scans what depends on a state");
    return success();
  }
  Operation *inner = value.getDefiningOp();
  if (!isa<ElementwiseOpInterface, ConstantOp>(inner))
    return inner->emitError("is scanned over tokens, which takes what is "
                            "computed from operands element by element");
  for (Value operand : inner->getOperands())
    if (failed(checkScanned(op, operand)))
      return failure();
  return success();
}

LogicalResult ScanPlan::planTokens(TokensOp op) {
  if (options.segments)
    return op.emitError("scans a state, which segments do not compose");
  for (Operation &inner : op.getBody().front().without_terminator())
    if (!isa<ElementwiseOpInterface, ConstantOp>(inner))
      return inner.emitError("has '")
             << inner.getName()
             << "', which has no form in a program of register tiles";
  for (auto [i, init] : llvm::enumerate(op.getInits())) {
    auto arguments = scan.getStateArguments();
    const auto *it = llvm::find(arguments, init);
    if (it == arguments.end())
      return op.emitError("scans from what is no state");
    CarriedForm form;
    form.state = static_cast<unsigned>(it - arguments.begin());
    form.argument = op.getCarriedArguments()[i];
    form.next = op.getYield().getValues()[i];
    ArrayRef<StringAttr> axes = arrayOf(form.argument).getAxes();
    form.axis = axes.empty() ? StringAttr() : axes.front();
    Value end = op.getResult(static_cast<unsigned>(i));
    if (!init.hasOneUse())
      return op.emitError("scans a state that is read otherwise, too");
    if (!end.hasOneUse() || scan.getYield().getValues()[form.state] != end)
      return op.emitError("reads a state after the last token of a chunk");
    if (failed(FormBuilder(op, form).build()) ||
        failed(checkScanned(op, form.input)) ||
        (form.shift && failed(checkScanned(op, form.shift))))
      return failure();
    carried.push_back(form);
  }
  return success();
}

LogicalResult ScanPlan::collectStates() {
  for (auto [i, argument] : llvm::enumerate(scan.getStateArguments())) {
    size_t rank = arrayOf(argument).getAxes().size();
    if (rank < 2 && llvm::any_of(
                        argument.getUsers(),
                        [](Operation *user) {
                          auto tokens = dyn_cast<TokensOp>(user);
                          return tokens && isScan(tokens);
                        }))
      continue;
    if (rank != 2)
      return scan.emitError("has a state that is no matrix, and that no scan "
                            "over tokens carries");
    StateForm state;
    state.argument = argument;
    state.number = static_cast<unsigned>(i);
    states.push_back(state);
  }
  if (states.empty())
    return scan.emitError("has no state that is a matrix");
  return success();
}
