//===- Segments.h - Sequences run in pieces -*- C++ -*- -------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A sequence is cut into P segments, so that P threads find work even in one
// head of one sequence:
//
//   1. the first segment is run as it is, and the segments between the first
//      and the last are summarised (larc/Analysis/Summaries.h), at once;
//   2. summaries are composed, which gives the states at the start of every
//      segment; steps 1 and 2 again for every level of states;
//   3. all segments but the first are run, at once.
//
// The last segment needs no summary, and the first one no start: so two threads
// need three segments, and each token but those of the middle one is run once.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_TARGET_CPU_SEGMENTS_H
#define LARC_LIB_TARGET_CPU_SEGMENTS_H

#include "TaskRunner.h"
#include "larc/Analysis/Summaries.h"
#include "larc/Target/CPU/CompiledRecurrence.h"

namespace larc {

/// How sequences are cut.
struct SegmentPlan {
  int64_t segments = 1;
  /// Cuts are at multiples of it: chunks stay whole.
  int64_t alignment = 1;
  /// Length of the first segment to that of the others.
  double firstShare = 1.0;
};

/// The kernels that runs in segments take beside the recurrence's own.
class SegmentKernels {
public:
  /// Errors are emitted where the recurrence cannot be cut.
  static mlir::FailureOr<std::unique_ptr<SegmentKernels>>
  compile(RecurrenceOp recurrence, const CPUOptions &options,
          const CompileHooks &hooks);

  /// Runs `call` of `whole`, the recurrence's kernel, in segments. `rowTokens`
  /// is the number of tokens from a sequence to the next in the memory of token
  /// tensors; 0 if sequences are packed.
  llvm::Error run(const Kernel &whole, const larc_call &call, int64_t rowTokens,
                  const SegmentPlan &plan, TaskRunner &runner,
                  unsigned threads);

private:
  struct Level {
    std::unique_ptr<CompiledRecurrence> summaryCode, compositionCode;
    llvm::SmallVector<unsigned> kept, states, identities;
    /// Elements of each state of the summary, kept ones first.
    llvm::SmallVector<int64_t> sizes;
    /// Of the level's identities: rows.
    llvm::SmallVector<int64_t> identityRows;
  };
  class Run;

  std::vector<Level> levels;
  unsigned numOperands = 0, numConstants = 0, numOutputs = 0;
  /// Elements of each state of the recurrence.
  llvm::SmallVector<int64_t> sizes;
  int64_t elementBytes = 4;
};

} // namespace larc

#endif // LARC_LIB_TARGET_CPU_SEGMENTS_H
