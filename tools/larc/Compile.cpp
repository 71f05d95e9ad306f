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

#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace larc;
using namespace larc::driver;

static llvm::StringRef getName(Emit emit) {
  switch (emit) {
  case Emit::Larc:
    return "larc";
  case Emit::Chunk:
    return "chunk";
  case Emit::LLVM:
    return "llvm";
  case Emit::Assembly:
    return "asm";
  case Emit::Object:
    return "obj";
  }
  return "";
}

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
  case Emit::Larc: // which no compiler writes
  case Emit::Chunk:
    return CPUEmit::Chunk;
  case Emit::LLVM:
    return CPUEmit::LLVM;
  case Emit::Assembly:
    return CPUEmit::Assembly;
  case Emit::Object:
    return CPUEmit::Object;
  }
  return CPUEmit::Object;
}

/// Writes what is asked for. Errors were printed as diagnostics, but for those
/// of the stream.
static llvm::Error emitCode(Session &session, RecurrenceOp recurrence,
                            Form form, llvm::raw_ostream &os) {
  const Options &options = session.getOptions();
  if (options.emit == Emit::Larc) {
    recurrence->getParentOfType<mlir::ModuleOp>()->print(os);
    return llvm::Error::success();
  }
  DType dtype = options.dtype.value_or(DType::F32);
  CPUOptions types =
      CPUOptions::uniform(recurrence, dtype, options.gateDType.value_or(dtype));
  types.cpu = options.cpu;
  session.setFormOptions(types, form);
  if (mlir::failed(emitCPU(recurrence, types, toCPUEmit(options.emit), os,
                           session.getCompileHooks())))
    return Session::makePrintedFault();
  return llvm::Error::success();
}

/// The form whose code is written. `auto` is the token loop: what B, T and H
/// code will be called with is not known.
static llvm::Expected<Form> chooseForm(Session &session) {
  const Options &options = session.getOptions();
  Form wanted =
      options.emit == Emit::Chunk ? Form::Chunk : options.forms.front();
  llvm::Expected<Form> form = session.resolveForm(wanted, /*gradients=*/false);
  if (form && *form == Form::Auto)
    return Form::Recurrent;
  return form;
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
  uint64_t numBytes = 0;
  if (llvm::Error error = writeFileAtomically(
          options.output, [&](llvm::raw_ostream &os) -> llvm::Error {
            uint64_t start = os.tell();
            if (llvm::Error error = emitCode(session, recurrence, *form, os))
              return error;
            numBytes = os.tell() - start;
            return llvm::Error::success();
          }))
    return std::move(error);
  if (options.json) {
    DType dtype = options.dtype.value_or(DType::F32);
    printJSON(llvm::json::Object{
        {"spec", toJSONText(spec->name)},
        {"form", driver::getName(*form)},
        {"emit", ::getName(options.emit)},
        {"dims", dimsToJSON(dims)},
        {"dtype", options.emit == Emit::Larc
                      ? llvm::json::Value(nullptr)
                      : llvm::json::Value(larc::getName(dtype))},
        {"file", toJSONText(options.output)},
        {"bytes", int64_t(numBytes)}});
  }
  return 0;
}
