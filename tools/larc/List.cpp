//===- List.cpp - larc list -----------------------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"

#include "larc/Support/Error.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringExtras.h"

using namespace larc;
using namespace larc::driver;

static std::string formatAxes(llvm::ArrayRef<mlir::StringAttr> axes) {
  if (axes.empty())
    return "";
  std::string text = "[";
  for (mlir::StringAttr axis : axes)
    text += (text.size() > 1 ? "," : "") + axis.str();
  return text + "]";
}

static llvm::json::Array toJSON(llvm::ArrayRef<mlir::StringAttr> names) {
  llvm::json::Array array;
  for (mlir::StringAttr name : names)
    array.push_back(name.getValue());
  return array;
}

/// ` per level from 1` of a family.
static std::string formatFamily(FamilyDeclAttr family) {
  if (!family)
    return "";
  return " per " + family.getLevel().str() +
         (family.getFirst() ? " from " + std::to_string(family.getFirst())
                            : std::string());
}

/// `(0.5,1)` of an operand drawn from that interval, else nothing.
static std::string formatRange(OperandDeclAttr decl) {
  if (!decl.getRange())
    return "";
  std::string text = "(";
  for (double bound : decl.getRange().asArrayRef())
    text += (text.size() > 1 ? "," : "") + formatNumber(bound, 6);
  return text + ")";
}

static std::string formatOperands(mlir::ArrayAttr decls) {
  std::string text;
  for (auto decl : decls.getAsRange<OperandDeclAttr>())
    text += " " + decl.getName().str() + formatAxes(decl.getAxes()) + ":" +
            stringifyOperandKind(decl.getKind()).str() + formatRange(decl) +
            formatFamily(decl.getFamily());
  return text;
}

static std::string formatStates(mlir::ArrayAttr decls) {
  std::string text;
  for (auto decl : decls.getAsRange<StateDeclAttr>()) {
    text += " " + decl.getName().str() + formatAxes(decl.getAxes()) +
            formatFamily(decl.getFamily());
    if (decl.isRequired())
      text += " required";
    else if (!decl.getInit().getValue().isZero())
      text += "=" + formatNumber(decl.getInit().getValueAsDouble());
  }
  return text;
}

/// `rsqrt(K)`, `0.5`, `softmax`, `1,2,4`.
static std::string formatDefault(AttributeDeclAttr decl) {
  mlir::Attribute value = decl.getValue();
  if (auto function = llvm::dyn_cast<SizeFnAttr>(value))
    return stringifySizeFunction(function.getFunction()).str() + "(" +
           function.getAxis().str() + ")";
  if (auto number = llvm::dyn_cast<mlir::FloatAttr>(value))
    return formatNumber(number.getValueAsDouble(), 6);
  if (auto integer = llvm::dyn_cast<mlir::IntegerAttr>(value))
    return std::to_string(integer.getInt());
  if (auto choice = llvm::dyn_cast<mlir::StringAttr>(value))
    return choice.str();
  std::string text;
  if (auto list = llvm::dyn_cast<mlir::DenseI64ArrayAttr>(value))
    for (int64_t entry : list.asArrayRef())
      text += (text.empty() ? "" : ",") + std::to_string(entry);
  return text;
}

static std::string formatAttributes(mlir::ArrayAttr decls) {
  std::string text;
  for (auto decl : decls.getAsRange<AttributeDeclAttr>()) {
    text += " " + decl.getName().str() + "=" + formatDefault(decl);
    if (decl.getChoices().empty())
      continue;
    text += " (";
    llvm::interleave(
        decl.getChoices(),
        [&](mlir::StringAttr choice) { text += choice.getValue(); },
        [&] { text += '|'; });
    text += ')';
  }
  return text;
}

static std::string formatSpec(RecurrenceOp recurrence) {
  std::string text = ":" + formatOperands(recurrence.getTokenOperands());
  if (!recurrence.getConstants().empty())
    text += "; constants" + formatOperands(recurrence.getConstants());
  text += "; states" + formatStates(recurrence.getStates());
  if (!recurrence.getAttributeDecls().empty())
    text += "; attributes" + formatAttributes(recurrence.getAttributeDecls());
  return text;
}

static llvm::json::Value familyToJSON(FamilyDeclAttr family) {
  if (!family)
    return nullptr;
  return llvm::json::Object{{"axis", family.getLevel().getValue()},
                            {"first", family.getFirst()},
                            {"sized", toJSON(family.getSized())}};
}

static void addOperands(llvm::json::Array &array, mlir::ArrayAttr decls,
                        bool isConstant) {
  for (auto decl : decls.getAsRange<OperandDeclAttr>()) {
    std::string domain = stringifyDomain(decl.getDomain()).str();
    if (decl.getDomainAxis())
      domain += "(" + decl.getDomainAxis().str() + ")";
    domain += formatRange(decl);
    array.push_back(
        llvm::json::Object{{"name", decl.getName().getValue()},
                           {"kind", stringifyOperandKind(decl.getKind())},
                           {"axes", toJSON(decl.getAxes())},
                           {"domain", domain},
                           {"constant", isConstant},
                           {"levels", familyToJSON(decl.getFamily())}});
  }
}

static llvm::json::Value defaultToJSON(AttributeDeclAttr decl) {
  mlir::Attribute value = decl.getValue();
  if (auto number = llvm::dyn_cast<mlir::FloatAttr>(value))
    return driver::toJSON(number.getValueAsDouble());
  if (auto integer = llvm::dyn_cast<mlir::IntegerAttr>(value))
    return integer.getInt();
  if (auto list = llvm::dyn_cast<mlir::DenseI64ArrayAttr>(value))
    return driver::toJSON(list.asArrayRef());
  return formatDefault(decl);
}

static llvm::json::Object specToJSON(RecurrenceOp recurrence) {
  llvm::json::Array operands, states, attributes;
  addOperands(operands, recurrence.getTokenOperands(), /*isConstant=*/false);
  addOperands(operands, recurrence.getConstants(), /*isConstant=*/true);
  for (auto decl : recurrence.getStates().getAsRange<StateDeclAttr>()) {
    // JSON has no infinity: those are strings.
    llvm::json::Value init = nullptr;
    if (!decl.isRequired()) {
      double value = decl.getInit().getValueAsDouble();
      init = driver::toJSON(value);
      if (init.kind() == llvm::json::Value::Null)
        init = formatNumber(value);
    }
    states.push_back(
        llvm::json::Object{{"name", decl.getName().getValue()},
                           {"axes", toJSON(decl.getAxes())},
                           {"init", std::move(init)},
                           {"required", decl.isRequired()},
                           {"levels", familyToJSON(decl.getFamily())}});
  }
  for (auto decl :
       recurrence.getAttributeDecls().getAsRange<AttributeDeclAttr>())
    attributes.push_back(llvm::json::Object{
        {"name", decl.getName().getValue()},
        {"kind", stringifyAttributeKind(decl.getKind())},
        {"default", defaultToJSON(decl)},
        {"values", decl.getChoices().empty() ? llvm::json::Value(nullptr)
                                             : toJSON(decl.getChoices())}});
  return llvm::json::Object{{"name", recurrence.getSymName()},
                            {"summary", recurrence.getSummary().value_or("")},
                            {"operands", std::move(operands)},
                            {"states", std::move(states)},
                            {"attributes", std::move(attributes)}};
}

llvm::Expected<int> driver::runList(Session &session) {
  llvm::json::Array array;
  for (const BuiltinSpec &spec : getBuiltinSpecs()) {
    llvm::Expected<LoadedSpec> loaded =
        loadSpec(session.getContext(), spec.name);
    if (!loaded)
      return loaded.takeError();
    if (session.getOptions().json) {
      array.push_back(specToJSON(loaded->recurrence));
      continue;
    }
    llvm::outs() << spec.name << formatSpec(loaded->recurrence) << '\n';
  }
  if (session.getOptions().json)
    printJSON(std::move(array));
  return 0;
}
