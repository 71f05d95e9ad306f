//===- VectorTest.cpp - The reference against test vectors ------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every file of test/Data, and of the folder that LARC_VECTORS names or
// that lies at ../shared/vectors beside the sources, holds inputs and what an
// independent float64 implementation computes from them.
//
//===----------------------------------------------------------------------===//

#include "ReferenceTestUtils.h"

#include "larc/Support/Error.h"
#include "larc/Support/Safetensors.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstdlib>

using namespace larc;
using namespace larc::test;

namespace {

class VectorTest : public ReferenceTest {
protected:
  void checkFile(const std::string &path) {
    SCOPED_TRACE(path);
    llvm::Expected<TensorFile> file = readSafetensors(path);
    if (!file) {
      ADD_FAILURE() << renderError(file.takeError());
      return;
    }
    Values values;
    std::string name;
    for (const auto &[key, value] : file->metadata) {
      if (key == "spec")
        name = value;
      else if (key != "format")
        values.push_back({key, value});
    }
    TensorMap expected;
    for (auto it = file->tensors.begin(); it != file->tensors.end();) {
      llvm::StringRef tensor = it->first;
      auto next = std::next(it);
      if (tensor.starts_with("out.") || tensor.starts_with("final.") ||
          tensor.starts_with("grad."))
        expected.insert(file->tensors.extract(it));
      it = next;
    }
    TensorMap got = run(load(name), file->tensors, true, values, 2);
    expectClose(got, expected, 1e-9);
    // Files leave out gradients of what the loss does not depend on.
    for (const auto &[name, tensor] : got)
      if (!expected.count(name))
        for (double value : getValues(tensor))
          ASSERT_EQ(value, 0) << name;
    ++numFiles;
  }

  int numFiles = 0;

  void checkFolder(llvm::StringRef folder) {
    std::error_code error;
    std::vector<std::string> paths;
    for (llvm::sys::fs::directory_iterator it(folder, error), end;
         !error && it != end; it.increment(error))
      if (llvm::sys::path::extension(it->path()) == ".safetensors")
        paths.push_back(it->path());
    llvm::sort(paths);
    for (const std::string &path : paths)
      checkFile(path);
  }
};

TEST_F(VectorTest, Committed) {
  checkFolder(LARC_TEST_DATA_DIR);
  EXPECT_GT(numFiles, 0);
}

TEST_F(VectorTest, All) {
  llvm::SmallString<128> folder(LARC_TEST_DATA_DIR);
  if (const char *named = std::getenv("LARC_VECTORS"))
    folder = named;
  else
    llvm::sys::path::append(folder, "..", "..", "..", "shared");
  if (!std::getenv("LARC_VECTORS"))
    llvm::sys::path::append(folder, "vectors");
  if (!llvm::sys::fs::is_directory(folder))
    GTEST_SKIP() << "no folder " << folder.str().str();
  checkFolder(folder);
  EXPECT_GT(numFiles, 0);
  RecordProperty("files", numFiles);
}

} // namespace
