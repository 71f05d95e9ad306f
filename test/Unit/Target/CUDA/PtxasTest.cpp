//===- PtxasTest.cpp - NVIDIA's assembler, found and run ------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Target/CUDA/Ptxas.h"

#include "FileTestUtils.h"
#include "larc/Support/Error.h"

#include "gtest/gtest.h"
#include <fstream>

using namespace larc;
using namespace larc::test;
namespace fs = llvm::sys::fs;

namespace {

constexpr const char *version135 =
    "ptxas: NVIDIA (R) Ptx optimizing assembler\n"
    "Copyright (c) 2005-2026 NVIDIA Corporation\n"
    "Built on Mon_Oct_12_19:25:48_PDT_2026\n"
    "Cuda compilation tools, release 13.5, V13.5.37\n"
    "Build cuda_13.5.r13.5/compiler.39125733_0\n";

const CudaTarget hopper{"sm_90a"}, ampere{"sm_80"};
const PtxasNeed anyVersion{llvm::VersionTuple(12, 7), "does not know PTX 8.6"};
const PtxasNeed newVersion{llvm::VersionTuple(13, 3), "makes wrong code"};

TEST(PtxasVersion, IsParsed) {
  EXPECT_EQ(parsePtxasVersion(version135), llvm::VersionTuple(13, 5, 37));
  EXPECT_EQ(parsePtxasVersion("Cuda compilation tools, release 12.8"),
            llvm::VersionTuple(12, 8));
  EXPECT_EQ(parsePtxasVersion("tools, release 12.8, Vx"),
            llvm::VersionTuple(12, 8));
  for (const char *text : {"", "release", "release ", "release x.y",
                           "ptxas 13.5", "Build cuda_13.5"})
    EXPECT_TRUE(parsePtxasVersion(text).empty()) << text;
}

TEST(PtxasNeed, DependsOnTheInstructions) {
  EXPECT_EQ(PtxasNeed::of("fma.rn.f32", hopper).version,
            llvm::VersionTuple(12, 7));
  EXPECT_EQ(PtxasNeed::of("wgmma.mma_async.sync.aligned", hopper).version,
            llvm::VersionTuple(13, 3));
  EXPECT_EQ(PtxasNeed::of("mma.sync.aligned.m16n8k16", hopper).version,
            llvm::VersionTuple(13, 1));
  EXPECT_EQ(PtxasNeed::of("mma.sync.aligned.m16n8k16", ampere).version,
            llvm::VersionTuple(12, 7));
}

/// Scripts that stand for ptxas, and an environment in which only they are.
class FindPtxasTest : public ::testing::Test {
protected:
  void SetUp() override {
    for (const char *name : {"LARC_PTXAS", "CUDA_HOME", "CUDA_PATH",
                             "VIRTUAL_ENV", "CONDA_PREFIX"})
      environment.set(name, std::nullopt);
    environment.set("HOME", folder / "home");
    environment.set("PATH", folder / "bin");
  }

  /// Makes the program `path` of the folder do what the lines of a script say.
  std::string makeScript(const std::string &path, const std::string &script) {
    std::string file = folder / path;
    EXPECT_FALSE(fs::create_directories(llvm::sys::path::parent_path(file)));
    std::ofstream(file) << "#!/bin/sh\n" << script;
    EXPECT_FALSE(fs::setPermissions(file, fs::all_perms));
    return file;
  }
  std::string makePtxas(const std::string &path, const std::string &version) {
    return makeScript(path, "echo 'Cuda compilation tools, release " + version +
                                ", V" + version + ".1'\n");
  }
  /// The candidates that lie in the folder of the test.
  std::vector<std::string> listCandidates() {
    std::vector<std::string> result;
    for (const std::string &candidate :
         PtxasPlaces::fromEnvironment().candidates)
      if (llvm::StringRef(candidate).starts_with(folder / ""))
        result.push_back(candidate);
    return result;
  }
  static std::string find(const PtxasPlaces &places, const PtxasNeed &need) {
    auto ptxas = findPtxas(places, need);
    return ptxas ? ptxas->getPath().str() : renderError(ptxas.takeError());
  }

  Folder folder;
  Environment environment;
};

TEST_F(FindPtxasTest, LooksInOrder) {
  const std::string packages = "lib/python3.11/site-packages/nvidia/";
  std::vector<std::string> expected = {
      makePtxas("home-toolkit/bin/ptxas", "12.8"),
      makePtxas("path-toolkit/bin/ptxas", "12.8"),
      makePtxas("bin/ptxas", "12.8"),
      makePtxas("venv/" + packages + "cu13/bin/ptxas", "13.5"),
      makePtxas("venv/" + packages + "cu12/bin/ptxas", "12.9"),
      makePtxas("conda/" + packages + "cuda_nvcc/bin/ptxas", "12.9"),
      makePtxas("home/.local/" + packages + "cu13/bin/ptxas", "13.4"),
      makePtxas("lib/python3/dist-packages/nvidia/cu13/bin/ptxas", "13.4"),
  };
  makeScript("bin/python3", "");
  environment.set("CUDA_HOME", folder / "home-toolkit");
  environment.set("CUDA_PATH", folder / "path-toolkit");
  environment.set("VIRTUAL_ENV", folder / "venv");
  environment.set("CONDA_PREFIX", folder / "conda");
  EXPECT_EQ(listCandidates(), expected);
  environment.set("CUDA_PATH", folder / "home-toolkit");
  expected.erase(expected.begin() + 1);
  EXPECT_EQ(listCandidates(), expected);
}

TEST_F(FindPtxasTest, TakesProgramsOnly) {
  fs::create_directories(folder / "toolkit/bin/ptxas");
  environment.set("CUDA_HOME", folder / "toolkit");
  std::ofstream((folder / "venv").c_str()) << "a file";
  environment.set("VIRTUAL_ENV", folder / "venv");
  EXPECT_TRUE(listCandidates().empty());
}

TEST_F(FindPtxasTest, TheUserChooses) {
  environment.set("LARC_PTXAS", "/variable");
  PtxasPlaces places = PtxasPlaces::fromEnvironment();
  EXPECT_EQ(places.given, "/variable");
  EXPECT_EQ(places.givenBy, "LARC_PTXAS");
  places = PtxasPlaces::fromEnvironment("/option");
  EXPECT_EQ(places.given, "/option");
  EXPECT_EQ(places.givenBy, "--ptxas");
}

TEST_F(FindPtxasTest, SkipsWhatIsTooOld) {
  PtxasPlaces places;
  places.candidates = {makePtxas("a/ptxas", "12.6"),
                       makeScript("b/ptxas", "exit 1\n"), folder / "c/ptxas",
                       makePtxas("d/ptxas", "13.0"),
                       makePtxas("e/ptxas", "13.10")};
  EXPECT_EQ(find(places, anyVersion), folder / "d/ptxas");
  EXPECT_EQ(find(places, newVersion), folder / "e/ptxas");
}

TEST_F(FindPtxasTest, TheGivenOneOrNone) {
  PtxasPlaces places;
  places.givenBy = "--ptxas";
  places.given = makePtxas("old/ptxas", "13.0");
  places.candidates = {makePtxas("new/ptxas", "13.5")};
  EXPECT_EQ(find(places, anyVersion), places.given);
  std::string message = find(places, newVersion);
  EXPECT_EQ(message.find(places.given +
                         ": error: ptxas 13.0.1 makes wrong code: expected "
                         "version 13.3 or newer\n"),
            0u)
      << message;
  EXPECT_NE(message.find("pip install nvidia-cuda-nvcc"), std::string::npos);

  for (const std::string &wrong :
       {folder / "nothing", makeScript("fails", "exit 3\n"),
        makeScript("other", "echo hello\n")}) {
    places.given = wrong;
    message = find(places, anyVersion);
    EXPECT_EQ(message.find("error: --ptxas: " + wrong + ": "), 0u) << message;
  }
}

TEST_F(FindPtxasTest, SaysWhatIsMissing) {
  std::string message = find(PtxasPlaces(), anyVersion);
  EXPECT_EQ(message.find("error: no ptxas, NVIDIA's assembler, was found\n"
                         "note: 'pip install nvidia-cuda-nvcc'"),
            0u)
      << message;
  PtxasPlaces places;
  places.candidates = {makePtxas("a/ptxas", "13.0"),
                       makePtxas("b/ptxas", "12.8")};
  message = find(places, newVersion);
  EXPECT_EQ(message.find("error: no ptxas of version 13.3 or newer was found\n"
                         "note: " +
                         places.candidates[0] +
                         ": ptxas 13.0.1 makes wrong code: expected version "
                         "13.3 or newer\nnote: " +
                         places.candidates[1] + ": ptxas 12.8.1"),
            0u)
      << message;
}

/// A script that keeps its arguments and input in the folder of the test.
TEST_F(FindPtxasTest, RunsIt) {
  environment.set("PATH", "/usr/bin:/bin");
  std::string file = makeScript(
      "ptxas", "case $1 in --version) echo 'release 13.5, V13.5.37';; *)\n"
               "echo \"$@\" > '" +
                   (folder / "arguments") +
                   "'\nwhile [ $# -gt 1 ]; do\n"
                   "  case $1 in -o) out=$2; shift;; esac; shift\n"
                   "done\n"
                   "cp \"$1\" \"$out\"; echo on stdout; echo on stderr >&2\n"
                   "esac\n");
  auto ptxas = Ptxas::open(file);
  ASSERT_TRUE(bool(ptxas)) << llvm::toString(ptxas.takeError());
  EXPECT_EQ(ptxas->getVersion(), llvm::VersionTuple(13, 5, 37));
  EXPECT_EQ(ptxas->getIdentity(), "release 13.5, V13.5.37\n");
  auto assembled = ptxas->assemble("the text\n", hopper);
  ASSERT_TRUE(bool(assembled)) << llvm::toString(assembled.takeError());
  EXPECT_EQ(assembled->cubin->getBuffer(), "the text\n");
  EXPECT_EQ(assembled->messages, "on stdout\non stderr\n");

  std::string arguments;
  std::ifstream stream(folder / "arguments");
  std::getline(stream, arguments);
  EXPECT_EQ(arguments.find("-v -O3 -arch sm_90a -o /"), 0u) << arguments;
  // Nothing stays in the folder of temporary files.
  llvm::StringRef rest = arguments;
  while (!rest.empty()) {
    auto [argument, others] = rest.split(' ');
    rest = others;
    if (argument.starts_with("/"))
      EXPECT_FALSE(fs::exists(argument)) << argument.str();
  }
}

TEST_F(FindPtxasTest, QuotesWhatItRefuses) {
  std::string file = makeScript(
      "ptxas",
      "case $1 in --version) echo 'release 13.5, V13.5.37';; *)\n"
      "echo 'ptxas info    : 0 bytes gmem'\n"
      "echo \"ptxas x.ptx, line 7; error   : Not a name of any known "
      "instruction: 'mool'\"\n"
      "echo 'ptxas fatal   : Ptx assembly aborted due to errors'; exit 255\n"
      "esac\n");
  auto ptxas = Ptxas::open(file);
  ASSERT_TRUE(bool(ptxas));
  auto assembled = ptxas->assemble("", hopper);
  ASSERT_FALSE(bool(assembled));
  EXPECT_EQ(renderError(assembled.takeError()),
            file + ": error: refuses the PTX: ptxas x.ptx, line 7; error   : "
                   "Not a name of any known instruction: 'mool'\n"
                   "note: ptxas fatal   : Ptx assembly aborted due to errors");

  file = makeScript("silent",
                    "case $1 in --version) echo 'release 13.5';; *) exit 1;; "
                    "esac\n");
  ptxas = Ptxas::open(file);
  ASSERT_TRUE(bool(ptxas));
  assembled = ptxas->assemble("", hopper);
  EXPECT_EQ(renderError(assembled.takeError()),
            file + ": error: failed without a message");
}

} // namespace
