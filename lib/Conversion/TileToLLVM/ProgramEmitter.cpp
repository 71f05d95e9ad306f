//===- ProgramEmitter.cpp - Kernels and control flow -*- C++ -*- ----------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramEmitter.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace mlir;
using namespace larc::tile;

/// What the kernel takes for each argument of the program: a pointer, the
/// distance in elements of sequences, rows and heads, and how many heads share
/// one of the tensor's.
static constexpr unsigned kParametersPerArgument = 5;
/// Token offsets of packed sequences, slots of states, tokens that each
/// sequence had before (all may be null), tokens of a sequence where they are
/// not packed, heads.
static constexpr unsigned kCommonParameters = 5;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Type larc::tile::getComponentType(RegType type) {
  Type element = type.getElementType();
  if (isa<BFloat16Type, Float16Type>(element) &&
      type.getNumRegisters() % 2 == 0)
    return VectorType::get(2, element);
  return element;
}

int64_t larc::tile::getNumComponents(RegType type) {
  return isa<VectorType>(getComponentType(type)) ? type.getNumRegisters() / 2
                                                 : type.getNumRegisters();
}

int64_t larc::tile::getKnownDivisor(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return std::abs(constant.getSExtValue());
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && loop.getInductionVar() == value)
      return std::gcd(getKnownDivisor(loop.getLowerBound()),
                      getKnownDivisor(loop.getStep()));
    return 1;
  }
  Operation *op = value.getDefiningOp();
  if (auto product = dyn_cast<arith::MulIOp>(op))
    return getKnownDivisor(product.getLhs()) *
           getKnownDivisor(product.getRhs());
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return std::gcd(getKnownDivisor(op->getOperand(0)),
                    getKnownDivisor(op->getOperand(1)));
  return 1;
}

Value ProgramEmitter::index(int64_t number) {
  return arith::ConstantIndexOp::create(builder, loc, number);
}

Value ProgramEmitter::i32(int64_t number) {
  return arith::ConstantIntOp::create(builder, loc, number, 32);
}

Value ProgramEmitter::i64(int64_t number) {
  return arith::ConstantIntOp::create(builder, loc, number, 64);
}

Value ProgramEmitter::add(Value lhs, Value rhs) {
  return builder.createOrFold<arith::AddIOp>(loc, lhs, rhs);
}

Value ProgramEmitter::multiply(Value lhs, int64_t rhs) {
  return builder.createOrFold<arith::MulIOp>(loc, lhs, index(rhs));
}

Value ProgramEmitter::toI32(Value index) {
  return builder.createOrFold<arith::IndexCastOp>(loc, builder.getI32Type(),
                                                  index);
}

Value ProgramEmitter::toI64(Value index) {
  return builder.createOrFold<arith::IndexCastOp>(loc, builder.getI64Type(),
                                                  index);
}

Values ProgramEmitter::assembly(StringRef text, StringRef constraints,
                                ValueRange operands, TypeRange results) {
  Type type;
  if (results.size() == 1)
    type = results.front();
  else if (results.size() > 1)
    type = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                            llvm::to_vector(results));
  else
    type = LLVM::LLVMVoidType::get(builder.getContext());
  auto op = LLVM::InlineAsmOp::create(
      builder, loc, TypeRange(type), operands, text, constraints,
      /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT),
      /*operand_attrs=*/ArrayAttr());
  if (results.size() <= 1)
    return Values(op->getResults().begin(),
                  op->getResults().begin() + results.size());
  Values values;
  for (size_t i = 0; i < results.size(); ++i)
    values.push_back(LLVM::ExtractValueOp::create(builder, loc, op.getRes(),
                                                  static_cast<int64_t>(i)));
  return values;
}

Values ProgramEmitter::getRegisters(RegType type, ValueRange components) {
  if (!isa<VectorType>(getComponentType(type)))
    return llvm::to_vector(components);
  Values registers;
  for (Value pair : components)
    for (int64_t i : {0, 1})
      registers.push_back(
          LLVM::ExtractElementOp::create(builder, loc, pair, i32(i)));
  return registers;
}

Values ProgramEmitter::unpack(Value tile) {
  return getRegisters(cast<RegType>(tile.getType()), tiles.at(tile));
}

Values ProgramEmitter::pack(RegType type, ArrayRef<Value> registers) {
  auto vector = dyn_cast<VectorType>(getComponentType(type));
  if (!vector)
    return llvm::to_vector(registers);
  Values components;
  for (size_t i = 0; i < registers.size(); i += 2) {
    Value pair = LLVM::PoisonOp::create(builder, loc, vector);
    for (size_t j : {0, 1})
      pair = LLVM::InsertElementOp::create(builder, loc, pair, registers[i + j],
                                           i32(j));
    components.push_back(pair);
  }
  return components;
}

void ProgramEmitter::setTile(Value tile, ArrayRef<Value> registers) {
  tiles[tile] = pack(cast<RegType>(tile.getType()), registers);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

Value ProgramEmitter::loadListed(Value list, Value at, Value otherwise) {
  Type element = otherwise.getType();
  Value null = LLVM::ZeroOp::create(builder, loc, list.getType());
  Value given =
      LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, list, null);
  auto loaded = scf::IfOp::create(
      builder, loc, given,
      [&](OpBuilder &, Location) {
        Value address =
            LLVM::GEPOp::create(builder, loc, list.getType(), element, list,
                                ArrayRef<LLVM::GEPArg>{at});
        Value number =
            LLVM::LoadOp::create(builder, loc, element, address,
                                 element.getIntOrFloatBitWidth() / 8);
        scf::YieldOp::create(builder, loc, number);
      },
      [&](OpBuilder &, Location) {
        scf::YieldOp::create(builder, loc, otherwise);
      });
  return loaded.getResult(0);
}

/// The arguments that are tensors: scratch comes after them, and has one
/// pointer.
static unsigned countTensors(ProgramOp program) {
  unsigned count = 0;
  for (unsigned i = 0; i < program.getNumArguments(); ++i)
    count += program.getArgumentKind(i) != ArgumentKind::Scratch;
  return count;
}

unsigned ProgramEmitter::getFirstParameter(unsigned argument) {
  return kCommonParameters + argument * kParametersPerArgument;
}

/// The kernel's parameter with the first tensor map.
static unsigned getFirstMap(ProgramOp program) {
  return ProgramEmitter::getFirstParameter(countTensors(program)) +
         (program.isSegmented() ? 2 : 0);
}

Value ProgramEmitter::getMap(unsigned argument, bool ofRows) {
  auto number =
      static_cast<unsigned>(llvm::find(mapped, argument) - mapped.begin());
  return kernelEntry->getArgument(getFirstMap(program) + 2 * number +
                                  (ofRows ? 1 : 0));
}

/// Sets what the block sees of each tensor, from the kernel's parameters.
void ProgramEmitter::bindArguments(Block &entry) {
  Type i64 = builder.getI64Type(), i32Type = builder.getI32Type();
  Value block = NVVM::BlockIdXOp::create(builder, loc, i32Type);
  Value thread32 = NVVM::ThreadIdXOp::create(builder, loc, i32Type);
  auto toIndex = [&](Value value) -> Value {
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      value);
  };
  thread = toIndex(thread32);
  lane = arith::AndIOp::create(builder, loc, thread, index(31));
  warp = arith::ShRUIOp::create(builder, loc, thread, index(5));
  numWarps = static_cast<int64_t>(program.getWarps());

  Value heads = entry.getArgument(4);
  Value parts = i32(static_cast<int64_t>(program.getParts()));
  part = toIndex(arith::RemUIOp::create(builder, loc, block, parts));
  Value rest = arith::DivUIOp::create(builder, loc, block, parts);
  segment = index(0);
  segments = index(1);
  if (program.isSegmented()) {
    Value count = entry.getArgument(
        kCommonParameters + kParametersPerArgument * countTensors(program));
    segments = toIndex(count);
    segment = toIndex(arith::RemUIOp::create(builder, loc, rest, count));
    rest = arith::DivUIOp::create(builder, loc, rest, count);
  }
  Value head = arith::RemUIOp::create(builder, loc, rest, heads);
  Value sequence = arith::DivUIOp::create(builder, loc, rest, heads);
  auto extend = [&](Value value) -> Value {
    return arith::ExtUIOp::create(builder, loc, i64, value);
  };
  Value sequence64 = extend(sequence);

  // Packed sequences have one row of tokens after the other.
  Type global = LLVM::LLVMPointerType::get(builder.getContext(), 1);
  Value null = LLVM::ZeroOp::create(builder, loc, global);
  Value offsets = entry.getArgument(0);
  Value packed = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne,
                                      offsets, null);
  auto bounds = scf::IfOp::create(
      builder, loc, packed,
      [&](OpBuilder &, Location) {
        auto load = [&](int64_t next) -> Value {
          Value at = arith::AddIOp::create(
              builder, loc, sequence64,
              arith::ConstantIntOp::create(builder, loc, next, 64));
          Value address = LLVM::GEPOp::create(
              builder, loc, global, i64, offsets, ArrayRef<LLVM::GEPArg>{at});
          return LLVM::LoadOp::create(builder, loc, i64, address, 8);
        };
        Value first = load(0), end = load(1);
        Value tokens = arith::SubIOp::create(builder, loc, end, first);
        scf::YieldOp::create(builder, loc, ValueRange{first, tokens});
      },
      [&](OpBuilder &, Location) {
        Value zero = arith::ConstantIntOp::create(builder, loc, 0, 64);
        scf::YieldOp::create(builder, loc,
                             ValueRange{zero, entry.getArgument(3)});
      });
  Value firstToken = bounds.getResult(0);
  length = toIndex(bounds.getResult(1));

  Value slot = loadListed(entry.getArgument(1), sequence64, sequence);
  position =
      toIndex(loadListed(entry.getArgument(2), sequence64,
                         arith::ConstantIntOp::create(builder, loc, 0, 64)));

  // A negative slot has no state: its block does nothing.
  Value live = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                                     slot, i32(0));
  auto guard = scf::IfOp::create(builder, loc, live, /*withElseRegion=*/false);
  builder.setInsertionPointToStart(guard.thenBlock());
  Value slot64 = extend(slot);

  Value numbered = arith::AddIOp::create(
      builder, loc,
      arith::MulIOp::create(builder, loc, sequence64, extend(heads)),
      extend(head));
  place = {head, sequence64, slot64, firstToken, numbered};
}

/// Computed where it is used: an address that is kept from the start of the
/// kernel takes registers from everything in between.
void ProgramEmitter::bindGlobal(Value memory) {
  if (!isa<GlobalType>(memory.getType()))
    return;
  auto argument = cast<BlockArgument>(memory);
  unsigned number = argument.getArgNumber();
  Type global = LLVM::LLVMPointerType::get(builder.getContext(), 1);
  auto type = cast<GlobalType>(argument.getType());
  ArgumentKind kind = program.getArgumentKind(number);
  if (kind == ArgumentKind::Scratch) {
    // A record for each segment, of each sequence and head.
    Value records =
        arith::MulIOp::create(builder, loc, place.numbered, toI64(segments));
    Value offset = arith::MulIOp::create(builder, loc, records,
                                         i64(type.getRows() * type.getCols()));
    Value scratch = kernelEntry->getArgument(getFirstMap(program) - 1);
    Value start =
        LLVM::GEPOp::create(builder, loc, global, type.getElementType(),
                            scratch, ArrayRef<LLVM::GEPArg>{offset});
    globals[memory] = {start, i64(type.getCols())};
    return;
  }
  unsigned first = getFirstParameter(number);
  Value base = kernelEntry->getArgument(first);
  Value sequenceStride = kernelEntry->getArgument(first + 1);
  Value rowStride = kernelEntry->getArgument(first + 2);
  Value headStride = kernelEntry->getArgument(first + 3);
  Value group = kernelEntry->getArgument(first + 4);
  auto scale = [&](Value count, Value stride) -> Value {
    return arith::MulIOp::create(builder, loc, count, stride);
  };
  // Heads share nothing but operands; a division is slow where little else is.
  Value own = place.head;
  if (kind == ArgumentKind::Operand)
    own = divideSmall(own, group);
  Value offset =
      scale(arith::ExtUIOp::create(builder, loc, builder.getI64Type(), own),
            headStride);
  if (kind == ArgumentKind::Operand || kind == ArgumentKind::Output) {
    Value inSequence = arith::AddIOp::create(
        builder, loc, scale(place.sequence, sequenceStride),
        scale(place.firstToken, rowStride));
    offset = arith::AddIOp::create(builder, loc, offset, inSequence);
  } else if (kind != ArgumentKind::Constant) {
    offset = arith::AddIOp::create(builder, loc, offset,
                                   scale(place.slot, sequenceStride));
  }
  Type element = type.getElementType();
  Value start = LLVM::GEPOp::create(builder, loc, global, element, base,
                                    ArrayRef<LLVM::GEPArg>{offset});
  globals[memory] = {start, rowStride};
}

FailureOr<LLVM::LLVMFuncOp> ProgramEmitter::emit(LLVM::GlobalOp shared) {
  if (!program.getBody().hasOneBlock())
    return program.emitOpError("expected structured control flow");
  MLIRContext *context = builder.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context, 1);
  Type i64 = builder.getI64Type();
  SmallVector<Type> parameters = {pointer, pointer, pointer, i64,
                                  builder.getI32Type()};
  for (unsigned i = 0; i < countTensors(program); ++i)
    parameters.append({pointer, i64, i64, i64, builder.getI32Type()});
  if (program.isSegmented())
    parameters.append({builder.getI32Type(), pointer});
  mapped = program.getMappedArguments();
  // That of boxes, and that of single rows.
  parameters.append(2 * mapped.size(), LLVM::LLVMPointerType::get(context));
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), parameters);
  auto kernel =
      LLVM::LLVMFuncOp::create(builder, loc, program.getSymName(), type);
  kernel->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                  builder.getUnitAttr());
  kernel->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                  builder.getDenseI32ArrayAttr(
                      {static_cast<int32_t>(32 * program.getWarps()), 1, 1}));
  kernel->setAttr(
      NVVM::NVVMDialect::getMinctasmAttrName(),
      builder.getI32IntegerAttr(static_cast<int32_t>(program.getResident())));
  for (unsigned i = getFirstMap(program); i < parameters.size(); ++i)
    markMap(kernel, i);

  OpBuilder::InsertionGuard guard(builder);
  Block *entry = kernelEntry = kernel.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
  builder.setInsertionPointToStart(entry);
  sharedBase = LLVM::AddressOfOp::create(builder, loc, shared);
  bindArguments(*entry);
  placeShared();
  emitPhaseStart();
  emitProgramStart();
  emitProgramWait(program.getBody());
  if (failed(emitBlock(program.getBody().front())))
    return failure();
  kernel->setAttr(kSharedBytesAttrName, builder.getI64IntegerAttr(sharedBytes));
  return kernel;
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// The tile of a register tile, in flight or not; null for other types.
static RegType getTileOf(Type type) {
  if (auto flight = dyn_cast<FlightType>(type))
    return flight.getTile();
  return dyn_cast<RegType>(type);
}

Values ProgramEmitter::expand(ValueRange values) {
  Values expanded;
  for (Value value : values) {
    if (getTileOf(value.getType()))
      llvm::append_range(expanded, tiles.at(value));
    else
      expanded.push_back(scalars.lookupOrDefault(value));
  }
  return expanded;
}

void ProgramEmitter::expandTypes(TypeRange types,
                                 SmallVectorImpl<Type> &expanded) {
  for (Type type : types) {
    if (RegType tile = getTileOf(type))
      expanded.append(getNumComponents(tile), getComponentType(tile));
    else
      expanded.push_back(type);
  }
}

void ProgramEmitter::bind(ValueRange values, ValueRange expanded) {
  for (Value value : values) {
    RegType tile = getTileOf(value.getType());
    int64_t count = tile ? getNumComponents(tile) : 1;
    if (tile)
      tiles[value] = llvm::to_vector(expanded.take_front(count));
    else
      scalars.map(value, expanded.front());
    expanded = expanded.drop_front(count);
  }
}

LogicalResult ProgramEmitter::emitFor(scf::ForOp loop) {
  auto lowered = scf::ForOp::create(
      builder, loc, scalars.lookupOrDefault(loop.getLowerBound()),
      scalars.lookupOrDefault(loop.getUpperBound()),
      scalars.lookupOrDefault(loop.getStep()), expand(loop.getInitArgs()));
  scalars.map(loop.getInductionVar(), lowered.getInductionVar());
  bind(loop.getRegionIterArgs(), ValueRange(lowered.getRegionIterArgs()));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(lowered.getBody());
  if (lowered.getNumResults() == 0) // It has a terminator already.
    builder.setInsertionPoint(lowered.getBody()->getTerminator());
  Value outerLane = lane;
  bool ofRole = isa<RoleOp>(loop->getParentOp());
  if (ofRole)
    lane = arith::AndIOp::create(builder, loc, readThread(), index(31));
  LogicalResult result = emitBlock(*loop.getBody());
  lane = outerLane;
  if (failed(result))
    return failure();
  bind(loop.getResults(), lowered.getResults());
  if (ofRole) {
    builder.setInsertionPointAfter(lowered);
    lane = arith::AndIOp::create(builder, loc, readThread(), index(31));
  }
  return success();
}

LogicalResult ProgramEmitter::emitIf(scf::IfOp branch) {
  SmallVector<Type> types;
  expandTypes(branch.getResultTypes(), types);
  bool hasElse = !branch.getElseRegion().empty();
  auto vote = branch.getCondition().getDefiningOp<VoteOp>();
  Region &unusual = vote && vote.getKind() == VoteKind::Any
                        ? branch.getThenRegion()
                        : branch.getElseRegion();
  auto lowered = scf::IfOp::create(
      builder, loc, types, scalars.lookupOrDefault(branch.getCondition()),
      hasElse);
  for (auto [from, to] :
       llvm::zip_equal(branch.getRegions(), lowered->getRegions())) {
    if (from->empty())
      continue;
    OpBuilder::InsertionGuard guard(builder);
    if (to.front().empty())
      builder.setInsertionPointToStart(&to.front());
    else
      builder.setInsertionPoint(to.front().getTerminator());
    // What branches that are long enough to meet in need is their own, and so
    // is what the unusual of two ways takes.
    Value outerLane = lane;
    bool isLong =
        !from->front().getOps<BarrierOp>().empty() ||
        (from == &unusual && !from->front().getOps<SyncWarpOp>().empty());
    if (inRole && isLong)
      lane = arith::AndIOp::create(builder, loc, readThread(), index(31));
    LogicalResult result = emitBlock(from->front());
    lane = outerLane;
    if (failed(result))
      return failure();
  }
  bind(branch.getResults(), lowered.getResults());
  return success();
}

/// Read anew: what addresses are made of is else kept in registers around the
/// loops that use them, or between which others stand.
Value ProgramEmitter::readThread() {
  Value number =
      assembly("mov.u32 $0, %tid.x;", "=r", {}, builder.getI32Type()).front();
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    number);
}

/// The role that stands next to `role`, if no warp has both.
static RoleOp getOther(RoleOp role) {
  auto next = dyn_cast_or_null<RoleOp>(role->getNextNode());
  if (!next)
    return {};
  bool apart = role.getFirst() + role.getWarps() <= next.getFirst() ||
               next.getFirst() + next.getWarps() <= role.getFirst();
  return apart ? next : RoleOp();
}

/// Roles of different warps that stand in a row become branches of one
/// decision: what only the second needs is then not kept in registers of the
/// first.
LogicalResult ProgramEmitter::emitRole(RoleOp role) {
  auto first = static_cast<int64_t>(role.getFirst());
  auto count = static_cast<int64_t>(role.getWarps());
  // Counted from the role's first warp, all others have too high a number.
  Value number = arith::SubIOp::create(builder, loc, warp, index(first));
  Value runs = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                     number, index(count));
  RoleOp other = getOther(role);
  auto branch = scf::IfOp::create(builder, loc, runs,
                                  /*withElseRegion=*/other != nullptr);
  OpBuilder::InsertionGuard guard(builder);
  if (other) {
    builder.setInsertionPoint(branch.elseBlock()->getTerminator());
    if (failed(emitRole(other)))
      return failure();
  }
  builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  if (role.getRegisters()) {
    // What each lane has when the kernel starts.
    auto threads = static_cast<int64_t>(32 * program.getWarps());
    int64_t given = 65536 / threads / 8 * 8;
    auto wanted = static_cast<int64_t>(*role.getRegisters());
    if (wanted != given)
      NVVM::SetMaxRegisterOp::create(
          builder, loc, static_cast<uint32_t>(wanted),
          wanted > given ? NVVM::SetMaxRegisterAction::increase
                         : NVVM::SetMaxRegisterAction::decrease);
  }
  Value outerWarp = std::exchange(warp, number);
  Value outerThread = std::exchange(
      thread, arith::SubIOp::create(builder, loc, thread, index(32 * first)));
  int64_t outerWarps = std::exchange(numWarps, count);
  firstThread = 32 * first;
  bool outerRole = std::exchange(inRole, true);
  Value outerLane = lane;
  emitProgramWait(role.getBody());
  LogicalResult result = emitBlock(role.getBody().front());
  lane = outerLane;
  warp = outerWarp;
  thread = outerThread;
  firstThread = 0;
  inRole = outerRole;
  numWarps = outerWarps;
  return result;
}

LogicalResult ProgramEmitter::emitYield(scf::YieldOp yield) {
  // A loop or branch without results was given its terminator when it was made.
  if (yield.getNumOperands() != 0)
    scf::YieldOp::create(builder, loc, expand(yield.getOperands()));
  return success();
}

LogicalResult ProgramEmitter::emitBlock(Block &block) {
  for (Operation &op : block) {
    // A role that its neighbour's branch has already.
    auto previous = dyn_cast_or_null<RoleOp>(op.getPrevNode());
    if (previous && isa<RoleOp>(op) && getOther(previous))
      continue;
    Location outer = std::exchange(loc, op.getLoc());
    LogicalResult result = emitOperation(&op);
    loc = outer;
    if (failed(result))
      return failure();
  }
  return success();
}

LogicalResult ProgramEmitter::emitOperation(Operation *op) {
  auto emitted = [](auto &&) { return success(); };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<scf::ForOp>([&](auto loop) { return emitFor(loop); })
      .Case<scf::IfOp>([&](auto branch) { return emitIf(branch); })
      .Case<scf::YieldOp>([&](auto yield) { return emitYield(yield); })
      .Case<RoleOp>([&](auto role) { return emitRole(role); })
      .Case<ReturnOp, YieldOp>(emitted)
      .Case<LengthOp>([&](auto op) {
        return scalars.map(op.getResult(), length), success();
      })
      .Case<SegmentOp>([&](auto op) {
        return scalars.map(op.getResult(), segment), success();
      })
      .Case<SegmentsOp>([&](auto op) {
        return scalars.map(op.getResult(), segments), success();
      })
      .Case<PositionOp>([&](auto op) {
        return scalars.map(op.getResult(), position), success();
      })
      .Case<PartOp>(
          [&](auto op) { return scalars.map(op.getResult(), part), success(); })
      .Case<WarpOp>(
          [&](auto op) { return scalars.map(op.getResult(), warp), success(); })
      .Case<AllocOp>([&](auto op) { return emitAlloc(op), success(); })
      // Made when the program starts.
      .Case<AllocPhasesOp>(emitted)
      .Case<StageOp>([&](auto op) { return emitStage(op), success(); })
      .Case<LoadOp>([&](auto op) {
        bindGlobal(op.getMemory());
        return emitLoad(op), success();
      })
      .Case<StoreOp>([&](auto op) {
        bindGlobal(op.getMemory());
        return emitStore(op), success();
      })
      .Case<CopyAsyncOp>([&](auto op) {
        bindGlobal(op.getSource());
        return emitCopyAsync(op), success();
      })
      .Case<CopyBulkOp>([&](auto op) { return emitCopyBulk(op); })
      .Case<CopyCommitOp>([&](auto) {
        return NVVM::CpAsyncCommitGroupOp::create(builder, loc), success();
      })
      .Case<CopyWaitOp>([&](auto op) {
        return NVVM::CpAsyncWaitGroupOp::create(
                   builder, loc, static_cast<uint32_t>(op.getPending())),
               success();
      })
      .Case<BarrierOp>([&](auto op) { return emitBarrier(op), success(); })
      .Case<ArriveOp>([&](auto op) { return emitArrive(op), success(); })
      .Case<PhaseArriveOp>(
          [&](auto op) { return emitPhaseArrive(op), success(); })
      .Case<PhaseWaitOp>([&](auto op) { return emitPhaseWait(op), success(); })
      .Case<SyncWarpOp>([&](auto) {
        return NVVM::SyncWarpOp::create(builder, loc, i32(-1)), success();
      })
      .Case<FenceAsyncOp>([&](auto) {
        return assembly("fence.proxy.async.shared::cta;", "~{memory}", {}, {}),
               success();
      })
      .Case<VoteOp>([&](auto op) { return emitVote(op), success(); })
      .Case<SplatOp>([&](auto op) { return emitSplat(op), success(); })
      .Case<IndexOp>([&](auto op) { return emitIndex(op), success(); })
      .Case<MapOp>([&](auto op) { return emitMap(op), success(); })
      .Case<ReduceOp>([&](auto op) { return emitReduce(op), success(); })
      .Case<ScanOp>([&](auto op) { return emitScan(op), success(); })
      .Case<ExchangeOp>([&](auto op) { return emitExchange(op), success(); })
      .Case<PickOp>([&](auto op) { return emitPick(op), success(); })
      .Case<ConvertOp>([&](auto op) { return emitConvert(op), success(); })
      .Case<SliceOp>([&](auto op) { return emitSlice(op), success(); })
      .Case<ConcatOp>([&](auto op) { return emitConcat(op), success(); })
      .Case<MmaOp>([&](auto op) { return emitMma(op), success(); })
      .Case<MmaRowsOp>([&](auto op) { return emitMmaRows(op), success(); })
      .Case<WgmmaOp>([&](auto op) { return emitWgmma(op), success(); })
      .Case<WgmmaFenceOp>([&](auto) {
        return NVVM::WgmmaFenceAlignedOp::create(builder, loc), success();
      })
      .Case<WgmmaCommitOp>([&](auto) {
        return NVVM::WgmmaGroupSyncAlignedOp::create(builder, loc), success();
      })
      .Case<WgmmaWaitOp>([&](auto op) { return emitWgmmaWait(op), success(); })
      .Default([&](Operation *other) -> LogicalResult {
        if (other->getNumRegions() != 0 ||
            llvm::any_of(other->getOperandTypes(),
                         [](Type type) { return isa<RegType>(type); }))
          return other->emitOpError("has no meaning on a GPU");
        builder.clone(*other, scalars);
        return success();
      });
}
