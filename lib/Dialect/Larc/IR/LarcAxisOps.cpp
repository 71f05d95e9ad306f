//===- LarcAxisOps.cpp - Operations along axes, families -*- C++ -*- ------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Dialect/Larc/IR/Larc.h"
#include "larc/Dialect/Larc/IR/TypeScope.h"

using namespace mlir;
using namespace larc;

//===----------------------------------------------------------------------===//
// Shared pieces
//===----------------------------------------------------------------------===//

static SmallVector<StringAttr> axisList(ArrayAttr axes) {
  return llvm::map_to_vector(
      axes, [](Attribute axis) { return cast<StringAttr>(axis); });
}

/// `[K, V]`, for messages.
static std::string spell(ArrayType type) {
  std::string text = "[";
  llvm::interleave(
      type.getAxes(), [&](StringAttr axis) { text += axis.getValue(); },
      [&] { text += ", "; });
  return text + "]";
}

static InFlightDiagnostic emitAt(MLIRContext *context,
                                 std::optional<Location> loc) {
  return emitError(loc.value_or(UnknownLoc::get(context)));
}

/// `value` as an array; an error where it is a family.
static FailureOr<ArrayType> requireArray(MLIRContext *context,
                                         std::optional<Location> loc,
                                         StringRef what, Value value) {
  auto array = dyn_cast<ArrayType>(value.getType());
  if (array)
    return array;
  if (isa<FamilyType>(value.getType()))
    return emitAt(context, loc)
           << what
           << " takes an array, not a family; read one with larc.member";
  return emitAt(context, loc)
         << what << " takes an array, not an index of levels";
}

/// The type of `operands` multiplied and reduced over `axes`; an error where no
/// operand has one of the axes.
static LogicalResult inferReduced(MLIRContext *context,
                                  std::optional<Location> loc, StringRef what,
                                  ValueRange operands, ArrayAttr axes,
                                  SmallVectorImpl<Type> &types,
                                  bool keepAxes = false) {
  if (!axes)
    return failure();
  ArrayType type = ArrayType::scalar(context);
  for (Value operand : operands) {
    FailureOr<ArrayType> array = requireArray(context, loc, what, operand);
    if (failed(array))
      return failure();
    type = ArrayType::unionOf(type, *array);
  }
  SmallVector<StringAttr> reduced = axisList(axes);
  if (reduced.empty())
    return emitAt(context, loc) << what << " needs at least one axis";
  for (auto [i, axis] : llvm::enumerate(reduced)) {
    if (llvm::is_contained(ArrayRef(reduced).take_front(i), axis))
      return emitAt(context, loc)
             << what << " names axis '" << axis.getValue() << "' twice";
    if (type.hasAxis(axis))
      continue;
    auto diagnostic = emitAt(context, loc)
                      << what << " over axis '" << axis.getValue()
                      << "', which no operand has: ";
    llvm::interleaveComma(operands, diagnostic, [&](Value operand) {
      diagnostic << spell(cast<ArrayType>(operand.getType()));
    });
    return diagnostic;
  }
  types.push_back(keepAxes ? type : type.without(reduced));
  return success();
}

/// `over K, V`.
static ParseResult parseOver(OpAsmParser &parser, ArrayAttr &axes) {
  return failure(parser.parseKeyword("over") ||
                 asm_format::parseAxes(parser, axes));
}

static void printOver(OpAsmPrinter &printer, ArrayAttr axes) {
  printer << " over ";
  asm_format::printAxes(printer, axes.getValue());
}

template <typename OpTy>
static ParseResult parseOneOver(OpAsmParser &parser, OperationState &result) {
  ArrayAttr axes;
  if (asm_format::parseOperand(parser, result) || parseOver(parser, axes) ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  result.getOrAddProperties<typename OpTy::Properties>().axes = axes;
  return asm_format::inferTypes<OpTy>(parser, result);
}

template <typename OpTy>
static void printOneOver(OpTy op, OpAsmPrinter &printer) {
  printer << ' ' << op.getOperand();
  printOver(printer, op.getAxes());
  printer.printOptionalAttrDict(op->getAttrs(), {"axes"});
}

/// Inference reports what is wrong with the axes, and the trait runs it when it
/// verifies; nothing is left to check.
#define LARC_OVER_AXES(OP, WHAT, KEEP_AXES)                                    \
  LogicalResult OP::inferReturnTypes(                                          \
      MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,      \
      SmallVectorImpl<Type> &types) {                                          \
    return inferReduced(context, loc, WHAT, adaptor.getOperands(),             \
                        adaptor.getAxes(), types, KEEP_AXES);                  \
  }

LARC_OVER_AXES(ContractOp, "a contraction", false)
LARC_OVER_AXES(ReduceOp, "a reduction", false)
LARC_OVER_AXES(NormOp, "a norm", false)
LARC_OVER_AXES(NormalizeOp, "a normalisation", true)
LARC_OVER_AXES(SoftmaxOp, "a softmax", true)

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

ParseResult ContractOp::parse(OpAsmParser &parser, OperationState &result) {
  ArrayAttr axes;
  if (asm_format::parseOperand(parser, result) || parser.parseComma() ||
      asm_format::parseOperand(parser, result) || parseOver(parser, axes) ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  result.getOrAddProperties<Properties>().axes = axes;
  return asm_format::inferTypes<ContractOp>(parser, result);
}

void ContractOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getLhs() << ", " << getRhs();
  printOver(printer, getAxes());
  printer.printOptionalAttrDict((*this)->getAttrs(), {"axes"});
}

SmallVector<StringAttr> ContractOp::getReducedAxes() {
  return axisList(getAxes());
}
ReduceKind ContractOp::getCombiner() { return ReduceKind::Sum; }

ParseResult ReduceOp::parse(OpAsmParser &parser, OperationState &result) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  ArrayAttr axes;
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<ReduceKind> kind = symbolizeReduceKind(keyword);
  if (!kind)
    return parser.emitError(loc)
           << "unknown reduction '" << keyword << "': expected sum, max or min";
  if (asm_format::parseOperand(parser, result) || parseOver(parser, axes) ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  auto &properties = result.getOrAddProperties<Properties>();
  properties.kind = ReduceKindAttr::get(parser.getContext(), *kind);
  properties.axes = axes;
  return asm_format::inferTypes<ReduceOp>(parser, result);
}

void ReduceOp::print(OpAsmPrinter &printer) {
  printer << ' ' << stringifyReduceKind(getKind()) << ' ' << getOperand();
  printOver(printer, getAxes());
  printer.printOptionalAttrDict((*this)->getAttrs(), {"axes", "kind"});
}

SmallVector<StringAttr> ReduceOp::getReducedAxes() {
  return axisList(getAxes());
}
ReduceKind ReduceOp::getCombiner() { return getKind(); }

ParseResult NormOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseOneOver<NormOp>(parser, result);
}
void NormOp::print(OpAsmPrinter &printer) { printOneOver(*this, printer); }

ParseResult SoftmaxOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseOneOver<SoftmaxOp>(parser, result);
}
void SoftmaxOp::print(OpAsmPrinter &printer) { printOneOver(*this, printer); }

//===----------------------------------------------------------------------===//
// NormalizeOp
//===----------------------------------------------------------------------===//

ParseResult NormalizeOp::parse(OpAsmParser &parser, OperationState &result) {
  ArrayAttr axes;
  if (asm_format::parseOperand(parser, result) || parseOver(parser, axes))
    return failure();
  EpsRule rule = EpsRule::Max;
  FloatAttr eps = parser.getBuilder().getF64FloatAttr(0.0);
  StringRef keyword;
  if (succeeded(
          parser.parseOptionalKeyword(&keyword, {"max", "add", "inside"}))) {
    rule = *symbolizeEpsRule(keyword);
    if (asm_format::parseReal(parser, eps))
      return failure();
  }
  if (parser.parseOptionalAttrDict(result.attributes))
    return failure();
  auto &properties = result.getOrAddProperties<Properties>();
  properties.axes = axes;
  properties.rule = EpsRuleAttr::get(parser.getContext(), rule);
  properties.eps = eps;
  return asm_format::inferTypes<NormalizeOp>(parser, result);
}

void NormalizeOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getOperand();
  printOver(printer, getAxes());
  if (getRule() != EpsRule::Max || !getEps().isZero()) {
    printer << ' ' << stringifyEpsRule(getRule()) << ' ';
    asm_format::printReal(printer, getEpsAttr());
  }
  printer.printOptionalAttrDict((*this)->getAttrs(), {"axes", "rule", "eps"});
}

LogicalResult NormalizeOp::verify() {
  if (getEps().isNegative() || !getEps().isFinite())
    return emitOpError("needs an eps that is finite and not negative");
  return success();
}

//===----------------------------------------------------------------------===//
// OrthogonalizeOp
//===----------------------------------------------------------------------===//

LogicalResult OrthogonalizeOp::inferReturnTypes(MLIRContext *context,
                                                std::optional<Location> loc,
                                                Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  FailureOr<ArrayType> required =
      requireArray(context, loc, "an orthogonalisation", adaptor.getOperand());
  StringAttr rows = adaptor.getRowsAttr(), columns = adaptor.getColumnsAttr();
  if (failed(required) || !rows || !columns)
    return failure();
  ArrayType array = *required;
  if (rows == columns || !array.hasAxis(rows) || !array.hasAxis(columns))
    return emitAt(context, loc)
           << "an orthogonalisation needs two axes of its operand "
           << spell(array) << ", but is over '" << rows.getValue() << "' and '"
           << columns.getValue() << "'";
  types.push_back(array);
  return success();
}

ParseResult OrthogonalizeOp::parse(OpAsmParser &parser,
                                   OperationState &result) {
  StringAttr rows, columns;
  Builder &builder = parser.getBuilder();
  if (asm_format::parseOperand(parser, result) || parser.parseKeyword("over") ||
      asm_format::parseAxis(parser, rows) || parser.parseComma() ||
      asm_format::parseAxis(parser, columns) ||
      parser.parseKeyword("iterations") || parser.parseLParen())
    return failure();
  auto &properties = result.getOrAddProperties<Properties>();
  properties.rows = rows;
  properties.columns = columns;
  int64_t count;
  StringRef name;
  OptionalParseResult hasCount = parser.parseOptionalInteger(count);
  if (hasCount.has_value()) {
    if (failed(*hasCount))
      return failure();
    properties.iterations = builder.getI64IntegerAttr(count);
  } else {
    if (parser.parseKeyword(&name))
      return failure();
    properties.iterations = builder.getStringAttr(name);
  }
  if (parser.parseRParen())
    return failure();
  if (succeeded(parser.parseOptionalKeyword("coefficients"))) {
    SmallVector<double> values;
    if (parser.parseLParen() ||
        parser.parseCommaSeparatedList(
            OpAsmParser::Delimiter::Square,
            [&]() -> ParseResult {
              FloatAttr value;
              if (asm_format::parseReal(parser, value))
                return failure();
              values.push_back(value.getValueAsDouble());
              return success();
            }) ||
        parser.parseRParen())
      return failure();
    properties.coefficients = builder.getDenseF64ArrayAttr(values);
  }
  if (succeeded(parser.parseOptionalKeyword("eps"))) {
    FloatAttr eps;
    if (parser.parseLParen() || asm_format::parseReal(parser, eps) ||
        parser.parseRParen())
      return failure();
    properties.eps = eps;
  }
  if (parser.parseOptionalAttrDict(result.attributes))
    return failure();
  return asm_format::inferTypes<OrthogonalizeOp>(parser, result);
}

void OrthogonalizeOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getOperand() << " over " << getRows() << ", "
          << getColumns() << " iterations(";
  if (auto count = dyn_cast<IntegerAttr>(getIterations()))
    printer << count.getInt();
  else
    printer << cast<StringAttr>(getIterations()).getValue();
  printer << ')';
  Builder builder(getContext());
  if (getCoefficients() != ArrayRef<double>{1.5, -0.5}) {
    printer << " coefficients([";
    llvm::interleaveComma(
        getCoefficients(), printer.getStream(), [&](double value) {
          asm_format::printReal(printer, builder.getF64FloatAttr(value));
        });
    printer << "])";
  }
  if (getEps().convertToDouble() != 1.0e-6) {
    printer << " eps(";
    asm_format::printReal(printer, getEpsAttr());
    printer << ')';
  }
  printer.printOptionalAttrDict(
      (*this)->getAttrs(),
      {"rows", "columns", "iterations", "coefficients", "eps"});
}

LogicalResult OrthogonalizeOp::verify() {
  // The iterations are unrolled.
  constexpr int64_t maxIterations = 100;
  if (auto count = dyn_cast<IntegerAttr>(getIterations());
      count && (count.getInt() < 0 || count.getInt() > maxIterations))
    return emitOpError("needs 0 to ")
           << maxIterations << " iterations, not " << count.getInt();
  if (getCoefficients().size() != 2 && getCoefficients().size() != 3)
    return emitOpError("needs two or three coefficients, not ")
           << getCoefficients().size();
  if (getEps().isNegative() || !getEps().isFinite())
    return emitOpError("needs an eps that is finite and not negative");
  return success();
}

//===----------------------------------------------------------------------===//
// RenameOp
//===----------------------------------------------------------------------===//

LogicalResult RenameOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  FailureOr<ArrayType> required =
      requireArray(context, loc, "a renaming", adaptor.getOperand());
  StringAttr from = adaptor.getFromAttr(), to = adaptor.getToAttr();
  if (failed(required) || !from || !to)
    return failure();
  ArrayType array = *required;
  if (!array.hasAxis(from))
    return emitAt(context, loc)
           << "axis '" << from.getValue() << "' to rename is not an axis of "
           << spell(array);
  if (array.hasAxis(to))
    return emitAt(context, loc)
           << "axis '" << to.getValue() << "' is an axis of " << spell(array)
           << " already";
  SmallVector<StringAttr> axes(array.without(from).getAxes());
  axes.push_back(to);
  types.push_back(ArrayType::ofAxes(context, axes));
  return success();
}

ParseResult RenameOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr from, to;
  if (asm_format::parseOperand(parser, result) ||
      asm_format::parseAxis(parser, from) || parser.parseKeyword("to") ||
      asm_format::parseAxis(parser, to) ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  auto &properties = result.getOrAddProperties<Properties>();
  properties.from = from;
  properties.to = to;
  return asm_format::inferTypes<RenameOp>(parser, result);
}

void RenameOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getOperand() << ' ' << getFrom() << " to " << getTo();
  printer.printOptionalAttrDict((*this)->getAttrs(), {"from", "to"});
}

//===----------------------------------------------------------------------===//
// SliceOp
//===----------------------------------------------------------------------===//

LogicalResult SliceOp::inferReturnTypes(MLIRContext *context,
                                        std::optional<Location> loc,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  FailureOr<ArrayType> required =
      requireArray(context, loc, "a slice", adaptor.getOperand());
  StringAttr axis = adaptor.getAxisAttr();
  if (failed(required) || !axis)
    return failure();
  ArrayType array = *required;
  if (!array.hasAxis(axis))
    return emitAt(context, loc)
           << "a slice along axis '" << axis.getValue() << "' of "
           << spell(array) << ", which does not have it";
  types.push_back(array.without(axis));
  return success();
}

ParseResult SliceOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr axis;
  int64_t offset;
  if (asm_format::parseOperand(parser, result) || parser.parseLSquare() ||
      asm_format::parseAxis(parser, axis) || parser.parseEqual() ||
      asm_format::parseLevelIndex(parser, result, offset) ||
      parser.parseRSquare() || parser.parseOptionalAttrDict(result.attributes))
    return failure();
  auto &properties = result.getOrAddProperties<Properties>();
  properties.axis = axis;
  properties.offset = parser.getBuilder().getI64IntegerAttr(offset);
  return asm_format::inferTypes<SliceOp>(parser, result);
}

void SliceOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getOperand() << '[' << getAxis() << " = ";
  asm_format::printLevelIndex(printer, getIndex(), getOffset());
  printer << ']';
  printer.printOptionalAttrDict((*this)->getAttrs(), {"axis", "offset"});
}

//===----------------------------------------------------------------------===//
// Families
//===----------------------------------------------------------------------===//

/// An index is the loop variable of an enclosing `larc.levels`, or absent.
static LogicalResult verifyLevelIndex(Operation *op, Value index,
                                      int64_t offset) {
  if (!index) {
    if (offset < 0)
      return op->emitOpError("needs an index that is not negative, not ")
             << offset;
    return success();
  }
  auto argument = dyn_cast<BlockArgument>(index);
  if (!argument || argument.getArgNumber() != 0 ||
      !isa<LevelsOp>(argument.getOwner()->getParentOp()))
    return op->emitOpError("takes its index from an enclosing larc.levels");
  return success();
}

LogicalResult SliceOp::verify() {
  return verifyLevelIndex(*this, getIndex(), getOffset());
}

LogicalResult MemberOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto family = dyn_cast<FamilyType>(adaptor.getFamily().getType());
  if (!family)
    return emitAt(context, loc)
           << "a member is read of a family, not of an array";
  types.push_back(family.getMember());
  return success();
}

ParseResult MemberOp::parse(OpAsmParser &parser, OperationState &result) {
  int64_t offset;
  if (asm_format::parseOperand(parser, result) || parser.parseLSquare() ||
      asm_format::parseLevelIndex(parser, result, offset) ||
      parser.parseRSquare() || parser.parseOptionalAttrDict(result.attributes))
    return failure();
  result.getOrAddProperties<Properties>().offset =
      parser.getBuilder().getI64IntegerAttr(offset);
  return asm_format::inferTypes<MemberOp>(parser, result);
}

void MemberOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getFamily() << '[';
  asm_format::printLevelIndex(printer, getIndex(), getOffset());
  printer << ']';
  printer.printOptionalAttrDict((*this)->getAttrs(), {"offset"});
}

static LogicalResult verifyFamilyIndex(Operation *op, FamilyType family,
                                       Value index, int64_t offset) {
  if (failed(verifyLevelIndex(op, index, offset)))
    return failure();
  if (!family.getSized().empty() && (!index || offset))
    return op->emitOpError("takes a family with axes sized by level at the "
                           "level of an enclosing "
                           "larc.levels only, since '")
           << family.getSized().front().getValue()
           << "' names another axis elsewhere";
  if (!index && offset < family.getFirst())
    return op->emitOpError("takes member ")
           << offset << " of a family that starts at " << family.getFirst();
  return success();
}

LogicalResult MemberOp::verify() {
  return verifyFamilyIndex(*this, getFamily().getType(), getIndex(),
                           getOffset());
}

LogicalResult InsertOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto family = dyn_cast<FamilyType>(adaptor.getFamily().getType());
  if (!family)
    return emitAt(context, loc)
           << "a member is inserted into a family, not into an array";
  types.push_back(family);
  return success();
}

ParseResult InsertOp::parse(OpAsmParser &parser, OperationState &result) {
  int64_t offset;
  if (asm_format::parseOperand(parser, result) || parser.parseKeyword("into") ||
      asm_format::parseOperand(parser, result) || parser.parseLSquare() ||
      asm_format::parseLevelIndex(parser, result, offset) ||
      parser.parseRSquare() || parser.parseOptionalAttrDict(result.attributes))
    return failure();
  result.getOrAddProperties<Properties>().offset =
      parser.getBuilder().getI64IntegerAttr(offset);
  return asm_format::inferTypes<InsertOp>(parser, result);
}

void InsertOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getValue() << " into " << getFamily() << '[';
  asm_format::printLevelIndex(printer, getIndex(), getOffset());
  printer << ']';
  printer.printOptionalAttrDict((*this)->getAttrs(), {"offset"});
}

LogicalResult InsertOp::verify() {
  FamilyType family = getFamily().getType();
  if (getValue().getType() != family.getMember())
    return emitOpError("inserts ")
           << spell(getValue().getType()) << " into a family of "
           << spell(family.getMember());
  return verifyFamilyIndex(*this, family, getIndex(), getOffset());
}

//===----------------------------------------------------------------------===//
// AnchorOp
//===----------------------------------------------------------------------===//

LogicalResult AnchorOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  FailureOr<ArrayType> array =
      requireArray(context, loc, "an anchor", adaptor.getState());
  if (failed(array))
    return failure();
  types.push_back(*array);
  return success();
}

ParseResult AnchorOp::parse(OpAsmParser &parser, OperationState &result) {
  if (asm_format::parseOperand(parser, result) ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  return asm_format::inferTypes<AnchorOp>(parser, result);
}

void AnchorOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getState();
  printer.printOptionalAttrDict((*this)->getAttrs());
}

LogicalResult AnchorOp::verify() {
  auto recurrence = (*this)->getParentOfType<RecurrenceOp>();
  if (!recurrence)
    return emitOpError("is only allowed in a recurrence");
  // The recurrence's region is verified after this, so it may lack arguments.
  auto argument = dyn_cast<BlockArgument>(getState());
  unsigned first =
      recurrence.getTokenOperands().size() + recurrence.getConstants().size();
  if (!argument || argument.getOwner() != &recurrence.getBody().front() ||
      argument.getArgNumber() < first ||
      argument.getArgNumber() >= first + recurrence.getStates().size())
    return emitOpError(
        "takes a state of the recurrence as it was before this token");
  if (!recurrence.getPeriodDecl())
    return emitOpError("needs a recurrence with an attribute of kind period");
  return success();
}
