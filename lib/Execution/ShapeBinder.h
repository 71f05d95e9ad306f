//===- ShapeBinder.h - Sizes read off tensors' shapes -----------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_EXECUTION_SHAPEBINDER_H
#define LARC_LIB_EXECUTION_SHAPEBINDER_H

#include "larc/Dialect/Larc/IR/Larc.h"
#include "larc/Support/Tensor.h"

#include <map>
#include <optional>
#include <string>

namespace larc {

/// The names of a tensor's dimensions, outermost first: `B`, `T`, `N`, `H` (all
/// heads), `heads` (a divisor of them), and axes of the recurrence.
using DimNames = llvm::SmallVector<std::string>;

/// `[B, T, heads, K]`.
std::string formatDims(const DimNames &dims);

/// `prefix` and then `axes`.
DimNames makeDims(std::initializer_list<llvm::StringRef> prefix,
                  llvm::ArrayRef<mlir::StringAttr> axes);

/// Collects the size of each dimension with the tensor that it was read from,
/// and finds contradictions.
class ShapeBinder {
public:
  /// A size that no tensor gives; `origin` says what does.
  void preset(llvm::StringRef dim, int64_t size, std::string origin);

  /// Checks `tensor` against `dims` and takes sizes from it. Head counts are
  /// only recorded; those of token operands and states decide what H is.
  llvm::Error bind(llvm::StringRef name, const Tensor &tensor,
                   const DimNames &dims, bool decidesHeads);

  /// Finds H, the largest head count, and checks all others against it. To be
  /// called when every tensor is bound.
  llvm::Error bindHeads();

  std::optional<int64_t> lookup(llvm::StringRef dim) const;
  int64_t getHeads() const { return heads; }
  /// What gives the size of `dim`, for messages: `'q'`.
  std::string getOrigin(llvm::StringRef dim) const;

private:
  struct Size {
    int64_t size;
    std::string origin;
    std::string shape; ///< that of the tensor, empty where none is
  };
  struct HeadCount {
    std::string name;
    int64_t count;
    bool shared;  ///< of a token operand: a divisor of H is enough
    bool decides; ///< takes part in finding H
    std::string shape;
  };

  llvm::Error contradict(llvm::StringRef dim, const Size &known,
                         const Size &found) const;

  std::map<std::string, Size> sizes;
  llvm::SmallVector<HeadCount> headCounts;
  int64_t heads = 0;
};

} // namespace larc

#endif // LARC_LIB_EXECUTION_SHAPEBINDER_H
