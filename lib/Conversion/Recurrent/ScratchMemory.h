//===- ScratchMemory.h - Memory of a token function -*- C++ -*- -----------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_CONVERSION_RECURRENT_SCRATCHMEMORY_H
#define LARC_LIB_CONVERSION_RECURRENT_SCRATCHMEMORY_H

#include "Plan.h"

namespace larc {

/// The scratch memory of a token function: buffers at offsets fixed when it is
/// compiled, in places that are given back and used again.
class ScratchMemory {
public:
  struct Place {
    int64_t offset = 0, bytes = 0;
  };

  /// Views of `memory` are made at `base`, before everything else.
  ScratchMemory(const RecurrentPlan &plan, mlir::Value memory,
                mlir::OpBuilder base)
      : plan(plan), memory(memory), base(base) {}

  /// A buffer for an array with axes in this order.
  Buffer allocate(llvm::ArrayRef<mlir::StringAttr> axes, Place &place);
  void release(Place place);

  /// Bytes in all.
  int64_t getBytes() const { return peak; }
  /// Whether more memory was asked for than can be addressed.
  bool isTooLarge() const { return tooLarge; }

private:
  const RecurrentPlan &plan;
  mlir::Value memory;
  mlir::OpBuilder base;
  /// The end of what is in use, and the furthest that it ever was.
  int64_t bytes = 0, peak = 0;
  bool tooLarge = false;
  /// Free places below `bytes`, by offset; no two of them touch.
  llvm::SmallVector<Place> holes;
};

} // namespace larc

#endif // LARC_LIB_CONVERSION_RECURRENT_SCRATCHMEMORY_H
