//===- PTXTest.cpp - From the LLVM dialect to PTX -------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Target/CUDA/PTX.h"

#include "CudaTestUtils.h"
#include "larc/Support/Error.h"

using namespace larc;
using namespace larc::test;

namespace {

TEST(CudaTarget, IsThatOfACapability) {
  auto name = [](unsigned capability) {
    auto target = CudaTarget::get(capability);
    return target ? target->chip : renderError(target.takeError());
  };
  EXPECT_EQ(name(80), "sm_80");
  EXPECT_EQ(name(89), "sm_89");
  EXPECT_EQ(name(90), "sm_90a");
  EXPECT_EQ(name(100), "sm_100");
  EXPECT_EQ(name(75), "error: GPUs of compute capability 7.5 are not "
                      "supported: expected 8.0 or newer");
  EXPECT_EQ(name(999), "error: 'sm_999' is no GPU that this LLVM knows");
}

class PTXTest : public CudaTest {
protected:
  std::string translate(llvm::StringRef text,
                        const CudaTarget &target = {"sm_90a"}) {
    auto module = parse(text);
    if (!module)
      return "";
    std::string before;
    llvm::raw_string_ostream(before) << *module;
    auto ptx = translateToPTX(*module, target);
    std::string after;
    llvm::raw_string_ostream(after) << *module;
    EXPECT_EQ(before, after);
    return mlir::succeeded(ptx) ? *ptx : "";
  }
  static bool contains(const std::string &text, llvm::StringRef part) {
    return llvm::StringRef(text).contains(part);
  }
  /// A function with one operation `line` on a value of the type.
  static std::string makeFunction(const std::string &line,
                                  const std::string &type) {
    return "llvm.func @k(%p: !llvm.ptr<1>) attributes {nvvm.kernel} {\n"
           "  %x = llvm.load %p : !llvm.ptr<1> -> " +
           type + "\n  " + line + "\n  llvm.store %y, %p : " + type +
           ", !llvm.ptr<1>\n  llvm.return\n}\n";
  }
};

TEST_F(PTXTest, Kernel) {
  std::string ptx = translate(squareKernel);
  EXPECT_TRUE(contains(ptx, ".version 8.6\n.target sm_90a\n")) << ptx;
  EXPECT_TRUE(contains(ptx, ".entry square(")) << ptx;
  EXPECT_TRUE(contains(ptx, ".reqntid 128")) << ptx;
  // The product and the sum are one operation.
  EXPECT_TRUE(contains(ptx, "fma.rn.f32")) << ptx;
  EXPECT_FALSE(contains(ptx, "mul.rn.f32")) << ptx;
  EXPECT_TRUE(contains(translate(squareKernel, {"sm_80"}), ".target sm_80\n"));
}

TEST_F(PTXTest, NoOtherFastMathematics) {
  std::string ptx =
      translate(makeFunction("%y = llvm.fdiv %x, %x : f32", "f32"));
  EXPECT_TRUE(contains(ptx, "div.rn.f32")) << ptx;
  ptx =
      translate(makeFunction("%y = llvm.intr.sqrt(%x) : (f32) -> f32", "f32"));
  EXPECT_TRUE(contains(ptx, "sqrt.rn.f32")) << ptx;
}

TEST_F(PTXTest, ExpandsInlinePTX) {
  std::string ptx = translate(productKernel);
  EXPECT_TRUE(contains(ptx, "wgmma.fence.sync.aligned")) << ptx;
  EXPECT_TRUE(contains(ptx, "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16."
                            "bf16"))
      << ptx;
  EXPECT_TRUE(contains(ptx, "wgmma.wait_group.sync.aligned")) << ptx;
}

TEST_F(PTXTest, RefusesWhatTheTargetLacks) {
  const char *none = "cannot be compiled for a GPU: the target has no "
                     "instruction for it";
  for (const char *name : {"exp", "exp10", "log", "log2", "log10", "tan"}) {
    std::string line =
        std::string("%y = llvm.intr.") + name + "(%x) : (f32) -> f32";
    EXPECT_EQ(translate(makeFunction(line, "f32")), "");
    ASSERT_EQ(messages.size(), 1u) << name;
    EXPECT_EQ(messages[0], std::string("'llvm.intr.") + name + "' op " + none);
    messages.clear();
  }
  EXPECT_EQ(
      translate(makeFunction("%y = llvm.intr.exp2(%x) : (f64) -> f64", "f64")),
      "");
  EXPECT_EQ(messages.at(0),
            std::string("'llvm.intr.exp2' op ") + none + " in float64");
  messages.clear();
  EXPECT_EQ(
      translate(makeFunction("%y = llvm.intr.sin(%x) : (f32) -> f32", "f32")),
      "");
  EXPECT_TRUE(contains(messages.at(0), "approximate instruction only"));
  messages.clear();

  EXPECT_NE(translate(makeFunction("%y = llvm.intr.sin(%x) {fastmathFlags = "
                                   "#llvm.fastmath<afn>} : (f32) -> f32",
                                   "f32")),
            "");
  std::string ptx =
      translate(makeFunction("%y = llvm.intr.exp2(%x) : (f32) -> f32", "f32"));
  EXPECT_TRUE(contains(ptx, "ex2.approx")) << ptx;
  EXPECT_TRUE(messages.empty());
}

TEST_F(PTXTest, RefusesUndefinedFunctions) {
  std::string text = "llvm.func @__nv_expf(f32) -> f32\n" +
                     makeFunction("%y = llvm.call @__nv_expf(%x) : (f32) -> "
                                  "f32",
                                  "f32");
  EXPECT_EQ(translate(text), "");
  EXPECT_EQ(messages, std::vector<std::string>{
                          "'llvm.call' op calls '__nv_expf', which nothing "
                          "defines"});
}

TEST_F(PTXTest, RefusesOtherDialects) {
  context.allowUnregisteredDialects();
  EXPECT_EQ(translate("\"other.op\"() : () -> ()"), "");
  EXPECT_FALSE(messages.empty());
}

} // namespace
