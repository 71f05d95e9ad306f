//===- OperationTest.cpp - Single operations --------------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReferenceTestUtils.h"

#include <cmath>
#include <limits>

using namespace larc;
using namespace larc::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

class OperationTest : public ReferenceTest {
protected:
  /// Runs `body`, which makes %o of %x[K] and %y[K], on one token, with the
  /// cotangent given (or ones).
  TensorMap evaluate(llvm::StringRef body, std::vector<double> x,
                     std::vector<double> y, std::vector<double> cotangent = {},
                     llvm::StringRef outputAxes = "[K]") {
    std::string source = "larc.recurrence @f(%x[K], %y[K]) -> (o" +
                         outputAxes.str() + ") {\n" + body.str() +
                         "\n larc.yield %o\n}";
    int64_t size = x.size();
    TensorMap inputs;
    inputs.try_emplace("x", makeTensor({1, 1, 1, size}, x));
    inputs.try_emplace("y", makeTensor({1, 1, 1, size}, y));
    llvm::SmallVector<int64_t> shape = {1, 1, 1};
    if (!outputAxes.empty())
      shape.push_back(size);
    if (cotangent.empty())
      cotangent.assign(outputAxes.empty() ? 1 : size, 1.0);
    inputs.try_emplace("cot.o", makeTensor(shape, cotangent));
    return run(parse(source), inputs, true);
  }

  static void expectValues(const TensorMap &results, const std::string &name,
                           std::vector<double> expected) {
    auto it = results.find(name);
    ASSERT_NE(it, results.end()) << name;
    std::vector<double> values = getValues(it->second);
    ASSERT_EQ(values.size(), expected.size()) << name;
    for (size_t i = 0; i < values.size(); ++i) {
      if (std::isfinite(expected[i]))
        EXPECT_NEAR(values[i], expected[i],
                    1e-14 * std::max(1.0, std::fabs(expected[i])))
            << name << " " << i;
      else if (std::isnan(expected[i]))
        EXPECT_TRUE(std::isnan(values[i])) << name << " " << i;
      else
        EXPECT_EQ(values[i], expected[i]) << name << " " << i;
    }
  }

  void expectUnary(llvm::StringRef op, std::vector<double> x,
                   std::vector<double> result, std::vector<double> derivative) {
    SCOPED_TRACE(op.str());
    std::vector<double> zeros(x.size(), 0.0);
    TensorMap results = evaluate(("%o = larc." + op + " %x\n").str(), x, zeros);
    expectValues(results, "out.o", result);
    expectValues(results, "grad.x", derivative);
    expectValues(results, "grad.y", zeros);
  }

  void expectBinary(llvm::StringRef op, std::vector<double> x,
                    std::vector<double> y, std::vector<double> result,
                    std::vector<double> dx, std::vector<double> dy) {
    SCOPED_TRACE(op.str());
    TensorMap results = evaluate(("%o = larc." + op + " %x, %y\n").str(), x, y);
    expectValues(results, "out.o", result);
    expectValues(results, "grad.x", dx);
    expectValues(results, "grad.y", dy);
  }
};

TEST_F(OperationTest, Unary) {
  double e = std::exp(1.0);
  expectUnary("neg", {2, -1}, {-2, 1}, {-1, -1});
  expectUnary("abs", {2, -1, 0}, {2, 1, 0}, {1, -1, 0});
  expectUnary("exp", {0, 1, -infinity}, {1, e, 0}, {1, e, 0});
  expectUnary("expm1", {0, 1, -infinity}, {0, e - 1, -1}, {1, e, 0});
  expectUnary("log", {1, 2, 0}, {0, std::log(2.0), -infinity},
              {1, 0.5, infinity});
  expectUnary("log1p", {0, 1}, {0, std::log(2.0)}, {1, 0.5});
  expectUnary("sqrt", {1, 4}, {1, 2}, {0.5, 0.25});
  expectUnary("rsqrt", {1, 4}, {1, 0.5}, {-0.5, -0.0625});
  expectUnary("reciprocal", {1, -2}, {1, -0.5}, {-1, -0.25});
  expectUnary("square", {3, -2}, {9, 4}, {6, -4});
  expectUnary("sigmoid", {0, 800, -800}, {0.5, 1, 0}, {0.25, 0, 0});
  expectUnary("logsigmoid", {0, -800, 800, -infinity},
              {-std::log(2.0), -800, 0, -infinity}, {0.5, 1, 0, 1});
  expectUnary("softplus", {0, -800, 800}, {std::log(2.0), 0, 800}, {0.5, 0, 1});
  expectUnary("tanh", {0, 800, -800}, {0, 1, -1}, {1, 0, 0});
  expectUnary("relu", {2, -1, 0, nan}, {2, 0, 0, nan}, {1, 0, 0, 0});
  expectUnary("sin", {0, 1}, {0, std::sin(1.0)}, {1, std::cos(1.0)});
  expectUnary("cos", {0, 1}, {1, std::cos(1.0)}, {0, -std::sin(1.0)});
  expectUnary("erf", {0, 1}, {0, std::erf(1.0)},
              {2 / std::sqrt(M_PI), 2 / std::sqrt(M_PI) / e});
}

TEST_F(OperationTest, Binary) {
  expectBinary("add", {1}, {2}, {3}, {1}, {1});
  expectBinary("sub", {1}, {2}, {-1}, {1}, {-1});
  expectBinary("mul", {3}, {2}, {6}, {2}, {3});
  expectBinary("div", {3, 1}, {2, infinity}, {1.5, 0}, {0.5, 0}, {-0.75, 0});
  // A tie is shared.
  expectBinary("max", {3, 1, 2, nan}, {2, 4, 2, 0}, {3, 4, 2, nan},
               {1, 0, 0.5, 0.5}, {0, 1, 0.5, 0.5});
  expectBinary("min", {3, 1, 2}, {2, 4, 2}, {2, 1, 2}, {0, 1, 0.5},
               {1, 0, 0.5});
  double half = std::log(2.0);
  expectBinary("logaddexp", {0, -infinity, -infinity, 1000},
               {0, 3, -infinity, 0}, {half, 3, -infinity, 1000}, {0.5, 0, 0, 1},
               {0.5, 1, 0, 0});
}

TEST_F(OperationTest, TieWithConstant) {
  for (const char *op : {"max", "min"}) {
    std::string body = "%c = larc.constant 2.0\n %o = larc." + std::string(op);
    expectValues(evaluate(body + " %x, %c", {2}, {0}), "grad.x", {0});
    expectValues(evaluate(body + " %c, %x", {2}, {0}), "grad.x", {0});
  }
}

TEST_F(OperationTest, Select) {
  TensorMap results = evaluate("%z = larc.constant 0.0\n %n = larc.neg %y\n"
                               "%o = larc.select %x gt %z, %y, %n",
                               {1, -1, 0, nan}, {2, 3, 4, 5});
  expectValues(results, "out.o", {2, -3, -4, -5});
  expectValues(results, "grad.x", {0, 0, 0, 0});
  expectValues(results, "grad.y", {1, -1, -1, -1});
  for (const auto &[predicate, expected] :
       {std::pair<const char *, std::vector<double>>("ge", {1, 0, 1, 0}),
        {"lt", {0, 1, 0, 0}},
        {"le", {0, 1, 1, 0}},
        {"eq", {0, 0, 1, 0}},
        {"ne", {1, 1, 0, 1}}}) {
    std::string body = "%z = larc.constant 0.0\n %u = larc.constant 1.0\n"
                       "%o = larc.select %x " +
                       std::string(predicate) + " %y, %u, %z";
    expectValues(evaluate(body, {1, -1, 0, nan}, {0, 0, 0, 0}), "out.o",
                 expected);
  }
}

TEST_F(OperationTest, UnselectedNaNStaysOut) {
  // log of a negative number, and 0 / 0, in the branch that is not taken.
  TensorMap results = evaluate("%z = larc.constant 0.0\n"
                               "%l = larc.log %x\n %d = larc.div %x, %x\n"
                               "%m = larc.mul %l, %d\n %s = larc.sqrt %x\n"
                               "%t = larc.add %m, %s\n"
                               "%o = larc.select %x gt %z, %t, %y",
                               {0, -1, 1}, {5, 6, 7});
  expectValues(results, "out.o", {5, 6, 1});
  expectValues(results, "grad.x", {0, 0, 1.5});
  expectValues(results, "grad.y", {1, 1, 0});
}

TEST_F(OperationTest, ZeroCotangentStaysZero) {
  for (const char *body :
       {"%o = larc.reciprocal %x", "%o = larc.log %x",
        "%o = larc.normalize %x over K", "%o = larc.div %y, %x",
        "%s = larc.softmax %y over K\n %i = larc.reciprocal %x\n"
        "%o = larc.mul %s, %i",
        "%i = larc.reciprocal %x\n %c = larc.contract %i, %y over K\n"
        "%o = larc.broadcast %c to [K]"}) {
    SCOPED_TRACE(body);
    TensorMap results = evaluate(body, {0, 0}, {1, 2}, {0, 0});
    expectValues(results, "grad.x", {0, 0});
    expectValues(results, "grad.y", {0, 0});
  }
}

TEST_F(OperationTest, ReduceSharesTies) {
  TensorMap results =
      evaluate("%o = larc.reduce max %x over K", {1, 3, 3}, {0, 0, 0}, {6}, "");
  expectValues(results, "out.o", {3});
  expectValues(results, "grad.x", {0, 3, 3});
  results =
      evaluate("%o = larc.reduce min %x over K", {1, 3, 1}, {0, 0, 0}, {6}, "");
  expectValues(results, "out.o", {1});
  expectValues(results, "grad.x", {3, 0, 3});
  results = evaluate("%o = larc.reduce max %x over K", {1, nan, 0}, {0, 0, 0},
                     {}, "");
  expectValues(results, "out.o", {nan});
}

TEST_F(OperationTest, NormAtZero) {
  TensorMap results =
      evaluate("%o = larc.norm %x over K", {0, 0}, {0, 0}, {1}, "");
  expectValues(results, "out.o", {0});
  expectValues(results, "grad.x", {0, 0});
  results = evaluate("%o = larc.norm %x over K", {3, 4}, {0, 0}, {1}, "");
  expectValues(results, "out.o", {5});
  expectValues(results, "grad.x", {0.6, 0.8});
}

TEST_F(OperationTest, NormalizeRules) {
  // Up to the limit, only the division is differentiated.
  TensorMap results =
      evaluate("%o = larc.normalize %x over K max 5.0", {3, 4}, {0, 0}, {1, 2});
  expectValues(results, "out.o", {0.6, 0.8});
  expectValues(results, "grad.x", {0.2, 0.4});
  results = evaluate("%o = larc.normalize %x over K max 10.0", {3, 4}, {0, 0},
                     {1, 2});
  expectValues(results, "out.o", {0.3, 0.4});
  expectValues(results, "grad.x", {0.1, 0.2});
  results = evaluate("%o = larc.normalize %x over K max 1.0e-12", {0, 0},
                     {0, 0}, {1, 2});
  expectValues(results, "out.o", {0, 0});
  expectValues(results, "grad.x", {1e12, 2e12});
  results = evaluate("%o = larc.normalize %x over K add 5.0", {3, 4}, {0, 0});
  expectValues(results, "out.o", {0.3, 0.4});
  results =
      evaluate("%o = larc.normalize %x over K inside 75.0", {3, 4}, {0, 0});
  expectValues(results, "out.o", {0.3, 0.4});
  results = evaluate("%o = larc.normalize %x over K", {0, 0}, {0, 0});
  expectValues(results, "out.o", {nan, nan});
}

TEST_F(OperationTest, Softmax) {
  TensorMap results =
      evaluate("%o = larc.softmax %x over K", {0, std::log(3.0), -infinity},
               {0, 0, 0}, {1, 0, 5});
  expectValues(results, "out.o", {0.25, 0.75, 0});
  expectValues(results, "grad.x", {0.1875, -0.1875, 0});
  results = evaluate("%o = larc.softmax %x over K", {1000, 1000}, {0, 0});
  expectValues(results, "out.o", {0.5, 0.5});
  results =
      evaluate("%o = larc.softmax %x over K", {-infinity, -infinity}, {0, 0});
  expectValues(results, "out.o", {nan, nan});
}

/// Composite operations against the same in simpler ones.
TEST_F(OperationTest, CompositesAreWhatTheyAreShortFor) {
  constexpr llvm::StringLiteral head =
      "larc.recurrence @f(%x[B1, K, V]) -> (o[B1, K, V]) {\n";
  auto compare = [&](llvm::StringRef composite, llvm::StringRef simple) {
    RandomInputs request;
    request.dims = {{"B", 2},  {"T", 2}, {"H", 2},
                    {"B1", 2}, {"K", 4}, {"V", 3}};
    request.cotangents = true;
    auto source = [&](llvm::StringRef body) {
      return (head + body + "\n larc.yield %o\n}").str();
    };
    RecurrenceOp spec = parse(source(composite));
    TensorMap inputs = llvm::cantFail(makeRandomInputs(spec, {}, request));
    expectClose(run(spec, inputs, true),
                run(parse(source(simple)), inputs, true), 1e-13);
  };
  compare("%o = larc.softmax %x over K, V", R"(
    %h = larc.reduce max %x over K, V
    %d = larc.sub %x, %h
    %e = larc.exp %d
    %s = larc.reduce sum %e over K, V
    %o = larc.div %e, %s)");
  compare("%o = larc.normalize %x over V add 0.5", R"(
    %n2 = larc.contract %x, %x over V
    %n = larc.sqrt %n2
    %c = larc.constant 0.5
    %d = larc.add %n, %c
    %o = larc.div %x, %d)");
  compare("%o = larc.orthogonalize %x over V, K iterations(2)", R"(
    %n2 = larc.contract %x, %x over K, V
    %n = larc.sqrt %n2
    %eps = larc.constant 1.0e-6
    %d = larc.add %n, %eps
    %x0 = larc.div %x, %d
    %a = larc.constant 1.5
    %b = larc.constant -0.5
    %r0 = larc.rename %x0 K to J
    %g0 = larc.contract %x0, %r0 over V
    %t0 = larc.contract %r0, %g0 over J
    %p0 = larc.mul %a, %x0
    %q0 = larc.mul %b, %t0
    %x1 = larc.add %p0, %q0
    %r1 = larc.rename %x1 K to J
    %g1 = larc.contract %x1, %r1 over V
    %t1 = larc.contract %r1, %g1 over J
    %p1 = larc.mul %a, %x1
    %q1 = larc.mul %b, %t1
    %o = larc.add %p1, %q1)");
  compare(R"(%o = larc.orthogonalize %x over K, V iterations(1)
             coefficients([2.0, -1.5, 0.25]) eps(0.1))",
          R"(
    %n = larc.norm %x over K, V
    %eps = larc.constant 0.1
    %d = larc.add %n, %eps
    %x0 = larc.div %x, %d
    %r = larc.rename %x0 V to J
    %g = larc.contract %x0, %r over K
    %t = larc.contract %r, %g over J
    %tr = larc.rename %t V to J
    %u = larc.contract %tr, %g over J
    %a = larc.constant 2.0
    %b = larc.constant -1.5
    %c = larc.constant 0.25
    %p = larc.mul %a, %x0
    %q = larc.mul %b, %t
    %s = larc.mul %c, %u
    %pq = larc.add %p, %q
    %o = larc.add %pq, %s)");
  compare(R"(%u, %w = larc.nest over [B1, K, V] {
      %e = larc.exp %x
      %r = larc.reduce sum %e over K
      larc.yield %e, %r
    }
    %o = larc.mul %u, %w)",
          R"(
    %e = larc.exp %x
    %r = larc.reduce sum %e over K
    %o = larc.mul %e, %r)");
}

TEST_F(OperationTest, OrthogonalizeOfZeros) {
  RecurrenceOp spec = parse(R"(
    larc.recurrence @f(%x[K, V]) -> (o[K, V]) {
      %o = larc.orthogonalize %x over K, V iterations(1)
      larc.yield %o
    })");
  TensorMap inputs;
  inputs.try_emplace("x", makeTensor({1, 1, 1, 1, 2}, {0, 0}));
  inputs.try_emplace("cot.o", makeTensor({1, 1, 1, 1, 2}, {1, 0}));
  TensorMap results = run(spec, inputs, true);
  expectValues(results, "out.o", {0, 0});
  expectValues(results, "grad.x", {1.5e6, 0});
}

TEST_F(OperationTest, SliceAndRenameAreViews) {
  RecurrenceOp spec = parse(R"(
    larc.recurrence @f(%x[A, Z]) -> (o[A, C]) {
      %r = larc.rename %x Z to C
      %s = larc.slice %x[Z = 1]
      %o = larc.mul %r, %s
      larc.yield %o
    })");
  TensorMap inputs;
  inputs.try_emplace("x", makeTensor({1, 1, 1, 2, 2}, {1, 2, 3, 4}));
  inputs.try_emplace("cot.o", makeTensor({1, 1, 1, 2, 2}, {1, 0, 0, 1}));
  TensorMap results = run(spec, inputs, true);
  expectValues(results, "out.o", {2, 4, 12, 16});
  expectValues(results, "grad.x", {2, 1, 0, 8});
}

} // namespace
