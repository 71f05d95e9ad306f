//===- Compiler.cpp - From a recurrence to machine code -*- C++ -*- -------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compiler.h"

#include "larc/Conversion/Passes.h"

#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/CompileUtils.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

using namespace mlir;
using namespace larc;

ArrayRef<CPUForm> larc::getCPUForms() {
  static constexpr CPUForm forms[] = {CPUForm::Recurrent, CPUForm::Chunk};
  return forms;
}

static void initializeHost() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
  });
}

llvm::Expected<llvm::orc::JITTargetMachineBuilder>
larc::getTargetMachineBuilder(StringRef cpu) {
  initializeHost();
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  if (!cpu.empty()) {
    std::string message;
    const llvm::Target *target =
        llvm::TargetRegistry::lookupTarget(builder->getTargetTriple(), message);
    if (!target)
      return llvm::createStringError(message);
    std::unique_ptr<llvm::MCSubtargetInfo> info(
        target->createMCSubtargetInfo(builder->getTargetTriple(), "", ""));
    if (!info->isCPUStringValid(cpu))
      return llvm::createStringError("unknown CPU '" + cpu.str() +
                                     "' for the target '" +
                                     builder->getTargetTriple().str() + "'");
    builder->setCPU(cpu.str());
    builder->getFeatures() = llvm::SubtargetFeatures();
  }
  builder->setRelocationModel(llvm::Reloc::PIC_);
  builder->setCodeModel(llvm::CodeModel::Small);
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  return builder;
}

unsigned larc::getVectorBits(const llvm::TargetMachine &machine) {
  const llvm::MCSubtargetInfo &info = *machine.getMCSubtargetInfo();
  if (machine.getTargetTriple().isX86()) {
    if (info.checkFeatures("+avx512f"))
      return 512;
    if (info.checkFeatures("+avx2"))
      return 256;
  }
  return 128;
}

//===----------------------------------------------------------------------===//
// Passes and translation
//===----------------------------------------------------------------------===//

int64_t larc::getChunkSize(const CPUOptions &options) {
  constexpr int64_t defaultSize = 16;
  if (options.form != CPUForm::Chunk)
    return 0;
  return options.chunkSize ? options.chunkSize : defaultSize;
}

static std::string spellType(DType type) { return getName(type).str(); }

RecurrentOptions larc::makeRecurrentOptions(const CPUOptions &options,
                                            unsigned vectorBits) {
  RecurrentOptions result;
  result.computeType = spellType(options.computeType);
  for (DType type : options.operandTypes)
    result.operandTypes.push_back(spellType(type));
  for (DType type : options.constantTypes)
    result.constantTypes.push_back(spellType(type));
  for (DType type : options.outputTypes)
    result.outputTypes.push_back(spellType(type));
  result.vectorBits = vectorBits;
  return result;
}

/// Prints IR to stderr after the pass that `hooks` names, or after all.
static void enablePrinting(PassManager &pm, const CompileHooks &hooks) {
  if (hooks.printIRAfter.empty())
    return;
  auto isMeant = [wanted = hooks.printIRAfter](Pass *pass, Operation *) {
    return wanted == "all" || pass->getArgument() == wanted;
  };
  pm.enableIRPrinting([](Pass *, Operation *) { return false; }, isMeant,
                      /*printModuleScope=*/false,
                      /*printAfterOnlyOnChange=*/false,
                      /*printAfterOnlyOnFailure=*/false, llvm::errs());
}

FailureOr<CompiledModule> larc::compileToLLVM(RecurrenceOp recurrence,
                                              const CPUOptions &options,
                                              const CompileHooks &hooks,
                                              TimingScope &timing) {
  if (!llvm::is_contained(getCPUForms(), options.form))
    return recurrence.emitError("this version compiles no such form");
  auto report = [&](llvm::Error error) -> LogicalResult {
    return recurrence.emitError() << llvm::toString(std::move(error));
  };
  auto builder = getTargetMachineBuilder(options.cpu);
  if (!builder)
    return report(builder.takeError());
  auto created = builder->createTargetMachine();
  if (!created)
    return report(created.takeError());
  llvm::TargetMachine &machine = **created;

  MLIRContext *context = recurrence.getContext();
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context->appendDialectRegistry(registry);

  OwningOpRef<ModuleOp> module = ModuleOp::create(recurrence.getLoc());
  module->push_back(recurrence->clone());
  PassManager pm(context);
  enablePrinting(pm, hooks);
  pm.enableTiming(timing);
  if (options.form == CPUForm::Chunk)
    buildChunkPipeline(pm,
                       makeRecurrentOptions(options, getVectorBits(machine)),
                       getChunkSize(options));
  else
    buildRecurrentPipeline(
        pm, makeRecurrentOptions(options, getVectorBits(machine)));
  buildLoopsToLLVM(pm);
  if (failed(pm.run(*module)))
    return failure();

  TimingScope translation = timing.nest("TranslateToLLVMIR");
  LLVMModule result;
  result.context = std::make_unique<llvm::LLVMContext>();
  result.module = translateModuleToLLVMIR(*module, *result.context,
                                          recurrence.getSymName());
  if (!result.module)
    return recurrence.emitError("cannot be translated to LLVM IR"), failure();
  result.module->setDataLayout(machine.createDataLayout());
  result.module->setTargetTriple(machine.getTargetTriple());
  translation.stop();
  TimingScope optimisation = timing.nest("OptimiseLLVMIR");
  auto optimize =
      makeOptimizingTransformer(/*optLevel=*/2, /*sizeLevel=*/0, &machine);
  if (llvm::Error error = optimize(result.module.get()))
    return recurrence.emitError("cannot be optimised: ")
               << llvm::toString(std::move(error)),
           failure();
  return CompiledModule{std::move(result), std::move(*builder),
                        std::move(*created)};
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
larc::emitObject(CompiledModule &compiled) {
  return llvm::orc::SimpleCompiler(*compiled.machine)(*compiled.llvm.module);
}

llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>>
larc::createJIT(llvm::orc::JITTargetMachineBuilder builder) {
  auto jit = llvm::orc::LLJITBuilder()
                 .setJITTargetMachineBuilder(std::move(builder))
                 .create();
  if (!jit)
    return jit.takeError();
  auto generator =
      llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
          (*jit)->getDataLayout().getGlobalPrefix());
  if (!generator)
    return generator.takeError();
  (*jit)->getMainJITDylib().addGenerator(std::move(*generator));
  return jit;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Prints `recurrence` as the loop over chunks that it is compiled from.
static LogicalResult printChunkForm(RecurrenceOp recurrence,
                                    const CPUOptions &options, raw_ostream &os,
                                    const CompileHooks &hooks,
                                    TimingScope &timing) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(recurrence.getLoc());
  module->push_back(recurrence->clone());
  PassManager pm(recurrence.getContext());
  enablePrinting(pm, hooks);
  pm.enableTiming(timing);
  buildChunkDerivation(pm, getChunkSize(options));
  if (failed(pm.run(*module)))
    return failure();
  module->print(os);
  return success();
}

LogicalResult larc::emitCPU(RecurrenceOp recurrence, const CPUOptions &options,
                            CPUEmit what, raw_ostream &os,
                            const CompileHooks &hooks) {
  DefaultTimingManager timing;
  timing.setEnabled(hooks.timing);
  TimingScope scope = timing.getRootScope();
  if (what == CPUEmit::Chunk)
    return printChunkForm(recurrence, options, os, hooks, scope);
  FailureOr<CompiledModule> compiled =
      compileToLLVM(recurrence, options, hooks, scope);
  if (failed(compiled))
    return failure();
  TimingScope emission = scope.nest("Emit");
  if (what == CPUEmit::LLVM) {
    compiled->llvm.module->print(os, nullptr);
    return success();
  }
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  llvm::legacy::PassManager codegen;
  auto type = what == CPUEmit::Assembly ? llvm::CodeGenFileType::AssemblyFile
                                        : llvm::CodeGenFileType::ObjectFile;
  if (compiled->machine->addPassesToEmitFile(codegen, stream, nullptr, type))
    return recurrence.emitError(
        "cannot be written: the target emits no such file");
  codegen.run(*compiled->llvm.module);
  os << stream.str();
  return success();
}
