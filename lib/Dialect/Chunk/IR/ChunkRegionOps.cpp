//===- ChunkRegionOps.cpp - Operations with regions -*- C++ -*- -----------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChunkSyntax.h"

using namespace mlir;
using namespace larc;
using namespace larc::chunk;

using Argument = OpAsmParser::Argument;
using UnresolvedOperand = OpAsmParser::UnresolvedOperand;

//===----------------------------------------------------------------------===//
// YieldOp
//===----------------------------------------------------------------------===//

ParseResult chunk::YieldOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<UnresolvedOperand> values;
  return failure(parser.parseOperandList(values) ||
                 resolveAll(parser, result, values) ||
                 parser.parseOptionalAttrDict(result.attributes));
}

void chunk::YieldOp::print(OpAsmPrinter &printer) {
  if (!getValues().empty())
    printer << ' ' << getValues();
  printer.printOptionalAttrDict((*this)->getAttrs());
}

//===----------------------------------------------------------------------===//
// Shared pieces
//===----------------------------------------------------------------------===//

/// Makes the arguments after `over` one token's slices of what they are bound
/// to.
static ParseResult sliceTokens(OpAsmParser &parser, StringAttr token,
                               MutableArrayRef<Argument> arguments,
                               ArrayRef<UnresolvedOperand> values) {
  for (auto [argument, value] : llvm::zip(arguments, values)) {
    auto array = dyn_cast<ArrayType>(argument.type);
    if (!array || !array.hasAxis(token))
      return parser.emitError(value.location)
             << "goes over tokens '" << token.getValue() << "' of "
             << value.name << ", which does not have that axis";
    argument.type = array.without({token});
  }
  return success();
}

static LogicalResult requireTokens(Operation *op, StringRef what,
                                   ValueRange values, StringAttr token) {
  for (Value value : values)
    if (auto array = cast<ArrayType>(value.getType()); !array.hasAxis(token))
      return op->emitOpError("has ")
             << what << " " << spell(array) << " without the axis of tokens '"
             << token.getValue() << "'";
  return success();
}

/// Arguments are arrays of one token: without any axis of tokens, and so is
/// all that the region computes or uses.
static LogicalResult verifyTokenRegion(Operation *op, Region &region) {
  auto scan = op->getParentOfType<ScanOp>();
  auto check = [&](Value value, Operation *at) -> LogicalResult {
    auto array = dyn_cast<ArrayType>(value.getType());
    if (!array)
      return at->emitOpError("has a value that is not an array in the region "
                             "of one token");
    for (StringAttr axis : array.getAxes())
      if (scan.lookupTokenAxis(axis))
        return at->emitOpError("has the axis of tokens '")
               << axis.getValue() << "' in the region of one token";
    return success();
  };
  for (BlockArgument argument : region.getArguments())
    if (failed(check(argument, op)))
      return failure();
  WalkResult walked = region.walk([&](Operation *inner) -> WalkResult {
    for (Value operand : inner->getOperands())
      if (failed(check(operand, inner)))
        return WalkResult::interrupt();
    for (Value result : inner->getResults())
      if (failed(check(result, inner)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

/// Checks that the region ends with at least `count` values.
static FailureOr<chunk::YieldOp> requireYield(Operation *op, Region &region,
                                              size_t count, StringRef what) {
  auto yield = dyn_cast<chunk::YieldOp>(region.front().getTerminator());
  if (!yield)
    return op->emitOpError("needs a region that ends with chunk.yield");
  if (yield.getValues().size() < count)
    return yield.emitOpError("gives ")
           << yield.getValues().size() << " values, but there are " << count
           << " " << what;
  return yield;
}

/// Slices of `over` among the arguments have its types without the tokens.
static LogicalResult verifySlices(Operation *op,
                                  Block::BlockArgListType arguments,
                                  OperandRange over, StringAttr token) {
  for (auto [argument, value] : llvm::zip(arguments, over)) {
    ArrayType type = cast<ArrayType>(value.getType()).without({token});
    if (argument.getType() != type)
      return op->emitOpError("has ")
             << argument.getType() << " as region argument "
             << argument.getArgNumber() << ", which is a slice of type "
             << type;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// SolveOp
//===----------------------------------------------------------------------===//

Block::BlockArgListType SolveOp::getPastArguments() {
  return getBody().getArguments().drop_back(getOver().size());
}

Block::BlockArgListType SolveOp::getSliceArguments() {
  return getBody().getArguments().take_back(getOver().size());
}

chunk::YieldOp SolveOp::getYield() {
  return cast<chunk::YieldOp>(getBody().front().getTerminator());
}

ParseResult SolveOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<UnresolvedOperand> scores, over;
  SmallVector<Argument> slices, arguments;
  SmallVector<int64_t> pairs;
  StringAttr token, source;
  int64_t numWrites;
  auto parseScores = [&]() -> ParseResult {
    return failure(
        parser.parseOperand(scores.emplace_back()) || parser.parseLSquare() ||
        parser.parseInteger(pairs.emplace_back()) || parser.parseComma() ||
        parser.parseInteger(pairs.emplace_back()) || parser.parseRSquare());
  };
  if (parser.parseKeyword("scores") ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren,
                                     parseScores) ||
      parser.parseKeyword("writes") || parser.parseInteger(numWrites) ||
      parseTokenToSource(parser, token, source))
    return failure();
  auto &properties = result.getOrAddProperties<Properties>();
  if (succeeded(parser.parseOptionalKeyword("affine")))
    properties.affine = parser.getBuilder().getUnitAttr();
  OperationState decays(result.location, result.name);
  int32_t numDecays;
  if (parseGroup(parser, "decay", decays, numDecays) ||
      asm_format::parseBindings(parser, "over", slices, over) ||
      sliceTokens(parser, token, slices, over) || parser.parseKeyword("past") ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren,
                                     [&] {
                                       return parseArgumentWithAxes(
                                           parser, arguments.emplace_back());
                                     }) ||
      resolveAll(parser, result, scores) || resolveAll(parser, result, over))
    return failure();
  result.addOperands(decays.operands);
  properties.pairs = parser.getBuilder().getDenseI64ArrayAttr(pairs);
  properties.numWrites = parser.getBuilder().getI64IntegerAttr(numWrites);
  properties.token = token;
  properties.source = source;
  properties.operandSegmentSizes = {static_cast<int32_t>(scores.size()),
                                    static_cast<int32_t>(over.size()),
                                    numDecays};
  arguments.append(slices);
  if (asm_format::parseScopedRegion(parser, *result.addRegion(), arguments,
                                    "chunk.yield") ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  SmallVector<Type> types = asm_format::yieldedTypes(*result.regions.front());
  for (Type &type : types)
    if (auto array = dyn_cast<ArrayType>(type))
      type = withAxis(array, token);
  return asm_format::recordTypes(parser, result, types);
}

void SolveOp::print(OpAsmPrinter &printer) {
  printer << " scores(";
  llvm::interleaveComma(
      llvm::enumerate(getScores()), printer.getStream(), [&](auto it) {
        printer << it.value() << " [" << getPairs()[2 * it.index()] << ", "
                << getPairs()[2 * it.index() + 1] << "]";
      });
  printer << ") writes " << getNumWrites() << ' ' << getToken() << " to "
          << getSource() << (getAffine() ? " affine" : "");
  printGroup(printer, "decay", getDecays());
  asm_format::printBindings(printer, "over", getSliceArguments(), getOver());
  printer << " past(";
  llvm::interleaveComma(
      getPastArguments(), printer.getStream(), [&](BlockArgument argument) {
        printer << argument;
        printArgumentAxes(printer, cast<ArrayType>(argument.getType()));
      });
  printer << ") ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {"pairs", "numWrites", "token", "source",
                                 "affine", "operandSegmentSizes"});
}

LogicalResult SolveOp::verify() {
  StringAttr token = getTokenAttr(), source = getSourceAttr();
  if (failed(verifyTokenAndSource(*this, token, source)) ||
      failed(requireTokens(*this, "scores", getScores(), token)) ||
      failed(requireTokens(*this, "scores", getScores(), source)) ||
      failed(requireTokens(*this, "a decay", getDecays(), token)) ||
      failed(requireTokens(*this, "an array", getOver(), token)))
    return failure();
  if (getNumWrites() < 1)
    return emitOpError("needs at least one write, not ")
           << static_cast<int64_t>(getNumWrites());
  if (getPairs().size() != 2 * getScores().size())
    return emitOpError("needs a read and a write for each of ")
           << getScores().size() << " scores, not " << getPairs().size()
           << " numbers";
  if (getOver().size() > getBody().getNumArguments())
    return emitOpError("has fewer region arguments than arrays to go over");
  return success();
}

LogicalResult SolveOp::verifyRegions() {
  StringAttr token = getTokenAttr();
  int64_t numReads = getPastArguments().size(), numWrites = getNumWrites();
  FailureOr<chunk::YieldOp> yield =
      requireYield(*this, getBody(), numWrites, "writes");
  if (failed(yield) || failed(verifyTokenRegion(*this, getBody())) ||
      failed(verifySlices(*this, getSliceArguments(), getOver(), token)))
    return failure();
  SmallVector<ArrayType> pasts(numReads);
  llvm::SmallDenseSet<std::pair<int64_t, int64_t>> seen;
  for (auto [i, scores] : llvm::enumerate(getScores())) {
    int64_t read = getPairs()[2 * i], write = getPairs()[2 * i + 1];
    if (read < 0 || read >= numReads || write < 0 || write >= numWrites)
      return emitOpError("pairs read ")
             << read << " with write " << write << " of " << numReads
             << " reads and " << numWrites << " writes";
    if (!seen.insert({read, write}).second)
      return emitOpError("pairs read ")
             << read << " with write " << write << " twice";
    ArrayType kept =
        cast<ArrayType>(scores.getType()).without({token, getSourceAttr()});
    auto sum = cast<ArrayType>(yield->getValues()[write].getType());
    for (Value decay : getDecays())
      sum = ArrayType::unionOf(
          sum, cast<ArrayType>(decay.getType()).without({token}));
    for (StringAttr axis : sum.getAxes())
      if (kept.hasAxis(axis))
        return emitOpError("sums a write ")
               << spell(sum) << " that has axis '" << axis.getValue()
               << "' of its scores";
    kept = ArrayType::unionOf(kept, sum);
    pasts[read] = pasts[read] ? ArrayType::unionOf(pasts[read], kept) : kept;
  }
  for (auto [i, argument] : llvm::enumerate(getPastArguments())) {
    if (!pasts[i])
      return emitOpError("has read ") << i << ", which no scores belong to";
    if (argument.getType() != pasts[i])
      return emitOpError("has ")
             << spell(cast<ArrayType>(argument.getType())) << " as past " << i
             << ", but what it sums is " << spell(pasts[i]);
  }
  if (getNumResults() != yield->getValues().size())
    return emitOpError("has ")
           << getNumResults() << " results, but its region gives "
           << yield->getValues().size();
  for (auto [i, value] : llvm::enumerate(yield->getValues()))
    if (Type type = withAxis(cast<ArrayType>(value.getType()), token);
        getResult(i).getType() != type)
      return emitOpError("has ") << getResult(i).getType() << " as result " << i
                                 << ", but its region gives " << type;
  return success();
}

//===----------------------------------------------------------------------===//
// TokensOp
//===----------------------------------------------------------------------===//

Block::BlockArgListType TokensOp::getSliceArguments() {
  return getBody().getArguments().take_front(getOver().size());
}

Block::BlockArgListType TokensOp::getCarriedArguments() {
  return getBody().getArguments().drop_front(getOver().size());
}

chunk::YieldOp TokensOp::getYield() {
  return cast<chunk::YieldOp>(getBody().front().getTerminator());
}

ParseResult TokensOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<UnresolvedOperand> over, inits;
  SmallVector<Argument> arguments, carried;
  StringAttr token;
  if (asm_format::parseAxis(parser, token))
    return failure();
  auto &properties = result.getOrAddProperties<Properties>();
  if (succeeded(parser.parseOptionalKeyword("semiring")))
    properties.semiring = parser.getBuilder().getUnitAttr();
  if (asm_format::parseBindings(parser, "over", arguments, over) ||
      sliceTokens(parser, token, arguments, over) ||
      asm_format::parseBindings(parser, "iter", carried, inits) ||
      resolveAll(parser, result, over) || resolveAll(parser, result, inits))
    return failure();
  properties.token = token;
  properties.operandSegmentSizes = {static_cast<int32_t>(over.size()),
                                    static_cast<int32_t>(inits.size())};
  arguments.append(carried);
  if (asm_format::parseScopedRegion(parser, *result.addRegion(), arguments,
                                    "chunk.yield") ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  SmallVector<Type> types = asm_format::yieldedTypes(*result.regions.front());
  for (auto [i, type] : llvm::enumerate(types))
    if (auto array = dyn_cast<ArrayType>(type); array && i >= inits.size())
      type = withAxis(array, token);
  return asm_format::recordTypes(parser, result, types);
}

void TokensOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getToken() << (getSemiring() ? " semiring" : "");
  asm_format::printBindings(printer, "over", getSliceArguments(), getOver());
  asm_format::printBindings(printer, "iter", getCarriedArguments(), getInits());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {"token", "semiring", "operandSegmentSizes"});
}

LogicalResult TokensOp::verify() {
  if (failed(requireTokenAxis(*this, getTokenAttr())) ||
      failed(requireTokens(*this, "an array", getOver(), getTokenAttr())))
    return failure();
  if (getBody().getNumArguments() != getOver().size() + getInits().size())
    return emitOpError("has ")
           << getBody().getNumArguments() << " region arguments for "
           << getOver().size() << " arrays and " << getInits().size()
           << " carried values";
  return success();
}

LogicalResult TokensOp::verifyRegions() {
  StringAttr token = getTokenAttr();
  size_t numCarried = getInits().size();
  FailureOr<chunk::YieldOp> yield =
      requireYield(*this, getBody(), numCarried, "carried values");
  if (failed(yield) || failed(verifyTokenRegion(*this, getBody())) ||
      failed(verifySlices(*this, getSliceArguments(), getOver(), token)))
    return failure();
  if (getNumResults() != yield->getValues().size())
    return emitOpError("has ")
           << getNumResults() << " results, but its region gives "
           << yield->getValues().size();
  for (auto [i, value] : llvm::enumerate(yield->getValues())) {
    auto type = cast<ArrayType>(value.getType());
    if (i < numCarried) {
      if (type != getInits()[i].getType() ||
          type != getCarriedArguments()[i].getType())
        return yield->emitOpError("gives ")
               << type << " for carried value " << i << ", which starts as "
               << getInits()[i].getType();
    } else {
      type = withAxis(type, token);
    }
    if (getResult(i).getType() != type)
      return emitOpError("has ") << getResult(i).getType() << " as result " << i
                                 << ", but its region gives " << type;
  }
  return success();
}
