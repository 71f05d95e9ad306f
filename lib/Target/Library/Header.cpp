//===- Header.cpp - The header of a library ---------------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Describe.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace larc;

using Role = LibraryTensor::Role;

namespace {

/// Prints what a library adds to the header that all have in common.
class HeaderPrinter {
public:
  HeaderPrinter(LibraryContents &contents, raw_ostream &os)
      : contents(contents), op(contents.recurrence),
        prefix("larc_" + contents.getName()), os(os),
        tensors(describeTensors(contents)) {}

  void print();

private:
  void printSummary();
  void printSizes();
  void printTensors();
  void printLayouts();
  void printFunctions();
  std::string describe(const DescribedTensor &tensor);
  /// A comment in lines of at most 80 columns.
  void comment(const Twine &text, StringRef indent);

  LibraryContents &contents;
  RecurrenceOp op;
  std::string prefix;
  raw_ostream &os;
  std::vector<DescribedTensor> tensors;
};

} // namespace

/// Text of a recurrence in a comment that it must not end.
static std::string makeHarmless(StringRef text) {
  std::string result;
  for (char c : text)
    result += llvm::isPrint(c) && c != '*' && c != '\\' ? c : '?';
  return result;
}

void HeaderPrinter::comment(const Twine &text, StringRef indent) {
  std::string line;
  auto flush = [&] {
    os << indent << "///" << line << '\n';
    line.clear();
  };
  SmallVector<StringRef> words;
  std::string whole = text.str();
  StringRef(whole).split(words, ' ');
  for (StringRef word : words) {
    if (!line.empty() && indent.size() + 3 + line.size() + 1 + word.size() > 80)
      flush();
    line += " " + word.str();
  }
  flush();
}

static StringRef getTypeName(DType dtype) {
  switch (dtype) {
  case DType::F64:
    return "float64";
  case DType::F32:
    return "float32";
  case DType::F16:
    return "float16";
  case DType::BF16:
    return "bfloat16";
  default:
    return getName(dtype);
  }
}

std::string HeaderPrinter::describe(const DescribedTensor &tensor) {
  std::string text = "[";
  switch (tensor.role) {
  case Role::Operand:
    text += "B, T, heads";
    break;
  case Role::Constant:
    text += "H";
    break;
  case Role::Output:
    text += "B, T, H";
    break;
  default:
    text += "B, H";
    break;
  }
  for (const auto &[axis, size] : llvm::zip_equal(tensor.axes, tensor.sizes))
    text += ", " + makeHarmless(axis) + " = " + std::to_string(size);
  text += "] " + getTypeName(tensor.dtype).str();
  if (tensor.role == Role::InitialState) {
    auto decl = cast<StateDeclAttr>(op.getStates()[tensor.state]);
    if (decl.getInit()) {
      SmallString<16> number;
      decl.getInit().getValue().toString(number);
      text += (", or null: " + number + " throughout").str();
    }
  } else if (tensor.role == Role::InitialAnchor) {
    text += ", or null: sequences start where a period does";
  } else if (!tensor.required) {
    text += ", not read";
  }
  if (tensor.alignment > getByteWidth(tensor.dtype))
    text += "; on a GPU at a multiple of " + std::to_string(tensor.alignment) +
            " bytes";
  return text;
}

void HeaderPrinter::printSummary() {
  os << "//===- " << prefix << " - a recurrence compiled by larc "
     << LARC_VERSION_STRING << "\n//\n";
  auto line = [&](const Twine &text) { os << "// " << text << '\n'; };
  if (std::optional<StringRef> summary = op.getSummary())
    line(makeHarmless(*summary));
  std::string targets;
  for (const CudaCode &code : contents.cuda) {
    SmallVector<StringRef> forms;
    for (const CudaForm &form : code.forms)
      forms.push_back(getFormName(form.form));
    targets += getTargetName(code) + " (" + llvm::join(forms, ", ") + "), ";
  }
  if (contents.cpu) {
    SmallVector<StringRef> forms;
    for (const CPUFormCode &form : contents.cpu->forms)
      forms.push_back(getFormName(toLibraryForm(form.form)));
    targets += "cpu " + makeHarmless(contents.cpu->cpu) + " (" +
               llvm::join(forms, ", ") + "), ";
  }
  line("Code for " + StringRef(targets).drop_back(2) + ".");
  line("B sequences of T tokens with H heads: these are free, and so are "
       "strides.");
  os << "//\n//===------------------------------------------------------------"
        "----------===//\n\n";
}

void HeaderPrinter::printSizes() {
  auto dims = getDimSizes(op);
  if (dims.empty())
    return;
  os << "/// Sizes of axes.\nenum {\n";
  for (const auto &[axis, size] : dims)
    os << "  " << prefix << "_size_" << makeCName(axis) << " = " << size
       << ",\n";
  os << "};\n\n";
}

void HeaderPrinter::printTensors() {
  os << "/// The tensors of a call. Where sequences are packed, [B, T, ...] is "
        "[T, ...],\n/// and states have an entry for each sequence.\n";
  os << "typedef struct " << prefix << "_tensors {\n";
  for (const DescribedTensor &tensor : tensors) {
    bool isResult = tensor.role == Role::Output ||
                    tensor.role == Role::FinalState ||
                    tensor.role == Role::FinalAnchor;
    comment(describe(tensor), "  ");
    os << "  " << (isResult ? "void *" : "const void *") << tensor.member
       << ";\n";
  }
  os << "} " << prefix << "_tensors;\n\n";
}

void HeaderPrinter::printLayouts() {
  os << "/// Where they lie; all zero: dense.\n";
  os << "typedef struct " << prefix << "_layouts {\n  larc_layout ";
  std::string line;
  size_t column = 14;
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    std::string word = (i ? ", " : "") + tensor.member;
    if (column + word.size() > 78) {
      os << ",\n      " << tensor.member;
      column = 6 + tensor.member.size();
      continue;
    }
    os << word;
    column += word.size();
  }
  os << ";\n} " << prefix << "_layouts;\n\n";
}

void HeaderPrinter::printFunctions() {
  struct Function {
    StringRef result, name, parameters, comment;
  };
  const Function functions[] = {
      {"larc_status ", "load", "larc_target target",
       "Loads the code to the GPU whose context is current, or looks whether "
       "the CPU can run it. Making a plan does the same for the form that it "
       "needs."},
      {"larc_status ", "unload", "larc_target target",
       "Frees what was loaded to the GPU whose context is current. No plan of "
       "this context may be used any more."},
      {"larc_status ", "plan",
       "const larc_shape *shape, const @_layouts *layouts, larc_plan **plan",
       "Makes a plan for calls of a shape; `layouts` may be null: all tensors "
       "are dense."},
      {"size_t ", "workspace", "const larc_plan *plan",
       "Bytes of memory of the target, at a multiple of 256, that each run "
       "needs for itself."},
      {"void ", "describe", "const larc_plan *plan, larc_plan_info *info",
       "What was decided for the plan."},
      {"larc_status ", "run",
       "const larc_plan *plan, const @_tensors *tensors, const larc_lists "
       "*lists, void *workspace, void *stream",
       "Runs a plan on a stream (CUstream or cudaStream_t; null: the default "
       "one); `lists` may be null, and `workspace` where none is needed."},
      {"void ", "release", "larc_plan *plan", "Frees a plan."},
      {"const char *", "message", "void",
       "What was wrong when a function of this library last failed in this "
       "thread."},
      {"const larc_library *", "library", "void",
       "The same functions in a structure, and the manifest."},
  };
  for (const Function &function : functions) {
    comment(function.comment, "");
    std::string parameters;
    for (char c : function.parameters)
      parameters += c == '@' ? prefix : std::string(1, c);
    os << function.result << prefix << '_' << function.name << '(';
    SmallVector<StringRef> list;
    StringRef(parameters).split(list, ", ");
    size_t indent =
        function.result.size() + prefix.size() + 1 + function.name.size() + 1;
    if (indent > 40) {
      indent = 4;
      os << "\n    ";
    }
    size_t column = indent;
    for (auto [i, parameter] : llvm::enumerate(list)) {
      if (i > 0 && column + parameter.size() + 4 > 80) {
        os << ",\n";
        os.indent(indent);
        column = indent;
      } else if (i > 0) {
        os << ", ";
        column += 2;
      }
      os << parameter;
      column += parameter.size();
    }
    os << ");\n\n";
  }
}

void HeaderPrinter::print() {
  std::string guard = StringRef(prefix + "_h").upper();
  printSummary();
  os << "#ifndef " << guard << "\n#define " << guard << "\n\n";
  os << getCommonHeader() << "\n";
  os << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  printSizes();
  printTensors();
  printLayouts();
  printFunctions();
  os << "#ifdef __cplusplus\n}\n#endif\n\n#endif // " << guard << "\n";
}

std::string larc::writeLibraryHeader(LibraryContents &contents) {
  std::string text;
  llvm::raw_string_ostream os(text);
  HeaderPrinter(contents, os).print();
  return text;
}
