//===- CompiledRecurrence.cpp - Recurrent form on this CPU -*- C++ -*- ----===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Target/CPU/CompiledRecurrence.h"

#include "Compiler.h"
#include "larc/Runtime/Recurrent.h"
#include "larc/Support/Error.h"

#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/Threading.h"

#include <atomic>
#include <cstdlib>

using namespace mlir;
using namespace larc;

//===----------------------------------------------------------------------===//
// CPUOptions
//===----------------------------------------------------------------------===//

CPUOptions CPUOptions::of(Problem &problem) {
  CPUOptions options;
  options.computeType = problem.stateDType;
  auto typeOf = [&](const Tensor *tensor) {
    return tensor ? tensor->getDType() : problem.stateDType;
  };
  options.operandTypes = llvm::map_to_vector<4>(problem.operands, typeOf);
  options.constantTypes = llvm::map_to_vector<4>(problem.constants, typeOf);
  options.outputTypes.assign(problem.recurrence.getOutputs().size(),
                             problem.outputDType);
  return options;
}

CPUOptions CPUOptions::uniform(RecurrenceOp recurrence, DType dtype,
                               DType gateDType) {
  CPUOptions options;
  options.computeType = dtype == DType::F64 ? DType::F64 : DType::F32;
  auto typeOf = [&](Attribute decl) {
    return cast<OperandDeclAttr>(decl).getKind() == OperandKind::Gate
               ? gateDType
               : dtype;
  };
  options.operandTypes =
      llvm::map_to_vector<4>(recurrence.getTokenOperands(), typeOf);
  options.constantTypes =
      llvm::map_to_vector<4>(recurrence.getConstants(), typeOf);
  options.outputTypes.assign(recurrence.getOutputs().size(), dtype);
  return options;
}

//===----------------------------------------------------------------------===//
// CompiledRecurrence
//===----------------------------------------------------------------------===//

namespace {
struct FreeDeleter {
  void operator()(void *memory) const { std::free(memory); }
};
using Scratch = std::unique_ptr<void, FreeDeleter>;
} // namespace

struct CompiledRecurrence::Impl {
  using EntryFn = void (*)(const larc_call *, int64_t, int64_t, void *);

  std::unique_ptr<llvm::orc::LLJIT> jit;
  EntryFn entry = nullptr;
  int64_t scratchBytes = 0, blocks = 1;
  TokenCost cost;
  /// Made for the number of threads of the last run.
  std::unique_ptr<llvm::DefaultThreadPool> pool;
  unsigned poolThreads = 0;
  /// One a thread, kept between runs.
  std::vector<Scratch> scratch;

  llvm::Error reserveScratch(unsigned threads) {
    while (scratch.size() < threads) {
      void *memory = std::aligned_alloc(64, (scratchBytes + 63) / 64 * 64);
      if (!memory)
        return makeFault("out of memory: no " + Twine(scratchBytes) +
                         " bytes of workspace");
      scratch.emplace_back(memory);
    }
    return llvm::Error::success();
  }
};

CompiledRecurrence::CompiledRecurrence() : impl(std::make_unique<Impl>()) {}
CompiledRecurrence::~CompiledRecurrence() = default;
TokenCost CompiledRecurrence::getTokenCost() const { return impl->cost; }
int64_t CompiledRecurrence::getWorkspaceBytes() const {
  return impl->scratchBytes;
}

FailureOr<std::unique_ptr<CompiledRecurrence>>
CompiledRecurrence::compile(RecurrenceOp recurrence, const CPUOptions &options,
                            const CompileHooks &hooks) {
  auto report = [&](llvm::Error error) -> LogicalResult {
    return recurrence.emitError() << llvm::toString(std::move(error));
  };
  FailureOr<CompiledModule> compiled =
      compileToLLVM(recurrence, options, hooks);
  if (failed(compiled))
    return failure();
  auto jit = createJIT(std::move(compiled->builder));
  if (!jit)
    return report(jit.takeError());
  if (llvm::Error error = (*jit)->addIRModule(llvm::orc::ThreadSafeModule(
          std::move(compiled->llvm.module), std::move(compiled->llvm.context))))
    return report(std::move(error));

  std::unique_ptr<CompiledRecurrence> result(new CompiledRecurrence());
  Impl &impl = *result->impl;
  impl.jit = std::move(*jit);
  std::string name = ("larc_" + recurrence.getSymName()).str();
  auto entry = impl.jit->lookup(name);
  if (!entry)
    return report(entry.takeError());
  auto scratchBytes = impl.jit->lookup(name + "_scratch_bytes");
  if (!scratchBytes)
    return report(scratchBytes.takeError());
  auto blocks = impl.jit->lookup(name + "_blocks");
  if (!blocks)
    return report(blocks.takeError());
  impl.entry = entry->toPtr<Impl::EntryFn>();
  impl.scratchBytes = *scratchBytes->toPtr<const int64_t *>();
  impl.blocks = *blocks->toPtr<const int64_t *>();
  impl.cost = countTokenCost(recurrence, options);
  return result;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

namespace {

/// Describes a problem's tensors as the entry point takes them.
class CallBuilder {
public:
  CallBuilder(Problem &problem, TensorMap &results)
      : problem(problem), results(results) {}

  llvm::Error build() {
    RecurrenceOp op = problem.recurrence;
    for (auto [tensor, heads] :
         llvm::zip(problem.operands, problem.operandHeads))
      addTokenTensor(tensor, heads);
    for (const Tensor *tensor : problem.constants)
      addConstant(tensor);
    for (auto decl : op.getOutputs().getAsRange<OutputDeclAttr>()) {
      Tensor *tensor = find("out." + decl.getName().str());
      if (!tensor)
        return missing("out." + decl.getName().str());
      addTokenTensor(tensor, problem.heads);
    }
    for (const Tensor *tensor : problem.states)
      addState(tensor);
    for (auto decl : op.getStates().getAsRange<StateDeclAttr>()) {
      Tensor *tensor = find("final." + decl.getName().str());
      if (!tensor)
        return missing("final." + decl.getName().str());
      addState(tensor);
    }
    SmallVector<unsigned> anchored = op.getAnchoredStates();
    for (unsigned state : anchored)
      addState(problem.anchors[state]);
    for (unsigned state : anchored) {
      std::string name =
          "final.anchor." +
          cast<StateDeclAttr>(op.getStates()[state]).getName().str();
      Tensor *tensor = find(name);
      if (!tensor)
        return missing(name);
      addState(tensor);
    }
    for (int64_t n = 0; n < problem.numSequences; ++n) {
      begins.push_back(problem.getBegin(n));
      lengths.push_back(problem.getLength(n));
    }
    positions.assign(problem.positions.begin(), problem.positions.end());
    positions.resize(problem.numSequences, 0);
    call = {problem.numSequences, problem.heads,    begins.data(),
            lengths.data(),       positions.data(), tensors.data()};
    return llvm::Error::success();
  }

  larc_call call;

private:
  Tensor *find(const std::string &name) {
    auto it = results.find(name);
    return it == results.end() ? nullptr : &it->second;
  }
  static llvm::Error missing(const Twine &name) {
    return makeFault("no memory for the result " + name);
  }
  static int64_t elementsFrom(const Tensor &tensor, unsigned axis) {
    int64_t count = 1;
    for (int64_t size : tensor.getShape().drop_front(axis))
      count *= size;
    return count;
  }
  void add(const Tensor *tensor, int64_t sequence, int64_t token, int64_t head,
           int64_t heads) {
    tensors.push_back(
        {tensor ? const_cast<char *>(tensor->getRawData()) : nullptr, sequence,
         token, head, heads});
  }
  /// [B, T, h, axes].
  void addTokenTensor(const Tensor *tensor, int64_t heads) {
    if (!tensor)
      return add(nullptr, 0, 0, 0, 1);
    int64_t head = elementsFrom(*tensor, 3);
    int64_t token = head * heads;
    add(tensor, problem.packed ? 0 : token * problem.tokens, token, head,
        heads);
  }
  /// [H, axes].
  void addConstant(const Tensor *tensor) {
    if (!tensor)
      return add(nullptr, 0, 0, 0, 1);
    add(tensor, 0, 0, elementsFrom(*tensor, 1), problem.heads);
  }
  /// [N, H, axes].
  void addState(const Tensor *tensor) {
    if (!tensor)
      return add(nullptr, 0, 0, 0, problem.heads);
    int64_t head = elementsFrom(*tensor, 2);
    add(tensor, head * problem.heads, 0, head, problem.heads);
  }

  Problem &problem;
  TensorMap &results;
  SmallVector<larc_tensor> tensors;
  SmallVector<int64_t> begins, lengths, positions;
};

} // namespace

llvm::Error CompiledRecurrence::run(Problem &problem, TensorMap &results,
                                    unsigned threads) {
  CallBuilder builder(problem, results);
  if (llvm::Error error = builder.build())
    return error;
  int64_t tasks = problem.numSequences * problem.heads * impl->blocks;
  if (tasks == 0)
    return llvm::Error::success();
  if (threads == 0)
    threads = llvm::hardware_concurrency().compute_thread_count();
  threads = static_cast<unsigned>(std::min<int64_t>(threads, tasks));
  if (llvm::Error error = impl->reserveScratch(threads))
    return error;
  if (threads == 1) {
    impl->entry(&builder.call, 0, tasks, impl->scratch[0].get());
    return llvm::Error::success();
  }
  if (impl->poolThreads != threads) {
    impl->pool = std::make_unique<llvm::DefaultThreadPool>(
        llvm::hardware_concurrency(threads - 1));
    impl->poolThreads = threads;
  }
  // Tasks differ in length when sequences do: each thread takes the next one.
  std::atomic<int64_t> next{0};
  auto work = [&](unsigned thread) {
    for (int64_t task; (task = next.fetch_add(1)) < tasks;)
      impl->entry(&builder.call, task, task + 1, impl->scratch[thread].get());
  };
  for (unsigned thread = 1; thread < threads; ++thread)
    impl->pool->async([&work, thread] { work(thread); });
  work(0);
  impl->pool->wait();
  return llvm::Error::success();
}
