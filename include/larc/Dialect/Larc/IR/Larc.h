//===- Larc.h - The larc dialect -*- C++ -*- ------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_DIALECT_LARC_IR_LARC_H
#define LARC_DIALECT_LARC_IR_LARC_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "larc/Dialect/Larc/IR/LarcDialect.h.inc"
#include "larc/Dialect/Larc/IR/LarcEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "larc/Dialect/Larc/IR/LarcTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "larc/Dialect/Larc/IR/LarcAttributes.h.inc"

#include "larc/Dialect/Larc/IR/LarcInterfaces.h.inc"

namespace larc {
class YieldOp;
} // namespace larc

#define GET_OP_CLASSES
#include "larc/Dialect/Larc/IR/LarcOps.h.inc"

namespace larc {

/// The type of an array.
inline ArrayType arrayOf(mlir::Value value) {
  return llvm::cast<ArrayType>(value.getType());
}

/// Where `op` stands in its file, without the name of its value, which the
/// parser keeps there: for what is made on the way to that value.
inline mlir::Location placeOf(mlir::Operation *op) {
  if (auto name = llvm::dyn_cast<mlir::NameLoc>(op->getLoc()))
    return name.getChildLoc();
  return op->getLoc();
}

} // namespace larc

#endif // LARC_DIALECT_LARC_IR_LARC_H
