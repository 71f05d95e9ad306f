//===- ChunkDeriver.cpp - From a step to a chunk -*- C++ -*- --------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChunkDeriver.h"
#include "LinearState.h"
#include "OwnWrites.h"
#include "TokenLoop.h"

using namespace mlir;
using namespace larc;
using chunk::TransitionClass;

ChunkDeriver::ChunkDeriver(RecurrenceOp recurrence,
                           const TransitionAnalysis &analysis,
                           chunk::ScanOp scan)
    : recurrence(recurrence), analysis(analysis), scan(scan),
      builder(OpBuilder::atBlockEnd(&scan.getBody().front())),
      build(builder, scan.getLoc()), token(scan.getTokenAxis()) {
  for (Attribute axis : scan.getTokens())
    if (cast<chunk::TokenAxisAttr>(axis).getAxis() != token)
      source = cast<chunk::TokenAxisAttr>(axis).getAxis();
  for (auto [step, chunk] :
       llvm::zip(recurrence.getOperandArguments(), scan.getOperandArguments()))
    values[step] = chunk;
  for (auto [step, chunk] : llvm::zip(recurrence.getConstantArguments(),
                                      scan.getConstantArguments()))
    values[step] = chunk;
  for (auto [number, step] : llvm::enumerate(recurrence.getStateArguments()))
    if (isConstant(number))
      values[step] = scan.getStateArguments()[number];
  recurrence.getBody().walk([&](AnchorOp anchor) {
    unsigned state = *getStateOf(anchor.getState());
    SmallVector<unsigned> anchored = recurrence.getAnchoredStates();
    values[anchor.getResult()] =
        scan.getAnchorArguments()[llvm::find(anchored, state) -
                                  anchored.begin()];
  });
  findLoopUpdates();
}

ChunkDeriver::~ChunkDeriver() = default;

std::nullptr_t ChunkDeriver::fail(Operation *op, const Twine &why) {
  if (!failed)
    op->emitRemark() << why
                     << ": the chunk form runs the whole step token by token";
  failed = true;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// What states are
//===----------------------------------------------------------------------===//

std::optional<unsigned> ChunkDeriver::getStateOf(Value argument) const {
  Block::BlockArgListType arguments = recurrence.getStateArguments();
  auto *it = llvm::find(arguments, argument);
  if (it == arguments.end())
    return std::nullopt;
  return it - arguments.begin();
}

ArrayType ChunkDeriver::getStateType(unsigned state) const {
  return arrayOf(recurrence.getStateArguments()[state]);
}

bool ChunkDeriver::isLinear(unsigned state) const {
  const StateTransition &transition = transitionOf(state);
  switch (transition.transitionClass) {
  case TransitionClass::Diagonal:
  case TransitionClass::LowRank:
  case TransitionClass::Implicit:
    break;
  default:
    return false;
  }
  // What is read nowhere as a whole is cheapest as the few numbers that it is.
  unsigned rank = getStateType(state).getRank();
  return transition.update && rank > 0 &&
         (rank > 1 || !transition.reads.empty());
}

const Read *ChunkDeriver::getLinearRead(Value value) const {
  const Read *read = analysis.getRead(value);
  return read && isLinear(read->form.state) ? read : nullptr;
}

/// Marks, for every state that only loops compute, the operations from its old
/// value to its new one.
void ChunkDeriver::findLoopUpdates() {
  YieldOp yield = recurrence.getYield();
  for (const StateTransition &transition : analysis.getTransitions()) {
    unsigned state = transition.state;
    if (isLinear(state) || isConstant(state))
      continue;
    SmallVector<unsigned> group;
    for (const StateTransition &other : analysis.getTransitions())
      if (other.group == transition.group)
        group.push_back(other.state);
    loopUpdates.try_emplace(transition.group);
    SmallVector<Value> worklist = {yield.getOperand(state)};
    while (!worklist.empty()) {
      Value value = worklist.pop_back_val();
      Operation *op = value.getDefiningOp();
      bool depends = op && llvm::any_of(group, [&](unsigned member) {
                       return analysis.dependsOn(value, member);
                     });
      if (!depends || getLinearRead(value) ||
          !loopUpdates[transition.group].insert(op).second)
        continue;
      llvm::append_range(worklist, op->getOperands());
    }
  }
}

bool ChunkDeriver::isInLoop(Operation *op) {
  if (isLoopUpdate(op))
    return true;
  return llvm::any_of(op->getOperands(),
                      [&](Value operand) { return needsLoop(operand); });
}

bool ChunkDeriver::needsLoop(Value value) {
  if (auto it = loopValues.find(value); it != loopValues.end())
    return it->second;
  bool result = false;
  if (std::optional<unsigned> state = getStateOf(value))
    result = !isConstant(*state) &&
             (isLinear(*state) || arrayOf(value).getRank() > 1);
  else if (Operation *op = value.getDefiningOp();
           op && !getLinearRead(value) && !isa<AnchorOp>(op)) {
    if (auto fire = dyn_cast<FireOp>(op))
      result =
          needsLoop(fire.getInits()[cast<OpResult>(value).getResultNumber()]);
    else
      result = isInLoop(op) &&
               (arrayOf(value).getRank() > 1 || analysis.getMatrixForm(value));
  }
  return loopValues[value] = result;
}

//===----------------------------------------------------------------------===//
// Values of the chunk
//===----------------------------------------------------------------------===//

Value ChunkDeriver::perToken(Value chunkValue, Axes axes) {
  SmallVector<StringAttr> all(axes.begin(), axes.end());
  all.push_back(token);
  return build.broadcast(chunkValue, all);
}

Value ChunkDeriver::materialize(ArrayBuilder &at, const Product &product,
                                Lookup lookup) {
  Value result;
  if (product.coefficient != 1.0)
    result = at.constant(product.coefficient);
  // Small arrays first, so that the products of small ones are small.
  SmallVector<Value> factors(product.factors.begin(), product.factors.end());
  llvm::sort(factors, [&](Value lhs, Value rhs) {
    auto key = [&](Value value) {
      return std::pair(arrayOf(value).getRank(),
                       llvm::find(product.factors, value));
    };
    return key(lhs) < key(rhs);
  });
  for (Value factor : factors) {
    Value array = lookup(factor);
    if (!array)
      return nullptr;
    result = at.mul(result, array);
  }
  for (Value divisor : product.divisors) {
    Value array = lookup(divisor);
    if (!array)
      return nullptr;
    result = at.div(result, array);
  }
  return result;
}

Value ChunkDeriver::materialize(ArrayBuilder &at, const Sum &sum,
                                Lookup lookup) {
  Value result;
  // Differences are written as such: what is added comes first.
  Sum terms;
  for (bool negative : {false, true})
    for (const Product &term : sum)
      if ((term.coefficient < 0) == negative)
        terms.push_back(term);
  for (Product term : terms) {
    bool subtract = result && term.coefficient < 0;
    if (subtract)
      term.coefficient = -term.coefficient;
    Value value = materialize(at, term, lookup);
    if (failed)
      return nullptr;
    if (!value)
      value = at.constant(1.0);
    result = subtract ? Value(SubOp::create(at.builder, at.loc, result, value))
                      : at.add(result, value);
  }
  return result;
}

Value ChunkDeriver::get(Value value) {
  if (failed)
    return nullptr;
  if (Value known = values.lookup(value))
    return known;
  Value result = derive(value);
  if (result)
    values[value] = result;
  else if (!failed)
    fail(value.getDefiningOp() ? value.getDefiningOp()
                               : recurrence.getOperation(),
         "has no chunk form");
  return result;
}

Value ChunkDeriver::derive(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return getStateOf(value) && succeeded(deriveLoop(value))
               ? values.lookup(value)
               : nullptr;
  if (auto fire = dyn_cast<FireOp>(op))
    return get(fire.getInits()[cast<OpResult>(value).getResultNumber()]);
  if (const Read *read = getLinearRead(value)) {
    LinearState *state = getLinearState(read->form.state);
    if (!state)
      return nullptr;
    // The reads that the update needs are known once it is derived.
    if (Value known = values.lookup(value))
      return known;
    return state->getRead(*read);
  }
  if (isInLoop(op))
    return succeeded(deriveLoop(value)) ? values.lookup(value) : nullptr;
  if (op->getNumRegions() != 0)
    return fail(op, "is not unrolled");
  IRMapping mapping;
  for (Value operand : op->getOperands()) {
    Value array = get(operand);
    if (!array)
      return nullptr;
    mapping.map(operand, array);
  }
  return build.clone(op, mapping)
      ->getResult(cast<OpResult>(value).getResultNumber());
}

LinearState *ChunkDeriver::getLinearState(unsigned state) {
  auto [it, isNew] = linearStates.try_emplace(state);
  if (!isNew) {
    if (!it->second && !failed)
      fail(recurrence, "has a state whose coefficients depend on itself");
    return it->second.get();
  }
  auto linear = std::make_unique<LinearState>(*this, transitionOf(state));
  if (mlir::failed(linear->derive()))
    return nullptr;
  return (linearStates[state] = std::move(linear)).get();
}

Value ChunkDeriver::getNewState(unsigned state) {
  if (isConstant(state))
    return scan.getStateArguments()[state];
  if (isLinear(state)) {
    LinearState *linear = getLinearState(state);
    return linear ? linear->getEnd() : nullptr;
  }
  if (!loopStates.count(state) &&
      mlir::failed(deriveLoop(recurrence.getStateArguments()[state])))
    return nullptr;
  auto it = loopStates.find(state);
  return it == loopStates.end() ? Value() : it->second;
}

//===----------------------------------------------------------------------===//
// The whole program
//===----------------------------------------------------------------------===//

LogicalResult ChunkDeriver::yield(ArrayRef<Value> states,
                                  ArrayRef<Value> outputs) {
  SmallVector<Value> yielded;
  for (auto [value, argument] : llvm::zip(states, scan.getStateArguments()))
    yielded.push_back(build.broadcast(value, arrayOf(argument).getAxes()));
  for (auto [value, decl] :
       llvm::zip(outputs, recurrence.getOutputs().getAsRange<OutputDeclAttr>()))
    yielded.push_back(perToken(value, SmallVector<StringAttr>(decl.getAxes())));
  chunk::YieldOp::create(builder, scan.getLoc(), yielded);
  pruneResults();
  joinOwnWrites(scan);
  return success();
}

/// Drops the further values of solves that nothing turned out to use.
void ChunkDeriver::pruneResults() {
  for (auto solve : llvm::to_vector(scan.getBody().getOps<chunk::SolveOp>())) {
    SmallVector<Value> kept, yielded;
    SmallVector<Type> types;
    for (auto [number, result] : llvm::enumerate(solve.getResults())) {
      if (number >= solve.getNumWrites() && result.use_empty())
        continue;
      kept.push_back(result);
      types.push_back(result.getType());
      yielded.push_back(solve.getYield().getOperand(number));
    }
    if (kept.size() == solve.getNumResults())
      continue;
    OpBuilder at(solve);
    auto smaller = chunk::SolveOp::create(
        at, solve.getLoc(), types, solve.getScores(), solve.getOver(),
        solve.getDecays(), solve.getPairs(), solve.getNumWrites(),
        solve.getTokenAttr(), solve.getSourceAttr(), solve.getAffine());
    solve.getYield()->setOperands(yielded);
    smaller.getBody().takeBody(solve.getBody());
    for (auto [old, result] : llvm::zip(kept, smaller.getResults()))
      old.replaceAllUsesWith(result);
    solve.erase();
  }
}

LogicalResult ChunkDeriver::run() {
  YieldOp yielded = recurrence.getYield();
  unsigned numStates = recurrence.getStates().size();
  SmallVector<Value> states, outputs;
  // Outputs first: what they read of a state is read before it is written.
  for (Value value : yielded.getValues().drop_front(numStates)) {
    Value output = get(value);
    if (!output)
      return failure();
    outputs.push_back(output);
  }
  for (unsigned state = 0; state < numStates; ++state) {
    Value next = getNewState(state);
    if (!next || failed)
      return failure();
    states.push_back(next);
  }
  return yield(states, outputs);
}

LogicalResult ChunkDeriver::runTokenByToken() {
  failed = false;
  TokenLoop loop(*this);
  loop.addWholeStep();
  loop.emit();
  YieldOp yielded = recurrence.getYield();
  unsigned numStates = recurrence.getStates().size();
  SmallVector<Value> states, outputs;
  for (unsigned state = 0; state < numStates; ++state)
    states.push_back(loopStates.count(state) ? loopStates[state]
                                             : scan.getStateArguments()[state]);
  for (Value value : yielded.getValues().drop_front(numStates))
    outputs.push_back(values.lookup(value));
  return yield(states, outputs);
}
