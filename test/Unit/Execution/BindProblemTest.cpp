//===- BindProblemTest.cpp - Tensors bound to a recurrence ------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExecutionTestUtils.h"

#include "llvm/ADT/StringExtras.h"

using namespace larc;
using namespace larc::test;

namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

class BindTest : public ExecutionTest {
protected:
  BindTest() {
    set("q", {2, 5, 4, 3});
    set("k", {2, 5, 2, 3});
    set("v", {2, 5, 4, 6});
    set("g", {2, 5, 4, 3});
  }

  void set(const std::string &name, std::vector<int64_t> shape,
           DType type = DType::F32) {
    inputs.insert_or_assign(name, makeTensor(shape, type));
  }
  void setIntegers(const std::string &name, std::vector<int64_t> values,
                   DType type = DType::I64) {
    inputs.insert_or_assign(name, makeIntegers(values, type));
  }

  /// The inputs of a lattice with a period of 4 tokens.
  RecurrenceOp useLattice() {
    inputs.clear();
    set("q", {2, 5, 1, 3});
    set("k", {2, 5, 1, 3});
    set("v", {2, 5, 1, 6});
    set("gamma", {2, 5, 1});
    set("mu", {2, 5, 1});
    set("state.S", {2, 1, 6, 3});
    values = {{"period", "4"}};
    return load("lattice_dec");
  }

  llvm::Expected<Problem> bind(RecurrenceOp spec) {
    TensorMap copies;
    for (const auto &[name, tensor] : inputs)
      copies.try_emplace(name, llvm::cantFail(tensor.clone()));
    return bindProblem(spec, values, std::move(copies), conversion,
                       needCotangents);
  }
  /// Expects an error whose text starts with `message` and has every other
  /// text.
  void expectError(RecurrenceOp spec, llvm::StringRef message,
                   std::vector<llvm::StringRef> others = {}) {
    int exitCode = 0;
    std::string text = getError(bind(spec), &exitCode);
    EXPECT_TRUE(llvm::StringRef(text).starts_with(("error: " + message).str()))
        << text;
    for (llvm::StringRef other : others)
      EXPECT_TRUE(llvm::StringRef(text).contains(other)) << text;
    EXPECT_EQ(exitCode, 1);
    // One line for the fault, and notes.
    llvm::SmallVector<llvm::StringRef> lines;
    llvm::StringRef(text).split(lines, '\n');
    for (llvm::StringRef line : llvm::drop_begin(lines))
      EXPECT_TRUE(line.starts_with("note: ")) << text;
  }
  void expectError(llvm::StringRef message,
                   std::vector<llvm::StringRef> others = {}) {
    expectError(load("gla"), message, std::move(others));
  }

  TensorMap inputs;
  Values values;
  ConversionOptions conversion;
  bool needCotangents = false;
};

TEST_F(BindTest, ReadsSizesOffShapes) {
  Problem problem = llvm::cantFail(bind(load("gla")));
  EXPECT_EQ(problem.batch, 2);
  EXPECT_EQ(problem.tokens, 5);
  EXPECT_EQ(problem.heads, 4);
  EXPECT_EQ(problem.numSequences, 2);
  EXPECT_FALSE(problem.packed);
  auto axis = [&](llvm::StringRef name) {
    return problem.getSize(mlir::StringAttr::get(&context, name));
  };
  EXPECT_EQ(axis("K"), 3);
  EXPECT_EQ(axis("V"), 6);
  EXPECT_EQ(problem.operandHeads, (llvm::SmallVector<int64_t>{4, 2, 4, 4}));
  EXPECT_EQ(problem.states.front(), nullptr);
  EXPECT_EQ(problem.positions, (llvm::SmallVector<int64_t>{0, 0}));
  EXPECT_EQ(problem.getRow(1), 1);
  EXPECT_EQ(problem.getBegin(1), 0);
  EXPECT_EQ(problem.getLength(1), 5);
}

TEST_F(BindTest, Moves) {
  Problem problem = llvm::cantFail(bind(load("gla")));
  Problem moved = std::move(problem);
  EXPECT_EQ(moved.operands[0], &moved.storage.find("q")->second);
}

TEST_F(BindTest, PackedSequences) {
  set("q", {1, 5, 1, 3});
  set("k", {1, 5, 1, 3});
  set("v", {1, 5, 1, 6});
  set("g", {1, 5, 1, 3});
  set("state.S", {3, 1, 3, 6});
  for (DType type : {DType::I64, DType::I32}) {
    setIntegers("cu_seqlens", {0, 2, 2, 5}, type);
    Problem problem = llvm::cantFail(bind(load("gla")));
    EXPECT_TRUE(problem.packed);
    EXPECT_EQ(problem.numSequences, 3);
    EXPECT_EQ(problem.getBegin(2), 2);
    EXPECT_EQ(problem.getLength(1), 0);
    EXPECT_EQ(problem.getLength(2), 3);
    EXPECT_EQ(problem.getRow(2), 0);
  }
}

TEST_F(BindTest, NoTokensAndNoSequences) {
  for (auto [batch, tokens] : {std::pair<int64_t, int64_t>(2, 0), {0, 5}}) {
    set("q", {batch, tokens, 4, 3});
    set("k", {batch, tokens, 2, 3});
    set("v", {batch, tokens, 4, 6});
    set("g", {batch, tokens, 4, 3});
    Problem problem = llvm::cantFail(bind(load("gla")));
    EXPECT_EQ(problem.tokens, tokens);
    EXPECT_EQ(problem.numSequences, batch);
  }
  set("q", {1, 0, 1, 3});
  set("k", {1, 0, 1, 3});
  set("v", {1, 0, 1, 6});
  set("g", {1, 0, 1, 3});
  setIntegers("cu_seqlens", {0});
  EXPECT_EQ(llvm::cantFail(bind(load("gla"))).numSequences, 0);
}

TEST_F(BindTest, ResultNamesAreIgnored) {
  set("out.o", {1});
  set("final.S", {1});
  set("grad.anything", {1});
  EXPECT_EQ(llvm::cantFail(bind(load("gla"))).storage.size(), 4u);
}

TEST_F(BindTest, UnknownNames) {
  inputs.insert(inputs.extract("q"));
  set("Q", {2, 5, 4, 3});
  inputs.erase("q");
  expectError("unknown tensor 'Q'",
              {"did you mean 'q', which is missing?", "the recurrence reads"});
  inputs.erase("Q");
  set("q", {2, 5, 4, 3});
  set("state.s", {2, 4, 3, 6});
  expectError("unknown tensor 'state.s'", {"did you mean 'state.S'?"});
  inputs.erase("state.s");
  set("cot.out", {1});
  expectError("unknown tensor 'cot.out'", {"did you mean 'cot.o'?"});
  inputs.erase("cot.out");
  setIntegers("position", {0, 0});
  expectError("unknown tensor 'position'", {"the recurrence has no period"});
}

TEST_F(BindTest, MissingOperand) {
  inputs.erase("g");
  expectError("missing operand 'g'", {"expected a tensor [B, T, heads, K]"});
}

TEST_F(BindTest, MissingConstant) {
  inputs.erase("g");
  expectError(load("retention"), "missing constant 'g'",
              {"expected a tensor [H]"});
}

TEST_F(BindTest, ContradictoryAxes) {
  set("k", {2, 5, 2, 4});
  expectError("'q' and 'k' contradict each other along axis K: 3 and 4",
              {"note: 'q' has shape [2, 5, 4, 3], that is [B, T, heads, K]",
               "note: 'k' has shape [2, 5, 2, 4]"});
  set("k", {2, 6, 2, 3});
  expectError("'q' and 'k' contradict each other along axis T: 5 and 6");
  set("k", {3, 5, 2, 3});
  expectError("'q' and 'k' contradict each other along axis B: 2 and 3");
  set("k", {2, 5, 2, 3});
  set("state.S", {2, 4, 6, 3});
  expectError("'q' and 'state.S' contradict each other along axis K: 3 and 6");
  set("state.S", {3, 4, 3, 6});
  expectError("'q' and 'state.S' contradict each other along axis B: 2 and 3");
}

TEST_F(BindTest, Heads) {
  set("k", {2, 5, 3, 3});
  expectError("'k' has 3 heads, which do not divide the 4 heads of 'q'");
  set("k", {2, 5, 2, 3});
  set("state.S", {2, 2, 3, 6});
  expectError("'q' and 'state.S' contradict each other along axis H: 4 and 2");
  inputs.erase("state.S");
  set("cot.o", {2, 5, 8, 6});
  expectError("'q' and 'cot.o' contradict each other along axis H: 4 and 8");
  inputs.erase("cot.o");
  // The states may have more heads than any operand.
  set("state.S", {2, 8, 3, 6});
  EXPECT_EQ(llvm::cantFail(bind(load("gla"))).heads, 8);
}

TEST_F(BindTest, Ranks) {
  set("q", {2, 5, 3});
  expectError("tensor 'q' has rank 3, expected rank 4: [B, T, heads, K]",
              {"'q' has shape [2, 5, 3]"});
}

TEST_F(BindTest, EmptyAxes) {
  set("q", {2, 5, 4, 0});
  expectError("tensor 'q' has size 0 along axis K: sizes are positive");
  set("q", {2, 5, 0, 3});
  expectError("tensor 'q' has size 0 along axis heads: sizes are positive");
}

TEST_F(BindTest, ElementTypes) {
  set("q", {2, 5, 4, 3}, DType::I32);
  expectError("tensor 'q' has type i32, expected f64, f32, f16 or bf16");
  set("q", {2, 5, 4, 3});
  set("cu_seqlens", {3});
  expectError("tensor 'cu_seqlens' has type f32, expected i64 or i32");
  inputs.insert_or_assign("cu_seqlens",
                          llvm::cantFail(Tensor::create(DType::I64, {1, 3})));
  expectError("tensor 'cu_seqlens' has rank 2, expected rank 1: [N + 1]");
}

TEST_F(BindTest, Offsets) {
  setIntegers("cu_seqlens", {0, 5});
  expectError("packed sequences need B = 1, but 'q' has B = 2");
  set("q", {1, 5, 1, 3});
  set("k", {1, 5, 1, 3});
  set("v", {1, 5, 1, 6});
  set("g", {1, 5, 1, 3});
  setIntegers("cu_seqlens", {1, 5});
  expectError("'cu_seqlens' starts at 1, expected 0");
  setIntegers("cu_seqlens", {0, 3, 2, 5});
  expectError("'cu_seqlens' decreases: entry 2 is 2 after 3");
  setIntegers("cu_seqlens", {0, 3, 4});
  expectError("'cu_seqlens' ends at 4, but 'q' has T = 5");
  setIntegers("cu_seqlens", {0, 3, 6});
  expectError("'cu_seqlens' ends at 6, but 'q' has T = 5");
  setIntegers("cu_seqlens", {});
  expectError("'cu_seqlens' is empty, expected N + 1 offsets");
  setIntegers("cu_seqlens", {0, 3, 5});
  set("state.S", {3, 1, 3, 6});
  expectError("'cu_seqlens' and 'state.S' contradict each other along axis N: "
              "2 and 3");
}

TEST_F(BindTest, RequiredStates) {
  RecurrenceOp spec = useLattice();
  inputs.erase("state.S");
  expectError(spec, "missing initial state 'state.S'",
              {"expected a tensor [B, H, D, M]",
               "declares no value that state 'S' starts from"});
}

TEST_F(BindTest, NonzeroStates) {
  RecurrenceOp spec = useLattice();
  // Column 2 of batch row 1.
  for (int64_t d = 0; d < 6; ++d)
    inputs.at("state.S").set(18 + d * 3 + 2, 0.0);
  expectError(spec, "'state.S' is zero along D at B 1, H 0, M 2",
              {"divides by the length of each slice"});
  inputs.at("state.S").set(18 + 2, 1.0);
  EXPECT_TRUE(bool(bind(spec)));
  // So small that its square is nothing in float32.
  inputs.at("state.S").set(18 + 2, 1e-30);
  expectError(spec, "'state.S' is zero along D at B 1, H 0, M 2");
  conversion.dtype = DType::F64;
  EXPECT_TRUE(bool(bind(spec)));
}

TEST_F(BindTest, Anchors) {
  RecurrenceOp spec = useLattice();
  setIntegers("position", {4, 6});
  expectError(spec, "missing anchor 'anchor.S'",
              {"position 6 of sequence 1 is inside of a period of 4 tokens"});
  set("anchor.S", {2, 1, 6, 3});
  Problem problem = llvm::cantFail(bind(spec));
  EXPECT_NE(problem.anchors[0], nullptr);
  EXPECT_EQ(problem.positions, (llvm::SmallVector<int64_t>{4, 6}));
  // A zero column matters only where the anchor is used.
  for (int64_t d = 0; d < 6; ++d)
    inputs.at("anchor.S").set(d * 3, 0.0);
  EXPECT_TRUE(bool(bind(spec)));
  setIntegers("position", {5, 6});
  expectError(spec, "'anchor.S' is zero along D at B 0, H 0, M 0");
  setIntegers("position", {4, 8});
  inputs.erase("anchor.S");
  EXPECT_TRUE(bool(bind(spec)));
}

TEST_F(BindTest, AnchorsOfPeriodsOfOneTokenAreIgnored) {
  RecurrenceOp spec = useLattice();
  values = {{"period", "1"}};
  setIntegers("position", {5, 6});
  set("anchor.S", {2, 1, 6, 3});
  EXPECT_TRUE(bool(bind(spec)));
}

TEST_F(BindTest, Positions) {
  RecurrenceOp spec = useLattice();
  setIntegers("position", {4});
  expectError(spec, "'position' has 1 entries, expected one for each of the 2 "
                    "sequences");
  setIntegers("position", {4, -4});
  expectError(spec, "entry 1 of 'position' is -4, expected a number from 0");
  inputs.insert_or_assign("position",
                          llvm::cantFail(Tensor::create(DType::I64, {2, 1})));
  expectError(spec, "tensor 'position' has rank 2, expected rank 1");
  set("position", {2});
  expectError(spec, "tensor 'position' has type f32, expected i64 or i32");
}

TEST_F(BindTest, Cotangents) {
  needCotangents = true;
  expectError("gradients need at least one cotangent, found none",
              {"cotangents are cot.final.S, cot.o"});
  set("cot.o", {2, 5, 4, 3});
  expectError("'v' and 'cot.o' contradict each other along axis V: 6 and 3");
  set("cot.o", {2, 5, 4, 6});
  Problem problem = llvm::cantFail(bind(load("gla")));
  EXPECT_NE(problem.outputCotangents[0], nullptr);
  EXPECT_EQ(problem.stateCotangents[0], nullptr);
  // Not kept where they are not needed.
  needCotangents = false;
  EXPECT_EQ(llvm::cantFail(bind(load("gla"))).outputCotangents[0], nullptr);
}

TEST_F(BindTest, UnusedOperandsAreOptional) {
  RecurrenceOp spec = parse(R"(
    larc.recurrence @f(%x[K], %y[J]) constant(%c[I]) state(%S[K])
        attributes(kind = plain of [plain, full]) -> (o[K]) {
      %o = larc.choose kind {
        case plain { larc.yield %x }
        case full {
          %s = larc.reduce sum %y over J
          %t = larc.mul %x, %s
          %u = larc.reduce sum %c over I
          %w = larc.mul %t, %u
          larc.yield %w
        }
      }
      larc.yield %S, %o
    })");
  inputs.clear();
  set("x", {1, 2, 1, 3});
  Problem problem = llvm::cantFail(bind(spec));
  EXPECT_EQ(problem.operands[1], nullptr);
  EXPECT_EQ(problem.constants[0], nullptr);
  values = {{"kind", "full"}};
  expectError(spec, "missing operand 'y'");
  set("y", {1, 2, 1, 3});
  expectError(spec, "missing constant 'c'");
  set("c", {1, 3});
  EXPECT_TRUE(bool(bind(spec)));
}

TEST_F(BindTest, AxesOfUnknownSize) {
  RecurrenceOp spec = parse(R"(
    larc.recurrence @f(%x[K]) state(%S[M]) -> (o[K, M]) {
      %o = larc.mul %x, %S
      larc.yield %S, %o
    })");
  inputs.clear();
  set("x", {1, 2, 1, 3});
  expectError(spec, "no tensor gives the size of axis M",
              {"'state.S' [B, H, M] would"});
  set("state.S", {1, 1, 2});
  EXPECT_TRUE(bool(bind(spec)));
}

TEST_F(BindTest, Schedules) {
  RecurrenceOp spec = parse(R"(
    larc.recurrence @f(%x[L]) attributes(intervals[L] = [1, 2]) -> (o) {
      %o = larc.reduce sum %x over L
      larc.yield %o
    })");
  inputs.clear();
  set("x", {1, 2, 1, 3});
  expectError(
      spec, "attribute 'intervals' and 'x' contradict each other along axis L: "
            "2 and 3");
  values = {{"intervals", "1,2,5"}};
  EXPECT_TRUE(bool(bind(spec)));
}

TEST_F(BindTest, BadAttributesAreDiagnosed) {
  std::string message;
  mlir::ScopedDiagnosticHandler handler(
      &context,
      [&](mlir::Diagnostic &diagnostic) { message = diagnostic.str(); });
  values = {{"nonsense", "1"}};
  EXPECT_EQ(getError(bind(load("gla"))), "");
  EXPECT_FALSE(message.empty());
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

TEST_F(BindTest, TypesAsGiven) {
  set("g", {2, 5, 4, 3}, DType::BF16);
  set("state.S", {2, 4, 3, 6}, DType::BF16);
  Problem problem = llvm::cantFail(bind(load("gla")));
  EXPECT_EQ(problem.operands[3]->getDType(), DType::BF16);
  EXPECT_EQ(problem.states[0]->getDType(), DType::F32);
  EXPECT_EQ(problem.outputDType, DType::F32);
  EXPECT_EQ(problem.stateDType, DType::F32);
  // One f64 input, and nothing is converted.
  set("g", {2, 5, 4, 3}, DType::F64);
  problem = llvm::cantFail(bind(load("gla")));
  EXPECT_EQ(problem.stateDType, DType::F64);
  EXPECT_EQ(problem.states[0]->getDType(), DType::F64);
  EXPECT_EQ(problem.outputDType, DType::F32);
}

TEST_F(BindTest, DTypeOptions) {
  set("cot.o", {2, 5, 4, 6});
  set("cot.final.S", {2, 4, 3, 6}, DType::F64);
  needCotangents = true;
  conversion.dtype = DType::BF16;
  Problem problem = llvm::cantFail(bind(load("gla")));
  for (const Tensor *tensor : problem.operands)
    EXPECT_EQ(tensor->getDType(), DType::BF16);
  EXPECT_EQ(problem.outputCotangents[0]->getDType(), DType::BF16);
  EXPECT_EQ(problem.stateCotangents[0]->getDType(), DType::F32);
  EXPECT_EQ(problem.outputDType, DType::BF16);
  EXPECT_EQ(problem.stateDType, DType::F32);
  conversion.gateDType = DType::F32;
  problem = llvm::cantFail(bind(load("gla")));
  EXPECT_EQ(problem.operands[0]->getDType(), DType::BF16);
  EXPECT_EQ(problem.operands[3]->getDType(), DType::F32);
  EXPECT_EQ(problem.outputDType, DType::BF16);
  conversion = {DType::F64, std::nullopt, false};
  problem = llvm::cantFail(bind(load("gla")));
  EXPECT_EQ(problem.stateDType, DType::F64);
  EXPECT_EQ(problem.outputDType, DType::F64);
  // Without --dtype only gates are converted.
  conversion = {std::nullopt, DType::F16, false};
  problem = llvm::cantFail(bind(load("gla")));
  EXPECT_EQ(problem.operands[0]->getDType(), DType::F32);
  EXPECT_EQ(problem.operands[3]->getDType(), DType::F16);
}

TEST_F(BindTest, HalfTypesDoNotMix) {
  set("q", {2, 5, 4, 3}, DType::F16);
  set("v", {2, 5, 4, 6}, DType::BF16);
  expectError("data operands 'q' and 'v' are f16 and bf16");
  conversion.dtype = DType::F16;
  EXPECT_TRUE(bool(bind(load("gla"))));
  conversion = {};
  // A gate may be of the other type.
  set("v", {2, 5, 4, 6}, DType::F16);
  set("g", {2, 5, 4, 3}, DType::BF16);
  EXPECT_TRUE(bool(bind(load("gla"))));
}

TEST_F(BindTest, ReferenceRoundsFirst) {
  inputs.at("q").set(0, 1.0 + 1.0 / 4096);
  set("state.S", {2, 4, 3, 6}, DType::F64);
  inputs.at("state.S").set(0, 1.0 + 1e-12);
  conversion = {DType::BF16, std::nullopt, true};
  Problem problem = llvm::cantFail(bind(load("gla")));
  for (const auto &[name, tensor] : problem.storage)
    EXPECT_EQ(tensor.getDType(), DType::F64) << name;
  EXPECT_EQ(problem.operands[0]->getAs<double>(0), 1.0);
  // States are float32 where --dtype is not f64.
  EXPECT_EQ(problem.states[0]->getAs<double>(0), 1.0);
  EXPECT_EQ(problem.outputDType, DType::F64);
  EXPECT_EQ(problem.stateDType, DType::F64);
}

TEST_F(BindTest, Results) {
  RecurrenceOp spec = useLattice();
  Problem problem = llvm::cantFail(bind(spec));
  TensorMap results = llvm::cantFail(createResults(problem, false));
  ASSERT_EQ(results.size(), 3u);
  using Shape = llvm::ArrayRef<int64_t>;
  EXPECT_EQ(results.at("out.o").getShape(), Shape({2, 5, 1, 6}));
  EXPECT_EQ(results.at("final.S").getShape(), Shape({2, 1, 6, 3}));
  EXPECT_EQ(results.at("final.anchor.S").getShape(), Shape({2, 1, 6, 3}));
  EXPECT_EQ(results.at("out.o").getDType(), DType::F32);
  results = llvm::cantFail(createResults(problem, true));
  EXPECT_EQ(results.at("final.S").getDType(), DType::F64);
  values = {{"period", "1"}};
  problem = llvm::cantFail(bind(spec));
  EXPECT_EQ(llvm::cantFail(createResults(problem, false)).size(), 2u);
}

} // namespace
