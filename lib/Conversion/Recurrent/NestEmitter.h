//===- NestEmitter.h - Loops of one nest -*- C++ -*- ----------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_CONVERSION_RECURRENT_NESTEMITTER_H
#define LARC_LIB_CONVERSION_RECURRENT_NESTEMITTER_H

#include "Plan.h"

namespace larc {

/// Emits loops over vectors for one `larc.nest`.
///
/// Lanes are the outermost loop: groups of a few registers along the last axis,
/// so that a reduction over other axes accumulates in registers. Inside come
/// the other axes in order. Every value is computed, and every load made, in
/// the outermost loop that fixes all of its indices.
class NestEmitter {
public:
  /// Numbers of elements along axes, where they are known at run time only. All
  /// elements of the axis are in memory, but only so many have a meaning.
  using Bounds = llvm::SmallDenseMap<mlir::StringAttr, mlir::Value, 4>;

  /// `lookup` gives the buffer of a value from outside of the nest.
  NestEmitter(const RecurrentPlan &plan, NestOp nest, const Bounds &bounds,
              llvm::function_ref<const Buffer &(mlir::Value)> lookup,
              llvm::ArrayRef<Buffer> results)
      : plan(plan), nest(nest), bounds(bounds), lookup(lookup),
        results(results) {}

  void emit(mlir::OpBuilder &builder);

  /// Sets all elements of `buffer` to `value`.
  static void emitFill(mlir::OpBuilder &builder, mlir::Location loc,
                       const RecurrentPlan &plan, const Buffer &buffer,
                       double value);
  /// Copies an array between buffers of any element types and orders of the
  /// same axes.
  static void emitCopy(mlir::OpBuilder &builder, mlir::Location loc,
                       const RecurrentPlan &plan, const Buffer &from,
                       const Buffer &to);

private:
  /// Lanes [offset, offset + width) from the group's base; width 0 is a scalar.
  struct Piece {
    int64_t offset, width;
  };
  using Pieces = llvm::SmallVector<Piece>;
  /// A value's pieces.
  using Values = llvm::SmallVector<mlir::Value>;

  /// A reduction of the nest and where it accumulates.
  struct Accumulator {
    mutable ReductionOpInterface op; ///< a handle, without const methods
    unsigned result;                 ///< result of the nest
    unsigned depth;                  ///< loops outside of the accumulation
    bool reducesLane;                ///< sums over lanes
    bool inMemory;                   ///< adds to its buffer instead of storing
  };

  struct Scope {
    llvm::DenseMap<mlir::Value, Values> values;
    llvm::SmallVector<mlir::Value>
        indices; ///< of the outer axes, from outside in
  };

  int64_t chooseGroupSize();
  void analyze();
  unsigned depthOf(mlir::Value value);
  void emitGroup(mlir::OpBuilder &builder, mlir::Value base,
                 const Pieces &pieces);
  /// Emits what belongs inside `depth` loops; `totals` are the accumulators
  /// under way.
  void emitLevel(mlir::OpBuilder &builder, unsigned depth, Scope &scope,
                 llvm::MutableArrayRef<Values> totals);
  void emitInnermost(mlir::OpBuilder &builder, Scope &scope,
                     llvm::MutableArrayRef<Values> totals);
  const Values &get(mlir::OpBuilder &builder, mlir::Value value, Scope &scope);
  Values load(mlir::OpBuilder &builder, const Buffer &buffer, Scope &scope);
  void store(mlir::OpBuilder &builder, const Values &values,
             const Buffer &buffer, Scope &scope);
  void finish(mlir::OpBuilder &builder, const Accumulator &accumulator,
              const Values &total, Scope &scope);
  Values combine(mlir::OpBuilder &builder, ReduceKind kind, const Values &lhs,
                 const Values &rhs);
  mlir::Value splat(mlir::OpBuilder &builder, double value, int64_t width);
  /// Puts what leaves the reduction as it is into lanes beyond the bound.
  void maskLanes(mlir::OpBuilder &builder, const Accumulator &accumulator,
                 Values &terms);
  unsigned unrollFactor(unsigned depth, llvm::ArrayRef<unsigned> starting);

  /// Indices into `buffer`; `lane` is the index of the lane axis, where it has
  /// one.
  llvm::SmallVector<mlir::Value> indicesOf(const Buffer &buffer, Scope &scope,
                                           mlir::Value lane);

  const RecurrentPlan &plan;
  NestOp nest;
  const Bounds &bounds;
  llvm::function_ref<const Buffer &(mlir::Value)> lookup;
  llvm::ArrayRef<Buffer> results;

  llvm::SmallVector<mlir::StringAttr> outer;
  mlir::StringAttr lane;
  llvm::SmallVector<Accumulator> accumulators;
  llvm::DenseMap<mlir::Value, unsigned> depths;
  bool oneGroup = false;
  /// Nests that write an array go from its end: the nests that read it first
  /// went from its start, and what was touched last is still in cache.
  bool backward = false;
  // Of the group being emitted.
  mlir::Value base;
  Pieces pieces;
};

} // namespace larc

#endif // LARC_LIB_CONVERSION_RECURRENT_NESTEMITTER_H
