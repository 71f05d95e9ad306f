//===- NormalFormTest.cpp - Normal forms mean what the step does *- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A recurrence is run by the reference, and once more after every new state and
// every read has been replaced by its normal form.
//
//===----------------------------------------------------------------------===//

#include "../Reference/ReferenceTestUtils.h"
#include "RandomChain.h"

#include "larc/Analysis/Transitions.h"
#include "larc/Dialect/Larc/Transforms/Flatten.h"
#include "larc/Specs/Specs.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace larc;
using namespace larc::test;

namespace {

/// Builds the values that normal forms stand for.
struct FormBuilder {
  OpBuilder builder;
  Location loc;

  Value number(double value) {
    return ConstantOp::create(builder, loc, builder.getF64FloatAttr(value));
  }
  Value multiply(Value lhs, Value rhs) {
    return lhs ? Value(MulOp::create(builder, loc, lhs, rhs)) : rhs;
  }
  Value build(const Product &product) {
    Value value = number(product.coefficient);
    for (Value factor : product.factors)
      value = multiply(value, factor);
    for (Value divisor : product.divisors)
      value = DivOp::create(builder, loc, value, divisor);
    return value;
  }
  Value build(const MatrixForm &form, Value state) {
    Value sum = number(0.0);
    for (const Product &product : form.decay)
      sum = AddOp::create(builder, loc, sum, multiply(build(product), state));
    for (const Product &product : form.writes)
      sum = AddOp::create(builder, loc, sum, build(product));
    SmallVector<Attribute> axes;
    for (StringAttr axis : cast<ArrayType>(state.getType()).getAxes())
      axes.push_back(axis);
    return BroadcastOp::create(builder, loc, sum, builder.getArrayAttr(axes));
  }
};

/// Replaces new states and reads by their normal forms; the number replaced.
unsigned rebuild(RecurrenceOp recurrence) {
  std::vector<StateTransition> transitions =
      TransitionAnalysis(recurrence).getTransitions();
  unsigned replaced = 0;
  auto yield = recurrence.getYield();
  for (const StateTransition &transition : transitions) {
    Value state = recurrence.getStateArguments()[transition.state];
    for (const Read &read : transition.reads) {
      OpBuilder builder(read.op->getBlock(), ++Block::iterator(read.op));
      FormBuilder build{builder, read.op->getLoc()};
      SmallVector<Attribute> axes(read.axes.begin(), read.axes.end());
      Value point = build.build(read.form, state);
      Value sum =
          ReduceOp::create(build.builder, build.loc, ReduceKind::Sum,
                           build.multiply(point, build.build(read.coefficient)),
                           builder.getArrayAttr(axes));
      read.op->getResult(0).replaceUsesWithIf(sum, [&](OpOperand &use) {
        // What forms are made of stays.
        return use.getOwner() == yield ||
               use.getOwner()->isBeforeInBlock(yield);
      });
      // The value may feed what stands before it in forms of other reads only.
      ++replaced;
    }
    if (!transition.update || transition.isScheduled)
      continue;
    FormBuilder build{OpBuilder(yield), yield.getLoc()};
    yield->setOperand(transition.state, build.build(*transition.update, state));
    ++replaced;
  }
  return replaced;
}

class NormalFormTest : public ReferenceTest {
protected:
  /// Expects the same of `spec` before and after `rebuild`.
  unsigned check(RecurrenceOp spec, const Values &values, uint64_t seed) {
    FailureOr<OwningOpRef<ModuleOp>> flat = flatten(spec, values);
    if (failed(flat)) {
      ADD_FAILURE() << "does not flatten";
      return 0;
    }
    RecurrenceOp original = getRecurrence(**flat);
    RandomInputs request;
    request.dims = {{"B", 1}, {"T", 6}, {"H", 2}};
    std::vector<std::pair<std::string, int64_t>> steps;
    for (StringAttr axis : original.getAllAxes()) {
      if (original.getAxisSize(axis))
        continue;
      int64_t size = axis.getValue().starts_with("n") ? 2 : 3;
      request.dims.emplace_back(axis.getValue().str(), size);
      if (size == 2)
        steps.emplace_back(axis.getValue().str(), size);
    }
    request.seed = seed;
    request.initialStates = true;
    llvm::Expected<TensorMap> inputs = makeRandomInputs(original, {}, request);
    if (!inputs) {
      ADD_FAILURE() << llvm::toString(inputs.takeError());
      return 0;
    }
    OwningOpRef<ModuleOp> module = ModuleOp::create(spec.getLoc());
    module->push_back(original->clone());
    RecurrenceOp prepared = getRecurrence(*module);
    EXPECT_TRUE(succeeded(bindDims(prepared, steps, /*complete=*/false)));
    EXPECT_TRUE(succeeded(prepareForAnalysis(prepared)));
    unsigned replaced = rebuild(prepared);
    EXPECT_TRUE(succeeded(verify(*module)));
    expectClose(run(prepared, *inputs, false), run(original, *inputs, false),
                1e-10);
    return replaced;
  }
};

TEST_F(NormalFormTest, Builtin) {
  for (const BuiltinSpec &spec : getBuiltinSpecs()) {
    SCOPED_TRACE(spec.name.str());
    RecurrenceOp recurrence = load(spec.name);
    check(recurrence, {}, 1);
    AttributeDeclAttr period = recurrence.getPeriodDecl();
    if (period)
      check(recurrence, {{period.getName().str(), "4"}}, 2);
  }
}

TEST_F(NormalFormTest, RandomChains) {
  unsigned replaced = 0;
  for (uint64_t seed = 0; seed < 150; ++seed) {
    std::string source = makeRandomChain(seed);
    SCOPED_TRACE(source);
    replaced += check(parse(source), {}, seed);
    if (HasFailure())
      return;
  }
  // Nearly every state and read of a chain has a normal form.
  EXPECT_GT(replaced, 600u);
}

} // namespace
