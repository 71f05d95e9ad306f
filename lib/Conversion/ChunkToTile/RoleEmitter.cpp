//===- RoleEmitter.cpp - What the roles of a scan share -*- C++ -*- -------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoleEmitter.h"

#include <limits>

using namespace mlir;
using namespace larc;

using tile::CombineKind;
using tile::Dimension;
using tile::LayoutAttr;
using tile::RegType;
using tile::SharedType;

RoleEmitter::RoleEmitter(const ScanPlan &plan, SharedArrays &shared,
                         ValueRange arguments, int64_t barrierId, int64_t warps)
    : plan(plan), shared(shared), arguments(arguments), barrierId(barrierId),
      warps(warps), builder(plan.scan.getContext()), loc(plan.scan.getLoc()) {}

//===----------------------------------------------------------------------===//
// Numbers and types
//===----------------------------------------------------------------------===//

Value RoleEmitter::index(int64_t number) {
  return arith::ConstantIndexOp::create(builder, loc, number);
}

Value RoleEmitter::number(OpBuilder &inner, double value) const {
  return arith::ConstantFloatOp::create(
      inner, loc, inner.getF32Type(), llvm::APFloat(static_cast<float>(value)));
}

Value RoleEmitter::add(Value lhs, Value rhs) {
  return builder.createOrFold<arith::AddIOp>(loc, lhs, rhs);
}

Value RoleEmitter::multiply(Value lhs, int64_t rhs) {
  return builder.createOrFold<arith::MulIOp>(loc, lhs, index(rhs));
}

FloatType RoleEmitter::getF32() const {
  return Float32Type::get(plan.scan.getContext());
}

FloatType RoleEmitter::getMatrixType() const {
  return BFloat16Type::get(plan.scan.getContext());
}

LayoutAttr RoleEmitter::acc() const {
  return LayoutAttr::getAcc(plan.scan.getContext());
}

RegType RoleEmitter::getTileType(int64_t rows, int64_t cols, Type element,
                                 LayoutAttr layout) const {
  return RegType::get(plan.scan.getContext(), rows, cols, element, layout);
}

RegType RoleEmitter::getTileType(bool rows, bool cols) const {
  LayoutAttr layout = acc();
  if (!cols)
    layout = layout.getSlice(Dimension::Rows);
  if (!rows)
    layout = layout.getSlice(Dimension::Cols);
  return getTileType(rows ? ScanPlan::kRows : 1, cols ? plan.chunk : 1,
                     getF32(), layout);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

Value RoleEmitter::mapTo(Type element, ValueRange operands, Body body) {
  int64_t rows = 1, cols = 1;
  for (Value operand : operands) {
    auto type = cast<RegType>(operand.getType());
    rows = std::max(rows, type.getRows());
    cols = std::max(cols, type.getCols());
  }
  LayoutAttr layout = acc();
  if (cols == 1)
    layout = layout.getSlice(Dimension::Rows);
  if (rows == 1)
    layout = layout.getSlice(Dimension::Cols);
  for (Value operand : operands) {
    auto type = cast<RegType>(operand.getType());
    if (type.getRows() == rows && type.getCols() == cols)
      layout = type.getLayout();
  }
  return tile::MapOp::create(
             builder, loc, TypeRange(getTileType(rows, cols, element, layout)),
             operands,
             [&](OpBuilder &inner, Location, ValueRange args) {
               return SmallVector<Value>{body(inner, args)};
             })
      ->getResult(0);
}

Value RoleEmitter::map(ValueRange operands, Body body) {
  return mapTo(getF32(), operands, body);
}

Value RoleEmitter::product(Value lhs, Value rhs) {
  return map({lhs, rhs}, [&](OpBuilder &inner, ValueRange args) -> Value {
    return arith::MulFOp::create(inner, loc, args[0], args[1],
                                 arith::FastMathFlags::contract);
  });
}

Value RoleEmitter::sum(Value lhs, Value rhs) {
  return map({lhs, rhs}, [&](OpBuilder &inner, ValueRange args) -> Value {
    return arith::AddFOp::create(inner, loc, args[0], args[1],
                                 arith::FastMathFlags::contract);
  });
}

Value RoleEmitter::splat(double value, RegType type) {
  return tile::SplatOp::create(builder, loc, type, number(builder, value));
}

Value RoleEmitter::convert(Value tile, RegType type) {
  if (tile.getType() == type)
    return tile;
  return tile::ConvertOp::create(builder, loc, type, tile);
}

Value RoleEmitter::convert(Value tile, Type element) {
  return convert(tile, cast<RegType>(tile.getType()).withElementType(element));
}

Value RoleEmitter::expand(Value tile, bool rows, bool cols) {
  auto type = cast<RegType>(tile.getType());
  if ((type.getRows() > 1 || !rows) && (type.getCols() > 1 || !cols))
    return tile;
  Value zeros = splat(
      0, getTileType(rows || type.getRows() > 1, cols || type.getCols() > 1));
  return map({zeros, tile},
             [](OpBuilder &, ValueRange args) { return args[1]; });
}

Value RoleEmitter::numbers(Dimension dimension, RegType of, Value first) {
  Type i32 = builder.getI32Type();
  RegType type = of.getSlice(dimension).withElementType(i32);
  Value numbers = tile::IndexOp::create(
      builder, loc, type,
      tile::DimensionAttr::get(builder.getContext(), dimension));
  if (!first)
    return numbers;
  Value offset = builder.createOrFold<arith::IndexCastOp>(loc, i32, first);
  return mapTo(i32, numbers, [&](OpBuilder &inner, ValueRange args) -> Value {
    return arith::AddIOp::create(inner, loc, args[0], offset);
  });
}

Value RoleEmitter::load(Value memory, Value row, Value col, RegType type,
                        bool transposed, Value below) {
  return tile::LoadOp::create(builder, loc, type, memory, row, col, below,
                              transposed);
}

void RoleEmitter::store(Value tile, Value memory, Value row, Value col,
                        bool transposed, Value below) {
  tile::StoreOp::create(builder, loc, tile, memory, row, col, below,
                        transposed);
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

void RoleEmitter::barrier() {
  tile::BarrierOp::create(builder, loc, index(barrierId),
                          builder.getI64IntegerAttr(warps));
}

void RoleEmitter::fence() {
  if (plan.options.wgmma)
    tile::FenceAsyncOp::create(builder, loc);
}

int64_t RoleEmitter::getWarps(StringAttr axis) const {
  return std::min(warps, plan.getPadded(axis) / ScanPlan::kRows);
}

int64_t RoleEmitter::getPasses(StringAttr axis) const {
  return plan.getPadded(axis) / ScanPlan::kRows / getWarps(axis);
}

void RoleEmitter::forgetChannels() {
  llvm::DenseMap<Value, Value> others;
  for (auto [value, tile] : tiles)
    if (!plan.getChannels(value))
      others[value] = tile;
  tiles = std::move(others);
}

Value RoleEmitter::forPasses(StringAttr axis, Value carried,
                             llvm::function_ref<Value(Value)> body) {
  int64_t passes = axis ? getPasses(axis) : 1;
  if (passes == 1)
    return body(carried);
  auto known = tiles;
  forgetChannels();
  SmallVector<Value> init;
  if (carried)
    init.push_back(carried);
  auto loop =
      scf::ForOp::create(builder, loc, index(0), index(passes), index(1), init);
  OpBuilder::InsertionGuard guard(builder);
  if (carried)
    builder.setInsertionPointToStart(loop.getBody());
  else
    builder.setInsertionPoint(loop.getBody()->getTerminator());
  Value outer = std::exchange(pass, loop.getInductionVar());
  Value next = body(carried ? loop.getRegionIterArg(0) : Value());
  if (carried)
    scf::YieldOp::create(builder, loc, next);
  pass = outer;
  tiles = known;
  return carried ? loop.getResult(0) : Value();
}

Value RoleEmitter::getFirstChannel(StringAttr axis) {
  int64_t having = getWarps(axis);
  Value number = warp;
  if (having < warps)
    number = builder.createOrFold<arith::RemUIOp>(loc, warp, index(having));
  Value first = multiply(number, ScanPlan::kRows);
  if (pass && getPasses(axis) > 1)
    first = add(first, multiply(pass, having * ScanPlan::kRows));
  return first;
}

void RoleEmitter::onlyWarps(int64_t count, llvm::function_ref<void()> body) {
  if (count >= warps)
    return body();
  Value runs = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                     warp, index(count));
  auto branch = scf::IfOp::create(builder, loc, runs, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  body();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value RoleEmitter::evaluate(Value value) {
  if (Value known = tiles.lookup(value))
    return known;
  Value tile;
  if (std::optional<double> constant = chunk::getSplat(value))
    tile = splat(*constant, getTileType(false, false));
  else
    tile = evaluateLeaf(value);
  tiles[value] = tile;
  return tile;
}

void RoleEmitter::forget() {
  auto remembered = kept;
  for (auto [value, tile] : tiles)
    if (plan.isLate(value))
      remembered[value] = tile;
  tiles = std::move(remembered);
}

Value RoleEmitter::evaluateElementwise(ElementwiseOpInterface op) {
  if (auto broadcast = dyn_cast<BroadcastOp>(op.getOperation()))
    return evaluate(broadcast.getOperand());
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    if (!chunk::getSplat(operand))
      operands.push_back(evaluate(operand));
  if (operands.empty())
    operands.push_back(splat(0, getTileType(false, false)));
  return map(operands, [&](OpBuilder &inner, ValueRange args) -> Value {
    SmallVector<Value> parts;
    for (Value operand : op->getOperands()) {
      if (std::optional<double> constant = chunk::getSplat(operand)) {
        parts.push_back(number(inner, *constant));
        continue;
      }
      parts.push_back(args.front());
      args = args.drop_front();
    }
    return op.buildScalar(inner, loc, parts);
  });
}

static std::pair<CombineKind, double> getCombination(ReduceKind kind) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (kind) {
  case ReduceKind::Sum:
    return {CombineKind::Sum, 0};
  case ReduceKind::Max:
    return {CombineKind::Max, -infinity};
  case ReduceKind::Min:
    return {CombineKind::Min, infinity};
  }
  llvm_unreachable("an unknown way to combine");
}

/// What a warp has of a reduction in one pass.
Value RoleEmitter::reduceOwn(ReductionOpInterface op, StringAttr axis) {
  auto [kind, neutral] = getCombination(op.getCombiner());
  Value tile;
  for (Value operand : op->getOperands()) {
    Value factor = evaluate(operand);
    tile = tile ? product(tile, factor) : factor;
  }
  tile = expand(tile, /*rows=*/true, /*cols=*/false);
  if (plan.getSize(axis) < plan.getPadded(axis)) {
    Value channels = numbers(Dimension::Rows, cast<RegType>(tile.getType()),
                             getFirstChannel(axis));
    tile = map({tile, channels},
               [&, fill = neutral](OpBuilder &inner, ValueRange args) -> Value {
                 Value size = arith::ConstantIntOp::create(
                     inner, loc, plan.getSize(axis), 32);
                 Value exists = arith::CmpIOp::create(
                     inner, loc, arith::CmpIPredicate::slt, args[1], size);
                 return arith::SelectOp::create(inner, loc, exists, args[0],
                                                number(inner, fill));
               });
  }
  return tile::ReduceOp::create(builder, loc, kind, tile, Dimension::Rows);
}

/// Each warp combines its channels; what they have meets in shared memory.
Value RoleEmitter::evaluateReduction(ReductionOpInterface op) {
  StringAttr axis = op.getReducedAxes().front();
  CombineKind kind = getCombination(op.getCombiner()).first;
  int64_t having = getWarps(axis), passes = getPasses(axis);
  Value &memory = partials[op];
  RegType type;
  forPasses(axis, Value(), [&](Value) {
    Value partial = reduceOwn(op, axis);
    type = cast<RegType>(partial.getType());
    if (!memory)
      memory = shared.allocate(having * passes, type.getCols());
    Value row = passes > 1 ? add(warp, multiply(pass, having)) : warp;
    onlyWarps(having, [&] { store(partial, memory, row, index(0)); });
    return Value();
  });
  barrier();
  // Every lane reads what the warps have of its own columns.
  SmallVector<int64_t> registers(type.getLayout().getRegisters());
  for (int64_t row = 1; row < having * passes; row *= 2)
    registers.append({row, 0});
  auto layout = LayoutAttr::get(builder.getContext(),
                                type.getLayout().getLanes(), registers);
  Value all =
      load(memory, index(0), index(0),
           getTileType(having * passes, type.getCols(), getF32(), layout));
  return tile::ReduceOp::create(builder, loc, kind, all, Dimension::Rows);
}

Value RoleEmitter::loadOperand(unsigned operand) {
  StringAttr axis = plan.getChannels(plan.scan.getBody().getArgument(operand));
  Value memory = getRaw(operand);
  Type element = cast<SharedType>(memory.getType()).getElementType();
  Value tile = load(memory, index(0), getFirstChannel(axis),
                    getTileType(true, true).withElementType(element),
                    /*transposed=*/true);
  return convert(tile, getF32());
}

Value RoleEmitter::loadConstant(BlockArgument argument) {
  Value memory = arguments[argument.getArgNumber()];
  Type element = cast<tile::GlobalType>(memory.getType()).getElementType();
  StringAttr axis = plan.getChannels(argument);
  RegType type = getTileType(axis != nullptr, false).withElementType(element);
  Value first = axis ? getFirstChannel(axis) : index(0);
  return convert(load(memory, index(0), first, type, /*transposed=*/true),
                 getF32());
}

StringAttr RoleEmitter::getChannels(const Recipe &recipe) const {
  StringAttr axis;
  if (recipe.value)
    axis = plan.getChannels(recipe.value);
  if (!axis && recipe.decay)
    axis = plan.getChannels(recipe.decay);
  return axis;
}

Value RoleEmitter::evaluate(const Recipe &recipe) {
  if (recipe.scale == Scale::None)
    return evaluate(recipe.value);
  Value scale = evaluateScale(recipe.scale, recipe.decay);
  return recipe.value ? product(evaluate(recipe.value), scale) : scale;
}

/// Whether the factor of a token that does not exist is 1 anyway: operands are
/// 0 there.
static bool isOneBeyond(const ScanPlan &plan, Value decay) {
  auto exp = decay.getDefiningOp<ExpOp>();
  return exp && plan.getRawOperand(exp.getOperand());
}

/// Whether `value` is 0 at tokens that do not exist, since operands are.
static bool isZeroBeyond(const ScanPlan &plan, Value value) {
  if (!value)
    return false;
  if (plan.getRawOperand(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<MulOp>(op))
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return isZeroBeyond(plan, operand);
    });
  return isa_and_nonnull<NegOp, Expm1Op, ReluOp, TanhOp>(op) &&
         isZeroBeyond(plan, op->getOperand(0));
}

Value RoleEmitter::fillBeyond(Value tile, double otherwise) {
  tile = expand(tile, false, true);
  Value tokens =
      numbers(Dimension::Cols, cast<RegType>(tile.getType()), Value());
  Value count = builder.createOrFold<arith::IndexCastOp>(
      loc, builder.getI32Type(), remaining);
  return map({tile, tokens}, [&](OpBuilder &inner, ValueRange args) -> Value {
    Value exists = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::slt,
                                         args[1], count);
    return arith::SelectOp::create(inner, loc, exists, args[0],
                                   number(inner, otherwise));
  });
}

Value RoleEmitter::evaluateForMatrix(const Recipe &recipe) {
  Value tile = evaluate(recipe);
  return isZeroBeyond(plan, recipe.value) ? tile : fillBeyond(tile, 0);
}

Value RoleEmitter::evaluateFactors(Value decay) {
  Value factors = expand(evaluate(decay), false, true);
  return isOneBeyond(plan, decay) ? factors : fillBeyond(factors, 1);
}

//===----------------------------------------------------------------------===//
// Arrays in shared memory
//===----------------------------------------------------------------------===//

Value RoleEmitter::getStage(Value ring, Value number) {
  return tile::StageOp::create(builder, loc, ring, number);
}

Value RoleEmitter::getRaw(unsigned operand) {
  return getStage(shared.getRing(operand), stage);
}

void RoleEmitter::storeMatrix(Value tile, StringAttr axis, MatrixPair memory) {
  tile = expand(tile, true, true);
  Value first = getFirstChannel(axis);
  Value high = convert(tile, getMatrixType());
  Value low;
  if (memory.low) {
    Value rounded = convert(high, getF32());
    low = map({tile, rounded}, [&](OpBuilder &inner, ValueRange args) -> Value {
      return arith::SubFOp::create(inner, loc, args[0], args[1]);
    });
    low = convert(low, getMatrixType());
  }
  onlyWarps(getWarps(axis), [&] {
    store(high, memory.high, index(0), first, /*transposed=*/true);
    if (low)
      store(low, memory.low, index(0), first, /*transposed=*/true);
  });
}

void RoleEmitter::storeFloat(Value tile, StringAttr axis, Value memory) {
  auto type = cast<SharedType>(memory.getType());
  bool hasTokens = axis ? type.getRows() > 1 : type.getCols() > 1;
  tile = expand(tile, axis != nullptr, hasTokens);
  onlyWarps(axis ? getWarps(axis) : 1, [&] {
    if (axis && hasTokens)
      store(tile, memory, getFirstChannel(axis), index(0));
    else
      store(tile, memory, index(0), axis ? getFirstChannel(axis) : index(0),
            /*transposed=*/axis != nullptr);
  });
}

Value RoleEmitter::loadFloat(Value memory, StringAttr axis, bool hasTokens) {
  RegType type = getTileType(axis != nullptr, hasTokens);
  if (axis && hasTokens)
    return load(memory, getFirstChannel(axis), index(0), type);
  return load(memory, index(0), axis ? getFirstChannel(axis) : index(0), type,
              /*transposed=*/axis != nullptr);
}

Value RoleEmitter::multiplyAdd(Value accumulator, Value lhs, Value rhs,
                               bool transposed) {
  constexpr int64_t step = 16;
  auto lhsType = cast<RegType>(lhs.getType());
  int64_t cols = cast<RegType>(accumulator.getType()).getCols();
  for (int64_t k = 0; k < lhsType.getCols(); k += step) {
    RegType part = getTileType(lhsType.getRows(), step,
                               lhsType.getElementType(), lhsType.getLayout());
    Value left = tile::SliceOp::create(builder, loc, part, lhs, 0, k);
    Value right =
        load(rhs, index(transposed ? 0 : k), index(transposed ? k : 0),
             getTileType(step, cols, lhsType.getElementType(),
                         LayoutAttr::getRhs(builder.getContext())),
             transposed);
    accumulator = tile::MmaOp::create(builder, loc, left, right, accumulator);
  }
  return accumulator;
}
