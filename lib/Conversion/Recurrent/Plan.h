//===- Plan.h - Decisions of the loops over tokens -*- C++ -*- ------------===//
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
#include "larc/Dialect/Chunk/IR/Chunk.h"

namespace larc {

/// What the passes that make a token function and its entry point need to agree
/// on: types, sizes, memory order of arrays, and the blocks of columns.
class RecurrentPlan {
public:
  /// Checks that `recurrence` is flat and bound and that the options fit it. If
  /// the module has a `chunk.scan` of it, the plan is that of the chunk form.
  static mlir::FailureOr<RecurrentPlan> create(RecurrenceOp recurrence,
                                               const RecurrentOptions &options);

  // Handles of MLIR have no const methods; the plan changes neither.
  mutable RecurrenceOp recurrence;
  /// Null in the recurrent form.
  mutable chunk::ScanOp scan;
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
    std::optional<int64_t> size;
    if (scan)
      size = scan.getAxisSize(axis);
    return size ? *size : *recurrence.getAxisSize(axis);
  }
  /// Whether `axis` counts tokens of a chunk.
  bool isTokenAxis(mlir::StringAttr axis) const {
    return scan && scan.lookupTokenAxis(axis);
  }
  int64_t getExtent(mlir::StringAttr axis) const {
    return axis == splitAxis ? blockSize : getSize(axis);
  }
  llvm::SmallVector<int64_t>
  getExtents(llvm::ArrayRef<mlir::StringAttr> axes) const;
  /// Sizes of the dimensions of a buffer in scratch memory. Token axes reach up
  /// to a whole tile of rows; what is there is computed but means nothing.
  llvm::SmallVector<int64_t>
  getBufferShape(llvm::ArrayRef<mlir::StringAttr> axes) const;
  /// Token axes reach up to a multiple of this in scratch memory.
  int64_t getTokenPadding() const { return std::max<int64_t>(8, lanes); }
  /// The most bytes that an array or the workspace may have: far beyond any
  /// machine's memory, and safe to compute with.
  static constexpr int64_t maxBytes = int64_t(1) << 46;
  /// Bytes of a buffer of this shape; nothing beyond `maxBytes`.
  std::optional<int64_t> getBufferBytes(llvm::ArrayRef<int64_t> shape) const;
  /// Strides of a tensor in memory with these axes, outermost first.
  llvm::SmallVector<int64_t>
  getStrides(llvm::ArrayRef<mlir::StringAttr> axes) const;

  /// The order of an array's axes in the token function's buffers: that of the
  /// nests over the same axes, else the declared one, else sorted. Axes that
  /// count tokens come first, those of writers last of all.
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
  void orderScan();
  void chooseBlocks(int64_t cacheBytes, int64_t blockColumns);

  llvm::DenseMap<mlir::Type, llvm::SmallVector<mlir::StringAttr>> orders;
  /// Token axes that number writers.
  llvm::DenseSet<mlir::StringAttr> sources;
};

/// Bytes of scratch memory that the token function needs.
static constexpr llvm::StringLiteral scratchBytesAttr = "larc.scratch_bytes";
inline int64_t alignScratch(int64_t bytes) { return (bytes + 63) / 64 * 64; }

} // namespace larc

#endif // LARC_LIB_CONVERSION_RECURRENT_PLAN_H
