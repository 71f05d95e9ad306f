//===- AxisPlaces.cpp - Where axes lie in tiles -*- C++ -*- ---------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AxisPlaces.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <algorithm>

using namespace mlir;
using namespace larc;

SmallVector<StringAttr> larc::getSpace(Operation *op) {
  ArrayType type = ArrayType::scalar(op->getContext());
  for (Value operand : op->getOperands())
    type = ArrayType::unionOf(type, arrayOf(operand));
  if (!isa<ReductionOpInterface>(op))
    type = ArrayType::unionOf(type, arrayOf(op->getResult(0)));
  return SmallVector<StringAttr>(type.getAxes());
}

namespace {

using AxisSet = llvm::SmallSetVector<StringAttr, 4>;

/// An array, or a product that is summed: its axes and who has it.
struct Space {
  SmallVector<StringAttr> axes;
  Operation *op;
};

/// Colours the graph of the axes that stand together in a space.
class Placement {
public:
  explicit Placement(RecurrenceOp recurrence) : recurrence(recurrence) {
    collect();
  }

  FailureOr<AxisPlaces> find();

private:
  void collect();
  void addSpace(ArrayRef<StringAttr> axes, Operation *op) {
    spaces.push_back({SmallVector<StringAttr>(axes), op});
  }
  std::optional<AxisPlaces> colour(const AxisSet &loops);
  /// Gives `start` and all axes that it determines the places that follow.
  bool spread(StringAttr start, const AxisSet &loops, AxisPlaces &places,
              SmallVectorImpl<StringAttr> &reached);
  /// What it costs that these axes lie as they do.
  int64_t getCost(ArrayRef<StringAttr> axes, const AxisPlaces &places);
  LogicalResult report();

  RecurrenceOp recurrence;
  std::vector<Space> spaces;
  /// Axes of what is carried from token to token, or by a region.
  AxisSet carried;
  /// Axes that are taken index by index.
  AxisSet sliced;
  llvm::MapVector<StringAttr, AxisSet> neighbours;
};

} // namespace

void Placement::collect() {
  for (auto state : recurrence.getStates().getAsRange<StateDeclAttr>()) {
    addSpace(state.getAxes(), recurrence);
    carried.insert_range(state.getAxes());
  }
  for (auto output : recurrence.getOutputs().getAsRange<OutputDeclAttr>())
    addSpace(output.getAxes(), recurrence);
  auto addCarried = [&](ValueRange values, Operation *op) {
    for (Value value : values) {
      addSpace(arrayOf(value).getAxes(), op);
      carried.insert_range(arrayOf(value).getAxes());
    }
  };
  recurrence.getBody().walk([&](Operation *op) {
    if (isa<ElementwiseOpInterface, ReductionOpInterface>(op)) {
      addSpace(getSpace(op), op);
    } else if (auto fold = dyn_cast<FoldOp>(op)) {
      addCarried(fold.getInits(), op);
      sliced.insert(fold.getAxisAttr());
    } else if (auto fire = dyn_cast<FireOp>(op)) {
      addCarried(fire.getInits(), op);
    } else if (auto slice = dyn_cast<SliceOp>(op)) {
      sliced.insert(slice.getAxisAttr());
    }
  });
  for (StringAttr axis : recurrence.getAllAxes())
    neighbours.insert({axis, {}});
  for (const Space &space : spaces)
    for (StringAttr axis : space.axes)
      for (StringAttr other : space.axes)
        if (axis != other)
          neighbours[axis].insert(other);
}

bool Placement::spread(StringAttr start, const AxisSet &loops,
                       AxisPlaces &places,
                       SmallVectorImpl<StringAttr> &reached) {
  places[start] = AxisPlace::Cols;
  reached.push_back(start);
  for (size_t next = 0; next < reached.size(); ++next) {
    AxisPlace mine = places[reached[next]];
    AxisPlace theirs =
        mine == AxisPlace::Cols ? AxisPlace::Rows : AxisPlace::Cols;
    for (StringAttr other : neighbours[reached[next]]) {
      if (loops.contains(other))
        continue;
      auto [it, isNew] = places.try_emplace(other, theirs);
      if (isNew)
        reached.push_back(other);
      else if (it->second != theirs)
        return false;
    }
  }
  return true;
}

int64_t Placement::getCost(ArrayRef<StringAttr> axes,
                           const AxisPlaces &places) {
  int64_t cost = 0;
  for (auto state : recurrence.getStates().getAsRange<StateDeclAttr>()) {
    if (state.getAxes().empty() ||
        !llvm::is_contained(axes, state.getAxes().back()) ||
        places.lookup(state.getAxes().back()) == AxisPlace::Cols)
      continue;
    // Warps share out the rows of tiles, and so each has a piece of every row
    // of this state's memory. Few long rows are better than many short ones.
    int64_t memoryRows = 1;
    for (StringAttr axis : state.getAxes().drop_back())
      memoryRows *= *recurrence.getAxisSize(axis);
    cost += memoryRows;
  }
  return cost;
}

std::optional<AxisPlaces> Placement::colour(const AxisSet &loops) {
  AxisPlaces places;
  for (StringAttr axis : loops)
    places[axis] = AxisPlace::Loop;
  for (const auto &entry : neighbours) {
    if (places.contains(entry.first))
      continue;
    SmallVector<StringAttr> reached;
    if (!spread(entry.first, loops, places, reached))
      return std::nullopt;
    // Axes that are bound to each other may all change sides.
    AxisPlaces flipped = places;
    for (StringAttr axis : reached)
      flipped[axis] =
          places[axis] == AxisPlace::Cols ? AxisPlace::Rows : AxisPlace::Cols;
    if (getCost(reached, flipped) < getCost(reached, places))
      places = std::move(flipped);
  }
  return places;
}

LogicalResult Placement::report() {
  for (const Space &space : spaces) {
    unsigned count = llvm::count_if(
        space.axes, [&](StringAttr axis) { return carried.contains(axis); });
    if (count <= 2)
      continue;
    InFlightDiagnostic diagnostic = space.op->emitError();
    diagnostic << "has no place in tiles of rows and columns: the axes [";
    llvm::interleaveComma(space.axes, diagnostic, [&](StringAttr axis) {
      diagnostic << axis.getValue();
    });
    return diagnostic << "] are those of states";
  }
  return recurrence.emitError()
         << "has no place for its axes in tiles of rows and columns: those "
            "that "
            "stand together in an array form an odd ring";
}

FailureOr<AxisPlaces> Placement::find() {
  AxisSet loops;
  SmallVector<StringAttr> candidates;
  for (const auto &entry : neighbours) {
    if (carried.contains(entry.first))
      continue;
    if (sliced.contains(entry.first))
      loops.insert(entry.first);
    else
      candidates.push_back(entry.first);
  }
  if (std::optional<AxisPlaces> places = colour(loops))
    return *places;
  // One loop more, over the shortest axis that helps; else two.
  llvm::sort(candidates, [&](StringAttr lhs, StringAttr rhs) {
    return std::pair(*recurrence.getAxisSize(lhs), lhs.getValue()) <
           std::pair(*recurrence.getAxisSize(rhs), rhs.getValue());
  });
  for (StringAttr first : candidates) {
    AxisSet more = loops;
    more.insert(first);
    if (std::optional<AxisPlaces> places = colour(more))
      return *places;
  }
  for (StringAttr first : candidates) {
    for (StringAttr second : candidates) {
      AxisSet more = loops;
      more.insert(first);
      more.insert(second);
      if (std::optional<AxisPlaces> places = colour(more))
        return *places;
    }
  }
  // Nested levels have an axis of their own each.
  loops.insert_range(candidates);
  if (std::optional<AxisPlaces> places = colour(loops))
    return *places;
  return report();
}

FailureOr<AxisPlaces> larc::placeAxes(RecurrenceOp recurrence) {
  return Placement(recurrence).find();
}
