//===- Cubin.h - Machine code for GPUs --------------------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TARGET_CUDA_CUBIN_H
#define LARC_TARGET_CUDA_CUBIN_H

#include "larc/Target/CUDA/PTX.h"
#include "larc/Target/CUDA/ResourceReport.h"

#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace larc {

/// Machine code of the kernels of one module, and what they take.
struct Cubin {
  std::unique_ptr<llvm::MemoryBuffer> image; ///< an ELF file
  ResourceReport report;
};

/// Assembles `ptx` with the assembler that `ptxas` names, or else with one that
/// is found (see `PtxasPlaces`). What was assembled before is loaded from the
/// cache on disk that the environment names; if this result cannot be kept
/// there, `context` gets a warning, once a process.
llvm::Expected<Cubin> assembleCubin(mlir::MLIRContext *context,
                                    llvm::StringRef ptx,
                                    const CudaTarget &target,
                                    llvm::StringRef ptxas = "");

/// Machine code of `module`, which is as `translateToPTX` takes it and has at
/// least one kernel. Kernels that the target cannot run well are errors, at
/// their functions: spilled registers, matrix products that the assembler
/// serialises, and more registers than there are for the thread blocks that the
/// attributes `nvvm.reqntid` (or `nvvm.maxntid`) and `nvvm.minctasm` promise.
mlir::FailureOr<Cubin> compileToCubin(mlir::ModuleOp module,
                                      const CudaTarget &target,
                                      llvm::StringRef ptxas = "");

} // namespace larc

#endif // LARC_TARGET_CUDA_CUBIN_H
