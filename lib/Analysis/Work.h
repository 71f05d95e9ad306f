//===- Work.h - Work of a token in terms of axis sizes -*- C++ -*- --------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_ANALYSIS_WORK_H
#define LARC_LIB_ANALYSIS_WORK_H

#include "larc/Analysis/Transitions.h"

#include <map>

namespace larc {

/// A polynomial in the sizes of axes, by name, and the tokens of a chunk.
class Work {
public:
  /// Stands for the tokens of a chunk; no axis has this name.
  static constexpr llvm::StringLiteral chunkTokens = "C#";
  using Monomial = std::vector<std::string>;

  Work() = default;
  explicit Work(double number) { add(number, {}); }
  /// `number` times the sizes of `axes`.
  Work(double number, ArrayType array);

  void add(double number, Monomial sizes);
  Work &operator+=(const Work &other);
  /// Times a number and a size.
  Work times(double number, llvm::StringRef size = {}) const;

  /// `4 K V + 2 C K`, with `tokens` for the tokens of a chunk; `latex` without
  /// spaces between sizes that are letters.
  std::string print(bool latex, llvm::StringRef tokens) const;
  /// The value, or nothing where a size is not known.
  std::optional<double> evaluate(
      llvm::function_ref<std::optional<double>(llvm::StringRef)> size) const;

private:
  std::map<Monomial, double> terms;
};

/// Floating point operations of one token and head by the definition's own
/// operations. `recurrence` is decomposed or prepared.
Work countRecurrentFlops(RecurrenceOp recurrence);
/// The same by the equations of a chunk of C tokens.
Work countChunkFlops(const TransitionAnalysis &analysis);
/// Elements of the token operands that are used, and of the outputs.
Work countTokenElements(RecurrenceOp recurrence);
/// Elements of all states.
Work countStateElements(RecurrenceOp recurrence);

} // namespace larc

#endif // LARC_LIB_ANALYSIS_WORK_H
