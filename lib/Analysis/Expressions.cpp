//===- Expressions.cpp - Values of a step as text -*- C++ -*- -------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Expressions.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace larc;

/// The declared name of an argument of the step.
static StringRef getArgumentName(BlockArgument argument) {
  auto recurrence =
      dyn_cast_or_null<RecurrenceOp>(argument.getOwner()->getParentOp());
  if (!recurrence)
    return {};
  unsigned number = argument.getArgNumber();
  auto pick = [&](ArrayAttr decls) -> Attribute {
    if (number < decls.size())
      return decls[number];
    number -= decls.size();
    return nullptr;
  };
  if (Attribute decl = pick(recurrence.getTokenOperands()))
    return cast<OperandDeclAttr>(decl).getName();
  if (Attribute decl = pick(recurrence.getConstants()))
    return cast<OperandDeclAttr>(decl).getName();
  if (Attribute decl = pick(recurrence.getStates()))
    return cast<StateDeclAttr>(decl).getName();
  for (auto decl :
       recurrence.getAttributeDecls().getAsRange<AttributeDeclAttr>())
    if (decl.getKind() == AttributeKind::Real && number-- == 0)
      return decl.getName();
  return {};
}

StringRef larc::getSourceName(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return getArgumentName(argument);
  if (auto name = dyn_cast<NameLoc>(value.getLoc()))
    return name.getName();
  return {};
}

static std::string formatNumber(double number) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::format("%.6g", number);
  return text;
}

static std::string describe(Value value, unsigned depth) {
  if (auto constant = value.getDefiningOp<ConstantOp>())
    return formatNumber(constant.getValue().convertToDouble());
  if (StringRef name = getSourceName(value); !name.empty())
    return name.str();
  Operation *op = value.getDefiningOp();
  if (!op)
    return "?";
  if (auto slice = dyn_cast<SliceOp>(op))
    return (describe(slice.getOperand(), depth) + "[" + slice.getAxis() +
            " = " + Twine(slice.getOffset()) + "]")
        .str();
  std::string text = op->getName().stripDialect().str() + "(";
  llvm::raw_string_ostream os(text);
  if (depth > 3)
    os << "...";
  else
    llvm::interleaveComma(op->getOperands(), os, [&](Value operand) {
      os << describe(operand, depth + 1);
    });
  os << ")";
  return text;
}

std::string larc::describeValue(Value value) { return describe(value, 0); }

std::string larc::describeProduct(const Product &product) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::ListSeparator times(" * ");
  if (product.coefficient != 1.0 || product.factors.empty())
    os << times << formatNumber(product.coefficient);
  for (Value factor : product.factors)
    os << times << describeValue(factor);
  for (Value divisor : product.divisors)
    os << " / " << describeValue(divisor);
  return text;
}

std::string larc::describeSum(const Sum &sum) {
  if (sum.empty())
    return "0";
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(
      sum, os, [&](const Product &term) { os << describeProduct(term); },
      " + ");
  return text;
}
