//===- CompiledTestUtils.h - Compiled recurrences in tests ------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TEST_UNIT_TARGET_CPU_COMPILEDTESTUTILS_H
#define LARC_TEST_UNIT_TARGET_CPU_COMPILEDTESTUTILS_H

#include "RandomStep.h"
#include "ReferenceTestUtils.h"

#include "larc/Target/CPU/CompiledRecurrence.h"

namespace larc::test {

/// The tokens of a test.
struct Shape {
  int64_t batch = 1, tokens = 1, heads = 1;
  /// Not empty: packed sequences.
  std::vector<int64_t> lengths;
  std::vector<std::pair<std::string, int64_t>> headCounts;
  /// Tokens seen before, one for each sequence; empty: none given.
  std::vector<int64_t> positions;
  /// Percent of initial states that are given.
  int statesGiven = 100;
};

/// Runs a spec compiled for this machine and in the reference.
class CompiledTest : public ReferenceTest {
protected:
  /// Random inputs, anchors included where `shape` has positions.
  TensorMap makeInputs(RecurrenceOp spec,
                       llvm::ArrayRef<std::pair<std::string, int64_t>> dims,
                       const Shape &shape, uint64_t seed);

  /// Binds `inputs` in `dtype`, compiles for it, and runs: on one thread, then
  /// on others, which must give the same bits, then with final states in the
  /// memory of the initial ones, which must, too. Empty and a failure on an
  /// error.
  TensorMap runCompiled(RecurrenceOp spec, const TensorMap &inputs, DType dtype,
                        std::string cpu = "");

  /// Compiles and compares with the reference.
  void check(RecurrenceOp spec, const TensorMap &inputs, DType dtype,
             double limit, std::string cpu = "");
  /// The same of a text, in f64 and f32, for random inputs.
  void checkSource(llvm::StringRef source,
                   llvm::ArrayRef<std::pair<std::string, int64_t>> dims,
                   const Shape &shape);
};

} // namespace larc::test

#endif // LARC_TEST_UNIT_TARGET_CPU_COMPILEDTESTUTILS_H
