//===- StateRole.h - What depends on states -*- C++ -*- -------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_CONVERSION_CHUNKTOTILE_STATEROLE_H
#define LARC_LIB_CONVERSION_CHUNKTOTILE_STATEROLE_H

#include "FactorRole.h"

namespace larc {

/// The segment of its sequence that a block does.
struct SegmentRange {
  mlir::Value number, count, last; ///< index; last is count - 1
  /// Whether the block finds out what the segment does to a state of zeros,
  /// instead of doing it.
  bool isSummary = false;
};

/// The rows of what a segment leaves in memory for those after it: of one
/// state, of all.
int64_t getRecordRows(const ScanPlan &plan, const StateForm &state);
int64_t getRecordRows(const ScanPlan &plan);
/// The columns of those rows.
int64_t getRecordCols(const ScanPlan &plan);

/// Warps of the program that composes records.
constexpr int64_t kComposingWarps = 8;

/// What that program does; `memory` has the records.
void emitComposition(const ScanPlan &plan, mlir::OpBuilder builder,
                     mlir::Value memory);

/// The second role: holds the states, computes what depends on them, and
/// writes outputs.
class StateRole : public RoleEmitter {
public:
  StateRole(const ScanPlan &plan, SharedArrays &shared,
            mlir::ValueRange arguments, ArgumentNumbers numbers,
            const SegmentRange *segment, int64_t roleNumber)
      : RoleEmitter(plan, shared, arguments, tile::Dimension::Cols,
                    kStateBarrier + roleNumber, plan.getStateWarps(roleNumber)),
        argumentNumbers(numbers), segment(segment), roleNumber(roleNumber) {}

  void emit(tile::RoleOp role, TokenRange tokens);

protected:
  mlir::Value evaluateLeaf(mlir::Value value) override;
  mlir::Value evaluateScale(Scale scale, mlir::Value decay) override;
  bool isKept(mlir::Value value) const override { return isOwn(value); }

private:
  /// A product that may be running.
  struct Running {
    mlir::Value accumulators; ///< in flight, or done
    int64_t group = 0;
  };

  /// What a state is multiplied by: a value for each row, and each column; null
  /// where there is none.
  struct StateDecay {
    mlir::Value rows, cols;
  };

  void emitChunk(mlir::Value first, llvm::SmallVectorImpl<mlir::Value> &next);
  /// The columns that a warp has of a state.
  int64_t getCols(const StateForm &state) const {
    return plan.getPadded(state.cols) / state.parts;
  }
  mlir::Value getPart(const StateForm &state);
  mlir::Value getFirstCol(const StateForm &state);
  tile::RegType getStateType(const StateForm &state, mlir::Type element) const;
  /// Of a warp's vector of values along a state's columns.
  tile::RegType getColsType(const StateForm &state) const;
  /// Emits `body` for the warps whose part of the state no other has.
  void onlyOwners(const StateForm &state, llvm::function_ref<void()> body);
  /// The sum of what the warps with other columns have.
  mlir::Value addParts(const ReadForm &read, mlir::Value tile);
  /// Whether the second role computes `value` from operands itself.
  bool isRecomputed(mlir::Value value) const;
  mlir::Value loadState(const StateForm &state);
  void storeState(const StateForm &state, mlir::Value tile);
  void storeOutput(unsigned number, mlir::Value value, mlir::Value first);

  // Products.
  /// With a right operand from column `col` on, if given.
  Running multiplyLarge(mlir::Value accumulators, mlir::Value lhs,
                        mlir::Value rhs, bool transposed, mlir::Value col = {});
  /// Whether a product of so many columns, or that goes on with these
  /// accumulators, is in flight for a while.
  bool isAsynchronous(int64_t cols) const;
  bool isAsynchronous(mlir::Value accumulators) const;
  void beginGroup(mlir::Value accumulators);
  void endGroup(Running &running);
  mlir::Value finish(Running running);
  mlir::Value getMatrix(const Recipe &recipe);
  mlir::Value getLeft(const Recipe &recipe);
  mlir::Value getScores(mlir::Value scores);
  bool prepareScores(const ScoresForm &form);
  void makeLateScores(const ScoresForm &form, mlir::Value memory);
  MatrixPair getPair(const Recipe &recipe, bool hasLow);
  /// Where the role wrote the chunk's array; null if it has not yet.
  mlir::Value findWritten(const Recipe &recipe) const;
  /// Whether a role before this one writes it.
  bool isEarly(const Recipe &recipe) const;
  /// Whether this role computes `value`, from states or what depends on them.
  bool isOwn(mlir::Value value) const {
    return plan.getRole(value) == roleNumber;
  }
  void writeCrossings();

  /// The read whose accumulators a mix goes on with; null if there is none.
  const ReadForm *getContinued(chunk::MixOp op) const;
  bool canStart(chunk::MixOp op) const;
  void startRead(const ReadForm &read);
  void startMix(chunk::MixOp op);
  mlir::Value finishMix(chunk::MixOp op);
  mlir::Value evaluateWholeMix(chunk::MixOp op);
  mlir::Value choose(mlir::Value condition, mlir::Type type,
                     llvm::function_ref<mlir::Value()> body,
                     llvm::function_ref<mlir::Value()> otherwise);
  mlir::Value choose(mlir::Value condition,
                     llvm::function_ref<mlir::Value()> body,
                     mlir::Value otherwise);
  mlir::Value exactPairs(const ScoresForm &form, MatrixPair temporary);
  mlir::Value maskScores(mlir::Value scores, mlir::Value reader, int64_t level);
  mlir::Value exactMix(chunk::MixOp op, mlir::Value scores, mlir::Value init);
  bool canUpdate(unsigned state) const;
  mlir::Value getStateLeft(unsigned state);
  Running update(unsigned state, const StateDecay &decay);
  StateDecay loadDecay(const StateForm &state);
  /// Of the columns from `firstCol` on, as many as `colsType` has.
  StateDecay loadDecay(const StateForm &state, mlir::Value firstCol,
                       tile::RegType colsType);
  void beginChunk();
  void emitSummaryChunk(mlir::ValueRange carried,
                        llvm::SmallVectorImpl<mlir::Value> &next);
  bool isSummary() const { return segment && segment->isSummary; }

  // Segments.
  mlir::Value loadFirst(const StateForm &state, unsigned number);
  mlir::Value getRecord(mlir::Value segmentNumber, unsigned state, int64_t row);
  int64_t getSharedCols(const StateForm &state) const;
  mlir::Value getNumberInPart(const StateForm &state);
  mlir::Value getFirstSharedCol(const StateForm &state);
  tile::RegType getSharedColsType(const StateForm &state) const;
  StateDecay makeOnes(const StateForm &state);
  void storeRecord(unsigned number, mlir::Value tile, const StateDecay &decay);
  /// Whether the chunk's decays are to be products of factors.
  mlir::Value isExact();
  /// A value for each of some columns, or, without a type for them, each row.
  mlir::Value loadVector(mlir::Value value, mlir::Value firstCol,
                         tile::RegType colsType);

  ArgumentNumbers argumentNumbers;
  const SegmentRange *segment; ///< null where there are none
  int64_t roleNumber;
  /// The numbers of the role's states.
  llvm::SmallVector<unsigned> own;
  /// The chunk's states, and as left operands where they are read.
  llvm::SmallVector<mlir::Value> states, stateLefts;
  llvm::DenseMap<mlir::Operation *, Running> running;
  /// Reads that a mix went on with.
  llvm::DenseSet<mlir::Operation *> continued;
  llvm::DenseMap<mlir::Value, mlir::Value> scoreMemories;
  /// Rings of what the role writes for itself alone.
  std::vector<std::pair<std::pair<Recipe, ArrayForm>, mlir::Value>> ownMatrices;
  std::vector<std::pair<Recipe, mlir::Value>> lefts, written;
  std::vector<mlir::Value> outputMemories;
  llvm::DenseMap<mlir::Operation *, mlir::Value> partMemories;
  llvm::DenseSet<mlir::Value> scoresMade;
  mlir::Value exactFlag;
  /// Groups of products that were begun, and that nothing waits for any more.
  int64_t groups = 0, finished = 0;
};

} // namespace larc

#endif // LARC_LIB_CONVERSION_CHUNKTOTILE_STATEROLE_H
