//===- CompositionTest.cpp - Affine and semiring maps compose ---*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the analysis says of a transition, against numbers: the second half of a
// sequence is summarised from zero and composed with the states at its start,
// which gives the states that the whole sequence ends with; a step of a linear
// class is an affine function of its state, one of class implicit is not; a
// semiring form is what the step computes.
//
//===----------------------------------------------------------------------===//

#include "../Reference/ReferenceTestUtils.h"
#include "RandomChain.h"

#include "larc/Analysis/Summaries.h"
#include "larc/Analysis/Transitions.h"
#include "larc/Dialect/Larc/Transforms/Flatten.h"
#include "larc/Specs/Specs.h"

#include "mlir/IR/Diagnostics.h"

#include <random>

using namespace mlir;
using namespace larc;
using namespace larc::test;

using chunk::TransitionClass;

namespace {

constexpr int64_t numTokens = 9, firstPart = 4;

/// One to three vector states with semiring updates, the later ones with
/// shifts made from the earlier.
std::string makeRandomSemiring(uint64_t seed) {
  std::mt19937_64 random(seed);
  auto pick = [&](unsigned count) {
    return static_cast<unsigned>(random() % count);
  };
  std::string states, body, yielded, outputs, results;
  unsigned number = 0, numStates = 1 + pick(3);
  auto add = [&](const std::string &operation) {
    std::string name = "%x" + std::to_string(number++);
    body += "  " + name + " = larc." + operation + "\n";
    return name;
  };
  std::string earlier = "%a";
  for (unsigned state = 0; state < numStates; ++state) {
    static const char *const kinds[] = {"max", "min", "logaddexp"};
    std::string kind = kinds[pick(3)], comma = state ? ", " : "";
    std::string name = "%m" + std::to_string(state);
    states += comma + name + "[K]";
    std::string value = name;
    unsigned combined = 1 + pick(2);
    for (unsigned step = 0; step < combined + 1; ++step) {
      if (pick(2))
        value = add((pick(2) ? "add " : "sub ") + value + ", " + earlier);
      if (step == combined)
        break;
      std::string other = pick(3) == 0 ? add("add " + name + ", %c") : "%b";
      value = add(kind + " " + value + ", " + other);
    }
    yielded += comma + value;
    outputs += comma + "o" + std::to_string(state) + "[K]";
    results += ", " + add("tanh " + value);
    if (pick(2))
      earlier = add("tanh " + value);
  }
  return "larc.recurrence @scans(%a[K], %b[K], %c) state(" + states + ") -> (" +
         outputs + ") {\n" + body + "  larc.yield " + yielded + results +
         "\n}\n";
}

class CompositionTest : public ReferenceTest {
protected:
  TensorMap draw(RecurrenceOp op, uint64_t seed, int64_t tokens) {
    RandomInputs request;
    request.dims = {{"B", 1}, {"T", tokens}, {"H", 2}};
    for (StringAttr axis : op.getAllAxes())
      if (!op.getAxisSize(axis))
        request.dims.emplace_back(axis.getValue().str(),
                                  axis.getValue().starts_with("n") ? 2 : 3);
    request.seed = seed;
    request.initialStates = true;
    llvm::Expected<TensorMap> inputs = makeRandomInputs(op, {}, request);
    if (!inputs) {
      ADD_FAILURE() << llvm::toString(inputs.takeError());
      return {};
    }
    return std::move(*inputs);
  }

  /// Tokens [begin, end) of `inputs`, without the states.
  TensorMap cut(RecurrenceOp op, const TensorMap &inputs, int64_t begin,
                int64_t end) {
    TensorMap part;
    for (auto decl : op.getTokenOperands().getAsRange<OperandDeclAttr>())
      if (auto it = inputs.find(decl.getName().str()); it != inputs.end())
        part[it->first] = sliceTensor(it->second, 1, begin, end);
    for (auto decl : op.getConstants().getAsRange<OperandDeclAttr>())
      if (auto it = inputs.find(decl.getName().str()); it != inputs.end())
        part[it->first] =
            makeTensor(it->second.getShape(), getValues(it->second));
    return part;
  }

  /// With all axes of size 3: not every one has a tensor in a summary.
  RecurrenceOp parseBound(StringRef source) {
    RecurrenceOp op = parse(source);
    std::vector<std::pair<std::string, int64_t>> sizes;
    for (StringAttr axis : op.getAllAxes())
      sizes.emplace_back(axis.getValue().str(), 3);
    EXPECT_TRUE(succeeded(bindDims(op, sizes, /*complete=*/false)));
    return op;
  }

  Tensor copy(const Tensor &tensor) {
    return makeTensor(tensor.getShape(), getValues(tensor));
  }

  /// Of shape [1, 2, R, R'].
  Tensor makeIdentity(const Tensor &state, StateDeclAttr map,
                      StateDeclAttr decl) {
    SmallVector<int64_t> sizes;
    size_t rank = map.getAxes().size() / 2;
    int64_t rows = 1;
    for (size_t i = 0; i < rank; ++i) {
      const auto *axis = llvm::find(decl.getAxes(), map.getAxes()[i]);
      sizes.push_back(state.getShape()[2 + (axis - decl.getAxes().begin())]);
      rows *= sizes.back();
    }
    SmallVector<int64_t> shape = {1, 2};
    shape.append(sizes);
    shape.append(sizes);
    std::vector<double> values(2 * rows * rows, 0.0);
    for (int64_t i = 0; i < 2 * rows; ++i)
      values[i * rows + i % rows] = 1.0;
    return makeTensor(shape, values);
  }

  /// Whether the recurrence can be summarised; then expects composed halves to
  /// end where the whole does.
  bool checkComposition(RecurrenceOp op, uint64_t seed) {
    FailureOr<Summaries> summaries = [&] {
      ScopedDiagnosticHandler handler(&context,
                                      [](Diagnostic &) { return success(); });
      return summarize(op);
    }();
    if (failed(summaries))
      return false;
    TensorMap inputs = draw(op, seed, numTokens);
    TensorMap whole = run(op, inputs, false);
    TensorMap head = cut(op, inputs, 0, firstPart);
    for (auto &[name, tensor] : inputs)
      if (StringRef(name).starts_with("state."))
        head[name] = copy(tensor);
    TensorMap starts = run(op, head, false);
    auto decls = llvm::to_vector(op.getStates().getAsRange<StateDeclAttr>());
    for (SummaryLevel &level : summaries->levels) {
      TensorMap tail = cut(op, inputs, firstPart, numTokens);
      auto parts = llvm::to_vector(
          level.summary.getStates().getAsRange<StateDeclAttr>());
      for (unsigned kept : level.kept) {
        std::string name = decls[kept].getName().str();
        tail["state." + name] = copy(starts.at("final." + name));
      }
      for (unsigned identity : level.identities)
        for (unsigned state : level.states)
          if (parts[identity].getName() ==
              decls[state].getName().str() + "_map")
            tail["state." + parts[identity].getName().str()] =
                makeIdentity(starts.at("final." + decls[state].getName().str()),
                             parts[identity], decls[state]);
      TensorMap ends = run(level.summary, tail, false);
      // One segment is one token of the composition.
      TensorMap segment;
      auto operands = level.composition.getTokenOperands();
      for (auto [index, attribute] : llvm::enumerate(operands)) {
        auto operand = cast<OperandDeclAttr>(attribute);
        StringRef name = parts[level.kept.size() + index].getName();
        const Tensor &end = ends.at("final." + name.str());
        SmallVector<int64_t> shape(end.getShape());
        shape.insert(shape.begin() + 1, 1);
        segment[operand.getName().str()] = makeTensor(shape, getValues(end));
      }
      TensorMap expected;
      for (unsigned state : level.states) {
        std::string name = decls[state].getName().str();
        segment["state." + name] = copy(starts.at("final." + name));
        expected["final." + name] = copy(whole.at("final." + name));
      }
      expectClose(run(level.composition, segment, false), expected, 1e-9);
    }
    return true;
  }

  /// The largest distance of f(x / 3 + 2 y / 3) from f(x) / 3 + 2 f(y) / 3,
  /// over what f gives, for one token as a function of one state.
  double getCurvature(RecurrenceOp op, unsigned state, uint64_t seed) {
    std::string name =
        cast<StateDeclAttr>(op.getStates()[state]).getName().str();
    TensorMap x = draw(op, seed, 1), y = cloneTensors(x);
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    std::vector<double> xs = getValues(x.at("state." + name)), ys = xs, zs = xs;
    for (size_t i = 0; i < xs.size(); ++i) {
      ys[i] = normal(random);
      zs[i] = xs[i] / 3 + 2 * ys[i] / 3;
    }
    TensorMap z = cloneTensors(x);
    y["state." + name] = makeTensor(x.at("state." + name).getShape(), ys);
    z["state." + name] = makeTensor(x.at("state." + name).getShape(), zs);
    auto stepOf = [&](const TensorMap &inputs) {
      return getValues(run(op, inputs, false).at("final." + name));
    };
    std::vector<double> fx = stepOf(x), fy = stepOf(y), fz = stepOf(z);
    double distance = 0.0, size = 0.0;
    for (size_t i = 0; i < fx.size(); ++i) {
      distance =
          std::max(distance, std::abs(fz[i] - fx[i] / 3 - 2 * fy[i] / 3));
      size = std::max(size, std::abs(fz[i]));
    }
    return distance / std::max(size, 1e-12);
  }

  RecurrenceOp prepare(RecurrenceOp op, OwningOpRef<ModuleOp> &module) {
    module = ModuleOp::create(op.getLoc());
    module->push_back(op->clone());
    RecurrenceOp prepared = getRecurrence(*module);
    EXPECT_TRUE(succeeded(prepareForAnalysis(prepared)));
    return prepared;
  }
};

TEST_F(CompositionTest, RandomChains) {
  unsigned composed = 0, affine = 0, implicit = 0;
  for (uint64_t seed = 0; seed < 120; ++seed) {
    std::string source = makeRandomChain(seed);
    SCOPED_TRACE(source);
    RecurrenceOp op = parseBound(source);
    composed += checkComposition(op, seed);
    OwningOpRef<ModuleOp> module;
    TransitionAnalysis analysis(prepare(op, module));
    for (const StateTransition &transition : analysis.getTransitions()) {
      bool isAffine = transition.transitionClass == TransitionClass::Constant ||
                      transition.transitionClass == TransitionClass::Diagonal ||
                      transition.transitionClass == TransitionClass::LowRank;
      bool isImplicit = transition.transitionClass == TransitionClass::Implicit;
      affine += isAffine;
      implicit += isImplicit;
      if (isAffine)
        EXPECT_LT(getCurvature(op, transition.state, seed), 1e-12);
      if (isImplicit)
        EXPECT_GT(getCurvature(op, transition.state, seed), 1e-12);
    }
    if (HasFailure())
      return;
  }
  EXPECT_GT(composed, 30u);
  EXPECT_GT(affine, 80u);
  EXPECT_GT(implicit, 10u);
}

TEST_F(CompositionTest, RandomSemirings) {
  unsigned scans = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    std::string source = makeRandomSemiring(seed);
    SCOPED_TRACE(source);
    RecurrenceOp op = parseBound(source);
    EXPECT_TRUE(checkComposition(op, seed));
    // The step, with new states made from the forms.
    OwningOpRef<ModuleOp> module;
    RecurrenceOp prepared = prepare(op, module);
    std::vector<StateTransition> transitions =
        TransitionAnalysis(prepared).getTransitions();
    YieldOp yield = prepared.getYield();
    OpBuilder builder(yield);
    Location loc = yield.getLoc();
    for (const StateTransition &transition : transitions) {
      if (!transition.semiring)
        continue;
      ++scans;
      Value next;
      auto combine = [&](Value value) {
        using Kind = SemiringForm::Kind;
        if (!next)
          next = value;
        else if (transition.semiring->kind == Kind::Max)
          next = MaxOp::create(builder, loc, next, value);
        else if (transition.semiring->kind == Kind::Min)
          next = MinOp::create(builder, loc, next, value);
        else
          next = LogAddExpOp::create(builder, loc, next, value);
      };
      auto addUp = [&](Value value, const Sum &sum) {
        for (const Product &product : sum) {
          Value term = ConstantOp::create(
              builder, loc, builder.getF64FloatAttr(product.coefficient));
          for (Value factor : product.factors)
            term = MulOp::create(builder, loc, term, factor);
          value =
              value ? Value(AddOp::create(builder, loc, value, term)) : term;
        }
        return value;
      };
      for (const Sum &shift : transition.semiring->shifts)
        combine(addUp(prepared.getStateArguments()[transition.state], shift));
      for (const Sum &input : transition.semiring->inputs)
        combine(addUp({}, input));
      yield->setOperand(transition.state, next);
    }
    TensorMap inputs = draw(op, seed, numTokens);
    expectClose(run(prepared, inputs, false), run(op, inputs, false), 1e-12);
    if (HasFailure())
      return;
  }
  EXPECT_GT(scans, 120u);
}

TEST_F(CompositionTest, Builtin) {
  unsigned composed = 0;
  for (const BuiltinSpec &spec : getBuiltinSpecs()) {
    SCOPED_TRACE(spec.name.str());
    FailureOr<OwningOpRef<ModuleOp>> flat = flatten(load(spec.name), {});
    ASSERT_TRUE(succeeded(flat));
    composed += checkComposition(getRecurrence(**flat), 1);
  }
  EXPECT_GT(composed, 12u);
}

} // namespace
