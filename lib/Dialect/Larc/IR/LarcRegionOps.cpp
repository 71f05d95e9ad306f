//===- LarcRegionOps.cpp - Operations with regions -*- C++ -*- ------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Dialect/Larc/IR/Larc.h"
#include "larc/Dialect/Larc/IR/TypeScope.h"

using namespace mlir;
using namespace larc;

using Argument = OpAsmParser::Argument;
using UnresolvedOperand = OpAsmParser::UnresolvedOperand;

//===----------------------------------------------------------------------===//
// Shared pieces
//===----------------------------------------------------------------------===//

/// Checks that the region's `larc.yield` gives exactly `types`.
static LogicalResult verifyYield(Operation *op, Region &region,
                                 TypeRange types) {
  auto yield = dyn_cast<YieldOp>(region.front().getTerminator());
  if (!yield)
    return op->emitOpError("needs regions that end with larc.yield");
  if (yield.getValues().size() != types.size())
    return yield.emitOpError("gives ")
           << yield.getValues().size() << " values where " << op->getName()
           << " has " << types.size() << " results";
  for (auto [i, pair] :
       llvm::enumerate(llvm::zip(yield.getValues().getTypes(), types)))
    if (std::get<0>(pair) != std::get<1>(pair))
      return yield.emitOpError("gives ")
             << std::get<0>(pair) << " as value " << i << " where "
             << op->getName() << " has " << std::get<1>(pair);
  return success();
}

static LogicalResult verifyArguments(Operation *op, ArrayRef<Type> expected) {
  Block &block = op->getRegion(0).front();
  if (block.getArgumentTypes() != TypeRange(expected))
    return op->emitOpError(
        "has region arguments that do not match its operands");
  return success();
}

static ParseResult resolveAll(OpAsmParser &parser, OperationState &result,
                              ArrayRef<UnresolvedOperand> values) {
  for (const UnresolvedOperand &value : values)
    if (asm_format::resolve(parser, result, value))
      return failure();
  return success();
}

/// Types of the results of an operation that carries `values` through its
/// region.
static SmallVector<Type> carriedTypes(ArrayRef<Argument> arguments) {
  return llvm::map_to_vector(
      arguments, [](const Argument &argument) { return argument.type; });
}

//===----------------------------------------------------------------------===//
// YieldOp
//===----------------------------------------------------------------------===//

ParseResult YieldOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<UnresolvedOperand> values;
  return failure(parser.parseOperandList(values) ||
                 resolveAll(parser, result, values) ||
                 parser.parseOptionalAttrDict(result.attributes));
}

void YieldOp::print(OpAsmPrinter &printer) {
  if (!getValues().empty())
    printer << ' ' << getValues();
  printer.printOptionalAttrDict((*this)->getAttrs());
}

//===----------------------------------------------------------------------===//
// LevelsOp
//===----------------------------------------------------------------------===//

ParseResult LevelsOp::parse(OpAsmParser &parser, OperationState &result) {
  Argument index;
  int64_t first;
  StringAttr level;
  SmallVector<Argument> arguments(1);
  SmallVector<UnresolvedOperand> values;
  if (parser.parseArgument(index) || parser.parseEqual() ||
      parser.parseInteger(first) || parser.parseKeyword("to") ||
      asm_format::parseAxis(parser, level) ||
      asm_format::parseBindings(parser, "iter", arguments, values) ||
      resolveAll(parser, result, values))
    return failure();
  index.type = parser.getBuilder().getIndexType();
  arguments.front() = index;
  auto &properties = result.getOrAddProperties<Properties>();
  properties.level = level;
  properties.first = parser.getBuilder().getI64IntegerAttr(first);
  if (asm_format::parseScopedRegion(parser, *result.addRegion(), arguments) ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  return asm_format::recordTypes(
      parser, result, carriedTypes(ArrayRef(arguments).drop_front()));
}

void LevelsOp::print(OpAsmPrinter &printer) {
  Block &block = getBody().front();
  printer << ' ' << block.getArgument(0) << " = " << getFirstAttr().getInt()
          << " to " << getLevel();
  asm_format::printBindings(printer, "iter", block.getArguments().drop_front(),
                            getInits());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  printer.printOptionalAttrDict((*this)->getAttrs(), {"level", "first"});
}

LogicalResult LevelsOp::verify() {
  if (int64_t first = getFirstAttr().getInt(); first < 0)
    return emitOpError("needs a first level that is not negative, not ")
           << first;
  if (getInits().getTypes() != getResultTypes())
    return emitOpError("has results that do not match its initial values");
  return success();
}

LogicalResult LevelsOp::verifyRegions() {
  SmallVector<Type> expected = {IndexType::get(getContext())};
  llvm::append_range(expected, getInits().getTypes());
  if (failed(verifyArguments(*this, expected)))
    return failure();
  return verifyYield(*this, getBody(), getResultTypes());
}

//===----------------------------------------------------------------------===//
// FoldOp
//===----------------------------------------------------------------------===//

ParseResult FoldOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr axis;
  SmallVector<Argument> slices, carried;
  SmallVector<UnresolvedOperand> sources, inits;
  if (asm_format::parseAxis(parser, axis) ||
      asm_format::parseBindings(parser, "over", slices, sources) ||
      asm_format::parseBindings(parser, "iter", carried, inits) ||
      resolveAll(parser, result, sources) || resolveAll(parser, result, inits))
    return failure();
  for (auto [slice, source] : llvm::zip(slices, sources)) {
    auto array = dyn_cast<ArrayType>(slice.type);
    if (!array || !array.hasAxis(axis))
      return parser.emitError(source.location)
             << "a fold along axis '" << axis.getValue() << "' of "
             << source.name << ", which does not have it";
    slice.type = array.without(axis);
  }
  auto &properties = result.getOrAddProperties<Properties>();
  properties.axis = axis;
  properties.operandSegmentSizes = {static_cast<int32_t>(sources.size()),
                                    static_cast<int32_t>(inits.size())};
  SmallVector<Argument> arguments(slices);
  arguments.append(carried);
  if (asm_format::parseScopedRegion(parser, *result.addRegion(), arguments) ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  return asm_format::recordTypes(parser, result, carriedTypes(carried));
}

void FoldOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getAxis();
  asm_format::printBindings(printer, "over", getSliceArguments(), getSources());
  asm_format::printBindings(printer, "iter", getCarriedArguments(), getInits());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {"axis", "operandSegmentSizes"});
}

Block::BlockArgListType FoldOp::getSliceArguments() {
  return getBody().front().getArguments().take_front(getSources().size());
}

Block::BlockArgListType FoldOp::getCarriedArguments() {
  return getBody().front().getArguments().drop_front(getSources().size());
}

LogicalResult FoldOp::verify() {
  if (getSources().empty())
    return emitOpError("needs an array to go along");
  for (Type source : getSources().getTypes())
    if (!cast<ArrayType>(source).hasAxis(getAxisAttr()))
      return emitOpError("goes along axis '")
             << getAxis() << "', which " << source << " does not have";
  if (getInits().getTypes() != getResultTypes())
    return emitOpError("has results that do not match its initial values");
  return success();
}

LogicalResult FoldOp::verifyRegions() {
  SmallVector<Type> expected;
  for (Type source : getSources().getTypes())
    expected.push_back(cast<ArrayType>(source).without(getAxisAttr()));
  llvm::append_range(expected, getInits().getTypes());
  if (failed(verifyArguments(*this, expected)))
    return failure();
  return verifyYield(*this, getBody(), getResultTypes());
}

//===----------------------------------------------------------------------===//
// FireOp
//===----------------------------------------------------------------------===//

ParseResult FireOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  auto &properties = result.getOrAddProperties<Properties>();
  int64_t interval, offset = 0;
  if (parser.parseKeyword("every"))
    return failure();
  OptionalParseResult isNumber = parser.parseOptionalInteger(interval);
  if (isNumber.has_value()) {
    if (failed(*isNumber))
      return failure();
    properties.interval = builder.getI64IntegerAttr(interval);
  } else {
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseLSquare() ||
        asm_format::parseLevelIndex(parser, result, offset) ||
        parser.parseRSquare())
      return failure();
    properties.interval = builder.getStringAttr(name);
  }
  int32_t numIndices = result.operands.size();
  SmallVector<Argument> arguments;
  SmallVector<UnresolvedOperand> inits;
  if (asm_format::parseBindings(parser, "iter", arguments, inits) ||
      resolveAll(parser, result, inits))
    return failure();
  properties.offset = builder.getI64IntegerAttr(offset);
  properties.operandSegmentSizes = {numIndices,
                                    static_cast<int32_t>(inits.size())};
  if (asm_format::parseScopedRegion(parser, *result.addRegion(), arguments) ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  return asm_format::recordTypes(parser, result, carriedTypes(arguments));
}

void FireOp::print(OpAsmPrinter &printer) {
  printer << " every ";
  if (auto number = dyn_cast<IntegerAttr>(getInterval())) {
    printer << number.getInt();
  } else {
    printer << cast<StringAttr>(getInterval()).getValue() << '[';
    asm_format::printLevelIndex(printer, getIndex(), getOffset());
    printer << ']';
  }
  asm_format::printBindings(printer, "iter", getBody().front().getArguments(),
                            getInits());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {"interval", "offset", "operandSegmentSizes"});
}

LogicalResult FireOp::verify() {
  if (auto number = dyn_cast<IntegerAttr>(getInterval());
      number && number.getInt() < 1)
    return emitOpError("needs a positive interval, not ") << number.getInt();
  if (Value index = getIndex()) {
    auto argument = dyn_cast<BlockArgument>(index);
    if (!argument || argument.getArgNumber() != 0 ||
        !isa<LevelsOp>(argument.getOwner()->getParentOp()))
      return emitOpError("takes its index from an enclosing larc.levels");
  }
  auto recurrence = (*this)->getParentOfType<RecurrenceOp>();
  if (!recurrence || !recurrence.getPeriodDecl())
    return emitOpError("needs a recurrence with an attribute of kind period");
  if (!isa<StringAttr>(getInterval()) && (getIndex() || getOffset()))
    return emitOpError("takes an index with a schedule only");
  if (int64_t offset = getOffset(); !getIndex() && offset < 0)
    return emitOpError("needs an index that is not negative, not ") << offset;
  if (auto name = dyn_cast<StringAttr>(getInterval())) {
    AttributeDeclAttr decl = recurrence.lookupAttribute(name);
    if (!decl || decl.getKind() != AttributeKind::Schedule)
      return emitOpError("takes its interval from '")
             << name.getValue() << "', which is no schedule of the recurrence";
  }
  if (getInits().getTypes() != getResultTypes())
    return emitOpError("has results that do not match its initial values");
  return success();
}

LogicalResult FireOp::verifyRegions() {
  SmallVector<Type> expected(getInits().getTypes());
  if (failed(verifyArguments(*this, expected)))
    return failure();
  return verifyYield(*this, getBody(), getResultTypes());
}

//===----------------------------------------------------------------------===//
// ChooseOp
//===----------------------------------------------------------------------===//

ParseResult ChooseOp::parse(OpAsmParser &parser, OperationState &result) {
  StringRef name;
  Builder &builder = parser.getBuilder();
  if (parser.parseKeyword(&name) || parser.parseLBrace())
    return failure();
  SmallVector<Attribute> cases;
  while (succeeded(parser.parseOptionalKeyword("case"))) {
    SmallVector<Attribute> labels;
    auto parseLabel = [&]() -> ParseResult {
      StringRef label;
      if (parser.parseKeyword(&label))
        return failure();
      labels.push_back(builder.getStringAttr(label));
      return success();
    };
    if (parser.parseCommaSeparatedList(parseLabel) ||
        asm_format::parseScopedRegion(parser, *result.addRegion(), {}))
      return failure();
    cases.push_back(builder.getArrayAttr(labels));
  }
  if (cases.empty())
    return parser.emitError(parser.getCurrentLocation(),
                            "expected at least one 'case'");
  if (parser.parseRBrace() || parser.parseOptionalAttrDict(result.attributes))
    return failure();
  auto &properties = result.getOrAddProperties<Properties>();
  properties.attribute = builder.getStringAttr(name);
  properties.cases = builder.getArrayAttr(cases);
  return asm_format::recordTypes(
      parser, result, asm_format::yieldedTypes(*result.regions.front()));
}

void ChooseOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getAttribute() << " {";
  printer.increaseIndent();
  for (auto [labels, region] : llvm::zip(getCases(), getRegions())) {
    printer.printNewline();
    printer << "case ";
    asm_format::printAxes(printer, cast<ArrayAttr>(labels).getValue());
    printer << ' ';
    printer.printRegion(region, /*printEntryBlockArgs=*/false);
  }
  printer.decreaseIndent();
  printer.printNewline();
  printer << '}';
  printer.printOptionalAttrDict((*this)->getAttrs(), {"attribute", "cases"});
}

LogicalResult ChooseOp::verify() {
  if (getCases().size() != getRegions().size() || getCases().empty())
    return emitOpError("needs one region for each case and at least one case");
  auto recurrence = (*this)->getParentOfType<RecurrenceOp>();
  AttributeDeclAttr decl =
      recurrence ? recurrence.lookupAttribute(getAttribute()) : nullptr;
  if (!decl || decl.getKind() != AttributeKind::Choice)
    return emitOpError("chooses by '")
           << getAttribute()
           << "', which is no choice attribute of the recurrence";
  SmallVector<StringAttr> seen;
  for (Attribute labels : getCases()) {
    for (Attribute label : cast<ArrayAttr>(labels)) {
      auto name = dyn_cast<StringAttr>(label);
      if (!name || !llvm::is_contained(decl.getChoices(), name))
        return emitOpError("has a case ")
               << label << ", which is no value of '" << getAttribute() << "'";
      if (llvm::is_contained(seen, name))
        return emitOpError("has two cases for '") << name.getValue() << "'";
      seen.push_back(name);
    }
  }
  for (StringAttr choice : decl.getChoices())
    if (!llvm::is_contained(seen, choice))
      return emitOpError("has no case for '")
             << choice.getValue() << "', a value of '" << getAttribute() << "'";
  return success();
}

LogicalResult ChooseOp::verifyRegions() {
  for (Region &region : getRegions()) {
    if (!llvm::hasSingleElement(region) || region.getNumArguments())
      return emitOpError("needs regions of one block without arguments");
    if (failed(verifyYield(*this, region, getResultTypes())))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// NestOp
//===----------------------------------------------------------------------===//

ParseResult NestOp::parse(OpAsmParser &parser, OperationState &result) {
  ArrayAttr axes = parser.getBuilder().getArrayAttr({});
  if (parser.parseKeyword("over") || parser.parseLSquare())
    return failure();
  if (failed(parser.parseOptionalRSquare()))
    if (asm_format::parseAxes(parser, axes) || parser.parseRSquare())
      return failure();
  result.getOrAddProperties<Properties>().axes = axes;
  if (asm_format::parseScopedRegion(parser, *result.addRegion(), {}) ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  return asm_format::recordTypes(
      parser, result, asm_format::yieldedTypes(*result.regions.front()));
}

void NestOp::print(OpAsmPrinter &printer) {
  printer << " over [";
  asm_format::printAxes(printer, getAxes().getValue());
  printer << "] ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  printer.printOptionalAttrDict((*this)->getAttrs(), {"axes"});
}

LogicalResult NestOp::verify() {
  ArrayRef<Attribute> axes = getAxes().getValue();
  for (auto [i, axis] : llvm::enumerate(axes))
    if (llvm::is_contained(axes.take_front(i), axis))
      return emitOpError("names axis ") << axis << " twice";
  return success();
}

LogicalResult NestOp::verifyRegions() {
  if (failed(verifyYield(*this, getBody(), getResultTypes())))
    return failure();
  if (getBody().getNumArguments())
    return emitOpError("needs a region without arguments");
  for (Operation &op : getBody().front().without_terminator()) {
    if (!isa<ElementwiseOpInterface, ReductionOpInterface, RenameOp, SliceOp>(
            op))
      return op.emitOpError(
          "is neither elementwise nor a reduction, as a nest needs");
    // A rename or slice inside only re-labels an array from outside.
    bool view = isa<RenameOp, SliceOp>(op);
    for (Value operand : op.getOperands()) {
      Operation *producer = operand.getDefiningOp();
      bool inside = producer && producer->getParentOp() == getOperation();
      if (inside && isa<ReductionOpInterface>(producer))
        return op.emitOpError("uses a reduction of the same nest");
      if (inside && view && !isa<RenameOp, SliceOp>(producer))
        return op.emitOpError("re-labels what the same nest computes");
      if (isa<SliceOp>(op))
        continue;
      for (StringAttr axis : cast<ArrayType>(operand.getType()).getAxes())
        if (!view && !llvm::is_contained(getAxes(), axis))
          return op.emitOpError("has axis '")
                 << axis.getValue() << "', which the nest lacks";
    }
  }
  return success();
}
