//===- LarcRecurrence.cpp - larc.recurrence -*- C++ -*- -------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Dialect/Larc/IR/Larc.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <cmath>

using namespace mlir;
using namespace larc;

#define GET_OP_CLASSES
#include "larc/Dialect/Larc/IR/LarcOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// A letter or '_' and then letters, digits and '_': what the syntax takes as
/// the name of a tensor.
static bool isIdentifier(StringAttr name) {
  StringRef text = name.getValue();
  return !text.empty() && !llvm::isDigit(text.front()) &&
         llvm::all_of(text,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

/// The axes that every tensor has in front of its own.
static bool isReservedAxis(StringAttr axis) {
  return llvm::is_contained({"B", "T", "H", "N"}, axis.getValue());
}

namespace {

/// The declarations of a recurrence against each other.
struct SignatureVerifier {
  RecurrenceOp op;
  llvm::StringSet<> names;
  /// Level axes and how many levels each has.
  llvm::StringMap<int64_t> levels;

  LogicalResult addName(StringAttr name, StringRef what) {
    if (!isIdentifier(name))
      return op.emitOpError("declares ")
             << what << " '" << name.getValue()
             << "', which is not a letter and then letters, digits "
             << "and '_'";
    if (!names.insert(name.getValue()).second)
      return op.emitOpError("declares '") << name.getValue() << "' twice";
    if (name == "cu_seqlens" || name == "position")
      return op.emitOpError("declares ")
             << what << " '" << name.getValue()
             << "', a name that every recurrence's inputs have";
    return success();
  }

  LogicalResult checkAxes(StringAttr name, ArrayRef<StringAttr> axes) {
    for (auto [i, axis] : llvm::enumerate(axes)) {
      if (!isIdentifier(axis))
        return op.emitOpError("declares '")
               << name.getValue() << "' with an axis '" << axis.getValue()
               << "', which is not a letter and then letters, digits and '_'";
      if (llvm::is_contained(axes.take_front(i), axis))
        return op.emitOpError("declares '")
               << name.getValue() << "' with axis '" << axis.getValue()
               << "' twice";
      if (isReservedAxis(axis))
        return op.emitOpError("declares '")
               << name.getValue() << "' with an axis '" << axis.getValue()
               << "': B, T, H and N are the batch's, the tokens', the heads' "
                  "and the sequences'";
    }
    return success();
  }

  LogicalResult checkFamily(StringAttr name, ArrayRef<StringAttr> axes,
                            FamilyDeclAttr family) {
    if (!family)
      return success();
    auto level = levels.find(family.getLevel().getValue());
    if (level == levels.end())
      return op.emitOpError("declares the family '")
             << name.getValue() << "' per '" << family.getLevel().getValue()
             << "', which is the axis of no schedule";
    if (family.getFirst() < 0)
      return op.emitOpError("declares the family '")
             << name.getValue() << "' from a negative level";
    // A family without members is one that starts right behind the last level:
    // with a schedule of one entry, one from level 1. Beyond is a mistake.
    if (family.getFirst() > level->second)
      return op.emitOpError("declares the family '")
             << name.getValue() << "' from level " << family.getFirst()
             << ", but '" << family.getLevel().getValue() << "' has "
             << level->second << (level->second == 1 ? " level" : " levels");
    for (StringAttr axis : family.getSized())
      if (!llvm::is_contained(axes, axis))
        return op.emitOpError("declares the family '")
               << name.getValue() << "' with sizes of '" << axis.getValue()
               << "', which is not one of its axes";
    return success();
  }

  LogicalResult checkOperands(ArrayAttr decls, StringRef what) {
    for (auto decl : decls.getAsRange<OperandDeclAttr>()) {
      if (failed(addName(decl.getName(), what)) ||
          failed(checkAxes(decl.getName(), decl.getAxes())) ||
          failed(checkFamily(decl.getName(), decl.getAxes(), decl.getFamily())))
        return failure();
      bool needsAxis = decl.getDomain() == Domain::Unit ||
                       decl.getDomain() == Domain::Softmax;
      if (needsAxis &&
          (!decl.getDomainAxis() ||
           !llvm::is_contained(decl.getAxes(), decl.getDomainAxis())))
        return op.emitOpError("declares '")
               << decl.getName().getValue()
               << "' with a domain along an axis that it lacks";
      if (DenseF64ArrayAttr range = decl.getRange())
        if (decl.getDomain() != Domain::Interval || range.size() != 2 ||
            !std::isfinite(range[0]) || !std::isfinite(range[1]) ||
            !(range[0] < range[1]))
          return op.emitOpError("declares '")
                 << decl.getName().getValue()
                 << "' with a range that is not an interval: two increasing "
                    "numbers";
    }
    return success();
  }

  LogicalResult checkStates() {
    for (auto decl : op.getStates().getAsRange<StateDeclAttr>()) {
      if (failed(addName(decl.getName(), "a state")) ||
          failed(checkAxes(decl.getName(), decl.getAxes())) ||
          failed(checkFamily(decl.getName(), decl.getAxes(), decl.getFamily())))
        return failure();
      for (StringAttr axis : decl.getNonzero())
        if (!llvm::is_contained(decl.getAxes(), axis))
          return op.emitOpError("declares state '")
                 << decl.getName().getValue() << "' as nonzero along '"
                 << axis.getValue() << "', which is not one of its axes";
      if (decl.getInit() && !decl.getInit().getType().isF64())
        return op.emitOpError("declares state '")
               << decl.getName().getValue()
               << "' with an initial value that is not f64";
    }
    return success();
  }

  LogicalResult checkSchedule(AttributeDeclAttr decl) {
    auto entries = dyn_cast<DenseI64ArrayAttr>(decl.getValue());
    if (!entries || entries.empty() || !decl.getLevel())
      return op.emitOpError("declares '")
             << decl.getName().getValue()
             << "', which needs a list of integers and a level axis";
    if (failed(checkAxes(decl.getName(), decl.getLevel())))
      return failure();
    int64_t previous = 0;
    for (auto [i, entry] : llvm::enumerate(entries.asArrayRef())) {
      if (i == 0 ? entry != 1 : entry <= previous)
        return op.emitOpError("declares '")
               << decl.getName().getValue() << "' with entry " << i << " = "
               << entry << ": a schedule increases strictly from 1";
      previous = entry;
    }
    return success();
  }

  LogicalResult checkAttribute(AttributeDeclAttr decl) {
    auto integer = dyn_cast<IntegerAttr>(decl.getValue());
    switch (decl.getKind()) {
    case AttributeKind::Real:
      if (auto number = dyn_cast<FloatAttr>(decl.getValue());
          number ? !number.getType().isF64()
                 : !isa<SizeFnAttr>(decl.getValue()))
        return op.emitOpError("declares '")
               << decl.getName().getValue()
               << "' with a value that is no real number";
      return success();
    case AttributeKind::Integer:
      if (!integer || integer.getInt() < 0)
        return op.emitOpError("declares '")
               << decl.getName().getValue()
               << "' with a value that is no integer from 0 on";
      return success();
    case AttributeKind::Period:
      if (!integer || integer.getInt() < 1)
        return op.emitOpError("declares '")
               << decl.getName().getValue()
               << "' with a period that is not positive";
      return success();
    case AttributeKind::Choice:
      for (auto [i, choice] : llvm::enumerate(decl.getChoices())) {
        if (!isIdentifier(choice))
          return op.emitOpError("declares '")
                 << decl.getName().getValue() << "' with choice '"
                 << choice.getValue()
                 << "', which is not a letter and then letters, digits and '_'";
        if (llvm::is_contained(decl.getChoices().take_front(i), choice))
          return op.emitOpError("declares '")
                 << decl.getName().getValue() << "' with choice '"
                 << choice.getValue() << "' twice";
      }
      if (!llvm::is_contained(decl.getChoices(),
                              dyn_cast<StringAttr>(decl.getValue())))
        return op.emitOpError("declares '")
               << decl.getName().getValue()
               << "' with a value that is not one of its choices";
      return success();
    case AttributeKind::Schedule:
      return checkSchedule(decl);
    }
    return success();
  }

  LogicalResult checkAttributes() {
    bool hasPeriod = false;
    for (auto decl : op.getAttributeDecls().getAsRange<AttributeDeclAttr>()) {
      if (failed(addName(decl.getName(), "an attribute")) ||
          failed(checkAttribute(decl)))
        return failure();
      if (decl.getKind() == AttributeKind::Period &&
          std::exchange(hasPeriod, true))
        return op.emitOpError("declares two periods");
      if (decl.getKind() == AttributeKind::Schedule &&
          !levels
               .try_emplace(decl.getLevel().getValue(),
                            cast<DenseI64ArrayAttr>(decl.getValue()).size())
               .second)
        return op.emitOpError("declares two schedules of '")
               << decl.getLevel().getValue() << "'";
    }
    return success();
  }

  /// The tensors of a family are named by its name and a level.
  LogicalResult checkMemberNames(StringAttr family) {
    for (StringRef name : names.keys()) {
      StringRef level = name;
      if (level.consume_front(family.getValue()) && !level.empty() &&
          llvm::all_of(level, llvm::isDigit))
        return op.emitOpError("declares '")
               << name << "', the name of a member of the family '"
               << family.getValue() << "'";
    }
    return success();
  }

  LogicalResult checkMemberNames() {
    for (ArrayAttr decls : {op.getTokenOperands(), op.getConstants()})
      for (auto decl : decls.getAsRange<OperandDeclAttr>())
        if (decl.getFamily() && failed(checkMemberNames(decl.getName())))
          return failure();
    for (auto decl : op.getStates().getAsRange<StateDeclAttr>())
      if (decl.getFamily() && failed(checkMemberNames(decl.getName())))
        return failure();
    return success();
  }

  LogicalResult checkOutputs() {
    llvm::StringSet<> outputs;
    for (auto decl : op.getOutputs().getAsRange<OutputDeclAttr>()) {
      if (!isIdentifier(decl.getName()))
        return op.emitOpError("declares output '")
               << decl.getName().getValue()
               << "', which is not a letter and then letters, digits and '_'";
      if (!outputs.insert(decl.getName().getValue()).second)
        return op.emitOpError("declares output '")
               << decl.getName().getValue() << "' twice";
      if (failed(checkAxes(decl.getName(), decl.getAxes())))
        return failure();
    }
    return success();
  }
};

} // namespace

LogicalResult RecurrenceOp::verify() {
  SignatureVerifier verifier{*this, {}, {}};
  // Entry points of compiled code are named by it.
  if (!isIdentifier(getSymNameAttr()))
    return emitOpError("is named '")
           << getSymName()
           << "', which is not a letter and then letters, digits and '_'";
  if (getOutputs().empty() && getStates().empty())
    return emitOpError("declares neither an output nor a state");
  if (failed(verifier.checkAttributes()) ||
      failed(verifier.checkOperands(getTokenOperands(), "an operand")) ||
      failed(verifier.checkOperands(getConstants(), "a constant")) ||
      failed(verifier.checkStates()) || failed(verifier.checkMemberNames()) ||
      failed(verifier.checkOutputs()))
    return failure();
  if (std::optional<DictionaryAttr> dims = getDims())
    for (NamedAttribute size : *dims) {
      auto integer = dyn_cast<IntegerAttr>(size.getValue());
      if (!integer || !integer.getType().isInteger(64) || integer.getInt() < 1)
        return emitOpError("binds axis '")
               << size.getName().getValue()
               << "' to a size that is not positive";
    }
  return success();
}

/// Why `value` is not of type `expected`.
static LogicalResult emitYieldMismatch(YieldOp yield, StringRef what,
                                       StringAttr name, Type expected,
                                       Value value) {
  auto diagnostic = yield.emitOpError("gives ")
                    << value.getType() << " for " << what << " '"
                    << name.getValue() << "', which is declared as "
                    << expected;
  diagnostic.attachNote(value.getLoc()) << "the value is made here";
  return diagnostic;
}

LogicalResult RecurrenceOp::verifyRegions() {
  SmallVector<Type> expected;
  for (auto decl : getTokenOperands().getAsRange<OperandDeclAttr>())
    expected.push_back(decl.getArgumentType());
  for (auto decl : getConstants().getAsRange<OperandDeclAttr>())
    expected.push_back(decl.getArgumentType());
  for (auto decl : getStates().getAsRange<StateDeclAttr>())
    expected.push_back(decl.getArgumentType());
  for (auto decl : getAttributeDecls().getAsRange<AttributeDeclAttr>())
    if (decl.getKind() == AttributeKind::Real)
      expected.push_back(ArrayType::scalar(getContext()));
  if (getBody().getArgumentTypes() != TypeRange(expected))
    return emitOpError(
        "has region arguments that do not match its declarations");

  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield)
    return emitOpError("needs a region that ends with larc.yield");
  size_t numStates = getStates().size();
  if (yield.getValues().size() != numStates + getOutputs().size())
    return yield.emitOpError("gives ")
           << yield.getValues().size()
           << " values, but the recurrence declares " << numStates
           << " states and " << getOutputs().size() << " outputs";
  for (auto [decl, value] : llvm::zip(getStates().getAsRange<StateDeclAttr>(),
                                      yield.getValues().take_front(numStates)))
    if (value.getType() != decl.getArgumentType())
      return emitYieldMismatch(yield, "state", decl.getName(),
                               decl.getArgumentType(), value);
  for (auto [decl, value] :
       llvm::zip(getOutputs().getAsRange<OutputDeclAttr>(),
                 yield.getValues().drop_front(numStates))) {
    Type type = ArrayType::ofAxes(getContext(), decl.getAxes());
    if (value.getType() != type)
      return emitYieldMismatch(yield, "output", decl.getName(), type, value);
  }

  // Axes come from declarations and renames; a size must be bound to each.
  SmallVector<StringAttr> axes = getAllAxes();
  auto check = [&](StringAttr axis, Operation *op) -> LogicalResult {
    if (llvm::is_contained(axes, axis))
      return success();
    return op->emitOpError("names axis '")
           << axis.getValue() << "', which nothing declares";
  };
  for (auto decl : getAttributeDecls().getAsRange<AttributeDeclAttr>())
    if (auto size = dyn_cast<SizeFnAttr>(decl.getValue()); size)
      if (failed(check(size.getAxis(), *this)))
        return failure();
  WalkResult walked = getBody().walk([&](Operation *op) -> WalkResult {
    if (op->getDialect() != (*this)->getDialect()) {
      op->emitOpError("is not an operation of the larc dialect, as those of a "
                      "step are");
      return WalkResult::interrupt();
    }
    if (auto broadcast = dyn_cast<BroadcastOp>(op))
      for (Attribute axis : broadcast.getAxes())
        if (failed(check(cast<StringAttr>(axis), op)))
          return WalkResult::interrupt();
    if (auto rename = dyn_cast<RenameOp>(op))
      if (!isIdentifier(rename.getToAttr()) ||
          isReservedAxis(rename.getToAttr())) {
        op->emitOpError("makes an axis '")
            << rename.getTo()
            << "': expected a letter and then letters, digits and '_', and not "
            << "B, T, H or N";
        return WalkResult::interrupt();
      }
    if (auto levels = dyn_cast<LevelsOp>(op);
        levels &&
        llvm::none_of(getAttributeDecls().getAsRange<AttributeDeclAttr>(),
                      [&](AttributeDeclAttr decl) {
                        return decl.getLevel() == levels.getLevelAttr();
                      })) {
      op->emitOpError("goes to '")
          << levels.getLevel() << "', which is the axis of no schedule";
      return WalkResult::interrupt();
    }
    if (auto orthogonalize = dyn_cast<OrthogonalizeOp>(op))
      if (auto name = dyn_cast<StringAttr>(orthogonalize.getIterations())) {
        AttributeDeclAttr decl = lookupAttribute(name);
        if (!decl || decl.getKind() != AttributeKind::Integer) {
          op->emitOpError("takes its iterations from '")
              << name.getValue()
              << "', which is no integer attribute of the recurrence";
          return WalkResult::interrupt();
        }
      }
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Accessors
//===----------------------------------------------------------------------===//

Block::BlockArgListType RecurrenceOp::getOperandArguments() {
  return getBody().getArguments().take_front(getTokenOperands().size());
}

Block::BlockArgListType RecurrenceOp::getConstantArguments() {
  return getBody().getArguments().slice(getTokenOperands().size(),
                                        getConstants().size());
}

Block::BlockArgListType RecurrenceOp::getStateArguments() {
  return getBody().getArguments().slice(
      getTokenOperands().size() + getConstants().size(), getStates().size());
}

Block::BlockArgListType RecurrenceOp::getRealArguments() {
  return getBody().getArguments().drop_front(
      getTokenOperands().size() + getConstants().size() + getStates().size());
}

YieldOp RecurrenceOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

AttributeDeclAttr RecurrenceOp::lookupAttribute(StringRef name) {
  for (auto decl : getAttributeDecls().getAsRange<AttributeDeclAttr>())
    if (decl.getName() == name)
      return decl;
  return {};
}

AttributeDeclAttr RecurrenceOp::getPeriodDecl() {
  for (auto decl : getAttributeDecls().getAsRange<AttributeDeclAttr>())
    if (decl.getKind() == AttributeKind::Period)
      return decl;
  return {};
}

int64_t RecurrenceOp::getPeriod() {
  AttributeDeclAttr decl = getPeriodDecl();
  return decl ? cast<IntegerAttr>(decl.getValue()).getInt() : 0;
}

SmallVector<StringAttr> RecurrenceOp::getAllAxes() {
  SmallVector<StringAttr> axes;
  auto add = [&](StringAttr axis) {
    if (axis && !llvm::is_contained(axes, axis))
      axes.push_back(axis);
  };
  for (auto decl : getTokenOperands().getAsRange<OperandDeclAttr>())
    llvm::for_each(decl.getAxes(), add);
  for (auto decl : getConstants().getAsRange<OperandDeclAttr>())
    llvm::for_each(decl.getAxes(), add);
  for (auto decl : getStates().getAsRange<StateDeclAttr>())
    llvm::for_each(decl.getAxes(), add);
  for (auto decl : getOutputs().getAsRange<OutputDeclAttr>())
    llvm::for_each(decl.getAxes(), add);
  for (auto decl : getAttributeDecls().getAsRange<AttributeDeclAttr>())
    add(decl.getLevel());
  getBody().walk([&](RenameOp rename) { add(rename.getToAttr()); });
  return axes;
}

std::optional<int64_t> RecurrenceOp::getAxisSize(StringAttr axis) {
  std::optional<DictionaryAttr> dims = getDims();
  if (!dims)
    return std::nullopt;
  auto size = dims->getAs<IntegerAttr>(axis);
  return size ? std::optional<int64_t>(size.getInt()) : std::nullopt;
}

bool RecurrenceOp::isFlat() {
  for (BlockArgument argument : getBody().getArguments())
    if (!isa<ArrayType>(argument.getType()))
      return false;
  return !getBody()
              .walk([](Operation *op) {
                return isa<ChooseOp, LevelsOp, MemberOp, InsertOp>(op)
                           ? WalkResult::interrupt()
                           : WalkResult::advance();
              })
              .wasInterrupted();
}

SmallVector<unsigned> RecurrenceOp::getAnchoredStates() {
  SmallVector<unsigned> states;
  unsigned first = getTokenOperands().size() + getConstants().size();
  getBody().walk([&](AnchorOp anchor) {
    unsigned index =
        cast<BlockArgument>(anchor.getState()).getArgNumber() - first;
    if (!llvm::is_contained(states, index))
      states.push_back(index);
  });
  llvm::sort(states);
  return states;
}
