//===- TileOps.cpp - Programs, memory and register tiles -*- C++ -*- ------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace larc::tile;

#define GET_OP_CLASSES
#include "larc/Dialect/Tile/IR/TileOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

ParseResult ProgramOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Type> resultTypes;
  SmallVector<DictionaryAttr> resultAttrs;
  bool isVariadic = false;
  int64_t warps = 0, parts = 1, resident = 1;
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name),
                             result.attributes) ||
      function_interface_impl::parseFunctionSignatureWithArguments(
          parser, /*allowVariadic=*/false, arguments, isVariadic, resultTypes,
          resultAttrs) ||
      parser.parseKeyword("warps") || parser.parseInteger(warps))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("parts")) &&
      parser.parseInteger(parts))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("resident")) &&
      parser.parseInteger(resident))
    return failure();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();

  Builder &builder = parser.getBuilder();
  SmallVector<Type> types;
  for (const OpAsmParser::Argument &argument : arguments)
    types.push_back(argument.type);
  result.addAttribute(
      getFunctionTypeAttrName(result.name),
      TypeAttr::get(builder.getFunctionType(types, resultTypes)));
  result.addAttribute(getWarpsAttrName(result.name),
                      builder.getI64IntegerAttr(warps));
  result.addAttribute(getPartsAttrName(result.name),
                      builder.getI64IntegerAttr(parts));
  result.addAttribute(getResidentAttrName(result.name),
                      builder.getI64IntegerAttr(resident));
  call_interface_impl::addArgAndResultAttrs(
      builder, result, arguments, resultAttrs, getArgAttrsAttrName(result.name),
      getResAttrsAttrName(result.name));
  return parser.parseRegion(*result.addRegion(), arguments);
}

void ProgramOp::print(OpAsmPrinter &printer) {
  printer << " ";
  printer.printSymbolName(getSymName());
  call_interface_impl::printFunctionSignature(
      printer, getArgumentTypes(), getArgAttrsAttr(), /*isVariadic=*/false,
      getResultTypes(), getResAttrsAttr(), &getBody(),
      /*printEmptyResult=*/false);
  printer << " warps " << getWarps();
  if (getParts() != 1)
    printer << " parts " << getParts();
  if (getResident() != 1)
    printer << " resident " << getResident();
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {getSymNameAttrName(), getFunctionTypeAttrName(), getWarpsAttrName(),
       getPartsAttrName(), getResidentAttrName(), getArgAttrsAttrName(),
       getResAttrsAttrName()});
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

/// What a tensor map asks of an argument, if it has one.
static LogicalResult verifyBox(ProgramOp program, unsigned index) {
  Attribute attribute = program.getArgAttr(index, kBoxRowsAttrName);
  if (!attribute)
    return success();
  auto rows = dyn_cast<IntegerAttr>(attribute);
  // The pattern of a swizzle is one of 8 rows.
  if (!rows || !rows.getType().isInteger(64) || rows.getInt() < 8 ||
      rows.getInt() > kMostBoxRows || rows.getInt() % 8 != 0)
    return program.emitOpError("expected '")
           << kBoxRowsAttrName << "' of argument " << index << " to be 8 to "
           << kMostBoxRows << " in steps of 8, found " << attribute;
  auto type = cast<GlobalType>(program.getArgumentTypes()[index]);
  if (program.getArgumentKind(index) != ArgumentKind::Operand ||
      !type.hasDynamicRows())
    return program.emitOpError("expected argument ")
           << index << " with '" << kBoxRowsAttrName
           << "' to be an operand with a row for each token";
  int64_t bytes =
      type.getCols() * type.getElementType().getIntOrFloatBitWidth() / 8;
  if (bytes % kMapAlignment != 0)
    return program.emitOpError("expected rows of argument ")
           << index << " with '" << kBoxRowsAttrName << "' to be a multiple of "
           << kMapAlignment << " bytes, found " << bytes;
  return success();
}

LogicalResult ProgramOp::verify() {
  if (getWarps() < 1 || getWarps() > 32)
    return emitOpError("expected 1 to 32 warps, found ") << getWarps();
  if (getParts() < 1)
    return emitOpError("expected at least one part, found ") << getParts();
  if (getResident() < 1 || getResident() * getWarps() > 64)
    return emitOpError("expected resident blocks of 64 warps in all, found ")
           << getResident() << " of " << getWarps();
  if (!getResultTypes().empty())
    return emitOpError("a program has no results");
  for (auto [index, type] : llvm::enumerate(getArgumentTypes())) {
    if (!isa<GlobalType>(type))
      return emitOpError("expected argument ")
             << index << " to be a matrix in global memory, found " << type;
    if (!getArgAttrOfType<ArgumentKindAttr>(index, kArgumentAttrName))
      return emitOpError("argument ")
             << index << " does not say what it is: it needs a '"
             << kArgumentAttrName << "'";
    if (failed(verifyBox(*this, static_cast<unsigned>(index))))
      return failure();
  }
  auto maps = static_cast<int64_t>(getMappedArguments().size());
  if (maps > kMostMaps)
    return emitOpError("expected at most ")
           << kMostMaps << " operands with '" << kBoxRowsAttrName << "', found "
           << maps;
  return success();
}

/// Roles have no more registers than the block gets when it starts: a warp that
/// asked for more would wait for ever.
LogicalResult ProgramOp::verifyRegions() {
  constexpr int64_t step = 8;
  auto warps = static_cast<int64_t>(getWarps());
  int64_t each = kMultiprocessorRegisters / LayoutAttr::kLanes / warps /
                 static_cast<int64_t>(getResident()) / step * step;
  int64_t asked = 0;
  for (RoleOp role : getBody().getOps<RoleOp>())
    asked += static_cast<int64_t>(role.getWarps()) *
             static_cast<int64_t>(role.getRegisters().value_or(each));
  if (asked > each * warps)
    return emitOpError("expected roles of at most ")
           << each * warps << " registers for a lane of every warp, found "
           << asked;
  return success();
}

bool ProgramOp::isSegmented() {
  return getBody()
      .walk([](SegmentOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

int64_t ProgramOp::getBoxRows(unsigned index) {
  auto rows = getArgAttrOfType<IntegerAttr>(index, kBoxRowsAttrName);
  return rows ? rows.getInt() : 0;
}

SmallVector<unsigned> ProgramOp::getMappedArguments() {
  SmallVector<unsigned> mapped;
  for (unsigned i = 0; i < getNumArguments(); ++i)
    if (getBoxRows(i) != 0)
      mapped.push_back(i);
  return mapped;
}

ArgumentKind ProgramOp::getArgumentKind(unsigned index) {
  return getArgAttrOfType<ArgumentKindAttr>(index, kArgumentAttrName)
      .getValue();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

LogicalResult AllocOp::verify() {
  if (getOffset() && *getOffset() % getType().getAlignment() != 0)
    return emitOpError("expected an offset that is a multiple of ")
           << getType().getAlignment() << ", found " << *getOffset();
  return success();
}

LogicalResult StageOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  auto ring = dyn_cast<SharedType>(adaptor.getRing().getType());
  if (!ring)
    return failure();
  types.push_back(ring.getStage());
  return success();
}

/// What loads and stores ask of their two types.
static LogicalResult verifyAccess(Operation *op, RegType tile, Type memory) {
  Type element;
  int64_t stages = 1;
  if (auto shared = dyn_cast<SharedType>(memory)) {
    element = shared.getElementType();
    stages = shared.getStages();
  } else {
    element = cast<GlobalType>(memory).getElementType();
  }
  if (stages != 1)
    return op->emitOpError("expected one stage of the ring");
  if (element != tile.getElementType())
    return op->emitOpError("expected elements of type ")
           << element << ", found " << tile.getElementType();
  return success();
}

LogicalResult LoadOp::verify() {
  return verifyAccess(*this, getType(), getMemory().getType());
}

LogicalResult StoreOp::verify() {
  return verifyAccess(*this, getValue().getType(), getMemory().getType());
}

LogicalResult CopyAsyncOp::verify() {
  GlobalType source = getSource().getType();
  SharedType target = getTarget().getType();
  if (source.getElementType() != target.getElementType())
    return emitOpError("expected elements of type ")
           << source.getElementType() << ", found " << target.getElementType();
  if (target.getStages() != 1)
    return emitOpError("expected one stage of the ring");
  int64_t bytes = target.getElementType().getIntOrFloatBitWidth() / 8;
  if ((target.getCols() + target.getPad()) * bytes % 4 != 0 ||
      target.getCols() * bytes % 4 != 0)
    return emitOpError("expected rows of a multiple of 4 bytes");
  return success();
}

LogicalResult CopyBulkOp::verify() {
  GlobalType source = getSource().getType();
  SharedType target = getTarget().getType();
  auto argument = dyn_cast<BlockArgument>(getSource());
  auto program = argument
                     ? dyn_cast<ProgramOp>(argument.getOwner()->getParentOp())
                     : ProgramOp();
  if (!program || program.getBoxRows(argument.getArgNumber()) == 0)
    return emitOpError("expected an argument of the program with '")
           << kBoxRowsAttrName << "'";
  if (source.getElementType() != target.getElementType())
    return emitOpError("expected elements of type ")
           << source.getElementType() << ", found " << target.getElementType();
  if (target.getStages() != 1)
    return emitOpError("expected one stage of the ring");
  // Other patterns cannot be written row by row, where a sequence ends.
  if (target.getSwizzle() != kBoxBytes)
    return emitOpError("expected a target with a swizzle of ")
           << kBoxBytes << ", found " << target.getSwizzle();
  int64_t rows = program.getBoxRows(argument.getArgNumber());
  if (target.getRows() != rows)
    return emitOpError("expected boxes of ")
           << target.getRows() << " rows, found " << rows;
  // Barriers count up to 2^20 - 1 bytes.
  constexpr int64_t most = (1 << 20) - 1;
  if (target.getStageBytes() > most)
    return emitOpError("expected a target of at most ")
           << most << " bytes, found " << target.getStageBytes();
  if (getPhases().getType().getCopies())
    return emitOpError("expected barriers at which the warp itself arrives");
  return success();
}

//===----------------------------------------------------------------------===//
// Meeting of warps
//===----------------------------------------------------------------------===//

/// Barriers among some warps have an id and a count; all others are the
/// block's, which the warps of a role do not meet at alone.
static LogicalResult verifyMeeting(Operation *op, Value id,
                                   std::optional<uint64_t> warps) {
  if (static_cast<bool>(id) != warps.has_value())
    return op->emitOpError("a barrier with an id has a number of warps");
  if (!id && op->getParentOfType<RoleOp>())
    return op->emitOpError("the warps of a role meet at a barrier with an id");
  if (warps && *warps < 1)
    return op->emitOpError("expected at least one warp, found ") << *warps;
  return success();
}

LogicalResult BarrierOp::verify() {
  return verifyMeeting(*this, getId(), getWarps());
}

LogicalResult ArriveOp::verify() {
  return verifyMeeting(*this, getId(), getWarps());
}

LogicalResult VoteOp::verify() {
  if (!getPredicate().getType().getElementType().isInteger(1))
    return emitOpError("expected a predicate, found ")
           << getPredicate().getType();
  return verifyMeeting(*this, getId(), getWarps());
}

LogicalResult RoleOp::verify() {
  auto warps = static_cast<int64_t>(getWarps());
  auto first = static_cast<int64_t>(getFirst());
  auto all =
      static_cast<int64_t>((*this)->getParentOfType<ProgramOp>().getWarps());
  if (first < 0 || warps < 1 || first + warps > all)
    return emitOpError("expected warps of the program's ")
           << all << ", found " << first << " to " << first + warps - 1;
  if (!getRegisters())
    return success();
  if (first % 4 != 0 || warps % 4 != 0)
    return emitOpError("registers are given to groups of four warps");
  if (*getRegisters() < 24 || *getRegisters() > 240 || *getRegisters() % 8 != 0)
    return emitOpError("expected 24 to 240 registers in steps of 8, found ")
           << *getRegisters();
  return success();
}

//===----------------------------------------------------------------------===//
// Register tiles
//===----------------------------------------------------------------------===//

static int64_t getExtent(RegType type, Dimension dimension) {
  return dimension == Dimension::Rows ? type.getRows() : type.getCols();
}

LogicalResult IndexOp::verify() {
  RegType type = getType();
  int64_t other =
      getDimension() == Dimension::Rows ? type.getCols() : type.getRows();
  if (!type.getElementType().isInteger(32) || other != 1)
    return emitOpError("expected one i32 for each of the ")
           << stringifyDimension(getDimension()) << ", found " << type;
  return success();
}

void MapOp::build(
    OpBuilder &builder, OperationState &state, TypeRange results,
    ValueRange operands,
    llvm::function_ref<SmallVector<Value>(OpBuilder &, Location, ValueRange)>
        body) {
  state.addOperands(operands);
  state.addTypes(results);
  Region *region = state.addRegion();
  SmallVector<Type> types;
  for (Value operand : operands)
    types.push_back(cast<RegType>(operand.getType()).getElementType());
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(
      region, {}, types, SmallVector<Location>(types.size(), state.location));
  YieldOp::create(builder, state.location,
                  body(builder, state.location, block->getArguments()));
}

ParseResult MapOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  auto parseOne = [&]() -> ParseResult {
    return failure(parser.parseArgument(arguments.emplace_back()) ||
                   parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()));
  };
  FunctionType type;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseOne) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColon() ||
      parser.parseType(type) ||
      parser.resolveOperands(operands, type.getInputs(), location,
                             result.operands))
    return failure();
  for (auto [argument, input] : llvm::zip_equal(arguments, type.getInputs())) {
    auto tile = dyn_cast<RegType>(input);
    if (!tile)
      return parser.emitError(location)
             << "expected a register tile, found " << input;
    argument.type = tile.getElementType();
  }
  result.addTypes(type.getResults());
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, arguments))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), result.location);
  return success();
}

void MapOp::print(OpAsmPrinter &printer) {
  printer << " (";
  llvm::interleaveComma(
      llvm::zip_equal(getBody().getArguments(), getOperands()), printer,
      [&](auto pair) {
        printer.printRegionArgument(std::get<0>(pair), {}, /*omitType=*/true);
        printer << " = " << std::get<1>(pair);
      });
  printer << ")";
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " : ";
  printer.printFunctionalType(*this);
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult MapOp::verify() {
  if (getResults().empty())
    return emitOpError("expected a result");
  auto first = cast<RegType>(getResults().front().getType());
  for (Value result : getResults()) {
    auto type = cast<RegType>(result.getType());
    if (!type.hasSameShape(first) || type.getLayout() != first.getLayout())
      return emitOpError("expected results of one shape and layout, found ")
             << first << " and " << type;
  }
  for (auto [index, operand] : llvm::enumerate(getOperands())) {
    auto type = cast<RegType>(operand.getType());
    if (failed(getBroadcastMap(type, first)))
      return emitOpError("operand ")
             << index << " of type " << type
             << " does not have its elements where those of " << first
             << " are";
  }
  return success();
}

LogicalResult MapOp::verifyRegions() {
  Block &block = getBody().front();
  if (block.getNumArguments() != getOperands().size())
    return emitOpError("expected ")
           << getOperands().size() << " region arguments, found "
           << block.getNumArguments();
  for (auto [argument, operand] :
       llvm::zip_equal(block.getArguments(), getOperands()))
    if (argument.getType() != cast<RegType>(operand.getType()).getElementType())
      return emitOpError("expected a region argument of type ")
             << cast<RegType>(operand.getType()).getElementType() << ", found "
             << argument.getType();
  auto yield = cast<YieldOp>(block.getTerminator());
  if (yield.getValues().size() != getResults().size())
    return emitOpError("expected ")
           << getResults().size() << " elements to be yielded, found "
           << yield.getValues().size();
  for (auto [value, result] : llvm::zip_equal(yield.getValues(), getResults()))
    if (value.getType() != cast<RegType>(result.getType()).getElementType())
      return emitOpError("expected an element of type ")
             << cast<RegType>(result.getType()).getElementType()
             << " to be yielded, found " << value.getType();
  for (Operation &op : block.without_terminator())
    if (!isPure(&op) || op.getNumRegions() != 0)
      return op.emitOpError("is not an operation on scalars without effects");
  return success();
}

/// Of what has one element left along `dimension`.
static LogicalResult inferSlice(Value value, Dimension dimension,
                                SmallVectorImpl<Type> &types) {
  auto operand = dyn_cast<RegType>(value.getType());
  if (!operand)
    return failure();
  types.push_back(operand.getSlice(
      dimension == Dimension::Cols ? Dimension::Rows : Dimension::Cols));
  return success();
}

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  return inferSlice(adaptor.getOperand(), adaptor.getDimension(), types);
}

static LogicalResult verifyCombined(Operation *op, RegType type) {
  if (isa<FloatType>(type.getElementType()))
    return success();
  return op->emitOpError("expected floating-point elements, found ") << type;
}

LogicalResult ReduceOp::verify() {
  return verifyCombined(*this, getOperand().getType());
}

int64_t ScanOp::getBlockSize() {
  RegType type = getOperand().getType();
  if (getBlock())
    return static_cast<int64_t>(*getBlock());
  return getExtent(type, getDimension());
}

LogicalResult ScanOp::verify() {
  RegType type = getOperand().getType();
  if (failed(verifyCombined(*this, type)))
    return failure();
  int64_t extent = getExtent(type, getDimension());
  int64_t block = getBlockSize();
  if (getBlock() && (!llvm::isPowerOf2_64(block) || block > extent))
    return emitOpError("expected blocks of a power of two of at most ")
           << extent << " elements, found " << block;
  return success();
}

/// What operations that move elements of up to 32 bits between lanes ask.
static LogicalResult verifyMoved(Operation *op, RegType type) {
  unsigned bits = type.getElementType().getIntOrFloatBitWidth();
  if (bits == 16 || bits == 32)
    return success();
  return op->emitOpError("expected elements of 16 or 32 bits, found ") << type;
}

LogicalResult ExchangeOp::verify() {
  RegType type = getType();
  if (failed(verifyMoved(*this, type)))
    return failure();
  auto distance = static_cast<int64_t>(getDistance());
  // Layouts have a bit for every power of two within a cell, and cells are
  // as far apart as their extents.
  int64_t extent = getExtent(type, getDimension());
  if (distance < 1 || !llvm::isPowerOf2_64(distance) || distance >= extent)
    return emitOpError("expected a distance of a power of two below ")
           << extent << ", found " << distance;
  if (extent % (2 * distance) != 0)
    return emitOpError("expected a multiple of ")
           << 2 * distance << " " << stringifyDimension(getDimension())
           << ", found " << extent;
  return success();
}

LogicalResult PickOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  return inferSlice(adaptor.getOperand(), adaptor.getDimension(), types);
}

LogicalResult PickOp::verify() {
  RegType type = getOperand().getType();
  if (failed(verifyMoved(*this, type)))
    return failure();
  auto number = static_cast<int64_t>(getNumber());
  int64_t extent = getExtent(type, getDimension());
  if (number < 0 || number >= extent)
    return emitOpError("expected a number from 0 to ")
           << extent - 1 << ", found " << number;
  return success();
}

LogicalResult ConvertOp::verify() {
  RegType from = getOperand().getType(), to = getType();
  if (!from.hasSameShape(to))
    return emitOpError("expected a tile of the same shape, found ")
           << from << " and " << to;
  if (isa<FloatType>(from.getElementType()) !=
      isa<FloatType>(to.getElementType()))
    return emitOpError("expected both element types to be floating-point "
                       "types, or none, found ")
           << from << " and " << to;
  if (failed(getRegisterMap(from, to)))
    return emitOpError("a lane of ")
           << to << " needs elements that " << from << " has in other lanes";
  return success();
}

OpFoldResult ConvertOp::fold(FoldAdaptor) {
  return getOperand().getType() == getType() ? getOperand() : OpFoldResult();
}

LogicalResult SliceOp::verify() {
  RegType from = getOperand().getType(), to = getType();
  if (from.getLayout() != to.getLayout() ||
      from.getElementType() != to.getElementType())
    return emitOpError("expected the same element type and layout, found ")
           << from << " and " << to;
  int64_t row = getRow(), col = getCol();
  if (row % from.getLayout().getCellRows() != 0 ||
      col % from.getLayout().getCellCols() != 0)
    return emitOpError("expected a slice to start at a cell of ")
           << from.getLayout().getCellRows() << "x"
           << from.getLayout().getCellCols() << ", found [" << row << ", "
           << col << "]";
  if (row < 0 || col < 0 || row + to.getRows() > from.getRows() ||
      col + to.getCols() > from.getCols())
    return emitOpError("the slice is not within ") << from;
  return success();
}

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location>,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  int64_t extent = 0;
  RegType first;
  for (Value operand : adaptor.getOperands()) {
    auto type = dyn_cast<RegType>(operand.getType());
    if (!type)
      return failure();
    if (!first)
      first = type;
    extent += getExtent(type, adaptor.getDimension());
  }
  if (!first)
    return failure();
  bool alongRows = adaptor.getDimension() == Dimension::Rows;
  types.push_back(RegType::get(context, alongRows ? extent : first.getRows(),
                               alongRows ? first.getCols() : extent,
                               first.getElementType(), first.getLayout()));
  return success();
}

LogicalResult ConcatOp::verify() {
  Dimension across =
      getDimension() == Dimension::Rows ? Dimension::Cols : Dimension::Rows;
  auto first = cast<RegType>(getOperands().front().getType());
  for (Value operand : getOperands().drop_front()) {
    auto type = cast<RegType>(operand.getType());
    if (type.getLayout() != first.getLayout() ||
        type.getElementType() != first.getElementType())
      return emitOpError("expected the same element type and layout, found ")
             << first << " and " << type;
    if (getExtent(type, across) != getExtent(first, across))
      return emitOpError("expected the same number of ")
             << stringifyDimension(across) << ", found " << first << " and "
             << type;
  }
  return success();
}
