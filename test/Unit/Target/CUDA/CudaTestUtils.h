//===- CudaTestUtils.h - Kernels for tests ----------------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TEST_UNIT_TARGET_CUDA_CUDATESTUTILS_H
#define LARC_TEST_UNIT_TARGET_CUDA_CUDATESTUTILS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"
#include <string>
#include <vector>

namespace larc::test {

/// y[i] = x[i] * x[i] + x[i]
inline constexpr const char *squareKernel = R"mlir(
llvm.func @square(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %n: i32) attributes {
    nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
  %thread = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %size = nvvm.read.ptx.sreg.ntid.x : i32
  %start = llvm.mul %block, %size : i32
  %i = llvm.add %start, %thread : i32
  %inside = llvm.icmp "ult" %i, %n : i32
  llvm.cond_br %inside, ^body, ^exit
^body:
  %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %value = llvm.load %from : !llvm.ptr<1> -> f32
  %product = llvm.fmul %value, %value : f32
  %sum = llvm.fadd %product, %value : f32
  %to = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  llvm.store %sum, %to : f32, !llvm.ptr<1>
  llvm.br ^exit
^exit:
  llvm.return
}
)mlir";

/// A product of matrices by four warps.
inline constexpr const char *productKernel = R"mlir(
!sums = !llvm.struct<(f32, f32, f32, f32)>
llvm.func @product(%y: !llvm.ptr<1>, %a: i64, %b: i64) attributes {
    nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
  %none = llvm.mlir.poison : !sums
  nvvm.wgmma.fence.aligned
  %sums = nvvm.wgmma.mma_async %a, %b, %none,
      #nvvm.shape<m = 64, n = 8, k = 16>,
      D [<f32>, #nvvm.wgmma_scale_out<zero>],
      A [<bf16>, #nvvm.wgmma_scale_in<one>, <row>],
      B [<bf16>, #nvvm.wgmma_scale_in<one>, <col>] : !sums -> !sums
  nvvm.wgmma.commit.group.sync.aligned
  nvvm.wgmma.wait.group.sync.aligned 0
  %sum = llvm.extractvalue %sums[0] : !sums
  llvm.store %sum, %y : f32, !llvm.ptr<1>
  llvm.return
}
)mlir";

/// Modules of text, and the messages about them.
class CudaTest : public ::testing::Test {
protected:
  CudaTest()
      : handler(&context, [this](mlir::Diagnostic &diagnostic) {
          messages.push_back(diagnostic.str());
          for (mlir::Diagnostic &note : diagnostic.getNotes())
            messages.push_back("note: " + note.str());
          return mlir::success();
        }) {
    context.printOpOnDiagnostic(false);
    context.loadDialect<mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect>();
  }

  mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::StringRef text) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(bool(module)) << text.str();
    for (const std::string &message : messages)
      ADD_FAILURE() << message;
    return module;
  }

  mlir::MLIRContext context;
  std::vector<std::string> messages;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace larc::test

#endif // LARC_TEST_UNIT_TARGET_CUDA_CUDATESTUTILS_H
