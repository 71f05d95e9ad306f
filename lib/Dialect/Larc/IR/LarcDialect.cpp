//===- LarcDialect.cpp - Dialect, types and attributes -*- C++ -*- --------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Dialect/Larc/IR/Larc.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace larc;

#include "larc/Dialect/Larc/IR/LarcDialect.cpp.inc"
#include "larc/Dialect/Larc/IR/LarcEnums.cpp.inc"
#include "larc/Dialect/Larc/IR/LarcInterfaces.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "larc/Dialect/Larc/IR/LarcTypes.cpp.inc"

/// `["K", "V"]`, as lists of names stand in the declarations' attributes.
static FailureOr<SmallVector<StringAttr>> parseNameList(AsmParser &parser) {
  SmallVector<StringAttr> names;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parser.parseAttribute(names.emplace_back());
      }))
    return failure();
  return names;
}

static void printNameList(AsmPrinter &printer, ArrayRef<StringAttr> names) {
  printer << '[';
  llvm::interleaveComma(names, printer.getStream(),
                        [&](StringAttr name) { printer.printAttribute(name); });
  printer << ']';
}

#define GET_ATTRDEF_CLASSES
#include "larc/Dialect/Larc/IR/LarcAttributes.cpp.inc"

void LarcDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "larc/Dialect/Larc/IR/LarcTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "larc/Dialect/Larc/IR/LarcAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "larc/Dialect/Larc/IR/LarcOps.cpp.inc"
      >();
}

Operation *LarcDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  auto number = dyn_cast<FloatAttr>(value);
  auto array = dyn_cast<ArrayType>(type);
  if (!number || !number.getType().isF64() || !array || !array.isScalar())
    return nullptr;
  return ConstantOp::create(builder, loc, number);
}

//===----------------------------------------------------------------------===//
// ArrayType
//===----------------------------------------------------------------------===//

static bool precedes(StringAttr lhs, StringAttr rhs) {
  return lhs.getValue() < rhs.getValue();
}

ArrayType ArrayType::ofAxes(MLIRContext *context, ArrayRef<StringAttr> axes) {
  SmallVector<StringAttr> sorted(axes);
  llvm::sort(sorted, precedes);
  sorted.erase(llvm::unique(sorted), sorted.end());
  return get(context, sorted);
}

ArrayType ArrayType::scalar(MLIRContext *context) {
  return get(context, ArrayRef<StringAttr>());
}

ArrayType ArrayType::unionOf(ArrayType lhs, ArrayType rhs) {
  SmallVector<StringAttr> axes(lhs.getAxes());
  llvm::append_range(axes, rhs.getAxes());
  return ofAxes(lhs.getContext(), axes);
}

ArrayType ArrayType::without(ArrayRef<StringAttr> axes) const {
  SmallVector<StringAttr> kept;
  llvm::copy_if(getAxes(), std::back_inserter(kept), [&](StringAttr axis) {
    return !llvm::is_contained(axes, axis);
  });
  return get(getContext(), kept);
}

bool ArrayType::hasAxis(StringAttr axis) const {
  return llvm::is_contained(getAxes(), axis);
}

LogicalResult ArrayType::verify(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<StringAttr> axes) {
  for (auto [axis, next] :
       llvm::zip(axes, axes.drop_front(axes.empty() ? 0 : 1)))
    if (!precedes(axis, next))
      return emitError() << "axes of an array are sorted and unique, but '"
                         << axis.getValue() << "' comes before '"
                         << next.getValue() << "'";
  return success();
}

static ParseResult parseAxisName(AsmParser &parser,
                                 SmallVectorImpl<StringAttr> &axes) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name))
    return failure();
  StringAttr axis = StringAttr::get(parser.getContext(), name);
  if (llvm::is_contained(axes, axis))
    return parser.emitError(loc) << "axis '" << name << "' is named twice";
  axes.push_back(axis);
  return success();
}

Type ArrayType::parse(AsmParser &parser) {
  SmallVector<StringAttr> axes;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, [&] {
        return parseAxisName(parser, axes);
      }))
    return {};
  return ofAxes(parser.getContext(), axes);
}

void ArrayType::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getAxes(), printer.getStream(),
                        [&](StringAttr axis) { printer << axis.getValue(); });
  printer << '>';
}

//===----------------------------------------------------------------------===//
// FamilyType
//===----------------------------------------------------------------------===//

Type FamilyType::parse(AsmParser &parser) {
  SmallVector<StringAttr> level, sized;
  int64_t first;
  ArrayType member;
  if (parser.parseLess() || parser.parseKeyword("level") ||
      parser.parseEqual() || parseAxisName(parser, level) ||
      parser.parseComma() || parser.parseKeyword("first") ||
      parser.parseEqual() || parser.parseInteger(first) ||
      parser.parseComma() || parser.parseKeyword("member") ||
      parser.parseEqual() || parser.parseType(member))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    if (parser.parseKeyword("sized") || parser.parseEqual() ||
        parser.parseCommaSeparatedList(
            [&] { return parseAxisName(parser, sized); }))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), level.front(), first, member, sized);
}

void FamilyType::print(AsmPrinter &printer) const {
  printer << "<level = " << getLevel().getValue() << ", first = " << getFirst()
          << ", member = " << getMember();
  if (!getSized().empty()) {
    printer << ", sized = ";
    llvm::interleaveComma(getSized(), printer.getStream(),
                          [&](StringAttr axis) { printer << axis.getValue(); });
  }
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static Type argumentType(MLIRContext *context, ArrayRef<StringAttr> axes,
                         FamilyDeclAttr family) {
  ArrayType member = ArrayType::ofAxes(context, axes);
  if (!family)
    return member;
  return FamilyType::get(context, family.getLevel(), family.getFirst(), member,
                         family.getSized());
}

Type OperandDeclAttr::getArgumentType() const {
  return argumentType(getContext(), getAxes(), getFamily());
}

Type StateDeclAttr::getArgumentType() const {
  return argumentType(getContext(), getAxes(), getFamily());
}

double SizeFnAttr::evaluate(int64_t size) const {
  switch (getFunction()) {
  case SizeFunction::Size:
    return static_cast<double>(size);
  case SizeFunction::Rsqrt:
    return 1.0 / std::sqrt(static_cast<double>(size));
  case SizeFunction::Reciprocal:
    return 1.0 / static_cast<double>(size);
  }
  return 0.0;
}

AttributeDeclAttr AttributeDeclAttr::withValue(Attribute value) const {
  return get(getContext(), getName(), getKind(), value, getChoices(),
             getLevel());
}
