//===- Segments.cpp - Sequences run in pieces -*- C++ -*- -----------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Segments.h"

#include "larc/Support/Error.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace larc;

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

static int64_t countStateElements(RecurrenceOp op, ArrayRef<StringAttr> axes) {
  int64_t count = 1;
  for (StringAttr axis : axes)
    count *= *op.getAxisSize(axis);
  return count;
}

FailureOr<std::unique_ptr<SegmentKernels>>
SegmentKernels::compile(RecurrenceOp recurrence, const CPUOptions &options,
                        const CompileHooks &hooks) {
  FailureOr<Summaries> summaries = summarize(recurrence);
  if (failed(summaries))
    return failure();
  auto result = std::make_unique<SegmentKernels>();
  result->numOperands = recurrence.getTokenOperands().size();
  result->numConstants = recurrence.getConstants().size();
  result->numOutputs = recurrence.getOutputs().size();
  result->elementBytes = getByteWidth(options.computeType);
  for (auto decl : recurrence.getStates().getAsRange<StateDeclAttr>())
    result->sizes.push_back(countStateElements(recurrence, decl.getAxes()));
  for (SummaryLevel &summary : summaries->levels) {
    Level level;
    level.kept = summary.kept;
    level.states = summary.states;
    level.identities = summary.identities;
    auto decls = summary.summary.getStates().getAsRange<StateDeclAttr>();
    for (StateDeclAttr decl : decls)
      level.sizes.push_back(
          countStateElements(summary.summary, decl.getAxes()));
    for (unsigned identity : level.identities)
      level.identityRows.push_back(static_cast<int64_t>(
          std::lround(std::sqrt(double(level.sizes[identity])))));
    CPUOptions summaryOptions = options;
    summaryOptions.outputTypes.clear();
    auto summaryCode =
        CompiledRecurrence::compile(summary.summary, summaryOptions, hooks);
    if (failed(summaryCode))
      return failure();
    level.summaryCode = std::move(*summaryCode);
    // As many tokens as there are segments: never chunks.
    CPUOptions compositionOptions = CPUOptions::uniform(
        summary.composition, options.computeType, options.computeType);
    compositionOptions.cpu = options.cpu;
    auto compositionCode = CompiledRecurrence::compile(
        summary.composition, compositionOptions, hooks);
    if (failed(compositionCode))
      return failure();
    level.compositionCode = std::move(*compositionCode);
    result->levels.push_back(std::move(level));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// One run. Segments are numbered from 0; those from 1 on have a start in
/// `starts`. As sequences of a call of their own they come segment by segment:
/// segment p of sequence n is number (p - 1) * N + n, and so is its place in
/// memory, [P - 1, N, H, axes].
class SegmentKernels::Run {
public:
  Run(SegmentKernels &kernels, const Kernel &whole, const larc_call &call,
      int64_t rowTokens, const SegmentPlan &plan)
      : kernels(kernels), whole(whole), call(call), rowTokens(rowTokens),
        plan(plan), numMiddle(plan.segments - 2) {}

  llvm::Error run(TaskRunner &runner, unsigned threads);

private:
  /// Bounds and tensors of a call of `count` segments of each sequence.
  struct Part {
    SmallVector<int64_t> begins, lengths, positions;
    SmallVector<larc_tensor> tensors;
    larc_call call;
  };

  void cut();
  Part makePart(int64_t first, int64_t count, bool hasOutputs);
  Job finish(Part &part, const Kernel &kernel);
  larc_tensor getState(char *data, int64_t elements) const;
  llvm::Expected<char *> allocate(int64_t bytes);
  llvm::Expected<char *> allocateStates(int64_t count, int64_t elements) {
    return allocate(count * call.heads * elements * kernels.elementBytes);
  }
  llvm::Expected<char *> makeIdentity(int64_t rows);
  char *getStart(unsigned state, int64_t segment) const {
    return starts[state] + (segment - 1) * call.sequences * call.heads *
                               kernels.sizes[state] * kernels.elementBytes;
  }
  const larc_tensor &getInitial(unsigned state) const {
    return call.tensors[kernels.numOperands + kernels.numConstants +
                        kernels.numOutputs + state];
  }
  const larc_tensor &getFinal(unsigned state) const {
    return (&getInitial(state))[kernels.sizes.size()];
  }

  Job runFirst(Part &part);
  llvm::Expected<Job> summarizeMiddle(const Level &level, Part &part);
  llvm::Expected<Job> composeMiddle(const Level &level, Part &part);
  SmallVector<Job> runRest(Part &middle, Part &last);

  SegmentKernels &kernels;
  const Kernel &whole;
  const larc_call &call;
  int64_t rowTokens;
  SegmentPlan plan;
  int64_t numMiddle;
  /// P + 1 cuts of each sequence, counted from its first token.
  SmallVector<SmallVector<int64_t>> cuts;
  SmallVector<char *> starts;
  /// By part of the level that is run: [P - 2, N, H, axes].
  SmallVector<char *> ends;
  std::vector<AlignedMemory> memory;
};

llvm::Expected<char *> SegmentKernels::Run::allocate(int64_t bytes) {
  llvm::Expected<AlignedMemory> block =
      allocateAligned(bytes, "workspace for segments");
  if (!block)
    return block.takeError();
  memory.push_back(std::move(*block));
  return static_cast<char *>(memory.back().get());
}

llvm::Expected<char *> SegmentKernels::Run::makeIdentity(int64_t rows) {
  llvm::Expected<char *> data = allocate(rows * rows * kernels.elementBytes);
  if (!data)
    return data.takeError();
  std::memset(*data, 0, rows * rows * kernels.elementBytes);
  for (int64_t i = 0; i < rows; ++i) {
    if (kernels.elementBytes == 8)
      reinterpret_cast<double *>(*data)[i * rows + i] = 1.0;
    else
      reinterpret_cast<float *>(*data)[i * rows + i] = 1.0F;
  }
  return data;
}

/// Segments of a sequence: the first has `firstShare` of the tokens of another.
void SegmentKernels::Run::cut() {
  double weights = plan.firstShare + static_cast<double>(plan.segments - 1);
  for (int64_t n = 0; n < call.sequences; ++n) {
    auto length = static_cast<double>(call.lengths[n]);
    SmallVector<int64_t> &at = cuts.emplace_back();
    at.push_back(0);
    for (int64_t p = 1; p < plan.segments; ++p) {
      double share = (plan.firstShare + static_cast<double>(p - 1)) / weights;
      auto units = static_cast<int64_t>(
          std::llround(length * share / static_cast<double>(plan.alignment)));
      at.push_back(
          std::clamp(units * plan.alignment, at.back(), call.lengths[n]));
    }
    at.push_back(call.lengths[n]);
  }
}

SegmentKernels::Run::Part
SegmentKernels::Run::makePart(int64_t first, int64_t count, bool hasOutputs) {
  Part part;
  for (int64_t p = first; p < first + count; ++p)
    for (int64_t n = 0; n < call.sequences; ++n) {
      part.begins.push_back(n * rowTokens + call.begins[n] + cuts[n][p]);
      part.lengths.push_back(cuts[n][p + 1] - cuts[n][p]);
      part.positions.push_back(call.positions[n] + cuts[n][p]);
    }
  unsigned numTensors = kernels.numOperands + kernels.numConstants +
                        (hasOutputs ? kernels.numOutputs : 0);
  for (const larc_tensor &tensor : ArrayRef(call.tensors, numTensors)) {
    part.tensors.push_back(tensor);
    part.tensors.back().stride_sequence = 0;
  }
  return part;
}

Job SegmentKernels::Run::finish(Part &part, const Kernel &kernel) {
  part.call = {static_cast<int64_t>(part.lengths.size()),
               call.heads,
               part.begins.data(),
               part.lengths.data(),
               part.positions.data(),
               part.tensors.data()};
  return {kernel, part.call};
}

larc_tensor SegmentKernels::Run::getState(char *data, int64_t elements) const {
  return {data, elements * call.heads, 0, elements, call.heads};
}

/// The first segment, from the call's initial states to the starts of the
/// second one.
Job SegmentKernels::Run::runFirst(Part &part) {
  part = makePart(0, 1, /*hasOutputs=*/true);
  for (unsigned state = 0; state < starts.size(); ++state)
    part.tensors.push_back(getInitial(state));
  for (auto [state, size] : llvm::enumerate(kernels.sizes))
    part.tensors.push_back(getState(getStart(state, 1), size));
  return finish(part, whole);
}

llvm::Expected<Job> SegmentKernels::Run::summarizeMiddle(const Level &level,
                                                         Part &part) {
  part = makePart(1, numMiddle, /*hasOutputs=*/false);
  SmallVector<larc_tensor> finals;
  ends.clear();
  const auto *identity = level.identities.begin();
  for (auto [i, size] : llvm::enumerate(level.sizes)) {
    llvm::Expected<char *> end =
        allocateStates(numMiddle * call.sequences, size);
    if (!end)
      return end.takeError();
    finals.push_back(getState(*end, size));
    if (i < level.kept.size()) {
      part.tensors.push_back(getState(starts[level.kept[i]], size));
      continue;
    }
    ends.push_back(*end);
    larc_tensor initial = getState(nullptr, size);
    if (identity != level.identities.end() && *identity == i) {
      int64_t rows = level.identityRows[identity - level.identities.begin()];
      llvm::Expected<char *> one = makeIdentity(rows);
      if (!one)
        return one.takeError();
      initial = {*one, 0, 0, 0, call.heads};
      ++identity;
    }
    part.tensors.push_back(initial);
  }
  llvm::append_range(part.tensors, finals);
  return finish(part, level.summaryCode->getKernel());
}

/// Sequences again, whose tokens are the segments between the first and the
/// last.
llvm::Expected<Job> SegmentKernels::Run::composeMiddle(const Level &level,
                                                       Part &part) {
  part.begins.assign(call.sequences, 0);
  part.lengths.assign(call.sequences, numMiddle);
  part.positions.assign(call.sequences, 0);
  auto addToken = [&](char *data, int64_t size) {
    part.tensors.push_back({data, size * call.heads,
                            size * call.heads * call.sequences, size,
                            call.heads});
  };
  for (auto [end, size] :
       llvm::zip(ends, ArrayRef(level.sizes).drop_front(level.kept.size())))
    addToken(end, size);
  for (unsigned state : level.states)
    addToken(getStart(state, 2), kernels.sizes[state]);
  for (unsigned state : level.states)
    part.tensors.push_back(getState(starts[state], kernels.sizes[state]));
  for (unsigned state : level.states) {
    llvm::Expected<char *> last =
        allocateStates(call.sequences, kernels.sizes[state]);
    if (!last)
      return last.takeError();
    part.tensors.push_back(getState(*last, kernels.sizes[state]));
  }
  return finish(part, level.compositionCode->getKernel());
}

/// All segments but the first. Ends of those between overwrite their starts,
/// which nothing needs any more.
SmallVector<Job> SegmentKernels::Run::runRest(Part &middle, Part &last) {
  SmallVector<Job> jobs;
  if (numMiddle > 0) {
    middle = makePart(1, numMiddle, /*hasOutputs=*/true);
    for (int i = 0; i < 2; ++i)
      for (auto [start, size] : llvm::zip(starts, kernels.sizes))
        middle.tensors.push_back(getState(start, size));
    jobs.push_back(finish(middle, whole));
  }
  last = makePart(plan.segments - 1, 1, /*hasOutputs=*/true);
  for (auto [state, size] : llvm::enumerate(kernels.sizes))
    last.tensors.push_back(getState(getStart(state, plan.segments - 1), size));
  for (unsigned state = 0; state < starts.size(); ++state)
    last.tensors.push_back(getFinal(state));
  jobs.push_back(finish(last, whole));
  return jobs;
}

llvm::Error SegmentKernels::Run::run(TaskRunner &runner, unsigned threads) {
  cut();
  for (int64_t size : kernels.sizes) {
    llvm::Expected<char *> start =
        allocateStates((plan.segments - 1) * call.sequences, size);
    if (!start)
      return start.takeError();
    starts.push_back(*start);
  }
  Part first;
  SmallVector<Job> jobs = {runFirst(first)};
  if (numMiddle > 0)
    for (const Level &level : kernels.levels) {
      Part summary, composition;
      llvm::Expected<Job> job = summarizeMiddle(level, summary);
      if (!job)
        return job.takeError();
      jobs.push_back(*job);
      if (llvm::Error error = runner.run(jobs, threads))
        return error;
      jobs.clear();
      job = composeMiddle(level, composition);
      if (!job)
        return job.takeError();
      if (llvm::Error error = runner.run(*job, threads))
        return error;
    }
  else if (llvm::Error error = runner.run(jobs, threads))
    return error;
  Part middle, last;
  return runner.run(runRest(middle, last), threads);
}

llvm::Error SegmentKernels::run(const Kernel &whole, const larc_call &call,
                                int64_t rowTokens, const SegmentPlan &plan,
                                TaskRunner &runner, unsigned threads) {
  return Run(*this, whole, call, rowTokens, plan).run(runner, threads);
}
