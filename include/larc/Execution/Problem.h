//===- Problem.h - A recurrence with its tensors -*- C++ -*- --------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_EXECUTION_PROBLEM_H
#define LARC_EXECUTION_PROBLEM_H

#include "larc/Dialect/Larc/IR/Larc.h"
#include "larc/Dialect/Larc/Transforms/Flatten.h"
#include "larc/Support/Tensor.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace larc {

/// How `--dtype`, `--gate-dtype` convert tensors on load.
struct ConversionOptions {
  std::optional<DType> dtype;
  std::optional<DType> gateDType;
  /// Widens everything to float64 after that, as the reference computes: the
  /// numbers keep the rounding that the types above gave them.
  bool allFloat64 = false;
};

/// A flat, bound recurrence with all its tensors checked: what every form runs.
/// Tensors are dense; null where none is given: a state or anchor, or an
/// operand or constant that the recurrence does not use.
struct Problem {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  RecurrenceOp recurrence;

  int64_t batch = 0;  ///< B; 1 if packed
  int64_t tokens = 0; ///< T
  int64_t heads = 0;  ///< H
  bool packed = false;
  /// Sequences: B, or N if packed. Sequence n has the tokens
  /// [offsets[n], offsets[n + 1]) of batch row 0 if packed, else all T of row
  /// n.
  int64_t numSequences = 0;
  llvm::SmallVector<int64_t> offsets;
  llvm::SmallVector<int64_t> positions; ///< per sequence, 0 where none is given

  /// By declaration. Operands [B, T, h, axes], constants [H, axes], states [N,
  /// H, axes]. Anchors are by state; one may be given of a state that is not
  /// anchored (with a period of one token): it is ignored.
  llvm::SmallVector<const Tensor *> operands, constants, states, anchors;
  /// h of each operand; head i of H reads operand head i / (H / h).
  llvm::SmallVector<int64_t> operandHeads;
  /// Cotangents by output, and by state of the final states and anchors; null =
  /// zero.
  llvm::SmallVector<const Tensor *> outputCotangents, stateCotangents,
      anchorCotangents;

  /// The type of outputs, and of states, anchors and their gradients.
  DType outputDType = DType::F32, stateDType = DType::F32;

  /// Owns what the pointers above point to.
  TensorMap storage;

  /// First token and number of tokens of a sequence, and its batch row.
  int64_t getBegin(int64_t sequence) const {
    return packed ? offsets[sequence] : 0;
  }
  int64_t getLength(int64_t sequence) const {
    return packed ? offsets[sequence + 1] - offsets[sequence] : tokens;
  }
  int64_t getRow(int64_t sequence) const { return packed ? 0 : sequence; }
  int64_t getSize(mlir::StringAttr axis) {
    return *recurrence.getAxisSize(axis);
  }
};

/// Binds `inputs` (consumed) to `spec` with attribute `values`: flattens, reads
/// sizes off shapes, checks names, ranks, shapes, heads, `cu_seqlens`,
/// `position`, required and nonzero states, and converts dtypes. Unknown names
/// are errors with the closest known one; names under `out.`, `final.` and
/// `grad.` are ignored. `needCotangents`: at least one must be given; otherwise
/// they are checked and dropped. Where flattening or binding emitted
/// diagnostics, the error has no text to add.
llvm::Expected<Problem> bindProblem(RecurrenceOp spec, AttributeValues values,
                                    TensorMap inputs,
                                    const ConversionOptions &conversion,
                                    bool needCotangents);

/// Tensors for a problem of the given dims (`B`, `T`, `H` and axes) drawn from
/// the operands' domains. `headCounts` names operands with fewer heads;
/// `lengths`, if not empty, makes a packed problem. `initialStates`: draw every
/// state, not only the required ones and those that alone have an axis or all
/// heads. Tensors are f32. What is wrong with the request is a usage fault.
struct RandomInputs {
  llvm::SmallVector<std::pair<std::string, int64_t>> dims;
  llvm::SmallVector<std::pair<std::string, int64_t>> headCounts;
  llvm::SmallVector<int64_t> lengths;
  uint64_t seed = 0;
  bool initialStates = false;
  bool cotangents = false;
};
llvm::Expected<TensorMap> makeRandomInputs(RecurrenceOp spec,
                                           AttributeValues values,
                                           const RandomInputs &request);

/// Results by their interface names: `out.Y`, `final.X`, `final.anchor.X`,
/// `grad.Z`, …. Creates the forward results of a problem (uninitialised; f64
/// throughout if `float64`).
llvm::Expected<TensorMap> createResults(Problem &problem, bool float64);

} // namespace larc

#endif // LARC_EXECUTION_PROBLEM_H
