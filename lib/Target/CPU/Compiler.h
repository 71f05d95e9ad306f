//===- Compiler.h - From a recurrence to machine code -*- C++ -*- ---------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_TARGET_CPU_COMPILER_H
#define LARC_LIB_TARGET_CPU_COMPILER_H

#include "larc/Conversion/Passes.h"
#include "larc/Target/CPU/CompiledRecurrence.h"

#include "mlir/Support/Timing.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace larc {

/// An LLVM module with its context, which must outlive it.
struct LLVMModule {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

/// Machine of the CPU named, or of the host with all its features.
llvm::Expected<llvm::orc::JITTargetMachineBuilder>
getTargetMachineBuilder(llvm::StringRef cpu);

/// Bits of the widest vector registers that the machine has.
unsigned getVectorBits(const llvm::TargetMachine &machine);

/// The options of the pipelines.
RecurrentOptions makeRecurrentOptions(const CPUOptions &options,
                                      unsigned vectorBits);

/// What a recurrence compiles to, and the machine that it is for.
struct CompiledModule {
  LLVMModule llvm;
  llvm::orc::JITTargetMachineBuilder builder;
  std::unique_ptr<llvm::TargetMachine> machine;
};

/// The most tokens of a chunk in code for `options`; 0 where it has none.
int64_t getChunkSize(const CPUOptions &options);

/// Runs the pipelines of the form on a copy of `recurrence` and LLVM's
/// optimiser on the result. Errors are emitted at the recurrence's operations.
/// `timing` gets the times.
mlir::FailureOr<CompiledModule> compileToLLVM(RecurrenceOp recurrence,
                                              const CPUOptions &options,
                                              const CompileHooks &hooks,
                                              mlir::TimingScope &timing);

/// The object file of `compiled`, which this uses up.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
emitObject(CompiledModule &compiled);

/// Links code for the host, and finds the C library's mathematics for it.
llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>>
createJIT(llvm::orc::JITTargetMachineBuilder builder);

} // namespace larc

#endif // LARC_LIB_TARGET_CPU_COMPILER_H
