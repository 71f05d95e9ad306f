//===- Notation.cpp - Values of a step as mathematics -*- C++ -*- ---------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Notation.h"

#include "Expressions.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;
using namespace larc;

Notation::Notation(RecurrenceOp spec, const TransitionAnalysis &analysis,
                   bool latex)
    : spec(spec), prepared(analysis.getRecurrence()), specDependence(spec),
      preparedDependence(prepared), latex(latex) {
  for (Operation &op : spec.getBody().front())
    for (Value result : op.getResults())
      if (StringRef name = getSourceName(result); !name.empty()) {
        ++specCounts[name];
        named[name] = result;
      }
  for (Operation &op : prepared.getBody().front())
    for (Value result : op.getResults())
      if (StringRef name = getSourceName(result); !name.empty())
        ++preparedCounts[name];
  for (auto &entry : specCounts)
    if (entry.second > 1)
      named.erase(entry.first());
  takeNames();
  nameReads(analysis);
  nameParts();
}

//===----------------------------------------------------------------------===//
// Names of chunks
//===----------------------------------------------------------------------===//

/// Finds letters for the equations of chunks that mean nothing in the spec.
void Notation::takeNames() {
  for (StringAttr axis : prepared.getAllAxes())
    taken.insert(axis);
  for (RecurrenceOp op : {spec, prepared}) {
    for (BlockArgument argument : op.getBody().getArguments())
      taken.insert(getSourceName(argument));
    op.getBody().walk([&](Operation *member) {
      for (Value result : member->getResults())
        taken.insert(getSourceName(result));
    });
  }
  for (auto decl : spec.getOutputs().getAsRange<OutputDeclAttr>())
    taken.insert(decl.getName());
  symbols.tokens = pickLetter({"C", "L", "N"});
  symbols.i = pickLetter({"i", "t", "p"});
  symbols.j = pickLetter({"j", "s", "q"});
  symbols.l = pickLetter({"l", "u", "r"});
  symbols.scores = pickLetter({"A", "B", "W", "U"});
  symbols.decay = pickLetter({"D", "G", "J", "R"});
  symbols.other = pickLetter({"E", "H", "J", "O"});
  symbols.before = pickLetter({"P", "X", "U", "R"});
  symbols.after = pickLetter({"Q", "Y", "W", "O"});
  symbols.write = pickLetter({"w", "m", "n", "h"});
  symbols.key = pickLetter({"a", "c", "b", "x"});
  symbols.value = pickLetter({"y", "z", "d", "e"});
  symbols.straddling = pickLetter({"s", "z", "h", "f"});
  symbols.read = pickLetter({"r", "f", "e", "h"});
  symbols.part = pickLetter({"x", "c", "b", "d"});
  symbols.segment = pickLetter({"Z", "Y", "X", "I"});
  symbols.matrix = pickLetter({"F", "M", "H", "T"});
  symbols.shift = pickLetter({"G", "R", "U", "O"});
}

/// The first of `candidates` that is no name yet, with or without a number
/// after it; where all are, the first of them written often enough.
std::string Notation::pickLetter(ArrayRef<StringRef> candidates) {
  auto isTaken = [&](StringRef letter) {
    return llvm::any_of(taken, [&](const auto &entry) {
      return entry.first().rtrim("0123456789") == letter;
    });
  };
  for (StringRef candidate : candidates)
    if (!isTaken(candidate)) {
      taken.insert(candidate);
      return candidate.str();
    }
  std::string letter = candidates.front().str();
  while (isTaken(letter))
    letter += candidates.front();
  taken.insert(letter);
  return letter;
}

std::string Notation::index(StringRef letter, size_t number) const {
  return symbol((letter + Twine(number)).str());
}

bool Notation::hasOwnName(Value value) const {
  StringRef name = getSourceName(value);
  if (name.empty() || isa<BlockArgument>(value))
    return !name.empty();
  return specCounts.lookup(name) == 1 && preparedCounts.lookup(name) == 1 &&
         arrayOf(named.lookup(name)) == arrayOf(value);
}

/// Reads are what equations of chunks are about: each has a symbol.
void Notation::nameReads(const TransitionAnalysis &analysis) {
  unsigned number = 0;
  for (ArrayRef<unsigned> group : analysis.getGroupsInOrder())
    for (unsigned state : group)
      for (const Read &read : analysis.getTransitions()[state].reads) {
        if (hasOwnName(read.getResult()))
          forced.insert(named.lookup(getSourceName(read.getResult())));
        else if (analysis.getTransitions()[state].update)
          chunkNames[read.getResult()] = index(symbols.read, ++number);
      }
}

void Notation::nameParts() {
  for (Operation &op : prepared.getBody().front()) {
    auto isPart = [&](Value operand) {
      return parts.contains(operand) || chunkNames.contains(operand);
    };
    if (op.getNumResults() != 1 || llvm::none_of(op.getOperands(), isPart))
      continue;
    Value result = op.getResult(0);
    if (chunkNames.contains(result) || newStateOf(result))
      continue;
    if (hasOwnName(result)) {
      forced.insert(named.lookup(getSourceName(result)));
      namedParts.push_back(result);
    } else {
      parts.insert(result);
    }
  }
}

std::string Notation::readSymbol(const Read &read) const {
  auto it = chunkNames.find(read.getResult());
  return it != chunkNames.end() ? it->second
                                : symbol(getSourceName(read.getResult()));
}

bool Notation::isMentioned(Value value) {
  closeMentions();
  return mentioned.contains(toSpec(value));
}

void Notation::define(Value value) { defined.insert(toSpec(value)); }

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

std::string Notation::symbol(StringRef name) const {
  if (!latex)
    return name.str();
  static constexpr StringRef greek[] = {
      "alpha", "beta",   "gamma", "delta", "epsilon", "eta",  "theta",
      "kappa", "lambda", "mu",    "nu",    "xi",      "pi",   "rho",
      "sigma", "tau",    "phi",   "chi",   "psi",     "omega"};
  auto [stem, rest] = name.split('_');
  StringRef letters = stem.rtrim("0123456789");
  StringRef digits = stem.drop_front(letters.size());
  std::string text;
  if (llvm::is_contained(greek, letters))
    text = ("\\" + letters).str();
  else
    text = letters.size() == 1 ? letters.str()
                               : ("\\mathit{" + letters + "}").str();
  std::string index = digits.str();
  if (!rest.empty())
    index += (index.empty() ? "" : ",") + rest.str();
  for (size_t at = index.find('_'); at != std::string::npos;
       at = index.find('_', at + 2))
    index.insert(at, "\\");
  if (!index.empty())
    text += "_{\\mathit{" + index + "}}";
  return text;
}

std::string Notation::number(double value) const {
  if (std::isinf(value))
    return std::string(value < 0 ? "-" : "") + (latex ? "\\infty" : "inf");
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::format("%.6g", value);
  return text;
}

std::string Notation::stateSymbol(unsigned state, bool isNew) {
  auto decl = cast<StateDeclAttr>(prepared.getStates()[state]);
  std::string name = symbol(decl.getName());
  if (!latex)
    return isNew ? name + "'" : name;
  return isNew ? name + "'" : name;
}

std::string Notation::join(ArrayType lhs, ArrayType rhs) const {
  if (lhs.isScalar() || rhs.isScalar())
    return latex ? "\\," : " ";
  bool shares = llvm::any_of(
      lhs.getAxes(), [&](StringAttr axis) { return rhs.hasAxis(axis); });
  if (latex)
    return shares ? " \\odot " : " \\otimes ";
  return shares ? " (.) " : " (x) ";
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// The spec's value for one of the prepared recurrence.
Value Notation::toSpec(Value value) const {
  value = Dependence::throughFire(value);
  if (inChunk && (parts.contains(value) || chunkNames.contains(value)))
    return value;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() == &prepared.getBody().front())
      return spec.getBody().front().getArgument(argument.getArgNumber());
    return value;
  }
  auto it = named.find(getSourceName(value));
  // Of a part of what had the name, another value is meant.
  if (it == named.end() || arrayOf(it->second) != arrayOf(value))
    return value;
  return Dependence::throughFire(it->second);
}

std::optional<unsigned> Notation::newStateOf(Value value) const {
  for (RecurrenceOp op : {spec, prepared}) {
    auto states = op.getStateArguments();
    for (auto [state, next] :
         llvm::enumerate(op.getYield().getValues().take_front(states.size())))
      if (value.getDefiningOp() && Dependence::throughFire(next) == value)
        return state;
  }
  return std::nullopt;
}

std::optional<unsigned> Notation::matrixOf(Value value) const {
  const Dependence *dependence = nullptr;
  if (value.getParentRegion() == &spec.getBody())
    dependence = &specDependence;
  else if (value.getParentRegion() == &prepared.getBody())
    dependence = &preparedDependence;
  else
    return std::nullopt;
  for (unsigned state : dependence->getWholes(value).set_bits()) {
    ArrayType type = arrayOf(dependence->getState(state));
    if (type.getRank() > 1 && type == arrayOf(value))
      return state;
  }
  return std::nullopt;
}

bool Notation::names(Value value) {
  value = toSpec(value);
  return isa<BlockArgument>(value) || newStateOf(value) || isNamed(value);
}

/// Whether a formula names `value`, rather than having it written out.
bool Notation::isNamed(Value value) {
  Operation *op = value.getDefiningOp();
  StringRef name = getSourceName(value);
  if (!op || name.empty() || isa<ConstantOp>(op))
    return false;
  if (forced.contains(value))
    return true;
  // Copies of one line have one name.
  bool inSpec = value.getParentRegion() == &spec.getBody();
  if (!inSpec && specCounts.contains(name))
    return false;
  if ((inSpec ? specCounts : preparedCounts).lookup(name) > 1)
    return false;
  auto [it, isNew] = inlined.try_emplace(value, false);
  if (!isNew)
    return !it->second;
  // Reads are what equations of chunks are about.
  bool isRead = isa<ReductionOpInterface>(op) &&
                llvm::any_of(op->getOperands(), [&](Value operand) {
                  return matrixOf(operand).has_value();
                });
  if (isa<FoldOp, AnchorOp, LevelsOp>(op) || isRead)
    return true;
  // What is written out mentions nothing yet.
  llvm::SetVector<Value> before = mentioned;
  size_t length = formulaOf(op).text.size();
  mentioned = before;
  size_t limit = latex ? 2 : 1;
  bool isShort =
      length <= 8 * limit ||
      (length <= 28 * limit && (value.hasOneUse() || matrixOf(value)));
  inlined[value] = isShort;
  return !isShort;
}

/// Definitions mention more.
void Notation::closeMentions() {
  for (size_t i = 0; i < mentioned.size(); ++i)
    if (Operation *op = mentioned[i].getDefiningOp())
      (void)formulaOf(op);
}

SmallVector<Value> Notation::takeNamed() {
  closeMentions();
  SmallVector<Value> values;
  for (RecurrenceOp op : {spec, prepared})
    for (Operation &member : op.getBody().front())
      for (Value result : member.getResults())
        if (mentioned.contains(result) && defined.insert(result).second)
          values.push_back(result);
  mentioned.clear();
  return values;
}

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

std::string Notation::parenthesize(const Formula &inner, Level level) const {
  if (inner.level >= level)
    return inner.text;
  return latex ? "\\left(" + inner.text + "\\right)" : "(" + inner.text + ")";
}

/// The name of what is made from reads without a name: what is long and used
/// again gets one, all else none.
std::string Notation::partName(Value value) {
  auto it = chunkNames.find(value);
  if (it != chunkNames.end())
    return it->second;
  if (value.hasOneUse() || inlined.contains(value))
    return {};
  llvm::SetVector<Value> before = mentioned;
  size_t length = formulaOf(value.getDefiningOp()).text.size();
  mentioned = before;
  inlined[value] = length <= (latex ? 56 : 28);
  if (inlined[value])
    return {};
  return chunkNames[value] = index(symbols.part, ++numParts);
}

Notation::Formula Notation::formula(Value value) {
  value = toSpec(value);
  if (inChunk && (parts.contains(value) || chunkNames.contains(value))) {
    std::string name = partName(value);
    if (name.empty())
      return formulaOf(value.getDefiningOp());
    if (parts.contains(value))
      mentioned.insert(value);
    return {name, Atom};
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    StringRef name = getSourceName(argument);
    return {name.empty() ? "?" : symbol(name), Atom};
  }
  if (std::optional<unsigned> state = newStateOf(value))
    return {stateSymbol(*state, /*isNew=*/true), Atom};
  if (isNamed(value)) {
    mentioned.insert(value);
    return {symbol(getSourceName(value)), Atom};
  }
  return formulaOf(value.getDefiningOp());
}

std::string Notation::write(Value value, bool tight) {
  return parenthesize(formula(value), tight ? Multiplication : Addition);
}

std::string Notation::writeDefinition(Value value) {
  // In a chunk, what is made from reads without a name in the spec.
  if (!inChunk || !llvm::is_contained(namedParts, value))
    value = toSpec(value);
  Operation *op = value.getDefiningOp();
  return op ? formulaOf(op).text : write(value);
}

Notation::Formula Notation::multiply(ArrayRef<Value> factors) {
  std::string text;
  ArrayType axes = ArrayType::scalar(spec.getContext());
  for (Value factor : factors) {
    auto constant = factor.getDefiningOp<ConstantOp>();
    if (constant && factors.size() > 1 &&
        constant.getValue().isExactlyValue(1.0))
      continue;
    std::string part = parenthesize(formula(factor), Multiplication);
    if (!text.empty())
      text += join(axes, arrayOf(factor));
    text += part;
    axes = ArrayType::unionOf(axes, arrayOf(factor));
  }
  return {text, Multiplication};
}

std::string Notation::write(const Product &product) {
  // Scalars first, so that they bind to nothing.
  SmallVector<Value> factors;
  for (bool scalars : {true, false})
    for (Value factor : product.factors)
      if (arrayOf(factor).isScalar() == scalars)
        factors.push_back(factor);
  std::string text = multiply(factors).text;
  if (product.coefficient == -1.0 && !text.empty())
    text = "-" + text;
  else if (product.coefficient != 1.0 || text.empty())
    text = number(product.coefficient) +
           (text.empty() ? "" : (latex ? "\\," : " ") + text);
  for (Value divisor : product.divisors)
    text += " / " + parenthesize(formula(divisor), Atom);
  return text;
}

std::string Notation::writeAlone(const Product &product) {
  if (product.coefficient == 1.0 && product.factors.size() == 1 &&
      product.divisors.empty())
    return write(product.factors.front());
  return write(product);
}

std::string Notation::write(const Sum &sum, bool tight) {
  if (sum.empty())
    return "0";
  std::string text;
  for (const Product &product : sum) {
    std::string term = write(product);
    StringRef part = term;
    if (text.empty())
      text = part.str();
    else if (part.consume_front("-"))
      text += " - " + part.str();
    else
      text += " + " + part.str();
  }
  if (tight && sum.size() > 1)
    return latex ? "\\left(" + text + "\\right)" : "(" + text + ")";
  return text;
}

std::string larc::joinAxes(ArrayRef<StringAttr> axes) {
  std::string text;
  for (StringAttr axis : axes)
    text += (text.empty() ? "" : ",") + axis.getValue().str();
  return text;
}

Notation::Formula Notation::call(StringRef function, ValueRange arguments) {
  std::string text = latex ? ("\\operatorname{" + function + "}\\left(").str()
                           : (function + "(").str();
  llvm::ListSeparator comma;
  for (Value argument : arguments) {
    text += StringRef(comma).str();
    text += write(argument);
  }
  return {text + (latex ? "\\right)" : ")"), Atom};
}

Notation::Formula Notation::indexed(StringRef function,
                                    ArrayRef<StringAttr> axes, Value argument) {
  std::string inner = write(argument);
  if (latex)
    return {("\\operatorname{" + function + "}_{" + joinAxes(axes) +
             "}\\left(" + inner + "\\right)")
                .str(),
            Atom};
  return {(function + "_" + joinAxes(axes) + "(" + inner + ")").str(), Atom};
}

/// A read of a state by its matrix, a scalar product, or a sum.
Notation::Formula Notation::contraction(ContractOp op) {
  SmallVector<StringAttr> axes = op.getReducedAxes();
  Value lhs = toSpec(op.getLhs()), rhs = toSpec(op.getRhs());
  if (!matrixOf(lhs) && matrixOf(rhs))
    std::swap(lhs, rhs);
  std::optional<unsigned> state = matrixOf(lhs);
  if (state && axes.size() == 1 && arrayOf(lhs).getRank() == 2 &&
      arrayOf(rhs).getRank() == 1 && arrayOf(rhs).hasAxis(axes.front())) {
    auto decl = cast<StateDeclAttr>(prepared.getStates()[*state]);
    bool isFirst = decl.getAxes().front() == axes.front();
    std::string matrix = parenthesize(formula(lhs), Atom);
    if (isFirst)
      matrix = latex ? "{" + matrix + "}^\\top" : matrix + "^T";
    return {matrix + (latex ? "\\," : " ") + parenthesize(formula(rhs), Atom),
            Multiplication};
  }
  if (arrayOf(lhs) == arrayOf(rhs) && arrayOf(lhs).getRank() == axes.size() &&
      axes.size() == 1) {
    std::string left = write(lhs), right = write(rhs);
    if (latex)
      return {"\\left\\langle " + left + ", " + right + "\\right\\rangle",
              Atom};
    return {"<" + left + ", " + right + ">", Atom};
  }
  std::string product = multiply({lhs, rhs}).text;
  if (latex)
    return {"\\sum_{" + joinAxes(axes) + "} " + product, Multiplication};
  return {"sum_" + joinAxes(axes) + "(" + product + ")", Atom};
}

static StringRef comparisonOf(Predicate predicate, bool latex) {
  switch (predicate) {
  case Predicate::GT:
    return ">";
  case Predicate::GE:
    return latex ? "\\ge" : ">=";
  case Predicate::LT:
    return "<";
  case Predicate::LE:
    return latex ? "\\le" : "<=";
  case Predicate::EQ:
    return "=";
  case Predicate::NE:
    return latex ? "\\ne" : "!=";
  }
  return "?";
}

Notation::Formula Notation::formulaOf(Operation *op) {
  auto operand = [&](unsigned index, Level level) {
    return parenthesize(formula(op->getOperand(index)), level);
  };
  if (auto constant = dyn_cast<ConstantOp>(op))
    return {number(constant.getValue().convertToDouble()), Atom};
  if (isa<AddOp>(op))
    return {operand(0, Addition) + " + " + operand(1, Addition), Addition};
  if (isa<SubOp>(op))
    return {operand(0, Addition) + " - " + operand(1, Multiplication),
            Addition};
  if (isa<MulOp>(op)) {
    SmallVector<Value> factors(op->getOperands());
    if (arrayOf(factors[1]).isScalar() && !arrayOf(factors[0]).isScalar())
      std::swap(factors[0], factors[1]);
    return multiply(factors);
  }
  if (isa<DivOp>(op)) {
    if (latex)
      return {"\\frac{" + operand(0, Addition) + "}{" + operand(1, Addition) +
                  "}",
              Atom};
    return {operand(0, Multiplication) + " / " + operand(1, Atom), Addition};
  }
  if (isa<ReciprocalOp>(op))
    return {"1 / " + operand(0, Atom), Addition};
  if (isa<NegOp>(op))
    return {"-" + operand(0, Multiplication), Addition};
  if (isa<SquareOp>(op))
    return {operand(0, Atom) + "^2", Atom};
  if (isa<ExpOp>(op)) {
    if (latex)
      return {"e^{" + operand(0, Addition) + "}", Atom};
    Formula inner = formula(op->getOperand(0));
    if (inner.level == Atom && llvm::all_of(inner.text, llvm::isAlnum))
      return {"e^" + inner.text, Atom};
    if (inner.level == Atom && inner.text.front() == '(')
      return {"exp" + inner.text, Atom};
    return {"exp(" + inner.text + ")", Atom};
  }
  if (isa<AbsOp>(op))
    return {"|" + operand(0, Addition) + "|", Atom};
  if (auto contract = dyn_cast<ContractOp>(op))
    return contraction(contract);
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return indexed(stringifyReduceKind(reduce.getKind()),
                   reduce.getReducedAxes(), reduce.getOperand());
  auto axesOf = [](ArrayAttr names) {
    return llvm::map_to_vector(names.getAsRange<StringAttr>(),
                               [](StringAttr axis) { return axis; });
  };
  if (auto norm = dyn_cast<NormOp>(op))
    return indexed("norm", axesOf(norm.getAxes()), norm.getOperand());
  if (auto normalize = dyn_cast<NormalizeOp>(op))
    return indexed("unit", axesOf(normalize.getAxes()), normalize.getOperand());
  if (auto softmax = dyn_cast<SoftmaxOp>(op))
    return indexed("softmax", axesOf(softmax.getAxes()), softmax.getOperand());
  if (auto orthogonalize = dyn_cast<OrthogonalizeOp>(op))
    return indexed(
        "orth", {orthogonalize.getRowsAttr(), orthogonalize.getColumnsAttr()},
        orthogonalize.getOperand());
  if (isa<BroadcastOp>(op))
    return formula(op->getOperand(0));
  if (auto rename = dyn_cast<RenameOp>(op))
    return {operand(0, Atom) + "[" + rename.getFrom().str() + "->" +
                rename.getTo().str() + "]",
            Atom};
  if (auto slice = dyn_cast<SliceOp>(op))
    return {operand(0, Atom) + "[" + slice.getAxis().str() + "=" +
                std::to_string(slice.getOffset()) + "]",
            Atom};
  if (auto select = dyn_cast<SelectOp>(op)) {
    std::string condition = write(select.getLhs()) + " " +
                            comparisonOf(select.getPredicate(), latex).str() +
                            " " + write(select.getRhs());
    std::string x = write(select.getX()), y = write(select.getY());
    if (latex)
      return {"\\begin{cases}" + x + " & \\text{if } " + condition + " \\\\ " +
                  y + " & \\text{else}\\end{cases}",
              Atom};
    return {"(" + x + " if " + condition + " else " + y + ")", Atom};
  }
  if (isa<LogAddExpOp>(op)) {
    if (latex)
      return {"\\ln\\left(e^{" + operand(0, Addition) + "} + e^{" +
                  operand(1, Addition) + "}\\right)",
              Atom};
    return call("logaddexp", op->getOperands());
  }
  if (auto anchor = dyn_cast<AnchorOp>(op))
    return {operand(0, Atom) + (latex ? "\\text{ at the period's start}"
                                      : " at the period's start"),
            Addition};
  if (auto fold = dyn_cast<FoldOp>(op))
    return {("the result of the steps along " + fold.getAxis()).str(), Atom};
  return call(op->getName().stripDialect(), op->getOperands());
}
