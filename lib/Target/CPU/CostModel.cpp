//===- CostModel.cpp - Times of forms on this CPU -*- C++ -*- -------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Target/CPU/CostModel.h"

#include "Compiler.h"
#include "larc/Analysis/Summaries.h"
#include "larc/Conversion/ProgramWork.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Threading.h"

#include <cmath>
#include <map>
#include <queue>

using namespace mlir;
using namespace larc;

//===----------------------------------------------------------------------===//
// Calibration
//===----------------------------------------------------------------------===//

// Multiples of the time of one vector multiply-add at the machine's peak, one
// for each kind of work, fitted to measured times (docs/cost-model.md). Kinds
// that a fit found no time for are part of others' times.
struct Calibration {
  WorkKind kind;
  double loop, chunk;
};
static constexpr Calibration calibrations[numWorkKinds] = {
    {WorkKind::Product, 1.3, 1.22},   {WorkKind::DecayedPair, 2.0, 2.74},
    {WorkKind::Access, 0.95, 3.56},   {WorkKind::Arithmetic, 0.06, 0.0},
    {WorkKind::Function, 7.6, 11.3},  {WorkKind::LaneSum, 21.0, 15.2},
    {WorkKind::Running, 4.0, 2.58},   {WorkKind::State, 1.43, 0.0},
    {WorkKind::Row, 0.0, 5.3},        {WorkKind::Launch, 0.0, 0.0},
    {WorkKind::Step, 0.0, 13.4},      {WorkKind::Solve, 2.0, 1.31},
    {WorkKind::StepLaunch, 0.0, 4.7}, {WorkKind::Copy, 1.43, 1.0},
    {WorkKind::Memory, 0.0, 0.0},     {WorkKind::Flop, 0.0, 0.0},
};
/// Seconds that a task takes to start, and one wave of tasks on several
/// threads.
static constexpr double taskSeconds = 0.3e-6, waveSeconds = 6e-6;
/// Segments cost code, memory and some accuracy: they must save as much.
static constexpr double segmentsGain = 0.9;
/// Where the forms are as fast, the token loop is simpler.
static constexpr double chunksGain = 0.97;
/// A segment of fewer tokens is not worth its composition.
static constexpr int64_t leastSegment = 64;

ArrayRef<int64_t> CostModel::getChunkSizes() {
  static constexpr int64_t sizes[] = {16, 32, 64, 128};
  return sizes;
}

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

namespace {

/// The work of one recurrence by form; 0 is the token loop.
using FormWork = std::map<int64_t, ProgramWork>;

/// One level of segments.
struct LevelWork {
  OwningOpRef<ModuleOp> summary;
  FormWork summaryWork;
  ProgramWork compositionWork;
  CPUOptions options;
};

} // namespace

static OwningOpRef<ModuleOp> cloneAlone(RecurrenceOp recurrence) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(recurrence.getLoc());
  module->push_back(recurrence->clone());
  return module;
}

/// The work of the token loop, or of chunks of up to `chunkSize` tokens.
static FailureOr<ProgramWork> countForm(RecurrenceOp recurrence,
                                        const RecurrentOptions &options,
                                        int64_t chunkSize) {
  OwningOpRef<ModuleOp> module = cloneAlone(recurrence);
  PassManager pm(recurrence.getContext());
  if (chunkSize == 0)
    buildRecurrentNests(pm);
  else
    buildChunkNests(pm, chunkSize);
  if (failed(pm.run(*module)))
    return failure();
  return countWork(getRecurrence(*module), options);
}

struct CostModel::Impl {
  OwningOpRef<ModuleOp> module;
  CPUOptions options;
  MachineLimits limits;
  /// Seconds of a vector multiply-add at the peak.
  double tick = 0.0;
  unsigned vectorBits = 512;
  mutable FormWork work;
  /// Once segments are asked for; empty where sequences cannot be cut.
  mutable std::optional<std::vector<LevelWork>> levels;

  RecurrentOptions getOptions(const CPUOptions &types) const {
    return makeRecurrentOptions(types, vectorBits);
  }
  const ProgramWork *getWork(FormWork &forms, ModuleOp module,
                             const CPUOptions &types, int64_t chunkSize) const;
  const ProgramWork *getWork(int64_t chunkSize) const {
    return getWork(work, *module, options, chunkSize);
  }
  std::vector<LevelWork> &getLevels() const;

  double getSeconds(const ProgramWork &work, int64_t tokens) const;
  double predict(const CallShape &shape, int64_t chunkSize) const;
  double countFlops(const CallShape &shape, int64_t chunkSize) const;
  std::optional<FormChoice> predictSegments(const CallShape &shape,
                                            int64_t chunkSize,
                                            int64_t segments) const;
  FormChoice chooseSegments(const CallShape &shape, const CPUOptions &given,
                            FormChoice whole) const;
};

/// Nothing where the form cannot be compiled, which is no error here.
const ProgramWork *CostModel::Impl::getWork(FormWork &forms, ModuleOp module,
                                            const CPUOptions &types,
                                            int64_t chunkSize) const {
  auto it = forms.find(chunkSize);
  if (it != forms.end())
    return &it->second;
  ScopedDiagnosticHandler quiet(module.getContext(),
                                [](Diagnostic &) { return success(); });
  FailureOr<ProgramWork> counted =
      countForm(getRecurrence(module), getOptions(types), chunkSize);
  if (failed(counted))
    return nullptr;
  return &forms.try_emplace(chunkSize, *counted).first->second;
}

std::vector<LevelWork> &CostModel::Impl::getLevels() const {
  if (levels)
    return *levels;
  levels.emplace();
  ScopedDiagnosticHandler quiet((*module)->getContext(),
                                [](Diagnostic &) { return success(); });
  FailureOr<Summaries> summaries = summarize(getRecurrence(*module));
  if (failed(summaries))
    return *levels;
  for (SummaryLevel &summary : summaries->levels) {
    LevelWork level;
    level.summary = cloneAlone(summary.summary);
    level.options = options;
    level.options.outputTypes.clear();
    CPUOptions composition = CPUOptions::uniform(
        summary.composition, options.computeType, options.computeType);
    FailureOr<ProgramWork> counted =
        countForm(summary.composition, getOptions(composition), 0);
    if (failed(counted)) {
      levels->clear();
      break;
    }
    level.compositionWork = *counted;
    levels->push_back(std::move(level));
  }
  return *levels;
}

//===----------------------------------------------------------------------===//
// Predicting
//===----------------------------------------------------------------------===//

/// Of all tasks of one head for one sequence.
double CostModel::Impl::getSeconds(const ProgramWork &work,
                                   int64_t tokens) const {
  WorkVector total = work.getTotal(tokens);
  double sum = 0.0;
  for (const Calibration &calibration : calibrations)
    sum += total[unsigned(calibration.kind)] *
           (work.chunkSize > 0 ? calibration.chunk : calibration.loop);
  return sum * tick + taskSeconds * static_cast<double>(work.blocks);
}

namespace {

/// Tasks on threads, each of which takes the next one.
class Wave {
public:
  explicit Wave(unsigned threads) : threads(threads) {}

  void add(double seconds, int64_t count) {
    for (; count > 0 && numTasks < mostTasks; --count, ++numTasks) {
      if (busy.size() < threads) {
        busy.push(seconds);
      } else {
        double earliest = busy.top();
        busy.pop();
        busy.push(earliest + seconds);
      }
    }
    // So many even out.
    rest += seconds * static_cast<double>(count);
  }
  double getSeconds() const {
    std::priority_queue<double, std::vector<double>, std::greater<>> ends =
        busy;
    double end = 0.0;
    for (; !ends.empty(); ends.pop())
      end = std::max(end, ends.top());
    return end + rest / threads + (threads > 1 ? waveSeconds : 0.0);
  }

private:
  static constexpr int64_t mostTasks = 4096;
  unsigned threads;
  int64_t numTasks = 0;
  double rest = 0.0;
  std::priority_queue<double, std::vector<double>, std::greater<>> busy;
};

} // namespace

double CostModel::Impl::predict(const CallShape &shape,
                                int64_t chunkSize) const {
  const ProgramWork &form = *getWork(chunkSize);
  Wave wave(shape.threads);
  double memory = 0.0, serial = 0.0;
  for (int64_t length : shape.lengths) {
    double seconds = getSeconds(form, length);
    serial += seconds * static_cast<double>(shape.heads);
    wave.add(seconds / static_cast<double>(form.blocks),
             shape.heads * form.blocks);
    memory += form.getTotal(length)[unsigned(WorkKind::Memory)] *
              static_cast<double>(shape.heads * vectorBits / 8);
  }
  return std::max(std::min(wave.getSeconds(), serial),
                  memory / (limits.copyGBps * 1e9 * shape.threads));
}

double CostModel::Impl::countFlops(const CallShape &shape,
                                   int64_t chunkSize) const {
  const ProgramWork &form = *getWork(chunkSize);
  double flops = 0.0;
  for (int64_t length : shape.lengths)
    flops += form.getTotal(length)[unsigned(WorkKind::Flop)];
  return flops * static_cast<double>(shape.heads);
}

std::optional<FormChoice>
CostModel::Impl::predictSegments(const CallShape &shape, int64_t chunkSize,
                                 int64_t segments) const {
  std::vector<LevelWork> &levels = getLevels();
  if (levels.empty())
    return std::nullopt;
  const ProgramWork &whole = *getWork(chunkSize);
  SmallVector<const ProgramWork *> summaries;
  for (LevelWork &level : levels) {
    summaries.push_back(
        getWork(level.summaryWork, *level.summary, level.options, chunkSize));
    if (!summaries.back())
      return std::nullopt;
  }
  // The first segment is run while others are summarised.
  constexpr int64_t many = 1024;
  constexpr double least = 0.25, most = 4.0;
  FormChoice choice;
  choice.form = chunkSize > 0 ? CPUForm::Chunk : CPUForm::Recurrent;
  choice.chunkSize = chunkSize;
  choice.segments = segments;
  choice.firstShare =
      std::clamp(getSeconds(*summaries.front(), many) / getSeconds(whole, many),
                 least, most);
  double shares = choice.firstShare + static_cast<double>(segments - 1);
  auto partOf = [&](int64_t length, double share) {
    return static_cast<int64_t>(
        std::llround(static_cast<double>(length) * share / shares));
  };
  auto addTasks = [&](Wave &wave, const ProgramWork &work, int64_t tokens,
                      int64_t count) {
    wave.add(getSeconds(work, tokens) / static_cast<double>(work.blocks),
             count * shape.heads * work.blocks);
  };
  double seconds = 0.0;
  for (auto [i, level] : llvm::enumerate(levels)) {
    Wave wave(shape.threads), composition(shape.threads);
    for (int64_t length : shape.lengths)
      if (i == 0)
        addTasks(wave, whole, partOf(length, choice.firstShare), 1);
    for (int64_t length : shape.lengths) {
      addTasks(wave, *summaries[i], partOf(length, 1.0), segments - 2);
      addTasks(composition, level.compositionWork, segments - 2, 1);
    }
    seconds += wave.getSeconds();
    if (segments > 2)
      seconds += composition.getSeconds();
    else
      break;
  }
  Wave wave(shape.threads);
  for (int64_t length : shape.lengths)
    addTasks(wave, whole, partOf(length, 1.0), segments - 1);
  choice.milliseconds = (seconds + wave.getSeconds()) * 1e3;
  return choice;
}

/// `whole` is the choice without segments.
FormChoice CostModel::Impl::chooseSegments(const CallShape &shape,
                                           const CPUOptions &given,
                                           FormChoice whole) const {
  // The token loop is a fixed plan unless segments are asked for.
  if (given.segments == 1 || (given.segments == 0 && whole.chunkSize == 0))
    return whole;
  if (given.segments > 1) {
    std::optional<FormChoice> choice =
        predictSegments(shape, whole.chunkSize, given.segments);
    if (choice)
      return *choice;
    whole.segments = given.segments;
    return whole;
  }
  const ProgramWork &form = *getWork(whole.chunkSize);
  int64_t longest = 0, tokens = 0;
  for (int64_t length : shape.lengths) {
    longest = std::max(longest, length);
    tokens += length;
  }
  int64_t perToken = shape.heads * form.blocks;
  // Threads that find no work, because one task is longer than its share.
  bool isIdle =
      shape.threads > 1 && longest * shape.threads > tokens * perToken;
  if (!isIdle)
    return whole;
  FormChoice best = whole;
  int64_t tasks = perToken * static_cast<int64_t>(shape.lengths.size());
  int64_t wanted = llvm::divideCeil(shape.threads, std::max<int64_t>(tasks, 1));
  for (int64_t segments : {wanted + 1, 2 * wanted + 1}) {
    if (longest < segments * std::max(leastSegment, whole.chunkSize))
      continue;
    std::optional<FormChoice> choice =
        predictSegments(shape, whole.chunkSize, segments);
    if (!choice)
      break;
    bool gains = choice->milliseconds < whole.milliseconds * segmentsGain;
    if (gains && choice->milliseconds < best.milliseconds)
      best = *choice;
  }
  return best;
}

//===----------------------------------------------------------------------===//
// CostModel
//===----------------------------------------------------------------------===//

CallShape CallShape::of(const Problem &problem, unsigned threads) {
  CallShape shape;
  shape.heads = problem.heads;
  for (int64_t n = 0; n < problem.numSequences; ++n)
    shape.lengths.push_back(problem.getLength(n));
  shape.threads =
      threads ? threads : llvm::hardware_concurrency().compute_thread_count();
  return shape;
}

CostModel::CostModel() : impl(std::make_unique<Impl>()) {}
CostModel::~CostModel() = default;
CostModel::CostModel(CostModel &&) = default;
CostModel &CostModel::operator=(CostModel &&) = default;

FailureOr<CostModel> CostModel::create(RecurrenceOp recurrence,
                                       const CPUOptions &options) {
  CostModel model;
  auto builder = getTargetMachineBuilder(options.cpu);
  if (!builder)
    return recurrence.emitError(llvm::toString(builder.takeError())), failure();
  auto machine = builder->createTargetMachine();
  if (!machine)
    return recurrence.emitError(llvm::toString(machine.takeError())), failure();
  Impl &impl = *model.impl;
  impl.module = cloneAlone(recurrence);
  impl.options = options;
  impl.vectorBits = getVectorBits(**machine);
  impl.limits = getThreadLimits(options.computeType);
  double lanes = impl.vectorBits / (8.0 * getByteWidth(options.computeType));
  impl.tick = 2.0 * lanes / (impl.limits.gflops * 1e9);
  FailureOr<ProgramWork> loop =
      countForm(recurrence, impl.getOptions(options), 0);
  if (failed(loop))
    return failure();
  impl.work.try_emplace(0, *loop);
  return std::move(model);
}

FormChoice CostModel::choose(const CallShape &shape, const CPUOptions &options,
                             bool anyForm) const {
  SmallVector<int64_t> candidates;
  if (anyForm || options.form == CPUForm::Recurrent)
    candidates.push_back(0);
  if (anyForm || options.form == CPUForm::Chunk) {
    if (options.chunkSize > 0)
      candidates.push_back(options.chunkSize);
    else
      llvm::append_range(candidates, getChunkSizes());
  }
  int64_t longest = 0;
  for (int64_t length : shape.lengths)
    longest = std::max(longest, length);
  std::optional<FormChoice> best;
  for (int64_t chunkSize : candidates) {
    // A segment has a chunk at least.
    if (chunkSize != options.chunkSize && chunkSize != candidates.front() &&
        options.segments > 1 &&
        llvm::divideCeil(longest, chunkSize) <
            static_cast<uint64_t>(options.segments))
      continue;
    if (!impl->getWork(chunkSize))
      continue;
    FormChoice whole;
    whole.form = chunkSize > 0 ? CPUForm::Chunk : CPUForm::Recurrent;
    whole.chunkSize = chunkSize;
    whole.milliseconds = impl->predict(shape, chunkSize) * 1e3;
    FormChoice choice = impl->chooseSegments(shape, options, whole);
    double gain = best && best->form != choice.form ? chunksGain : 1.0;
    if (!best || choice.milliseconds < best->milliseconds * gain)
      best = choice;
  }
  if (best) {
    best->flops = impl->countFlops(shape, best->chunkSize);
    return *best;
  }
  // What cannot be compiled says so when it is.
  FormChoice none;
  none.form = options.form;
  none.chunkSize = options.chunkSize;
  none.segments = std::max<int64_t>(options.segments, 1);
  return none;
}
