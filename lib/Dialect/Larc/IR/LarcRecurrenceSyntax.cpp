//===- LarcRecurrenceSyntax.cpp - larc.recurrence as text -*- C++ -*- -----===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Dialect/Larc/IR/Larc.h"
#include "larc/Dialect/Larc/IR/TypeScope.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace larc;

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
    if (!llvm::all_of(text,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; }) ||
        llvm::isDigit(text.front()))
      return parser.emitError(argument.ssaName.location)
             << "'" << text
             << "' cannot name a tensor: expected a letter and then letters, "
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
    if (parser.parseLParen() || asm_format::parseAxes(parser, list) ||
        parser.parseRParen())
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
    if (succeeded(parser.parseOptionalKeyword("from")) &&
        parser.parseInteger(first))
      return failure();
    if (succeeded(parser.parseOptionalKeyword("sizes")) &&
        parseAxesInParens(sized))
      return failure();
    family = FamilyDeclAttr::get(context, level, first, sized);
    return success();
  }

  /// `(0.5, 1)` if present.
  ParseResult parseOptionalRange(DenseF64ArrayAttr &range) {
    if (failed(parser.parseOptionalLParen()))
      return success();
    FloatAttr low, high;
    if (asm_format::parseReal(parser, low) || parser.parseComma() ||
        asm_format::parseReal(parser, high) || parser.parseRParen())
      return failure();
    range = builder.getDenseF64ArrayAttr(
        {low.getValueAsDouble(), high.getValueAsDouble()});
    return success();
  }

  /// `: kind domain(axis)` if present, either part optional.
  ParseResult parseOptionalKind(OperandKind &kind, Domain &domain,
                                StringAttr &domainAxis,
                                DenseF64ArrayAttr &range) {
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
      return parser.emitError(loc) << "unknown kind or domain '" << keyword
                                   << "': kinds are data, gate, coefficient; "
                                   << "domains normal, unit(axis), log_decay, "
                                      "interval(low, high), softmax(axis)";
    domain = *known;
    if (domain == Domain::Interval)
      return parseOptionalRange(range);
    if (domain != Domain::Unit && domain != Domain::Softmax)
      return success();
    return failure(parser.parseLParen() ||
                   asm_format::parseAxis(parser, domainAxis) ||
                   parser.parseRParen());
  }

  ParseResult parseOperands(OpAsmParser::Delimiter delimiter,
                            ArrayAttr &decls) {
    SmallVector<Attribute> list;
    auto parseOne = [&]() -> ParseResult {
      Argument argument;
      StringAttr name, domainAxis;
      SmallVector<StringAttr> axes;
      FamilyDeclAttr family;
      OperandKind kind;
      Domain domain;
      DenseF64ArrayAttr range;
      if (parseName(argument, name) || parseOptionalAxes(axes) ||
          parseOptionalFamily(family) ||
          parseOptionalKind(kind, domain, domainAxis, range))
        return failure();
      auto decl = OperandDeclAttr::get(context, name, axes, kind, domain,
                                       domainAxis, range, family);
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
      if (parseName(argument, name) || parseOptionalAxes(axes) ||
          parseOptionalFamily(family))
        return failure();
      if (succeeded(parser.parseOptionalEqual())) {
        if (asm_format::parseReal(parser, init))
          return failure();
      } else if (succeeded(parser.parseOptionalKeyword("required"))) {
        init = nullptr;
      }
      if (succeeded(parser.parseOptionalKeyword("nonzero")) &&
          parseAxesInParens(nonzero))
        return failure();
      auto decl =
          StateDeclAttr::get(context, name, axes, init, nonzero, family);
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
    if (succeeded(parser.parseOptionalKeyword(
            &keyword, {"size", "rsqrt", "reciprocal"}))) {
      StringAttr axis;
      if (parser.parseLParen() || asm_format::parseAxis(parser, axis) ||
          parser.parseRParen())
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
    if (parseName(argument, name) || parser.parseEqual() ||
        parseRealValue(value))
      return failure();
    addArgument(argument, ArrayType::scalar(context));
    decl = AttributeDeclAttr::get(context, name, AttributeKind::Real, value, {},
                                  nullptr);
    return success();
  }

  /// `[L] = [1, 2, 4]` after the name.
  ParseResult parseSchedule(StringAttr name, AttributeDeclAttr &decl) {
    StringAttr level;
    SmallVector<int64_t> entries;
    auto parseEntry = [&] {
      return parser.parseInteger(entries.emplace_back());
    };
    if (asm_format::parseAxis(parser, level) || parser.parseRSquare() ||
        parser.parseEqual() ||
        parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square,
                                       parseEntry))
      return failure();
    decl = AttributeDeclAttr::get(context, name, AttributeKind::Schedule,
                                  builder.getDenseI64ArrayAttr(entries), {},
                                  level);
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
                                    builder.getI64IntegerAttr(integer), {},
                                    nullptr);
      return *isInteger;
    }
    if (parser.parseKeyword(&keyword))
      return failure();
    // A choice may have that name, too.
    if (keyword == "period" && succeeded(parser.parseOptionalLParen())) {
      if (parser.parseInteger(integer) || parser.parseRParen())
        return failure();
      decl = AttributeDeclAttr::get(context, name, AttributeKind::Period,
                                    builder.getI64IntegerAttr(integer), {},
                                    nullptr);
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
        parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square,
                                       parseChoice))
      return failure();
    decl = AttributeDeclAttr::get(context, name, AttributeKind::Choice, value,
                                  choices, nullptr);
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
      list.push_back(
          OutputDeclAttr::get(context, builder.getStringAttr(name), axes));
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
      if (asm_format::parseAxis(parser, axis) || parser.parseEqual() ||
          parser.parseInteger(size))
        return failure();
      if (list.set(axis, builder.getI64IntegerAttr(size)))
        return parser.emitError(loc)
               << "axis '" << axis.getValue() << "' has two sizes";
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
      signature.parseOperands(OpAsmParser::Delimiter::Paren,
                              properties.token_operands))
    return failure();
  properties.sym_name = name;
  properties.constants = parser.getBuilder().getArrayAttr({});
  if (succeeded(parser.parseOptionalKeyword("constant")) &&
      signature.parseOperands(OpAsmParser::Delimiter::Paren,
                              properties.constants))
    return failure();
  if (signature.parseStates(properties.states) ||
      signature.parseAttributes(properties.attribute_decls) ||
      signature.parseOutputs(properties.outputs) ||
      signature.parseOptionalDims(properties.dims))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("summary")) &&
      parser.parseAttribute(properties.summary))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("paper")) &&
      parser.parseAttribute(properties.paper))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("with")) &&
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  TypeScope isolated(/*isolated=*/true);
  return asm_format::parseScopedRegion(parser, *result.addRegion(),
                                       signature.arguments);
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static void printAxesIn(raw_ostream &os, char open, ArrayRef<StringAttr> axes,
                        char close) {
  if (axes.empty())
    return;
  os << open;
  llvm::interleaveComma(axes, os,
                        [&](StringAttr axis) { os << axis.getValue(); });
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
  bool usualDomain = decl.getDomain() == usualDomainOf(decl.getKind()) &&
                     !decl.getDomainAxis() && !decl.getRange();
  if (usualDomain && decl.getKind() == OperandKind::Data)
    return;
  os << ": " << stringifyOperandKind(decl.getKind());
  if (usualDomain)
    return;
  os << ' ' << stringifyDomain(decl.getDomain());
  if (StringAttr axis = decl.getDomainAxis())
    printAxesIn(os, '(', axis, ')');
  if (DenseF64ArrayAttr range = decl.getRange()) {
    Builder builder(decl.getContext());
    os << '(';
    llvm::interleaveComma(range.asArrayRef(), os, [&](double bound) {
      asm_format::printReal(os, builder.getF64FloatAttr(bound));
    });
    os << ')';
  }
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
  os << (decl.getKind() == AttributeKind::Real ? "%" : "")
     << decl.getName().getValue();
  switch (decl.getKind()) {
  case AttributeKind::Real:
    os << " = ";
    if (auto size = dyn_cast<SizeFnAttr>(decl.getValue()))
      os << stringifySizeFunction(size.getFunction()) << '('
         << size.getAxis().getValue() << ')';
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
    llvm::interleaveComma(cast<DenseI64ArrayAttr>(decl.getValue()).asArrayRef(),
                          os);
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
    add([&](raw_ostream &os) {
      printOperands(os << "constant", op.getConstants());
    });
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
      llvm::interleaveComma(
          op.getAttributeDecls().getAsRange<AttributeDeclAttr>(), os,
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
        os << size.getName().getValue() << " = "
           << cast<IntegerAttr>(size.getValue()).getInt();
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
  SmallVector<StringRef> inherent = {
      "sym_name",        "token_operands", "constants", "states", "outputs",
      "attribute_decls", "dims",           "summary",   "paper"};
  asm_format::printRestAndRegion(printer, *this, inherent);
}

void RecurrenceOp::getAsmBlockArgumentNames(Region &region,
                                            OpAsmSetValueNameFn setName) {
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
