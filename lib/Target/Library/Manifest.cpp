//===- Manifest.cpp - Reading what a library says of itself -----*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Support/Error.h"
#include "larc/Target/LoadedLibrary.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/JSON.h"

using namespace larc;

using Role = LibraryTensor::Role;

static std::optional<Role> parseRole(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<Role>>(name)
      .Case("operand", Role::Operand)
      .Case("constant", Role::Constant)
      .Case("output", Role::Output)
      .Case("initial state", Role::InitialState)
      .Case("final state", Role::FinalState)
      .Case("initial anchor", Role::InitialAnchor)
      .Case("final anchor", Role::FinalAnchor)
      .Default(std::nullopt);
}

static bool readType(const llvm::json::Object &object, llvm::StringRef name,
                     DType &result) {
  std::optional<llvm::StringRef> text = object.getString(name);
  std::optional<DType> type = text ? parseDType(*text) : std::nullopt;
  if (type)
    result = *type;
  return type.has_value();
}

static bool readTensor(const llvm::json::Value &value, LibraryTensor &tensor) {
  const llvm::json::Object *object = value.getAsObject();
  if (!object)
    return false;
  std::optional<llvm::StringRef> name = object->getString("name");
  std::optional<llvm::StringRef> role = object->getString("role");
  std::optional<int64_t> alignment = object->getInteger("alignment");
  std::optional<bool> required = object->getBoolean("required");
  const llvm::json::Array *axes = object->getArray("axes");
  const llvm::json::Array *sizes = object->getArray("sizes");
  if (!name || !role || !alignment || !required || !axes || !sizes ||
      axes->size() != sizes->size() || !parseRole(*role) ||
      !readType(*object, "type", tensor.dtype))
    return false;
  tensor.name = name->str();
  tensor.role = *parseRole(*role);
  tensor.alignment = *alignment;
  tensor.required = *required;
  for (const auto &[axis, size] : llvm::zip(*axes, *sizes)) {
    if (!axis.getAsString() || !size.getAsInteger())
      return false;
    tensor.axes.push_back(axis.getAsString()->str());
    tensor.sizes.push_back(*size.getAsInteger());
  }
  return true;
}

static bool readCode(const llvm::json::Value &value,
                     LibraryManifest::Code &code) {
  const llvm::json::Object *object = value.getAsObject();
  if (!object || !object->getString("target") || !object->getArray("forms"))
    return false;
  code.target = object->getString("target")->str();
  for (const llvm::json::Value &form : *object->getArray("forms")) {
    const llvm::json::Object *fields = form.getAsObject();
    if (!fields || !fields->getString("form"))
      return false;
    code.forms.push_back(fields->getString("form")->str());
  }
  return true;
}

static bool readManifest(const llvm::json::Object &object,
                         LibraryManifest &manifest) {
  std::optional<llvm::StringRef> name = object.getString("name");
  std::optional<llvm::StringRef> version = object.getString("larc");
  std::optional<llvm::StringRef> spec = object.getString("spec");
  const llvm::json::Object *dims = object.getObject("dims");
  const llvm::json::Array *tensors = object.getArray("tensors");
  const llvm::json::Array *code = object.getArray("code");
  if (!name || !version || !spec || !dims || !tensors || !code ||
      !readType(object, "dtype", manifest.dtype) ||
      !readType(object, "gate_dtype", manifest.gateDType) ||
      !readType(object, "state_dtype", manifest.stateDType))
    return false;
  manifest.name = name->str();
  manifest.version = version->str();
  manifest.spec = spec->str();
  for (const auto &[axis, size] : *dims) {
    if (!size.getAsInteger())
      return false;
    manifest.dims.emplace_back(axis.str(), *size.getAsInteger());
  }
  llvm::sort(manifest.dims);
  for (const llvm::json::Value &value : *tensors)
    if (!readTensor(value, manifest.tensors.emplace_back()))
      return false;
  for (const llvm::json::Value &value : *code)
    if (!readCode(value, manifest.code.emplace_back()))
      return false;
  return true;
}

llvm::Expected<LibraryManifest>
larc::parseLibraryManifest(llvm::StringRef text) {
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (!value)
    return makeFault("the library's manifest is not JSON: " +
                     llvm::toString(value.takeError()));
  LibraryManifest manifest;
  const llvm::json::Object *object = value->getAsObject();
  if (!object || !readManifest(*object, manifest))
    return makeFault("the library's manifest lacks something, or has something "
                     "of another kind than expected");
  return manifest;
}
