//===- TileRegisterOps.cpp - Register tiles on a CPU ------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileMachine.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <deque>
#include <limits>

using namespace mlir;
using namespace larc;
using namespace larc::tile;
using namespace larc::tilerun;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

const Registers *TileMachine::getTile(Warp &warp, Operation *op, Value value) {
  const Registers &registers = *getSlot(warp, value).registers;
  if (!registers.inFlight)
    return &registers;
  op->emitOpError("touches registers that a matrix product in flight writes");
  return nullptr;
}

void TileMachine::setTile(Warp &warp, Value value, Elements elements) {
  auto registers = std::make_shared<Registers>();
  registers->elements = std::move(elements);
  registers->step = warp.step;
  getSlot(warp, value).registers = std::move(registers);
}

const Geometry &TileMachine::getGeometry(RegType type) {
  std::unique_ptr<Geometry> &geometry = geometries[type];
  if (geometry)
    return *geometry;
  geometry = std::make_unique<Geometry>();
  ArrayRef<int64_t> bits = type.getLayout().getLanes();
  auto isFirst = [&](int64_t lane) {
    for (int64_t bit = 0; bit < LayoutAttr::kLaneBits; ++bit)
      if (((lane >> bit) & 1) != 0 && bits[2 * bit] == 0 &&
          bits[2 * bit + 1] == 0)
        return false;
    return true;
  };
  for (int64_t reg = 0; reg < type.getNumRegisters(); ++reg) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      geometry->places.push_back(type.getElement(lane, reg));
      geometry->first.push_back(isFirst(lane));
    }
  }
  return *geometry;
}

ArrayRef<int64_t> TileMachine::getMap(RegType operand, RegType result) {
  auto &map = maps[{operand.withElementType(result.getElementType()), result}];
  if (!map)
    map = std::make_unique<SmallVector<int64_t>>(
        *getBroadcastMap(operand, result));
  return *map;
}

//===----------------------------------------------------------------------===//
// New tiles, and other views of tiles
//===----------------------------------------------------------------------===//

LogicalResult TileMachine::runSplat(Warp &warp, SplatOp op) {
  size_t count = getGeometry(op.getType()).places.size();
  setTile(warp, op, Elements(count, getSlot(warp, op.getValue()).scalar));
  getSlot(warp, op).registers->equal = true;
  return success();
}

LogicalResult TileMachine::runIndex(Warp &warp, IndexOp op) {
  bool rows = op.getDimension() == Dimension::Rows;
  Elements elements;
  for (auto [row, col] : getGeometry(op.getType()).places)
    elements.emplace_back().integer = rows ? row : col;
  setTile(warp, op, std::move(elements));
  return success();
}

LogicalResult TileMachine::runConvert(Warp &warp, ConvertOp op) {
  const Registers *operand = getTile(warp, op, op.getOperand());
  if (!operand)
    return failure();
  Format from = *getFormat(op.getOperand().getType().getElementType());
  Format to = *getFormat(op.getType().getElementType());
  Elements elements;
  for (int64_t reg : getMap(op.getOperand().getType(), op.getType()))
    for (int64_t lane = 0; lane < kLanes; ++lane)
      elements.push_back(
          convertElement(operand->elements[reg * kLanes + lane], from, to));
  setTile(warp, op, std::move(elements));
  return success();
}

LogicalResult TileMachine::runSlice(Warp &warp, SliceOp op) {
  const Registers *operand = getTile(warp, op, op.getOperand());
  if (!operand)
    return failure();
  RegType from = op.getOperand().getType(), to = op.getType();
  LayoutAttr layout = from.getLayout();
  int64_t registers = layout.getCellRegisters();
  int64_t firstRow = static_cast<int64_t>(op.getRow()) / layout.getCellRows();
  int64_t firstCol = static_cast<int64_t>(op.getCol()) / layout.getCellCols();
  int64_t fromAcross = from.getCols() / layout.getCellCols();
  int64_t toAcross = to.getCols() / layout.getCellCols();
  Elements elements;
  for (int64_t reg = 0; reg < to.getNumRegisters(); ++reg) {
    int64_t cell = reg / registers;
    int64_t source =
        (firstRow + cell / toAcross) * fromAcross + firstCol + cell % toAcross;
    auto begin = operand->elements.begin() +
                 (source * registers + reg % registers) * kLanes;
    elements.insert(elements.end(), begin, begin + kLanes);
  }
  setTile(warp, op, std::move(elements));
  return success();
}

LogicalResult TileMachine::runConcat(Warp &warp, ConcatOp op) {
  // Cells are numbered row after row.
  int64_t lines = 1;
  if (op.getDimension() == Dimension::Cols)
    lines = op.getType().getRows() / op.getType().getLayout().getCellRows();
  SmallVector<const Registers *> operands;
  for (Value operand : op.getOperands())
    if (!operands.emplace_back(getTile(warp, op, operand)))
      return failure();
  Elements elements;
  for (int64_t line = 0; line < lines; ++line) {
    for (const Registers *operand : operands) {
      auto count = static_cast<int64_t>(operand->elements.size()) / lines;
      auto begin = operand->elements.begin() + line * count;
      elements.insert(elements.end(), begin, begin + count);
    }
  }
  setTile(warp, op, std::move(elements));
  return success();
}

/// The elements of a tile by their places, row after row.
static Elements placeElements(RegType type, const Geometry &geometry,
                              const Elements &elements) {
  Elements matrix(type.getRows() * type.getCols());
  for (auto [place, element] : llvm::zip_equal(geometry.places, elements))
    matrix[place.first * type.getCols() + place.second] = element;
  return matrix;
}

LogicalResult TileMachine::runExchange(Warp &warp, ExchangeOp op) {
  const Registers *operand = getTile(warp, op, op.getOperand());
  if (!operand)
    return failure();
  RegType type = op.getType();
  const Geometry &geometry = getGeometry(type);
  Elements matrix = placeElements(type, geometry, operand->elements);
  auto distance = static_cast<int64_t>(op.getDistance());
  bool alongRows = op.getDimension() == Dimension::Rows;
  Elements elements;
  for (auto [row, col] : geometry.places) {
    int64_t fromRow = alongRows ? row ^ distance : row;
    int64_t fromCol = alongRows ? col : col ^ distance;
    elements.push_back(matrix[fromRow * type.getCols() + fromCol]);
  }
  setTile(warp, op, std::move(elements));
  return success();
}

LogicalResult TileMachine::runPick(Warp &warp, PickOp op) {
  const Registers *operand = getTile(warp, op, op.getOperand());
  if (!operand)
    return failure();
  RegType from = op.getOperand().getType();
  Elements matrix = placeElements(from, getGeometry(from), operand->elements);
  auto number = static_cast<int64_t>(op.getNumber());
  bool alongRows = op.getDimension() == Dimension::Rows;
  Elements elements;
  for (auto [row, col] : getGeometry(op.getType()).places)
    elements.push_back(matrix[(alongRows ? number : row) * from.getCols() +
                              (alongRows ? col : number)]);
  setTile(warp, op, std::move(elements));
  return success();
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

LogicalResult TileMachine::runMap(Warp &warp, MapOp op) {
  auto type = cast<RegType>(op.getResults().front().getType());
  auto count = static_cast<int64_t>(getGeometry(type).places.size());
  std::deque<Elements> storage;
  llvm::SmallDenseMap<Value, ElementSpan> spans;
  Block &body = op.getBody().front();
  for (auto [argument, operand] :
       llvm::zip_equal(body.getArguments(), op.getOperands())) {
    const Registers *registers = getTile(warp, op, operand);
    if (!registers)
      return failure();
    Elements &gathered = storage.emplace_back();
    for (int64_t reg : getMap(cast<RegType>(operand.getType()), type)) {
      auto begin = registers->elements.begin() + reg * kLanes;
      gathered.insert(gathered.end(), begin, begin + kLanes);
    }
    spans[argument] = {gathered.data(), false};
  }
  // A value from outside of the region is a scalar of the warp.
  auto getSpan = [&](Value value) -> ElementSpan {
    auto found = spans.find(value);
    if (found != spans.end())
      return found->second;
    return {&getSlot(warp, value).scalar, true};
  };
  for (Operation &inner : body.without_terminator()) {
    SmallVector<ElementSpan> operands;
    for (Value operand : inner.getOperands()) {
      if (!getFormat(operand.getType()))
        return inner.emitOpError("is not known to the interpreter");
      operands.push_back(getSpan(operand));
    }
    bool uniform = llvm::all_of(
        operands, [](const ElementSpan &span) { return span.uniform; });
    Elements &results = storage.emplace_back(uniform ? 1 : count);
    if (failed(evaluateElements(&inner, operands, results.data(),
                                static_cast<int64_t>(results.size()))))
      return failure();
    spans[inner.getResult(0)] = {results.data(), uniform};
  }
  auto yield = cast<YieldOp>(body.getTerminator());
  for (auto [value, result] :
       llvm::zip_equal(yield.getValues(), op.getResults())) {
    ElementSpan span = getSpan(value);
    Elements elements(count);
    for (int64_t i = 0; i < count; ++i)
      elements[i] = span[i];
    setTile(warp, result, std::move(elements));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions and scans
//===----------------------------------------------------------------------===//

static double combine(CombineKind kind, Format format, double x, double y) {
  switch (kind) {
  case CombineKind::Sum:
    return roundTo(format, x + y);
  case CombineKind::Product:
    return roundTo(format, x * y);
  case CombineKind::Max:
  case CombineKind::Min:
    break;
  }
  // As `arith.maximumf` and `arith.minimumf`: NaN wins, and -0 is below 0.
  if (std::isnan(x) || std::isnan(y))
    return x + y;
  bool less = x < y || (x == y && std::signbit(x));
  return less == (kind == CombineKind::Min) ? x : y;
}

static double getNeutral(CombineKind kind) {
  switch (kind) {
  case CombineKind::Sum:
    return 0;
  case CombineKind::Product:
    return 1;
  case CombineKind::Max:
    return -std::numeric_limits<double>::infinity();
  case CombineKind::Min:
    break;
  }
  return std::numeric_limits<double>::infinity();
}

LogicalResult TileMachine::runReduce(Warp &warp, ReduceOp op) {
  const Registers *operand = getTile(warp, op, op.getOperand());
  if (!operand)
    return failure();
  RegType from = op.getOperand().getType(), to = op.getType();
  Format format = *getFormat(from.getElementType());
  bool alongRows = op.getDimension() == Dimension::Rows;
  const Geometry &source = getGeometry(from), &target = getGeometry(to);
  auto getKept = [&](std::pair<int64_t, int64_t> place) {
    return alongRows ? place.second : place.first;
  };

  // Which result a register belongs to is the same in every lane.
  int64_t results = to.getNumRegisters();
  Elements elements(results * kLanes);
  std::vector<char> begun(results, false);
  for (int64_t reg = 0; reg < from.getNumRegisters(); ++reg) {
    int64_t result = 0;
    while (getKept(target.places[result * kLanes]) !=
           getKept(source.places[reg * kLanes]))
      ++result;
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      double value = operand->elements[reg * kLanes + lane].real;
      double &sum = elements[result * kLanes + lane].real;
      sum = begun[result] ? combine(op.getKind(), format, sum, value) : value;
    }
    begun[result] = true;
  }

  for (int64_t bit = 0; bit < LayoutAttr::kLaneBits; ++bit) {
    if (from.getLayout().getLanes()[2 * bit + (alongRows ? 0 : 1)] == 0)
      continue;
    Elements before = elements;
    for (auto [index, element] : llvm::enumerate(elements))
      element.real = combine(op.getKind(), format, before[index].real,
                             before[index ^ (size_t(1) << bit)].real);
  }
  setTile(warp, op, std::move(elements));
  return success();
}

/// Combines each element of a line with those before it in its block: within
/// cells of `cell` elements by aligned blocks, then cell by cell.
static void scanLine(CombineKind kind, Format format, int64_t cell,
                     int64_t block, MutableArrayRef<double> line) {
  auto size = static_cast<int64_t>(line.size());
  for (int64_t half = 1; half < std::min(cell, block); half *= 2)
    for (int64_t i = 0; i < size; ++i)
      if ((i & half) != 0)
        line[i] = combine(kind, format, line[(i & ~(2 * half - 1)) + half - 1],
                          line[i]);
  for (int64_t i = cell; i < size; ++i)
    if (i / cell * cell % block != 0)
      line[i] = combine(kind, format, line[i / cell * cell - 1], line[i]);
}

LogicalResult TileMachine::runScan(Warp &warp, ScanOp op) {
  const Registers *operand = getTile(warp, op, op.getOperand());
  if (!operand)
    return failure();
  RegType type = op.getType();
  Format format = *getFormat(type.getElementType());
  bool alongRows = op.getDimension() == Dimension::Rows;
  LayoutAttr layout = type.getLayout();
  int64_t cell = alongRows ? layout.getCellRows() : layout.getCellCols();
  int64_t size = alongRows ? type.getRows() : type.getCols();
  int64_t lines = alongRows ? type.getCols() : type.getRows();
  int64_t block = op.getBlockSize();
  const Geometry &geometry = getGeometry(type);
  // The number of an element in its line, from where the scan starts.
  auto getIndex = [&](std::pair<int64_t, int64_t> place) {
    auto [row, col] = place;
    int64_t along = alongRows ? row : col, line = alongRows ? col : row;
    return line * size + (op.getBackward() ? size - 1 - along : along);
  };

  std::vector<double> values(size * lines);
  for (auto [place, element] :
       llvm::zip_equal(geometry.places, operand->elements))
    values[getIndex(place)] = element.real;
  for (int64_t number = 0; number < lines; ++number) {
    MutableArrayRef<double> line =
        MutableArrayRef<double>(values).slice(number * size, size);
    scanLine(op.getKind(), format, cell, block, line);
    if (!op.getExclusive())
      continue;
    // The neutral element takes part, which makes a sum of -0 a 0.
    double neutral = getNeutral(op.getKind());
    std::move_backward(line.begin(), line.end() - 1, line.end());
    for (int64_t first = 0; first < size; first += block)
      line[first] = neutral;
    for (double &value : line)
      value = combine(op.getKind(), format, value, neutral);
  }
  Elements elements;
  for (std::pair<int64_t, int64_t> place : geometry.places)
    elements.emplace_back().real = values[getIndex(place)];
  setTile(warp, op, std::move(elements));
  return success();
}
