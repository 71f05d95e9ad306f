//===- GPUSchedule.h - How a form runs on a GPU -----------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the compiler decided for a GPU is in the tile programs that it makes;
// it is read there, so that it is told of as it is. The time predicted follows
// from that and from few numbers of the GPU.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TOOLS_LARC_GPUSCHEDULE_H
#define LARC_TOOLS_LARC_GPUSCHEDULE_H

#include "Session.h"

namespace larc::driver {

/// A GPU as far as predictions go.
struct GPUModel {
  unsigned computeCapability;
  llvm::StringLiteral name;
  int64_t multiprocessors;
  double bytesPerSecond; ///< that copies of memory reach
  double flopsPerSecond; ///< of float32, without matrix units

  /// The one of that compute capability, or the newest before it.
  static const GPUModel &get(unsigned computeCapability);
};

/// Some warps of a block that do the same.
struct GPURole {
  int64_t warps = 0;
  std::optional<int64_t> registers; ///< of a lane; none: as many as there are
};

/// A kernel of a form.
struct GPUProgram {
  int64_t warps = 0, parts = 1, resident = 1;
  int64_t sharedBytes = 0;
  /// Of warps that do not all do the same.
  llvm::SmallVector<GPURole> roles;
};

struct GPUSchedule {
  int64_t chunkSize = 0; ///< 0: there are no chunks
  llvm::SmallVector<GPUProgram> programs;
};

/// A call of known size, and its work.
struct GPUCall {
  int64_t sequences = 0, tokens = 0, heads = 0;
  double bytes = 0, flops = 0;
};

struct GPUPrediction {
  double milliseconds = 0;
  llvm::StringRef bound; ///< what it is bound by
};

/// What the compiler decides for `form` of a flat, bound recurrence. Errors
/// were printed as diagnostics.
llvm::Expected<GPUSchedule> getGPUSchedule(RecurrenceOp recurrence,
                                           const CudaOptions &options,
                                           larc_form form);

/// The time that a call of the token loop takes.
GPUPrediction predictTokenLoop(const GPUModel &model, const GPUProgram &program,
                               const GPUCall &call);

/// Tells of the forms of the flat `recurrence` for the GPU that the options
/// name, and of the call that `--dims` describes, if it does.
void explainGPU(const Options &options, RecurrenceOp recurrence,
                llvm::raw_ostream &os);

} // namespace larc::driver

#endif // LARC_TOOLS_LARC_GPUSCHEDULE_H
