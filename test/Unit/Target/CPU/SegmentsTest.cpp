//===- SegmentsTest.cpp - Sequences run in pieces -*- C++ -*- -------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledTestUtils.h"

#include "larc/Analysis/Summaries.h"
#include "larc/Specs/Specs.h"
#include "larc/Support/Error.h"

#include "mlir/IR/Diagnostics.h"

#include <cstring>

using namespace larc;
using namespace larc::test;

namespace {

using Dims = std::vector<std::pair<std::string, int64_t>>;

class SegmentsTest : public CompiledTest {
protected:
  /// Runs in 1, 2, 3 and 7 segments on several threads and compares with the
  /// reference. `dtype` is that of everything; sizes of axes are the same in
  /// all `inputs`.
  void checkSegments(RecurrenceOp spec, llvm::ArrayRef<TensorMap> inputs,
                     DType dtype, double limit) {
    std::vector<Problem> problems;
    std::vector<TensorMap> expected;
    for (const TensorMap &tensors : inputs) {
      ConversionOptions conversion;
      conversion.dtype = conversion.gateDType = dtype;
      problems.push_back(llvm::cantFail(
          bindProblem(spec, {}, cloneTensors(tensors), conversion, false)));
      conversion.allFloat64 = true;
      Problem exact = llvm::cantFail(
          bindProblem(spec, {}, cloneTensors(tensors), conversion, false));
      expected.push_back(llvm::cantFail(runReference(exact, {})));
    }
    CPUOptions options = CPUOptions::of(problems.front());
    for (int64_t segments : {1, 2, 3, 7}) {
      options.segments = segments;
      auto compiled =
          CompiledRecurrence::compile(problems.front().recurrence, options);
      ASSERT_TRUE(mlir::succeeded(compiled));
      for (size_t i = 0; i < problems.size(); ++i) {
        SCOPED_TRACE(std::to_string(segments) + " segments, shape " +
                     std::to_string(i));
        EXPECT_EQ((*compiled)->getPlan(problems[i], 2).segments, segments);
        TensorMap results = run(**compiled, problems[i], 1);
        expectClose(results, expected[i], limit);
        TensorMap others = run(**compiled, problems[i], 3);
        for (auto &[name, tensor] : results)
          EXPECT_EQ(std::memcmp(tensor.getRawData(),
                                others.find(name)->second.getRawData(),
                                countBytes(tensor)),
                    0)
              << name << " on three threads";
      }
    }
  }

  std::vector<TensorMap> makeAllInputs(RecurrenceOp spec, const Dims &dims,
                                       llvm::ArrayRef<Shape> shapes) {
    std::vector<TensorMap> inputs;
    for (const Shape &shape : shapes)
      inputs.push_back(makeInputs(spec, dims, shape, inputs.size() + 1));
    return inputs;
  }

  void checkSource(llvm::StringRef source, const Dims &dims,
                   llvm::ArrayRef<Shape> shapes) {
    SCOPED_TRACE(source.str());
    RecurrenceOp spec = parse(source);
    ASSERT_TRUE(spec);
    std::vector<TensorMap> inputs = makeAllInputs(spec, dims, shapes);
    checkSegments(spec, inputs, DType::F64, 1e-9);
    checkSegments(spec, inputs, DType::F32, 2e-5);
  }

  /// Expects that the spec cannot be cut, for a reason.
  void expectRefusal(llvm::StringRef source, const Dims &dims,
                     llvm::StringRef reason) {
    RecurrenceOp spec = parse(source);
    ASSERT_TRUE(spec);
    TensorMap inputs = makeInputs(spec, dims, {}, 1);
    ConversionOptions conversion;
    llvm::Expected<Problem> problem =
        bindProblem(spec, {}, std::move(inputs), conversion, false);
    ASSERT_TRUE(static_cast<bool>(problem));
    CPUOptions options = CPUOptions::of(*problem);
    options.segments = 2;
    std::string message;
    mlir::ScopedDiagnosticHandler handler(spec.getContext(),
                                          [&](mlir::Diagnostic &diagnostic) {
                                            message += diagnostic.str();
                                            return mlir::success();
                                          });
    EXPECT_TRUE(mlir::failed(
        CompiledRecurrence::compile(problem->recurrence, options)));
    EXPECT_NE(message.find(reason.str()), std::string::npos) << message;
  }

private:
  static size_t countBytes(const Tensor &tensor) {
    return tensor.getNumElements() * getByteWidth(tensor.getDType());
  }
  static TensorMap run(CompiledRecurrence &compiled, Problem &problem,
                       unsigned threads) {
    TensorMap results = llvm::cantFail(createResults(problem, false));
    for (auto &[name, tensor] : results)
      std::memset(tensor.getRawData(), 0xff, countBytes(tensor));
    llvm::cantFail(compiled.run(problem, results, threads));
    return results;
  }
};

/// Sequences of every kind: longer and shorter than the number of segments, and
/// empty ones.
std::vector<Shape> getShapes() {
  std::vector<Shape> shapes;
  shapes.push_back({2, 37, 2, {}, {}, {}, 100});
  shapes.push_back({1, 4, 1, {}, {}, {}, 0});
  shapes.push_back({1, 0, 2, {0, 1, 30, 5, 0, 12}, {}, {}, 100});
  return shapes;
}

// Every built-in recurrence that composes.
TEST_F(SegmentsTest, BuiltIn) {
  unsigned count = 0;
  for (const BuiltinSpec &builtin : getBuiltinSpecs()) {
    SCOPED_TRACE(builtin.name.str());
    RecurrenceOp spec = load(builtin.name);
    ASSERT_TRUE(spec);
    {
      mlir::ScopedDiagnosticHandler handler(
          &context, [&](mlir::Diagnostic &) { return mlir::success(); });
      auto flat = flatten(spec, {});
      ASSERT_TRUE(mlir::succeeded(flat));
      if (mlir::failed(summarize(getRecurrence(**flat))))
        continue;
    }
    ++count;
    Dims dims;
    for (mlir::StringAttr axis : spec.getAllAxes())
      dims.push_back({axis.str(), axis == "n" ? 2 : axis == "V" ? 5 : 6});
    checkSegments(spec, makeAllInputs(spec, dims, getShapes()), DType::F64,
                  1e-9);
  }
  EXPECT_GE(count, 18u);
}

// Decays of both sides, which the delta rule's matrix has as factors.
TEST_F(SegmentsTest, DeltaRuleWithDecaysOnBothSides) {
  checkSource(R"(
      larc.recurrence @r(%q[K], %k[K]: unit(K), %v[V], %g[K]: gate,
                         %h[V]: gate, %f: gate, %beta: coefficient)
          state(%S[K, V]) -> (o[V]) {
        %a = larc.exp %g
        %b = larc.exp %h
        %c = larc.exp %f
        %rows = larc.mul %a, %S
        %both = larc.mul %b, %rows
        %kept = larc.mul %c, %both
        %known = larc.contract %kept, %k over K
        %error = larc.sub %v, %known
        %step = larc.mul %beta, %error
        %write = larc.mul %k, %step
        %next = larc.add %kept, %write
        %o = larc.contract %next, %q over K
        larc.yield %next, %o
      })",
              {{"K", 5}, {"V", 7}}, getShapes());
}

// A chain of three states, each deciding how the next decays.
TEST_F(SegmentsTest, Levels) {
  checkSource(R"(
      larc.recurrence @r(%q[K], %k[K], %v[V], %g: gate)
          state(%a[K] = -inf, %B[K] = 0.5, %S[K, V] = 2.0) -> (o[V]) {
        %a_next = larc.logaddexp %a, %k
        %x = larc.sub %k, %a_next
        %y = larc.exp %x
        %keep = larc.exp %g
        %B_kept = larc.mul %keep, %B
        %B_next = larc.add %B_kept, %y
        %z = larc.sigmoid %B_next
        %S_kept = larc.mul %z, %S
        %write = larc.mul %y, %v
        %S_next = larc.add %S_kept, %write
        %o = larc.contract %S_next, %q over K
        larc.yield %a_next, %B_next, %S_next, %o
      })",
              {{"K", 5}, {"V", 7}}, getShapes());
}

// A minimum; a state that never changes; one that forgets all at every token.
TEST_F(SegmentsTest, SmallStates) {
  checkSource(R"(
      larc.recurrence @r(%x[K], %f) state(%low[K] = 3.0, %bias[K], %last[K])
          -> (o[K]) {
        %moved = larc.add %low, %f
        %low_next = larc.min %moved, %x
        %sum = larc.add %low_next, %bias
        %o = larc.add %sum, %last
        larc.yield %low_next, %bias, %x, %o
      })",
              {{"K", 5}}, getShapes());
}

// Heads shared between queries; blocks of columns.
TEST_F(SegmentsTest, HeadsAndBlocks) {
  checkSource(R"(
    larc.recurrence @r(%q[K], %k[K], %v[V], %g[K]: gate) state(%S[K, V])
        -> (o[V]) {
      %a = larc.exp %g
      %kept = larc.mul %a, %S
      %write = larc.mul %k, %v
      %next = larc.add %kept, %write
      %o = larc.contract %next, %q over K
      larc.yield %next, %o
    })",
              {{"K", 96}, {"V", 160}},
              {Shape{1, 50, 4, {}, {{"k", 2}}, {}, 100}});
}

TEST_F(SegmentsTest, RefusesValueSteps) {
  expectRefusal(R"(
    larc.recurrence @r(%q[K], %k[K], %v[V], %beta[V]) state(%S[K, V])
        -> (o[V]) {
      %known = larc.contract %S, %k over K
      %error = larc.sub %v, %known
      %step = larc.mul %beta, %error
      %write = larc.mul %k, %step
      %next = larc.add %S, %write
      %o = larc.contract %next, %q over K
      larc.yield %next, %o
    })",
                {{"K", 4}, {"V", 4}},
                "adds values that factors along other axes than the reads' "
                "scale differently");
}

TEST_F(SegmentsTest, RefusesSequential) {
  expectRefusal(R"(
    larc.recurrence @r(%k[K]) state(%S[K]) -> (o[K]) {
      %sum = larc.add %S, %k
      %next = larc.tanh %sum
      larc.yield %next, %next
    })",
                {{"K", 4}}, "is no part of a transition that composes");
}

TEST_F(SegmentsTest, RefusesPeriods) {
  expectRefusal(R"(
    larc.recurrence @r(%k[K]) state(%S[K]) attributes(every = period(4))
        -> (o[K]) {
      %sum = larc.add %S, %k
      %next = larc.fire every 1 iter(%X = %sum) {
        %zero = larc.constant 0.0
        %Y = larc.mul %X, %zero
        larc.yield %Y
      }
      larc.yield %next, %next
    })",
                {{"K", 4}}, "changes at the end of a period");
}

} // namespace
