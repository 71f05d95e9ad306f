//===- TokenLoop.cpp - What runs token by token -*- C++ -*- ---------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TokenLoop.h"

#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace larc;
using chunk::TransitionClass;

/// What `op` uses from outside of itself, in its regions too.
static SmallVector<Value> getUses(Operation *op) {
  llvm::SetVector<Value> uses;
  uses.insert_range(op->getOperands());
  getUsedValuesDefinedAbove(op->getRegions(), uses);
  return uses.takeVector();
}

bool TokenLoop::dependsOnLoop(Value value) {
  return llvm::any_of(states, [&](unsigned state) {
    return deriver.analysis.dependsOn(value, state);
  });
}

bool TokenLoop::isInside(Value value) {
  if (std::optional<unsigned> state = deriver.getStateOf(value))
    return states.contains(*state);
  Operation *op = value.getDefiningOp();
  if (!op || isa<AnchorOp>(op))
    return false;
  // A read of a linear state comes from its equations; what was computed
  // before need not be computed again.
  if (deriver.getLinearRead(value) || deriver.values.contains(value))
    return false;
  return dependsOnLoop(value);
}

void TokenLoop::addState(unsigned state) {
  if (!states.insert(state))
    return;
  // States that depend on each other move on together.
  for (const StateTransition &other : deriver.analysis.getTransitions())
    if (other.group == deriver.transitionOf(state).group)
      addState(other.state);
  addValue(deriver.recurrence.getYield().getOperand(state));
}

void TokenLoop::addUses(Operation *op) {
  // First what brings states in: they decide about the rest.
  SmallVector<Value> uses = getUses(op);
  for (Value use : uses)
    if (deriver.needsLoop(use))
      addValue(use);
  for (Value use : uses)
    addValue(use);
}

void TokenLoop::addValue(Value value) {
  if (std::optional<unsigned> state = deriver.getStateOf(value)) {
    if (deriver.needsLoop(value) && !deriver.isConstant(*state))
      addState(*state);
    return;
  }
  Operation *op = value.getDefiningOp();
  if (!op || isa<AnchorOp>(op))
    return;
  if (!deriver.needsLoop(value) && !isInside(value))
    return;
  if (!ops.insert(op).second)
    return;
  // Inside a chunk nothing fires.
  if (auto fire = dyn_cast<FireOp>(op)) {
    for (Value init : fire.getInits())
      addValue(init);
    return;
  }
  addUses(op);
}

void TokenLoop::add(Value root) {
  exported.insert(root);
  if (std::optional<unsigned> state = deriver.getStateOf(root))
    return addState(*state);
  Operation *op = root.getDefiningOp();
  // An update brings its state in, wherever in it the root stands.
  if (deriver.isLoopUpdate(op))
    for (const StateTransition &transition : deriver.analysis.getTransitions())
      if (!deriver.isLinear(transition.state) &&
          !deriver.isConstant(transition.state) &&
          deriver.analysis.dependsOn(root, transition.state) &&
          deriver.loopUpdatesOf(transition.group).contains(op))
        addState(transition.state);
  ops.insert(op);
  addUses(op);
}

bool TokenLoop::isClosed(Value value,
                         llvm::SmallPtrSetImpl<Operation *> &seen) {
  if (std::optional<unsigned> state = deriver.getStateOf(value))
    return !deriver.needsLoop(value) || states.contains(*state);
  Operation *op = value.getDefiningOp();
  if (!op || isa<AnchorOp>(op) || deriver.values.contains(value))
    return true;
  if (const Read *read = deriver.getLinearRead(value))
    return llvm::none_of(states, [&](unsigned state) {
      return state != read->form.state &&
             deriver.analysis.dependsOn(value, state);
    });
  if (!seen.insert(op).second)
    return true;
  return llvm::all_of(getUses(op),
                      [&](Value use) { return isClosed(use, seen); });
}

void TokenLoop::exportUsed(Value value) {
  auto isOutside = [&](Operation *user) {
    return !ops.contains(user) && !isa<YieldOp, FireOp>(user);
  };
  if (!deriver.needsLoop(value) && !deriver.values.contains(value) &&
      llvm::any_of(value.getUsers(), isOutside))
    exported.insert(value);
}

void TokenLoop::addCompanions() {
  for (Operation &op : deriver.recurrence.getBody().front()) {
    if (ops.contains(&op) || isa<YieldOp, FireOp>(op) ||
        !deriver.isInLoop(&op) || !llvm::any_of(op.getOperands(), [&](Value v) {
          return deriver.needsLoop(v) && dependsOnLoop(v);
        }))
      continue;
    if (op.getNumResults() != 1 || deriver.needsLoop(op.getResult(0)) ||
        deriver.values.contains(op.getResult(0)) ||
        deriver.getLinearRead(op.getResult(0)))
      continue;
    llvm::SmallPtrSet<Operation *, 16> seen;
    if (isClosed(op.getResult(0), seen))
      add(op.getResult(0));
  }
  // What the rest of the step uses need not be computed again there.
  for (unsigned state : states)
    exportUsed(deriver.recurrence.getStateArguments()[state]);
  for (Operation &op : deriver.recurrence.getBody().front())
    if (ops.contains(&op))
      for (Value result : op.getResults())
        exportUsed(result);
}

void TokenLoop::addWholeStep() {
  whole = true;
  for (unsigned state = 0; state < deriver.recurrence.getStates().size();
       ++state)
    if (!deriver.isConstant(state))
      states.insert(state);
  for (Operation &op : deriver.recurrence.getBody().front())
    if (!isa<YieldOp, AnchorOp>(op))
      ops.insert(&op);
  for (Value value : deriver.recurrence.getYield().getValues().drop_front(
           deriver.recurrence.getStates().size()))
    exported.insert(value);
}

Value TokenLoop::slice(Value stepValue) {
  if (Value known = mapping.lookupOrNull(stepValue))
    return known;
  Value chunkValue = deriver.get(stepValue);
  if (!chunkValue)
    return nullptr;
  Value result = chunkValue;
  if (deriver.hasToken(chunkValue)) {
    over.push_back(chunkValue);
    // Slices come before what is carried.
    result = body->insertArgument(
        over.size() - 1, arrayOf(chunkValue).without(deriver.getToken()),
        deriver.build.loc);
  }
  mapping.map(stepValue, result);
  return result;
}

void TokenLoop::emit() {
  // What the loop uses of the rest, before the loop.
  body = std::make_unique<Block>();
  Location loc = deriver.build.loc;
  SmallVector<Value> inits;
  for (unsigned state : states) {
    Value init = deriver.scan.getStateArguments()[state];
    inits.push_back(init);
    mapping.map(deriver.recurrence.getStateArguments()[state],
                body->addArgument(init.getType(), loc));
  }
  OpBuilder builder(deriver.scan.getContext());
  builder.setInsertionPointToEnd(body.get());
  ArrayBuilder build(builder, loc);
  auto getInside = [&](Value value) -> Value {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    return slice(value);
  };
  for (Operation &op : deriver.recurrence.getBody().front()) {
    if (!ops.contains(&op))
      continue;
    if (auto fire = dyn_cast<FireOp>(op)) {
      for (auto [result, init] :
           llvm::zip(fire.getResults(), fire.getInits())) {
        Value value = getInside(init);
        if (!value)
          return;
        mapping.map(result, value);
      }
      continue;
    }
    for (Value use : getUses(&op))
      if (!getInside(use))
        return;
    Operation *copy = build.clone(&op, mapping);
    for (auto [result, value] : llvm::zip(op.getResults(), copy->getResults()))
      mapping.map(result, value);
  }
  SmallVector<Value> yielded;
  SmallVector<Type> types;
  YieldOp yield = deriver.recurrence.getYield();
  for (auto [state, init] : llvm::zip(states, inits)) {
    Value value = getInside(yield.getOperand(state));
    if (!value)
      return;
    yielded.push_back(build.broadcast(value, arrayOf(init).getAxes()));
    types.push_back(init.getType());
  }
  SmallVector<StringAttr> token = {deriver.getToken()};
  for (Value value : exported) {
    Value inside = getInside(value);
    if (!inside)
      return;
    yielded.push_back(inside);
    types.push_back(ArrayType::unionOf(
        arrayOf(inside), ArrayType::ofAxes(builder.getContext(), token)));
  }
  chunk::YieldOp::create(builder, loc, yielded);
  bool semiring = llvm::all_of(states, [&](unsigned state) {
    return deriver.transitionOf(state).transitionClass ==
           TransitionClass::Semiring;
  });
  auto loop = chunk::TokensOp::create(deriver.builder, loc, types, over, inits,
                                      deriver.getToken(), semiring);
  loop.getBody().push_back(body.release());
  for (auto [state, result] : llvm::zip(states, loop.getResults()))
    if (whole || !deriver.isLinear(state))
      deriver.loopStates[state] = result;
  for (auto [value, result] :
       llvm::zip(exported, loop.getResults().drop_front(states.size())))
    deriver.set(value, result);
}

LogicalResult ChunkDeriver::deriveLoop(Value root) {
  TokenLoop loop(*this);
  loop.add(root);
  loop.addCompanions();
  loop.emit();
  return success(!failed);
}
