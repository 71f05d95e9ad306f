//===- RoleEmitter.cpp - What the roles of a scan share -*- C++ -*- -------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoleEmitter.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace larc;

using tile::Dimension;
using tile::LayoutAttr;
using tile::RegType;
using tile::SharedType;

RoleEmitter::RoleEmitter(const ScanPlan &plan, SharedArrays &shared,
                         ValueRange arguments, Dimension tokenDimension,
                         int64_t barrierId, int64_t warps)
    : plan(plan), shared(shared), arguments(arguments),
      tokensInRows(tokenDimension == Dimension::Rows), barrierId(barrierId),
      warps(warps),
      warpChannels(warps == 1 ? plan.passChannels : ScanPlan::kRows),
      builder(plan.scan.getContext()), loc(plan.scan.getLoc()) {}

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

RegType RoleEmitter::getTileType(bool channels, bool tokens) const {
  bool rows = tokensInRows ? tokens : channels;
  bool cols = tokensInRows ? channels : tokens;
  LayoutAttr layout = acc();
  if (!cols)
    layout = layout.getSlice(Dimension::Rows);
  if (!rows)
    layout = layout.getSlice(Dimension::Cols);
  int64_t numChannels = channels ? warpChannels : 1;
  int64_t numTokens = tokens ? plan.chunk : 1;
  return tokensInRows ? getTileType(numTokens, numChannels, getF32(), layout)
                      : getTileType(numChannels, numTokens, getF32(), layout);
}

Dimension RoleEmitter::getTokenDimension() const {
  return tokensInRows ? Dimension::Rows : Dimension::Cols;
}

Dimension RoleEmitter::getChannelDimension() const {
  return tokensInRows ? Dimension::Cols : Dimension::Rows;
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

Value RoleEmitter::expand(Value tile, bool channels, bool tokens) {
  auto type = cast<RegType>(tile.getType());
  bool rows = type.getRows() > 1, cols = type.getCols() > 1;
  bool hasChannels = tokensInRows ? cols : rows;
  bool hasTokens = tokensInRows ? rows : cols;
  if ((hasChannels || !channels) && (hasTokens || !tokens))
    return tile;
  Value zeros =
      splat(0, getTileType(channels || hasChannels, tokens || hasTokens));
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
  if (warps == 1) {
    tile::SyncWarpOp::create(builder, loc);
    return;
  }
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
  int64_t channels = plan.getPadded(axis);
  if (warps == 1 && plan.getStateRoles() == 1)
    channels = std::min(channels, plan.getSize(axis));
  return static_cast<int64_t>(
      llvm::divideCeil(channels, warpChannels * getWarps(axis)));
}

void RoleEmitter::forgetChannels() {
  llvm::DenseMap<Value, Value> others;
  for (auto [value, tile] : tiles)
    if (!plan.getChannels(value))
      others[value] = tile;
  tiles = std::move(others);
}

SmallVector<Value>
RoleEmitter::forPasses(StringAttr axis, ValueRange carried,
                       llvm::function_ref<SmallVector<Value>(ValueRange)> body,
                       int64_t group, llvm::function_ref<void()> endGroup,
                       Value share) {
  int64_t passes = axis ? getPasses(axis) : 1;
  if (passes == 1 && !share) {
    SmallVector<Value> next = body(carried);
    if (endGroup)
      endGroup();
    return next;
  }
  auto known = tiles;
  Value outer = pass;
  auto emitGroup = [&](Value first, ValueRange values) {
    SmallVector<Value> next(values);
    for (int64_t number = 0; number < group; ++number) {
      forgetChannels();
      pass = add(first, index(number));
      next = body(next);
    }
    if (endGroup)
      endGroup();
    pass = outer;
    return next;
  };
  group = std::min(group, passes);
  passes = static_cast<int64_t>(llvm::alignTo(passes, group));
  SmallVector<Value> results;
  if (group == passes && !share) {
    results = emitGroup(index(0), carried);
  } else {
    Value first = share ? multiply(share, group) : index(0);
    int64_t step = share ? group * plan.chunkWarps : group;
    auto loop = scf::ForOp::create(builder, loc, first, index(passes),
                                   index(step), carried);
    OpBuilder::InsertionGuard guard(builder);
    if (carried.empty())
      builder.setInsertionPoint(loop.getBody()->getTerminator());
    else
      builder.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> next =
        emitGroup(loop.getInductionVar(), loop.getRegionIterArgs());
    if (!carried.empty())
      scf::YieldOp::create(builder, loc, next);
    results = loop.getResults();
  }
  tiles = known;
  return results;
}

Value RoleEmitter::getFirstChannel(StringAttr axis) {
  int64_t having = getWarps(axis);
  Value number = warps == 1 ? index(0) : warp;
  if (having < warps)
    number = builder.createOrFold<arith::RemUIOp>(loc, warp, index(having));
  Value first = multiply(number, warpChannels);
  if (pass && getPasses(axis) > 1)
    first = add(first, multiply(pass, having * warpChannels));
  return first;
}

Value RoleEmitter::getFirstGlobal(StringAttr axis) {
  Value first = getFirstChannel(axis);
  return axis == plan.dividedAxis ? add(tokens.channel, first) : first;
}

void RoleEmitter::onlyWarps(int64_t count, llvm::function_ref<void()> body) {
  if (count >= warps)
    return body();
  Value runs = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                     warp, index(count));
  onlyIf(runs, body);
}

void RoleEmitter::onlyFirst(Value number, llvm::function_ref<void()> body) {
  if (!number)
    return body();
  onlyIf(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, number,
                               index(0)),
         body);
}

void RoleEmitter::onlyIf(Value condition, llvm::function_ref<void()> body) {
  auto branch =
      scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/false);
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
    if (isKept(value))
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
    Value result = op.buildScalar(inner, loc, parts);
    // Errors of a few parts in a million are far below those of the products.
    inner.getBlock()->walk([](math::ExpOp exp) {
      exp.setFastmath(exp.getFastmath() | arith::FastMathFlags::afn);
    });
    inner.getBlock()->walk([](math::ExpM1Op exp) {
      exp.setFastmath(exp.getFastmath() | arith::FastMathFlags::afn);
    });
    return result;
  });
}

Value RoleEmitter::loadCarried(const CarriedForm &form, int64_t row) {
  Value channel = form.axis ? getFirstChannel(form.axis) : index(0);
  return load(getStage(shared.getCarried(form), stage), index(row), channel,
              getTileType(form.axis != nullptr, true),
              /*transposed=*/!tokensInRows);
}

Value RoleEmitter::evaluateScanned(Value value) {
  if (const CarriedForm *form = plan.getCarriedBefore(value))
    return loadCarried(*form, CarriedForm::kRowBefore);
  if (const CarriedForm *form = plan.getCarriedAfter(value))
    return loadCarried(*form, CarriedForm::kRowAfter);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    auto op = dyn_cast<chunk::TokensOp>(parent);
    return op ? evaluate(op.getOver()[argument.getArgNumber()]) : Value();
  }
  auto op = value.getDefiningOp<chunk::TokensOp>();
  if (!op)
    return {};
  return evaluate(
      op.getYield().getValues()[cast<OpResult>(value).getResultNumber()]);
}

Value RoleEmitter::loadOperand(unsigned operand) {
  StringAttr axis = plan.getChannels(plan.scan.getBody().getArgument(operand));
  Value memory = getRaw(operand);
  Type element = cast<SharedType>(memory.getType()).getElementType();
  Value tile = load(memory, index(0), getFirstChannel(axis),
                    getTileType(true, true).withElementType(element),
                    /*transposed=*/!tokensInRows);
  return convert(tile, getF32());
}

Value RoleEmitter::loadConstant(BlockArgument argument) {
  Value memory = arguments[argument.getArgNumber()];
  Type element = cast<tile::GlobalType>(memory.getType()).getElementType();
  StringAttr axis = plan.getChannels(argument);
  RegType type = getTileType(axis != nullptr, false).withElementType(element);
  Value first = axis ? getFirstGlobal(axis) : index(0);
  return convert(load(memory, index(0), first, type,
                      /*transposed=*/!tokensInRows),
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

Value RoleEmitter::evaluateRecipe(const Recipe &recipe) {
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

/// Whether `value` is a finite number at tokens that do not exist, since it is
/// made from operands that are 0 there by functions that keep it finite.
static bool isFiniteBeyond(const ScanPlan &plan, Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getArgNumber() < plan.scan.getNumOperands();
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast<ConstantOp>(op))
    return constant.getValue().isFinite();
  return isa<AddOp, SubOp, MulOp, NegOp, ExpOp, Expm1Op, ReluOp, TanhOp,
             SigmoidOp>(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isFiniteBeyond(plan, operand);
         });
}

/// Whether `value` is 0 at tokens that do not exist, since operands are. 0
/// times what may be infinite is no number.
static bool isZeroBeyond(const ScanPlan &plan, Value value) {
  if (!value)
    return false;
  if (plan.getRawOperand(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<MulOp>(op))
    return llvm::any_of(
               op->getOperands(),
               [&](Value operand) { return isZeroBeyond(plan, operand); }) &&
           isFiniteBeyond(plan, value);
  return isa_and_nonnull<NegOp, Expm1Op, ReluOp, TanhOp>(op) &&
         isZeroBeyond(plan, op->getOperand(0));
}

Value RoleEmitter::fillBeyond(Value tile, double otherwise) {
  tile = expand(tile, false, true);
  Value tokens =
      numbers(getTokenDimension(), cast<RegType>(tile.getType()), Value());
  Value count = builder.createOrFold<arith::IndexCastOp>(
      loc, builder.getI32Type(), remaining);
  return map({tile, tokens}, [&](OpBuilder &inner, ValueRange args) -> Value {
    Value exists = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::slt,
                                         args[1], count);
    return arith::SelectOp::create(inner, loc, exists, args[0],
                                   number(inner, otherwise));
  });
}

Value RoleEmitter::selectChannels(Value tile, StringAttr axis,
                                  double otherwise) {
  if (plan.getSize(axis) == plan.getAllPadded(axis))
    return tile;
  tile = expand(tile, /*channels=*/true, /*tokens=*/false);
  Value channels = numbers(getChannelDimension(), cast<RegType>(tile.getType()),
                           getFirstGlobal(axis));
  return map({tile, channels}, [&](OpBuilder &inner, ValueRange args) -> Value {
    Value size =
        arith::ConstantIntOp::create(inner, loc, plan.getSize(axis), 32);
    Value exists = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::slt,
                                         args[1], size);
    return arith::SelectOp::create(inner, loc, exists, args[0],
                                   number(inner, otherwise));
  });
}

Value RoleEmitter::fillPadding(Value tile, Value value) {
  StringAttr axis = value ? plan.getChannels(value) : StringAttr();
  if (!axis || isZeroBeyond(plan, value))
    return tile;
  return selectChannels(tile, axis, 0);
}

Value RoleEmitter::evaluateForMatrix(const Recipe &recipe) {
  Value tile = evaluate(recipe);
  if (isZeroBeyond(plan, recipe.value))
    return tile;
  // What has the decays of the tokens after it is a key or a value.
  if (!recipe.value || recipe.scale == Scale::Suffix ||
      plan.isSummed(recipe.value))
    tile = fillBeyond(tile, 0);
  return fillPadding(tile, recipe.value);
}

Value RoleEmitter::evaluateFactors(Value decay) {
  Value factors = expand(evaluate(decay), false, true);
  if (isOneBeyond(plan, decay))
    return factors;
  factors = fillBeyond(factors, 1);
  StringAttr axis = plan.getChannels(decay);
  return axis ? selectChannels(factors, axis, 1) : factors;
}

//===----------------------------------------------------------------------===//
// Arrays in shared memory
//===----------------------------------------------------------------------===//

Value RoleEmitter::getStage(Value ring, Value number) {
  return tile::StageOp::create(builder, loc, ring, number);
}

Value RoleEmitter::getRaw(unsigned operand) {
  shared.markRead(operand);
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
    store(high, memory.high, index(0), first, /*transposed=*/!tokensInRows);
    if (low)
      store(low, memory.low, index(0), first, /*transposed=*/!tokensInRows);
  });
}

void RoleEmitter::storeFloat(Value tile, StringAttr axis, Value memory) {
  auto type = cast<SharedType>(memory.getType());
  bool hasTokens = axis ? type.getRows() > 1 : type.getCols() > 1;
  tile = expand(tile, axis != nullptr, hasTokens);
  onlyWarps(axis ? getWarps(axis) : 1, [&] {
    if (axis && hasTokens)
      store(tile, memory, getFirstChannel(axis), index(0), tokensInRows);
    else
      store(tile, memory, index(0), axis ? getFirstChannel(axis) : index(0),
            /*transposed=*/(axis != nullptr) != tokensInRows);
  });
}

Value RoleEmitter::loadFloat(Value memory, StringAttr axis, bool hasTokens) {
  RegType type = getTileType(axis != nullptr, hasTokens);
  if (axis && hasTokens)
    return load(memory, getFirstChannel(axis), index(0), type, tokensInRows);
  return load(memory, index(0), axis ? getFirstChannel(axis) : index(0), type,
              /*transposed=*/(axis != nullptr) != tokensInRows);
}

Value RoleEmitter::multiplyAdd(Value accumulator, Value lhs, Value rhs,
                               Value col, bool transposed) {
  constexpr int64_t step = 16;
  auto lhsType = cast<RegType>(lhs.getType());
  int64_t cols = cast<RegType>(accumulator.getType()).getCols();
  for (int64_t k = 0; k < lhsType.getCols(); k += step) {
    RegType part = getTileType(lhsType.getRows(), step,
                               lhsType.getElementType(), lhsType.getLayout());
    Value left = tile::SliceOp::create(builder, loc, part, lhs, 0, k);
    Value right = load(rhs, index(transposed ? 0 : k),
                       transposed ? add(col, index(k)) : col,
                       getTileType(step, cols, lhsType.getElementType(),
                                   LayoutAttr::getRhs(builder.getContext())),
                       transposed);
    accumulator = tile::MmaOp::create(builder, loc, left, right, accumulator);
  }
  return accumulator;
}
