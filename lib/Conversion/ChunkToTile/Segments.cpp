//===- Segments.cpp - Sequences in segments -*- C++ -*- -------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where there are fewer sequences and heads than multiprocessors, sequences are
// divided. A first program finds out what each segment but the last does to a
// state of zeros, and what its decays multiply a state by; both together are
// the segment's transition, whatever the state. A second program composes them
// (see Composition.cpp). The third, that of a segment, then begins with the
// state that those before it lead to, and goes on as for a sequence.
//
// What a segment leaves is a record in memory between the programs: for each
// state the rows of the matrix, a row with the decay of each column, a row with
// that of each row. Record i is of segment i - 1; record 0 is the initial
// state, which another block may overwrite while it is still needed. After the
// second program, record i is the state at the start of segment i.
//
//===----------------------------------------------------------------------===//

#include "StateRole.h"

using namespace mlir;
using namespace larc;

using tile::RegType;

/// Rows of a state's decays, after those of the state.
static constexpr int64_t kDecayRows = 2;

int64_t larc::getRecordRows(const ScanPlan &plan, const StateForm &state) {
  return plan.getAllPadded(state.rows) + kDecayRows;
}

int64_t larc::getRecordCols(const ScanPlan &plan) {
  // Rows of 512 bytes at least.
  int64_t cols = 128;
  for (const StateForm &state : plan.states)
    cols = std::max(
        {cols, plan.getAllPadded(state.rows), plan.getAllPadded(state.cols)});
  return cols;
}

int64_t larc::getRecordRows(const ScanPlan &plan) {
  int64_t rows = 0;
  for (const StateForm &state : plan.states)
    rows += getRecordRows(plan, state);
  return rows;
}

Value StateRole::getRecord(Value number, unsigned state, int64_t row) {
  for (unsigned i = 0; i < state; ++i)
    row += getRecordRows(plan, plan.states[i]);
  return add(multiply(number, getRecordRows(plan)), index(row));
}

/// The columns whose decays over a segment a warp keeps, of those that it has
/// together with the other warps of its part: registers are scarce.
int64_t StateRole::getSharedCols(const StateForm &state) const {
  constexpr int64_t least = 8;
  int64_t cols = getCols(state), warps = getWarps(state.rows);
  return cols % (least * warps) == 0 ? cols / warps : cols;
}

/// Of the warp among those with the same columns of a state.
Value StateRole::getNumberInPart(const StateForm &state) {
  return arith::RemUIOp::create(builder, loc, warp,
                                index(getWarps(state.rows)));
}

Value StateRole::getFirstSharedCol(const StateForm &state) {
  int64_t cols = getSharedCols(state);
  if (cols == getCols(state))
    return getFirstCol(state);
  return add(getFirstCol(state), multiply(getNumberInPart(state), cols));
}

RegType StateRole::getSharedColsType(const StateForm &state) const {
  return getTileType(1, getSharedCols(state), getF32(),
                     acc().getSlice(tile::Dimension::Cols));
}

StateRole::StateDecay StateRole::makeOnes(const StateForm &state) {
  StateDecay ones;
  for (Value factor : state.update.getDecays()) {
    StringAttr axis = plan.getChannels(factor);
    if (axis == state.cols)
      ones.cols = splat(1, getSharedColsType(state));
    else
      ones.rows = splat(1, getTileType(true, false));
  }
  return ones;
}

void StateRole::emitSummaryChunk(ValueRange carried,
                                 SmallVectorImpl<Value> &next) {
  auto outer = tiles;
  beginChunk();
  SmallVector<Running> updates;
  SmallVector<Value> decays;
  for (unsigned i : own) {
    StateDecay decay = loadDecay(plan.states[i]);
    updates.push_back(update(i, decay));
    if (getSharedCols(plan.states[i]) != getCols(plan.states[i]))
      decay.cols = loadDecay(plan.states[i], getFirstSharedCol(plan.states[i]),
                             getSharedColsType(plan.states[i]))
                       .cols;
    for (Value factor : {decay.rows, decay.cols}) {
      if (!factor)
        continue;
      decays.push_back(product(carried.front(), factor));
      carried = carried.drop_front();
    }
  }
  writeCrossings();
  for (const Running &update : updates)
    next.push_back(finish(update));
  llvm::append_range(next, decays);
  tiles = outer;
}

/// Of the program that sums up: zeros, but the initial state in the block of
/// the last segment, which only hands it on. Of the last: what the segments
/// before made of the initial state.
Value StateRole::loadFirst(const StateForm &state, unsigned number) {
  RegType type = getStateType(state, getF32());
  Value reads =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                            isSummary() ? segment->number : segment->count,
                            isSummary() ? segment->last : index(1));
  auto branch = scf::IfOp::create(builder, loc, TypeRange(type), reads,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Value initial = loadState(state);
  scf::YieldOp::create(builder, loc, initial);
  builder.setInsertionPointToStart(branch.elseBlock());
  Value otherwise = isSummary()
                        ? splat(0, type)
                        : load(arguments[argumentNumbers.scratch],
                               add(getRecord(segment->number, number, 0),
                                   getFirstGlobal(state.rows)),
                               getFirstCol(state), type);
  scf::YieldOp::create(builder, loc, otherwise);
  return branch.getResult(0);
}

void StateRole::storeRecord(unsigned number, Value tile,
                            const StateDecay &decay) {
  const StateForm &state = plan.states[number];
  Value memory = arguments[argumentNumbers.scratch];
  Value first = getFirstGlobal(state.rows);
  // The last segment's block has the initial state.
  Value record = arith::RemUIOp::create(
      builder, loc, add(segment->number, index(1)), segment->count);
  int64_t rows = plan.getAllPadded(state.rows);
  Value col = getFirstCol(state);
  onlyOwners(state, [&] {
    store(tile, memory, add(getRecord(record, number, 0), first), col);
  });
  if (decay.rows)
    onlyWarps(getWarps(state.rows), [&] {
      store(expand(decay.rows, true, false), memory,
            getRecord(record, number, rows + 1), first, /*transposed=*/true);
    });
  if (!decay.cols)
    return;
  onlyOwners(state, [&] {
    // Where all keep the same, the first of them; and of blocks the first.
    Value position;
    if (getSharedCols(state) == getCols(state))
      position = getNumberInPart(state);
    if (plan.valueParts > 1)
      position = position ? add(position, tokens.channel) : tokens.channel;
    onlyFirst(position, [&] {
      store(decay.cols, memory, getRecord(record, number, rows),
            getFirstSharedCol(state));
    });
  });
}
