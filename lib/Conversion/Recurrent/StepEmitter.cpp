//===- StepEmitter.cpp - One step on buffers -*- C++ -*- ------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepEmitter.h"

using namespace mlir;
using namespace larc;

static Value index(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

/// An anchor is no view: it has a buffer of its own, filled before the step.
static bool isView(Operation *op) {
  return isa<RenameOp, SliceOp, chunk::RowsOp>(op);
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Buffer StepEmitter::allocate(ArrayRef<StringAttr> axes) {
  ScratchMemory::Place place;
  return scratch.allocate(axes, place);
}

const Buffer &StepEmitter::lookup(Value value) {
  return buffers.find(value)->second;
}

Buffer StepEmitter::materialize(OpBuilder &builder, Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant)
    return lookup(value);
  Buffer buffer = allocate(cast<ArrayType>(value.getType()));
  NestEmitter::emitFill(builder, value.getLoc(), plan, buffer,
                        constant.getValue().convertToDouble());
  return buffer;
}

//===----------------------------------------------------------------------===//
// Liveness
//===----------------------------------------------------------------------===//

/// Whether `op` may overwrite the buffer of `value` element by element:
/// everything that reads it comes before, or is `op` reading each element just
/// before it is written.
bool StepEmitter::isDeadAfter(Value value, Operation *op, Frame &frame) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = frame.block->findAncestorOpInBlock(*use.getOwner());
    if (!user)
      return false;
    if (isa<AnchorOp>(user))
      continue;
    if (user == op) {
      if (auto nest = dyn_cast<NestOp>(op)) {
        // An array of all the nest's axes is read where it is written.
        auto array = cast<ArrayType>(value.getType());
        if (array.getRank() != nest.getAxes().size())
          return false;
        continue;
      }
      // A loop or fire owns what it carries, unless its region reads it as
      // well: by itself or slice by slice.
      if (use.getOwner() != op)
        return false;
      if (auto fold = dyn_cast<FoldOp>(op);
          fold && llvm::is_contained(fold.getSources(), value))
        return false;
      if (auto tokens = dyn_cast<chunk::TokensOp>(op);
          tokens && llvm::is_contained(tokens.getOver(), value))
        return false;
      // An update reads elements of the state where it writes them.
      if (isa<chunk::UpdateOp>(op) && use.getOperandNumber() != 0)
        return false;
      continue;
    }
    if (op->isBeforeInBlock(user))
      return false;
    if (isView(user) && !isDeadAfter(user->getResult(0), op, frame))
      return false;
    // A view inside this nest's own reads is re-labelled: another element.
    if (isView(user))
      for (Operation *reader : user->getResult(0).getUsers())
        if (frame.block->findAncestorOpInBlock(*reader) == op)
          return false;
  }
  return true;
}

std::optional<unsigned> StepEmitter::findTarget(Value value, Frame &frame) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (user->getBlock() != frame.block)
      continue;
    if (user->hasTrait<OpTrait::IsTerminator>() &&
        use.getOperandNumber() < frame.carried.size())
      return use.getOperandNumber();
    Operation::operand_range inits = {nullptr, 0};
    if (auto fold = dyn_cast<FoldOp>(user))
      inits = fold.getInits();
    else if (auto fire = dyn_cast<FireOp>(user))
      inits = fire.getInits();
    else if (auto tokens = dyn_cast<chunk::TokensOp>(user))
      inits = tokens.getInits();
    else
      continue;
    for (auto [init, result] : llvm::zip(inits, user->getResults()))
      if (init == value)
        if (std::optional<unsigned> target = findTarget(result, frame))
          return target;
  }
  return std::nullopt;
}

Buffer StepEmitter::chooseResultBuffer(OpBuilder &builder, OpResult result,
                                       NestOp nest, Frame &frame) {
  auto type = cast<ArrayType>(result.getType());
  Value inside = nest.getBody().front().getTerminator()->getOperand(
      result.getResultNumber());
  bool elementwise =
      !isa_and_present<ReductionOpInterface>(inside.getDefiningOp());
  if (std::optional<unsigned> target = findTarget(result, frame);
      target && elementwise && type.getRank() == nest.getAxes().size() &&
      isDeadAfter(frame.occupants[*target], nest, frame)) {
    frame.occupants[*target] = result;
    return frame.carried[*target];
  }
  if (const Buffer *output = findOutput(result, frame))
    return *output;
  return allocateResult(builder, result);
}

const Buffer *StepEmitter::findOutput(OpResult result, Frame &frame) {
  // An output of the compute type takes the result as it is made, in memory
  // order.
  if (frame.outputs.empty())
    return nullptr;
  auto type = cast<ArrayType>(result.getType());
  for (OpOperand &use : result.getUses()) {
    if (use.getOwner() != frame.block->getTerminator() ||
        use.getOperandNumber() < frame.carried.size())
      continue;
    const Buffer &output =
        frame.outputs[use.getOperandNumber() - frame.carried.size()];
    if (cast<MemRefType>(output.memref.getType()).getElementType() ==
            plan.computeType &&
        ArrayRef(output.axes) == ArrayRef(plan.getOrder(type)))
      return &output;
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void StepEmitter::emitNest(OpBuilder &builder, NestOp nest, Frame &frame) {
  SmallVector<Buffer> results;
  for (OpResult result : nest.getResults())
    results.push_back(chooseResultBuffer(builder, result, nest, frame));
  for (auto [result, buffer] : llvm::zip(nest.getResults(), results))
    buffers[result] = buffer;
  NestEmitter(
      plan, nest, bounds,
      [&](Value value) -> const Buffer & { return lookup(value); }, results)
      .emit(builder);
}

void StepEmitter::addExtents(OpBuilder &builder, TileProduct &product) const {
  product.afterTile = afterTile;
  SmallVector<const Buffer *> parts = {&product.lhs, &product.rhs,
                                       &product.result};
  if (product.init)
    parts.push_back(&*product.init);
  for (const Buffer &factor : product.initFactors)
    parts.push_back(&factor);
  for (const Buffer &factor : product.resultFactors)
    parts.push_back(&factor);
  llvm::SmallSetVector<StringAttr, 4> axes;
  for (const Buffer *part : parts)
    axes.insert_range(part->axes);
  for (StringAttr axis : axes) {
    int64_t extent = plan.getExtent(axis);
    Value bound = bounds.lookup(axis);
    product.extents.emplace_back(
        axis, bound ? OpFoldResult(bound)
                    : OpFoldResult(builder.getIndexAttr(extent)));
    if (!bound || !llvm::is_contained(product.result.axes, axis))
      continue;
    int64_t reach = llvm::alignTo(extent, getTiles().getPadding());
    auto reaches = [&](StringAttr padded) {
      return llvm::all_of(parts, [&](const Buffer *part) {
        const auto *it = llvm::find(part->axes, padded);
        return it == part->axes.end() ||
               cast<MemRefType>(part->memref.getType())
                       .getDimSize(it - part->axes.begin()) >= reach;
      });
    };
    if (reaches(axis) && (!product.causal || reaches(product.causal->column)))
      product.padded.push_back(axis);
  }
}

void StepEmitter::emitContract(OpBuilder &builder, ContractOp op,
                               const Buffer &result) {
  TileProduct product;
  product.lhs = materialize(builder, op.getLhs());
  product.rhs = materialize(builder, op.getRhs());
  product.result = result;
  addExtents(builder, product);
  getTiles().emit(builder, op.getLoc(), product);
}

LogicalResult StepEmitter::emitOther(OpBuilder &builder, Operation *op,
                                     Frame &frame) {
  return op->emitOpError("is not in a nest: form nests before loops are made");
}

Buffer StepEmitter::makeSlice(OpBuilder &builder, Location loc,
                              const Buffer &source, StringAttr axis,
                              OpFoldResult at) {
  auto sourceType = cast<MemRefType>(source.memref.getType());
  SmallVector<OpFoldResult> offsets, sizes, strides;
  SmallVector<int64_t> shape;
  SmallVector<StringAttr> axes;
  for (auto [other, size] : llvm::zip(source.axes, sourceType.getShape())) {
    strides.push_back(builder.getIndexAttr(1));
    if (other == axis) {
      offsets.push_back(at);
      sizes.push_back(builder.getIndexAttr(1));
      continue;
    }
    offsets.push_back(builder.getIndexAttr(0));
    sizes.push_back(builder.getIndexAttr(size));
    shape.push_back(size);
    axes.push_back(other);
  }
  MemRefType type = memref::SubViewOp::inferRankReducedResultType(
      shape, sourceType, offsets, sizes, strides);
  Value view = memref::SubViewOp::create(builder, loc, type, source.memref,
                                         offsets, sizes, strides);
  return {view, axes};
}

/// Buffers that an operation's region carries, holding the initial values:
/// those of the values themselves where nothing else needs them.
SmallVector<Buffer> StepEmitter::prepareCarried(OpBuilder &builder,
                                                Operation *op, ValueRange inits,
                                                Frame &frame) {
  SmallVector<Buffer> carried;
  for (Value init : inits) {
    Operation *producer = init.getDefiningOp();
    bool owned = llvm::is_contained(frame.occupants, init) ||
                 (producer && producer->getBlock() == frame.block &&
                  isa<NestOp, FoldOp, FireOp, ContractOp>(producer));
    // A buffer taken over must not be an output: what is read there later would
    // be lost.
    bool isOutput = false;
    if (owned)
      for (const Buffer &output : frame.outputs)
        isOutput |= output.memref == lookup(init).memref;
    if (owned && !isOutput && llvm::count(inits, init) == 1 &&
        isDeadAfter(init, op, frame)) {
      carried.push_back(lookup(init));
      continue;
    }
    Buffer buffer = allocate(cast<ArrayType>(init.getType()));
    NestEmitter::emitCopy(builder, op->getLoc(), plan,
                          materialize(builder, init), buffer);
    carried.push_back(buffer);
  }
  return carried;
}

void StepEmitter::finishCarried(Operation *op, ArrayRef<Buffer> carried,
                                Frame &frame) {
  for (auto [result, buffer] : llvm::zip(op->getResults(), carried)) {
    buffers[result] = buffer;
    for (auto [i, mine] : llvm::enumerate(frame.carried))
      if (mine.memref == buffer.memref)
        frame.occupants[i] = result;
  }
}

LogicalResult StepEmitter::emitFold(OpBuilder &builder, FoldOp fold,
                                    Frame &frame) {
  Location loc = fold.getLoc();
  SmallVector<Buffer> carried =
      prepareCarried(builder, fold, fold.getInits(), frame);
  auto loop = scf::ForOp::create(
      builder, loc, index(builder, loc, 0),
      index(builder, loc, plan.getExtent(fold.getAxisAttr())),
      index(builder, loc, 1));
  OpBuilder inner = OpBuilder::atBlockTerminator(loop.getBody());
  for (auto [argument, source] :
       llvm::zip(fold.getSliceArguments(), fold.getSources()))
    buffers[argument] = makeSlice(inner, loc, materialize(inner, source),
                                  fold.getAxisAttr(), loop.getInductionVar());
  for (auto [argument, buffer] : llvm::zip(fold.getCarriedArguments(), carried))
    buffers[argument] = buffer;
  if (failed(emitBlock(inner, fold.getBody().front(),
                       fold.getCarriedArguments(), carried, {})))
    return failure();
  finishCarried(fold, carried, frame);
  return success();
}

LogicalResult StepEmitter::emitFire(OpBuilder &builder, FireOp fire,
                                    Frame &frame) {
  Location loc = fire.getLoc();
  SmallVector<Buffer> carried =
      prepareCarried(builder, fire, fire.getInits(), frame);
  // Periods and intervals are counted apart: their product may overflow.
  Value next =
      arith::AddIOp::create(builder, loc, globalToken, index(builder, loc, 1));
  Value period = index(builder, loc, plan.recurrence.getPeriod());
  Value interval =
      index(builder, loc, cast<IntegerAttr>(fire.getInterval()).getInt());
  auto divides = [&](Value divisor, Value count) -> Value {
    return arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq,
        arith::RemUIOp::create(builder, loc, count, divisor),
        index(builder, loc, 0));
  };
  Value fires = arith::AndIOp::create(
      builder, loc, divides(period, next),
      divides(interval, arith::DivUIOp::create(builder, loc, next, period)));
  auto branch =
      scf::IfOp::create(builder, loc, fires, /*withElseRegion=*/false);
  OpBuilder inner = OpBuilder::atBlockTerminator(branch.thenBlock());
  auto arguments = fire.getBody().front().getArguments();
  for (auto [argument, buffer] : llvm::zip(arguments, carried))
    buffers[argument] = buffer;
  if (failed(emitBlock(inner, fire.getBody().front(), arguments, carried, {})))
    return failure();
  finishCarried(fire, carried, frame);
  return success();
}

/// Brings every yielded value to where it belongs.
void StepEmitter::emitYield(OpBuilder &builder, Operation *yield,
                            Frame &frame) {
  Location loc = yield->getLoc();
  ValueRange values = yield->getOperands();
  size_t numCarried = frame.carried.size();
  // Outputs first, unless the caller stores them: they may be read from carried
  // buffers that are about to change.
  for (auto [value, output] :
       llvm::zip(values.drop_front(numCarried), frame.outputs)) {
    Buffer source = materialize(builder, value);
    if (source.memref != output.memref)
      NestEmitter::emitCopy(builder, loc, plan, source, output);
  }
  // Values that lie in another carried buffer, or are a view of one, are saved
  // before any is overwritten.
  SmallVector<std::pair<Buffer, unsigned>> copies;
  for (unsigned i = 0; i < numCarried; ++i) {
    Value value = values[i];
    if (frame.occupants[i] == value)
      continue;
    Buffer source = materialize(builder, value);
    Operation *producer = value.getDefiningOp();
    bool exposed = isa<BlockArgument>(value) ||
                   (producer && isView(producer)) ||
                   llvm::is_contained(frame.occupants, value);
    if (exposed) {
      Buffer saved = allocate(cast<ArrayType>(value.getType()));
      NestEmitter::emitCopy(builder, loc, plan, source, saved);
      source = saved;
    }
    copies.emplace_back(source, i);
  }
  for (auto &[source, i] : copies)
    NestEmitter::emitCopy(builder, loc, plan, source, frame.carried[i]);
}

LogicalResult StepEmitter::emitBlock(OpBuilder &builder, Block &block,
                                     ValueRange carriedArguments,
                                     ArrayRef<Buffer> carried,
                                     ArrayRef<Buffer> outputs) {
  Frame frame{&block, carried, outputs, SmallVector<Value>(carriedArguments)};
  for (Operation &op : block.without_terminator()) {
    if (isa<ConstantOp, AnchorOp>(op))
      continue;
    if (auto nest = dyn_cast<NestOp>(op)) {
      emitNest(builder, nest, frame);
    } else if (auto rename = dyn_cast<RenameOp>(op)) {
      Buffer buffer = materialize(builder, rename.getOperand());
      llvm::replace(buffer.axes, rename.getFromAttr(), rename.getToAttr());
      buffers[rename.getResult()] = buffer;
    } else if (auto slice = dyn_cast<SliceOp>(op)) {
      buffers[slice.getResult()] = makeSlice(
          builder, op.getLoc(), materialize(builder, slice.getOperand()),
          slice.getAxisAttr(), builder.getIndexAttr(slice.getOffset()));
    } else if (auto contract = dyn_cast<ContractOp>(op)) {
      OpResult result = op.getResult(0);
      const Buffer *output = findOutput(result, frame);
      Buffer buffer = output ? *output : allocateResult(builder, result);
      buffers[result] = buffer;
      emitContract(builder, contract, buffer);
    } else if (auto fold = dyn_cast<FoldOp>(op)) {
      if (failed(emitFold(builder, fold, frame)))
        return failure();
    } else if (auto fire = dyn_cast<FireOp>(op)) {
      if (failed(emitFire(builder, fire, frame)))
        return failure();
    } else if (failed(emitOther(builder, &op, frame))) {
      return failure();
    }
    finishOp(&op, frame);
  }
  emitYield(builder, block.getTerminator(), frame);
  return success();
}
