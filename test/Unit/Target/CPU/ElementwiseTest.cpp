//===- ElementwiseTest.cpp - Functions as compiled --------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Every elementwise operation at ordinary, large, tiny and special arguments:
// each number is compared, not a tensor's norm.

#include "CompiledTestUtils.h"

#include <cmath>
#include <limits>

using namespace larc;
using namespace larc::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

class ElementwiseTest : public CompiledTest {
protected:
  /// The special values, then numbers of all sizes and signs.
  static std::vector<double> getArguments() {
    std::vector<double> values = {0.0,   -0.0,  infinity, -infinity, nan,
                                  1.0,   -1.0,  0.5,      -0.5,      88.0,
                                  -88.0, 100.0, -100.0,   1000.0,    -1000.0};
    for (double size = 1e-8; size < 60; size *= 1.7) {
      values.push_back(float(size));
      values.push_back(-float(size));
    }
    return values;
  }

  /// Compares `got` with `expected` where that is a number of `dtype`.
  static void expectNear(const std::vector<double> &got,
                         const std::vector<double> &expected,
                         const std::vector<double> &x,
                         const std::vector<double> &y, double relative,
                         double absolute, double largest, double smallest) {
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i) {
      double want = expected[i];
      if (std::fabs(want) > largest)
        want = std::copysign(infinity, want);
      if (std::isnan(want)) {
        EXPECT_TRUE(std::isnan(got[i]))
            << "of " << x[i] << ", " << y[i] << ": " << got[i];
        continue;
      }
      if (std::isinf(want)) {
        EXPECT_EQ(got[i], want) << "of " << x[i] << ", " << y[i];
        continue;
      }
      double bound =
          std::max(relative * std::fabs(want), std::max(absolute, smallest));
      EXPECT_LE(std::fabs(got[i] - want), bound)
          << "of " << x[i] << ", " << y[i] << ": " << got[i] << ", expected "
          << want;
    }
  }

  void check(const std::string &operation, const std::vector<double> &x,
             const std::vector<double> &y, double absolute32 = 0) {
    SCOPED_TRACE(operation);
    std::string source =
        "larc.recurrence @r(%x[K], %y[K]) -> (o[K], p[K]) {\n  %o = larc." +
        operation + "\n  larc.yield %o, %y\n}\n";
    RecurrenceOp spec = parse(source);
    ASSERT_TRUE(spec);
    int64_t size = int64_t(x.size());
    TensorMap inputs;
    inputs.try_emplace("x", makeTensor({1, 1, 1, size}, x));
    inputs.try_emplace("y", makeTensor({1, 1, 1, size}, y));
    std::vector<double> expected =
        getValues(run(spec, inputs, false).at("out.o"));
    TensorMap f64 = runCompiled(spec, inputs, DType::F64);
    ASSERT_FALSE(f64.empty());
    expectNear(getValues(f64.at("out.o")), expected, x, y, 1e-14, 0,
               std::numeric_limits<double>::max(), 1e-300);
    TensorMap f32 = runCompiled(spec, inputs, DType::F32);
    ASSERT_FALSE(f32.empty());
    expectNear(getValues(f32.at("out.o")), expected, x, y, 2e-6, absolute32,
               std::numeric_limits<float>::max(), 1.2e-38);
  }
};

TEST_F(ElementwiseTest, Unary) {
  std::vector<double> x = getArguments();
  for (const char *operation :
       {"neg", "abs", "exp", "expm1", "log", "log1p", "sqrt", "rsqrt",
        "reciprocal", "square", "sigmoid", "logsigmoid", "softplus", "tanh",
        "relu", "erf"})
    check(std::string(operation) + " %x", x, x);
  // Near their roots sine and cosine have the precision of the argument.
  for (const char *operation : {"sin", "cos"})
    check(std::string(operation) + " %x", x, x, 1e-6);
}

TEST_F(ElementwiseTest, Binary) {
  std::vector<double> x, y;
  std::vector<double> all = getArguments();
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t j = i % 3; j < all.size(); j += i < 15 ? 1 : 3) {
      x.push_back(all[i]);
      y.push_back(all[j]);
    }
  // Sums of two numbers that cancel have the precision of the two.
  for (const char *operation :
       {"add", "sub", "mul", "div", "max", "min", "logaddexp"})
    check(std::string(operation) + " %x, %y", x, y, 1e-5);
  for (const char *predicate : {"gt", "ge", "lt", "le", "eq", "ne"})
    check(std::string("select %x ") + predicate + " %y, %x, %y", x, y);
}

} // namespace
