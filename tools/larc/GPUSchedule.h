//===- GPUSchedule.h - How a form runs on a GPU -----------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the compiler decided for a GPU is in the tile programs that it makes;
// it is read there, so that it is told of as it is, and the time predicted
// follows from them.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TOOLS_LARC_GPUSCHEDULE_H
#define LARC_TOOLS_LARC_GPUSCHEDULE_H

#include "Session.h"

#include "larc/Target/CUDA/PredictForm.h"

namespace larc::driver {

/// What the compiler decides for `form` of a flat, bound recurrence; or why it
/// has none, in `reason`.
mlir::FailureOr<CudaSchedule> getGPUSchedule(RecurrenceOp recurrence,
                                             const CudaOptions &options,
                                             larc_form form,
                                             std::string &reason);

/// The time of a call, if `form` is there.
std::optional<double> predictGPUMilliseconds(RecurrenceOp recurrence,
                                             const CudaOptions &options,
                                             larc_form form,
                                             const CudaCall &call);

/// Tells of the forms of the flat `recurrence` for the GPU that the options
/// name, and of the call that `--dims` describes, or of one that is usual.
void explainGPU(const Options &options, RecurrenceOp recurrence,
                llvm::raw_ostream &os);

} // namespace larc::driver

#endif // LARC_TOOLS_LARC_GPUSCHEDULE_H
