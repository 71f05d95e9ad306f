//===- TileMemoryOps.cpp - Loads, stores and copies on a CPU ----*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileMachine.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace larc;
using namespace larc::tile;
using namespace larc::tilerun;

LogicalResult TileMachine::runStage(Warp &warp, StageOp op) {
  auto ring = cast<SharedType>(op.getRing().getType());
  int64_t index = getInteger(warp, op.getIndex());
  if (index < 0 || index >= ring.getStages())
    return op.emitOpError("expected a stage below ")
           << ring.getStages() << ", found " << index;
  getSlot(warp, op).memory =
      getSlot(warp, op.getRing()).memory + index * ring.getStageBytes();
  return success();
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

namespace {
/// A part of a matrix in memory, as loads and stores see it.
struct Window {
  int64_t row, col, below, cols;
  bool transposed;

  std::pair<int64_t, int64_t> at(std::pair<int64_t, int64_t> place) const {
    auto [i, j] = place;
    return transposed ? std::pair(row + j, col + i)
                      : std::pair(row + i, col + j);
  }
  /// Whether the place is neither read nor written.
  bool leavesOut(int64_t memoryRow, int64_t memoryCol) const {
    return memoryRow >= below || memoryCol >= cols;
  }
};
} // namespace

static int64_t getCols(Type memory) {
  if (auto type = dyn_cast<SharedType>(memory))
    return type.getCols();
  return cast<GlobalType>(memory).getCols();
}

static LogicalResult reportOutside(Operation *op, Type memory, int64_t row,
                                   int64_t col) {
  return op->emitOpError("reaches row ")
         << row << ", column " << col << ", outside of " << memory;
}

static LogicalResult reportFault(Operation *op, const std::string &fault,
                                 int64_t row, int64_t col) {
  return op->emitOpError(fault) << " (row " << row << ", column " << col << ")";
}

char *TileMachine::getGlobal(Operation *op, int64_t argument, int64_t row,
                             int64_t col) {
  const GlobalView &view = block.arguments[argument];
  if (row < 0 || row >= view.rows || col < 0 || col >= view.cols)
    return (void)reportOutside(op, program.getArgumentTypes()[argument], row,
                               col),
           nullptr;
  int64_t bytes = view.elementType.getIntOrFloatBitWidth() / 8;
  return static_cast<char *>(view.data) + (row * view.rowStride + col) * bytes;
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

template <typename OpType>
static Window getWindow(OpType op, int64_t row, int64_t col, int64_t below) {
  return {row, col, below, getCols(op.getMemory().getType()),
          op.getTransposed()};
}

LogicalResult TileMachine::runLoad(Warp &warp, LoadOp op) {
  int64_t below = op.getBelow() ? getInteger(warp, op.getBelow())
                                : std::numeric_limits<int64_t>::max();
  Window window = getWindow(op, getInteger(warp, op.getRow()),
                            getInteger(warp, op.getCol()), below);
  Type memory = op.getMemory().getType();
  int64_t base = getSlot(warp, op.getMemory()).memory;
  Format format = *getFormat(op.getType().getElementType());
  int64_t bytes = format.bits / 8;
  const Geometry &geometry = getGeometry(op.getType());
  Elements elements(geometry.places.size());
  for (auto [place, first, element] :
       llvm::zip_equal(geometry.places, geometry.first, elements)) {
    auto [row, col] = window.at(place);
    element = fromBits(format, 0);
    if (window.leavesOut(row, col))
      continue;
    auto type = dyn_cast<SharedType>(memory);
    if (!type) {
      const char *source = getGlobal(op, base, row, col);
      if (!source)
        return failure();
      if (Fault fault = globals.read(warp.number, source))
        return reportFault(op, *fault, row, col);
      element = readElement(format, source);
      statistics.globalBytesRead += first ? bytes : 0;
      continue;
    }
    if (row < 0 || row >= type.getRows() || col < 0)
      return reportOutside(op, memory, row, col);
    char data[sizeof(Element)];
    if (Fault fault = shared->read(warp.number, base + type.getOffset(row, col),
                                   bytes, data))
      return reportFault(op, *fault, row, col);
    element = readElement(format, data);
  }
  setTile(warp, op, std::move(elements));
  return success();
}

LogicalResult TileMachine::runStore(Warp &warp, StoreOp op) {
  const Registers *value = getTile(warp, op, op.getValue());
  if (!value)
    return failure();
  int64_t below = op.getBelow() ? getInteger(warp, op.getBelow())
                                : std::numeric_limits<int64_t>::max();
  Window window = getWindow(op, getInteger(warp, op.getRow()),
                            getInteger(warp, op.getCol()), below);
  Type memory = op.getMemory().getType();
  int64_t base = getSlot(warp, op.getMemory()).memory;
  auto tile = cast<RegType>(op.getValue().getType());
  Format format = *getFormat(tile.getElementType());
  int64_t bytes = format.bits / 8;
  const Geometry &geometry = getGeometry(tile);
  for (auto [place, first, element] :
       llvm::zip_equal(geometry.places, geometry.first, value->elements)) {
    auto [row, col] = window.at(place);
    if (!first || window.leavesOut(row, col))
      continue;
    auto type = dyn_cast<SharedType>(memory);
    if (!type) {
      char *target = getGlobal(op, base, row, col);
      if (!target)
        return failure();
      bool changes = toBits(format, element) !=
                     toBits(format, readElement(format, target));
      if (Fault fault = globals.write(warp.number, target, changes))
        return reportFault(op, *fault, row, col);
      writeElement(format, element, target);
      statistics.globalBytesWritten += bytes;
      continue;
    }
    if (row < 0 || row >= type.getRows() || col < 0)
      return reportOutside(op, memory, row, col);
    char data[sizeof(Element)];
    writeElement(format, element, data);
    if (Fault fault = shared->write(
            warp.number, base + type.getOffset(row, col), bytes, data))
      return reportFault(op, *fault, row, col);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

template <typename CopyT>
LogicalResult TileMachine::copyRows(Warp &warp, CopyT op, int64_t copy,
                                    int64_t firstRow, int64_t firstCol,
                                    int64_t below, bool isCounted) {
  int64_t argument = getSlot(warp, op.getSource()).memory;
  int64_t base = getSlot(warp, op.getTarget()).memory;
  SharedType type = op.getTarget().getType();
  int64_t bytes = type.getElementType().getIntOrFloatBitWidth() / 8;
  for (int64_t i = 0; i < type.getRows(); ++i) {
    for (int64_t j = 0; j < type.getCols(); ++j) {
      int64_t row = firstRow + i, col = firstCol + j;
      char data[sizeof(Element)] = {};
      if (row < below && col < op.getSource().getType().getCols()) {
        const char *source = getGlobal(op, argument, row, col);
        if (!source)
          return failure();
        if (Fault fault = globals.read(warp.number, source))
          return reportFault(op, *fault, row, col);
        std::copy_n(source, bytes, data);
        statistics.globalBytesRead += isCounted ? bytes : 0;
      }
      if (Fault fault = shared->writeCopy(
              warp.number, copy, base + type.getOffset(i, j), bytes, data))
        return reportFault(op, *fault, i, j);
    }
  }
  return success();
}

LogicalResult TileMachine::runCopy(Warp &warp, CopyAsyncOp op) {
  int64_t firstRow = getInteger(warp, op.getRow());
  int64_t firstCol = getInteger(warp, op.getCol());
  int64_t below = getInteger(warp, op.getBelow());
  int64_t argument = getSlot(warp, op.getSource()).memory;
  int64_t base = getSlot(warp, op.getTarget()).memory;

  // The n-th copies of all warps of a role are one.
  Joint joint{op, {firstRow, firstCol, below, argument, base}};
  Team team = getTeam(op);
  std::vector<int64_t> &sequence = roleCopies[team.role];
  size_t turn = warp.copies[team.role]++;
  bool begins = turn == sequence.size();
  if (begins) {
    joint.expected = team.warps;
    copies.push_back(joint);
    sequence.push_back(shared->addCopy(team.first, team.warps));
  }
  int64_t copy = sequence[turn];
  if (copies[copy].op != joint.op || copies[copy].numbers != joint.numbers) {
    InFlightDiagnostic error = op.emitOpError("warp ")
                               << warp.number
                               << " does not copy what the other warps do";
    error.attachNote(copies[copy].op->getLoc()) << "another warp's copy";
    return error;
  }
  ++copies[copy].warps;
  warp.openCopies.push_back(copy);
  warp.flyingCopies.push_back(copy);

  return copyRows(warp, op, copy, firstRow, firstCol, below, begins);
}

LogicalResult TileMachine::runCopyBulk(Warp &warp, CopyBulkOp op) {
  PhaseBarrier *barrier = getBarrier(warp, op, op.getPhases(), op.getStage());
  if (!barrier)
    return failure();
  barrier->hasBytes = true;
  barrier->starters.emplace_back(warp.number, op);
  int64_t copy = shared->addBulkCopy(
      barrier - barriers.data(), static_cast<uint32_t>(barrier->notes.size()));
  return copyRows(warp, op, copy, getInteger(warp, op.getRow()),
                  getInteger(warp, op.getCol()), block.length, true);
}

LogicalResult TileMachine::runCopyWait(Warp &warp, CopyWaitOp op) {
  auto pending = static_cast<size_t>(op.getPending());
  while (warp.copyGroups.size() > pending) {
    for (int64_t copy : warp.copyGroups.front())
      shared->finishCopy(copy, warp.number);
    warp.copyGroups.erase(warp.copyGroups.begin());
  }
  return success();
}
