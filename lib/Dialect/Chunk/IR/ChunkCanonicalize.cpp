//===- ChunkCanonicalize.cpp - Folders and patterns -*- C++ -*- -----------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What is exact for all numbers, infinities and NaN included. A score of 0
// times a value is therefore not 0.
//
//===----------------------------------------------------------------------===//

#include "larc/Dialect/Chunk/IR/Chunk.h"

#include <limits>

using namespace mlir;
using namespace larc;
using namespace larc::chunk;

//===----------------------------------------------------------------------===//
// Shared pieces
//===----------------------------------------------------------------------===//

static bool isNeutral(CombineKind kind, Value value) {
  std::optional<double> number = getSplat(value);
  if (!number)
    return false;
  switch (kind) {
  case CombineKind::Sum:
    return *number == 0.0;
  case CombineKind::Product:
    return *number == 1.0;
  case CombineKind::Max:
    return *number == -std::numeric_limits<double>::infinity();
  }
  return false;
}

/// Removes factors that are 1 everywhere, which `mayRemove` allows.
static LogicalResult removeOnes(Operation *op, MutableOperandRange factors,
                                PatternRewriter &rewriter,
                                function_ref<bool(Value)> mayRemove) {
  for (unsigned i = 0; i < factors.size(); ++i) {
    Value factor = factors[i].get();
    if (!isNeutral(CombineKind::Product, factor) || !mayRemove(factor))
      continue;
    rewriter.modifyOpInPlace(op, [&] { factors.erase(i); });
    return success();
  }
  return failure();
}

//===----------------------------------------------------------------------===//
// CumulateOp and TotalOp
//===----------------------------------------------------------------------===//

OpFoldResult CumulateOp::fold(FoldAdaptor) {
  return isNeutral(getKind(), getOperand()) ? OpFoldResult(getOperand())
                                            : OpFoldResult();
}

LogicalResult TotalOp::canonicalize(TotalOp op, PatternRewriter &rewriter) {
  if (!isNeutral(op.getKind(), op.getOperand()))
    return failure();
  Value number = op.getOperand();
  while (auto broadcast = number.getDefiningOp<BroadcastOp>())
    number = broadcast.getOperand();
  if (op.getType() == number.getType()) {
    rewriter.replaceOp(op, number);
    return success();
  }
  SmallVector<Attribute> axes(op.getType().getAxes());
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, number,
                                           rewriter.getArrayAttr(axes));
  return success();
}

//===----------------------------------------------------------------------===//
// Decays
//===----------------------------------------------------------------------===//

LogicalResult ScoresOp::canonicalize(ScoresOp op, PatternRewriter &rewriter) {
  // A summed axis that only a decay has counts how often a term is added.
  return removeOnes(op, op.getDecaysMutable(), rewriter, [&](Value decay) {
    ArrayType others =
        ArrayType::unionOf(op.getReader().getType(), op.getWriter().getType());
    bool removed = false;
    for (Value other : op.getDecays()) {
      if (other == decay && !std::exchange(removed, true))
        continue;
      others = ArrayType::unionOf(others, cast<ArrayType>(other.getType()));
    }
    return llvm::all_of(op.getAxes(), [&](Attribute axis) {
      return others.hasAxis(cast<StringAttr>(axis));
    });
  });
}

/// The type of `op` without the decay `decay`.
static ArrayType typeWithout(MixOp op, Value decay) {
  ArrayType type =
      ArrayType::unionOf(op.getScores().getType().without({op.getSourceAttr()}),
                         op.getValues().getType());
  if (Value init = op.getInit())
    type = ArrayType::unionOf(type, cast<ArrayType>(init.getType()));
  bool removed = false;
  for (Value other : op.getDecays())
    if (other != decay || std::exchange(removed, true))
      type = ArrayType::unionOf(type, cast<ArrayType>(other.getType()));
  return type;
}

LogicalResult MixOp::canonicalize(MixOp op, PatternRewriter &rewriter) {
  return removeOnes(op, op.getDecaysMutable(), rewriter, [&](Value decay) {
    return typeWithout(op, decay) == op.getType();
  });
}

LogicalResult SolveOp::canonicalize(SolveOp op, PatternRewriter &rewriter) {
  // Pasts have the axes of decays; only where writes bring them is one idle.
  return removeOnes(op, op.getDecaysMutable(), rewriter, [&](Value decay) {
    ArrayType axes = cast<ArrayType>(decay.getType());
    return llvm::all_of(
        op.getYield().getValues().take_front(op.getNumWrites()),
        [&](Value write) {
          auto array = cast<ArrayType>(write.getType());
          return ArrayType::unionOf(array, axes.without({op.getTokenAttr()})) ==
                 array;
        });
  });
}

LogicalResult UpdateOp::canonicalize(UpdateOp op, PatternRewriter &rewriter) {
  return removeOnes(op, op.getDecaysMutable(), rewriter,
                    [](Value) { return true; });
}

//===----------------------------------------------------------------------===//
// RowsOp and StackOp
//===----------------------------------------------------------------------===//

/// Rows of rows are rows of the first, and rows of a stack are a part where
/// they are its tokens.
OpFoldResult RowsOp::fold(FoldAdaptor) {
  if (getFrom() == getTo())
    return getOperand();
  if (auto rows = getOperand().getDefiningOp<RowsOp>();
      rows && rows.getTo() == getFrom()) {
    setFromAttr(rows.getFromAttr());
    getOperandMutable().assign(rows.getOperand());
    return getResult();
  }
  auto stack = getOperand().getDefiningOp<StackOp>();
  if (!stack || stack.getTo() != getFrom())
    return {};
  for (auto [part, axis] : llvm::zip(stack.getParts(), stack.getFrom()))
    if (axis == getToAttr())
      return part;
  return {};
}

/// Rows of a stack that lie in one part are rows of the part; rows of what is
/// the same for all tokens are that with another axis.
LogicalResult RowsOp::canonicalize(RowsOp op, PatternRewriter &rewriter) {
  if (auto broadcast = op.getOperand().getDefiningOp<BroadcastOp>();
      broadcast &&
      !broadcast.getOperand().getType().hasAxis(op.getFromAttr())) {
    SmallVector<Attribute> axes(op.getType().getAxes());
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, broadcast.getOperand(),
                                             rewriter.getArrayAttr(axes));
    return success();
  }
  auto stack = op.getOperand().getDefiningOp<StackOp>();
  auto scan = op->getParentOfType<ScanOp>();
  if (!stack || !scan || stack.getTo() != op.getFrom())
    return failure();
  TokenAxisAttr to = scan.lookupTokenAxis(op.getToAttr());
  for (auto [part, axis] : llvm::zip(stack.getParts(), stack.getFrom())) {
    TokenAxisAttr from = scan.lookupTokenAxis(cast<StringAttr>(axis));
    if (!to || !from || to.getOffset() < from.getOffset() ||
        to.getOffset() + to.getSize() > from.getOffset() + from.getSize())
      continue;
    rewriter.replaceOpWithNewOp<RowsOp>(op, part, from.getAxis(),
                                        op.getToAttr());
    return success();
  }
  return failure();
}

OpFoldResult StackOp::fold(FoldAdaptor) {
  if (getParts().size() == 1 && getFrom()[0] == getToAttr())
    return getParts().front();
  return {};
}
