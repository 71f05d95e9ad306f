//===- FactorPasses.cpp - Passes over channels -*- C++ -*- ----------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FactorRole.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace larc;

/// Channels whose passes are under way together, if no decision is to be taken
/// in them: registers do not suffice for more.
static constexpr int64_t kChannelsAtATime = 32;

using chunk::CumulateOp;
using chunk::TotalOp;
using tile::Dimension;
using tile::LayoutAttr;
using tile::RegType;

//===----------------------------------------------------------------------===//
// What lies along an axis
//===----------------------------------------------------------------------===//

void FactorRole::forEachRecipe(
    StringAttr axis, llvm::function_ref<void(const Recipe &)> visit) const {
  for (const Matrix &matrix : matrices)
    if (getChannels(matrix.recipe) == axis)
      visit(matrix.recipe);
  for (const Crossing *crossing : shared.getCrossings(0))
    if (crossing->form == ArrayForm::Float &&
        getChannels(crossing->recipe) == axis)
      visit(crossing->recipe);
  for (const ScoresForm *form : early) {
    if (form->getAxis() != axis)
      continue;
    visit(form->reader);
    visit(form->writer);
  }
}

SmallVector<StringAttr> FactorRole::getAxes() const {
  llvm::SmallSetVector<StringAttr, 4> axes;
  for (const ScoresForm *form : early)
    axes.insert(form->getAxis());
  for (const Matrix &matrix : matrices)
    axes.insert(getChannels(matrix.recipe));
  for (const Crossing *crossing : shared.getCrossings(0))
    if (crossing->form == ArrayForm::Float)
      if (StringAttr axis = getChannels(crossing->recipe))
        axes.insert(axis);
  return axes.takeVector();
}

SmallVector<Value> FactorRole::getDecays(StringAttr axis) const {
  llvm::SmallSetVector<Value, 4> found;
  forEachRecipe(axis, [&](const Recipe &recipe) {
    if (recipe.decay && plan.getChannels(recipe.decay) == axis)
      found.insert(recipe.decay);
    walkValues(recipe.value, [&](Value value) {
      if (plan.getChannels(value) != axis)
        return false;
      Operation *op = value.getDefiningOp();
      if (isa_and_nonnull<CumulateOp, TotalOp>(op))
        found.insert(op->getOperand(0));
      return true;
    });
  });
  return found.takeVector();
}

/// Computes what `value` takes that has no channels, so that passes over
/// channels find it.
void FactorRole::prepare(Value value) {
  walkValues(value, [&](Value part) {
    if (plan.getChannels(part))
      return true;
    // What is scanned begins with states, which nothing else reads.
    auto argument = dyn_cast<BlockArgument>(part);
    if (!argument || !llvm::is_contained(plan.scan.getStateArguments(), part))
      evaluate(part);
    return false;
  });
}

/// The sums over channels that nothing takes before the passes are over.
SmallVector<ReductionOpInterface> FactorRole::getOpenReductions() {
  llvm::SmallSetVector<Operation *, 4> found;
  auto collect = [&](Value root) {
    walkValues(root, [&](Value value) {
      if (tiles.contains(value))
        return false;
      auto reduction = value.getDefiningOp<ReductionOpInterface>();
      if (reduction)
        found.insert(reduction);
      return !reduction;
    });
  };
  for (const ScoresForm *form : early) {
    for (Value factor : form->readerFactors)
      collect(factor);
    for (Value factor : form->writerFactors)
      collect(factor);
    collect(form->diagonal);
    collect(form->scalarDecay);
  }
  forEachRecipe({}, [&](const Recipe &recipe) {
    collect(recipe.value);
    collect(recipe.decay);
  });
  SmallVector<ReductionOpInterface> reductions;
  for (Operation *op : found)
    reductions.push_back(cast<ReductionOpInterface>(op));
  return reductions;
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

SmallVector<std::pair<int64_t, int64_t>> FactorRole::getBlockPairs() const {
  SmallVector<std::pair<int64_t, int64_t>> blocks;
  for (int64_t reader = 0; reader < plan.chunk / ScanPlan::kRows; ++reader)
    for (int64_t writer = 0; writer <= reader; ++writer)
      blocks.emplace_back(reader, writer);
  return blocks;
}

RegType FactorRole::getPairType() const {
  return getTileType(ScanPlan::kRows, ScanPlan::kRows, getF32(), acc());
}

/// 16 tokens of a tile.
Value FactorRole::getBlock(Value tile, int64_t block) {
  tile = expand(tile, true, true);
  RegType type =
      getTileType(ScanPlan::kRows, plan.passChannels, getF32(), acc());
  return tile::SliceOp::create(builder, loc, type, tile,
                               block * ScanPlan::kRows, 0);
}

/// The matrix unit cuts off the last 13 bits of what it multiplies, which makes
/// operands too small by 0.72 / 2^11 of themselves on average, if all mantissas
/// are alike frequent on a logarithmic scale. That is made up for first. It is
/// less than what a number without those bits could show, which stays as it is,
/// as infinities and NaN do.
Value FactorRole::makeUpForCut(Value tile) {
  constexpr double factor = 1 + 0.72 / 2048;
  return map(tile, [&](OpBuilder &inner, ValueRange args) -> Value {
    return arith::MulFOp::create(inner, loc, args.front(),
                                 number(inner, factor));
  });
}

/// Adds what the pass's channels are of the sums.
void FactorRole::addScores(const ScoresForm &form,
                           MutableArrayRef<Value> scores) {
  std::optional<unsigned> readerOperand, writerOperand;
  if (!form.decay) {
    readerOperand = plan.getMatrixOperand(form.reader.value);
    writerOperand = plan.getMatrixOperand(form.writer.value);
  }
  auto blocks = getBlockPairs();
  if (!readerOperand || !writerOperand) {
    // What came in 16 bits is not cut.
    auto prepareFactor = [&](const Recipe &recipe, bool isExact) {
      Value tile = fillPadding(evaluate(recipe), recipe.value);
      return isExact ? tile : makeUpForCut(tile);
    };
    Value reader = prepareFactor(form.reader, readerOperand.has_value());
    Value writer = prepareFactor(form.writer, writerOperand.has_value());
    for (auto [pair, sum] : llvm::zip_equal(blocks, scores))
      sum = tile::MmaRowsOp::create(builder, loc, getBlock(reader, pair.first),
                                    getBlock(writer, pair.second), sum);
    return;
  }
  // The matrix unit takes them as they came.
  MLIRContext *context = builder.getContext();
  Value channel = getFirstChannel(form.getAxis());
  SmallVector<Value> readers, writers;
  for (int64_t token = 0; token < plan.chunk; token += ScanPlan::kRows) {
    readers.push_back(
        load(getRaw(*readerOperand), index(token), channel,
             getTileType(ScanPlan::kRows, plan.passChannels, getMatrixType(),
                         LayoutAttr::getLhs(context))));
    writers.push_back(
        load(getRaw(*writerOperand), index(token), channel,
             getTileType(plan.passChannels, ScanPlan::kRows, getMatrixType(),
                         LayoutAttr::getRhs(context)),
             /*transposed=*/true));
  }
  for (auto [pair, sum] : llvm::zip_equal(blocks, scores))
    sum = tile::MmaOp::create(builder, loc, readers[pair.first],
                              writers[pair.second], sum);
}

Value FactorRole::addWhere(
    Value sum, Value part, const PairTile &pair,
    llvm::function_ref<Value(OpBuilder &, Value)> holds) {
  return map({sum, part, pair.rows, pair.colNumbers},
             [&](OpBuilder &inner, ValueRange args) -> Value {
               Value bits = arith::XOrIOp::create(inner, loc, args[2], args[3]);
               Value both = arith::AddFOp::create(inner, loc, args[0], args[1]);
               return arith::SelectOp::create(inner, loc, holds(inner, bits),
                                              both, args[0]);
             });
}

/// The same by products of factors over halves of blocks of 2, 4, ... tokens;
/// those over the whole chunk are what is left in the end.
void FactorRole::emitExactly(Value decay, StringAttr axis,
                             MutableArrayRef<Value> scores) {
  size_t others = carriedValues.size();
  forEachRecipe(axis, [&](Recipe recipe) {
    if (recipe.scale == Scale::Inverse)
      recipe.scale = Scale::Suffix;
    if (recipe.decay == decay && recipe.scale != Scale::None &&
        recipe.scale != Scale::Total)
      carry(recipe);
  });
  Value total = evaluateFactors(decay);
  auto blocks = getBlockPairs();
  Value zeros = splat(0, getPairType());
  // Within a block it is all the same which one it is.
  PairTile own = getPair({0, 0});
  auto forScores =
      [&](llvm::function_ref<void(const ScoresForm &, MutableArrayRef<Value>)>
              body) {
        MutableArrayRef<Value> rest = scores;
        for (const ScoresForm *form : early) {
          if (form->getAxis() != axis)
            continue;
          if (form->decay == decay)
            body(*form, rest.take_front(blocks.size()));
          rest = rest.drop_front(blocks.size());
        }
      };
  auto multiplyBlocks = [&](Value reader, Value writer,
                            std::pair<int64_t, int64_t> pair, Value sum) {
    return tile::MmaRowsOp::create(builder, loc, getBlock(reader, pair.first),
                                   getBlock(writer, pair.second), sum)
        .getResult();
  };
  for (int64_t half = 1, level = 0; half < plan.chunk; half *= 2, ++level) {
    forScores([&](const ScoresForm &form, MutableArrayRef<Value> sums) {
      Value reader = getCarried(form.reader);
      Value writer = getCarried({form.writer.value, Scale::Suffix, decay});
      for (auto [pair, sum] : llvm::zip_equal(blocks, sums)) {
        if (half >= ScanPlan::kRows) {
          if ((pair.first ^ pair.second) * ScanPlan::kRows / half == 1)
            sum = multiplyBlocks(reader, writer, pair, sum);
          continue;
        }
        if (pair.first == pair.second)
          sum = addWhere(sum, multiplyBlocks(reader, writer, pair, zeros), own,
                         [&](OpBuilder &inner, Value bits) {
                           return differInHalf(inner, loc, bits, level);
                         });
      }
    });
    Value other = tile::ExchangeOp::create(builder, loc, total,
                                           getTokenDimension(), half);
    for (Carried &carried : MutableArrayRef(carriedValues).drop_front(others))
      carried.tile = extend(carried.tile, other, half,
                            carried.recipe.scale != Scale::Suffix);
    total = product(total, other);
  }
  forScores([&](const ScoresForm &form, MutableArrayRef<Value> sums) {
    if (!form.ownScore)
      return;
    forget();
    Value reader = fillPadding(evaluate(form.reader.value), form.reader.value);
    Value writer = fillPadding(evaluate(form.writer.value), form.writer.value);
    for (auto [pair, sum] : llvm::zip_equal(blocks, sums))
      if (pair.first == pair.second)
        sum = addWhere(sum, multiplyBlocks(reader, writer, pair, zeros), own,
                       [&](OpBuilder &inner, Value bits) -> Value {
                         Value zero =
                             arith::ConstantIntOp::create(inner, loc, 0, 32);
                         return arith::CmpIOp::create(
                             inner, loc, arith::CmpIPredicate::eq, bits, zero);
                       });
  });
  exactTotals[decay.getAsOpaquePointer()] = total;
}

RoleEmitter::PairTile FactorRole::getPair(std::pair<int64_t, int64_t> blocks) {
  PairTile pair;
  pair.cols = ScanPlan::kRows;
  pair.row = index(blocks.first * ScanPlan::kRows);
  pair.col = index(blocks.second * ScanPlan::kRows);
  pair.rows = numbers(Dimension::Rows, getPairType(), pair.row);
  pair.colNumbers = numbers(Dimension::Cols, getPairType(), pair.col);
  return pair;
}

Value FactorRole::allocateTokens(int64_t rows) {
  auto type = tile::SharedType::get(builder.getContext(), rows, plan.chunk,
                                    getF32(), 0, 0, plan.factorWarps);
  return getStage(shared.allocate(type), self);
}

void FactorRole::storeScalarDecay(const ScoresForm &form) {
  if (!form.scalarDecay)
    return;
  auto levels = static_cast<int64_t>(llvm::Log2_64(plan.chunk));
  chunk::ScoresOp op = form.op;
  Value memory = tokenMemories[op.getResult()] = allocateTokens(2 * levels);
  BlockProducts products =
      beginProducts(evaluateFactors(form.scalarDecay), !form.scalarInclusive,
                    form.scalarInclusive);
  auto storeRow = [&](Value tile, int64_t row) {
    store(tile, memory, index(row), index(0), /*transposed=*/true);
  };
  for (int64_t level = 0; level < levels; ++level) {
    storeRow(form.scalarInclusive ? products.upTo : products.before, level);
    storeRow(products.after, levels + level);
    mergeBlocks(products, int64_t(1) << level);
  }
}

void FactorRole::writeScores(const ScoresForm &form, ValueRange raw) {
  chunk::ScoresOp op = form.op;
  Recipe recipe{op.getResult(), Scale::None, {}};
  Value memory = getStage(shared.cross(recipe, ArrayForm::Scores), stage);
  // The loads of the chunk before are over.
  barrier();
  for (Value factor : form.readerFactors)
    storeTokens(factor);
  for (Value factor : form.writerFactors)
    storeTokens(factor);
  storeTokens(form.diagonal);
  storeScalarDecay(form);
  barrier();
  for (auto [blocks, tile] : llvm::zip_equal(getBlockPairs(), raw)) {
    PairTile pair = getPair(blocks);
    Value finished = finishScores(form, tile, pair);
    store(convert(finished, getMatrixType()), memory, pair.row, pair.col);
    if (blocks.first == blocks.second)
      continue;
    Value zeros = convert(splat(0, getPairType()), getMatrixType());
    store(zeros, memory, pair.col, pair.row);
  }
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

/// What there is along `axis` (or along none) of the arrays that are written;
/// `flush` does so, after all that is read has been.
void FactorRole::writeAlong(StringAttr axis) {
  // Where a bound does not hold, inverses are not used, though they are read.
  auto isUnused = [&](const Recipe &recipe) {
    return exact && recipe.scale == Scale::Inverse;
  };
  for (const Matrix &matrix : matrices) {
    if (getChannels(matrix.recipe) != axis)
      continue;
    Value tile = isUnused(matrix.recipe) ? splat(0, getTileType(true, true))
                                         : evaluateForMatrix(matrix.recipe);
    pending.emplace_back(pass, [this, tile, axis, &matrix] {
      Value low = matrix.low ? getStage(matrix.low, stage) : Value();
      storeMatrix(tile, axis, {getStage(matrix.high, stage), low});
    });
  }
  for (const Crossing *crossing : shared.getCrossings(0)) {
    if (crossing->form != ArrayForm::Float ||
        getChannels(crossing->recipe) != axis)
      continue;
    Value tile = isUnused(crossing->recipe) ? splat(0, getTileType(true, true))
                                            : evaluate(crossing->recipe);
    pending.emplace_back(pass, [this, tile, axis, crossing] {
      storeFloat(tile, axis, getStage(crossing->memory, stage));
    });
  }
}

void FactorRole::flush() {
  if (pending.empty())
    return;
  barrier();
  Value outer = pass;
  for (const auto &[at, write] : pending) {
    pass = at;
    write();
  }
  pass = outer;
  pending.clear();
}

SmallVector<Value> FactorRole::emitPass(StringAttr axis, ValueRange carried) {
  SmallVector<Value> scores(carried);
  if (exact)
    for (Value decay : getDecays(axis))
      emitExactly(decay, axis, scores);
  MutableArrayRef<Value> rest = scores;
  size_t count = getBlockPairs().size();
  for (const ScoresForm *form : early) {
    if (form->getAxis() != axis)
      continue;
    if (!exact || !form->decay)
      addScores(*form, rest.take_front(count));
    rest = rest.drop_front(count);
  }
  writeAlong(axis);
  return scores;
}

/// The pass by either way, whichever the bounds on the decays allow.
SmallVector<Value> FactorRole::choosePass(StringAttr axis, ValueRange scores) {
  decays.clear();
  Value bounded;
  for (Value decay : getDecays(axis)) {
    Value guard = makeGuard(decay);
    bounded = bounded ? mapTo(builder.getI1Type(), {bounded, guard},
                              [&](OpBuilder &inner, ValueRange args) -> Value {
                                return arith::AndIOp::create(inner, loc,
                                                             args[0], args[1]);
                              })
                      : guard;
  }
  Value safe = tile::VoteOp::create(
      builder, loc, builder.getI1Type(), tile::VoteKind::All, bounded,
      index(kWarpBarrier), builder.getI64IntegerAttr(1));
  auto branch = scf::IfOp::create(builder, loc, scores.getTypes(), safe,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  for (bool exactly : {false, true}) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(exactly ? branch.elseBlock()
                                             : branch.thenBlock());
    auto known = tiles;
    exact = exactly;
    carriedValues.clear();
    exactTotals.clear();
    if (exactly)
      forget();
    SmallVector<Value> made = emitPass(axis, scores);
    flush();
    scf::YieldOp::create(builder, loc, made);
    exact = false;
    tiles = known;
  }
  Value one = arith::ConstantIntOp::create(builder, loc, 1, 1);
  unsafe = arith::OrIOp::create(builder, loc, unsafe,
                                arith::XOrIOp::create(builder, loc, safe, one));
  return branch.getResults();
}

void FactorRole::emitAxis(StringAttr axis,
                          ArrayRef<ReductionOpInterface> reductions) {
  size_t count = getBlockPairs().size();
  SmallVector<const ScoresForm *> forms;
  for (const ScoresForm *form : early)
    if (form->getAxis() == axis)
      forms.push_back(form);
  size_t numScores = forms.size() * count;
  SmallVector<Value> carried(numScores, splat(0, getPairType()));
  for (ReductionOpInterface reduction : reductions)
    carried.push_back(getNeutral(reduction));
  bool decides = !getDecays(axis).empty();
  if (decides)
    carried.push_back(unsafe);
  auto emitOne = [&](ValueRange args) {
    SmallVector<Value> partial;
    for (auto [reduction, value] :
         llvm::zip(reductions, args.drop_front(numScores)))
      partial.push_back(addPartial(reduction, value));
    if (decides)
      unsafe = args.back();
    ValueRange scores = args.take_front(numScores);
    SmallVector<Value> next =
        decides ? choosePass(axis, scores) : emitPass(axis, scores);
    llvm::append_range(next, partial);
    if (decides)
      next.push_back(unsafe);
    return next;
  };
  SmallVector<Value> results = forPasses(
      axis, carried, emitOne,
      decides ? 1 : kChannelsAtATime / plan.passChannels, [&] { flush(); },
      inChunk);
  if (decides)
    unsafe = results.pop_back_val();
  ArrayRef<Value> rest = results;
  for (const ScoresForm *form : forms) {
    scoreTiles[form] = llvm::to_vector(rest.take_front(count));
    rest = rest.drop_front(count);
  }
  for (auto [reduction, partial] : llvm::zip_equal(reductions, rest))
    tiles[reduction->getResult(0)] = combineLanes(reduction, partial);
}

void FactorRole::emitChunk() {
  auto outer = tiles;
  kept = tiles;
  SmallVector<StringAttr> axes = getAxes();
  for (StringAttr axis : axes) {
    forEachRecipe(axis, [&](const Recipe &recipe) {
      prepare(recipe.value);
      prepare(recipe.decay);
    });
    for (Value decay : getDecays(axis))
      prepare(decay);
  }
  SmallVector<ReductionOpInterface> open = getOpenReductions();
  for (ReductionOpInterface reduction : open)
    for (Value operand : reduction->getOperands())
      prepare(operand);
  kept = tiles;
  unsafe = arith::ConstantIntOp::create(builder, loc, 0, 1);
  for (StringAttr axis : axes) {
    SmallVector<ReductionOpInterface> along;
    for (ReductionOpInterface reduction : open)
      if (reduction.getReducedAxes().front() == axis)
        along.push_back(reduction);
    emitAxis(axis, along);
  }
  for (const ScoresForm *form : early)
    writeScores(*form, scoreTiles.at(form));
  // What no channels have is for one of the warps that share a chunk.
  onlyFirst(inChunk, [&] {
    auto known = tiles;
    writeAlong({});
    flush();
    if (inChunk)
      tiles = known;
  });
  for (const Crossing *crossing : shared.getCrossings(0)) {
    if (crossing->form != ArrayForm::Exact)
      continue;
    Value flag = arith::SelectOp::create(
        builder, loc, unsafe, number(builder, 1), number(builder, 0));
    Value tile =
        tile::SplatOp::create(builder, loc, getTileType(false, false), flag);
    storeFloat(tile, StringAttr(), getStage(crossing->memory, stage));
  }
  tiles = outer;
  decays.clear();
  tokenProducts.clear();
}
