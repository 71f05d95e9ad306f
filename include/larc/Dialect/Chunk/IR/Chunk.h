//===- Chunk.h - The chunk dialect -*- C++ -*- ----------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_DIALECT_CHUNK_IR_CHUNK_H
#define LARC_DIALECT_CHUNK_IR_CHUNK_H

#include "larc/Dialect/Larc/IR/Larc.h"

#include "mlir/IR/PatternMatch.h"

#include "larc/Dialect/Chunk/IR/ChunkDialect.h.inc"
#include "larc/Dialect/Chunk/IR/ChunkEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "larc/Dialect/Chunk/IR/ChunkAttributes.h.inc"

namespace larc::chunk {

class ScanOp;
class YieldOp;

/// `array` with the axis `axis` added.
ArrayType withAxis(ArrayType array, mlir::StringAttr axis);

/// The one number that every element of `value` is, where that is known: a
/// larc.constant, or a broadcast of one.
std::optional<double> getSplat(mlir::Value value);

} // namespace larc::chunk

#define GET_OP_CLASSES
#include "larc/Dialect/Chunk/IR/ChunkOps.h.inc"

#endif // LARC_DIALECT_CHUNK_IR_CHUNK_H
