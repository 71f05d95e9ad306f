//===- SpecTarget.cpp - Fuzzing the parser of specs -----------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuzzTargets.h"

#include "larc/Dialect/Larc/IR/Larc.h"
#include "larc/Dialect/Larc/Transforms/Passes.h"
#include "larc/Support/Error.h"
#include "larc/Support/SourceText.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <memory>
#include <string>

using namespace mlir;

/// A context with the dialect. Making one costs more than most inputs, and one
/// that lives for ever grows with every name, so it is made anew now and then.
static MLIRContext &getContext() {
  static std::unique_ptr<MLIRContext> context;
  static unsigned uses = 0;
  if (uses++ % 1000 == 0) {
    context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
    context->loadDialect<larc::LarcDialect>();
  }
  return *context;
}

static std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  return text;
}

/// Aborts unless the printed module parses and prints the same again.
static void checkRoundTrip(ModuleOp module) {
  std::string text = print(module);
  auto again = parseSourceString<ModuleOp>(text, module.getContext());
  if (again && print(*again) == text)
    return;
  llvm::errs() << "printed text does not round-trip:\n" << text;
  if (again)
    llvm::errs() << "second time:\n" << print(*again);
  std::abort();
}

/// Runs a pass, on the module or on every `Op` in it. Returns whether it
/// succeeded; aborts if it leaves something invalid or fails without a reason.
template <typename Op = ModuleOp>
static bool runPass(ModuleOp module, std::unique_ptr<Pass> pass,
                    std::string &messages) {
  messages.clear();
  std::string name = pass->getArgument().str();
  PassManager passes(module.getContext());
  passes.enableVerifier(false);
  if constexpr (std::is_same_v<Op, ModuleOp>)
    passes.addPass(std::move(pass));
  else
    passes.addNestedPass<Op>(std::move(pass));
  bool succeeded = mlir::succeeded(passes.run(module));
  if (succeeded ? mlir::succeeded(verify(module)) : !messages.empty())
    return succeeded;
  llvm::errs() << name << (succeeded ? " leaves invalid: " : " fails: ")
               << messages << print(module);
  std::abort();
}

void larc::fuzzSpec(llvm::StringRef input) {
  if (llvm::Error error = checkSourceText(input, "input")) {
    renderError(std::move(error));
    return;
  }
  MLIRContext &context = getContext();
  std::string messages;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    messages += diagnostic.str() + "\n";
    return success();
  });
  // MLIR's lexer reads the zero behind its text.
  std::string source = input.str();
  auto module = parseSourceString<ModuleOp>(source, &context);
  if (!module) {
    // Every refusal has a reason.
    if (messages.empty())
      std::abort();
    return;
  }

  checkRoundTrip(*module);
  if (!runPass(*module, createCanonicalizerPass(), messages) ||
      !runPass(*module, createCSEPass(), messages)) {
    llvm::errs() << "canonicalisation fails:\n" << messages;
    std::abort();
  }
  checkRoundTrip(*module);

  // What follows may refuse a spec, but may not break it.
  if (!runPass<RecurrenceOp>(*module, createSpecialize(), messages) ||
      !runPass<RecurrenceOp>(*module, createExpandLevels(), messages))
    return;
  checkRoundTrip(*module);
  for (auto recurrence : module->getOps<RecurrenceOp>()) {
    BindDimsOptions options;
    for (StringAttr axis : recurrence.getAllAxes())
      if (!recurrence.getAxisSize(axis))
        options.sizes += axis.str() + "=4;";
    options.complete = false;
    if (!runPass<RecurrenceOp>(*module, createBindDims(options), messages))
      return;
    break;
  }
  if (runPass<RecurrenceOp>(*module, createDecompose(), messages) &&
      runPass<RecurrenceOp>(*module, createFactor(), messages))
    checkRoundTrip(*module);
}
