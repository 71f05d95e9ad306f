//===- Layout.cpp - Layouts of register tiles -*- C++ -*- -----------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A layout is kept as the movements of its lane and register bits. Everything
// else is computed from them: there is no table of elements.
//
//===----------------------------------------------------------------------===//

#include "larc/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace larc::tile;

//===----------------------------------------------------------------------===//
// Geometry
//===----------------------------------------------------------------------===//

int64_t LayoutAttr::getCellExtent(unsigned dimension) const {
  int64_t last = 0;
  for (ArrayRef<int64_t> bases : {getLanes(), getRegisters()})
    for (size_t i = dimension; i < bases.size(); i += 2)
      last = std::max(last, bases[i]);
  return last == 0 ? 1 : 2 * last;
}

int64_t LayoutAttr::getCellRegisters() const {
  return int64_t(1) << (getRegisters().size() / 2);
}

/// Adds the movements of the bits that are set in `number`.
static void addMovements(ArrayRef<int64_t> bases, int64_t number,
                         std::pair<int64_t, int64_t> &element) {
  for (size_t bit = 0; 2 * bit < bases.size(); ++bit) {
    if (((number >> bit) & 1) == 0)
      continue;
    element.first += bases[2 * bit];
    element.second += bases[2 * bit + 1];
  }
}

std::pair<int64_t, int64_t> LayoutAttr::getElement(int64_t lane,
                                                   int64_t reg) const {
  std::pair<int64_t, int64_t> element(0, 0);
  addMovements(getLanes(), lane, element);
  addMovements(getRegisters(), reg, element);
  return element;
}

LayoutAttr LayoutAttr::getSlice(Dimension kept) const {
  unsigned dropped = kept == Dimension::Rows ? 1 : 0;
  SmallVector<int64_t> lanes(getLanes());
  for (size_t i = dropped; i < lanes.size(); i += 2)
    lanes[i] = 0;
  SmallVector<int64_t> registers;
  for (size_t i = 0; i < getRegisters().size(); i += 2) {
    if (getRegisters()[i + dropped] != 0)
      continue;
    registers.append({getRegisters()[i], getRegisters()[i + 1]});
  }
  return get(getContext(), lanes, registers);
}

FailureOr<SmallVector<int64_t>> larc::tile::getBroadcastMap(RegType operand,
                                                            RegType result) {
  if ((operand.getRows() != 1 && operand.getRows() != result.getRows()) ||
      (operand.getCols() != 1 && operand.getCols() != result.getCols()))
    return failure();
  SmallVector<int64_t> map;
  for (int64_t reg = 0; reg < result.getNumRegisters(); ++reg) {
    std::optional<int64_t> source;
    for (int64_t candidate = 0;
         candidate < operand.getNumRegisters() && !source; ++candidate) {
      auto holds = [&](int64_t lane) {
        auto [row, col] = result.getElement(lane, reg);
        auto [heldRow, heldCol] = operand.getElement(lane, candidate);
        return heldRow == (operand.getRows() == 1 ? 0 : row) &&
               heldCol == (operand.getCols() == 1 ? 0 : col);
      };
      if (llvm::all_of(llvm::seq<int64_t>(0, LayoutAttr::kLanes), holds))
        source = candidate;
    }
    if (!source)
      return failure();
    map.push_back(*source);
  }
  return map;
}

FailureOr<SmallVector<int64_t>> larc::tile::getRegisterMap(RegType from,
                                                           RegType to) {
  if (!from.hasSameShape(to))
    return failure();
  return getBroadcastMap(from, to);
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

LogicalResult
LayoutAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                   ArrayRef<int64_t> lanes, ArrayRef<int64_t> registers) {
  if (lanes.size() != 2 * kLaneBits)
    return emitError() << "expected a row and a column for each of "
                       << kLaneBits << " lane bits, found " << lanes.size()
                       << " numbers";
  if (registers.size() % 2 != 0)
    return emitError() << "expected a row and a column for each register bit, "
                          "found "
                       << registers.size() << " numbers";
  SmallVector<int64_t> seen[2];
  auto addBases = [&](ArrayRef<int64_t> bases, bool mayStay) -> LogicalResult {
    for (size_t i = 0; i < bases.size(); i += 2) {
      int64_t row = bases[i], col = bases[i + 1];
      if (row == 0 && col == 0 && mayStay)
        continue;
      bool single = (row == 0) != (col == 0);
      if (!single || row < 0 || col < 0 ||
          !llvm::isPowerOf2_64(static_cast<uint64_t>(row + col)))
        return emitError() << "expected a bit to move by a power of two along "
                              "one dimension, found ("
                           << row << ", " << col << ")";
      seen[row == 0 ? 1 : 0].push_back(row + col);
    }
    return success();
  };
  if (failed(addBases(lanes, /*mayStay=*/true)) ||
      failed(addBases(registers, /*mayStay=*/false)))
    return failure();
  for (unsigned dimension : {0, 1}) {
    llvm::sort(seen[dimension]);
    for (auto [bit, step] : llvm::enumerate(seen[dimension]))
      if (step != int64_t(1) << bit)
        return emitError() << "no bit, or more than one, moves by "
                           << (int64_t(1) << bit) << " along the "
                           << (dimension == 0 ? "rows" : "columns");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The layouts of the matrix units
//===----------------------------------------------------------------------===//

LayoutAttr LayoutAttr::getAcc(MLIRContext *context) {
  return get(context, {0, 2, 0, 4, 1, 0, 2, 0, 4, 0}, {0, 1, 8, 0});
}

LayoutAttr LayoutAttr::getLhs(MLIRContext *context, unsigned bits) {
  if (bits == 32)
    return get(context, {0, 1, 0, 2, 1, 0, 2, 0, 4, 0}, {8, 0, 0, 4});
  return get(context, {0, 2, 0, 4, 1, 0, 2, 0, 4, 0}, {0, 1, 8, 0, 0, 8});
}

LayoutAttr LayoutAttr::getRhs(MLIRContext *context, unsigned bits) {
  if (bits == 32)
    return get(context, {1, 0, 2, 0, 0, 1, 0, 2, 0, 4}, {4, 0});
  return get(context, {2, 0, 4, 0, 0, 1, 0, 2, 0, 4}, {1, 0, 8, 0});
}

LayoutAttr LayoutAttr::getBlocked(MLIRContext *context, int64_t rows,
                                  int64_t cols, int64_t vector) {
  SmallVector<int64_t> lanes, registers;
  int64_t col = 1, row = 1;
  for (; col < std::min(vector, cols); col *= 2)
    registers.append({0, col});
  while (lanes.size() < 2 * kLaneBits) {
    if (col < cols) {
      lanes.append({0, col});
      col *= 2;
    } else if (row < rows) {
      lanes.append({row, 0});
      row *= 2;
    } else {
      lanes.append({0, 0});
    }
  }
  for (; col < cols; col *= 2)
    registers.append({0, col});
  for (; row < rows; row *= 2)
    registers.append({row, 0});
  return get(context, lanes, registers);
}

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

namespace {
struct NamedLayout {
  StringLiteral name;
  LayoutAttr layout;
};
} // namespace

static SmallVector<NamedLayout> getNamedLayouts(MLIRContext *context) {
  return {{"acc", LayoutAttr::getAcc(context)},
          {"lhs", LayoutAttr::getLhs(context)},
          {"rhs", LayoutAttr::getRhs(context)},
          {"lhs32", LayoutAttr::getLhs(context, 32)},
          {"rhs32", LayoutAttr::getRhs(context, 32)}};
}

void LayoutAttr::printBody(AsmPrinter &printer) const {
  for (const NamedLayout &named : getNamedLayouts(getContext())) {
    if (named.layout == *this) {
      printer << named.name;
      return;
    }
    for (Dimension kept : {Dimension::Rows, Dimension::Cols}) {
      if (named.layout.getSlice(kept) == *this) {
        printer << stringifyDimension(kept) << " " << named.name;
        return;
      }
    }
  }
  printer << "lane = [";
  llvm::interleaveComma(getLanes(), printer);
  printer << "], register = [";
  llvm::interleaveComma(getRegisters(), printer);
  printer << "]";
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printBody(printer);
  printer << ">";
}

static FailureOr<SmallVector<int64_t>> parseNumbers(AsmParser &parser) {
  SmallVector<int64_t> numbers;
  auto parseNumber = [&] {
    return parser.parseInteger(numbers.emplace_back());
  };
  if (parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseNumber))
    return failure();
  return numbers;
}

FailureOr<LayoutAttr> LayoutAttr::parseBody(AsmParser &parser) {
  SMLoc location = parser.getCurrentLocation();
  MLIRContext *context = parser.getContext();
  auto emitError = [&] { return parser.emitError(location); };
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  if (word == "lane") {
    FailureOr<SmallVector<int64_t>> lanes = parseNumbers(parser);
    if (failed(lanes) || parser.parseComma() || parser.parseKeyword("register"))
      return failure();
    FailureOr<SmallVector<int64_t>> registers = parseNumbers(parser);
    if (failed(registers))
      return failure();
    if (failed(verify(emitError, *lanes, *registers)))
      return failure();
    return get(context, *lanes, *registers);
  }
  std::optional<Dimension> kept = symbolizeDimension(word);
  if (kept && parser.parseKeyword(&word))
    return failure();
  for (const NamedLayout &named : getNamedLayouts(context))
    if (named.name == word)
      return kept ? named.layout.getSlice(*kept) : named.layout;
  return emitError() << "expected acc, lhs, rhs, lhs32, rhs32 or a lane map, "
                        "found '"
                     << word << "'";
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<LayoutAttr> layout = parseBody(parser);
  if (failed(layout) || parser.parseGreater())
    return {};
  return *layout;
}
