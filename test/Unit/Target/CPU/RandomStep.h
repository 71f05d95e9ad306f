//===- RandomStep.h - Steps made at random for lowerings --------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TEST_UNIT_TARGET_CPU_RANDOMSTEP_H
#define LARC_TEST_UNIT_TARGET_CPU_RANDOMSTEP_H

#include "RandomSpec.h"

namespace larc::test {

struct RandomStepOptions {
  /// No operation whose value jumps: what f32 computes is near f64's.
  bool smooth = false;
  /// Sizes up to 3 only.
  bool tiny = false;
  /// States larger than a block's, of which columns, along V, are independent.
  bool columns = false;
};

/// A recurrence that is hard to lower: axes of uneven sizes, memory layouts in
/// any order, states of rank 0 to 3 that are swapped, copied, moved, read
/// before and after they are written, folds and fires in one another, views of
/// what is written. Its values stay near 1.
RandomSpec makeRandomStep(uint64_t seed, int numOps,
                          const RandomStepOptions &options = {});

} // namespace larc::test

#endif // LARC_TEST_UNIT_TARGET_CPU_RANDOMSTEP_H
