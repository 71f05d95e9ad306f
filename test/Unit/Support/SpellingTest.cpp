//===- SpellingTest.cpp - The name that was meant -------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Support/Spelling.h"

#include "gtest/gtest.h"

using namespace larc;

namespace {

TEST(Spelling, ClosestName) {
  EXPECT_EQ(closestName("bata", {"alpha", "beta", "data"}), "beta");
  EXPECT_EQ(closestName("Q", {"k", "q", "v"}), "q");
  EXPECT_EQ(closestName("S", {"s1", "x", "s"}), "s");
  EXPECT_EQ(closestName("x", {}), "");
  EXPECT_EQ(closestName("completely", {"q"}), "q");
  EXPECT_EQ(closestName("completely", {"q"}, 3), "");
  EXPECT_EQ(closestName("runn", {"run", "check"}, 3), "run");
  EXPECT_EQ(closestName(std::string(100000, 'a'), {"a", "b"}), "a");
}

} // namespace
