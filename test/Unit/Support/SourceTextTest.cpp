//===- SourceTextTest.cpp - Checking text before MLIR parses it -----------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Support/SourceText.h"

#include "larc/Support/Error.h"

#include "gtest/gtest.h"

using namespace larc;

namespace {

static std::string check(llvm::StringRef text) {
  return renderError(checkSourceText(text, "f.mlir"));
}

TEST(SourceText, PlainText) {
  EXPECT_EQ(check(""), "");
  EXPECT_EQ(check("larc.recurrence @a(%q[K]) -> (o[K]) { larc.yield %q }"), "");
  EXPECT_EQ(check(std::string(128, '(')), "");
  // Unbalanced text is the parser's matter.
  EXPECT_EQ(check(std::string(1000, ')')), "");
}

TEST(SourceText, Nesting) {
  EXPECT_EQ(check("\n  " + std::string(129, '[')),
            "f.mlir:2:131: error: brackets nest deeper than 128 levels");
  EXPECT_EQ(check(std::string(100, '{') + std::string(28, '<') + "("),
            "f.mlir:1:129: error: brackets nest deeper than 128 levels");
  // An arrow closes nothing.
  std::string arrows;
  for (int i = 0; i < 129; ++i)
    arrows += "(->";
  EXPECT_NE(check(arrows), "");
  std::string closed;
  for (int i = 0; i < 1000; ++i)
    closed += "([{<>}])";
  EXPECT_EQ(check(closed), "");
}

TEST(SourceText, StringsAndComments) {
  EXPECT_EQ(check("\"" + std::string(1000, '(') + "\\\"((\""), "");
  EXPECT_EQ(check("// " + std::string(1000, '(') + "\"\n x"), "");
  // A quote that no quote follows ends with its line.
  EXPECT_NE(check("\"abc\n" + std::string(129, '(')), "");
  EXPECT_NE(check("// \"\n" + std::string(129, '(')), "");
}

TEST(SourceText, AffineExpressions) {
  EXPECT_EQ(check("\n x = affine_map<() -> (1)>"),
            "f.mlir:2:6: error: affine_map is not part of a spec");
  EXPECT_EQ(check("affine_set<() : (1 == 0)>"),
            "f.mlir:1:1: error: affine_set is not part of a spec");
  EXPECT_EQ(check("%my_affine_map = \"affine_map\" // affine_map"), "");
}

TEST(SourceText, Bytecode) {
  EXPECT_EQ(check("ML\xefR\x01"),
            "f.mlir: error: expected MLIR text, found MLIR bytecode");
}

} // namespace
