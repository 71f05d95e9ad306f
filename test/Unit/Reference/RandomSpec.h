//===- RandomSpec.h - Recurrences made at random ----------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TEST_UNIT_REFERENCE_RANDOMSPEC_H
#define LARC_TEST_UNIT_REFERENCE_RANDOMSPEC_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace larc::test {

struct RandomSpec {
  std::string source;
  std::vector<std::pair<std::string, int64_t>> dims;
};

/// A recurrence of about `numOps` operations of all kinds on one to three
/// states of random axes. Its values stay near 1, away from the functions'
/// poles.
RandomSpec makeRandomSpec(uint64_t seed, int numOps);

} // namespace larc::test

#endif // LARC_TEST_UNIT_REFERENCE_RANDOMSPEC_H
