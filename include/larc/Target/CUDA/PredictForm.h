//===- PredictForm.h - The time that kernels take ---------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TARGET_CUDA_PREDICTFORM_H
#define LARC_TARGET_CUDA_PREDICTFORM_H

#include "larc/Analysis/TileCost.h"
#include "larc/Target/CUDA/CompileRecurrence.h"

namespace larc {

/// A call of a form: `tokens` are those of each sequence.
struct CudaCall {
  int64_t sequences = 1, tokens = 0, heads = 1;
  /// Of each sequence; 0: as many as a library takes by itself.
  int64_t segments = 0;
};

struct CudaPrediction {
  struct Kernel {
    std::string name;
    TilePrediction prediction;
  };
  llvm::SmallVector<Kernel, 0> kernels; ///< those that run
  int64_t segments = 1;
  double seconds = 0;

  /// The kernel that takes longest.
  const Kernel &getLongest() const;
};

/// The time of a call of `form`, whose kernels `programs` has in the dialect
/// `tile`; they have one at least.
CudaPrediction predictForm(const CudaForm &form, mlir::ModuleOp programs,
                           const GPUModel &model, const CudaCall &call);

} // namespace larc

#endif // LARC_TARGET_CUDA_PREDICTFORM_H
