//===- TokenLoop.h - What runs token by token -*- C++ -*- -----------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_CONVERSION_DERIVECHUNK_TOKENLOOP_H
#define LARC_LIB_CONVERSION_DERIVECHUNK_TOKENLOOP_H

#include "ChunkDeriver.h"

namespace larc {

/// Gathers operations of the step for one `chunk.tokens` and makes it.
class TokenLoop {
public:
  explicit TokenLoop(ChunkDeriver &deriver) : deriver(deriver) {}

  /// Adds what computes `root` from the states that it needs as a whole, and
  /// what moves these states on.
  void add(mlir::Value root);
  /// Adds values that the same states and nothing later suffice for.
  void addCompanions();
  /// Adds everything.
  void addWholeStep();
  /// Makes the loop and records its results with the deriver.
  void emit();

private:
  bool dependsOnLoop(mlir::Value value);
  /// Whether the loop computes `value` itself.
  bool isInside(mlir::Value value);
  void addState(unsigned state);
  void addValue(mlir::Value value);
  /// Adds what `op` uses.
  void addUses(mlir::Operation *op);
  /// Whether computing `value` needs, besides the loop's states, nothing that
  /// depends on them through another state.
  bool isClosed(mlir::Value value,
                llvm::SmallPtrSetImpl<mlir::Operation *> &seen);
  /// Makes `value` a result if something outside of the loop uses it.
  void exportUsed(mlir::Value value);
  mlir::Value slice(mlir::Value stepValue);

  ChunkDeriver &deriver;
  bool whole = false;
  llvm::SetVector<unsigned> states;
  llvm::SmallPtrSet<mlir::Operation *, 32> ops;
  llvm::SetVector<mlir::Value> exported;
  // While the loop is made.
  std::unique_ptr<mlir::Block> body;
  llvm::SmallVector<mlir::Value> over;
  mlir::IRMapping mapping;
};

} // namespace larc

#endif // LARC_LIB_CONVERSION_DERIVECHUNK_TOKENLOOP_H
