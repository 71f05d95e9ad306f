//===- ZeroSlices.cpp - Slices of length zero -------------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ZeroSlices.h"

#include <vector>

using namespace larc;

/// Sets `index` to the next one in row-major order.
static void advance(llvm::MutableArrayRef<int64_t> index,
                    llvm::ArrayRef<int64_t> shape) {
  for (int64_t i = int64_t(shape.size()) - 1; i >= 0; --i) {
    if (++index[i] < shape[i])
      return;
    index[i] = 0;
  }
}

std::optional<llvm::SmallVector<int64_t>>
larc::findZeroSlice(const Tensor &tensor, llvm::ArrayRef<bool> isSummed,
                    DType type,
                    llvm::function_ref<bool(llvm::ArrayRef<int64_t>)> isUsed) {
  llvm::ArrayRef<int64_t> shape = tensor.getShape();
  // Strides of a tensor of the slices.
  llvm::SmallVector<int64_t> strides(shape.size(), 0);
  int64_t numSlices = 1;
  for (int64_t i = int64_t(shape.size()) - 1; i >= 0; --i) {
    if (isSummed[i])
      continue;
    strides[i] = numSlices;
    numSlices *= shape[i];
  }
  std::vector<double> sums(numSlices, 0.0);
  llvm::SmallVector<int64_t> index(shape.size(), 0);
  for (int64_t element = 0; element < tensor.getNumElements(); ++element) {
    int64_t slice = 0;
    for (size_t i = 0; i < shape.size(); ++i)
      slice += index[i] * strides[i];
    double value = tensor.getAs<double>(element);
    sums[slice] += value * value;
    advance(index, shape);
  }
  for (int64_t slice = 0; slice < numSlices; ++slice) {
    if (type == DType::F64 ? sums[slice] != 0 : float(sums[slice]) != 0)
      continue;
    for (size_t i = 0; i < shape.size(); ++i)
      index[i] = isSummed[i] ? 0 : slice / strides[i] % shape[i];
    if (isUsed(index))
      return index;
  }
  return std::nullopt;
}
