//===- Buffer.h - Arrays over named axes in memory -*- C++ -*- ------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_CONVERSION_COMMON_BUFFER_H
#define LARC_LIB_CONVERSION_COMMON_BUFFER_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

namespace larc {

/// An array in memory: one dimension of the memref for each axis, of the
/// compute type unless it is an operand or output as given.
struct Buffer {
  mlir::Value memref;
  llvm::SmallVector<mlir::StringAttr> axes;
};

inline bool hasAxis(const Buffer &buffer, mlir::StringAttr axis) {
  return llvm::is_contained(buffer.axes, axis);
}

} // namespace larc

#endif // LARC_LIB_CONVERSION_COMMON_BUFFER_H
