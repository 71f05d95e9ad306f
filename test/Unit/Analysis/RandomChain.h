//===- RandomChain.h - Random products of the algebra -----------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TEST_UNIT_ANALYSIS_RANDOMCHAIN_H
#define LARC_TEST_UNIT_ANALYSIS_RANDOMCHAIN_H

#include <cstdint>
#include <string>

namespace larc::test {

/// A recurrence `@chain` over the axes K, V, M with one to three states, each
/// of which goes through random decays, writes and reads. Later states may have
/// gates and queries made from reads of earlier ones.
std::string makeRandomChain(uint64_t seed);

} // namespace larc::test

#endif // LARC_TEST_UNIT_ANALYSIS_RANDOMCHAIN_H
