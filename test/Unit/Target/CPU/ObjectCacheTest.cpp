//===- ObjectCacheTest.cpp - Compiled recurrences kept on disk ------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Support/ObjectCache.h"

#include "../../Support/FileTestUtils.h"
#include "CompiledTestUtils.h"

#include <fstream>

using namespace larc;
using namespace larc::test;
namespace fs = llvm::sys::fs;

namespace {

/// Compiled recurrences, kept in a folder of the test.
class CompiledCacheTest : public CompiledTest {
protected:
  static constexpr const char *source =
      "larc.recurrence @sums(%x[K]) state(%s[K]) -> (o[K]) {\n"
      "  %next = larc.add %s, %x\n"
      "  larc.yield %next, %next\n"
      "}\n";

  void SetUp() override {
    CompiledTest::SetUp();
    environment.set("LARC_CACHE", std::nullopt);
    environment.set("LARC_CACHE_DIR", folder / "cache");
  }
  void run(llvm::StringRef text = source, DType dtype = DType::F32,
           int64_t size = 5) {
    RecurrenceOp spec = parse(text);
    Shape shape;
    shape.tokens = 9;
    check(spec, makeInputs(spec, {{"K", size}}, shape, /*seed=*/1), dtype,
          1e-5);
  }
  std::vector<std::string> listEntries() const {
    return folder.listEntries("cache");
  }

  Folder folder;
  Environment environment;
};

TEST_F(CompiledCacheTest, OneEntryForEachCode) {
  run();
  EXPECT_EQ(listEntries().size(), 1u);
  run();
  EXPECT_EQ(listEntries().size(), 1u);
  // Where a text comes from does not matter, and what it says does.
  run("\n\n" + std::string(source));
  EXPECT_EQ(listEntries().size(), 1u);
  run(source, DType::F64);
  EXPECT_EQ(listEntries().size(), 2u);
  run(source, DType::F32, /*size=*/6);
  EXPECT_EQ(listEntries().size(), 3u);
  std::string other = source;
  other.replace(other.find("larc.add"), 8, "larc.sub");
  run(other);
  EXPECT_EQ(listEntries().size(), 4u);
}

TEST_F(CompiledCacheTest, LoadsWithoutCompiling) {
  run();
  ASSERT_EQ(listEntries().size(), 1u);
  fs::file_status before, after;
  ASSERT_FALSE(fs::status(listEntries()[0], before));
  run();
  ASSERT_FALSE(fs::status(listEntries()[0], after));
  // What is compiled is stored again, as another file.
  EXPECT_EQ(before.getUniqueID(), after.getUniqueID());
}

TEST_F(CompiledCacheTest, RebuildsDamage) {
  run();
  ASSERT_EQ(listEntries().size(), 1u);
  std::string path = listEntries()[0];
  uint64_t size = 0;
  ASSERT_FALSE(fs::file_size(path, size));
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(std::streamoff(size / 2));
  file.write("damage", 6);
  file.close();
  run();
  ASSERT_EQ(listEntries().size(), 1u);
  auto text = llvm::MemoryBuffer::getFile(path);
  ASSERT_TRUE(bool(text));
  EXPECT_EQ((*text)->getBuffer().find("damage"), llvm::StringRef::npos);
}

TEST_F(CompiledCacheTest, CountsTheSameWork) {
  RecurrenceOp spec = parse(source);
  ASSERT_TRUE(llvm::succeeded(bindDims(spec, {{"K", 8}})));
  CPUOptions options = CPUOptions::uniform(spec, DType::F32, DType::F32);
  auto compiled = CompiledRecurrence::compile(spec, options);
  auto loaded = CompiledRecurrence::compile(spec, options);
  ASSERT_TRUE(llvm::succeeded(compiled) && llvm::succeeded(loaded));
  EXPECT_GT((*compiled)->getTokenCost().flops, 0);
  EXPECT_EQ((*compiled)->getTokenCost().flops, (*loaded)->getTokenCost().flops);
  EXPECT_EQ((*compiled)->getTokenCost().bytes, (*loaded)->getTokenCost().bytes);
  EXPECT_EQ((*compiled)->getWorkspaceBytes(), (*loaded)->getWorkspaceBytes());
}

TEST_F(CompiledCacheTest, WarnsOnceAndComputes) {
  std::ofstream((folder / "cache").c_str()) << "a file";
  std::vector<std::string> messages;
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          messages.push_back(diagnostic.str());
                                          return mlir::success();
                                        });
  run();
  run(source, DType::F64);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_NE(messages[0].find("compiled code cannot be kept: "),
            std::string::npos);
}

} // namespace
