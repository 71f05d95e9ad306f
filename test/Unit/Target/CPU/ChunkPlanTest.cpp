//===- ChunkPlanTest.cpp - A fixed plan of chunks ---------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// With the size of chunks given and one segment, results are the same bit by
// bit whatever else is computed with them, for every built-in recurrence.

#include "CompiledTestUtils.h"

#include "larc/Specs/Specs.h"
#include "larc/Support/Error.h"

#include <cstring>

using namespace larc;
using namespace larc::test;

namespace {

constexpr int64_t numRows = 3, numTokens = 37, chunkSize = 16;

class ChunkPlanTest : public CompiledTest {
protected:
  /// Loads a spec with attribute `values` and draws two sets of inputs.
  void prepare(llvm::StringRef name, Values attributes) {
    values = std::move(attributes);
    spec = load(name);
    ASSERT_TRUE(spec);
    RandomInputs request;
    request.dims = {{"H", 2}, {"B", numRows}, {"T", numTokens}};
    // An axis of levels has its size from an attribute, and what a level has
    // of its own is numbered.
    llvm::SmallVector<mlir::StringAttr> axes = spec.getAllAxes();
    bool hasLevels = llvm::is_contained(axes, "L");
    for (mlir::StringAttr axis : axes) {
      if (axis == "n" && hasLevels) {
        request.dims.push_back({"n1", 2});
        request.dims.push_back({"n2", 2});
      } else if (axis != "L") {
        request.dims.push_back({axis.str(), axis == "n"   ? 2
                                            : axis == "V" ? 5
                                                          : 6});
      }
    }
    request.initialStates = true;
    for (TensorMap *map : {&inputs, &others}) {
      request.seed = map == &inputs ? 1 : 2;
      llvm::Expected<TensorMap> made = makeRandomInputs(spec, values, request);
      if (!made)
        FAIL() << renderError(made.takeError());
      *map = std::move(*made);
    }
    for (auto decl : spec.getTokenOperands().getAsRange<OperandDeclAttr>())
      tokenOperands.push_back(decl.getName().str());
  }

  bool isTokenOperand(llvm::StringRef name) const {
    return llvm::is_contained(tokenOperands, name);
  }
  bool isOfSequence(llvm::StringRef name) const {
    return name.contains('.') || isTokenOperand(name);
  }

  TensorMap runOn(const TensorMap &tensors, unsigned threads = 1) {
    ConversionOptions conversion;
    conversion.dtype = conversion.gateDType = DType::F32;
    llvm::Expected<Problem> problem = bindProblem(
        spec, values, cloneTensors(tensors), conversion, /*cotangents=*/false);
    if (!problem) {
      ADD_FAILURE() << renderError(problem.takeError());
      return {};
    }
    if (!compiled) {
      CPUOptions options = CPUOptions::of(*problem);
      options.form = CPUForm::Chunk;
      options.chunkSize = chunkSize;
      options.segments = 1;
      auto made = CompiledRecurrence::compile(problem->recurrence, options);
      if (failed(made)) {
        ADD_FAILURE() << "does not compile";
        return {};
      }
      compiled = std::move(*made);
    }
    TensorMap results = llvm::cantFail(createResults(*problem, false));
    for (auto &[name, tensor] : results)
      std::memset(tensor.getRawData(), 0xff,
                  tensor.getNumElements() * getByteWidth(tensor.getDType()));
    llvm::cantFail(compiled->run(*problem, results, threads));
    return results;
  }

  /// Tokens [begin, end) of all rows.
  TensorMap cutTokens(const TensorMap &tensors, int64_t begin, int64_t end) {
    TensorMap result;
    for (const auto &[name, tensor] : tensors)
      result.try_emplace(name, isTokenOperand(name)
                                   ? sliceTensor(tensor, 1, begin, end)
                                   : llvm::cantFail(tensor.clone()));
    return result;
  }

  TensorMap cutRow(const TensorMap &tensors, int64_t row) {
    TensorMap result;
    for (const auto &[name, tensor] : tensors)
      result.try_emplace(name, isOfSequence(name)
                                   ? sliceTensor(tensor, 0, row, row + 1)
                                   : llvm::cantFail(tensor.clone()));
    return result;
  }

  /// The tensors' numbers, to the bit.
  static void expectSame(const Tensor &got, const Tensor &expected,
                         const std::string &what) {
    std::vector<double> lhs = getValues(got), rhs = getValues(expected);
    ASSERT_EQ(lhs.size(), rhs.size()) << what;
    EXPECT_TRUE(lhs.empty() || std::memcmp(lhs.data(), rhs.data(),
                                           lhs.size() * sizeof(double)) == 0)
        << what;
  }

  /// `got`'s outputs are those of tokens [0, end) of `whole`.
  void expectPrefix(const TensorMap &got, const TensorMap &whole, int64_t end,
                    const std::string &what) {
    for (const auto &[name, tensor] : whole) {
      auto it = got.find(name);
      if (llvm::StringRef(name).starts_with("out.") && it != got.end())
        expectSame(sliceTensor(it->second, 1, 0, end),
                   sliceTensor(tensor, 1, 0, end), name + ", " + what);
    }
  }

  void checkPlan();

  RecurrenceOp spec;
  Values values;
  TensorMap inputs, others;
  std::vector<std::string> tokenOperands;
  std::unique_ptr<CompiledRecurrence> compiled;
};

void ChunkPlanTest::checkPlan() {
  TensorMap whole = runOn(inputs);
  ASSERT_FALSE(whole.empty());
  for (unsigned threads : {2, 3, 7}) {
    TensorMap results = runOn(inputs, threads);
    for (const auto &[name, tensor] : whole)
      expectSame(results.find(name)->second, tensor,
                 name + " with " + std::to_string(threads) + " threads");
  }

  // Causality: other tokens from `end` on; none; and padding.
  for (int64_t end = 0; end <= numTokens; ++end) {
    std::string at = std::to_string(end);
    expectPrefix(runOn(cutTokens(inputs, 0, end)), whole, end,
                 "first " + at + " tokens alone");
    TensorMap changed = cloneTensors(inputs);
    for (const std::string &name : tokenOperands) {
      Tensor &tensor = changed.find(name)->second;
      const Tensor &other = others.find(name)->second;
      std::vector<double> numbers = getValues(tensor), from = getValues(other);
      int64_t inner = int64_t(numbers.size()) / numRows / numTokens;
      for (int64_t row = 0; row < numRows; ++row)
        for (int64_t i = end * inner; i < numTokens * inner; ++i)
          numbers[row * numTokens * inner + i] =
              from[row * numTokens * inner + i];
      tensor = makeTensor(tensor.getShape(), numbers);
    }
    expectPrefix(runOn(changed), whole, end, "others from token " + at);
  }

  // Rows alone.
  for (int64_t row = 0; row < numRows; ++row) {
    TensorMap results = runOn(cutRow(inputs, row));
    for (const auto &[name, tensor] : whole)
      expectSame(results.find(name)->second,
                 sliceTensor(tensor, 0, row, row + 1),
                 name + ", row " + std::to_string(row) + " alone");
  }

  // Rows packed, then an empty sequence.
  TensorMap packed;
  for (const auto &[name, tensor] : inputs) {
    llvm::SmallVector<int64_t> shape(tensor.getShape());
    std::vector<double> numbers = getValues(tensor);
    if (isTokenOperand(name)) {
      shape[0] = 1;
      shape[1] = numRows * numTokens;
    } else if (isOfSequence(name)) {
      shape[0] = numRows + 1;
      numbers.resize(numbers.size() / numRows * (numRows + 1), 0.25);
    }
    packed.try_emplace(name, makeTensor(shape, numbers));
  }
  packed.try_emplace("cu_seqlens",
                     makeIntegers({0, numTokens, 2 * numTokens, 3 * numTokens,
                                   3 * numTokens}));
  TensorMap results = runOn(packed, 2);
  for (const auto &[name, tensor] : whole) {
    std::vector<double> got = getValues(results.find(name)->second),
                        expected = getValues(tensor);
    got.resize(expected.size());
    EXPECT_EQ(
        std::memcmp(got.data(), expected.data(), got.size() * sizeof(double)),
        0)
        << name << ", packed";
  }

  // Two calls round differently, within the limits.
  for (int64_t cut : {1, 16, 23}) {
    SCOPED_TRACE("two calls, cut at " + std::to_string(cut));
    TensorMap first = runOn(cutTokens(inputs, 0, cut));
    TensorMap rest = cutTokens(inputs, cut, numTokens);
    for (const auto &[name, tensor] : first)
      if (llvm::StringRef state = name; state.consume_front("final.")) {
        std::string key =
            state.starts_with("anchor.") ? state.str() : "state." + state.str();
        rest.insert_or_assign(key, llvm::cantFail(tensor.clone()));
      }
    if (spec.getPeriod() > 0 || spec.getPeriodDecl())
      rest.try_emplace("position",
                       makeIntegers(std::vector<int64_t>(numRows, cut)));
    TensorMap second = runOn(rest), expected;
    for (const auto &[name, tensor] : whole)
      expected.try_emplace(
          name, llvm::StringRef(name).starts_with("out.")
                    ? sliceTensor(tensor, 1, cut, numTokens)
                    : makeTensor(tensor.getShape(), getValues(tensor)));
    expectClose(second, expected, 2e-5);
  }
}

TEST_F(ChunkPlanTest, BuiltIn) {
  for (const BuiltinSpec &builtin : getBuiltinSpecs()) {
    SCOPED_TRACE(builtin.name.str());
    RecurrenceOp declared = load(builtin.name);
    ASSERT_TRUE(declared);
    std::vector<Values> choices = {{}};
    if (AttributeDeclAttr period = declared.getPeriodDecl())
      choices = {{{period.getName().str(), "1"}},
                 {{period.getName().str(), "5"}}};
    for (const Values &choice : choices) {
      SCOPED_TRACE(choice.empty() ? "" : "period " + choice.front().second);
      compiled.reset();
      tokenOperands.clear();
      prepare(builtin.name, choice);
      if (!HasFatalFailure())
        checkPlan();
    }
  }
}

} // namespace
