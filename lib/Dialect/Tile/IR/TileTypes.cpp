//===- TileTypes.cpp - Types of the tile dialect -*- C++ -*- --------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/OpImplementation.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace larc::tile;

/// Bytes of an element in memory; predicates have none.
static int64_t getElementBytes(Type type) {
  return type.getIntOrFloatBitWidth() / 8;
}

static LogicalResult
verifyElement(llvm::function_ref<InFlightDiagnostic()> emitError, Type type,
              bool inMemory) {
  if (isa<BFloat16Type, Float16Type, Float32Type, Float64Type>(type) ||
      type.isInteger(32) || type.isInteger(64))
    return success();
  if (!inMemory && type.isInteger(1))
    return success();
  return emitError() << "expected elements of type bf16, f16, f32, f64, i32 or "
                        "i64"
                     << (inMemory ? "" : ", or i1") << ", found " << type;
}

static LogicalResult
verifyExtents(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t rows,
              int64_t cols) {
  if (rows > 0 && cols > 0)
    return success();
  return emitError() << "expected positive extents, found " << rows << "x"
                     << cols;
}

/// Parses `<16x32xf32`, with `?` for the rows where `dynamic`.
static ParseResult parseMatrix(AsmParser &parser, int64_t &rows, int64_t &cols,
                               Type &element, bool dynamic = false) {
  SmallVector<int64_t> extents;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(extents, dynamic) ||
      parser.parseType(element))
    return failure();
  if (extents.size() != 2)
    return parser.emitError(location)
           << "expected two extents, found " << extents.size();
  rows = extents[0];
  cols = extents[1];
  return success();
}

//===----------------------------------------------------------------------===//
// Register tiles
//===----------------------------------------------------------------------===//

int64_t RegType::getNumRegisters() const {
  LayoutAttr layout = getLayout();
  return getRows() / layout.getCellRows() * (getCols() / layout.getCellCols()) *
         layout.getCellRegisters();
}

std::pair<int64_t, int64_t> RegType::getElement(int64_t lane,
                                                int64_t reg) const {
  LayoutAttr layout = getLayout();
  int64_t cell = reg / layout.getCellRegisters();
  int64_t cellsAcross = getCols() / layout.getCellCols();
  auto [row, col] = layout.getElement(lane, reg % layout.getCellRegisters());
  return {row + cell / cellsAcross * layout.getCellRows(),
          col + cell % cellsAcross * layout.getCellCols()};
}

RegType RegType::withElementType(Type type) const {
  return get(getContext(), getRows(), getCols(), type, getLayout());
}

RegType RegType::getSlice(Dimension kept) const {
  bool rows = kept == Dimension::Rows;
  return get(getContext(), rows ? getRows() : 1, rows ? 1 : getCols(),
             getElementType(), getLayout().getSlice(kept));
}

LogicalResult
RegType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                int64_t rows, int64_t cols, Type elementType,
                LayoutAttr layout) {
  if (failed(verifyExtents(emitError, rows, cols)) ||
      failed(verifyElement(emitError, elementType, /*inMemory=*/false)))
    return failure();
  if (rows % layout.getCellRows() != 0 || cols % layout.getCellCols() != 0)
    return emitError() << "a tile of " << rows << "x" << cols
                       << " is not made of the layout's cells of "
                       << layout.getCellRows() << "x" << layout.getCellCols();
  return success();
}

Type RegType::parse(AsmParser &parser) {
  SMLoc location = parser.getCurrentLocation();
  int64_t rows, cols;
  Type element;
  if (parseMatrix(parser, rows, cols, element) || parser.parseComma())
    return {};
  FailureOr<LayoutAttr> layout = LayoutAttr::parseBody(parser);
  if (failed(layout) || parser.parseGreater())
    return {};
  auto emitError = [&] { return parser.emitError(location); };
  if (failed(verify(emitError, rows, cols, element, *layout)))
    return {};
  return get(parser.getContext(), rows, cols, element, *layout);
}

void RegType::print(AsmPrinter &printer) const {
  printer << "<" << getRows() << "x" << getCols() << "x" << getElementType()
          << ", ";
  getLayout().printBody(printer);
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Accumulators in flight
//===----------------------------------------------------------------------===//

LogicalResult
FlightType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                   RegType tile) {
  if (!tile.getElementType().isF32() ||
      tile.getLayout() != LayoutAttr::getAcc(tile.getContext()))
    return emitError() << "expected float32 accumulators, found " << tile;
  return success();
}

Type FlightType::parse(AsmParser &parser) {
  SMLoc location = parser.getCurrentLocation();
  auto tile = dyn_cast_or_null<RegType>(RegType::parse(parser));
  if (!tile)
    return {};
  auto emitError = [&] { return parser.emitError(location); };
  if (failed(verify(emitError, tile)))
    return {};
  return get(parser.getContext(), tile);
}

void FlightType::print(AsmPrinter &printer) const { getTile().print(printer); }

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

int64_t SharedType::getStageBytes() const {
  int64_t bytes = getElementBytes(getElementType());
  if (getSwizzle() == 0)
    return getRows() * (getCols() + getPad()) * bytes;
  int64_t panels = llvm::divideCeil(getCols() * bytes, getSwizzle());
  return panels * getRows() * getSwizzle();
}

int64_t SharedType::getAlignment() const {
  // The pattern of a swizzle is one of addresses: 8 rows of a panel.
  return getSwizzle() == 0 ? 16 : 8 * getSwizzle();
}

int64_t SharedType::getOffset(int64_t row, int64_t col) const {
  int64_t bytes = getElementBytes(getElementType());
  if (getSwizzle() == 0)
    return (row * (getCols() + getPad()) + col) * bytes;
  int64_t across = col * bytes;
  int64_t panel = across / getSwizzle();
  int64_t piece = across % getSwizzle() / 16;
  int64_t swizzled = piece ^ (row % 8 * getSwizzle() / 128);
  return panel * getRows() * getSwizzle() + row * getSwizzle() + swizzled * 16 +
         across % 16;
}

SharedType SharedType::getStage() const {
  return get(getContext(), getRows(), getCols(), getElementType(), getSwizzle(),
             getPad(), 1);
}

LogicalResult
SharedType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                   int64_t rows, int64_t cols, Type elementType,
                   int64_t swizzle, int64_t pad, int64_t stages) {
  if (failed(verifyExtents(emitError, rows, cols)) ||
      failed(verifyElement(emitError, elementType, /*inMemory=*/true)))
    return failure();
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
    return emitError() << "expected a swizzle of 32, 64 or 128 bytes, found "
                       << swizzle;
  if (swizzle != 0 && pad != 0)
    return emitError() << "a swizzled matrix has no padding";
  if (swizzle != 0 && rows % 8 != 0)
    return emitError() << "a swizzled matrix has a multiple of 8 rows, found "
                       << rows;
  if (pad < 0 || stages < 1)
    return emitError() << "expected no negative padding and at least one stage";
  return success();
}

Type SharedType::parse(AsmParser &parser) {
  SMLoc location = parser.getCurrentLocation();
  int64_t rows, cols, swizzle = 0, pad = 0, stages = 1;
  Type element;
  if (parseMatrix(parser, rows, cols, element))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef word;
    SMLoc wordLocation = parser.getCurrentLocation();
    int64_t number;
    if (parser.parseKeyword(&word) || parser.parseEqual() ||
        parser.parseInteger(number))
      return {};
    if (word == "swizzle")
      swizzle = number;
    else if (word == "pad")
      pad = number;
    else if (word == "stages")
      stages = number;
    else
      return parser.emitError(wordLocation)
                 << "expected swizzle, pad or stages, found '" << word << "'",
             Type();
  }
  if (parser.parseGreater())
    return {};
  auto emitError = [&] { return parser.emitError(location); };
  if (failed(verify(emitError, rows, cols, element, swizzle, pad, stages)))
    return {};
  return get(parser.getContext(), rows, cols, element, swizzle, pad, stages);
}

void SharedType::print(AsmPrinter &printer) const {
  printer << "<" << getRows() << "x" << getCols() << "x" << getElementType();
  if (getSwizzle() != 0)
    printer << ", swizzle = " << getSwizzle();
  if (getPad() != 0)
    printer << ", pad = " << getPad();
  if (getStages() != 1)
    printer << ", stages = " << getStages();
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

LogicalResult
GlobalType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                   int64_t rows, int64_t cols, Type elementType) {
  if (failed(verifyExtents(emitError, ShapedType::isDynamic(rows) ? 1 : rows,
                           cols)))
    return failure();
  return verifyElement(emitError, elementType, /*inMemory=*/true);
}

Type GlobalType::parse(AsmParser &parser) {
  SMLoc location = parser.getCurrentLocation();
  int64_t rows, cols;
  Type element;
  if (parseMatrix(parser, rows, cols, element, /*dynamic=*/true) ||
      parser.parseGreater())
    return {};
  auto emitError = [&] { return parser.emitError(location); };
  if (failed(verify(emitError, rows, cols, element)))
    return {};
  return get(parser.getContext(), rows, cols, element);
}

void GlobalType::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printDimensionList({getRows(), getCols()});
  printer << "x" << getElementType() << ">";
}

//===----------------------------------------------------------------------===//
// Barriers in shared memory
//===----------------------------------------------------------------------===//

LogicalResult
PhasesType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                   int64_t stages, int64_t warps, bool) {
  if (stages < 1)
    return emitError() << "expected at least one stage, found " << stages;
  if (warps < 1)
    return emitError() << "expected at least one warp, found " << warps;
  return success();
}

Type PhasesType::parse(AsmParser &parser) {
  SMLoc location = parser.getCurrentLocation();
  SmallVector<int64_t> numbers;
  if (parser.parseLess() ||
      parser.parseDimensionList(numbers, /*allowDynamic=*/false,
                                /*withTrailingX=*/false))
    return {};
  bool copies = succeeded(parser.parseOptionalComma());
  if ((copies && parser.parseKeyword("copies")) || parser.parseGreater())
    return {};
  auto emitError = [&] { return parser.emitError(location); };
  if (numbers.size() != 2)
    return emitError() << "expected stages and warps, found " << numbers.size()
                       << " numbers",
           Type();
  if (failed(verify(emitError, numbers[0], numbers[1], copies)))
    return {};
  return get(parser.getContext(), numbers[0], numbers[1], copies);
}

void PhasesType::print(AsmPrinter &printer) const {
  printer << "<" << getStages() << " x " << getWarps();
  if (getCopies())
    printer << ", copies";
  printer << ">";
}
