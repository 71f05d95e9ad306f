//===- CubinTest.cpp - Machine code for GPUs ------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Target/CUDA/Cubin.h"

#include "CudaTestUtils.h"
#include "FileTestUtils.h"
#include "larc/Support/Error.h"
#include "larc/Target/CUDA/Ptxas.h"

#include <fstream>

using namespace larc;
using namespace larc::test;
namespace fs = llvm::sys::fs;

namespace {

const CudaTarget hopper{"sm_90a"};

class CubinTest : public CudaTest {
protected:
  void SetUp() override {
    environment.set("LARC_CACHE", std::nullopt);
    environment.set("LARC_CACHE_DIR", folder / "cache");
  }

  /// A ptxas that writes the report, and counts its runs.
  std::string makePtxas(const std::string &report) {
    std::string file = folder / "ptxas";
    std::ofstream(file) << "#!/bin/sh\n"
                           "case $1 in --version) echo 'release 13.5, "
                           "V13.5.37'; exit;; esac\n"
                           "echo run >> '"
                        << (folder / "runs")
                        << "'\n"
                           "while [ $# -gt 1 ]; do\n"
                           "  case $1 in -o) out=$2; shift;; esac; shift\n"
                           "done\n"
                           "echo machine code > \"$out\"\n"
                           "cat << 'END'\n"
                        << report << "END\n";
    EXPECT_FALSE(fs::setPermissions(file, fs::all_perms));
    return file;
  }
  size_t countRuns() {
    std::ifstream stream(folder / "runs");
    std::string line;
    size_t runs = 0;
    while (std::getline(stream, line))
      ++runs;
    return runs;
  }
  static std::string makeReport(const std::string &spills,
                                const std::string &registers) {
    return "ptxas info    : Compiling entry function 'square' for 'sm_90a'\n"
           "ptxas info    : Function properties for square\n"
           "    0 bytes stack frame, " +
           spills + " bytes spill stores, " + spills +
           " bytes spill loads\n"
           "ptxas info    : Used " +
           registers + " registers, used 1 barriers\n";
  }

  Folder folder;
  Environment environment;
};

TEST_F(CubinTest, IsKeptOnDisk) {
  std::string ptxas = makePtxas(makeReport("0", "32"));
  auto module = parse(squareKernel);
  for (int i = 0; i < 2; ++i) {
    auto cubin = compileToCubin(*module, hopper, ptxas);
    ASSERT_TRUE(mlir::succeeded(cubin));
    EXPECT_EQ(cubin->image->getBuffer(), "machine code\n");
    ASSERT_TRUE(cubin->report.find("square"));
    EXPECT_EQ(cubin->report.find("square")->registers, 32u);
    EXPECT_EQ(countRuns(), 1u);
  }
  EXPECT_TRUE(mlir::succeeded(compileToCubin(*module, {"sm_90"}, ptxas)));
  EXPECT_EQ(countRuns(), 2u);
  environment.set("LARC_CACHE", "off");
  EXPECT_TRUE(mlir::succeeded(compileToCubin(*module, hopper, ptxas)));
  EXPECT_EQ(countRuns(), 3u);
  EXPECT_TRUE(messages.empty());
}

TEST_F(CubinTest, RefusesSpills) {
  std::string ptxas = makePtxas(makeReport("8", "255"));
  auto module = parse(squareKernel);
  // From the cache, too.
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(mlir::failed(compileToCubin(*module, hopper, ptxas)));
    EXPECT_EQ(messages, std::vector<std::string>{
                            "kernel 'square' spills registers: 8 bytes stored "
                            "and 8 loaded, at 255 registers"});
    messages.clear();
  }
  EXPECT_EQ(countRuns(), 1u);
}

TEST_F(CubinTest, KnowsTheLaunch) {
  std::string ptxas = makePtxas(makeReport("0", "128"));
  std::string text = squareKernel;
  std::string bounds = "nvvm.reqntid = array<i32: 128>";
  text.replace(text.find(bounds), bounds.size(),
               "nvvm.maxntid = array<i32: 32, 8>, nvvm.minctasm = 3 : i32");
  auto module = parse(text);
  EXPECT_TRUE(mlir::failed(compileToCubin(*module, hopper, ptxas)));
  EXPECT_EQ(messages, std::vector<std::string>{
                          "kernel 'square' takes too many registers: 128 for "
                          "each of 256 threads in 3 blocks are 98304, and a "
                          "multiprocessor has 65536"});
}

TEST_F(CubinTest, SaysWhatIsWrong) {
  auto module = parse("llvm.func @f() { llvm.return }");
  EXPECT_TRUE(mlir::failed(compileToCubin(*module, hopper)));
  EXPECT_EQ(messages, std::vector<std::string>{
                          "has no kernel: expected a function with the "
                          "attribute 'nvvm.kernel'"});
  messages.clear();
  module = parse(squareKernel);
  EXPECT_TRUE(mlir::failed(compileToCubin(*module, hopper, "/nothing")));
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].find("--ptxas: /nothing: cannot be run"), 0u)
      << messages[0];
}

/// With the assembler of this machine, if it has one.
class RealCubinTest : public CubinTest {
protected:
  void SetUp() override {
    CubinTest::SetUp();
    PtxasNeed need = PtxasNeed::of("wgmma.", hopper);
    auto ptxas = findPtxas(PtxasPlaces::fromEnvironment(), need);
    if (!ptxas)
      GTEST_SKIP() << renderError(ptxas.takeError());
  }
};

TEST_F(RealCubinTest, Assembles) {
  for (const char *text : {squareKernel, productKernel}) {
    auto cubin = compileToCubin(*parse(text), hopper);
    ASSERT_TRUE(mlir::succeeded(cubin)) << messages.at(0);
    EXPECT_TRUE(cubin->image->getBuffer().starts_with("\x7f"
                                                      "ELF"));
    ASSERT_EQ(cubin->report.kernels.size(), 1u);
    EXPECT_GT(cubin->report.kernels[0].registers, 0u);
  }
  EXPECT_TRUE(mlir::succeeded(compileToCubin(*parse(squareKernel), {"sm_80"})));
}

TEST_F(RealCubinTest, RefusesSerialisedProducts) {
  std::string text = productKernel;
  std::string wait = "  nvvm.wgmma.wait.group.sync.aligned 0\n";
  text.replace(text.find(wait), wait.size(), "");
  EXPECT_TRUE(mlir::failed(compileToCubin(*parse(text), hopper)));
  ASSERT_FALSE(messages.empty());
  EXPECT_EQ(messages[0].find("kernel 'product' has matrix products that the "
                             "assembler serialises: (C75"),
            0u)
      << messages[0];
}

TEST_F(RealCubinTest, RefusesSpills) {
  // More values than a thread of such a block has registers for.
  constexpr int count = 200;
  std::string text = "llvm.func @k(%p: !llvm.ptr<1>) attributes {nvvm.kernel, "
                     "nvvm.reqntid = array<i32: 1024>} {\n";
  auto address = [&](int i) {
    std::string name = "%p" + std::to_string(i);
    return "  " + name + " = llvm.getelementptr %p[" + std::to_string(i) +
           "] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32\n";
  };
  for (int i = 0; i < count; ++i)
    text += address(i) + "  %x" + std::to_string(i) +
            " = llvm.load volatile %p" + std::to_string(i) +
            " : !llvm.ptr<1> -> f32\n";
  for (int i = 0; i < count; ++i)
    text += "  llvm.store volatile %x" + std::to_string(i) + ", %p" +
            std::to_string(count - 1 - i) + " : f32, !llvm.ptr<1>\n";
  text += "  llvm.return\n}\n";
  EXPECT_TRUE(mlir::failed(compileToCubin(*parse(text), hopper)));
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].find("kernel 'k' spills registers: "), 0u)
      << messages[0];
}

} // namespace
