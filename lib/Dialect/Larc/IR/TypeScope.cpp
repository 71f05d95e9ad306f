//===- TypeScope.cpp - Types of SSA names while parsing -*- C++ -*- -------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Dialect/Larc/IR/TypeScope.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"

#include <limits>

using namespace mlir;
using namespace larc;

//===----------------------------------------------------------------------===//
// TypeScope
//===----------------------------------------------------------------------===//

/// The innermost scope of the file that this thread parses.
static thread_local TypeScope *innermost = nullptr;

TypeScope::TypeScope(bool isolated) : parent(innermost), isolated(isolated) {
  innermost = this;
}

TypeScope::~TypeScope() { innermost = parent; }

Type TypeScope::lookup(const OpAsmParser::UnresolvedOperand &operand) {
  StringRef name = operand.name;
  name.consume_front("%");
  for (TypeScope *scope = innermost; scope; scope = scope->parent) {
    auto it = scope->types.find(name);
    if (it != scope->types.end() && operand.number < it->second.size())
      return it->second[operand.number];
    if (scope->isolated)
      break;
  }
  return {};
}

void TypeScope::define(StringRef name, unsigned number, Type type) {
  if (!innermost)
    return;
  name.consume_front("%");
  SmallVector<Type, 1> &types = innermost->types[name];
  if (types.size() <= number)
    types.resize(number + 1);
  types[number] = type;
}

//===----------------------------------------------------------------------===//
// Operands and types
//===----------------------------------------------------------------------===//

ParseResult asm_format::resolve(OpAsmParser &parser, OperationState &result,
                                const OpAsmParser::UnresolvedOperand &operand) {
  Type type = TypeScope::lookup(operand);
  if (!type) {
    auto diagnostic = parser.emitError(operand.location)
                      << "use of undefined value " << operand.name;
    if (operand.number)
      diagnostic << "#" << operand.number;
    return diagnostic;
  }
  return parser.resolveOperand(operand, type, result.operands);
}

ParseResult asm_format::parseOperand(OpAsmParser &parser,
                                     OperationState &result) {
  OpAsmParser::UnresolvedOperand operand;
  if (parser.parseOperand(operand))
    return failure();
  return resolve(parser, result, operand);
}

ParseResult asm_format::recordTypes(OpAsmParser &parser, OperationState &result,
                                    ArrayRef<Type> types) {
  result.addTypes(types);
  // The text of a spec is read by people, who know values by their names.
  if (parser.getNumResults() != 0) {
    StringRef name = parser.getResultName(0).first;
    if (!name.empty() && !llvm::isDigit(name.front()))
      result.location = NameLoc::get(StringAttr::get(parser.getContext(), name),
                                     result.location);
  }
  size_t named = std::min(types.size(), parser.getNumResults());
  for (size_t i = 0; i < named; ++i) {
    auto [name, number] = parser.getResultName(i);
    if (number != ~0u)
      TypeScope::define(name, number, types[i]);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Axes and numbers
//===----------------------------------------------------------------------===//

ParseResult asm_format::parseAxis(OpAsmParser &parser, StringAttr &axis) {
  StringRef name;
  if (parser.parseKeyword(&name))
    return failure();
  axis = parser.getBuilder().getStringAttr(name);
  return success();
}

ParseResult asm_format::parseAxes(OpAsmParser &parser, ArrayAttr &axes) {
  SmallVector<Attribute> list;
  auto parseOne = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    StringAttr axis;
    if (parseAxis(parser, axis))
      return failure();
    if (llvm::is_contained(list, axis))
      return parser.emitError(loc)
             << "axis '" << axis.getValue() << "' is named twice";
    list.push_back(axis);
    return success();
  };
  if (parser.parseCommaSeparatedList(parseOne))
    return failure();
  axes = parser.getBuilder().getArrayAttr(list);
  return success();
}

void asm_format::printAxes(OpAsmPrinter &printer, ArrayRef<Attribute> axes) {
  llvm::interleaveComma(axes, printer.getStream(), [&](Attribute axis) {
    printer << cast<StringAttr>(axis).getValue();
  });
}

ParseResult asm_format::parseReal(OpAsmParser &parser, FloatAttr &value) {
  Builder &builder = parser.getBuilder();
  bool negative = succeeded(parser.parseOptionalMinus());
  StringRef keyword;
  double number;
  if (succeeded(parser.parseOptionalKeyword(&keyword, {"inf", "nan"}))) {
    number = keyword == "inf" ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
  } else {
    int64_t integer;
    OptionalParseResult isInteger = parser.parseOptionalInteger(integer);
    if (isInteger.has_value()) {
      if (failed(*isInteger))
        return failure();
      number = static_cast<double>(integer);
    } else if (parser.parseFloat(number)) {
      return failure();
    }
  }
  if (negative)
    number = -number;
  value = builder.getF64FloatAttr(number);
  return success();
}

void asm_format::printReal(raw_ostream &os, FloatAttr value) {
  const APFloat &number = value.getValue();
  if (number.isNaN()) {
    os << "nan";
    return;
  }
  if (number.isInfinity()) {
    os << (number.isNegative() ? "-inf" : "inf");
    return;
  }
  // As few digits as give the number back; 17 always do.
  SmallString<32> text;
  for (unsigned digits = 1; digits <= 17; ++digits) {
    text.clear();
    number.toString(text, digits, /*FormatMaxPadding=*/3);
    if (APFloat(number.getSemantics(), text).bitwiseIsEqual(number))
      break;
  }
  os << text << (text.str().contains('.') ? "" : ".0");
}

void asm_format::printReal(OpAsmPrinter &printer, FloatAttr value) {
  printReal(printer.getStream(), value);
}

//===----------------------------------------------------------------------===//
// Levels, carried values and regions
//===----------------------------------------------------------------------===//

ParseResult asm_format::parseLevelIndex(OpAsmParser &parser,
                                        OperationState &result,
                                        int64_t &offset) {
  OpAsmParser::UnresolvedOperand index;
  OptionalParseResult hasIndex = parser.parseOptionalOperand(index);
  offset = 0;
  if (!hasIndex.has_value())
    return parser.parseInteger(offset);
  if (failed(*hasIndex) ||
      parser.resolveOperand(index, parser.getBuilder().getIndexType(),
                            result.operands))
    return failure();
  OptionalParseResult hasOffset = parser.parseOptionalInteger(offset);
  return hasOffset.has_value() ? ParseResult(*hasOffset)
                               : ParseResult(success());
}

void asm_format::printLevelIndex(OpAsmPrinter &printer, Value index,
                                 int64_t offset) {
  if (!index) {
    printer << offset;
    return;
  }
  printer << index;
  if (offset)
    printer << ' ' << offset;
}

ParseResult asm_format::parseBindings(
    OpAsmParser &parser, StringRef keyword,
    SmallVectorImpl<OpAsmParser::Argument> &arguments,
    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &values) {
  if (failed(parser.parseOptionalKeyword(keyword)))
    return success();
  auto parseOne = [&]() -> ParseResult {
    OpAsmParser::Argument argument;
    OpAsmParser::UnresolvedOperand value;
    if (parser.parseArgument(argument) || parser.parseEqual() ||
        parser.parseOperand(value))
      return failure();
    argument.type = TypeScope::lookup(value);
    if (!argument.type)
      return parser.emitError(value.location)
             << "use of undefined value " << value.name;
    arguments.push_back(argument);
    values.push_back(value);
    return success();
  };
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren,
                                        parseOne);
}

void asm_format::printBindings(OpAsmPrinter &printer, StringRef keyword,
                               ValueRange arguments, ValueRange values) {
  if (values.empty())
    return;
  printer << ' ' << keyword << '(';
  llvm::interleaveComma(
      llvm::zip(arguments, values), printer.getStream(), [&](auto pair) {
        printer << std::get<0>(pair) << " = " << std::get<1>(pair);
      });
  printer << ')';
}

ParseResult
asm_format::parseScopedRegion(OpAsmParser &parser, Region &region,
                              ArrayRef<OpAsmParser::Argument> arguments,
                              StringRef terminator) {
  TypeScope scope;
  for (const OpAsmParser::Argument &argument : arguments)
    TypeScope::define(argument.ssaName.name, argument.ssaName.number,
                      argument.type);
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseRegion(region, arguments))
    return failure();
  if (region.empty() || region.front().empty())
    return parser.emitError(loc, "expected a region that ends with '")
           << terminator << "'";
  return success();
}

void asm_format::printRestAndRegion(OpAsmPrinter &printer, Operation *op,
                                    ArrayRef<StringRef> inherent) {
  if (llvm::any_of(op->getAttrs(), [&](NamedAttribute attribute) {
        return !llvm::is_contained(inherent, attribute.getName().getValue());
      })) {
    printer << " with";
    printer.printOptionalAttrDict(op->getAttrs(), inherent);
  }
  printer << ' ';
  printer.printRegion(op->getRegion(0), /*printEntryBlockArgs=*/false);
}

SmallVector<Type> asm_format::yieldedTypes(Region &region) {
  if (region.empty() || region.front().empty())
    return {};
  Operation &last = region.front().back();
  return last.hasTrait<OpTrait::IsTerminator>()
             ? SmallVector<Type>(last.getOperandTypes())
             : SmallVector<Type>();
}
