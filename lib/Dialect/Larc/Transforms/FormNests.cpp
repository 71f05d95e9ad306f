//===- FormNests.cpp - Groups operations into loop nests -*- C++ -*- ------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A block's operations are scheduled as a list of passes over iteration spaces.
//
// Arrays over at most one axis are computed once and kept. Cheap elementwise
// values over more axes ("virtual" values) are not kept: every nest that needs
// one computes it again from what is kept, since that costs less than a trip to
// memory. What must be kept
// ("kept" values) are reductions, expensive functions, values that are used in
// a larger space, and what the block yields or a region uses.
//
// Products of matrices stay outside of nests: their loops are tiled otherwise.
// So do the operations of the chunk dialect.
//
//===----------------------------------------------------------------------===//

#include "larc/Dialect/Chunk/IR/Chunk.h"
#include "larc/Dialect/Larc/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <limits>
#include <tuple>

using namespace mlir;
using namespace larc;

namespace larc {
#define GEN_PASS_DEF_FORMNESTS
#include "larc/Dialect/Larc/Transforms/Passes.h.inc"
} // namespace larc

/// Recomputing a chain of more cheap operations than this in several nests
/// costs more than keeping its value.
static constexpr unsigned maxRecomputed = 6;

/// Whether `op` multiplies matrices: either operand has an axis that is summed
/// and one of its own that is kept.
static bool isMatrixProduct(Operation *op) {
  auto contract = dyn_cast<ContractOp>(op);
  if (!contract)
    return false;
  SmallVector<StringAttr> reduced = contract.getReducedAxes();
  auto hasBothKinds = [&](Value matrix, Value other) {
    bool sums = false, keeps = false;
    for (StringAttr axis : arrayOf(matrix).getAxes()) {
      bool isReduced = llvm::is_contained(reduced, axis);
      sums |= isReduced;
      keeps |= !isReduced && !arrayOf(other).hasAxis(axis);
    }
    return sums && keeps;
  };
  return hasBothKinds(contract.getLhs(), contract.getRhs()) &&
         hasBothKinds(contract.getRhs(), contract.getLhs());
}

static bool isComputation(Operation *op) {
  return isa<ElementwiseOpInterface, ReductionOpInterface>(op) &&
         !isMatrixProduct(op);
}

/// The iteration space of an elementwise operation or a reduction.
static ArrayType spaceOf(Operation *op) {
  ArrayType space = ArrayType::scalar(op->getContext());
  for (Value operand : op->getOperands())
    space = ArrayType::unionOf(space, arrayOf(operand));
  for (Value result : op->getResults())
    space = ArrayType::unionOf(space, arrayOf(result));
  return space;
}

//===----------------------------------------------------------------------===//
// Order of axes
//===----------------------------------------------------------------------===//

namespace {

/// Orders the axes of iteration spaces, the lane axis last.
class AxisOrder {
public:
  explicit AxisOrder(RecurrenceOp recurrence) : op(recurrence) {
    for (StringAttr axis : recurrence.getAllAxes())
      if (std::optional<int64_t> size = recurrence.getAxisSize(axis))
        sizes[axis] = *size;
    countReductions();
    for (auto [decl, argument] :
         llvm::zip(recurrence.getStates().getAsRange<StateDeclAttr>(),
                   recurrence.getStateArguments()))
      layouts.try_emplace(arrayOf(argument),
                          SmallVector<StringAttr>(decl.getAxes()));
  }

  explicit AxisOrder(chunk::ScanOp scan) : op(scan) {
    for (NamedAttribute dim : scan.getDims())
      sizes[dim.getName()] = cast<IntegerAttr>(dim.getValue()).getInt();
    for (auto axis : scan.getTokens().getAsRange<chunk::TokenAxisAttr>())
      tokens.insert(axis.getAxis());
    countReductions();
  }

  /// The order for a nest over `space` that has the operations `members`.
  ArrayAttr get(ArrayType space, ArrayRef<Operation *> members) {
    SmallVector<StringAttr> axes(space.getAxes());
    auto layout = layouts.find(space);
    if (layout != layouts.end())
      axes = layout->second;
    // Token axes are outermost in memory.
    SmallVector<StringAttr> others;
    llvm::copy_if(axes, std::back_inserter(others),
                  [&](StringAttr axis) { return !tokens.contains(axis); });
    llvm::erase_if(axes,
                   [&](StringAttr axis) { return !tokens.contains(axis); });
    llvm::append_range(axes, others);
    if (axes.size() > 1) {
      // Lanes go along the axis that is summed over least often; of equals,
      // along the last in memory that has at least a vector of lanes.
      auto *lane = axes.begin();
      for (auto *it = axes.begin(); it != axes.end(); ++it)
        if (cost(space, *it) <= cost(space, *lane))
          lane = it;
      std::rotate(lane, lane + 1, axes.end());
      // Axes that the nest sums over innermost among the others: accumulators
      // then stay in registers.
      llvm::SetVector<StringAttr> summed;
      for (Operation *op : members)
        if (auto reduction = dyn_cast<ReductionOpInterface>(op))
          summed.insert_range(reduction.getReducedAxes());
      std::sort(axes.begin(), axes.end() - 1,
                [&](StringAttr lhs, StringAttr rhs) {
                  return key(lhs, summed) < key(rhs, summed);
                });
    }
    SmallVector<Attribute> list(axes.begin(), axes.end());
    return ArrayAttr::get(op->getContext(), list);
  }

private:
  /// A size below this leaves most lanes of a vector idle.
  static constexpr int64_t fewLanes = 8;

  void countReductions() {
    op->walk([&](ReductionOpInterface reduction) {
      ArrayType space = spaceOf(reduction);
      for (StringAttr axis : reduction.getReducedAxes())
        ++timesReduced[{space, axis}];
    });
  }

  unsigned cost(ArrayType space, StringAttr axis) {
    auto it = timesReduced.find({space, axis});
    unsigned reduced = it == timesReduced.end() ? 0 : it->second;
    auto size = sizes.find(axis);
    bool isShort = size == sizes.end() || size->second < fewLanes;
    // The number of tokens is not known, so a token axis has the lanes only
    // where there is no other axis.
    return tokens.contains(axis) ? std::numeric_limits<unsigned>::max()
                                 : 2 * reduced + (isShort ? 3 : 0);
  }

  /// Sorts the loops around the lanes.
  std::tuple<bool, bool, StringRef>
  key(StringAttr axis, const llvm::SetVector<StringAttr> &summed) {
    return {summed.contains(axis), !tokens.contains(axis), axis.getValue()};
  }

  Operation *op;
  DenseMap<StringAttr, int64_t> sizes;
  llvm::DenseSet<StringAttr> tokens;
  DenseMap<std::pair<Type, StringAttr>, unsigned> timesReduced;
  DenseMap<Type, SmallVector<StringAttr>> layouts;
};

//===----------------------------------------------------------------------===//
// Scheduling one block
//===----------------------------------------------------------------------===//

class BlockScheduler {
public:
  BlockScheduler(Block &block, AxisOrder &order) : block(block), order(order) {}
  void run();

private:
  using OpSet = llvm::SmallPtrSet<Operation *, 16>;

  bool inBlock(Operation *op) const { return op && op->getBlock() == &block; }
  void classify();
  bool mustKeep(Operation *op);
  unsigned chainLength(Operation *op);

  /// Whether `user` computes the value of `producer` itself: a virtual value,
  /// or one that is to be stored and has not been yet.
  bool isRecomputed(Operation *producer, Operation *user) {
    if (!inBlock(producer) || !isComputation(producer) || !isComputation(user))
      return false;
    return !keptSet.contains(producer) ||
           (isStore(producer) && !done.contains(producer) &&
            spaceOf(producer) == spaceOf(user));
  }

  /// Kept operations and operations with regions whose results `op` needs;
  /// those of virtual operands are found behind them.
  void collectNeeds(Operation *op, llvm::SetVector<Operation *> &needs);
  /// Whether `op` can run in a nest over `space` that has `members` already.
  bool isReady(Operation *op, ArrayType space, const OpSet &members);
  bool isLarge(Operation *op) { return spaceOf(op).getRank() >= 2; }
  /// A cheap large elementwise value that is kept because of who uses it.
  bool isStore(Operation *op) { return stores.contains(op); }
  /// Whether storing `op` now is right, in a nest with `members`.
  bool canStore(Operation *op, const OpSet &members);
  /// Whether what `op` computes uses `value`, behind virtual operands too.
  bool reads(Operation *op, Value value);

  bool emitReadyOthers();
  bool emitNest(llvm::function_ref<bool(Operation *)> eligible,
                bool withStores);
  void buildNest(ArrayType space, ArrayRef<Operation *> members);
  void cloneInto(Operation *op, OpBuilder &builder, IRMapping &mapping,
                 const OpSet &members);
  void emitOther(Operation *op);

  Block &block;
  AxisOrder &order;
  /// In program order.
  SmallVector<Operation *> kept, others;
  llvm::SmallPtrSet<Operation *, 16> keptSet, stores;
  OpSet done;
  ArrayType lastLargeSpace;
  DenseMap<Operation *, unsigned> chainLengths;
};

} // namespace

unsigned BlockScheduler::chainLength(Operation *op) {
  auto [it, isNew] = chainLengths.try_emplace(op, 1);
  if (!isNew)
    return it->second;
  unsigned length = 1;
  for (Value operand : op->getOperands()) {
    Operation *producer = operand.getDefiningOp();
    if (inBlock(producer) && isComputation(producer) &&
        !keptSet.contains(producer))
      length += chainLength(producer);
  }
  return chainLengths[op] = length;
}

/// Whether the value of the elementwise operation `op` over two or more axes is
/// kept; its operands are classified already.
bool BlockScheduler::mustKeep(Operation *op) {
  ArrayType space = spaceOf(op);
  if (!cast<ElementwiseOpInterface>(op).isCheap())
    return true;
  unsigned users = 0;
  for (Operation *user : op->getUsers()) {
    if (!inBlock(user) || !isComputation(user) || spaceOf(user) != space)
      return true;
    ++users;
  }
  return users > 1 && chainLength(op) > maxRecomputed;
}

void BlockScheduler::classify() {
  for (Operation &op : block.without_terminator()) {
    if (isa<ConstantOp>(op))
      continue;
    if (!isComputation(&op)) {
      others.push_back(&op);
      continue;
    }
    bool keep = isa<ReductionOpInterface>(op) || !isLarge(&op) || mustKeep(&op);
    if (!keep)
      continue;
    kept.push_back(&op);
    keptSet.insert(&op);
    if (isa<ElementwiseOpInterface>(op) && isLarge(&op) &&
        cast<ElementwiseOpInterface>(&op).isCheap())
      stores.insert(&op);
  }
}

void BlockScheduler::collectNeeds(Operation *op,
                                  llvm::SetVector<Operation *> &needs) {
  auto add = [&](Value value) {
    Operation *producer = value.getDefiningOp();
    if (!inBlock(producer) || isa<ConstantOp>(producer))
      return;
    if (isRecomputed(producer, op))
      collectNeeds(producer, needs);
    else
      needs.insert(producer);
  };
  op->walk(
      [&](Operation *inner) { llvm::for_each(inner->getOperands(), add); });
}

bool BlockScheduler::isReady(Operation *op, ArrayType space,
                             const OpSet &members) {
  llvm::SetVector<Operation *> needs;
  collectNeeds(op, needs);
  return llvm::all_of(needs, [&](Operation *need) {
    if (done.contains(need))
      return true;
    // An element of the same nest is there; a sum is not before the nest ends.
    return members.contains(need) && isa<ElementwiseOpInterface>(need) &&
           spaceOf(need) == space;
  });
}

bool BlockScheduler::reads(Operation *op, Value value) {
  bool found = false;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      if (operand == value) {
        found = true;
        return;
      }
      Operation *producer = operand.getDefiningOp();
      if (isRecomputed(producer, inner))
        found |= reads(producer, value);
    }
  });
  return found;
}

bool BlockScheduler::canStore(Operation *op, const OpSet &members) {
  // Large arrays that the stored value is made from: a store may overwrite
  // them.
  SmallVector<Value> sources;
  ArrayType space = spaceOf(op);
  SmallVector<Operation *> worklist = {op};
  while (!worklist.empty()) {
    Operation *user = worklist.pop_back_val();
    for (Value operand : user->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (isRecomputed(producer, user))
        worklist.push_back(producer);
      else if (arrayOf(operand) == space)
        sources.push_back(operand);
    }
  }
  bool usedHere = false, usedLater = false;
  for (Operation *other : kept) {
    if (other == op || done.contains(other))
      continue;
    if (members.contains(other)) {
      usedHere |= reads(other, op->getResult(0));
      continue;
    }
    usedLater |= reads(other, op->getResult(0));
    if (!isStore(other) && llvm::any_of(sources, [&](Value source) {
          return reads(other, source);
        }))
      return false;
  }
  for (Operation *other : others)
    if (!done.contains(other) && llvm::any_of(sources, [&](Value source) {
          return reads(other, source);
        }))
      return false;
  return usedHere || !usedLater;
}

/// Emits a nest of the first eligible operation that is ready and of all that
/// can join it.
bool BlockScheduler::emitNest(llvm::function_ref<bool(Operation *)> eligible,
                              bool withStores) {
  OpSet members;
  SmallVector<Operation *> list;
  ArrayType space;
  auto tryAdd = [&](Operation *op) {
    if (done.contains(op) || members.contains(op) ||
        (space && spaceOf(op) != space) || !isReady(op, spaceOf(op), members))
      return;
    space = spaceOf(op);
    members.insert(op);
    list.push_back(op);
  };
  for (Operation *op : kept)
    if (eligible(op))
      tryAdd(op);
  if (list.empty())
    return false;
  if (withStores)
    for (Operation *op : kept)
      if (isStore(op) && spaceOf(op) == space && canStore(op, members))
        tryAdd(op);
  // Program order inside the nest.
  llvm::sort(list, [](Operation *lhs, Operation *rhs) {
    return lhs->isBeforeInBlock(rhs);
  });
  buildNest(space, list);
  return true;
}

/// Clones `op` and the virtual operands it needs.
void BlockScheduler::cloneInto(Operation *op, OpBuilder &builder,
                               IRMapping &mapping, const OpSet &members) {
  if (mapping.contains(op->getResult(0)))
    return;
  for (Value operand : op->getOperands()) {
    Operation *producer = operand.getDefiningOp();
    if (inBlock(producer) &&
        (members.contains(producer) || isRecomputed(producer, op)))
      cloneInto(producer, builder, mapping, members);
  }
  builder.clone(*op, mapping);
}

void BlockScheduler::buildNest(ArrayType space, ArrayRef<Operation *> list) {
  OpBuilder builder(block.getTerminator());
  SmallVector<Location> locations;
  SmallVector<Type> types;
  for (Operation *op : list) {
    locations.push_back(op->getLoc());
    types.push_back(op->getResult(0).getType());
  }
  Location loc = builder.getFusedLoc(locations);
  if (space.getRank() >= 2)
    lastLargeSpace = space;
  auto nest = NestOp::create(builder, loc, types, order.get(space, list));
  OpBuilder inner = OpBuilder::atBlockBegin(&nest.getBody().emplaceBlock());
  OpSet members;
  members.insert(list.begin(), list.end());
  IRMapping mapping;
  SmallVector<Value> yielded;
  for (Operation *op : list) {
    cloneInto(op, inner, mapping, members);
    yielded.push_back(mapping.lookup(op->getResult(0)));
  }
  YieldOp::create(inner, loc, yielded);
  done.insert(nest);
  // Later nests and regions use the kept results; what is cloned after this
  // reads them too.
  for (auto [op, result] : llvm::zip(list, nest.getResults())) {
    op->getResult(0).replaceUsesWithIf(result, [&](OpOperand &use) {
      return use.getOwner()->getParentOp() != nest;
    });
    done.insert(op);
  }
}

void BlockScheduler::emitOther(Operation *op) {
  op->moveBefore(block.getTerminator());
  done.insert(op);
}

bool BlockScheduler::emitReadyOthers() {
  for (Operation *op : others) {
    if (done.contains(op) || op->getNumRegions() || !isReady(op, {}, {}))
      continue;
    emitOther(op);
    return true;
  }
  return false;
}

void BlockScheduler::run() {
  classify();
  while (true) {
    if (emitReadyOthers())
      continue;
    if (emitNest([&](Operation *op) { return !isLarge(op); },
                 /*withStores=*/false))
      continue;
    // What the last large nest read is in cache: go on there if possible.
    auto isPass = [&](Operation *op) { return isLarge(op) && !isStore(op); };
    if (emitNest(
            [&](Operation *op) {
              return isPass(op) && spaceOf(op) == lastLargeSpace;
            },
            /*withStores=*/true) ||
        emitNest(isPass, /*withStores=*/true))
      continue;
    Operation *region = nullptr;
    for (Operation *op : others)
      if (!region && !done.contains(op) && isReady(op, {}, {}))
        region = op;
    if (region) {
      emitOther(region);
      continue;
    }
    if (emitNest([&](Operation *op) { return isStore(op); },
                 /*withStores=*/false))
      continue;
    break;
  }
  // What was computed outside of nests is computed inside now; users come after
  // producers.
  SmallVector<Operation *> computations;
  for (Operation &op : block.without_terminator())
    if (isComputation(&op))
      computations.push_back(&op);
  for (Operation *op : llvm::reverse(computations))
    if (op->use_empty())
      op->erase();
  // Unused results of nests.
  for (NestOp nest : llvm::to_vector(block.getOps<NestOp>())) {
    SmallVector<unsigned> used;
    for (OpResult result : nest.getResults())
      if (!result.use_empty())
        used.push_back(result.getResultNumber());
    if (used.size() == nest.getNumResults())
      continue;
    auto yield = cast<YieldOp>(nest.getBody().front().getTerminator());
    SmallVector<Value> values;
    for (unsigned i : used)
      values.push_back(yield.getValues()[i]);
    if (used.empty()) {
      nest.erase();
      continue;
    }
    OpBuilder builder(nest);
    auto reduced = NestOp::create(
        builder, nest.getLoc(), TypeRange(ValueRange(values)), nest.getAxes());
    reduced.getBody().takeBody(nest.getBody());
    yield->setOperands(values);
    for (auto [i, index] : llvm::enumerate(used))
      nest.getResult(index).replaceAllUsesWith(reduced.getResult(i));
    nest.erase();
  }
}

namespace {
struct FormNestsPass : larc::impl::FormNestsBase<FormNestsPass> {
  void runOnOperation() override {
    WalkResult walked = getOperation()->walk([&](Operation *op) -> WalkResult {
      if (!isa<RecurrenceOp, chunk::ScanOp>(op))
        return WalkResult::advance();
      return failed(formNests(op)) ? WalkResult::interrupt()
                                   : WalkResult::skip();
    });
    if (walked.wasInterrupted())
      signalPassFailure();
  }

  static LogicalResult formNests(Operation *op) {
    auto recurrence = dyn_cast<RecurrenceOp>(op);
    if (recurrence && !recurrence.isFlat())
      return recurrence.emitError(
          "is not flat: specialise and expand levels first");
    WalkResult composites = op->walk([](CompositeOpInterface inner) {
      inner.emitError("is composite: decompose it first");
      return WalkResult::interrupt();
    });
    if (composites.wasInterrupted())
      return failure();

    AxisOrder order =
        recurrence ? AxisOrder(recurrence) : AxisOrder(cast<chunk::ScanOp>(op));
    SmallVector<Block *> blocks;
    // What is a nest already stays one.
    op->walk<WalkOrder::PostOrder>([&](Block *inner) {
      if (!isa<NestOp>(inner->getParentOp()))
        blocks.push_back(inner);
    });
    for (Block *inner : blocks)
      BlockScheduler(*inner, order).run();
    return success();
  }
};
} // namespace
