//===- Tile.h - The tile dialect -*- C++ -*- ------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_DIALECT_TILE_IR_TILE_H
#define LARC_DIALECT_TILE_IR_TILE_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "larc/Dialect/Tile/IR/TileDialect.h.inc"
#include "larc/Dialect/Tile/IR/TileEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "larc/Dialect/Tile/IR/TileAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "larc/Dialect/Tile/IR/TileTypes.h.inc"

namespace larc::tile {

/// The attribute of a program's argument that says what it is.
constexpr llvm::StringLiteral kArgumentAttrName = "tile.argument";

/// The attribute of an operand with a tensor map: the rows (i64) of its boxes.
constexpr llvm::StringLiteral kBoxRowsAttrName = "tile.box_rows";
/// The bytes of a row of a box, and the swizzle in which boxes are written.
constexpr int64_t kBoxBytes = 128;
/// The most rows of a box, and the most operands with boxes.
constexpr int64_t kMostBoxRows = 256, kMostMaps = 8;
/// What distances in a tensor map are multiples of, in bytes.
constexpr int64_t kMapAlignment = 16;

/// The registers of 32 bits that all blocks on a multiprocessor share.
constexpr int64_t kMultiprocessorRegisters = 65536;

/// For each register of `to`, the register of `from` that holds the same
/// element in the same lane, in all lanes; fails where a lane lacks an element.
/// Both tiles have the same shape.
mlir::FailureOr<llvm::SmallVector<int64_t>> getRegisterMap(RegType from,
                                                           RegType to);

/// For each register of `result`, the register of `operand` that a `tile.map`
/// reads for it: `operand` has the same extents or 1. Fails where a lane lacks
/// an element.
mlir::FailureOr<llvm::SmallVector<int64_t>> getBroadcastMap(RegType operand,
                                                            RegType result);

} // namespace larc::tile

#define GET_OP_CLASSES
#include "larc/Dialect/Tile/IR/TileOps.h.inc"

#endif // LARC_DIALECT_TILE_IR_TILE_H
