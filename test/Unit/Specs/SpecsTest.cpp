//===- SpecsTest.cpp - Built-in and user specs ------------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Specs/Specs.h"
#include "larc/Support/Error.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace larc;

namespace {

constexpr llvm::StringLiteral recurrenceOf("(%q[K]) state(%S[K]) -> (o[K]) {\n"
                                           "  %T = larc.add %S, %q\n"
                                           "  larc.yield %T, %T\n"
                                           "}\n");

std::string recurrence(llvm::StringRef name) {
  return ("larc.recurrence @" + name + recurrenceOf).str();
}

/// Files in a folder that goes away, and what loading them reports.
class SpecsTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("larc-specs", folder));
    context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
      llvm::raw_string_ostream os(diagnostics);
      os << diagnostic.getLocation() << ' ' << diagnostic << '\n';
    });
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::string write(llvm::StringRef name, llvm::StringRef text) {
    std::string path = (folder + "/" + name).str();
    std::error_code error;
    llvm::raw_fd_ostream(path, error) << text;
    EXPECT_FALSE(error);
    return path;
  }

  /// The name of the recurrence loaded, or the error as it is printed, without
  /// the folder; `code` is the exit code.
  std::string load(llvm::StringRef name) {
    code = 0;
    diagnostics.clear();
    llvm::Expected<LoadedSpec> spec = loadSpec(context, name);
    if (spec)
      return spec->recurrence.getSymName().str();
    std::string text = renderError(spec.takeError(), &code);
    std::string prefix = (folder + "/").str();
    for (size_t at; (at = text.find(prefix)) != std::string::npos;)
      text.erase(at, prefix.size());
    return text;
  }

  llvm::SmallString<128> folder;
  MLIRContext context;
  std::string diagnostics;
  int code = 0;
};

TEST_F(SpecsTest, BuiltinSpecsLoad) {
  EXPECT_GE(getBuiltinSpecs().size(), 24u);
  for (const BuiltinSpec &builtin : getBuiltinSpecs()) {
    llvm::Expected<LoadedSpec> spec = loadSpec(context, builtin.name);
    ASSERT_TRUE(bool(spec)) << builtin.name.str() << diagnostics;
    EXPECT_EQ(spec->recurrence.getSymName(), builtin.name);
    EXPECT_EQ(builtin.file, (builtin.name + ".mlir").str());
    // What a listing shows.
    EXPECT_TRUE(spec->recurrence.getSummary().has_value())
        << builtin.name.str();
    EXPECT_TRUE(spec->recurrence.getPaper().has_value()) << builtin.name.str();
  }
}

TEST_F(SpecsTest, BuiltinSpecsAreSorted) {
  EXPECT_TRUE(llvm::is_sorted(
      getBuiltinSpecs(), [](const BuiltinSpec &lhs, const BuiltinSpec &rhs) {
        return lhs.name < rhs.name;
      }));
}

TEST_F(SpecsTest, UnknownName) {
  EXPECT_EQ(
      load("glaa"),
      "error: unknown spec 'glaa'\nnote: did you mean 'gla'?\n"
      "note: a spec is a name that 'larc list' shows, or a file that ends "
      "in '.mlir'");
  EXPECT_EQ(code, 2);
  EXPECT_EQ(
      load("GLA").find("error: unknown spec 'GLA'\nnote: did you mean 'gla'?"),
      0u);
  EXPECT_EQ(load("something_else_altogether"),
            "error: unknown spec 'something_else_altogether'\nnote: a spec is "
            "a name that 'larc "
            "list' shows, or a file that ends in '.mlir'");
  EXPECT_EQ(load("").find("error: unknown spec ''"), 0u);
  EXPECT_EQ(code, 2);
}

TEST_F(SpecsTest, File) {
  std::string one = write("one.mlir", recurrence("mine"));
  EXPECT_EQ(load(one), "mine");
  EXPECT_EQ(load(one + ":mine"), "mine");
  // A slash alone makes a path too.
  EXPECT_EQ(load(write("noextension", recurrence("mine"))), "mine");
  // A file with the name of a built-in spec is not in its way.
  EXPECT_EQ(load(write("gla.mlir", recurrence("other"))), "other");
  EXPECT_EQ(load("gla"), "gla");
}

TEST_F(SpecsTest, SeveralRecurrences) {
  std::string two =
      write("two.mlir", recurrence("first") + recurrence("second"));
  EXPECT_EQ(load(two + ":first"), "first");
  EXPECT_EQ(load(two + ":second"), "second");
  EXPECT_EQ(load(two),
            "two.mlir: error: expected one recurrence, found 2: first, second\n"
            "note: name the one that is meant: 'two.mlir:first'");
  EXPECT_EQ(code, 1);
  EXPECT_EQ(load(two + ":secund"), "two.mlir: error: no recurrence 'secund'\n"
                                   "note: did you mean 'second'?\n"
                                   "note: the file has first, second");
  EXPECT_EQ(code, 2);
  EXPECT_EQ(load(two + ":").find("two.mlir: error: no recurrence ''"), 0u);
}

TEST_F(SpecsTest, UnreadableFile) {
  EXPECT_EQ(load((folder + "/absent.mlir").str()),
            "absent.mlir: error: cannot be read: No such file or directory");
  EXPECT_EQ(code, 1);
  EXPECT_EQ(load((folder + "/absent.mlir:name").str()),
            "absent.mlir: error: cannot be read: No such file or directory");
  EXPECT_EQ(load((folder + "/").str()).find("error: cannot be read: ") !=
                std::string::npos,
            true);
}

TEST_F(SpecsTest, NoRecurrence) {
  EXPECT_EQ(load(write("empty.mlir", "")),
            "empty.mlir: error: expected a larc.recurrence, found none");
  EXPECT_EQ(code, 1);
}

TEST_F(SpecsTest, SyntaxError) {
  std::string path = write(
      "bad.mlir", "\nlarc.recurrence @x(%q[K]) -> (o[K]) {\n  larc.yield\n");
  EXPECT_EQ(load(path), "");
  EXPECT_EQ(code, 1);
  EXPECT_NE(diagnostics.find("bad.mlir\":"), std::string::npos) << diagnostics;
}

TEST_F(SpecsTest, VerificationError) {
  std::string path = write(
      "bad.mlir", "larc.recurrence @x(%q[K]) -> (o) {\n  larc.yield %q\n}\n");
  EXPECT_EQ(load(path), "");
  EXPECT_EQ(code, 1);
  EXPECT_NE(diagnostics.find("bad.mlir\":2:3"), std::string::npos)
      << diagnostics;
}

// What MLIR's parser does not withstand is refused before; SourceTextTest has
// more.
TEST_F(SpecsTest, OnlyPlainText) {
  EXPECT_NE(load(write("b.mlir", llvm::StringRef("ML\xefR\x0d\x01x\0", 8)))
                .find("b.mlir:"),
            std::string::npos);
  EXPECT_EQ(code, 1);
  EXPECT_NE(load(write("d.mlir", std::string(100000, '{'))).find("d.mlir:"),
            std::string::npos);
  EXPECT_EQ(code, 1);
  std::string comment = "//" + std::string(300, '(') + "\n";
  EXPECT_EQ(load(write("c.mlir", comment + recurrence("commented"))),
            "commented");
}

TEST_F(SpecsTest, ErrorsOfEarlierSpecsDoNotStay) {
  EXPECT_EQ(load(write("bad.mlir", "larc.recurrence")), "");
  EXPECT_EQ(load("gla"), "gla");
  EXPECT_EQ(code, 0);
}

} // namespace
