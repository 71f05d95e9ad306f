//===- SequenceTest.cpp - Tokens, sequences, heads, periods -----*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomSpec.h"
#include "ReferenceTestUtils.h"

#include "larc/Support/Error.h"

#include <cstring>
#include <sys/resource.h>

using namespace larc;
using namespace larc::test;

namespace {

/// A state with a decay, an anchor, a firing level, a constant and an output.
constexpr llvm::StringLiteral periodic = R"(
  larc.recurrence @periodic(%k[K], %v[V], %g) constant(%u[K])
      state(%S[K, V], %P[V, K] = 0.5) attributes(steps = period(3)) -> (o[V]) {
    %A = larc.anchor %S
    %a = larc.sigmoid %g
    %d = larc.mul %a, %S
    %w = larc.mul %k, %v
    %c = larc.contract %A, %k over K
    %e = larc.mul %u, %c
    %f = larc.sub %w, %e
    %T = larc.add %d, %f
    %Q = larc.fire every 2 iter(%X = %P) {
      %n = larc.normalize %T over K max 0.1
      %m = larc.add %X, %n
      larc.yield %m
    }
    %read = larc.contract %Q, %k over K
    %r2 = larc.contract %T, %u over K
    %o = larc.add %read, %r2
    larc.yield %T, %Q, %o
  })";

class SequenceTest : public ReferenceTest {
protected:
  TensorMap
  makeInputs(RecurrenceOp spec, int64_t batch, int64_t tokens, int64_t heads,
             std::vector<int64_t> lengths = {},
             std::vector<std::pair<std::string, int64_t>> counts = {}) {
    RandomInputs request;
    request.dims = {{"H", heads}, {"K", 5}, {"V", 3}};
    if (lengths.empty()) {
      request.dims.push_back({"B", batch});
      request.dims.push_back({"T", tokens});
    }
    request.lengths.assign(lengths.begin(), lengths.end());
    request.headCounts.assign(counts.begin(), counts.end());
    request.initialStates = request.cotangents = true;
    return llvm::cantFail(makeRandomInputs(spec, {}, request));
  }

  static bool isSameBits(const TensorMap &lhs, const TensorMap &rhs) {
    if (lhs.size() != rhs.size())
      return false;
    for (const auto &[name, tensor] : lhs) {
      auto it = rhs.find(name);
      if (it == rhs.end() || it->second.getShape() != tensor.getShape() ||
          std::memcmp(it->second.getRawData(), tensor.getRawData(),
                      tensor.getByteSize()))
        return false;
    }
    return true;
  }
};

TEST_F(SequenceTest, NoTokens) {
  RecurrenceOp spec = parse(periodic);
  TensorMap inputs = makeInputs(spec, 2, 0, 2);
  TensorMap results = run(spec, inputs, true);
  EXPECT_EQ(results.at("out.o").getShape(),
            llvm::ArrayRef<int64_t>({2, 0, 2, 3}));
  TensorMap expected;
  expected.try_emplace("final.S", llvm::cantFail(inputs.at("state.S").clone()));
  expected.try_emplace("final.P", llvm::cantFail(inputs.at("state.P").clone()));
  expected.try_emplace("final.anchor.S",
                       llvm::cantFail(inputs.at("state.S").clone()));
  expected.try_emplace("grad.state.P",
                       llvm::cantFail(inputs.at("cot.final.P").clone()));
  expectClose(results, expected, 1e-15);
  // What the anchor is given, the state is: they are one.
  std::vector<double> got = getValues(results.at("grad.state.S"));
  std::vector<double> state = getValues(inputs.at("cot.final.S"));
  std::vector<double> anchor = getValues(inputs.at("cot.final.anchor.S"));
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_DOUBLE_EQ(got[i], state[i] + anchor[i]);
  for (double value : getValues(results.at("grad.u")))
    EXPECT_EQ(value, 0);
}

TEST_F(SequenceTest, NoSequences) {
  RecurrenceOp spec = parse(periodic);
  TensorMap results = run(spec, makeInputs(spec, 0, 4, 2), true);
  EXPECT_EQ(results.at("final.S").getShape(),
            llvm::ArrayRef<int64_t>({0, 2, 5, 3}));
  for (double value : getValues(results.at("grad.u")))
    EXPECT_EQ(value, 0);
}

TEST_F(SequenceTest, AbsentStateIsTheInitialValue) {
  RecurrenceOp spec = parse(periodic);
  TensorMap inputs = makeInputs(spec, 2, 7, 2);
  inputs.erase("state.S");
  inputs.erase("state.P");
  TensorMap absent = run(spec, inputs, true);
  EXPECT_FALSE(absent.count("grad.state.S"));
  EXPECT_FALSE(absent.count("grad.state.P"));
  inputs.try_emplace("state.S",
                     makeTensor({2, 2, 5, 3}, std::vector<double>(60, 0.0)));
  inputs.try_emplace("state.P",
                     makeTensor({2, 2, 3, 5}, std::vector<double>(60, 0.5)));
  TensorMap given = run(spec, inputs, true);
  given.erase("grad.state.S");
  given.erase("grad.state.P");
  EXPECT_TRUE(isSameBits(absent, given));
}

TEST_F(SequenceTest, PackedIsEachSequenceAlone) {
  RecurrenceOp spec = parse(periodic);
  std::vector<int64_t> lengths = {4, 0, 1, 9, 0};
  TensorMap inputs = makeInputs(spec, 1, 0, 2, lengths);
  inputs.try_emplace("position", makeIntegers({0, 3, 6, 12, 9}));
  TensorMap packed = run(spec, inputs, true, {}, 2);
  std::vector<double> total(2 * 5, 0.0);
  int64_t begin = 0;
  for (size_t i = 0; i < lengths.size(); ++i) {
    TensorMap own, expected;
    for (const auto &[name, tensor] : inputs) {
      llvm::StringRef ref = name;
      if (name == "cu_seqlens")
        continue;
      if (name == "position")
        own.try_emplace(name, makeIntegers({tensor.getAs<int64_t>(i)}));
      else if (name == "u")
        own.try_emplace(name, llvm::cantFail(tensor.clone()));
      else if (ref.starts_with("state.") || ref.starts_with("cot.final."))
        own.try_emplace(name, sliceTensor(tensor, 0, i, i + 1));
      else
        own.try_emplace(name,
                        sliceTensor(tensor, 1, begin, begin + lengths[i]));
    }
    TensorMap alone = run(spec, own, true);
    for (const auto &[name, tensor] : packed) {
      llvm::StringRef ref = name;
      if (name == "grad.u")
        continue;
      bool isState =
          ref.starts_with("final.") || ref.starts_with("grad.state.");
      expected.try_emplace(
          name, isState ? sliceTensor(tensor, 0, i, i + 1)
                        : sliceTensor(tensor, 1, begin, begin + lengths[i]));
    }
    expectClose(alone, expected, 1e-15);
    std::vector<double> part = getValues(alone.at("grad.u"));
    for (size_t k = 0; k < total.size(); ++k)
      total[k] += part[k];
    begin += lengths[i];
  }
  TensorMap sum;
  sum.try_emplace("grad.u", makeTensor({2, 5}, total));
  expectClose(packed, sum, 1e-14);
}

TEST_F(SequenceTest, SharedHeadsAreRepeatedOnes) {
  RecurrenceOp spec = parse(periodic);
  TensorMap inputs = makeInputs(spec, 2, 7, 6, {}, {{"k", 2}, {"g", 3}});
  TensorMap shared = run(spec, inputs, true, {}, 2);
  TensorMap repeated = cloneTensors(inputs);
  for (const char *name : {"k", "g"}) {
    const Tensor &tensor = inputs.at(name);
    int64_t heads = tensor.getDim(2), group = 6 / heads;
    llvm::SmallVector<int64_t> shape(tensor.getShape());
    int64_t size = tensor.getRank() == 4 ? 5 : 1;
    shape[2] = 6;
    std::vector<double> values = getValues(tensor), all;
    for (int64_t i = 0; i < int64_t(values.size()); i += size)
      for (int64_t copy = 0; copy < group; ++copy)
        all.insert(all.end(), values.begin() + i, values.begin() + i + size);
    repeated.insert_or_assign(name, makeTensor(shape, all));
  }
  TensorMap full = run(spec, repeated, true);
  for (const char *name : {"k", "g"}) {
    const Tensor &tensor = inputs.at(name);
    int64_t heads = tensor.getDim(2), group = 6 / heads;
    int64_t size = tensor.getRank() == 4 ? 5 : 1;
    std::string gradient = std::string("grad.") + name;
    std::vector<double> parts = getValues(full.at(gradient));
    std::vector<double> sums(parts.size() / group, 0.0);
    for (size_t i = 0; i < parts.size(); ++i)
      sums[i / size / group * size + i % size] += parts[i];
    full.insert_or_assign(gradient, makeTensor(tensor.getShape(), sums));
  }
  expectClose(shared, full, 1e-15);
}

TEST_F(SequenceTest, ThreadsDoNotChangeBits) {
  RecurrenceOp spec = parse(periodic);
  TensorMap inputs = makeInputs(
      spec, 1, 0, 4,
      {3, 5, 0, 2, 1, 1, 4, 2, 6, 1, 1, 1, 2, 3, 1, 1, 2, 2, 1, 7}, {{"k", 2}});
  TensorMap one = run(spec, inputs, true, {}, 1);
  EXPECT_TRUE(isSameBits(one, run(spec, inputs, true, {}, 3)));
  EXPECT_TRUE(isSameBits(one, run(spec, inputs, true, {}, 16)));
}

TEST_F(SequenceTest, TwoCallsAreOne) {
  RecurrenceOp spec = parse(periodic);
  TensorMap inputs = makeInputs(spec, 2, 11, 2);
  inputs.try_emplace("position", makeIntegers({0, 4}));
  inputs.try_emplace("anchor.S",
                     llvm::cantFail(inputs.at("cot.final.anchor.S").clone()));
  TensorMap whole = run(spec, inputs, true);
  for (int64_t cut = 0; cut <= 11; ++cut) {
    SCOPED_TRACE(cut);
    auto slice = [&](int64_t begin, int64_t end) {
      TensorMap part;
      for (const char *name : {"k", "v", "g", "cot.o"})
        part.try_emplace(name, sliceTensor(inputs.at(name), 1, begin, end));
      part.try_emplace("u", llvm::cantFail(inputs.at("u").clone()));
      part.try_emplace("position", makeIntegers({begin, 4 + begin}));
      return part;
    };
    auto copy = [](TensorMap &to, const std::string &name,
                   const TensorMap &from, const std::string &source) {
      to.try_emplace(name, llvm::cantFail(from.at(source).clone()));
    };
    TensorMap head = slice(0, cut), tail = slice(cut, 11);
    for (const char *name : {"state.S", "state.P", "anchor.S"})
      copy(head, name, inputs, name);
    for (const char *name :
         {"cot.final.S", "cot.final.P", "cot.final.anchor.S"})
      copy(tail, name, inputs, name);
    TensorMap forward = run(spec, head, false);
    copy(tail, "state.S", forward, "final.S");
    copy(tail, "state.P", forward, "final.P");
    copy(tail, "anchor.S", forward, "final.anchor.S");
    TensorMap second = run(spec, tail, true);
    copy(head, "cot.final.S", second, "grad.state.S");
    copy(head, "cot.final.P", second, "grad.state.P");
    copy(head, "cot.final.anchor.S", second, "grad.anchor.S");
    TensorMap first = run(spec, head, true);

    TensorMap expected;
    for (const char *name : {"final.S", "final.P", "final.anchor.S"})
      copy(expected, name, whole, name);
    expectClose(second, expected, 1e-14);
    TensorMap expectedHead;
    for (const char *name : {"grad.state.S", "grad.state.P", "grad.anchor.S"})
      copy(expectedHead, name, whole, name);
    for (const char *name : {"out.o", "grad.k", "grad.v", "grad.g"})
      expectedHead.try_emplace(name, sliceTensor(whole.at(name), 1, 0, cut));
    expectClose(first, expectedHead, 1e-13);
  }
}

TEST_F(SequenceTest, FiresAtTheEndsOfPeriods) {
  // Counts how often each level fires, and reads after it.
  RecurrenceOp spec = parse(R"(
    larc.recurrence @count(%x) state(%A, %B) attributes(steps = period(2))
        -> (a, b) {
      %one = larc.constant 1.0
      %S = larc.fire every 1 iter(%X = %A) {
        %n = larc.add %X, %one
        larc.yield %n
      }
      %T = larc.fire every 3 iter(%X = %B) {
        %n = larc.add %X, %one
        larc.yield %n
      }
      %z = larc.constant 0.0
      %zero = larc.mul %x, %z
      %a = larc.add %S, %zero
      larc.yield %S, %T, %a, %T
    })");
  TensorMap inputs;
  inputs.try_emplace("x", makeTensor({2, 8, 1}, std::vector<double>(16, 1.0)));
  inputs.try_emplace("position", makeIntegers({0, 5}));
  TensorMap results = run(spec, inputs, false);
  EXPECT_EQ(getValues(results.at("out.a")),
            std::vector<double>({0, 1, 1, 2, 2, 3, 3, 4, //
                                 1, 1, 2, 2, 3, 3, 4, 4}));
  EXPECT_EQ(getValues(results.at("out.b")),
            std::vector<double>({0, 0, 0, 0, 0, 1, 1, 1, //
                                 1, 1, 1, 1, 1, 1, 2, 2}));
}

TEST_F(SequenceTest, StatesMayTradePlaces) {
  RecurrenceOp spec = parse(R"(
    larc.recurrence @swap(%x[K]) state(%A[K], %B[K]) -> (o[K]) {
      %o = larc.mul %A, %x
      larc.yield %B, %A, %o
    })");
  TensorMap inputs;
  inputs.try_emplace("x", makeTensor({1, 3, 1, 1}, {2, 3, 5}));
  inputs.try_emplace("state.A", makeTensor({1, 1, 1}, {7}));
  inputs.try_emplace("state.B", makeTensor({1, 1, 1}, {11}));
  inputs.try_emplace("cot.o", makeTensor({1, 3, 1, 1}, {1, 1, 1}));
  inputs.try_emplace("cot.final.A", makeTensor({1, 1, 1}, {100}));
  TensorMap results = run(spec, inputs, true);
  EXPECT_EQ(getValues(results.at("out.o")), std::vector<double>({14, 33, 35}));
  EXPECT_EQ(getValues(results.at("final.A")), std::vector<double>({11}));
  EXPECT_EQ(getValues(results.at("grad.x")), std::vector<double>({7, 11, 7}));
  EXPECT_EQ(getValues(results.at("grad.state.A")), std::vector<double>({7}));
  EXPECT_EQ(getValues(results.at("grad.state.B")), std::vector<double>({103}));
}

TEST_F(SequenceTest, UnusedInputsHaveZeroGradients) {
  RecurrenceOp spec = parse(R"(
    larc.recurrence @f(%x[K], %unused[J]) constant(%c[K], %d[I]) -> (o[K]) {
      %o = larc.mul %x, %c
      larc.yield %o
    })");
  TensorMap inputs;
  inputs.try_emplace("x", makeTensor({1, 1, 1, 1}, {2}));
  inputs.try_emplace("c", makeTensor({1, 1}, {3}));
  inputs.try_emplace("cot.o", makeTensor({1, 1, 1, 1}, {1}));
  EXPECT_EQ(run(spec, inputs, true).size(), 3u);
  inputs.try_emplace("unused", makeTensor({1, 1, 1, 2}, {1, 1}));
  inputs.try_emplace("d", makeTensor({1, 1}, {1}));
  TensorMap results = run(spec, inputs, true);
  EXPECT_EQ(results.size(), 5u);
  EXPECT_EQ(getValues(results.at("grad.unused")), std::vector<double>({0, 0}));
  EXPECT_EQ(getValues(results.at("grad.d")), std::vector<double>({0}));
  EXPECT_EQ(getValues(results.at("grad.c")), std::vector<double>({2}));
}

TEST_F(SequenceTest, ProgressGoesToTheEnd) {
  RecurrenceOp spec = parse(periodic);
  ConversionOptions conversion;
  conversion.allFloat64 = true;
  for (bool gradients : {false, true}) {
    Problem problem = llvm::cantFail(bindProblem(
        spec, {}, makeInputs(spec, 3, 37, 2), conversion, gradients));
    ReferenceOptions options;
    options.gradients = gradients;
    options.threads = 2;
    double last = 0;
    options.progress = [&](double fraction) {
      EXPECT_GE(fraction, last);
      last = fraction;
    };
    llvm::cantFail(runReference(problem, options));
    EXPECT_EQ(last, 1);
  }
}

TEST_F(SequenceTest, OperationsWithoutAModelAreRefused) {
  // An index that only level expansion makes a number.
  RecurrenceOp spec = parse(R"(
    larc.recurrence @f(%x[L]) attributes(intervals[L] = [1, 2]) -> (o) {
      %s = larc.slice %x[L = 0]
      %o = larc.levels %l = 1 to L iter(%X = %s) {
        %t = larc.slice %x[L = %l]
        %u = larc.add %X, %t
        larc.yield %u
      }
      larc.yield %o
    })");
  Problem problem;
  problem.recurrence = spec;
  mlir::ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) {});
  llvm::Expected<TensorMap> results = runReference(problem, {});
  ASSERT_FALSE(bool(results));
  llvm::consumeError(results.takeError());
}

#if !defined(__SANITIZE_ADDRESS__) && !__has_feature(address_sanitizer) &&     \
    !__has_feature(thread_sanitizer) && !__has_feature(memory_sanitizer)
TEST_F(SequenceTest, LongSequencesFitMemory) {
  RecurrenceOp spec = load("gdn2");
  RandomInputs request;
  request.dims = {{"B", 1}, {"T", 4096}, {"H", 4}, {"K", 128}, {"V", 128}};
  request.initialStates = request.cotangents = true;
  run(spec, llvm::cantFail(makeRandomInputs(spec, {}, request)), true, {}, 2);
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  EXPECT_LT(usage.ru_maxrss, 2 << 20); // In KiB.
}
#endif

} // namespace
