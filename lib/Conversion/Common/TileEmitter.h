//===- TileEmitter.h - Register-tiled products -*- C++ -*- ----------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_CONVERSION_COMMON_TILEEMITTER_H
#define LARC_LIB_CONVERSION_COMMON_TILEEMITTER_H

#include "Buffer.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include <functional>
#include <optional>

namespace larc {

/// What products are tiled for.
struct TileTarget {
  /// Element type of all buffers: f32 or f64. (Handles of MLIR have no const
  /// methods.)
  mutable mlir::FloatType element;
  /// Lanes of a vector register: a power of two.
  int64_t lanes;
  /// Vector registers of the machine, which follow from their width.
  int64_t getRegisters() const {
    return lanes * element.getWidth() >= 512 ? 32 : 16;
  }
};

/// A contraction of two arrays over named axes:
///
///     result = (init * initFactors +- sum over reduced axes of lhs * rhs)
///              * resultFactors
///
/// Axes are told apart by name. Those of `lhs` or `rhs` that `result` lacks are
/// summed over; all of the result's are in one of the two at least. Either of
/// the two may be the one that lanes run along. Buffers may be views of any
/// strides; what is dense along its last axis is faster.
struct TileProduct {
  Buffer lhs, rhs, result;

  /// What the sums start from: none is zero. It may be `result` itself, in the
  /// same order of axes, which is then updated in place; no other buffer may
  /// overlap `result`.
  std::optional<Buffer> init;
  /// What `init` is multiplied by: each over any of the result's axes, none
  /// being a scalar.
  llvm::SmallVector<Buffer> initFactors;
  /// What results are multiplied by before they are stored.
  llvm::SmallVector<Buffer> resultFactors;
  /// Subtracts the products from `init` instead of adding them.
  bool subtract = false;

  /// Extents of axes as index values or attributes, where they are other than
  /// the sizes of the buffers' dimensions: no larger, 0 included. An axis must
  /// have an extent here if its dimension is dynamic.
  llvm::SmallVector<std::pair<mlir::StringAttr, mlir::OpFoldResult>> extents;
  /// Axes of the result that may be computed beyond their dynamic extent, up to
  /// its next multiple of `TileEmitter::getPadding`: the dimensions of all
  /// buffers with the axis reach so far. What is computed there is undefined
  /// and disturbs nothing else.
  llvm::SmallVector<mlir::StringAttr> padded;

  /// Both axes index tokens, and only `column` <= `row` matters. A column that
  /// is summed over: the sum of a row ends with the row itself. (Where other
  /// axes are summed over too, or the rows are those of no tile: with the last
  /// row of the tile, so that terms between a row and that end must be zero in
  /// memory, and finite in the other operand.) With padded rows, the column's
  /// dimensions reach as far as theirs. A column of the result: what lies
  /// beyond the last row of a tile may be computed or left as it is.
  struct Causal {
    mlir::StringAttr row, column;
  };
  std::optional<Causal> causal;

  /// Emits what else is to be done in between, such as asking for memory;
  /// called after each tile with lanes along the result.
  std::function<void(mlir::OpBuilder &)> afterTile;
};

/// Emits loops over register tiles for products.
///
/// Where the result's last axis is dense in an operand, lanes run along it: a
/// tile is some rows (of an axis that this operand lacks) by some vectors of
/// lanes; its sums stay in registers while a loop over the reduced axes
/// multiplies vectors of one operand by single elements of the other. Each
/// element is one chain of multiply-adds in ascending order of the reduced axes
/// (as `lhs`, then `rhs`, has them), so it does not depend on the tile it is
/// in or on the extents of other axes.
///
/// Where instead the reduced axis is dense in both operands (products of rows
/// with rows), lanes run along that: each element has a vector of sums, and
/// as many of these as a vector has lanes are added across lanes together, by
/// shuffles in halves. The order is again the same for each element.
///
/// Anything else is correct, but loads lanes one by one.
///
/// Multiply-adds are fused on machines that do it in one instruction.
class TileEmitter {
public:
  explicit TileEmitter(TileTarget target) : target(target) {}

  /// Emits the product at `builder`.
  void emit(mlir::OpBuilder &builder, mlir::Location loc,
            const TileProduct &product) const;

  /// Padded axes are computed up to a multiple of this: a power of two, at
  /// least 8.
  int64_t getPadding() const { return std::max<int64_t>(8, target.lanes); }

private:
  TileTarget target;
};

} // namespace larc

#endif // LARC_LIB_CONVERSION_COMMON_TILEEMITTER_H
