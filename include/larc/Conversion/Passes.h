//===- Passes.h - Conversions from the larc dialect -*- C++ -*- -----------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_CONVERSION_PASSES_H
#define LARC_CONVERSION_PASSES_H

#include "larc/Dialect/Chunk/IR/Chunk.h"
#include "larc/Dialect/Larc/IR/Larc.h"
#include "larc/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace larc {

#define GEN_PASS_DECL
#include "larc/Conversion/Passes.h.inc"

/// What the recurrent form, or the chunk form, is compiled for.
struct RecurrentOptions {
  std::string computeType = "f32";
  llvm::SmallVector<std::string> operandTypes, constantTypes, outputTypes;
  unsigned vectorBits = 512;
  unsigned cacheBytes = 36864;
  /// Columns of a task's block at most, where states allow blocks; 0: as many
  /// as `cacheBytes` allow in the recurrent form, all in the chunk form.
  unsigned blockColumns = 0;
};

/// From a flat, bound recurrence to the nests of a token.
void buildRecurrentNests(mlir::OpPassManager &pm);
/// From a flat, bound recurrence to the token loop and its entry point, in the
/// dialects that `buildLoopsToLLVM` takes.
void buildRecurrentPipeline(mlir::OpPassManager &pm,
                            const RecurrentOptions &options);
/// What the tile program of a recurrence is compiled for.
struct TileProgramOptions {
  std::string stateType = "f32";
  llvm::SmallVector<std::string> operandTypes, constantTypes, outputTypes;
  /// Blocks at most over which a head's independent columns are divided; 0: as
  /// many as the size of the states asks for.
  int64_t parts = 0;
  /// Registers of a lane that a token loop shall leave free, if it can.
  int64_t spareRegisters = 0;
};

/// How the tile programs of chunks are scheduled.
struct ChunkTileOptions {
  int64_t size = 32; ///< tokens of a chunk: 16 or 32
  /// Whether products are Hopper's `tile.wgmma`, else `tile.mma`.
  bool wgmma = true;
  /// That a block may have of shared memory.
  int64_t sharedBytes = 232448;
  /// Whether sequences may be divided into segments: then a program
  /// `NAME_segments` and one `NAME_compose` come before the other, and all are
  /// segmented.
  bool segments = false;
  /// Of a lane of the warps that prepare; 0: as many as they usually need.
  int64_t factorRegisters = 0;
  /// Thread blocks that divide the values of a head; 0: as few as have room.
  int64_t parts = 0;
  /// Whether Hopper's copy unit brings operands by tensor maps, where it can,
  /// else the warps that copy do.
  bool bulkCopies = false;
};

/// From a flat, bound recurrence to the tile program of its token loop.
void buildRecurrentTiles(mlir::OpPassManager &pm,
                         const TileProgramOptions &options);
/// From a flat, bound recurrence to the tile program of its chunks of
/// `chunks.size` tokens; without an element type in `options`,
/// operands and outputs are bf16.
void buildChunkTiles(mlir::OpPassManager &pm, const TileProgramOptions &options,
                     const ChunkTileOptions &chunks);
/// From a flat, bound recurrence to chunks of at most `chunkSize` tokens, in
/// the chunk dialect.
void buildChunkDerivation(mlir::OpPassManager &pm, int64_t chunkSize);
/// From a flat, bound recurrence to the nests of such chunks.
void buildChunkNests(mlir::OpPassManager &pm, int64_t chunkSize);
/// What `buildRecurrentPipeline` does, for such chunks.
void buildChunkPipeline(mlir::OpPassManager &pm,
                        const RecurrentOptions &options, int64_t chunkSize);
/// From there to the LLVM dialect.
void buildLoopsToLLVM(mlir::OpPassManager &pm);

/// Registers `larc-recurrent-to-loops`, `larc-chunk-to-loops` and
/// `larc-loops-to-llvm`.
void registerConversionPipelines();

/// From tile programs to kernels in the dialects llvm and nvvm, for GPUs of a
/// compute capability (90 is 9.0). With `laneArrivals` every lane arrives at a
/// phase by itself, not one for its warp.
void buildTilePipeline(mlir::OpPassManager &pm, unsigned computeCapability = 90,
                       bool laneArrivals = false);
void registerTilePipeline();

#define GEN_PASS_REGISTRATION
#include "larc/Conversion/Passes.h.inc"

} // namespace larc

#endif // LARC_CONVERSION_PASSES_H
