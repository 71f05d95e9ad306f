//===- TileMemoryTest.cpp - Control and memory of tile programs -*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileTestUtils.h"

using namespace larc;
using namespace larc::test;

namespace {

class TileMemoryTest : public TileTest {};

TEST_F(TileMemoryTest, LoopsCarryTiles) {
  // Running sums over tokens, four at a time, from row to row.
  std::vector<TileMatrix> matrices = {countMatrix(21, 8), zeroMatrix(21, 8)};
  matrices[0].tokens = matrices[1].tokens = true;
  run(matrices, 1, R"(
    %n = tile.length
    %f0 = arith.constant 0.0 : f32
    %z = tile.splat %f0 : !tile.reg<1x8xf32, cols rhs32>
    %last = scf.for %t = %c0 to %n step %c1 iter_args(%s = %z) -> !tile.reg<1x8xf32, cols rhs32> {
      %x = tile.load %a[%t, %c0] : !tile.global<?x8xf32> -> !tile.reg<1x8xf32, cols rhs32>
      %y = tile.map (%p = %s, %q = %x) : (!tile.reg<1x8xf32, cols rhs32>, !tile.reg<1x8xf32, cols rhs32>) -> !tile.reg<1x8xf32, cols rhs32> {
        %r = arith.addf %p, %q : f32
        tile.yield %r : f32
      }
      tile.store %y, %b[%t, %c0] : !tile.reg<1x8xf32, cols rhs32>, !tile.global<?x8xf32>
      scf.yield %y : !tile.reg<1x8xf32, cols rhs32>
    })",
      21);
  for (int64_t col = 0; col < 8; ++col) {
    double sum = 0;
    for (int64_t row = 0; row < 21; ++row) {
      sum += matrices[0].at(row, col);
      EXPECT_EQ(matrices[1].at(row, col), sum);
    }
  }
}

TEST_F(TileMemoryTest, LoopsSwapValues) {
  std::vector<TileMatrix> matrices = {zeroMatrix(1, 8)};
  run(matrices, 1, R"(
    %f1 = arith.constant 1.0 : f32
    %f2 = arith.constant 2.0 : f32
    %odd = arith.addi %c2, %c1 : index
    %p, %q = scf.for %i = %c0 to %odd step %c1 iter_args(%x = %f1, %y = %f2) -> (f32, f32) {
      scf.yield %y, %x : f32, f32
    }
    %none:2 = scf.for %i = %c1 to %c0 step %c1 iter_args(%x = %p, %y = %q) -> (f32, f32) {
      scf.yield %y, %x : f32, f32
    }
    %t = tile.splat %none#0 : !tile.reg<1x8xf32, cols rhs32>
    tile.store %t, %a[%c0, %c0] : !tile.reg<1x8xf32, cols rhs32>, !tile.global<1x8xf32>)");
  EXPECT_EQ(matrices[0].values[5], 2);
}

TEST_F(TileMemoryTest, BranchesByWarpAndPart) {
  std::vector<TileMatrix> matrices = {zeroMatrix(4, 8)};
  run(matrices, 4, R"(
    %warp = tile.warp
    %part = tile.part
    %even = arith.remui %warp, %c2 : index
    %isEven = arith.cmpi eq, %even, %c0 : index
    %base = scf.if %isEven -> (index) {
      scf.yield %c32 : index
    } else {
      scf.yield %c64 : index
    }
    %isLast = arith.cmpi sgt, %warp, %c2 : index
    %sum = arith.addi %base, %part : index
    %i = arith.index_cast %sum : index to i32
    %f = arith.sitofp %i : i32 to f32
    %t = tile.splat %f : !tile.reg<1x8xf32, cols rhs32>
    scf.if %isLast {
    } else {
      tile.store %t, %a[%warp, %c0] : !tile.reg<1x8xf32, cols rhs32>, !tile.global<4x8xf32>
    })",
      0, 3);
  EXPECT_EQ(matrices[0].at(0, 7), 35);
  EXPECT_EQ(matrices[0].at(1, 7), 67);
  EXPECT_EQ(matrices[0].at(2, 7), 35);
  EXPECT_EQ(matrices[0].at(3, 7), 0);
}

TEST_F(TileMemoryTest, EdgesAreZero) {
  // 13 tokens of 5 channels in tiles of 16 x 8, below 11.
  std::vector<TileMatrix> matrices = {countMatrix(13, 5), zeroMatrix(16, 8),
                                      countMatrix(13, 5)};
  matrices[0].tokens = matrices[2].tokens = true;
  matrices[1].values.assign(16 * 8, -1.0);
  run(matrices, 1, R"(
    %b10 = arith.addi %c8, %c2 : index
    %below = arith.addi %b10, %c1 : index
    %x = tile.load %a[%c0, %c0] below %below : !tile.global<?x5xf32> -> !tile.reg<16x8xf32, acc>
    tile.store %x, %b[%c0, %c0] : !tile.reg<16x8xf32, acc>, !tile.global<16x8xf32>
    %f7 = arith.constant 7.0 : f32
    %y = tile.splat %f7 : !tile.reg<16x8xf32, acc>
    tile.store %y, %c[%c0, %c0] below %below : !tile.reg<16x8xf32, acc>, !tile.global<?x5xf32>)",
      13);
  for (int64_t i = 0; i < 16; ++i)
    for (int64_t j = 0; j < 8; ++j)
      EXPECT_EQ(matrices[1].at(i, j), i < 11 && j < 5 ? i * 5 + j : 0);
  for (int64_t i = 0; i < 13; ++i)
    for (int64_t j = 0; j < 5; ++j)
      EXPECT_EQ(matrices[2].at(i, j), i < 11 ? 7 : i * 5 + j);
}

/// A pipeline of copies, two stages ahead, by four warps; each stores four
/// rows of each 16.
const char *pipeline = R"(
    %warp = tile.warp
    %n = tile.length
    %c3 = arith.constant 3 : index
    %ring = tile.alloc : !tile.shared<16x40xbf16, swizzle = 128, stages = 3>
    %row = arith.muli %warp, %c4 : index
    %s0 = tile.stage %ring[%c0] : !tile.shared<16x40xbf16, swizzle = 128, stages = 3>
    tile.copy_async %a[%c0, %c0] below %n to %s0 : !tile.global<?x40xbf16>, !tile.shared<16x40xbf16, swizzle = 128>
    tile.copy_commit
    %s1 = tile.stage %ring[%c1] : !tile.shared<16x40xbf16, swizzle = 128, stages = 3>
    tile.copy_async %a[%c16, %c0] below %n to %s1 : !tile.global<?x40xbf16>, !tile.shared<16x40xbf16, swizzle = 128>
    tile.copy_commit
    scf.for %t = %c0 to %n step %c16 {
      %i = arith.divui %t, %c16 : index
      %here = arith.remui %i, %c3 : index
      %i2 = arith.addi %i, %c2 : index
      %there = arith.remui %i2, %c3 : index
      tile.copy_wait 1
      tile.barrier
      %next = tile.stage %ring[%there] : !tile.shared<16x40xbf16, swizzle = 128, stages = 3>
      %token = arith.muli %i2, %c16 : index
      tile.copy_async %a[%token, %c0] below %n to %next : !tile.global<?x40xbf16>, !tile.shared<16x40xbf16, swizzle = 128>
      tile.copy_commit
      %now = tile.stage %ring[%here] : !tile.shared<16x40xbf16, swizzle = 128, stages = 3>
      %x = tile.load %now[%row, %c0] : !tile.shared<16x40xbf16, swizzle = 128> -> !tile.reg<4x40xbf16, lane = [0, 1, 0, 2, 0, 4, 1, 0, 2, 0], register = []>
      %to = arith.addi %t, %row : index
      tile.store %x, %b[%to, %c0] below %n : !tile.reg<4x40xbf16, lane = [0, 1, 0, 2, 0, 4, 1, 0, 2, 0], register = []>, !tile.global<?x40xbf16>
    })";

TEST_F(TileMemoryTest, CopiesWithTails) {
  for (int64_t length : {0, 1, 15, 16, 17, 50, 64}) {
    std::vector<TileMatrix> matrices = {
        randomMatrix(length, 40, 1, DType::BF16),
        zeroMatrix(length, 40, DType::BF16)};
    matrices[0].tokens = matrices[1].tokens = true;
    run(matrices, 4, pipeline, length);
    EXPECT_EQ(matrices[0].values, matrices[1].values) << length;
    EXPECT_EQ(statistics.globalBytesRead, length * 40 * 2);
    EXPECT_EQ(statistics.meetings, (length + 15) / 16);
    EXPECT_EQ(statistics.sharedBytes, 3 * 16 * 128);
  }
}

TEST_F(TileMemoryTest, CopiesZeroWhatIsOutside) {
  std::vector<TileMatrix> matrices = {countMatrix(10, 5), zeroMatrix(16, 8)};
  matrices[0].tokens = true;
  matrices[1].values.assign(16 * 8, -1.0);
  run(matrices, 1, R"(
    %n = tile.length
    %s = tile.alloc : !tile.shared<16x8xf32, pad = 4>
    tile.copy_async %a[%c2, %c1] below %n to %s : !tile.global<?x5xf32>, !tile.shared<16x8xf32, pad = 4>
    tile.copy_commit
    tile.copy_wait 0
    %x = tile.load %s[%c0, %c0] : !tile.shared<16x8xf32, pad = 4> -> !tile.reg<16x8xf32, acc>
    tile.store %x, %b[%c0, %c0] : !tile.reg<16x8xf32, acc>, !tile.global<16x8xf32>)",
      10);
  for (int64_t i = 0; i < 16; ++i)
    for (int64_t j = 0; j < 8; ++j)
      EXPECT_EQ(matrices[1].at(i, j),
                i + 2 < 10 && j + 1 < 5 ? (i + 2) * 5 + j + 1 : 0);
}

TEST_F(TileMemoryTest, WarpsMeetInPairs) {
  // Warps 2i and 2i + 1 give each other a row.
  std::vector<TileMatrix> matrices = {zeroMatrix(4, 8)};
  run(matrices, 4, R"(
    %warp = tile.warp
    %s = tile.alloc : !tile.shared<4x8xf32>
    %pair = arith.divui %warp, %c2 : index
    %id = arith.addi %pair, %c1 : index
    %i = arith.index_cast %warp : index to i32
    %f = arith.sitofp %i : i32 to f32
    %x = tile.splat %f : !tile.reg<1x8xf32, cols rhs32>
    tile.store %x, %s[%warp, %c0] : !tile.reg<1x8xf32, cols rhs32>, !tile.shared<4x8xf32>
    tile.barrier id %id warps 2
    %other = arith.xori %warp, %c1 : index
    %y = tile.load %s[%other, %c0] : !tile.shared<4x8xf32> -> !tile.reg<1x8xf32, cols rhs32>
    tile.store %y, %a[%warp, %c0] : !tile.reg<1x8xf32, cols rhs32>, !tile.global<4x8xf32>)");
  for (int64_t i = 0; i < 4; ++i)
    EXPECT_EQ(matrices[0].at(i, 3), i ^ 1);
  EXPECT_EQ(statistics.meetings, 2);
}

TEST_F(TileMemoryTest, Votes) {
  for (const char *kind : {"all", "any"}) {
    for (int64_t odd : {-1, 0, 40, 63}) {
      std::vector<TileMatrix> matrices = {zeroMatrix(64, 1), zeroMatrix(4, 8)};
      if (odd >= 0)
        matrices[0].values[odd] = 1;
      run(matrices, 4,
          std::string(R"(
        %warp = tile.warp
        %row = arith.muli %warp, %c16 : index
        %x = tile.load %a[%row, %c0] : !tile.global<64x1xf32> -> !tile.reg<16x1xf32, rows acc>
        %p = tile.map (%e = %x) : (!tile.reg<16x1xf32, rows acc>) -> !tile.reg<16x1xi1, rows acc> {
          %z = arith.constant 0.0 : f32
          %q = arith.cmpf )") +
              (kind[1] == 'l' ? "oeq" : "une") +
              R"(, %e, %z : f32
          tile.yield %q : i1
        }
        %v = tile.vote )" +
              kind + R"( %p : !tile.reg<16x1xi1, rows acc>
        %f = arith.uitofp %v : i1 to f32
        %t = tile.splat %f : !tile.reg<1x8xf32, cols rhs32>
        tile.store %t, %b[%warp, %c0] : !tile.reg<1x8xf32, cols rhs32>, !tile.global<4x8xf32>)");
      bool holds = (kind[1] == 'l') == (odd < 0);
      EXPECT_EQ(matrices[1].values, std::vector<double>(32, holds ? 1 : 0));
    }
  }
}

/// Each segment keeps its own rows, doubled; the last to run, the first one,
/// writes what all have kept.
TEST_F(TileMemoryTest, SegmentsShareScratch) {
  std::vector<TileMatrix> matrices = {countMatrix(48, 8), zeroMatrix(48, 8),
                                      zeroMatrix(48, 8)};
  matrices[0].tokens = matrices[1].tokens = true;
  matrices[2].recordRows = 16;
  segments = 3;
  for (segment = 2; segment >= 0; --segment)
    run(matrices, 1, R"(
      %number = tile.segment
      %count = tile.segments
      %tokens = tile.length
      %row = arith.muli %number, %c16 : index
      %x = tile.load %a[%row, %c0] below %tokens : !tile.global<?x8xf32> -> !tile.reg<16x8xf32, acc>
      %y = tile.map (%e = %x) : (!tile.reg<16x8xf32, acc>) -> !tile.reg<16x8xf32, acc> {
        %d = arith.addf %e, %e : f32
        tile.yield %d : f32
      }
      tile.store %y, %c[%row, %c0] : !tile.reg<16x8xf32, acc>, !tile.global<16x8xf32>
      %first = arith.cmpi eq, %number, %c0 : index
      scf.if %first {
        scf.for %k = %c0 to %count step %c1 {
          %from = arith.muli %k, %c16 : index
          %r = tile.load %c[%from, %c0] : !tile.global<16x8xf32> -> !tile.reg<16x8xf32, acc>
          tile.store %r, %b[%from, %c0] below %tokens : !tile.reg<16x8xf32, acc>, !tile.global<?x8xf32>
        }
      })",
        48);
  for (size_t i = 0; i < 48 * 8; ++i)
    ASSERT_EQ(matrices[1].values[i], 2.0 * static_cast<double>(i)) << i;
}

} // namespace
