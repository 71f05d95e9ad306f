//===- ChunkToLoops.cpp - The loop over chunks of one head -*- C++ -*- ----===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Recurrent/PassOptions.h"
#include "../Recurrent/TokensFunction.h"
#include "ChunkEmitter.h"

using namespace mlir;
using namespace larc;

namespace larc {
#define GEN_PASS_DEF_CONVERTCHUNKTOLOOPS
#include "larc/Conversion/Passes.h.inc"
} // namespace larc

/// Rows are asked for a chunk ahead, between the tiles of products: all at once
/// they would wait for each other.
static constexpr unsigned chunkLocality = 3;

/// Elements of the result that a tile of a product has, roughly.
static constexpr int64_t tileRows = 8, tileVectors = 2;
/// Rows of more lines are left to the hardware.
static constexpr int64_t maxPrefetchLines = 64;

namespace {

/// Builds `@NAME_tokens` for a scan.
class ChunkLoopBuilder {
public:
  explicit ChunkLoopBuilder(const RecurrentPlan &plan)
      : plan(plan), op(plan.recurrence), scan(plan.scan), loc(scan.getLoc()),
        function(plan), loops(plan, loc),
        scratch(plan, function.scratch, function.getScratchBuilder()),
        step(plan, scratch), chunk(plan, scratch) {}

  LogicalResult build();

private:
  Value minimum(OpBuilder &builder, Value lhs, Value rhs) {
    return arith::MinSIOp::create(builder, loc, lhs, rhs);
  }
  /// The number of tokens of the chunk that starts at `token`.
  Value getChunkLength(OpBuilder &builder, Value token, Value globalToken);
  LogicalResult emitChunk(OpBuilder &builder, Value token, Value length);
  /// Tiles of all products of a chunk, roughly.
  int64_t countTiles();
  /// Lets the tiles of a chunk ask for the memory of the next one.
  void preparePrefetch(OpBuilder &builder, Value token, Value length);
  /// Copies the rows of all operands that the scan uses.
  void stageOperands(OpBuilder &builder, Value token, Value length);
  void storeOutputs(OpBuilder &builder, Value token, Value length,
                    ArrayRef<Buffer> results);
  /// Emits what starts at `token`; the result is where it ends.
  FailureOr<Value> emitNext(OpBuilder &builder, Value token);

  const RecurrentPlan &plan;
  RecurrenceOp op;
  chunk::ScanOp scan;
  Location loc;
  TokensFunction function;
  LaneLoops loops;
  ScratchMemory scratch;
  StepEmitter step;
  ChunkEmitter chunk;
};

} // namespace

void ChunkLoopBuilder::stageOperands(OpBuilder &builder, Value token,
                                     Value length) {
  struct Operand {
    TokensFunction::Memory memory;
    OperandDeclAttr decl;
    FloatType element;
    Buffer buffer;
  };
  SmallVector<Operand> used;
  for (auto [decl, memory, argument, element] : llvm::zip(
           op.getTokenOperands().getAsRange<OperandDeclAttr>(),
           function.operands, scan.getOperandArguments(), plan.operandTypes))
    if (!argument.use_empty())
      used.push_back({memory, decl, element, chunk.allocateOperand(argument)});
  if (used.empty())
    return;
  loops.emitFor(builder, loops.index(builder, 0), length, 1,
                [&](OpBuilder &inner, Value i) {
                  Value at = arith::AddIOp::create(inner, loc, token, i);
                  for (Operand &operand : used) {
                    Buffer view = function.makeTokenView(
                        inner, operand.memory, at, operand.decl.getAxes(),
                        operand.element);
                    NestEmitter::emitCopy(inner, loc, plan, view,
                                          chunk.getRow(inner, operand.buffer,
                                                       scan.getTokenAxis(), i));
                  }
                });
}

void ChunkLoopBuilder::storeOutputs(OpBuilder &builder, Value token,
                                    Value length, ArrayRef<Buffer> results) {
  if (results.empty())
    return;
  loops.emitFor(builder, loops.index(builder, 0), length, 1,
                [&](OpBuilder &inner, Value i) {
                  Value at = arith::AddIOp::create(inner, loc, token, i);
                  for (auto [decl, memory, element, result] :
                       llvm::zip(op.getOutputs().getAsRange<OutputDeclAttr>(),
                                 function.outputs, plan.outputTypes, results))
                    NestEmitter::emitCopy(
                        inner, loc, plan,
                        chunk.getRow(inner, result, scan.getTokenAxis(), i),
                        function.makeTokenView(inner, memory, at,
                                               decl.getAxes(), element));
                });
}

int64_t ChunkLoopBuilder::countTiles() {
  int64_t tiles = 0;
  for (Operation &inner : scan.getBody().front()) {
    if (!isa<ContractOp, chunk::MixOp, chunk::UpdateOp>(inner))
      continue;
    int64_t elements = 1;
    for (StringAttr axis :
         cast<ArrayType>(inner.getResult(0).getType()).getAxes())
      elements = std::min<int64_t>(elements * plan.getExtent(axis), 1 << 30);
    tiles +=
        std::max<int64_t>(1, elements / (tileRows * tileVectors * plan.lanes));
  }
  return tiles;
}

void ChunkLoopBuilder::preparePrefetch(OpBuilder &builder, Value token,
                                       Value length) {
  struct Tensor {
    TokensFunction::Memory memory;
    FloatType element;
    int64_t lines;
    bool isWrite;
  };
  SmallVector<Tensor> tensors;
  int64_t mostLines = 1;
  auto addTensor = [&](const TokensFunction::Memory &memory,
                       ArrayRef<StringAttr> axes, FloatType element,
                       bool isWrite) {
    int64_t lines = function.countLines(axes, element);
    if (lines == 0 || lines > maxPrefetchLines)
      return;
    tensors.push_back({memory, element, lines, isWrite});
    mostLines = std::max(mostLines, lines);
  };
  for (auto [decl, memory, argument, element] : llvm::zip(
           op.getTokenOperands().getAsRange<OperandDeclAttr>(),
           function.operands, scan.getOperandArguments(), plan.operandTypes))
    if (!argument.use_empty())
      addTensor(memory, decl.getAxes(), element, /*isWrite=*/false);
  for (auto [decl, memory, element] :
       llvm::zip(op.getOutputs().getAsRange<OutputDeclAttr>(), function.outputs,
                 plan.outputTypes))
    addTensor(memory, decl.getAxes(), element, /*isWrite=*/true);

  // A tile asks for a part of one row of all tensors.
  int64_t rows = static_cast<int64_t>(scan.getSize()), tiles = countTiles();
  int64_t parts = 1;
  while (2 * parts <= mostLines && 2 * parts * rows <= tiles)
    parts *= 2;
  // One that a loop's counter can become.
  OpBuilder entry = function.getScratchBuilder();
  auto counterType = MemRefType::get({}, entry.getIndexType());
  Value counter = memref::AllocaOp::create(entry, loc, counterType);
  memref::StoreOp::create(builder, loc, loops.index(builder, 0), counter);
  Value next = arith::AddIOp::create(builder, loc, token, length);
  chunk.setAfterTile([=](OpBuilder &at) {
    Value unit = memref::LoadOp::create(at, loc, counter);
    Value isLeft = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::ult,
                                         unit, loops.index(at, rows * parts));
    auto branch = scf::IfOp::create(at, loc, isLeft, /*withElseRegion=*/false);
    OpBuilder inner = OpBuilder::atBlockTerminator(branch.thenBlock());
    memref::StoreOp::create(inner, loc, loops.add(inner, unit, 1), counter);
    Value numParts = loops.index(inner, parts);
    Value row = arith::AddIOp::create(
        inner, loc, next, arith::DivUIOp::create(inner, loc, unit, numParts));
    Value part = arith::RemUIOp::create(inner, loc, unit, numParts);
    for (const Tensor &tensor : tensors) {
      int64_t count = (tensor.lines + parts - 1) / parts;
      Value first =
          arith::MulIOp::create(inner, loc, part, loops.index(inner, count));
      function.emitPrefetch(inner, tensor.memory, row, first, count,
                            tensor.element, tensor.isWrite, chunkLocality);
    }
  });
}

LogicalResult ChunkLoopBuilder::emitChunk(OpBuilder &builder, Value token,
                                          Value length) {
  preparePrefetch(builder, token, length);
  stageOperands(builder, token, length);
  FailureOr<SmallVector<Buffer>> results =
      chunk.emit(builder, length, function.states);
  if (failed(results))
    return failure();
  storeOutputs(builder, token, length, *results);
  chunk.releaseAll();
  return success();
}

Value ChunkLoopBuilder::getChunkLength(OpBuilder &builder, Value token,
                                       Value globalToken) {
  Value rest = arith::SubIOp::create(builder, loc, function.numTokens, token);
  Value length =
      minimum(builder, rest,
              loops.index(builder, static_cast<int64_t>(scan.getSize())));
  int64_t period = op.getPeriod();
  if (!period)
    return length;
  Value done = arith::RemUIOp::create(builder, loc, globalToken,
                                      loops.index(builder, period));
  Value last = loops.index(builder, period - (scan.getBoundary() ? 1 : 0));
  return minimum(builder, length,
                 arith::SubIOp::create(builder, loc, last, done));
}

FailureOr<Value> ChunkLoopBuilder::emitNext(OpBuilder &builder, Value token) {
  Value globalToken =
      arith::AddIOp::create(builder, loc, token, function.position);
  function.emitAnchorCopies(builder, globalToken);
  Value length = getChunkLength(builder, token, globalToken);
  if (!scan.getBoundary()) {
    if (failed(emitChunk(builder, token, length)))
      return failure();
    return Value(arith::AddIOp::create(builder, loc, token, length));
  }
  // The last token of a period is a step of its own.
  Value hasChunk = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::sgt, length, loops.index(builder, 0));
  auto branch =
      scf::IfOp::create(builder, loc, hasChunk, /*withElseRegion=*/true);
  OpBuilder inner = OpBuilder::atBlockTerminator(branch.thenBlock());
  if (failed(emitChunk(inner, token, length)))
    return failure();
  inner = OpBuilder::atBlockTerminator(branch.elseBlock());
  step.setGlobalToken(globalToken);
  if (failed(function.emitStep(inner, token, step, /*prefetch=*/false)))
    return failure();
  Value advance =
      arith::MaxSIOp::create(builder, loc, length, loops.index(builder, 1));
  return Value(arith::AddIOp::create(builder, loc, token, advance));
}

LogicalResult ChunkLoopBuilder::build() {
  OpBuilder builder = function.getBodyBuilder();
  // Constants stay where they are for all chunks.
  SmallVector<Buffer> constants = function.stageConstants(builder, step);
  function.bindStep(step, constants);
  for (auto [argument, buffer] :
       llvm::zip(scan.getConstantArguments(), constants))
    chunk.bind(argument, buffer);
  for (auto [argument, buffer] :
       llvm::zip(scan.getAnchorArguments(), function.anchors))
    chunk.bind(argument, buffer);

  Value zero = loops.index(builder, 0);
  if (!op.getPeriod()) {
    auto loop = scf::ForOp::create(
        builder, loc, zero, function.numTokens,
        loops.index(builder, static_cast<int64_t>(scan.getSize())));
    OpBuilder inner = OpBuilder::atBlockTerminator(loop.getBody());
    if (failed(emitNext(inner, loop.getInductionVar())))
      return failure();
  } else {
    Type indexType = builder.getIndexType();
    auto loop = scf::WhileOp::create(builder, loc, indexType, zero);
    Block *before = builder.createBlock(&loop.getBefore(), {}, indexType, loc);
    Value token = before->getArgument(0);
    Value isLeft = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::slt, token, function.numTokens);
    scf::ConditionOp::create(builder, loc, isLeft, token);
    Block *after = builder.createBlock(&loop.getAfter(), {}, indexType, loc);
    FailureOr<Value> next = emitNext(builder, after->getArgument(0));
    if (failed(next))
      return failure();
    scf::YieldOp::create(builder, loc, *next);
    builder = function.getBodyBuilder();
    Value end = arith::AddIOp::create(builder, loc, function.position,
                                      function.numTokens);
    function.emitAnchorCopies(builder, end);
  }
  return function.setScratchBytes(scratch);
}

namespace {
struct ConvertChunkToLoopsPass
    : WithRecurrentOptions<
          larc::impl::ConvertChunkToLoopsBase<ConvertChunkToLoopsPass>> {
  using WithRecurrentOptions::WithRecurrentOptions;

  void runOnOperation() override {
    RecurrentOptions options = getRecurrentOptions();
    for (RecurrenceOp op :
         llvm::to_vector(getOperation().getOps<RecurrenceOp>())) {
      FailureOr<RecurrentPlan> plan = RecurrentPlan::create(op, options);
      if (failed(plan))
        return signalPassFailure();
      if (!plan->scan) {
        op.emitError() << "has no chunk.scan: derive it first";
        return signalPassFailure();
      }
      if (failed(ChunkLoopBuilder(*plan).build()))
        return signalPassFailure();
    }
  }
};
} // namespace
