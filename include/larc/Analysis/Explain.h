//===- Explain.h - A recurrence's analysis for a person -*- C++ -*- -------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_ANALYSIS_EXPLAIN_H
#define LARC_ANALYSIS_EXPLAIN_H

#include "larc/Dialect/Larc/IR/Larc.h"

namespace larc {

struct ExplainOptions {
  /// Markdown with LaTeX, else plain text.
  bool markdown = false;
  /// Tokens of the chunk whose work is counted.
  int64_t chunkSize = 64;
  /// Bytes of an element of operands and outputs, and of states.
  unsigned elementBytes = 4, stateBytes = 4;
};

/// Writes what is derived of `recurrence`: class and normal form of each state,
/// stages, the equations of a chunk, what is carried, the work of each form,
/// and what keeps states from faster classes. The recurrence must be flat;
/// where the sizes of its axes are bound, work is given in numbers, too. Folds
/// of unknown length are shown with two steps.
llvm::LogicalResult explain(RecurrenceOp recurrence,
                            const ExplainOptions &options,
                            llvm::raw_ostream &os);

} // namespace larc

#endif // LARC_ANALYSIS_EXPLAIN_H
