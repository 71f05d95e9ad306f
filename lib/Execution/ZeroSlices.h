//===- ZeroSlices.h - Slices of length zero ---------------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_EXECUTION_ZEROSLICES_H
#define LARC_LIB_EXECUTION_ZEROSLICES_H

#include "larc/Support/Tensor.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>

namespace larc {

/// The index (0 along the axes summed) of the first slice whose l2 norm over
/// the axes with `isSummed` vanishes when it is computed in `type`, among those
/// that `isUsed` wants.
std::optional<llvm::SmallVector<int64_t>>
findZeroSlice(const Tensor &tensor, llvm::ArrayRef<bool> isSummed, DType type,
              llvm::function_ref<bool(llvm::ArrayRef<int64_t>)> isUsed);

} // namespace larc

#endif // LARC_LIB_EXECUTION_ZEROSLICES_H
