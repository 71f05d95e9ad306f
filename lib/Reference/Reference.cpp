//===- Reference.cpp - Running a program over tokens ------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A worker runs all tokens of one sequence and one head. For gradients it keeps
// the states at the start of about sqrt(T) segments; then, from the last
// segment to the first, it computes and keeps the states of each of the
// segment's tokens, and goes back through them, computing each token's arrays
// again.
//
//===----------------------------------------------------------------------===//

#include "larc/Reference/Reference.h"
#include "Plan.h"
#include "larc/Support/Error.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <mutex>
#include <pthread.h>
#include <thread>

using namespace mlir;
using namespace larc;

//===----------------------------------------------------------------------===//
// Progress
//===----------------------------------------------------------------------===//

namespace {

/// Says how far the work is, a few hundred times in all.
class Progress {
public:
  Progress(ProgressFn fn, double total) : fn(std::move(fn)), total(total) {}

  void add(double amount) {
    if (!fn)
      return;
    std::lock_guard<std::mutex> lock(mutex);
    done += amount;
    if (done < reported + total / 256 && done < total)
      return;
    reported = done;
    fn(std::min(done / total, 1.0));
  }

private:
  ProgressFn fn;
  double total, done = 0, reported = 0;
  std::mutex mutex;
};

} // namespace

//===----------------------------------------------------------------------===//
// One sequence and head
//===----------------------------------------------------------------------===//

namespace {

class Worker {
public:
  Worker(const Plan &plan, Progress &progress, Tensor workspace)
      : plan(plan), problem(plan.problem), program(plan.program),
        progress(progress), workspace(std::move(workspace)) {
    double *next = this->workspace.getValues<double>().data();
    auto take = [&](int64_t count) {
      return std::exchange(next, next + count);
    };
    values = take(program.frameSize);
    carry = take(program.carrySize);
    if (plan.gradients) {
      cotangents = take(program.frameSize);
      carryCotangent = take(program.carrySize);
      checkpoints = take(plan.getNumSegments() * program.carrySize);
      segment = take((plan.segmentLength + 1) * program.carrySize);
    }
    for (auto [offset, value] : program.literals)
      values[offset] = value;
  }

  /// The sequences of `block`, one after the other.
  void run(int64_t block, int64_t headIndex) {
    head = headIndex;
    for (const Port &constant : plan.constants)
      if (constant.source)
        constant.load(values, head);
    if (plan.gradients)
      std::fill(cotangents + program.carrySize,
                cotangents + program.constantsEnd, 0.0);
    for (sequence = plan.getBlockBegin(block);
         sequence < plan.getBlockBegin(block + 1); ++sequence)
      runSequence();
    if (plan.gradients)
      for (const Port &gradient : plan.constantGradients)
        if (gradient.target)
          gradient.store(cotangents, block * problem.heads + head);
  }

private:
  int64_t getSlot() const { return sequence * problem.heads + head; }
  int64_t getPosition() const { return problem.positions[sequence]; }
  int64_t getLength() const { return problem.getLength(sequence); }
  /// Whether the token at `time` of the sequence starts a period.
  bool startsPeriod(int64_t time) const {
    return program.period && time % program.period == 0;
  }
  /// The slot of a token in a tensor with `heads` heads.
  int64_t getTokenSlot(int64_t token, int64_t heads) const {
    int64_t row = problem.getRow(sequence);
    int64_t index = problem.getBegin(sequence) + token;
    return (row * problem.tokens + index) * heads +
           head / (problem.heads / heads);
  }
  void copyCarry(double *to, const double *from) const {
    std::memcpy(to, from, program.carrySize * sizeof(double));
  }

  void runSequence() {
    loadInitial();
    for (int64_t token = 0, length = getLength(); token < length; ++token) {
      if (plan.gradients && token % plan.segmentLength == 0)
        copyCarry(checkpoints + token / plan.segmentLength * program.carrySize,
                  values);
      runToken(token);
      for (const Port &output : plan.outputs)
        output.store(values, getTokenSlot(token, problem.heads));
      finishToken(carry);
      copyCarry(values, carry);
      note(token);
    }
    storeFinal();
    if (plan.gradients)
      differentiateSequence();
  }

  void note(int64_t token) {
    if (token % 16 == 15 || token + 1 == getLength())
      progress.add(token % 16 + 1);
  }

  void loadInitial() {
    for (auto [port, view, init] :
         llvm::zip(plan.states, program.states, plan.initialValues)) {
      if (port.source)
        port.load(values, getSlot());
      else
        fillArray(values, view, init);
    }
    for (auto [port, view] : llvm::zip(plan.anchors, program.anchors)) {
      if (port.source && !startsPeriod(getPosition()))
        port.load(values, getSlot());
      else
        fillArray(values, view, 0);
    }
  }

  /// Copies each state to its anchor.
  void setAnchors() {
    for (auto [index, view] :
         llvm::zip(program.anchoredStates, program.anchors))
      std::memcpy(values + view.offset, values + program.states[index].offset,
                  view.getNumElements() * sizeof(double));
  }

  /// Computes a token's arrays; the frame holds the carry and the constants.
  void runToken(int64_t token) {
    int64_t time = getPosition() + token;
    if (startsPeriod(time))
      setAnchors();
    for (auto [port, heads] : llvm::zip(plan.operands, problem.operandHeads))
      if (port.source)
        port.load(values, getTokenSlot(token, heads));
    TokenContext context = {values, nullptr, time + 1};
    for (const auto &instruction : program.code)
      instruction->forward(context);
  }

  /// Writes the carry of the next token.
  void finishToken(double *target) const {
    const double *v = values;
    for (const Nest<2> &next : plan.nextStates)
      forEachElement(next, [=](const auto &at) { target[at[1]] = v[at[0]]; });
    for (const View &anchor : program.anchors)
      std::memcpy(target + anchor.offset, values + anchor.offset,
                  anchor.getNumElements() * sizeof(double));
  }

  void storeFinal() {
    for (const Port &port : plan.finalStates)
      port.store(values, getSlot());
    if (startsPeriod(getPosition() + getLength()))
      setAnchors();
    for (const Port &port : plan.finalAnchors)
      port.store(values, getSlot());
  }

  void differentiateSequence() {
    std::fill_n(carryCotangent, program.carrySize, 0.0);
    for (const Port &port : plan.stateCotangents)
      if (port.source)
        port.accumulate(carryCotangent, getSlot());
    for (const Port &port : plan.anchorCotangents)
      if (port.source)
        port.accumulate(carryCotangent, getSlot());
    if (startsPeriod(getPosition() + getLength()))
      giveAnchorsToStates(carryCotangent);

    int64_t length = getLength();
    for (int64_t end = length; end > 0;) {
      int64_t index = (end - 1) / plan.segmentLength;
      int64_t begin = index * plan.segmentLength;
      copyCarry(segment, checkpoints + index * program.carrySize);
      for (int64_t token = begin; token + 1 < end; ++token) {
        copyCarry(values, getSegmentCarry(token - begin));
        runToken(token);
        finishToken(getSegmentCarry(token - begin + 1));
        note(token);
      }
      note(end - 1);
      for (int64_t token = end - 1; token >= begin; --token) {
        copyCarry(values, getSegmentCarry(token - begin));
        runToken(token);
        differentiateToken(token);
        note(token);
        note(token);
      }
      end = begin;
    }

    for (const Port &port : plan.stateGradients)
      if (port.target)
        port.store(carryCotangent, getSlot());
    for (const Port &port : plan.anchorGradients)
      if (port.target)
        port.store(carryCotangent, getSlot());
  }

  double *getSegmentCarry(int64_t index) const {
    return segment + index * program.carrySize;
  }

  /// Where an anchor is its state, its cotangent is the state's.
  void giveAnchorsToStates(double *carryLike) const {
    for (auto [index, view] :
         llvm::zip(program.anchoredStates, program.anchors)) {
      double *state = carryLike + program.states[index].offset;
      double *anchor = carryLike + view.offset;
      for (int64_t i = 0, e = view.getNumElements(); i < e; ++i)
        state[i] += std::exchange(anchor[i], 0.0);
    }
  }

  /// From the cotangent of the carry after a token to that before it. The
  /// frame holds the token's arrays.
  void differentiateToken(int64_t token) {
    double *c = cotangents;
    std::fill(c, c + program.carrySize, 0.0);
    std::fill(c + program.constantsEnd, c + program.frameSize, 0.0);
    for (const View &anchor : program.anchors)
      std::memcpy(c + anchor.offset, carryCotangent + anchor.offset,
                  anchor.getNumElements() * sizeof(double));
    const double *after = carryCotangent;
    for (const Nest<2> &next : plan.nextStates)
      forEachElement(next, [=](const auto &at) { c[at[0]] += after[at[1]]; });
    for (const Port &port : plan.outputCotangents)
      if (port.source)
        port.accumulate(c, getTokenSlot(token, problem.heads));

    int64_t time = getPosition() + token;
    TokenContext context = {values, cotangents, time + 1};
    for (const auto &instruction : llvm::reverse(program.code))
      instruction->backward(context);
    if (startsPeriod(time))
      giveAnchorsToStates(c);
    copyCarry(carryCotangent, c);
    for (const Port &port : plan.operandGradients)
      if (port.target)
        port.store(c, getTokenSlot(token, problem.heads));
  }

  const Plan &plan;
  Problem &problem;
  const Program &program;
  Progress &progress;
  Tensor workspace;
  double *values = nullptr, *carry = nullptr;
  double *cotangents = nullptr, *carryCotangent = nullptr;
  double *checkpoints = nullptr, *segment = nullptr;
  int64_t head = 0, sequence = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

using ThreadTask = std::function<void()>;

/// Runs each of `others` on a thread of its own, and `own` on this one. Tasks
/// that the system has no thread for are left out: std::thread would end the
/// process instead.
static void runBeside(std::vector<ThreadTask> &others,
                      llvm::function_ref<void()> own) {
  std::vector<pthread_t> threads;
  threads.reserve(others.size());
  for (ThreadTask &task : others) {
    pthread_t thread;
    auto start = [](void *task) -> void * {
      (*static_cast<ThreadTask *>(task))();
      return nullptr;
    };
    if (pthread_create(&thread, nullptr, start, &task) != 0)
      break;
    threads.push_back(thread);
  }
  own();
  for (pthread_t thread : threads)
    pthread_join(thread, nullptr);
}

/// Runs every block and head on as many threads as asked. They take work from
/// one counter, so that fewer do it all as well.
static llvm::Error runAll(Plan &plan, const ReferenceOptions &options) {
  Problem &problem = plan.problem;
  int64_t numItems = plan.numBlocks * problem.heads;
  if (problem.numSequences == 0 || numItems == 0)
    return llvm::Error::success();
  int64_t numThreads = options.threads
                           ? int64_t(options.threads)
                           : int64_t(std::thread::hardware_concurrency());
  numThreads =
      std::clamp<int64_t>(numThreads, 1, std::min<int64_t>(numItems, 256));

  double work = 0;
  for (int64_t i = 0; i < problem.numSequences; ++i)
    work += double(problem.getLength(i)) * double(problem.heads);
  // A token computed again and one differentiated count as three more.
  Progress progress(options.progress, work * (plan.gradients ? 4 : 1));

  std::optional<int64_t> size = plan.getWorkspaceSize();
  if (!size)
    return makeFault("the reference needs more memory than 64 bits can count");
  // Work spaces are tensors and count on their own; the code beside them not.
  if (llvm::Error error = checkFitsMemory(
          llvm::SaturatingMultiplyAdd<uint64_t>(
              *size, numThreads * sizeof(double), plan.program.codeBytes),
          "the reference with " + llvm::Twine(numThreads) + " threads"))
    return error;
  std::vector<std::unique_ptr<Worker>> workers;
  for (int64_t i = 0; i < numThreads; ++i) {
    llvm::Expected<Tensor> workspace =
        Tensor::create(DType::F64, {*size}, "work space of the reference");
    if (!workspace)
      return workspace.takeError();
    workers.push_back(
        std::make_unique<Worker>(plan, progress, std::move(*workspace)));
  }

  std::atomic<int64_t> next = 0;
  auto workOff = [&](Worker &worker) {
    for (int64_t item; (item = next.fetch_add(1)) < numItems;)
      worker.run(item / problem.heads, item % problem.heads);
  };
  std::vector<ThreadTask> tasks;
  for (int64_t i = 1; i < numThreads; ++i)
    tasks.push_back([&, i] { workOff(*workers[i]); });
  runBeside(tasks, [&] { workOff(*workers[0]); });
  return llvm::Error::success();
}

llvm::Expected<TensorMap> larc::runReference(Problem &problem,
                                             const ReferenceOptions &options) {
  FailureOr<Program> program = ProgramBuilder::build(problem.recurrence);
  if (failed(program))
    return makeFault("");
  Plan plan(problem, std::move(*program), options.gradients);
  for (int64_t i = 0; i < problem.numSequences; ++i)
    plan.maxLength = std::max(plan.maxLength, problem.getLength(i));
  plan.segmentLength =
      std::max<int64_t>(1, std::ceil(std::sqrt(double(plan.maxLength))));
  plan.numBlocks = problem.numSequences;
  if (options.gradients && !problem.constants.empty())
    plan.numBlocks = std::min<int64_t>(plan.numBlocks, 16);

  llvm::Expected<TensorMap> results = createResults(problem, /*float64=*/true);
  if (!results)
    return results.takeError();
  if (llvm::Error error = addForwardPorts(plan, *results))
    return std::move(error);
  TensorMap gradients;
  if (options.gradients)
    if (llvm::Error error = addGradientPorts(plan, gradients))
      return std::move(error);
  if (llvm::Error error = runAll(plan, options))
    return std::move(error);
  if (options.gradients)
    if (llvm::Error error = sumGradients(plan, gradients))
      return std::move(error);
  results->merge(gradients);
  return results;
}
