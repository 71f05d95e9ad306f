//===- SpecTarget.cpp - Fuzzing the parser of specs -----------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuzzTargets.h"

#include "larc/Dialect/Larc/IR/Larc.h"
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

  // Folders and canonicalisations keep valid what is valid.
  PassManager passes(&context);
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  if (failed(passes.run(*module))) {
    llvm::errs() << "canonicalisation fails:\n" << messages;
    std::abort();
  }
  checkRoundTrip(*module);
}
