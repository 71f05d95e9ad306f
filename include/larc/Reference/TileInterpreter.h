//===- TileInterpreter.h - Tile programs on a CPU ---------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs one block of a tile program lane by lane, so that what is to run on a
// GPU is tested where there is none. It is meant to be strict, not fast: what
// happens to work on a GPU most of the time is an error here.
//
// Each warp runs until it must wait for others; then the next one runs. Results
// therefore never depend on time. Which accesses of shared memory are ordered
// by barriers is followed with vector clocks, so that a missing barrier is
// found in whatever order the warps happen to run.
//
// Numbers:
//  - Every operation of a map computes in at least the precision of its type
//    and rounds once, to nearest and ties to even.
//  - `tile.mma` and `tile.wgmma` add exact products to a float32 accumulator
//    one by one, in the order of what is summed over. Float32 operands lose all
//    but 10 bits of their fraction first.
//  - `tile.reduce` combines in each lane, register by register (ascending),
//    what belongs to the same result; then lanes that differ in one bit of
//    their number, for each lane bit that moves along the dimension, the lowest
//    first.
//  - `tile.scan` works within a cell on blocks of 1, 2, 4, ... rows: the last
//    result of the lower half of each aligned block is combined with every
//    result of its upper half. Then, cell by cell, the last result of the cells
//    before is combined with every result of the cell. `backward` is the mirror
//    image; `exclusive` moves the results on by one row.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_REFERENCE_TILEINTERPRETER_H
#define LARC_REFERENCE_TILEINTERPRETER_H

#include "larc/Dialect/Tile/IR/Tile.h"

#include <cstdint>

namespace larc {

/// What a block sees of a tensor in memory. The columns are consecutive; two
/// rows are `rowStride` elements apart. Not owned.
struct GlobalView {
  void *data = nullptr;
  mlir::Type elementType;
  int64_t rows = 0, cols = 0, rowStride = 0;
};

/// One block of a program's grid.
struct TileBlock {
  /// One for each argument of the program; where the program's type has `?`
  /// rows, they are `length`, or of scratch any number.
  llvm::ArrayRef<GlobalView> arguments;
  /// The number of tokens.
  int64_t length = 0;
  /// Which part of its head's work the block does.
  int64_t part = 0;
  /// Tokens that the sequence had before.
  int64_t position = 0;
  /// Which of how many segments of its sequence the block does.
  int64_t segment = 0, segments = 1;
};

/// What a block has done.
struct TileStatistics {
  /// Operations that warps have run, those of maps not counted.
  int64_t operations = 0;
  /// Bytes that loads, stores and copies have moved to and from global memory.
  int64_t globalBytesRead = 0, globalBytesWritten = 0;
  /// The size of the block's shared memory.
  int64_t sharedBytes = 0;
  /// Times that warps have met, at barriers and votes.
  int64_t meetings = 0;
  /// Multiplications of matrix products, of all warps.
  int64_t multiplications = 0;
};

/// Runs one block. Arguments may be the same memory, so that a program is
/// tested with states in place. Fails with a diagnostic at the operation that
///  - reaches outside of global or shared memory;
///  - reads shared memory that was never written;
///  - reads or writes memory that another warp wrote or read, with no barrier
///  in
///    between (in global memory several warps may write equal elements);
///  - reads what `tile.copy_async` has not brought yet: every warp must have
///    waited for its share, and then met the reader at a barrier;
///  - reads or overwrites what `tile.copy_bulk` brings without having waited,
///    itself or through others, for the phase in which it lands, or lets that
///    phase end without the copy's bytes;
///  - has a matrix product read, or `tile.copy_bulk` overwrite, what
///    `tile.store` wrote, with no `tile.fence_async` of the writer in between;
///  - writes shared memory that a product in flight reads, touches registers
///    that it writes, or gives it registers that were written since the last
///    `tile.wgmma_fence`;
///  - waits for a product that was not committed, or asks for its accumulators
///    too early;
///  - waits at a barrier that the other warps do not reach;
///  - is to be done by several warps together but is not (copies, products);
///  - is not known to the interpreter.
/// What was written to global memory before stays written.
llvm::LogicalResult interpretTileProgram(tile::ProgramOp program,
                                         const TileBlock &block,
                                         TileStatistics *statistics = nullptr);

} // namespace larc

#endif // LARC_REFERENCE_TILEINTERPRETER_H
