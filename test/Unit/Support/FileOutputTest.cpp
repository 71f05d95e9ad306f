//===- FileOutputTest.cpp - Writing files whole or not at all -------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Support/FileOutput.h"

#include "larc/Support/Error.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <csignal>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace larc;
using llvm::Error;

namespace {

/// A fresh folder for each test.
class FileOutput : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    // Background jobs of a shell may inherit signals ignored. To be undone
    // before the first file makes LLVM install its handlers.
    for (int signal : {SIGINT, SIGTERM, SIGHUP})
      ::signal(signal, SIG_DFL);
  }
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("larc-output", folder));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::string pathOf(llvm::StringRef name) {
    llvm::SmallString<128> path = folder;
    llvm::sys::path::append(path, name);
    return path.str().str();
  }
  static std::string contentOf(llvm::StringRef path) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    return buffer ? (*buffer)->getBuffer().str() : "<none>";
  }
  int countFiles() {
    int count = 0;
    std::error_code code;
    for (llvm::sys::fs::directory_iterator it(folder, code), end;
         !code && it != end; it.increment(code))
      ++count;
    return count;
  }
  static std::string write(llvm::StringRef path, llvm::StringRef text) {
    return renderError(writeFileAtomically(path, [&](llvm::raw_ostream &os) {
      os << text;
      return Error::success();
    }));
  }

  llvm::SmallString<128> folder;
};

TEST_F(FileOutput, CreatesAndReplaces) {
  std::string path = pathOf("50%d file.txt");
  EXPECT_EQ(write(path, "one"), "");
  EXPECT_EQ(contentOf(path), "one");
  EXPECT_EQ(write(path, "two"), "");
  EXPECT_EQ(contentOf(path), "two");
  EXPECT_EQ(countFiles(), 1);
}

TEST_F(FileOutput, LongName) {
  std::string path = pathOf(std::string(255, 'n'));
  EXPECT_EQ(write(path, "x"), "");
  EXPECT_EQ(contentOf(path), "x");
}

TEST_F(FileOutput, FailureLeavesTheOldFile) {
  std::string path = pathOf("out");
  EXPECT_EQ(write(path, "old"), "");
  std::string message =
      renderError(writeFileAtomically(path, [](llvm::raw_ostream &os) {
        os << std::string(1 << 20, 'x');
        return makeFault("no more");
      }));
  EXPECT_EQ(message, path + ": error: no more");
  EXPECT_EQ(contentOf(path), "old");
  EXPECT_EQ(countFiles(), 1);
}

TEST_F(FileOutput, KeepsPermissions) {
  std::string path = pathOf("out");
  EXPECT_EQ(write(path, "old"), "");
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  EXPECT_EQ(write(path, "new"), "");
  struct stat status;
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

/// Root may write everywhere, so what follows runs as nobody then, in a child.
TEST_F(FileOutput, ReadOnlyFileAndFolder) {
  std::string path = pathOf("out"), other = pathOf("other");
  EXPECT_EQ(write(path, "old"), "");
  ASSERT_EQ(chmod(path.c_str(), 0444), 0);
  ASSERT_EQ(chmod(folder.c_str(), 0777), 0);
  // lit makes a temporary folder around it that only its user can enter.
  std::string parent = llvm::sys::path::parent_path(folder).str();
  struct stat status;
  ASSERT_EQ(stat(parent.c_str(), &status), 0);
  mode_t enter = S_IXGRP | S_IXOTH;
  if ((status.st_mode & enter) != enter) {
    ASSERT_EQ(chmod(parent.c_str(), status.st_mode | enter), 0);
  }
  auto runAsNobody = [&](llvm::function_ref<bool()> test) {
    pid_t child = fork();
    if (child == 0)
      _exit((geteuid() != 0 || setuid(65534) == 0) && test() ? 0 : 1);
    int status = 1;
    return waitpid(child, &status, 0) == child && status == 0;
  };
  EXPECT_TRUE(runAsNobody([&] {
    return write(path, "new") ==
           path + ": error: cannot open for writing: Permission denied";
  }));
  EXPECT_TRUE(runAsNobody([&] { return write(other, "new").empty(); }));
  EXPECT_EQ(countFiles(), 2);
  ASSERT_EQ(chmod(folder.c_str(), 0555), 0);
  EXPECT_TRUE(runAsNobody([&] {
    return write(pathOf("third"), "new") ==
           pathOf("third") +
               ": error: cannot open for writing: Permission denied";
  }));
  ASSERT_EQ(chmod(folder.c_str(), 0755), 0);
  EXPECT_EQ(contentOf(path), "old");
  EXPECT_EQ(countFiles(), 2);
}

TEST_F(FileOutput, FollowsLinks) {
  std::string target = pathOf("target"), link = pathOf("link");
  EXPECT_EQ(write(target, "old"), "");
  ASSERT_EQ(symlink("target", link.c_str()), 0);
  EXPECT_EQ(write(link, "new"), "");
  EXPECT_EQ(contentOf(target), "new");
  EXPECT_TRUE(llvm::sys::fs::is_symlink_file(link));
}

TEST_F(FileOutput, BadPaths) {
  EXPECT_EQ(write("", "x"), "error: the name of the output file is empty");
  EXPECT_EQ(write(folder, "x"),
            folder.str().str() + ": error: cannot write: is a directory");
  std::string missing = pathOf("missing/out");
  EXPECT_EQ(write(missing, "x"),
            missing +
                ": error: cannot open for writing: No such file or directory");
  EXPECT_EQ(countFiles(), 0);
}

TEST_F(FileOutput, SpecialFiles) {
  EXPECT_EQ(write("/dev/null", "x"), "");
  struct stat status;
  ASSERT_EQ(stat("/dev/null", &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
  if (llvm::sys::fs::exists("/dev/full")) {
    EXPECT_EQ(write("/dev/full", "x"),
              "/dev/full: error: cannot write: No space left on device");
  }
}

TEST_F(FileOutput, DescriptorName) {
  // A descriptor of a regular file is written to, not replaced.
  std::string path = pathOf("out");
  FILE *file = std::fopen(path.c_str(), "w");
  ASSERT_TRUE(file);
  std::string name = "/dev/fd/" + std::to_string(fileno(file));
  EXPECT_EQ(write(name, "text"), "");
  std::fclose(file);
  EXPECT_EQ(contentOf(path), "text");
  EXPECT_EQ(countFiles(), 1);
}

TEST_F(FileOutput, SignalsLeaveNothing) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    std::string path = pathOf("out");
    pid_t child = fork();
    if (child == 0) {
      Error error = writeFileAtomically(path, [&](llvm::raw_ostream &os) {
        os << std::string(1 << 20, 'x');
        os.flush();
        // The file is there now, and must go away.
        if (countFiles() == 1)
          raise(signal);
        return Error::success();
      });
      consumeError(std::move(error));
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal)
        << signal << ' ' << status;
    EXPECT_EQ(countFiles(), 0);
  }
}

} // namespace
