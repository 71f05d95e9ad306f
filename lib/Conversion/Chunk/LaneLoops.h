//===- LaneLoops.h - Loops over vectors of arrays -*- C++ -*- -------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_CONVERSION_CHUNK_LANELOOPS_H
#define LARC_LIB_CONVERSION_CHUNK_LANELOOPS_H

#include "../Recurrent/Plan.h"

namespace larc {

/// Consecutive elements along an axis: a vector, of which only the first
/// `active` lanes are in the array. Without an axis, width 0: a scalar.
struct Lanes {
  mlir::StringAttr axis;
  mlir::Value first;
  int64_t width = 0, active = 0;
};

/// Indices of axes.
using Position = llvm::SmallDenseMap<mlir::StringAttr, mlir::Value, 8>;
using Values = llvm::SmallVector<mlir::Value>;

/// Emits the loops, loads and stores that operations on the tokens of a chunk
/// are made of.
class LaneLoops {
public:
  LaneLoops(const RecurrentPlan &plan, mlir::Location loc)
      : plan(plan), loc(loc) {}

  mlir::Value index(mlir::OpBuilder &builder, int64_t value) const;
  mlir::Value add(mlir::OpBuilder &builder, mlir::Value base,
                  int64_t offset) const;
  mlir::Value splat(mlir::OpBuilder &builder, double value,
                    const Lanes &lanes) const;
  mlir::Value multiply(mlir::OpBuilder &builder, mlir::Value lhs,
                       mlir::Value rhs) const;
  /// `sum` + `lhs` `rhs`, rounded once; `lhs` may be a scalar for all lanes.
  mlir::Value multiplyAdd(mlir::OpBuilder &builder, mlir::Value lhs,
                          mlir::Value rhs, mlir::Value sum) const;

  /// The elements of `buffer`; the same one in all lanes where it lacks their
  /// axis, and 0 in lanes that are not active.
  mlir::Value load(mlir::OpBuilder &builder, const Buffer &buffer,
                   const Position &at, const Lanes &lanes) const;
  mlir::Value loadScalar(mlir::OpBuilder &builder, const Buffer &buffer,
                         const Position &at) const {
    return load(builder, buffer, at, Lanes());
  }
  void store(mlir::OpBuilder &builder, mlir::Value value, const Buffer &buffer,
             const Position &at, const Lanes &lanes) const;

  /// Calls `body` inside of loops over `axes`, whose indices it adds to `at`.
  void
  emitLoops(mlir::OpBuilder &builder, llvm::ArrayRef<mlir::StringAttr> axes,
            const Position &at,
            llvm::function_ref<void(mlir::OpBuilder &, Position &)> body) const;
  /// The same with values that the loops carry.
  Values emitSums(
      mlir::OpBuilder &builder, llvm::ArrayRef<mlir::StringAttr> axes,
      const Position &at, const Values &sums,
      llvm::function_ref<Values(mlir::OpBuilder &, Position &, const Values &)>
          body) const;
  /// A loop from `first` up to `last`, exclusively.
  void
  emitFor(mlir::OpBuilder &builder, mlir::Value first, mlir::Value last,
          int64_t step,
          llvm::function_ref<void(mlir::OpBuilder &, mlir::Value)> body) const;
  Values emitFor(
      mlir::OpBuilder &builder, mlir::Value first, mlir::Value last,
      const Values &carried,
      llvm::function_ref<Values(mlir::OpBuilder &, mlir::Value, const Values &)>
          body) const;
  /// Calls `body` for all lanes of `axis`, at most `count` vectors at a time.
  void
  emitLanes(mlir::OpBuilder &builder, mlir::StringAttr axis, int64_t count,
            llvm::function_ref<void(mlir::OpBuilder &, llvm::ArrayRef<Lanes>)>
                body) const;
  /// Sums over all lanes of `axis`, one vector at a time.
  Values emitLaneSums(mlir::OpBuilder &builder, mlir::StringAttr axis,
                      const Values &sums,
                      llvm::function_ref<Values(mlir::OpBuilder &,
                                                const Lanes &, const Values &)>
                          body) const;
  /// The vector of the sums over lanes of vectors of `lanes` lanes: lane i is
  /// that of vector i. Added in halves, in an order that is the same for all.
  mlir::Value addLanes(mlir::OpBuilder &builder, Values vectors) const;

  /// The axis of `axes` for lanes: the last one that fills a vector, else the
  /// longest. Null if there is none.
  mlir::StringAttr chooseLaneAxis(llvm::ArrayRef<mlir::StringAttr> axes) const;

private:
  Values indicesOf(const Buffer &buffer, const Position &at,
                   const Lanes &lanes) const;
  mlir::Value maskOf(mlir::OpBuilder &builder, const Lanes &lanes) const;

  const RecurrentPlan &plan;
  mlir::Location loc;
};

/// `axes` less `dropped`, in order.
llvm::SmallVector<mlir::StringAttr>
dropAxes(llvm::ArrayRef<mlir::StringAttr> axes,
         llvm::ArrayRef<mlir::StringAttr> dropped);

/// `buffer` with another name for an axis.
Buffer renameAxis(Buffer buffer, mlir::StringAttr from, mlir::StringAttr to);

} // namespace larc

#endif // LARC_LIB_CONVERSION_CHUNK_LANELOOPS_H
