//===- TileToLLVM.cpp - From tile programs to kernels -*- C++ -*- ---------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramEmitter.h"

#include "larc/Conversion/Passes.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace larc;

namespace larc {
#define GEN_PASS_DEF_CONVERTTILETOLLVM
#include "larc/Conversion/Passes.h.inc"
} // namespace larc

/// The dynamic shared memory: its size is given when a kernel is launched.
static LLVM::GlobalOp createSharedMemory(ModuleOp module) {
  OpBuilder builder(module.getBodyRegion());
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
  auto global = LLVM::GlobalOp::create(
      builder, module.getLoc(), type, /*isConstant=*/false,
      LLVM::Linkage::External, "larc_shared", Attribute(),
      /*alignment=*/1024, /*addrSpace=*/3);
  SymbolTable(module).insert(global);
  return global;
}

namespace {
struct ConvertTileToLLVMPass
    : larc::impl::ConvertTileToLLVMBase<ConvertTileToLLVMPass> {
  using ConvertTileToLLVMBase::ConvertTileToLLVMBase;

  void runOnOperation() override {
    SmallVector<tile::ProgramOp> programs(
        getOperation().getOps<tile::ProgramOp>());
    if (programs.empty())
      return;
    LLVM::GlobalOp shared = createSharedMemory(getOperation());
    for (tile::ProgramOp program : programs) {
      OpBuilder builder(program);
      tile::ProgramEmitter emitter(builder, program, computeCapability,
                                   laneArrivals);
      if (failed(emitter.emit(shared)))
        return signalPassFailure();
      program.erase();
    }
  }
};
} // namespace
