//===- CompiledTestUtils.cpp - Compiled recurrences in tests ----*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledTestUtils.h"

#include "larc/Support/Error.h"
#include "larc/Support/Random.h"

#include <cstdlib>
#include <cstring>

using namespace larc;
using namespace larc::test;

/// Tests compile, and leave the user's cache alone.
[[maybe_unused]] static const int noCache =
    ::setenv("LARC_CACHE", "off", /*overwrite=*/1);

TensorMap
CompiledTest::makeInputs(RecurrenceOp spec,
                         llvm::ArrayRef<std::pair<std::string, int64_t>> dims,
                         const Shape &shape, uint64_t seed) {
  RandomInputs request;
  request.dims = {{"H", shape.heads}};
  if (shape.lengths.empty()) {
    request.dims.push_back({"B", shape.batch});
    request.dims.push_back({"T", shape.tokens});
  }
  request.dims.append(dims.begin(), dims.end());
  request.lengths.assign(shape.lengths.begin(), shape.lengths.end());
  request.headCounts.assign(shape.headCounts.begin(), shape.headCounts.end());
  request.seed = seed;
  request.initialStates = true;
  llvm::Expected<TensorMap> made = makeRandomInputs(spec, {}, request);
  if (!made) {
    ADD_FAILURE() << renderError(made.takeError());
    return {};
  }
  TensorMap inputs = std::move(*made);
  if (!shape.positions.empty()) {
    inputs.try_emplace("position", makeIntegers(shape.positions));
    // Anchors differ from the states.
    for (unsigned index : spec.getAnchoredStates()) {
      auto decl = llvm::cast<StateDeclAttr>(spec.getStates()[index]);
      std::string name = decl.getName().str();
      const Tensor &state = inputs.find("state." + name)->second;
      std::vector<double> values = getValues(state);
      for (double &value : values)
        value = 0.5 - value;
      inputs.try_emplace("anchor." + name,
                         llvm::cantFail(Tensor::fromValues(
                             DType::F32, state.getShape(), values)));
    }
  }
  Random random(seed, "given");
  for (auto it = inputs.begin(); it != inputs.end();) {
    bool drop = llvm::StringRef(it->first).starts_with("state.") &&
                int(random.next() % 100) >= shape.statesGiven;
    it = drop ? inputs.erase(it) : std::next(it);
  }
  return inputs;
}

static size_t countBytes(const Tensor &tensor) {
  return tensor.getNumElements() * getByteWidth(tensor.getDType());
}

/// The names of tensors in which the two differ in a bit.
static std::string differingTensors(const TensorMap &lhs,
                                    const TensorMap &rhs) {
  std::string names;
  for (const auto &[name, tensor] : lhs) {
    const Tensor &other = rhs.find(name)->second;
    if (countBytes(tensor) != countBytes(other) ||
        std::memcmp(tensor.getRawData(), other.getRawData(),
                    countBytes(tensor)) != 0)
      names += " " + name;
  }
  return names;
}

TensorMap CompiledTest::runCompiled(RecurrenceOp spec, const TensorMap &inputs,
                                    DType dtype, std::string cpu) {
  ConversionOptions conversion;
  conversion.dtype = conversion.gateDType = dtype;
  llvm::Expected<Problem> problem =
      bindProblem(spec, {}, cloneTensors(inputs), conversion, false);
  if (!problem) {
    ADD_FAILURE() << renderError(problem.takeError());
    return {};
  }
  CPUOptions options = CPUOptions::of(*problem);
  options.cpu = std::move(cpu);
  auto compiled = CompiledRecurrence::compile(problem->recurrence, options);
  if (failed(compiled)) {
    ADD_FAILURE() << "does not compile";
    return {};
  }
  auto run = [&](unsigned threads) {
    TensorMap results = llvm::cantFail(createResults(*problem, false));
    // What is not written shows.
    for (auto &[name, tensor] : results)
      std::memset(tensor.getRawData(), 0xff, countBytes(tensor));
    llvm::cantFail((*compiled)->run(*problem, results, threads));
    return results;
  };
  TensorMap results = run(1);
  for (unsigned threads : {2, 3})
    EXPECT_EQ(differingTensors(results, run(threads)), "")
        << "with " << threads << " threads";

  // Final states in the memory of initial ones.
  TensorMap inPlace = llvm::cantFail(createResults(*problem, false));
  auto share = [&](llvm::MutableArrayRef<const Tensor *> given,
                   llvm::ArrayRef<unsigned> states, llvm::StringRef prefix) {
    for (unsigned state : states) {
      const Tensor *initial = state < given.size() ? given[state] : nullptr;
      std::string name =
          llvm::cast<StateDeclAttr>(problem->recurrence.getStates()[state])
              .getName()
              .str();
      auto final = inPlace.find(prefix.str() + name);
      if (!initial || final == inPlace.end())
        continue;
      std::memcpy(final->second.getRawData(), initial->getRawData(),
                  countBytes(*initial));
      given[state] = &final->second;
    }
  };
  llvm::SmallVector<unsigned> all;
  for (unsigned i = 0; i < problem->states.size(); ++i)
    all.push_back(i);
  share(problem->states, all, "final.");
  share(problem->anchors, all, "final.anchor.");
  llvm::cantFail((*compiled)->run(*problem, inPlace, 2));
  EXPECT_EQ(differingTensors(results, inPlace), "") << "in place";
  return results;
}

void CompiledTest::check(RecurrenceOp spec, const TensorMap &inputs,
                         DType dtype, double limit, std::string cpu) {
  // The reference starts from what the compiled recurrence reads.
  ConversionOptions conversion;
  conversion.dtype = conversion.gateDType = dtype;
  conversion.allFloat64 = true;
  llvm::Expected<Problem> problem =
      bindProblem(spec, {}, cloneTensors(inputs), conversion, false);
  if (!problem) {
    ADD_FAILURE() << renderError(problem.takeError());
    return;
  }
  TensorMap expected = llvm::cantFail(runReference(*problem, {}));
  TensorMap got = runCompiled(spec, inputs, dtype, std::move(cpu));
  if (!expected.empty() && !got.empty())
    expectClose(got, expected, limit);
}

void CompiledTest::checkSource(
    llvm::StringRef source,
    llvm::ArrayRef<std::pair<std::string, int64_t>> dims, const Shape &shape) {
  SCOPED_TRACE(source.str());
  RecurrenceOp spec = parse(source);
  ASSERT_TRUE(spec);
  TensorMap inputs = makeInputs(spec, dims, shape, 1);
  ASSERT_FALSE(inputs.empty());
  check(spec, inputs, DType::F64, 1e-10);
  check(spec, inputs, DType::F32, 1e-4);
}
