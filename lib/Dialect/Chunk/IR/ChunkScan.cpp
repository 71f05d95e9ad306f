//===- ChunkScan.cpp - chunk.scan -*- C++ -*- -----------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChunkSyntax.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace larc;
using namespace larc::chunk;

using Argument = OpAsmParser::Argument;

#define GET_OP_CLASSES
#include "larc/Dialect/Chunk/IR/ChunkOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Accessors
//===----------------------------------------------------------------------===//

Block::BlockArgListType ScanOp::getOperandArguments() {
  return getBody().getArguments().take_front(getNumOperands());
}

Block::BlockArgListType ScanOp::getConstantArguments() {
  return getBody().getArguments().slice(getNumOperands(), getNumConstants());
}

Block::BlockArgListType ScanOp::getStateArguments() {
  return getBody().getArguments().slice(getNumOperands() + getNumConstants(),
                                        getNumStates());
}

Block::BlockArgListType ScanOp::getAnchorArguments() {
  return getBody().getArguments().drop_front(
      getNumOperands() + getNumConstants() + getNumStates());
}

chunk::YieldOp ScanOp::getYield() {
  return cast<chunk::YieldOp>(getBody().front().getTerminator());
}

StringAttr ScanOp::getTokenAxis() {
  return cast<TokenAxisAttr>(getTokens()[0]).getAxis();
}

TokenAxisAttr ScanOp::lookupTokenAxis(StringAttr axis) {
  for (auto token : getTokens().getAsRange<TokenAxisAttr>())
    if (token.getAxis() == axis)
      return token;
  return {};
}

std::optional<int64_t> ScanOp::getAxisSize(StringAttr axis) {
  if (TokenAxisAttr token = lookupTokenAxis(axis))
    return token.getSize();
  auto size = getDims().getAs<IntegerAttr>(axis);
  return size ? std::optional<int64_t>(size.getInt()) : std::nullopt;
}

StringAttr ScanOp::getOrAddTokenAxis(StringRef base, int64_t offset,
                                     int64_t size) {
  auto isOfBase = [&](StringRef name) {
    return name.consume_front(base) && (name.empty() || name.front() == '_');
  };
  for (auto token : getTokens().getAsRange<TokenAxisAttr>())
    if (token.getOffset() == offset && token.getSize() == size &&
        isOfBase(token.getAxis().getValue()))
      return token.getAxis();
  // `token_16` where that name is free, else `token_16_8`, ...
  std::string name = (base + "_" + Twine(offset)).str();
  for (int64_t number = size;
       getAxisSize(StringAttr::get(getContext(), name)).has_value(); ++number)
    name = (base + "_" + Twine(offset) + "_" + Twine(number)).str();
  auto axis = StringAttr::get(getContext(), name);
  SmallVector<Attribute> tokens(getTokens().getValue());
  tokens.push_back(TokenAxisAttr::get(getContext(), axis, offset, size));
  setTokensAttr(ArrayAttr::get(getContext(), tokens));
  return axis;
}

void ScanOp::getAsmBlockArgumentNames(Region &region,
                                      OpAsmSetValueNameFn setName) {
  auto definition = SymbolTable::lookupNearestSymbolFrom<RecurrenceOp>(
      *this, getDefinitionAttr());
  if (!definition)
    return;
  SmallVector<StringAttr> names, anchors;
  for (ArrayAttr decls :
       {definition.getTokenOperands(), definition.getConstants()})
    for (auto decl : decls.getAsRange<OperandDeclAttr>())
      names.push_back(decl.getName());
  for (auto decl : definition.getStates().getAsRange<StateDeclAttr>())
    names.push_back(decl.getName());
  for (auto [argument, name] : llvm::zip(region.getArguments(), names))
    setName(argument, name.getValue());
  if (region.getNumArguments() <= names.size())
    return;
  auto states = definition.getStates().getAsRange<StateDeclAttr>();
  for (auto [argument, state] :
       llvm::zip(region.getArguments().drop_front(names.size()),
                 definition.getAnchoredStates()))
    setName(
        argument,
        ((*std::next(states.begin(), state)).getName().getValue() + "_anchor")
            .str());
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace {

/// Parses the parts of a scan between its name and its region.
struct ScanParser {
  OpAsmParser &parser;
  ScanOp::Properties &properties;
  Builder &builder = parser.getBuilder();
  SmallVector<Argument> arguments = {};
  SmallVector<Attribute> classes = {};

  ParseResult parseTokens() {
    SmallVector<Attribute> tokens;
    auto parseOne = [&]() -> ParseResult {
      StringAttr axis;
      int64_t offset, size;
      if (asm_format::parseAxis(parser, axis) || parser.parseKeyword("from") ||
          parser.parseInteger(offset) || parser.parseKeyword("size") ||
          parser.parseInteger(size))
        return failure();
      tokens.push_back(
          TokenAxisAttr::get(builder.getContext(), axis, offset, size));
      return success();
    };
    if (parser.parseKeyword("tokens") ||
        parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseOne))
      return failure();
    properties.tokens = builder.getArrayAttr(tokens);
    return success();
  }

  ParseResult parseOptionalDims() {
    NamedAttrList dims;
    auto parseOne = [&]() -> ParseResult {
      SMLoc loc = parser.getCurrentLocation();
      StringAttr axis;
      int64_t size;
      if (asm_format::parseAxis(parser, axis) || parser.parseEqual() ||
          parser.parseInteger(size))
        return failure();
      if (dims.get(axis))
        return parser.emitError(loc)
               << "axis '" << axis.getValue() << "' is bound twice";
      dims.append(axis, builder.getI64IntegerAttr(size));
      return success();
    };
    if (succeeded(parser.parseOptionalKeyword("dims")) &&
        parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseOne))
      return failure();
    properties.dims = dims.getDictionary(builder.getContext());
    return success();
  }

  /// `keyword(%x[K], ...)`, possibly absent; counts the arguments.
  ParseResult parseArguments(StringRef keyword, IntegerAttr &count,
                             StringAttr token, bool withClass) {
    size_t before = arguments.size();
    auto parseOne = [&]() -> ParseResult {
      Argument argument;
      if (parseArgumentWithAxes(parser, argument))
        return failure();
      if (token)
        argument.type = withAxis(cast<ArrayType>(argument.type), token);
      arguments.push_back(argument);
      return withClass ? parseClass() : success();
    };
    if (succeeded(parser.parseOptionalKeyword(keyword)) &&
        parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseOne))
      return failure();
    count = builder.getI64IntegerAttr(arguments.size() - before);
    return success();
  }

  ParseResult parseClass() {
    if (parser.parseColon())
      return failure();
    SMLoc loc = parser.getCurrentLocation();
    StringRef keyword;
    if (parser.parseKeyword(&keyword))
      return failure();
    std::optional<TransitionClass> known = symbolizeTransitionClass(keyword);
    if (!known)
      return parser.emitError(loc)
             << "unknown class of transitions '" << keyword
             << "': expected constant, diagonal, low_rank, implicit, semiring, "
                "elementwise or sequential";
    classes.push_back(TransitionClassAttr::get(builder.getContext(), *known));
    return success();
  }
};

} // namespace

ParseResult ScanOp::parse(OpAsmParser &parser, OperationState &result) {
  auto &properties = result.getOrAddProperties<Properties>();
  ScanParser parts{parser, properties};
  StringAttr name;
  int64_t size;
  if (parser.parseSymbolName(name) || parser.parseKeyword("size") ||
      parser.parseInteger(size) || parts.parseTokens() ||
      parts.parseOptionalDims())
    return failure();
  properties.definition = FlatSymbolRefAttr::get(name);
  properties.size = parser.getBuilder().getI64IntegerAttr(size);
  if (properties.tokens.empty())
    return parser.emitError(parser.getCurrentLocation(),
                            "expected an axis that counts tokens");
  StringAttr token = cast<TokenAxisAttr>(properties.tokens[0]).getAxis();
  IntegerAttr numAnchors;
  if (parts.parseArguments("operands", properties.numOperands, token, false) ||
      parts.parseArguments("constants", properties.numConstants, {}, false) ||
      parts.parseArguments("states", properties.numStates, {}, true) ||
      parts.parseArguments("anchors", numAnchors, {}, false))
    return failure();
  properties.transitions = parser.getBuilder().getArrayAttr(parts.classes);
  if (succeeded(parser.parseOptionalKeyword("boundary")))
    properties.boundary = parser.getBuilder().getUnitAttr();
  if (succeeded(parser.parseOptionalKeyword("with")) &&
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  TypeScope isolated(/*isolated=*/true);
  return asm_format::parseScopedRegion(parser, *result.addRegion(),
                                       parts.arguments, "chunk.yield");
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

void ScanOp::print(OpAsmPrinter &printer) {
  auto part = [&](StringRef keyword, auto &&range, auto printOne) {
    if (range.begin() == range.end())
      return;
    printer.printNewline();
    printer << "    " << keyword << '(';
    llvm::interleaveComma(range, printer.getStream(), printOne);
    printer << ')';
  };
  auto printArgument = [&](BlockArgument argument) {
    printer << argument;
    printArgumentAxes(
        printer, cast<ArrayType>(argument.getType()).without({getTokenAxis()}));
  };

  printer << ' ';
  printer.printSymbolName(getDefinition());
  printer << " size " << getSize();
  part("tokens", getTokens().getAsRange<TokenAxisAttr>(),
       [&](TokenAxisAttr token) {
         printer << token.getAxis().getValue() << " from " << token.getOffset()
                 << " size " << token.getSize();
       });
  part("dims", getDims(), [&](NamedAttribute size) {
    printer << size.getName().getValue() << " = "
            << cast<IntegerAttr>(size.getValue()).getInt();
  });
  part("operands", getOperandArguments(), printArgument);
  part("constants", getConstantArguments(), printArgument);
  part("states",
       llvm::zip(getStateArguments(),
                 getTransitions().getAsRange<TransitionClassAttr>()),
       [&](auto pair) {
         printArgument(std::get<0>(pair));
         printer << ": "
                 << stringifyTransitionClass(std::get<1>(pair).getValue());
       });
  part("anchors", getAnchorArguments(), printArgument);
  if (getBoundary()) {
    printer.printNewline();
    printer << "    boundary";
  }
  SmallVector<StringRef> inherent = {
      "definition",   "size",      "tokens",      "dims",    "numOperands",
      "numConstants", "numStates", "transitions", "boundary"};
  asm_format::printRestAndRegion(printer, *this, inherent);
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

LogicalResult ScanOp::verify() {
  int64_t size = getSize();
  if (size < 1)
    return emitOpError("needs chunks of at least one token, not ") << size;
  if (getTokens().empty())
    return emitOpError("needs an axis that counts tokens");
  for (NamedAttribute dim : getDims()) {
    auto integer = dyn_cast<IntegerAttr>(dim.getValue());
    if (!integer || !integer.getType().isInteger(64) || integer.getInt() < 1)
      return emitOpError("binds axis '")
             << dim.getName().getValue()
             << "' to a size that is not a positive i64";
  }
  llvm::StringSet<> names;
  for (auto token : getTokens().getAsRange<TokenAxisAttr>()) {
    StringRef name = token.getAxis().getValue();
    if (!names.insert(name).second || getDims().contains(name))
      return emitOpError("declares axis '") << name << "' twice";
    if (token.getOffset() < 0 || token.getSize() < 1 ||
        token.getOffset() > size - token.getSize())
      return emitOpError("declares axis '")
             << name << "' over tokens from " << token.getOffset() << " size "
             << token.getSize() << ", which are not in a chunk of " << size;
  }
  if (auto first = cast<TokenAxisAttr>(getTokens()[0]);
      first.getOffset() != 0 || first.getSize() != size)
    return emitOpError("needs a first axis of tokens that counts all of them");
  int64_t numOperands = getNumOperands(), numConstants = getNumConstants(),
          numStates = getNumStates();
  if (numOperands < 0 || numConstants < 0 || numStates < 0 ||
      numOperands + numConstants + numStates >
          static_cast<int64_t>(getBody().getNumArguments()))
    return emitOpError("has fewer region arguments than operands, constants "
                       "and states");
  if (static_cast<int64_t>(getTransitions().size()) != numStates)
    return emitOpError("gives ")
           << getTransitions().size() << " classes of transitions for "
           << numStates << " states";
  return success();
}

/// Whether an operation of another dialect or another level may stand in the
/// program of a chunk.
static LogicalResult verifyMember(ScanOp scan, Operation *op) {
  if (!isa_and_present<ChunkDialect, LarcDialect>(op->getDialect()))
    return op->emitOpError("is not an operation of the larc or chunk dialect, "
                           "as those of a chunk are");
  if (isa<RecurrenceOp, ScanOp, ChooseOp, LevelsOp, MemberOp, InsertOp, FoldOp,
          FireOp, AnchorOp, CompositeOpInterface>(op))
    return op->emitOpError("has no meaning in a chunk");
  for (Type type : op->getResultTypes())
    for (StringAttr axis : cast<ArrayType>(type).getAxes())
      if (!scan.getAxisSize(axis))
        return op->emitOpError("makes an array over axis '")
               << axis.getValue() << "', which the scan does not declare";
  if (auto slice = dyn_cast<SliceOp>(op);
      slice && scan.lookupTokenAxis(slice.getAxisAttr()))
    return op->emitOpError("takes a single token, which may not exist");
  auto rename = dyn_cast<RenameOp>(op);
  if (!rename)
    return success();
  TokenAxisAttr from = scan.lookupTokenAxis(rename.getFromAttr());
  TokenAxisAttr to = scan.lookupTokenAxis(rename.getToAttr());
  if (!from != !to || (from && from.getOffset() != to.getOffset()) ||
      scan.getAxisSize(rename.getFromAttr()) !=
          scan.getAxisSize(rename.getToAttr()))
    return op->emitOpError("renames '")
           << rename.getFrom() << "' to '" << rename.getTo()
           << "', which do not count the same";
  return success();
}

LogicalResult ScanOp::verifyRegions() {
  auto yield = dyn_cast<chunk::YieldOp>(getBody().front().getTerminator());
  if (!yield)
    return emitOpError("needs a region that ends with chunk.yield");
  for (BlockArgument argument : getBody().getArguments()) {
    auto array = dyn_cast<ArrayType>(argument.getType());
    if (!array)
      return emitOpError("has a region argument that is not an array");
    bool isOperand = argument.getArgNumber() < getNumOperands();
    for (StringAttr axis : array.getAxes()) {
      if (!getAxisSize(axis))
        return emitOpError("has a region argument over axis '")
               << axis.getValue() << "', which it does not declare";
      if (lookupTokenAxis(axis) && !(isOperand && axis == getTokenAxis()))
        return emitOpError("has region argument ")
               << argument.getArgNumber() << " over tokens '" << axis.getValue()
               << "': only operands have the first axis of tokens";
    }
    if (isOperand && !array.hasAxis(getTokenAxis()))
      return emitOpError("has operand ")
             << argument.getArgNumber() << " without the axis of tokens '"
             << getTokenAxis().getValue() << "'";
  }
  WalkResult walked = getBody().walk(
      [&](Operation *op) -> WalkResult { return verifyMember(*this, op); });
  if (walked.wasInterrupted())
    return failure();

  size_t numStates = getNumStates();
  if (yield.getValues().size() < numStates)
    return yield.emitOpError("gives ")
           << yield.getValues().size() << " values, but the scan has "
           << numStates << " states";
  for (auto [i, argument] : llvm::enumerate(getStateArguments()))
    if (Type type = yield.getValues()[i].getType(); type != argument.getType())
      return yield.emitOpError("gives ") << type << " for state " << i
                                         << ", which is " << argument.getType();
  for (auto [i, value] :
       llvm::enumerate(yield.getValues().drop_front(numStates)))
    for (StringAttr axis : cast<ArrayType>(value.getType()).getAxes())
      if (lookupTokenAxis(axis) && axis != getTokenAxis())
        return yield.emitOpError("gives output ")
               << i << " over tokens '" << axis.getValue()
               << "': outputs have the first axis of tokens only";
  return success();
}

LogicalResult ScanOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto definition = symbolTable.lookupNearestSymbolFrom<RecurrenceOp>(
      *this, getDefinitionAttr());
  if (!definition)
    return emitOpError("computes '")
           << getDefinition() << "', which is no recurrence of this module";
  if (definition.getBody().empty())
    return success();
  auto mismatch = [&](const Twine &what, int64_t mine, int64_t theirs) {
    return emitOpError("has ") << mine << " " << what << ", but '"
                               << getDefinition() << "' has " << theirs;
  };
  if (getNumOperands() != definition.getTokenOperands().size())
    return mismatch("operands", getNumOperands(),
                    definition.getTokenOperands().size());
  if (getNumConstants() != definition.getConstants().size())
    return mismatch("constants", getNumConstants(),
                    definition.getConstants().size());
  if (getNumStates() != definition.getStates().size())
    return mismatch("states", getNumStates(), definition.getStates().size());
  if (size_t anchors = definition.getAnchoredStates().size();
      anchors != getAnchorArguments().size())
    return mismatch("anchors", getAnchorArguments().size(), anchors);
  size_t outputs = getYield().getValues().size() - getNumStates();
  if (outputs != definition.getOutputs().size())
    return mismatch("outputs", outputs, definition.getOutputs().size());

  SmallVector<Type> expected;
  for (BlockArgument argument : definition.getOperandArguments()) {
    auto array = dyn_cast<ArrayType>(argument.getType());
    expected.push_back(array ? withAxis(array, getTokenAxis())
                             : argument.getType());
  }
  for (BlockArgument argument : definition.getConstantArguments())
    expected.push_back(argument.getType());
  for (BlockArgument argument : definition.getStateArguments())
    expected.push_back(argument.getType());
  for (unsigned state : definition.getAnchoredStates())
    expected.push_back(definition.getStateArguments()[state].getType());
  for (auto [argument, type] : llvm::zip(getBody().getArguments(), expected))
    if (argument.getType() != type)
      return emitOpError("has region argument ")
             << argument.getArgNumber() << " of type " << argument.getType()
             << ", but '" << getDefinition() << "' makes it " << type;
  for (auto [decl, value] :
       llvm::zip(definition.getOutputs().getAsRange<OutputDeclAttr>(),
                 getYield().getValues().drop_front(getNumStates()))) {
    ArrayType type = withAxis(ArrayType::ofAxes(getContext(), decl.getAxes()),
                              getTokenAxis());
    if (value.getType() != type)
      return getYield().emitOpError("gives ")
             << value.getType() << " for output '" << decl.getName().getValue()
             << "', which is " << type;
  }
  if (getBoundary() && !definition.getPeriodDecl())
    return emitOpError("leaves the ends of periods to '")
           << getDefinition() << "', which has no period";
  for (NamedAttribute dim : getDims())
    if (std::optional<int64_t> size = definition.getAxisSize(dim.getName());
        size && *size != cast<IntegerAttr>(dim.getValue()).getInt())
      return emitOpError("binds axis '")
             << dim.getName().getValue() << "' to "
             << cast<IntegerAttr>(dim.getValue()).getInt() << ", but '"
             << getDefinition() << "' to " << *size;
  return success();
}
