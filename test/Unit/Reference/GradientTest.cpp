//===- GradientTest.cpp - Gradients against differences ---------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomSpec.h"
#include "ReferenceTestUtils.h"

#include "larc/Support/Error.h"
#include "larc/Support/Random.h"

#include <cmath>

using namespace larc;
using namespace larc::test;

namespace {

class GradientTest : public ReferenceTest {
protected:
  /// The sum of all results times their cotangents.
  static double getLoss(const TensorMap &results, const TensorMap &inputs) {
    double loss = 0;
    for (const auto &[name, cotangent] : inputs) {
      llvm::StringRef rest = name;
      if (!rest.consume_front("cot."))
        continue;
      std::string result =
          rest.starts_with("final.") ? rest.str() : "out." + rest.str();
      std::vector<double> values = getValues(results.find(result)->second);
      std::vector<double> weights = getValues(cotangent);
      for (size_t i = 0; i < values.size(); ++i)
        loss += values[i] * weights[i];
    }
    return loss;
  }

  double getLossAt(RecurrenceOp spec, const TensorMap &inputs,
                   const std::string &name, llvm::ArrayRef<double> direction,
                   double distance) {
    const Tensor &input = inputs.find(name)->second;
    std::vector<double> values = getValues(input);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] += distance * direction[i];
    TensorMap changed = cloneTensors(inputs);
    changed.insert_or_assign(name, makeTensor(input.getShape(), values));
    return getLoss(run(spec, changed, false), changed);
  }

  /// Compares the gradient of every input with a central difference along a
  /// random direction.
  void checkGradients(RecurrenceOp spec, const TensorMap &inputs,
                      uint64_t seed) {
    TensorMap results = run(spec, inputs, true, {}, 2);
    ASSERT_FALSE(results.empty());
    for (const auto &input : inputs) {
      llvm::StringRef name = input.first;
      if (!isFloat(input.second.getDType()) || name.starts_with("cot."))
        continue;
      auto gradient = results.find("grad." + input.first);
      ASSERT_NE(gradient, results.end()) << input.first;
      ASSERT_EQ(gradient->second.getShape(), input.second.getShape())
          << input.first;
      std::vector<double> slopes = getValues(gradient->second);
      std::vector<double> direction(slopes.size());
      Random random(seed, name);
      fillNormal(random, direction);
      double slope = 0, size = 0;
      for (size_t i = 0; i < slopes.size(); ++i) {
        slope += slopes[i] * direction[i];
        size += std::fabs(slopes[i] * direction[i]);
      }
      // Of the fourth order, so that a large step loses no digits. Smaller ones
      // are for kinks and jumps nearby.
      double tolerance = 2e-6 * std::max(1.0, size), difference = 0;
      for (double step : {2e-4, 2e-5, 2e-6, 2e-7, 2e-8}) {
        auto lossAt = [&](double distance) {
          return getLossAt(spec, inputs, input.first, direction, distance);
        };
        difference = (8 * (lossAt(step) - lossAt(-step)) -
                      (lossAt(2 * step) - lossAt(-2 * step))) /
                     (12 * step);
        if (std::fabs(slope - difference) <= tolerance)
          break;
      }
      EXPECT_NEAR(slope, difference, tolerance) << input.first;
    }
  }

  TensorMap makeInputs(RecurrenceOp spec, const RandomSpec &made, uint64_t seed,
                       std::vector<int64_t> lengths, bool states) {
    RandomInputs request;
    request.dims = {{"H", 2}};
    if (lengths.empty()) {
      request.dims.push_back({"B", 2});
      request.dims.push_back({"T", 7});
    }
    request.dims.append(made.dims.begin(), made.dims.end());
    request.lengths.assign(lengths.begin(), lengths.end());
    request.headCounts = {{"k", 1}};
    request.seed = seed;
    request.initialStates = states;
    request.cotangents = true;
    llvm::Expected<TensorMap> inputs = makeRandomInputs(spec, {}, request);
    if (!inputs) {
      ADD_FAILURE() << renderError(inputs.takeError());
      return {};
    }
    return std::move(*inputs);
  }
};

class RandomSpecTest : public GradientTest,
                       public testing::WithParamInterface<int> {};

TEST_P(RandomSpecTest, MatchesDifferences) {
  uint64_t seed = GetParam();
  RandomSpec made = makeRandomSpec(seed, 6 + int(seed % 9));
  SCOPED_TRACE(made.source);
  RecurrenceOp spec = parse(made.source);
  ASSERT_TRUE(spec);
  checkGradients(spec, makeInputs(spec, made, seed, {}, true), seed);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomSpecTest, testing::Range(0, 120));

TEST_F(GradientTest, PackedSequences) {
  for (uint64_t seed = 200; seed < 208; ++seed) {
    RandomSpec made = makeRandomSpec(seed, 8);
    SCOPED_TRACE(made.source);
    RecurrenceOp spec = parse(made.source);
    ASSERT_TRUE(spec);
    checkGradients(spec, makeInputs(spec, made, seed, {3, 0, 1, 5}, true),
                   seed);
  }
}

TEST_F(GradientTest, WithoutInitialStates) {
  for (uint64_t seed = 300; seed < 306; ++seed) {
    RandomSpec made = makeRandomSpec(seed, 8);
    SCOPED_TRACE(made.source);
    RecurrenceOp spec = parse(made.source);
    ASSERT_TRUE(spec);
    TensorMap inputs = makeInputs(spec, made, seed, {}, false);
    for (auto it = inputs.begin(); it != inputs.end();)
      it = llvm::StringRef(it->first).starts_with("state.") ? inputs.erase(it)
                                                            : std::next(it);
    checkGradients(spec, inputs, seed);
    for (const auto &[name, tensor] : run(spec, inputs, true))
      EXPECT_FALSE(llvm::StringRef(name).starts_with("grad.state.")) << name;
  }
}

TEST_F(GradientTest, InsideOfAPeriod) {
  // Anchors are inputs of their own where a period is running.
  RecurrenceOp spec = parse(R"(
    larc.recurrence @anchored(%x[K], %y[K]) state(%S[K] = 0.5)
        attributes(steps = period(3)) -> (o[K]) {
      %A = larc.anchor %S
      %a = larc.mul %A, %x
      %b = larc.sin %a
      %c = larc.mul %S, %y
      %d = larc.add %b, %c
      %next = larc.fire every 2 iter(%X = %d) {
        %n = larc.normalize %X over K add 0.1
        larc.yield %n
      }
      %o = larc.mul %next, %A
      larc.yield %next, %o
    })");
  RandomSpec made;
  made.dims = {{"K", 3}};
  for (int64_t position : {0, 1, 2, 3, 4, 5}) {
    RandomInputs request;
    request.dims = {{"B", 1}, {"T", 8}, {"H", 1}, {"K", 3}};
    request.initialStates = request.cotangents = true;
    TensorMap inputs = llvm::cantFail(makeRandomInputs(spec, {}, request));
    inputs.try_emplace("position", makeIntegers({position}));
    inputs.try_emplace("anchor.S", makeTensor({1, 1, 1 * 3}, {0.3, -0.7, 1.1}));
    checkGradients(spec, inputs, 1);
    TensorMap results = run(spec, inputs, true);
    double size = 0;
    for (double value : getValues(results.at("grad.anchor.S")))
      size += std::fabs(value);
    EXPECT_EQ(size == 0, position % 3 == 0);
  }
}

} // namespace
