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

/// Up to the usual number of warps, more are used while a lane has more than
/// that many registers of the states' matrices.
static constexpr int64_t fewRegisters = 40;
static constexpr int64_t usualWarps = 8, mostWarps = 16;
/// Parts are made while the states of one have more bytes. Two such blocks keep
/// 64 KB on their way to a multiprocessor, which is what the memory's latency
/// and the time in which a block computes and writes ask for.
static constexpr int64_t partBytes = 32 * 1024;
/// Warps of a block that wait for each other several times in a token are
/// better few in many blocks: parts have half as many elements for the second
/// time and for the third.
static constexpr int64_t partElements = 8 * 1024;
/// Warps that share a multiprocessor: each lane then has 128 registers.
static constexpr int64_t residentWarps = 16;
/// As many, of 96 registers, hide more waiting.
static constexpr int64_t manyResidentWarps = 20, manyWaits = 3;
/// Since compute capability 3.0 (CUDA programming guide, table of technical
/// specifications).
static constexpr int64_t multiprocessorRegisters = 65536;
static constexpr int64_t laneRegisters = 255;
/// Bytes of shared memory of a multiprocessor of compute capability 9.0, and
/// those of each block that the system takes (the same table).
static constexpr int64_t multiprocessorShared = 228 * 1024, blockShared = 1024;
/// Elements that lanes read of a row of memory at a time at least: 64 bytes of
/// float32, in which the memory is read and written.
static constexpr int64_t leastRun = 16;
/// Columns of a part at least: lines of memory are not shared with others.
static constexpr int64_t leastColumns = 16;
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

FailureOr<std::vector<TilePlan>> TilePlan::list(RecurrenceOp recurrence,
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
  std::vector<TilePlan> all, plans;
  do {
    plan.list(all);
  } while (options.parts == 0 && plan.splitFurther());
  // Smaller parts are better than blocks alone; and those better with more
  // warps.
  auto append = [&](bool alone, int64_t together) {
    llvm::copy_if(all, std::back_inserter(plans), [&](const TilePlan &other) {
      return (other.resident == 1) == alone &&
             other.warps * other.resident == together;
    });
  };
  append(/*alone=*/false, manyResidentWarps);
  for (bool alone : {false, true})
    for (int64_t together = residentWarps; together >= 1; together /= 2)
      append(alone, together);
  // The last resort. Lanes have few rows of a tile, each of which takes an
  // address and a register of every vector over rows.
  for (int64_t warps : {mostWarps, usualWarps}) {
    plan.warps = warps;
    plan.resident = 1;
    plan.keepsShared = true;
    plan.cell = makeCell(recurrence.getContext(), /*vector=*/4, /*rows=*/4,
                         /*across=*/16);
    if (plan.canKeepShared())
      plans.push_back(plan);
  }
  return plans;
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

bool TilePlan::split(StringAttr axis, int64_t count) {
  int64_t size = getTensorSize(axis);
  if (size % count != 0 || size / count % leastColumns != 0)
    return false;
  splitAxis = axis;
  parts = count;
  return true;
}

bool TilePlan::splitFurther() {
  return splitAxis && split(splitAxis, 2 * parts);
}

void TilePlan::chooseParts() {
  if (recurrence.getStates().empty())
    return;
  for (StringAttr axis : getState(0).getAxes()) {
    if (!isSplittable(axis))
      continue;
    if (options.parts == 0) {
      split(axis, 1);
      int64_t halvings = std::clamp<int64_t>(countWaits() - 1, 0, 2);
      int64_t elements = partElements >> halvings;
      while ((countStateBytes() > partBytes ||
              (halvings > 0 && countStateElements() > elements)) &&
             splitFurther())
        ;
      return;
    }
    for (int64_t count = options.parts; count > 1; --count)
      if (split(axis, count))
        return;
  }
}

int64_t TilePlan::countWaits() const {
  int64_t waits = 0;
  recurrence.getBody().walk([&](Operation *op) {
    auto reduction = dyn_cast<ReductionOpInterface>(op);
    if (!reduction ||
        llvm::none_of(reduction.getReducedAxes(), [&](StringAttr axis) {
          return getPlace(axis) == AxisPlace::Rows;
        }))
      return;
    int64_t times = 1;
    if (auto fold = op->getParentOfType<FoldOp>())
      times = getTensorSize(fold.getAxisAttr());
    waits += times;
  });
  return waits;
}

int64_t TilePlan::countStateElements() const {
  int64_t elements = 0;
  for (auto state : recurrence.getStates().getAsRange<StateDeclAttr>()) {
    int64_t own = 1;
    for (StringAttr axis : state.getAxes())
      own *= getSize(axis);
    elements += own;
  }
  return elements;
}

int64_t TilePlan::countStateBytes() const {
  return countStateElements() * getStateWidth() / 8;
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

bool TilePlan::isShortLoop(StringAttr axis) const {
  constexpr int64_t shortLoop = 4;
  return getPlace(axis) == AxisPlace::Loop && getSize(axis) <= shortLoop;
}

bool TilePlan::hasLongLoop() const {
  constexpr int64_t longLoop = 16;
  return llvm::any_of(recurrence.getAllAxes(), [&](StringAttr axis) {
    return getPlace(axis) == AxisPlace::Loop && getSize(axis) > longLoop;
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

int64_t TilePlan::countMatrixRegisters() const {
  int64_t registers = 0;
  for (auto state : recurrence.getStates().getAsRange<StateDeclAttr>())
    if (state.getAxes().size() == 2)
      registers += getTileType(state.getAxes()).getNumRegisters();
  for (unsigned state : recurrence.getAnchoredStates())
    registers += getTileType(getState(state).getAxes()).getNumRegisters();
  return registers;
}

int64_t TilePlan::getRegisterLimit() const {
  // They are given out by eights.
  int64_t share =
      multiprocessorRegisters / (LayoutAttr::kLanes * warps * resident);
  return std::min(laneRegisters, share / 8 * 8);
}

int64_t TilePlan::getSharedLimit() const {
  return multiprocessorShared / resident - blockShared;
}

bool TilePlan::liesAcross() const {
  RecurrenceOp op = recurrence;
  return llvm::any_of(
      op.getStates().getAsRange<StateDeclAttr>(), [&](StateDeclAttr state) {
        return state.getAxes().size() == 2 &&
               getPlace(state.getAxes().back()) == AxisPlace::Rows;
      });
}

bool TilePlan::chooseCell() {
  // 16 bytes of f32 are read at a time, along the columns and along the rows.
  // Longer vectors of shorter types would leave more lanes for the rows.
  constexpr int64_t vector = 4;
  int64_t best = 0;
  LayoutAttr chosen;
  for (unsigned bits = 0; (1 << bits) <= LayoutAttr::kLanes; ++bits) {
    for (int64_t rows : {4, 2, 1}) {
      cell = makeCell(recurrence.getContext(), vector, rows,
                      LayoutAttr::kLanes >> bits);
      bool cutsParts = splitAxis && isPadded(splitAxis);
      // A step of the exchange costs about as much as a quarter of the tile.
      int64_t cost = countMatrixRegisters() * (4 + bits);
      if (liesAcross() && (rows << bits) < leastRun)
        cost *= 2;
      if (cutsParts || (chosen && cost >= best))
        continue;
      best = cost;
      chosen = cell;
    }
  }
  cell = chosen;
  return bool(chosen);
}

bool TilePlan::canKeepShared() const {
  RecurrenceOp op = recurrence;
  return op.getAnchoredStates().empty() && !hasLongLoop() &&
         llvm::none_of(op.getAllAxes(), [&](StringAttr axis) {
           return getPlace(axis) != AxisPlace::Loop && isPadded(axis);
         });
}

void TilePlan::list(std::vector<TilePlan> &plans) const {
  TilePlan plan = *this;
  for (plan.warps = 1; plan.warps <= mostWarps; plan.warps *= 2) {
    if (!plan.chooseCell())
      continue;
    if (plan.warps < usualWarps && plan.countMatrixRegisters() > fewRegisters)
      continue;
    plan.resident = manyResidentWarps / plan.warps;
    if (countWaits() >= manyWaits &&
        plan.resident * plan.warps == manyResidentWarps)
      plans.push_back(plan);
    for (plan.resident = residentWarps / plan.warps; plan.resident >= 1;
         plan.resident /= 2)
      plans.push_back(plan);
  }
}
