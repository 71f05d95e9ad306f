//===- ProgramWork.h - What programs do -*- C++ -*- -----------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The counts that the cost model turns into times (docs/cost-model.md). They
// are of the scheduled programs, the nests of a step or of a chunk, before
// loops are made.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_CONVERSION_PROGRAMWORK_H
#define LARC_CONVERSION_PROGRAMWORK_H

#include "larc/Conversion/Passes.h"
#include "larc/Dialect/Chunk/IR/Chunk.h"
#include "larc/Dialect/Larc/IR/Larc.h"

#include <array>
#include <optional>

namespace larc {

/// Kinds of work, each with a time of its own. Those of arrays count vector
/// registers, not elements, but for flops.
enum class WorkKind {
  Product,     ///< multiply-adds of register-tiled products
  DecayedPair, ///< multiply-adds of pairs of tokens with decays of their own
  Access,      ///< loads and stores of nests
  Arithmetic,  ///< cheap operations of nests
  Function,    ///< exponentials; others by what they take of it
  LaneSum,     ///< sums across the lanes of a register
  Running,     ///< running products and sums
  State,       ///< loads and stores of states between products
  Row,         ///< innermost loops
  Launch,      ///< nests and products of a chunk
  Step,        ///< turns of loops over the tokens of a chunk
  Solve,       ///< multiply-adds of triangular systems
  StepLaunch,  ///< nests of one token
  Copy,        ///< loads and stores of states around a sequence
  Memory,      ///< bytes of operands and outputs, by registers of them
  Flop,        ///< flops, by elements: what is reported, not predicted from
};
constexpr unsigned numWorkKinds = static_cast<unsigned>(WorkKind::Flop) + 1;
llvm::StringRef getName(WorkKind kind);

using WorkVector = std::array<double, numWorkKinds>;

/// What a task does: so much for itself, for each chunk (each token is one in
/// the token loop), for each of a chunk's tokens, for each pair of a chunk's
/// tokens.
struct ProgramWork {
  WorkVector perTask{}, perChunk{}, perToken{}, perPair{};
  /// Tokens of a whole chunk; 0: a token loop.
  int64_t chunkSize = 0;
  /// Tasks of one head.
  int64_t blocks = 1;

  /// The work of all of one head's tasks for a sequence of `tokens` tokens.
  WorkVector getTotal(int64_t tokens) const;

  void print(llvm::raw_ostream &os) const;
};

/// Counts the nests of a bound recurrence, after `larc-form-nests`: as the
/// token loop runs them, or, if its module has a `chunk.scan` of it, those of
/// the scan. An error where it cannot be compiled.
mlir::FailureOr<ProgramWork> countWork(RecurrenceOp recurrence,
                                       const RecurrentOptions &options);

} // namespace larc

#endif // LARC_CONVERSION_PROGRAMWORK_H
