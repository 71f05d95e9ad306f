//===- StateMixes.cpp - Reads of states, mixes and late scores ------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StateRole.h"

using namespace mlir;
using namespace larc;

using chunk::MixOp;
using chunk::ScoresOp;
using tile::LayoutAttr;
using tile::RegType;

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

Value StateRole::getStateLeft(unsigned state) {
  Value &left = stateLefts[state];
  if (!left) {
    int64_t cols = cast<RegType>(states[state].getType()).getCols();
    left = convert(states[state],
                   getTileType(ScanPlan::kRows, cols, getMatrixType(),
                               LayoutAttr::getLhs(builder.getContext())));
  }
  return left;
}

void StateRole::startRead(const ReadForm &read) {
  Value left = getStateLeft(read.state);
  Value rhs = getMatrix(read.reader);
  Value zeros = splat(0, getTileType(true, true));
  beginGroup(zeros);
  Running product = multiplyLarge(zeros, left, rhs, true,
                                  getFirstCol(plan.states[read.state]));
  endGroup(product);
  running[ContractOp(read.op)] = product;
}

const ReadForm *StateRole::getContinued(MixOp op) const {
  Value init = op.getInit();
  if (!init || !init.hasOneUse() || !op.getDecays().empty())
    return nullptr;
  auto it = plan.reads.find(init.getDefiningOp());
  if (it == plan.reads.end() || !it->second.factors.empty() ||
      plan.states[it->second.state].parts > 1)
    return nullptr;
  return &it->second;
}

bool StateRole::canStart(MixOp op) const {
  if (plan.mixes.at(op).whole)
    return false;
  if (isOwn(op.getValues()) || isOwn(op.getScores()))
    return false;
  // What a mix without decays begins with is what its accumulators are at
  // first.
  return !op.getInit() || plan.mixes.at(op).decay || getContinued(op);
}

void StateRole::startMix(MixOp op) {
  const ReadForm *read = getContinued(op);
  if (read && !continued.contains(read->op))
    read = nullptr;
  Value scores = getScores(op.getScores());
  Value decay = plan.mixes.at(op).decay;
  Value left =
      getLeft({op.getValues(), decay ? Scale::Inverse : Scale::None, decay});
  Running product;
  Value reading, rhs;
  if (read) {
    reading = getStateLeft(read->state);
    rhs = getMatrix(read->reader);
  }
  product.accumulators = op.getInit() && !decay && !read
                             ? expand(evaluate(op.getInit()), true, true)
                             : splat(0, getTileType(true, true));
  beginGroup(product.accumulators);
  if (read) {
    running[read->op] = {};
    product = multiplyLarge(product.accumulators, getStateLeft(read->state),
                            rhs, true);
  }
  product = multiplyLarge(product.accumulators, left, scores, true);
  endGroup(product);
  running[op] = product;
}

/// What `body` gives where `condition` holds, else `otherwise`. What the body
/// finds stays its own.
Value StateRole::choose(Value condition, Type type,
                        llvm::function_ref<Value()> body,
                        llvm::function_ref<Value()> otherwise) {
  auto known = tiles;
  auto knownLefts = lefts;
  auto branch = scf::IfOp::create(builder, loc, TypeRange(type), condition,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(builder);
  for (bool holds : {true, false}) {
    builder.setInsertionPointToStart(holds ? branch.thenBlock()
                                           : branch.elseBlock());
    Value chosen = holds ? body() : otherwise();
    scf::YieldOp::create(builder, loc, chosen);
    tiles = known;
    lefts = knownLefts;
  }
  return branch.getResult(0);
}

Value StateRole::choose(Value condition, llvm::function_ref<Value()> body,
                        Value otherwise) {
  return choose(condition, otherwise.getType(), body,
                [&] { return otherwise; });
}

Value StateRole::finishMix(MixOp op) {
  if (!running.contains(op))
    startMix(op);
  Value decay = plan.mixes.at(op).decay;
  if (!decay) {
    Value tile = finish(running[op]);
    for (Value factor : plan.mixes.at(op).factors)
      tile = product(tile, evaluate(factor));
    return tile;
  }
  // What the read took in registers is not needed then.
  Value init = op.getInit() ? evaluate(op.getInit()) : Value();
  Value tile = finish(running[op]);
  Value fast = product(tile, evaluateScale(Scale::Exclusive, decay));
  if (init)
    fast = sum(fast, init);
  Value exactly = isExact();
  Value scores = getScores(op.getScores());
  if (isOwn(op.getValues()))
    evaluate(op.getValues());
  return choose(exactly, [&] { return exactMix(op, scores, init); }, fast);
}

/// All tokens up to the reading one, which takes the product of all decays. On
/// the fast path the read's accumulators go on.
Value StateRole::evaluateWholeMix(MixOp op) {
  const MixForm &form = plan.mixes.at(op);
  if (isOwn(op.getValues()))
    evaluate(op.getValues());
  Value scores = getScores(op.getScores());
  Value accumulators = form.init ? expand(evaluate(form.init), true, true)
                                 : splat(0, getTileType(true, true));
  Value scale = evaluateScale(Scale::Inclusive, form.decay);
  return choose(
      isExact(), accumulators.getType(),
      [&] {
        Value init = form.init ? product(accumulators, scale) : Value();
        return exactMix(op, scores, init);
      },
      [&] {
        Value left = getLeft({op.getValues(), Scale::Inverse, form.decay});
        return product(multiplyAdd(accumulators, left, scores, index(0),
                                   /*transposed=*/true),
                       scale);
      });
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

Value StateRole::isExact() {
  if (exactFlag)
    return exactFlag;
  Value memory = getStage(shared.cross({}, ArrayForm::Exact), stage);
  Value flag = loadFloat(memory, StringAttr(), false);
  Value is = mapTo(builder.getI1Type(), flag,
                   [&](OpBuilder &inner, ValueRange args) -> Value {
                     return arith::CmpFOp::create(inner, loc,
                                                  arith::CmpFPredicate::OGT,
                                                  args[0], number(inner, 0));
                   });
  exactFlag = tile::VoteOp::create(builder, loc, builder.getI1Type(),
                                   tile::VoteKind::Any, is, index(kWarpBarrier),
                                   builder.getI64IntegerAttr(1));
  return exactFlag;
}

/// Writes what scores take that no role before this one has written; whether
/// there was anything.
bool StateRole::prepareScores(const ScoresForm &form) {
  bool wrote = form.scalarDecay != nullptr;
  auto storeNumbers = [&](Value value) {
    wrote |= value && plan.hasTokens(value);
    storeTokens(value);
  };
  for (Value factor : form.readerFactors)
    storeNumbers(factor);
  for (Value factor : form.writerFactors)
    storeNumbers(factor);
  storeNumbers(form.diagonal);
  storeScalarDecay(form);
  for (const Recipe &recipe : {form.reader, form.writer}) {
    if (isEarly(recipe) || findWritten(recipe))
      continue;
    MatrixPair memory = getPair(recipe, recipe == form.writer);
    storeMatrix(evaluateForMatrix(recipe), getChannels(recipe), memory);
    written.emplace_back(recipe, memory.high);
    wrote = true;
  }
  return wrote;
}

void StateRole::makeLateScores(const ScoresForm &form, Value memory) {
  ScoresOp op = form.op;
  auto axis = cast<StringAttr>(op.getAxes()[0]);
  if (prepareScores(form)) {
    // The next role's matrix unit reads after a later fence.
    if (roleNumber == plan.getStateRoles())
      fence();
    barrier();
  }
  const PairTile &pair = getPairTile();
  // Where the warps are more than the tiles, the others leave them the cycles.
  Value raw;
  auto multiply = [&] {
    return multiplyPairs(getPair(form.reader, /*hasLow=*/false),
                         getPair(form.writer, /*hasLow=*/true), axis);
  };
  if (pair.warps < warps) {
    Value runs = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                       warp, index(pair.warps));
    raw = choose(
        runs, multiply,
        splat(0, getTileType(ScanPlan::kRows, pair.cols, getF32(), acc())));
  } else {
    raw = multiply();
  }
  if (form.decay) {
    // Their left operands are not to be kept in registers for the exact path.
    for (Operation &other : plan.scan.getBody().front())
      if (auto it = running.find(&other);
          it != running.end() && it->second.accumulators)
        it->second.accumulators = finish(it->second);
    Value exactly = isExact();
    for (const Recipe &recipe : {form.reader, form.writer})
      if (isOwn(recipe.value))
        evaluate(recipe.value);
    raw = choose(
        exactly,
        [&] { return exactPairs(form, getPair(form.writer, /*hasLow=*/true)); },
        raw);
  }
  storeScores(finishScores(form, raw, getPairTile()), memory);
}

/// A place for each stage, so that a warp that goes on to the next chunk writes
/// elsewhere than others may still read.
Value StateRole::getScores(Value scores) {
  Recipe recipe{scores, Scale::None, {}};
  if (!isOwn(scores))
    return getStage(shared.cross(recipe, ArrayForm::Scores), stage);
  Value &ring = scoreMemories[scores];
  if (!ring)
    ring = shared.allocateRing(recipe, ArrayForm::Scores);
  Value memory = getStage(ring, stage);
  if (!scoresMade.insert(scores).second)
    return memory;
  makeLateScores(plan.scores.at(scores.getDefiningOp()), memory);
  if (isAsynchronous(plan.chunk))
    fence();
  barrier();
  return memory;
}
