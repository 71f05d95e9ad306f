//===- ChunkParts.cpp - Rows of tokens -*- C++ -*- ------------------------===//
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

using UnresolvedOperand = OpAsmParser::UnresolvedOperand;

//===----------------------------------------------------------------------===//
// RowsOp
//===----------------------------------------------------------------------===//

LogicalResult RowsOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  StringAttr from = adaptor.getFromAttr(), to = adaptor.getToAttr();
  SmallVector<ArrayType> array;
  if (!to || failed(requireAxis(context, loc, "what rows are taken of",
                                adaptor.getOperand(), from, array)))
    return failure();
  ArrayType others = array.front().without({from});
  if (others.hasAxis(to))
    return emitAt(context, loc)
           << "axis '" << to.getValue() << "' is an axis of "
           << spell(array.front()) << " already";
  types.push_back(withAxis(others, to));
  return success();
}

ParseResult RowsOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr from, to;
  if (asm_format::parseOperand(parser, result) ||
      parseTokenToSource(parser, from, to) ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  auto &properties = result.getOrAddProperties<Properties>();
  properties.from = from;
  properties.to = to;
  return asm_format::inferTypes<RowsOp>(parser, result);
}

void RowsOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getOperand() << ' ' << getFrom() << " to " << getTo();
  printer.printOptionalAttrDict((*this)->getAttrs(), {"from", "to"});
}

/// Whether all tokens of `inner` are tokens of `outer`.
static bool isWithin(TokenAxisAttr inner, TokenAxisAttr outer) {
  return inner.getOffset() >= outer.getOffset() &&
         inner.getOffset() + inner.getSize() <=
             outer.getOffset() + outer.getSize();
}

LogicalResult RowsOp::verify() {
  FailureOr<TokenAxisAttr> from = requireTokenAxis(*this, getFromAttr());
  if (failed(from))
    return failure();
  FailureOr<TokenAxisAttr> to = requireTokenAxis(*this, getToAttr());
  if (failed(to))
    return failure();
  if (!isWithin(*to, *from))
    return emitOpError("takes tokens '")
           << getTo() << "', which are not all tokens of '" << getFrom() << "'";
  return success();
}

//===----------------------------------------------------------------------===//
// StackOp
//===----------------------------------------------------------------------===//

LogicalResult StackOp::inferReturnTypes(MLIRContext *context,
                                        std::optional<Location> loc,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  StringAttr to = adaptor.getToAttr();
  if (!to || !adaptor.getFrom())
    return failure();
  if (adaptor.getParts().empty() ||
      adaptor.getParts().size() != adaptor.getFrom().size())
    return emitAt(context, loc)
           << "a stack has at least one part and an axis for each, not "
           << adaptor.getParts().size() << " parts and "
           << adaptor.getFrom().size() << " axes";
  ArrayType others;
  for (auto [part, axis] : llvm::zip(adaptor.getParts(), adaptor.getFrom())) {
    SmallVector<ArrayType> array;
    auto from = cast<StringAttr>(axis);
    if (failed(requireAxis(context, loc, "a part", part, from, array)))
      return failure();
    ArrayType rest = array.front().without({from});
    if (others && rest != others)
      return emitAt(context, loc)
             << "parts of a stack have the same other axes, but one has "
             << spell(others) << " and one " << spell(rest);
    others = rest;
  }
  if (others.hasAxis(to))
    return emitAt(context, loc)
           << "axis '" << to.getValue() << "' is an axis of the parts already";
  types.push_back(withAxis(others, to));
  return success();
}

ParseResult StackOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<UnresolvedOperand> parts;
  ArrayAttr from;
  StringAttr to;
  if (parser.parseOperandList(parts) || resolveAll(parser, result, parts) ||
      parser.parseKeyword("from") || parser.parseLSquare() ||
      asm_format::parseAxes(parser, from) || parser.parseRSquare() ||
      parser.parseKeyword("to") || asm_format::parseAxis(parser, to) ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  auto &properties = result.getOrAddProperties<Properties>();
  properties.from = from;
  properties.to = to;
  return asm_format::inferTypes<StackOp>(parser, result);
}

void StackOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getParts() << " from [";
  asm_format::printAxes(printer, getFrom().getValue());
  printer << "] to " << getTo();
  printer.printOptionalAttrDict((*this)->getAttrs(), {"from", "to"});
}

LogicalResult StackOp::verify() {
  FailureOr<TokenAxisAttr> to = requireTokenAxis(*this, getToAttr());
  if (failed(to))
    return failure();
  int64_t next = 0;
  for (Attribute axis : getFrom()) {
    FailureOr<TokenAxisAttr> from =
        requireTokenAxis(*this, cast<StringAttr>(axis));
    if (failed(from))
      return failure();
    if (!isWithin(*from, *to))
      return emitOpError("places tokens ")
             << axis << ", which are not all tokens of '" << getTo() << "'";
    if (from->getOffset() < next)
      return emitOpError("places tokens ")
             << axis << " behind later ones: parts are in order and do not "
             << "overlap";
    next = from->getOffset() + from->getSize();
  }
  return success();
}
