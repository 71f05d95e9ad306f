//===- TileCost.cpp - What tile programs cost -----------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Analysis/TileCost.h"

#include "TileOpCost.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/SaveAndRestore.h"

#include <algorithm>

using namespace mlir;
using namespace larc;
using namespace larc::tile;

//===----------------------------------------------------------------------===//
// Numbers of iterations
//===----------------------------------------------------------------------===//

static std::optional<int64_t> getConstant(Value value) {
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return number.getSExtValue();
  if (auto product = value.getDefiningOp<arith::MulIOp>()) {
    std::optional<int64_t> lhs = getConstant(product.getLhs());
    std::optional<int64_t> rhs = getConstant(product.getRhs());
    if (lhs && rhs)
      return *lhs * *rhs;
  }
  return std::nullopt;
}

/// Whether `value` is computed from the result of a `SourceOp`.
template <typename SourceOp>
static bool dependsOn(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (isa<SourceOp>(op))
    return true;
  return isa<arith::ArithDialect>(op->getDialect()) &&
         llvm::any_of(op->getOperands(), dependsOn<SourceOp>);
}

static bool isTokenLoop(scf::ForOp loop) {
  return dependsOn<LengthOp>(loop.getUpperBound());
}

/// How many chunks (or tokens, if there are no chunks) one iteration goes on
/// by. A loop may count tokens or chunks.
static double getChunksPerIteration(scf::ForOp loop, int64_t tokensPerChunk) {
  std::optional<int64_t> step = getConstant(loop.getStep());
  if (!step || *step <= 0)
    return 1;
  if (*step % tokensPerChunk == 0)
    return double(*step / tokensPerChunk);
  return double(*step);
}

/// What `value` is for the first warp of the first of so many segments.
static std::optional<int64_t> getInFirst(Value value, int64_t segments) {
  if (std::optional<int64_t> constant = getConstant(value))
    return constant;
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<SegmentsOp>(op))
    return segments;
  if (isa_and_nonnull<SegmentOp, WarpOp>(op))
    return 0;
  if (!isa_and_nonnull<arith::AddIOp, arith::MulIOp, arith::DivUIOp,
                       arith::RemUIOp>(op))
    return std::nullopt;
  std::optional<int64_t> lhs = getInFirst(op->getOperand(0), segments);
  std::optional<int64_t> rhs = getInFirst(op->getOperand(1), segments);
  if (!lhs || !rhs)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return *lhs + *rhs;
  if (isa<arith::MulIOp>(op))
    return *lhs * *rhs;
  if (*rhs <= 0)
    return std::nullopt;
  return isa<arith::DivUIOp>(op) ? *lhs / *rhs : *lhs % *rhs;
}

/// The branch that is taken with so many segments; null where that is open.
static Block *getBranchBySegments(scf::IfOp op, int64_t segments) {
  auto compare = op.getCondition().getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::ule ||
      !dependsOn<SegmentsOp>(compare.getLhs()))
    return nullptr;
  std::optional<int64_t> lhs = getInFirst(compare.getLhs(), segments);
  std::optional<int64_t> rhs = getConstant(compare.getRhs());
  if (!lhs || !rhs)
    return nullptr;
  return *lhs <= *rhs ? op.thenBlock() : op.elseBlock();
}

static std::optional<double> getTripCount(scf::ForOp loop, int64_t segments) {
  std::optional<int64_t> step = getInFirst(loop.getStep(), segments);
  if (!step || *step <= 0)
    return std::nullopt;
  std::optional<int64_t> lower = getInFirst(loop.getLowerBound(), segments);
  std::optional<int64_t> upper = getInFirst(loop.getUpperBound(), segments);
  // Or from a number to so much more.
  if (auto sum = loop.getUpperBound().getDefiningOp<arith::AddIOp>();
      sum && sum.getLhs() == loop.getLowerBound()) {
    lower = 0;
    upper = getConstant(sum.getRhs());
  }
  if (!lower || !upper)
    return std::nullopt;
  return std::max<double>(0, double((*upper - *lower + *step - 1) / *step));
}

/// The share of a role's `warps` for which a condition on their number holds,
/// if `value` is one.
static std::optional<double> getShareOfWarps(Value value, int64_t warps) {
  auto compare = value.getDefiningOp<arith::CmpIOp>();
  if (!compare || !dependsOn<WarpOp>(compare.getLhs()))
    return std::nullopt;
  std::optional<int64_t> bound = getConstant(compare.getRhs());
  if (!bound)
    return std::nullopt;
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::eq:
    // Of those that have something together, one.
    if (auto number = compare.getLhs().getDefiningOp<arith::RemUIOp>())
      if (std::optional<int64_t> count = getConstant(number.getRhs());
          count && *count > 0)
        return 1.0 / double(std::min(*count, warps));
    return 1.0 / double(warps);
  case arith::CmpIPredicate::ult:
  case arith::CmpIPredicate::slt:
    return std::min(1.0, double(*bound) / double(warps));
  default:
    return std::nullopt;
  }
}

/// The branch that is taken in the loop over tokens: the first, but for what
/// is asked to be so anywhere.
static Block *getUsualBranch(scf::IfOp op) {
  auto vote = op.getCondition().getDefiningOp<VoteOp>();
  return vote && vote.getKind() == VoteKind::Any ? op.elseBlock()
                                                 : op.thenBlock();
}

//===----------------------------------------------------------------------===//
// Following a warp
//===----------------------------------------------------------------------===//

namespace {

/// When something is free, or there.
using Time = double;

/// A warp of a role on its way through a program.
class WarpTimer {
public:
  WarpTimer(const GPUModel &model, const TileMeasure &measure, int64_t warps,
            double pressure)
      : model(&model), measure(&measure), warps(warps),
        perScheduler(
            double(llvm::divideCeil(warps, int64_t(model.schedulers)))),
        slot(perScheduler * pressure) {}

  void follow(Block &block);

  /// Of all the role's warps.
  TileWork getChunkWork() const { return chunkWork * double(warps); }
  double getChunkCycles() const { return chunkCycles; }
  double getChunkLatency() const { return chunkLatency; }
  double getOutsideCycles() const { return now; }
  /// By the program's argument.
  llvm::MapVector<Value, double> chunkBytes, outsideBytes;

private:
  void follow(Operation *op);
  bool endsRun(Operation &op) const;
  void loadAhead(Block::iterator from, Block::iterator end);
  void followFor(scf::ForOp loop);
  void followTokens(scf::ForOp loop);
  void followIf(scf::IfOp op);
  void followBranch(scf::IfOp op, Block *block, double share);
  void wait(ValueRange operands);
  void issue(Operation *op, const TileOpCost &cost);
  Time iterate(scf::ForOp loop);
  /// `unit` is busy for so many cycles of the scheduler, from `start` on.
  Time occupy(Time &unit, Time start, double cycles);

  const GPUModel *model;
  const TileMeasure *measure;
  int64_t warps;
  double perScheduler, slot;

  /// When the next instruction is issued, and when all before it have been.
  Time now = 0, issued = 0;
  struct Units {
    Time alu = 0, special = 0, matrix = 0, shared = 0, global = 0;
  } units; ///< when each is free
  llvm::DenseMap<Value, Time> ready;
  llvm::SmallPtrSet<Operation *, 8> loadedAhead;
  /// Groups of asynchronous copies, the first to arrive first.
  SmallVector<Time> arrivals;
  /// Where branches of other warps than this begin, and the last one ends.
  std::optional<Time> branchStart;
  Time branchEnd = 0;

  bool inTokens = false;
  double times = 1; ///< that what is followed counts; 0: it counts already
  TileWork chunkWork;
  double chunkCycles = 0;
  double chunkLatency = 0; ///< of one warp, for all it does of a chunk
};

} // namespace

Time WarpTimer::occupy(Time &unit, Time start, double cycles) {
  if (cycles == 0)
    return start;
  unit = std::max(unit, start) + cycles * perScheduler;
  return unit;
}

void WarpTimer::wait(ValueRange operands) {
  for (Value operand : operands) {
    auto it = ready.find(operand);
    if (it != ready.end())
      now = std::max(now, it->second);
  }
}

void WarpTimer::issue(Operation *op, const TileOpCost &cost) {
  Time start = now;
  for (Value operand : op->getOperands())
    start = std::max(start, ready.lookup(operand));
  if (cost.isOrdered)
    start = now = std::max(start, issued);
  const TileWork &work = cost.work;
  Time end = start + work.instructions * slot;
  issued = std::max(issued, end);
  now = end - (start - now) * model->overlap;
  end = std::max(end, occupy(units.alu, start, work.alu * model->aluCycles));
  end = std::max(
      end, occupy(units.special, start, work.special * model->specialCycles));
  end = std::max(end, occupy(units.matrix, start, work.matrix));
  // One path to memory for all schedulers.
  end = std::max(end, occupy(units.global, start,
                             cost.bytes * double(model->schedulers) /
                                 model->globalBytesPerCycle));
  end = std::max(end, occupy(units.shared, start,
                             work.sharedBytes * double(model->schedulers) /
                                 model->sharedBytesPerCycle));
  for (Value result : op->getResults())
    ready[result] = end + cost.latency;
  now += cost.pause;

  if (inTokens)
    chunkWork += work * times;
  if (cost.argument)
    (inTokens ? chunkBytes : outsideBytes)[cost.argument] +=
        cost.bytes * double(warps) * times;
}

/// One time through the loop's body; the time when its results are there is
/// that of what it carries.
Time WarpTimer::iterate(scf::ForOp loop) {
  follow(*loop.getBody());
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  SmallVector<Time> carried;
  for (Value value : yield.getOperands())
    carried.push_back(ready.lookup(value));
  for (auto [argument, result, time] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getResults(), carried))
    ready[argument] = ready[result] = time;
  return now;
}

void WarpTimer::followFor(scf::ForOp loop) {
  for (auto [argument, initial, result] : llvm::zip_equal(
           loop.getRegionIterArgs(), loop.getInitArgs(), loop.getResults()))
    ready[argument] = ready[result] = ready.lookup(initial);
  if (isTokenLoop(loop) && !inTokens)
    return followTokens(loop);
  double trips = getTripCount(loop, measure->segments).value_or(1);
  if (trips == 0)
    return;
  double outer = times;
  times = outer * trips;
  Time first = iterate(loop);
  if (trips > 1) {
    // All others take as long as the second.
    times = 0;
    Time second = iterate(loop);
    now += (second - first) * (trips - 2);
  }
  times = outer;
}

void WarpTimer::followTokens(scf::ForOp loop) {
  double chunks = getChunksPerIteration(loop, measure->tokensPerChunk);
  inTokens = true;
  double outer = times;
  times = outer / chunks;
  Time start = now;
  Time first = iterate(loop);
  times = 0;
  Time second = iterate(loop);
  Time third = iterate(loop);
  chunkCycles += (third - second) / chunks;
  chunkLatency += third - second;
  times = outer;
  inTokens = false;
  // What the first waits for besides is outside.
  now = start + std::max(0.0, first - start - (third - second));
}

void WarpTimer::followBranch(scf::IfOp op, Block *block, double share) {
  double outer = times;
  times *= share;
  follow(*block);
  times = outer;
  auto yield = cast<scf::YieldOp>(block->getTerminator());
  for (auto [result, value] :
       llvm::zip_equal(op.getResults(), yield.getOperands()))
    ready[result] = ready.lookup(value);
}

void WarpTimer::followIf(scf::IfOp op) {
  wait(op.getCondition());
  if (op.elseBlock()) {
    if (Block *taken = getBranchBySegments(op, measure->segments))
      return followBranch(op, taken, 1);
    if (inTokens && !measure->exactPath)
      return followBranch(op, getUsualBranch(op), 1);
    WarpTimer other = *this;
    followBranch(op, op.thenBlock(), 1);
    other.followBranch(op, op.elseBlock(), 1);
    if (other.now > now)
      *this = std::move(other);
    return;
  }
  std::optional<double> share = getShareOfWarps(op.getCondition(), warps);
  if (!share)
    return followBranch(op, op.thenBlock(), 1);
  // Different warps take such branches at the same time.
  if (!branchStart)
    branchStart = now;
  now = *branchStart;
  llvm::SaveAndRestore<Units> keepUnits(units);
  double fewer = std::max(1.0, perScheduler * *share);
  llvm::SaveAndRestore<double> ownSlot(slot, slot * fewer / perScheduler);
  llvm::SaveAndRestore<double> ownShare(perScheduler, fewer);
  followBranch(op, op.thenBlock(), *share);
  branchEnd = std::max(branchEnd, now);
  now = *branchStart;
}

void WarpTimer::follow(Operation *op) {
  auto ifOp = dyn_cast<scf::IfOp>(op);
  bool isBranch =
      ifOp && !ifOp.elseBlock() && getShareOfWarps(ifOp.getCondition(), warps);
  bool isScalar = isa<arith::ArithDialect>(op->getDialect());
  if (branchStart && !isBranch && !isScalar) {
    now = std::max(now, branchEnd);
    branchStart.reset();
    branchEnd = 0;
  }
  if (ifOp)
    return followIf(ifOp);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return followFor(loop);
  // What a yield hands on need not be there yet.
  if (isa<RoleOp>(op) || op->hasTrait<OpTrait::IsTerminator>())
    return;
  issue(op, getTileOpCost(op, *model, warps));
  if (isa<CopyCommitOp>(op))
    arrivals.push_back(now + model->globalLatency);
  if (auto waiting = dyn_cast<CopyWaitOp>(op)) {
    size_t pending = waiting.getPending();
    while (arrivals.size() > pending) {
      now = std::max(now, arrivals.front());
      arrivals.erase(arrivals.begin());
    }
  }
  // All products are done, whether their results are asked for or not.
  if (auto waiting = dyn_cast<WgmmaWaitOp>(op))
    if (waiting.getPending() == 0 && units.matrix > 0)
      now = std::max(now, units.matrix);
}

/// Whether nothing is moved across `op`.
bool WarpTimer::endsRun(Operation &op) const {
  return isa<scf::ForOp, scf::IfOp>(op) ||
         getTileOpCost(&op, *model, warps).isOrdered;
}

/// Compilers start all loads of global memory of a run before they wait for the
/// first.
void WarpTimer::loadAhead(Block::iterator from, Block::iterator end) {
  for (Operation &op : llvm::make_range(from, end)) {
    if (endsRun(op))
      return;
    auto load = dyn_cast<LoadOp>(op);
    if (!load || !isa<GlobalType>(load.getMemory().getType()))
      continue;
    follow(&op);
    loadedAhead.insert(&op);
  }
}

void WarpTimer::follow(Block &block) {
  // Branches within are apart from those around.
  std::optional<Time> outerStart = branchStart;
  Time outerEnd = branchEnd;
  branchStart.reset();
  branchEnd = 0;
  bool isRunStart = true;
  for (auto it = block.begin(); it != block.end(); ++it) {
    if (isRunStart)
      loadAhead(it, block.end());
    isRunStart = endsRun(*it);
    if (!loadedAhead.erase(&*it))
      follow(&*it);
  }
  branchStart = outerStart;
  branchEnd = outerEnd;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

namespace {
struct RoleBody {
  Block *block;
  int64_t warps;
};
} // namespace

static SmallVector<RoleBody> getRoles(ProgramOp program) {
  SmallVector<RoleBody> roles;
  Block &body = program.getBody().front();
  for (auto role : body.getOps<RoleOp>())
    roles.push_back(
        {&role.getBody().front(), static_cast<int64_t>(role.getWarps())});
  if (roles.empty())
    roles.push_back({&body, static_cast<int64_t>(program.getWarps())});
  return roles;
}

/// What of `counted` bytes of a chunk's `tokens` passes the memory: what
/// several warps read passes once, and so does what several of a head's `parts`
/// do. Outside of the loop over tokens there are none: rows of tokens that are
/// read there are not read in the loop.
static double sumBytes(const llvm::MapVector<Value, double> &counted,
                       int64_t tokens, double parts) {
  double sum = 0;
  for (auto [argument, bytes] : counted) {
    auto type = cast<GlobalType>(argument.getType());
    // Of records, those that others wrote a moment ago are in the cache.
    int64_t rows = type.hasDynamicRows() ? tokens : type.getRows();
    double row = double(type.getCols()) *
                 double(type.getElementType().getIntOrFloatBitWidth()) / 8;
    sum += std::min(bytes, double(rows) * row / parts);
  }
  return sum;
}

/// The chunks that are in shared memory at a time, which is the number of
/// phases that copies end; 0 where nothing is copied.
static int64_t countStages(ProgramOp program) {
  int64_t stages = 0;
  auto count = [&](PhasesType type) {
    stages = std::max(stages, static_cast<int64_t>(type.getStages()));
  };
  program.walk([&](CopyBulkOp copy) { count(copy.getPhases().getType()); });
  for (auto phases : program.getBody().getOps<AllocPhasesOp>())
    if (phases.getType().getCopies())
      count(phases.getType());
  return stages;
}

/// Others' share of the issue slots is at most this.
static constexpr double mostPressure = 0.75;

TileProgramCost larc::measureTiles(ProgramOp program, const GPUModel &model,
                                   const TileMeasure &measure) {
  TileProgramCost cost;
  SmallVector<RoleBody> bodies = getRoles(program);
  cost.roles.resize(bodies.size());
  SmallVector<double> pressures(bodies.size(), 1.0);
  int64_t stages = countStages(program);
  // How long roles take decides how much they are in each other's way.
  for (int pass = 0; pass < 4; ++pass) {
    llvm::MapVector<Value, double> chunkBytes, outsideBytes;
    TileWork all;
    cost.outsideCycles = 0;
    double longest = 0;
    Time inStage = model.globalLatency;
    for (auto [role, body, pressure] :
         llvm::zip_equal(cost.roles, bodies, pressures)) {
      WarpTimer timer(model, measure, body.warps, pressure);
      timer.follow(*body.block);
      role.warps = body.warps;
      role.work = timer.getChunkWork();
      role.cycles = timer.getChunkCycles();
      inStage += timer.getChunkLatency();
      role.outsideCycles = timer.getOutsideCycles();
      all += role.work;
      longest = std::max(longest, role.cycles);
      cost.outsideCycles = std::max(cost.outsideCycles, role.outsideCycles);
      for (auto [argument, bytes] : timer.chunkBytes)
        chunkBytes[argument] += bytes;
      for (auto [argument, bytes] : timer.outsideBytes)
        outsideBytes[argument] += bytes;
    }
    auto parts = double(program.getParts());
    cost.bytes = sumBytes(chunkBytes, measure.tokensPerChunk, parts);
    cost.outsideBytes = sumBytes(outsideBytes, /*tokens=*/0, parts);
    double schedulers = double(model.schedulers);
    cost.issue = all.instructions / schedulers;
    cost.alu = all.alu * model.aluCycles / schedulers;
    cost.special = all.special * model.specialCycles / schedulers;
    cost.matrix = all.matrix / schedulers;
    cost.shared = all.sharedBytes / model.sharedBytesPerCycle;
    cost.ring = stages == 0 ? 0 : inStage / double(stages);
    double blocks = double(measure.resident);
    double cycles = std::max({longest, cost.issue * blocks, cost.ring});
    for (auto [role, pressure] : llvm::zip_equal(cost.roles, pressures)) {
      double own = role.work.instructions / schedulers;
      double others = (cost.issue * blocks - own) / std::max(cycles, 1.0);
      pressure = 1 / (1 - std::min(others, mostPressure));
    }
  }
  return cost;
}
