//===- ZeroSlices.cpp - Slices of length zero -------------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ZeroSlices.h"

using namespace larc;

/// Sets `index` to the next one in row-major order along the axes where
/// `isSummed` is `along`; false, and zeros there, after the last one.
static bool advance(llvm::MutableArrayRef<int64_t> index,
                    llvm::ArrayRef<int64_t> shape,
                    llvm::ArrayRef<bool> isSummed, bool along) {
  for (int64_t i = int64_t(shape.size()) - 1; i >= 0; --i) {
    if (isSummed[i] != along)
      continue;
    if (++index[i] < shape[i])
      return true;
    index[i] = 0;
  }
  return false;
}

std::optional<llvm::SmallVector<int64_t>>
larc::findZeroSlice(const Tensor &tensor, llvm::ArrayRef<bool> isSummed,
                    DType type,
                    llvm::function_ref<bool(llvm::ArrayRef<int64_t>)> isUsed) {
  llvm::ArrayRef<int64_t> shape = tensor.getShape();
  if (tensor.getNumElements() == 0)
    return std::nullopt;
  llvm::SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t i = int64_t(shape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];

  /// Squares only add up: the first sum that is not zero decides.
  auto vanishes = [&](llvm::ArrayRef<int64_t> slice) {
    llvm::SmallVector<int64_t> index(slice);
    double sum = 0;
    do {
      int64_t element = 0;
      for (size_t i = 0; i < shape.size(); ++i)
        element += index[i] * strides[i];
      double value = tensor.getAs<double>(element);
      sum += value * value;
      if (type == DType::F64 ? sum != 0 : float(sum) != 0)
        return false;
    } while (advance(index, shape, isSummed, /*along=*/true));
    return true;
  };
  llvm::SmallVector<int64_t> slice(shape.size(), 0);
  do {
    if (vanishes(slice) && isUsed(slice))
      return slice;
  } while (advance(slice, shape, isSummed, /*along=*/false));
  return std::nullopt;
}
