//===- ResourceReportTest.cpp - What the assembler says of kernels --------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Target/CUDA/ResourceReport.h"

#include "gtest/gtest.h"

using namespace larc;

namespace {

/// What ptxas 13.5.37 wrote of two kernels.
constexpr const char *twoKernels =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'fine' for 'sm_90a'\n"
    "ptxas info    : Function properties for fine\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 168 registers, used 2 barriers, 1024 bytes smem\n"
    "ptxas info    : Compile time = 17.648 ms\n"
    "ptxas info    : Compiling entry function 'spiller' for 'sm_90a'\n"
    "ptxas info    : Function properties for spiller\n"
    "    48 bytes stack frame, 88 bytes spill stores, 80 bytes spill loads\n"
    "ptxas info    : Used 64 registers, used 0 barriers, 48 bytes cumulative "
    "stack size\n"
    "ptxas info    : Compile time = 15.763 ms\n";

/// The same of a kernel with two products, between which their sums are used.
constexpr const char *serialised =
    "ptxas info    : (C7519) warpgroup.arrive is injected in around line 15 by "
    "compiler to allow use of registers in GMMA in function 'bad'\n"
    "ptxas info    : (C7517) warpgroup.wait is injected in around line 14 by "
    "compiler to allow use of registers defined by GMMA in function 'bad'\n"
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'bad' for 'sm_90a'\n"
    "ptxas info    : Function properties for bad\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 30 registers, used 0 barriers, 360 bytes cmem[0]\n";

std::vector<std::string> findFaults(llvm::StringRef messages,
                                    llvm::ArrayRef<LaunchBounds> bounds) {
  std::vector<std::string> result;
  for (const ResourceFault &fault :
       findResourceFaults(ResourceReport::parse(messages), bounds))
    result.push_back(fault.message);
  return result;
}

TEST(ResourceReport, ReadsEachKernel) {
  ResourceReport report = ResourceReport::parse(twoKernels);
  ASSERT_EQ(report.kernels.size(), 2u);
  const KernelResources *fine = report.find("fine");
  ASSERT_TRUE(fine);
  EXPECT_EQ(fine->registers, 168u);
  EXPECT_EQ(fine->barriers, 2u);
  EXPECT_EQ(fine->sharedBytes, 1024u);
  EXPECT_EQ(fine->stackBytes, 0u);
  EXPECT_EQ(fine->spillStoreBytes, 0u);
  EXPECT_EQ(fine->spillLoadBytes, 0u);
  const KernelResources *spiller = report.find("spiller");
  ASSERT_TRUE(spiller);
  EXPECT_EQ(spiller->registers, 64u);
  EXPECT_EQ(spiller->stackBytes, 48u);
  EXPECT_EQ(spiller->spillStoreBytes, 88u);
  EXPECT_EQ(spiller->spillLoadBytes, 80u);
  EXPECT_EQ(report.find("other"), nullptr);
}

TEST(ResourceReport, CountsFunctionsThatAKernelCalls) {
  ResourceReport report = ResourceReport::parse(
      "ptxas info    : Compiling entry function 'k' for 'sm_80'\n"
      "ptxas info    : Function properties for k\n"
      "    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 20 registers, 360 bytes cmem[0]\n"
      "ptxas info    : Function properties for helper\n"
      "    16 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n");
  ASSERT_EQ(report.kernels.size(), 1u);
  EXPECT_EQ(report.kernels[0].registers, 20u);
  EXPECT_EQ(report.kernels[0].stackBytes, 24u);
  EXPECT_EQ(report.kernels[0].spillStoreBytes, 4u);
}

TEST(ResourceReport, ReadsSerialisations) {
  ResourceReport report = ResourceReport::parse(serialised);
  const KernelResources *bad = report.find("bad");
  ASSERT_TRUE(bad);
  ASSERT_EQ(bad->serialisations.size(), 2u);
  EXPECT_EQ(bad->serialisations[0].substr(0, 8), "(C7519) ");
  EXPECT_EQ(bad->serialisations[1].substr(0, 8), "(C7517) ");
  EXPECT_EQ(bad->registers, 30u);
}

TEST(ResourceReport, ReadsNothingFromOtherText) {
  for (const char *text :
       {"", "\n\n", "Used 5 registers", "ptxas info    : Used x registers",
        "(C75", "(C7", "(C75xx) function 'k'", "(C7417) in function 'k'",
        "    1 bytes stack frame, 2 bytes spill stores, 3 bytes spill loads"})
    EXPECT_TRUE(ResourceReport::parse(text).kernels.empty()) << text;
}

TEST(ResourceReport, Prints) {
  std::string text;
  llvm::raw_string_ostream os(text);
  ResourceReport::parse(twoKernels).print(os);
  EXPECT_EQ(text, "fine: 168 registers, 2 barriers, 1024 bytes of static "
                  "shared memory, 0 bytes of stack, spills 0 bytes stored and "
                  "0 loaded\n"
                  "spiller: 64 registers, 0 barriers, 0 bytes of static "
                  "shared memory, 48 bytes of stack, spills 88 bytes stored "
                  "and 80 loaded\n");
}

TEST(ResourceFaults, NoneOfAGoodKernel) {
  // 168 registers of 384 threads are 64512.
  EXPECT_TRUE(findFaults(twoKernels, {{"fine", 384, 1}}).empty());
  EXPECT_TRUE(findFaults(twoKernels, {{"fine", 0, 1}}).empty());
}

TEST(ResourceFaults, Spills) {
  std::vector<std::string> faults =
      findFaults(twoKernels, {{"fine", 128, 1}, {"spiller", 1024, 1}});
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0], "kernel 'spiller' spills registers: 88 bytes stored and "
                       "80 loaded, at 64 registers");
}

TEST(ResourceFaults, Serialisations) {
  std::vector<std::string> faults = findFaults(serialised, {{"bad", 128, 1}});
  ASSERT_EQ(faults.size(), 2u);
  EXPECT_EQ(faults[1].find("kernel 'bad' has matrix products that the "
                           "assembler serialises: (C7517) warpgroup.wait"),
            0u);
  // Also where the message names another function.
  faults = findFaults(std::string(serialised) + twoKernels, {{"fine", 128, 1}});
  ASSERT_EQ(faults.size(), 2u);
  EXPECT_EQ(faults[0].find("the assembler serialises matrix products: (C7519)"),
            0u);
}

TEST(ResourceFaults, TooManyRegisters) {
  for (const LaunchBounds &bounds :
       {LaunchBounds{"fine", 512, 1}, LaunchBounds{"fine", 385, 1},
        LaunchBounds{"fine", 256, 2}}) {
    std::vector<std::string> faults = findFaults(twoKernels, {bounds});
    ASSERT_EQ(faults.size(), 1u) << bounds.threads;
    EXPECT_EQ(faults[0].find("kernel 'fine' takes too many registers: 168 for "
                             "each of " +
                             std::to_string(bounds.threads) + " threads"),
              0u)
        << faults[0];
  }
}

TEST(ResourceFaults, MissingKernels) {
  EXPECT_EQ(findFaults(twoKernels, {{"other", 128, 1}}),
            std::vector<std::string>{
                "kernel 'other' is missing in the assembler's report"});
  EXPECT_EQ(findFaults("", {{"fine", 128, 1}}).size(), 1u);
}

} // namespace
