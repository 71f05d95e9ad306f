//===- EmitTest.cpp - What is emitted for other machines --------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledTestUtils.h"

#include "mlir/IR/Diagnostics.h"

using namespace larc;
using namespace larc::test;

namespace {

constexpr llvm::StringLiteral source = R"(
  larc.recurrence @decayed(%q[K], %k[K], %v[V], %g[K]: gate)
      state(%S[K, V]) -> (o[V]) dims(K = 32, V = 48) {
    %a = larc.exp %g
    %b = larc.mul %a, %S
    %w = larc.mul %k, %v
    %next = larc.add %b, %w
    %o = larc.contract %next, %q over K
    larc.yield %next, %o
  })";

class EmitTest : public CompiledTest {
protected:
  std::string emit(CPUEmit what, llvm::StringRef cpu, DType dtype) {
    RecurrenceOp spec = parse(source);
    CPUOptions options = CPUOptions::uniform(spec, dtype, dtype);
    options.cpu = cpu.str();
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (failed(emitCPU(spec, options, what, stream)))
      return "failed";
    return text;
  }
};

TEST_F(EmitTest, TypesOfOptions) {
  RecurrenceOp spec = parse(source);
  CPUOptions options = CPUOptions::uniform(spec, DType::BF16, DType::F32);
  EXPECT_EQ(options.computeType, DType::F32);
  EXPECT_EQ(options.operandTypes,
            (llvm::SmallVector<DType>{DType::BF16, DType::BF16, DType::BF16,
                                      DType::F32}));
  EXPECT_EQ(options.outputTypes, llvm::SmallVector<DType>{DType::BF16});
  // The type of the data decides what is computed in.
  options = CPUOptions::uniform(spec, DType::F32, DType::F64);
  EXPECT_EQ(options.computeType, DType::F32);
  EXPECT_EQ(options.operandTypes.back(), DType::F64);
  options = CPUOptions::uniform(spec, DType::F64, DType::F32);
  EXPECT_EQ(options.computeType, DType::F64);
}

TEST_F(EmitTest, LLVM) {
  std::string text = emit(CPUEmit::LLVM, "", DType::F32);
  EXPECT_NE(text.find("define void @larc_decayed(ptr"), std::string::npos);
  EXPECT_NE(text.find("@larc_decayed_scratch_bytes"), std::string::npos);
  EXPECT_NE(text.find("@larc_decayed_blocks"), std::string::npos);
}

#if defined(__x86_64__)
TEST_F(EmitTest, VectorsOfTheProcessor) {
  std::string wide = emit(CPUEmit::LLVM, "x86-64-v4", DType::F32);
  EXPECT_NE(wide.find("<16 x float>"), std::string::npos);
  std::string v3 = emit(CPUEmit::LLVM, "x86-64-v3", DType::F32);
  EXPECT_EQ(v3.find("<16 x float>"), std::string::npos);
  EXPECT_NE(v3.find("<8 x float>"), std::string::npos);
  std::string base = emit(CPUEmit::LLVM, "x86-64", DType::F32);
  EXPECT_EQ(base.find("<8 x float>"), std::string::npos);
  EXPECT_NE(base.find("<4 x float>"), std::string::npos);
  // No instruction that the processor lacks.
  std::string assembly = emit(CPUEmit::Assembly, "x86-64-v3", DType::F32);
  EXPECT_EQ(assembly.find("zmm"), std::string::npos);
  EXPECT_NE(assembly.find("vfmadd"), std::string::npos);
  assembly = emit(CPUEmit::Assembly, "x86-64", DType::F32);
  EXPECT_EQ(assembly.find("ymm"), std::string::npos);
}
#endif

TEST_F(EmitTest, Object) {
  std::string bytes = emit(CPUEmit::Object, "", DType::F32);
  EXPECT_GT(bytes.size(), 500u);
  EXPECT_NE(bytes.find("larc_decayed_blocks"), std::string::npos);
}

TEST_F(EmitTest, UnknownProcessor) {
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          message += diagnostic.str();
                                          return mlir::success();
                                        });
  EXPECT_EQ(emit(CPUEmit::LLVM, "abacus", DType::F32), "failed");
  EXPECT_NE(message.find("unknown CPU 'abacus'"), std::string::npos) << message;
}

TEST_F(EmitTest, CostOfAToken) {
  RecurrenceOp spec = parse(source);
  auto compiled = CompiledRecurrence::compile(
      spec, CPUOptions::uniform(spec, DType::BF16, DType::F32));
  ASSERT_TRUE(succeeded(compiled));
  // Products decay and write, their sum, and the read: 5 for each element of
  // the state; the exponential is counted by its own rule.
  double elements = 32 * 48;
  EXPECT_GE((*compiled)->getTokenCost().flops, 5 * elements);
  EXPECT_LE((*compiled)->getTokenCost().flops, 5 * elements + 32 * 40);
  EXPECT_EQ((*compiled)->getTokenCost().bytes,
            2 * (32 + 32 + 48 + 48) + 4 * 32);
  EXPECT_GE((*compiled)->getWorkspaceBytes(), 0);
}

TEST_F(EmitTest, Limits) {
  llvm::Expected<MachineLimits> limits = measureLimits(DType::F32, 1);
  ASSERT_TRUE(bool(limits));
  EXPECT_GT(limits->gflops, 0.1);
  EXPECT_GT(limits->copyGBps, 0.01);
}

} // namespace
