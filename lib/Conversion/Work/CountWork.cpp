//===- CountWork.cpp - What programs make a processor do -*- C++ -*- ------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Recurrent/Plan.h"
#include "larc/Conversion/ProgramWork.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;
using namespace larc;

namespace larc {
#define GEN_PASS_DEF_COUNTWORK
#include "larc/Conversion/Passes.h.inc"
} // namespace larc

StringRef larc::getName(WorkKind kind) {
  static constexpr StringRef names[numWorkKinds] = {
      "product",     "decayed-pair", "access",  "arithmetic",
      "function",    "lane-sum",     "running", "state",
      "row",         "launch",       "step",    "solve",
      "step-launch", "copy",         "memory",  "flop"};
  return names[static_cast<unsigned>(kind)];
}

WorkVector ProgramWork::getTotal(int64_t tokens) const {
  double chunks = 0.0, pairs = 0.0;
  auto count = static_cast<double>(tokens);
  if (chunkSize > 0) {
    // Products take tiles of eight rows, in the last chunk, too.
    constexpr int64_t rows = 8;
    int64_t whole = tokens / chunkSize;
    int64_t tail = llvm::alignTo(tokens % chunkSize, rows);
    count = static_cast<double>(whole * chunkSize + tail);
    chunks = static_cast<double>(whole + (tail != 0 ? 1 : 0));
    pairs = static_cast<double>(whole * chunkSize * chunkSize + tail * tail);
  }
  WorkVector total = perTask;
  for (unsigned kind = 0; kind < numWorkKinds; ++kind)
    total[kind] += perChunk[kind] * chunks + perToken[kind] * count +
                   perPair[kind] * pairs;
  return total;
}

void ProgramWork::print(raw_ostream &os) const {
  if (chunkSize > 0)
    os << "  chunks of " << chunkSize;
  else
    os << "  token loop";
  os << ", blocks " << blocks << "\n";
  auto printVector = [&](StringRef name, const WorkVector &vector) {
    for (unsigned kind = 0; kind < numWorkKinds; ++kind)
      if (vector[kind] != 0.0)
        os << "  per " << name << " "
           << ::larc::getName(static_cast<WorkKind>(kind)) << " "
           << llvm::format("%g", vector[kind]) << "\n";
  };
  printVector("task", perTask);
  printVector("chunk", perChunk);
  printVector("token", perToken);
  printVector("pair", perPair);
}

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

/// The exponentials that an elementwise operation's time is.
static double getFunctionWeight(Operation *op) {
  return llvm::TypeSwitch<Operation *, double>(op)
      .Case<ExpOp, Expm1Op>([](auto) { return 1.0; })
      .Case<DivOp, ReciprocalOp, SqrtOp>([](auto) { return 0.5; })
      .Case<RsqrtOp>([](auto) { return 0.8; })
      .Case<SigmoidOp>([](auto) { return 1.5; })
      .Case<LogOp, Log1pOp, TanhOp>([](auto) { return 1.5; })
      .Case<LogSigmoidOp, SoftplusOp, LogAddExpOp>([](auto) { return 2.5; })
      .Case<ErfOp>([](auto) { return 3.0; })
      .Case<SinOp, CosOp>([](auto) { return 20.0; })
      .Default([](auto) { return 0.0; });
}

namespace {

class Counter {
public:
  explicit Counter(const RecurrentPlan &plan) : plan(plan), scan(plan.scan) {
    if (scan)
      work.chunkSize = scan.getSize();
  }

  ProgramWork run();

private:
  void countBlock(Block &block, double times);
  void countNest(Block &body, ArrayRef<StringAttr> axes, double times);
  void countOp(Operation &op, double times);
  void countContract(ContractOp op);
  void countScores(chunk::ScoresOp op);
  void countMix(chunk::MixOp op);
  void countUpdate(chunk::UpdateOp op);
  void countSolve(chunk::SolveOp op);

  bool isToken(StringAttr axis) const { return plan.isTokenAxis(axis); }
  double sizeOf(StringAttr axis) const {
    return static_cast<double>(plan.getSize(axis));
  }
  double sizeOf(ArrayRef<StringAttr> axes) const {
    double size = 1.0;
    for (StringAttr axis : axes)
      size *= sizeOf(axis);
    return size;
  }
  static ArrayRef<StringAttr> axesOf(Value value) {
    return cast<ArrayType>(value.getType()).getAxes();
  }
  /// Registers of an array, whose lanes go along the last of `axes`.
  double registersOf(ArrayRef<StringAttr> axes) const {
    if (axes.empty())
      return 1.0;
    return sizeOf(axes.drop_back()) *
           std::ceil(sizeOf(axes.back()) / plan.lanes);
  }
  /// Registers of multiply-adds over axes, with lanes along the longest.
  double productsOf(ArrayRef<StringAttr> axes, ArrayRef<StringAttr> lanesOf) {
    double longest = 1.0;
    for (StringAttr axis : lanesOf)
      longest = std::max(longest, sizeOf(axis));
    return sizeOf(axes) / longest * std::ceil(longest / plan.lanes);
  }
  /// Adds work over some axes of tokens: that of a whole chunk.
  void add(WorkKind kind, double count, ArrayRef<StringAttr> axes) {
    unsigned tokens =
        llvm::count_if(axes, [&](StringAttr axis) { return isToken(axis); });
    addAt(kind, count, tokens);
  }
  void addAt(WorkKind kind, double count, unsigned tokens) {
    if (!scan) {
      work.perToken[unsigned(kind)] += count;
      return;
    }
    auto size = static_cast<double>(work.chunkSize);
    if (tokens == 0)
      work.perChunk[unsigned(kind)] += count;
    else if (tokens == 1)
      work.perToken[unsigned(kind)] += count / size;
    else
      work.perPair[unsigned(kind)] += count / (size * size);
  }

  const RecurrentPlan &plan;
  chunk::ScanOp scan;
  ProgramWork work;
  /// Inside a loop over a chunk's tokens: its number of turns, else 0.
  double steps = 0.0;
};

} // namespace

/// Registers that a function could do while its first result is on the way.
static constexpr double functionLatency = 3.0;
/// The share of a nest's start that each operation of one token takes, since
/// the next waits for it.
static constexpr double stepLatency = 0.25;

/// One loop nest over `axes`, the last one along lanes.
void Counter::countNest(Block &body, ArrayRef<StringAttr> axes, double times) {
  auto addHere = [&](WorkKind kind, double count) {
    if (steps != 0.0)
      addAt(kind, count * times * steps, 1);
    else
      add(kind, count * times, axes);
  };
  // A value is loaded or computed once for all inner axes that it lacks.
  auto outerOf = [&](Value value) {
    auto type = cast<ArrayType>(value.getType());
    ArrayRef<StringAttr> outer = axes;
    while (!outer.empty() && !type.hasAxis(outer.back()))
      outer = outer.drop_back();
    return outer;
  };
  auto visitsOf = [&](Value value) {
    ArrayRef<StringAttr> outer = outerOf(value);
    if (outer.size() == axes.size())
      return registersOf(axes);
    return sizeOf(outer);
  };
  llvm::SetVector<Value> inputs;
  for (Operation &op : body.without_terminator()) {
    for (Value operand : op.getOperands())
      if (operand.getParentBlock() != &body &&
          !operand.getDefiningOp<ConstantOp>())
        inputs.insert(operand);
    if (auto reduction = dyn_cast<ReductionOpInterface>(op)) {
      addHere(WorkKind::Arithmetic, registersOf(axes));
      addHere(WorkKind::Flop, op.getNumOperands() * sizeOf(axes));
      SmallVector<StringAttr> reduced = reduction.getReducedAxes();
      if (!axes.empty() && llvm::is_contained(reduced, axes.back()))
        addHere(WorkKind::LaneSum, sizeOf(axesOf(op.getResult(0))));
      continue;
    }
    auto elementwise = dyn_cast<ElementwiseOpInterface>(op);
    if (!elementwise || isa<BroadcastOp>(op))
      continue;
    addHere(WorkKind::Flop,
            elementwise.getFlops() * sizeOf(outerOf(op.getResult(0))));
    double weight = getFunctionWeight(&op);
    double count = visitsOf(op.getResult(0));
    if (weight != 0.0)
      count += functionLatency;
    addHere(weight != 0.0 ? WorkKind::Function : WorkKind::Arithmetic,
            weight != 0.0 ? weight * count : count);
  }
  for (Value input : inputs)
    addHere(WorkKind::Access, visitsOf(input));
  for (Value result : body.getTerminator()->getOperands())
    addHere(WorkKind::Access, registersOf(axesOf(result)));
  if (!axes.empty())
    addHere(WorkKind::Row, sizeOf(axes.drop_back()));
  auto numOps = static_cast<double>(body.getOperations().size() - 1);
  double start = times * (1.0 + stepLatency * numOps);
  if (steps != 0.0)
    addAt(WorkKind::StepLaunch, start * steps, 1);
  else if (scan)
    addAt(WorkKind::Launch, times, 0);
  else
    addAt(WorkKind::StepLaunch, start, 0);
}

/// A product of matrices: arrays of tokens with states or with each other.
void Counter::countContract(ContractOp op) {
  ArrayType space = ArrayType::unionOf(cast<ArrayType>(op.getLhs().getType()),
                                       cast<ArrayType>(op.getRhs().getType()));
  add(WorkKind::Product, productsOf(space.getAxes(), axesOf(op.getResult())),
      space.getAxes());
  add(WorkKind::Flop, 2.0 * sizeOf(space.getAxes()), space.getAxes());
  for (Value operand : op.getOperands())
    if (llvm::none_of(axesOf(operand),
                      [&](StringAttr axis) { return isToken(axis); }))
      addAt(WorkKind::State, registersOf(axesOf(operand)), 0);
  addAt(WorkKind::Launch, 1.0, 0);
}

/// Half of all pairs.
static constexpr double causalShare = 0.5;
/// A multiply-add and a step of the decay.
static constexpr double decayedFlops = 3.0;

void Counter::countScores(chunk::ScoresOp op) {
  SmallVector<StringAttr> summed(op.getAxes().getAsRange<StringAttr>());
  double pairs = sizeOf(axesOf(op.getResult()));
  bool isScalar = llvm::all_of(
      op.getDecays(), [&](Value decay) { return axesOf(decay).size() <= 1; });
  double sums = sizeOf(summed) / plan.lanes;
  if (isScalar) {
    addAt(WorkKind::Product, causalShare * pairs * sums, 2);
    addAt(WorkKind::Flop, 2.0 * causalShare * pairs * sizeOf(summed), 2);
    if (!op.getDecays().empty()) {
      // A running product, and the scores times it.
      addAt(WorkKind::Running, pairs / plan.lanes, 2);
      addAt(WorkKind::Flop, 2.0 * causalShare * pairs, 2);
    }
  } else {
    addAt(WorkKind::DecayedPair, causalShare * pairs * sums, 2);
    addAt(WorkKind::Flop, decayedFlops * causalShare * pairs * sizeOf(summed),
          2);
  }
  addAt(WorkKind::Launch, 1.0, 0);
}

void Counter::countMix(chunk::MixOp op) {
  ArrayType result = cast<ArrayType>(op.getType());
  SmallVector<StringAttr> values;
  for (StringAttr axis : result.getAxes())
    if (!isToken(axis))
      values.push_back(axis);
  double pairs = sizeOf(axesOf(op.getScores()));
  double count = causalShare * pairs * registersOf(values);
  addAt(op.getDecays().empty() ? WorkKind::Product : WorkKind::DecayedPair,
        count, 2);
  addAt(WorkKind::Flop,
        (op.getDecays().empty() ? 2.0 : decayedFlops) * causalShare * pairs *
            sizeOf(values),
        2);
  addAt(WorkKind::Launch, 1.0, 0);
}

void Counter::countUpdate(chunk::UpdateOp op) {
  ArrayRef<StringAttr> state = axesOf(op.getState());
  auto writes = static_cast<double>(op.getKeys().size());
  addAt(WorkKind::Product,
        productsOf(state, state) * sizeOf(op.getTokenAttr()) * writes, 1);
  addAt(WorkKind::Flop,
        2.0 * sizeOf(state) * sizeOf(op.getTokenAttr()) * writes, 1);
  addAt(WorkKind::Flop,
        static_cast<double>(op.getDecays().size()) * sizeOf(state), 0);
  addAt(WorkKind::State, 2.0 * registersOf(state), 0);
  addAt(WorkKind::Launch, 1.0, 0);
}

void Counter::countSolve(chunk::SolveOp op) {
  StringAttr token = op.getTokenAttr();
  double rows = sizeOf(token);
  ArrayRef<int64_t> pairs = op.getPairs();
  for (auto [i, scores] : llvm::enumerate(op.getScores())) {
    Value past = op.getPastArguments()[pairs[2 * i]];
    addAt(WorkKind::Solve,
          causalShare * sizeOf(axesOf(scores)) * registersOf(axesOf(past)), 2);
    addAt(WorkKind::Flop,
          2.0 * causalShare * sizeOf(axesOf(scores)) * sizeOf(axesOf(past)), 2);
  }
  addAt(WorkKind::Step, rows, 1);
  addAt(WorkKind::Launch, 1.0, 0);
  double before = std::exchange(steps, rows);
  countBlock(op.getBody().front(), 1.0);
  steps = before;
}

void Counter::countOp(Operation &op, double times) {
  llvm::TypeSwitch<Operation *>(&op)
      .Case<NestOp>([&](NestOp nest) {
        SmallVector<StringAttr> axes(nest.getAxes().getAsRange<StringAttr>());
        countNest(nest.getBody().front(), axes, times);
      })
      .Case<FoldOp>([&](FoldOp fold) {
        countBlock(fold.getBody().front(), times * sizeOf(fold.getAxisAttr()));
      })
      .Case<FireOp>([&](FireOp fire) {
        RecurrenceOp recurrence = plan.recurrence;
        auto period = static_cast<double>(recurrence.getPeriod());
        auto interval = dyn_cast<IntegerAttr>(fire.getInterval());
        countBlock(fire.getBody().front(),
                   times / (period * (interval ? interval.getInt() : 1)));
      })
      .Case<chunk::ScoresOp>([&](auto scores) { countScores(scores); })
      .Case<chunk::MixOp>([&](auto mix) { countMix(mix); })
      .Case<chunk::UpdateOp>([&](auto update) { countUpdate(update); })
      .Case<chunk::SolveOp>([&](auto solve) { countSolve(solve); })
      .Case<chunk::CumulateOp, chunk::TotalOp>([&](auto running) {
        ArrayRef<StringAttr> axes = axesOf(running.getOperand());
        add(WorkKind::Running,
            axes.size() == 1 ? sizeOf(axes) : registersOf(axes), axes);
        add(WorkKind::Flop, sizeOf(axes), axes);
        addAt(WorkKind::Launch, 1.0, 0);
      })
      .Case<chunk::StackOp>([&](chunk::StackOp stack) {
        add(WorkKind::Access, 2.0 * registersOf(axesOf(stack.getResult())),
            axesOf(stack.getResult()));
      })
      .Case<chunk::TokensOp>([&](chunk::TokensOp tokens) {
        double rows = sizeOf(tokens.getTokenAttr());
        addAt(WorkKind::Step, rows, 1);
        addAt(WorkKind::Launch, 1.0, 0);
        double before = std::exchange(steps, rows);
        countBlock(tokens.getBody().front(), 1.0);
        steps = before;
      })
      .Case<ContractOp>([&](ContractOp contract) {
        if (scan && steps == 0.0)
          return countContract(contract);
        ArrayType space =
            ArrayType::unionOf(cast<ArrayType>(contract.getLhs().getType()),
                               cast<ArrayType>(contract.getRhs().getType()));
        double count =
            productsOf(space.getAxes(), axesOf(contract.getResult()));
        double flops = 2.0 * sizeOf(space.getAxes());
        for (auto [kind, number] :
             {std::pair(WorkKind::Product, count), {WorkKind::Flop, flops}})
          if (steps != 0.0)
            addAt(kind, times * steps * number, 1);
          else
            add(kind, times * number, space.getAxes());
      })
      .Default([](Operation *) {});
}

void Counter::countBlock(Block &block, double times) {
  for (Operation &op : block.without_terminator())
    countOp(op, times);
}

ProgramWork Counter::run() {
  RecurrenceOp recurrence = plan.recurrence;
  if (scan)
    countBlock(scan.getBody().front(), 1.0);
  else
    countBlock(recurrence.getBody().front(), 1.0);
  // States are copied to scratch memory and back.
  for (auto decl : recurrence.getStates().getAsRange<StateDeclAttr>())
    work.perTask[unsigned(WorkKind::Copy)] += 4.0 * registersOf(decl.getAxes());
  double bytes = 0.0;
  auto addBytes = [&](ArrayRef<StringAttr> axes, FloatType type) {
    bytes += sizeOf(axes) * type.getWidth() / 8;
  };
  for (auto [decl, argument, type] :
       llvm::zip(recurrence.getTokenOperands().getAsRange<OperandDeclAttr>(),
                 recurrence.getOperandArguments(), plan.operandTypes))
    if (!argument.use_empty())
      addBytes(decl.getAxes(), type);
  for (auto [decl, type] :
       llvm::zip(recurrence.getOutputs().getAsRange<OutputDeclAttr>(),
                 plan.outputTypes))
    addBytes(decl.getAxes(), type);
  double registerBytes = plan.lanes * plan.computeType.getWidth() / 8.0;
  work.perToken[unsigned(WorkKind::Memory)] = bytes / registerBytes;
  if (plan.splitAxis)
    work.blocks = plan.getSize(plan.splitAxis) / plan.blockSize;
  return work;
}

FailureOr<ProgramWork> larc::countWork(RecurrenceOp recurrence,
                                       const RecurrentOptions &options) {
  FailureOr<RecurrentPlan> plan = RecurrentPlan::create(recurrence, options);
  if (failed(plan))
    return failure();
  return Counter(*plan).run();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct CountWorkPass : larc::impl::CountWorkBase<CountWorkPass> {
  using CountWorkBase::CountWorkBase;

  void runOnOperation() override {
    RecurrentOptions options;
    options.computeType = computeType;
    options.vectorBits = vectorBits;
    for (RecurrenceOp recurrence : getOperation().getOps<RecurrenceOp>()) {
      FailureOr<ProgramWork> work = countWork(recurrence, options);
      if (failed(work))
        return signalPassFailure();
      llvm::outs() << "recurrence " << recurrence.getSymName() << "\n";
      work->print(llvm::outs());
    }
  }
};
} // namespace
