//===- StateMemory.cpp - States and outputs in memory -*- C++ -*- ---------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StateRole.h"

using namespace mlir;
using namespace larc;

using tile::LayoutAttr;
using tile::RegType;
using tile::SharedType;

Value StateRole::getPart(const StateForm &state) {
  return builder.createOrFold<arith::DivUIOp>(loc, warp,
                                              index(getWarps(state.rows)));
}

Value StateRole::getFirstCol(const StateForm &state) {
  if (state.parts == 1)
    return index(0);
  return multiply(getPart(state), getCols(state));
}

RegType StateRole::getStateType(const StateForm &state, Type element) const {
  return getTileType(ScanPlan::kRows, getCols(state), element, acc());
}

RegType StateRole::getColsType(const StateForm &state) const {
  return getTileType(1, getCols(state), getF32(),
                     acc().getSlice(tile::Dimension::Cols));
}

void StateRole::onlyOwners(const StateForm &state,
                           llvm::function_ref<void()> body) {
  onlyWarps(state.parts * getWarps(state.rows), body);
}

Value StateRole::addParts(const ReadForm &read, Value tile) {
  const StateForm &state = plan.states[read.state];
  if (state.parts == 1)
    return tile;
  int64_t rows = plan.getPadded(state.rows);
  Value &memory = partMemories[read.op];
  if (!memory)
    memory = shared.allocate(
        SharedType::get(builder.getContext(), state.parts * rows, plan.chunk,
                        getF32(), 0, /*pad=*/8, /*stages=*/1));
  auto getRow = [&](Value part) {
    return add(multiply(part, rows), getFirstChannel(state.rows));
  };
  Value own = getPart(state);
  // The loads of the chunk before are over.
  barrier();
  store(tile, memory, getRow(own), index(0));
  barrier();
  for (int64_t i = 1; i < state.parts; ++i) {
    Value other = arith::RemUIOp::create(builder, loc, add(own, index(i)),
                                         index(state.parts));
    tile = sum(tile,
               load(memory, getRow(other), index(0), getTileType(true, true)));
  }
  return tile;
}

Value StateRole::loadState(const StateForm &state) {
  Value memory = arguments[argumentNumbers.initials + state.number];
  Type element = cast<tile::GlobalType>(memory.getType()).getElementType();
  RegType type = getStateType(state, element);
  Value first = getFirstGlobal(state.rows), col = getFirstCol(state);
  Value tile = state.transposed ? load(memory, col, first, type, true,
                                       index(plan.getSize(state.cols)))
                                : load(memory, first, col, type, false,
                                       index(plan.getSize(state.rows)));
  return convert(tile, getF32());
}

void StateRole::storeState(const StateForm &state, Value tile) {
  Value memory = arguments[argumentNumbers.finals + state.number];
  Value first = getFirstGlobal(state.rows), col = getFirstCol(state);
  tile =
      convert(tile, cast<tile::GlobalType>(memory.getType()).getElementType());
  onlyOwners(state, [&] {
    if (state.transposed)
      store(tile, memory, col, first, true, index(plan.getSize(state.cols)));
    else
      store(tile, memory, first, col, false, index(plan.getSize(state.rows)));
  });
}

/// A layout in which a lane has 16 bytes of a row, of 16 columns.
static LayoutAttr getRowLayout(Type element) {
  int64_t vector = 128 / element.getIntOrFloatBitWidth();
  SmallVector<int64_t> lanes, registers;
  for (int64_t col = 1; col < vector; col *= 2)
    registers.append({0, col});
  for (int64_t col = vector; col < ScanPlan::kRows; col *= 2)
    lanes.append({0, col});
  for (int64_t row = 1; lanes.size() < 2 * LayoutAttr::kLaneBits; row *= 2)
    lanes.append({row, 0});
  return LayoutAttr::get(element.getContext(), lanes, registers);
}

/// Tiles have tokens along columns, memory has them along rows: elements of a
/// warp change their lanes through shared memory.
void StateRole::storeOutput(unsigned number, Value value, Value first) {
  Value memory = arguments[argumentNumbers.outputs + number];
  Type element = cast<tile::GlobalType>(memory.getType()).getElementType();
  StringAttr axis = plan.getChannels(value);
  auto getTile = [&] {
    return convert(expand(evaluate(value), axis != nullptr, true), element);
  };
  if (!axis)
    return onlyWarps(1, [&, tile = getTile()] {
      store(tile, memory, first, index(0), true, tokens.end);
    });
  bool is16Bit = element.getIntOrFloatBitWidth() == 16;
  Value &staging = outputMemories[number];
  if (!staging)
    staging = shared.allocate(
        SharedType::get(builder.getContext(), plan.chunk, plan.getPadded(axis),
                        element, is16Bit ? 128 : 0, is16Bit ? 0 : 4, 1));
  forPasses(axis, {}, [&](ValueRange) {
    Value tile = getTile(), channel = getFirstChannel(axis);
    onlyWarps(getWarps(axis), [&] {
      store(tile, staging, index(0), channel, true);
      RegType type = getTileType(plan.chunk, ScanPlan::kRows, element,
                                 getRowLayout(element));
      store(load(staging, index(0), channel, type), memory, first,
            getFirstGlobal(axis), false, tokens.end);
    });
    return SmallVector<Value>();
  });
}

/// What the roles after this one asked for.
void StateRole::writeCrossings() {
  SmallVector<const Crossing *> crossings = shared.getCrossings(roleNumber);
  if (roleNumber == plan.getStateRoles())
    return;
  for (const Crossing *crossing : crossings) {
    const Recipe &recipe = crossing->recipe;
    switch (crossing->form) {
    case ArrayForm::Matrix: {
      if (findWritten(recipe))
        break;
      MatrixPair memory{getStage(crossing->memory, stage), {}};
      for (const Crossing *other : crossings)
        if (other->form == ArrayForm::Low && other->recipe == recipe)
          memory.low = getStage(other->memory, stage);
      storeMatrix(evaluateForMatrix(recipe), getChannels(recipe), memory);
      written.emplace_back(recipe, memory.high);
      break;
    }
    case ArrayForm::Float:
      storeFloat(evaluate(recipe), getChannels(recipe),
                 getStage(crossing->memory, stage));
      break;
    case ArrayForm::Partials:
      storePartials(cast<ReductionOpInterface>(recipe.value.getDefiningOp()),
                    getStage(crossing->memory, stage));
      break;
    // Written with the matrix; of scores and the flag there are none, since
    // scores are made by the role that mixes with them.
    case ArrayForm::Scores:
    case ArrayForm::Low:
    case ArrayForm::Exact:
      break;
    }
  }
  // For products in flight, and copies of the copy unit into the same memory.
  if (isAsynchronous(plan.chunk) || plan.hasBulkCopies() ||
      llvm::any_of(plan.states, [&](const StateForm &state) {
        chunk::UpdateOp op = state.update;
        return llvm::any_of(op->getOperands().drop_front(),
                            [&](Value value) { return isOwn(value); });
      }))
    fence();
  tile::PhaseArriveOp::create(builder, loc,
                              shared.getPhases().ready[roleNumber], stage);
}
