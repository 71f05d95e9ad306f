//===- TileTestUtils.cpp - Running tile programs in tests -------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileTestUtils.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <random>

using namespace larc;
using namespace larc::test;
using namespace mlir;

TileMatrix larc::test::countMatrix(int64_t rows, int64_t cols, DType type) {
  TileMatrix matrix = zeroMatrix(rows, cols, type);
  for (size_t i = 0; i < matrix.values.size(); ++i)
    matrix.values[i] = static_cast<double>(i);
  return matrix;
}

TileMatrix larc::test::zeroMatrix(int64_t rows, int64_t cols, DType type) {
  return {rows, cols, std::vector<double>(rows * cols, 0.0), type};
}

TileMatrix larc::test::randomMatrix(int64_t rows, int64_t cols, unsigned seed,
                                    DType type) {
  TileMatrix matrix = zeroMatrix(rows, cols, type);
  std::mt19937 engine(seed);
  for (double &value : matrix.values)
    value = static_cast<double>(engine() % 255) / 128 - 127.0 / 128;
  return matrix;
}

std::string larc::test::replaceNames(
    std::string text,
    llvm::ArrayRef<std::pair<const char *, const char *>> names) {
  for (auto [name, type] : names)
    for (size_t at; (at = text.find(name)) != std::string::npos;)
      text.replace(at, 2, type);
  return text;
}

TileTest::TileTest() : context(MLIRContext::Threading::DISABLED) {
  context.loadDialect<tile::TileDialect, arith::ArithDialect, math::MathDialect,
                      scf::SCFDialect>();
}

std::string TileTest::makeProgram(llvm::ArrayRef<TileMatrix> matrices,
                                  int64_t warps, const std::string &body) {
  std::string text = "tile.program @p(";
  char name = 'a';
  for (const TileMatrix &matrix : matrices) {
    text += name == 'a' ? "%" : ", %";
    text += name++;
    text += ": !tile.global<";
    text += matrix.tokens
                ? "?"
                : std::to_string(matrix.recordRows > 0 ? matrix.recordRows
                                                       : matrix.rows);
    text += "x" + std::to_string(matrix.cols) + "x" +
            getName(matrix.type).str() + "> {tile.argument = #tile.argument<" +
            (matrix.recordRows > 0 ? "scratch" : "operand") + ">";
    if (matrix.boxRows > 0)
      text += ", tile.box_rows = " + std::to_string(matrix.boxRows);
    text += "}";
  }
  text += ") warps " + std::to_string(warps) + " parts 4 {\n";
  for (int number : {0, 1, 2, 4, 8, 16, 32, 64})
    text += "%c" + std::to_string(number) + " = arith.constant " +
            std::to_string(number) + " : index\n";
  return text + body + "\ntile.return\n}\n";
}

std::string TileTest::interpret(std::vector<TileMatrix> &matrices,
                                int64_t warps, const std::string &body,
                                int64_t length, int64_t part) {
  std::string error;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (error.empty())
      error = diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(makeProgram(matrices, warps, body), &context);
  if (!module)
    return "not a program: " + error;

  // Rows are further apart than they need to be.
  constexpr int64_t gap = 3;
  std::vector<std::vector<char>> memory;
  std::vector<GlobalView> views;
  auto program = cast<tile::ProgramOp>(module->getBody()->front());
  for (auto [index, matrix] : llvm::enumerate(matrices)) {
    auto type = cast<tile::GlobalType>(program.getArgumentTypes()[index]);
    int64_t stride = matrix.cols + gap, width = getByteWidth(matrix.type);
    memory.emplace_back(std::max<int64_t>(1, matrix.rows * stride * width));
    for (int64_t row = 0; row < matrix.rows; ++row)
      convertElements(&matrix.values[row * matrix.cols], DType::F64,
                      memory.back().data() + row * stride * width, matrix.type,
                      matrix.cols);
    views.push_back({memory.back().data(), type.getElementType(), matrix.rows,
                     matrix.cols, stride});
  }
  TileBlock block;
  block.arguments = views;
  block.length = length;
  block.part = part;
  block.segment = segment;
  block.segments = segments;
  LogicalResult result = interpretTileProgram(program, block, &statistics);
  EXPECT_EQ(failed(result), !error.empty()) << error;
  for (auto [matrix, data] : llvm::zip_equal(matrices, memory)) {
    int64_t stride = matrix.cols + gap, width = getByteWidth(matrix.type);
    for (int64_t row = 0; row < matrix.rows; ++row)
      convertElements(data.data() + row * stride * width, matrix.type,
                      &matrix.values[row * matrix.cols], DType::F64,
                      matrix.cols);
  }
  return error;
}

void TileTest::run(std::vector<TileMatrix> &matrices, int64_t warps,
                   const std::string &body, int64_t length, int64_t part) {
  EXPECT_EQ(interpret(matrices, warps, body, length, part), "") << body;
}

std::string TileTest::getError(std::vector<TileMatrix> matrices, int64_t warps,
                               const std::string &body, int64_t length) {
  return interpret(matrices, warps, body, length, 0);
}
