//===- TileBulkCopyTest.cpp - Copies of the copy unit -----------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the copy unit brings, in which order with what warps do, and what is
// found where they do not wait for it, or it not for them.
//
//===----------------------------------------------------------------------===//

#include "TileTestUtils.h"

using namespace larc;
using namespace larc::test;

namespace {

class TileBulkCopyTest : public TileTest {
protected:
  static std::string replace(std::string text) {
    const std::pair<const char *, const char *> names[] = {
        {"$s", "!tile.shared<16x32xf32, swizzle = 128>"},
        {"$p", "!tile.phases<4 x 1>"},
        {"$t", "!tile.phases<4 x 2>"},
        {"$r", "!tile.reg<16x32xf32, acc>"},
        {"$g", "!tile.global<?x$cxf32>"}};
    return replaceNames(std::move(text), names);
  }

  /// The program of two warps, of which only warp 0 runs `first` and only warp
  /// 1 `second`, with matrices %s and %t in shared memory, barriers %p of one
  /// warp and %q of two, and %x. What is copied is a matrix %a of `cols`
  /// columns.
  static std::string getBody(const std::string &first,
                             const std::string &second, int64_t cols) {
    std::string text = replace(R"(
      %f0 = arith.constant 7.0 : f32
      %s = tile.alloc : $s
      %t = tile.alloc : $s
      %p = tile.alloc_phases : $p
      %q = tile.alloc_phases : $t
      %x = tile.splat %f0 : $r
      %tokens = tile.length
      tile.role first 0 warps 1 {
    )" + first + "\n}\ntile.role first 1 warps 1 {\n" +
                               second + "\n}");
    for (size_t at; (at = text.find("$c")) != std::string::npos;)
      text.replace(at, 2, std::to_string(cols));
    return text;
  }
  static std::vector<TileMatrix> makeMatrices(int64_t tokens, int64_t cols) {
    TileMatrix in = countMatrix(tokens, cols), out = zeroMatrix(16, 32);
    in.tokens = true;
    in.boxRows = 16;
    return {in, out};
  }
  std::string check(const std::string &first, const std::string &second) {
    return getError(makeMatrices(16, 32), 2, getBody(first, second, 32), 16);
  }
  void expectNone(const std::string &first, const std::string &second = "") {
    EXPECT_EQ(check(first, second), "");
  }
  void expectError(const std::string &first, const std::string &second,
                   const std::string &message) {
    std::string error = check(first, second);
    EXPECT_NE(error.find(message), std::string::npos)
        << "found '" << error << "', expected '" << message << "'";
  }

  static std::string copy(const std::string &phases = "p",
                          const std::string &stage = "%c0",
                          const std::string &matrix = "%s") {
    return "tile.copy_bulk %a[%c0, %c0] to " + matrix + " on %" + phases + "[" +
           stage + "] : $g, $s, " + getType(phases) + "\n";
  }
  static std::string arrive(const std::string &phases = "p",
                            const std::string &stage = "%c0") {
    return "tile.phase_arrive %" + phases + "[" + stage +
           "] : " + getType(phases) + "\n";
  }
  static std::string wait(const std::string &phases = "p",
                          const std::string &stage = "%c0",
                          const std::string &parity = "%c0") {
    return "tile.phase_wait %" + phases + "[" + stage + "] parity " + parity +
           " : " + getType(phases) + "\n";
  }
  static std::string getType(const std::string &phases) {
    return phases == "p" ? "$p" : "$t";
  }
  static std::string store() {
    return "tile.store %x, %s[%c0, %c0] : $r, $s\n";
  }
  static std::string load(const std::string &matrix = "%s") {
    return "%y = tile.load " + matrix + "[%c0, %c0] : $s -> $r\n";
  }
};

/// Rows beyond the sequence's end and columns that do not exist are zeros.
TEST_F(TileBulkCopyTest, BringsWhatThereIs) {
  for (auto [tokens, cols] :
       {std::pair(16, 32), {16, 20}, {5, 32}, {1, 4}, {40, 32}}) {
    SCOPED_TRACE(std::to_string(tokens) + " " + std::to_string(cols));
    std::vector<TileMatrix> matrices = makeMatrices(tokens, cols);
    run(matrices, 2,
        getBody(copy() + arrive(),
                wait() + load() +
                    "tile.store %y, %b[%c0, %c0] : $r, !tile.global<16x32xf32>",
                cols),
        tokens);
    for (int64_t i = 0; i < 16 * 32; ++i) {
      int64_t row = i / 32, col = i % 32;
      bool exists = row < tokens && col < cols;
      ASSERT_EQ(matrices[1].values[i], exists ? matrices[0].at(row, col) : 0)
          << i;
    }
    EXPECT_EQ(statistics.globalBytesRead, std::min(tokens, 16) * cols * 4);
  }
}

TEST_F(TileBulkCopyTest, Waits) {
  const std::string start = copy() + arrive();
  expectNone(start, wait() + load());
  expectNone(start + wait() + load());
  const std::string missed = "has not waited for the phase in which it lands";
  expectError(start, load(), "warp 1 " + missed);
  // Not even who started it knows.
  expectError(start + load(), "", "warp 0 " + missed);
  expectError(start + store(), "", "warp 0 " + missed);
  expectError(start + copy(), "", "warp 0 " + missed);
  // Copies land in any order.
  const std::string two =
      copy() + arrive() + copy("p", "%c1", "%t") + arrive("p", "%c1");
  expectNone(two, wait() + load() + wait("p", "%c1"));
  expectError(two, wait("p", "%c1") + load(), "warp 1 " + missed);
  // Whoever has waited hands it on.
  expectNone(start + wait() + arrive("p", "%c2"), wait("p", "%c2") + load());
}

TEST_F(TileBulkCopyTest, ArrivalsComeAfterwards) {
  const std::string early = "counts its bytes in a phase that may end without";
  expectNone(copy("q") + arrive("q"), arrive("q") + wait("q") + load());
  expectError(copy("q"), arrive("q") + arrive("q"), early);
  expectError(arrive("q") + copy("q") + wait("q"), arrive("q"), early);
  expectError(copy() + wait(), "", "waits for warps that do not come");
  expectError("tile.copy_bulk %a[%c0, %c0] to %s on %p[%c4] : $g, $s, $p", "",
              "expected a stage below 4, found 4");
}

TEST_F(TileBulkCopyTest, OverwritesWhatIsFenced) {
  const std::string hand = arrive("p", "%c1"), take = wait("p", "%c1");
  const std::string start = copy() + arrive() + wait() + load();
  expectNone(store() + "tile.fence_async\n" + hand, take + start);
  expectError(store() + hand, take + start,
              "the copy unit writes over what warp 0 stored, and no "
              "tile.fence_async stands in between");
  // The fence is the writer's.
  expectError(store() + hand, take + "tile.fence_async\n" + start,
              "the copy unit writes over what warp 0 stored");
  expectError(store() + "tile.fence_async\n", start,
              "warp 1 writes what warp 0 wrote, and no barrier");
  // What others read is theirs until they say that they have.
  const std::string again = copy() + arrive() + wait("p", "%c0", "%c0");
  expectNone(again + arrive("p", "%c1") + wait("p", "%c2") + copy() + arrive(),
             take + load() + arrive("p", "%c2"));
  expectError(again + arrive("p", "%c1") + wait("p", "%c2") + copy() + arrive(),
              take + arrive("p", "%c2") + load(),
              "warp 0 writes what warp 1 reads, and no barrier");
}

} // namespace
