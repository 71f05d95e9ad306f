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

void larc::buildTilePipeline(OpPassManager &pm) {
  // A block of a GPU addresses less than 2^31 rows and elements of a row; what
  // is multiplied by a stride is made 64 bits wide where it is.
  constexpr unsigned kIndexBits = 32;
  pm.addPass(createConvertTileToLLVM());
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

void larc::registerTilePipeline() {
  PassPipelineRegistration<>(
      "larc-tile-to-kernel",
      "kernels of tile programs, in the LLVM dialect: what larc-translate "
      "makes PTX of",
      [](OpPassManager &pm) { buildTilePipeline(pm); });
}
