//===- TilePlan.h - Decisions of the token loop in tiles -*- C++ -*- ------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_CONVERSION_RECURRENCETOTILE_TILEPLAN_H
#define LARC_LIB_CONVERSION_RECURRENCETOTILE_TILEPLAN_H

#include "AxisPlaces.h"

#include "larc/Conversion/Passes.h"
#include "larc/Dialect/Tile/IR/Tile.h"

#include <vector>

namespace larc {

/// The types of the tensors of a program, and how many parts it is cut into at
/// most; 0: as many as the bytes of the states ask for.
struct TileOptions {
  mlir::FloatType stateType;
  llvm::SmallVector<mlir::FloatType> operandTypes, constantTypes, outputTypes;
  int64_t parts = 0;
};

/// What the token loop is made with: the place of every axis, one cell for all
/// tiles, warps and parts.
///
/// Every tile repeats the same cell, so that a value for each row (or column)
/// is in the right lanes for every matrix. The rows of an axis are divided over
/// the warps; columns are the same in all of them.
class TilePlan {
public:
  /// The plans for `recurrence`, those first that are to be preferred. It is
  /// flat and bound, and has no nests and nothing to decompose.
  static mlir::FailureOr<std::vector<TilePlan>>
  list(RecurrenceOp recurrence, const TileOptions &options);

  // Handles of MLIR have no const methods.
  mutable RecurrenceOp recurrence;
  TileOptions options;
  AxisPlaces places;
  tile::LayoutAttr cell;
  int64_t warps = 1;
  /// Blocks that shall run on one multiprocessor at a time.
  int64_t resident = 1;
  /// Whether matrices among the states are in shared memory between their uses,
  /// because there are more of them than a lane has registers for.
  bool keepsShared = false;
  /// The axis whose columns are cut into parts, or null, and the parts.
  mlir::StringAttr splitAxis;
  int64_t parts = 1;

  /// Whether a state is in shared memory.
  bool isKeptShared(unsigned state) const {
    return keepsShared && getState(state).getAxes().size() == 2;
  }
  AxisPlace getPlace(mlir::StringAttr axis) const {
    return places.lookup(axis);
  }
  /// The size of an axis in its tensors, and in a block.
  int64_t getTensorSize(mlir::StringAttr axis) const {
    return *recurrence.getAxisSize(axis);
  }
  int64_t getSize(mlir::StringAttr axis) const {
    return getTensorSize(axis) / (axis == splitAxis ? parts : 1);
  }
  /// The extent of an axis in a warp's tile.
  int64_t getExtent(mlir::StringAttr axis) const;
  /// Whether tiles have more of an axis than there is.
  bool isPadded(mlir::StringAttr axis) const;
  /// Whether all warps have the same of an array with these axes.
  bool isReplicated(llvm::ArrayRef<mlir::StringAttr> axes) const;
  /// Whether the turns of a loop over `axis` are so few that they are written
  /// out.
  bool isShortLoop(mlir::StringAttr axis) const;
  /// How often the warps of a block wait for each other in a token: the sums
  /// over rows, with the turns of folds.
  int64_t countWaits() const;
  /// Whether a token has loops that take longer than its loads.
  bool hasLongLoop() const;
  /// The tile of an array with these axes: at most one of them along the rows,
  /// one along the columns.
  tile::RegType getTileType(llvm::ArrayRef<mlir::StringAttr> axes) const;
  /// Registers that a lane may have, if `resident` blocks share a
  /// multiprocessor.
  int64_t getRegisterLimit() const;
  /// Bytes of shared memory that a block may have then.
  int64_t getSharedLimit() const;

  mlir::FloatType getComputeType() const {
    return mlir::Float32Type::get(recurrence.getContext());
  }
  StateDeclAttr getState(unsigned index) const {
    return llvm::cast<StateDeclAttr>(recurrence.getStates()[index]);
  }

private:
  mlir::LogicalResult check() const;
  bool isSplittable(mlir::StringAttr axis) const;
  /// Cuts `axis` into `count` parts, or says why not.
  bool split(mlir::StringAttr axis, int64_t count);
  void chooseParts();
  /// Twice as many parts.
  bool splitFurther();
  // Handles of MLIR have no const methods.
  int64_t getStateWidth() const {
    mlir::FloatType type = options.stateType;
    return type.getWidth();
  }
  /// Elements and bytes of the states that a block reads.
  int64_t countStateElements() const;
  int64_t countStateBytes() const;
  /// Registers of the matrices among the states, in a lane.
  int64_t countMatrixRegisters() const;
  /// Whether rows of tiles lie along a state's rows in memory.
  bool liesAcross() const;
  /// The cell in which they take few, with lanes along the columns if possible:
  /// lanes along the rows cost every sum over rows an exchange, and values of
  /// rows that are the same in all lanes need no registers of theirs.
  bool chooseCell();
  /// Whether states can be in shared memory.
  bool canKeepShared() const;
  /// Appends the plans of these parts.
  void list(std::vector<TilePlan> &plans) const;
};

} // namespace larc

#endif // LARC_LIB_CONVERSION_RECURRENCETOTILE_TILEPLAN_H
