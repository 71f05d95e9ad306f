//===- FaultKindsTest.cpp - Faults that kernels are known for ---*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What users of kernels for linear attention have reported, each as a kind of
// fault: gates that overflow or are rounded, tails and boundaries of sequences
// inside a chunk, reads past the end of a tensor, sizes, slow forms.

#include "CompiledTestUtils.h"
#include "TaskRunner.h"

#include "larc/Support/Error.h"

#include <chrono>
#include <cmath>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace larc;
using namespace larc::test;

namespace {

using Dims = std::vector<std::pair<std::string, int64_t>>;

class FaultKindsTest : public CompiledTest {
protected:
  Problem bind(RecurrenceOp spec, const TensorMap &inputs,
               bool float64 = false) {
    ConversionOptions conversion;
    conversion.dtype = dtype;
    conversion.gateDType = DType::F32;
    conversion.allFloat64 = float64;
    return llvm::cantFail(
        bindProblem(spec, {}, cloneTensors(inputs), conversion, false));
  }

  /// One segment: a fixed plan.
  std::unique_ptr<CompiledRecurrence> compile(Problem &problem, CPUForm form,
                                              int64_t chunkSize = 64) {
    CPUOptions options = CPUOptions::of(problem);
    options.form = form;
    options.chunkSize = form == CPUForm::Chunk ? chunkSize : 0;
    options.segments = 1;
    auto compiled = CompiledRecurrence::compile(problem.recurrence, options);
    return succeeded(compiled) ? std::move(*compiled) : nullptr;
  }

  /// In chunks of 64, compiled once in a test for all numbers of tokens.
  TensorMap runChunks(RecurrenceOp spec, const TensorMap &inputs) {
    Problem problem = bind(spec, inputs);
    std::unique_ptr<CompiledRecurrence> &code = compiled[spec];
    if (!code)
      code = compile(problem, CPUForm::Chunk);
    if (!code) {
      ADD_FAILURE() << "does not compile";
      return {};
    }
    TensorMap results = llvm::cantFail(createResults(problem, false));
    for (auto &[name, tensor] : results)
      std::memset(tensor.getRawData(), 0xff, tensor.getByteSize());
    llvm::cantFail(code->run(problem, results, 2));
    return results;
  }

  TensorMap runExact(RecurrenceOp spec, const TensorMap &inputs) {
    Problem problem = bind(spec, inputs, /*float64=*/true);
    return llvm::cantFail(runReference(problem, {}));
  }

  static void fill(TensorMap &inputs, llvm::StringRef name, double value) {
    Tensor &tensor = inputs.find(name.str())->second;
    std::vector<double> values(tensor.getNumElements(), value);
    tensor = makeTensor(tensor.getShape(), values);
  }

  /// Sequence `index` of packed `inputs` as a call of its own.
  static TensorMap cutSequence(RecurrenceOp spec, const TensorMap &inputs,
                               const std::vector<int64_t> &lengths,
                               size_t index) {
    int64_t begin = 0;
    for (size_t i = 0; i < index; ++i)
      begin += lengths[i];
    TensorMap result;
    for (const auto &[name, tensor] : inputs)
      if (llvm::StringRef(name).starts_with("state."))
        result.try_emplace(name,
                           sliceTensor(tensor, 0, int64_t(index), index + 1));
      else if (name != "cu_seqlens")
        result.try_emplace(
            name, sliceTensor(tensor, 1, begin, begin + lengths[index]));
    return result;
  }

  DType dtype = DType::F32;
  std::map<mlir::Operation *, std::unique_ptr<CompiledRecurrence>> compiled;
};

// Strong gates neither overflow nor lose what is left, in every chunk.
TEST_F(FaultKindsTest, StrongGates) {
  for (const char *name : {"gated_delta_net", "kda", "gla"}) {
    RecurrenceOp spec = load(name);
    TensorMap inputs =
        makeInputs(spec, {{"K", 32}, {"V", 24}}, {1, 130, 1, {}, {}, {}, 0}, 1);
    for (double gate :
         {0.0, -0.01, -2.5, -3.0, -5.0, -20.0, -30.0, -160.0, -1000.0}) {
      SCOPED_TRACE(std::string(name) + ", gates of " + std::to_string(gate));
      fill(inputs, "g", gate);
      expectClose(runChunks(spec, inputs), runExact(spec, inputs), 5e-6);
    }
  }
}

// Gates of zero are no gates.
TEST_F(FaultKindsTest, ZeroGates) {
  RecurrenceOp gated = load("gated_delta_net"), plain = load("delta_net");
  TensorMap inputs =
      makeInputs(gated, {{"K", 100}, {"V", 24}}, {1, 70, 2, {}, {}, {}, 0}, 1);
  fill(inputs, "g", 0.0);
  TensorMap results = runChunks(gated, inputs);
  inputs.erase("g");
  expectClose(runChunks(plain, inputs), results, 1e-6);
}

// Sequences that begin and end inside chunks, some empty, each with a state of
// its own: as if alone, whatever their number of tokens.
TEST_F(FaultKindsTest, Boundaries) {
  RecurrenceOp spec = load("gated_delta_net");
  const std::vector<int64_t> lengths = {7, 130, 65, 0,  64, 64, 1,
                                        2, 8,   15, 33, 63, 200};
  Shape shape;
  shape.lengths = lengths;
  TensorMap inputs = makeInputs(spec, {{"K", 20}, {"V", 12}}, shape, 1);
  TensorMap together = runChunks(spec, inputs);
  expectClose(together, runExact(spec, inputs), 5e-6);
  for (size_t i = 0, begin = 0; i < lengths.size(); begin += lengths[i++]) {
    SCOPED_TRACE("sequence " + std::to_string(i));
    TensorMap alone = runChunks(spec, cutSequence(spec, inputs, lengths, i));
    EXPECT_EQ(getValues(alone.find("final.S")->second),
              getValues(sliceTensor(together.find("final.S")->second, 0,
                                    int64_t(i), int64_t(i) + 1)));
    EXPECT_EQ(
        getValues(alone.find("out.o")->second),
        getValues(sliceTensor(together.find("out.o")->second, 1, int64_t(begin),
                              int64_t(begin) + lengths[i])));
    if (lengths[i] == 0) {
      EXPECT_EQ(getValues(alone.find("final.S")->second),
                getValues(sliceTensor(inputs.find("state.S")->second, 0,
                                      int64_t(i), int64_t(i) + 1)));
    }
  }
}

// Nothing of a neighbour's numbers enters: those are NaN.
TEST_F(FaultKindsTest, Neighbours) {
  for (const char *name : {"gated_delta_net", "gla"}) {
    SCOPED_TRACE(name);
    RecurrenceOp spec = load(name);
    const std::vector<int64_t> lengths = {3, 1, 5, 65, 2};
    Shape shape;
    shape.lengths = lengths;
    TensorMap inputs = makeInputs(spec, {{"K", 60}, {"V", 19}}, shape, 1);
    for (auto &[key, tensor] : inputs) {
      if (key == "cu_seqlens")
        continue;
      bool isState = llvm::StringRef(key).starts_with("state.");
      std::vector<double> values = getValues(tensor);
      size_t units = isState ? lengths.size() : 76;
      size_t inner = values.size() / units;
      for (size_t i = 0, unit = 0; i < lengths.size(); ++i)
        for (int64_t t = 0, e = isState ? 1 : lengths[i]; t < e; ++t, ++unit)
          if (i % 2 == 0)
            std::fill_n(values.begin() + unit * inner, inner, NAN);
      tensor = makeTensor(tensor.getShape(), values);
    }
    TensorMap together = runChunks(spec, inputs);
    for (size_t i : {1, 3}) {
      int64_t begin = i == 1 ? 3 : 9;
      TensorMap cut = cutSequence(spec, inputs, lengths, i);
      TensorMap got;
      got.try_emplace("out.o", sliceTensor(together.find("out.o")->second, 1,
                                           begin, begin + lengths[i]));
      got.try_emplace("final.S", sliceTensor(together.find("final.S")->second,
                                             0, int64_t(i), int64_t(i) + 1));
      expectClose(got, runExact(spec, cut), 5e-6);
    }
  }
}

/// Memory that ends where the next page may not be read.
class Guarded {
public:
  explicit Guarded(const Tensor &tensor) {
    size_t page = size_t(sysconf(_SC_PAGESIZE));
    size_t bytes = tensor.getByteSize();
    size = (bytes + page - 1) / page * page + page;
    base = static_cast<char *>(mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base + size - page, page, PROT_NONE);
    data = base + size - page - bytes;
    std::memcpy(data, tensor.getRawData(), bytes);
  }
  Guarded(const Guarded &) = delete;
  Guarded &operator=(const Guarded &) = delete;
  ~Guarded() { munmap(base, size); }

  char *data;

private:
  char *base;
  size_t size;
};

// Nothing is read or written past the end of a tensor, for sizes that no vector
// divides.
TEST_F(FaultKindsTest, EndsOfTensors) {
  RecurrenceOp spec = load("gla");
  for (int64_t keys : {48, 60, 100})
    for (CPUForm form : {CPUForm::Recurrent, CPUForm::Chunk}) {
      std::unique_ptr<CompiledRecurrence> code;
      for (int64_t tokens : {1, 17, 65}) {
        TensorMap inputs = makeInputs(spec, {{"K", keys}, {"V", 19}},
                                      {1, tokens, 1, {}, {}, {}, 100}, 1);
        Problem problem = bind(spec, inputs);
        if (!code)
          code = compile(problem, form, 16);
        ASSERT_TRUE(code);
        TensorMap expected = runExact(spec, inputs);
        TensorMap results = llvm::cantFail(createResults(problem, false));
        std::vector<std::unique_ptr<Guarded>> memory;
        std::vector<larc_tensor> tensors;
        auto pass = [&](const Tensor &tensor, bool hasTokens) {
          int64_t inner = tensor.getNumElements() / (hasTokens ? tokens : 1);
          memory.push_back(std::make_unique<Guarded>(tensor));
          tensors.push_back({memory.back()->data, tensor.getNumElements(),
                             hasTokens ? inner : 0, inner, 1});
        };
        for (const Tensor *operand : problem.operands)
          pass(*operand, true);
        pass(results.find("out.o")->second, true);
        pass(*problem.states.front(), false);
        pass(results.find("final.S")->second, false);
        const int64_t begin = 0, position = 0;
        larc_call call = {1, 1, &begin, &tokens, &position, tensors.data()};
        const Kernel &kernel = code->getKernel();
        std::vector<char> scratch(kernel.scratchBytes + 64);
        auto address = reinterpret_cast<uintptr_t>(scratch.data());
        kernel.entry(&call, 0, kernel.blocks,
                     scratch.data() + (64 - address % 64) % 64);
        size_t count = memory.size();
        for (auto [name, index] :
             {std::pair("out.o", count - 3), std::pair("final.S", count - 1)}) {
          Tensor &tensor = results.find(name)->second;
          std::memcpy(tensor.getRawData(), memory[index]->data,
                      tensor.getByteSize());
        }
        expectClose(results, expected, 5e-6);
      }
    }
}

// Token after token in place: each sees the state that the last one left, with
// operands of 16 bits, too.
TEST_F(FaultKindsTest, DecodingInPlace) {
  dtype = DType::BF16;
  RecurrenceOp spec = load("gated_delta_net");
  TensorMap inputs =
      makeInputs(spec, {{"K", 16}, {"V", 12}}, {1, 5, 2, {}, {}, {}, 100}, 1);
  TensorMap expected = runExact(spec, inputs);
  std::unique_ptr<CompiledRecurrence> code;
  Tensor state =
      llvm::cantFail(inputs.find("state.S")->second.convertTo(DType::F32));
  for (int64_t token = 0; token < 5; ++token) {
    TensorMap step;
    for (const auto &[name, tensor] : inputs)
      step.try_emplace(name, name == "state.S"
                                 ? llvm::cantFail(tensor.clone())
                                 : sliceTensor(tensor, 1, token, token + 1));
    Problem problem = bind(spec, step);
    if (!code)
      code = compile(problem, CPUForm::Chunk, 16);
    ASSERT_TRUE(code);
    TensorMap results = llvm::cantFail(createResults(problem, false));
    Tensor &final = results.find("final.S")->second;
    std::memcpy(final.getRawData(), state.getRawData(), state.getByteSize());
    problem.states[0] = &final;
    llvm::cantFail(code->run(problem, results, 1));
    state = llvm::cantFail(final.clone());
  }
  TensorMap got, wanted;
  got.try_emplace("final.S", std::move(state));
  wanted.try_emplace("final.S",
                     llvm::cantFail(expected.find("final.S")->second.clone()));
  expectClose(got, wanted, 5e-6);
}

// Gates of 32 bits beside data of 16 are not rounded to 16: here that would
// forget a third more or less over all tokens.
TEST_F(FaultKindsTest, PreciseGates) {
  dtype = DType::BF16;
  RecurrenceOp spec = load("gla");
  TensorMap inputs =
      makeInputs(spec, {{"K", 16}, {"V", 12}}, {1, 200, 1, {}, {}, {}, 100}, 1);
  fill(inputs, "g", -0.05 * (1 + 1.0 / 300));
  TensorMap got = runChunks(spec, inputs), wanted = runExact(spec, inputs);
  got.erase("out.o");
  wanted.erase("out.o");
  expectClose(got, wanted, 5e-6);
}

// States larger than a core's nearest cache.
TEST_F(FaultKindsTest, LargeStates) {
  RecurrenceOp spec = load("gla");
  TensorMap inputs =
      makeInputs(spec, {{"K", 256}, {"V", 256}}, {1, 70, 1, {}, {}, {}, 0}, 1);
  expectClose(runChunks(spec, inputs), runExact(spec, inputs), 5e-6);
}

// The chunk form is there to be fast: best of interleaved runs, with a tenth
// for noise.
TEST_F(FaultKindsTest, ChunksBeatTokens) {
  RecurrenceOp spec = load("gla");
  TensorMap inputs =
      makeInputs(spec, {{"K", 128}, {"V", 128}}, {1, 512, 1, {}, {}, {}, 0}, 1);
  Problem problem = bind(spec, inputs);
  auto chunks = compile(problem, CPUForm::Chunk, 0),
       tokens = compile(problem, CPUForm::Recurrent);
  ASSERT_TRUE(chunks && tokens);
  double best[2] = {HUGE_VAL, HUGE_VAL};
  TensorMap results = llvm::cantFail(createResults(problem, false));
  for (int i = 0; i < 40; ++i) {
    auto start = std::chrono::steady_clock::now();
    llvm::cantFail((i % 2 ? chunks : tokens)->run(problem, results, 1));
    std::chrono::duration<double> time =
        std::chrono::steady_clock::now() - start;
    best[i % 2] = std::min(best[i % 2], time.count());
  }
  EXPECT_LT(best[1], 1.1 * best[0]);
}

} // namespace
