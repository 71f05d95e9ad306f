//===- TileLayoutTest.cpp - Where elements of tiles are ---------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileTestUtils.h"

#include <map>
#include <set>

using namespace larc;
using namespace larc::test;
using namespace larc::tile;
using namespace mlir;

namespace {

class TileLayoutTest : public TileTest {
protected:
  /// The layouts of the matrix units, blocked ones, and slices of all.
  std::vector<LayoutAttr> getLayouts() {
    std::vector<LayoutAttr> layouts = {
        LayoutAttr::getAcc(&context), LayoutAttr::getLhs(&context),
        LayoutAttr::getRhs(&context), LayoutAttr::getLhs(&context, 32),
        LayoutAttr::getRhs(&context, 32)};
    for (auto [rows, cols] : {std::pair(1, 1),
                              {1, 64},
                              {16, 1},
                              {4, 8},
                              {16, 16},
                              {2, 128},
                              {64, 4}})
      for (int64_t vector : {1, 2, 4, 8})
        layouts.push_back(LayoutAttr::getBlocked(&context, rows, cols, vector));
    for (LayoutAttr layout : std::vector<LayoutAttr>(layouts))
      for (Dimension kept : {Dimension::Rows, Dimension::Cols})
        layouts.push_back(layout.getSlice(kept));
    return layouts;
  }

  RegType getTile(LayoutAttr layout, int64_t down, int64_t across,
                  Type element = {}) {
    return RegType::get(&context, layout.getCellRows() * down,
                        layout.getCellCols() * across,
                        element ? element : Float32Type::get(&context), layout);
  }

  std::string load(const std::string &memory, StringRef memoryType,
                   RegType type, bool transposed = false) {
    return "tile.load " + memory + "[%c0, %c0] " +
           (transposed ? "transposed : " : ": ") + memoryType.str() + " -> " +
           print(type) + "\n";
  }
  std::string store(const std::string &memory, StringRef memoryType,
                    RegType type, bool transposed = false) {
    return "tile.store %x, " + memory + "[%c0, %c0] " +
           (transposed ? "transposed : " : ": ") + print(type) + ", " +
           memoryType.str() + "\n";
  }
};

TEST_F(TileLayoutTest, EveryElementHasAsManyLanes) {
  for (LayoutAttr layout : getLayouts()) {
    for (auto [down, across] : {std::pair(1, 1), {2, 3}}) {
      RegType type = getTile(layout, down, across);
      std::map<std::pair<int64_t, int64_t>, int64_t> holders;
      for (int64_t lane = 0; lane < 32; ++lane)
        for (int64_t reg = 0; reg < type.getNumRegisters(); ++reg)
          ++holders[type.getElement(lane, reg)];
      int64_t size = type.getRows() * type.getCols();
      EXPECT_EQ(static_cast<int64_t>(holders.size()), size) << print(type);
      for (auto [place, count] : holders) {
        EXPECT_TRUE(place.first >= 0 && place.first < type.getRows() &&
                    place.second >= 0 && place.second < type.getCols())
            << print(type);
        EXPECT_EQ(count * size, 32 * type.getNumRegisters()) << print(type);
      }
    }
  }
}

TEST_F(TileLayoutTest, LoadsAndStores) {
  for (LayoutAttr layout : getLayouts()) {
    for (bool readAcross : {false, true}) {
      for (bool writeAcross : {false, true}) {
        RegType type = getTile(layout, 2, 1);
        int64_t rows = type.getRows(), cols = type.getCols();
        TileMatrix a =
            readAcross ? countMatrix(cols, rows) : countMatrix(rows, cols);
        std::vector<TileMatrix> matrices = {
            a, writeAcross ? zeroMatrix(cols, rows) : zeroMatrix(rows, cols)};
        auto getType = [](const TileMatrix &matrix) {
          return "!tile.global<" + std::to_string(matrix.rows) + "x" +
                 std::to_string(matrix.cols) + "xf32>";
        };
        run(matrices, 1,
            "%x = " + load("%a", getType(a), type, readAcross) +
                store("%b", getType(matrices[1]), type, writeAcross));
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < cols; ++j)
            ASSERT_EQ(readAcross ? a.at(j, i) : a.at(i, j),
                      writeAcross ? matrices[1].at(j, i) : matrices[1].at(i, j))
                << print(type) << " " << i << " " << j;
        EXPECT_EQ(statistics.globalBytesRead, rows * cols * 4);
        EXPECT_EQ(statistics.globalBytesWritten, rows * cols * 4);
      }
    }
  }
}

TEST_F(TileLayoutTest, SharedMemory) {
  for (DType type : {DType::BF16, DType::F16, DType::F32, DType::F64}) {
    for (StringRef how : {"", ", pad = 2", ", swizzle = 32", ", swizzle = 64",
                          ", swizzle = 128"}) {
      std::string name = getName(type).str();
      std::string shared = "!tile.shared<32x64x" + name + how.str() + ">";
      std::string global = "!tile.global<32x64x" + name + ">";
      std::string reg = "!tile.reg<32x64x" + name + ", acc>";
      std::string across = "!tile.reg<64x32x" + name + ", acc>";
      std::vector<TileMatrix> matrices = {randomMatrix(32, 64, 1, type),
                                          zeroMatrix(32, 64, type)};
      run(matrices, 1,
          "%s = tile.alloc : " + shared +
              "\n%x = tile.load %a[%c0, %c0] : " + global + " -> " + reg +
              "\ntile.store %x, %s[%c0, %c0] : " + reg + ", " + shared +
              "\n%y = tile.load %s[%c0, %c0] transposed : " + shared + " -> " +
              across + "\ntile.store %y, %b[%c0, %c0] transposed : " + across +
              ", " + global);
      EXPECT_EQ(matrices[0].values, matrices[1].values) << shared;
    }
  }
}

TEST_F(TileLayoutTest, SharedOffsetsAreAPermutation) {
  Type types[] = {BFloat16Type::get(&context), Float32Type::get(&context),
                  Float64Type::get(&context)};
  for (Type type : types) {
    int64_t bytes = type.getIntOrFloatBitWidth() / 8;
    for (int64_t swizzle : {0, 32, 64, 128}) {
      for (int64_t rows : {8, 16, 64}) {
        for (int64_t cols : {8, 24, 64, 128}) {
          auto shared =
              SharedType::get(&context, rows, cols, type, swizzle, 0, 1);
          std::set<int64_t> offsets;
          for (int64_t row = 0; row < rows; ++row)
            for (int64_t col = 0; col < cols; ++col)
              offsets.insert(shared.getOffset(row, col));
          EXPECT_EQ(static_cast<int64_t>(offsets.size()), rows * cols)
              << print(shared);
          EXPECT_GE(*offsets.begin(), 0);
          EXPECT_LE(*offsets.rbegin() + bytes, shared.getStageBytes());
          bool full = swizzle == 0 || cols * bytes % swizzle == 0;
          EXPECT_EQ(rows * cols * bytes == shared.getStageBytes(), full)
              << print(shared);
          // 16 bytes stay together, as the matrix unit reads them.
          for (int64_t col = 0; col < cols; ++col)
            EXPECT_EQ(shared.getOffset(3, col),
                      shared.getOffset(3, col / (16 / bytes) * (16 / bytes)) +
                          col % (16 / bytes) * bytes);
        }
      }
    }
  }
}

/// Whether all lanes have what they need, by looking at every lane.
bool canConvert(RegType from, RegType to) {
  for (int64_t lane = 0; lane < 32; ++lane) {
    std::set<std::pair<int64_t, int64_t>> held;
    for (int64_t reg = 0; reg < from.getNumRegisters(); ++reg)
      held.insert(from.getElement(lane, reg));
    for (int64_t reg = 0; reg < to.getNumRegisters(); ++reg)
      if (held.count(to.getElement(lane, reg)) == 0)
        return false;
  }
  return true;
}

TEST_F(TileLayoutTest, Conversions) {
  int64_t converted = 0;
  std::vector<LayoutAttr> layouts = getLayouts();
  for (LayoutAttr from : layouts) {
    for (LayoutAttr to : layouts) {
      int64_t rows = std::max(from.getCellRows(), to.getCellRows());
      int64_t cols = std::max(from.getCellCols(), to.getCellCols());
      if (rows * cols > 512)
        continue;
      Type f32 = Float32Type::get(&context);
      auto source = RegType::get(&context, rows, cols, f32, from);
      auto target = RegType::get(&context, rows, cols, f32, to);
      // A map names one register for all lanes: lanes that hold copies in
      // different registers are refused, too.
      if (failed(getRegisterMap(source, target)))
        continue;
      ASSERT_TRUE(canConvert(source, target))
          << print(source) << " " << print(target);
      ++converted;
      std::vector<TileMatrix> matrices = {countMatrix(rows, cols),
                                          zeroMatrix(rows, cols)};
      std::string memory = "!tile.global<" + std::to_string(rows) + "x" +
                           std::to_string(cols) + "xf32>";
      run(matrices, 1,
          "%y = " + load("%a", memory, source) +
              "%x = tile.convert %y : " + print(source) + " -> " +
              print(target) + "\n" + store("%b", memory, target));
      EXPECT_EQ(matrices[0].values, matrices[1].values)
          << print(source) << " " << print(target);
    }
  }
  EXPECT_GT(converted, static_cast<int64_t>(layouts.size()));
  // Two cells of accumulators are a left operand.
  EXPECT_TRUE(
      succeeded(getRegisterMap(getTile(LayoutAttr::getAcc(&context), 1, 2),
                               getTile(LayoutAttr::getLhs(&context), 1, 1))));
}

TEST_F(TileLayoutTest, Slices) {
  LayoutAttr layouts[] = {LayoutAttr::getAcc(&context),
                          LayoutAttr::getLhs(&context),
                          LayoutAttr::getBlocked(&context, 4, 8, 2)};
  for (LayoutAttr layout : layouts) {
    RegType whole = getTile(layout, 3, 3), part = getTile(layout, 2, 2);
    for (int64_t down : {0, 1}) {
      for (int64_t across : {0, 1}) {
        int64_t row = down * layout.getCellRows();
        int64_t col = across * layout.getCellCols();
        std::vector<TileMatrix> matrices = {
            countMatrix(whole.getRows(), whole.getCols()),
            zeroMatrix(part.getRows(), part.getCols())};
        auto getType = [](RegType type) {
          return "!tile.global<" + std::to_string(type.getRows()) + "x" +
                 std::to_string(type.getCols()) + "xf32>";
        };
        run(matrices, 1,
            "%y = " + load("%a", getType(whole), whole) +
                "%x = tile.slice %y[" + std::to_string(row) + ", " +
                std::to_string(col) + "] : " + print(whole) + " -> " +
                print(part) + "\n" + store("%b", getType(part), part));
        for (int64_t i = 0; i < part.getRows(); ++i)
          for (int64_t j = 0; j < part.getCols(); ++j)
            ASSERT_EQ(matrices[1].at(i, j), matrices[0].at(row + i, col + j))
                << print(whole) << " " << i << " " << j;
      }
    }
  }
}

TEST_F(TileLayoutTest, Concatenations) {
  LayoutAttr layouts[] = {LayoutAttr::getAcc(&context),
                          LayoutAttr::getLhs(&context),
                          LayoutAttr::getBlocked(&context, 4, 8, 2)};
  for (LayoutAttr layout : layouts) {
    for (bool alongRows : {false, true}) {
      RegType whole = getTile(layout, 3, 3);
      RegType first = getTile(layout, alongRows ? 1 : 3, alongRows ? 3 : 1);
      RegType rest = getTile(layout, alongRows ? 2 : 3, alongRows ? 3 : 2);
      std::string row = std::to_string(alongRows ? layout.getCellRows() : 0);
      std::string col = std::to_string(alongRows ? 0 : layout.getCellCols());
      std::vector<TileMatrix> matrices = {
          countMatrix(whole.getRows(), whole.getCols()),
          zeroMatrix(whole.getRows(), whole.getCols())};
      auto getType = [](RegType type) {
        return "!tile.global<" + std::to_string(type.getRows()) + "x" +
               std::to_string(type.getCols()) + "xf32>";
      };
      // In the other order.
      run(matrices, 1,
          "%y = " + load("%a", getType(whole), whole) +
              "%f = tile.slice %y[0, 0] : " + print(whole) + " -> " +
              print(first) + "\n%r = tile.slice %y[" + row + ", " + col +
              "] : " + print(whole) + " -> " + print(rest) +
              "\n%x = tile.concat %r, %f along " +
              (alongRows ? "rows" : "cols") + " : " + print(rest) + ", " +
              print(first) + "\n" + store("%b", getType(whole), whole));
      for (int64_t i = 0; i < whole.getRows(); ++i) {
        for (int64_t j = 0; j < whole.getCols(); ++j) {
          int64_t fromRow = i, fromCol = j;
          if (alongRows)
            fromRow = (i + layout.getCellRows()) % whole.getRows();
          else
            fromCol = (j + layout.getCellCols()) % whole.getCols();
          ASSERT_EQ(matrices[1].at(i, j), matrices[0].at(fromRow, fromCol))
              << print(whole) << " " << i << " " << j;
        }
      }
    }
  }
}

} // namespace
