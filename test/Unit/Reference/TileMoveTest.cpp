//===- TileMoveTest.cpp - Rows that are moved -------------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exchanges and picks, of all distances and numbers, and where lanes and
// registers take elements from by the layout alone.
//
//===----------------------------------------------------------------------===//

#include "TileTestUtils.h"

using namespace larc;
using namespace larc::test;
using namespace larc::tile;
using namespace mlir;

namespace {

class TileMoveTest : public TileTest {
protected:
  /// Tiles of accumulators, of their slices, and of operands.
  std::vector<RegType> getTiles(Type element) {
    LayoutAttr acc = LayoutAttr::getAcc(&context);
    LayoutAttr rows = acc.getSlice(Dimension::Rows);
    LayoutAttr cols = acc.getSlice(Dimension::Cols);
    auto get = [&](int64_t down, int64_t across, LayoutAttr layout) {
      return RegType::get(&context, down, across, element, layout);
    };
    return {get(16, 8, acc),
            get(16, 16, acc),
            get(32, 16, acc),
            get(64, 32, acc),
            get(32, 1, rows),
            get(1, 32, cols),
            get(16, 32, LayoutAttr::getLhs(&context)),
            get(32, 16, LayoutAttr::getRhs(&context)),
            get(16, 16, LayoutAttr::getLhs(&context, 32)),
            get(16, 16, LayoutAttr::getBlocked(&context, 4, 8, 2))};
  }

  static std::string getMemory(RegType type) {
    return "!tile.global<" + std::to_string(type.getRows()) + "x" +
           std::to_string(type.getCols()) + "x" + print(type.getElementType()) +
           ">";
  }

  /// %b = the operation `text` of what is in %a.
  TileMatrix apply(TileMatrix matrix, RegType from, RegType to,
                   const std::string &text) {
    std::vector<TileMatrix> matrices = {
        std::move(matrix), zeroMatrix(to.getRows(), to.getCols(), DType::F32)};
    matrices[1].type = matrices[0].type;
    run(matrices, 1,
        "%x = tile.load %a[%c0, %c0] : " + getMemory(from) + " -> " +
            print(from) + "\n%y = " + text + " : " + print(from) +
            "\ntile.store %y, %b[%c0, %c0] : " + print(to) + ", " +
            getMemory(to));
    return matrices[1];
  }
};

constexpr Dimension kDimensions[] = {Dimension::Rows, Dimension::Cols};

TEST_F(TileMoveTest, Exchanges) {
  for (DType element : {DType::F32, DType::BF16}) {
    Type mlirType = element == DType::F32 ? Type(Float32Type::get(&context))
                                          : Type(BFloat16Type::get(&context));
    for (RegType type : getTiles(mlirType)) {
      TileMatrix in = randomMatrix(type.getRows(), type.getCols(), 1, element);
      for (Dimension along : kDimensions) {
        bool rows = along == Dimension::Rows;
        int64_t extent = rows ? type.getRows() : type.getCols();
        for (int64_t distance = 1; distance < extent; distance *= 2) {
          TileMatrix out = apply(in, type, type,
                                 "tile.exchange %x along " +
                                     stringifyDimension(along).str() +
                                     " distance " + std::to_string(distance));
          for (int64_t i = 0; i < type.getRows(); ++i)
            for (int64_t j = 0; j < type.getCols(); ++j)
              ASSERT_EQ(out.at(i, j),
                        rows ? in.at(i ^ distance, j) : in.at(i, j ^ distance))
                  << print(type) << " " << distance;
        }
      }
    }
  }
}

TEST_F(TileMoveTest, Picks) {
  for (RegType type : getTiles(Float32Type::get(&context))) {
    TileMatrix in = countMatrix(type.getRows(), type.getCols());
    for (Dimension along : kDimensions) {
      bool rows = along == Dimension::Rows;
      RegType slice = type.getSlice(rows ? Dimension::Cols : Dimension::Rows);
      int64_t extent = rows ? type.getRows() : type.getCols();
      for (int64_t number = 0; number < extent; ++number) {
        TileMatrix out =
            apply(in, type, slice,
                  "tile.pick %x[" + std::to_string(number) + "] along " +
                      stringifyDimension(along).str());
        for (int64_t i = 0; i < slice.getRows(); ++i)
          for (int64_t j = 0; j < slice.getCols(); ++j)
            ASSERT_EQ(out.at(i, j), rows ? in.at(number, j) : in.at(i, number))
                << print(type) << " " << number;
      }
    }
  }
}

/// All lanes that hold a picked row have it: a map uses their copies.
TEST_F(TileMoveTest, PicksAreBroadcast) {
  std::vector<TileMatrix> matrices = {countMatrix(32, 16), zeroMatrix(32, 16)};
  run(matrices, 1, R"(
    %x = tile.load %a[%c0, %c0] : !tile.global<32x16xf32> -> !tile.reg<32x16xf32, acc>
    %last = tile.pick %x[31] along rows : !tile.reg<32x16xf32, acc>
    %third = tile.pick %x[3] along cols : !tile.reg<32x16xf32, acc>
    %y = tile.map (%row = %last, %col = %third) : (!tile.reg<1x16xf32, cols acc>, !tile.reg<32x1xf32, rows acc>) -> !tile.reg<32x16xf32, acc> {
      %z = arith.subf %row, %col : f32
      tile.yield %z : f32
    }
    tile.store %y, %b[%c0, %c0] : !tile.reg<32x16xf32, acc>, !tile.global<32x16xf32>)");
  for (int64_t i = 0; i < 32; ++i)
    for (int64_t j = 0; j < 16; ++j)
      ASSERT_EQ(matrices[1].at(i, j),
                matrices[0].at(31, j) - matrices[0].at(i, 3));
}

/// What the GPU's instructions are chosen by: a distance is that of one bit of
/// the lane's number, or the same register is asked for in all lanes.
TEST_F(TileMoveTest, DistancesAreBits) {
  for (RegType type : getTiles(Float32Type::get(&context))) {
    for (Dimension along : kDimensions) {
      bool rows = along == Dimension::Rows;
      int64_t extent = rows ? type.getRows() : type.getCols();
      for (int64_t distance = 1; distance < extent; distance *= 2) {
        int64_t lanes = 0;
        for (int64_t bit = 0; bit < 5; ++bit)
          if (type.getLayout().getLanes()[2 * bit + (rows ? 0 : 1)] == distance)
            lanes |= int64_t(1) << bit;
        for (int64_t reg = 0; reg < type.getNumRegisters(); ++reg) {
          std::optional<int64_t> source;
          for (int64_t lane = 0; lane < 32; ++lane) {
            auto [row, col] = type.getElement(lane, reg);
            (rows ? row : col) ^= distance;
            int64_t other = 0;
            while (type.getElement(lane ^ lanes, other) != std::pair(row, col))
              ASSERT_LT(++other, type.getNumRegisters()) << print(type);
            EXPECT_EQ(source.value_or(other), other) << print(type);
            source = other;
          }
          if (lanes != 0)
            EXPECT_EQ(source, reg) << print(type);
        }
      }
    }
  }
}

TEST_F(TileMoveTest, SyncWarp) {
  std::vector<TileMatrix> matrices = {countMatrix(16, 16), zeroMatrix(16, 16)};
  run(matrices, 1, R"(
    %s = tile.alloc : !tile.shared<16x16xf32>
    %x = tile.load %a[%c0, %c0] : !tile.global<16x16xf32> -> !tile.reg<16x16xf32, acc>
    tile.store %x, %s[%c0, %c0] : !tile.reg<16x16xf32, acc>, !tile.shared<16x16xf32>
    tile.sync_warp
    %y = tile.load %s[%c0, %c0] transposed : !tile.shared<16x16xf32> -> !tile.reg<16x16xf32, acc>
    tile.store %y, %b[%c0, %c0] : !tile.reg<16x16xf32, acc>, !tile.global<16x16xf32>)");
  for (int64_t i = 0; i < 16; ++i)
    for (int64_t j = 0; j < 16; ++j)
      ASSERT_EQ(matrices[1].at(i, j), matrices[0].at(j, i));
}

} // namespace
