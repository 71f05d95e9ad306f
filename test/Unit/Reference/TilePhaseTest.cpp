//===- TilePhaseTest.cpp - Barriers that count arrivals ---------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two roles that hand matrices on through a ring whose stages are guarded by
// phases, what is found where one of these is missing, and what parities mean.
//
//===----------------------------------------------------------------------===//

#include "TileTestUtils.h"

using namespace larc;
using namespace larc::test;

namespace {

class TilePhaseTest : public TileTest {
protected:
  /// Warps 0 and 1 copy the 32-row pieces of %a to a ring of three, warps 2 and
  /// 3 double 16 rows each of them into %b.
  struct Ring {
    std::string waitForSpace =
        "tile.phase_wait %empty[%stage] parity %other : !tile.phases<3 x 2>";
    std::string sayFull =
        "tile.phase_arrive %full[%stage] : !tile.phases<3 x 2, copies>";
    std::string waitForCopies = "tile.phase_wait %full[%stage] parity %parity "
                                ": !tile.phases<3 x 2, copies>";
    std::string sayEmpty =
        "tile.phase_arrive %empty[%stage] : !tile.phases<3 x 2>";

    std::string getBody() const {
      const std::string loop = R"(
        scf.for %t = %c0 to %tokens step %c32 {
          %piece = arith.divui %t, %c32 : index
          %stage = arith.remui %piece, %c3 : index
          %turn = arith.divui %piece, %c3 : index
          %parity = arith.remui %turn, %c2 : index
          %other = arith.subi %c1, %parity : index
          %s = tile.stage %ring[%stage] : !tile.shared<32x16xf32, stages = 3>
      )";
      return R"(
        %c3 = arith.constant 3 : index
        %tokens = tile.length
        %ring = tile.alloc : !tile.shared<32x16xf32, stages = 3>
        %full = tile.alloc_phases : !tile.phases<3 x 2, copies>
        %empty = tile.alloc_phases : !tile.phases<3 x 2>
        tile.role first 0 warps 2 {
        )" + loop +
             waitForSpace + R"(
          tile.copy_async %a[%t, %c0] below %tokens to %s : !tile.global<?x16xf32>, !tile.shared<32x16xf32>
          )" +
             sayFull + R"(
          }
        }
        tile.role first 2 warps 2 {
          %warp = tile.warp
          %first = arith.muli %warp, %c16 : index
        )" + loop +
             waitForCopies + R"(
          %x = tile.load %s[%first, %c0] : !tile.shared<32x16xf32> -> !tile.reg<16x16xf32, acc>
          )" +
             sayEmpty + R"(
          %y = tile.map (%e = %x) : (!tile.reg<16x16xf32, acc>) -> !tile.reg<16x16xf32, acc> {
            %z = arith.addf %e, %e : f32
            tile.yield %z : f32
          }
          %row = arith.addi %t, %first : index
          tile.store %y, %b[%row, %c0] below %tokens : !tile.reg<16x16xf32, acc>, !tile.global<?x16xf32>
          }
        })";
    }
  };

  static std::vector<TileMatrix> makeMatrices(int64_t tokens) {
    TileMatrix in = countMatrix(tokens, 16), out = zeroMatrix(tokens, 16);
    in.tokens = out.tokens = true;
    return {in, out};
  }

  void expectError(const Ring &ring, const std::string &message) {
    std::string error = getError(makeMatrices(300), 4, ring.getBody(), 300);
    EXPECT_NE(error.find(message), std::string::npos) << error;
  }

  /// The error of a body that has matrices %s and %t in shared memory, four
  /// barriers %p of one warp and %q of copies, and %x. Only warp 0 runs
  /// `first`, only warp 1 `second`.
  std::string check(const std::string &first, const std::string &second) {
    return getError({countMatrix(16, 16)}, 2,
                    replace(R"(
      %f0 = arith.constant 0.0 : f32
      %s = tile.alloc : $s
      %t = tile.alloc : $s
      %p = tile.alloc_phases : $p
      %q = tile.alloc_phases : $q
      %x = tile.splat %f0 : $r
      tile.role first 0 warps 1 {
    )" + first + "\n}\ntile.role first 1 warps 1 {\n" +
                            second + "\n}"));
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

  static std::string replace(std::string text) {
    const std::pair<const char *, const char *> names[] = {
        {"$s", "!tile.shared<16x16xf32>"},
        {"$p", "!tile.phases<4 x 1>"},
        {"$q", "!tile.phases<4 x 1, copies>"},
        {"$r", "!tile.reg<16x16xf32, acc>"},
        {"$g", "!tile.global<16x16xf32>"}};
    return replaceNames(std::move(text), names);
  }

  static std::string arrive(const std::string &phases = "p") {
    return "tile.phase_arrive %" + phases + "[%c0] : $" + phases + "\n";
  }
  static std::string wait(const std::string &parity,
                          const std::string &phases = "p") {
    return "tile.phase_wait %" + phases + "[%c0] parity " + parity + " : $" +
           phases + "\n";
  }
  static std::string store(const std::string &matrix) {
    return "tile.store %x, " + matrix + "[%c0, %c0] : $r, $s\n";
  }
  static std::string load(const std::string &matrix) {
    return "%y = tile.load " + matrix + "[%c0, %c0] : $s -> $r\n";
  }
  static constexpr const char *kCopy =
      "tile.copy_async %a[%c0, %c0] below %c16 to %s : $g, $s\n";
  static constexpr const char *kDeadlock = "waits for warps that do not come";
};

TEST_F(TilePhaseTest, GuardTheStagesOfARing) {
  for (int64_t tokens : {0, 1, 32, 33, 96, 97, 300}) {
    std::vector<TileMatrix> matrices = makeMatrices(tokens);
    run(matrices, 4, Ring().getBody(), tokens);
    for (int64_t i = 0; i < tokens * 16; ++i)
      ASSERT_EQ(matrices[1].values[i], 2.0 * matrices[0].values[i]) << i;
    // Three stages, and six barriers of 8 bytes.
    EXPECT_EQ(statistics.sharedBytes, 3 * 32 * 16 * 4 + 6 * 8);
  }
}

TEST_F(TilePhaseTest, MissedWaits) {
  Ring noWait;
  noWait.waitForCopies = "";
  expectError(noWait, "what is copied here may not have arrived: warp 2 has "
                      "not waited for the phase that ends when warp 0's share "
                      "has landed");
  Ring noSpace;
  noSpace.waitForSpace = "";
  expectError(noSpace, "what is copied here may not have arrived: warp 0");
  Ring wrongParity;
  wrongParity.waitForSpace =
      "tile.phase_wait %empty[%stage] parity %parity : !tile.phases<3 x 2>";
  expectError(wrongParity, kDeadlock);
}

TEST_F(TilePhaseTest, MissedArrivals) {
  Ring neverFull;
  neverFull.sayFull = "";
  expectError(neverFull, kDeadlock);
  Ring neverEmpty;
  neverEmpty.sayEmpty = "";
  expectError(neverEmpty, kDeadlock);
  // The stage is overwritten while it is read.
  Ring tooEarly;
  tooEarly.waitForCopies += "\n" + std::exchange(tooEarly.sayEmpty, "");
  expectError(tooEarly, "reads, and no barrier stands in between");
}

TEST_F(TilePhaseTest, Parities) {
  // A new barrier is in phase 0, before which one of parity 1 has ended.
  expectNone(wait("%c1"));
  expectError(wait("%c0"), "", kDeadlock);
  // Phase 0 has ended, then phase 1.
  expectNone(arrive() + wait("%c0"));
  expectError(arrive() + wait("%c1"), "", kDeadlock);
  expectNone(arrive() + arrive() + wait("%c1"));
  expectError(arrive() + arrive() + wait("%c0"), "", kDeadlock);
  expectNone(arrive() + arrive() + arrive() + wait("%c0"));
  // Whoever comes first.
  expectNone(wait("%c0") + wait("%c1"), arrive() + arrive());
  expectNone(arrive(), wait("%c0"));
}

TEST_F(TilePhaseTest, StagesAreApart) {
  expectError("tile.phase_arrive %p[%c1] : $p\n" + wait("%c0"), "", kDeadlock);
  expectNone("%c3 = arith.constant 3 : index\n"
             "tile.phase_arrive %p[%c3] : $p\n"
             "tile.phase_wait %p[%c3] parity %c0 : $p");
  expectError(arrive("q") + wait("%c0"), "", kDeadlock);
}

TEST_F(TilePhaseTest, Numbers) {
  expectError("tile.phase_arrive %p[%c4] : $p", "",
              "expected a stage below 4, found 4");
  expectError("tile.phase_wait %p[%c8] parity %c0 : $p", "",
              "expected a stage below 4, found 8");
  expectError(wait("%c2"), "", "expected a parity of 0 or 1, found 2");
}

TEST_F(TilePhaseTest, OrderWhatIsStored) {
  expectNone(store("%s") + arrive(), wait("%c0") + load("%s"));
  expectError(store("%s") + arrive(), load("%s"),
              "warp 1 reads what warp 0 wrote, and no barrier");
  // What is stored after the arrival.
  expectError(arrive() + store("%s"), wait("%c0") + load("%s"),
              "warp 1 reads what warp 0 wrote, and no barrier");
  // A wait that a new barrier lets pass orders nothing.
  expectError(store("%s") + arrive(), wait("%c1", "q") + load("%s"),
              "warp 1 reads what warp 0 wrote, and no barrier");
}

TEST_F(TilePhaseTest, PhasesOfOneParityAreAlike) {
  std::string thrice =
      store("%s") + arrive() + arrive() + store("%t") + arrive();
  expectNone(thrice, wait("%c0") + load("%s"));
  // It may have been phase 0 that let the warp pass, not phase 2.
  expectError(thrice, wait("%c0") + load("%t"),
              "warp 1 reads what warp 0 wrote, and no barrier");
}

TEST_F(TilePhaseTest, KnownPhasesAreBehind) {
  // That two phases have ended is known by another barrier.
  std::string first = arrive() + arrive() + "tile.phase_arrive %p[%c1] : $p\n" +
                      store("%t") + arrive();
  std::string second =
      "tile.phase_wait %p[%c1] parity %c0 : $p\n" + wait("%c0") + load("%t");
  expectNone(first, second);
}

TEST_F(TilePhaseTest, CopiesArriveByThemselves) {
  expectNone(kCopy + arrive("q"), wait("%c0", "q") + load("%s"));
  expectNone(kCopy + arrive("q") + wait("%c0", "q") + load("%s"));
  // They have not landed yet for the warp that started them, either.
  expectError(kCopy + arrive("q") + load("%s"), "",
              "what is copied here may not have arrived: warp 0 has not waited "
              "for the phase that ends when warp 0's share has landed");
  expectError(kCopy + arrive("p") + wait("%c0") + load("%s"), "",
              "what is copied here has not arrived");
  expectError(arrive("q") + kCopy + wait("%c0", "q") + load("%s"), "",
              "what is copied here has not arrived");
  // Groups are waited for as ever.
  expectNone(kCopy + std::string("tile.copy_commit\n") + arrive("q") +
             "tile.copy_wait 0\n" + load("%s"));
  // A later arrival waits for all copies before it.
  expectNone(kCopy + arrive("q") + "tile.phase_arrive %q[%c1] : $q\n",
             "tile.phase_wait %q[%c1] parity %c0 : $q\n" + load("%s"));
  expectError(kCopy + arrive("q") + "tile.phase_arrive %q[%c1] : $q\n",
              load("%s"), "warp 1 has not waited for the phase");
  // Copies alone are seen, not what the warp stored.
  expectError(store("%t") + kCopy + arrive("q"), wait("%c0", "q") + load("%t"),
              "warp 1 reads what warp 0 wrote, and no barrier");
}

} // namespace
