//===- StateRole.cpp - What depends on states -*- C++ -*- -----------------===//
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
using chunk::UpdateOp;
using tile::LayoutAttr;
using tile::RegType;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The unit takes as long for few columns as for 96 with `wgmma`, but not with
/// `mma`, which nothing has to wait for either.
bool StateRole::isAsynchronous(int64_t cols) const {
  constexpr int64_t fewCols = 16;
  return plan.options.wgmma && cols > fewCols;
}

bool StateRole::isAsynchronous(Value accumulators) const {
  auto type = dyn_cast<RegType>(accumulators.getType());
  return !type || isAsynchronous(type.getCols());
}

void StateRole::beginGroup(Value accumulators) {
  if (isAsynchronous(accumulators))
    tile::WgmmaFenceOp::create(builder, loc);
}

void StateRole::endGroup(Running &product) {
  if (isa<RegType>(product.accumulators.getType()))
    return;
  tile::WgmmaCommitOp::create(builder, loc);
  product.group = groups++;
}

StateRole::Running StateRole::multiplyLarge(Value accumulators, Value lhs,
                                            Value rhs, bool transposed,
                                            Value col) {
  Running product;
  if (!col)
    col = index(0);
  product.accumulators =
      isAsynchronous(accumulators)
          ? tile::WgmmaOp::create(builder, loc, accumulators, lhs, rhs,
                                  index(0), col, transposed)
                .getResult()
          : multiplyAdd(accumulators, lhs, rhs, col, transposed);
  return product;
}

Value StateRole::finish(Running product) {
  if (isa<RegType>(product.accumulators.getType()))
    return product.accumulators;
  // A later wait may have been for more: the assembler looks at the last.
  finished = std::max(finished, product.group + 1);
  return tile::WgmmaWaitOp::create(builder, loc, product.accumulators,
                                   builder.getI64IntegerAttr(groups - finished))
      .getResult(0);
}

bool StateRole::isEarly(const Recipe &recipe) const {
  return !recipe.value || plan.getRole(recipe.value) < roleNumber;
}

MatrixPair StateRole::getPair(const Recipe &recipe, bool hasLow) {
  if (recipe.scale == Scale::None)
    if (std::optional<unsigned> operand = plan.getMatrixOperand(recipe.value))
      return {getRaw(*operand), {}};
  if (isEarly(recipe))
    return {getStage(shared.cross(recipe, ArrayForm::Matrix), stage),
            hasLow ? getStage(shared.cross(recipe, ArrayForm::Low), stage)
                   : Value()};
  // A place for each stage, so that a warp that goes on to the next chunk
  // writes elsewhere than others may still read.
  auto getOwn = [&](ArrayForm form) {
    Value ring = shared.findCrossing(recipe, form);
    for (auto &[known, memory] : ownMatrices)
      if (!ring && known.first == recipe && known.second == form)
        ring = memory;
    if (!ring) {
      ring = shared.allocateRing(recipe, form);
      ownMatrices.push_back({{recipe, form}, ring});
    }
    return getStage(ring, stage);
  };
  return {getOwn(ArrayForm::Matrix), hasLow ? getOwn(ArrayForm::Low) : Value()};
}

Value StateRole::findWritten(const Recipe &recipe) const {
  for (const auto &[known, memory] : written)
    if (known == recipe)
      return memory;
  return {};
}

/// Where the matrix unit finds a right operand.
Value StateRole::getMatrix(const Recipe &recipe) {
  if (recipe.scale == Scale::None)
    if (std::optional<unsigned> operand = plan.getMatrixOperand(recipe.value))
      return getRaw(*operand);
  if (isEarly(recipe))
    return getStage(shared.cross(recipe, ArrayForm::Matrix), stage);
  if (Value memory = findWritten(recipe))
    return memory;
  MatrixPair memory = getPair(recipe, /*hasLow=*/false);
  storeMatrix(evaluateForMatrix(recipe), getChannels(recipe), memory);
  fence();
  barrier();
  written.emplace_back(recipe, memory.high);
  return memory.high;
}

/// The left operand that a warp has of an array: channels x tokens.
Value StateRole::getLeft(const Recipe &recipe) {
  for (auto &[known, tile] : lefts)
    if (known == recipe)
      return tile;
  RegType type = getTileType(ScanPlan::kRows, plan.chunk, getMatrixType(),
                             LayoutAttr::getLhs(builder.getContext()));
  Value tile;
  if (isEarly(recipe))
    tile = load(getMatrix(recipe), index(0),
                getFirstChannel(getChannels(recipe)), type, true);
  else
    tile = convert(expand(evaluateForMatrix(recipe), true, true), type);
  lefts.emplace_back(recipe, tile);
  return tile;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

bool StateRole::isRecomputed(Value value) const {
  auto op = value.getDefiningOp<ElementwiseOpInterface>();
  return op && (plan.getChannels(value) || !plan.hasTokens(value));
}

Value StateRole::evaluateScale(Scale scale, Value decay) {
  // One of the two crosses, where the other follows.
  if (scale == Scale::Inclusive && isRecomputed(decay) &&
      shared.findCrossing({{}, Scale::Exclusive, decay}, ArrayForm::Float))
    return product(evaluateScale(Scale::Exclusive, decay), evaluate(decay));
  Recipe recipe{{}, scale, decay};
  return loadFloat(getStage(shared.cross(recipe, ArrayForm::Float), stage),
                   plan.getChannels(decay), scale != Scale::Total);
}

Value StateRole::evaluateLeaf(Value value) {
  if (std::optional<unsigned> operand = plan.getRawOperand(value))
    return loadOperand(*operand);
  if (Value tile = evaluateScanned(value))
    return tile;
  Operation *op = value.getDefiningOp();
  if (isOwn(value)) {
    if (MixOp mix = plan.wholes.lookup(value))
      return evaluateWholeMix(mix);
    if (auto it = plan.reads.find(op); it != plan.reads.end()) {
      if (!running.contains(op))
        startRead(it->second);
      Value tile = addParts(it->second, finish(running[op]));
      for (Value factor : it->second.factors)
        tile = product(tile, evaluate(factor));
      return tile;
    }
    if (auto mix = dyn_cast<MixOp>(op))
      return finishMix(mix);
    if (auto reduction = dyn_cast<ReductionOpInterface>(op))
      return evaluateReduction(reduction);
    return evaluateElementwise(cast<ElementwiseOpInterface>(op));
  }
  if (!plan.isLate(value) && isRecomputed(value))
    return evaluateElementwise(cast<ElementwiseOpInterface>(op));
  Recipe recipe = asScale(value);
  // The warps of a stage before need not wait for each other to sum up what
  // only this one takes.
  if (plan.isLate(value) && !plan.getChannels(value)) {
    recipe = {value, Scale::None, {}};
    if (auto reduction = dyn_cast<ReductionOpInterface>(op))
      return combinePartials(
          reduction,
          getStage(shared.cross(recipe, ArrayForm::Partials), stage));
    if (auto elementwise = dyn_cast<ElementwiseOpInterface>(op))
      return evaluateElementwise(elementwise);
  }
  if (recipe.scale != Scale::None && plan.getChannels(recipe.decay))
    return evaluateScale(recipe.scale, recipe.decay);
  recipe = {value, Scale::None, {}};
  return loadFloat(getStage(shared.cross(recipe, ArrayForm::Float), stage),
                   plan.getChannels(value), plan.hasTokens(value));
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

/// A state changes once all of its reads have begun.
bool StateRole::canUpdate(unsigned state) const {
  UpdateOp op = plan.states[state].update;
  for (const auto &[read, form] : plan.reads)
    if (form.state == state && !running.contains(read))
      return false;
  return llvm::none_of(op->getOperands().drop_front(),
                       [&](Value value) { return isOwn(value); });
}

/// A value for each row, or each column, of a state.
Value StateRole::loadVector(Value value, Value firstCol, RegType colsType) {
  StringAttr axis = plan.getChannels(value);
  Recipe recipe{value, Scale::None, {}};
  Value memory = getStage(shared.cross(recipe, ArrayForm::Float), stage);
  if (!colsType)
    return loadFloat(memory, axis, false);
  return load(memory, index(0), firstCol, colsType);
}

StateRole::StateDecay StateRole::loadDecay(const StateForm &state,
                                           Value firstCol, RegType colsType) {
  StateDecay decay;
  for (Value factor : state.update.getDecays()) {
    bool alongCols = plan.getChannels(factor) == state.cols;
    Value tile = loadVector(factor, firstCol, alongCols ? colsType : RegType());
    Value &all = alongCols ? decay.cols : decay.rows;
    all = all ? product(all, tile) : tile;
  }
  return decay;
}

StateRole::StateDecay StateRole::loadDecay(const StateForm &state) {
  return loadDecay(state, getFirstCol(state), getColsType(state));
}

StateRole::Running StateRole::update(unsigned number, const StateDecay &decay) {
  const StateForm &state = plan.states[number];
  UpdateOp op = state.update;
  Value tile = states[number];
  for (Value factor : {decay.rows, decay.cols})
    if (factor)
      tile = product(tile, factor);
  SmallVector<std::pair<Value, Value>> pairs;
  for (auto [key, value] : llvm::zip_equal(op.getKeys(), op.getValues())) {
    bool valueInRows = plan.getChannels(value) == state.rows;
    pairs.emplace_back(getLeft({valueInRows ? value : key, Scale::None, {}}),
                       getMatrix({valueInRows ? key : value, Scale::None, {}}));
  }
  Running product;
  product.accumulators = tile;
  beginGroup(tile);
  for (auto [left, right] : pairs)
    product = multiplyLarge(product.accumulators, left, right, false,
                            getFirstCol(state));
  endGroup(product);
  return product;
}

//===----------------------------------------------------------------------===//
// The role
//===----------------------------------------------------------------------===//

void StateRole::beginChunk() {
  kept = tiles;
  running.clear();
  lefts.clear();
  written.clear();
  scoresMade.clear();
  exactFlag = Value();
  groups = finished = 0;
}

void StateRole::emitChunk(Value first, SmallVectorImpl<Value> &next) {
  chunk::ScanOp scan = plan.scan;
  auto outer = tiles;
  beginChunk();
  // All that waits for nothing but the first role is started first.
  SmallVector<MixOp> withDecays;
  for (MixOp mix : scan.getOps<MixOp>()) {
    if (!isOwn(mix.getResult()))
      continue;
    if (!canStart(mix))
      continue;
    if (const ReadForm *read = getContinued(mix)) {
      continued.insert(read->op);
      if (!isEarly(read->reader))
        continue;
    }
    if (plan.mixes.at(mix).decay && mix.getInit())
      withDecays.push_back(mix);
    else
      startMix(mix);
  }
  for (ContractOp contract : scan.getOps<ContractOp>()) {
    auto it = plan.reads.find(contract);
    if (it != plan.reads.end() && isOwn(contract.getResult()) &&
        isEarly(it->second.reader) && !continued.contains(contract))
      startRead(it->second);
  }
  // Those are products of their own, for which registers do not suffice beside
  // states that are left operands and accumulators.
  for (MixOp mix : withDecays) {
    evaluate(mix.getInit());
    startMix(mix);
  }
  for (MixOp mix : scan.getOps<MixOp>()) {
    const MixForm &form = plan.mixes.at(mix);
    if (form.whole && form.init && isOwn(form.whole) &&
        running.contains(form.init.getDefiningOp()))
      evaluate(form.init);
  }
  SmallVector<Running> updates(plan.states.size());
  for (unsigned i : own)
    if (canUpdate(i))
      updates[i] = update(i, loadDecay(plan.states[i]));

  ValueRange yielded = scan.getYield().getValues();
  for (auto [i, output] :
       llvm::enumerate(yielded.drop_front(scan.getStateArguments().size())))
    if (std::max<int64_t>(plan.getRole(output), 1) == roleNumber)
      storeOutput(static_cast<unsigned>(i), output, first);
  writeCrossings();
  // They may take what crosses, too.
  if (llvm::any_of(own, [&](unsigned i) { return !updates[i].accumulators; }) &&
      !shared.getCrossings(roleNumber).empty())
    barrier();
  for (unsigned i : own)
    if (!updates[i].accumulators)
      updates[i] = update(i, loadDecay(plan.states[i]));
  for (unsigned i : own)
    next.push_back(finish(updates[i]));
  tiles = outer;
}

void StateRole::emit(tile::RoleOp role, TokenRange range) {
  tokens = range;
  shared.setReader(roleNumber);
  builder.setInsertionPointToStart(&role.getBody().front());
  chunk::ScanOp scan = plan.scan;
  warp = tile::WarpOp::create(builder, loc);
  outputMemories.resize(scan.getYield().getValues().size() -
                        scan.getStateArguments().size());
  for (BlockArgument constant : scan.getConstantArguments())
    if (!constant.use_empty())
      tiles[constant] = loadConstant(constant);
  for (auto [i, state] : llvm::enumerate(plan.states))
    if (state.role == roleNumber)
      own.push_back(static_cast<unsigned>(i));
  SmallVector<Value> initial;
  for (unsigned i : own)
    initial.push_back(segment ? loadFirst(plan.states[i], i)
                              : loadState(plan.states[i]));
  // In place, warps write what others have read too.
  if (llvm::any_of(own, [&](unsigned i) {
        const StateForm &state = plan.states[i];
        return state.parts == 1 && getWarps(state.rows) < warps;
      }))
    barrier();
  if (isSummary())
    for (unsigned i : own) {
      StateDecay ones = makeOnes(plan.states[i]);
      for (Value factor : {ones.rows, ones.cols})
        if (factor)
          initial.push_back(factor);
    }

  Value size = index(plan.chunk);
  auto loop =
      scf::ForOp::create(builder, loc, tokens.first, tokens.end, size, initial);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value first = loop.getInductionVar();
    Value passed = arith::SubIOp::create(builder, loc, first, tokens.first);
    Value chunkNumber = arith::DivUIOp::create(builder, loc, passed, size);
    stage =
        arith::RemUIOp::create(builder, loc, chunkNumber, shared.getStages());
    remaining = arith::SubIOp::create(builder, loc, tokens.end, first);
    // Tells the assembler that no product of the iteration before is running.
    if (plan.options.wgmma)
      tile::WgmmaWaitOp::create(builder, loc, ValueRange(),
                                builder.getI64IntegerAttr(0));
    if (llvm::any_of(plan.scores, [&](const auto &entry) {
          return isOwn(entry.first->getResult(0));
        }))
      getPairTile();
    ValueRange carried = loop.getRegionIterArgs();
    states.assign(plan.states.size(), Value());
    for (auto [i, state] : llvm::zip(own, carried))
      states[i] = state;
    stateLefts.assign(plan.states.size(), Value());
    // What is read first is ready before the first role is.
    for (const auto &[op, read] : plan.reads)
      if (plan.states[read.state].role == roleNumber && isEarly(read.reader) &&
          !isSummary())
        getStateLeft(read.state);
    Value phase = shared.getParity(builder, chunkNumber);
    for (int64_t before = 0; before < roleNumber; ++before)
      tile::PhaseWaitOp::create(builder, loc, shared.getPhases().ready[before],
                                stage, phase);
    SmallVector<Value> next;
    if (isSummary())
      emitSummaryChunk(carried.drop_front(own.size()), next);
    else
      emitChunk(first, next);
    tile::PhaseArriveOp::create(builder, loc, shared.getPhases().done, stage);
    scf::YieldOp::create(builder, loc, next);
  }
  ValueRange results = loop.getResults();
  if (isSummary()) {
    ValueRange decays = results.drop_front(own.size());
    for (auto [i, result] : llvm::zip(own, results)) {
      StateDecay decay = makeOnes(plan.states[i]);
      for (Value *factor : {&decay.rows, &decay.cols}) {
        if (!*factor)
          continue;
        *factor = decays.front();
        decays = decays.drop_front();
      }
      storeRecord(i, result, decay);
    }
    return;
  }
  auto storeStates = [&] {
    for (auto [i, result] : llvm::zip(own, results))
      storeState(plan.states[i], result);
  };
  if (!segment)
    return storeStates();
  Value isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       segment->number, segment->last);
  auto branch =
      scf::IfOp::create(builder, loc, isLast, /*withElseRegion=*/false);
  builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  storeStates();
}
