//===- PrintIR.cpp - IR on the way to code -------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "Session.h"

#include "larc/Conversion/Passes.h"
#include "larc/Dialect/Larc/Transforms/Flatten.h"
#include "larc/Support/Error.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"

using namespace larc;
using namespace larc::driver;

static constexpr llvm::StringLiteral flatteningPasses[] = {
    "larc-specialize", "larc-expand-levels", "larc-bind-dims"};

/// Adds the passes that run on CPUs' code.
static void addCPUPasses(mlir::OpPassManager &manager, const Options &options,
                         Form form) {
  bool isCompiling = options.command == Command::Compile;
  if (isCompiling && options.emit == Emit::Chunk) {
    buildChunkDerivation(manager, /*chunkSize=*/1);
    return;
  }
  // What `auto` and the forms of `bench` will be is not known here.
  bool isAny = form == Form::Auto || options.command == Command::Bench;
  if (isAny || form == Form::Chunk)
    buildChunkPipeline(manager, RecurrentOptions(), /*chunkSize=*/1);
  if (isAny || form == Form::Recurrent)
    buildRecurrentPipeline(manager, RecurrentOptions());
  buildLoopsToLLVM(manager);
}

static void addCompilePasses(mlir::OpPassManager &manager,
                             const Options &options, Form form) {
  if (options.hasCPU())
    addCPUPasses(manager, options, form);
  if (!options.hasCuda())
    return;
  if (form != Form::Chunk)
    buildRecurrentTiles(manager, TileProgramOptions());
  if (form != Form::Recurrent)
    buildChunkTiles(manager, TileProgramOptions(), ChunkTileOptions());
  if (options.command != Command::Compile || options.emit != Emit::Tile)
    buildTilePipeline(manager);
}

/// The names of the passes that run in `options` to compile `form`.
static llvm::SmallVector<std::string>
getCompilePasses(mlir::MLIRContext &context, const Options &options,
                 Form form) {
  mlir::PassManager manager(&context);
  addCompilePasses(manager, options, form);
  std::string text;
  llvm::raw_string_ostream os(text);
  manager.printAsTextualPipeline(os);
  // `builtin.module(larc.recurrence(name{option=value}),name)`: what is left
  // without options and anchors.
  llvm::SmallVector<std::string> passes;
  std::string word;
  unsigned depth = 0;
  for (char c : text + ",") {
    if (c == '{')
      ++depth;
    else if (c == '}')
      --depth;
    else if (depth == 0 && c == '(')
      word.clear();
    else if (depth == 0 && (c == ',' || c == ')')) {
      if (!word.empty() && !llvm::is_contained(passes, word))
        passes.push_back(word);
      word.clear();
    } else if (depth == 0) {
      word += c;
    }
  }
  return passes;
}

llvm::Error Session::checkPrintIRAfter(Form form) {
  llvm::StringRef wanted = options.printIRAfter;
  if (wanted.empty() || wanted == "all")
    return llvm::Error::success();
  llvm::SmallVector<llvm::StringRef> known(std::begin(flatteningPasses),
                                           std::end(flatteningPasses));
  llvm::SmallVector<std::string> passes;
  bool isCompiled =
      (form != Form::Reference || options.command == Command::Bench) &&
      (options.command != Command::Compile || options.emit != Emit::Larc);
  if (isCompiled)
    passes = getCompilePasses(context, options, form);
  llvm::append_range(known, passes);
  if (llvm::is_contained(known, wanted))
    return llvm::Error::success();
  return makeUsageFault("option '--print-ir-after' cannot be honoured: no pass "
                        "run here is called " +
                            quoteName(wanted) + didYouMean(wanted, known),
                        {"run are " + llvm::join(known, ", ")});
}

llvm::Error Session::printFlattening(SpecChoice spec, RecurrenceOp bound) {
  llvm::StringRef wanted = options.printIRAfter;
  if (wanted.empty())
    return llvm::Error::success();
  auto print = [&](llvm::StringRef pass, RecurrenceOp recurrence) {
    if (wanted != "all" && wanted != pass)
      return;
    llvm::errs() << "// -----// IR Dump After " << pass << " //----- //\n";
    recurrence->print(llvm::errs());
    llvm::errs() << "\n\n";
  };
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(spec.recurrence.getLoc());
  module->push_back(spec.recurrence->clone());
  RecurrenceOp copy = getRecurrence(*module);
  if (mlir::failed(specialize(copy, spec.attributes)))
    return makePrintedFault();
  print(flatteningPasses[0], copy);
  if (mlir::failed(expandLevels(copy)))
    return makePrintedFault();
  print(flatteningPasses[1], copy);
  print(flatteningPasses[2], bound);
  return llvm::Error::success();
}
