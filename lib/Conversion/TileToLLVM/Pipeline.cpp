//===- Pipeline.cpp - From tile programs to the LLVM dialect -*- C++ -*- --===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Conversion/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void larc::buildTilePipeline(OpPassManager &pm, unsigned computeCapability,
                             bool laneArrivals) {
  // A block of a GPU addresses less than 2^31 rows and elements of a row; what
  // is multiplied by a stride is made 64 bits wide where it is.
  constexpr unsigned kIndexBits = 32;
  ConvertTileToLLVMOptions tileOptions;
  tileOptions.computeCapability = computeCapability;
  tileOptions.laneArrivals = laneArrivals;
  pm.addPass(createConvertTileToLLVM(tileOptions));
  pm.addPass(createExpandKernelMath());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createLoopInvariantCodeMotionPass());
  pm.addPass(createSCFToControlFlowPass());
  ConvertMathToLLVMPassOptions mathOptions;
  pm.addPass(createConvertMathToLLVMPass(mathOptions));
  ArithToLLVMConversionPassOptions arithOptions;
  arithOptions.indexBitwidth = kIndexBits;
  pm.addPass(createArithToLLVMConversionPass(arithOptions));
  ConvertControlFlowToLLVMPassOptions controlFlowOptions;
  controlFlowOptions.indexBitwidth = kIndexBits;
  pm.addPass(createConvertControlFlowToLLVMPass(controlFlowOptions));
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCSEPass());
}

namespace {
struct TilePipelineOptions : PassPipelineOptions<TilePipelineOptions> {
  Option<unsigned> computeCapability{
      *this, "compute-capability",
      llvm::cl::desc("the GPU's compute capability: 90 is 9.0"),
      llvm::cl::init(90)};
  Option<bool> laneArrivals{
      *this, "lane-arrivals",
      llvm::cl::desc("every lane arrives at a phase, not one for its warp"),
      llvm::cl::init(false)};
};
} // namespace

void larc::registerTilePipeline() {
  PassPipelineRegistration<TilePipelineOptions>(
      "larc-tile-to-kernel",
      "kernels of tile programs, in the LLVM dialect: what larc-translate "
      "makes PTX of",
      [](OpPassManager &pm, const TilePipelineOptions &options) {
        buildTilePipeline(pm, options.computeCapability, options.laneArrivals);
      });
}
