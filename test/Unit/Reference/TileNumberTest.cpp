//===- TileNumberTest.cpp - Maps, reductions and scans ----------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileTestUtils.h"

#include "mlir/AsmParser/AsmParser.h"

#include <cmath>
#include <limits>

using namespace larc;
using namespace larc::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Scanned;

class TileNumberTest : public TileTest {
protected:
  void checkScan(const Scanned &scan, int64_t rows, int64_t cols);

  /// What `body`, which computes %r of %x and %y, gives for one pair.
  double evaluate(const std::string &body, double x, double y = 0,
                  DType type = DType::F32) {
    std::string name = getName(type).str();
    std::string reg = "!tile.reg<16x8x" + name + ", acc>";
    std::string global = "!tile.global<16x8x" + name + ">";
    std::vector<TileMatrix> matrices(3, zeroMatrix(16, 8, type));
    matrices[0].values.assign(16 * 8, x);
    matrices[1].values.assign(16 * 8, y);
    run(matrices, 1,
        "%0 = tile.load %a[%c0, %c0] : " + global + " -> " + reg +
            "\n%1 = tile.load %b[%c0, %c0] : " + global + " -> " + reg +
            "\n%2 = tile.map (%x = %0, %y = %1) : (" + reg + ", " + reg +
            ") -> " + reg + " {\n" + body + "\ntile.yield %r : " + name +
            "\n}\ntile.store %2, %c[%c0, %c0] : " + reg + ", " + global);
    return matrices[2].values[37];
  }
  double evaluateBinary(const std::string &op, double x, double y,
                        DType type = DType::F32) {
    return evaluate("%r = " + op + " %x, %y : " + getName(type).str(), x, y,
                    type);
  }
  double evaluateUnary(const std::string &op, double x,
                       DType type = DType::F32) {
    return evaluate("%r = " + op + " %x : " + getName(type).str(), x, 0, type);
  }
};

TEST_F(TileNumberTest, ArithmeticRoundsToItsType) {
  float x = 1.1f, y = 3.3f;
  EXPECT_EQ(evaluateBinary("arith.addf", x, y), x + y);
  EXPECT_EQ(evaluateBinary("arith.subf", x, y), x - y);
  EXPECT_EQ(evaluateBinary("arith.mulf", x, y), x * y);
  EXPECT_EQ(evaluateBinary("arith.divf", x, y), x / y);
  EXPECT_EQ(evaluateBinary("arith.divf", 1, 3, DType::F64), 1.0 / 3);
  EXPECT_EQ(evaluateBinary("arith.addf", 1, 0x1p-8, DType::BF16), 1);
  EXPECT_EQ(evaluateBinary("arith.addf", 1, 0x1.8p-8, DType::BF16), 1 + 0x1p-7);
  EXPECT_EQ(evaluateBinary("arith.addf", 1 + 0x1p-7, 0x1p-8, DType::BF16),
            1 + 0x1p-6);
  EXPECT_EQ(evaluateBinary("arith.addf", 1, 0x1p-11, DType::F16), 1);
  EXPECT_EQ(evaluateBinary("arith.mulf", 300, 300, DType::F16), infinity);
  EXPECT_EQ(evaluateUnary("arith.negf", 2), -2);
  EXPECT_EQ(
      evaluate("%r = math.fma %x, %x, %y : f32", 1 + 0x1p-12, -(1 + 0x1p-11)),
      0x1p-24);
}

TEST_F(TileNumberTest, Choices) {
  double nan = std::nan("");
  EXPECT_TRUE(std::isnan(evaluateBinary("arith.maximumf", 1, nan)));
  EXPECT_TRUE(std::isnan(evaluateBinary("arith.minimumf", nan, 1)));
  EXPECT_EQ(evaluateBinary("arith.maxnumf", 1, nan), 1);
  EXPECT_EQ(evaluateBinary("arith.minnumf", nan, 1), 1);
  EXPECT_EQ(evaluateBinary("arith.maximumf", -3, 2), 2);
  EXPECT_EQ(evaluateBinary("arith.minimumf", -3, 2), -3);
  EXPECT_TRUE(std::signbit(evaluateBinary("arith.minimumf", 0.0, -0.0)));
  EXPECT_FALSE(std::signbit(evaluateBinary("arith.maximumf", -0.0, 0.0)));
  EXPECT_EQ(evaluateBinary("math.copysign", 3, -0.0), -3);
  auto compare = [&](const std::string &predicate, double x, double y) {
    return evaluate("%p = arith.cmpf " + predicate +
                        ", %x, %y : f32\n%r = arith.select %p, %x, %y : f32",
                    x, y);
  };
  EXPECT_EQ(compare("olt", 1, 2), 1);
  EXPECT_EQ(compare("oge", 1, 2), 2);
  EXPECT_TRUE(std::isnan(compare("une", nan, 2)));
  EXPECT_EQ(compare("oeq", nan, 2), 2);
}

TEST_F(TileNumberTest, Functions) {
  struct Case {
    const char *op;
    double (*function)(double);
  };
  const Case cases[] = {{"math.exp", std::exp},     {"math.exp2", std::exp2},
                        {"math.expm1", std::expm1}, {"math.log", std::log},
                        {"math.log1p", std::log1p}, {"math.log2", std::log2},
                        {"math.sqrt", std::sqrt},   {"math.sin", std::sin},
                        {"math.cos", std::cos},     {"math.tanh", std::tanh},
                        {"math.erf", std::erf},     {"math.absf", std::fabs},
                        {"math.floor", std::floor}, {"math.ceil", std::ceil}};
  for (const Case &one : cases) {
    EXPECT_EQ(evaluateUnary(one.op, 0.75),
              static_cast<float>(one.function(0.75)))
        << one.op;
    EXPECT_EQ(evaluateUnary(one.op, 0.75, DType::F64), one.function(0.75))
        << one.op;
  }
  EXPECT_EQ(evaluateUnary("math.rsqrt", 4), 0.5);
}

TEST_F(TileNumberTest, Integers) {
  auto integers = [&](const std::string &op, int64_t x, int64_t y) {
    std::vector<TileMatrix> matrices = {zeroMatrix(16, 8)};
    run(matrices, 1,
        "%x = arith.constant " + std::to_string(x) + " : i32\n%y = " +
            "arith.constant " + std::to_string(y) + " : i32\n%k = arith." + op +
            " %x, %y : i32\n%f = arith.sitofp %k : i32 to f32\n" +
            "%t = tile.splat %f : !tile.reg<16x8xf32, acc>\ntile.store %t, "
            "%a[%c0, %c0] : !tile.reg<16x8xf32, acc>, !tile.global<16x8xf32>");
    return matrices[0].values[0];
  };
  EXPECT_EQ(integers("addi", 5, -7), -2);
  EXPECT_EQ(integers("subi", 5, -7), 12);
  EXPECT_EQ(integers("muli", 65536, 65536), 0);
  EXPECT_EQ(integers("andi", 12, 10), 8);
  EXPECT_EQ(integers("ori", 12, 10), 14);
  EXPECT_EQ(integers("xori", 12, 10), 6);
  EXPECT_EQ(integers("divsi", -7, 2), -3);
  EXPECT_EQ(integers("floordivsi", -7, 2), -4);
  EXPECT_EQ(integers("ceildivsi", 7, 2), 4);
  EXPECT_EQ(integers("remsi", -7, 2), -1);
  EXPECT_EQ(integers("divui", -2, 2), 2147483647.f);
  EXPECT_EQ(integers("remui", -1, 16), 15);
  EXPECT_EQ(integers("ceildivui", 7, 2), 4);
  EXPECT_EQ(integers("minui", -1, 2), 2);
  EXPECT_EQ(integers("maxsi", -1, 2), 2);
  EXPECT_EQ(integers("shli", 3, 4), 48);
  EXPECT_EQ(integers("shrsi", -16, 2), -4);
  EXPECT_EQ(evaluate("%i = arith.bitcast %x : f32 to i32\n"
                     "%u = arith.constant 8388608 : i32\n"
                     "%j = arith.addi %i, %u : i32\n"
                     "%r = arith.bitcast %j : i32 to f32",
                     1.5),
            3);
  EXPECT_EQ(evaluate("%p = arith.cmpf oge, %x, %y : f32\n"
                     "%i = arith.extui %p : i1 to i32\n"
                     "%r = arith.sitofp %i : i32 to f32",
                     2, 1),
            1);
  EXPECT_EQ(evaluate("%u = arith.truncf %x : f32 to bf16\n"
                     "%r = arith.extf %u : bf16 to f32",
                     1 + 0x1.8p-8),
            1 + 0x1p-7);
}

TEST_F(TileNumberTest, Broadcasts) {
  std::vector<TileMatrix> matrices = {countMatrix(32, 1), countMatrix(1, 16),
                                      zeroMatrix(32, 16)};
  run(matrices, 1, R"(
    %half = arith.constant 0.5 : f32
    %0 = tile.load %a[%c0, %c0] : !tile.global<32x1xf32> -> !tile.reg<32x1xf32, rows acc>
    %1 = tile.load %b[%c0, %c0] : !tile.global<1x16xf32> -> !tile.reg<1x16xf32, cols acc>
    %i = tile.index rows : !tile.reg<32x1xi32, rows acc>
    %j = tile.index cols : !tile.reg<1x16xi32, cols acc>
    %2 = tile.map (%x = %0, %y = %1, %p = %i, %q = %j) : (!tile.reg<32x1xf32, rows acc>, !tile.reg<1x16xf32, cols acc>, !tile.reg<32x1xi32, rows acc>, !tile.reg<1x16xi32, cols acc>) -> !tile.reg<32x16xf32, acc> {
      %s = arith.constant 100.0 : f32
      %u = arith.mulf %x, %s : f32
      %v = arith.addf %u, %y : f32
      %w = arith.addf %v, %half : f32
      %lower = arith.cmpi sge, %p, %q : i32
      %z = arith.constant 0.0 : f32
      %r = arith.select %lower, %w, %z : f32
      tile.yield %r : f32
    }
    tile.store %2, %c[%c0, %c0] : !tile.reg<32x16xf32, acc>, !tile.global<32x16xf32>)");
  for (int64_t i = 0; i < 32; ++i)
    for (int64_t j = 0; j < 16; ++j)
      EXPECT_EQ(matrices[2].at(i, j), i >= j ? 100 * i + j + 0.5 : 0);
}

TEST_F(TileNumberTest, ConversionsRound) {
  for (DType type : {DType::BF16, DType::F16, DType::F64}) {
    std::string name = getName(type).str();
    std::vector<TileMatrix> matrices = {zeroMatrix(16, 8),
                                        zeroMatrix(16, 8, type)};
    for (size_t i = 0; i < 128; ++i)
      matrices[0].values[i] = static_cast<float>(std::exp(0.1 * i) / 7);
    std::vector<double> source = matrices[0].values, expected(128);
    run(matrices, 1,
        "%x = tile.load %a[%c0, %c0] : !tile.global<16x8xf32> -> "
        "!tile.reg<16x8xf32, acc>\n%y = tile.convert %x : !tile.reg<16x8xf32, "
        "acc> -> !tile.reg<16x8x" +
            name + ", acc>\ntile.store %y, %b[%c0, %c0] : !tile.reg<16x8x" +
            name + ", acc>, !tile.global<16x8x" + name + ">");
    for (size_t i = 0; i < 128; ++i)
      expected[i] = type == DType::BF16  ? toFloat(toBFloat(source[i]))
                    : type == DType::F16 ? toFloat(toHalf(source[i]))
                                         : source[i];
    EXPECT_EQ(matrices[1].values, expected) << name;
  }
}

//===----------------------------------------------------------------------===//
// Reductions and scans
//===----------------------------------------------------------------------===//

struct Combine {
  const char *name;
  double neutral;
  double (*function)(double, double);
};

const Combine combines[] = {
    {"sum", 0, [](double x, double y) { return x + y; }},
    {"product", 1, [](double x, double y) { return x * y; }},
    {"max", -infinity, [](double x, double y) { return std::max(x, y); }},
    {"min", infinity, [](double x, double y) { return std::min(x, y); }}};

/// Numbers whose sums and products are exact in any order.
TileMatrix exactMatrix(int64_t rows, int64_t cols, bool product) {
  TileMatrix matrix = randomMatrix(rows, cols, 5);
  for (double &value : matrix.values)
    value = product ? (value > 0.5    ? 2
                       : value < -0.5 ? 0.5
                                      : 1)
                    : std::floor(value * 64);
  return matrix;
}

const char *layouts[] = {
    "acc",
    "lhs",
    "rhs",
    "lhs32",
    "rhs32",
    "lane = [0, 4, 0, 8, 1, 0, 2, 0, 4, 0], register = [0, 1, 0, 2, 8, 0]",
    "lane = [0, 0, 0, 0, 1, 0, 2, 0, 4, 0], register = [0, 1, 8, 0]"};

TEST_F(TileNumberTest, Reductions) {
  for (const Combine &combine : combines) {
    for (const char *layout : layouts) {
      for (auto [rows, cols] : {std::pair(16, 16), {32, 48}, {64, 16}}) {
        for (bool alongRows : {false, true}) {
          int64_t outRows = alongRows ? 1 : rows;
          int64_t outCols = alongRows ? cols : 1;
          std::vector<TileMatrix> matrices = {
              exactMatrix(rows, cols, combine.name[0] == 'p'),
              zeroMatrix(outRows, outCols)};
          std::string shape =
              std::to_string(rows) + "x" + std::to_string(cols) + "xf32";
          std::string out =
              std::to_string(outRows) + "x" + std::to_string(outCols) + "xf32";
          // The slice's layout is inferred, so that it is named by a type
          // that the parser makes.
          auto whole = llvm::cast<tile::RegType>(mlir::parseType(
              "!tile.reg<" + shape + ", " + layout + ">", &context));
          std::string slice = print(whole.getSlice(
              alongRows ? tile::Dimension::Cols : tile::Dimension::Rows));
          run(matrices, 1,
              "%x = tile.load %a[%c0, %c0] : !tile.global<" + shape + "> -> " +
                  print(whole) + "\n%y = tile.reduce " + combine.name +
                  " %x along " + (alongRows ? "rows" : "cols") + " : " +
                  print(whole) + "\ntile.store %y, %b[%c0, %c0] : " + slice +
                  ", !tile.global<" + out + ">");
          for (int64_t i = 0; i < outRows * outCols; ++i) {
            double expected = combine.neutral;
            for (int64_t k = 0; k < (alongRows ? rows : cols); ++k)
              expected =
                  combine.function(expected, alongRows ? matrices[0].at(k, i)
                                                       : matrices[0].at(i, k));
            ASSERT_EQ(matrices[1].values[i], expected)
                << combine.name << " " << print(whole) << " " << i;
          }
        }
      }
    }
  }
}

TEST_F(TileNumberTest, ReductionsCombineRegistersThenLanes) {
  std::vector<TileMatrix> matrices = {zeroMatrix(16, 64), zeroMatrix(16, 1)};
  for (size_t i = 0; i < matrices[0].values.size(); ++i)
    matrices[0].values[i] = static_cast<float>(std::sin(1.0 + i) * 3);
  run(matrices, 1, R"(
    %x = tile.load %a[%c0, %c0] : !tile.global<16x64xf32> -> !tile.reg<16x64xf32, acc>
    %y = tile.reduce sum %x along cols : !tile.reg<16x64xf32, acc>
    tile.store %y, %b[%c0, %c0] : !tile.reg<16x1xf32, rows acc>, !tile.global<16x1xf32>)");
  for (int64_t row = 0; row < 16; ++row) {
    float lanes[4];
    for (int64_t lane = 0; lane < 4; ++lane) {
      for (int64_t k = 0; k < 16; ++k) {
        auto value = static_cast<float>(
            matrices[0].at(row, k / 2 * 8 + lane * 2 + k % 2));
        lanes[lane] = k == 0 ? value : lanes[lane] + value;
      }
    }
    EXPECT_EQ(matrices[1].values[row],
              (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]));
  }
}

/// The result of `place` in an aligned block of `size` elements.
float scanBlock(const std::vector<float> &line, int64_t first, int64_t size,
                int64_t place) {
  if (size == 1)
    return line[first];
  int64_t half = size / 2;
  if (place < half)
    return scanBlock(line, first, half, place);
  return scanBlock(line, first, half, half - 1) +
         scanBlock(line, first + half, half, place - half);
}

TEST_F(TileNumberTest, ScansCombineAlignedBlocksThenCells) {
  std::vector<TileMatrix> matrices = {zeroMatrix(64, 8), zeroMatrix(64, 8)};
  for (size_t i = 0; i < matrices[0].values.size(); ++i)
    matrices[0].values[i] = static_cast<float>(std::sin(1.0 + i) * 3);
  run(matrices, 1, R"(
    %x = tile.load %a[%c0, %c0] : !tile.global<64x8xf32> -> !tile.reg<64x8xf32, acc>
    %y = tile.scan sum %x along rows : !tile.reg<64x8xf32, acc>
    tile.store %y, %b[%c0, %c0] : !tile.reg<64x8xf32, acc>, !tile.global<64x8xf32>)");
  for (int64_t col = 0; col < 8; ++col) {
    std::vector<float> line(64);
    for (int64_t row = 0; row < 64; ++row)
      line[row] = static_cast<float>(matrices[0].at(row, col));
    float before = 0;
    for (int64_t row = 0; row < 64; ++row) {
      float inCell = scanBlock(line, row / 16 * 16, 16, row % 16);
      float expected = row < 16 ? inCell : before + inCell;
      EXPECT_EQ(matrices[1].at(row, col), expected) << row << " " << col;
      if (row % 16 == 15)
        before = expected;
    }
  }
}

/// A scan and what it is to give.
struct Scanned {
  const Combine &combine;
  std::string layout;
  bool alongRows, backward, exclusive;
  /// The elements scanned together; 0: all of a line.
  int64_t block = 0;

  /// A tile `%y` of `%x`, of registers of type `reg`.
  std::string print(const std::string &reg) const {
    return std::string("%y = tile.scan ") + combine.name + " %x along " +
           (alongRows ? "rows" : "cols") + (backward ? " backward" : "") +
           (exclusive ? " exclusive" : "") +
           (block > 0 ? " block " + std::to_string(block) : "") + " : " + reg;
  }
  std::vector<double> apply(const TileMatrix &matrix) const {
    int64_t size = alongRows ? matrix.rows : matrix.cols;
    int64_t lines = alongRows ? matrix.cols : matrix.rows;
    std::vector<double> results(matrix.values.size());
    for (int64_t line = 0; line < lines; ++line) {
      double before = combine.neutral;
      for (int64_t k = 0; k < size; ++k) {
        if (block > 0 && k % block == 0)
          before = combine.neutral;
        int64_t along = backward ? size - 1 - k : k;
        int64_t at =
            alongRows ? along * matrix.cols + line : line * matrix.cols + along;
        double next = combine.function(before, matrix.values[at]);
        results[at] = exclusive ? before : next;
        before = next;
      }
    }
    return results;
  }
};

void TileNumberTest::checkScan(const Scanned &scan, int64_t rows,
                               int64_t cols) {
  std::vector<TileMatrix> matrices = {
      exactMatrix(rows, cols, scan.combine.name[0] == 'p'),
      zeroMatrix(rows, cols)};
  std::string shape =
      std::to_string(rows) + "x" + std::to_string(cols) + "xf32";
  std::string reg = "!tile.reg<" + shape + ", " + scan.layout + ">";
  std::string global = "!tile.global<" + shape + ">";
  std::string text = scan.print(reg);
  run(matrices, 1,
      "%x = tile.load %a[%c0, %c0] : " + global + " -> " + reg + "\n" + text +
          "\ntile.store %y, %b[%c0, %c0] : " + reg + ", " + global);
  ASSERT_EQ(matrices[1].values, scan.apply(matrices[0])) << text;
}

TEST_F(TileNumberTest, Scans) {
  for (const Combine &combine : combines) {
    for (const char *layout : layouts) {
      for (auto [rows, cols] : {std::pair(16, 16), {48, 16}, {64, 32}}) {
        for (int how = 0; how < 8; ++how)
          checkScan(
              {combine, layout, (how & 1) != 0, (how & 2) != 0, (how & 4) != 0},
              rows, cols);
      }
    }
  }
}

TEST_F(TileNumberTest, ScansOfBlocks) {
  for (const Combine &combine : {combines[0], combines[1]}) {
    for (const char *layout : layouts) {
      for (int64_t block : {1, 2, 4, 8, 16, 32}) {
        for (int how = 0; how < 8; ++how)
          checkScan({combine, layout, (how & 1) != 0, (how & 2) != 0,
                     (how & 4) != 0, block},
                    64, 32);
      }
    }
  }
}

} // namespace
