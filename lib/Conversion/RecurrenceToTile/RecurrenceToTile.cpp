//===- RecurrenceToTile.cpp - The token loop in tiles -*- C++ -*- ---------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Resources.h"
#include "StepTiles.h"

#include "larc/Dialect/Larc/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace larc;

using tile::ArgumentKind;
using tile::GlobalType;

namespace larc {
#define GEN_PASS_DEF_CONVERTRECURRENCETOTILE
#include "larc/Conversion/Passes.h.inc"
} // namespace larc

/// The number of registers is estimated too high by one in so many at most.
static constexpr int64_t kEstimateError = 12;

/// Blocks of more warps than usual shall have so many registers to spare.
static constexpr int64_t kUsualWarps = 8, kRoom = 8;
/// Vectors that are the same in all lanes and are carried from token to token
/// take registers of each lane. Beyond that many, they are loaded when their
/// token begins.
static constexpr int64_t kCarriedUniform = 32;

namespace {

/// Builds the program of a recurrence.
class TokenProgram {
public:
  explicit TokenProgram(const TilePlan &plan)
      : plan(plan), loc(plan.recurrence.getLoc()),
        builder(plan.recurrence.getContext()) {}

  /// Makes the program before the operation `before`.
  tile::ProgramOp build(Operation *before, StringRef name);

private:
  struct Argument {
    ArrayRef<StringAttr> axes;
    ArgumentKind kind;
    FloatType type;
  };

  void listArguments();
  GlobalType getMemoryType(const Argument &argument) const;
  MemoryView viewArgument(StepTiles &step, unsigned number, Value token);
  /// Loads vectors of a token, if there is such a token.
  SmallVector<Value> loadAhead(StepTiles &step,
                               ArrayRef<StepTiles::Ahead> ahead, Value token,
                               Value length);
  /// Registers of those that are the same in all lanes.
  int64_t countUniform(ArrayRef<StepTiles::Ahead> ahead) const;
  void bindOperands(StepTiles &step, Value token);
  /// The states and outputs of a token; returns the states in registers.
  SmallVector<Value> emitToken(StepTiles &step, Value token);
  /// Writes the states that are in shared memory, one after the other; `early`
  /// those alone whose former values nothing else needs.
  void updateShared(StepTiles &step, bool early);
  /// Whether an argument of the step is wanted as a tile, and a small one.
  bool isVector(Value argument) const;
  /// At the first token of a period, anchors are what the states are.
  SmallVector<Value> updateAnchors(StepTiles &step, Value tokens,
                                   ValueRange states, ValueRange anchors);

  const TilePlan &plan;
  Location loc;
  OpBuilder builder;
  tile::ProgramOp program;
  Value part;
  SmallVector<Argument> arguments;
  /// Where states are in shared memory.
  SmallVector<std::optional<MemoryView>> kept;
  /// Which of them have been written for this token.
  llvm::BitVector written;
  /// Where each group of arguments starts.
  unsigned constants = 0, outputs = 0, initials = 0, finals = 0;
};

} // namespace

void TokenProgram::listArguments() {
  RecurrenceOp op = plan.recurrence;
  for (auto [decl, type] :
       llvm::zip_equal(op.getTokenOperands().getAsRange<OperandDeclAttr>(),
                       plan.options.operandTypes))
    arguments.push_back({decl.getAxes(), ArgumentKind::Operand, type});
  constants = arguments.size();
  for (auto [decl, type] :
       llvm::zip_equal(op.getConstants().getAsRange<OperandDeclAttr>(),
                       plan.options.constantTypes))
    arguments.push_back({decl.getAxes(), ArgumentKind::Constant, type});
  outputs = arguments.size();
  for (auto [decl, type] :
       llvm::zip_equal(op.getOutputs().getAsRange<OutputDeclAttr>(),
                       plan.options.outputTypes))
    arguments.push_back({decl.getAxes(), ArgumentKind::Output, type});
  initials = arguments.size();
  SmallVector<unsigned> anchored = op.getAnchoredStates();
  auto addStates = [&](ArgumentKind kind, bool anchors) {
    for (unsigned i = 0; i < op.getStates().size(); ++i)
      if (!anchors || llvm::is_contained(anchored, i))
        arguments.push_back(
            {plan.getState(i).getAxes(), kind, plan.options.stateType});
  };
  addStates(ArgumentKind::Initial, /*anchors=*/false);
  finals = arguments.size();
  addStates(ArgumentKind::Final, /*anchors=*/false);
  addStates(ArgumentKind::Initial, /*anchors=*/true);
  addStates(ArgumentKind::Final, /*anchors=*/true);
}

GlobalType TokenProgram::getMemoryType(const Argument &argument) const {
  int64_t rows = 1, cols = 1;
  for (StringAttr axis : argument.axes)
    cols *= plan.getTensorSize(axis);
  if (argument.kind == ArgumentKind::Operand ||
      argument.kind == ArgumentKind::Output) {
    rows = ShapedType::kDynamic;
  } else if (!argument.axes.empty()) {
    rows = cols / plan.getTensorSize(argument.axes.back());
    cols = plan.getTensorSize(argument.axes.back());
  }
  return GlobalType::get(builder.getContext(), rows, cols, argument.type);
}

/// Where argument `number` has its elements: those of the block's part.
MemoryView TokenProgram::viewArgument(StepTiles &step, unsigned number,
                                      Value token) {
  const Argument &argument = arguments[number];
  MemoryView view;
  view.memory = program.getArgument(number);
  view.row = view.col = step.index(0);
  bool isToken = argument.kind == ArgumentKind::Operand ||
                 argument.kind == ArgumentKind::Output;
  if (isToken)
    view.row = token;
  int64_t rowStep = 1, colStep = 1;
  for (auto [i, axis] : llvm::enumerate(llvm::reverse(argument.axes))) {
    bool inRows = !isToken && i > 0;
    int64_t &distance = inRows ? rowStep : colStep;
    view.axes.push_back({axis, inRows ? distance : 0, inRows ? 0 : distance});
    if (axis == plan.splitAxis) {
      Value offset = arith::MulIOp::create(
          builder, loc, part, step.index(plan.getSize(axis) * distance));
      (inRows ? view.row : view.col) = offset;
    }
    distance *= plan.getTensorSize(axis);
  }
  return view;
}

bool TokenProgram::isVector(Value argument) const {
  ArrayRef<StringAttr> axes = arrayOf(argument).getAxes();
  return !argument.use_empty() && axes.size() <= 1 &&
         llvm::none_of(axes, [&](StringAttr axis) {
           return plan.getPlace(axis) == AxisPlace::Loop;
         });
}

SmallVector<Value> TokenProgram::updateAnchors(StepTiles &step, Value tokens,
                                               ValueRange states,
                                               ValueRange anchors) {
  if (anchors.empty())
    return {};
  Value starts = step.endsPeriod(tokens, 1);
  SmallVector<Value> current;
  for (unsigned state : plan.recurrence.getAnchoredStates())
    current.push_back(states[state]);
  auto branch = scf::IfOp::create(
      builder, loc, starts,
      [&](OpBuilder &inner, Location) {
        scf::YieldOp::create(inner, loc, current);
      },
      [&](OpBuilder &inner, Location) {
        scf::YieldOp::create(inner, loc, anchors);
      });
  return llvm::to_vector_of<Value>(branch.getResults());
}

tile::ProgramOp TokenProgram::build(Operation *before, StringRef name) {
  RecurrenceOp op = plan.recurrence;
  builder.setInsertionPoint(before);
  listArguments();
  SmallVector<Type> types;
  SmallVector<Attribute> attributes;
  for (const Argument &argument : arguments) {
    types.push_back(getMemoryType(argument));
    attributes.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
        tile::kArgumentAttrName,
        tile::ArgumentKindAttr::get(builder.getContext(), argument.kind))));
  }
  program =
      tile::ProgramOp::create(builder, loc, builder.getStringAttr(name),
                              TypeAttr::get(builder.getFunctionType(types, {})),
                              builder.getI64IntegerAttr(plan.warps),
                              builder.getI64IntegerAttr(plan.parts),
                              builder.getI64IntegerAttr(plan.resident),
                              builder.getArrayAttr(attributes), ArrayAttr());
  Block *body = builder.createBlock(&program.getBody(), {}, types,
                                    SmallVector<Location>(types.size(), loc));
  builder.setInsertionPointToStart(body);
  Value warp = tile::WarpOp::create(builder, loc);
  if (plan.splitAxis)
    part = tile::PartOp::create(builder, loc);
  Value length = tile::LengthOp::create(builder, loc);
  Value position;
  if (op.getPeriod() > 0)
    position = tile::PositionOp::create(builder, loc);
  StepTiles step(plan, builder, length.getDefiningOp(), warp);

  // Where warps wait for each other, none shall wait for a vector in between:
  // they are loaded with the states, and those of the next token at the end of
  // each, if there are registers for them.
  SmallVector<StepTiles::Ahead> ahead;
  if (!plan.hasLongLoop() && !plan.keepsShared)
    for (auto [i, argument] : llvm::enumerate(op.getOperandArguments()))
      llvm::append_range(ahead, step.listAhead(argument, arguments[i].axes));
  SmallVector<Value> vectors;
  if (plan.resident > 1 && plan.countWaits() > 1 &&
      countUniform(ahead) <= kCarriedUniform)
    vectors = loadAhead(step, ahead, step.index(0), length);
  for (auto [i, argument] : llvm::enumerate(op.getConstantArguments())) {
    step.bind(argument, viewArgument(step, constants + static_cast<unsigned>(i),
                                     Value()));
    // Vectors stay in registers; matrices are read where they are needed.
    if (isVector(argument))
      step.evaluate(argument);
  }

  unsigned numStates = op.getStates().size();
  unsigned numAnchors = op.getAnchoredStates().size();
  unsigned anchorInitials = finals + numStates;
  SmallVector<Value> initial(numStates), carried;
  bool replicated = false;
  kept.assign(numStates, std::nullopt);
  for (bool isMatrix : {false, true})
    for (unsigned i = 0; i < numStates; ++i) {
      ArrayRef<StringAttr> axes = plan.getState(i).getAxes();
      if ((axes.size() > 1) != isMatrix)
        continue;
      initial[i] = step.load(viewArgument(step, initials + i, Value()), {});
      replicated |= plan.isReplicated(axes);
      if (!plan.isKeptShared(i))
        continue;
      kept[i] = step.allocateShared(axes);
      step.store(initial[i], *kept[i], {});
      // One after the other: each takes many registers.
      step.barrier();
    }
  SmallVector<unsigned> held;
  for (unsigned i = 0; i < numStates; ++i)
    if (!kept[i]) {
      held.push_back(i);
      carried.push_back(initial[i]);
    }
  for (unsigned i = 0; i < numAnchors; ++i)
    carried.push_back(
        step.load(viewArgument(step, anchorInitials + i, Value()), {}));
  llvm::append_range(carried, vectors);

  auto loop = scf::ForOp::create(builder, loc, step.index(0), length,
                                 step.index(1), carried);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    if (carried.empty())
      builder.setInsertionPoint(loop.getBody()->getTerminator());
    step.enterRegion();
    Value token = loop.getInductionVar(), tokens = token;
    if (position)
      tokens = arith::AddIOp::create(builder, loc, position, tokens);
    step.setTokensBefore(tokens);
    ValueRange values = loop.getRegionIterArgs();
    SmallVector<Value> anchors =
        updateAnchors(step, tokens, values.take_front(held.size()),
                      values.slice(held.size(), numAnchors));
    step.bindAnchors(anchors);
    for (auto [state, tile] :
         llvm::zip_equal(held, values.take_front(held.size())))
      step.bind(op.getStateArguments()[state], tile);
    for (auto [argument, view] : llvm::zip_equal(op.getStateArguments(), kept))
      if (view)
        step.bindReloaded(argument, *view);
    bindOperands(step, token);
    for (auto [i, one] : llvm::enumerate(ahead)) {
      if (vectors.empty())
        step.evaluate(one.value, one.bindings);
      else
        step.bindAhead(one, values[held.size() + numAnchors + i]);
    }
    SmallVector<Value> next = emitToken(step, token);
    llvm::append_range(next, anchors);
    if (!vectors.empty()) {
      Value following =
          arith::AddIOp::create(builder, loc, token, step.index(1));
      llvm::append_range(next, loadAhead(step, ahead, following, length));
    }
    if (!next.empty())
      scf::YieldOp::create(builder, loc, next);
    step.leaveRegion();
  }

  ValueRange results = loop.getResults();
  SmallVector<Value> anchors;
  if (numAnchors > 0)
    anchors = updateAnchors(
        step, arith::AddIOp::create(builder, loc, position, length),
        results.take_front(held.size()),
        results.slice(held.size(), numAnchors));
  // In place, one warp writes what all have read.
  if (replicated && plan.warps > 1)
    step.barrier();
  for (auto [i, state] : llvm::enumerate(held))
    step.store(results[i], viewArgument(step, finals + state, Value()), {});
  for (auto [i, view] : llvm::enumerate(kept))
    if (view)
      step.store(step.load(*view, {}),
                 viewArgument(step, finals + static_cast<unsigned>(i), Value()),
                 {});
  for (auto [i, anchor] : llvm::enumerate(anchors))
    step.store(anchor,
               viewArgument(
                   step, anchorInitials + numAnchors + static_cast<unsigned>(i),
                   Value()),
               {});
  tile::ReturnOp::create(builder, loc);
  step.reuseShared(loop);
  return program;
}

void TokenProgram::bindOperands(StepTiles &step, Value token) {
  for (auto [i, argument] :
       llvm::enumerate(plan.recurrence.getOperandArguments()))
    step.bind(argument, viewArgument(step, static_cast<unsigned>(i), token));
}

int64_t TokenProgram::countUniform(ArrayRef<StepTiles::Ahead> ahead) const {
  int64_t registers = 0;
  for (const StepTiles::Ahead &one : ahead)
    for (StringAttr axis : arrayOf(one.value).getAxes()) {
      tile::RegType type = plan.getTileType(axis);
      if (plan.getPlace(axis) != AxisPlace::Loop &&
          llvm::all_of(type.getLayout().getLanes(),
                       [](int64_t step) { return step == 0; }))
        registers += type.getNumRegisters();
    }
  return registers;
}

SmallVector<Value> TokenProgram::loadAhead(StepTiles &step,
                                           ArrayRef<StepTiles::Ahead> ahead,
                                           Value token, Value length) {
  step.enterRegion();
  bindOperands(step, token);
  SmallVector<Value> tiles;
  for (const StepTiles::Ahead &one : ahead)
    tiles.push_back(step.loadAhead(one, length));
  step.leaveRegion();
  return tiles;
}

SmallVector<Value> TokenProgram::emitToken(StepTiles &step, Value token) {
  RecurrenceOp op = plan.recurrence;
  ValueRange yielded = op.getYield().getValues();
  unsigned numStates = op.getStates().size();
  // What a loop has to keep for later takes registers from it.
  if (plan.hasLongLoop())
    for (Value state : yielded.take_front(numStates))
      step.evaluate(state);
  written.resize(numStates);
  if (plan.keepsShared)
    updateShared(step, /*early=*/true);
  for (auto [i, output] : llvm::enumerate(yielded.drop_front(numStates)))
    step.storeValue(
        output, viewArgument(step, outputs + static_cast<unsigned>(i), token));
  SmallVector<Value> next;
  for (auto [state, view] :
       llvm::zip_equal(yielded.take_front(numStates), kept))
    if (!view)
      next.push_back(step.evaluate(state));
  if (plan.keepsShared)
    updateShared(step, /*early=*/false);
  return next;
}

void TokenProgram::updateShared(StepTiles &step, bool early) {
  RecurrenceOp op = plan.recurrence;
  ValueRange yielded = op.getYield().getValues();
  SmallVector<std::pair<Value, unsigned>> late;
  for (auto [i, state] :
       llvm::enumerate(yielded.take_front(op.getStates().size()))) {
    Value old = op.getStateArguments()[i];
    if (!kept[i] || state == old || written.test(i))
      continue;
    bool isNeeded = llvm::any_of(yielded, [&, state = state](Value other) {
      return other != state && step.needs(other, old, state);
    });
    if (early && isNeeded)
      continue;
    Value tile = step.evaluate(state);
    written.set(i);
    if (isNeeded) {
      late.emplace_back(tile, i);
      continue;
    }
    step.barrier();
    step.store(tile, *kept[i], {});
    step.bindReloaded(state, *kept[i]);
  }
  if (!late.empty())
    step.barrier();
  for (auto [tile, state] : late)
    step.store(tile, *kept[state], {});
  step.barrier();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Nests are a schedule for other machines: their operations go where they
/// stand.
static void dissolveNests(RecurrenceOp recurrence) {
  recurrence.getBody().walk([](NestOp nest) {
    Block &body = nest.getBody().front();
    Operation *yield = body.getTerminator();
    nest->replaceAllUsesWith(yield->getOperands());
    nest->getBlock()->getOperations().splice(nest->getIterator(),
                                             body.getOperations(), body.begin(),
                                             yield->getIterator());
    nest.erase();
  });
}

static FailureOr<FloatType> parseType(RecurrenceOp op, StringRef name) {
  FloatType type = llvm::StringSwitch<FloatType>(name)
                       .Case("f32", Float32Type::get(op.getContext()))
                       .Case("bf16", BFloat16Type::get(op.getContext()))
                       .Case("f16", Float16Type::get(op.getContext()))
                       .Default(FloatType());
  if (!type)
    return op.emitError() << "cannot keep '" << name
                          << "' in tiles: expected f32, bf16 or f16",
           failure();
  return type;
}

static LogicalResult parseTypes(RecurrenceOp op, StringRef what,
                                ArrayRef<std::string> names, size_t count,
                                SmallVectorImpl<FloatType> &types) {
  if (!names.empty() && names.size() != count)
    return op.emitError() << "expected " << count << " types of " << what
                          << ", found " << names.size();
  types.assign(count, Float32Type::get(op.getContext()));
  for (auto [name, type] : llvm::zip(names, types)) {
    FailureOr<FloatType> parsed = parseType(op, name);
    if (failed(parsed))
      return failure();
    type = *parsed;
  }
  return success();
}

namespace {
struct ConvertRecurrenceToTilePass
    : larc::impl::ConvertRecurrenceToTileBase<ConvertRecurrenceToTilePass> {
  using ConvertRecurrenceToTileBase::ConvertRecurrenceToTileBase;

  FailureOr<TileOptions> getOptions(RecurrenceOp op) {
    TileOptions options;
    FailureOr<FloatType> state = parseType(op, stateType);
    auto parse = [&](StringRef what, const ListOption<std::string> &names,
                     ArrayAttr decls, SmallVectorImpl<FloatType> &types) {
      return parseTypes(op, what,
                        SmallVector<std::string>(names.begin(), names.end()),
                        decls.size(), types);
    };
    if (failed(state) ||
        failed(parse("operands", operandTypes, op.getTokenOperands(),
                     options.operandTypes)) ||
        failed(parse("constants", constantTypes, op.getConstants(),
                     options.constantTypes)) ||
        failed(parse("outputs", outputTypes, op.getOutputs(),
                     options.outputTypes)))
      return failure();
    options.stateType = *state;
    if (parts < 0)
      return op.emitError()
                 << "expected parts, or 0, found " << parts.getValue(),
             failure();
    if (spareRegisters < 0)
      return op.emitError() << "expected registers to spare, found "
                            << spareRegisters.getValue(),
             failure();
    options.parts = parts;
    return options;
  }

  LogicalResult convert(RecurrenceOp op) {
    if (!op.isFlat() || !op.getDims())
      return op.emitError()
             << "is not flat and bound: specialise it, expand its levels and "
                "bind its axes first";
    for (StringAttr axis : op.getAllAxes())
      if (!op.getAxisSize(axis))
        return op.emitError()
               << "has no size for axis '" << axis.getValue() << "'";
    FailureOr<TileOptions> options = getOptions(op);
    if (failed(options))
      return failure();
    OpBuilder builder(op);
    OwningOpRef<RecurrenceOp> copy = op.clone();
    dissolveNests(*copy);
    FailureOr<std::vector<TilePlan>> plans = TilePlan::list(*copy, *options);
    if (failed(plans))
      return failure();
    const TilePlan *best = nullptr;
    Resources needed;
    // How much too large a plan is: bytes of shared memory count first.
    auto getExcess = [](const TilePlan &plan, const Resources &resources) {
      int64_t bytes = resources.sharedBytes - plan.getSharedLimit();
      return std::pair(std::max<int64_t>(bytes, 0),
                       resources.registers - plan.getRegisterLimit());
    };
    for (const TilePlan &plan : *plans) {
      tile::ProgramOp program = TokenProgram(plan).build(op, op.getSymName());
      Resources resources = countResources(program);
      auto [bytes, registers] = getExcess(plan, resources);
      // Fewer warps have more registers each: one that the estimate is wrong by
      // shall not spoil what they can do.
      bool isTight = plan.warps > kUsualWarps && registers > -kRoom;
      if (bytes == 0 && registers + spareRegisters <= 0 && !isTight) {
        op.erase();
        return success();
      }
      program.erase();
      if (best && getExcess(plan, resources) >= getExcess(*best, needed))
        continue;
      best = &plan;
      needed = resources;
    }
    if (!best)
      return op.emitError() << "has no columns that fit cells of tiles";
    auto [bytes, registers] = getExcess(*best, needed);
    if (bytes > 0)
      return op.emitError()
             << "needs " << needed.sharedBytes << " bytes of shared memory in "
             << best->warps << " warps: expected at most "
             << best->getSharedLimit();
    int64_t limit = best->getRegisterLimit();
    if (registers > limit / kEstimateError)
      return op.emitError()
             << "needs about " << needed.registers << " registers a lane in "
             << best->warps << " warps: expected at most " << limit;
    // The assembler has the last word.
    TokenProgram(*best).build(op, op.getSymName());
    op.erase();
    return success();
  }

  void runOnOperation() override {
    for (RecurrenceOp op :
         llvm::to_vector(getOperation().getOps<RecurrenceOp>()))
      if (failed(convert(op)))
        return signalPassFailure();
  }
};
} // namespace

void larc::buildRecurrentTiles(OpPassManager &pm,
                               const TileProgramOptions &options) {
  OpPassManager &recurrence = pm.nest<RecurrenceOp>();
  recurrence.addPass(createDecompose());
  recurrence.addPass(createFactor());
  recurrence.addPass(createCSEPass());
  recurrence.addPass(createCanonicalizerPass());
  ConvertRecurrenceToTileOptions converted;
  converted.stateType = options.stateType;
  converted.operandTypes.assign(options.operandTypes.begin(),
                                options.operandTypes.end());
  converted.constantTypes.assign(options.constantTypes.begin(),
                                 options.constantTypes.end());
  converted.outputTypes.assign(options.outputTypes.begin(),
                               options.outputTypes.end());
  converted.parts = options.parts;
  converted.spareRegisters = options.spareRegisters;
  pm.addPass(createConvertRecurrenceToTile(converted));
}
