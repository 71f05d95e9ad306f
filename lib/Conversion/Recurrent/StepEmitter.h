//===- StepEmitter.h - One step on buffers -*- C++ -*- --------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_CONVERSION_RECURRENT_STEPEMITTER_H
#define LARC_LIB_CONVERSION_RECURRENT_STEPEMITTER_H

#include "NestEmitter.h"
#include "ScratchMemory.h"

#include "../Common/TileEmitter.h"

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
  StepEmitter(const RecurrentPlan &plan, ScratchMemory &scratch)
      : plan(plan), scratch(scratch) {}
  virtual ~StepEmitter() = default;

  /// The buffer of a block argument or anchor.
  void bind(mlir::Value value, Buffer buffer) {
    buffers[value] = std::move(buffer);
  }
  void setGlobalToken(mlir::Value token) { globalToken = token; }
  /// What is emitted after every tile of a product.
  void setAfterTile(std::function<void(mlir::OpBuilder &)> emit) {
    afterTile = std::move(emit);
  }

  /// Emits `block` at `builder`. `carried` are the buffers of what it carries:
  /// the arguments `carriedArguments` and the first values it yields. `outputs`
  /// are where the values yielded after those go.
  mlir::LogicalResult emitBlock(mlir::OpBuilder &builder, mlir::Block &block,
                                mlir::ValueRange carriedArguments,
                                llvm::ArrayRef<Buffer> carried,
                                llvm::ArrayRef<Buffer> outputs);

  /// A buffer in scratch memory for an array of `type`, or with axes in the
  /// given order.
  virtual Buffer allocate(llvm::ArrayRef<mlir::StringAttr> axes);
  Buffer allocate(ArrayType type) { return allocate(plan.getOrder(type)); }

protected:
  /// What a block's carried buffers hold as it is emitted.
  struct Frame {
    mlir::Block *block;
    llvm::ArrayRef<Buffer> carried, outputs;
    /// The value that lies in each carried buffer.
    llvm::SmallVector<mlir::Value> occupants;
  };

  /// Emits an operation that no step has.
  virtual mlir::LogicalResult emitOther(mlir::OpBuilder &builder,
                                        mlir::Operation *op, Frame &frame);
  /// Called when all of `op`, of the block of `frame`, is emitted.
  virtual void finishOp(mlir::Operation *op, Frame &frame) {}
  /// A new buffer for a result that need not be anywhere.
  virtual Buffer allocateResult(mlir::OpBuilder &builder,
                                mlir::OpResult result) {
    return allocate(llvm::cast<ArrayType>(result.getType()));
  }

  const Buffer &lookup(mlir::Value value);
  /// The buffer of `value`, made for a constant.
  Buffer materialize(mlir::OpBuilder &builder, mlir::Value value);
  bool isDeadAfter(mlir::Value value, mlir::Operation *op, Frame &frame);
  /// The carried buffer that `value` should end in, if any.
  std::optional<unsigned> findTarget(mlir::Value value, Frame &frame);
  /// The output that `result` is, where its buffer can take it as it is made.
  const Buffer *findOutput(mlir::OpResult result, Frame &frame);
  llvm::SmallVector<Buffer> prepareCarried(mlir::OpBuilder &builder,
                                           mlir::Operation *op,
                                           mlir::ValueRange inits,
                                           Frame &frame);
  void finishCarried(mlir::Operation *op, llvm::ArrayRef<Buffer> carried,
                     Frame &frame);
  /// `source` at one index of `axis`, without that axis.
  Buffer makeSlice(mlir::OpBuilder &builder, mlir::Location loc,
                   const Buffer &source, mlir::StringAttr axis,
                   mlir::OpFoldResult index);
  void emitContract(mlir::OpBuilder &builder, ContractOp op,
                    const Buffer &result);
  /// Gives `product` the extents of all axes, and what follows its tiles.
  void addExtents(mlir::OpBuilder &builder, TileProduct &product) const;
  TileEmitter getTiles() const {
    return TileEmitter({plan.computeType, plan.lanes});
  }

  const RecurrentPlan &plan;
  ScratchMemory &scratch;
  /// Numbers of tokens along token axes.
  NestEmitter::Bounds bounds;
  llvm::DenseMap<mlir::Value, Buffer> buffers;

private:
  Buffer chooseResultBuffer(mlir::OpBuilder &builder, mlir::OpResult result,
                            NestOp nest, Frame &frame);
  void emitNest(mlir::OpBuilder &builder, NestOp nest, Frame &frame);
  mlir::LogicalResult emitFold(mlir::OpBuilder &builder, FoldOp fold,
                               Frame &frame);
  mlir::LogicalResult emitFire(mlir::OpBuilder &builder, FireOp fire,
                               Frame &frame);
  void emitYield(mlir::OpBuilder &builder, mlir::Operation *yield,
                 Frame &frame);

  mlir::Value globalToken;
  std::function<void(mlir::OpBuilder &)> afterTile;
};

} // namespace larc

#endif // LARC_LIB_CONVERSION_RECURRENT_STEPEMITTER_H
