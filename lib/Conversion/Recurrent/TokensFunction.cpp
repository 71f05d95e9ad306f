//===- TokensFunction.cpp - The function of one head -*- C++ -*- ----------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TokensFunction.h"

using namespace mlir;
using namespace larc;

static Value index(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

/// Tokens of a head are apart in memory by all heads, too far for the hardware
/// to see where they go on. So many tokens ahead their memory is asked for, as
/// data that is used once: tensors of one shape fall into the same few sets of
/// the innermost cache, and lines kept there would push out the states. No more
/// lines a tensor than these, for the same reason.
static constexpr int64_t prefetchTokens = 2;
static constexpr int64_t maxPrefetchLines = 16;
static constexpr int64_t lineBytes = 64;

TokensFunction::TokensFunction(const RecurrentPlan &plan)
    : plan(plan), loc(plan.recurrence.getLoc()) {
  RecurrenceOp op = plan.recurrence;
  OpBuilder builder(op);
  Type indexType = builder.getIndexType();
  auto memoryType = [&](FloatType element) {
    return MemRefType::get({ShapedType::kDynamic}, element);
  };
  SmallVector<unsigned> anchored = op.getAnchoredStates();
  SmallVector<Type> inputs = {indexType, indexType};
  auto addTensors = [&](ArrayRef<FloatType> types) {
    for (FloatType type : types) {
      inputs.push_back(memoryType(type));
      inputs.push_back(indexType);
    }
  };
  addTensors(plan.operandTypes);
  addTensors(plan.constantTypes);
  addTensors(plan.outputTypes);
  for (unsigned i = 0; i < op.getStates().size(); ++i)
    inputs.push_back(plan.getStateType(i));
  for (unsigned i : anchored)
    inputs.push_back(plan.getStateType(i));
  inputs.push_back(
      MemRefType::get({ShapedType::kDynamic}, builder.getI8Type()));

  func = func::FuncOp::create(builder, loc, plan.getTokensName(),
                              builder.getFunctionType(inputs, {}));
  func.setPrivate();
  Block *entry = func.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  ValueRange arguments = entry->getArguments();
  auto next = [&] {
    Value value = arguments.front();
    arguments = arguments.drop_front();
    return value;
  };
  numTokens = next();
  position = next();
  auto takeTensors = [&](size_t count) {
    SmallVector<Memory> tensors;
    for (size_t i = 0; i < count; ++i) {
      Value memory = next();
      tensors.push_back({memory, next()});
    }
    return tensors;
  };
  operands = takeTensors(op.getTokenOperands().size());
  constants = takeTensors(op.getConstants().size());
  outputs = takeTensors(op.getOutputs().size());
  auto takeState = [&](unsigned i) -> Buffer {
    ArrayType type =
        ArrayType::ofAxes(op.getContext(), plan.getState(i).getAxes());
    return {next(), plan.getOrder(type)};
  };
  for (unsigned i = 0; i < op.getStates().size(); ++i)
    states.push_back(takeState(i));
  for (unsigned i : anchored)
    anchors.push_back(takeState(i));
  scratch = next();
  // Views of scratch memory stand before this, the body after it.
  index(builder, loc, 0);
  func::ReturnOp::create(builder, loc);
}

OpBuilder TokensFunction::getBodyBuilder() const {
  return OpBuilder::atBlockTerminator(&func.getBody().front());
}

OpBuilder TokensFunction::getScratchBuilder() const {
  Block &entry = func.getBody().front();
  return OpBuilder(&*entry.begin());
}

LogicalResult TokensFunction::setScratchBytes(const ScratchMemory &memory) {
  if (memory.isTooLarge())
    return plan.recurrence.emitError()
           << "needs more than " << RecurrentPlan::maxBytes
           << " bytes of workspace for these sizes";
  OpBuilder builder(func);
  func->setAttr(scratchBytesAttr, builder.getI64IntegerAttr(memory.getBytes()));
  return success();
}

Buffer TokensFunction::makeTokenView(OpBuilder &builder, const Memory &memory,
                                     Value token, ArrayRef<StringAttr> axes,
                                     FloatType element) const {
  Value offset = arith::MulIOp::create(builder, loc, token, memory.tokenStride);
  return plan.makeView(builder, loc, memory.memref, offset, axes, element);
}

Buffer TokensFunction::stage(OpBuilder &builder, const Buffer &view,
                             ArrayType type, FloatType element,
                             StepEmitter &step) const {
  if (element == plan.computeType &&
      ArrayRef(view.axes) == ArrayRef(plan.getOrder(type)))
    return view;
  Buffer staged = step.allocate(type);
  NestEmitter::emitCopy(builder, loc, plan, view, staged);
  return staged;
}

int64_t TokensFunction::countLines(ArrayRef<StringAttr> axes,
                                   FloatType element) const {
  // Blocks of an inner axis are not dense.
  if (axes.size() > 1 && llvm::is_contained(axes, plan.splitAxis))
    return 0;
  int64_t count = 1;
  for (int64_t extent : plan.getExtents(axes))
    count *= extent;
  int64_t perLine = lineBytes * 8 / element.getWidth();
  return (count + perLine - 1) / perLine;
}

void TokensFunction::emitPrefetch(OpBuilder &builder, const Memory &memory,
                                  Value ahead, Value first, int64_t count,
                                  FloatType element, bool isWrite,
                                  unsigned locality) const {
  int64_t perLine = lineBytes * 8 / element.getWidth();
  Value offset = arith::AddIOp::create(
      builder, loc,
      arith::MulIOp::create(builder, loc, ahead, memory.tokenStride),
      arith::MulIOp::create(builder, loc, first, index(builder, loc, perLine)));
  for (int64_t line = 0; line < count; ++line) {
    Value at = arith::AddIOp::create(builder, loc, offset,
                                     index(builder, loc, line * perLine));
    memref::PrefetchOp::create(builder, loc, memory.memref, ValueRange(at),
                               isWrite, locality, /*isDataCache=*/true);
  }
}

void TokensFunction::emitAnchorCopies(OpBuilder &builder,
                                      Value globalToken) const {
  RecurrenceOp op = plan.recurrence;
  if (anchors.empty())
    return;
  Value rest = arith::RemUIOp::create(builder, loc, globalToken,
                                      index(builder, loc, op.getPeriod()));
  Value starts = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       rest, index(builder, loc, 0));
  auto branch =
      scf::IfOp::create(builder, loc, starts, /*withElseRegion=*/false);
  OpBuilder inner = OpBuilder::atBlockTerminator(branch.thenBlock());
  for (auto [i, state] : llvm::enumerate(op.getAnchoredStates()))
    NestEmitter::emitCopy(inner, loc, plan, states[state], anchors[i]);
}

SmallVector<Buffer> TokensFunction::stageConstants(OpBuilder &builder,
                                                   StepEmitter &step) const {
  RecurrenceOp op = plan.recurrence;
  SmallVector<Buffer> buffers;
  for (auto [decl, memory, argument, element] :
       llvm::zip(op.getConstants().getAsRange<OperandDeclAttr>(), constants,
                 op.getConstantArguments(), plan.constantTypes)) {
    if (argument.use_empty()) {
      buffers.emplace_back();
      continue;
    }
    Buffer view =
        plan.makeView(builder, loc, memory.memref, index(builder, loc, 0),
                      decl.getAxes(), element);
    buffers.push_back(stage(builder, view, cast<ArrayType>(argument.getType()),
                            element, step));
  }
  return buffers;
}

void TokensFunction::bindStep(StepEmitter &step,
                              ArrayRef<Buffer> constantBuffers) const {
  RecurrenceOp op = plan.recurrence;
  for (auto [argument, buffer] :
       llvm::zip(op.getConstantArguments(), constantBuffers))
    step.bind(argument, buffer);
  for (auto [argument, buffer] : llvm::zip(op.getStateArguments(), states))
    step.bind(argument, buffer);
  SmallVector<unsigned> anchored = op.getAnchoredStates();
  op.getBody().walk([&](AnchorOp anchor) {
    unsigned state = llvm::find(op.getStateArguments(), anchor.getState()) -
                     op.getStateArguments().begin();
    step.bind(anchor.getResult(),
              anchors[llvm::find(anchored, state) - anchored.begin()]);
  });
}

LogicalResult TokensFunction::emitStep(OpBuilder &builder, Value token,
                                       StepEmitter &step, bool prefetch) const {
  RecurrenceOp op = plan.recurrence;
  Value ahead = arith::AddIOp::create(builder, loc, token,
                                      index(builder, loc, prefetchTokens));
  auto prefetchRow = [&](const Memory &memory, ArrayRef<StringAttr> axes,
                         FloatType element, bool isWrite) {
    int64_t lines = countLines(axes, element);
    if (prefetch && lines <= maxPrefetchLines)
      emitPrefetch(builder, memory, ahead, index(builder, loc, 0), lines,
                   element, isWrite, /*locality=*/0);
  };
  for (auto [decl, memory, argument, element] :
       llvm::zip(op.getTokenOperands().getAsRange<OperandDeclAttr>(), operands,
                 op.getOperandArguments(), plan.operandTypes)) {
    if (argument.use_empty())
      continue;
    Buffer view =
        makeTokenView(builder, memory, token, decl.getAxes(), element);
    step.bind(argument,
              stage(builder, view, cast<ArrayType>(argument.getType()), element,
                    step));
    prefetchRow(memory, decl.getAxes(), element, /*isWrite=*/false);
  }
  SmallVector<Buffer> outputViews;
  for (auto [decl, memory, element] :
       llvm::zip(op.getOutputs().getAsRange<OutputDeclAttr>(), outputs,
                 plan.outputTypes)) {
    outputViews.push_back(
        makeTokenView(builder, memory, token, decl.getAxes(), element));
    prefetchRow(memory, decl.getAxes(), element, /*isWrite=*/true);
  }
  return step.emitBlock(builder, op.getBody().front(), op.getStateArguments(),
                        states, outputViews);
}
