//===- ProductLoops.h - What all tiled products share -*- C++ -*- ---------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_CONVERSION_COMMON_PRODUCTLOOPS_H
#define LARC_LIB_CONVERSION_COMMON_PRODUCTLOOPS_H

#include "TileEmitter.h"

#include "llvm/ADT/DenseMap.h"

namespace larc {

/// Tiles of one size along an axis: from `begin` on, as long as they start
/// before `end`.
struct TileSpan {
  mlir::OpFoldResult begin, end;
  /// The parts of a tile: vectors of so many lanes, or one number of rows.
  llvm::SmallVector<int64_t> widths;

  int64_t getStep() const;
};

/// Whether elements along `axis` lie one after another.
bool isDenseAlong(const Buffer &buffer, mlir::StringAttr axis);

/// The axes of a product and the loops, loads and stores that both ways to tile
/// it are made of.
class ProductLoops {
protected:
  using Position = llvm::SmallDenseMap<mlir::StringAttr, mlir::Value, 8>;
  using Values = llvm::SmallVector<mlir::Value>;

  ProductLoops(TileTarget target, const TileProduct &product,
               mlir::Location loc);

  mlir::OpFoldResult getExtent(mlir::StringAttr axis) const;
  /// Whether tiles may reach beyond the extent of `axis`.
  bool isPadded(mlir::StringAttr axis) const;
  /// Where the sums over `axis` end for the tile at `at`, which has `sizes[a]`
  /// elements along an axis a, or one.
  mlir::Value
  getBound(mlir::OpBuilder &builder, mlir::StringAttr axis, const Position &at,
           const llvm::SmallDenseMap<mlir::StringAttr, int64_t> &sizes) const;

  /// Covers `axis` by tiles of `sizes`, the largest first. Each but the last
  /// size takes what it can; with a dynamic extent the last one, if it is not
  /// 1, reaches beyond the end.
  llvm::SmallVector<TileSpan> makeSpans(mlir::OpBuilder &builder,
                                        mlir::StringAttr axis,
                                        llvm::ArrayRef<int64_t> sizes) const;
  /// Calls `body` with a builder inside of the loop over the tiles of `span`.
  void
  emitSpan(mlir::OpBuilder &builder, const TileSpan &span,
           llvm::function_ref<void(mlir::OpBuilder &, mlir::Value)> body) const;
  /// Calls `body` inside of loops over `axes`, one element at a time.
  void emitLoops(mlir::OpBuilder &builder,
                 llvm::ArrayRef<mlir::StringAttr> axes, Position &at,
                 llvm::function_ref<void(mlir::OpBuilder &)> body) const;

  mlir::Value index(mlir::OpBuilder &builder, int64_t value) const;
  mlir::Value toValue(mlir::OpBuilder &builder, mlir::OpFoldResult value) const;
  mlir::Value add(mlir::OpBuilder &builder, mlir::Value base,
                  int64_t offset) const;
  mlir::Value zero(mlir::OpBuilder &builder, int64_t width) const;
  mlir::Value multiplyAdd(mlir::OpBuilder &builder, mlir::Value lhs,
                          mlir::Value rhs, mlir::Value sum) const;

  llvm::SmallVector<mlir::Value> indicesOf(const Buffer &buffer,
                                           const Position &at) const;
  /// `width` elements along `lane` from `at` on; the same one in all lanes
  /// where the buffer lacks that axis.
  mlir::Value loadVector(mlir::OpBuilder &builder, const Buffer &buffer,
                         Position at, mlir::StringAttr lane,
                         int64_t width) const;
  void storeVector(mlir::OpBuilder &builder, mlir::Value vector,
                   const Buffer &buffer, Position at,
                   mlir::StringAttr lane) const;
  /// `value` times the elements of `factors` at `at`.
  mlir::Value scale(mlir::OpBuilder &builder, mlir::Value value,
                    llvm::ArrayRef<Buffer> factors, const Position &at,
                    mlir::StringAttr lane) const;

  TileTarget target;
  const TileProduct &product;
  mlir::Location loc;
  /// Along lanes (null if the result is a scalar), and along the rows of tiles
  /// (null if there is none).
  mlir::StringAttr lane, row;
  /// The result's other axes, and those summed over.
  llvm::SmallVector<mlir::StringAttr> outer, reduced;

private:
  void chooseRowAxis();
};

/// Tiles with lanes along an axis of the result.
class LaneTiles : ProductLoops {
public:
  LaneTiles(TileTarget target, const TileProduct &product, mlir::Location loc)
      : ProductLoops(target, product, loc) {}
  void emit(mlir::OpBuilder &builder);

private:
  llvm::SmallVector<TileSpan> makeRowSpans(mlir::OpBuilder &builder) const;
  /// The spans along lanes for tiles of `rows` rows.
  llvm::SmallVector<TileSpan> makeLaneSpans(mlir::OpBuilder &builder,
                                            int64_t rows) const;
  void emitTile(mlir::OpBuilder &builder, const Position &at, int64_t rows,
                llvm::ArrayRef<int64_t> widths) const;
  Values emitSums(mlir::OpBuilder &builder,
                  llvm::ArrayRef<mlir::StringAttr> axes, Position at,
                  int64_t rows, llvm::ArrayRef<int64_t> widths,
                  mlir::ValueRange sums) const;
  /// The sums over the columns up to each row itself.
  Values emitCausalSums(mlir::OpBuilder &builder, Position at, int64_t rows,
                        llvm::ArrayRef<int64_t> widths,
                        mlir::ValueRange sums) const;
  /// One term of the sums of the rows from `first` on.
  Values emitTerms(mlir::OpBuilder &builder, const Position &at, int64_t first,
                   int64_t rows, llvm::ArrayRef<int64_t> widths,
                   mlir::ValueRange sums) const;
};

/// Tiles with lanes along the axis summed over.
class RowTiles : ProductLoops {
public:
  RowTiles(TileTarget target, const TileProduct &product, mlir::Location loc)
      : ProductLoops(target, product, loc) {}
  /// Whether the product is one of rows with rows.
  bool matches() const;
  void emit(mlir::OpBuilder &builder);

private:
  struct Tile {
    int64_t rows, columns;
  };
  void emitTile(mlir::OpBuilder &builder, const Position &at, Tile tile) const;
  Values emitSums(mlir::OpBuilder &builder,
                  llvm::ArrayRef<mlir::StringAttr> axes, Position at, Tile tile,
                  mlir::ValueRange sums) const;
  /// One vector along the innermost reduced axis; all lanes, or only the first
  /// `count`.
  Values emitTerms(mlir::OpBuilder &builder, const Position &at, Tile tile,
                   mlir::ValueRange sums, mlir::OpFoldResult count) const;
  /// One vector with the sum over lanes of each of `sums`, whose number is a
  /// power of two and no more than the lanes.
  mlir::Value addLanes(mlir::OpBuilder &builder, mlir::ValueRange sums) const;
};

} // namespace larc

#endif // LARC_LIB_CONVERSION_COMMON_PRODUCTLOOPS_H
