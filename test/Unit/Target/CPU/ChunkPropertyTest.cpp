//===- ChunkPropertyTest.cpp - Random recurrences in chunks -----*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Random recurrences of the algebra, compiled in the chunk form, against the
// reference. LARC_RANDOM_SEEDS=FIRST:COUNT runs other seeds than the few of the
// suite, each with all sizes of chunks.

#include "CompiledTestUtils.h"
#include "RandomChain.h"

#include "larc/Analysis/Transitions.h"
#include "larc/Dialect/Larc/Transforms/Flatten.h"
#include "larc/Execution/Compare.h"
#include "larc/Support/Error.h"
#include "larc/Support/Random.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <set>

using namespace larc;
using namespace larc::test;

namespace {

using Dims = std::vector<std::pair<std::string, int64_t>>;

/// A seed and the size of chunks that it is tried with.
struct Draw {
  uint64_t seed;
  int64_t chunkSize;
};

/// Levels over a memory that decays along one axis or both and is written with
/// the delta rule or without: the second takes the first in every so many
/// periods, and the third, if there is one, the second.
std::string makeLevels(uint64_t seed) {
  const char *periods[] = {"16", "1", "21", "5"};
  bool isDelta = seed % 2 == 0, hasThird = seed % 3 == 0;
  std::string every = std::to_string(2 + seed % 2);
  std::string text = "larc.recurrence @levels(%q[K], %k[K]: unit(K), %v[V], "
                     "%g[K]: gate, %h[V]: gate, %c: coefficient)\n"
                     "    state(%S0[K, V], %S1[K, V]";
  text += hasThird ? ", %S2[K, V])" : ")";
  text += std::string(" attributes(every = period(") + periods[seed % 4] +
          ")) -> (o[V]) {\n";
  text += seed % 4 < 2 ? "%d = larc.exp %g\n"
                       : "%sum = larc.add %g, %h\n%d = larc.exp %sum\n";
  text += "%kept = larc.mul %S0, %d\n"
          "%known = larc.contract %kept, %k over K\n"
          "%error = larc.sub %v, %known\n";
  text += std::string("%step = larc.mul %c, ") + (isDelta ? "%error" : "%v");
  text += R"(
    %write = larc.mul %k, %step
    %S0_next = larc.add %kept, %write
    %S1_next = larc.fire every )" +
          every + R"( iter(%X = %S1) {
      %half = larc.mul %X, %c
      %Y = larc.add %half, %S0_next
      larc.yield %Y
    }
)";
  if (hasThird)
    text += R"(
    %S2_next = larc.fire every 4 iter(%X = %S2) {
      %half = larc.mul %X, %c
      %Y = larc.add %half, %S1_next
      larc.yield %Y
    }
)";
  text += R"(
    %a = larc.contract %S0_next, %q over K
    %b = larc.contract %S1, %q over K
    %ab = larc.add %a, %b
)";
  text += hasThird
              ? "%e = larc.contract %S2, %q over K\n%o = larc.add %ab, %e\n"
                "larc.yield %S0_next, %S1_next, %S2_next, %o\n}"
              : "larc.yield %S0_next, %S1_next, %ab\n}";
  return text;
}

class ChunkPropertyTest : public CompiledTest {
protected:
  static int pick(Random &random, int count) {
    return int(random.next() % uint64_t(count));
  }

  /// Draws of the suite, or what the environment asks for.
  static std::vector<Draw> getDraws(std::vector<Draw> suite) {
    const char *text = std::getenv("LARC_RANDOM_SEEDS");
    if (!text)
      return suite;
    auto [begin, number] = llvm::StringRef(text).split(':');
    uint64_t first = 0, count = 0;
    if (begin.getAsInteger(10, first) || number.getAsInteger(10, count))
      ADD_FAILURE() << "expected FIRST:COUNT, found " << text;
    std::vector<Draw> draws;
    for (uint64_t seed = first; seed < first + count; ++seed)
      for (int64_t chunkSize : {16, 21, 32, 64, 128})
        draws.push_back({seed, chunkSize});
    return draws;
  }

  /// Batches of every length at and beside the ends of chunks, then packed
  /// sequences, some of them empty.
  static std::vector<Shape> makeShapes(RecurrenceOp spec, uint64_t seed) {
    Random random(seed, "shapes");
    std::vector<Shape> shapes;
    const int given[] = {0, 50, 100};
    for (int64_t tokens : {0, 1, 2, 15, 16, 17, 63, 64, 65, 127, 200}) {
      Shape shape;
      shape.tokens = tokens;
      shape.batch = 1 + pick(random, 2);
      shape.heads = 1 + pick(random, 2);
      shape.statesGiven = given[pick(random, 3)];
      shapes.push_back(shape);
    }
    Shape packed;
    packed.lengths = {0, 17, 0, 64, 1, 33, 0};
    packed.statesGiven = given[pick(random, 3)];
    shapes.push_back(packed);
    // Heads that share an operand.
    Shape grouped;
    grouped.batch = 2;
    grouped.tokens = 40;
    grouped.heads = 4;
    auto operand = llvm::cast<OperandDeclAttr>(spec.getTokenOperands()[1]);
    grouped.headCounts = {{operand.getName().str(), 2}};
    shapes.push_back(grouped);
    if (!operandsGiveSizes(spec))
      for (Shape &shape : shapes)
        shape.statesGiven = 100;
    if (spec.getPeriod() > 1)
      for (Shape &shape : shapes)
        for (size_t i = 0, e = shape.lengths.empty() ? shape.batch
                                                     : shape.lengths.size();
             i < e; ++i)
          shape.positions.push_back(pick(random, 40));
    return shapes;
  }

  /// Whether operands that are used have all the states' axes; where they do
  /// not, a state must be given.
  static bool operandsGiveSizes(RecurrenceOp spec) {
    llvm::SmallVector<mlir::Attribute> axes;
    for (auto [attribute, argument] :
         llvm::zip(spec.getTokenOperands(), spec.getOperandArguments()))
      if (!argument.use_empty())
        llvm::append_range(axes,
                           llvm::cast<ArrayType>(argument.getType()).getAxes());
    for (auto state : spec.getStateArguments())
      for (mlir::Attribute axis :
           llvm::cast<ArrayType>(state.getType()).getAxes())
        if (!llvm::is_contained(axes, axis))
          return false;
    return true;
  }

  /// Makes some numbers of all gates zero, some strong, some -inf.
  static void makeGatesHard(RecurrenceOp spec, TensorMap &inputs,
                            uint64_t seed) {
    Random random(seed, "gates");
    for (auto decl : spec.getTokenOperands().getAsRange<OperandDeclAttr>()) {
      auto it = inputs.find(decl.getName().str());
      if (it == inputs.end() || it->first[0] != 'g')
        continue;
      std::vector<double> values = getValues(it->second);
      for (double &value : values) {
        int kind = pick(random, 40);
        value = kind == 0   ? -1000
                : kind == 1 ? -HUGE_VAL
                : kind < 6  ? 0
                            : value;
      }
      it->second = llvm::cantFail(
          Tensor::fromValues(DType::F32, it->second.getShape(), values));
    }
  }

  /// Expects that operands changed by an f32's rounding move no result by a
  /// tenth of f32's limit: where they do, what two computations differ by says
  /// nothing about either.
  static void expectWellConditioned(RecurrenceOp spec, const TensorMap &inputs,
                                    const TensorMap &results) {
    Random random(1, "rounding");
    TensorMap moved = cloneTensors(inputs);
    for (auto &[name, tensor] : moved) {
      if (tensor.getDType() == DType::I64)
        continue;
      std::vector<double> values = getValues(tensor);
      for (double &value : values)
        value *= 1 + (pick(random, 2) ? 6e-8 : -6e-8);
      tensor = makeTensor(tensor.getShape(), values);
    }
    SCOPED_TRACE("the draw is ill-conditioned");
    Problem problem =
        llvm::cantFail(bindProblem(spec, {}, std::move(moved), {}, false));
    expectClose(llvm::cantFail(runReference(problem, {})), results, 2e-6);
  }

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

  /// Compiles once and compares at all shapes. Counts those compared.
  void check(llvm::StringRef source, const Dims &dims, Draw draw, DType dtype) {
    uint64_t seed = draw.seed;
    double limit = dtype == DType::F64 ? 1e-12 : 5e-6;
    SCOPED_TRACE("seed " + std::to_string(seed) + " in chunks of " +
                 std::to_string(draw.chunkSize) + "\n" + source.str());
    RecurrenceOp spec = parse(source);
    ASSERT_TRUE(spec);
    countClasses(spec);
    std::unique_ptr<CompiledRecurrence> compiled;
    std::vector<Shape> shapes = makeShapes(spec, seed);
    for (size_t i = 0; i < shapes.size() && !HasFailure(); ++i) {
      TensorMap inputs = makeInputs(spec, dims, shapes[i], seed * 31 + i);
      ASSERT_FALSE(inputs.empty());
      if (i % 2)
        makeGatesHard(spec, inputs, seed * 31 + i);
      ConversionOptions conversion;
      conversion.dtype = conversion.gateDType = dtype;
      conversion.allFloat64 = true;
      Problem exact = llvm::cantFail(
          bindProblem(spec, {}, cloneTensors(inputs), conversion, false));
      TensorMap expected = llvm::cantFail(runReference(exact, {}));
      expectWellConditioned(spec, inputs, expected);
      conversion.allFloat64 = false;
      Problem problem = llvm::cantFail(
          bindProblem(spec, {}, std::move(inputs), conversion, false));
      if (!compiled) {
        CPUOptions options = CPUOptions::of(problem);
        options.form = CPUForm::Chunk;
        options.chunkSize = draw.chunkSize;
        auto made = CompiledRecurrence::compile(problem.recurrence, options);
        ASSERT_TRUE(mlir::succeeded(made));
        compiled = std::move(*made);
      }
      SCOPED_TRACE(std::to_string(problem.tokens) + " tokens, " +
                   (problem.packed ? "packed" : "batch"));
      expectClose(run(*compiled, problem, 1 + unsigned(i) % 3), expected,
                  limit);
      ++compared;
    }
  }

  /// Notes the classes of the recurrence's states and how many they are.
  void countClasses(RecurrenceOp spec) {
    auto flat = flatten(spec, {});
    ASSERT_TRUE(mlir::succeeded(flat));
    RecurrenceOp recurrence = getRecurrence(**flat);
    ASSERT_TRUE(mlir::succeeded(prepareForAnalysis(recurrence)));
    TransitionAnalysis analysis(recurrence);
    numStates.insert(analysis.getTransitions().size());
    for (const StateTransition &transition : analysis.getTransitions())
      classes.insert(transition.transitionClass);
  }

  void checkChains(std::vector<Draw> suite, DType dtype) {
    for (Draw draw : getDraws(std::move(suite))) {
      check(makeRandomChain(draw.seed), makeDims(draw.seed), draw, dtype);
      if (HasFailure())
        return;
    }
    RecordProperty("compared", int(compared));
    if (std::getenv("LARC_RANDOM_SEEDS"))
      return;
    // The few seeds of the suite draw what there is to be drawn.
    using chunk::TransitionClass;
    for (auto wanted : {TransitionClass::Diagonal, TransitionClass::LowRank,
                        TransitionClass::Implicit, TransitionClass::Sequential})
      EXPECT_TRUE(classes.count(wanted))
          << stringifyTransitionClass(wanted).str();
    EXPECT_EQ(numStates, (std::set<size_t>{1, 2, 3}));
  }

  static Dims makeDims(uint64_t seed) {
    const Dims all[] = {
        {{"K", 5}, {"V", 7}, {"M", 4}},   {{"K", 16}, {"V", 16}, {"M", 8}},
        {{"K", 8}, {"V", 19}, {"M", 3}},  {{"K", 48}, {"V", 6}, {"M", 24}},
        {{"K", 6}, {"V", 100}, {"M", 5}}, {{"K", 100}, {"V", 5}, {"M", 33}}};
    return all[seed % 6];
  }

  unsigned compared = 0;
  std::set<chunk::TransitionClass> classes;
  std::set<size_t> numStates;
};

// Seeds whose states are solved row by row take long to compile in large
// chunks.
TEST_F(ChunkPropertyTest, F64) {
  checkChains({{4, 128}, {5, 64}, {9, 21}, {13, 32}, {20, 16}, {25, 64}},
              DType::F64);
}

TEST_F(ChunkPropertyTest, F32) {
  checkChains({{1, 16}, {8, 32}, {10, 64}, {23, 21}, {26, 128}, {0, 64}},
              DType::F32);
}

TEST_F(ChunkPropertyTest, Levels) {
  for (Draw draw : getDraws({{0, 21}, {3, 16}, {1, 32}})) {
    check(makeLevels(draw.seed), {{"K", 16}, {"V", 11}}, draw,
          draw.seed % 2 ? DType::F32 : DType::F64);
    if (HasFailure())
      return;
  }
}

} // namespace
