//===- EmitEntry.cpp - The C entry point of a recurrence -*- C++ -*- ------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NestEmitter.h"
#include "PassOptions.h"
#include "Plan.h"

using namespace mlir;
using namespace larc;

namespace larc {
#define GEN_PASS_DEF_EMITENTRY
#include "larc/Conversion/Passes.h.inc"
} // namespace larc

/// Sequences from this length on run with their block of the states in scratch
/// memory; for shorter ones the copies cost more than they save.
static constexpr int64_t minTokensToPack = 8;

// Words of the structures in larc/Runtime/Recurrent.h.
enum CallWord {
  CallHeads = 1,
  CallBegins,
  CallLengths,
  CallPositions,
  CallTensors
};
enum TensorWord {
  TensorData,
  TensorStrideSequence,
  TensorStrideToken,
  TensorStrideHead,
  TensorHeads,
  TensorWords
};

namespace {

/// Builds `@larc_NAME`, which takes the structures apart and prepares the
/// states.
class EntryBuilder {
public:
  EntryBuilder(const RecurrentPlan &plan, func::FuncOp tokens)
      : plan(plan), op(plan.recurrence), tokens(tokens), loc(op.getLoc()),
        context(op.getContext()), builder(context),
        pointer(LLVM::LLVMPointerType::get(context)) {}

  void build();

private:
  /// A task: its indices and the sequence's data.
  struct Task {
    Value block, head, sequence, begin, length, position;
  };

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value toIndex(Value word) {
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      word);
  }
  /// Word `at` (a number or an index) of the memory at `base`, as an i64 or
  /// pointer.
  Value loadWord(Value base, OpFoldResult at, Type type);
  Value loadIndex(Value base, OpFoldResult at) {
    return toIndex(loadWord(base, at, builder.getI64Type()));
  }
  Value binary(Value lhs, Value rhs, bool multiply) {
    return multiply ? Value(arith::MulIOp::create(builder, loc, lhs, rhs))
                    : Value(arith::AddIOp::create(builder, loc, lhs, rhs));
  }
  /// `memref<?xelement>` of the memory from `data` on.
  Value makeMemRef(Value data, Type element);

  /// The memory of tensor `number` for a task, from its first token and block
  /// on.
  Value bindTensor(unsigned number, const Task &task, ArrayRef<StringAttr> axes,
                   FloatType element, bool perToken, Value *tokenStride,
                   Value *isNull);
  /// Makes the buffer of a state or anchor hold its initial value.
  Value prepareState(unsigned state, unsigned initial, unsigned final,
                     const Task &task, bool isAnchor, Buffer &memory);
  void storeState(unsigned state, Value buffer, const Buffer &memory,
                  const Task &task);
  Value castToState(unsigned state, Value memref) {
    return memref::CastOp::create(builder, loc, plan.getStateType(state),
                                  memref);
  }
  Value allocatePacked(unsigned state);
  Value isLong(const Task &task) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                                 task.length, index(minTokensToPack));
  }
  bool isAlwaysPacked(unsigned state) const {
    return !plan.isInMemoryOrder(state);
  }
  bool mayBePacked() const { return bool(plan.splitAxis); }

  void emitConstant(StringRef suffix, int64_t value);

  const RecurrentPlan &plan;
  RecurrenceOp op;
  func::FuncOp tokens;
  Location loc;
  MLIRContext *context;
  OpBuilder builder;
  Type pointer;
  Value call, tensors, heads, scratch;
  int64_t scratchBytes = 0;
};

} // namespace

Value EntryBuilder::loadWord(Value base, OpFoldResult at, Type type) {
  SmallVector<LLVM::GEPArg> offset;
  if (auto number = dyn_cast<Attribute>(at))
    offset.emplace_back(
        static_cast<int32_t>(cast<IntegerAttr>(number).getInt()));
  else
    offset.emplace_back(arith::IndexCastOp::create(
                            builder, loc, builder.getI64Type(), cast<Value>(at))
                            .getResult());
  Value address = LLVM::GEPOp::create(builder, loc, pointer,
                                      builder.getI64Type(), base, offset);
  return LLVM::LoadOp::create(builder, loc, type, address);
}

Value EntryBuilder::makeMemRef(Value data, Type element) {
  Type word = builder.getI64Type();
  Type list = LLVM::LLVMArrayType::get(word, 1);
  auto type = LLVM::LLVMStructType::getLiteral(
      context, {pointer, pointer, word, list, list});
  Value zero = LLVM::ConstantOp::create(builder, loc, word,
                                        builder.getI64IntegerAttr(0));
  Value one = LLVM::ConstantOp::create(builder, loc, word,
                                       builder.getI64IntegerAttr(1));
  // The size is never read: views have sizes of their own.
  Value size = LLVM::ConstantOp::create(
      builder, loc, word,
      builder.getI64IntegerAttr(std::numeric_limits<int64_t>::max()));
  Value descriptor = LLVM::PoisonOp::create(builder, loc, type);
  auto insert = [&](Value value, ArrayRef<int64_t> at) {
    descriptor =
        LLVM::InsertValueOp::create(builder, loc, descriptor, value, at);
  };
  insert(data, {0});
  insert(data, {1});
  insert(zero, {2});
  insert(size, {3, 0});
  insert(one, {4, 0});
  return UnrealizedConversionCastOp::create(
             builder, loc, MemRefType::get({ShapedType::kDynamic}, element),
             descriptor)
      .getResult(0);
}

Value EntryBuilder::bindTensor(unsigned number, const Task &task,
                               ArrayRef<StringAttr> axes, FloatType element,
                               bool perToken, Value *tokenStride,
                               Value *isNull) {
  auto word = [&](TensorWord field) -> OpFoldResult {
    return builder.getIndexAttr(number * TensorWords + field);
  };
  Value data = loadWord(tensors, word(TensorData), pointer);
  Value tensorHeads = loadIndex(tensors, word(TensorHeads));
  Value group = arith::DivUIOp::create(builder, loc, heads, tensorHeads);
  Value head = arith::DivUIOp::create(builder, loc, task.head, group);
  Value offset = binary(
      binary(task.sequence, loadIndex(tensors, word(TensorStrideSequence)),
             true),
      binary(head, loadIndex(tensors, word(TensorStrideHead)), true), false);
  if (perToken) {
    *tokenStride = loadIndex(tensors, word(TensorStrideToken));
    offset = binary(offset, binary(task.begin, *tokenStride, true), false);
  }
  const auto *split = llvm::find(axes, plan.splitAxis);
  if (plan.splitAxis && split != axes.end()) {
    int64_t stride =
        plan.getStrides(axes)[split - axes.begin()] * plan.blockSize;
    offset = binary(offset, binary(task.block, index(stride), true), false);
  }
  Value address = LLVM::GEPOp::create(
      builder, loc, pointer, element, data,
      ArrayRef<LLVM::GEPArg>{
          arith::IndexCastOp::create(builder, loc, builder.getI64Type(), offset)
              .getResult()});
  if (isNull) {
    Value null = LLVM::ZeroOp::create(builder, loc, pointer);
    *isNull =
        LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, data, null);
  }
  return makeMemRef(address, element);
}

Value EntryBuilder::allocatePacked(unsigned state) {
  auto type =
      MemRefType::get(plan.getStateType(state).getShape(), plan.computeType);
  Value view = memref::ViewOp::create(builder, loc, type, scratch,
                                      index(scratchBytes), ValueRange());
  scratchBytes = alignScratch(
      scratchBytes + type.getNumElements() * plan.computeType.getWidth() / 8);
  return castToState(state, view);
}

Value EntryBuilder::prepareState(unsigned state, unsigned initial,
                                 unsigned final, const Task &task,
                                 bool isAnchor, Buffer &memory) {
  StateDeclAttr decl = plan.getState(state);
  SmallVector<StringAttr> order =
      plan.getOrder(ArrayType::ofAxes(context, decl.getAxes()));
  Value isNull;
  Value initialMemory =
      bindTensor(initial, task, decl.getAxes(), plan.computeType,
                 /*perToken=*/false, nullptr, &isNull);
  Value finalMemory = bindTensor(final, task, decl.getAxes(), plan.computeType,
                                 /*perToken=*/false, nullptr, nullptr);
  Buffer from = plan.makeView(builder, loc, initialMemory, index(0),
                              decl.getAxes(), plan.computeType);
  memory = plan.makeView(builder, loc, finalMemory, index(0), decl.getAxes(),
                         plan.computeType);

  Value buffer;
  if (isAlwaysPacked(state)) {
    buffer = allocatePacked(state);
  } else if (mayBePacked()) {
    Value packed = allocatePacked(state);
    buffer = arith::SelectOp::create(builder, loc, isLong(task), packed,
                                     castToState(state, memory.memref));
  } else {
    buffer = castToState(state, memory.memref);
  }
  Buffer to{buffer, order};
  auto branch =
      scf::IfOp::create(builder, loc, isNull, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(branch.thenYield());
    // An anchor that is not given is set before it is read.
    double init = decl.getInit() ? decl.getInit().getValueAsDouble() : 0.0;
    if (!isAnchor)
      NestEmitter::emitFill(builder, loc, plan, to, init);
    builder.setInsertionPoint(branch.elseYield());
    // Copying memory onto itself is left out: decoding updates states in place.
    Value fromAddress = memref::ExtractAlignedPointerAsIndexOp::create(
        builder, loc, initialMemory);
    Value toAddress =
        memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
    Value differ = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                         fromAddress, toAddress);
    auto copy =
        scf::IfOp::create(builder, loc, differ, /*withElseRegion=*/false);
    OpBuilder inner = OpBuilder::atBlockTerminator(copy.thenBlock());
    NestEmitter::emitCopy(inner, loc, plan, from, to);
  }
  return buffer;
}

void EntryBuilder::storeState(unsigned state, Value buffer,
                              const Buffer &memory, const Task &task) {
  if (!isAlwaysPacked(state) && !mayBePacked())
    return;
  OpBuilder::InsertionGuard guard(builder);
  if (!isAlwaysPacked(state)) {
    auto branch =
        scf::IfOp::create(builder, loc, isLong(task), /*withElseRegion=*/false);
    builder.setInsertionPoint(branch.thenYield());
  }
  ArrayType type = ArrayType::ofAxes(context, plan.getState(state).getAxes());
  NestEmitter::emitCopy(builder, loc, plan, {buffer, plan.getOrder(type)},
                        memory);
}

void EntryBuilder::emitConstant(StringRef suffix, int64_t value) {
  LLVM::GlobalOp::create(builder, loc, builder.getI64Type(),
                         /*isConstant=*/true, LLVM::Linkage::External,
                         plan.getEntryName() + suffix.str(),
                         builder.getI64IntegerAttr(value));
}

void EntryBuilder::build() {
  // Only the entry point is for others to call.
  tokens->setAttr("llvm.linkage",
                  LLVM::LinkageAttr::get(context, LLVM::Linkage::Internal));
  builder.setInsertionPointAfter(tokens);
  Type word = builder.getI64Type();
  auto entry = func::FuncOp::create(
      builder, loc, plan.getEntryName(),
      builder.getFunctionType({pointer, word, word, pointer}, {}));
  builder.setInsertionPointToStart(entry.addEntryBlock());
  call = entry.getArgument(0);
  Value first = toIndex(entry.getArgument(1)),
        last = toIndex(entry.getArgument(2));
  scratch = makeMemRef(entry.getArgument(3), builder.getI8Type());
  scratchBytes = tokens->getAttrOfType<IntegerAttr>(scratchBytesAttr).getInt();
  tensors = loadWord(call, builder.getIndexAttr(CallTensors), pointer);
  heads = loadIndex(call, builder.getIndexAttr(CallHeads));
  Value begins = loadWord(call, builder.getIndexAttr(CallBegins), pointer);
  Value lengths = loadWord(call, builder.getIndexAttr(CallLengths), pointer);
  Value positions =
      loadWord(call, builder.getIndexAttr(CallPositions), pointer);

  auto loop = scf::ForOp::create(builder, loc, first, last, index(1));
  func::ReturnOp::create(builder, loc);
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  Task task;
  Value blocks = index(plan.getNumBlocks());
  task.block =
      arith::RemUIOp::create(builder, loc, loop.getInductionVar(), blocks);
  Value row =
      arith::DivUIOp::create(builder, loc, loop.getInductionVar(), blocks);
  task.head = arith::RemUIOp::create(builder, loc, row, heads);
  task.sequence = arith::DivUIOp::create(builder, loc, row, heads);
  task.begin = loadIndex(begins, task.sequence);
  task.length = loadIndex(lengths, task.sequence);
  task.position = loadIndex(positions, task.sequence);

  SmallVector<Value> arguments = {task.length, task.position};
  unsigned number = 0;
  auto addTensor = [&](ArrayRef<StringAttr> axes, FloatType element,
                       bool perToken) {
    Value tokenStride = index(0);
    Value memory = bindTensor(number++, task, axes, element, perToken,
                              &tokenStride, nullptr);
    arguments.push_back(memory);
    arguments.push_back(tokenStride);
  };
  for (auto [decl, element] :
       llvm::zip(op.getTokenOperands().getAsRange<OperandDeclAttr>(),
                 plan.operandTypes))
    addTensor(decl.getAxes(), element, /*perToken=*/true);
  for (auto [decl, element] : llvm::zip(
           op.getConstants().getAsRange<OperandDeclAttr>(), plan.constantTypes))
    addTensor(decl.getAxes(), element, /*perToken=*/false);
  for (auto [decl, element] : llvm::zip(
           op.getOutputs().getAsRange<OutputDeclAttr>(), plan.outputTypes))
    addTensor(decl.getAxes(), element, /*perToken=*/true);

  SmallVector<unsigned> anchored = op.getAnchoredStates();
  unsigned numStates = op.getStates().size(), numAnchors = anchored.size();
  SmallVector<Value> buffers;
  SmallVector<Buffer> memories(numStates + numAnchors);
  for (unsigned i = 0; i < numStates; ++i)
    buffers.push_back(prepareState(i, number + i, number + numStates + i, task,
                                   /*isAnchor=*/false, memories[i]));
  number += 2 * numStates;
  for (auto [i, state] : llvm::enumerate(anchored))
    buffers.push_back(prepareState(state, number + i, number + numAnchors + i,
                                   task,
                                   /*isAnchor=*/true, memories[numStates + i]));
  llvm::append_range(arguments, buffers);
  arguments.push_back(scratch);
  func::CallOp::create(builder, loc, tokens, arguments);
  for (unsigned i = 0; i < numStates; ++i)
    storeState(i, buffers[i], memories[i], task);
  for (auto [i, state] : llvm::enumerate(anchored))
    storeState(state, buffers[numStates + i], memories[numStates + i], task);

  builder.setInsertionPointAfter(entry);
  emitConstant("_scratch_bytes", std::max<int64_t>(scratchBytes, 64));
  emitConstant("_blocks", plan.getNumBlocks());
}

namespace {
struct EmitEntryPass
    : WithRecurrentOptions<larc::impl::EmitEntryBase<EmitEntryPass>> {
  using WithRecurrentOptions::WithRecurrentOptions;

  void runOnOperation() override {
    RecurrentOptions options = getRecurrentOptions();
    ModuleOp module = getOperation();
    for (RecurrenceOp op : llvm::to_vector(module.getOps<RecurrenceOp>())) {
      FailureOr<RecurrentPlan> plan = RecurrentPlan::create(op, options);
      if (failed(plan))
        return signalPassFailure();
      auto tokens = module.lookupSymbol<func::FuncOp>(plan->getTokensName());
      if (!tokens || !tokens->hasAttr(scratchBytesAttr)) {
        op.emitError() << "has no token loop '" << plan->getTokensName()
                       << "': run convert-larc-to-loops first";
        return signalPassFailure();
      }
      EntryBuilder(*plan, tokens).build();
      if (plan->scan)
        plan->scan.erase();
      op.erase();
    }
  }
};
} // namespace
