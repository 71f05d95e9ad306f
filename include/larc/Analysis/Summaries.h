//===- Summaries.h - What a segment of tokens does -*- C++ -*- ------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A segment of a sequence, run from states of zero (of a semiring: from its
// zero), together with what the segment multiplies older states by, tells the
// states at its end for whatever states it starts from:
//
//   S_end = (product of decays) (.) S + Z        diagonal
//   S_end = columns (.) (Phi S) + Z              low rank, Phi over R and R'
//   S_end = (S + sum of shifts) (+) Z            semiring
//
// So segments can be run at the same time and put together afterwards. What a
// segment does is itself a recurrence, the *summary*, and putting segments
// together is one whose tokens are the segments, the *composition*.
//
// A state whose update uses other states is of a later *level*: its summary is
// run when the starts of those states are known.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_ANALYSIS_SUMMARIES_H
#define LARC_ANALYSIS_SUMMARIES_H

#include "larc/Dialect/Larc/IR/Larc.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/SmallVector.h"

namespace larc {

/// The states of one level, summarised together.
struct SummaryLevel {
  /// Has the operands and constants of the recurrence and no outputs. Its
  /// states are those of earlier levels that the updates use (`kept`), which
  /// run from their starts in the segment, and then *parts*: the states of the
  /// level from zero, and the transitions of each.
  RecurrenceOp summary;
  llvm::SmallVector<unsigned> kept;
  /// States of `summary` after the kept ones that start at the identity: over
  /// axes R and, in the same order, R'. All others start at their own values.
  llvm::SmallVector<unsigned> identities;
  /// The states of the level, as the recurrence numbers them.
  llvm::SmallVector<unsigned> states;
  /// Has an operand for each part of a segment, the level's states, and one
  /// output for each: the state after the segment.
  RecurrenceOp composition;
};

struct Summaries {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  llvm::SmallVector<SummaryLevel, 2> levels;
};

/// Derives the summaries of a flat recurrence; sizes of its axes may be
/// unbound. Emits an error, at the operation at fault, where a state has a
/// transition that does not compose; its last note says what would.
mlir::FailureOr<Summaries> summarize(RecurrenceOp recurrence);

} // namespace larc

#endif // LARC_ANALYSIS_SUMMARIES_H
