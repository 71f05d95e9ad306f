//===- Pipelines.cpp - Pipelines of the recurrent form -*- C++ -*- --------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Conversion/Passes.h"
#include "larc/Dialect/Larc/Transforms/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace larc;

/// The options of either pass: TableGen gives each a struct of its own.
template <typename PassOptions>
static PassOptions convertOptions(const RecurrentOptions &options) {
  PassOptions result;
  result.computeType = options.computeType;
  result.operandTypes.assign(options.operandTypes.begin(),
                             options.operandTypes.end());
  result.constantTypes.assign(options.constantTypes.begin(),
                              options.constantTypes.end());
  result.outputTypes.assign(options.outputTypes.begin(),
                            options.outputTypes.end());
  result.vectorBits = options.vectorBits;
  result.cacheBytes = options.cacheBytes;
  return result;
}

void larc::buildRecurrentPipeline(OpPassManager &pm,
                                  const RecurrentOptions &options) {
  OpPassManager &recurrence = pm.nest<RecurrenceOp>();
  recurrence.addPass(createDecompose());
  recurrence.addPass(createFactor());
  recurrence.addPass(createCSEPass());
  recurrence.addPass(createCanonicalizerPass());
  recurrence.addPass(createFormNests());
  pm.addPass(createConvertLarcToLoops(
      convertOptions<ConvertLarcToLoopsOptions>(options)));
  pm.addPass(createEmitEntry(convertOptions<EmitEntryOptions>(options)));
}

void larc::buildLoopsToLLVM(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createExpandVectorMath());
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expand));
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

namespace {
struct RecurrentPipelineOptions
    : PassPipelineOptions<RecurrentPipelineOptions> {
  Option<std::string> computeType{*this, "compute-type",
                                  llvm::cl::desc("f32 or f64"),
                                  llvm::cl::init("f32")};
  ListOption<std::string> operandTypes{
      *this, "operand-types",
      llvm::cl::desc("element type of each token operand")};
  ListOption<std::string> constantTypes{
      *this, "constant-types", llvm::cl::desc("element type of each constant")};
  ListOption<std::string> outputTypes{
      *this, "output-types", llvm::cl::desc("element type of each output")};
  Option<unsigned> vectorBits{*this, "vector-bits",
                              llvm::cl::desc("bits of a vector register"),
                              llvm::cl::init(512)};
  Option<unsigned> cacheBytes{
      *this, "cache-bytes", llvm::cl::desc("bytes of state that stay in cache"),
      llvm::cl::init(36864)};
};
} // namespace

void larc::registerConversionPipelines() {
  PassPipelineRegistration<RecurrentPipelineOptions>(
      "larc-recurrent-to-loops",
      "from a flat, bound recurrence to its token loop and entry point",
      [](OpPassManager &pm, const RecurrentPipelineOptions &given) {
        RecurrentOptions options;
        options.computeType = given.computeType;
        options.operandTypes.assign(given.operandTypes.begin(),
                                    given.operandTypes.end());
        options.constantTypes.assign(given.constantTypes.begin(),
                                     given.constantTypes.end());
        options.outputTypes.assign(given.outputTypes.begin(),
                                   given.outputTypes.end());
        options.vectorBits = given.vectorBits;
        options.cacheBytes = given.cacheBytes;
        buildRecurrentPipeline(pm, options);
      });
  PassPipelineRegistration<>(
      "larc-loops-to-llvm",
      "from the token loop and entry point to the LLVM dialect",
      [](OpPassManager &pm) { buildLoopsToLLVM(pm); });
}
