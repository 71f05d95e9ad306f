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

Value StateRole::loadState(const StateForm &state, unsigned number) {
  Value memory = arguments[argumentNumbers.initials + number];
  Type element = cast<tile::GlobalType>(memory.getType()).getElementType();
  RegType type =
      getTileType(ScanPlan::kRows, plan.getPadded(state.cols), element, acc());
  Value first = getFirstChannel(state.rows);
  Value tile = state.transposed ? load(memory, index(0), first, type, true,
                                       index(plan.getSize(state.cols)))
                                : load(memory, first, index(0), type, false,
                                       index(plan.getSize(state.rows)));
  return convert(tile, getF32());
}

void StateRole::storeState(const StateForm &state, unsigned number,
                           Value tile) {
  Value memory = arguments[argumentNumbers.finals + number];
  Value first = getFirstChannel(state.rows);
  tile =
      convert(tile, cast<tile::GlobalType>(memory.getType()).getElementType());
  onlyWarps(getWarps(state.rows), [&] {
    if (state.transposed)
      store(tile, memory, index(0), first, true,
            index(plan.getSize(state.cols)));
    else
      store(tile, memory, first, index(0), false,
            index(plan.getSize(state.rows)));
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
  Value tile = convert(expand(evaluate(value), axis != nullptr, true), element);
  if (!axis)
    return onlyWarps(
        1, [&] { store(tile, memory, first, index(0), true, tokens.end); });
  bool is16Bit = element.getIntOrFloatBitWidth() == 16;
  Value &staging = outputMemories[number];
  if (!staging)
    staging = shared.allocate(
        SharedType::get(builder.getContext(), plan.chunk, plan.getPadded(axis),
                        element, is16Bit ? 128 : 0, is16Bit ? 0 : 4, 1));
  Value channel = getFirstChannel(axis);
  onlyWarps(getWarps(axis), [&] {
    store(tile, staging, index(0), channel, true);
    RegType type = getTileType(plan.chunk, ScanPlan::kRows, element,
                               getRowLayout(element));
    store(load(staging, index(0), channel, type), memory, first, channel, false,
          tokens.end);
  });
}
