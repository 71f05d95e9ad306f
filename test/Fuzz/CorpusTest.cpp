//===- CorpusTest.cpp - The inputs that fuzzing found ---------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuzzTargets.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace larc;

namespace {

/// Runs `target` on every file of a folder of the corpus. The test passes if no
/// input crashes it.
static void runCorpus(llvm::StringRef name, void (*target)(llvm::StringRef)) {
  std::string folder = LARC_FUZZ_CORPUS_DIR "/" + name.str();
  int count = 0;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator it(folder, code), end;
       !code && it != end; it.increment(code)) {
    auto buffer = llvm::MemoryBuffer::getFile(it->path());
    ASSERT_TRUE(bool(buffer)) << it->path();
    SCOPED_TRACE(it->path());
    target((*buffer)->getBuffer());
    ++count;
  }
  EXPECT_FALSE(code) << folder << ": " << code.message();
  EXPECT_GT(count, 0) << folder;
}

TEST(FuzzCorpus, Safetensors) { runCorpus("safetensors", fuzzSafetensors); }

TEST(FuzzCorpus, Spec) { runCorpus("spec", fuzzSpec); }

} // namespace
