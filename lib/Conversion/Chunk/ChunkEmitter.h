//===- ChunkEmitter.h - One chunk on buffers -*- C++ -*- ------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_CONVERSION_CHUNK_CHUNKEMITTER_H
#define LARC_LIB_CONVERSION_CHUNK_CHUNKEMITTER_H

#include "../Recurrent/StepEmitter.h"
#include "LaneLoops.h"

namespace larc {

/// Emits the program of a chunk on buffers.
///
/// Only the first n tokens exist. Rows after them hold anything: elementwise
/// operations compute them where lanes or tiles reach so far, sums over tokens
/// leave them out. What is computed for a token depends neither on n nor on
/// later tokens, to the last bit.
///
/// Buffers of values have a place in scratch memory from the operation that
/// makes them to the last one that reads them.
class ChunkEmitter : public StepEmitter {
public:
  ChunkEmitter(const RecurrentPlan &plan, ScratchMemory &scratch);

  /// A buffer for the rows of a token operand of the scan.
  Buffer allocateOperand(mlir::Value argument);
  /// Emits the program for `numTokens` tokens; `states` are updated. Results
  /// are the buffers of the outputs, which the caller must be done with before
  /// it calls `releaseAll`.
  mlir::FailureOr<llvm::SmallVector<Buffer>>
  emit(mlir::OpBuilder &builder, mlir::Value numTokens,
       llvm::ArrayRef<Buffer> states);
  void releaseAll();
  /// One row of an array with the axis `token`.
  Buffer getRow(mlir::OpBuilder &builder, const Buffer &buffer,
                mlir::StringAttr token, mlir::Value at) {
    return makeSlice(builder, buffer.memref.getLoc(), buffer, token, at);
  }

  Buffer allocate(llvm::ArrayRef<mlir::StringAttr> axes) override;
  using StepEmitter::allocate;

protected:
  mlir::LogicalResult emitOther(mlir::OpBuilder &builder, mlir::Operation *op,
                                Frame &frame) override;
  void finishOp(mlir::Operation *op, Frame &frame) override;
  Buffer allocateResult(mlir::OpBuilder &builder,
                        mlir::OpResult result) override;

private:
  // Memory.
  struct Allocation {
    ScratchMemory::Place place;
    unsigned lastUse;
  };
  unsigned getLastUse(mlir::Value value) const;
  /// Keeps the memory that `buffer` lies in until operation `lastUse` is done.
  void keepUntil(const Buffer &buffer, unsigned lastUse);
  /// Rows of `buffer` that the axis `part` has, under its name.
  Buffer makeRowsView(mlir::OpBuilder &builder, mlir::Location loc,
                      const Buffer &buffer, mlir::StringAttr whole,
                      mlir::StringAttr part);
  /// Whether whole tiles of rows of `part` lie within it.
  bool hasWholeTiles(mlir::StringAttr part) const {
    return plan.getExtent(part) % plan.getTokenPadding() == 0;
  }
  /// The buffer of `init` for `result`, if nothing else needs it; else a new
  /// one.
  Buffer allocateOver(mlir::OpBuilder &builder, mlir::OpResult result,
                      mlir::Value init, Frame &frame);

  // ChunkEmitter.cpp
  void emitRows(mlir::OpBuilder &builder, chunk::RowsOp op);
  void emitStack(mlir::OpBuilder &builder, chunk::StackOp op);
  void emitUpdate(mlir::OpBuilder &builder, chunk::UpdateOp op, Frame &frame);
  /// Copies `from` along axes that it lacks.
  Buffer expand(mlir::OpBuilder &builder, mlir::Location loc,
                const Buffer &from, llvm::ArrayRef<mlir::StringAttr> axes);
  /// The product of all of `decays`.
  Buffer combineDecays(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::ValueRange decays);

  // ChunkEmitterTokens.cpp
  void emitCumulate(mlir::OpBuilder &builder, chunk::CumulateOp op);
  void emitTotal(mlir::OpBuilder &builder, chunk::TotalOp op);
  mlir::LogicalResult emitSolve(mlir::OpBuilder &builder, chunk::SolveOp op);
  void emitPast(mlir::OpBuilder &builder, chunk::SolveOp op, unsigned read,
                mlir::Value token, llvm::ArrayRef<Buffer> writes,
                const Buffer &past);
  void emitDecayedWrites(mlir::OpBuilder &builder, chunk::SolveOp op,
                         mlir::Value token, const Buffer &decays,
                         llvm::ArrayRef<Buffer> writes,
                         llvm::ArrayRef<Buffer> decayed);
  mlir::LogicalResult emitTokens(mlir::OpBuilder &builder, chunk::TokensOp op,
                                 Frame &frame);

  // ChunkEmitterScores.cpp
  void emitScores(mlir::OpBuilder &builder, chunk::ScoresOp op);
  void emitMaskedScores(mlir::OpBuilder &builder, chunk::ScoresOp op,
                        const Buffer &result);
  void emitDecayedScores(mlir::OpBuilder &builder, chunk::ScoresOp op,
                         const Buffer &result);

  // ChunkEmitterMix.cpp
  void emitMix(mlir::OpBuilder &builder, chunk::MixOp op, Frame &frame);
  void emitDecayedMix(mlir::OpBuilder &builder, chunk::MixOp op,
                      const Buffer &result);

  mlir::Value getBound(mlir::StringAttr axis) { return bounds.lookup(axis); }

  llvm::DenseMap<mlir::Operation *, unsigned> order;
  unsigned current = 0;
  llvm::DenseMap<mlir::Value, Allocation> allocations;
};

} // namespace larc

#endif // LARC_LIB_CONVERSION_CHUNK_CHUNKEMITTER_H
