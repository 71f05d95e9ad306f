//===- ErrorTest.cpp - Errors for users -----------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Support/Error.h"

#include "gtest/gtest.h"

using namespace larc;

namespace {

TEST(Error, Render) {
  int code = 0;
  EXPECT_EQ(renderError(llvm::Error::success(), &code), "");
  EXPECT_EQ(code, 0);
  EXPECT_EQ(renderError(makeFault("it is bad", {"it is so", "do this"}), &code),
            "error: it is bad\nnote: it is so\nnote: do this");
  EXPECT_EQ(code, 1);
  EXPECT_EQ(renderError(makeFileFault("f.x", "it is bad"), &code),
            "f.x: error: it is bad");
  EXPECT_EQ(code, 1);
  EXPECT_EQ(renderError(makeUsageFault("unknown option"), &code),
            "error: unknown option");
  EXPECT_EQ(code, 2);
  EXPECT_EQ(renderError(llvm::createStringError("foreign"), &code),
            "error: foreign");
  EXPECT_EQ(code, 1);
  EXPECT_EQ(
      renderError(llvm::joinErrors(makeFault("one"), makeUsageFault("two")),
                  &code),
      "error: one\nerror: two");
  EXPECT_EQ(code, 2);
  EXPECT_EQ(renderError(makeFault(""), &code), "");
  EXPECT_EQ(code, 1);
}

TEST(Error, AddFile) {
  EXPECT_EQ(renderError(addFile(llvm::Error::success(), "f")), "");
  EXPECT_EQ(renderError(addFile(makeFault("m", {"n"}), "f")),
            "f: error: m\nnote: n");
  EXPECT_EQ(renderError(addFile(makeFileFault("g", "m"), "f")), "g: error: m");
  EXPECT_EQ(renderError(addFile(llvm::createStringError("m"), "f")),
            "f: error: m");
  int code = 0;
  renderError(addFile(makeUsageFault("m"), "f"), &code);
  EXPECT_EQ(code, 2);
}

TEST(Error, QuoteName) {
  EXPECT_EQ(quoteName("q"), "'q'");
  EXPECT_EQ(quoteName(llvm::StringRef("a\n\0b", 4)), "'a\\x0a\\x00b'");
  EXPECT_EQ(quoteName("gl\xc3\xbc\x63k"), "'gl\xc3\xbc\x63k'");
  EXPECT_EQ(quoteName("\xff"), "'\xef\xbf\xbd'");
  std::string cut = quoteName(std::string(100, 'x'));
  EXPECT_EQ(cut, "'" + std::string(80, 'x') + "...'");
}

} // namespace
