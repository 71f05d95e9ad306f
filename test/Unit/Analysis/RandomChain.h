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
/// gates and values made from reads of earlier ones.
///
/// No token's map of a state expands: a random map that does makes the state
/// after many tokens an ill-conditioned function of the operands, of which two
/// right computations differ by far more than their roundings. What a state is
/// read for, an error or a tanh, goes through a read by a unit key and back
/// against that key, or, with a small step s, along any unit key before all is
/// divided by 1 + s.
std::string makeRandomChain(uint64_t seed);

} // namespace larc::test

#endif // LARC_TEST_UNIT_ANALYSIS_RANDOMCHAIN_H
