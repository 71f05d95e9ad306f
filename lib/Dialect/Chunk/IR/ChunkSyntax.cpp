//===- ChunkSyntax.cpp - Shared pieces of the operations -*- C++ -*- ------===//
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
// Syntax
//===----------------------------------------------------------------------===//

std::string chunk::spell(ArrayType type) {
  std::string text = "[";
  llvm::interleave(
      type.getAxes(), [&](StringAttr axis) { text += axis.getValue(); },
      [&] { text += ", "; });
  return text + "]";
}

void chunk::printArgumentAxes(OpAsmPrinter &printer, ArrayType type) {
  if (!type.isScalar())
    printer << spell(type);
}

ParseResult chunk::parseArgumentWithAxes(OpAsmParser &parser,
                                         OpAsmParser::Argument &argument) {
  ArrayAttr list = parser.getBuilder().getArrayAttr({});
  if (parser.parseArgument(argument))
    return failure();
  if (succeeded(parser.parseOptionalLSquare()) &&
      (asm_format::parseAxes(parser, list) || parser.parseRSquare()))
    return failure();
  argument.type = ArrayType::ofAxes(
      parser.getContext(), llvm::map_to_vector(list, [](Attribute axis) {
        return cast<StringAttr>(axis);
      }));
  return success();
}

ParseResult chunk::resolveAll(OpAsmParser &parser, OperationState &result,
                              ArrayRef<UnresolvedOperand> values) {
  for (const UnresolvedOperand &value : values)
    if (asm_format::resolve(parser, result, value))
      return failure();
  return success();
}

ParseResult chunk::parseGroup(OpAsmParser &parser, StringRef keyword,
                              OperationState &result, int32_t &count) {
  SmallVector<UnresolvedOperand> values;
  if (succeeded(parser.parseOptionalKeyword(keyword)) &&
      parser.parseOperandList(values, OpAsmParser::Delimiter::Paren))
    return failure();
  count = values.size();
  return resolveAll(parser, result, values);
}

void chunk::printGroup(OpAsmPrinter &printer, StringRef keyword,
                       ValueRange values) {
  if (!values.empty())
    printer << ' ' << keyword << '(' << values << ')';
}

ParseResult chunk::parseTokenToSource(OpAsmParser &parser, StringAttr &token,
                                      StringAttr &source) {
  return failure(asm_format::parseAxis(parser, token) ||
                 parser.parseKeyword("to") ||
                 asm_format::parseAxis(parser, source));
}

ParseResult chunk::parseOptionalOne(OpAsmParser &parser, StringRef keyword,
                                    OperationState &result, int32_t &count) {
  SMLoc loc = parser.getCurrentLocation();
  if (parseGroup(parser, keyword, result, count))
    return failure();
  if (count > 1)
    return parser.emitError(loc)
           << "expected one value in '" << keyword << "', not " << count;
  return success();
}

//===----------------------------------------------------------------------===//
// Shared checks
//===----------------------------------------------------------------------===//

FailureOr<TokenAxisAttr> chunk::requireTokenAxis(Operation *op,
                                                 StringAttr axis) {
  auto scan = op->getParentOfType<ScanOp>();
  if (!scan)
    return op->emitOpError("is only allowed in a chunk.scan");
  if (TokenAxisAttr token = scan.lookupTokenAxis(axis))
    return token;
  return op->emitOpError("takes '")
         << axis.getValue()
         << "' as an axis of tokens, which the scan does not declare";
}

LogicalResult chunk::verifyTokenAndSource(Operation *op, StringAttr token,
                                          StringAttr source) {
  FailureOr<TokenAxisAttr> readers = requireTokenAxis(op, token);
  if (failed(readers))
    return failure();
  FailureOr<TokenAxisAttr> writers = requireTokenAxis(op, source);
  if (failed(writers))
    return failure();
  if (token == source)
    return op->emitOpError("needs two axes for tokens that read and tokens "
                           "that wrote, not '")
           << token.getValue() << "' twice";
  if (readers->getOffset() != writers->getOffset() ||
      readers->getSize() != writers->getSize())
    return op->emitOpError("has axes '")
           << token.getValue() << "' and '" << source.getValue()
           << "', which do not count the same tokens";
  return success();
}

InFlightDiagnostic chunk::emitAt(MLIRContext *context,
                                 std::optional<Location> loc) {
  return emitError(loc.value_or(UnknownLoc::get(context)));
}

LogicalResult chunk::requireAxis(MLIRContext *context,
                                 std::optional<Location> loc, StringRef what,
                                 ValueRange values, StringAttr token,
                                 SmallVectorImpl<ArrayType> &types) {
  if (!token)
    return failure();
  for (Value value : values) {
    auto array = dyn_cast<ArrayType>(value.getType());
    if (!array)
      return emitAt(context, loc) << what << " must be an array";
    if (!array.hasAxis(token))
      return emitAt(context, loc)
             << what << " " << spell(array) << " lacks the axis '"
             << token.getValue() << "'";
    types.push_back(array);
  }
  return success();
}
