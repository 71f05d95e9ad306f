//===- CostModel.h - Times of forms on this CPU -*- C++ -*- ---------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Predicts the time of a call from the work of the programs that would run it
// and the limits of the machine, and chooses what a user leaves open by it.
// docs/cost-model.md describes the model and how well it does.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TARGET_CPU_COSTMODEL_H
#define LARC_TARGET_CPU_COSTMODEL_H

#include "larc/Target/CPU/CompiledRecurrence.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>

namespace larc {

/// What of a call its time depends on.
struct CallShape {
  int64_t heads = 1;
  llvm::SmallVector<int64_t> lengths; ///< tokens of each sequence
  unsigned threads = 1;

  /// `threads` = 0: all of the machine.
  static CallShape of(const Problem &problem, unsigned threads);
};

/// A way to carry out a call.
struct FormChoice {
  CPUForm form = CPUForm::Recurrent;
  int64_t chunkSize = 0; ///< 0: no chunks
  int64_t segments = 1;
  /// Length of the first segment to that of the others.
  double firstShare = 1.0;
  double milliseconds = 0.0;
  /// Of the call's programs; what summaries of segments repeat is left out.
  double flops = 0.0;
};

class CostModel {
public:
  /// Counts the work of a flat, bound recurrence in both forms; `options` gives
  /// types and the CPU. Some milliseconds. Emits errors as compiling would.
  static mlir::FailureOr<CostModel> create(RecurrenceOp recurrence,
                                           const CPUOptions &options);
  ~CostModel();
  CostModel(CostModel &&);
  CostModel &operator=(CostModel &&);

  /// The fastest way to carry out a call among those that `options` leaves
  /// open: its form if not `anyForm`, its chunk size and segments if not 0.
  FormChoice choose(const CallShape &shape, const CPUOptions &options,
                    bool anyForm) const;

  /// The chunk sizes that are considered.
  static llvm::ArrayRef<int64_t> getChunkSizes();

private:
  CostModel();
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// The limits of one thread, measured in a few milliseconds, once a machine
/// where code is kept on disk, else once a process.
MachineLimits getThreadLimits(DType type);

} // namespace larc

#endif // LARC_TARGET_CPU_COSTMODEL_H
