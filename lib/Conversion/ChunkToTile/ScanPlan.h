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
  /// Thread blocks that divide the values of a head; 0: as few as may be.
  int64_t parts = 0;
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

/// Calls `visit` for `value` and what it is computed from, until it returns
/// false.
void walkValues(mlir::Value value, llvm::function_ref<bool(mlir::Value)> visit);

/// Whether a loop over tokens is a scan by an associative operation.
bool isScan(chunk::TokensOp op);

/// Removes `value` from `factors`; whether it was there.
bool take(llvm::SmallVectorImpl<mlir::Value> &factors, mlir::Value value);

/// How the scores of tokens against tokens are computed.
struct ScoresForm {
  mutable chunk::ScoresOp op;
  /// The axis that is summed over.
  mlir::StringAttr getAxis() const {
    return mlir::cast<mlir::StringAttr>(op.getAxes()[0]);
  }
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
  /// Decays of the reading token that were factors of the reader.
  llvm::SmallVector<mlir::Value> removed;
};

/// How scores are mixed.
struct MixForm {
  mlir::Value decay; ///< of all, together; null without any
  /// The sum of the mix, times the decays of the reading token, and of the
  /// token's own score times its value, which the mix of all tokens up to the
  /// reading one gives at once; null if there is none.
  mlir::Value whole;
  /// What that begins with, without the decays; null for zeros.
  mlir::Value init;
  /// What all of it is multiplied by, numbers of the reading token that the
  /// scores and the read that it begins with would have as factors.
  llvm::SmallVector<mlir::Value> factors;
};

/// A read of a state: `factors` times the contraction of the reader.
struct ReadForm {
  mutable ContractOp op;
  unsigned state = 0;
  Recipe reader;
  llvm::SmallVector<mlir::Value> factors;
};

/// A state without rows that a `chunk.tokens` carries from token to token by an
/// update that is linear over a semiring: (state + shift) (+) input.
struct CarriedForm {
  unsigned state = 0; ///< among all states of the scan
  /// Values of the region, for one token. Without a shift it is 0.
  mlir::Value argument, next, shift, input;
  /// What (+) is: a `larc.max`, `larc.min` or `larc.logaddexp`.
  mlir::Operation *combiner = nullptr;
  mlir::StringAttr axis; ///< null for a number
  /// In shared memory tokens lie along rows. The first row is the state before
  /// the chunk, so that before the tokens it is from the first row on, and
  /// after them from the second one.
  static constexpr int64_t kRowBefore = 0, kRowAfter = 1;
};

/// A state whose matrix is in registers, transposed if need be: rows are
/// divided among warps, columns are what reads contract.
struct StateForm {
  mlir::Value argument;
  unsigned number = 0; ///< among all states of the scan
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
  static constexpr int64_t kMatrixChannels = 64; ///< at least, of a matrix
  static constexpr int64_t kMostChannels = 256;
  /// Of a state's columns, in one warp: as accumulators and as left operands
  /// they have 96 registers of a lane.
  static constexpr int64_t kMostCols = 128;
  /// Warps of the first role in a summary.
  static constexpr int64_t kSummaryFactorWarps = 8;
  /// Warps that share a chunk, where they can: the others wait for no more than
  /// a part of it.
  static constexpr int64_t kChunkWarps = 2;

  static mlir::FailureOr<ScanPlan>
  create(chunk::ScanOp scan, RecurrenceOp definition, ScanTileOptions options);
  /// The plan of the program that finds out what segments do to states. Without
  /// readers and scores it takes few registers, and channels have nothing to do
  /// with each other.
  ScanPlan getSummary() const;

  // Accessors of operations are not const.
  mutable chunk::ScanOp scan;
  mutable RecurrenceOp definition;
  ScanTileOptions options;
  mlir::StringAttr token;
  int64_t chunk = 0;
  /// Warps that copy operands: a group, where groups have registers of their
  /// own, else one, since all have as many.
  int64_t copyWarps = 4;
  /// Of the first role, and how many of them do a chunk together, each some
  /// channels of it.
  int64_t factorWarps = 4, chunkWarps = 1;
  /// Channels that one of those takes at a time.
  int64_t passChannels = kRows;
  /// Those that are matrices.
  llvm::SmallVector<StateForm> states;
  /// The axis whose channels are divided among blocks; null if there is none.
  mlir::StringAttr dividedAxis;
  /// The blocks of a head, and the channels of each.
  int64_t valueParts = 1, dividedChannels = 0;
  /// The others, which are scanned before all else, in the order of the scan.
  llvm::SmallVector<CarriedForm> carried;
  /// In the order of the scan.
  std::map<mlir::Operation *, ScoresForm> scores;
  std::map<mlir::Operation *, ReadForm> reads;
  std::map<mlir::Operation *, MixForm> mixes;
  /// The mixes that give a value whole.
  llvm::DenseMap<mlir::Value, chunk::MixOp> wholes;

  bool isTokenAxis(mlir::StringAttr axis) const;
  /// Whether `value` has one of the axes that count tokens.
  bool hasTokens(mlir::Value value) const;
  /// The axis that counts no tokens; null if there is none.
  mlir::StringAttr getChannels(mlir::Value value) const;
  int64_t getSize(mlir::StringAttr axis) const;
  /// The channels of an axis in shared memory and in all warps' tiles: 64, 128
  /// or 256. Of the divided axis those of the block's part.
  int64_t getPadded(mlir::StringAttr axis) const;
  /// Those of all blocks together.
  int64_t getAllPadded(mlir::StringAttr axis) const {
    return getPadded(axis) * (axis == dividedAxis ? valueParts : 1);
  }
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
  /// Whether `value` is summed over tokens, those that do not exist included.
  /// Readers are not, nor what scores are made of, which are masked.
  bool isSummed(mlir::Value value) const;
  /// What `value` of a scanning region is before, or after, a token; null if it
  /// is neither.
  const CarriedForm *getCarriedBefore(mlir::Value value) const;
  const CarriedForm *getCarriedAfter(mlir::Value value) const;
  /// The state whose decreases over tokens `exponent` is, 0 where it is -inf
  /// afterwards: their sum is the decrease over all. Null if it is not that.
  const CarriedForm *getDecreasing(mlir::Value exponent) const;
  /// Whether `value` depends on a state that is scanned.
  bool isScanned(mlir::Value value) const;
  /// Whether a decay is the exponential of what the first role adds up over
  /// tokens.
  bool isExponential(mlir::Value decay) const;
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
  void takeFactors(chunk::MixOp op, MixForm &form);
  void planWholeMix(chunk::MixOp op, MixForm &form);
  mlir::LogicalResult collectStates();
  mlir::LogicalResult planTokens(chunk::TokensOp op);
  mlir::LogicalResult checkScanned(chunk::TokensOp op, mlir::Value value) const;
  /// Whether the product of `own` is what the scores would be of a token with
  /// itself, where all decays are the empty product.
  bool isOwnScore(const ScoresForm &form,
                  llvm::ArrayRef<mlir::Value> own) const;
  mlir::Value multiply(llvm::ArrayRef<mlir::Value> factors,
                       mlir::Operation *before);
  /// Takes the products of a decay over tokens out of `factors`.
  Recipe makeRecipe(llvm::SmallVector<mlir::Value> factors,
                    mlir::Operation *before);

  bool canShareChunks() const;
  std::optional<std::string> whyUndivided(mlir::StringAttr axis) const;
  int64_t getMostRows() const;
  mlir::LogicalResult divideValues();
  mlir::LogicalResult checkSizes();

  void findRoles();
  bool spreadRoles();

  llvm::DenseMap<mlir::Value, int64_t> roles;
  int64_t stateRoles = 1;
};

} // namespace larc

#endif // LARC_LIB_CONVERSION_CHUNKTOTILE_SCANPLAN_H
