//===- TileCost.h - What tile programs cost ---------------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile program's instructions are counted, and their time is found out by
// following one warp of each role through them: it issues them in order, waits
// where an operand is not there yet, and shares its scheduler with others. The
// warps of a role are taken to do the same at the same time, those of other
// roles anything at any time.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_ANALYSIS_TILECOST_H
#define LARC_ANALYSIS_TILECOST_H

#include "larc/Analysis/GPUModel.h"
#include "larc/Dialect/Tile/IR/Tile.h"

#include <string>

namespace larc {

/// What warps ask of a multiprocessor's units.
struct TileWork {
  double instructions = 0; ///< of warps, in all
  double alu = 0;          ///< of them for the slower half of the arithmetic
  double special = 0;      ///< of them for the special functions
  double matrix = 0;       ///< cycles of a scheduler's matrix unit
  double sharedBytes = 0;

  TileWork operator*(double times) const;
  TileWork &operator+=(const TileWork &other);
};

/// What is not in the program.
struct TileMeasure {
  /// Of an iteration of the loop over tokens, of which a warp may do several at
  /// a time or leave some to others; 1 where there are no chunks.
  int64_t tokensPerChunk = 1;
  /// Of each sequence. Loops whose number of iterations does not follow from
  /// them or from the tokens have one.
  int64_t segments = 1;
  /// Branches count that are taken where the data do not allow the fast ones:
  /// of two, the one that takes longer. Else it is the first.
  bool exactPath = false;
  /// Blocks that share a multiprocessor.
  int64_t resident = 1;
};

struct TileRoleCost {
  int64_t warps = 0;
  TileWork work;            ///< of all its warps, for a chunk
  double cycles = 0;        ///< that a chunk takes for it
  double outsideCycles = 0; ///< before and after its loop over tokens
};

/// A block's cost of a chunk: of its roles, and in cycles of each unit of a
/// multiprocessor that has all of it.
struct TileProgramCost {
  llvm::SmallVector<TileRoleCost> roles;
  double issue = 0, alu = 0, special = 0, matrix = 0, shared = 0;
  /// Cycles in which a stage of shared memory becomes free again, by the number
  /// of them: from the copy of a chunk to the last role's end.
  double ring = 0;
  double bytes = 0;        ///< from and to global memory, for a chunk
  double outsideBytes = 0; ///< besides
  double outsideCycles = 0;
};

/// Counts what is there, as it is.
TileProgramCost measureTiles(tile::ProgramOp program, const GPUModel &model,
                             const TileMeasure &measure);

/// Whether the cost of an operation of the dialect `tile` is known. Each of
/// them should be; what is not is taken for something simple.
bool isTileCostKnown(mlir::OperationName name);

/// A call: each of `sequences` has so many tokens and heads.
struct TileCall {
  int64_t sequences = 1, tokens = 0, heads = 1;
  int64_t segments = 1; ///< of each sequence
  int64_t tokensPerChunk = 1;
};

enum class TileBound {
  Role,    ///< one role's instructions, which wait for each other
  Issue,   ///< instructions of all warps
  Alu,     ///< the slower half of the arithmetic
  Special, ///< special functions
  Matrix,
  Shared, ///< shared memory
  Ring,   ///< few chunks in shared memory at a time
  Memory, ///< global memory
  Blocks, ///< few blocks that read memory
  Start,  ///< what is done once a block
  Launch
};

struct TilePrediction {
  TileProgramCost cost;
  double cycles = 0;                   ///< of a chunk, on a multiprocessor
  double exactCycles = 0;              ///< where all chunks take the exact path
  double memoryCycles = 0;             ///< of them that its bytes take
  TileBound bound = TileBound::Launch; ///< of the whole
  size_t role = 0;                     ///< with `Role`
  /// The unit that takes at least half of that role's cycles, or `Role`.
  TileBound within = TileBound::Role;
  int64_t blocks = 0;
  double bytes = 0;   ///< of all blocks
  double seconds = 0; ///< with the launch

  /// What it is bound by, in words.
  std::string describeBound() const;
};

/// The time that a call takes on a GPU that does nothing else. What the
/// compiler finds to be computed twice, or again and again in a loop, counts
/// once.
TilePrediction predictTiles(tile::ProgramOp program, const GPUModel &model,
                            const TileCall &call);

} // namespace larc

#endif // LARC_ANALYSIS_TILECOST_H
