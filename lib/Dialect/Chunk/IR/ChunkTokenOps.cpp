//===- ChunkTokenOps.cpp - Operations in the order of tokens -*- C++ -*- --===//
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

/// An axis of `array` that is not in `allowed`, or null.
static StringAttr findOtherAxis(ArrayType array, ArrayRef<StringAttr> allowed) {
  for (StringAttr axis : array.getAxes())
    if (!llvm::is_contained(allowed, axis))
      return axis;
  return {};
}

static ArrayType unionOf(MLIRContext *context, ArrayRef<ArrayType> types) {
  ArrayType joined = ArrayType::scalar(context);
  for (ArrayType type : types)
    joined = ArrayType::unionOf(joined, type);
  return joined;
}

//===----------------------------------------------------------------------===//
// CumulateOp and TotalOp
//===----------------------------------------------------------------------===//

/// `product %a over token`.
template <typename OpTy>
static ParseResult parseCombine(OpAsmParser &parser, OperationState &result) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  StringAttr token;
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<CombineKind> kind = symbolizeCombineKind(keyword);
  if (!kind)
    return parser.emitError(loc) << "unknown way to combine '" << keyword
                                 << "': expected sum, product or max";
  if (asm_format::parseOperand(parser, result) || parser.parseKeyword("over") ||
      asm_format::parseAxis(parser, token))
    return failure();
  auto &properties = result.getOrAddProperties<typename OpTy::Properties>();
  properties.kind = CombineKindAttr::get(parser.getContext(), *kind);
  properties.token = token;
  return success();
}

LogicalResult CumulateOp::inferReturnTypes(MLIRContext *context,
                                           std::optional<Location> loc,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  SmallVector<ArrayType> array;
  if (failed(requireAxis(context, loc, "what is accumulated",
                         adaptor.getOperand(), adaptor.getTokenAttr(), array)))
    return failure();
  types.push_back(array.front());
  return success();
}

ParseResult CumulateOp::parse(OpAsmParser &parser, OperationState &result) {
  if (parseCombine<CumulateOp>(parser, result))
    return failure();
  auto &properties = result.getOrAddProperties<Properties>();
  if (succeeded(parser.parseOptionalKeyword("backward")))
    properties.backward = parser.getBuilder().getUnitAttr();
  if (succeeded(parser.parseOptionalKeyword("exclusive")))
    properties.exclusive = parser.getBuilder().getUnitAttr();
  if (parser.parseOptionalAttrDict(result.attributes))
    return failure();
  return asm_format::inferTypes<CumulateOp>(parser, result);
}

void CumulateOp::print(OpAsmPrinter &printer) {
  printer << ' ' << stringifyCombineKind(getKind()) << ' ' << getOperand()
          << " over " << getToken() << (getBackward() ? " backward" : "")
          << (getExclusive() ? " exclusive" : "");
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {"kind", "token", "backward", "exclusive"});
}

LogicalResult CumulateOp::verify() {
  return requireTokenAxis(*this, getTokenAttr());
}

LogicalResult TotalOp::inferReturnTypes(MLIRContext *context,
                                        std::optional<Location> loc,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  SmallVector<ArrayType> array;
  if (failed(requireAxis(context, loc, "what is combined", adaptor.getOperand(),
                         adaptor.getTokenAttr(), array)))
    return failure();
  types.push_back(array.front().without({adaptor.getTokenAttr()}));
  return success();
}

ParseResult TotalOp::parse(OpAsmParser &parser, OperationState &result) {
  if (parseCombine<TotalOp>(parser, result) ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  return asm_format::inferTypes<TotalOp>(parser, result);
}

void TotalOp::print(OpAsmPrinter &printer) {
  printer << ' ' << stringifyCombineKind(getKind()) << ' ' << getOperand()
          << " over " << getToken();
  printer.printOptionalAttrDict((*this)->getAttrs(), {"kind", "token"});
}

LogicalResult TotalOp::verify() {
  return requireTokenAxis(*this, getTokenAttr());
}

//===----------------------------------------------------------------------===//
// ScoresOp
//===----------------------------------------------------------------------===//

LogicalResult ScoresOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  StringAttr token = adaptor.getTokenAttr(), source = adaptor.getSourceAttr();
  SmallVector<ArrayType> reader, others;
  if (!source || !adaptor.getAxes() ||
      failed(requireAxis(context, loc, "the reader", adaptor.getReader(), token,
                         reader)) ||
      failed(requireAxis(context, loc, "the writer", adaptor.getWriter(), token,
                         others)) ||
      failed(requireAxis(context, loc, "a decay", adaptor.getDecays(), token,
                         others)))
    return failure();
  SmallVector<StringAttr> summed, allowed = {token};
  for (Attribute axis : adaptor.getAxes())
    summed.push_back(cast<StringAttr>(axis));
  allowed.append(summed);
  for (auto [i, array] : llvm::enumerate(others))
    if (StringAttr axis = findOtherAxis(array, allowed))
      return emitAt(context, loc)
             << (i == 0 ? "the writer " : "a decay ") << spell(array)
             << " has axis '" << axis.getValue()
             << "', over which nothing is summed";
  ArrayType joined =
      ArrayType::unionOf(reader.front(), unionOf(context, others));
  for (auto [i, axis] : llvm::enumerate(summed)) {
    if (llvm::is_contained(ArrayRef(summed).take_front(i), axis))
      return emitAt(context, loc)
             << "scores name axis '" << axis.getValue() << "' twice";
    if (axis == token || axis == source || !joined.hasAxis(axis))
      return emitAt(context, loc)
             << "scores over axis '" << axis.getValue()
             << "', which is no axis of a reader, a writer or a decay beside "
                "that of tokens";
  }
  ArrayType kept = reader.front().without(summed);
  if (kept.hasAxis(source))
    return emitAt(context, loc) << "the reader " << spell(reader.front())
                                << " has the axis of tokens that wrote '"
                                << source.getValue() << "'";
  if (Value diagonal = adaptor.getDiagonal()) {
    auto array = dyn_cast<ArrayType>(diagonal.getType());
    StringAttr axis = array ? findOtherAxis(array, kept.getAxes()) : token;
    if (axis)
      return emitAt(context, loc)
             << "the diagonal has axis '" << axis.getValue()
             << "', but the scores of a token are " << spell(kept);
  }
  types.push_back(withAxis(kept, source));
  return success();
}

ParseResult ScoresOp::parse(OpAsmParser &parser, OperationState &result) {
  auto &properties = result.getOrAddProperties<Properties>();
  properties.axes = parser.getBuilder().getArrayAttr({});
  StringAttr token, source;
  int32_t numDecays, numDiagonals;
  if (asm_format::parseOperand(parser, result) || parser.parseComma() ||
      asm_format::parseOperand(parser, result))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("over")) &&
      asm_format::parseAxes(parser, properties.axes))
    return failure();
  if (parseTokenToSource(parser, token, source) ||
      parseGroup(parser, "decay", result, numDecays) ||
      parseOptionalOne(parser, "diagonal", result, numDiagonals) ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  properties.token = token;
  properties.source = source;
  properties.operandSegmentSizes = {1, 1, numDecays, numDiagonals};
  return asm_format::inferTypes<ScoresOp>(parser, result);
}

void ScoresOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getReader() << ", " << getWriter();
  if (!getAxes().empty()) {
    printer << " over ";
    asm_format::printAxes(printer, getAxes().getValue());
  }
  printer << ' ' << getToken() << " to " << getSource();
  printGroup(printer, "decay", getDecays());
  if (Value diagonal = getDiagonal())
    printGroup(printer, "diagonal", diagonal);
  printer.printOptionalAttrDict(
      (*this)->getAttrs(), {"axes", "token", "source", "operandSegmentSizes"});
}

LogicalResult ScoresOp::verify() {
  return verifyTokenAndSource(*this, getTokenAttr(), getSourceAttr());
}

//===----------------------------------------------------------------------===//
// MixOp
//===----------------------------------------------------------------------===//

LogicalResult MixOp::inferReturnTypes(MLIRContext *context,
                                      std::optional<Location> loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  StringAttr token = adaptor.getTokenAttr(), source = adaptor.getSourceAttr();
  SmallVector<ArrayType> scores, others;
  if (failed(requireAxis(context, loc, "the scores", adaptor.getScores(), token,
                         scores)) ||
      failed(requireAxis(context, loc, "the scores", adaptor.getScores(),
                         source, scores)) ||
      failed(requireAxis(context, loc, "what is mixed", adaptor.getValues(),
                         token, others)) ||
      failed(requireAxis(context, loc, "a decay", adaptor.getDecays(), token,
                         others)))
    return failure();
  ArrayType kept = scores.front().without({source});
  for (auto [i, array] : llvm::enumerate(others))
    for (StringAttr axis : array.getAxes())
      if (axis != token && scores.front().hasAxis(axis))
        return emitAt(context, loc)
               << (i == 0 ? "what is mixed " : "a decay ") << spell(array)
               << " has axis '" << axis.getValue() << "' of the scores";
  ArrayType result = ArrayType::unionOf(kept, unionOf(context, others));
  if (Value init = adaptor.getInit()) {
    auto array = dyn_cast<ArrayType>(init.getType());
    if (!array || array.hasAxis(source))
      return emitAt(context, loc)
             << "the initial value of a mix has the axis of tokens that wrote '"
             << source.getValue() << "'";
    result = ArrayType::unionOf(result, array);
  }
  types.push_back(result);
  return success();
}

ParseResult MixOp::parse(OpAsmParser &parser, OperationState &result) {
  auto &properties = result.getOrAddProperties<Properties>();
  StringAttr token, source;
  int32_t numDecays, numInits;
  if (asm_format::parseOperand(parser, result) || parser.parseComma() ||
      asm_format::parseOperand(parser, result) ||
      parseTokenToSource(parser, token, source) ||
      parseGroup(parser, "decay", result, numDecays) ||
      parseOptionalOne(parser, "init", result, numInits) ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  properties.token = token;
  properties.source = source;
  properties.operandSegmentSizes = {1, 1, numDecays, numInits};
  return asm_format::inferTypes<MixOp>(parser, result);
}

void MixOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getScores() << ", " << getValues() << ' ' << getToken()
          << " to " << getSource();
  printGroup(printer, "decay", getDecays());
  if (Value init = getInit())
    printGroup(printer, "init", init);
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {"token", "source", "operandSegmentSizes"});
}

LogicalResult MixOp::verify() {
  return verifyTokenAndSource(*this, getTokenAttr(), getSourceAttr());
}

//===----------------------------------------------------------------------===//
// UpdateOp
//===----------------------------------------------------------------------===//

LogicalResult UpdateOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getState().getType());
  return success();
}

ParseResult UpdateOp::parse(OpAsmParser &parser, OperationState &result) {
  auto &properties = result.getOrAddProperties<Properties>();
  StringAttr token;
  int32_t numDecays, numKeys, numValues;
  if (asm_format::parseOperand(parser, result) || parser.parseKeyword("over") ||
      asm_format::parseAxis(parser, token) ||
      parseGroup(parser, "decay", result, numDecays) ||
      parseGroup(parser, "keys", result, numKeys) ||
      parseGroup(parser, "values", result, numValues) ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  properties.token = token;
  properties.operandSegmentSizes = {1, numDecays, numKeys, numValues};
  return asm_format::inferTypes<UpdateOp>(parser, result);
}

void UpdateOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getState() << " over " << getToken();
  printGroup(printer, "decay", getDecays());
  printGroup(printer, "keys", getKeys());
  printGroup(printer, "values", getValues());
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {"token", "operandSegmentSizes"});
}

LogicalResult UpdateOp::verify() {
  StringAttr token = getTokenAttr();
  if (failed(requireTokenAxis(*this, token)))
    return failure();
  ArrayType state = getState().getType();
  if (state.hasAxis(token))
    return emitOpError("takes a state ")
           << spell(state) << " that has the axis of tokens '"
           << token.getValue() << "'";
  for (Value decay : getDecays())
    if (auto array = cast<ArrayType>(decay.getType());
        StringAttr axis = findOtherAxis(array, state.getAxes()))
      return emitOpError("has a decay ")
             << spell(array) << " with axis '" << axis.getValue()
             << "', which the state " << spell(state) << " lacks";
  if (getKeys().size() != getValues().size())
    return emitOpError("pairs ") << getKeys().size() << " keys with "
                                 << getValues().size() << " values";
  for (auto [key, value] : llvm::zip(getKeys(), getValues())) {
    ArrayType write = ArrayType::unionOf(cast<ArrayType>(key.getType()),
                                         cast<ArrayType>(value.getType()));
    if (!write.hasAxis(token))
      return emitOpError("has a key and a value that lack the axis of tokens '")
             << token.getValue() << "'";
    if (StringAttr axis =
            findOtherAxis(write.without({token}), state.getAxes()))
      return emitOpError("has a key and a value ")
             << spell(write) << " with axis '" << axis.getValue()
             << "', which the state " << spell(state) << " lacks";
  }
  return success();
}
