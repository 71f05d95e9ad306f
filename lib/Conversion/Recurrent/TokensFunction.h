//===- TokensFunction.h - The function of one head -*- C++ -*- ------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_CONVERSION_RECURRENT_TOKENSFUNCTION_H
#define LARC_LIB_CONVERSION_RECURRENT_TOKENSFUNCTION_H

#include "StepEmitter.h"

namespace larc {

/// `@NAME_tokens`, which runs the tokens of one head: its arguments by role,
/// and what its body is made of in every form.
class TokensFunction {
public:
  /// Memory of a tensor, with the stride between tokens where it has any.
  struct Memory {
    mlir::Value memref, tokenStride;
  };

  /// Adds the function, without a body, before the recurrence.
  explicit TokensFunction(const RecurrentPlan &plan);

  /// Where its body is made, before the return.
  mlir::OpBuilder getBodyBuilder() const;
  /// Where views of scratch memory are made.
  mlir::OpBuilder getScratchBuilder() const;
  /// Records what scratch memory the body needs, or reports that it is too
  /// much.
  mlir::LogicalResult setScratchBytes(const ScratchMemory &memory);

  /// Elements of a tensor at `token`.
  Buffer makeTokenView(mlir::OpBuilder &builder, const Memory &memory,
                       mlir::Value token, llvm::ArrayRef<mlir::StringAttr> axes,
                       mlir::FloatType element) const;
  /// Lines of memory that a token of a tensor has, or 0 if they are apart.
  int64_t countLines(llvm::ArrayRef<mlir::StringAttr> axes,
                     mlir::FloatType element) const;
  /// Asks for `count` lines of a tensor at the token `ahead`, from line `first`
  /// on, with `locality` from 0 (used once and soon) to 3 (for the innermost
  /// cache).
  void emitPrefetch(mlir::OpBuilder &builder, const Memory &memory,
                    mlir::Value ahead, mlir::Value first, int64_t count,
                    mlir::FloatType element, bool isWrite,
                    unsigned locality) const;
  /// At the first token of a period, the anchors take the states' values.
  void emitAnchorCopies(mlir::OpBuilder &builder,
                        mlir::Value globalToken) const;

  /// The buffers of the constants that the step uses, in declaration order.
  llvm::SmallVector<Buffer> stageConstants(mlir::OpBuilder &builder,
                                           StepEmitter &step) const;
  /// Binds the step's constants, states and anchors.
  void bindStep(StepEmitter &step,
                llvm::ArrayRef<Buffer> constantBuffers) const;
  /// Emits the definition's step for `token`.
  mlir::LogicalResult emitStep(mlir::OpBuilder &builder, mlir::Value token,
                               StepEmitter &step, bool prefetch) const;

  const RecurrentPlan &plan;
  mutable mlir::func::FuncOp func;
  mlir::Value numTokens, position, scratch;
  llvm::SmallVector<Memory> operands, constants, outputs;
  llvm::SmallVector<Buffer> states, anchors;

private:
  /// The buffer that nests read for an operand or constant: the view, or a copy
  /// in the compute type and the order of nests.
  Buffer stage(mlir::OpBuilder &builder, const Buffer &view, ArrayType type,
               mlir::FloatType element, StepEmitter &step) const;

  mlir::Location loc;
};

} // namespace larc

#endif // LARC_LIB_CONVERSION_RECURRENT_TOKENSFUNCTION_H
