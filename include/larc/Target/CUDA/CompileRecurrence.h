//===- CompileRecurrence.h - Kernels of a recurrence ------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TARGET_CUDA_COMPILERECURRENCE_H
#define LARC_TARGET_CUDA_COMPILERECURRENCE_H

#include "larc/Dialect/Larc/IR/Larc.h"
#include "larc/Runtime/Library.h"
#include "larc/Support/DType.h"
#include "larc/Target/CUDA/Cubin.h"

#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace larc {

/// A kernel that runs as a part of a form. Its parameters are those that
/// `convert-tile-to-llvm` describes; with `segmented` then the segments of a
/// sequence (i32) and the workspace (a pointer). Its grid has sequences * heads
/// * parts blocks in a row, with `segmented` that many for each segment.
struct CudaFormLaunch {
  std::string kernel; ///< in the form's cubin
  unsigned warps = 0;
  int64_t sharedBytes = 0; ///< dynamic shared memory of a block
  int64_t parts = 1;
  bool segmented = false;
  /// Left out where sequences are whole.
  bool onlyIfCut = false;
};

/// A tensor that kernels copy with the help of tensor maps: boxes of so many
/// tokens, and 128 bytes of a head's channels.
struct CudaTensorMap {
  unsigned tensor = 0; ///< among the tensors of a call
  int64_t rows = 0;
  DType type = DType::BF16;
};

/// The kernels of one form, in the order in which they run.
struct CudaForm {
  larc_form form = LARC_FORM_RECURRENT;
  int64_t chunkSize = 0; ///< 0: no chunks
  /// Chosen for sequences of at least that many tokens (on average, where they
  /// are packed), if no later form is.
  int64_t leastTokens = 0;
  std::string cubin; ///< an ELF file
  std::vector<CudaFormLaunch> launches;
  /// All kernels take these as their last parameters, two maps of each tensor:
  /// of boxes, and of single tokens.
  std::vector<CudaTensorMap> maps;

  /// Sequences are cut into segments of at least that many tokens where thread
  /// blocks of the last kernel, of which each multiprocessor has `blocksPerSM`,
  /// are else too few; 0: never. Then the workspace has `segmentBytes` for each
  /// segment of each head of each sequence.
  int64_t leastSegmentTokens = 0;
  int64_t blocksPerSM = 1;
  int64_t segmentBytes = 0;
};

/// Code of one recurrence for one kind of GPU.
struct CudaCode {
  unsigned computeCapability = 0; ///< 90 for 9.0
  std::vector<CudaForm> forms;
  /// Where nobody asked for chunks and there are none: why, and the operation's
  /// place.
  std::optional<std::pair<mlir::Location, std::string>> whyNoChunks;
};

/// How the operands of chunks come to shared memory: by warps, or by Hopper's
/// copy unit where it can, which one warp tells what to do. `Auto` is by the
/// unit where no stages of a cascade wait for each other, with kernels whose
/// warps copy beside it for calls whose tensors it cannot bring.
enum class CudaCopies { Auto, Async, Bulk };

/// What a recurrence is compiled for; B, T, H and lengths are dynamic.
struct CudaOptions {
  /// Of each token operand, constant and output, by declaration.
  llvm::SmallVector<DType> operandTypes, constantTypes, outputTypes;
  /// Of states and anchors in memory: F32, BF16 or F16.
  DType stateType = DType::F32;
  unsigned computeCapability = 90;
  /// The most tokens of a chunk, at least `leastChunkSize`; 0: as many as a
  /// kernel can have.
  int64_t chunkSize = 0;
  static constexpr int64_t leastChunkSize = 16;
  CudaCopies copies = CudaCopies::Auto;
  /// Every lane arrives at a phase, not one for its warp: slower, but tools
  /// that look for races understand it.
  bool laneArrivals = false;
  std::string ptxas;        ///< the assembler; empty: one that is found
  std::string printIRAfter; ///< a pass argument, or `all`; printed to stderr
  bool timing = false;      ///< the passes' times to stderr

  /// Every data operand and output of `dtype`, gates of `gateDType`.
  static CudaOptions uniform(RecurrenceOp recurrence, DType dtype,
                             DType gateDType);
};

/// What `larc compile --emit=` writes of one form's kernels: the tile program,
/// the kernel in the dialects llvm and nvvm, or PTX.
enum class CudaEmit { Tile, LLVM, PTX, Cubin };
mlir::LogicalResult emitCuda(RecurrenceOp recurrence,
                             const CudaOptions &options, larc_form form,
                             CudaEmit what, llvm::raw_ostream &os);

/// What is decided for a form: all of it but its cubin, and what its thread
/// blocks do.
struct CudaSchedule {
  CudaForm form;
  mlir::OwningOpRef<mlir::ModuleOp> programs; ///< in the tile dialect
};
mlir::FailureOr<CudaSchedule> scheduleForCuda(RecurrenceOp recurrence,
                                              const CudaOptions &options,
                                              larc_form form);

/// The forms that this version compiles for GPUs. Chunks are not there for
/// every recurrence, nor for all types.
llvm::ArrayRef<larc_form> getCudaForms();

/// Compiles a flat, bound recurrence in the forms of `forms`; if that is empty,
/// token by token, and in chunks where those are there. Errors are emitted at
/// its operations.
mlir::FailureOr<CudaCode> compileForCuda(RecurrenceOp recurrence,
                                         const CudaOptions &options,
                                         llvm::ArrayRef<larc_form> forms = {});

} // namespace larc

#endif // LARC_TARGET_CUDA_COMPILERECURRENCE_H
