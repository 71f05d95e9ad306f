//===- Reference.h - The float64 interpreter -*- C++ -*- ------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_REFERENCE_REFERENCE_H
#define LARC_REFERENCE_REFERENCE_H

#include "larc/Execution/Problem.h"

#include <functional>

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace larc {

/// Called with a fraction from 0 to 1, from any thread, one call at a time.
using ProgressFn = std::function<void(double)>;

struct ReferenceOptions {
  bool gradients = false;
  unsigned threads = 0; ///< 0: all cores
  ProgressFn progress;
};

/// Registers the implementations of the interpreter's interface for the
/// dialect's operations. A context that runs the reference must have them.
void registerReferenceModels(mlir::DialectRegistry &registry);

/// Computes outputs, final states and anchors of `problem` in float64, token by
/// token, and with `gradients` the gradient of every operand, constant, initial
/// state and anchor given, by reverse differentiation of the step. Memory
/// beyond inputs and results grows with the square root of T times the state.
llvm::Expected<TensorMap> runReference(Problem &problem,
                                       const ReferenceOptions &options);

} // namespace larc

#endif // LARC_REFERENCE_REFERENCE_H
