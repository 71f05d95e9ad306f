//===- RandomTest.cpp - Reproducible random inputs ------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Support/Random.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace larc;

namespace {

struct Moments {
  double mean = 0;
  double variance = 0;
};

static Moments getMoments(const std::vector<double> &values) {
  Moments moments;
  for (double value : values)
    moments.mean += value / double(values.size());
  for (double value : values)
    moments.variance +=
        (value - moments.mean) * (value - moments.mean) / double(values.size());
  return moments;
}

static bool isAllFloat(const std::vector<double> &values) {
  for (double value : values)
    if (double(float(value)) != value)
      return false;
  return true;
}

TEST(Random, FixedSequence) {
  // What a seed gives never changes: recorded commands stay reproducible.
  Random random(1);
  uint64_t first = random.next(), second = random.next();
  Random again(1), other(2), named(1, "q");
  EXPECT_EQ(first, again.next());
  EXPECT_EQ(second, again.next());
  EXPECT_NE(first, other.next());
  EXPECT_NE(first, named.next());
  EXPECT_EQ(first, 0x85dd69e431d7567au);
}

TEST(Random, Normal) {
  std::vector<double> values(100000);
  Random random(3);
  fillNormal(random, values);
  EXPECT_TRUE(isAllFloat(values));
  Moments moments = getMoments(values);
  EXPECT_NEAR(moments.mean, 0, 0.02);
  EXPECT_NEAR(moments.variance, 1, 0.02);
  int within = 0;
  for (double value : values)
    within += std::fabs(value) < 1;
  EXPECT_NEAR(within / 1e5, 0.6827, 0.01);
}

TEST(Random, Uniform) {
  std::vector<double> values(100000);
  Random random(4);
  fillUniform(random, values);
  EXPECT_TRUE(isAllFloat(values));
  Moments moments = getMoments(values);
  EXPECT_NEAR(moments.mean, 0.5, 0.01);
  EXPECT_NEAR(moments.variance, 1.0 / 12, 0.01);
  for (double value : values) {
    ASSERT_GT(value, 0);
    ASSERT_LT(value, 1);
  }
}

TEST(Random, LogDecay) {
  std::vector<double> values(10001);
  Random random(5);
  fillLogDecay(random, values);
  EXPECT_TRUE(isAllFloat(values));
  for (double value : values)
    ASSERT_LT(value, 0);
  std::nth_element(values.begin(), values.begin() + 5000, values.end());
  EXPECT_NEAR(std::exp(values[5000]), 0.88, 0.02);
}

TEST(Random, UnitAlongEachAxis) {
  std::vector<int64_t> shape = {3, 4, 5};
  int64_t strides[] = {20, 5, 1};
  for (int64_t axis = 0; axis < 3; ++axis) {
    std::vector<double> values(60);
    Random random(6);
    fillUnit(random, values, shape, axis);
    EXPECT_TRUE(isAllFloat(values));
    for (int64_t start = 0; start < 60; ++start) {
      if (start / strides[axis] % shape[axis] != 0)
        continue;
      double square = 0;
      for (int64_t i = 0; i < shape[axis]; ++i)
        square += values[start + i * strides[axis]] *
                  values[start + i * strides[axis]];
      EXPECT_NEAR(square, 1, 1e-6);
    }
  }
}

TEST(Random, SoftmaxAlongEachAxis) {
  std::vector<int64_t> shape = {2, 7, 3};
  int64_t strides[] = {21, 3, 1};
  for (int64_t axis = 0; axis < 3; ++axis) {
    std::vector<double> values(42);
    Random random(7);
    fillSoftmax(random, values, shape, axis);
    for (int64_t start = 0; start < 42; ++start) {
      if (start / strides[axis] % shape[axis] != 0)
        continue;
      double sum = 0;
      for (int64_t i = 0; i < shape[axis]; ++i) {
        EXPECT_GT(values[start + i * strides[axis]], 0);
        sum += values[start + i * strides[axis]];
      }
      EXPECT_NEAR(sum, 1, 1e-6);
    }
  }
}

TEST(Random, EmptyShapes) {
  Random random(8);
  fillUnit(random, {}, {0, 4}, 1);
  fillSoftmax(random, {}, {4, 0}, 1);
  fillNormal(random, {});
}

} // namespace
