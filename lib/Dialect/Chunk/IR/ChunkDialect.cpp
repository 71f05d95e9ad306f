//===- ChunkDialect.cpp - Dialect and attributes -*- C++ -*- --------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Dialect/Chunk/IR/Chunk.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace larc;
using namespace larc::chunk;

#include "larc/Dialect/Chunk/IR/ChunkDialect.cpp.inc"
#include "larc/Dialect/Chunk/IR/ChunkEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "larc/Dialect/Chunk/IR/ChunkAttributes.cpp.inc"

void ChunkDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "larc/Dialect/Chunk/IR/ChunkAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "larc/Dialect/Chunk/IR/ChunkOps.cpp.inc"
      >();
}

ArrayType chunk::withAxis(ArrayType array, StringAttr axis) {
  SmallVector<StringAttr> axes(array.getAxes());
  axes.push_back(axis);
  return ArrayType::ofAxes(array.getContext(), axes);
}

std::optional<double> chunk::getSplat(Value value) {
  while (auto broadcast = value.getDefiningOp<BroadcastOp>())
    value = broadcast.getOperand();
  if (auto constant = value.getDefiningOp<ConstantOp>())
    return constant.getValue().convertToDouble();
  return std::nullopt;
}
