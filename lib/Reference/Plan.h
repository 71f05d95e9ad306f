//===- Plan.h - A program and its tensors -----------------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_REFERENCE_PLAN_H
#define LARC_LIB_REFERENCE_PLAN_H

#include "Nest.h"
#include "larc/Execution/Problem.h"
#include "larc/Reference/Program.h"

#include "llvm/Support/MathExtras.h"

#include <optional>
#include <vector>

namespace larc {

/// One tensor of the problem and the array of the frame that it is read into or
/// written from.
struct Port {
  Nest<2> nest;     ///< frame, tensor
  int64_t size = 0; ///< elements of a token and a head
  const double *source = nullptr;
  double *target = nullptr;

  Port() = default;
  /// `axes` is the tensor's layout, outermost first.
  Port(const View &frame, llvm::ArrayRef<mlir::StringAttr> axes) {
    View tensor;
    size = 1;
    for (mlir::StringAttr axis : llvm::reverse(axes)) {
      int64_t extent = frame.find(axis)->size;
      tensor.axes.push_back({axis, extent, size});
      size *= extent;
    }
    nest = Nest<2>({&frame, &tensor});
  }

  /// Copies slot `index` of the tensor into the frame.
  void load(double *frame, int64_t index) const {
    const double *tensor = source + index * size;
    forEachElement(nest, [=](const auto &at) { frame[at[0]] = tensor[at[1]]; });
  }
  /// Adds it to the frame: a cotangent.
  void accumulate(double *frame, int64_t index) const {
    const double *tensor = source + index * size;
    forEachElement(nest,
                   [=](const auto &at) { frame[at[0]] += tensor[at[1]]; });
  }
  void store(const double *frame, int64_t index) const {
    double *tensor = target + index * size;
    forEachElement(nest, [=](const auto &at) { tensor[at[1]] = frame[at[0]]; });
  }
};

/// A program with the tensors that it reads and writes: what workers share.
struct Plan {
  Plan(Problem &problem, Program program, bool gradients)
      : problem(problem), program(std::move(program)), gradients(gradients) {}

  Problem &problem;
  Program program;
  bool gradients;
  /// Inputs that had to be converted.
  std::vector<Tensor> converted;

  llvm::SmallVector<Port> operands, constants, states, anchors, outputs;
  llvm::SmallVector<Port> finalStates, finalAnchors;
  /// From the values that a step yields to the carry of the next token.
  llvm::SmallVector<Nest<2>> nextStates;
  llvm::SmallVector<double> initialValues;

  llvm::SmallVector<Port> outputCotangents, stateCotangents, anchorCotangents;
  llvm::SmallVector<Port> operandGradients, constantGradients, stateGradients,
      anchorGradients;

  /// Sequences are worked on in blocks, each with its own sum of the
  /// constants' gradients, so that the sums do not depend on the threads.
  int64_t numBlocks = 1;
  int64_t segmentLength = 1;
  int64_t maxLength = 0;

  int64_t getBlockBegin(int64_t block) const {
    return block * problem.numSequences / numBlocks;
  }
  int64_t getNumSegments() const {
    return (maxLength + segmentLength - 1) / segmentLength;
  }
  /// Elements of a worker's buffers, or nothing if they overflow.
  std::optional<int64_t> getWorkspaceSize() const {
    int64_t frames, carries, total;
    if (llvm::MulOverflow(program.frameSize, int64_t(gradients ? 2 : 1),
                          frames) ||
        llvm::MulOverflow(program.carrySize,
                          gradients ? getNumSegments() + segmentLength + 3 : 1,
                          carries) ||
        llvm::AddOverflow(frames, carries, total))
      return std::nullopt;
    return total;
  }
};

/// Points the plan's ports at the inputs, and at `results` of `createResults`.
llvm::Error addForwardPorts(Plan &plan, TensorMap &results);

/// Makes the gradients and points the plan's ports at them and at the
/// cotangents. Gradients of shared operands have all heads, and those of
/// constants a leading axis of blocks, until `sumGradients`.
llvm::Error addGradientPorts(Plan &plan, TensorMap &gradients);

/// Gives the gradients of `addGradientPorts` their inputs' shapes.
llvm::Error sumGradients(Plan &plan, TensorMap &gradients);

} // namespace larc

#endif // LARC_LIB_REFERENCE_PLAN_H
