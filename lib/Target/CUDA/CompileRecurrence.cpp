//===- CompileRecurrence.cpp - Kernels of a recurrence ----------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Target/CUDA/CompileRecurrence.h"

#include "larc/Conversion/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace larc;

/// What `convert-tile-to-llvm` notes at a kernel.
static constexpr llvm::StringLiteral sharedBytesName = "larc.shared_bytes";

CudaOptions CudaOptions::uniform(RecurrenceOp recurrence, DType dtype,
                                 DType gateDType) {
  CudaOptions options;
  auto getType = [&](OperandDeclAttr decl) {
    return decl.getKind() == OperandKind::Gate ? gateDType : dtype;
  };
  for (auto decl : recurrence.getTokenOperands().getAsRange<OperandDeclAttr>())
    options.operandTypes.push_back(getType(decl));
  for (auto decl : recurrence.getConstants().getAsRange<OperandDeclAttr>())
    options.constantTypes.push_back(getType(decl));
  options.outputTypes.assign(recurrence.getOutputs().size(), dtype);
  return options;
}

ArrayRef<larc_form> larc::getCudaForms() {
  static constexpr larc_form forms[] = {LARC_FORM_RECURRENT};
  return forms;
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

/// Prints IR to stderr after the pass that is named, or after all.
static void enablePrinting(PassManager &pm, StringRef wanted) {
  if (wanted.empty())
    return;
  auto isMeant = [wanted = wanted.str()](Pass *pass, Operation *) {
    return wanted == "all" || pass->getArgument() == wanted;
  };
  pm.enableIRPrinting([](Pass *, Operation *) { return false; }, isMeant,
                      /*printModuleScope=*/false,
                      /*printAfterOnlyOnChange=*/false,
                      /*printAfterOnlyOnFailure=*/false, llvm::errs());
}

static TileProgramOptions makeTileOptions(const CudaOptions &options) {
  TileProgramOptions result;
  auto spell = [](ArrayRef<DType> types, SmallVector<std::string> &names) {
    for (DType type : types)
      names.push_back(getName(type).str());
  };
  result.stateType = getName(options.stateType).str();
  spell(options.operandTypes, result.operandTypes);
  spell(options.constantTypes, result.constantTypes);
  spell(options.outputTypes, result.outputTypes);
  return result;
}

/// How the kernel is called in profiles.
static std::string getKernelName(RecurrenceOp recurrence, StringRef form) {
  std::string name;
  for (char c : recurrence.getSymName())
    name += llvm::isAlnum(c) ? c : '_';
  return "larc_" + name + "_" + form.str();
}

namespace {

/// Compiles one form of a recurrence, step by step.
class FormCompiler {
public:
  FormCompiler(RecurrenceOp recurrence, const CudaOptions &options,
               larc_form form)
      : recurrence(recurrence), options(options), form(form) {
    timing.setEnabled(options.timing);
    scope = timing.getRootScope();
  }

  /// Makes the tile programs.
  LogicalResult makeTiles();
  /// Makes kernels of them.
  LogicalResult makeKernels();
  FailureOr<CudaForm> assemble();
  FailureOr<CudaTarget> getTarget();

  ModuleOp getModule() { return *module; }

private:
  RecurrenceOp recurrence;
  const CudaOptions &options;
  larc_form form;
  DefaultTimingManager timing;
  TimingScope scope;
  OwningOpRef<ModuleOp> module;
  CudaForm result;
};

} // namespace

FailureOr<CudaTarget> FormCompiler::getTarget() {
  llvm::Expected<CudaTarget> target =
      CudaTarget::get(options.computeCapability);
  if (!target)
    return recurrence.emitError() << llvm::toString(target.takeError()),
           failure();
  return *target;
}

LogicalResult FormCompiler::makeTiles() {
  if (form != LARC_FORM_RECURRENT)
    return recurrence.emitError("this version compiles no chunks for GPUs");
  result.form = form;
  module = ModuleOp::create(recurrence.getLoc());
  RecurrenceOp renamed = recurrence.clone();
  module->push_back(renamed);
  renamed.setSymName(getKernelName(recurrence, "by_token"));
  PassManager pm(recurrence.getContext());
  enablePrinting(pm, options.printIRAfter);
  TimingScope tiles = scope.nest("MakeTilePrograms");
  pm.enableTiming(tiles);
  buildRecurrentTiles(pm, makeTileOptions(options));
  if (failed(pm.run(*module)))
    return failure();
  for (auto program : module->getOps<tile::ProgramOp>()) {
    CudaFormLaunch kernel;
    kernel.kernel = program.getSymName().str();
    kernel.warps = static_cast<unsigned>(program.getWarps());
    kernel.parts = static_cast<int64_t>(program.getParts());
    result.launches.push_back(kernel);
  }
  return success();
}

LogicalResult FormCompiler::makeKernels() {
  PassManager pm(recurrence.getContext());
  enablePrinting(pm, options.printIRAfter);
  TimingScope kernels = scope.nest("MakeKernels");
  pm.enableTiming(kernels);
  buildTilePipeline(pm);
  if (failed(pm.run(*module)))
    return failure();
  for (CudaFormLaunch &kernel : result.launches) {
    auto function = module->lookupSymbol<LLVM::LLVMFuncOp>(kernel.kernel);
    if (!function)
      return recurrence.emitError()
             << "has lost its kernel '" << kernel.kernel << "'";
    if (auto bytes = function->getAttrOfType<IntegerAttr>(sharedBytesName))
      kernel.sharedBytes = bytes.getInt();
  }
  return success();
}

FailureOr<CudaForm> FormCompiler::assemble() {
  FailureOr<CudaTarget> target = getTarget();
  if (failed(target))
    return failure();
  TimingScope assembly = scope.nest("MakeMachineCode");
  FailureOr<Cubin> cubin = compileToCubin(*module, *target, options.ptxas);
  if (failed(cubin))
    return failure();
  result.cubin = cubin->image->getBuffer().str();
  return std::move(result);
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

LogicalResult larc::emitCuda(RecurrenceOp recurrence,
                             const CudaOptions &options, larc_form form,
                             CudaEmit what, llvm::raw_ostream &os) {
  FormCompiler compiler(recurrence, options, form);
  if (failed(compiler.makeTiles()))
    return failure();
  if (what != CudaEmit::Tile && failed(compiler.makeKernels()))
    return failure();
  switch (what) {
  case CudaEmit::Tile:
  case CudaEmit::LLVM:
    compiler.getModule().print(os);
    return success();
  case CudaEmit::PTX: {
    FailureOr<CudaTarget> target = compiler.getTarget();
    if (failed(target))
      return failure();
    FailureOr<std::string> ptx = translateToPTX(compiler.getModule(), *target);
    if (failed(ptx))
      return failure();
    os << *ptx;
    return success();
  }
  case CudaEmit::Cubin: {
    FailureOr<CudaForm> code = compiler.assemble();
    if (failed(code))
      return failure();
    os << code->cubin;
    return success();
  }
  }
  return failure();
}

FailureOr<CudaCode> larc::compileForCuda(RecurrenceOp recurrence,
                                         const CudaOptions &options,
                                         ArrayRef<larc_form> forms) {
  CudaCode code;
  code.computeCapability = options.computeCapability;
  for (larc_form form : forms.empty() ? getCudaForms() : forms) {
    FormCompiler compiler(recurrence, options, form);
    if (failed(compiler.makeTiles()) || failed(compiler.makeKernels()))
      return failure();
    FailureOr<CudaForm> compiled = compiler.assemble();
    if (failed(compiled))
      return failure();
    code.forms.push_back(std::move(*compiled));
  }
  llvm::sort(code.forms, [](const CudaForm &lhs, const CudaForm &rhs) {
    return lhs.leastTokens < rhs.leastTokens;
  });
  return code;
}
