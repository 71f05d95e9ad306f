//===- TileRoleTest.cpp - Warps with roles -*- C++ -*- --------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two roles that hand matrices on through a ring of two, and what is found
// where one of their barriers is missing.
//
//===----------------------------------------------------------------------===//

#include "TileTestUtils.h"

using namespace larc;
using namespace larc::test;

namespace {

class TileRoleTest : public TileTest {
protected:
  /// Warp 0 copies the 16-row pieces of %a to shared memory, warp 1 doubles
  /// them into %b. `ready` is what warp 0 does once a piece is there, `free`
  /// what it does before it overwrites one.
  static std::string makeBody(const std::string &ready,
                              const std::string &free) {
    return R"(
      %tokens = tile.length
      %ring = tile.alloc : !tile.shared<16x16xf32, stages = 2>
      tile.role first 0 warps 1 {
        scf.for %t = %c0 to %tokens step %c16 {
          %piece = arith.divui %t, %c16 : index
          %parity = arith.remui %piece, %c2 : index
          %full = arith.addi %parity, %c1 : index
          %empty = arith.addi %full, %c2 : index
          %late = arith.cmpi uge, %piece, %c2 : index
          scf.if %late {
            )" +
           free + R"(
          }
          %s = tile.stage %ring[%parity] : !tile.shared<16x16xf32, stages = 2>
          tile.copy_async %a[%t, %c0] below %tokens to %s : !tile.global<?x16xf32>, !tile.shared<16x16xf32>
          tile.copy_commit
          tile.copy_wait 0
          )" +
           ready + R"(
        }
      }
      tile.role first 1 warps 1 {
        %number = tile.warp
        scf.for %t = %c0 to %tokens step %c16 {
          %piece = arith.divui %t, %c16 : index
          %parity = arith.remui %piece, %c2 : index
          %full = arith.addi %parity, %c1 : index
          %empty = arith.addi %full, %c2 : index
          tile.barrier id %full warps 2
          %s = tile.stage %ring[%parity] : !tile.shared<16x16xf32, stages = 2>
          %x = tile.load %s[%c0, %c0] : !tile.shared<16x16xf32> -> !tile.reg<16x16xf32, acc>
          %y = tile.map (%e = %x) : (!tile.reg<16x16xf32, acc>) -> !tile.reg<16x16xf32, acc> {
            %z = arith.addf %e, %e : f32
            tile.yield %z : f32
          }
          %row = arith.addi %t, %number : index
          tile.store %y, %b[%row, %c0] below %tokens : !tile.reg<16x16xf32, acc>, !tile.global<?x16xf32>
          tile.arrive id %empty warps 2
        }
      })";
  }
  static constexpr const char *kReady = "tile.arrive id %full warps 2";
  static constexpr const char *kFree = "tile.barrier id %empty warps 2";

  static std::vector<TileMatrix> makeMatrices(int64_t tokens) {
    TileMatrix in = countMatrix(tokens, 16), out = zeroMatrix(tokens, 16);
    in.tokens = out.tokens = true;
    return {in, out};
  }
};

TEST_F(TileRoleTest, HandOnThroughARing) {
  for (int64_t tokens : {0, 1, 16, 33, 80}) {
    std::vector<TileMatrix> matrices = makeMatrices(tokens);
    run(matrices, 2, makeBody(kReady, kFree), tokens);
    for (int64_t i = 0; i < tokens * 16; ++i)
      ASSERT_EQ(matrices[1].values[i], 2.0 * matrices[0].values[i]) << i;
  }
}

TEST_F(TileRoleTest, WantASignThatAPieceIsThere) {
  std::string error = getError(makeMatrices(80), 2, makeBody("", kFree), 80);
  EXPECT_NE(error.find("waits for warps that do not come"), std::string::npos)
      << error;
}

TEST_F(TileRoleTest, WantASignThatAPieceIsDone) {
  // Warp 0 comes to the barrier of a piece twice before warp 1 does once.
  std::string error = getError(makeMatrices(80), 2, makeBody(kReady, ""), 80);
  EXPECT_FALSE(error.empty());
}

TEST_F(TileRoleTest, MeetInTheNumbersSaid) {
  std::string error = getError(
      makeMatrices(80), 2, makeBody("tile.arrive id %full warps 1", kFree), 80);
  EXPECT_FALSE(error.empty());
}

} // namespace
