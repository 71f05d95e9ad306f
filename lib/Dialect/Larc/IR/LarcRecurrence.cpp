//===- LarcRecurrence.cpp - larc.recurrence -*- C++ -*-
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TypeScope.h"
#include "larc/Dialect/Larc/IR/Larc.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace larc;

#define GET_OP_CLASSES
#include "larc/Dialect/Larc/IR/LarcOps.cpp.inc"

using Argument = OpAsmParser::Argument;

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// The domain of an operand that names none.
static Domain usualDomainOf(OperandKind kind) {
  switch (kind) {
  case OperandKind::Data:
    return Domain::Normal;
  case OperandKind::Gate:
    return Domain::LogDecay;
  case OperandKind::Coefficient:
    return Domain::Interval;
  }
  return Domain::Normal;
}

namespace {

/// Parses the declarations of a recurrence, collecting the step's arguments.
struct SignatureParser {
  OpAsmParser &parser;
  MLIRContext *context = parser.getContext();
  Builder &builder = parser.getBuilder();
  SmallVector<Argument> arguments = {};

  /// `%name`: an argument without a type yet; its name names the tensor.
  ParseResult parseName(Argument &argument, StringAttr &name) {
    if (parser.parseArgument(argument))
      return failure();
    StringRef text = argument.ssaName.name.drop_front();
    if (!llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; }) ||
        llvm::isDigit(text.front()))
      return parser.emitError(argument.ssaName.location)
             << "'" << text << "' cannot name a tensor: expected a letter and then letters, "
             << "digits and '_'";
    name = builder.getStringAttr(text);
    return success();
  }

  void addArgument(Argument argument, Type type) {
    argument.type = type;
    arguments.push_back(argument);
  }

  /// `[K, V]` if present.
  ParseResult parseOptionalAxes(SmallVectorImpl<StringAttr> &axes) {
    if (failed(parser.parseOptionalLSquare()))
      return success();
    ArrayAttr list;
    if (asm_format::parseAxes(parser, list) || parser.parseRSquare())
      return failure();
    for (Attribute axis : list)
      axes.push_back(cast<StringAttr>(axis));
    return success();
  }

  /// `(K, V)` if present.
  ParseResult parseAxesInParens(SmallVectorImpl<StringAttr> &axes) {
    ArrayAttr list;
    if (parser.parseLParen() || asm_format::parseAxes(parser, list) || parser.parseRParen())
      return failure();
    for (Attribute axis : list)
      axes.push_back(cast<StringAttr>(axis));
    return success();
  }

  /// `per L [from 1] [sizes(n)]` if present.
  ParseResult parseOptionalFamily(FamilyDeclAttr &family) {
    if (failed(parser.parseOptionalKeyword("per")))
      return success();
    StringAttr level;
    int64_t first = 0;
    SmallVector<StringAttr> sized;
    if (asm_format::parseAxis(parser, level))
      return failure();
    if (succeeded(parser.parseOptionalKeyword("from")) && parser.parseInteger(first))
      return failure();
    if (succeeded(parser.parseOptionalKeyword("sizes")) && parseAxesInParens(sized))
      return failure();
    family = FamilyDeclAttr::get(context, level, first, sized);
    return success();
  }

  /// `: kind domain(axis)` if present, either part optional.
  ParseResult parseOptionalKind(OperandKind &kind, Domain &domain, StringAttr &domainAxis) {
    kind = OperandKind::Data;
    domain = Domain::Normal;
    if (failed(parser.parseOptionalColon()))
      return success();
    SMLoc loc = parser.getCurrentLocation();
    StringRef keyword;
    if (parser.parseKeyword(&keyword))
      return failure();
    if (std::optional<OperandKind> known = symbolizeOperandKind(keyword)) {
      kind = *known;
      domain = usualDomainOf(kind);
      loc = parser.getCurrentLocation();
      if (failed(parser.parseOptionalKeyword(&keyword)))
        return success();
    }
    std::optional<Domain> known = symbolizeDomain(keyword);
    if (!known)
      return parser.emitError(loc)
             << "unknown kind or domain '" << keyword << "': kinds are data, gate, coefficient; "
             << "domains normal, unit(axis), log_decay, interval, softmax(axis)";
    domain = *known;
    if (domain != Domain::Unit && domain != Domain::Softmax)
      return success();
    return failure(parser.parseLParen() || asm_format::parseAxis(parser, domainAxis) ||
                   parser.parseRParen());
  }

  ParseResult parseOperands(OpAsmParser::Delimiter delimiter, ArrayAttr &decls) {
    SmallVector<Attribute> list;
    auto parseOne = [&]() -> ParseResult {
      Argument argument;
      StringAttr name, domainAxis;
      SmallVector<StringAttr> axes;
      FamilyDeclAttr family;
      OperandKind kind;
      Domain domain;
      if (parseName(argument, name) || parseOptionalAxes(axes) || parseOptionalFamily(family) ||
          parseOptionalKind(kind, domain, domainAxis))
        return failure();
      auto decl = OperandDeclAttr::get(context, name, axes, kind, domain, domainAxis, family);
      list.push_back(decl);
      addArgument(argument, decl.getArgumentType());
      return success();
    };
    if (parser.parseCommaSeparatedList(delimiter, parseOne))
      return failure();
    decls = builder.getArrayAttr(list);
    return success();
  }

  ParseResult parseStates(ArrayAttr &decls) {
    SmallVector<Attribute> list;
    auto parseOne = [&]() -> ParseResult {
      Argument argument;
      StringAttr name;
      SmallVector<StringAttr> axes, nonzero;
      FamilyDeclAttr family;
      FloatAttr init = builder.getF64FloatAttr(0.0);
      if (parseName(argument, name) || parseOptionalAxes(axes) || parseOptionalFamily(family))
        return failure();
      if (succeeded(parser.parseOptionalEqual())) {
        if (asm_format::parseReal(parser, init))
          return failure();
      } else if (succeeded(parser.parseOptionalKeyword("required"))) {
        init = nullptr;
      }
      if (succeeded(parser.parseOptionalKeyword("nonzero")) && parseAxesInParens(nonzero))
        return failure();
      auto decl = StateDeclAttr::get(context, name, axes, init, nonzero, family);
      list.push_back(decl);
      addArgument(argument, decl.getArgumentType());
      return success();
    };
    if (succeeded(parser.parseOptionalKeyword("state")) &&
        parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseOne))
      return failure();
    decls = builder.getArrayAttr(list);
    return success();
  }

  /// The value of a real attribute: a number, or a function of an axis' size.
  ParseResult parseRealValue(Attribute &value) {
    StringRef keyword;
    if (succeeded(parser.parseOptionalKeyword(&keyword, {"size", "rsqrt", "reciprocal"}))) {
      StringAttr axis;
      if (parser.parseLParen() || asm_format::parseAxis(parser, axis) || parser.parseRParen())
        return failure();
      value = SizeFnAttr::get(context, *symbolizeSizeFunction(keyword), axis);
      return success();
    }
    FloatAttr number;
    if (asm_format::parseReal(parser, number))
      return failure();
    value = number;
    return success();
  }

  /// `%scale = rsqrt(K)`, `%eps = 1.0e-6`.
  ParseResult parseRealAttribute(AttributeDeclAttr &decl) {
    Argument argument;
    StringAttr name;
    Attribute value;
    if (parseName(argument, name) || parser.parseEqual() || parseRealValue(value))
      return failure();
    addArgument(argument, ArrayType::scalar(context));
    decl = AttributeDeclAttr::get(context, name, AttributeKind::Real, value, {}, nullptr);
    return success();
  }

  /// `[L] = [1, 2, 4]` after the name.
  ParseResult parseSchedule(StringAttr name, AttributeDeclAttr &decl) {
    StringAttr level;
    SmallVector<int64_t> entries;
    auto parseEntry = [&] { return parser.parseInteger(entries.emplace_back()); };
    if (asm_format::parseAxis(parser, level) || parser.parseRSquare() || parser.parseEqual() ||
        parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseEntry))
      return failure();
    decl = AttributeDeclAttr::get(context, name, AttributeKind::Schedule,
                                  builder.getDenseI64ArrayAttr(entries), {}, level);
    return success();
  }

  /// `name = 5`, `name = period(64)`, `name = a of [a, b]`, `name[L] = [1, 2]`.
  ParseResult parseCompileTimeAttribute(AttributeDeclAttr &decl) {
    StringRef keyword;
    if (parser.parseKeyword(&keyword))
      return failure();
    StringAttr name = builder.getStringAttr(keyword);
    if (succeeded(parser.parseOptionalLSquare()))
      return parseSchedule(name, decl);
    if (parser.parseEqual())
      return failure();
    int64_t integer;
    OptionalParseResult isInteger = parser.parseOptionalInteger(integer);
    if (isInteger.has_value()) {
      decl = AttributeDeclAttr::get(context, name, AttributeKind::Integer,
                                    builder.getI64IntegerAttr(integer), {}, nullptr);
      return *isInteger;
    }
    if (parser.parseKeyword(&keyword))
      return failure();
    if (keyword == "period") {
      if (parser.parseLParen() || parser.parseInteger(integer) || parser.parseRParen())
        return failure();
      decl = AttributeDeclAttr::get(context, name, AttributeKind::Period,
                                    builder.getI64IntegerAttr(integer), {}, nullptr);
      return success();
    }
    StringAttr value = builder.getStringAttr(keyword);
    SmallVector<StringAttr> choices;
    auto parseChoice = [&]() -> ParseResult {
      StringRef choice;
      if (parser.parseKeyword(&choice))
        return failure();
      choices.push_back(builder.getStringAttr(choice));
      return success();
    };
    if (parser.parseKeyword("of") ||
        parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseChoice))
      return failure();
    decl = AttributeDeclAttr::get(context, name, AttributeKind::Choice, value, choices, nullptr);
    return success();
  }

  ParseResult parseAttributes(ArrayAttr &decls) {
    SmallVector<Attribute> list;
    auto parseOne = [&]() -> ParseResult {
      // A token tells which: only an argument starts with '%'.
      AttributeDeclAttr decl;
      SMLoc loc = parser.getCurrentLocation();
      ParseResult parsed = loc.getPointer() && *loc.getPointer() == '%'
                               ? parseRealAttribute(decl)
                               : parseCompileTimeAttribute(decl);
      if (failed(parsed))
        return failure();
      list.push_back(decl);
      return success();
    };
    if (succeeded(parser.parseOptionalKeyword("attributes")) &&
        parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseOne))
      return failure();
    decls = builder.getArrayAttr(list);
    return success();
  }

  ParseResult parseOutputs(ArrayAttr &decls) {
    SmallVector<Attribute> list;
    auto parseOne = [&]() -> ParseResult {
      StringRef name;
      SmallVector<StringAttr> axes;
      if (parser.parseKeyword(&name) || parseOptionalAxes(axes))
        return failure();
      list.push_back(OutputDeclAttr::get(context, builder.getStringAttr(name), axes));
      return success();
    };
    if (parser.parseArrow() ||
        parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseOne))
      return failure();
    decls = builder.getArrayAttr(list);
    return success();
  }

  /// `dims(K = 64, V = 64)` if present.
  ParseResult parseOptionalDims(DictionaryAttr &dims) {
    if (failed(parser.parseOptionalKeyword("dims")))
      return success();
    NamedAttrList list;
    auto parseOne = [&]() -> ParseResult {
      SMLoc loc = parser.getCurrentLocation();
      StringAttr axis;
      int64_t size;
      if (asm_format::parseAxis(parser, axis) || parser.parseEqual() || parser.parseInteger(size))
        return failure();
      if (list.set(axis, builder.getI64IntegerAttr(size)))
        return parser.emitError(loc) << "axis '" << axis.getValue() << "' has two sizes";
      return success();
    };
    if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseOne))
      return failure();
    dims = list.getDictionary(context);
    return success();
  }
};

} // namespace

ParseResult RecurrenceOp::parse(OpAsmParser &parser, OperationState &result) {
  auto &properties = result.getOrAddProperties<Properties>();
  SignatureParser signature{parser};
  StringAttr name;
  if (parser.parseSymbolName(name) ||
      signature.parseOperands(OpAsmParser::Delimiter::Paren, properties.token_operands))
    return failure();
  properties.sym_name = name;
  properties.constants = parser.getBuilder().getArrayAttr({});
  if (succeeded(parser.parseOptionalKeyword("constant")) &&
      signature.parseOperands(OpAsmParser::Delimiter::Paren, properties.constants))
    return failure();
  if (signature.parseStates(properties.states) ||
      signature.parseAttributes(properties.attribute_decls) ||
      signature.parseOutputs(properties.outputs) || signature.parseOptionalDims(properties.dims))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("summary")) &&
      parser.parseAttribute(properties.summary))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("paper")) && parser.parseAttribute(properties.paper))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("with")) &&
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  TypeScope isolated(/*isolated=*/true);
  return asm_format::parseScopedRegion(parser, *result.addRegion(), signature.arguments);
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static void printAxesIn(raw_ostream &os, char open, ArrayRef<StringAttr> axes, char close) {
  if (axes.empty())
    return;
  os << open;
  llvm::interleaveComma(axes, os, [&](StringAttr axis) { os << axis.getValue(); });
  os << close;
}

static void printFamily(raw_ostream &os, FamilyDeclAttr family) {
  if (!family)
    return;
  os << " per " << family.getLevel().getValue();
  if (family.getFirst())
    os << " from " << family.getFirst();
  if (!family.getSized().empty()) {
    os << " sizes";
    printAxesIn(os, '(', family.getSized(), ')');
  }
}

static void printOperand(raw_ostream &os, OperandDeclAttr decl) {
  os << '%' << decl.getName().getValue();
  printAxesIn(os, '[', decl.getAxes(), ']');
  printFamily(os, decl.getFamily());
  bool usualDomain = decl.getDomain() == usualDomainOf(decl.getKind()) && !decl.getDomainAxis();
  if (usualDomain && decl.getKind() == OperandKind::Data)
    return;
  os << ": " << stringifyOperandKind(decl.getKind());
  if (usualDomain)
    return;
  os << ' ' << stringifyDomain(decl.getDomain());
  if (StringAttr axis = decl.getDomainAxis())
    printAxesIn(os, '(', axis, ')');
}

static void printOperands(raw_ostream &os, ArrayAttr decls) {
  os << '(';
  llvm::interleaveComma(decls.getAsRange<OperandDeclAttr>(), os,
                        [&](OperandDeclAttr decl) { printOperand(os, decl); });
  os << ')';
}

static void printState(raw_ostream &os, StateDeclAttr decl) {
  os << '%' << decl.getName().getValue();
  printAxesIn(os, '[', decl.getAxes(), ']');
  printFamily(os, decl.getFamily());
  if (decl.isRequired()) {
    os << " required";
  } else if (!decl.getInit().getValue().isPosZero()) {
    os << " = ";
    asm_format::printReal(os, decl.getInit());
  }
  if (!decl.getNonzero().empty()) {
    os << " nonzero";
    printAxesIn(os, '(', decl.getNonzero(), ')');
  }
}

static void printAttributeDecl(raw_ostream &os, AttributeDeclAttr decl) {
  os << (decl.getKind() == AttributeKind::Real ? "%" : "") << decl.getName().getValue();
  switch (decl.getKind()) {
  case AttributeKind::Real:
    os << " = ";
    if (auto size = dyn_cast<SizeFnAttr>(decl.getValue()))
      os << stringifySizeFunction(size.getFunction()) << '(' << size.getAxis().getValue() << ')';
    else
      asm_format::printReal(os, cast<FloatAttr>(decl.getValue()));
    return;
  case AttributeKind::Integer:
    os << " = " << cast<IntegerAttr>(decl.getValue()).getInt();
    return;
  case AttributeKind::Period:
    os << " = period(" << cast<IntegerAttr>(decl.getValue()).getInt() << ')';
    return;
  case AttributeKind::Choice:
    os << " = " << cast<StringAttr>(decl.getValue()).getValue() << " of ";
    printAxesIn(os, '[', decl.getChoices(), ']');
    return;
  case AttributeKind::Schedule:
    os << '[' << decl.getLevel().getValue() << "] = [";
    llvm::interleaveComma(cast<DenseI64ArrayAttr>(decl.getValue()).asArrayRef(), os);
    os << ']';
    return;
  }
}

/// The parts of a signature after the name, each as it is written.
static SmallVector<std::string> renderSignature(RecurrenceOp op) {
  SmallVector<std::string> parts;
  auto add = [&](function_ref<void(raw_ostream &)> print) {
    llvm::raw_string_ostream os(parts.emplace_back());
    print(os);
  };
  add([&](raw_ostream &os) { printOperands(os, op.getTokenOperands()); });
  if (!op.getConstants().empty())
    add([&](raw_ostream &os) { printOperands(os << "constant", op.getConstants()); });
  if (!op.getStates().empty())
    add([&](raw_ostream &os) {
      os << "state(";
      llvm::interleaveComma(op.getStates().getAsRange<StateDeclAttr>(), os,
                            [&](StateDeclAttr decl) { printState(os, decl); });
      os << ')';
    });
  if (!op.getAttributeDecls().empty())
    add([&](raw_ostream &os) {
      os << "attributes(";
      llvm::interleaveComma(op.getAttributeDecls().getAsRange<AttributeDeclAttr>(), os,
                            [&](AttributeDeclAttr decl) { printAttributeDecl(os, decl); });
      os << ')';
    });
  add([&](raw_ostream &os) {
    os << "-> (";
    llvm::interleaveComma(op.getOutputs().getAsRange<OutputDeclAttr>(), os,
                          [&](OutputDeclAttr decl) {
                            os << decl.getName().getValue();
                            printAxesIn(os, '[', decl.getAxes(), ']');
                          });
    os << ')';
  });
  if (std::optional<DictionaryAttr> dims = op.getDims())
    add([&](raw_ostream &os) {
      os << "dims(";
      llvm::interleaveComma(*dims, os, [&](NamedAttribute size) {
        os << size.getName().getValue() << " = " << cast<IntegerAttr>(size.getValue()).getInt();
      });
      os << ')';
    });
  if (op.getSummaryAttr())
    add([&](raw_ostream &os) { os << "summary " << op.getSummaryAttr(); });
  if (op.getPaperAttr())
    add([&](raw_ostream &os) { os << "paper " << op.getPaperAttr(); });
  return parts;
}

void RecurrenceOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  // A signature that does not fit a line has a line for each part.
  SmallVector<std::string> parts = renderSignature(*this);
  size_t length = getSymName().size();
  for (const std::string &part : parts)
    length += part.size() + 1;
  printer << parts.front();
  for (StringRef part : ArrayRef(parts).drop_front()) {
    if (length <= 76) {
      printer << ' ' << part;
      continue;
    }
    printer.increaseIndent();
    printer.increaseIndent();
    printer.printNewline();
    printer << part;
    printer.decreaseIndent();
    printer.decreaseIndent();
  }
  SmallVector<StringRef> inherent = {"sym_name", "token_operands",  "constants", "states",
                                     "outputs",  "attribute_decls", "dims",      "summary",
                                     "paper"};
  if (llvm::any_of((*this)->getAttrs(), [&](NamedAttribute attribute) {
        return !llvm::is_contained(inherent, attribute.getName().getValue());
      })) {
    printer << " with";
    printer.printOptionalAttrDict((*this)->getAttrs(), inherent);
  }
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

void RecurrenceOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  SmallVector<StringRef> names;
  for (auto decl : getTokenOperands().getAsRange<OperandDeclAttr>())
    names.push_back(decl.getName());
  for (auto decl : getConstants().getAsRange<OperandDeclAttr>())
    names.push_back(decl.getName());
  for (auto decl : getStates().getAsRange<StateDeclAttr>())
    names.push_back(decl.getName());
  for (auto decl : getAttributeDecls().getAsRange<AttributeDeclAttr>())
    if (decl.getKind() == AttributeKind::Real)
      names.push_back(decl.getName());
  for (auto [argument, name] : llvm::zip(region.getArguments(), names))
    setName(argument, name);
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

namespace {

/// A letter or '_' and then letters, digits and '_': what the syntax takes as the name of
/// a tensor.
bool isIdentifier(StringAttr name) {
  StringRef text = name.getValue();
  return !text.empty() && !llvm::isDigit(text.front()) &&
         llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

/// The axes that every tensor has in front of its own.
bool isReservedAxis(StringAttr axis) {
  return llvm::is_contained({"B", "T", "H", "N"}, axis.getValue());
}

/// The declarations of a recurrence against each other.
struct SignatureVerifier {
  RecurrenceOp op;
  llvm::StringSet<> names;
  llvm::StringSet<> levels;

  LogicalResult addName(StringAttr name, StringRef what) {
    if (!isIdentifier(name))
      return op.emitOpError("declares ") << what << " '" << name.getValue()
                                         << "', which is not a letter and then letters, digits "
                                         << "and '_'";
    if (!names.insert(name.getValue()).second)
      return op.emitOpError("declares '") << name.getValue() << "' twice";
    if (name == "cu_seqlens" || name == "position")
      return op.emitOpError("declares ") << what << " '" << name.getValue()
                                         << "', a name that every recurrence's inputs have";
    return success();
  }

  LogicalResult checkAxes(StringAttr name, ArrayRef<StringAttr> axes) {
    for (auto [i, axis] : llvm::enumerate(axes)) {
      if (!isIdentifier(axis))
        return op.emitOpError("declares '")
               << name.getValue() << "' with an axis '" << axis.getValue()
               << "', which is not a letter and then letters, digits and '_'";
      if (llvm::is_contained(axes.take_front(i), axis))
        return op.emitOpError("declares '")
               << name.getValue() << "' with axis '" << axis.getValue() << "' twice";
      if (isReservedAxis(axis))
        return op.emitOpError("declares '")
               << name.getValue() << "' with an axis '" << axis.getValue()
               << "': B, T, H and N are the batch's, the tokens', the heads' and the sequences'";
    }
    return success();
  }

  LogicalResult checkFamily(StringAttr name, ArrayRef<StringAttr> axes, FamilyDeclAttr family) {
    if (!family)
      return success();
    if (!levels.contains(family.getLevel().getValue()))
      return op.emitOpError("declares the family '")
             << name.getValue() << "' per '" << family.getLevel().getValue()
             << "', which is the axis of no schedule";
    if (family.getFirst() < 0)
      return op.emitOpError("declares the family '") << name.getValue() << "' from a negative level";
    for (StringAttr axis : family.getSized())
      if (!llvm::is_contained(axes, axis))
        return op.emitOpError("declares the family '")
               << name.getValue() << "' with sizes of '" << axis.getValue()
               << "', which is not one of its axes";
    return success();
  }

  LogicalResult checkOperands(ArrayAttr decls, StringRef what) {
    for (auto decl : decls.getAsRange<OperandDeclAttr>()) {
      if (failed(addName(decl.getName(), what)) ||
          failed(checkAxes(decl.getName(), decl.getAxes())) ||
          failed(checkFamily(decl.getName(), decl.getAxes(), decl.getFamily())))
        return failure();
      bool needsAxis = decl.getDomain() == Domain::Unit || decl.getDomain() == Domain::Softmax;
      if (needsAxis && (!decl.getDomainAxis() ||
                        !llvm::is_contained(decl.getAxes(), decl.getDomainAxis())))
        return op.emitOpError("declares '")
               << decl.getName().getValue() << "' with a domain along an axis that it lacks";
    }
    return success();
  }

  LogicalResult checkStates() {
    for (auto decl : op.getStates().getAsRange<StateDeclAttr>()) {
      if (failed(addName(decl.getName(), "a state")) ||
          failed(checkAxes(decl.getName(), decl.getAxes())) ||
          failed(checkFamily(decl.getName(), decl.getAxes(), decl.getFamily())))
        return failure();
      for (StringAttr axis : decl.getNonzero())
        if (!llvm::is_contained(decl.getAxes(), axis))
          return op.emitOpError("declares state '")
                 << decl.getName().getValue() << "' as nonzero along '" << axis.getValue()
                 << "', which is not one of its axes";
      if (decl.getInit() && !decl.getInit().getType().isF64())
        return op.emitOpError("declares state '")
               << decl.getName().getValue() << "' with an initial value that is not f64";
    }
    return success();
  }

  LogicalResult checkSchedule(AttributeDeclAttr decl) {
    auto entries = dyn_cast<DenseI64ArrayAttr>(decl.getValue());
    if (!entries || entries.empty() || !decl.getLevel())
      return op.emitOpError("declares '")
             << decl.getName().getValue() << "', which needs a list of integers and a level axis";
    if (failed(checkAxes(decl.getName(), decl.getLevel())))
      return failure();
    int64_t previous = 0;
    for (auto [i, entry] : llvm::enumerate(entries.asArrayRef())) {
      if (i == 0 ? entry != 1 : entry <= previous)
        return op.emitOpError("declares '")
               << decl.getName().getValue() << "' with entry " << i << " = " << entry
               << ": a schedule increases strictly from 1";
      previous = entry;
    }
    return success();
  }

  LogicalResult checkAttribute(AttributeDeclAttr decl) {
    auto integer = dyn_cast<IntegerAttr>(decl.getValue());
    switch (decl.getKind()) {
    case AttributeKind::Real:
      if (auto number = dyn_cast<FloatAttr>(decl.getValue());
          number ? !number.getType().isF64() : !isa<SizeFnAttr>(decl.getValue()))
        return op.emitOpError("declares '") << decl.getName().getValue()
                                            << "' with a value that is no real number";
      return success();
    case AttributeKind::Integer:
      if (!integer || integer.getInt() < 0)
        return op.emitOpError("declares '") << decl.getName().getValue()
                                            << "' with a value that is no integer from 0 on";
      return success();
    case AttributeKind::Period:
      if (!integer || integer.getInt() < 1)
        return op.emitOpError("declares '") << decl.getName().getValue()
                                            << "' with a period that is not positive";
      return success();
    case AttributeKind::Choice:
      for (auto [i, choice] : llvm::enumerate(decl.getChoices()))
        if (llvm::is_contained(decl.getChoices().take_front(i), choice))
          return op.emitOpError("declares '") << decl.getName().getValue() << "' with choice '"
                                              << choice.getValue() << "' twice";
      if (!llvm::is_contained(decl.getChoices(), dyn_cast<StringAttr>(decl.getValue())))
        return op.emitOpError("declares '") << decl.getName().getValue()
                                            << "' with a value that is not one of its choices";
      return success();
    case AttributeKind::Schedule:
      return checkSchedule(decl);
    }
    return success();
  }

  LogicalResult checkAttributes() {
    bool hasPeriod = false;
    for (auto decl : op.getAttributeDecls().getAsRange<AttributeDeclAttr>()) {
      if (failed(addName(decl.getName(), "an attribute")) || failed(checkAttribute(decl)))
        return failure();
      if (decl.getKind() == AttributeKind::Period && std::exchange(hasPeriod, true))
        return op.emitOpError("declares two periods");
      if (decl.getKind() == AttributeKind::Schedule &&
          !levels.insert(decl.getLevel().getValue()).second)
        return op.emitOpError("declares two schedules of '") << decl.getLevel().getValue() << "'";
    }
    return success();
  }

  /// The tensors of a family are named by its name and a level.
  LogicalResult checkMemberNames(StringAttr family) {
    for (StringRef name : names.keys()) {
      StringRef level = name;
      if (level.consume_front(family.getValue()) && !level.empty() &&
          llvm::all_of(level, llvm::isDigit))
        return op.emitOpError("declares '") << name << "', the name of a member of the family '"
                                            << family.getValue() << "'";
    }
    return success();
  }

  LogicalResult checkMemberNames() {
    for (ArrayAttr decls : {op.getTokenOperands(), op.getConstants()})
      for (auto decl : decls.getAsRange<OperandDeclAttr>())
        if (decl.getFamily() && failed(checkMemberNames(decl.getName())))
          return failure();
    for (auto decl : op.getStates().getAsRange<StateDeclAttr>())
      if (decl.getFamily() && failed(checkMemberNames(decl.getName())))
        return failure();
    return success();
  }

  LogicalResult checkOutputs() {
    llvm::StringSet<> outputs;
    for (auto decl : op.getOutputs().getAsRange<OutputDeclAttr>()) {
      if (!isIdentifier(decl.getName()))
        return op.emitOpError("declares output '")
               << decl.getName().getValue()
               << "', which is not a letter and then letters, digits and '_'";
      if (!outputs.insert(decl.getName().getValue()).second)
        return op.emitOpError("declares output '") << decl.getName().getValue() << "' twice";
      if (failed(checkAxes(decl.getName(), decl.getAxes())))
        return failure();
    }
    return success();
  }
};

} // namespace

LogicalResult RecurrenceOp::verify() {
  SignatureVerifier verifier{*this, {}, {}};
  if (getOutputs().empty())
    return emitOpError("declares no output");
  if (failed(verifier.checkAttributes()) ||
      failed(verifier.checkOperands(getTokenOperands(), "an operand")) ||
      failed(verifier.checkOperands(getConstants(), "a constant")) ||
      failed(verifier.checkStates()) || failed(verifier.checkMemberNames()) ||
      failed(verifier.checkOutputs()))
    return failure();
  if (std::optional<DictionaryAttr> dims = getDims())
    for (NamedAttribute size : *dims) {
      auto integer = dyn_cast<IntegerAttr>(size.getValue());
      if (!integer || !integer.getType().isInteger(64) || integer.getInt() < 1)
        return emitOpError("binds axis '")
               << size.getName().getValue() << "' to a size that is not positive";
    }
  return success();
}

/// Why `value` is not of type `expected`.
static LogicalResult emitYieldMismatch(YieldOp yield, StringRef what, StringAttr name,
                                       Type expected, Value value) {
  auto diagnostic = yield.emitOpError("gives ") << value.getType() << " for " << what << " '"
                                                << name.getValue() << "', which is declared as "
                                                << expected;
  diagnostic.attachNote(value.getLoc()) << "the value is made here";
  return diagnostic;
}

LogicalResult RecurrenceOp::verifyRegions() {
  SmallVector<Type> expected;
  for (auto decl : getTokenOperands().getAsRange<OperandDeclAttr>())
    expected.push_back(decl.getArgumentType());
  for (auto decl : getConstants().getAsRange<OperandDeclAttr>())
    expected.push_back(decl.getArgumentType());
  for (auto decl : getStates().getAsRange<StateDeclAttr>())
    expected.push_back(decl.getArgumentType());
  for (auto decl : getAttributeDecls().getAsRange<AttributeDeclAttr>())
    if (decl.getKind() == AttributeKind::Real)
      expected.push_back(ArrayType::scalar(getContext()));
  if (getBody().getArgumentTypes() != TypeRange(expected))
    return emitOpError("has region arguments that do not match its declarations");

  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield)
    return emitOpError("needs a region that ends with larc.yield");
  size_t numStates = getStates().size();
  if (yield.getValues().size() != numStates + getOutputs().size())
    return yield.emitOpError("gives ")
           << yield.getValues().size() << " values, but the recurrence declares " << numStates
           << " states and " << getOutputs().size() << " outputs";
  for (auto [decl, value] : llvm::zip(getStates().getAsRange<StateDeclAttr>(),
                                      yield.getValues().take_front(numStates)))
    if (value.getType() != decl.getArgumentType())
      return emitYieldMismatch(yield, "state", decl.getName(), decl.getArgumentType(), value);
  for (auto [decl, value] : llvm::zip(getOutputs().getAsRange<OutputDeclAttr>(),
                                      yield.getValues().drop_front(numStates))) {
    Type type = ArrayType::ofAxes(getContext(), decl.getAxes());
    if (value.getType() != type)
      return emitYieldMismatch(yield, "output", decl.getName(), type, value);
  }

  // Axes come from declarations and renames; a size must be bound to each.
  SmallVector<StringAttr> axes = getAllAxes();
  auto check = [&](StringAttr axis, Operation *op) -> LogicalResult {
    if (llvm::is_contained(axes, axis))
      return success();
    return op->emitOpError("names axis '") << axis.getValue() << "', which nothing declares";
  };
  for (auto decl : getAttributeDecls().getAsRange<AttributeDeclAttr>())
    if (auto size = dyn_cast<SizeFnAttr>(decl.getValue()); size)
      if (failed(check(size.getAxis(), *this)))
        return failure();
  WalkResult walked = getBody().walk([&](Operation *op) -> WalkResult {
    if (auto broadcast = dyn_cast<BroadcastOp>(op))
      for (Attribute axis : broadcast.getAxes())
        if (failed(check(cast<StringAttr>(axis), op)))
          return WalkResult::interrupt();
    if (auto rename = dyn_cast<RenameOp>(op))
      if (!isIdentifier(rename.getToAttr()) || isReservedAxis(rename.getToAttr())) {
        op->emitOpError("makes an axis '")
            << rename.getTo() << "': expected a letter and then letters, digits and '_', and not "
            << "B, T, H or N";
        return WalkResult::interrupt();
      }
    if (auto levels = dyn_cast<LevelsOp>(op);
        levels && llvm::none_of(getAttributeDecls().getAsRange<AttributeDeclAttr>(),
                                [&](AttributeDeclAttr decl) {
                                  return decl.getLevel() == levels.getLevelAttr();
                                })) {
      op->emitOpError("goes to '") << levels.getLevel() << "', which is the axis of no schedule";
      return WalkResult::interrupt();
    }
    if (auto orthogonalize = dyn_cast<OrthogonalizeOp>(op))
      if (auto name = dyn_cast<StringAttr>(orthogonalize.getIterations())) {
        AttributeDeclAttr decl = lookupAttribute(name);
        if (!decl || decl.getKind() != AttributeKind::Integer) {
          op->emitOpError("takes its iterations from '")
              << name.getValue() << "', which is no integer attribute of the recurrence";
          return WalkResult::interrupt();
        }
      }
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Accessors
//===----------------------------------------------------------------------===//

Block::BlockArgListType RecurrenceOp::getOperandArguments() {
  return getBody().getArguments().take_front(getTokenOperands().size());
}

Block::BlockArgListType RecurrenceOp::getConstantArguments() {
  return getBody().getArguments().slice(getTokenOperands().size(), getConstants().size());
}

Block::BlockArgListType RecurrenceOp::getStateArguments() {
  return getBody().getArguments().slice(getTokenOperands().size() + getConstants().size(),
                                        getStates().size());
}

Block::BlockArgListType RecurrenceOp::getRealArguments() {
  return getBody().getArguments().drop_front(getTokenOperands().size() + getConstants().size() +
                                             getStates().size());
}

YieldOp RecurrenceOp::getYield() { return cast<YieldOp>(getBody().front().getTerminator()); }

AttributeDeclAttr RecurrenceOp::lookupAttribute(StringRef name) {
  for (auto decl : getAttributeDecls().getAsRange<AttributeDeclAttr>())
    if (decl.getName() == name)
      return decl;
  return {};
}

AttributeDeclAttr RecurrenceOp::getPeriodDecl() {
  for (auto decl : getAttributeDecls().getAsRange<AttributeDeclAttr>())
    if (decl.getKind() == AttributeKind::Period)
      return decl;
  return {};
}

int64_t RecurrenceOp::getPeriod() {
  AttributeDeclAttr decl = getPeriodDecl();
  return decl ? cast<IntegerAttr>(decl.getValue()).getInt() : 0;
}

SmallVector<StringAttr> RecurrenceOp::getAllAxes() {
  SmallVector<StringAttr> axes;
  auto add = [&](StringAttr axis) {
    if (axis && !llvm::is_contained(axes, axis))
      axes.push_back(axis);
  };
  for (auto decl : getTokenOperands().getAsRange<OperandDeclAttr>())
    llvm::for_each(decl.getAxes(), add);
  for (auto decl : getConstants().getAsRange<OperandDeclAttr>())
    llvm::for_each(decl.getAxes(), add);
  for (auto decl : getStates().getAsRange<StateDeclAttr>())
    llvm::for_each(decl.getAxes(), add);
  for (auto decl : getOutputs().getAsRange<OutputDeclAttr>())
    llvm::for_each(decl.getAxes(), add);
  for (auto decl : getAttributeDecls().getAsRange<AttributeDeclAttr>())
    add(decl.getLevel());
  getBody().walk([&](RenameOp rename) { add(rename.getToAttr()); });
  return axes;
}

std::optional<int64_t> RecurrenceOp::getAxisSize(StringAttr axis) {
  std::optional<DictionaryAttr> dims = getDims();
  if (!dims)
    return std::nullopt;
  auto size = dims->getAs<IntegerAttr>(axis);
  return size ? std::optional<int64_t>(size.getInt()) : std::nullopt;
}

bool RecurrenceOp::isFlat() {
  for (BlockArgument argument : getBody().getArguments())
    if (!isa<ArrayType>(argument.getType()))
      return false;
  return !getBody()
              .walk([](Operation *op) {
                return isa<ChooseOp, LevelsOp, MemberOp, InsertOp>(op) ? WalkResult::interrupt()
                                                                       : WalkResult::advance();
              })
              .wasInterrupted();
}

SmallVector<unsigned> RecurrenceOp::getAnchoredStates() {
  SmallVector<unsigned> states;
  unsigned first = getTokenOperands().size() + getConstants().size();
  getBody().walk([&](AnchorOp anchor) {
    unsigned index = cast<BlockArgument>(anchor.getState()).getArgNumber() - first;
    if (!llvm::is_contained(states, index))
      states.push_back(index);
  });
  llvm::sort(states);
  return states;
}
