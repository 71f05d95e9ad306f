//===- WriteLibrary.cpp - Writing compiled libraries ------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Describe.h"

#include "larc/Support/Error.h"

#include "llvm/Support/JSON.h"

#include <limits>

using namespace mlir;
using namespace larc;

using Role = LibraryTensor::Role;

//===----------------------------------------------------------------------===//
// The manifest
//===----------------------------------------------------------------------===//

static StringRef getRoleName(Role role) {
  switch (role) {
  case Role::Operand:
    return "operand";
  case Role::Constant:
    return "constant";
  case Role::Output:
    return "output";
  case Role::InitialState:
    return "initial state";
  case Role::FinalState:
    return "final state";
  case Role::InitialAnchor:
    return "initial anchor";
  case Role::FinalAnchor:
    return "final anchor";
  }
  return "";
}

/// Text of any bytes as a string of JSON.
static llvm::json::Value toText(StringRef text) {
  if (llvm::json::isUTF8(text))
    return text.str();
  return llvm::json::fixUTF8(text);
}

static llvm::json::Array writeTensors(LibraryContents &contents) {
  llvm::json::Array tensors;
  for (const DescribedTensor &tensor : describeTensors(contents)) {
    llvm::json::Object object{{"name", toText(tensor.name)},
                              {"member", tensor.member},
                              {"role", getRoleName(tensor.role)},
                              {"type", getName(tensor.dtype)},
                              {"axes", llvm::json::Array(tensor.axes)},
                              {"sizes", llvm::json::Array(tensor.sizes)},
                              {"alignment", tensor.alignment},
                              {"required", tensor.required}};
    if (tensor.role == Role::InitialState) {
      auto decl =
          cast<StateDeclAttr>(contents.recurrence.getStates()[tensor.state]);
      if (decl.getInit()) {
        SmallString<16> number;
        decl.getInit().getValue().toString(number);
        object["initial"] = std::string(number);
      }
    }
    tensors.push_back(std::move(object));
  }
  return tensors;
}

static llvm::json::Object writeForm(StringRef name, int64_t chunkSize,
                                    int64_t leastTokens) {
  llvm::json::Object form{{"form", name}, {"chunk_size", chunkSize}};
  // A form that is never chosen by itself has no such number.
  if (leastTokens != std::numeric_limits<int64_t>::max())
    form["least_tokens"] = leastTokens;
  return form;
}

static llvm::json::Array writeMaps(const CudaForm &form,
                                   ArrayRef<DescribedTensor> tensors) {
  llvm::json::Array maps;
  for (const CudaTensorMap &map : form.maps)
    maps.push_back(llvm::json::Object{
        {"tensor", toText(tensors[map.tensor].name)}, {"rows", map.rows}});
  return maps;
}

static llvm::json::Array writeCode(LibraryContents &contents) {
  llvm::json::Array code;
  std::vector<DescribedTensor> tensors = describeTensors(contents);
  for (const CudaCode &gpu : contents.cuda) {
    llvm::json::Array forms;
    for (const CudaForm &form : gpu.forms) {
      llvm::json::Object object =
          writeForm(getFormName(form.form), form.chunkSize, form.leastTokens);
      llvm::json::Array kernels;
      for (const CudaFormLaunch &launch : form.launches)
        kernels.push_back(
            llvm::json::Object{{"name", toText(launch.kernel)},
                               {"warps", launch.warps},
                               {"shared_bytes", launch.sharedBytes},
                               {"parts", launch.parts}});
      object["kernels"] = std::move(kernels);
      if (!form.maps.empty())
        object["tensor_maps"] = writeMaps(form, tensors);
      forms.push_back(std::move(object));
    }
    code.push_back(llvm::json::Object{{"target", getTargetName(gpu)},
                                      {"forms", std::move(forms)}});
  }
  if (contents.cpu) {
    llvm::json::Array forms;
    for (const CPUFormCode &form : contents.cpu->forms)
      forms.push_back(writeForm(getFormName(toLibraryForm(form.form)),
                                form.chunkSize, form.leastTokens));
    code.push_back(
        llvm::json::Object{{"target", "cpu"},
                           {"cpu", contents.cpu->cpu},
                           {"needs", llvm::json::Array(contents.cpu->levels)},
                           {"forms", std::move(forms)}});
  }
  return code;
}

std::string larc::writeLibraryManifest(LibraryContents &contents) {
  RecurrenceOp op = contents.recurrence;
  std::string spec;
  {
    OwningOpRef<ModuleOp> module = ModuleOp::create(op.getLoc());
    module->push_back(op.clone());
    llvm::raw_string_ostream os(spec);
    module->print(os);
  }
  llvm::json::Object dims;
  for (const auto &[axis, size] : getDimSizes(op))
    dims[axis] = size;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(
      llvm::json::Object{{"interface", LARC_LIBRARY_VERSION},
                         {"larc", LARC_VERSION_STRING},
                         {"name", toText(op.getSymName())},
                         {"functions", "larc_" + contents.getName()},
                         {"dtype", getName(contents.dtype)},
                         {"gate_dtype", getName(contents.gateDType)},
                         {"state_dtype", getName(contents.stateDType)},
                         {"dims", std::move(dims)},
                         {"tensors", writeTensors(contents)},
                         {"code", writeCode(contents)},
                         {"spec", toText(spec)}});
  return text;
}

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

static llvm::Error checkContents(LibraryContents &contents) {
  // As many as the runtime has memory for.
  constexpr size_t mostTensors = 256;
  if (!contents.cpu && contents.cuda.empty())
    return makeFault("a library needs code for one target at least");
  size_t count = describeTensors(contents).size();
  if (count > mostTensors)
    return makeFault("a library's calls have at most " + Twine(mostTensors) +
                     " tensors, found " + Twine(count));
  DType states = contents.dtype == DType::F64 ? DType::F64 : DType::F32;
  if (contents.cpu && contents.stateDType != states)
    return makeFault("code for CPUs has states of type " + getName(states) +
                     ", found " + getName(contents.stateDType));
  for (const CudaCode &code : contents.cuda)
    if (code.forms.empty())
      return makeFault("the code for " + getTargetName(code) + " has no form");
  return llvm::Error::success();
}

llvm::Error larc::writeLibrary(LibraryContents &contents, raw_ostream &os,
                               StringRef soname) {
  if (llvm::Error error = checkContents(contents))
    return error;
  llvm::Expected<std::string> data =
      makeDataObject(contents, writeLibraryManifest(contents));
  if (!data)
    return data.takeError();
  SmallVector<StringRef> objects = {*data};
  llvm::append_range(objects, getRuntimeObjects());
  SmallVector<StringRef> needed = {"libc.so.6"};
  if (contents.cpu) {
    for (const CPUFormCode &form : contents.cpu->forms)
      objects.push_back(form.object);
    needed.push_back("libm.so.6");
  }
  std::string prefix = "larc_" + contents.getName() + "_";
  SmallVector<std::pair<std::string, std::string>> exports;
  for (const LibraryFunction &function : getLibraryFunctions())
    exports.emplace_back((prefix + function.name).str(),
                         function.implementation.str());
  std::string name =
      soname.empty() ? "lib" + contents.getName() + ".so" : soname.str();
  llvm::Expected<std::string> library =
      linkSharedObject(objects, name, exports, LARC_LIBRARY_FUNCTION, needed);
  if (!library)
    return library.takeError();
  os << *library;
  return llvm::Error::success();
}
