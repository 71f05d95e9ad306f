//===- Pipelines.cpp - Pipelines of the compiled forms -*- C++ -*- --------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PassOptions.h"

#include "larc/Conversion/Passes.h"
#include "larc/Dialect/Chunk/Transforms/Passes.h"
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
  result.blockColumns = options.blockColumns;
  return result;
}

void larc::buildRecurrentNests(OpPassManager &pm) {
  OpPassManager &recurrence = pm.nest<RecurrenceOp>();
  recurrence.addPass(createDecompose());
  recurrence.addPass(createFactor());
  recurrence.addPass(createCSEPass());
  recurrence.addPass(createCanonicalizerPass());
  recurrence.addPass(createFormNests());
}

void larc::buildRecurrentPipeline(OpPassManager &pm,
                                  const RecurrentOptions &options) {
  buildRecurrentNests(pm);
  pm.addPass(createConvertLarcToLoops(
      convertOptions<ConvertLarcToLoopsOptions>(options)));
  pm.addPass(createEmitEntry(convertOptions<EmitEntryOptions>(options)));
}

void larc::buildChunkDerivation(OpPassManager &pm, int64_t chunkSize) {
  DeriveChunkOptions derive;
  derive.chunkSize = chunkSize;
  pm.addPass(createDeriveChunk(derive));
  OpPassManager &scan = pm.nest<chunk::ScanOp>();
  scan.addPass(createCSEPass());
  scan.addPass(createCanonicalizerPass());
}

void larc::buildChunkNests(OpPassManager &pm, int64_t chunkSize) {
  buildChunkDerivation(pm, chunkSize);
  OpPassManager &scan = pm.nest<chunk::ScanOp>();
  scan.addPass(chunk::createSplitBlocks());
  scan.addPass(createCSEPass());
  scan.addPass(createCanonicalizerPass());
  pm.addPass(createFormNests());
}

void larc::buildChunkPipeline(OpPassManager &pm,
                              const RecurrentOptions &options,
                              int64_t chunkSize) {
  buildChunkNests(pm, chunkSize);
  pm.addPass(createConvertChunkToLoops(
      convertOptions<ConvertChunkToLoopsOptions>(options)));
  pm.addPass(createOutlineLoops());
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
template <typename Derived>
struct FormPipelineOptions : PassPipelineOptions<Derived> {
  template <typename T>
  using Option = typename PassPipelineOptions<Derived>::template Option<T>;
  template <typename T>
  using ListOption =
      typename PassPipelineOptions<Derived>::template ListOption<T>;

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
  Option<unsigned> blockColumns{*this, "block-columns",
                                llvm::cl::desc("columns of a task's block"),
                                llvm::cl::init(0)};
};

struct RecurrentPipelineOptions
    : WithRecurrentOptions<FormPipelineOptions<RecurrentPipelineOptions>> {};

struct ChunkPipelineOptions
    : WithRecurrentOptions<FormPipelineOptions<ChunkPipelineOptions>> {
  Option<int64_t> chunkSize{*this, "chunk-size",
                            llvm::cl::desc("tokens of a chunk at most"),
                            llvm::cl::init(16)};
};
} // namespace

void larc::registerConversionPipelines() {
  PassPipelineRegistration<RecurrentPipelineOptions>(
      "larc-recurrent-to-loops",
      "from a flat, bound recurrence to its token loop and entry point",
      [](OpPassManager &pm, const RecurrentPipelineOptions &given) {
        buildRecurrentPipeline(pm, given.getRecurrentOptions());
      });
  PassPipelineRegistration<ChunkPipelineOptions>(
      "larc-chunk-to-loops",
      "from a flat, bound recurrence to its loop over chunks and entry point",
      [](OpPassManager &pm, const ChunkPipelineOptions &given) {
        buildChunkPipeline(pm, given.getRecurrentOptions(), given.chunkSize);
      });
  PassPipelineRegistration<>(
      "larc-loops-to-llvm",
      "from the token loop and entry point to the LLVM dialect",
      [](OpPassManager &pm) { buildLoopsToLLVM(pm); });
}
