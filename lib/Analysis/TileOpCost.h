//===- TileOpCost.h - What an operation costs a warp ------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_ANALYSIS_TILEOPCOST_H
#define LARC_LIB_ANALYSIS_TILEOPCOST_H

#include "larc/Analysis/TileCost.h"

namespace larc {

/// What an operation without regions of control flow costs one warp.
struct TileOpCost {
  TileWork work;
  /// From its last instruction until its results can be used.
  double latency = 0;
  /// Nothing is moved across it: what stands before has been issued.
  bool isOrdered = false;
  /// That the warp stands still after it.
  double pause = 0;
  /// Of global memory, and of which argument of the program.
  double bytes = 0;
  mlir::Value argument;
};

/// The cost of `op` for a warp of a role that has `warps`.
TileOpCost getTileOpCost(mlir::Operation *op, const GPUModel &model,
                         int64_t warps);

} // namespace larc

#endif // LARC_LIB_ANALYSIS_TILEOPCOST_H
