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
#include "Nest.h"
#include "larc/Reference/Program.h"
#include "larc/Support/Error.h"

#include "llvm/Support/MathExtras.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>

using namespace mlir;
using namespace larc;

//===----------------------------------------------------------------------===//
// Tensors beside the frame
//===----------------------------------------------------------------------===//

namespace {

/// One tensor of the problem and the array of the frame that it is read into or
/// written from.
struct Port {
  Nest<2> nest;     ///< frame, tensor
  int64_t size = 0; ///< elements of a token and a head
  const double *source = nullptr;
  double *target = nullptr;

  Port() = default;
  /// `axes` is the tensor's layout, outermost first.
  Port(const View &frame, ArrayRef<StringAttr> axes) {
    View tensor;
    size = 1;
    for (StringAttr axis : llvm::reverse(axes)) {
      int64_t extent = frame.find(axis)->size;
      tensor.axes.push_back({axis, extent, size});
      size *= extent;
    }
    nest = Nest<2>({&frame, &tensor});
  }

  /// Copies slot `index` of the tensor into the frame.
  void load(double *frame, int64_t index) const {
    const double *tensor = source + index * size;
    forEachElement(nest, [=](const auto &at) { frame[at[0]] = tensor[at[1]]; });
  }
  /// Adds it to the frame: a cotangent.
  void accumulate(double *frame, int64_t index) const {
    const double *tensor = source + index * size;
    forEachElement(nest,
                   [=](const auto &at) { frame[at[0]] += tensor[at[1]]; });
  }
  void store(const double *frame, int64_t index) const {
    double *tensor = target + index * size;
    forEachElement(nest, [=](const auto &at) { tensor[at[1]] = frame[at[0]]; });
  }
};

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
// What all workers share
//===----------------------------------------------------------------------===//

namespace {

struct Plan {
  Plan(Problem &problem, Program program, bool gradients)
      : problem(problem), program(std::move(program)), gradients(gradients) {}

  Problem &problem;
  Program program;
  bool gradients;
  /// Inputs that had to be converted.
  std::vector<Tensor> converted;

  SmallVector<Port> operands, constants, states, anchors, outputs;
  SmallVector<Port> finalStates, finalAnchors;
  /// From the values that a step yields to the carry of the next token.
  SmallVector<Nest<2>> nextStates;
  SmallVector<double> initialValues;

  SmallVector<Port> outputCotangents, stateCotangents, anchorCotangents;
  SmallVector<Port> operandGradients, constantGradients, stateGradients,
      anchorGradients;

  /// Sequences are worked on in blocks, each with its own sum of the
  /// constants' gradients, so that the sums do not depend on the threads.
  int64_t numBlocks = 1;
  int64_t segmentLength = 1;
  int64_t maxLength = 0;

  int64_t getBlockBegin(int64_t block) const {
    return block * problem.numSequences / numBlocks;
  }
  int64_t getNumSegments() const {
    return (maxLength + segmentLength - 1) / segmentLength;
  }
  /// Elements of a worker's buffers, or nothing if they overflow.
  std::optional<int64_t> getWorkspaceSize() const {
    int64_t frames, carries, total;
    if (llvm::MulOverflow(program.frameSize, int64_t(gradients ? 2 : 1),
                          frames) ||
        llvm::MulOverflow(program.carrySize,
                          gradients ? getNumSegments() + segmentLength + 3 : 1,
                          carries) ||
        llvm::AddOverflow(frames, carries, total))
      return std::nullopt;
    return total;
  }
};

/// The elements of `tensor` in float64.
llvm::Expected<const double *> getFloat64(Plan &plan, const Tensor *tensor) {
  if (!tensor)
    return static_cast<const double *>(nullptr);
  if (tensor->getDType() == DType::F64)
    return tensor->getValues<double>().data();
  llvm::Expected<Tensor> converted = tensor->toFloat64();
  if (!converted)
    return converted.takeError();
  plan.converted.push_back(std::move(*converted));
  // The elements stay where they are when the vector grows.
  return std::as_const(plan.converted.back()).getValues<double>().data();
}

/// Makes one port for each declaration.
template <typename DeclT>
llvm::Error addInputs(Plan &plan, SmallVectorImpl<Port> &ports,
                      ArrayRef<View> views, ArrayAttr decls,
                      ArrayRef<const Tensor *> tensors) {
  for (auto [view, decl, tensor] :
       llvm::zip(views, decls.getAsRange<DeclT>(), tensors)) {
    llvm::Expected<const double *> source = getFloat64(plan, tensor);
    if (!source)
      return source.takeError();
    ports.emplace_back(view, decl.getAxes()).source = *source;
  }
  return llvm::Error::success();
}

/// The same for anchored states, of tensors by state.
llvm::Error addAnchorInputs(Plan &plan, SmallVectorImpl<Port> &ports,
                            ArrayRef<const Tensor *> tensors) {
  auto decls = plan.problem.recurrence.getStates();
  for (auto [index, view] :
       llvm::zip(plan.program.anchoredStates, plan.program.anchors)) {
    llvm::Expected<const double *> source = getFloat64(plan, tensors[index]);
    if (!source)
      return source.takeError();
    ports.emplace_back(view, cast<StateDeclAttr>(decls[index]).getAxes())
        .source = *source;
  }
  return llvm::Error::success();
}

double *getTarget(TensorMap &results, const std::string &name) {
  auto it = results.find(name);
  return it == results.end() ? nullptr : it->second.getValues<double>().data();
}

llvm::Error addForwardPorts(Plan &plan, TensorMap &results) {
  Problem &problem = plan.problem;
  Program &program = plan.program;
  RecurrenceOp recurrence = problem.recurrence;
  if (llvm::Error error = addInputs<OperandDeclAttr>(
          plan, plan.operands, program.operands, recurrence.getTokenOperands(),
          problem.operands))
    return error;
  if (llvm::Error error = addInputs<OperandDeclAttr>(
          plan, plan.constants, program.constants, recurrence.getConstants(),
          problem.constants))
    return error;
  if (llvm::Error error =
          addInputs<StateDeclAttr>(plan, plan.states, program.states,
                                   recurrence.getStates(), problem.states))
    return error;
  if (llvm::Error error = addAnchorInputs(plan, plan.anchors, problem.anchors))
    return error;

  for (auto [view, next] : llvm::zip(program.states, program.nextStates))
    plan.nextStates.push_back(Nest<2>({&next, &view}));
  auto states = recurrence.getStates().getAsRange<StateDeclAttr>();
  for (auto [view, decl] : llvm::zip(program.states, states)) {
    plan.initialValues.push_back(
        decl.getInit() ? decl.getInit().getValueAsDouble() : 0.0);
    plan.finalStates.emplace_back(view, decl.getAxes()).target =
        getTarget(results, "final." + decl.getName().str());
  }
  for (auto [index, view] :
       llvm::zip(program.anchoredStates, program.anchors)) {
    auto decl = cast<StateDeclAttr>(recurrence.getStates()[index]);
    plan.finalAnchors.emplace_back(view, decl.getAxes()).target =
        getTarget(results, "final.anchor." + decl.getName().str());
  }
  for (auto [view, decl] :
       llvm::zip(program.outputs,
                 recurrence.getOutputs().getAsRange<OutputDeclAttr>()))
    plan.outputs.emplace_back(view, decl.getAxes()).target =
        getTarget(results, "out." + decl.getName().str());
  return llvm::Error::success();
}

/// A gradient beside the input it is of.
llvm::Error addGradient(Plan &plan, SmallVectorImpl<Port> &ports,
                        TensorMap &gradients, const std::string &name,
                        const View &view, ArrayRef<StringAttr> axes,
                        const Tensor *input, ArrayRef<int64_t> shape) {
  Port &port = ports.emplace_back(view, axes);
  if (!input)
    return llvm::Error::success();
  llvm::Expected<Tensor> gradient = Tensor::create(DType::F64, shape, name);
  if (!gradient)
    return gradient.takeError();
  port.target = gradient->getValues<double>().data();
  gradients.try_emplace(name, std::move(*gradient));
  return llvm::Error::success();
}

/// Gradients of shared operands have all heads, and those of constants a
/// leading axis of blocks, until `sumGradients`.
llvm::Error addGradientPorts(Plan &plan, TensorMap &gradients) {
  Problem &problem = plan.problem;
  Program &program = plan.program;
  RecurrenceOp recurrence = problem.recurrence;
  for (auto [view, decl, tensor] :
       llvm::zip(program.operands,
                 recurrence.getTokenOperands().getAsRange<OperandDeclAttr>(),
                 problem.operands)) {
    SmallVector<int64_t> shape;
    if (tensor) {
      shape.assign(tensor->getShape().begin(), tensor->getShape().end());
      shape[2] = problem.heads;
    }
    if (llvm::Error error = addGradient(plan, plan.operandGradients, gradients,
                                        "grad." + decl.getName().str(), view,
                                        decl.getAxes(), tensor, shape))
      return error;
  }
  for (auto [view, decl, tensor] :
       llvm::zip(program.constants,
                 recurrence.getConstants().getAsRange<OperandDeclAttr>(),
                 problem.constants)) {
    SmallVector<int64_t> shape = {plan.numBlocks};
    if (tensor)
      shape.append(tensor->getShape().begin(), tensor->getShape().end());
    if (llvm::Error error = addGradient(plan, plan.constantGradients, gradients,
                                        "grad." + decl.getName().str(), view,
                                        decl.getAxes(), tensor, shape))
      return error;
  }
  for (auto [view, decl, tensor] : llvm::zip(
           program.states, recurrence.getStates().getAsRange<StateDeclAttr>(),
           problem.states)) {
    if (llvm::Error error = addGradient(
            plan, plan.stateGradients, gradients,
            "grad.state." + decl.getName().str(), view, decl.getAxes(), tensor,
            tensor ? tensor->getShape() : ArrayRef<int64_t>()))
      return error;
  }
  // Anchors that are given but of no state that has one get zeros.
  SmallVector<Port> unused;
  for (auto [index, tensor] : llvm::enumerate(problem.anchors)) {
    auto decl = cast<StateDeclAttr>(recurrence.getStates()[index]);
    bool anchored = llvm::is_contained(program.anchoredStates, index);
    if (llvm::Error error =
            addGradient(plan, anchored ? plan.anchorGradients : unused,
                        gradients, "grad.anchor." + decl.getName().str(),
                        program.states[index], decl.getAxes(), tensor,
                        tensor ? tensor->getShape() : ArrayRef<int64_t>()))
      return error;
    if (anchored)
      plan.anchorGradients.back().nest.offsets[0] =
          program.anchors[plan.anchorGradients.size() - 1].offset;
  }

  if (llvm::Error error = addInputs<OutputDeclAttr>(
          plan, plan.outputCotangents, program.outputs, recurrence.getOutputs(),
          problem.outputCotangents))
    return error;
  if (llvm::Error error = addInputs<StateDeclAttr>(
          plan, plan.stateCotangents, program.states, recurrence.getStates(),
          problem.stateCotangents))
    return error;
  return addAnchorInputs(plan, plan.anchorCotangents, problem.anchorCotangents);
}

/// Gives the gradients of `addGradientPorts` their inputs' shapes.
llvm::Error sumGradients(Plan &plan, TensorMap &gradients) {
  Problem &problem = plan.problem;
  RecurrenceOp recurrence = problem.recurrence;
  auto replace = [&](const std::string &name, const Tensor &input,
                     auto sum) -> llvm::Error {
    llvm::Expected<Tensor> total =
        Tensor::create(DType::F64, input.getShape(), name);
    if (!total)
      return total.takeError();
    Tensor &parts = gradients.find(name)->second;
    sum(total->getValues<double>(), std::as_const(parts).getValues<double>());
    parts = std::move(*total);
    return llvm::Error::success();
  };

  auto operands = recurrence.getTokenOperands().getAsRange<OperandDeclAttr>();
  for (auto [decl, tensor, heads, port] :
       llvm::zip(operands, problem.operands, problem.operandHeads,
                 plan.operandGradients)) {
    if (!tensor || heads == problem.heads)
      continue;
    int64_t size = port.size, group = problem.heads / heads;
    llvm::Error error =
        replace("grad." + decl.getName().str(), *tensor,
                [&](MutableArrayRef<double> total, ArrayRef<double> parts) {
                  for (int64_t i = 0, e = parts.size() / size; i < e; ++i)
                    for (int64_t j = 0; j < size; ++j)
                      total[i / group * size + j] += parts[i * size + j];
                });
    if (error)
      return error;
  }
  auto constants = recurrence.getConstants().getAsRange<OperandDeclAttr>();
  for (auto [decl, tensor] : llvm::zip(constants, problem.constants)) {
    if (!tensor)
      continue;
    llvm::Error error =
        replace("grad." + decl.getName().str(), *tensor,
                [&](MutableArrayRef<double> total, ArrayRef<double> parts) {
                  for (size_t i = 0; i < parts.size(); ++i)
                    total[i % total.size()] += parts[i];
                });
    if (error)
      return error;
  }
  return llvm::Error::success();
}

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

/// Runs every block and head on as many threads as asked.
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
  std::vector<std::thread> threads;
  for (int64_t i = 1; i < numThreads; ++i)
    threads.emplace_back([&, i] { workOff(*workers[i]); });
  workOff(*workers[0]);
  for (std::thread &thread : threads)
    thread.join();
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
