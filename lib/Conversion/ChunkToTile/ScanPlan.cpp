//===- ScanPlan.cpp - How a scan is divided among warps -*- C++ -*- -------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScanPlan.h"

using namespace mlir;
using namespace larc;

using chunk::CumulateOp;
using chunk::MixOp;
using chunk::ScoresOp;
using chunk::TotalOp;
using chunk::UpdateOp;

SmallVector<Value> larc::getFactors(Value value) {
  auto product = value.getDefiningOp<MulOp>();
  if (!product)
    return {value};
  SmallVector<Value> factors;
  for (Value operand : product->getOperands())
    llvm::append_range(factors, getFactors(operand));
  return factors;
}

bool larc::take(SmallVectorImpl<Value> &factors, Value value) {
  Value *it = llvm::find(factors, value);
  if (it == factors.end())
    return false;
  factors.erase(it);
  return true;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

bool ScanPlan::isTokenAxis(StringAttr axis) const {
  return static_cast<bool>(scan.lookupTokenAxis(axis));
}

bool ScanPlan::hasTokens(Value value) const {
  return llvm::any_of(arrayOf(value).getAxes(),
                      [&](StringAttr axis) { return isTokenAxis(axis); });
}

StringAttr ScanPlan::getChannels(Value value) const {
  for (StringAttr axis : arrayOf(value).getAxes())
    if (!isTokenAxis(axis))
      return axis;
  return {};
}

int64_t ScanPlan::getSize(StringAttr axis) const {
  return *scan.getAxisSize(axis);
}

int64_t ScanPlan::getPadded(StringAttr axis) const {
  if (axis == dividedAxis)
    return dividedChannels;
  int64_t padded = kMatrixChannels;
  while (padded < getSize(axis))
    padded *= 2;
  return padded;
}

std::optional<unsigned> ScanPlan::getRawOperand(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  chunk::ScanOp op = scan;
  if (!argument || argument.getOwner() != &op.getBody().front() ||
      argument.getArgNumber() >= scan.getNumOperands() || !getChannels(value))
    return std::nullopt;
  return argument.getArgNumber();
}

std::optional<unsigned> ScanPlan::getMatrixOperand(Value value) const {
  std::optional<unsigned> operand = getRawOperand(value);
  return operand && getOperandType(*operand).isBF16() ? operand : std::nullopt;
}

bool ScanPlan::hasBulkCopies() const {
  // Boxes of a part of the channels are not described to the unit.
  if (!options.bulkCopies || dividedAxis)
    return false;
  chunk::ScanOp op = scan;
  int64_t maps = 0;
  for (auto [i, argument] : llvm::enumerate(op.getOperandArguments())) {
    if (!getRawOperand(argument))
      continue;
    int64_t bytes = getSize(getChannels(argument)) *
                    getOperandType(static_cast<unsigned>(i)).getWidth() / 8;
    if (bytes % tile::kMapAlignment != 0 || ++maps > tile::kMostMaps)
      return false;
  }
  return true;
}

bool ScanPlan::usesExponentials() const {
  chunk::ScanOp op = scan;
  return llvm::any_of(op.getOps<ExpOp>(), [&](ExpOp exp) {
    return getRawOperand(exp.getOperand()).has_value();
  });
}

bool ScanPlan::isSummed(Value value) const {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (auto mix = dyn_cast<MixOp>(user))
      return mix.getValues() == value;
    return isa<UpdateOp>(user);
  });
}

bool ScanPlan::decaysChannels() const {
  return llvm::any_of(scan.getBody().front(), [&](Operation &op) {
    return isa<CumulateOp, TotalOp>(op) && getChannels(op.getOperand(0));
  });
}

Value ScanPlan::multiply(ArrayRef<Value> factors, Operation *before) {
  Value product;
  OpBuilder builder(before);
  for (Value factor : factors) {
    if (!product) {
      product = factor;
      continue;
    }
    product = MulOp::create(builder, before->getLoc(), product, factor);
    roles[product] = std::max(getRole(product.getDefiningOp()->getOperand(0)),
                              getRole(factor));
  }
  return product;
}

Recipe larc::asScale(Value factor) {
  auto cumulate = factor.getDefiningOp<CumulateOp>();
  if (!cumulate || cumulate.getKind() != chunk::CombineKind::Product)
    return {factor, Scale::None, {}};
  if (cumulate.getBackward())
    return cumulate.getExclusive()
               ? Recipe{{}, Scale::Suffix, cumulate.getOperand()}
               : Recipe{factor, Scale::None, {}};
  return {{},
          cumulate.getExclusive() ? Scale::Exclusive : Scale::Inclusive,
          cumulate.getOperand()};
}

Recipe ScanPlan::makeRecipe(SmallVector<Value> factors, Operation *before) {
  Recipe recipe;
  for (Value factor : factors) {
    Recipe scale = asScale(factor);
    if (scale.scale == Scale::None || !getChannels(scale.decay))
      continue;
    recipe = scale;
    take(factors, factor);
    break;
  }
  if (recipe.scale == Scale::Exclusive && take(factors, recipe.decay))
    recipe.scale = Scale::Inclusive;
  recipe.value = multiply(factors, before);
  return recipe;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult ScanPlan::checkAxes() {
  for (Operation &op : scan.getBody().front()) {
    for (Value result : op.getResults()) {
      if (isa<UpdateOp>(op))
        continue;
      unsigned channels = 0;
      for (StringAttr axis : arrayOf(result).getAxes())
        channels += isTokenAxis(axis) ? 0 : 1;
      if (channels > 1)
        return op.emitError("has a matrix for each token, which no program of "
                            "register tiles holds");
    }
  }
  for (NamedAttribute dim : scan.getDims())
    if (cast<IntegerAttr>(dim.getValue()).getInt() > kMostChannels)
      return scan.emitError("has ")
             << cast<IntegerAttr>(dim.getValue()).getInt()
             << " channels on axis '" << dim.getName().getValue()
             << "': expected at most " << kMostChannels;
  return success();
}

LogicalResult ScanPlan::planRead(ContractOp op, unsigned state) {
  SmallVector<StringAttr> reduced = op.getReducedAxes();
  if (reduced.size() != 1)
    return op.emitError("sums a state over two axes");
  StringAttr axis = reduced.front();
  StateForm &form = states[state];
  if (form.cols && form.cols != axis)
    return op.emitError("reads a state over axis '")
           << axis.getValue() << "', which is read over axis '"
           << form.cols.getValue() << "' too";
  form.cols = axis;
  ReadForm read;
  read.op = op;
  read.state = state;
  SmallVector<Value> inside;
  for (Value operand : op->getOperands()) {
    if (operand == form.argument)
      continue;
    for (Value factor : getFactors(operand))
      (getChannels(factor) ? inside : read.factors).push_back(factor);
  }
  if (inside.empty())
    return op.emitError("reads a state without a reader along axis '")
           << axis.getValue() << "'";
  for (Value factor : inside)
    if (getChannels(factor) != axis)
      return op.emitError("reads a state with factors along an axis that is "
                          "not summed");
  read.reader = makeRecipe(inside, op);
  reads[op] = read;
  return success();
}

LogicalResult ScanPlan::planUpdate(UpdateOp op) {
  auto argument = dyn_cast<BlockArgument>(op.getState());
  if (!argument)
    return op.emitError("expected to update what a state is at first");
  for (Value decay : op.getDecays())
    if (isLate(decay))
      return op.emitError("has decays that depend on a state");
  if (options.segments &&
      llvm::any_of(op->getOperands().drop_front(),
                   [&](Value value) { return isLate(value); }))
    return op.emitError(
        "adds what depends on a state, which segments do not compose");
  // What nothing but the end of the chunk takes.
  for (Operation *user : op->getUsers())
    if (!isa<chunk::YieldOp, UpdateOp>(user))
      return user->emitError("reads a state that was updated");
  return success();
}

bool ScanPlan::isOwnScore(const ScoresForm &form, ArrayRef<Value> own) const {
  SmallVector<Value> expected;
  for (Value factor : own) {
    auto contract = factor.getDefiningOp<ContractOp>();
    if (!contract) {
      expected.push_back(factor);
      continue;
    }
    for (Value operand : contract->getOperands())
      llvm::append_range(expected, getFactors(operand));
  }
  ScoresOp op = form.op;
  SmallVector<Value> found = getFactors(op.getReader());
  for (Value decay : form.removed)
    take(found, decay);
  if (form.removed.size() != op.getDecays().size())
    return false;
  llvm::append_range(found, getFactors(op.getWriter()));
  auto order = [](Value lhs, Value rhs) {
    return lhs.getAsOpaquePointer() < rhs.getAsOpaquePointer();
  };
  llvm::sort(expected, order);
  llvm::sort(found, order);
  return expected == found;
}

LogicalResult ScanPlan::planScores(ScoresOp op) {
  ScoresForm form;
  form.op = op;
  if (op.getAxes().size() != 1)
    return op.emitError("expected scores to be summed over one axis, found ")
           << op.getAxes().size();
  if (arrayOf(op.getResult()).getAxes().size() != 2)
    return op.emitError("has scores for each index of a further axis");
  auto axis = cast<StringAttr>(op.getAxes()[0]);
  SmallVector<Value> readers, writers, scalars, decays;
  for (Value factor : getFactors(op.getReader()))
    (getChannels(factor) ? readers : form.readerFactors).push_back(factor);
  for (Value factor : getFactors(op.getWriter()))
    (getChannels(factor) ? writers : form.writerFactors).push_back(factor);
  if (readers.empty() || writers.empty())
    return op.emitError("expected reader and writer along axis '")
           << axis.getValue() << "'";
  for (Value decay : op.getDecays())
    (getChannels(decay) ? decays : scalars).push_back(decay);

  form.inclusive = !decays.empty();
  for (Value decay : decays)
    form.inclusive &= llvm::is_contained(readers, decay);
  if (form.inclusive)
    for (Value decay : decays) {
      take(readers, decay);
      form.removed.push_back(decay);
    }
  form.scalarInclusive = !scalars.empty();
  for (Value decay : scalars)
    form.scalarInclusive &= llvm::is_contained(form.readerFactors, decay);
  if (form.scalarInclusive)
    for (Value decay : scalars) {
      take(form.readerFactors, decay);
      form.removed.push_back(decay);
    }
  form.decay = multiply(decays, op);
  form.scalarDecay = multiply(scalars, op);
  if (op.getDiagonal()) {
    form.ownScore = isOwnScore(form, getFactors(op.getDiagonal()));
    if (!form.ownScore)
      form.diagonal = op.getDiagonal();
  }
  if (form.decay && (isLate(form.decay)))
    return op.emitError("has decays that depend on a state");
  Scale scale = form.inclusive ? Scale::Inclusive : Scale::Exclusive;
  form.reader = {multiply(readers, op), form.decay ? scale : Scale::None,
                 form.decay};
  form.writer = {multiply(writers, op),
                 form.decay ? Scale::Inverse : Scale::None, form.decay};
  scores[op] = form;
  return success();
}

/// Whether `op` is computed element by element or by sums over channels.
static bool isPlain(Operation *op) {
  return isa<ElementwiseOpInterface, ContractOp, ReduceOp, ConstantOp>(op);
}

LogicalResult ScanPlan::classifyOperation(Operation *op) {
  auto getState = [&](Value value) -> std::optional<unsigned> {
    for (auto [i, state] : llvm::enumerate(states))
      if (state.argument == value)
        return static_cast<unsigned>(i);
    return std::nullopt;
  };
  auto takesState = [&](Value value) { return getState(value).has_value(); };
  if (auto update = dyn_cast<UpdateOp>(op))
    return planUpdate(update);
  if (auto tokens = dyn_cast<chunk::TokensOp>(op); tokens && isScan(tokens))
    return planTokens(tokens);
  if (llvm::any_of(op->getOperands(), takesState)) {
    if (auto contract = dyn_cast<ContractOp>(op))
      for (Value operand : op->getOperands())
        if (std::optional<unsigned> state = getState(operand))
          return planRead(contract, *state);
    return op->emitError("reads a state otherwise than by a contraction");
  }
  if (auto scoresOp = dyn_cast<ScoresOp>(op))
    return planScores(scoresOp);
  if (auto mix = dyn_cast<MixOp>(op))
    return planMix(mix);
  if (isa<CumulateOp, TotalOp>(op)) {
    if (llvm::any_of(op->getResults(),
                     [&](Value result) { return isLate(result); }))
      return op->emitError("runs over values that depend on a state");
    auto cumulate = dyn_cast<CumulateOp>(op);
    chunk::CombineKind kind =
        cumulate ? cumulate.getKind() : cast<TotalOp>(op).getKind();
    if (kind != chunk::CombineKind::Product)
      return op->emitError("runs over tokens otherwise than by products");
    return success();
  }
  if (auto reduction = dyn_cast<ReductionOpInterface>(op)) {
    SmallVector<StringAttr> axes = reduction.getReducedAxes();
    if (axes.size() != 1 || isTokenAxis(axes.front()))
      return op->emitError("expected a sum over one axis that counts no "
                           "tokens");
  }
  if (!isPlain(op) && !isa<chunk::YieldOp>(op))
    return op->emitError("has '")
           << op->getName()
           << "', which has no form in a program of register tiles";
  for (Value operand : op->getOperands())
    if (operand.getDefiningOp<ScoresOp>() &&
        !llvm::all_of(op->getUsers(), llvm::IsaPred<MixOp>))
      return op->emitError("takes scores, which only 'chunk.mix' does");
  return success();
}

/// Raises roles by what operations take; whether any changed.
bool ScanPlan::spreadRoles() {
  bool changed = false;
  auto raise = [&](int64_t &role, int64_t least) {
    changed |= role < least;
    role = std::max(role, least);
  };
  for (Operation &op : scan.getBody().front()) {
    int64_t role = isa<MixOp>(op) ? 1 : 0;
    for (Value operand : op.getOperands())
      role = std::max(role, getRole(operand));
    for (StateForm &state : states) {
      if (!llvm::is_contained(op.getOperands(), state.argument))
        continue;
      // Its update is its own; a read comes after what it reads with.
      raise(state.role, isa<UpdateOp>(op) ? role : role + 1);
      role = std::max(role, state.role);
    }
    // Scores are made where they are mixed, which has less to do.
    if (auto mix = dyn_cast<MixOp>(op))
      if (int64_t &scoresRole = roles[mix.getScores()])
        raise(scoresRole, role);
    for (Value result : op.getResults())
      raise(roles[result], role);
  }
  return changed;
}

/// Stages of a cascade have roles of their own, so that one works on a chunk
/// while the next has the chunk before. Where states read each other in
/// circles, one role has all.
void ScanPlan::findRoles() {
  bool changed = true;
  for (size_t round = 0; changed && round < states.size() + 2; ++round)
    changed = spreadRoles();
  if (changed) {
    for (StateForm &state : states)
      state.role = 1;
    for (auto &entry : roles)
      entry.second = std::min<int64_t>(entry.second, 1);
  }
  for (const StateForm &state : states)
    stateRoles = std::max(stateRoles, state.role);
}

int64_t ScanPlan::getStateWarps(int64_t role) const {
  if (stateRoles == 1)
    return kStateWarps;
  int64_t channels = 1;
  auto add = [&](StringAttr axis) {
    if (axis)
      channels = std::max(channels, getPadded(axis));
  };
  for (const StateForm &state : states)
    if (state.role == role)
      channels =
          std::max(channels,
                   getPadded(state.rows) *
                       std::max<int64_t>(getPadded(state.cols) / kMostCols, 1));
  for (Operation &op : scan.getBody().front())
    for (Value result : op.getResults())
      if (!isa<UpdateOp>(op) && getRole(result) == role)
        add(getChannels(result));
  return channels / kRows;
}

int64_t ScanPlan::getAllStateWarps() const {
  int64_t warps = 0;
  for (int64_t role = 1; role <= stateRoles; ++role)
    warps += getStateWarps(role);
  return warps;
}

LogicalResult ScanPlan::classify() {
  // Planning adds products before the operation that is planned.
  for (Operation &op : llvm::make_early_inc_range(scan.getBody().front()))
    if (failed(classifyOperation(&op)))
      return failure();
  return success();
}

LogicalResult ScanPlan::planStates() {
  for (StateForm &state : states) {
    ArrayRef<StringAttr> axes = arrayOf(state.argument).getAxes();
    if (!state.cols)
      state.cols = axes.front();
    state.rows = axes[0] == state.cols ? axes[1] : axes[0];
    auto decl = cast<StateDeclAttr>(definition.getStates()[state.number]);
    state.transposed = decl.getAxes().front() == state.cols;
    state.update =
        scan.getYield().getValues()[state.number].getDefiningOp<UpdateOp>();
    if (!state.update || state.update.getState() != state.argument)
      return scan.emitError("state ")
             << state.number << " is not what 'chunk.update' makes of it";
    for (auto [key, value] :
         llvm::zip_equal(state.update.getKeys(), state.update.getValues()))
      if (!getChannels(key) || !getChannels(value) ||
          getChannels(key) == getChannels(value))
        return state.update.emitError(
            "adds products other than of a key and a value of one axis each");
  }
  if (failed(divideValues()))
    return failure();
  // A right operand begins with a row of the swizzle.
  constexpr int64_t leastCols = kMatrixChannels;
  for (StateForm &state : states)
    if (states.size() > 1 || getPadded(state.cols) > kMostCols)
      state.parts =
          std::min(getStateWarps(state.role) * kRows / getPadded(state.rows),
                   getPadded(state.cols) / leastCols);
  return checkSizes();
}

void larc::walkValues(Value value, llvm::function_ref<bool(Value)> visit) {
  llvm::SmallDenseSet<Value> seen;
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (!next || !seen.insert(next).second || !visit(next))
      continue;
    if (Operation *op = next.getDefiningOp())
      llvm::append_range(open, op->getOperands());
  }
}

ScanPlan ScanPlan::getSummary() const {
  ScanPlan summary = *this;
  // Cascades have no registers for more warps, nor may others, where registers
  // are divided by request.
  if (!options.wgmma || stateRoles > 1 || options.factorRegisters > 0)
    return summary;
  summary.factorWarps = kSummaryFactorWarps;
  if (canShareChunks())
    summary.chunkWarps = kChunkWarps;
  return summary;
}

/// Whether what updates take needs no sums over channels.
bool ScanPlan::canShareChunks() const {
  bool sums = false;
  for (const StateForm &state : states)
    for (Value taken : state.update->getOperands().drop_front())
      walkValues(taken, [&](Value value) {
        sums |= value.getDefiningOp<ReductionOpInterface>() != nullptr;
        return !sums;
      });
  return !sums;
}

FailureOr<ScanPlan> ScanPlan::create(chunk::ScanOp scan,
                                     RecurrenceOp definition,
                                     ScanTileOptions options) {
  ScanPlan plan;
  plan.scan = scan;
  plan.definition = definition;
  plan.options = std::move(options);
  // Three warps for each scheduler have 168 registers a lane.
  if (!plan.options.wgmma) {
    plan.copyWarps = 1;
    plan.factorWarps = 3;
  }
  plan.token = scan.getTokenAxis();
  plan.chunk = static_cast<int64_t>(scan.getSize());
  if (scan.getBoundary() || definition.getPeriod() > 0)
    return scan.emitError("has periods, which a program of register tiles "
                          "does not keep"),
           failure();
  if (plan.chunk != 16 && plan.chunk != 32)
    return scan.emitError("expected chunks of 16 or 32 tokens, found ")
               << plan.chunk,
           failure();
  if (failed(plan.collectStates()))
    return failure();
  plan.findRoles();
  // Where tiles are of 16 tokens, there are registers for more of them, and
  // what one pass waits for another one fills. Cascades have no registers.
  if (plan.chunk == kRows && plan.stateRoles == 1)
    plan.passChannels = 2 * kRows;
  if (failed(plan.checkAxes()) || failed(plan.classify()) ||
      failed(plan.planStates()))
    return failure();
  return plan;
}
