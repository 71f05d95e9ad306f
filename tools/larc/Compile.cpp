//===- Compile.cpp - larc compile -----------------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "Dims.h"
#include "Session.h"

#include "larc/Support/Error.h"
#include "larc/Support/FileOutput.h"
#include "larc/Target/Library.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace larc;
using namespace larc::driver;

/// LLVM only warns of a CPU that it does not know, and then compiles for the
/// oldest one.
static llvm::Error checkCPU(llvm::StringRef name) {
  if (name.empty())
    return llvm::Error::success();
  llvm::InitializeNativeTarget();
  std::string message;
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return makeFault("this machine is no target of LLVM's: " + message);
  std::unique_ptr<llvm::MCSubtargetInfo> info(
      target->createMCSubtargetInfo(triple, /*CPU=*/"", /*Features=*/""));
  llvm::SmallVector<llvm::StringRef> known;
  for (const llvm::SubtargetSubTypeKV &cpu :
       info->getAllProcessorDescriptions())
    known.push_back(cpu.Key);
  if (llvm::is_contained(known, name))
    return llvm::Error::success();
  return makeUsageFault("unknown CPU " + quoteName(name) + " of target " +
                            triple.getArchName() + didYouMean(name, known),
                        {"names are LLVM's: " + llvm::join(known, ", ")});
}

static CPUEmit toCPUEmit(Emit emit) {
  switch (emit) {
  case Emit::Chunk:
    return CPUEmit::Chunk;
  case Emit::LLVM:
    return CPUEmit::LLVM;
  case Emit::Assembly:
    return CPUEmit::Assembly;
  default:
    return CPUEmit::Object;
  }
}

static CudaEmit toCudaEmit(Emit emit) {
  switch (emit) {
  case Emit::Tile:
    return CudaEmit::Tile;
  case Emit::LLVM:
    return CudaEmit::LLVM;
  case Emit::PTX:
    return CudaEmit::PTX;
  default:
    return CudaEmit::Cubin;
  }
}

/// The types of a library's tensors.
static LibraryContents makeContents(const Options &options,
                                    RecurrenceOp recurrence) {
  LibraryContents contents;
  contents.recurrence = recurrence;
  contents.dtype = options.dtype.value_or(DType::F32);
  contents.gateDType = options.gateDType.value_or(contents.dtype);
  contents.stateDType = options.stateDType.value_or(
      contents.dtype == DType::F64 ? DType::F64 : DType::F32);
  return contents;
}

static CPUOptions makeCPUOptions(Session &session,
                                 const LibraryContents &contents, Form form) {
  CPUOptions types = CPUOptions::uniform(contents.recurrence, contents.dtype,
                                         contents.gateDType);
  types.cpu = session.getOptions().cpu;
  session.setFormOptions(types, form);
  return types;
}

/// Compiles for all targets, and writes the library. Errors were printed as
/// diagnostics, but for those of the stream.
static llvm::Error emitLibrary(Session &session, LibraryContents &contents,
                               Form form, llvm::raw_ostream &os) {
  const Options &options = session.getOptions();
  for (const Target &target : options.targets) {
    if (target.isCuda) {
      CudaOptions cuda = makeCudaOptions(contents, options);
      cuda.computeCapability = getCompileCapability(target);
      llvm::SmallVector<larc_form> forms;
      if (form != Form::Auto)
        forms.push_back(toLibraryForm(form));
      mlir::FailureOr<CudaCode> code =
          compileForCuda(contents.recurrence, cuda, forms);
      if (mlir::failed(code))
        return Session::makePrintedFault();
      if (code->whyNoChunks)
        (contents.recurrence.emitRemark("is looped over tokens alone on ")
         << target.getName() << ", which is slow for sequences")
                .attachNote(code->whyNoChunks->first)
            << code->whyNoChunks->second;
      contents.cuda.push_back(std::move(*code));
      continue;
    }
    llvm::SmallVector<CPUForm> forms;
    if (form != Form::Auto)
      forms.push_back(form == Form::Chunk ? CPUForm::Chunk
                                          : CPUForm::Recurrent);
    mlir::FailureOr<CPUCode> code = compileForLibrary(
        contents.recurrence, makeCPUOptions(session, contents, form), forms,
        session.getCompileHooks());
    if (mlir::failed(code))
      return Session::makePrintedFault();
    contents.cpu = std::move(*code);
  }
  return writeLibrary(contents, os, llvm::sys::path::filename(options.output));
}

/// Writes what is asked for. Errors were printed as diagnostics, but for those
/// of the stream.
static llvm::Error emitCode(Session &session, LibraryContents &contents,
                            Form form, llvm::raw_ostream &os) {
  const Options &options = session.getOptions();
  RecurrenceOp recurrence = contents.recurrence;
  if (options.emit == Emit::Larc) {
    recurrence->getParentOfType<mlir::ModuleOp>()->print(os);
    return llvm::Error::success();
  }
  if (options.emit == Emit::Library)
    return emitLibrary(session, contents, form, os);
  mlir::LogicalResult emitted = mlir::failure();
  if (options.hasCuda()) {
    CudaOptions cuda = makeCudaOptions(contents, options);
    cuda.computeCapability = getCompileCapability(options.targets.front());
    emitted = emitCuda(recurrence, cuda, toLibraryForm(form),
                       toCudaEmit(options.emit), os);
  } else {
    emitted = emitCPU(recurrence, makeCPUOptions(session, contents, form),
                      toCPUEmit(options.emit), os, session.getCompileHooks());
  }
  return mlir::failed(emitted) ? Session::makePrintedFault()
                               : llvm::Error::success();
}

/// The form whose code is written. `auto` is the token loop, since what B, T
/// and H code will be called with is not known; a library has all.
static llvm::Expected<Form> chooseForm(Session &session) {
  const Options &options = session.getOptions();
  Form wanted =
      options.emit == Emit::Chunk ? Form::Chunk : options.forms.front();
  llvm::Expected<Form> form = session.resolveForm(wanted, /*gradients=*/false);
  if (!form || *form != Form::Auto || options.emit == Emit::Library)
    return form;
  // What is asked for of chunks asks for them.
  bool asksForChunks =
      options.copies != CudaCopies::Auto || options.laneArrivals;
  return asksForChunks ? Form::Chunk : Form::Recurrent;
}

static llvm::json::Value getTargetNames(const Options &options) {
  llvm::json::Array names;
  for (const Target &target : options.targets)
    names.push_back(target.getName());
  return names;
}

llvm::Expected<int> driver::runCompile(Session &session) {
  const Options &options = session.getOptions();
  llvm::Expected<Form> form = chooseForm(session);
  if (!form)
    return form.takeError();
  if (llvm::Error error = checkCPU(options.cpu))
    return std::move(error);
  llvm::Expected<SpecChoice> spec =
      session.chooseSpec(/*file=*/nullptr, /*path=*/"");
  if (!spec)
    return spec.takeError();
  if (llvm::Error error = session.checkConversions(spec->recurrence))
    return std::move(error);

  if (llvm::Error error = session.checkPrintIRAfter(*form))
    return std::move(error);
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> module =
      flatten(spec->recurrence, spec->attributes);
  if (mlir::failed(module))
    return Session::makePrintedFault();
  RecurrenceOp recurrence = getRecurrence(**module);
  DimList dims = getSingleDims(options.dims);
  if (llvm::Error error = bindDimsOption(recurrence, dims, /*required=*/{}))
    return std::move(error);
  if (llvm::Error error = session.printFlattening(*spec, recurrence))
    return std::move(error);

  PhaseTimer::Scope scope(session.getTimer(), "compile");
  LibraryContents contents = makeContents(options, recurrence);
  unsigned mode = options.emit == Emit::Library ? 0777 : 0666;
  uint64_t numBytes = 0;
  if (llvm::Error error = writeFileAtomically(
          options.output,
          [&](llvm::raw_ostream &os) -> llvm::Error {
            uint64_t start = os.tell();
            if (llvm::Error error = emitCode(session, contents, *form, os))
              return error;
            numBytes = os.tell() - start;
            return llvm::Error::success();
          },
          mode))
    return std::move(error);
  if (!options.header.empty())
    if (llvm::Error error =
            writeFileAtomically(options.header, [&](llvm::raw_ostream &os) {
              os << writeLibraryHeader(contents);
              return llvm::Error::success();
            }))
      return std::move(error);
  if (options.json) {
    printJSON(llvm::json::Object{
        {"spec", toJSONText(spec->name)},
        {"form", driver::getName(*form)},
        {"emit", driver::getName(options.emit)},
        {"targets", getTargetNames(options)},
        {"dims", dimsToJSON(dims)},
        {"dtype", options.emit == Emit::Larc
                      ? llvm::json::Value(nullptr)
                      : llvm::json::Value(larc::getName(contents.dtype))},
        {"file", toJSONText(options.output)},
        {"header", options.header.empty() ? llvm::json::Value(nullptr)
                                          : toJSONText(options.header)},
        {"bytes", int64_t(numBytes)}});
  }
  return 0;
}
