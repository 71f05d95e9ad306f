//===- ChunkEquations.cpp - Equations of a chunk as text -*- C++ -*- ------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChunkEquations.h"

#include "Expressions.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace larc;

using chunk::TransitionClass;

bool larc::isOne(const Sum &sum) {
  return sum.size() == 1 && sum.front().coefficient == 1.0 &&
         sum.front().factors.empty() && sum.front().divisors.empty();
}

static bool isOneProduct(const Product &product) {
  return larc::isOne(Sum{product});
}

std::string ChunkEquations::describe() const {
  std::string text;
  switch (transition.transitionClass) {
  case TransitionClass::Constant:
    text = "read as it stands at the chunk's start";
    break;
  case TransitionClass::Diagonal:
    text = "decayed scores and mixing";
    break;
  case TransitionClass::LowRank:
    text = "a unit lower triangular system for what is written, then decayed "
           "scores and mixing";
    break;
  case TransitionClass::Implicit:
    text = "what is written, in the order of tokens, from scores of all "
           "pairs; then decayed scores and mixing";
    break;
  case TransitionClass::Semiring:
    text = "a prefix scan over the tokens";
    break;
  case TransitionClass::Elementwise:
    text = "a loop over the tokens, each element by itself";
    break;
  case TransitionClass::Sequential:
    text = "a loop over the tokens";
    break;
  }
  if (!transition.nonlinearReads.empty())
    text += "; a loop over the tokens for what reads it as a whole";
  return text;
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

std::string ChunkEquations::paren(StringRef text) const {
  if (!text.contains(' ') && !text.contains("\\,") && !text.contains('^') &&
      !text.starts_with("-"))
    return text.str();
  return notation.isLatex() ? ("\\left(" + text + "\\right)").str()
                            : ("(" + text + ")").str();
}

std::string ChunkEquations::at(StringRef name, StringRef token) const {
  if (notation.isLatex())
    return ("{" + paren(name) + "}_{" + token + "}").str();
  return (paren(name) + "[" + token + "]").str();
}

/// D, or D along the axes of keys and E along the others.
std::vector<ChunkEquations::Decay> ChunkEquations::getDecaySides() const {
  const Sum &sum = transition.update->decay;
  if (isOne(sum))
    return {};
  MLIRContext *context = analysis.getRecurrence().getContext();
  if (sum.size() != 1) {
    ArrayType axes = ArrayType::scalar(context);
    for (const Product &product : sum)
      axes = ArrayType::unionOf(axes, product.getAxes(context));
    return {{symbols.decay, notation.write(sum),
             SmallVector<StringAttr>(axes.getAxes())}};
  }
  Product sides[2];
  auto sideOf = [&](Value value) -> Product & {
    for (StringAttr axis : arrayOf(value).getAxes())
      if (!llvm::is_contained(transition.keyAxes, axis))
        return sides[1];
    return sides[0];
  };
  sides[0].coefficient = sum.front().coefficient;
  for (Value factor : sum.front().factors)
    sideOf(factor).factors.push_back(factor);
  for (Value divisor : sum.front().divisors)
    sideOf(divisor).divisors.push_back(divisor);
  std::vector<Decay> decays;
  for (const Product &side : sides)
    if (!isOneProduct(side))
      decays.push_back(
          {decays.empty() ? symbols.decay : symbols.other,
           notation.writeAlone(side),
           SmallVector<StringAttr>(side.getAxes(context).getAxes())});
  return decays;
}

std::vector<ChunkEquations::Straddling>
ChunkEquations::getStraddling(ArrayRef<StringAttr> keyAxes) {
  std::vector<Straddling> parts;
  for (const Product &product : transition.update->writes) {
    SplitProduct split = analysis.split(product, keyAxes);
    if (split.straddling.factors.empty() && split.straddling.divisors.empty())
      continue;
    parts.push_back(
        {notation.write(split.straddling),
         notation.write(split.key * split.value),
         parts.empty() ? symbols.straddling
                       : notation.index(symbols.straddling, parts.size() + 1)});
  }
  return parts;
}

std::vector<ChunkEquations::Write>
ChunkEquations::getWrites(ArrayRef<StringAttr> keyAxes) {
  std::vector<Write> writes;
  size_t count =
      transition.update->writes.size() - getStraddling(keyAxes).size();
  for (const Product &product : transition.update->writes) {
    SplitProduct split = analysis.split(product, keyAxes);
    if (!split.straddling.factors.empty() || !split.straddling.divisors.empty())
      continue;
    Write write{split.key, split.value, {}, false, false};
    const ArrayRef<Value> factors = split.value.factors;
    // Of a solved write, the equation follows.
    bool isName = split.value.coefficient == 1.0 && factors.size() == 1 &&
                  split.value.divisors.empty() &&
                  notation.hasOwnName(factors.front()) &&
                  (analysis.dependsOn(factors.front(), transition.state) ||
                   notation.names(factors.front()));
    write.isSolved = llvm::any_of(factors, [&](Value factor) {
      return analysis.dependsOn(factor, transition.state);
    });
    if (isName && write.isSolved)
      write.name = notation.symbol(getSourceName(factors.front()));
    else if (isName)
      write.name = notation.write(factors.front());
    else if (!isOneProduct(split.value))
      write.name = count == 1
                       ? symbols.value
                       : notation.index(symbols.value, writes.size() + 1);
    write.hasName = isName;
    writes.push_back(std::move(write));
  }
  return writes;
}

static std::string sumOver(const Notation &notation, StringRef index,
                           StringRef body) {
  if (notation.isLatex())
    return ("\\sum_{" + index + "} " + body).str();
  return ("sum_{" + index + "} " + body).str();
}

/// A sum over axes; over none, the body.
static std::string sumOverAxes(const Notation &notation,
                               ArrayRef<StringAttr> axes, StringRef body) {
  if (axes.empty())
    return body.str();
  if (notation.isLatex())
    return ("\\sum_{" + joinAxes(axes) + "} " + body).str();
  return ("sum_" + joinAxes(axes) + "(" + body + ")").str();
}

/// The decay between two tokens.
static std::string decayBetween(const Notation &notation, StringRef symbol) {
  const ChunkSymbols &symbols = notation.getSymbols();
  std::string range = symbols.j + "<" + symbols.l + "<" + symbols.i;
  if (notation.isLatex())
    return ("\\Big(\\prod_{" + range + "} " + symbol + "_{" + symbols.l +
            "}\\Big)")
        .str();
  return ("(prod_{" + range + "} " + symbol + "[" + symbols.l + "])").str();
}

//===----------------------------------------------------------------------===//
// Equations
//===----------------------------------------------------------------------===//

static bool isSame(const Product &lhs, const Product &rhs) {
  auto isPermutation = [](ArrayRef<Value> lhs, ArrayRef<Value> rhs) {
    return lhs.size() == rhs.size() &&
           std::is_permutation(lhs.begin(), lhs.end(), rhs.begin());
  };
  return lhs.coefficient == rhs.coefficient &&
         isPermutation(lhs.factors, rhs.factors) &&
         isPermutation(lhs.divisors, rhs.divisors);
}

/// Whether the read stands between writes and decays of its token: it does not
/// find what the update writes.
bool ChunkEquations::isEarlierWrite(const Read &read) const {
  ArrayRef<Product> writes = transition.update->writes;
  return read.form.writes.size() != writes.size() ||
         !std::equal(writes.begin(), writes.end(), read.form.writes.begin(),
                     isSame);
}

std::string ChunkEquations::getScores(unsigned number, bool several,
                                      StringRef i, StringRef j) const {
  bool latex = notation.isLatex();
  std::string text = symbols.scores;
  if (transition.reads.size() > 1)
    text +=
        latex ? "^{" + std::to_string(number) + "}" : std::to_string(number);
  if (latex)
    return text + "_{" + (several ? symbols.write + "," : "") + i.str() +
           j.str() + "}";
  if (several)
    text += "_" + symbols.write;
  return text + "[" + i.str() + "," + j.str() + "]";
}

/// `A_w`: a letter of every write.
std::string ChunkEquations::ofWrite(StringRef letter) const {
  return letter.str() + (notation.isLatex() ? "_{" + symbols.write + "}"
                                            : "_" + symbols.write);
}

/// A read's coefficient times the decay at its point, by the axes summed over
/// and those kept.
ChunkEquations::Reader ChunkEquations::getReader(const Read &read) const {
  Reader reader;
  reader.plain = notation.write(read.coefficient);
  reader.key = reader.plain;
  if (isOne(read.form.decay))
    return reader;
  auto isKept = [&](Value value) {
    bool kept = false;
    for (StringAttr axis : arrayOf(value).getAxes())
      if (llvm::is_contained(read.axes, axis))
        return false;
      else
        kept = true;
    return kept;
  };
  if (read.form.decay.size() != 1) {
    bool kept = false;
    MLIRContext *context = analysis.getRecurrence().getContext();
    ArrayType axes = ArrayType::scalar(context);
    for (const Product &product : read.form.decay) {
      axes = ArrayType::unionOf(axes, product.getAxes(context));
      for (Value factor : product.factors)
        kept |= isKept(factor);
    }
    std::string sum = notation.write(read.form.decay, /*tight=*/true);
    if (kept)
      reader.value = sum;
    else
      reader.key = paren(reader.plain) +
                   notation.join(read.coefficient.getAxes(context), axes) + sum;
    return reader;
  }
  Product key = read.coefficient, value;
  const Product &decay = read.form.decay.front();
  key.coefficient *= decay.coefficient;
  for (Value factor : decay.factors)
    (isKept(factor) ? value : key).factors.push_back(factor);
  for (Value divisor : decay.divisors)
    (isKept(divisor) ? value : key).divisors.push_back(divisor);
  reader.key = notation.write(key);
  if (!isOneProduct(value))
    reader.value = notation.write(value);
  return reader;
}

/// The symbols of decays with axes in `axes` or none (`inside`), or with other
/// axes.
std::vector<std::string> ChunkEquations::getDecays(ArrayRef<StringAttr> axes,
                                                   bool inside) const {
  std::vector<std::string> symbols;
  for (const Decay &decay : getDecaySides()) {
    bool isKept =
        !decay.axes.empty() && llvm::none_of(decay.axes, [&](StringAttr axis) {
          return llvm::is_contained(axes, axis);
        });
    if (isKept != inside)
      symbols.push_back(decay.symbol);
  }
  return symbols;
}

std::string ChunkEquations::scoresEquation(const Read &read, unsigned number) {
  bool latex = notation.isLatex();
  std::string space = latex ? "\\," : " ";
  Reader reader = getReader(read);
  std::vector<Write> writes = getWrites(read.axes);
  bool several = writes.size() > 1;
  auto key = [&](StringRef token) {
    if (several)
      return at(ofWrite(symbols.key), token);
    return isOneProduct(writes.front().key)
               ? std::string()
               : at(notation.write(writes.front().key), token);
  };
  std::string body = at(reader.key, symbols.i);
  for (const std::string &symbol : getDecays(read.axes, /*inside=*/true))
    body += space + decayBetween(notation, symbol);
  if (std::string writer = key(symbols.j); !writer.empty())
    body += space + writer;
  std::string text = getScores(number, several, symbols.i, symbols.j) + " = " +
                     sumOverAxes(notation, read.axes, body) +
                     (latex ? ",\\quad " : ",  ") + symbols.j + " < " +
                     symbols.i;
  if (!read.form.writes.empty() && !isEarlierWrite(read)) {
    std::string diagonal = at(reader.plain, symbols.i);
    if (std::string writer = key(symbols.i); !writer.empty())
      diagonal += space + writer;
    text += (latex ? ",\\quad " : ";  ") +
            getScores(number, several, symbols.i, symbols.i) + " = " +
            sumOverAxes(notation, read.axes, diagonal);
  }
  return text;
}

/// What a read that stands between writes of its token finds of those before
/// it.
std::string ChunkEquations::earlierWrites(const Read &read,
                                          const Reader &reader) {
  std::string text, space = notation.isLatex() ? "\\," : " ";
  const std::vector<Write> all = getWrites(read.axes);
  ArrayRef<Write> writes = all;
  for (const Product &product : read.form.writes) {
    SplitProduct split = analysis.split(product, read.axes);
    std::string body = at(reader.plain, symbols.i);
    if (!isOneProduct(split.straddling))
      body += space + notation.write(split.straddling);
    if (!isOneProduct(split.key))
      body += space + at(notation.write(split.key), symbols.i);
    text += " + " + sumOverAxes(notation, read.axes, body);
    // The value may have a name.
    const auto *write = llvm::find_if(writes, [&](const Write &write) {
      return isSame(write.value, split.value);
    });
    if (!isOneProduct(split.value))
      text += space + at(write != writes.end() && !write->name.empty()
                             ? write->name
                             : notation.write(split.value),
                         symbols.i);
  }
  return text;
}

/// What a read finds of the parts of the state that straddle.
std::string ChunkEquations::straddlingTerms(const Read &read,
                                            StringRef coefficient,
                                            StringRef token) {
  std::string text, space = notation.isLatex() ? "\\," : " ";
  for (const Straddling &part : getStraddling(read.axes))
    text += " + " +
            sumOverAxes(notation, read.axes,
                        at(coefficient, symbols.i) + space + part.invariant +
                            space + at(part.symbol, token));
  return text;
}

std::string ChunkEquations::readEquation(const Read &read, unsigned number) {
  bool latex = notation.isLatex();
  std::string space = latex ? "\\," : " ";
  Reader reader = getReader(read);
  std::string past = at(reader.key, symbols.i) + space;
  if (!isOne(transition.update->decay))
    past += at(symbols.before, symbols.i) + space;
  past += notation.stateSymbol(transition.state, /*isNew=*/false);
  std::string text = sumOverAxes(notation, read.axes, past);
  std::vector<Write> writes = getWrites(read.axes);
  bool includesOwn = !read.form.writes.empty() && !isEarlierWrite(read);
  bool several = writes.size() > 1;
  std::string value =
      several ? ofWrite(symbols.value)
              : (writes.empty() ? std::string() : writes.front().name);
  bool isConstant = transition.transitionClass == TransitionClass::Constant;
  bool hasWrites = !isConstant && !writes.empty();
  if (hasWrites) {
    std::string body = getScores(number, several, symbols.i, symbols.j);
    for (const std::string &symbol : getDecays(read.axes, /*inside=*/false))
      body += space + decayBetween(notation, symbol);
    if (!value.empty())
      body += space + at(value, symbols.j);
    bool joins = includesOwn && reader.value.empty();
    std::string index =
        symbols.j +
        (joins ? (latex ? " \\le " : "<=") : (latex ? " < " : "<")) + symbols.i;
    text += " + " + sumOver(notation,
                            index + (several ? "," + symbols.write : ""), body);
  }
  // The part's value after the token, or before it and then decayed.
  if (!includesOwn)
    text += straddlingTerms(read, reader.key, symbols.i + "-1");
  if (!reader.value.empty())
    text = at(reader.value, symbols.i) +
           (latex ? " \\odot \\left(" : " (.) (") + text +
           (latex ? "\\right)" : ")");
  if (includesOwn)
    text += straddlingTerms(read, reader.plain, symbols.i);
  if (hasWrites && includesOwn && !reader.value.empty()) {
    std::string own = getScores(number, several, symbols.i, symbols.i);
    if (!value.empty())
      own += space + at(value, symbols.i);
    text += " + " + (several ? sumOver(notation, symbols.write, own) : own);
  }
  if (hasWrites && !read.form.writes.empty() && !includesOwn)
    text += earlierWrites(read, reader);
  notation.define(read.getResult());
  return at(notation.readSymbol(read), symbols.i) + " = " + text;
}

std::string ChunkEquations::writeEquation(const Write &write) {
  if (!write.hasName)
    return at(write.name, symbols.i) + " = " +
           at(notation.write(write.value), symbols.i);
  // What the step says, at one token.
  Value value = write.value.factors.front();
  notation.define(value);
  return at(write.name, symbols.i) + " = " +
         at(notation.writeDefinition(value), symbols.i);
}

std::string ChunkEquations::endEquation() {
  bool latex = notation.isLatex();
  std::string old = notation.stateSymbol(transition.state, false);
  std::string text = notation.stateSymbol(transition.state, true) + " = ";
  // What every token forgets is not carried.
  bool forgets = transition.update->decay.empty();
  bool decays = !isOne(transition.update->decay) && !forgets;
  if (decays)
    text += symbols.before + (latex ? "^{*} \\odot " : "* (.) ");
  if (!forgets)
    text += old;
  std::string_view plus = forgets ? "" : " + ";
  std::string token = forgets ? symbols.tokens : symbols.i;
  auto add = [&](const std::string &term) {
    text += plus;
    text += term;
    plus = " + ";
  };
  std::vector<Write> writes = getWrites(transition.keyAxes);
  for (const Write &write : writes) {
    std::string body;
    if (decays)
      body = at(symbols.after, symbols.i) + (latex ? " \\odot " : " (.) ");
    std::string key =
        isOneProduct(write.key) ? "" : at(notation.write(write.key), token);
    std::string value = write.name.empty() ? "" : at(write.name, token);
    bool both = !key.empty() && !value.empty();
    body += key;
    body += both ? (latex ? " \\otimes " : " (x) ") : "";
    body += value;
    add(forgets ? body : sumOver(notation, symbols.i, body));
  }
  for (const Straddling &part : getStraddling(transition.keyAxes))
    add(part.invariant + (latex ? " \\odot " : " (.) ") +
        at(part.symbol, symbols.tokens));
  return text;
}

std::vector<std::string> ChunkEquations::getEquations() {
  std::vector<std::string> equations;
  if (!transition.update)
    return equations;
  bool latex = notation.isLatex();
  std::vector<Write> writes = getWrites(transition.keyAxes);
  for (const Decay &decay : getDecaySides())
    equations.push_back(decay.symbol + " = " + decay.text);
  // Of what is solved for, the equation follows reads.
  if (writes.size() > 1)
    for (auto [number, write] : llvm::enumerate(writes)) {
      std::string value = notation.index(symbols.value, number + 1);
      std::string text = notation.index(symbols.key, number + 1) + " = " +
                         notation.writeAlone(write.key);
      if (!write.name.empty() && !(write.isSolved && write.name == value))
        text += (latex ? ",\\quad " : ",  ") + value + " = " +
                (write.name == value ? notation.writeAlone(write.value)
                                     : write.name);
      equations.push_back(text);
    }
  else if (writes.size() == 1 && !writes.front().hasName &&
           !writes.front().isSolved && !writes.front().name.empty())
    equations.push_back(symbols.value + " = " +
                        notation.writeAlone(writes.front().value));
  for (const Straddling &part : getStraddling(transition.keyAxes)) {
    std::string text = at(part.symbol, symbols.i) + " = ";
    for (const Decay &decay : getDecaySides())
      text += at(decay.symbol, symbols.i) + (latex ? " \\odot " : " (.) ");
    equations.push_back(text + at(part.symbol, symbols.i + "-1") + " + " +
                        at(part.written, symbols.i) +
                        (latex ? ",\\quad " : ",  ") + at(part.symbol, "0") +
                        " = 0");
  }
  bool isConstant = transition.transitionClass == TransitionClass::Constant;
  bool solved = transition.transitionClass == TransitionClass::LowRank ||
                transition.transitionClass == TransitionClass::Implicit;
  unsigned number = 0;
  for (const Read &read : transition.reads) {
    ++number;
    if (!isConstant && !writes.empty())
      equations.push_back(scoresEquation(read, number));
    equations.push_back(readEquation(read, number));
    bool lastInner = read.isInner && (number == transition.reads.size() ||
                                      !transition.reads[number].isInner);
    if (!lastInner || !solved)
      continue;
    for (const Write &write : writes)
      if (write.isSolved)
        equations.push_back(writeEquation(write));
  }
  if (!isConstant)
    equations.push_back(endEquation());
  return equations;
}
