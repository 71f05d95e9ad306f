//===- StepEmitter.h - One step on buffers -*- C++ -*- --------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_CONVERSION_RECURRENT_STEPEMITTER_H
#define LARC_LIB_CONVERSION_RECURRENT_STEPEMITTER_H

#include "Plan.h"

namespace larc {

/// Emits a step, or the region of an operation of it, on buffers.
///
/// A region carries arrays: the states of the step, the carried values of a
/// fold or fire. Each has a buffer that holds the old value when the region
/// starts and must hold the new one when it ends. A nest writes a new value
/// straight into that buffer when nothing reads the old one any more; otherwise
/// into scratch memory, copied at the end.
class StepEmitter {
public:
  /// `scratchBase` is where the function makes views of its scratch memory.
  StepEmitter(const RecurrentPlan &plan, mlir::Value scratch,
              mlir::OpBuilder scratchBase, mlir::Value globalToken)
      : plan(plan), scratch(scratch), scratchBuilder(scratchBase),
        globalToken(globalToken) {}

  /// The buffer of a block argument or anchor.
  void bind(mlir::Value value, Buffer buffer) {
    buffers[value] = std::move(buffer);
  }
  void setGlobalToken(mlir::Value token) { globalToken = token; }

  /// Emits `block` at `builder`. `carried` are the buffers of what it carries:
  /// the arguments `carriedArguments` and the first values it yields. `outputs`
  /// are where the values yielded after those go.
  mlir::LogicalResult emitBlock(mlir::OpBuilder &builder, mlir::Block &block,
                                mlir::ValueRange carriedArguments,
                                llvm::ArrayRef<Buffer> carried,
                                llvm::ArrayRef<Buffer> outputs);

  /// A buffer in scratch memory for an array of `type`, or with axes in the
  /// given order.
  Buffer allocate(llvm::ArrayRef<mlir::StringAttr> axes);
  Buffer allocate(ArrayType type) { return allocate(plan.getOrder(type)); }
  int64_t getScratchBytes() const { return scratchBytes; }
  /// Whether more scratch memory was asked for than can be addressed.
  bool isTooLarge() const { return tooLarge; }

private:
  /// What a block's carried buffers hold as it is emitted.
  struct Frame {
    mlir::Block *block;
    llvm::ArrayRef<Buffer> carried, outputs;
    /// The value that lies in each carried buffer.
    llvm::SmallVector<mlir::Value> occupants;
  };

  const Buffer &lookup(mlir::Value value);
  bool isDeadAfter(mlir::Value value, mlir::Operation *op, Frame &frame);
  /// The carried buffer that `value` should end in, if any.
  std::optional<unsigned> findTarget(mlir::Value value, Frame &frame);
  Buffer chooseResultBuffer(mlir::OpResult result, NestOp nest, Frame &frame);

  void emitNest(mlir::OpBuilder &builder, NestOp nest, Frame &frame);
  mlir::LogicalResult emitFold(mlir::OpBuilder &builder, FoldOp fold,
                               Frame &frame);
  mlir::LogicalResult emitFire(mlir::OpBuilder &builder, FireOp fire,
                               Frame &frame);
  void emitSlice(mlir::OpBuilder &builder, mlir::Value result,
                 const Buffer &source, mlir::StringAttr axis,
                 mlir::OpFoldResult index);
  llvm::SmallVector<Buffer> prepareCarried(mlir::OpBuilder &builder,
                                           mlir::Operation *op,
                                           mlir::ValueRange inits,
                                           Frame &frame);
  void finishCarried(mlir::Operation *op, llvm::ArrayRef<Buffer> carried,
                     Frame &frame);
  void emitYield(mlir::OpBuilder &builder, YieldOp yield, Frame &frame);
  /// The buffer of `value`, made for a constant.
  Buffer materialize(mlir::OpBuilder &builder, mlir::Value value);

  const RecurrentPlan &plan;
  mlir::Value scratch;
  mlir::OpBuilder scratchBuilder;
  mlir::Value globalToken;
  int64_t scratchBytes = 0;
  bool tooLarge = false;
  llvm::DenseMap<mlir::Value, Buffer> buffers;
};

} // namespace larc

#endif // LARC_LIB_CONVERSION_RECURRENT_STEPEMITTER_H
