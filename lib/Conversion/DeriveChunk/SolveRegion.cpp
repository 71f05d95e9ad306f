//===- SolveRegion.cpp - Writes that depend on reads -*- C++ -*- ----------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinearState.h"

using namespace mlir;
using namespace larc;

/// The region of a `chunk.solve`: the step's own operations between the reads
/// and the writes, on the rows of one token.
class LinearState::SolveRegion {
public:
  SolveRegion(LinearState &state, View &view)
      : state(state), deriver(state.deriver), view(view),
        body(std::make_unique<Block>()),
        builder(state.deriver.scan.getContext()),
        build(builder, state.build.loc) {
    builder.setInsertionPointToEnd(body.get());
  }

  LogicalResult run();

private:
  struct Inner {
    const Read *read;
    NormalRead normal;
    Value past; ///< of earlier tokens of the chunk
    bool underWay = false;
  };

  /// The row of a chunk value: an argument if it has the token axis.
  Value slice(Value chunkValue);
  /// The token's value for a value of the step. Null after a failure.
  Value get(Value value);
  Value getRead(Inner &inner);
  Value getSum(const Sum &sum);
  Inner *findInner(Value value);
  void addPast(Inner &inner);

  LinearState &state;
  ChunkDeriver &deriver;
  View &view;
  std::unique_ptr<Block> body;
  OpBuilder builder;
  ArrayBuilder build;
  SmallVector<Inner, 1> inners;
  SmallVector<Value> scores, over;
  SmallVector<int64_t> pairs;
  DenseMap<Value, Value> slices, values;
};

Value LinearState::SolveRegion::slice(Value chunkValue) {
  if (!chunkValue || !deriver.hasToken(chunkValue))
    return chunkValue;
  Value &argument = slices[chunkValue];
  if (!argument) {
    over.push_back(chunkValue);
    argument = body->addArgument(
        arrayOf(chunkValue).without(deriver.getToken()), build.loc);
  }
  return argument;
}

LinearState::SolveRegion::Inner *
LinearState::SolveRegion::findInner(Value value) {
  auto *it = llvm::find_if(inners, [&](const Inner &inner) {
    return inner.read->getResult() == value;
  });
  return it == inners.end() ? nullptr : it;
}

Value LinearState::SolveRegion::get(Value value) {
  if (Value known = values.lookup(value))
    return known;
  Value result;
  if (Inner *inner = findInner(value)) {
    result = getRead(*inner);
  } else if (!deriver.analysis.dependsOn(value, state.transition.state)) {
    result = slice(deriver.get(value));
  } else if (Operation *op = value.getDefiningOp();
             op && op->getNumRegions() == 0 &&
             !deriver.analysis.getMatrixForm(value) &&
             !deriver.analysis.getRead(value)) {
    IRMapping mapping;
    for (Value operand : op->getOperands()) {
      Value mapped = get(operand);
      if (!mapped)
        return nullptr;
      mapping.map(operand, mapped);
    }
    result = build.clone(op, mapping)->getResult(0);
  } else {
    return deriver.fail(op ? op : deriver.recurrence.getOperation(),
                        "stands between a read of a state and its update");
  }
  return values[value] = result;
}

Value LinearState::SolveRegion::getSum(const Sum &sum) {
  return deriver.materialize(build, sum,
                             [&](Value value) { return get(value); });
}

Value LinearState::SolveRegion::getRead(Inner &inner) {
  if (inner.underWay)
    return deriver.fail(inner.read->op, "reads what depends on itself");
  inner.underWay = true;
  const NormalRead &normal = inner.normal;
  Value sum = build.add(slice(normal.past), inner.past);
  sum = build.mul(sum, slice(normal.pointDecay.value));
  for (const KeyedWrite &own : normal.own) {
    Value weight = state.build.contract(normal.plain, state.makeKey(own, view),
                                        view.keyAxes);
    Value written = getSum(own.value);
    if (deriver.hasFailed())
      return nullptr;
    if (written)
      sum = build.add(sum, build.mul(slice(weight), written));
  }
  sum = build.add(sum, slice(normal.straddling));
  return build.mul(sum, slice(normal.factor));
}

void LinearState::SolveRegion::addPast(Inner &inner) {
  for (auto [number, write] : llvm::enumerate(view.writes)) {
    scores.push_back(state.makeScores(inner.normal, write, nullptr));
    pairs.push_back(static_cast<int64_t>(inners.size()));
    pairs.push_back(static_cast<int64_t>(number));
  }
  inner.past = body->addArgument(
      ArrayType::ofAxes(build.builder.getContext(), view.valueAxes), build.loc);
}

LogicalResult LinearState::SolveRegion::run() {
  for (const Read &read : state.transition.reads) {
    if (!read.isInner)
      continue;
    std::optional<NormalRead> normal = state.normalize(read);
    if (!normal)
      return failure();
    if (normal->view != &view) {
      deriver.fail(read.op, "sums over other axes than the other reads that "
                            "the state's update uses");
      return failure();
    }
    Inner inner{&read, *normal, {}};
    addPast(inner);
    inners.push_back(inner);
  }
  SmallVector<Value> yielded;
  auto addResult = [&](Value value) {
    yielded.push_back(build.broadcast(value, view.valueAxes));
  };
  for (const KeyedWrite &write : view.writes) {
    Value value = getSum(write.value);
    if (deriver.hasFailed())
      return failure();
    addResult(value ? value : build.constant(0.0));
  }
  for (Inner &inner : inners) {
    Value value = get(inner.read->getResult());
    if (!value)
      return failure();
    yielded.push_back(value);
  }
  chunk::YieldOp::create(builder, build.loc, yielded);
  SmallVector<Type> types;
  SmallVector<StringAttr> token = {deriver.getToken()};
  for (Value value : yielded)
    types.push_back(ArrayType::unionOf(
        arrayOf(value), ArrayType::ofAxes(builder.getContext(), token)));
  SmallVector<Value> decays;
  if (view.decay.value)
    decays.push_back(view.decay.value);
  auto solve = chunk::SolveOp::create(
      state.build.builder, state.build.loc, types, scores, over, decays, pairs,
      static_cast<int64_t>(view.writes.size()), deriver.getToken(),
      deriver.getSource(),
      state.transition.transitionClass == chunk::TransitionClass::LowRank);
  solve.getBody().push_back(body.release());
  for (auto [write, result] : llvm::zip(view.writes, solve.getResults()))
    write.valueArray = result;
  for (auto [inner, result] :
       llvm::zip(inners, solve.getResults().drop_front(view.writes.size())))
    deriver.set(inner.read->getResult(), result);
  return success();
}

LogicalResult LinearState::solve() {
  View &view = *views.front();
  for (KeyedWrite &write : view.writes)
    if (!(write.keyArray = makeKey(write, view)))
      return failure();
  return SolveRegion(*this, view).run();
}
