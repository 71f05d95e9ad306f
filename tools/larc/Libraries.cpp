//===- Libraries.cpp - Running what is compiled to a library --------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code for GPUs runs as a library always: the user's, or one that is compiled
// here and lives as long as the process. So what is checked and measured is
// what others get.
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "Flags.h"
#include "Session.h"
#include "Targets.h"

#include "larc/Dialect/Larc/Transforms/Flatten.h"
#include "larc/Support/Error.h"
#include "larc/Target/CUDA/CudaDriver.h"
#include "larc/Target/Library.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"

using namespace larc;
using namespace larc::driver;

larc_form driver::toLibraryForm(Form form) {
  switch (form) {
  case Form::Recurrent:
    return LARC_FORM_RECURRENT;
  case Form::Chunk:
    return LARC_FORM_CHUNK;
  case Form::Auto:
  case Form::Reference:
    return LARC_FORM_AUTO;
  }
  return LARC_FORM_AUTO;
}

Form driver::fromLibraryForm(larc_form form) {
  switch (form) {
  case LARC_FORM_AUTO:
    return Form::Auto;
  case LARC_FORM_RECURRENT:
    return Form::Recurrent;
  case LARC_FORM_CHUNK:
    return Form::Chunk;
  }
  return Form::Auto;
}

LibraryRunOptions Library::getRun(Form form) const {
  LibraryRunOptions result = run;
  result.form = toLibraryForm(form);
  return result;
}

bool Library::hasForm(Form form) const {
  return llvm::any_of(
      code->getManifest().code, [&](const LibraryManifest::Code &part) {
        return (part.target == "cpu") == (run.target == LARC_CPU) &&
               llvm::is_contained(part.forms, driver::getName(form));
      });
}

//===----------------------------------------------------------------------===//
// The user's library
//===----------------------------------------------------------------------===//

/// The target whose code of `manifest` runs: the one that is asked for, else a
/// GPU where the library has code for it and there is one, else the CPU.
static llvm::Expected<larc_target>
chooseTarget(const Options &options, const LibraryManifest &manifest) {
  bool hasCPU = false, hasCuda = false;
  llvm::SmallVector<llvm::StringRef> names;
  for (const LibraryManifest::Code &code : manifest.code) {
    bool isCPU = code.target == "cpu";
    (isCPU ? hasCPU : hasCuda) = true;
    names.push_back(code.target);
  }
  if (!options.targets.empty() && !(options.hasCuda() ? hasCuda : hasCPU))
    return refuse(flags::target,
                  "the library has code for " + llvm::join(names, ", "));
  if (!hasCuda || (!options.targets.empty() && options.hasCPU()))
    return LARC_CPU;
  llvm::Expected<CudaContext> gpu = CudaContext::create();
  if (gpu)
    return LARC_CUDA;
  if (!hasCPU || !options.targets.empty())
    return gpu.takeError();
  llvm::consumeError(gpu.takeError());
  return LARC_CPU;
}

llvm::Expected<Library *> Session::openLibrary() {
  if (library)
    return &*library;
  PhaseTimer::Scope scope(timer, "load");
  llvm::Expected<std::unique_ptr<LoadedLibrary>> code =
      LoadedLibrary::open(options.spec);
  if (!code)
    return code.takeError();
  llvm::Expected<larc_target> target =
      chooseTarget(options, (*code)->getManifest());
  if (!target)
    return target.takeError();
  bool isMeasuring =
      options.command == Command::Run || options.command == Command::Bench;
  if (*target == LARC_CUDA && isMeasuring)
    if (llvm::Error error = refuse(flags::threads, "a GPU computes"))
      return std::move(error);
  if (*target == LARC_CPU)
    if (llvm::Error error =
            refuse(flags::segments, "a library's code for CPUs cuts no "
                                    "sequence"))
      return std::move(error);
  llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> module =
      (*code)->parseSpec(context);
  if (!module)
    return module.takeError();
  libraryModule = std::move(*module);
  Library &entry = library.emplace();
  entry.path = options.spec;
  entry.code = std::move(*code);
  entry.run.target = *target;
  entry.run.threads = options.threads;
  entry.run.segments = static_cast<int32_t>(options.segments);
  return &entry;
}

/// What a bound recurrence has for a real attribute, where it is a number.
static mlir::Attribute getBoundValue(RecurrenceOp recurrence,
                                     AttributeDeclAttr decl) {
  auto function = llvm::dyn_cast<SizeFnAttr>(decl.getValue());
  if (!function)
    return decl.getValue();
  std::optional<int64_t> size = recurrence.getAxisSize(function.getAxis());
  if (!size)
    return decl.getValue();
  mlir::Builder builder(recurrence.getContext());
  return builder.getF64FloatAttr(function.evaluate(*size));
}

/// The attributes of a library are set. A file whose metadata sets them
/// otherwise has other results.
llvm::Error Session::checkMetadata(RecurrenceOp recurrence,
                                   const TensorFile &file,
                                   llvm::StringRef path) const {
  for (const auto &[name, value] : file.metadata) {
    AttributeDeclAttr decl = recurrence.lookupAttribute(name);
    if (!decl)
      continue;
    llvm::Expected<mlir::Attribute> wanted = parseAttributeValue(decl, value);
    if (!wanted)
      return makeFileFault(path,
                           "metadata: " + llvm::toString(wanted.takeError()));
    mlir::Attribute bound = getBoundValue(recurrence, decl);
    if (*wanted == bound)
      continue;
    std::string text;
    llvm::raw_string_ostream(text) << bound;
    return makeFileFault(
        path, "metadata: the attribute " + quoteName(name) + " is " +
                  quoteName(value) + ", but the library " +
                  quoteName(options.spec) + " was compiled for " + text);
  }
  return llvm::Error::success();
}

llvm::Expected<SpecChoice> Session::chooseLibrarySpec(const TensorFile *file,
                                                      llvm::StringRef path) {
  llvm::Expected<Library *> opened = openLibrary();
  if (!opened)
    return opened.takeError();
  SpecChoice choice;
  choice.name = (*opened)->code->getManifest().name;
  choice.recurrence = getRecurrence(*libraryModule);
  if (file)
    if (llvm::Error error = checkMetadata(choice.recurrence, *file, path))
      return std::move(error);
  return choice;
}

ConversionOptions Session::getLibraryConversion() const {
  const LibraryManifest &manifest = library->code->getManifest();
  ConversionOptions conversion;
  conversion.dtype = manifest.dtype;
  conversion.gateDType = manifest.gateDType;
  return conversion;
}

DType Session::getStoredStateDType() const {
  if (options.isLibrary)
    return library->code->getManifest().stateDType;
  return options.stateDType.value_or(DType::F32);
}

/// Rounds the states of `problem` as they are kept.
llvm::Error Session::roundStates(Problem &problem) const {
  DType type = getStoredStateDType();
  if (type == DType::F32)
    return llvm::Error::success();
  for (auto &[name, tensor] : problem.storage) {
    llvm::StringRef text = name;
    if (!text.starts_with("state.") && !text.starts_with("anchor."))
      continue;
    llvm::Expected<Tensor> rounded = tensor.convertTo(type);
    if (!rounded)
      return rounded.takeError();
    llvm::Expected<Tensor> back = rounded->convertTo(tensor.getDType());
    if (!back)
      return back.takeError();
    // In place: others point to it.
    tensor.swap(*back);
  }
  return llvm::Error::success();
}

llvm::Error Session::completeDims(DimList &dims) {
  if (!options.isLibrary)
    return llvm::Error::success();
  llvm::Expected<Library *> opened = openLibrary();
  if (!opened)
    return opened.takeError();
  for (const auto &wanted : (*opened)->code->getManifest().dims) {
    auto *it = llvm::find_if(
        dims, [&](const auto &dim) { return dim.first == wanted.first; });
    if (it == dims.end())
      dims.push_back(wanted);
    else if (it->second != wanted.second)
      return makeUsageFault("dim " + quoteName(wanted.first) + " is " +
                            llvm::Twine(it->second) + ", but the library " +
                            quoteName(options.spec) + " was compiled for " +
                            llvm::Twine(wanted.second));
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Libraries made here
//===----------------------------------------------------------------------===//

/// The compute capability of the GPU at hand, which must be the one asked for.
static llvm::Expected<unsigned> getCapability(const Target &target) {
  llvm::Expected<CudaContext> gpu = CudaContext::create();
  if (!gpu)
    return gpu.takeError();
  unsigned capability = gpu->getComputeCapability();
  if (target.computeCapability != 0 && target.computeCapability != capability)
    return makeUsageFault("the GPU at hand, " + gpu->getName() +
                          ", has compute capability " +
                          llvm::Twine(capability) + ", not " +
                          llvm::Twine(target.computeCapability));
  return capability;
}

namespace {
/// The types that a library's tensors have.
struct UniformTypes {
  std::optional<DType> data, gate;
};
} // namespace

/// Enters the type of a tensor that the user gave.
static llvm::Error enterType(OperandDeclAttr decl, const Tensor *tensor,
                             UniformTypes &types) {
  if (!tensor)
    return llvm::Error::success();
  bool isGate = decl.getKind() == OperandKind::Gate;
  std::optional<DType> &type = isGate ? types.gate : types.data;
  llvm::StringRef name = decl.getName().getValue();
  if (tensor->getDType() == DType::F64)
    return makeFault(quoteName(name) + " is f64, in which no GPU computes",
                     {"'--dtype=f32' converts it"});
  if (type && *type != tensor->getDType())
    return makeFault(
        quoteName(name) + " is " + larc::getName(tensor->getDType()) +
            " beside others of " + larc::getName(*type) +
            ": code for GPUs has one type for all gates, and one for the rest",
        {"'--dtype=TYPE' and '--gate-dtype=TYPE' convert them"});
  type = tensor->getDType();
  return llvm::Error::success();
}

static llvm::Expected<UniformTypes> getUniformTypes(Problem &problem) {
  UniformTypes types;
  RecurrenceOp op = problem.recurrence;
  for (auto [decls, tensors] :
       {std::pair(op.getTokenOperands(), llvm::ArrayRef(problem.operands)),
        std::pair(op.getConstants(), llvm::ArrayRef(problem.constants))})
    for (auto [decl, tensor] :
         llvm::zip(decls.getAsRange<OperandDeclAttr>(), tensors))
      if (llvm::Error error = enterType(decl, tensor, types))
        return std::move(error);
  return types;
}

/// Writes `contents` to a temporary file and loads it.
static llvm::Expected<Library> loadContents(LibraryContents &contents) {
  Library library;
  llvm::SmallString<128> path;
  int descriptor;
  if (std::error_code code =
          llvm::sys::fs::createTemporaryFile("larc", "so", descriptor, path))
    return makeFault("cannot make a temporary file: " + code.message());
  llvm::sys::RemoveFileOnSignal(path);
  library.path = path.str().str();
  library.file = std::make_unique<llvm::FileRemover>(path);
  llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/true);
  if (llvm::Error error = writeLibrary(contents, os))
    return std::move(error);
  os.close();
  if (std::error_code code = os.error()) {
    os.clear_error();
    return makeFileFault(path, "cannot write: " + code.message());
  }
  llvm::Expected<std::unique_ptr<LoadedLibrary>> code =
      LoadedLibrary::open(path);
  if (!code)
    return code.takeError();
  library.code = std::move(*code);
  return library;
}

llvm::Expected<Library> Session::compileLibrary(const SpecChoice &spec,
                                                Problem &problem, Form form) {
  llvm::Expected<unsigned> capability = getCapability(options.targets.front());
  if (!capability)
    return capability.takeError();
  llvm::Expected<UniformTypes> types = getUniformTypes(problem);
  if (!types)
    return types.takeError();
  PhaseTimer::Scope scope(timer, "compile");
  Clock::time_point start = Clock::now();
  LibraryContents contents;
  contents.recurrence = problem.recurrence;
  contents.dtype = types->data.value_or(DType::F32);
  contents.gateDType = types->gate.value_or(contents.dtype);
  contents.stateDType = options.stateDType.value_or(DType::F32);
  CudaOptions cuda = makeCudaOptions(contents, options);
  cuda.computeCapability = *capability;
  llvm::SmallVector<larc_form> forms;
  if (form != Form::Auto)
    forms.push_back(toLibraryForm(form));
  mlir::FailureOr<CudaCode> code =
      compileForCuda(problem.recurrence, cuda, forms);
  if (mlir::failed(code))
    return makePrintedFault();
  contents.cuda.push_back(std::move(*code));
  llvm::Expected<Library> result = loadContents(contents);
  if (!result)
    return result;
  result->run.target = LARC_CUDA;
  result->run.segments = static_cast<int32_t>(options.segments);
  result->milliseconds = getMilliseconds(Clock::now() - start);
  return result;
}

unsigned driver::getCompileCapability(const Target &target) {
  constexpr unsigned hopper = 90;
  return target.computeCapability ? target.computeCapability : hopper;
}

CudaOptions driver::makeCudaOptions(LibraryContents &contents,
                                    const Options &options) {
  CudaOptions cuda = CudaOptions::uniform(contents.recurrence, contents.dtype,
                                          contents.gateDType);
  cuda.stateType = contents.stateDType;
  cuda.chunkSize = options.chunkSize;
  cuda.copies = options.copies;
  cuda.laneArrivals = options.laneArrivals;
  cuda.ptxas = options.ptxas;
  cuda.printIRAfter = options.printIRAfter;
  cuda.timing = options.timing;
  return cuda;
}

llvm::Expected<Library *> Session::getLibrary(const SpecChoice &spec,
                                              Problem &problem, Form form) {
  if (options.isLibrary)
    return openLibrary();
  // What the code depends on, as text.
  std::string key;
  llvm::raw_string_ostream os(key);
  os << spec.name << ' ' << driver::getName(form) << ' ';
  CPUOptions::of(problem).print(os);
  problem.recurrence->print(os);
  auto it = libraries.find(key);
  if (it != libraries.end())
    return &it->second;
  llvm::Expected<Library> made = compileLibrary(spec, problem, form);
  if (!made)
    return made.takeError();
  return &libraries.try_emplace(key, std::move(*made)).first->second;
}
