//===- Compare.h - Results against expected values --------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_EXECUTION_COMPARE_H
#define LARC_EXECUTION_COMPARE_H

#include "larc/Support/Tensor.h"

namespace larc {

/// How far a tensor is from what was expected.
struct Comparison {
  /// The largest absolute error; infinite where a value that should be finite
  /// is not, or the other way round.
  double maxAbs = 0;
  /// RMS(got - expected) / max(RMS(expected), 0.01).
  double rel = 0;
  double limit = 0;
  /// `rel` is within `limit` and `maxAbs` within 100 times the limit times the
  /// same denominator.
  bool pass = false;
};

/// Compares `got` with `expected`, of any float types. Elements whose expected
/// value is infinite or NaN must be the same and are left out of both errors.
/// Tensors of two shapes are a fault that names `name`.
llvm::Expected<Comparison> compareTensors(llvm::StringRef name,
                                          const Tensor &got,
                                          const Tensor &expected, double limit);

/// The relative error that results computed from `type` may have; gradients may
/// have three times as much.
double getDefaultTolerance(DType type);

/// Whether an interface name is that of a gradient: `grad.q`.
bool isGradientName(llvm::StringRef name);

} // namespace larc

#endif // LARC_EXECUTION_COMPARE_H
