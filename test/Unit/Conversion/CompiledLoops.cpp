//===- CompiledLoops.cpp - Emitted loops run in tests -*- C++ -*- ---------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledLoops.h"

#include "larc/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace larc::test;

std::unique_ptr<MLIRContext> larc::test::makeLoopContext() {
  DialectRegistry registry;
  registry
      .insert<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect,
              memref::MemRefDialect, scf::SCFDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  auto context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

std::unique_ptr<CompiledLoops>
CompiledLoops::compile(MLIRContext &context, FloatType element,
                       unsigned numExtents, llvm::StringRef cpu, Body body) {
  static const bool initialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialized;

  OpBuilder builder(&context);
  Location loc = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  SmallVector<Type> arguments = {
      MemRefType::get({ShapedType::kDynamic}, element)};
  arguments.append(maxExtents, builder.getIndexType());
  builder.setInsertionPointToEnd(module->getBody());
  auto function = func::FuncOp::create(builder, loc, "loops",
                                       builder.getFunctionType(arguments, {}));
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToEnd(entry);
  auto end = func::ReturnOp::create(builder, loc);
  builder.setInsertionPoint(end);
  body(builder, entry->getArgument(0),
       entry->getArguments().slice(1, numExtents));
  PassManager pm(&context);
  larc::buildLoopsToLLVM(pm);
  if (failed(verify(*module)) || failed(pm.run(*module))) {
    ADD_FAILURE() << "cannot be lowered";
    return nullptr;
  }

  auto target =
      llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost());
  if (!cpu.empty()) {
    target.setCPU(cpu.str());
    target.getFeatures() = llvm::SubtargetFeatures();
  }
  auto machine = llvm::cantFail(target.createTargetMachine());
  auto llvmContext = std::make_unique<llvm::LLVMContext>();
  auto llvmModule = translateModuleToLLVMIR(*module, *llvmContext, "loops");
  llvmModule->setDataLayout(machine->createDataLayout());
  llvmModule->setTargetTriple(machine->getTargetTriple());
  auto optimize = makeOptimizingTransformer(2, 0, machine.get());
  llvm::cantFail(optimize(llvmModule.get()));

  auto result = std::make_unique<CompiledLoops>();
  result->jit = llvm::cantFail(
      llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(target).create());
  llvm::cantFail(result->jit->addIRModule(llvm::orc::ThreadSafeModule(
      std::move(llvmModule), std::move(llvmContext))));
  result->entry = llvm::cantFail(result->jit->lookup("loops"));
  return result;
}
