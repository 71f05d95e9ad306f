//===- FactorRole.h - What depends on no state -*- C++ -*- ----------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_CONVERSION_CHUNKTOTILE_FACTORROLE_H
#define LARC_LIB_CONVERSION_CHUNKTOTILE_FACTORROLE_H

#include "RoleEmitter.h"

namespace larc {

/// The tokens that a block does.
struct TokenRange {
  mlir::Value first, end; ///< index
};

/// Barriers at which the roles meet, two of each by turns.
constexpr int64_t kFullBarrier = 1, kFreeBarrier = 3;
constexpr int64_t kFactorBarrier = 5, kStateBarrier = 6;

/// The first role: brings operands, and writes what the second asked for.
class FactorRole : public RoleEmitter {
public:
  FactorRole(const ScanPlan &plan, SharedArrays &shared,
             mlir::ValueRange arguments)
      : RoleEmitter(plan, shared, arguments, kFactorBarrier, plan.factorWarps) {
  }

  /// Fills the body of `role`.
  void emit(tile::RoleOp role, TokenRange tokens);
  /// Sets how many groups of copies may be under way.
  void setStages(int64_t stages);

protected:
  mlir::Value evaluateLeaf(mlir::Value value) override;
  mlir::Value evaluateScale(Scale scale, mlir::Value decay) override;

private:
  /// The tiles of a decay along an axis.
  struct DecayTiles {
    /// The logarithms of its factors and their running sums, where it is an
    /// exponential.
    mlir::Value logs, sums;
    mlir::Value factors;
    /// Of all tokens: of the logarithms, or the product.
    mlir::Value total;
  };
  /// A matrix that is written in each chunk.
  struct Matrix {
    Recipe recipe;
    mlir::Value high, low; ///< rings of two, or one memory
    bool highCrosses = false, lowCrosses = false;
  };

  void emitChunk(mlir::Value first, mlir::ValueRange scalars);
  void copyChunk(mlir::Value first, mlir::Value stageNumber);
  mlir::SmallVector<mlir::Value> loadScalars(mlir::Value first);
  void planMatrices();
  void addMatrix(const Recipe &recipe, bool low);
  MatrixPair getMatrix(const Recipe &recipe);
  mlir::Value joinGuards();
  void writeAlong(mlir::StringAttr axis);
  void writeArrays();
  mlir::Value makeScores(const ScoresForm &form, bool exactly);
  mlir::SmallVector<mlir::Value> makeAllScores();
  const DecayTiles &getDecay(mlir::Value decay);
  void addGuard(
      mlir::Value value,
      llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Value)> isSafe);
  mlir::Value getRunningSums(mlir::Value logs, mlir::Value exponent);
  tile::RegType getTriangleType() const;
  void makeTriangle();
  mlir::Value evaluateExact(Scale scale, mlir::Value factors);
  mlir::Value evaluateCumulate(chunk::CumulateOp op);

  TokenRange tokens;
  std::vector<Matrix> matrices;
  std::vector<const ScoresForm *> early;
  std::map<const void *, DecayTiles> decays;
  llvm::SmallVector<mlir::Value> guards;
  /// In shared memory; null where no sums are made so.
  mlir::Value triangle;
  llvm::SmallVector<tile::CopyWaitOp> waits;
  bool exact = false;
};

} // namespace larc

#endif // LARC_LIB_CONVERSION_CHUNKTOTILE_FACTORROLE_H
