//===- TileProductTest.cpp - Matrix products of tile programs ---*- C++ -*-===//
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

class TileProductTest : public TileTest {
protected:
  static std::string getShape(int64_t rows, int64_t cols, DType type) {
    return std::to_string(rows) + "x" + std::to_string(cols) + "x" +
           getName(type).str();
  }

  /// %c += %a %b, by `tile.mma`.
  void multiply(std::vector<TileMatrix> &matrices) {
    DType type = matrices[0].type;
    std::string lhs = getShape(matrices[0].rows, matrices[0].cols, type);
    std::string rhs = getShape(matrices[1].rows, matrices[1].cols, type);
    std::string acc = getShape(matrices[2].rows, matrices[2].cols, DType::F32);
    std::string bits = type == DType::F32 ? "32" : "";
    std::string lhsReg = "!tile.reg<" + lhs + ", lhs" + bits + ">";
    std::string rhsReg = "!tile.reg<" + rhs + ", rhs" + bits + ">";
    std::string accReg = "!tile.reg<" + acc + ", acc>";
    run(matrices, 1,
        "%x = tile.load %a[%c0, %c0] : !tile.global<" + lhs + "> -> " + lhsReg +
            "\n%y = tile.load %b[%c0, %c0] : !tile.global<" + rhs + "> -> " +
            rhsReg + "\n%z = tile.load %c[%c0, %c0] : !tile.global<" + acc +
            "> -> " + accReg + "\n%d = tile.mma %x, %y, %z : " + lhsReg + ", " +
            rhsReg + ", " + accReg + "\ntile.store %d, %c[%c0, %c0] : " +
            accReg + ", !tile.global<" + acc + ">");
  }

  /// The body that computes %c = %a %b by four warps (or eight, which share
  /// %b, in 128 rows).
  static std::string makeWgmma(DType type, int64_t depth, int64_t cols,
                               int64_t warps, bool lhsShared, bool transposed,
                               int swizzle) {
    std::string name = getName(type).str(), n = std::to_string(cols);
    std::string how = ", swizzle = " + std::to_string(swizzle) + ">";
    std::string rows = std::to_string(warps * 16);
    std::string b =
        transposed ? getShape(cols, depth, type) : getShape(depth, cols, type);
    std::string shared = "!tile.shared<" + b + how;
    std::string a = getShape(warps * 16, depth, type);
    std::string left = "!tile.shared<" + a + how;
    std::string lhs = "!tile.reg<" + getShape(16, depth, type) + ", lhs>";
    std::string acc = "!tile.reg<16x" + n + "xf32, acc>";
    std::string body =
        "%warp = tile.warp\n%row = arith.muli %warp, %c16 : index\n"
        "%group = arith.divui %warp, %c4 : index\n"
        "%lrow = arith.muli %group, %c64 : index\n"
        "%f0 = arith.constant 0.0 : f32\n"
        "%zero = tile.splat %f0 : " +
        acc + "\n%s = tile.alloc : " + shared + "\n%depth = arith.constant " +
        std::to_string(depth) + " : index\n" + "%rows = arith.constant " +
        rows + " : index\n" +
        "%far = arith.constant 1000 : index\n"
        "tile.copy_async %b[%c0, %c0] below %far to %s : !tile.global<" +
        b + ">, " + shared + "\n";
    if (lhsShared)
      body += "%l = tile.alloc : " + left +
              "\ntile.copy_async %a[%c0, %c0] below %far to %l : "
              "!tile.global<" +
              a + ">, " + left + "\n";
    else
      body += "%l = tile.load %a[%row, %c0] : !tile.global<" + a + "> -> " +
              lhs + "\n";
    body += "tile.copy_commit\ntile.copy_wait 0\ntile.fence_async\n"
            "tile.barrier\ntile.wgmma_fence\n%f = tile.wgmma %zero, %l";
    if (lhsShared)
      body += "[%lrow, %c0] depth " + std::to_string(depth);
    body += std::string(", %s[%c0, %c0]") + (transposed ? " transposed" : "") +
            " : " + acc + ", " + (lhsShared ? left : lhs) + ", " + shared +
            "\ntile.wgmma_commit\n%d = tile.wgmma_wait %f pending 0 : "
            "!tile.flight<16x" +
            n +
            "xf32, acc>\n"
            "tile.store %d, %c[%row, %c0] : " +
            acc + ", !tile.global<" + rows + "x" + n + "xf32>";
    return body;
  }
};

TEST_F(TileProductTest, MmaOfOneHotOperands) {
  for (DType type : {DType::BF16, DType::F16, DType::F32}) {
    for (auto [depth, cols] : {std::pair(16, 8), {32, 24}}) {
      for (int64_t k = 0; k < depth; ++k) {
        std::vector<TileMatrix> matrices = {zeroMatrix(32, depth, type),
                                            zeroMatrix(depth, cols, type),
                                            zeroMatrix(32, cols)};
        for (int64_t i = 0; i < 32; ++i)
          matrices[0].values[i * depth + k] = static_cast<double>(i + 1);
        for (int64_t j = 0; j < cols; ++j)
          matrices[1].values[k * cols + j] = static_cast<double>(64 + j);
        multiply(matrices);
        for (int64_t i = 0; i < 32; ++i)
          for (int64_t j = 0; j < cols; ++j)
            ASSERT_EQ(matrices[2].at(i, j), (i + 1) * (64 + j)) << k;
      }
    }
  }
}

TEST_F(TileProductTest, MmaSumsInOrder) {
  for (DType type : {DType::BF16, DType::F16}) {
    std::vector<TileMatrix> matrices = {randomMatrix(16, 64, 1, type),
                                        randomMatrix(64, 16, 2, type),
                                        randomMatrix(16, 16, 3)};
    for (double &value : matrices[2].values)
      value *= 0x1p20;
    TileMatrix start = matrices[2];
    multiply(matrices);
    for (int64_t i = 0; i < 16; ++i) {
      for (int64_t j = 0; j < 16; ++j) {
        auto sum = static_cast<float>(start.at(i, j));
        for (int64_t k = 0; k < 64; ++k)
          sum = static_cast<float>(sum +
                                   matrices[0].at(i, k) * matrices[1].at(k, j));
        EXPECT_EQ(matrices[2].at(i, j), sum);
      }
    }
    EXPECT_EQ(statistics.multiplications, 16 * 16 * 64);
  }
}

TEST_F(TileProductTest, Tf32LosesFraction) {
  std::vector<TileMatrix> matrices = {zeroMatrix(16, 8), zeroMatrix(8, 8),
                                      zeroMatrix(16, 8)};
  matrices[0].values[0] = 1 + 0x1p-10 + 0x1.8p-11;
  matrices[1].values[0] = -(1 + 0x1.8p-11);
  multiply(matrices);
  EXPECT_EQ(matrices[2].values[0], -(1 + 0x1p-10));
}

TEST_F(TileProductTest, MmaRows) {
  for (int64_t rows : {16, 48}) {
    for (int64_t cols : {16, 32}) {
      for (int64_t depth : {8, 24}) {
        std::vector<TileMatrix> matrices = {randomMatrix(rows, depth, 1),
                                            randomMatrix(cols, depth, 2),
                                            countMatrix(rows, cols)};
        TileMatrix start = matrices[2];
        std::string types[3], text;
        for (int i = 0; i < 3; ++i) {
          std::string shape =
              getShape(matrices[i].rows, matrices[i].cols, DType::F32);
          types[i] = "!tile.reg<" + shape + ", acc>";
          std::string name(1, static_cast<char>('a' + i));
          text += "%r" + name + " = tile.load %" + name +
                  "[%c0, %c0] : !tile.global<" + shape + "> -> " + types[i] +
                  "\n";
        }
        run(matrices, 1,
            text + "%d = tile.mma_rows %ra, %rb, %rc : " + types[0] + ", " +
                types[1] + ", " + types[2] +
                "\ntile.store %d, %c[%c0, %c0] : " + types[2] +
                ", !tile.global<" + getShape(rows, cols, DType::F32) + ">");
        for (int64_t i = 0; i < rows; ++i) {
          for (int64_t j = 0; j < cols; ++j) {
            double sum = start.at(i, j);
            for (int64_t k = 0; k < depth; ++k)
              sum += matrices[0].at(i, k) * matrices[1].at(j, k);
            ASSERT_NEAR(matrices[2].at(i, j), sum, 1e-3)
                << rows << " " << cols << " " << depth;
          }
        }
        EXPECT_EQ(statistics.multiplications, rows * cols * depth);
      }
    }
  }
}

/// That a cell of accumulators is an operand as it lies: in every lane the
/// registers that the instruction is given hold elements of the rows that it
/// expects, and of columns in an order that is the same for both operands.
TEST_F(TileProductTest, AccumulatorsAreOperands) {
  auto acc = tile::LayoutAttr::getAcc(&context);
  auto lhs = tile::LayoutAttr::getLhs(&context, 32);
  auto rhs = tile::LayoutAttr::getRhs(&context, 32);
  std::array<int64_t, 8> columns;
  columns.fill(-1);
  auto expectColumn = [&](int64_t depth, int64_t column) {
    if (columns[depth] < 0)
      columns[depth] = column;
    EXPECT_EQ(columns[depth], column);
  };
  for (int64_t lane = 0; lane < 32; ++lane) {
    const int64_t given[] = {0, 2, 1, 3};
    for (int64_t reg = 0; reg < 4; ++reg) {
      auto [row, depth] = lhs.getElement(lane, reg);
      auto [heldRow, column] = acc.getElement(lane, given[reg]);
      EXPECT_EQ(heldRow, row);
      expectColumn(depth, column);
    }
    for (int64_t half : {0, 1}) {
      for (int64_t reg = 0; reg < 2; ++reg) {
        auto [depth, col] = rhs.getElement(lane, reg);
        auto [heldRow, column] = acc.getElement(lane, 2 * half + reg);
        EXPECT_EQ(heldRow, 8 * half + col);
        expectColumn(depth, column);
      }
    }
  }
  llvm::sort(columns);
  for (int64_t i = 0; i < 8; ++i)
    EXPECT_EQ(columns[i], i);
}

TEST_F(TileProductTest, Wgmma) {
  for (DType type : {DType::BF16, DType::F16}) {
    for (int64_t warps : {4, 8}) {
      for (auto [depth, cols] : {std::pair(16, 8), {64, 40}, {32, 256}}) {
        for (int how = 0; how < 4; ++how) {
          bool lhsShared = (how & 1) != 0, transposed = (how & 2) != 0;
          int swizzle = how == 0 ? 32 : how == 1 ? 64 : 128;
          TileMatrix a = randomMatrix(warps * 16, depth, 1, type);
          TileMatrix b = transposed ? randomMatrix(cols, depth, 2, type)
                                    : randomMatrix(depth, cols, 2, type);
          std::vector<TileMatrix> matrices = {a, b,
                                              zeroMatrix(warps * 16, cols)};
          run(matrices, warps,
              makeWgmma(type, depth, cols, warps, lhsShared, transposed,
                        swizzle));
          for (int64_t i = 0; i < warps * 16; ++i) {
            for (int64_t j = 0; j < cols; ++j) {
              double sum = 0;
              for (int64_t k = 0; k < depth; ++k)
                sum += a.at(i, k) * (transposed ? b.at(j, k) : b.at(k, j));
              ASSERT_EQ(matrices[2].at(i, j), static_cast<float>(sum))
                  << warps << " " << depth << " " << cols << " " << how;
            }
          }
        }
      }
    }
  }
}

} // namespace
