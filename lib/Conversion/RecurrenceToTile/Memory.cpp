//===- Memory.cpp - Tiles in global and shared memory -*- C++ -*- ---------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepTiles.h"

using namespace mlir;
using namespace larc;

using tile::GlobalType;
using tile::RegType;
using tile::SharedType;

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Value StepTiles::index(int64_t number) {
  Value &value = indices[number];
  if (!value)
    value = arith::ConstantIndexOp::create(entry, loc, number);
  return value;
}

Value StepTiles::add(Value lhs, Value rhs) {
  if (lhs == index(0))
    return rhs;
  if (rhs == index(0))
    return lhs;
  return arith::AddIOp::create(builder, loc, lhs, rhs);
}

Value StepTiles::scale(Value value, int64_t factor) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return index(constant.getSExtValue() * factor);
  if (factor == 1)
    return value;
  return arith::MulIOp::create(builder, loc, value, index(factor));
}

/// The first row of the warp.
Value StepTiles::getWarpOffset(StringAttr axis) {
  if (plan.warps == 1)
    return index(0);
  Value &offset = warpOffsets[axis];
  if (!offset)
    offset =
        arith::MulIOp::create(entry, loc, warp, index(plan.getExtent(axis)));
  return offset;
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

static int64_t getMemoryCols(Value memory) {
  if (auto global = dyn_cast<GlobalType>(memory.getType()))
    return global.getCols();
  return cast<SharedType>(memory.getType()).getCols();
}

static Type getMemoryElement(Value memory) {
  if (auto global = dyn_cast<GlobalType>(memory.getType()))
    return global.getElementType();
  return cast<SharedType>(memory.getType()).getElementType();
}

StepTiles::Access StepTiles::getAccess(const MemoryView &view,
                                       const Bindings &bindings) {
  Access access;
  access.row = view.row;
  access.col = view.col;
  SmallVector<MemoryView::Axis> free;
  for (const MemoryView::Axis &axis : view.axes) {
    const auto *bound = llvm::find_if(
        bindings, [&](const auto &entry) { return entry.first == axis.name; });
    if (bound == bindings.end()) {
      free.push_back(axis);
      access.axes.push_back(axis.name);
      continue;
    }
    if (axis.rowStep != 0)
      access.row = add(access.row, scale(bound->second, axis.rowStep));
    if (axis.colStep != 0)
      access.col = add(access.col, scale(bound->second, axis.colStep));
  }
  Value firstRow = access.row;
  for (const MemoryView::Axis &axis : free) {
    bool inRows = axis.rowStep == 1 && axis.colStep == 0;
    bool inCols = axis.rowStep == 0 && axis.colStep == 1;
    // Two axes in one row of memory: the outer one is no step of one.
    if (!inRows && !inCols) {
      access.scattered = axis.name;
      return access;
    }
    bool tileRows = plan.getPlace(axis.name) == AxisPlace::Rows;
    access.transposed = tileRows != inRows;
    Value &start = inRows ? access.row : access.col;
    bool padded = plan.isPadded(axis.name);
    if (padded && inRows)
      access.below = add(firstRow, index(plan.getSize(axis.name)));
    else if (padded && getMemoryCols(view.memory) != plan.getSize(axis.name))
      access.overlapping.push_back(axis.name);
    if (tileRows)
      start = add(start, getWarpOffset(axis.name));
  }
  return access;
}

Value StepTiles::load(const MemoryView &view, const Bindings &bindings) {
  Access access = getAccess(view, bindings);
  if (access.scattered) {
    // Row by row into shared memory, where it is a matrix.
    MemoryView shared = allocateShared(access.axes);
    barrier();
    loopOver(access.scattered, {}, [&](Value at, ValueRange) {
      Bindings inner = bindings;
      inner.emplace_back(access.scattered, at);
      store(load(view, inner), shared, {{access.scattered, at}});
      return SmallVector<Value>();
    });
    barrier();
    return load(shared, {});
  }
  return finishLoad(loadRaw(view, access), access);
}

Value StepTiles::loadRaw(const MemoryView &view, const Access &access) {
  RegType type = plan.getTileType(access.axes);
  return tile::LoadOp::create(
      builder, loc, type.withElementType(getMemoryElement(view.memory)),
      view.memory, access.row, access.col, access.below, access.transposed);
}

Value StepTiles::finishLoad(Value tile, const Access &access) {
  RegType type = plan.getTileType(access.axes);
  if (tile.getType() != type)
    tile = tile::ConvertOp::create(builder, loc, type, tile);
  // What lies behind the axis is not part of it.
  for (StringAttr axis : access.overlapping) {
    tile = tile::MapOp::create(
               builder, loc, TypeRange(type), ValueRange{tile, getMask(axis)},
               [&](OpBuilder &inner, Location, ValueRange args) {
                 return SmallVector<Value>{arith::SelectOp::create(
                     inner, loc, args[1], args[0], number(inner, 0))};
               })
               ->getResult(0);
  }
  return tile;
}

Value StepTiles::loadAhead(const Ahead &ahead, Value length) {
  MemoryView view = *findView(ahead.value);
  Access access = getAccess(view, ahead.bindings);
  access.below = length;
  return loadRaw(view, access);
}

void StepTiles::bindAhead(const Ahead &ahead, Value tile) {
  Access access = getAccess(*findView(ahead.value), ahead.bindings);
  remember(ahead.value, ahead.bindings, finishLoad(tile, access));
}

void StepTiles::store(Value tile, const MemoryView &view,
                      const Bindings &bindings) {
  Access access = getAccess(view, bindings);
  if (access.scattered) {
    MemoryView shared = allocateShared(access.axes);
    barrier();
    store(tile, shared, {});
    barrier();
    loopOver(access.scattered, {}, [&](Value at, ValueRange) {
      Bindings inner = bindings;
      inner.emplace_back(access.scattered, at);
      store(load(shared, {{access.scattered, at}}), view, inner);
      return SmallVector<Value>();
    });
    return;
  }
  Type element = getMemoryElement(view.memory);
  auto type = cast<RegType>(tile.getType());
  if (element != type.getElementType())
    tile = tile::ConvertOp::create(builder, loc, type.withElementType(element),
                                   tile);
  OpBuilder::InsertionGuard guard(builder);
  scf::IfOp once;
  if (plan.warps > 1 && plan.isReplicated(access.axes)) {
    Value first = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        warp, index(0));
    once = scf::IfOp::create(builder, loc, first, /*withElseRegion=*/false);
    builder.setInsertionPoint(once.thenBlock()->getTerminator());
  }
  tile::StoreOp::create(builder, loc, tile, view.memory, access.row, access.col,
                        access.below, access.transposed);
  if (once)
    builder.setInsertionPointAfter(once);
  // What a tile has too much of is overwritten by what belongs there.
  if (!access.overlapping.empty())
    barrier();
}

void StepTiles::storeValue(Value value, const MemoryView &view) {
  SmallVector<StringAttr> loops;
  for (StringAttr axis : arrayOf(value).getAxes())
    if (plan.getPlace(axis) == AxisPlace::Loop)
      loops.push_back(axis);
  // Axes in the order of memory: the outermost first.
  llvm::sort(loops, [&](StringAttr lhs, StringAttr rhs) {
    auto reach = [&](StringAttr name) {
      const auto *axis = llvm::find_if(
          view.axes, [&](const auto &axis) { return axis.name == name; });
      return axis->rowStep * getMemoryCols(view.memory) + axis->colStep;
    };
    return reach(lhs) > reach(rhs);
  });
  Bindings bindings;
  auto storeFrom = [&](auto &self, size_t level) -> void {
    if (level == loops.size()) {
      store(evaluate(value, bindings), view, bindings);
      return;
    }
    prepare(value, bindings, ArrayRef(loops).drop_front(level));
    loopOver(loops[level], {}, [&](Value at, ValueRange) {
      bindings.emplace_back(loops[level], at);
      self(self, level + 1);
      bindings.pop_back();
      return SmallVector<Value>();
    });
  };
  storeFrom(storeFrom, 0);
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

void StepTiles::barrier() {
  // Lanes of a single warp meet, too, before they read what others wrote.
  tile::BarrierOp::create(builder, loc, Value(), IntegerAttr());
  for (Exchange &exchange : exchanges)
    exchange.inUse = false;
}

MemoryView StepTiles::allocateShared(ArrayRef<StringAttr> axes) {
  MemoryView view;
  view.row = view.col = index(0);
  // Columns of tiles are columns of the memory.
  SmallVector<StringAttr> order;
  for (bool isCols : {false, true})
    for (StringAttr axis : axes)
      if ((plan.getPlace(axis) == AxisPlace::Cols) == isCols)
        order.push_back(axis);
  int64_t cols = order.empty() ? 1 : plan.getSize(order.back());
  int64_t rows = 1;
  if (!order.empty())
    view.axes.push_back({order.back(), 0, 1});
  for (StringAttr axis :
       llvm::reverse(ArrayRef(order).drop_back(order.empty() ? 0 : 1))) {
    view.axes.push_back({axis, rows, 0});
    rows *= plan.getSize(axis);
  }
  auto type = SharedType::get(builder.getContext(), rows, cols,
                              plan.getComputeType(), /*swizzle=*/0, /*pad=*/0,
                              /*stages=*/1);
  auto alloc = tile::AllocOp::create(entry, loc, type, IntegerAttr());
  allocations.push_back(alloc);
  view.memory = alloc;
  return view;
}

void StepTiles::reuseShared(scf::ForOp tokens) {
  struct Use {
    tile::AllocOp alloc;
    Operation *first = nullptr, *last = nullptr;
  };
  SmallVector<Use> uses;
  for (tile::AllocOp alloc : allocations) {
    Use use = {alloc};
    bool isInside = true;
    for (Operation *user : alloc->getUsers()) {
      Operation *in = tokens.getBody()->findAncestorOpInBlock(*user);
      isInside &= in != nullptr;
      if (!isInside)
        break;
      if (!use.first || in->isBeforeInBlock(use.first))
        use.first = in;
      if (!use.last || use.last->isBeforeInBlock(in))
        use.last = in;
    }
    if (isInside && use.first)
      uses.push_back(use);
  }
  llvm::sort(uses, [](const Use &lhs, const Use &rhs) {
    return lhs.first->isBeforeInBlock(rhs.first);
  });
  // Warps meet before any of these is written, and so they have read what was
  // there before.
  SmallVector<Use> kept;
  for (Use &use : uses) {
    Use *place = llvm::find_if(kept, [&](const Use &other) {
      tile::AllocOp earlier = other.alloc, later = use.alloc;
      return earlier.getType() == later.getType() &&
             other.last->isBeforeInBlock(use.first);
    });
    if (place == kept.end()) {
      kept.push_back(use);
      continue;
    }
    place->last = use.last;
    use.alloc->replaceAllUsesWith(place->alloc);
    use.alloc->erase();
  }
  allocations.clear();
}

MemoryView StepTiles::share(Value value, const Bindings &given) {
  Bindings bindings = restrict(value, given);
  if (bindings.empty())
    if (std::optional<MemoryView> known = findView(value))
      return *known;
  MemoryView view = allocateShared(getFreeAxes(value, bindings));
  SmallVector<StringAttr> loops;
  for (const MemoryView::Axis &axis : view.axes)
    if (plan.getPlace(axis.name) == AxisPlace::Loop)
      loops.push_back(axis.name);
  // What others may still read is what an earlier token put there.
  Value whole = loops.empty() ? evaluate(value, bindings) : Value();
  if (!loops.empty())
    prepare(value, bindings, loops);
  barrier();
  Bindings inner = bindings;
  Bindings places;
  auto storeFrom = [&](auto &self, ArrayRef<StringAttr> left) -> void {
    if (left.empty()) {
      store(whole ? whole : evaluate(value, inner), view, places);
      return;
    }
    loopOver(left.front(), {}, [&](Value at, ValueRange) {
      inner.emplace_back(left.front(), at);
      places.emplace_back(left.front(), at);
      self(self, left.drop_front());
      inner.pop_back();
      places.pop_back();
      return SmallVector<Value>();
    });
  };
  storeFrom(storeFrom, loops);
  barrier();
  if (bindings.empty())
    bind(value, view);
  return view;
}
