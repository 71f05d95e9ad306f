//===- LarcToLoops.cpp - The token loop of one head -*- C++ -*- -----------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NestEmitter.h"
#include "Plan.h"
#include "StepEmitter.h"

using namespace mlir;
using namespace larc;

namespace larc {
#define GEN_PASS_DEF_CONVERTLARCTOLOOPS
#include "larc/Conversion/Passes.h.inc"
} // namespace larc

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

namespace {

/// Builds `@NAME_tokens`.
class TokenLoopBuilder {
public:
  explicit TokenLoopBuilder(const RecurrentPlan &plan)
      : plan(plan), op(plan.recurrence), loc(op.getLoc()),
        context(op.getContext()) {}

  FailureOr<func::FuncOp> build();

private:
  /// Memory of a tensor, with the stride between tokens where it has any.
  struct Memory {
    Value memref, tokenStride;
  };

  /// The buffer that nests read for an operand or constant: the view, or a copy
  /// in the compute type and the order of nests.
  Buffer stage(OpBuilder &builder, const Buffer &view, ArrayType type,
               FloatType element, StepEmitter &step);
  /// Asks for the memory of a tensor some tokens ahead of `token`.
  void emitPrefetch(OpBuilder &builder, const Memory &memory, Value token,
                    ArrayRef<StringAttr> axes, FloatType element, bool isWrite);
  void emitAnchorCopies(OpBuilder &builder, Value token,
                        ArrayRef<Buffer> states, ArrayRef<Buffer> anchors);

  const RecurrentPlan &plan;
  RecurrenceOp op;
  Location loc;
  MLIRContext *context;
};

} // namespace

Buffer TokenLoopBuilder::stage(OpBuilder &builder, const Buffer &view,
                               ArrayType type, FloatType element,
                               StepEmitter &step) {
  if (element == plan.computeType &&
      ArrayRef(view.axes) == ArrayRef(plan.getOrder(type)))
    return view;
  Buffer staged = step.allocate(type);
  NestEmitter::emitCopy(builder, loc, plan, view, staged);
  return staged;
}

void TokenLoopBuilder::emitPrefetch(OpBuilder &builder, const Memory &memory,
                                    Value token, ArrayRef<StringAttr> axes,
                                    FloatType element, bool isWrite) {
  int64_t count = 1;
  for (int64_t extent : plan.getExtents(axes))
    count *= extent;
  int64_t perLine = lineBytes * 8 / element.getWidth();
  int64_t lines = (count + perLine - 1) / perLine;
  // Blocks of an inner axis are not dense.
  bool dense = axes.size() <= 1 || !llvm::is_contained(axes, plan.splitAxis);
  if (!dense || lines > maxPrefetchLines)
    return;
  Value ahead = arith::AddIOp::create(builder, loc, token,
                                      index(builder, loc, prefetchTokens));
  Value offset = arith::MulIOp::create(builder, loc, ahead, memory.tokenStride);
  for (int64_t line = 0; line < lines; ++line) {
    Value at = arith::AddIOp::create(builder, loc, offset,
                                     index(builder, loc, line * perLine));
    memref::PrefetchOp::create(builder, loc, memory.memref, ValueRange(at),
                               isWrite, /*localityHint=*/0,
                               /*isDataCache=*/true);
  }
}

/// At the first token of a period, the anchors take the states' values.
void TokenLoopBuilder::emitAnchorCopies(OpBuilder &builder, Value token,
                                        ArrayRef<Buffer> states,
                                        ArrayRef<Buffer> anchors) {
  if (anchors.empty())
    return;
  Value rest = arith::RemUIOp::create(builder, loc, token,
                                      index(builder, loc, op.getPeriod()));
  Value starts = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       rest, index(builder, loc, 0));
  auto branch =
      scf::IfOp::create(builder, loc, starts, /*withElseRegion=*/false);
  OpBuilder inner = OpBuilder::atBlockTerminator(branch.thenBlock());
  for (auto [i, state] : llvm::enumerate(op.getAnchoredStates()))
    NestEmitter::emitCopy(inner, loc, plan, states[state], anchors[i]);
}

FailureOr<func::FuncOp> TokenLoopBuilder::build() {
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

  auto func = func::FuncOp::create(builder, loc, plan.getTokensName(),
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
  Value numTokens = next(), position = next();
  auto takeTensors = [&](size_t count) {
    SmallVector<Memory> tensors;
    for (size_t i = 0; i < count; ++i) {
      Value memory = next();
      tensors.push_back({memory, next()});
    }
    return tensors;
  };
  SmallVector<Memory> operands = takeTensors(op.getTokenOperands().size());
  SmallVector<Memory> constants = takeTensors(op.getConstants().size());
  SmallVector<Memory> outputs = takeTensors(op.getOutputs().size());
  SmallVector<Buffer> states, anchors;
  auto takeState = [&](unsigned i) -> Buffer {
    ArrayType type = ArrayType::ofAxes(context, plan.getState(i).getAxes());
    return {next(), plan.getOrder(type)};
  };
  for (unsigned i = 0; i < op.getStates().size(); ++i)
    states.push_back(takeState(i));
  for (unsigned i : anchored)
    anchors.push_back(takeState(i));
  Value scratch = next();

  // Views of scratch memory stand before everything else.
  Value zero = index(builder, loc, 0);
  auto returnOp = func::ReturnOp::create(builder, loc);
  OpBuilder scratchBuilder(zero.getDefiningOp());
  builder.setInsertionPoint(returnOp);
  StepEmitter step(plan, scratch, scratchBuilder, {});

  for (auto [decl, memory, argument, element] :
       llvm::zip(op.getConstants().getAsRange<OperandDeclAttr>(), constants,
                 op.getConstantArguments(), plan.constantTypes)) {
    if (argument.use_empty())
      continue;
    Buffer view = plan.makeView(builder, loc, memory.memref, zero,
                                decl.getAxes(), element);
    step.bind(argument,
              stage(builder, view, cast<ArrayType>(argument.getType()), element,
                    step));
  }

  auto loop =
      scf::ForOp::create(builder, loc, zero, numTokens, index(builder, loc, 1));
  OpBuilder inner = OpBuilder::atBlockTerminator(loop.getBody());
  Value token = loop.getInductionVar();
  Value globalToken = arith::AddIOp::create(inner, loc, token, position);
  step.setGlobalToken(globalToken);
  emitAnchorCopies(inner, globalToken, states, anchors);

  for (auto [decl, memory, argument, element] :
       llvm::zip(op.getTokenOperands().getAsRange<OperandDeclAttr>(), operands,
                 op.getOperandArguments(), plan.operandTypes)) {
    if (argument.use_empty())
      continue;
    Value offset = arith::MulIOp::create(inner, loc, token, memory.tokenStride);
    Buffer view = plan.makeView(inner, loc, memory.memref, offset,
                                decl.getAxes(), element);
    step.bind(argument, stage(inner, view, cast<ArrayType>(argument.getType()),
                              element, step));
    emitPrefetch(inner, memory, token, decl.getAxes(), element,
                 /*isWrite=*/false);
  }
  SmallVector<Buffer> outputViews;
  for (auto [decl, memory, element] :
       llvm::zip(op.getOutputs().getAsRange<OutputDeclAttr>(), outputs,
                 plan.outputTypes)) {
    Value offset = arith::MulIOp::create(inner, loc, token, memory.tokenStride);
    outputViews.push_back(plan.makeView(inner, loc, memory.memref, offset,
                                        decl.getAxes(), element));
    emitPrefetch(inner, memory, token, decl.getAxes(), element,
                 /*isWrite=*/true);
  }
  for (auto [argument, buffer] : llvm::zip(op.getStateArguments(), states))
    step.bind(argument, buffer);
  op.getBody().walk([&](AnchorOp anchor) {
    unsigned state = llvm::find(op.getStateArguments(), anchor.getState()) -
                     op.getStateArguments().begin();
    step.bind(anchor.getResult(),
              anchors[llvm::find(anchored, state) - anchored.begin()]);
  });
  if (failed(step.emitBlock(inner, op.getBody().front(), op.getStateArguments(),
                            states, outputViews)))
    return failure();

  if (step.isTooLarge()) {
    op.emitError() << "needs more than " << RecurrentPlan::maxBytes
                   << " bytes of workspace for these sizes";
    return failure();
  }

  builder.setInsertionPoint(returnOp);
  Value end = arith::AddIOp::create(builder, loc, position, numTokens);
  emitAnchorCopies(builder, end, states, anchors);
  func->setAttr(scratchBytesAttr,
                builder.getI64IntegerAttr(step.getScratchBytes()));
  return func;
}

namespace {
struct ConvertLarcToLoopsPass
    : larc::impl::ConvertLarcToLoopsBase<ConvertLarcToLoopsPass> {
  using ConvertLarcToLoopsBase::ConvertLarcToLoopsBase;

  void runOnOperation() override {
    RecurrentOptions options;
    options.computeType = computeType;
    options.operandTypes.assign(operandTypes.begin(), operandTypes.end());
    options.constantTypes.assign(constantTypes.begin(), constantTypes.end());
    options.outputTypes.assign(outputTypes.begin(), outputTypes.end());
    options.vectorBits = vectorBits;
    options.cacheBytes = cacheBytes;
    for (RecurrenceOp op :
         llvm::to_vector(getOperation().getOps<RecurrenceOp>())) {
      FailureOr<RecurrentPlan> plan = RecurrentPlan::create(op, options);
      if (failed(plan) || failed(TokenLoopBuilder(*plan).build()))
        return signalPassFailure();
    }
  }
};
} // namespace
