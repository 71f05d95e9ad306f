//===- FactorRole.cpp - What depends on no state -*- C++ -*- --------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FactorRole.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace larc;

using chunk::CumulateOp;
using chunk::TotalOp;
using tile::CombineKind;
using tile::Dimension;
using tile::LayoutAttr;
using tile::RegType;

//===----------------------------------------------------------------------===//
// Decays
//===----------------------------------------------------------------------===//

/// The bound on running sums of gates up to which their exponentials, and one
/// divided by them, are far from the ends of float32's range.
static constexpr double kMostDecay = 60;
static constexpr double kLog2E = 1.4426950408889634;

Value FactorRole::makeExp(Value tile, bool inverse) {
  return map(tile, [&](OpBuilder &inner, ValueRange args) -> Value {
    Value scaled =
        arith::MulFOp::create(inner, loc, args[0], number(inner, kLog2E),
                              arith::FastMathFlags::contract);
    if (inverse)
      scaled = arith::NegFOp::create(inner, loc, scaled);
    return math::Exp2Op::create(inner, loc, scaled);
  });
}

/// Ones up to the diagonal, by which the matrix unit makes running sums.
void FactorRole::makeTriangle() {
  triangle = shared.allocate({}, ArrayForm::Scores);
  onlyFirst(self, [&] {
    for (int64_t token = 0; token < plan.chunk; token += ScanPlan::kRows) {
      RegType type =
          getTileType(ScanPlan::kRows, plan.chunk, getMatrixType(), acc());
      Value rows = numbers(Dimension::Rows, type, index(token));
      Value cols = numbers(Dimension::Cols, type, Value());
      Value ones = map({rows, cols}, [&](OpBuilder &inner, ValueRange args) {
        Value before = arith::CmpIOp::create(
            inner, loc, arith::CmpIPredicate::sle, args[1], args[0]);
        return arith::SelectOp::create(inner, loc, before, number(inner, 1),
                                       number(inner, 0))
            .getResult();
      });
      store(convert(ones, type), triangle, index(token), index(0));
    }
  });
  tile::BarrierOp::create(builder, loc, index(kFactorBarrier),
                          builder.getI64IntegerAttr(plan.factorWarps));
}

FactorRole::DecayTiles &FactorRole::getDecay(Value decay) {
  DecayTiles &known = decays[decay.getAsOpaquePointer()];
  if (plan.isExponential(decay))
    known.exponent = decay.getDefiningOp<ExpOp>().getOperand();
  return known;
}

Value FactorRole::getRunning(Value decay) {
  DecayTiles &known = getDecay(decay);
  if (known.running)
    return known.running;
  auto scan = [&](CombineKind kind, Value tile) {
    return tile::ScanOp::create(builder, loc, kind, tile, getTokenDimension(),
                                false, false, IntegerAttr());
  };
  if (!known.exponent)
    return known.running = scan(CombineKind::Product, evaluateFactors(decay));
  std::optional<unsigned> operand = plan.getMatrixOperand(known.exponent);
  if (const CarriedForm *form = plan.getDecreasing(known.exponent))
    return known.running = getDecrease(
               *form, isa<SelectOp>(known.exponent.getDefiningOp()));
  if (!operand) {
    Value exponents = expand(evaluate(known.exponent), true, true);
    if (!plan.getRawOperand(known.exponent))
      exponents = selectChannels(fillBeyond(exponents, 0),
                                 plan.getChannels(known.exponent), 0);
    return known.running = scan(CombineKind::Sum, exponents);
  }
  // The matrix unit adds 16-bit numbers exactly.
  MLIRContext *context = builder.getContext();
  Value ones = load(triangle, index(0), index(0),
                    getTileType(plan.chunk, plan.chunk, getMatrixType(),
                                LayoutAttr::getLhs(context)));
  Value exponents =
      load(getRaw(*operand), index(0),
           getFirstChannel(plan.getChannels(known.exponent)),
           getTileType(plan.chunk, plan.passChannels, getMatrixType(),
                       LayoutAttr::getRhs(context)));
  return known.running = tile::MmaOp::create(builder, loc, ones, exponents,
                                             splat(0, getTileType(true, true)));
}

/// By how much a state is less after each token than before the chunk; with a
/// guard by 0 where it is -inf. Tokens that do not exist change nothing.
Value FactorRole::getDecrease(const CarriedForm &form, bool isGuarded) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Value before = load(getStage(shared.getCarried(form), stage),
                      index(CarriedForm::kRowBefore),
                      getFirstChannel(form.axis), getTileType(true, false));
  return map({before, evaluate(form.next)},
             [&](OpBuilder &inner, ValueRange args) -> Value {
               Value change =
                   arith::SubFOp::create(inner, loc, args[0], args[1]);
               if (!isGuarded)
                 return change;
               Value isNothing =
                   arith::CmpFOp::create(inner, loc, arith::CmpFPredicate::OEQ,
                                         args[1], number(inner, -infinity));
               return arith::SelectOp::create(inner, loc, isNothing,
                                              number(inner, 0), change);
             });
}

/// Whether a decay's running products, and one divided by them, are far from
/// the ends of float32's range. What is no number is not.
Value FactorRole::makeGuard(Value decay) {
  bool isSum = getDecay(decay).exponent != nullptr;
  return mapTo(
      builder.getI1Type(), getRunning(decay),
      [&](OpBuilder &inner, ValueRange args) -> Value {
        auto compare = [&](arith::CmpFPredicate predicate, Value value,
                           double bound) -> Value {
          return arith::CmpFOp::create(inner, loc, predicate, value,
                                       number(inner, bound));
        };
        if (isSum)
          return compare(arith::CmpFPredicate::OLE,
                         math::AbsFOp::create(inner, loc, args[0]), kMostDecay);
        return arith::AndIOp::create(
            inner, loc,
            compare(arith::CmpFPredicate::OGE, args[0], std::exp(-kMostDecay)),
            compare(arith::CmpFPredicate::OLE, args[0], std::exp(kMostDecay)));
      });
}

Value FactorRole::evaluateExact(Scale scale, Value decay) {
  Value factors = evaluateFactors(decay);
  auto scan = [&](bool backward, bool exclusive) -> Value {
    return tile::ScanOp::create(builder, loc, CombineKind::Product, factors,
                                getTokenDimension(), backward, exclusive,
                                IntegerAttr());
  };
  switch (scale) {
  case Scale::Inclusive:
    return scan(false, false);
  case Scale::Exclusive:
    return scan(false, true);
  case Scale::Suffix:
    return scan(true, true);
  case Scale::Total:
    return tile::ReduceOp::create(builder, loc, CombineKind::Product, factors,
                                  getTokenDimension());
  case Scale::None:
  case Scale::Inverse:
    break;
  }
  llvm_unreachable("not a product of factors");
}

FactorRole::BlockProducts FactorRole::beginProducts(Value factors, bool before,
                                                    bool upTo) {
  Value ones = splat(1, cast<RegType>(factors.getType()));
  BlockProducts products;
  products.total = factors;
  products.after = ones;
  if (before)
    products.before = ones;
  if (upTo)
    products.upTo = factors;
  return products;
}

/// From products over blocks of `half` tokens to those over blocks twice as
/// long: what a token has of its own half, times all of the other half where
/// that lies between.
void FactorRole::mergeBlocks(BlockProducts &products, int64_t half) {
  Value other = tile::ExchangeOp::create(builder, loc, products.total,
                                         getTokenDimension(), half);
  if (products.before)
    products.before = extend(products.before, other, half, true);
  if (products.upTo)
    products.upTo = extend(products.upTo, other, half, true);
  products.after = extend(products.after, other, half, false);
  products.total = product(products.total, other);
}

/// `own` times `other` for the tokens of the later (earlier) half.
Value FactorRole::extend(Value own, Value other, int64_t half, bool late) {
  Value tokensOf =
      numbers(getTokenDimension(), cast<RegType>(other.getType()), Value());
  return map(
      {own, other, tokensOf}, [&](OpBuilder &inner, ValueRange args) -> Value {
        Value bit = arith::AndIOp::create(
            inner, loc, args[2],
            arith::ConstantIntOp::create(inner, loc, half, 32));
        Value extends = arith::CmpIOp::create(
            inner, loc,
            late ? arith::CmpIPredicate::ne : arith::CmpIPredicate::eq, bit,
            arith::ConstantIntOp::create(inner, loc, 0, 32));
        Value both = arith::MulFOp::create(inner, loc, args[0], args[1]);
        return arith::SelectOp::create(inner, loc, extends, both, args[0]);
      });
}

Value FactorRole::getCarried(const Recipe &recipe) const {
  for (const Carried &carried : carriedValues)
    if (carried.recipe == recipe)
      return carried.tile;
  return {};
}

/// Starts with blocks of one token.
void FactorRole::carry(const Recipe &recipe) {
  if (getCarried(recipe))
    return;
  Value tile = recipe.value ? fillPadding(evaluate(recipe.value), recipe.value)
                            : splat(1, getTileType(true, true));
  if (recipe.scale == Scale::Inclusive)
    tile = product(tile, evaluateFactors(recipe.decay));
  carriedValues.push_back({recipe, expand(tile, true, true)});
}

Value FactorRole::evaluateRecipe(const Recipe &recipe) {
  if (exact)
    if (Value tile = getCarried(recipe))
      return tile;
  // What scores take is computed anyway.
  if (!exact && recipe.scale == Scale::Suffix && recipe.value &&
      decays.count(recipe.decay.getAsOpaquePointer()))
    return product(evaluate({recipe.value, Scale::Inverse, recipe.decay}),
                   evaluateScale(Scale::Total, recipe.decay));
  return RoleEmitter::evaluateRecipe(recipe);
}

const FactorRole::BlockProducts &FactorRole::getTokenProducts(Value decay) {
  BlockProducts &products = tokenProducts[decay.getAsOpaquePointer()];
  if (products.total)
    return products;
  products = beginProducts(evaluateFactors(decay), true, true);
  for (int64_t half = 1; half < plan.chunk; half *= 2)
    mergeBlocks(products, half);
  return products;
}

Value FactorRole::evaluateScale(Scale scale, Value decay) {
  auto pick = [&](Value tile, int64_t token) -> Value {
    return tile::PickOp::create(builder, loc, tile, getTokenDimension(), token);
  };
  if (!plan.getChannels(decay)) {
    const BlockProducts &products = getTokenProducts(decay);
    switch (scale) {
    case Scale::Inclusive:
      return products.upTo;
    case Scale::Exclusive:
      return products.before;
    case Scale::Suffix:
      return products.after;
    case Scale::Total:
      return pick(products.total, 0);
    case Scale::None:
    case Scale::Inverse:
      break;
    }
    llvm_unreachable("not a product of factors");
  }
  if (auto it = exactTotals.find(decay.getAsOpaquePointer());
      exact && scale == Scale::Total && it != exactTotals.end())
    return pick(it->second, 0);
  auto it = decays.find(decay.getAsOpaquePointer());
  if (exact || it == decays.end())
    return evaluateExact(scale, decay);
  Value exponent = it->second.exponent;
  bool isSum = exponent != nullptr;
  Value running = getRunning(decay);
  switch (scale) {
  case Scale::Inclusive:
    return isSum ? makeExp(running) : running;
  case Scale::Exclusive:
    if (!isSum)
      return evaluateExact(scale, decay);
    return makeExp(map({running, evaluate(exponent)},
                       [&](OpBuilder &inner, ValueRange args) -> Value {
                         return arith::SubFOp::create(inner, loc, args[0],
                                                      args[1]);
                       }));
  case Scale::Inverse:
    if (isSum)
      return makeExp(running, /*inverse=*/true);
    return map(running, [&](OpBuilder &inner, ValueRange args) -> Value {
      return arith::DivFOp::create(inner, loc, number(inner, 1), args[0]);
    });
  case Scale::Total: {
    Value last = pick(running, plan.chunk - 1);
    return isSum ? makeExp(last) : last;
  }
  case Scale::Suffix:
    return product(evaluateScale(Scale::Inverse, decay),
                   evaluateScale(Scale::Total, decay));
  case Scale::None:
    break;
  }
  llvm_unreachable("not a scale");
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value FactorRole::evaluateCumulate(CumulateOp op) {
  if (!op.getBackward())
    return evaluateScale(op.getExclusive() ? Scale::Exclusive
                                           : Scale::Inclusive,
                         op.getOperand());
  if (op.getExclusive())
    return evaluateScale(Scale::Suffix, op.getOperand());
  return product(evaluateScale(Scale::Suffix, op.getOperand()),
                 evaluateFactors(op.getOperand()));
}

Value FactorRole::evaluateLeaf(Value value) {
  if (Value tile = evaluateScanned(value))
    return tile;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (std::optional<unsigned> operand = plan.getRawOperand(argument))
      return loadOperand(*operand);
    return loadConstant(argument);
  }
  Operation *op = value.getDefiningOp();
  if (auto cumulate = dyn_cast<CumulateOp>(op))
    return evaluateCumulate(cumulate);
  if (auto total = dyn_cast<TotalOp>(op))
    return evaluateScale(Scale::Total, total.getOperand());
  if (auto reduction = dyn_cast<ReductionOpInterface>(op))
    return evaluateReduction(reduction);
  return evaluateElementwise(cast<ElementwiseOpInterface>(op));
}

static constexpr int64_t kPartialCols = 8;

Value FactorRole::getNeutral(ReductionOpInterface op) {
  return splat(getCombination(op.getCombiner()).second,
               getTileType(plan.chunk, kPartialCols, getF32(), acc()));
}

/// What a lane has of the sums, with this pass's channels added.
Value FactorRole::addPartial(ReductionOpInterface op, Value partial) {
  CombineKind kind = getCombination(op.getCombiner()).first;
  Value tile = expand(reduceOwn(op, op.getReducedAxes().front()), true, true);
  RegType type = cast<RegType>(partial.getType());
  for (int64_t col = 0; col < plan.passChannels; col += kPartialCols) {
    Value part = tile::SliceOp::create(builder, loc, type, tile, 0, col);
    partial =
        map({partial, part}, [&](OpBuilder &inner, ValueRange args) -> Value {
          return combine(inner, kind, args[0], args[1]);
        });
  }
  return partial;
}

Value FactorRole::combineLanes(ReductionOpInterface op, Value partial) {
  Value sums = tile::ReduceOp::create(builder, loc,
                                      getCombination(op.getCombiner()).first,
                                      partial, getChannelDimension());
  if (plan.hasTokens(op->getResult(0)))
    return sums;
  return tile::PickOp::create(builder, loc, sums, getTokenDimension(), 0);
}

Value FactorRole::evaluateReduction(ReductionOpInterface op) {
  for (Value operand : op->getOperands())
    prepare(operand);
  SmallVector<Value> partial = forPasses(
      op.getReducedAxes().front(), getNeutral(op), [&](ValueRange carried) {
        return SmallVector<Value>{addPartial(op, carried.front())};
      });
  return combineLanes(op, partial.front());
}

//===----------------------------------------------------------------------===//
// States that are scanned
//===----------------------------------------------------------------------===//

void FactorRole::beginScans() {
  for (const CarriedForm &form : plan.carried) {
    scans.emplace_back(plan, shared, arguments, form);
    scans.back().begin(builder, self,
                       arguments[argumentNumbers.initials + form.state]);
  }
}

void FactorRole::scanChunk(Value number) {
  for (TokenScan &scan : scans)
    scan.scan(builder, {number, stage, remaining, &tiles});
}

void FactorRole::endScans() {
  if (scans.empty())
    return;
  Value length = arith::SubIOp::create(builder, loc, tokens.end, tokens.first);
  Value chunks = arith::DivUIOp::create(
      builder, loc, add(length, index(plan.chunk - 1)), index(plan.chunk));
  for (auto [form, scan] : llvm::zip_equal(plan.carried, scans))
    scan.end(builder, chunks, arguments[argumentNumbers.finals + form.state]);
}

//===----------------------------------------------------------------------===//
// The role
//===----------------------------------------------------------------------===//

/// A factor times products over the tokens after each, as scores take it too;
/// else `recipe`.
static Recipe splitSuffix(const ScanPlan &plan, const Recipe &recipe) {
  if (recipe.scale != Scale::None || !recipe.value)
    return recipe;
  SmallVector<Value> factors = getFactors(recipe.value);
  for (unsigned i : {0, 1}) {
    if (factors.size() != 2)
      break;
    Recipe scale = asScale(factors[i]);
    if (scale.scale == Scale::Suffix && plan.getChannels(scale.decay))
      return {factors[1 - i], Scale::Suffix, scale.decay};
  }
  return recipe;
}

/// What is written: what the roles with states asked for.
void FactorRole::planMatrices() {
  auto find = [&](const Recipe &recipe, ArrayForm form) -> Value {
    for (const Crossing *crossing : shared.getCrossings(0))
      if (crossing->form == form && crossing->recipe == recipe)
        return crossing->memory;
    return {};
  };
  for (const Crossing *crossing : shared.getCrossings(0)) {
    if (crossing->form == ArrayForm::Scores)
      early.push_back(&plan.scores.at(crossing->recipe.value.getDefiningOp()));
    if (crossing->form == ArrayForm::Matrix)
      matrices.push_back({splitSuffix(plan, crossing->recipe), crossing->memory,
                          find(crossing->recipe, ArrayForm::Low)});
  }
}

/// Passes leave out channels that do not exist. What the roles with states read
/// of those is zero in all stages, once and for all; where it lies over an
/// operand, copies bring the zeros.
void FactorRole::clearPadding() {
  auto isCopied = [&](Value memory) {
    chunk::ScanOp scan = plan.scan;
    for (unsigned i = 0; i < scan.getNumOperands(); ++i)
      if (shared.getRing(i) == memory && shared.isRead(i))
        return true;
    return false;
  };
  SmallVector<std::pair<const Crossing *, StringAttr>> padded;
  for (const Crossing *crossing : shared.getCrossings(0)) {
    if (crossing->form == ArrayForm::Scores ||
        crossing->form == ArrayForm::Exact || isCopied(crossing->memory))
      continue;
    StringAttr axis = getChannels(crossing->recipe);
    if (axis && getPasses(axis) * plan.passChannels < plan.getPadded(axis))
      padded.emplace_back(crossing, axis);
  }
  if (padded.empty())
    return;
  auto loop = scf::ForOp::create(builder, loc, self, shared.getStages(),
                                 index(plan.factorWarps));
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(loop.getBody()->getTerminator());
    stage = loop.getInductionVar();
    for (auto [crossing, axis] : padded) {
      Value memory = getStage(crossing->memory, stage);
      auto type = cast<tile::SharedType>(memory.getType());
      bool channelsFirst =
          crossing->form == ArrayForm::Float && type.getRows() > 1;
      Value zeros = convert(splat(0, getTileType(true, type.getRows() > 1)),
                            type.getElementType());
      for (int64_t at = getPasses(axis) * plan.passChannels;
           at < plan.getPadded(axis); at += plan.passChannels)
        store(zeros, memory, index(channelsFirst ? at : 0),
              index(channelsFirst ? 0 : at), /*transposed=*/channelsFirst);
    }
  }
  fence();
  tile::BarrierOp::create(builder, loc, index(kFactorBarrier),
                          builder.getI64IntegerAttr(plan.factorWarps));
}

/// Operands with one number for each token are read a chunk of the warp ahead.
SmallVector<Value> FactorRole::loadScalars(Value first) {
  chunk::ScanOp scan = plan.scan;
  SmallVector<Value> loaded;
  for (unsigned i = 0; i < scan.getNumOperands(); ++i) {
    if (shared.getRing(i) || scan.getBody().getArgument(i).use_empty())
      continue;
    RegType type =
        getTileType(false, true).withElementType(plan.getOperandType(i));
    loaded.push_back(load(arguments[i], first, index(0), type,
                          /*transposed=*/false, tokens.end));
  }
  return loaded;
}

void FactorRole::bindScalars(ValueRange scalars) {
  chunk::ScanOp scan = plan.scan;
  for (unsigned i = 0; i < scan.getNumOperands(); ++i) {
    Value argument = scan.getBody().getArgument(i);
    if (shared.getRing(i) || argument.use_empty())
      continue;
    tiles[argument] = convert(scalars.front(), getF32());
    scalars = scalars.drop_front();
  }
}

void FactorRole::emit(tile::RoleOp role, TokenRange range) {
  tokens = range;
  builder.setInsertionPointToStart(&role.getBody().front());
  planMatrices();
  self = tile::WarpOp::create(builder, loc);
  if (plan.usesExponentials())
    makeTriangle();
  beginScans();
  for (BlockArgument constant : plan.scan.getConstantArguments())
    if (!constant.use_empty() && !plan.getChannels(constant))
      tiles[constant] = loadConstant(constant);

  Value size = index(plan.chunk);
  Value step =
      arith::MulIOp::create(builder, loc, shared.getChunksAtOnce(), size);
  Value group = self;
  if (plan.chunkWarps > 1) {
    group = arith::DivUIOp::create(builder, loc, self, index(plan.chunkWarps));
    inChunk =
        arith::RemUIOp::create(builder, loc, self, index(plan.chunkWarps));
  }
  // With fewer stages than warps the last warps have nothing to do.
  Value takesPart = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ult, group, shared.getChunksAtOnce());
  Value begin = arith::SelectOp::create(
      builder, loc, takesPart, add(tokens.first, multiply(group, plan.chunk)),
      tokens.end);
  SmallVector<Value> scalars = loadScalars(begin);
  auto loop =
      scf::ForOp::create(builder, loc, begin, tokens.end, step, scalars);
  if (scalars.empty())
    builder.setInsertionPoint(loop.getBody()->getTerminator());
  else
    builder.setInsertionPointToStart(loop.getBody());
  Value first = loop.getInductionVar();
  Value passed = arith::SubIOp::create(builder, loc, first, tokens.first);
  Value number = arith::DivUIOp::create(builder, loc, passed, size);
  stage = arith::RemUIOp::create(builder, loc, number, shared.getStages());
  remaining = arith::SubIOp::create(builder, loc, tokens.end, first);
  SmallVector<Value> next = loadScalars(add(first, step));
  const Phases &phases = shared.getPhases();
  Value parity = shared.getParity(builder, number);
  // That copies have landed says nothing of who read what before; and before
  // the second role is done with the stage, it may be those of the chunk that
  // had it last, since copies land in any order.
  Value before = arith::SubIOp::create(builder, loc, index(1), parity);
  tile::PhaseWaitOp::create(builder, loc, phases.done, stage, before);
  tile::PhaseWaitOp::create(builder, loc, phases.landed, stage, parity);
  bindScalars(loop.getRegionIterArgs());
  scanChunk(number);
  emitChunk();
  fence();
  tile::PhaseArriveOp::create(builder, loc, phases.ready.front(), stage);
  if (!scalars.empty())
    scf::YieldOp::create(builder, loc, next);
  // What is read is known now.
  builder.setInsertionPoint(loop);
  clearPadding();
  builder.setInsertionPointAfter(loop);
  endScans();
}
