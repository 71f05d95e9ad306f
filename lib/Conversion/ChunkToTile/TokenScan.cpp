//===- TokenScan.cpp - States that are scanned over tokens ----------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The chain from chunk to chunk is short: a wait, a load, one combination, a
// store, an arrival. All tokens of the chunk are combined with each other
// before, in groups that are under way at the same time, and with what comes
// from the chunk before after it.
//
//===----------------------------------------------------------------------===//

#include "TokenScan.h"

#include <limits>

using namespace mlir;
using namespace larc;

using tile::LayoutAttr;
using tile::RegType;
using tile::SharedType;

/// Groups of tokens that are combined by themselves first.
static constexpr int64_t kGroups = 4;

//===----------------------------------------------------------------------===//
// Tokens of all groups
//===----------------------------------------------------------------------===//

int64_t TokenScan::getCols() const {
  return form.axis ? plan.getPadded(form.axis) : 1;
}

int64_t TokenScan::getToken(int64_t group) const {
  return group * (plan.chunk / kGroups) + inGroup;
}

/// A row for each of some tokens, with all channels, each in one lane.
RegType TokenScan::getRowsType(int64_t rows, StringAttr axis) const {
  if (!axis)
    return getTileType(rows, 1, getF32(),
                       getTileType(false, false).getLayout());
  int64_t cols = plan.getPadded(axis);
  return getTileType(rows, cols, getF32(),
                     LayoutAttr::getBlocked(builder.getContext(), /*rows=*/1,
                                            cols, cols / LayoutAttr::kLanes));
}

Value TokenScan::join(ValueRange rows) {
  if (rows.size() == 1)
    return rows.front();
  return tile::ConcatOp::create(builder, loc, rows, tile::Dimension::Rows);
}

Value TokenScan::getRow(Value tile, int64_t row) {
  auto type = cast<RegType>(tile.getType());
  return tile::SliceOp::create(
      builder, loc,
      getTileType(1, type.getCols(), type.getElementType(), type.getLayout()),
      tile, row, 0);
}

Value TokenScan::evaluateLeaf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return evaluateElementwise(
        cast<ElementwiseOpInterface>(value.getDefiningOp()));
  if (auto op = dyn_cast<chunk::TokensOp>(argument.getOwner()->getParentOp()))
    return evaluate(op.getOver()[argument.getArgNumber()]);
  StringAttr axis = plan.getChannels(value);
  SmallVector<Value> rows;
  if (std::optional<unsigned> operand = plan.getRawOperand(value)) {
    RegType type =
        getRowsType(1, axis).withElementType(plan.getOperandType(*operand));
    Value memory = getRaw(*operand);
    for (int64_t group = 0; group < kGroups; ++group)
      rows.push_back(load(memory, index(getToken(group)), index(0), type));
    return convert(join(rows), getF32());
  }
  if (argument.getArgNumber() < plan.scan.getNumOperands()) {
    for (int64_t group = 0; group < kGroups; ++group)
      rows.push_back(tile::PickOp::create(builder, loc, scalars->lookup(value),
                                          getTokenDimension(),
                                          getToken(group)));
    return join(rows);
  }
  Value &constant = constants[value];
  if (!constant) {
    Value memory = arguments[argument.getArgNumber()];
    Type element = cast<tile::GlobalType>(memory.getType()).getElementType();
    constant = convert(load(memory, index(0), index(0),
                            getRowsType(1, axis).withElementType(element)),
                       getF32());
  }
  return constant;
}

Value TokenScan::evaluateScale(Scale, Value) {
  llvm_unreachable("what is scanned is computed element by element");
}

/// Which of the tokens there are, one for each row.
Value TokenScan::findTokens() {
  Value rows =
      numbers(tile::Dimension::Rows, getRowsType(kGroups, form.axis), Value());
  Value count = builder.createOrFold<arith::IndexCastOp>(
      loc, builder.getI32Type(), remaining);
  return mapTo(builder.getI1Type(), rows,
               [&](OpBuilder &inner, ValueRange args) -> Value {
                 auto constant = [&](int64_t number) -> Value {
                   return arith::ConstantIntOp::create(inner, loc, number, 32);
                 };
                 Value first = arith::MulIOp::create(
                     inner, loc, args[0], constant(plan.chunk / kGroups));
                 Value token = arith::AddIOp::create(inner, loc, first,
                                                     constant(inGroup));
                 return arith::CmpIOp::create(
                     inner, loc, arith::CmpIPredicate::slt, token, count);
               });
}

/// `value` at the tokens, for all channels of the state; `otherwise` where
/// there is no token.
Value TokenScan::evaluateRows(Value value, Value exist, double otherwise) {
  Value zeros = splat(0, getRowsType(kGroups, form.axis));
  return map({zeros, evaluate(value), exist},
             [&](OpBuilder &inner, ValueRange args) -> Value {
               return arith::SelectOp::create(inner, loc, args[2], args[1],
                                              number(inner, otherwise));
             });
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

static double getNeutral(Operation *combiner) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return isa<MinOp>(combiner) ? infinity : -infinity;
}

Value TokenScan::combine(Value lhs, Value rhs) {
  return map({lhs, rhs}, [&](OpBuilder &inner, ValueRange args) -> Value {
    Value result = cast<ElementwiseOpInterface>(form.combiner)
                       .buildScalar(inner, loc, args);
    // Their errors are those of float32 near 1, which is what is added.
    inner.getBlock()->walk([](arith::ArithFastMathInterface op) {
      if (isa<math::ExpOp, math::Log1pOp>(op))
        op->setAttr(op.getFastMathAttrName(),
                    arith::FastMathFlagsAttr::get(op.getContext(),
                                                  arith::FastMathFlags::afn));
    });
    return result;
  });
}

/// The token `inGroup` of each group.
TokenScan::Step TokenScan::getStep() {
  tiles.clear();
  Value exist = findTokens();
  Step step;
  step.input = evaluateRows(form.input, exist, getNeutral(form.combiner));
  if (form.shift)
    step.shift = evaluateRows(form.shift, exist, 0);
  return step;
}

TokenScan::Step TokenScan::getRow(const Step &step, int64_t row) {
  return {step.shift ? getRow(step.shift, row) : Value(),
          getRow(step.input, row)};
}

TokenScan::Step TokenScan::join(ArrayRef<Step> steps) {
  SmallVector<Value> shifts, inputs;
  for (const Step &step : steps) {
    shifts.push_back(step.shift);
    inputs.push_back(step.input);
  }
  return {shifts.front() ? join(shifts) : Value(), join(inputs)};
}

/// (state + shift) (+) input.
Value TokenScan::apply(Value state, const Step &step) {
  return combine(step.shift ? sum(state, step.shift) : state, step.input);
}

TokenScan::Step TokenScan::compose(const Step &first, const Step &second) {
  return {second.shift ? sum(first.shift, second.shift) : Value(),
          apply(first.input, second)};
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

void TokenScan::onlyIf(Value condition, llvm::function_ref<void()> body) {
  auto branch =
      scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  body();
}

/// Waits for what the state is before chunk `number`, which this warp has, or
/// would have: the one before hands it on at a barrier of this warp's own,
/// whose phases this warp waits for one after the other.
void TokenScan::wait(Value number) {
  Value round =
      arith::DivUIOp::create(builder, loc, number, shared.getChunksAtOnce());
  Value parity = arith::RemUIOp::create(builder, loc, round, index(2));
  tile::PhaseWaitOp::create(builder, loc, phases, self, parity);
}

void TokenScan::begin(OpBuilder &at, Value warpNumber, Value initial) {
  builder.restoreInsertionPoint(at.saveInsertionPoint());
  self = warpNumber;
  int64_t pad = form.axis ? kPad : 3;
  auto allocate = [&](int64_t rows, int64_t stages) {
    return shared.allocate(SharedType::get(builder.getContext(), rows,
                                           getCols(), getF32(), /*swizzle=*/0,
                                           pad, stages));
  };
  states = shared.getCarried(form);
  if (form.shift && !fitsRegisters())
    shifts = allocate(plan.chunk, plan.factorWarps);
  carry = allocate(1, 1);
  phases = shared.allocatePhases(plan.factorWarps, /*warps=*/1);
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        self, index(0));
  onlyIf(isFirst, [&] {
    Type element = cast<tile::GlobalType>(initial.getType()).getElementType();
    RegType type = getRowsType(1, form.axis).withElementType(element);
    Value tile = load(initial, index(0), index(0), type);
    store(convert(tile, getF32()), carry, index(0), index(0));
    tile::PhaseArriveOp::create(builder, loc, phases, self);
  });
}

/// Whether what is known of the chunk's tokens stays in registers until the
/// state before them is.
bool TokenScan::fitsRegisters() const {
  constexpr int64_t most = 32;
  int64_t perToken = getRowsType(1, form.axis).getNumRegisters();
  return plan.chunk * perToken * (form.shift ? 2 : 1) <= most;
}

void TokenScan::storeRows(Value tile, Value memory, int64_t first) {
  for (int64_t group = 0; group < kGroups; ++group)
    store(getRow(tile, group), memory, index(getToken(group) + first),
          index(0));
}

Value TokenScan::loadRows(Value memory, int64_t first) {
  SmallVector<Value> rows;
  for (int64_t group = 0; group < kGroups; ++group)
    rows.push_back(load(memory, index(getToken(group) + first), index(0),
                        getRowsType(1, form.axis)));
  return join(rows);
}

/// The tokens of each group up to each; the last of them are left.
TokenScan::Step TokenScan::scanGroups(SmallVectorImpl<Step> &known) {
  Step all;
  for (inGroup = 0; inGroup < plan.chunk / kGroups; ++inGroup) {
    Step step = getStep();
    all = inGroup == 0 ? step : compose(all, step);
    if (fitsRegisters()) {
      known.push_back(all);
      continue;
    }
    storeRows(all.input, getStage(states, stage), CarriedForm::kRowAfter);
    if (all.shift)
      storeRows(all.shift, getStage(shifts, self), 0);
  }
  return all;
}

void TokenScan::scan(OpBuilder &at, const Chunk &chunk) {
  builder.restoreInsertionPoint(at.saveInsertionPoint());
  stage = chunk.stage;
  remaining = chunk.remaining;
  scalars = chunk.scalars;
  constants.clear();
  // What the warp read of the chunk before is not needed any more.
  barrier();
  SmallVector<Step> known;
  Step groups = scanGroups(known);
  // The groups up to each.
  SmallVector<Step> totals = {getRow(groups, 0)};
  for (int64_t group = 1; group < kGroups; ++group)
    totals.push_back(compose(totals.back(), getRow(groups, group)));
  // What waits for the chunk before shall be no more than it must: the
  // assembler moves all else behind the wait, or before the arrival, that
  // memory does not keep where it is.
  Value memory = getStage(states, stage);
  store(totals.back().input, memory, index(CarriedForm::kRowBefore), index(0));
  wait(chunk.number);
  RegType type = getRowsType(1, form.axis);
  Value before = load(carry, index(0), index(0), type);
  store(before, memory, index(CarriedForm::kRowBefore), index(0));
  store(apply(before, totals.pop_back_val()), carry, index(0), index(0));
  Value next = arith::RemUIOp::create(builder, loc, add(self, index(1)),
                                      shared.getChunksAtOnce());
  tile::PhaseArriveOp::create(builder, loc, phases, next);
  before = load(memory, index(CarriedForm::kRowBefore), index(0), type);
  Value later = apply(before, join(totals));
  SmallVector<Value> starts = {before};
  for (int64_t group = 1; group < kGroups; ++group)
    starts.push_back(getRow(later, group - 1));
  Value start = join(starts);
  for (inGroup = 0; inGroup < plan.chunk / kGroups; ++inGroup) {
    Step step;
    if (fitsRegisters()) {
      step = known[inGroup];
    } else {
      step.input = loadRows(memory, CarriedForm::kRowAfter);
      if (shifts)
        step.shift = loadRows(getStage(shifts, self), 0);
    }
    storeRows(apply(start, step), memory, CarriedForm::kRowAfter);
  }
  barrier();
  tiles.clear();
}

/// The warp that would have the next chunk does.
void TokenScan::end(OpBuilder &at, Value chunks, Value final) {
  builder.restoreInsertionPoint(at.saveInsertionPoint());
  Value last =
      arith::RemUIOp::create(builder, loc, chunks, shared.getChunksAtOnce());
  Value isLast =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, self, last);
  onlyIf(isLast, [&] {
    wait(chunks);
    Value tile = load(carry, index(0), index(0), getRowsType(1, form.axis));
    Type element = cast<tile::GlobalType>(final.getType()).getElementType();
    store(convert(tile, element), final, index(0), index(0));
  });
}
