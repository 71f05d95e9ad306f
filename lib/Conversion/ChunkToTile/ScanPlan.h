//===- ScanPlan.h - How a scan is divided among warps -*- C++ -*- ---------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_CONVERSION_CHUNKTOTILE_SCANPLAN_H
#define LARC_LIB_CONVERSION_CHUNKTOTILE_SCANPLAN_H

#include "larc/Dialect/Chunk/IR/Chunk.h"
#include "larc/Dialect/Tile/IR/Tile.h"

#include "llvm/ADT/DenseSet.h"

#include <map>

namespace larc {

struct ScanTileOptions {
  /// Of tensors in memory.
  llvm::SmallVector<mlir::FloatType> operandTypes, constantTypes, outputTypes;
  /// Whether products with states are `tile.wgmma`, else `tile.mma`.
  bool wgmma = true;
  /// Chunks of operands in shared memory; 0: as many as fit.
  int64_t stages = 0;
  int64_t sharedBytes = 0;
  bool segments = false;
  int64_t factorRegisters = 0; ///< 0: by rule
  /// Whether operands are copied by `tile.copy_bulk`, where they can be.
  bool bulkCopies = false;
};

/// What a value is multiplied by: products of a decay's factors over tokens of
/// the chunk.
enum class Scale {
  None,
  /// Over the tokens up to this one.
  Inclusive,
  /// Over the tokens before this one.
  Exclusive,
  /// One divided by `Inclusive`. Exists where the bound on the decays holds.
  Inverse,
  /// Over the tokens after this one.
  Suffix,
  /// Over all tokens.
  Total,
};

/// A value of the scan, times products of a decay. Without a value it stands
/// for 1.
struct Recipe {
  mlir::Value value;
  Scale scale = Scale::None;
  mlir::Value decay;

  bool operator==(const Recipe &other) const {
    return value == other.value && scale == other.scale && decay == other.decay;
  }
};

/// The scale that a factor is, with its decay; the factor itself if it is none.
Recipe asScale(mlir::Value factor);

/// `value` as a product: what `larc.mul` multiplies.
llvm::SmallVector<mlir::Value> getFactors(mlir::Value value);

/// How the scores of tokens against tokens are computed.
struct ScoresForm {
  mutable chunk::ScoresOp op;
  Recipe reader, writer;
  /// Factors without a summed axis.
  llvm::SmallVector<mlir::Value> readerFactors, writerFactors;
  /// The decays that have none, multiplied; null if there are none.
  mlir::Value scalarDecay;
  /// The decay along the summed axis; null if there is none.
  mlir::Value decay;
  /// Whether the decay of the reading token counts too.
  bool scalarInclusive = false, inclusive = false;
  /// Null where a token's own score is what the formula gives anyway
  /// (`ownScore`), or nothing.
  mlir::Value diagonal;
  bool ownScore = false;
};

/// A read of a state: `factors` times the contraction of the reader.
struct ReadForm {
  mutable ContractOp op;
  unsigned state = 0;
  Recipe reader;
  llvm::SmallVector<mlir::Value> factors;
};

/// A state whose matrix is in registers, transposed if need be: rows are
/// divided among warps, columns are what reads contract.
struct StateForm {
  mlir::Value argument;
  mlir::StringAttr rows, cols;
  /// Whether memory has `cols` along its rows.
  bool transposed = false;
  /// Of the columns, each of which some of the warps have: where rows are too
  /// few for all of them.
  int64_t parts = 1;
  /// The role that has it, from 1 on.
  int64_t role = 1;
  mutable chunk::UpdateOp update;
};

/// Decides which warps compute what. Creation fails with a diagnostic for scans
/// that have no such program.
class ScanPlan {
public:
  static constexpr int64_t kStateWarps = 8; ///< at most, of a role with states
  static constexpr int64_t kRows = 16;      ///< of a warp's tile
  static constexpr int64_t kMostChannels = kStateWarps * kRows;

  static mlir::FailureOr<ScanPlan>
  create(chunk::ScanOp scan, RecurrenceOp definition, ScanTileOptions options);

  // Accessors of operations are not const.
  mutable chunk::ScanOp scan;
  mutable RecurrenceOp definition;
  ScanTileOptions options;
  mlir::StringAttr token;
  int64_t chunk = 0;
  /// Warps that copy operands: a group, where groups have registers of their
  /// own, else one, since all have as many.
  int64_t copyWarps = 4;
  /// Of the first role; each does chunks of its own.
  int64_t factorWarps = 4;
  llvm::SmallVector<StateForm> states;
  /// In the order of the scan.
  std::map<mlir::Operation *, ScoresForm> scores;
  std::map<mlir::Operation *, ReadForm> reads;
  /// What the decays of a `chunk.mix` are together; null without any.
  std::map<mlir::Operation *, mlir::Value> mixDecays;

  bool isTokenAxis(mlir::StringAttr axis) const;
  /// Whether `value` has one of the axes that count tokens.
  bool hasTokens(mlir::Value value) const;
  /// The axis that counts no tokens; null if there is none.
  mlir::StringAttr getChannels(mlir::Value value) const;
  int64_t getSize(mlir::StringAttr axis) const;
  /// The channels of an axis in shared memory and in all warps' tiles: 64 or
  /// 128.
  int64_t getPadded(mlir::StringAttr axis) const;
  /// The role that computes `value`: 0 is the first, which has no states. A
  /// state that is read by what depends on another has a role after that's.
  int64_t getRole(mlir::Value value) const { return roles.lookup(value); }
  bool isLate(mlir::Value value) const { return getRole(value) > 0; }
  /// Roles with states, and the warps of one of them, and of all.
  int64_t getStateRoles() const { return stateRoles; }
  int64_t getStateWarps(int64_t role) const;
  int64_t getAllStateWarps() const;
  /// The operand that `value` is, if it lies in shared memory as it came.
  std::optional<unsigned> getRawOperand(mlir::Value value) const;
  /// The same, if the matrix unit takes it as it lies there.
  std::optional<unsigned> getMatrixOperand(mlir::Value value) const;
  /// Whether the copy unit brings operands: all that lie in shared memory.
  bool hasBulkCopies() const;
  /// Whether decays along channels run over tokens: the first role's most work.
  bool decaysChannels() const;
  /// Whether a decay is the exponential of an operand.
  bool usesExponentials() const;
  mlir::FloatType getOperandType(unsigned number) const {
    return options.operandTypes[number];
  }

private:
  ScanPlan() = default;
  mlir::LogicalResult checkAxes();
  mlir::LogicalResult classify();
  mlir::LogicalResult classifyOperation(mlir::Operation *op);
  mlir::LogicalResult planStates();
  mlir::LogicalResult planRead(ContractOp op, unsigned state);
  mlir::LogicalResult planUpdate(chunk::UpdateOp op);
  mlir::LogicalResult planScores(chunk::ScoresOp op);
  mlir::LogicalResult planMix(chunk::MixOp op);
  bool isOwnScore(const ScoresForm &form,
                  llvm::ArrayRef<mlir::Value> removed) const;
  mlir::Value multiply(llvm::ArrayRef<mlir::Value> factors,
                       mlir::Operation *before);
  /// Takes the products of a decay over tokens out of `factors`.
  Recipe makeRecipe(llvm::SmallVector<mlir::Value> factors,
                    mlir::Operation *before);

  void findRoles();
  bool spreadRoles();

  llvm::DenseMap<mlir::Value, int64_t> roles;
  int64_t stateRoles = 1;
};

} // namespace larc

#endif // LARC_LIB_CONVERSION_CHUNKTOTILE_SCANPLAN_H
