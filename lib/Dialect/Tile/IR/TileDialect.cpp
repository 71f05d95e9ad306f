//===- TileDialect.cpp - Dialect and enums -*- C++ -*- --------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace larc::tile;

#include "larc/Dialect/Tile/IR/TileDialect.cpp.inc"
#include "larc/Dialect/Tile/IR/TileEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "larc/Dialect/Tile/IR/TileAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "larc/Dialect/Tile/IR/TileTypes.cpp.inc"

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "larc/Dialect/Tile/IR/TileAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "larc/Dialect/Tile/IR/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "larc/Dialect/Tile/IR/TileOps.cpp.inc"
      >();
}
