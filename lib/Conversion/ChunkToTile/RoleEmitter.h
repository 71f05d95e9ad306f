//===- RoleEmitter.h - What the roles of a scan share -*- C++ -*- ---------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_CONVERSION_CHUNKTOTILE_ROLEEMITTER_H
#define LARC_LIB_CONVERSION_CHUNKTOTILE_ROLEEMITTER_H

#include "ScanPlan.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <deque>

namespace larc {

/// How an array lies in shared memory.
enum class ArrayForm {
  /// Tokens x channels in the type of the matrix unit.
  Matrix,
  /// What that rounds away, likewise.
  Low,
  /// Channels x tokens in float32, or a vector of either.
  Float,
  /// Scores, tokens x tokens, in the type of the matrix unit.
  Scores,
  /// Whether the chunk needs its decays as products of factors: 1 or 0.
  Exact,
  /// What each warp has of a reduction over channels, in float32: its channels'
  /// groups of `ScanPlan::kRows` x tokens.
  Partials,
};

/// The tokens that a block does, and the first of its channels of the divided
/// axis.
struct TokenRange {
  mlir::Value first, end; ///< index
  mlir::Value channel;    ///< index; null where no axis is divided
};

/// What the roles wait for, a phase of each for each chunk.
struct Phases {
  mlir::Value landed; ///< operands have been copied
  /// What crosses has been written, by each role but the last.
  llvm::SmallVector<mlir::Value> ready;
  mlir::Value done; ///< the chunk's stage may be overwritten
};

/// An array in shared memory that one role writes for those after it.
struct Crossing {
  Recipe recipe;
  ArrayForm form;
  mlir::Value memory;
  int64_t producer; ///< the role
  int64_t reader;   ///< the role that reads it, or 0 if there are several
};

/// Elements of float32 between rows of shared memory, so that lanes meet
/// different banks.
constexpr int64_t kPad = 8;

/// The shared memory of a program.
class SharedArrays {
public:
  SharedArrays(const ScanPlan &plan, mlir::OpBuilder entry);

  /// The ring of an operand's chunks.
  mlir::Value getRing(unsigned operand) const { return rings[operand]; }
  /// Notes that a warp reads an operand as it came.
  void markRead(unsigned operand) { read.insert(operand); }
  bool isRead(unsigned operand) const { return read.contains(operand); }
  /// The ring of what crosses from role to role.
  mlir::Value cross(const Recipe &recipe, ArrayForm form);
  /// The same; null if nobody asked for it yet.
  mlir::Value findCrossing(const Recipe &recipe, ArrayForm form) const;
  /// The ring of what a state is before and after each token.
  mlir::Value getCarried(const CarriedForm &form);
  /// Notes which role asks for what crosses from now on.
  void setReader(int64_t role) { reader = role; }
  /// What a role has to write.
  llvm::SmallVector<const Crossing *> getCrossings(int64_t producer) const;
  /// Memory of one role.
  mlir::Value allocate(const Recipe &recipe, ArrayForm form);
  /// The same, with a place for each stage.
  mlir::Value allocateRing(const Recipe &recipe, ArrayForm form);
  mlir::Value allocateRing(tile::SharedType type);
  mlir::Value allocate(int64_t rows, int64_t cols);
  mlir::Value allocate(tile::SharedType type);
  /// Barriers with phases of their own, at each of which `warps` arrive.
  mlir::Value allocatePhases(int64_t count, int64_t warps);

  /// Makes the rings of operands, and the phases. How many stages they have
  /// is decided last.
  void allocateRings();
  const Phases &getPhases() const { return phases; }
  /// Lets what crosses lie over operands that no role but the first reads, or
  /// over what crosses to its role and no other. To be called when that is
  /// known.
  void overlay();
  /// The number of stages of rings, and of chunks that the first role does at
  /// the same time.
  mlir::Value getStages() const { return stages; }
  mlir::Value getChunksAtOnce() const { return chunksAtOnce; }
  /// The parity of the phases of chunk `number`.
  mlir::Value getParity(mlir::OpBuilder &builder, mlir::Value number) const;
  /// Makes the rings as deep as the memory that is left allows, at least two
  /// stages. Fails where there is none left.
  mlir::LogicalResult chooseStages();

private:
  tile::SharedType getType(const Recipe &recipe, ArrayForm form,
                           int64_t stages) const;
  void overlayOperands();
  void overlayCrossings();
  void replace(Crossing &crossing, mlir::Value memory);
  void removeUnusedRings();
  int64_t getBytes(int64_t stages) const;

  const ScanPlan &plan;
  mlir::OpBuilder entry;
  mlir::Location loc;
  mlir::SmallVector<mlir::Value> rings;
  std::deque<Crossing> crossings;
  llvm::DenseMap<mlir::Value, mlir::Value> carried;
  int64_t reader = 0;
  llvm::DenseSet<unsigned> read;
  /// All memories with a place for each stage.
  mlir::SmallVector<mlir::Value> ringed;
  Phases phases;
  mlir::Value stages, chunksAtOnce;
  /// Of what has no stages; barriers of that kind.
  int64_t bytes = 0, barriers = 0;
};

/// A place of an array of the scan in shared memory.
struct MatrixPair {
  mlir::Value high, low; ///< low is null where high is exact
};

/// Whether two tokens are in different halves of a block of 2^(level + 1)
/// tokens, given the bits in which their numbers differ.
mlir::Value differInHalf(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value bits, int64_t level);

/// Emits what the warps of one role do. Tokens lie along one dimension of
/// register tiles; along the other a warp has `ScanPlan::kRows` channels, or
/// `passChannels` where it works by itself. Where an axis has fewer channels
/// than that makes, warps compute the same; where it has more, warps pass over
/// it several times. A role whose warps work each by itself is written as one
/// of a single warp.
class RoleEmitter {
public:
  RoleEmitter(const ScanPlan &plan, SharedArrays &shared,
              mlir::ValueRange arguments, tile::Dimension tokenDimension,
              int64_t barrierId, int64_t warps);
  virtual ~RoleEmitter() = default;

protected:
  using Body =
      llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)>;

  // Numbers.
  mlir::Value index(int64_t number);
  mlir::Value number(mlir::OpBuilder &inner, double value) const;
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value multiply(mlir::Value lhs, int64_t rhs);

  // Types.
  tile::RegType getTileType(bool channels, bool tokens) const;
  tile::Dimension getTokenDimension() const;
  tile::Dimension getChannelDimension() const;
  tile::RegType getTileType(int64_t rows, int64_t cols, mlir::Type element,
                            tile::LayoutAttr layout) const;
  mlir::FloatType getF32() const;
  mlir::FloatType getMatrixType() const;
  tile::LayoutAttr acc() const;

  // Tiles.
  /// The tile of elements computed from those of `operands`, which have
  /// extents of 1 or those of a common tile.
  mlir::Value map(mlir::ValueRange operands, Body body);
  mlir::Value mapTo(mlir::Type element, mlir::ValueRange operands, Body body);
  mlir::Value product(mlir::Value lhs, mlir::Value rhs);
  mlir::Value sum(mlir::Value lhs, mlir::Value rhs);
  mlir::Value splat(double value, tile::RegType type);
  mlir::Value convert(mlir::Value tile, tile::RegType type);
  mlir::Value convert(mlir::Value tile, mlir::Type element);
  /// `tile`, repeated along channels and tokens where it has none.
  mlir::Value expand(mlir::Value tile, bool channels, bool tokens);
  /// Numbers of rows (or columns) from `first` on, as i32.
  mlir::Value numbers(tile::Dimension dimension, tile::RegType of,
                      mlir::Value first);
  mlir::Value load(mlir::Value memory, mlir::Value row, mlir::Value col,
                   tile::RegType type, bool transposed = false,
                   mlir::Value below = {});
  void store(mlir::Value tile, mlir::Value memory, mlir::Value row,
             mlir::Value col, bool transposed = false, mlir::Value below = {});

  // Warps.
  void barrier();
  void fence();
  /// How many warps have different channels of an axis, and how many passes it
  /// takes them to do all. A warp by itself leaves out channels that do not
  /// exist, 16 at a time; not in a cascade, whose stages write over what it
  /// left.
  int64_t getWarps(mlir::StringAttr axis) const;
  int64_t getPasses(mlir::StringAttr axis) const;
  /// Emits `body` for each pass over an axis, in a loop where there are several
  /// that carries `carried` through what `body` returns. What is known of
  /// channels is that of one pass. So many passes as `group` says, or all,
  /// stand one after the other in the loop; `endGroup` is called after them.
  /// With `share` the warp does only its share of the groups, of that number
  /// among those that do a chunk together.
  llvm::SmallVector<mlir::Value> forPasses(
      mlir::StringAttr axis, mlir::ValueRange carried,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)> body,
      int64_t group = 1, llvm::function_ref<void()> endGroup = {},
      mlir::Value share = {});
  void forgetChannels();
  /// The first channel of `axis` that the warp has in this pass.
  mlir::Value getFirstChannel(mlir::StringAttr axis);
  /// Its place in global memory.
  mlir::Value getFirstGlobal(mlir::StringAttr axis);
  /// Emits `body` for the first `warps` warps.
  void onlyWarps(int64_t warps, llvm::function_ref<void()> body);
  /// Emits `body` for where `number` is 0; for everywhere if it is null.
  void onlyFirst(mlir::Value number, llvm::function_ref<void()> body);
  void onlyIf(mlir::Value condition, llvm::function_ref<void()> body);

  // Values.
  /// The tile of `value`; one without an axis has an extent of 1 there.
  mlir::Value evaluate(mlir::Value value);
  virtual mlir::Value evaluateLeaf(mlir::Value value) = 0;
  mlir::Value evaluateElementwise(ElementwiseOpInterface op);
  /// The tile of what a scan over tokens gives for each, or of a value of its
  /// region but for those that are computed there; null for others.
  mlir::Value evaluateScanned(mlir::Value value);
  mlir::Value loadCarried(const CarriedForm &form, int64_t row);
  /// How a reduction combines, and what does not change its result.
  static std::pair<tile::CombineKind, double> getCombination(ReduceKind kind);
  mlir::Value combine(mlir::OpBuilder &inner, tile::CombineKind kind,
                      mlir::Value lhs, mlir::Value rhs) const;
  /// What is reduced, of the channels of one pass.
  mlir::Value reduceOwn(ReductionOpInterface op, mlir::StringAttr axis);
  virtual mlir::Value evaluateReduction(ReductionOpInterface op);
  /// Writes what the warp has of a reduction; combines what all have.
  void storePartials(ReductionOpInterface op, mlir::Value memory);
  mlir::Value combinePartials(ReductionOpInterface op, mlir::Value memory);
  /// The tile of a chunk of an operand that lies in shared memory.
  mlir::Value loadOperand(unsigned operand);
  mlir::Value loadConstant(mlir::BlockArgument argument);
  virtual mlir::Value evaluateScale(Scale scale, mlir::Value decay) = 0;
  /// Which channels a recipe has; null if none.
  mlir::StringAttr getChannels(const Recipe &recipe) const;
  mlir::Value evaluate(const Recipe &recipe) { return evaluateRecipe(recipe); }
  virtual mlir::Value evaluateRecipe(const Recipe &recipe);
  /// Those of `tile` that the axis has, else `otherwise`.
  mlir::Value selectChannels(mlir::Value tile, mlir::StringAttr axis,
                             double otherwise);
  /// Zeros in place of channels that an axis does not have, if `value`, the
  /// tile's, is not 0 there anyway: operands are, but not all functions of
  /// them.
  mlir::Value fillPadding(mlir::Value tile, mlir::Value value);
  /// As `evaluate`; tokens and channels that do not exist have zeros.
  mlir::Value evaluateForMatrix(const Recipe &recipe);
  /// Those of `tile` where tokens exist, else `otherwise`.
  mlir::Value fillBeyond(mlir::Value tile, double otherwise);
  /// Tokens that do not exist count as 1 in products over tokens.
  mlir::Value evaluateFactors(mlir::Value decay);

  // Matrices in shared memory.
  mlir::Value getStage(mlir::Value ring, mlir::Value number);
  mlir::Value getRaw(unsigned operand);
  void storeMatrix(mlir::Value tile, mlir::StringAttr axis, MatrixPair memory);
  /// Writes an array in float32 as `ArrayForm::Float` says.
  void storeFloat(mlir::Value tile, mlir::StringAttr axis, mlir::Value memory);
  mlir::Value loadFloat(mlir::Value memory, mlir::StringAttr axis,
                        bool hasTokens);
  /// `accumulator` plus the product of 16 rows of a left operand in registers
  /// and a right operand in shared memory from column `col` on, by `tile.mma`.
  mlir::Value multiplyAdd(mlir::Value accumulator, mlir::Value lhs,
                          mlir::Value rhs, mlir::Value col, bool transposed);

  // Scores.
  struct PairTile {
    int64_t cols = 8;             ///< of a warp's tile; it has 16 rows
    int64_t warps = 1;            ///< that have different ones
    mlir::Value row, col;         ///< where the warp's tile is
    mlir::Value rows, colNumbers; ///< numbers of its tokens
  };
  const PairTile &getPairTile();
  mlir::Value multiplyPairs(MatrixPair reader, MatrixPair writer,
                            mlir::StringAttr axis);
  /// The scores of the warp's pairs: `raw` masked, with factors and diagonal.
  mlir::Value finishScores(const ScoresForm &form, mlir::Value raw,
                           const PairTile &pair);
  /// Forgets tiles that can be computed again, which is better than to keep
  /// them in registers where time does not count.
  void forget();
  /// Whether the role cannot compute `value` again.
  virtual bool isKept(mlir::Value value) const { return plan.isLate(value); }
  /// Writes what `finishScores` reads of a value for each token.
  void storeTokens(mlir::Value value);
  virtual void storeScalarDecay(const ScoresForm &form);
  /// Memory for `rows` numbers of each token.
  virtual mlir::Value allocateTokens(int64_t rows);
  void storeScores(mlir::Value tile, mlir::Value memory);
  /// Products of the factors of a block's half up to each token: from the
  /// boundary between two blocks of `half` tokens, and to it.
  mlir::Value scanHalf(mlir::Value factors, int64_t half, bool toBoundary,
                       bool inclusive);

  const ScanPlan &plan;
  SharedArrays &shared;
  mlir::ValueRange arguments; ///< of the program
  const bool tokensInRows;
  int64_t barrierId, warps;
  const int64_t warpChannels; ///< of a warp in a pass
  TokenRange tokens;
  mlir::Value pass; ///< null outside loops over passes
  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::Value warp;
  /// Of the chunk: the tokens from its first on, the numbers of its stages.
  mlir::Value remaining, stage;
  /// Tiles of the chunk, and before it those of all chunks; those that nothing
  /// can compute again.
  llvm::DenseMap<mlir::Value, mlir::Value> tiles, kept;
  std::optional<PairTile> pairs;
  /// Memories of values for each token, and of reductions.
  llvm::DenseMap<mlir::Value, mlir::Value> tokenMemories;
  llvm::DenseMap<mlir::Operation *, mlir::Value> partials;
};

} // namespace larc

#endif // LARC_LIB_CONVERSION_CHUNKTOTILE_ROLEEMITTER_H
