//===- ExpandLevels.cpp - Unrolls levels and splits families -*- C++ -*- --===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Dialect/Larc/Transforms/Flatten.h"
#include "larc/Dialect/Larc/Transforms/Passes.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace larc;

namespace larc {
#define GEN_PASS_DEF_EXPANDLEVELS
#include "larc/Dialect/Larc/Transforms/Passes.h.inc"
} // namespace larc

namespace {

/// Copies a step without families. Arrays map to values, families to their
/// members, loop indices to numbers.
class LevelExpander {
public:
  explicit LevelExpander(RecurrenceOp op) : op(op), builder(op.getContext()) {}

  LogicalResult run();

private:
  using Members = SmallVector<Value>;

  std::optional<int64_t> numLevels(StringAttr level) {
    for (auto decl : op.getAttributeDecls().getAsRange<AttributeDeclAttr>())
      if (decl.getLevel() == level)
        return cast<DenseI64ArrayAttr>(decl.getValue()).size();
    return std::nullopt;
  }

  StringAttr withLevel(StringAttr name, int64_t level) {
    return builder.getStringAttr(name.getValue() + Twine(level));
  }

  /// The axes of member `level`.
  SmallVector<StringAttr> memberAxes(ArrayRef<StringAttr> axes,
                                     FamilyDeclAttr family, int64_t level) {
    return llvm::map_to_vector(axes, [&](StringAttr axis) {
      return llvm::is_contained(family.getSized(), axis)
                 ? withLevel(axis, level)
                 : axis;
    });
  }

  /// Splits the declarations `decls`, adding one argument to `block` for each
  /// array.
  template <typename DeclAttr, typename MakeMember>
  ArrayAttr splitDecls(ArrayAttr decls, Block &block,
                       Block::args_iterator &argument, MakeMember makeMember);

  FailureOr<int64_t> levelOf(Operation *at, Value index, int64_t offset);
  FailureOr<Value *> memberOf(Operation *at, Value family, Value index,
                              int64_t offset);

  /// Notes the names that axes sized by `level` have at index `index`.
  void renameSizedAxes(StringAttr level, int64_t index) {
    auto add = [&](FamilyDeclAttr family) {
      if (family && family.getLevel() == level)
        for (StringAttr axis : family.getSized())
          renamedAxes.emplace_back(axis, withLevel(axis, index));
    };
    for (auto decl : op.getTokenOperands().getAsRange<OperandDeclAttr>())
      add(decl.getFamily());
    for (auto decl : op.getConstants().getAsRange<OperandDeclAttr>())
      add(decl.getFamily());
    for (auto decl : op.getStates().getAsRange<StateDeclAttr>())
      add(decl.getFamily());
  }

  LogicalResult copyBlock(Block &source);
  LogicalResult copyOp(Operation &source);
  LogicalResult unroll(LevelsOp loop);
  LogicalResult copyGeneric(Operation &source);
  /// Appends what `value` maps to: itself, or a family's members.
  void appendMapped(Value value, SmallVectorImpl<Value> &values);
  void mapLike(Value source, Value target) {
    if (families.count(target))
      families[source] = Members(families[target]);
    else
      arrays.map(source, target);
  }

  RecurrenceOp op;
  OpBuilder builder;
  IRMapping arrays;
  DenseMap<Value, Members> families;
  DenseMap<Value, int64_t> indices;
  /// Sized axes under their name at the current level.
  SmallVector<std::pair<StringAttr, StringAttr>> renamedAxes;
};

} // namespace

template <typename DeclAttr, typename MakeMember>
ArrayAttr LevelExpander::splitDecls(ArrayAttr decls, Block &block,
                                    Block::args_iterator &argument,
                                    MakeMember makeMember) {
  SmallVector<Attribute> split;
  for (auto decl : decls.getAsRange<DeclAttr>()) {
    BlockArgument source = *argument++;
    FamilyDeclAttr family = decl.getFamily();
    if (!family) {
      split.push_back(decl);
      arrays.map(source, block.addArgument(source.getType(), source.getLoc()));
      continue;
    }
    Members members;
    for (int64_t l = family.getFirst(), e = *numLevels(family.getLevel());
         l < e; ++l) {
      auto member = makeMember(decl, l);
      split.push_back(member);
      members.push_back(
          block.addArgument(member.getArgumentType(), source.getLoc()));
    }
    families[source] = members;
  }
  return builder.getArrayAttr(split);
}

LogicalResult LevelExpander::run() {
  MLIRContext *context = op.getContext();
  Region region;
  Block &block = region.emplaceBlock();
  auto *argument = op.getBody().args_begin();
  auto makeOperand = [&](OperandDeclAttr decl, int64_t level) {
    FamilyDeclAttr family = decl.getFamily();
    StringAttr domainAxis = decl.getDomainAxis();
    if (domainAxis)
      domainAxis = memberAxes(domainAxis, family, level).front();
    return OperandDeclAttr::get(context, withLevel(decl.getName(), level),
                                memberAxes(decl.getAxes(), family, level),
                                decl.getKind(), decl.getDomain(), domainAxis,
                                decl.getRange(), nullptr);
  };
  auto makeState = [&](StateDeclAttr decl, int64_t level) {
    FamilyDeclAttr family = decl.getFamily();
    return StateDeclAttr::get(
        context, withLevel(decl.getName(), level),
        memberAxes(decl.getAxes(), family, level), decl.getInit(),
        memberAxes(decl.getNonzero(), family, level), nullptr);
  };
  ArrayAttr operands = splitDecls<OperandDeclAttr>(op.getTokenOperands(), block,
                                                   argument, makeOperand);
  ArrayAttr constants = splitDecls<OperandDeclAttr>(op.getConstants(), block,
                                                    argument, makeOperand);
  ArrayAttr states =
      splitDecls<StateDeclAttr>(op.getStates(), block, argument, makeState);
  for (; argument != op.getBody().args_end(); ++argument)
    arrays.map(*argument,
               block.addArgument(argument->getType(), argument->getLoc()));

  builder.setInsertionPointToStart(&block);
  if (failed(copyBlock(op.getBody().front())))
    return failure();
  SmallVector<Value> yielded;
  for (Value value : op.getYield().getValues())
    appendMapped(value, yielded);
  YieldOp::create(builder, op.getYield().getLoc(), yielded);

  // A level axis has its schedule's length.
  NamedAttrList dims(op.getDimsAttr());
  for (auto decl : op.getAttributeDecls().getAsRange<AttributeDeclAttr>())
    if (decl.getLevel())
      dims.set(decl.getLevel(),
               builder.getI64IntegerAttr(*numLevels(decl.getLevel())));
  op.setTokenOperandsAttr(operands);
  op.setConstantsAttr(constants);
  op.setStatesAttr(states);
  if (!dims.empty())
    op.setDimsAttr(dims.getDictionary(context));
  op.getBody().takeBody(region);
  return success();
}

void LevelExpander::appendMapped(Value value, SmallVectorImpl<Value> &values) {
  auto family = families.find(value);
  if (family != families.end())
    llvm::append_range(values, family->second);
  else
    values.push_back(arrays.lookup(value));
}

FailureOr<int64_t> LevelExpander::levelOf(Operation *at, Value index,
                                          int64_t offset) {
  if (!index)
    return offset;
  auto known = indices.find(index);
  if (known == indices.end())
    return at->emitError("has an index that is not of a loop over levels"),
           failure();
  return known->second + offset;
}

FailureOr<Value *> LevelExpander::memberOf(Operation *at, Value family,
                                           Value index, int64_t offset) {
  FailureOr<int64_t> level = levelOf(at, index, offset);
  if (failed(level))
    return failure();
  Members &members = families[family];
  int64_t first = cast<FamilyType>(family.getType()).getFirst();
  if (*level < first || *level - first >= static_cast<int64_t>(members.size()))
    return at->emitError() << "names level " << *level << " of a family with "
                           << members.size() << " members from level " << first,
           failure();
  return &members[*level - first];
}

LogicalResult LevelExpander::copyBlock(Block &source) {
  for (Operation &child : source.without_terminator())
    if (failed(copyOp(child)))
      return failure();
  return success();
}

LogicalResult LevelExpander::copyOp(Operation &source) {
  if (auto loop = dyn_cast<LevelsOp>(source))
    return unroll(loop);
  if (auto member = dyn_cast<MemberOp>(source)) {
    FailureOr<Value *> value = memberOf(member, member.getFamily(),
                                        member.getIndex(), member.getOffset());
    if (failed(value))
      return failure();
    arrays.map(member.getResult(), **value);
    return success();
  }
  if (auto insert = dyn_cast<InsertOp>(source)) {
    families[insert.getResult()] = Members(families[insert.getFamily()]);
    FailureOr<Value *> value = memberOf(insert, insert.getResult(),
                                        insert.getIndex(), insert.getOffset());
    if (failed(value))
      return failure();
    Value inserted = arrays.lookup(insert.getValue());
    if (inserted.getType() != (*value)->getType())
      return insert.emitError()
             << "inserts " << inserted.getType() << " where the member is "
             << (*value)->getType();
    **value = inserted;
    return success();
  }
  if (auto slice = dyn_cast<SliceOp>(source)) {
    FailureOr<int64_t> level =
        levelOf(slice, slice.getIndex(), slice.getOffset());
    if (failed(level))
      return failure();
    if (*level < 0)
      return slice.emitError() << "takes index " << *level << " of axis '"
                               << slice.getAxis() << "'";
    arrays.map(slice.getResult(),
               SliceOp::create(builder, slice.getLoc(),
                               arrays.lookup(slice.getOperand()),
                               slice.getAxisAttr(), Value(),
                               builder.getI64IntegerAttr(*level)));
    return success();
  }
  return copyGeneric(source);
}

LogicalResult LevelExpander::unroll(LevelsOp loop) {
  Block &body = loop.getBody().front();
  std::optional<int64_t> end = numLevels(loop.getLevelAttr());
  // Arrays or families: keyed by a value that maps to them.
  SmallVector<Value> carried(loop.getInits());
  for (int64_t l = loop.getFirst(); l < *end; ++l) {
    indices[body.getArgument(0)] = l;
    auto outer = renamedAxes;
    renameSizedAxes(loop.getLevelAttr(), l);
    // All carried values are looked up before any argument is mapped anew.
    SmallVector<std::pair<Value, Members>> members;
    SmallVector<std::pair<Value, Value>> values;
    for (auto [argument, value] :
         llvm::zip(body.getArguments().drop_front(), carried)) {
      if (isa<FamilyType>(argument.getType()))
        members.emplace_back(argument, families[value]);
      else
        values.emplace_back(argument, arrays.lookup(value));
    }
    for (auto &[argument, list] : members)
      families[argument] = list;
    for (auto [argument, value] : values)
      arrays.map(argument, value);
    if (failed(copyBlock(body)))
      return failure();
    carried.assign(cast<YieldOp>(body.getTerminator()).getValues().begin(),
                   cast<YieldOp>(body.getTerminator()).getValues().end());
    renamedAxes = outer;
  }
  for (auto [result, value] : llvm::zip(loop.getResults(), carried)) {
    if (isa<FamilyType>(result.getType()))
      families[result] = Members(families[value]);
    else
      arrays.map(result, arrays.lookup(value));
  }
  return success();
}

LogicalResult LevelExpander::copyGeneric(Operation &source) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](StringAttr name) -> Attribute {
    for (auto [axis, renamed] : llvm::reverse(renamedAxes))
      if (axis == name)
        return renamed;
    return name;
  });
  // Types follow from operands, so only attributes are replaced.
  auto attributes =
      cast<DictionaryAttr>(replacer.replace(source.getAttrDictionary()));
  OperationState state(source.getLoc(), source.getName());
  state.attributes = NamedAttrList(attributes);
  for (Value operand : source.getOperands())
    if (!isa<IndexType>(operand.getType()))
      state.operands.push_back(arrays.lookup(operand));
  if (auto fire = dyn_cast<FireOp>(source)) {
    if (auto name = dyn_cast<StringAttr>(fire.getInterval())) {
      auto schedule =
          cast<DenseI64ArrayAttr>(op.lookupAttribute(name).getValue());
      FailureOr<int64_t> level =
          levelOf(fire, fire.getIndex(), fire.getOffset());
      if (failed(level))
        return failure();
      if (*level < 0 || *level >= schedule.size())
        return fire.emitError()
               << "takes entry " << *level << " of '" << name.getValue()
               << "', which has " << schedule.size();
      state.attributes.set("interval",
                           builder.getI64IntegerAttr(schedule[*level]));
    }
    state.attributes.set("offset", builder.getI64IntegerAttr(0));
    state.attributes.set(
        "operandSegmentSizes",
        builder.getDenseI32ArrayAttr(
            {0, static_cast<int32_t>(fire.getInits().size())}));
  }
  for (Region &unused : source.getRegions()) {
    (void)unused;
    state.addRegion();
  }

  if (source.getNumRegions() == 0) {
    state.addTypes(source.getResultTypes());
    Operation *copy = builder.create(state);
    if (auto inferring = dyn_cast<InferTypeOpInterface>(copy)) {
      SmallVector<Type> types;
      if (failed(inferring.inferReturnTypes(
              copy->getContext(), copy->getLoc(), copy->getOperands(),
              copy->getRawDictionaryAttrs(), copy->getPropertiesStorage(),
              copy->getRegions(), types)))
        return failure();
      for (auto [result, type] : llvm::zip(copy->getResults(), types))
        result.setType(type);
    }
    arrays.map(source.getResults(), copy->getResults());
    return success();
  }

  // A region operation: its carried values decide the results, its sources the
  // slices. A nest carries none: its results have the types of what it yields.
  bool carries = !isa<NestOp>(source);
  ValueRange inits = ValueRange(state.operands)
                         .take_back(carries ? source.getNumResults() : 0);
  if (carries)
    state.addTypes(inits.getTypes());
  else
    state.addTypes(source.getResultTypes());
  Operation *copy = builder.create(state);
  arrays.map(source.getResults(), copy->getResults());
  for (auto [from, to] : llvm::zip(source.getRegions(), copy->getRegions())) {
    Block &block = to.emplaceBlock();
    size_t numSlices = from.getNumArguments() - inits.size();
    for (auto [i, argument] : llvm::enumerate(from.getArguments())) {
      Type type = i < numSlices
                      ? Type(cast<ArrayType>(state.operands[i].getType())
                                 .without(cast<FoldOp>(copy).getAxisAttr()))
                      : inits[i - numSlices].getType();
      arrays.map(argument, block.addArgument(type, argument.getLoc()));
    }
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&block);
    if (failed(copyBlock(from.front())))
      return failure();
    SmallVector<Value> yielded;
    for (Value value : from.front().getTerminator()->getOperands())
      yielded.push_back(arrays.lookup(value));
    YieldOp::create(builder, from.front().getTerminator()->getLoc(), yielded);
    if (!carries)
      for (auto [result, value] : llvm::zip(copy->getResults(), yielded))
        result.setType(value.getType());
  }
  return success();
}

LogicalResult larc::expandLevels(RecurrenceOp op) {
  WalkResult choices = op.getBody().walk([](ChooseOp choice) {
    choice.emitError(
        "is not resolved: levels are expanded after specialisation");
    return WalkResult::interrupt();
  });
  if (choices.wasInterrupted())
    return failure();
  return LevelExpander(op).run();
}

namespace {
struct ExpandLevelsPass : larc::impl::ExpandLevelsBase<ExpandLevelsPass> {
  void runOnOperation() override {
    if (failed(expandLevels(getOperation())))
      signalPassFailure();
  }
};
} // namespace
