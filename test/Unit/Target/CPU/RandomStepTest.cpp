//===- RandomStepTest.cpp - Random steps against the reference --*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// LARC_RANDOM_SEEDS=FIRST:COUNT runs other seeds than the few of the suite.

#include "CompiledTestUtils.h"

#include "larc/Support/Random.h"

#include <cstdlib>

using namespace larc;
using namespace larc::test;

namespace {

class RandomStepTest : public CompiledTest {
protected:
  static int pick(Random &random, int count) {
    return int(random.next() % uint64_t(count));
  }

  static Shape makeShape(RecurrenceOp spec, uint64_t seed) {
    Random random(seed, "shape");
    Shape shape;
    shape.heads = 1 + pick(random, 3);
    shape.batch = 1 + pick(random, 2);
    const int64_t tokens[] = {0, 1, 2, 7, 8, 9, 33};
    shape.tokens = tokens[pick(random, 7)];
    if (pick(random, 3) == 0)
      for (int i = 1 + pick(random, 3); i-- > 0;)
        shape.lengths.push_back(tokens[pick(random, 6)]);
    if (pick(random, 2))
      shape.headCounts.push_back({"a0", 1});
    if (spec.getPeriod() > 1 && pick(random, 2))
      for (size_t i = 0, e = shape.lengths.empty() ? shape.batch
                                                   : shape.lengths.size();
           i < e; ++i)
        shape.positions.push_back(pick(random, 9));
    const int given[] = {0, 50, 100, 100};
    shape.statesGiven = given[pick(random, 4)];
    return shape;
  }

  /// Seeds of the suite, or what the environment asks for.
  static std::pair<uint64_t, uint64_t> getSeeds(uint64_t first,
                                                uint64_t count) {
    if (const char *text = std::getenv("LARC_RANDOM_SEEDS")) {
      auto [begin, number] = llvm::StringRef(text).split(':');
      if (!begin.getAsInteger(10, first) && !number.getAsInteger(10, count))
        return {first, first + count};
    }
    return {first, first + count};
  }

  void checkSeed(uint64_t seed, const RandomSpec &made, DType dtype,
                 double limit, std::string cpu = "") {
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + made.source);
    RecurrenceOp spec = parse(made.source);
    ASSERT_TRUE(spec);
    Shape shape = makeShape(spec, seed);
    TensorMap inputs = makeInputs(spec, made.dims, shape, seed);
    ASSERT_FALSE(inputs.empty());
    check(spec, inputs, dtype, limit, std::move(cpu));
  }
};

TEST_F(RandomStepTest, F64) {
  auto [first, end] = getSeeds(0, 30);
  for (uint64_t seed = first; seed < end && !HasFailure(); ++seed)
    checkSeed(seed, makeRandomStep(seed, 4 + int(seed % 17)), DType::F64, 1e-8);
}

// Every number is checked, where a large array's norm would hide one.
TEST_F(RandomStepTest, TinyF64) {
  auto [first, end] = getSeeds(0, 40);
  for (uint64_t seed = first; seed < end && !HasFailure(); ++seed)
    checkSeed(
        seed,
        makeRandomStep(seed, 3 + int(seed % 41),
                       {/*smooth=*/false, /*tiny=*/true, /*columns=*/false}),
        DType::F64, 1e-8);
}

TEST_F(RandomStepTest, F32) {
  auto [first, end] = getSeeds(0, 20);
  for (uint64_t seed = first; seed < end && !HasFailure(); ++seed)
    checkSeed(
        seed,
        makeRandomStep(seed, 4 + int(seed % 13),
                       {/*smooth=*/true, /*tiny=*/false, /*columns=*/false}),
        DType::F32, 5e-3);
}

// Tasks are blocks of columns.
TEST_F(RandomStepTest, Columns) {
  auto [first, end] = getSeeds(900, 10);
  for (uint64_t seed = first; seed < end && !HasFailure(); ++seed)
    checkSeed(seed,
              makeRandomStep(seed, 4 + int(seed % 9),
                             {/*smooth=*/seed % 2 == 0, /*tiny=*/false,
                              /*columns=*/true}),
              seed % 2 ? DType::F64 : DType::F32, seed % 2 ? 1e-8 : 5e-3);
}

// Operands and outputs of 16 bits, states and sums in f32.
TEST_F(RandomStepTest, SixteenBits) {
  auto [first, end] = getSeeds(700, 12);
  for (uint64_t seed = first; seed < end && !HasFailure(); ++seed)
    checkSeed(seed,
              makeRandomStep(seed, 4 + int(seed % 13),
                             {/*smooth=*/true, /*tiny=*/seed % 2 == 0,
                              /*columns=*/false}),
              seed % 3 ? DType::BF16 : DType::F16, 2e-2);
}

// Vectors of other widths than this machine's.
TEST_F(RandomStepTest, OtherProcessors) {
#if defined(__x86_64__)
  auto [first, end] = getSeeds(500, 8);
  for (uint64_t seed = first; seed < end && !HasFailure(); ++seed)
    for (const char *cpu : {"x86-64", "x86-64-v3"})
      checkSeed(seed, makeRandomStep(seed, 10), DType::F64, 1e-8, cpu);
#else
  GTEST_SKIP() << "names processors of x86-64";
#endif
}

TEST_F(RandomStepTest, SpecsOfTheReference) {
  auto [first, end] = getSeeds(0, 20);
  for (uint64_t seed = first; seed < end && !HasFailure(); ++seed) {
    RandomSpec made = makeRandomSpec(seed, 6 + int(seed % 9));
    // Some tensor must say how many tokens and heads there are, and the sizes
    // of axes.
    std::string sizes;
    for (const auto &[axis, size] : made.dims)
      sizes += (sizes.empty() ? " dims(" : ", ") + axis + " = " +
               std::to_string(size);
    size_t brace = made.source.find(" {\n");
    made.source.insert(brace, sizes + ")");
    made.source.insert(brace - 1, ", key[K]");
    made.source.insert(made.source.rfind("\n}"), ", %k");
    checkSeed(seed, made, DType::F64, 1e-8);
  }
}

} // namespace
