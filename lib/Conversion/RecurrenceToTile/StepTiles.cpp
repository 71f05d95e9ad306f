//===- StepTiles.cpp - A step on register tiles -*- C++ -*- ---------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepTiles.h"

using namespace mlir;
using namespace larc;

StepTiles::StepTiles(const TilePlan &plan, OpBuilder &builder, Operation *body,
                     Value warp)
    : plan(plan), builder(builder), entry(body), loc(plan.recurrence.getLoc()),
      warp(warp) {
  scopes.emplace_back();
}

//===----------------------------------------------------------------------===//
// What is known
//===----------------------------------------------------------------------===//

SmallVector<StringAttr> StepTiles::getFreeAxes(Value value,
                                               const Bindings &bindings) {
  SmallVector<StringAttr> axes;
  for (StringAttr axis : arrayOf(value).getAxes())
    if (llvm::none_of(bindings,
                      [&](const auto &bound) { return bound.first == axis; }))
      axes.push_back(axis);
  return axes;
}

bool StepTiles::fitsVector(Value value, const Bindings &bindings) {
  return fitsTile(value, bindings) && getFreeAxes(value, bindings).size() <= 1;
}

/// The bindings that matter to `value`, in the order of its axes.
Bindings StepTiles::restrict(Value value, const Bindings &bindings) {
  Bindings own;
  for (StringAttr axis : arrayOf(value).getAxes())
    for (const auto &bound : bindings)
      if (bound.first == axis)
        own.push_back(bound);
  return own;
}

void StepTiles::remember(Value value, const Bindings &bindings, Value tile) {
  scopes.back().tiles.push_back({value, bindings, tile});
}

void StepTiles::bindReloaded(Value value, MemoryView view) {
  for (Scope &scope : scopes)
    llvm::erase_if(scope.tiles, [&](const Scope::Tile &known) {
      return known.value == value;
    });
  bind(value, std::move(view));
  reloaded.insert(value);
}

bool StepTiles::isRecomputed(Value value) {
  auto op = value.getDefiningOp<ElementwiseOpInterface>();
  return op &&
         llvm::any_of(
             op->getOperands(),
             [&](Value operand) { return reloaded.contains(operand); }) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return reloaded.contains(operand) || fitsVector(operand, {});
         });
}

bool StepTiles::needs(Value value, Value argument, Value known) {
  if (value == argument)
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || value == known || isHeld(value) || findView(value))
    return false;
  WalkResult walked = op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!op->isAncestor(operand.getParentRegion()->getParentOp()) &&
          needs(operand, argument, known))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return walked.wasInterrupted();
}

Value StepTiles::lookup(Value value, const Bindings &bindings) {
  for (const Scope &scope : llvm::reverse(scopes))
    for (const Scope::Tile &known : scope.tiles)
      if (known.value == value && known.bindings == bindings)
        return known.tile;
  return Value();
}

bool StepTiles::isHeld(Value value) { return bool(lookup(value, {})); }

bool StepTiles::fitsTile(Value value, const Bindings &bindings) {
  return llvm::none_of(getFreeAxes(value, bindings), [&](StringAttr axis) {
    return plan.getPlace(axis) == AxisPlace::Loop;
  });
}

std::optional<MemoryView> StepTiles::findView(Value value) {
  for (const Scope &scope : llvm::reverse(scopes))
    for (const Scope::View &known : scope.views)
      if (known.value == value)
        return known.view;
  auto atIndex = [&](Value source, StringAttr axis,
                     Value at) -> std::optional<MemoryView> {
    std::optional<MemoryView> view = findView(source);
    if (!view)
      return std::nullopt;
    auto *it = llvm::find_if(
        view->axes, [&](const auto &other) { return other.name == axis; });
    if (it->rowStep != 0)
      view->row = add(view->row, scale(at, it->rowStep));
    if (it->colStep != 0)
      view->col = add(view->col, scale(at, it->colStep));
    view->axes.erase(it);
    return view;
  };
  if (auto it = slices.find(value); it != slices.end())
    return atIndex(it->second.source, it->second.axis, it->second.index);
  if (auto slice = value.getDefiningOp<SliceOp>())
    return atIndex(slice.getOperand(), slice.getAxisAttr(),
                   index(static_cast<int64_t>(slice.getOffset())));
  if (auto rename = value.getDefiningOp<RenameOp>()) {
    std::optional<MemoryView> view = findView(rename.getOperand());
    if (view)
      for (MemoryView::Axis &axis : view->axes)
        if (axis.name == rename.getFromAttr())
          axis.name = rename.getToAttr();
    return view;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value StepTiles::number(OpBuilder &at, double value) {
  return arith::ConstantOp::create(
      at, loc, at.getFloatAttr(plan.getComputeType(), value));
}

Value StepTiles::splat(Value number, ArrayRef<StringAttr> axes) {
  return tile::SplatOp::create(builder, loc, plan.getTileType(axes), number);
}

Value StepTiles::lookupSlice(Value value, Bindings bindings) {
  while (true) {
    if (auto it = slices.find(value); it != slices.end()) {
      bindings.emplace_back(it->second.axis, it->second.index);
      value = it->second.source;
    } else if (auto slice = value.getDefiningOp<SliceOp>()) {
      bindings.emplace_back(slice.getAxisAttr(),
                            index(static_cast<int64_t>(slice.getOffset())));
      value = slice.getOperand();
    } else {
      return Value();
    }
    if (Value known = lookup(value, restrict(value, bindings)))
      return known;
  }
}

Value StepTiles::evaluate(Value value, const Bindings &given) {
  Bindings bindings = restrict(value, given);
  if (Value known = lookup(value, bindings))
    return known;
  if (Value known = lookupSlice(value, bindings))
    return known;
  Value tile;
  if (std::optional<MemoryView> view = findView(value)) {
    tile = load(*view, bindings);
    if (reloaded.contains(value))
      return tile;
  } else if (isHeld(value))
    tile = load(share(value, {}), bindings);
  else
    tile = compute(value, bindings);
  remember(value, bindings, tile);
  return tile;
}

Value StepTiles::compute(Value value, const Bindings &bindings) {
  if (auto it = slices.find(value); it != slices.end()) {
    Bindings inner = bindings;
    inner.emplace_back(it->second.axis, it->second.index);
    return evaluate(it->second.source, inner);
  }
  Operation *op = value.getDefiningOp();
  Location outer = std::exchange(loc, op->getLoc());
  Value tile;
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    tile = splat(number(builder, constant.getValue().convertToDouble()), {});
  } else if (auto elementwise = dyn_cast<ElementwiseOpInterface>(op)) {
    SmallVector<StringAttr> axes = getFreeAxes(value, bindings);
    FusedMap map(*this, bindings, axes);
    FusedMap::Element element = map.collectOperation(elementwise);
    tile = map.emit(
        [&](OpBuilder &,
            llvm::function_ref<Value(const FusedMap::Element &)> build) {
          return build(element);
        });
  } else if (auto reduction = dyn_cast<ReductionOpInterface>(op)) {
    tile = reduce(reduction, bindings, reduction.getReducedAxes());
  } else if (auto rename = dyn_cast<RenameOp>(op)) {
    tile = computeRename(rename, bindings);
  } else if (auto slice = dyn_cast<SliceOp>(op)) {
    Bindings inner = bindings;
    inner.emplace_back(slice.getAxisAttr(),
                       index(static_cast<int64_t>(slice.getOffset())));
    tile = evaluate(slice.getOperand(), inner);
  } else if (auto anchor = dyn_cast<AnchorOp>(op)) {
    auto state = cast<BlockArgument>(anchor.getState());
    SmallVector<unsigned> anchored = plan.recurrence.getAnchoredStates();
    unsigned first = plan.recurrence.getStateArguments().front().getArgNumber();
    auto *it = llvm::find(anchored, state.getArgNumber() - first);
    tile = anchors[static_cast<size_t>(it - anchored.begin())];
    if (!bindings.empty()) {
      remember(value, {}, tile);
      tile = load(share(value, {}), bindings);
    }
  } else {
    // What a region carries is whole in registers afterwards.
    if (auto fold = dyn_cast<FoldOp>(op))
      emitFold(fold);
    else
      emitFire(cast<FireOp>(op));
    tile = evaluate(value, bindings);
  }
  loc = outer;
  return tile;
}

Value StepTiles::computeRename(RenameOp op, const Bindings &bindings) {
  StringAttr from = op.getFromAttr(), to = op.getToAttr();
  Bindings inner;
  bool isBound = false;
  for (const auto &[axis, at] : bindings) {
    isBound |= axis == to;
    inner.emplace_back(axis == to ? from : axis, at);
  }
  if (isBound || plan.getPlace(from) == plan.getPlace(to))
    return evaluate(op.getOperand(), inner);
  // Rows become columns, or what a loop made becomes a matrix.
  MemoryView view = share(op.getOperand(), inner);
  for (MemoryView::Axis &axis : view.axes)
    if (axis.name == from)
      axis.name = to;
  return load(view, {});
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

void StepTiles::enterRegion() {
  scopes.emplace_back();
  // An earlier run of a loop may have been the last to exchange anything.
  for (Exchange &exchange : exchanges)
    exchange.inUse = true;
}

void StepTiles::leaveRegion() {
  scopes.pop_back();
  for (Exchange &exchange : exchanges)
    exchange.inUse = true;
}

SmallVector<Value> StepTiles::loopOver(
    StringAttr axis, ValueRange inits,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(builder, loc, index(0),
                                 index(plan.getSize(axis)), index(1), inits);
  OpBuilder::InsertionGuard guard(builder);
  if (inits.empty())
    builder.setInsertionPoint(loop.getBody()->getTerminator());
  else
    builder.setInsertionPointToStart(loop.getBody());
  enterRegion();
  SmallVector<Value> results =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!inits.empty())
    scf::YieldOp::create(builder, loc, results);
  leaveRegion();
  return llvm::to_vector_of<Value>(loop.getResults());
}

void StepTiles::prepareOperands(Operation *op, const Bindings &bindings,
                                ArrayRef<StringAttr> looped) {
  // What does not change is computed first: then it is known to the others.
  auto changes = [&](Value operand) {
    return llvm::any_of(looped, [&](StringAttr axis) {
      return arrayOf(operand).hasAxis(axis);
    });
  };
  for (bool changing : {false, true})
    for (Value operand : op->getOperands())
      if (changes(operand) == changing)
        prepare(operand, bindings, looped);
}

void StepTiles::prepare(Value value, const Bindings &given,
                        ArrayRef<StringAttr> looped) {
  if (value.getDefiningOp<ConstantOp>())
    return;
  Bindings bindings = restrict(value, given);
  SmallVector<StringAttr> own;
  for (StringAttr axis : looped)
    if (arrayOf(value).hasAxis(axis))
      own.push_back(axis);
  if (own.empty()) {
    // Matrices that are in memory stay there where registers are short.
    if (isRecomputed(value))
      return prepareOperands(value.getDefiningOp(), bindings, looped);
    bool stays = plan.keepsShared && !fitsVector(value, bindings) &&
                 findView(value).has_value();
    if (fitsTile(value, bindings) && !stays)
      evaluate(value, bindings);
    return;
  }
  if (findView(value))
    return;
  if (isHeld(value)) {
    share(value, {});
    return;
  }
  if (auto it = slices.find(value); it != slices.end()) {
    bindings.emplace_back(it->second.axis, it->second.index);
    return prepare(it->second.source, bindings, own);
  }
  Operation *op = value.getDefiningOp();
  if (auto rename = dyn_cast<RenameOp>(op)) {
    auto renamed = [&](StringAttr axis) {
      return axis == rename.getToAttr() ? rename.getFromAttr() : axis;
    };
    for (StringAttr &axis : own)
      axis = renamed(axis);
    for (auto &bound : bindings)
      bound.first = renamed(bound.first);
    return prepare(rename.getOperand(), bindings, own);
  }
  if (auto slice = dyn_cast<SliceOp>(op)) {
    bindings.emplace_back(slice.getAxisAttr(),
                          index(static_cast<int64_t>(slice.getOffset())));
    return prepare(slice.getOperand(), bindings, own);
  }
  if (isa<FoldOp, FireOp, AnchorOp>(op)) {
    evaluate(value);
    share(value, {});
    return;
  }
  prepareOperands(op, bindings, own);
}

/// The arrays that a region uses and does not make.
static llvm::SmallSetVector<Value, 8> getCaptured(Region &region) {
  llvm::SmallSetVector<Value, 8> captured;
  region.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (!region.isAncestor(operand.getParentRegion()) &&
          !operand.getDefiningOp<ConstantOp>())
        captured.insert(operand);
  });
  return captured;
}

void StepTiles::emitFold(FoldOp fold) {
  StringAttr axis = fold.getAxisAttr();
  for (Value source : fold.getSources())
    prepare(source, {}, axis);
  for (Value value : getCaptured(fold.getBody()))
    if (fitsTile(value, {}))
      evaluate(value);
  SmallVector<Value> inits;
  for (Value init : fold.getInits())
    inits.push_back(evaluate(init));
  auto emitTurn = [&](Value at, ValueRange carried) {
    for (auto [argument, source] :
         llvm::zip_equal(fold.getSliceArguments(), fold.getSources()))
      slices[argument] = {source, axis, at};
    for (auto [argument, tile] :
         llvm::zip_equal(fold.getCarriedArguments(), carried))
      bind(argument, tile);
    SmallVector<Value> next;
    for (Value value : fold.getBody().front().getTerminator()->getOperands())
      next.push_back(evaluate(value));
    return next;
  };
  SmallVector<Value> results = inits;
  if (plan.isShortLoop(axis)) {
    // One turn after the other: what they need is loaded ahead of all.
    for (int64_t i = 0; i < plan.getSize(axis); ++i) {
      scopes.emplace_back();
      results = emitTurn(index(i), results);
      scopes.pop_back();
    }
  } else {
    results = loopOver(axis, inits, emitTurn);
  }
  for (auto [result, tile] : llvm::zip_equal(fold.getResults(), results))
    bind(result, tile);
}

SmallVector<StepTiles::Ahead> StepTiles::listAhead(Value argument,
                                                   ArrayRef<StringAttr> axes) {
  SmallVector<Ahead> list;
  if (argument.use_empty())
    return list;
  if (fitsVector(argument, {})) {
    list.push_back({argument, {}});
    return list;
  }
  Block *step = argument.getParentBlock();
  // Others do not lie next to each other in memory.
  auto isRow = [&](StringAttr sliced) {
    return axes.size() == 1 || axes.back() != sliced;
  };
  for (Operation *user : argument.getUsers()) {
    if (user->getBlock() != step)
      continue;
    if (auto fold = dyn_cast<FoldOp>(user)) {
      StringAttr axis = fold.getAxisAttr();
      if (!llvm::is_contained(fold.getSources(), argument) ||
          !plan.isShortLoop(axis) || !isRow(axis))
        continue;
      for (int64_t i = 0; i < plan.getSize(axis); ++i)
        if (Bindings turn = {{axis, index(i)}}; fitsVector(argument, turn))
          list.push_back({argument, turn});
    } else if (auto slice = dyn_cast<SliceOp>(user)) {
      // What only a region needs is loaded there.
      if (isRow(slice.getAxisAttr()) && fitsVector(slice.getResult(), {}) &&
          llvm::any_of(slice->getUsers(), [&](Operation *other) {
            return other->getBlock() == step;
          }))
        list.push_back({slice.getResult(), {}});
    }
  }
  return list;
}

Value StepTiles::endsPeriod(Value tokens, int64_t interval) {
  auto divides = [&](Value divisor, Value count) -> Value {
    return arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq,
        arith::RemUIOp::create(builder, loc, count, divisor), index(0));
  };
  Value period = index(plan.recurrence.getPeriod());
  Value ends = divides(period, tokens);
  if (interval == 1)
    return ends;
  // Periods are counted apart: their product with the interval may overflow.
  Value count = arith::DivUIOp::create(builder, loc, tokens, period);
  return arith::AndIOp::create(builder, loc, ends,
                               divides(index(interval), count));
}

void StepTiles::emitFire(FireOp fire) {
  for (Value value : getCaptured(fire.getBody())) {
    bool usedOutside = llvm::any_of(value.getUsers(), [&](Operation *user) {
      return !fire.getBody().isAncestor(user->getParentRegion());
    });
    if (usedOutside && fitsTile(value, {}) && !findView(value))
      evaluate(value);
  }
  SmallVector<Value> inits;
  SmallVector<Type> types;
  for (Value init : fire.getInits()) {
    // What stays in memory is loaded in the branches.
    inits.push_back(reloaded.contains(init) ? Value() : evaluate(init));
    types.push_back(plan.getTileType(arrayOf(init).getAxes()));
  }
  Value tokens = arith::AddIOp::create(builder, loc, tokensBefore, index(1));
  Value fires =
      endsPeriod(tokens, cast<IntegerAttr>(fire.getInterval()).getInt());
  auto branch = scf::IfOp::create(builder, loc, types, fires,
                                  /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    enterRegion();
    Block &body = fire.getBody().front();
    for (auto [argument, init, tile] :
         llvm::zip_equal(body.getArguments(), fire.getInits(), inits)) {
      if (tile)
        bind(argument, tile);
      else
        bindReloaded(argument, *findView(init));
    }
    SmallVector<Value> results;
    for (Value value : body.getTerminator()->getOperands())
      results.push_back(evaluate(value));
    scf::YieldOp::create(builder, loc, results);
    leaveRegion();
    builder.setInsertionPointToStart(branch.elseBlock());
    for (auto [init, tile] : llvm::zip_equal(fire.getInits(), inits))
      if (!tile)
        tile = evaluate(init);
    scf::YieldOp::create(builder, loc, inits);
  }
  for (auto [result, tile] :
       llvm::zip_equal(fire.getResults(), branch.getResults()))
    bind(result, tile);
}
