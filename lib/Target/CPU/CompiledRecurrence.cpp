//===- CompiledRecurrence.cpp - Compiled forms on this CPU -*- C++ -*- ----===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Target/CPU/CompiledRecurrence.h"

#include "Compiler.h"
#include "Segments.h"
#include "TaskRunner.h"
#include "larc/Runtime/Recurrent.h"
#include "larc/Support/Error.h"
#include "larc/Support/ObjectCache.h"
#include "larc/Target/CPU/CostModel.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/Threading.h"

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

void CPUOptions::print(llvm::raw_ostream &os) const {
  // Names every member: a new one does not compile until it is printed.
  const auto &[operands, constants, outputs, compute, cpuName, cpuForm, chunk,
               numSegments] = *this;
  for (const auto &types : {operands, constants, outputs}) {
    for (DType type : types)
      os << getName(type) << ' ';
    os << "| ";
  }
  os << getName(compute) << " '" << cpuName << "' "
     << (cpuForm == CPUForm::Chunk ? "chunk" : "recurrent") << ' ' << chunk
     << ' ' << numSegments;
}

//===----------------------------------------------------------------------===//
// CompiledRecurrence
//===----------------------------------------------------------------------===//

struct CompiledRecurrence::Impl {
  CPUOptions options;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  Kernel kernel;
  TokenCost cost;
  TaskRunner runner;
  /// Compiled for the first run in segments.
  std::unique_ptr<SegmentKernels> segments;
  /// That sequences cannot be cut is found out once.
  bool isWhole = false;
  /// Made for the first call that it is asked about.
  std::optional<CostModel> costs;

  /// Links `code`, which was compiled from the recurrence called `symbol`.
  llvm::Error load(CachedObject code, StringRef symbol,
                   llvm::orc::JITTargetMachineBuilder builder);
  /// Reads what `writeMetadata` wrote.
  llvm::Error readMetadata(StringRef text);

  /// How to carry out a call, by the cost model.
  FormChoice choose(const Problem &problem, unsigned threads);
  SegmentPlan planSegments(Problem &problem, unsigned threads);
};

/// What is kept of a recurrence beside its object file, as JSON.
static std::string writeMetadata(TokenCost cost) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(
      llvm::json::Object{{"flops", cost.flops}, {"bytes", cost.bytes}});
  return text;
}

llvm::Error CompiledRecurrence::Impl::readMetadata(StringRef text) {
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (!value)
    return value.takeError();
  const llvm::json::Object *object = value->getAsObject();
  std::optional<double> flops, bytes;
  if (object) {
    flops = object->getNumber("flops");
    bytes = object->getNumber("bytes");
  }
  if (!flops || !bytes)
    return makeFault("the costs of compiled code are missing");
  cost = {*flops, *bytes};
  return llvm::Error::success();
}

CompiledRecurrence::CompiledRecurrence() : impl(std::make_unique<Impl>()) {}
CompiledRecurrence::~CompiledRecurrence() = default;
TokenCost CompiledRecurrence::getTokenCost() const { return impl->cost; }
CallPlan CompiledRecurrence::getPlan(const Problem &problem,
                                     unsigned threads) const {
  FormChoice choice = impl->choose(problem, threads);
  CallPlan plan;
  plan.chunkSize = choice.chunkSize;
  plan.segments = choice.segments;
  if (choice.milliseconds > 0.0) {
    plan.milliseconds = choice.milliseconds;
    plan.flops = choice.flops;
  }
  return plan;
}
int64_t CompiledRecurrence::getWorkspaceBytes() const {
  return impl->kernel.scratchBytes;
}
const Kernel &CompiledRecurrence::getKernel() const { return impl->kernel; }

llvm::Error
CompiledRecurrence::Impl::load(CachedObject code, StringRef symbol,
                               llvm::orc::JITTargetMachineBuilder builder) {
  if (llvm::Error error = readMetadata(code.metadata))
    return error;
  auto created = createJIT(std::move(builder));
  if (!created)
    return created.takeError();
  jit = std::move(*created);
  if (llvm::Error error = jit->addObjectFile(std::move(code.object)))
    return error;
  std::string name = ("larc_" + symbol).str();
  auto entrySymbol = jit->lookup(name);
  if (!entrySymbol)
    return entrySymbol.takeError();
  auto scratchBytesSymbol = jit->lookup(name + "_scratch_bytes");
  if (!scratchBytesSymbol)
    return scratchBytesSymbol.takeError();
  auto blocksSymbol = jit->lookup(name + "_blocks");
  if (!blocksSymbol)
    return blocksSymbol.takeError();
  kernel.entry = entrySymbol->toPtr<decltype(Kernel::entry)>();
  kernel.scratchBytes = *scratchBytesSymbol->toPtr<const int64_t *>();
  kernel.blocks = *blocksSymbol->toPtr<const int64_t *>();
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Compiling, and keeping what was compiled
//===----------------------------------------------------------------------===//

/// Everything that code depends on, as text. The recurrence is printed without
/// locations: where it was read from does not matter. Empty if the compiler
/// does not know itself, and so no later build from this one.
static std::string
makeCacheKey(RecurrenceOp recurrence, const CPUOptions &options,
             const llvm::orc::JITTargetMachineBuilder &builder) {
  std::string key;
  const std::string &build = getBuildIdentity();
  if (build.empty())
    return key;
  llvm::raw_string_ostream os(key);
  os << "larc " LARC_VERSION_STRING ", LLVM " LLVM_VERSION_STRING "\n"
     << build << "target " << builder.getTargetTriple().str() << ' '
     << builder.getCPU() << ' ' << builder.getFeatures().getString()
     << "\noptions ";
  options.print(os);
  os << '\n';
  recurrence->print(os, OpPrintingFlags().useLocalScope());
  return key;
}

FailureOr<std::unique_ptr<CompiledRecurrence>>
CompiledRecurrence::compile(RecurrenceOp recurrence, const CPUOptions &options,
                            const CompileHooks &hooks) {
  // The code is the same however sequences are cut.
  CPUOptions uncut = options;
  uncut.segments = 0;
  auto result = compileKernel(recurrence, uncut, hooks);
  if (failed(result) || options.segments <= 1)
    return result;
  (*result)->impl->options = options;
  auto segments = SegmentKernels::compile(recurrence, uncut, hooks);
  if (failed(segments))
    return failure();
  (*result)->impl->segments = std::move(*segments);
  return result;
}

FailureOr<std::unique_ptr<CompiledRecurrence>>
CompiledRecurrence::compileKernel(RecurrenceOp recurrence,
                                  const CPUOptions &options,
                                  const CompileHooks &hooks) {
  auto report = [&](llvm::Error error) -> LogicalResult {
    return recurrence.emitError() << llvm::toString(std::move(error));
  };
  auto builder = getTargetMachineBuilder(options.cpu);
  if (!builder)
    return report(builder.takeError());
  auto create = [&](CachedObject code)
      -> llvm::Expected<std::unique_ptr<CompiledRecurrence>> {
    std::unique_ptr<CompiledRecurrence> result(new CompiledRecurrence());
    result->impl->options = options;
    if (llvm::Error error = result->impl->load(
            std::move(code), recurrence.getSymName(), *builder))
      return std::move(error);
    return result;
  };

  ObjectCache cache = ObjectCache::fromEnvironment();
  std::string key;
  if (cache.isEnabled())
    key = makeCacheKey(recurrence, options, *builder);
  // Whoever asks what passes do or how long they take wants them to run.
  bool mayLoad = hooks.printIRAfter.empty() && !hooks.timing;
  if (!key.empty() && mayLoad)
    if (std::optional<CachedObject> code = cache.load(key)) {
      auto result = create(std::move(*code));
      if (result)
        return std::move(*result);
      // What does not link is compiled again, which gives its error if it must.
      llvm::consumeError(result.takeError());
    }

  DefaultTimingManager timing;
  timing.setEnabled(hooks.timing);
  TimingScope scope = timing.getRootScope();
  FailureOr<CompiledModule> compiled =
      compileToLLVM(recurrence, options, hooks, scope);
  if (failed(compiled))
    return failure();
  TimingScope emission = scope.nest("EmitObject");
  auto object = emitObject(*compiled);
  if (!object)
    return report(object.takeError());
  emission.stop();
  CachedObject code{std::move(*object),
                    writeMetadata(countTokenCost(recurrence, options))};
  if (!key.empty())
    if (llvm::Error error =
            cache.store(key, code.object->getBuffer(), code.metadata))
      warnOfCache(recurrence.getContext(), std::move(error));
  TimingScope linking = scope.nest("Link");
  auto result = create(std::move(code));
  if (!result)
    return report(result.takeError());
  return std::move(*result);
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

FormChoice CompiledRecurrence::Impl::choose(const Problem &problem,
                                            unsigned threads) {
  FormChoice fixed;
  fixed.form = options.form;
  fixed.chunkSize = getChunkSize(options);
  fixed.segments = std::max<int64_t>(options.segments, 1);
  if (!costs) {
    RecurrenceOp recurrence = problem.recurrence;
    ScopedDiagnosticHandler quiet(recurrence.getContext(),
                                  [](Diagnostic &) { return success(); });
    FailureOr<CostModel> made = CostModel::create(recurrence, options);
    if (failed(made))
      return fixed;
    costs = std::move(*made);
  }
  CPUOptions given = options;
  given.chunkSize = fixed.chunkSize;
  if (isWhole)
    given.segments = 1;
  return costs->choose(CallShape::of(problem, threads), given,
                       /*anyForm=*/false);
}

SegmentPlan CompiledRecurrence::Impl::planSegments(Problem &problem,
                                                   unsigned threads) {
  SegmentPlan plan;
  plan.alignment = std::max<int64_t>(getChunkSize(options), 1);
  int64_t longest = 0, tokens = 0;
  for (int64_t n = 0; n < problem.numSequences; ++n) {
    longest = std::max(longest, problem.getLength(n));
    tokens += problem.getLength(n);
  }
  // Nothing to ask where every thread has its share of work anyway.
  bool isBalanced = longest * threads <= tokens * problem.heads * kernel.blocks;
  bool isFixed = options.form == CPUForm::Recurrent || threads == 1 ||
                 isBalanced || isWhole;
  if (options.segments == 1 || (options.segments == 0 && isFixed))
    return plan;
  FormChoice choice = choose(problem, threads);
  plan.segments = choice.segments;
  plan.firstShare = choice.firstShare;
  if (plan.segments == 1 || segments)
    return plan;
  ScopedDiagnosticHandler quiet(problem.module->getContext(),
                                [](Diagnostic &) { return success(); });
  auto made = SegmentKernels::compile(problem.recurrence, options, {});
  if (succeeded(made)) {
    segments = std::move(*made);
    return plan;
  }
  isWhole = true;
  plan.segments = 1;
  return plan;
}

llvm::Error CompiledRecurrence::run(Problem &problem, TensorMap &results,
                                    unsigned threads) {
  CallBuilder builder(problem, results);
  if (llvm::Error error = builder.build())
    return error;
  if (threads == 0)
    threads = llvm::hardware_concurrency().compute_thread_count();
  // Waking other threads takes as long as that much work.
  constexpr double serialFlops = 1e6;
  double tokens = 0.0;
  for (int64_t n = 0; n < problem.numSequences; ++n)
    tokens += static_cast<double>(problem.getLength(n));
  if (impl->cost.flops * tokens * static_cast<double>(problem.heads) <
      serialFlops)
    threads = 1;
  SegmentPlan plan = impl->planSegments(problem, threads);
  if (plan.segments == 1)
    return impl->runner.run(Job{impl->kernel, builder.call}, threads);
  return impl->segments->run(impl->kernel, builder.call,
                             problem.packed ? 0 : problem.tokens, plan,
                             impl->runner, threads);
}
