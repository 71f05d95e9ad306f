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
// Operands
//===----------------------------------------------------------------------===//

void FactorRole::copyChunk(Value first, Value stageNumber) {
  chunk::ScanOp scan = plan.scan;
  for (unsigned i = 0; i < scan.getNumOperands(); ++i)
    if (Value ring = shared.getRing(i))
      tile::CopyAsyncOp::create(builder, loc, arguments[i], first, index(0),
                                tokens.end, getStage(ring, stageNumber));
  tile::CopyCommitOp::create(builder, loc);
}

/// Operands with one number for each token are read a chunk ahead, by every
/// warp.
SmallVector<Value> FactorRole::loadScalars(Value first) {
  chunk::ScanOp scan = plan.scan;
  SmallVector<Value> loaded;
  for (unsigned i = 0; i < scan.getNumOperands(); ++i) {
    if (shared.getRing(i) || scan.getBody().getArgument(i).use_empty())
      continue;
    RegType type =
        getTileType(false, true).withElementType(plan.getOperandType(i));
    loaded.push_back(load(arguments[i], first, index(0), type,
                          /*transposed=*/true, tokens.end));
  }
  return loaded;
}

//===----------------------------------------------------------------------===//
// Decays
//===----------------------------------------------------------------------===//

/// The bound on the sum of a chunk's gates from which on their exponentials,
/// and one divided by them, are far from the ends of float32's range.
static constexpr double kMostDecay = -60;
static constexpr double kLog2E = 1.4426950408889634;

Value FactorRole::getRunningSums(Value logs, Value exponent) {
  std::optional<unsigned> operand = plan.getRawOperand(exponent);
  if (!triangle || !operand || plan.getOperandType(*operand) != getMatrixType())
    return tile::ScanOp::create(builder, loc, CombineKind::Sum, logs,
                                Dimension::Cols, false, false, IntegerAttr());
  // The matrix unit adds 16-bit numbers exactly.
  Value memory = getRaw(*operand);
  Value first = getFirstChannel(plan.getChannels(exponent));
  Value sums = splat(0, getTileType(true, true));
  RegType lhs = getTileType(ScanPlan::kRows, 16, getMatrixType(),
                            LayoutAttr::getLhs(builder.getContext()));
  for (int64_t token = 0; token < plan.chunk; token += 16)
    sums = tile::MmaOp::create(
        builder, loc,
        load(memory, index(token), first, lhs, /*transposed=*/true),
        load(triangle, index(token), index(0), getTriangleType()), sums);
  return sums;
}

void FactorRole::addGuard(
    Value value, llvm::function_ref<Value(OpBuilder &, Value)> isSafe) {
  guards.push_back(
      mapTo(builder.getI1Type(), value, [&](OpBuilder &inner, ValueRange args) {
        return isSafe(inner, args[0]);
      }));
}

const FactorRole::DecayTiles &FactorRole::getDecay(Value decay) {
  DecayTiles &tiles = decays[decay.getAsOpaquePointer()];
  if (tiles.total)
    return tiles;
  auto select = [&](OpBuilder &inner, arith::CmpFPredicate predicate, Value lhs,
                    double bound, double otherwise) -> Value {
    Value holds =
        arith::CmpFOp::create(inner, loc, predicate, lhs, number(inner, bound));
    return arith::SelectOp::create(inner, loc, holds, lhs,
                                   number(inner, otherwise));
  };
  auto atLeast = [&](double bound) {
    return [&, bound](OpBuilder &inner, Value value) -> Value {
      return arith::CmpFOp::create(inner, loc, arith::CmpFPredicate::OGE, value,
                                   number(inner, bound));
    };
  };
  auto exp = decay.getDefiningOp<ExpOp>();
  if (exp && plan.getRawOperand(exp.getOperand())) {
    tiles.logs = evaluate(exp.getOperand());
    tiles.sums = getRunningSums(tiles.logs, exp.getOperand());
    // A positive gate, or no number, fails as too strong a one does.
    Value bounded = map(tiles.logs, [&](OpBuilder &inner, ValueRange args) {
      return select(inner, arith::CmpFPredicate::OLE, args[0], 0,
                    -std::numeric_limits<double>::infinity());
    });
    tiles.total = tile::ReduceOp::create(builder, loc, CombineKind::Sum,
                                         bounded, Dimension::Cols);
    addGuard(tiles.total, atLeast(kMostDecay));
    return tiles;
  }
  tiles.factors = evaluateFactors(decay);
  Value bounded = map(tiles.factors, [&](OpBuilder &inner, ValueRange args) {
    return select(inner, arith::CmpFPredicate::OLE, args[0], 1, 0);
  });
  Value products =
      tile::ScanOp::create(builder, loc, CombineKind::Product, bounded,
                           Dimension::Cols, false, false, IntegerAttr());
  tiles.sums = products;
  tiles.total = tile::ReduceOp::create(builder, loc, CombineKind::Min, products,
                                       Dimension::Cols);
  addGuard(tiles.total, atLeast(std::exp(kMostDecay)));
  return tiles;
}

Value FactorRole::evaluateExact(Scale scale, Value factors) {
  auto scan = [&](bool backward, bool exclusive) -> Value {
    return tile::ScanOp::create(builder, loc, CombineKind::Product, factors,
                                Dimension::Cols, backward, exclusive,
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
                                  Dimension::Cols);
  case Scale::None:
  case Scale::Inverse:
    break;
  }
  llvm_unreachable("not a product of factors");
}

Value FactorRole::evaluateScale(Scale scale, Value decay) {
  if (exact || !plan.getChannels(decay))
    return evaluateExact(scale, evaluateFactors(decay));
  const DecayTiles &decayTiles = getDecay(decay);
  auto exp2 = [&](OpBuilder &inner, Value value, double sign) -> Value {
    Value scaled =
        arith::MulFOp::create(inner, loc, value, number(inner, sign * kLog2E),
                              arith::FastMathFlags::contract);
    return math::Exp2Op::create(inner, loc, scaled);
  };
  Value sums = decayTiles.sums, total = decayTiles.total;
  if (!decayTiles.logs) {
    switch (scale) {
    case Scale::Inclusive:
      return sums;
    case Scale::Total:
      return total;
    case Scale::Inverse:
      return map(sums, [&](OpBuilder &inner, ValueRange args) -> Value {
        return arith::DivFOp::create(inner, loc, number(inner, 1), args[0]);
      });
    default:
      return evaluateExact(scale, decayTiles.factors);
    }
  }
  switch (scale) {
  case Scale::Inclusive:
    return map(sums, [&](OpBuilder &inner, ValueRange args) {
      return exp2(inner, args[0], 1);
    });
  case Scale::Exclusive:
    return map({sums, decayTiles.logs}, [&](OpBuilder &inner, ValueRange args) {
      Value before = arith::SubFOp::create(inner, loc, args[0], args[1]);
      return exp2(inner, before, 1);
    });
  case Scale::Inverse:
    return map(sums, [&](OpBuilder &inner, ValueRange args) {
      return exp2(inner, args[0], -1);
    });
  case Scale::Total:
    return map(total, [&](OpBuilder &inner, ValueRange args) {
      return exp2(inner, args[0], 1);
    });
  case Scale::Suffix:
    return product(evaluateScale(Scale::Inverse, decay),
                   evaluateScale(Scale::Total, decay));
  case Scale::None:
    break;
  }
  llvm_unreachable("not a scale");
}

Value FactorRole::evaluateCumulate(CumulateOp op) {
  if (!op.getBackward())
    return evaluateScale(op.getExclusive() ? Scale::Exclusive
                                           : Scale::Inclusive,
                         op.getOperand());
  if (op.getExclusive())
    return evaluateScale(Scale::Suffix, op.getOperand());
  return tile::ScanOp::create(builder, loc, CombineKind::Product,
                              evaluateFactors(op.getOperand()), Dimension::Cols,
                              /*backward=*/true, /*exclusive=*/false,
                              IntegerAttr());
}

Value FactorRole::evaluateLeaf(Value value) {
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

//===----------------------------------------------------------------------===//
// A chunk
//===----------------------------------------------------------------------===//

void FactorRole::addMatrix(const Recipe &recipe, bool low) {
  if (recipe.scale == Scale::None && plan.getMatrixOperand(recipe.value))
    return;
  for (Matrix &matrix : matrices) {
    if (!(matrix.recipe == recipe))
      continue;
    if (low && !matrix.low)
      matrix.low = shared.allocate(recipe, ArrayForm::Low);
    return;
  }
  Matrix matrix{recipe, shared.allocate(recipe, ArrayForm::Matrix), {}};
  if (low)
    matrix.low = shared.allocate(recipe, ArrayForm::Low);
  matrices.push_back(matrix);
}

/// What is written: what the second role asked for, and readers and writers of
/// scores with what rounding them leaves.
void FactorRole::planMatrices() {
  for (const Crossing &crossing : shared.getCrossings()) {
    if (crossing.form == ArrayForm::Scores)
      early.push_back(&plan.scores.at(crossing.recipe.value.getDefiningOp()));
    if (crossing.form == ArrayForm::Matrix)
      matrices.push_back({crossing.recipe, crossing.memory, {}, true});
  }
  for (const Crossing &crossing : shared.getCrossings())
    if (crossing.form == ArrayForm::Low)
      for (Matrix &matrix : matrices)
        if (matrix.recipe == crossing.recipe) {
          matrix.low = crossing.memory;
          matrix.lowCrosses = true;
        }
  for (const ScoresForm *form : early) {
    addMatrix(form->reader, true);
    addMatrix(form->writer, true);
  }
}

MatrixPair FactorRole::getMatrix(const Recipe &recipe) {
  if (recipe.scale == Scale::None)
    if (std::optional<unsigned> operand = plan.getMatrixOperand(recipe.value))
      return {getRaw(*operand), {}};
  for (const Matrix &matrix : matrices)
    if (matrix.recipe == recipe)
      return {matrix.highCrosses ? getStage(matrix.high, parity) : matrix.high,
              matrix.lowCrosses ? getStage(matrix.low, parity) : matrix.low};
  llvm_unreachable("a matrix that was not planned");
}

/// Whether all bounds hold, for each channel.
Value FactorRole::joinGuards() {
  Value all = guards.front();
  for (Value guard : ArrayRef(guards).drop_front())
    all = mapTo(builder.getI1Type(), {all, guard},
                [&](OpBuilder &inner, ValueRange args) -> Value {
                  return arith::AndIOp::create(inner, loc, args[0], args[1]);
                });
  return all;
}

/// What there is along `axis` (or along none) of the arrays that are written.
void FactorRole::writeAlong(StringAttr axis) {
  for (const Matrix &matrix : matrices) {
    if (getChannels(matrix.recipe) != axis ||
        (exact && matrix.recipe.scale == Scale::Inverse))
      continue;
    if (exact)
      forget();
    storeMatrix(evaluateForMatrix(matrix.recipe), axis,
                getMatrix(matrix.recipe));
  }
  for (const Crossing &crossing : shared.getCrossings()) {
    if (crossing.form != ArrayForm::Float ||
        getChannels(crossing.recipe) != axis ||
        (exact && crossing.recipe.scale == Scale::Inverse))
      continue;
    if (exact)
      forget();
    storeFloat(evaluate(crossing.recipe), axis,
               getStage(crossing.memory, parity));
  }
}

void FactorRole::writeArrays() {
  SmallVector<StringAttr> axes;
  auto add = [&](StringAttr axis) {
    if (!llvm::is_contained(axes, axis))
      axes.push_back(axis);
  };
  for (const Matrix &matrix : matrices)
    add(getChannels(matrix.recipe));
  for (const Crossing &crossing : shared.getCrossings())
    if (crossing.form == ArrayForm::Float)
      add(getChannels(crossing.recipe));
  for (StringAttr axis : axes) {
    if (!axis || getPasses(axis) == 1) {
      writeAlong(axis);
      continue;
    }
    // The bounds of all passes.
    Value bounded;
    if (!exact)
      bounded = tile::SplatOp::create(
          builder, loc,
          getTileType(true, false).withElementType(builder.getI1Type()),
          arith::ConstantIntOp::create(builder, loc, 1, 1));
    auto outer = std::move(guards);
    guards.clear();
    auto known = std::move(decays);
    bool any = false;
    bounded = forPasses(axis, bounded, [&](Value carried) {
      decays.clear();
      writeAlong(axis);
      any = !guards.empty();
      if (!carried)
        return carried;
      guards.push_back(carried);
      return joinGuards();
    });
    decays = std::move(known);
    guards = std::move(outer);
    if (any && !exact)
      guards.push_back(bounded);
  }
  for (const ScoresForm *form : early) {
    for (Value factor : form->readerFactors)
      storeTokens(factor);
    for (Value factor : form->writerFactors)
      storeTokens(factor);
    storeTokens(form->diagonal);
    storeScalarDecay(*form);
  }
}

Value FactorRole::makeScores(const ScoresForm &form, bool exactly) {
  chunk::ScoresOp op = form.op;
  auto axis = cast<StringAttr>(op.getAxes()[0]);
  MatrixPair writer = getMatrix(form.writer);
  Value raw = exactly && form.decay
                  ? exactPairs(form, writer)
                  : multiplyPairs(getMatrix(form.reader), writer, axis);
  return finishScores(form, raw);
}

SmallVector<Value> FactorRole::makeAllScores() {
  SmallVector<Value> scores;
  for (const ScoresForm *form : early)
    scores.push_back(makeScores(*form, exact));
  return scores;
}

void FactorRole::emitChunk(Value first, ValueRange scalars) {
  llvm::DenseMap<Value, Value> outer = tiles;
  chunk::ScanOp scan = plan.scan;
  for (unsigned i = 0; i < scan.getNumOperands(); ++i) {
    Value argument = scan.getBody().getArgument(i);
    if (shared.getRing(i) || argument.use_empty())
      continue;
    tiles[argument] = convert(scalars.front(), getF32());
    scalars = scalars.drop_front();
  }
  kept = tiles;
  writeArrays();
  SmallVector<Value> scores;
  if (guards.empty()) {
    barrier();
    scores = makeAllScores();
  } else {
    Value bounded = joinGuards();
    Value safe = tile::VoteOp::create(
        builder, loc, builder.getI1Type(), tile::VoteKind::All, bounded,
        index(barrierId), builder.getI64IntegerAttr(warps));
    getPairTile();
    RegType type = getTileType(ScanPlan::kRows, pairs->cols, getF32(), acc());
    auto branch = scf::IfOp::create(
        builder, loc, SmallVector<Type>(early.size(), type), safe,
        /*addThenBlock=*/true, /*addElseBlock=*/true);
    for (bool exactly : {false, true}) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(exactly ? branch.elseBlock()
                                               : branch.thenBlock());
      llvm::DenseMap<Value, Value> before = tiles;
      exact = exactly;
      if (exactly) {
        forget();
        writeArrays();
        barrier();
      }
      SmallVector<Value> made = makeAllScores();
      scf::YieldOp::create(builder, loc, made);
      exact = false;
      tiles = before;
    }
    llvm::append_range(scores, branch.getResults());
    for (const Crossing &crossing : shared.getCrossings()) {
      if (crossing.form != ArrayForm::Exact)
        continue;
      Value flag = arith::SelectOp::create(
          builder, loc, safe, number(builder, 0), number(builder, 1));
      Value tile =
          tile::SplatOp::create(builder, loc, getTileType(false, false), flag);
      storeFloat(tile, StringAttr(), getStage(crossing.memory, parity));
    }
  }
  for (auto [form, tile] : llvm::zip_equal(early, scores)) {
    chunk::ScoresOp op = form->op;
    Recipe recipe{op.getResult(), Scale::None, {}};
    storeScores(tile,
                getStage(shared.cross(recipe, ArrayForm::Scores), parity));
  }
  fence();
  tiles = outer;
  decays.clear();
  guards.clear();
}

//===----------------------------------------------------------------------===//
// The role
//===----------------------------------------------------------------------===//

void FactorRole::setStages(int64_t stages) {
  for (tile::CopyWaitOp wait : waits)
    wait.setPending(static_cast<uint64_t>(stages - 2));
}

RegType FactorRole::getTriangleType() const {
  return getTileType(16, plan.chunk, getMatrixType(),
                     LayoutAttr::getRhs(plan.scan.getContext()));
}

/// Ones up to the diagonal, by which the matrix unit makes running sums.
void FactorRole::makeTriangle() {
  triangle = shared.allocate({}, ArrayForm::Scores);
  RegType type = getTriangleType();
  auto bf16 = [&](OpBuilder &inner, StringRef text) -> Value {
    return arith::ConstantFloatOp::create(
        inner, loc, getMatrixType(),
        llvm::APFloat(llvm::APFloat::BFloat(), text));
  };
  onlyWarps(1, [&] {
    for (int64_t token = 0; token < plan.chunk; token += 16) {
      Value ones =
          tile::SplatOp::create(builder, loc, type, bf16(builder, "1.0"));
      Value rows = numbers(Dimension::Rows, type, index(token));
      Value cols = numbers(Dimension::Cols, type, Value());
      Value part =
          mapTo(getMatrixType(), {ones, rows, cols},
                [&](OpBuilder &inner, ValueRange args) -> Value {
                  Value before = arith::CmpIOp::create(
                      inner, loc, arith::CmpIPredicate::sle, args[1], args[2]);
                  return arith::SelectOp::create(inner, loc, before, args[0],
                                                 bf16(inner, "0.0"));
                });
      store(part, triangle, index(token), index(0));
    }
  });
}

void FactorRole::emit(tile::RoleOp role, TokenRange range) {
  tokens = range;
  builder.setInsertionPointToStart(&role.getBody().front());
  planMatrices();
  warp = tile::WarpOp::create(builder, loc);
  if (plan.usesExponentials())
    makeTriangle();
  for (BlockArgument constant : plan.scan.getConstantArguments()) {
    StringAttr axis = plan.getChannels(constant);
    if (!constant.use_empty() && (!axis || getPasses(axis) == 1))
      tiles[constant] = loadConstant(constant);
  }
  getPairTile();

  Value size = index(plan.chunk);
  auto prologue = scf::ForOp::create(builder, loc, index(0),
                                     shared.getStagesAhead(), index(1));
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(prologue.getBody()->getTerminator());
    Value number = prologue.getInductionVar();
    copyChunk(add(tokens.first, multiply(number, plan.chunk)), number);
  }
  SmallVector<Value> scalars = loadScalars(tokens.first);
  auto loop =
      scf::ForOp::create(builder, loc, tokens.first, tokens.end, size, scalars);
  builder.setInsertionPointToStart(loop.getBody());
  if (scalars.empty())
    builder.setInsertionPoint(loop.getBody()->getTerminator());
  Value first = loop.getInductionVar();
  waits.push_back(tile::CopyWaitOp::create(builder, loc, 0));
  barrier();
  Value passed = arith::SubIOp::create(builder, loc, first, tokens.first);
  Value number = arith::DivUIOp::create(builder, loc, passed, size);
  stage = arith::RemUIOp::create(builder, loc, number, shared.getStages());
  parity = arith::RemUIOp::create(builder, loc, number, index(2));
  remaining = arith::SubIOp::create(builder, loc, tokens.end, first);
  SmallVector<Value> next = loadScalars(add(first, size));
  emitChunk(first, loop.getRegionIterArgs());

  int64_t all = warps + ScanPlan::kStateWarps;
  tile::ArriveOp::create(builder, loc, add(parity, index(kFullBarrier)), all);
  // What the second role has done with the chunk before frees its stages.
  Value later = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                      number, index(0));
  auto wait = scf::IfOp::create(builder, loc, later, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(wait.thenBlock()->getTerminator());
    Value id =
        arith::SubIOp::create(builder, loc, index(kFreeBarrier + 1), parity);
    tile::BarrierOp::create(builder, loc, id, builder.getI64IntegerAttr(all));
  }
  Value ahead = add(number, shared.getStagesAhead());
  copyChunk(add(tokens.first, multiply(ahead, plan.chunk)),
            arith::RemUIOp::create(builder, loc, ahead, shared.getStages()));
  if (!scalars.empty())
    scf::YieldOp::create(builder, loc, next);
}
