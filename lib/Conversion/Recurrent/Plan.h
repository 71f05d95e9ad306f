//===- Plan.h - Decisions of the recurrent form -*- C++ -*- ---------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_CONVERSION_RECURRENT_PLAN_H
#define LARC_LIB_CONVERSION_RECURRENT_PLAN_H

#include "../Common/Buffer.h"
#include "larc/Conversion/Passes.h"

namespace larc {

/// What both passes of the recurrent form need to agree on: types, sizes,
/// memory order of arrays, and the blocks of columns.
class RecurrentPlan {
public:
  /// Checks that `recurrence` is flat and bound and that the options fit it.
  static mlir::FailureOr<RecurrentPlan> create(RecurrenceOp recurrence,
                                               const RecurrentOptions &options);

  // Handles of MLIR have no const methods; the plan changes neither.
  mutable RecurrenceOp recurrence;
  mutable mlir::FloatType computeType;
  llvm::SmallVector<mlir::FloatType> operandTypes, constantTypes, outputTypes;
  /// Lanes of a vector register.
  int64_t lanes;

  /// The axis that tasks split, or null, and the size of a task's block.
  mlir::StringAttr splitAxis;
  int64_t blockSize = 0;
  int64_t getNumBlocks() const {
    return splitAxis ? getSize(splitAxis) / blockSize : 1;
  }

  /// Size of an axis in memory, and in the token function.
  int64_t getSize(mlir::StringAttr axis) const {
    return *recurrence.getAxisSize(axis);
  }
  int64_t getExtent(mlir::StringAttr axis) const {
    return axis == splitAxis ? blockSize : getSize(axis);
  }
  llvm::SmallVector<int64_t>
  getExtents(llvm::ArrayRef<mlir::StringAttr> axes) const;
  /// The most bytes that an array or the workspace may have: far beyond any
  /// machine's memory, and safe to compute with.
  static constexpr int64_t maxBytes = int64_t(1) << 46;
  /// Bytes of a buffer with these axes; nothing beyond `maxBytes`.
  std::optional<int64_t>
  getBufferBytes(llvm::ArrayRef<mlir::StringAttr> axes) const;
  /// Strides of a tensor in memory with these axes, outermost first.
  llvm::SmallVector<int64_t>
  getStrides(llvm::ArrayRef<mlir::StringAttr> axes) const;

  /// The order of an array's axes in the token function's buffers: that of the
  /// nests over the same axes, else the declared one, else sorted.
  llvm::SmallVector<mlir::StringAttr> getOrder(ArrayType type) const;
  /// The buffer type of state `index`: its axes in order, any strides but the
  /// last.
  mlir::MemRefType getStateType(unsigned index) const;
  /// Whether a state's buffer can be the tensor itself.
  bool isInMemoryOrder(unsigned state) const;
  mlir::MemRefType getViewType(llvm::ArrayRef<mlir::StringAttr> axes,
                               mlir::Type element) const;

  /// Elements of a dense tensor with `axes`, from element `offset` of `memory`
  /// on: as far as the token function's extents reach.
  Buffer makeView(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Value memory, mlir::Value offset,
                  llvm::ArrayRef<mlir::StringAttr> axes,
                  mlir::FloatType element) const;

  StateDeclAttr getState(unsigned index) const {
    return llvm::cast<StateDeclAttr>(recurrence.getStates()[index]);
  }
  std::string getTokensName() const {
    return (recurrence.getSymName() + "_tokens").str();
  }
  std::string getEntryName() const {
    return ("larc_" + recurrence.getSymName()).str();
  }

private:
  void chooseBlocks(int64_t cacheBytes);

  llvm::DenseMap<mlir::Type, llvm::SmallVector<mlir::StringAttr>> orders;
};

/// Scratch memory of the token function, given out at fixed offsets.
static constexpr llvm::StringLiteral scratchBytesAttr = "larc.scratch_bytes";
inline int64_t alignScratch(int64_t bytes) { return (bytes + 63) / 64 * 64; }

} // namespace larc

#endif // LARC_LIB_CONVERSION_RECURRENT_PLAN_H
