//===- FactorRole.h - What depends on no state -*- C++ -*- ----------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_CONVERSION_CHUNKTOTILE_FACTORROLE_H
#define LARC_LIB_CONVERSION_CHUNKTOTILE_FACTORROLE_H

#include "TokenScan.h"

#include <functional>

namespace larc {

/// The numbers of a program's arguments.
struct ArgumentNumbers {
  unsigned outputs = 0, initials = 0, finals = 0, scratch = 0;
};

/// Barriers of the warps of a role, and of one warp. Those of roles with states
/// follow.
constexpr int64_t kFactorBarrier = 1, kWarpBarrier = 2, kStateBarrier = 2;

/// Fills the body of the role that copies operands, as far ahead as there are
/// stages.
void emitCopies(const ScanPlan &plan, SharedArrays &shared,
                mlir::ValueRange arguments, tile::RoleOp role,
                TokenRange tokens);

/// The first role: writes what the second asked for. Each warp does chunks of
/// its own, all by itself. Tokens lie along the rows of register tiles; of
/// channels a warp has 16 at a time.
class FactorRole : public RoleEmitter {
public:
  FactorRole(const ScanPlan &plan, SharedArrays &shared,
             mlir::ValueRange arguments, ArgumentNumbers numbers)
      : RoleEmitter(plan, shared, arguments, tile::Dimension::Rows,
                    kWarpBarrier, /*warps=*/1),
        argumentNumbers(numbers) {}

  /// Fills the body of `role`.
  void emit(tile::RoleOp role, TokenRange tokens);

protected:
  mlir::Value evaluateLeaf(mlir::Value value) override;
  mlir::Value evaluateScale(Scale scale, mlir::Value decay) override;
  mlir::Value evaluateRecipe(const Recipe &recipe) override;
  mlir::Value evaluateReduction(ReductionOpInterface op) override;
  mlir::Value allocateTokens(int64_t rows) override;
  void storeScalarDecay(const ScoresForm &form) override;

private:
  /// Of a decay in one pass, where its bound holds.
  struct DecayTiles {
    /// Of the scan: what it is the exponential of; null where it is none.
    mlir::Value exponent;
    /// Running sums of exponents or products of factors, once made.
    mlir::Value running;
  };
  /// Products of factors over blocks of 2^n tokens, from the block's first
  /// token on, and to its last one.
  struct BlockProducts {
    mlir::Value before; ///< those of the tokens before, null if not asked for
    mlir::Value upTo;   ///< the same with the token's own, likewise
    mlir::Value after;  ///< those of the tokens after
    mlir::Value total;
  };
  /// A value times products of a decay, which the exact path carries from
  /// blocks to larger ones.
  struct Carried {
    Recipe recipe;
    mlir::Value tile;
  };
  /// A matrix that is written in each chunk.
  struct Matrix {
    Recipe recipe;
    mlir::Value high, low; ///< rings; low may be null
  };

  void planMatrices();
  void clearPadding();
  void bindScalars(mlir::ValueRange scalars);
  mlir::SmallVector<mlir::Value> loadScalars(mlir::Value first);
  void emitChunk();

  // States that are scanned.
  void beginScans();
  void endScans();
  void scanChunk(mlir::Value number);

  // Passes over channels.
  llvm::SmallVector<mlir::StringAttr> getAxes() const;
  /// Calls `visit` for all that is computed along an axis, or along none.
  void forEachRecipe(mlir::StringAttr axis,
                     llvm::function_ref<void(const Recipe &)> visit) const;
  llvm::SmallVector<mlir::Value> getDecays(mlir::StringAttr axis) const;
  void prepare(mlir::Value value);
  llvm::SmallVector<ReductionOpInterface> getOpenReductions();
  void emitAxis(mlir::StringAttr axis,
                llvm::ArrayRef<ReductionOpInterface> reductions);
  mlir::SmallVector<mlir::Value> choosePass(mlir::StringAttr axis,
                                            mlir::ValueRange scores);
  mlir::SmallVector<mlir::Value> emitPass(mlir::StringAttr axis,
                                          mlir::ValueRange scores);
  void emitExactly(mlir::Value decay, mlir::StringAttr axis,
                   llvm::MutableArrayRef<mlir::Value> scores);
  void writeAlong(mlir::StringAttr axis);
  void flush();

  // Sums over channels: a lane has what it adds of 8 columns until the end.
  mlir::Value addPartial(ReductionOpInterface op, mlir::Value partial);
  mlir::Value getNeutral(ReductionOpInterface op);
  mlir::Value combineLanes(ReductionOpInterface op, mlir::Value partial);

  // Decays.
  DecayTiles &getDecay(mlir::Value decay);
  mlir::Value getRunning(mlir::Value decay);
  mlir::Value getDecrease(const CarriedForm &form, bool isGuarded);
  mlir::Value makeGuard(mlir::Value decay);
  mlir::Value evaluateExact(Scale scale, mlir::Value decay);
  mlir::Value evaluateCumulate(chunk::CumulateOp op);
  void makeTriangle();
  BlockProducts beginProducts(mlir::Value factors, bool before, bool upTo);
  void mergeBlocks(BlockProducts &products, int64_t half);
  mlir::Value extend(mlir::Value own, mlir::Value other, int64_t half,
                     bool late);
  mlir::Value getCarried(const Recipe &recipe) const;
  void carry(const Recipe &recipe);
  const BlockProducts &getTokenProducts(mlir::Value decay);
  /// e to the power of a tile, or one divided by that.
  mlir::Value makeExp(mlir::Value tile, bool inverse = false);

  // Scores: a tile of 16 x 16 pairs for each pair of blocks, reader's block not
  // before writer's.
  llvm::SmallVector<std::pair<int64_t, int64_t>> getBlockPairs() const;
  tile::RegType getPairType() const;
  PairTile getPair(std::pair<int64_t, int64_t> blocks);
  mlir::Value makeUpForCut(mlir::Value tile);
  mlir::Value getBlock(mlir::Value tile, int64_t block);
  void addScores(const ScoresForm &form,
                 llvm::MutableArrayRef<mlir::Value> scores);
  /// `sum` plus `part` where `holds` of the bits in which the tokens' numbers
  /// differ.
  mlir::Value addWhere(
      mlir::Value sum, mlir::Value part, const PairTile &pair,
      llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Value)> holds);
  void writeScores(const ScoresForm &form, mlir::ValueRange raw);

  ArgumentNumbers argumentNumbers;
  mlir::Value self;    ///< the warp's number
  mlir::Value inChunk; ///< among those that share a chunk; null if none do
  std::deque<TokenScan> scans;
  std::vector<Matrix> matrices;
  std::vector<const ScoresForm *> early;
  /// The scores' tiles after the passes over channels.
  std::map<const ScoresForm *, llvm::SmallVector<mlir::Value>> scoreTiles;
  std::map<const void *, DecayTiles> decays;
  std::map<const void *, BlockProducts> tokenProducts;
  std::vector<Carried> carriedValues;
  std::map<const void *, mlir::Value> exactTotals;
  /// What is to be written, with the pass that it is of.
  std::vector<std::pair<mlir::Value, std::function<void()>>> pending;
  /// In shared memory; null where no sums are made so.
  mlir::Value triangle;
  mlir::Value unsafe; ///< whether a bound did not hold; i1
  bool exact = false;
};

} // namespace larc

#endif // LARC_LIB_CONVERSION_CHUNKTOTILE_FACTORROLE_H
