//===- FileTestUtils.h - Folders and variables of a test -*- C++ -*- ------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TEST_UNIT_SUPPORT_FILETESTUTILS_H
#define LARC_TEST_UNIT_SUPPORT_FILETESTUTILS_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include "gtest/gtest.h"
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace larc::test {

/// Variables of the environment, which come back at the end.
class Environment {
public:
  ~Environment() {
    for (const auto &[name, value] : old)
      write(name, value);
  }
  void set(const char *name, std::optional<std::string> value) {
    if (llvm::none_of(old, [&](auto &entry) { return entry.first == name; })) {
      const char *before = std::getenv(name);
      old.emplace_back(name, before ? std::optional<std::string>(before)
                                    : std::nullopt);
    }
    write(name, value);
  }

private:
  static void write(const std::string &name,
                    const std::optional<std::string> &value) {
    if (value)
      ::setenv(name.c_str(), value->c_str(), /*overwrite=*/1);
    else
      ::unsetenv(name.c_str());
  }
  std::vector<std::pair<std::string, std::optional<std::string>>> old;
};

/// A fresh folder for each test.
class Folder {
public:
  Folder() {
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("larc-cache", path));
  }
  ~Folder() { llvm::sys::fs::remove_directories(path); }

  std::string operator/(llvm::StringRef name) const {
    llvm::SmallString<128> result = path;
    llvm::sys::path::append(result, name);
    return result.str().str();
  }
  /// The entries in the subfolder `name`.
  std::vector<std::string> listEntries(llvm::StringRef name) const {
    std::vector<std::string> entries;
    std::error_code code;
    for (llvm::sys::fs::directory_iterator it(*this / name, code), end;
         !code && it != end; it.increment(code))
      if (llvm::sys::path::filename(it->path()).starts_with("llvmcache-"))
        entries.push_back(it->path());
    return entries;
  }

private:
  llvm::SmallString<128> path;
};

} // namespace larc::test

#endif // LARC_TEST_UNIT_SUPPORT_FILETESTUTILS_H
