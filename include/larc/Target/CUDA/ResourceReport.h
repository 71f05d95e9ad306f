//===- ResourceReport.h - What the assembler says of kernels ----*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TARGET_CUDA_RESOURCEREPORT_H
#define LARC_TARGET_CUDA_RESOURCEREPORT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <string>
#include <vector>

namespace larc {

/// What one kernel takes, of each thread unless said otherwise.
struct KernelResources {
  std::string kernel;
  uint64_t registers = 0;
  uint64_t spillStoreBytes = 0, spillLoadBytes = 0;
  /// Local memory for arrays and for spilled registers.
  uint64_t stackBytes = 0;
  uint64_t barriers = 0;    ///< of a thread block
  uint64_t sharedBytes = 0; ///< of a thread block; static ones only
  /// The messages C7500 to C7599: products of matrices (wgmma) that are waited
  /// for where they should not be, and ignored shares of registers.
  std::vector<std::string> serialisations;
};

/// What `ptxas -v` reports of the kernels of one file.
struct ResourceReport {
  std::vector<KernelResources> kernels;

  /// Reads the messages of `ptxas -v`, of which all others are left out.
  static ResourceReport parse(llvm::StringRef messages);

  /// The kernel of that name, or null.
  const KernelResources *find(llvm::StringRef kernel) const;

  /// A line for each kernel.
  void print(llvm::raw_ostream &os) const;
};

/// How a kernel is launched, as far as that limits its registers.
struct LaunchBounds {
  std::string kernel;
  unsigned threads = 0;     ///< of a thread block; 0: not known
  unsigned blocksPerSM = 1; ///< at the same time on one multiprocessor
};

/// What makes a kernel unfit for use.
struct ResourceFault {
  std::string kernel;
  std::string message; ///< lower case, no full stop; names the kernel
};

/// Everything that is wrong with the kernels of `bounds`: spilled registers,
/// serialised matrix products, more registers than a multiprocessor has for the
/// thread blocks meant, and kernels that the report does not have.
std::vector<ResourceFault>
findResourceFaults(const ResourceReport &report,
                   llvm::ArrayRef<LaunchBounds> bounds);

} // namespace larc

#endif // LARC_TARGET_CUDA_RESOURCEREPORT_H
