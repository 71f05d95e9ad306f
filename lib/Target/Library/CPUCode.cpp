//===- CPUCode.cpp - A CPU's part of a library ------------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../CPU/Compiler.h"

#include "larc/Target/CPU/CostModel.h"
#include "larc/Target/Library.h"

#include "llvm/MC/MCSubtargetInfo.h"

#include <limits>

using namespace mlir;
using namespace larc;

/// What `machine`'s code may use beyond the processor's first generation.
static std::vector<std::string> getLevels(const llvm::TargetMachine &machine) {
  std::vector<std::string> levels;
  const llvm::MCSubtargetInfo &info = *machine.getMCSubtargetInfo();
  if (!machine.getTargetTriple().isX86())
    return levels;
  if (info.checkFeatures("+avx2") || info.checkFeatures("+fma"))
    levels.push_back("avx2");
  if (info.checkFeatures("+avx512f"))
    levels.push_back("avx512");
  return levels;
}

/// Lets the cost model say from how many tokens on chunks are faster, and how
/// long they are if `options` does not say.
static void chooseChunks(RecurrenceOp recurrence, const CPUOptions &options,
                         CPUFormCode &code) {
  code.leastTokens = std::numeric_limits<int64_t>::max();
  ScopedDiagnosticHandler quiet(recurrence.getContext(),
                                [](Diagnostic &) { return success(); });
  FailureOr<CostModel> costs = CostModel::create(recurrence, options);
  if (failed(costs))
    return;
  CallShape shape;
  shape.heads = 8;
  constexpr int64_t longest = 4096;
  CPUOptions chunk = options;
  chunk.form = CPUForm::Chunk;
  chunk.segments = 1;
  shape.lengths = {longest};
  if (code.chunkSize == 0)
    code.chunkSize = costs->choose(shape, chunk, /*anyForm=*/false).chunkSize;
  chunk.chunkSize = code.chunkSize;
  for (int64_t tokens = longest; tokens > 1; tokens /= 2) {
    shape.lengths = {tokens};
    // A fixed chunk size leaves no choice but this.
    CPUOptions loop = chunk;
    loop.form = CPUForm::Recurrent;
    loop.chunkSize = 0;
    if (costs->choose(shape, chunk, false).milliseconds >
        costs->choose(shape, loop, false).milliseconds)
      return;
    code.leastTokens = tokens;
  }
}

FailureOr<CPUCode> larc::compileForLibrary(RecurrenceOp recurrence,
                                           const CPUOptions &options,
                                           ArrayRef<CPUForm> forms,
                                           const CompileHooks &hooks) {
  auto builder = getTargetMachineBuilder(options.cpu);
  if (!builder)
    return recurrence.emitError() << llvm::toString(builder.takeError()),
           failure();
  auto machine = builder->createTargetMachine();
  if (!machine)
    return recurrence.emitError() << llvm::toString(machine.takeError()),
           failure();
  CPUCode code;
  code.cpu = builder->getCPU();
  code.levels = getLevels(**machine);
  for (CPUForm form : getCPUForms()) {
    if (!forms.empty() && !llvm::is_contained(forms, form))
      continue;
    CPUFormCode compiled;
    compiled.form = form;
    CPUOptions formOptions = options;
    formOptions.form = form;
    formOptions.segments = 0;
    if (form == CPUForm::Chunk) {
      compiled.chunkSize = options.chunkSize;
      chooseChunks(recurrence, options, compiled);
      if (compiled.chunkSize == 0)
        compiled.chunkSize = getChunkSize(formOptions);
      formOptions.chunkSize = compiled.chunkSize;
    } else {
      formOptions.chunkSize = 0;
    }
    // The forms' objects are linked together: each has names of its own.
    compiled.symbol = (recurrence.getSymName() +
                       (form == CPUForm::Chunk ? "_by_chunk" : "_by_token"))
                          .str();
    OwningOpRef<ModuleOp> module = ModuleOp::create(recurrence.getLoc());
    RecurrenceOp renamed = recurrence.clone();
    module->push_back(renamed);
    renamed.setSymName(compiled.symbol);
    llvm::raw_string_ostream os(compiled.object);
    if (failed(emitCPU(renamed, formOptions, CPUEmit::Object, os, hooks)))
      return failure();
    code.forms.push_back(std::move(compiled));
  }
  return code;
}
