//===- StepTiles.h - A step on register tiles -*- C++ -*- -----------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_CONVERSION_RECURRENCETOTILE_STEPTILES_H
#define LARC_LIB_CONVERSION_RECURRENCETOTILE_STEPTILES_H

#include "TilePlan.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <list>

namespace larc {

/// Axes that stand at one index.
using Bindings = llvm::SmallVector<std::pair<mlir::StringAttr, mlir::Value>, 2>;

/// Where an array lies in global or shared memory.
struct MemoryView {
  /// How far the next index is along the rows and columns of the memory.
  struct Axis {
    mlir::StringAttr name;
    int64_t rowStep, colStep;
  };
  mlir::Value memory;
  /// Of index 0 of every axis.
  mlir::Value row, col;
  llvm::SmallVector<Axis> axes;
};

/// Emits a step on register tiles.
///
/// Values are computed when something asks for them, in the region that asks,
/// and kept for those that ask later there. An elementwise operation with one
/// use becomes part of its user's map. An array with an axis of its own loop is
/// asked for at one index of it; so nothing is ever computed for all of them,
/// but what must be is put into shared memory.
class StepTiles {
public:
  /// `body` is where the token loop will be: what all of it needs (shared
  /// memory, masks) is made before.
  StepTiles(const TilePlan &plan, mlir::OpBuilder &builder,
            mlir::Operation *body, mlir::Value warp);

  /// What an argument of the step is.
  void bind(mlir::Value value, mlir::Value tile) { remember(value, {}, tile); }
  void bind(mlir::Value value, MemoryView view) {
    scopes.back().views.push_back({value, std::move(view)});
  }
  /// As the view, but loaded for each use: there are no registers to keep it.
  void bindReloaded(mlir::Value value, MemoryView view);
  /// Whether `value` is cheaper to compute for each use than to keep.
  bool isRecomputed(mlir::Value value);
  /// Whether `value` is to be computed from `argument` still, once `known` is
  /// computed.
  bool needs(mlir::Value value, mlir::Value argument, mlir::Value known);
  void bindAnchors(llvm::ArrayRef<mlir::Value> anchors) {
    this->anchors.assign(anchors.begin(), anchors.end());
  }
  /// The number of tokens before this one, those of earlier calls included.
  void setTokensBefore(mlir::Value count) { tokensBefore = count; }

  /// What is remembered from here on is forgotten at the end of the region.
  void enterRegion();
  void leaveRegion();

  /// The tile of `value` where the axes in `bindings` stand at an index. It has
  /// no other axis with a loop.
  mlir::Value evaluate(mlir::Value value, const Bindings &bindings = {});
  /// What is loaded for a token before it begins: an argument of the step, or
  /// a slice of one.
  struct Ahead {
    mlir::Value value;
    Bindings bindings;
  };
  /// The vectors that an argument of the step has: itself, its slices, and what
  /// it has for each turn of a short fold. `axes` are in the order of memory.
  llvm::SmallVector<Ahead> listAhead(mlir::Value argument,
                                     llvm::ArrayRef<mlir::StringAttr> axes);
  /// Loads one of a token before `length`, as it is in memory. There may be no
  /// such token.
  mlir::Value loadAhead(const Ahead &ahead, mlir::Value length);
  /// What has been loaded.
  void bindAhead(const Ahead &ahead, mlir::Value tile);
  /// Writes `value` to memory.
  void storeValue(mlir::Value value, const MemoryView &view);

  mlir::Value load(const MemoryView &view, const Bindings &bindings);
  void store(mlir::Value tile, const MemoryView &view,
             const Bindings &bindings);
  void barrier();
  MemoryView allocateShared(llvm::ArrayRef<mlir::StringAttr> axes);
  /// Gives arrays in shared memory that the token loop `tokens` needs one after
  /// the other the same place.
  void reuseShared(mlir::scf::ForOp tokens);

  /// A number as an index, made once.
  mlir::Value index(int64_t number);
  /// Whether `tokens` ends a period, and with it a multiple of `interval`
  /// periods.
  mlir::Value endsPeriod(mlir::Value tokens, int64_t interval);

private:
  friend class FusedMap;

  /// What is known in a region, and not outside.
  struct Scope {
    struct Tile {
      mlir::Value value;
      Bindings bindings;
      mlir::Value tile;
    };
    struct View {
      mlir::Value value;
      MemoryView view;
    };
    std::vector<Tile> tiles;
    std::vector<View> views;
  };
  /// The argument of a fold's region that is a slice of `source`.
  struct Slice {
    mlir::Value source;
    mlir::StringAttr axis;
    mlir::Value index;
  };
  /// Shared memory through which warps exchange partial results.
  struct Exchange {
    mlir::Value memory;
    /// Whether a warp may still be reading what the last exchange wrote.
    bool inUse = false;
  };

  // Values.
  void remember(mlir::Value value, const Bindings &bindings, mlir::Value tile);
  mlir::Value lookup(mlir::Value value, const Bindings &bindings);
  /// The tile of what `value` is a slice of, at its index.
  mlir::Value lookupSlice(mlir::Value value, Bindings bindings);
  std::optional<MemoryView> findView(mlir::Value value);
  /// Whether `value` is in registers, whole.
  bool isHeld(mlir::Value value);
  /// Whether a tile holds `value` with these axes at an index.
  bool fitsTile(mlir::Value value, const Bindings &bindings);
  bool fitsVector(mlir::Value value, const Bindings &bindings);
  Bindings restrict(mlir::Value value, const Bindings &bindings);
  llvm::SmallVector<mlir::StringAttr> getFreeAxes(mlir::Value value,
                                                  const Bindings &bindings);
  mlir::Value compute(mlir::Value value, const Bindings &bindings);
  mlir::Value computeRename(RenameOp op, const Bindings &bindings);
  mlir::Value splat(mlir::Value number, llvm::ArrayRef<mlir::StringAttr> axes);
  mlir::Value number(mlir::OpBuilder &builder, double value);

  // Regions.
  /// Runs `body` for every index of `axis`; it returns what it carries.
  llvm::SmallVector<mlir::Value>
  loopOver(mlir::StringAttr axis, mlir::ValueRange inits,
           llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value,
                                                             mlir::ValueRange)>
               body);
  /// Computes what a loop over `looped` will ask for and does not depend on
  /// its index.
  void prepare(mlir::Value value, const Bindings &bindings,
               llvm::ArrayRef<mlir::StringAttr> looped);
  void prepareOperands(mlir::Operation *op, const Bindings &bindings,
                       llvm::ArrayRef<mlir::StringAttr> looped);
  void emitFold(FoldOp fold);
  void emitFire(FireOp fire);

  // Reductions.
  mlir::Value reduce(ReductionOpInterface op, const Bindings &bindings,
                     llvm::ArrayRef<mlir::StringAttr> axes);
  mlir::Value reduceTile(ReductionOpInterface op, const Bindings &bindings,
                         llvm::ArrayRef<mlir::StringAttr> axes);
  mlir::Value exchange(mlir::Value partial, tile::CombineKind kind);
  mlir::Value getMask(mlir::StringAttr axis);

  // Memory.
  /// Puts `value` into shared memory.
  MemoryView share(mlir::Value value, const Bindings &bindings);
  /// Where a tile lies in memory.
  struct Access {
    mlir::Value row, col, below;
    llvm::SmallVector<mlir::StringAttr> axes;
    bool transposed = false;
    /// Axes of which a tile has more than the memory has before something else
    /// begins.
    llvm::SmallVector<mlir::StringAttr> overlapping;
    /// An axis along which no single tile can be loaded.
    mlir::StringAttr scattered;
  };
  Access getAccess(const MemoryView &view, const Bindings &bindings);
  mlir::Value loadRaw(const MemoryView &view, const Access &access);
  /// Makes what was loaded values to compute with.
  mlir::Value finishLoad(mlir::Value tile, const Access &access);
  mlir::Value getWarpOffset(mlir::StringAttr axis);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value scale(mlir::Value index, int64_t factor);

  const TilePlan &plan;
  mlir::OpBuilder &builder;
  /// Before the token loop.
  mlir::OpBuilder entry;
  mlir::Location loc;
  mlir::Value warp, tokensBefore;
  llvm::SmallVector<mlir::Value> anchors;
  std::list<Scope> scopes;
  llvm::DenseMap<mlir::Value, Slice> slices;
  llvm::DenseSet<mlir::Value> reloaded;
  llvm::DenseMap<int64_t, mlir::Value> indices;
  llvm::DenseMap<mlir::StringAttr, mlir::Value> masks, warpOffsets;
  Exchange exchanges[2];
  /// Shared memory but that for exchanges.
  llvm::SmallVector<tile::AllocOp> allocations;
};

/// A tree of elementwise operations that becomes one map.
class FusedMap {
public:
  /// Computes the operation of an element on the elements of its parts.
  struct Element {
    mutable ElementwiseOpInterface op;
    std::optional<double> constant;
    unsigned leaf = 0;
    std::vector<Element> parts;
  };

  /// The result is a tile with these axes.
  FusedMap(StepTiles &step, const Bindings &bindings,
           llvm::ArrayRef<mlir::StringAttr> axes)
      : step(step), bindings(bindings), axes(axes) {}

  /// Computes the sums that `value` is made of, so that what is in memory is
  /// loaded last where registers are short.
  void computeSums(mlir::Value value);
  Element collect(mlir::Value value);
  /// An element of the operation's result, of which nothing is known yet.
  Element collectOperation(ElementwiseOpInterface op);
  Element addLeaf(mlir::Value tile);

  mlir::Value
  emit(llvm::function_ref<mlir::Value(
           mlir::OpBuilder &, llvm::function_ref<mlir::Value(const Element &)>)>
           body);

private:
  bool belongs(mlir::Value value);
  /// Whether an element depends on a tile of rows and columns.
  bool usesMatrix(const Element &element);
  mlir::Value build(mlir::OpBuilder &builder, const Element &element,
                    mlir::ValueRange arguments);

  StepTiles &step;
  const Bindings &bindings;
  llvm::ArrayRef<mlir::StringAttr> axes;
  llvm::SmallVector<mlir::Value> leaves;
};

} // namespace larc

#endif // LARC_LIB_CONVERSION_RECURRENCETOTILE_STEPTILES_H
