//===- RandomInputsTest.cpp - Inputs drawn from the domains -----*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExecutionTestUtils.h"

#include "larc/Specs/Specs.h"

#include <cmath>

using namespace larc;
using namespace larc::test;

namespace {

using Shape = llvm::ArrayRef<int64_t>;

class RandomInputsTest : public ExecutionTest {
protected:
  RandomInputsTest() {
    request.dims = {{"B", 2}, {"T", 5}, {"H", 4}, {"K", 3}, {"V", 6}};
  }

  TensorMap make(RecurrenceOp spec) {
    llvm::Expected<TensorMap> inputs = makeRandomInputs(spec, {}, request);
    if (!inputs) {
      ADD_FAILURE() << renderError(inputs.takeError());
      return {};
    }
    return std::move(*inputs);
  }
  void expectError(llvm::StringRef name, llvm::StringRef message) {
    int exitCode = 0;
    std::string text =
        getError(makeRandomInputs(load(name), {}, request), &exitCode);
    EXPECT_TRUE(llvm::StringRef(text).starts_with(("error: " + message).str()))
        << text;
    EXPECT_EQ(exitCode, 2);
  }

  RandomInputs request;
};

TEST_F(RandomInputsTest, ShapesAndDomains) {
  request.headCounts = {{"k", 2}};
  request.initialStates = request.cotangents = true;
  TensorMap inputs = make(load("gla"));
  EXPECT_EQ(inputs.size(), 7u);
  EXPECT_EQ(inputs.at("q").getShape(), Shape({2, 5, 4, 3}));
  EXPECT_EQ(inputs.at("k").getShape(), Shape({2, 5, 2, 3}));
  EXPECT_EQ(inputs.at("v").getShape(), Shape({2, 5, 4, 6}));
  EXPECT_EQ(inputs.at("state.S").getShape(), Shape({2, 4, 3, 6}));
  EXPECT_EQ(inputs.at("cot.o").getShape(), Shape({2, 5, 4, 6}));
  EXPECT_EQ(inputs.at("cot.final.S").getShape(), Shape({2, 4, 3, 6}));
  for (const auto &[name, tensor] : inputs)
    EXPECT_EQ(tensor.getDType(), DType::F32) << name;
  for (float gate : inputs.at("g").getValues<float>())
    EXPECT_LT(gate, 0);
}

TEST_F(RandomInputsTest, OnlyWhatIsNeeded) {
  EXPECT_EQ(make(load("gla")).size(), 4u);
  request.dims = {{"B", 2}, {"T", 5}, {"H", 4}, {"M", 3}, {"D", 6}};
  TensorMap inputs = make(load("lattice_dec"));
  EXPECT_TRUE(inputs.count("state.S"));
}

TEST_F(RandomInputsTest, SeedsAndNames) {
  auto first = [&](llvm::StringRef spec, const char *name) {
    return make(load(spec)).at(name).getAs<double>(0);
  };
  double q = first("gla", "q");
  EXPECT_EQ(first("gla", "q"), q);
  EXPECT_NE(first("gla", "v"), q);
  // What else there is does not matter.
  request.cotangents = true;
  EXPECT_EQ(first("linear_attention", "q"), q);
  request.seed = 1;
  EXPECT_NE(first("gla", "q"), q);
}

TEST_F(RandomInputsTest, Packed) {
  request.dims = {{"H", 1}, {"K", 3}, {"V", 6}};
  request.lengths = {2, 0, 3};
  request.initialStates = true;
  TensorMap inputs = make(load("gla"));
  EXPECT_EQ(inputs.at("q").getShape(), Shape({1, 5, 1, 3}));
  EXPECT_EQ(inputs.at("state.S").getShape(), Shape({3, 1, 3, 6}));
  EXPECT_EQ(inputs.at("cu_seqlens").getValues<int64_t>(), Shape({0, 2, 2, 5}));
}

TEST_F(RandomInputsTest, BindEverySpec) {
  for (const BuiltinSpec &spec : getBuiltinSpecs()) {
    SCOPED_TRACE(spec.name.str());
    RecurrenceOp op = load(spec.name);
    auto module = flatten(op, {});
    ASSERT_TRUE(mlir::succeeded(module));
    request.dims = {{"B", 1}, {"T", 3}, {"H", 2}};
    int64_t size = 2;
    RecurrenceOp flat = getRecurrence(**module);
    for (mlir::StringAttr axis : flat.getAllAxes())
      if (!flat.getAxisSize(axis))
        request.dims.push_back({axis.str(), ++size});
    request.cotangents = request.initialStates = true;
    llvm::Expected<Problem> problem = bindProblem(op, {}, make(op), {}, true);
    EXPECT_TRUE(bool(problem)) << renderError(problem.takeError());
  }
}

TEST_F(RandomInputsTest, StatesThatGiveSizes) {
  RecurrenceOp spec = parse(R"(
    larc.recurrence @f(%x[K]) state(%S[M]) -> (o[K, M]) {
      %o = larc.mul %x, %S
      larc.yield %S, %o
    })");
  request.dims = {{"B", 2}, {"T", 5}, {"H", 4}, {"K", 3}, {"M", 6}};
  EXPECT_EQ(make(spec).at("state.S").getShape(), Shape({2, 4, 6}));
  spec = load("gla");
  request.dims = {{"B", 2}, {"T", 5}, {"H", 4}, {"K", 3}, {"V", 6}};
  request.headCounts = {{"q", 2}, {"k", 2}, {"v", 1}, {"g", 2}};
  Problem problem =
      llvm::cantFail(bindProblem(spec, {}, make(spec), {}, false));
  EXPECT_EQ(problem.heads, 4);
}

TEST_F(RandomInputsTest, Errors) {
  request.dims.pop_back();
  expectError("gla", "missing dim 'V'");
  request.dims.push_back({"v", 6});
  expectError("gla", "unknown dim 'v'");
  request.dims.back() = {"V", 0};
  expectError("gla", "dim 'V' is 0: sizes are positive");
  request.dims.back() = {"V", 6};
  request.dims.push_back({"V", 7});
  expectError("gla", "dim 'V' is 7, but");
  request.dims.pop_back();
  request.headCounts = {{"x", 2}};
  expectError("gla", "unknown operand 'x'");
  request.headCounts = {{"q", 3}};
  expectError("gla", "'q' has 3 heads, which do not divide H = 4");
  request.headCounts.clear();
  request.lengths = {2, 3};
  expectError("gla", "dim 'B' is 2, but the packed sequences have 1");
  request.dims = {{"T", 6}, {"H", 4}, {"K", 3}, {"V", 6}};
  expectError("gla", "dim 'T' is 6, but the packed sequences have 5");
  request.lengths = {2, -1};
  expectError("gla", "sequence length -1 is negative");
  request.lengths.clear();
  expectError("gla", "missing dim 'B'");
  request.dims.push_back({"B", int64_t(1) << 60});
  int exitCode = 0;
  getError(makeRandomInputs(load("gla"), {}, request), &exitCode);
  EXPECT_EQ(exitCode, 1);
}

} // namespace
