//===- Describe.cpp - The tensors of a library's calls ----------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Describe.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <numeric>

using namespace mlir;
using namespace larc;

using Role = LibraryTensor::Role;

int64_t larc::countElements(const LibraryTensor &tensor) {
  return std::accumulate(tensor.sizes.begin(), tensor.sizes.end(), int64_t(1),
                         std::multiplies<>());
}

int64_t larc::countRowElements(const LibraryTensor &tensor) {
  return tensor.sizes.empty() ? 1 : tensor.sizes.back();
}

std::vector<std::pair<std::string, int64_t>>
larc::getDimSizes(RecurrenceOp op) {
  std::vector<std::pair<std::string, int64_t>> dims;
  for (StringAttr axis : op.getAllAxes())
    if (std::optional<int64_t> size = op.getAxisSize(axis))
      dims.emplace_back(axis.str(), *size);
  return dims;
}

std::string larc::makeCName(StringRef text) {
  // Those of C and C++ that a short name may happen to be.
  static const llvm::StringSet<> keywords = {
      "alignas", "alignof",   "and",      "asm",      "auto",     "bool",
      "break",   "case",      "catch",    "char",     "class",    "compl",
      "concept", "const",     "continue", "decltype", "default",  "delete",
      "do",      "double",    "else",     "enum",     "explicit", "export",
      "extern",  "false",     "float",    "for",      "friend",   "goto",
      "if",      "inline",    "int",      "long",     "mutable",  "namespace",
      "new",     "noexcept",  "not",      "nullptr",  "operator", "or",
      "private", "protected", "public",   "register", "requires", "restrict",
      "return",  "short",     "signed",   "sizeof",   "static",   "struct",
      "switch",  "template",  "this",     "throw",    "true",     "try",
      "typedef", "typeid",    "typename", "union",    "unsigned", "using",
      "virtual", "void",      "volatile", "while",    "xor"};
  std::string name;
  for (char c : text)
    name += llvm::isAlnum(c) ? c : '_';
  if (name.empty() || llvm::isDigit(name.front()))
    name.insert(name.begin(), '_');
  if (keywords.contains(name))
    name += '_';
  return name;
}

std::string LibraryContents::getName() {
  return makeCName(name.empty() ? recurrence.getSymName() : StringRef(name));
}

namespace {

/// Lists the tensors of a recurrence.
class Describer {
public:
  explicit Describer(LibraryContents &contents)
      : contents(contents), op(contents.recurrence) {}

  std::vector<DescribedTensor> describe();

private:
  void add(Role role, const Twine &name, ArrayRef<StringAttr> axes, DType dtype,
           bool required, unsigned state = 0);
  void addStates(Role role, StringRef prefix, bool anchors);
  DType getType(OperandKind kind) const {
    return kind == OperandKind::Gate ? contents.gateDType : contents.dtype;
  }

  LibraryContents &contents;
  RecurrenceOp op;
  std::vector<DescribedTensor> tensors;
  llvm::StringSet<> members;
};

} // namespace

void Describer::add(Role role, const Twine &name, ArrayRef<StringAttr> axes,
                    DType dtype, bool required, unsigned state) {
  DescribedTensor tensor;
  tensor.role = role;
  tensor.name = name.str();
  tensor.dtype = dtype;
  tensor.required = required;
  tensor.state = state;
  for (StringAttr axis : axes) {
    tensor.axes.push_back(axis.str());
    tensor.sizes.push_back(op.getAxisSize(axis).value_or(1));
  }
  // Kernels load and store vectors of up to 16 bytes where rows allow it: of
  // tokens all axes are one row.
  bool isOfTokens = role == Role::Operand || role == Role::Output;
  int64_t row = isOfTokens ? countElements(tensor) : countRowElements(tensor);
  int64_t bytes = getByteWidth(dtype);
  tensor.alignment = std::gcd(16 / bytes, row) * bytes;
  tensor.member = makeCName(tensor.name);
  while (!members.insert(tensor.member).second)
    tensor.member += '_';
  tensors.push_back(std::move(tensor));
}

void Describer::addStates(Role role, StringRef prefix, bool anchors) {
  SmallVector<unsigned> anchored = op.getAnchoredStates();
  for (auto [i, decl] :
       llvm::enumerate(op.getStates().getAsRange<StateDeclAttr>())) {
    auto index = static_cast<unsigned>(i);
    if (anchors && !llvm::is_contained(anchored, index))
      continue;
    bool required = role != Role::InitialAnchor &&
                    (role != Role::InitialState || decl.isRequired());
    add(role, prefix + decl.getName().getValue(), decl.getAxes(),
        contents.stateDType, required, index);
  }
}

std::vector<DescribedTensor> Describer::describe() {
  for (auto [decl, argument] :
       llvm::zip_equal(op.getTokenOperands().getAsRange<OperandDeclAttr>(),
                       op.getOperandArguments()))
    add(Role::Operand, decl.getName().getValue(), decl.getAxes(),
        getType(decl.getKind()), !argument.use_empty());
  for (auto [decl, argument] :
       llvm::zip_equal(op.getConstants().getAsRange<OperandDeclAttr>(),
                       op.getConstantArguments()))
    add(Role::Constant, decl.getName().getValue(), decl.getAxes(),
        getType(decl.getKind()), !argument.use_empty());
  for (auto decl : op.getOutputs().getAsRange<OutputDeclAttr>())
    add(Role::Output, "out." + decl.getName().getValue(), decl.getAxes(),
        contents.dtype, /*required=*/true);
  addStates(Role::InitialState, "state.", /*anchors=*/false);
  addStates(Role::FinalState, "final.", /*anchors=*/false);
  addStates(Role::InitialAnchor, "anchor.", /*anchors=*/true);
  addStates(Role::FinalAnchor, "final.anchor.", /*anchors=*/true);
  return std::move(tensors);
}

std::vector<DescribedTensor> larc::describeTensors(LibraryContents &contents) {
  return Describer(contents).describe();
}

ArrayRef<LibraryFunction> larc::getLibraryFunctions() {
  static constexpr LibraryFunction functions[] = {
      {"message", "larc_rt_message"},
      {"load", "larc_rt_load"},
      {"unload", "larc_rt_unload"},
      {"plan", "larc_rt_plan"},
      {"workspace", "larc_rt_workspace"},
      {"describe", "larc_rt_describe"},
      {"run", "larc_rt_run"},
      {"release", "larc_rt_release"},
      {"library", LARC_LIBRARY_FUNCTION},
  };
  return functions;
}

std::string larc::getTargetName(const CudaCode &code) {
  return "cuda:" + std::to_string(code.computeCapability);
}

StringRef larc::getFormName(larc_form form) {
  switch (form) {
  case LARC_FORM_AUTO:
    return "auto";
  case LARC_FORM_RECURRENT:
    return "recurrent";
  case LARC_FORM_CHUNK:
    return "chunk";
  }
  return "";
}

larc_form larc::toLibraryForm(CPUForm form) {
  return form == CPUForm::Chunk ? LARC_FORM_CHUNK : LARC_FORM_RECURRENT;
}
