//===- TilePlan.cpp - Decisions of the token loop in tiles -*- C++ -*- ----===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TilePlan.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace larc;

using tile::LayoutAttr;
using tile::RegType;

/// Warps are added up to the first while a lane has more registers of state
/// than that; beyond, while it has more than the second, which leaves room for
/// what a token needs besides. More than the third is refused.
static constexpr int64_t fewRegisters = 40, manyRegisters = 80,
                         mostRegisters = 128;
static constexpr int64_t usualWarps = 8, mostWarps = 16;
/// Since compute capability 3.0 (CUDA programming guide, table of technical
/// specifications).
static constexpr int64_t multiprocessorRegisters = 65536;
/// No axis may be longer: shared memory holds a vector of it for each warp.
static constexpr int64_t longestAxis = 1024;

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

LogicalResult TilePlan::check() const {
  RecurrenceOp op = recurrence;
  for (StringAttr axis : op.getAllAxes()) {
    int64_t size = *op.getAxisSize(axis);
    if (size < 1 || size > longestAxis)
      return op.emitError()
             << "has an axis '" << axis.getValue() << "' of size " << size
             << ": expected 1 to " << longestAxis;
  }
  for (auto state : op.getStates().getAsRange<StateDeclAttr>())
    if (state.getAxes().size() > 2)
      return op.emitError() << "has a state '" << state.getName().getValue()
                            << "' of " << state.getAxes().size()
                            << " axes: a tile has rows and columns only";
  WalkResult walked = op.getBody().walk([&](Operation *inner) -> WalkResult {
    if (auto composite = dyn_cast<CompositeOpInterface>(inner))
      return composite->emitError("is not decomposed yet");
    if (auto slice = dyn_cast<SliceOp>(inner); slice && slice.getIndex())
      return slice.emitError("has an index of levels: expand them first");
    if (!isa<ElementwiseOpInterface, ReductionOpInterface, ConstantOp, RenameOp,
             SliceOp, FoldOp, FireOp, AnchorOp, YieldOp>(inner))
      return inner->emitError("has no form in tiles");
    if (auto fire = dyn_cast<FireOp>(inner);
        fire && !isa<IntegerAttr>(fire.getInterval()))
      return fire.emitError("has an interval that is not a number yet");
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

FailureOr<TilePlan> TilePlan::create(RecurrenceOp recurrence,
                                     const TileOptions &options) {
  TilePlan plan;
  plan.recurrence = recurrence;
  plan.options = options;
  if (failed(plan.check()))
    return failure();
  FailureOr<AxisPlaces> places = placeAxes(recurrence);
  if (failed(places))
    return failure();
  plan.places = std::move(*places);
  plan.chooseParts();
  plan.chooseCell();
  if (failed(plan.chooseWarps()))
    return failure();
  return plan;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Whether every index of `axis` is computed by itself, and every tensor that a
/// block writes has it.
bool TilePlan::isSplittable(StringAttr axis) const {
  if (getPlace(axis) != AxisPlace::Cols)
    return false;
  RecurrenceOp op = recurrence;
  for (auto state : op.getStates().getAsRange<StateDeclAttr>())
    if (!llvm::is_contained(state.getAxes(), axis))
      return false;
  for (auto output : op.getOutputs().getAsRange<OutputDeclAttr>())
    if (!llvm::is_contained(output.getAxes(), axis))
      return false;
  WalkResult walked = op.getBody().walk([&](Operation *inner) -> WalkResult {
    bool mixes = false;
    if (auto reduction = dyn_cast<ReductionOpInterface>(inner))
      mixes = llvm::is_contained(reduction.getReducedAxes(), axis);
    else if (auto rename = dyn_cast<RenameOp>(inner))
      mixes = rename.getFromAttr() == axis || rename.getToAttr() == axis;
    else if (auto slice = dyn_cast<SliceOp>(inner))
      mixes = slice.getAxisAttr() == axis;
    else if (auto fold = dyn_cast<FoldOp>(inner))
      mixes = fold.getAxisAttr() == axis;
    return mixes ? WalkResult::interrupt() : WalkResult::advance();
  });
  return !walked.wasInterrupted();
}

void TilePlan::chooseParts() {
  if (options.parts == 1 || recurrence.getStates().empty())
    return;
  // A part has whole lines of memory: columns of other parts are not written.
  constexpr int64_t leastColumns = 16;
  for (StringAttr axis : getState(0).getAxes()) {
    if (!isSplittable(axis))
      continue;
    for (int64_t count = options.parts; count > 1; --count) {
      int64_t size = getTensorSize(axis);
      if (size % count != 0 || size / count % leastColumns != 0)
        continue;
      splitAxis = axis;
      parts = count;
      return;
    }
  }
}

//===----------------------------------------------------------------------===//
// Cells and warps
//===----------------------------------------------------------------------===//

int64_t TilePlan::getExtent(StringAttr axis) const {
  int64_t size = getSize(axis);
  if (getPlace(axis) == AxisPlace::Rows)
    return static_cast<int64_t>(
        llvm::alignTo(llvm::divideCeil(size, warps), cell.getCellRows()));
  return static_cast<int64_t>(llvm::alignTo(size, cell.getCellCols()));
}

bool TilePlan::isPadded(StringAttr axis) const {
  int64_t extent = getExtent(axis);
  if (getPlace(axis) == AxisPlace::Rows)
    extent *= warps;
  return extent != getSize(axis);
}

bool TilePlan::isReplicated(ArrayRef<StringAttr> axes) const {
  return warps == 1 || llvm::none_of(axes, [&](StringAttr axis) {
           return getPlace(axis) == AxisPlace::Rows;
         });
}

RegType TilePlan::getTileType(ArrayRef<StringAttr> axes) const {
  int64_t rows = 1, cols = 1;
  LayoutAttr layout = cell;
  bool hasRows = false, hasCols = false;
  for (StringAttr axis : axes) {
    bool alongRows = getPlace(axis) == AxisPlace::Rows;
    (alongRows ? rows : cols) = getExtent(axis);
    (alongRows ? hasRows : hasCols) = true;
  }
  if (!hasCols)
    layout = layout.getSlice(tile::Dimension::Rows);
  if (!hasRows)
    layout = layout.getSlice(tile::Dimension::Cols);
  return RegType::get(cell.getContext(), rows, cols, getComputeType(), layout);
}

int64_t TilePlan::countStateRegisters() const {
  int64_t registers = 0;
  for (auto state : recurrence.getStates().getAsRange<StateDeclAttr>())
    registers += getTileType(state.getAxes()).getNumRegisters();
  for (unsigned state : recurrence.getAnchoredStates())
    registers += getTileType(getState(state).getAxes()).getNumRegisters();
  return registers;
}

int64_t TilePlan::countMatrixRegisters() const {
  int64_t registers = 0;
  for (auto state : recurrence.getStates().getAsRange<StateDeclAttr>())
    if (state.getAxes().size() == 2)
      registers += getTileType(state.getAxes()).getNumRegisters();
  return registers;
}

/// A cell in which a lane has `vector` consecutive columns of `rows`
/// consecutive rows, `across` lanes lie along the columns and the others along
/// the rows.
static LayoutAttr makeCell(MLIRContext *context, int64_t vector, int64_t rows,
                           int64_t across) {
  SmallVector<int64_t> lanes, registers;
  for (int64_t col = 1; col < vector; col *= 2)
    registers.append({0, col});
  for (int64_t row = 1; row < rows; row *= 2)
    registers.append({row, 0});
  for (int64_t lane = 1; lane < across; lane *= 2)
    lanes.append({0, lane * vector});
  for (int64_t lane = 1; lane < LayoutAttr::kLanes / across; lane *= 2)
    lanes.append({lane * rows, 0});
  return LayoutAttr::get(context, lanes, registers);
}

void TilePlan::chooseCell() {
  // 16 bytes of a state are read at a time; and of a token's value for each
  // row, 16 bytes of f32.
  int64_t vector = 128 / options.stateType.getWidth();
  int64_t best = 0;
  LayoutAttr chosen;
  // The number of warps is chosen after this; rows of many are rounded up most.
  warps = usualWarps;
  for (int64_t rows : {4, 2, 1}) {
    for (int64_t across = LayoutAttr::kLanes; across >= 1; across /= 2) {
      cell = makeCell(recurrence.getContext(), vector, rows, across);
      bool cutsParts = splitAxis && isPadded(splitAxis);
      int64_t registers = countMatrixRegisters();
      if (cutsParts || (chosen && registers >= best))
        continue;
      best = registers;
      chosen = cell;
    }
  }
  cell = chosen;
}

LogicalResult TilePlan::chooseWarps() {
  warps = 1;
  while (warps < usualWarps && countStateRegisters() > fewRegisters)
    warps *= 2;
  while (warps < mostWarps && countStateRegisters() > manyRegisters)
    warps *= 2;
  int64_t registers = countStateRegisters();
  // While one block waits for its state another can compute, if two of them
  // leave a lane four times the registers of its state.
  if (64 * warps * 4 * registers <= multiprocessorRegisters)
    resident = 2;
  if (registers <= mostRegisters)
    return success();
  return recurrence.emitError()
         << "has states of " << registers << " registers a lane in " << warps
         << " warps: expected at most " << mostRegisters;
}
