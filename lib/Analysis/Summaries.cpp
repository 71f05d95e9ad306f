//===- Summaries.cpp - What a segment of tokens does -*- C++ -*- ----------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Analysis/Summaries.h"

#include "SegmentTransition.h"
#include "larc/Dialect/Larc/Transforms/Dependence.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

#include <limits>

using namespace mlir;
using namespace larc;

using chunk::TransitionClass;

namespace {

/// Names that a recurrence does not have yet.
class NameSet {
public:
  explicit NameSet(RecurrenceOp op) {
    for (StringAttr axis : op.getAllAxes())
      taken.insert(axis);
    for (ArrayAttr decls : {op.getTokenOperands(), op.getConstants()})
      for (auto decl : decls.getAsRange<OperandDeclAttr>())
        taken.insert(decl.getName());
    for (auto decl : op.getStates().getAsRange<StateDeclAttr>())
      taken.insert(decl.getName());
    for (auto decl : op.getAttributeDecls().getAsRange<AttributeDeclAttr>())
      taken.insert(decl.getName());
  }

  StringAttr make(MLIRContext *context, const Twine &wanted) {
    std::string name = wanted.str();
    for (unsigned i = 1; !taken.insert(name).second; ++i)
      name = (wanted + "_" + Twine(i)).str();
    return StringAttr::get(context, name);
  }

private:
  llvm::StringSet<> taken;
};

/// What the composition does with one part.
struct ComposedPart {
  StringAttr name;
  TransitionPart::Kind kind;
  SmallVector<StringAttr> axes;
};

/// One state of a level.
struct LevelState {
  const StateTransition *transition;
  StateDeclAttr decl;
  SmallVector<StringAttr> startAxes;
  SmallVector<ComposedPart> parts;
};

/// Derives one level's summary and composition.
class LevelBuilder {
public:
  LevelBuilder(const TransitionAnalysis &analysis, const Dependence &dependence,
               ArrayRef<unsigned> states, unsigned index, Block *where)
      : recurrence(analysis.getRecurrence()), analysis(analysis),
        dependence(dependence), index(index), where(where), names(recurrence),
        builder(recurrence.getContext()) {
    level.states.assign(states.begin(), states.end());
  }

  FailureOr<SummaryLevel> build();

private:
  void findKept();
  void createSummary();
  void cloneSteps();
  FailureOr<SmallVector<Value>> addParts(LevelState &state);
  void createComposition();
  Value compose(const LevelState &state, Value before, Value end,
                ArrayRef<Value> parts);
  Value declare(StringAttr name, ArrayRef<StringAttr> axes, double init,
                bool isRequired = false);
  DictionaryAttr getSizes(ArrayRef<StringAttr> axes) const;
  StateDeclAttr getDecl(unsigned state) {
    return cast<StateDeclAttr>(recurrence.getStates()[state]);
  }

  RecurrenceOp recurrence;
  const TransitionAnalysis &analysis;
  const Dependence &dependence;
  unsigned index;
  Block *where;
  NameSet names;
  OpBuilder builder;
  IRMapping mapping;
  SummaryLevel level;
  SmallVector<LevelState> levelStates;
  SmallVector<Attribute> decls;
  /// Sizes of R' by name.
  SmallVector<std::pair<StringAttr, StringAttr>> startAxes;
};

} // namespace

/// The states of earlier levels that updates use, directly or not.
void LevelBuilder::findKept() {
  SmallVector<unsigned> worklist(level.states);
  llvm::SmallBitVector seen(dependence.getNumStates());
  while (!worklist.empty())
    for (unsigned other :
         dependence.getStates(dependence.getNext(worklist.pop_back_val()))
             .set_bits())
      if (!seen.test(other) && !llvm::is_contained(level.states, other)) {
        seen.set(other);
        worklist.push_back(other);
      }
  level.kept.assign(seen.set_bits_begin(), seen.set_bits_end());
}

DictionaryAttr LevelBuilder::getSizes(ArrayRef<StringAttr> axes) const {
  RecurrenceOp op = recurrence;
  NamedAttrList sizes;
  for (StringAttr axis : axes) {
    StringAttr source = axis;
    for (auto [start, key] : startAxes)
      if (start == axis)
        source = key;
    if (std::optional<int64_t> size = op.getAxisSize(source))
      sizes.set(axis, Builder(op.getContext()).getI64IntegerAttr(*size));
  }
  if (sizes.empty())
    return {};
  return sizes.getDictionary(op.getContext());
}

/// Declares another state of the summary: its argument comes after those of the
/// others and before the real attributes.
Value LevelBuilder::declare(StringAttr name, ArrayRef<StringAttr> axes,
                            double init, bool isRequired) {
  auto decl = StateDeclAttr::get(
      builder.getContext(), name, axes,
      isRequired ? FloatAttr() : builder.getF64FloatAttr(init), {}, {});
  unsigned position = recurrence.getTokenOperands().size() +
                      recurrence.getConstants().size() + decls.size();
  decls.push_back(decl);
  return level.summary.getBody().front().insertArgument(
      position, decl.getArgumentType(), recurrence.getLoc());
}

/// The value that an empty sum of the state's algebra has.
static double getZero(const StateTransition &transition) {
  if (!transition.semiring)
    return 0.0;
  double infinity = std::numeric_limits<double>::infinity();
  return transition.semiring->kind == SemiringForm::Kind::Min ? infinity
                                                              : -infinity;
}

void LevelBuilder::createSummary() {
  std::string name =
      (recurrence.getSymName() + "_summary" + Twine(index)).str();
  std::string text = ("level " + Twine(index) + " of a segment of '" +
                      recurrence.getSymName() + "'")
                         .str();
  builder.setInsertionPointToEnd(where);
  level.summary = RecurrenceOp::create(
      builder, recurrence.getLoc(), builder.getStringAttr(name),
      recurrence.getTokenOperands(), recurrence.getConstants(),
      builder.getArrayAttr({}), recurrence.getAttributeDecls(),
      builder.getArrayAttr({}), recurrence.getDimsAttr(),
      builder.getStringAttr(text), StringAttr());
  Block &body = level.summary.getBody().emplaceBlock();
  for (auto arguments :
       {recurrence.getOperandArguments(), recurrence.getConstantArguments(),
        recurrence.getRealArguments()})
    for (BlockArgument argument : arguments)
      mapping.map(argument,
                  body.addArgument(argument.getType(), argument.getLoc()));
  auto arguments = recurrence.getStateArguments();
  for (unsigned state : level.kept) {
    StateDeclAttr decl = getDecl(state);
    Value argument = declare(decl.getName(), decl.getAxes(), 0.0);
    // As it is: an initial state may be required.
    decls.back() = decl;
    mapping.map(arguments[state], argument);
  }
}

/// Copies what the updates are computed by.
void LevelBuilder::cloneSteps() {
  builder.setInsertionPointToEnd(&level.summary.getBody().front());
  llvm::SetVector<Operation *> needed;
  for (ArrayRef<unsigned> states :
       {ArrayRef<unsigned>(level.kept), ArrayRef<unsigned>(level.states)})
    for (unsigned state : states)
      needed.insert_range(dependence.getSlice(dependence.getNext(state)));
  for (Operation &op : recurrence.getBody().front())
    if (needed.contains(&op))
      builder.clone(op, mapping);
}

/// The new values of a state's parts: its end, and its transition.
FailureOr<SmallVector<Value>> LevelBuilder::addParts(LevelState &state) {
  const StateTransition &transition = *state.transition;
  SegmentTransition segment(analysis, transition, builder, mapping,
                            state.startAxes);
  StringRef name = state.decl.getName();
  auto addState = [&](TransitionPart::Kind kind, ArrayRef<StringAttr> axes) {
    using Kind = TransitionPart::Kind;
    StringRef what = kind == Kind::Product ? "_decay"
                     : kind == Kind::Keep  ? "_kept"
                     : kind == Kind::Map   ? "_map"
                                           : "_shift";
    StringAttr part = names.make(builder.getContext(), name + what);
    state.parts.push_back({part, kind, SmallVector<StringAttr>(axes)});
    if (kind == Kind::Map)
      level.identities.push_back(decls.size());
    return declare(part, axes,
                   kind == Kind::Product || kind == Kind::Keep ? 1.0 : 0.0,
                   kind == Kind::Map);
  };
  FailureOr<SmallVector<TransitionPart>> parts = segment.build(addState);
  if (failed(parts))
    return failure();
  return llvm::map_to_vector(
      *parts, [](const TransitionPart &part) { return part.next; });
}

/// The state after a segment that ends in `end` from zero and has these parts.
Value LevelBuilder::compose(const LevelState &state, Value before, Value end,
                            ArrayRef<Value> parts) {
  Location loc = recurrence.getLoc();
  Value moved = before;
  for (auto [part, operand] : llvm::zip(state.parts, parts)) {
    switch (part.kind) {
    case TransitionPart::Kind::Keep: {
      Value zero = ConstantOp::create(builder, loc, builder.getF64FloatAttr(0));
      moved = SelectOp::create(builder, loc, Predicate::EQ, operand, zero, zero,
                               moved);
      break;
    }
    case TransitionPart::Kind::Product:
      moved = MulOp::create(builder, loc, operand, moved);
      break;
    case TransitionPart::Kind::Shift:
      moved = AddOp::create(builder, loc, moved, operand);
      break;
    case TransitionPart::Kind::Map:
      for (auto [key, start] :
           llvm::zip(state.transition->keyAxes, state.startAxes))
        moved = RenameOp::create(builder, loc, moved, key, start);
      SmallVector<Attribute> axes(state.startAxes.begin(),
                                  state.startAxes.end());
      moved = ContractOp::create(builder, loc, operand, moved,
                                 builder.getArrayAttr(axes));
      break;
    }
  }
  if (!state.transition->semiring)
    return AddOp::create(builder, loc, moved, end);
  switch (state.transition->semiring->kind) {
  case SemiringForm::Kind::Max:
    return MaxOp::create(builder, loc, moved, end);
  case SemiringForm::Kind::Min:
    return MinOp::create(builder, loc, moved, end);
  case SemiringForm::Kind::LogAddExp:
    return LogAddExpOp::create(builder, loc, moved, end);
  }
  llvm_unreachable("unknown kind of semiring");
}

void LevelBuilder::createComposition() {
  MLIRContext *context = builder.getContext();
  Location loc = recurrence.getLoc();
  SmallVector<Attribute> operands, states, outputs;
  SmallVector<StringAttr> axes;
  auto addOperand = [&](StringAttr name, ArrayRef<StringAttr> operandAxes) {
    operands.push_back(OperandDeclAttr::get(context, name, operandAxes,
                                            OperandKind::Data, Domain::Normal,
                                            {}, {}, {}));
    llvm::append_range(axes, operandAxes);
  };
  for (const LevelState &state : levelStates)
    addOperand(names.make(context, state.decl.getName().getValue() + "_end"),
               state.decl.getAxes());
  for (const LevelState &state : levelStates) {
    StringRef name = state.decl.getName();
    for (const ComposedPart &part : state.parts)
      addOperand(part.name, part.axes);
    states.push_back(StateDeclAttr::get(context, state.decl.getName(),
                                        state.decl.getAxes(),
                                        builder.getF64FloatAttr(0.0), {}, {}));
    outputs.push_back(OutputDeclAttr::get(context, names.make(context, name),
                                          state.decl.getAxes()));
  }
  builder.setInsertionPointToEnd(where);
  std::string name =
      (recurrence.getSymName() + "_composition" + Twine(index)).str();
  std::string text = ("level " + Twine(index) + " of '" +
                      recurrence.getSymName() + "' from segment to segment")
                         .str();
  level.composition = RecurrenceOp::create(
      builder, loc, builder.getStringAttr(name), builder.getArrayAttr(operands),
      builder.getArrayAttr({}), builder.getArrayAttr(states),
      builder.getArrayAttr({}), builder.getArrayAttr(outputs), getSizes(axes),
      builder.getStringAttr(text), StringAttr());
  Block &body = level.composition.getBody().emplaceBlock();
  for (Attribute decl : operands)
    body.addArgument(cast<OperandDeclAttr>(decl).getArgumentType(), loc);
  for (Attribute decl : states)
    body.addArgument(cast<StateDeclAttr>(decl).getArgumentType(), loc);
  builder.setInsertionPointToEnd(&body);
  SmallVector<Value> values, arguments(body.getArguments());
  ArrayRef<Value> parts = ArrayRef(arguments).drop_front(levelStates.size());
  for (auto [i, state] : llvm::enumerate(levelStates)) {
    values.push_back(compose(state, arguments[operands.size() + i],
                             arguments[i],
                             parts.take_front(state.parts.size())));
    parts = parts.drop_front(state.parts.size());
  }
  SmallVector<Value> yielded(values);
  llvm::append_range(yielded, values);
  YieldOp::create(builder, loc, yielded);
}

FailureOr<SummaryLevel> LevelBuilder::build() {
  findKept();
  createSummary();
  auto arguments = recurrence.getStateArguments();
  // Ends first: their steps are copied before transitions are derived from
  // them.
  SmallVector<Value> ends;
  for (unsigned index : level.states) {
    const StateTransition &transition = analysis.getTransitions()[index];
    LevelState state{&transition, getDecl(index), {}, {}};
    if (transition.transitionClass == TransitionClass::LowRank)
      for (StringAttr axis : transition.keyAxes) {
        state.startAxes.push_back(
            names.make(builder.getContext(), axis.getValue() + "_start"));
        startAxes.push_back({state.startAxes.back(), axis});
      }
    levelStates.push_back(std::move(state));
  }
  for (LevelState &state : levelStates)
    mapping.map(arguments[state.transition->state],
                declare(state.decl.getName(), state.decl.getAxes(),
                        getZero(*state.transition)));
  cloneSteps();
  SmallVector<Value> yielded;
  for (ArrayRef<unsigned> states :
       {ArrayRef<unsigned>(level.kept), ArrayRef<unsigned>(level.states)})
    for (unsigned state : states)
      yielded.push_back(mapping.lookupOrDefault(dependence.getNext(state)));
  for (LevelState &state : levelStates) {
    FailureOr<SmallVector<Value>> parts = addParts(state);
    if (failed(parts))
      return failure();
    llvm::append_range(yielded, *parts);
  }
  YieldOp::create(builder, recurrence.getLoc(), yielded);
  level.summary.setStatesAttr(builder.getArrayAttr(decls));
  SmallVector<StringAttr> axes;
  if (std::optional<DictionaryAttr> dims = recurrence.getDims())
    for (NamedAttribute size : *dims)
      axes.push_back(size.getName());
  for (auto [start, key] : startAxes)
    axes.push_back(start);
  if (DictionaryAttr sizes = getSizes(axes))
    level.summary.setDimsAttr(sizes);
  createComposition();
  return std::move(level);
}

//===----------------------------------------------------------------------===//
// Levels
//===----------------------------------------------------------------------===//

/// Refuses what has no transition that composes.
static LogicalResult checkComposes(const TransitionAnalysis &analysis,
                                   const Dependence &dependence,
                                   const StateTransition &transition) {
  RecurrenceOp op = analysis.getRecurrence();
  StringRef name =
      cast<StateDeclAttr>(op.getStates()[transition.state]).getName();
  auto refuse = [&](const Twine &why, StringRef remedy = {}) -> LogicalResult {
    InFlightDiagnostic error = op.emitError()
                               << "the sequence cannot be cut into segments: "
                                  "state '"
                               << name << "' " << why;
    for (const Obstacle &obstacle : transition.obstacles)
      error.attachNote(obstacle.op->getLoc()) << "this " << obstacle.property;
    if (!remedy.empty())
      error.attachNote() << remedy;
    for (const Obstacle &obstacle : transition.obstacles)
      if (remedy.empty() && !obstacle.remedy.empty())
        error.attachNote() << obstacle.remedy;
    return error;
  };
  static constexpr StringRef fromAnchor =
      "coefficients made from the token or from other states, in place of "
      "larc.anchor, would be known in every segment";
  if (transition.isScheduled)
    return refuse("changes at the end of a period",
                  "a state that all tokens change by one rule, without "
                  "larc.fire, would compose");
  if (transition.isAnchored)
    return refuse("depends on a state at the start of a period", fromAnchor);
  switch (transition.transitionClass) {
  case TransitionClass::Constant:
  case TransitionClass::Diagonal:
  case TransitionClass::LowRank:
  case TransitionClass::Semiring:
    break;
  case TransitionClass::Elementwise:
    // Linear ones compose: the derivation finds out.
    break;
  default:
    return refuse("has a transition that is " +
                  chunk::stringifyTransitionClass(transition.transitionClass) +
                  ", which does not compose");
  }
  for (Operation *member :
       dependence.getSlice(dependence.getNext(transition.state)))
    if (isa<AnchorOp>(member))
      return refuse("depends on a state at the start of a period", fromAnchor);
  return success();
}

/// The level of each state: one more than the highest that its update uses.
static SmallVector<SmallVector<unsigned>>
findLevels(const TransitionAnalysis &analysis, const Dependence &dependence) {
  SmallVector<unsigned> levels(dependence.getNumStates(), 0);
  SmallVector<SmallVector<unsigned>> result;
  // Groups come after what they use by reads; a state may use another of its
  // stage, too.
  for (bool changed = true; std::exchange(changed, false);)
    for (unsigned state = 0; state < levels.size(); ++state)
      for (unsigned other :
           dependence.getStates(dependence.getNext(state)).set_bits())
        if (other != state && levels[state] <= levels[other]) {
          levels[state] = levels[other] + 1;
          changed = true;
        }
  for (auto [state, level] : llvm::enumerate(levels)) {
    if (result.size() <= level)
      result.resize(level + 1);
    result[level].push_back(state);
  }
  return result;
}

FailureOr<Summaries> larc::summarize(RecurrenceOp recurrence) {
  if (!recurrence.isFlat())
    return recurrence.emitError("is not flat: specialise and expand levels "
                                "first"),
           failure();
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(recurrence.getLoc());
  auto prepared = cast<RecurrenceOp>(recurrence->clone());
  scratch->push_back(prepared);
  if (failed(prepareForAnalysis(prepared)))
    return failure();
  TransitionAnalysis analysis(prepared);
  Dependence dependence(prepared);
  bool composes = true;
  for (const StateTransition &transition : analysis.getTransitions())
    composes &= succeeded(checkComposes(analysis, dependence, transition));
  if (!composes)
    return failure();
  Summaries result;
  result.module = ModuleOp::create(recurrence.getLoc());
  for (auto [index, states] :
       llvm::enumerate(findLevels(analysis, dependence))) {
    FailureOr<SummaryLevel> level =
        LevelBuilder(analysis, dependence, states, index,
                     result.module->getBody())
            .build();
    if (failed(level))
      return failure();
    result.levels.push_back(std::move(*level));
  }
  return result;
}
