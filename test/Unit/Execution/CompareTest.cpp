//===- CompareTest.cpp - Results against expected values --------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExecutionTestUtils.h"

#include "larc/Execution/Compare.h"

#include <cmath>

using namespace larc;
using namespace larc::test;

namespace {

Tensor fromValues(std::vector<double> values, DType type = DType::F64) {
  return llvm::cantFail(
      Tensor::fromValues(type, {int64_t(values.size())}, values));
}

Comparison compare(std::vector<double> got, std::vector<double> expected,
                   double limit) {
  return llvm::cantFail(
      compareTensors("x", fromValues(got), fromValues(expected), limit));
}

TEST(Compare, RelativeToTheRMS) {
  Comparison comparison = compare({3.03, 4, 0}, {3, 4, 0}, 0.02);
  EXPECT_NEAR(comparison.maxAbs, 0.03, 1e-12);
  EXPECT_NEAR(comparison.rel, 0.006, 1e-12);
  EXPECT_EQ(comparison.limit, 0.02);
  EXPECT_TRUE(comparison.pass);
  EXPECT_FALSE(compare({3.03, 4, 0}, {3, 4, 0}, 0.005).pass);
}

TEST(Compare, SmallExpectationsCountAsOneHundredth) {
  Comparison comparison = compare({1e-6, 0}, {0, 0}, 1e-4);
  EXPECT_NEAR(comparison.rel, 1e-6 / std::sqrt(2.0) / 0.01, 1e-12);
  EXPECT_TRUE(comparison.pass);
}

TEST(Compare, OneWrongElementIsSeen) {
  std::vector<double> expected(1000000, 1.0), got = expected;
  got[123456] = 1.2;
  Comparison comparison = compare(got, expected, 1e-3);
  EXPECT_LT(comparison.rel, 1e-3);
  EXPECT_FALSE(comparison.pass);
  got[123456] = 1.05;
  EXPECT_TRUE(compare(got, expected, 1e-3).pass);
}

TEST(Compare, NonFiniteMustBeTheSame) {
  double inf = INFINITY, nan = NAN;
  EXPECT_TRUE(compare({inf, -inf, nan, 1}, {inf, -inf, nan, 1}, 1e-9).pass);
  EXPECT_FALSE(compare({-inf, 1}, {inf, 1}, 1e-9).pass);
  EXPECT_FALSE(compare({1, 1}, {nan, 1}, 1e-9).pass);
  EXPECT_FALSE(compare({nan, 1}, {1, 1}, 1e-9).pass);
  EXPECT_FALSE(compare({inf, 1}, {1, 1}, 1e-9).pass);
  EXPECT_TRUE(std::isinf(compare({inf, 1}, {1, 1}, 1e-9).rel));
  EXPECT_EQ(compare({inf, 2}, {inf, 2}, 1e-9).rel, 0);
}

TEST(Compare, OfAnyFloatTypes) {
  Tensor got = fromValues({1, 2}, DType::BF16);
  Tensor expected = fromValues({1, 2}, DType::F32);
  EXPECT_TRUE(llvm::cantFail(compareTensors("x", got, expected, 0)).pass);
}

TEST(Compare, Empty) {
  Comparison comparison = compare({}, {}, 1e-9);
  EXPECT_TRUE(comparison.pass);
  EXPECT_EQ(comparison.rel, 0);
}

TEST(Compare, ShapesMustMatch) {
  EXPECT_EQ(
      getError(compareTensors("x", makeTensor({2, 3}), makeTensor({3, 2}), 1)),
      "error: tensor 'x' has shape [2, 3], but [3, 2] is expected");
}

TEST(Compare, Limits) {
  EXPECT_EQ(getDefaultTolerance(DType::F64), 1e-9);
  EXPECT_EQ(getDefaultTolerance(DType::F32), 2e-5);
  EXPECT_EQ(getDefaultTolerance(DType::F16), 2e-3);
  EXPECT_EQ(getDefaultTolerance(DType::BF16), 1e-2);
  EXPECT_TRUE(isGradientName("grad.q"));
  EXPECT_FALSE(isGradientName("final.S"));
}

} // namespace
