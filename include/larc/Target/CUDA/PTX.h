//===- PTX.h - From the LLVM dialect to PTX ---------------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TARGET_CUDA_PTX_H
#define LARC_TARGET_CUDA_PTX_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <string>

namespace larc {

/// The kind of GPU that code is for.
struct CudaTarget {
  /// As LLVM and ptxas name it: `sm_90a`.
  std::string chip;

  /// The target of GPUs of a compute capability, 90 for 9.0. Hopper's has the
  /// instructions of that architecture alone (`sm_90a`); others get the plain
  /// one. A fault of the command line where that is older than 8.0, or none
  /// that LLVM knows.
  static llvm::Expected<CudaTarget> get(unsigned computeCapability);
};

/// PTX of `module`, which is in the dialects `llvm` and `nvvm`; its kernels are
/// the functions with the attribute `nvvm.kernel`. Optimised at -O3, with
/// products and sums contracted to fused multiply-adds, and no other
/// mathematics than what the operations say.
///
/// Errors are emitted at the operation: what does not translate, functions that
/// nothing defines, and mathematics that the target has no instruction for.
mlir::FailureOr<std::string> translateToPTX(mlir::ModuleOp module,
                                            const CudaTarget &target);

} // namespace larc

#endif // LARC_TARGET_CUDA_PTX_H
