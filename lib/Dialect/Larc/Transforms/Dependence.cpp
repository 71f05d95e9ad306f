//===- Dependence.cpp - What values of a step depend on -*- C++ -*- -------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Dialect/Larc/Transforms/Dependence.h"

using namespace mlir;
using namespace larc;

Dependence::Dependence(RecurrenceOp recurrence)
    : recurrence(recurrence), numStates(recurrence.getStates().size()),
      none(numStates) {
  Block &block = recurrence.getBody().front();
  for (BlockArgument argument : recurrence.getConstantArguments())
    invariants.insert(argument);
  for (BlockArgument argument : recurrence.getRealArguments())
    invariants.insert(argument);
  for (auto [state, argument] :
       llvm::enumerate(recurrence.getStateArguments())) {
    llvm::SmallBitVector self(numStates);
    self.set(state);
    states[argument] = wholes[argument] = self;
    if (throughFire(getNext(state)) == argument)
      invariants.insert(argument);
  }
  for (Operation &op : block)
    visit(op);
}

BlockArgument Dependence::getState(unsigned state) const {
  return cast<RecurrenceOp>(recurrence).getStateArguments()[state];
}

Value Dependence::getNext(unsigned state) const {
  return cast<RecurrenceOp>(recurrence).getYield().getValues()[state];
}

std::optional<unsigned> Dependence::getStateOf(Value value) const {
  for (unsigned state = 0; state < numStates; ++state)
    if (getState(state) == value)
      return state;
  return std::nullopt;
}

Value Dependence::throughFire(Value value) {
  while (auto fire = value.getDefiningOp<FireOp>())
    value = fire.getInits()[cast<OpResult>(value).getResultNumber()];
  return value;
}

const llvm::SmallBitVector &Dependence::getStates(Value value) const {
  auto it = states.find(throughFire(value));
  return it == states.end() ? none : it->second;
}

const llvm::SmallBitVector &Dependence::getWholes(Value value) const {
  auto it = wholes.find(throughFire(value));
  return it == wholes.end() ? none : it->second;
}

/// The values that `op` uses: operands, and what its regions use from outside.
static SmallVector<Value> getUsedValues(Operation &op) {
  SmallVector<Value> used(op.getOperands());
  for (Region &region : op.getRegions())
    region.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!region.isAncestor(operand.getParentRegion()))
          used.push_back(operand);
    });
  return used;
}

void Dependence::visit(Operation &op) {
  if (auto fire = dyn_cast<FireOp>(op)) {
    for (auto [init, result] : llvm::zip(fire.getInits(), fire.getResults()))
      if (isInvariant(throughFire(init)))
        invariants.insert(result);
    return;
  }
  if (isa<AnchorOp, ConstantOp>(op)) {
    invariants.insert(op.getResult(0));
    return;
  }
  llvm::SmallBitVector used(numStates), held(numStates);
  bool invariant = true;
  for (Value value : getUsedValues(op)) {
    used |= getStates(value);
    held |= getWholes(value);
    invariant &= isInvariant(value);
  }
  bool keepsElements = isa<ElementwiseOpInterface, RenameOp>(op);
  for (Value result : op.getResults()) {
    states[result] = used;
    // A fold carries whole states.
    if (keepsElements || isa<FoldOp>(op))
      wholes[result] = held;
    if (invariant)
      invariants.insert(result);
  }
}

llvm::SetVector<Operation *> Dependence::getSlice(Value value) const {
  llvm::SmallPtrSet<Operation *, 16> members;
  SmallVector<Value> worklist = {value};
  while (!worklist.empty()) {
    Operation *op = throughFire(worklist.pop_back_val()).getDefiningOp();
    if (op && members.insert(op).second)
      llvm::append_range(worklist, getUsedValues(*op));
  }
  llvm::SetVector<Operation *> slice;
  for (Operation &op : cast<RecurrenceOp>(recurrence).getBody().front())
    if (members.contains(&op))
      slice.insert(&op);
  return slice;
}
