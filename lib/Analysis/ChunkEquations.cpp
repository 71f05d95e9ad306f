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
    return {
        {"D", notation.write(sum), SmallVector<StringAttr>(axes.getAxes())}};
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
          {decays.empty() ? "D" : "E", notation.write(side),
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
    std::string number =
        parts.empty() ? std::string() : std::to_string(parts.size() + 1);
    parts.push_back({notation.write(split.straddling),
                     notation.write(split.key * split.value), "s" + number});
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
    Write write{split.key, split.value, {}};
    const ArrayRef<Value> factors = split.value.factors;
    // Of a solved write, the equation follows.
    bool isName = split.value.coefficient == 1.0 && factors.size() == 1 &&
                  split.value.divisors.empty() &&
                  !getSourceName(factors.front()).empty() &&
                  (analysis.dependsOn(factors.front(), transition.state) ||
                   notation.names(factors.front()));
    if (isName)
      write.name = notation.symbol(getSourceName(split.value.factors.front()));
    else if (!isOneProduct(split.value))
      write.name = count == 1 ? "y"
                              : (notation.isLatex() ? "y_{" : "y") +
                                    std::to_string(writes.size() + 1) +
                                    (notation.isLatex() ? "}" : "");
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
  if (notation.isLatex())
    return ("\\Big(\\prod_{j<l<i} " + symbol + "_{l}\\Big)").str();
  return ("(prod_{j<l<i} " + symbol + "[l])").str();
}

//===----------------------------------------------------------------------===//
// Equations
//===----------------------------------------------------------------------===//

/// Whether the read finds what its own token wrote: all writes of the update.
bool ChunkEquations::isEarlierWrite(const Read &read) const {
  return read.form.writes.size() != transition.update->writes.size();
}

std::string ChunkEquations::getScores(unsigned number, bool several,
                                      StringRef i, StringRef j) const {
  bool latex = notation.isLatex();
  std::string text = "A";
  if (transition.reads.size() > 1)
    text +=
        latex ? "^{" + std::to_string(number) + "}" : std::to_string(number);
  if (several)
    text += latex ? "" : "_w";
  if (latex)
    return text + "_{" + (several ? "w," : "") + i.str() + j.str() + "}";
  return text + "[" + i.str() + "," + j.str() + "]";
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
    for (const Product &product : read.form.decay)
      for (Value factor : product.factors)
        kept |= isKept(factor);
    std::string sum = notation.write(read.form.decay, /*tight=*/true);
    if (kept)
      reader.value = sum;
    else
      reader.key =
          paren(reader.plain) + (notation.isLatex() ? "\\," : " ") + sum;
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
      return at(latex ? "a_{w}" : "a_w", token);
    return isOneProduct(writes.front().key)
               ? std::string()
               : at(notation.write(writes.front().key), token);
  };
  std::string body = at(reader.key, "i");
  for (const std::string &symbol : getDecays(read.axes, /*inside=*/true))
    body += space + decayBetween(notation, symbol);
  if (std::string writer = key("j"); !writer.empty())
    body += space + writer;
  std::string text = getScores(number, several, "i", "j") + " = " +
                     sumOverAxes(notation, read.axes, body) +
                     (latex ? ",\\quad j < i" : ",  j < i");
  if (!read.form.writes.empty() && !isEarlierWrite(read)) {
    std::string diagonal = at(reader.plain, "i");
    if (std::string writer = key("i"); !writer.empty())
      diagonal += space + writer;
    text += (latex ? ",\\quad " : ";  ") +
            getScores(number, several, "i", "i") + " = " +
            sumOverAxes(notation, read.axes, diagonal);
  }
  return text;
}

std::string ChunkEquations::readEquation(const Read &read, unsigned number) {
  bool latex = notation.isLatex();
  std::string space = latex ? "\\," : " ";
  StringRef source = getSourceName(read.getResult());
  std::string name = !source.empty() ? notation.symbol(source)
                     : latex         ? "r_{" + std::to_string(number) + "}"
                                     : "r" + std::to_string(number);
  Reader reader = getReader(read);
  std::string past = at(reader.key, "i") + space;
  if (!isOne(transition.update->decay))
    past += at("P", "i") + space;
  past += notation.stateSymbol(transition.state, /*isNew=*/false);
  std::string text = sumOverAxes(notation, read.axes, past);
  std::vector<Write> writes = getWrites(read.axes);
  bool includesOwn = !read.form.writes.empty() && !isEarlierWrite(read);
  bool several = writes.size() > 1;
  std::string value =
      several ? std::string(latex ? "y_{w}" : "y_w")
              : (writes.empty() ? std::string() : writes.front().name);
  bool hasWrites = transition.transitionClass != TransitionClass::Constant &&
                   !writes.empty();
  if (hasWrites) {
    std::string body = getScores(number, several, "i", "j");
    for (const std::string &symbol : getDecays(read.axes, /*inside=*/false))
      body += space + decayBetween(notation, symbol);
    if (!value.empty())
      body += space + at(value, "j");
    bool joins = includesOwn && reader.value.empty();
    std::string index =
        joins ? (latex ? "j \\le i" : "j<=i") : (latex ? "j < i" : "j<i");
    text += " + " + sumOver(notation, index + (several ? ",w" : ""), body);
  }
  for (const Straddling &part : getStraddling(read.axes))
    text += " + " + sumOverAxes(notation, read.axes,
                                at(reader.plain, "i") + space + part.invariant +
                                    space + at(part.symbol, "i"));
  if (!reader.value.empty())
    text = at(reader.value, "i") + (latex ? " \\odot \\left(" : " (.) (") +
           text + (latex ? "\\right)" : ")");
  if (hasWrites && includesOwn && !reader.value.empty()) {
    std::string own = getScores(number, several, "i", "i");
    if (!value.empty())
      own += space + at(value, "i");
    text += " + " + (several ? sumOver(notation, "w", own) : own);
  }
  if (hasWrites && !read.form.writes.empty() && !includesOwn)
    text += latex ? " + \\text{what its own token wrote before}"
                  : " + what its own token wrote before";
  return at(name, "i") + " = " + text;
}

std::string ChunkEquations::writeEquation(const Write &write) {
  // What the step says, at one token.
  if (!write.value.factors.empty() && write.value.factors.size() == 1 &&
      write.value.divisors.empty() && write.value.coefficient == 1.0)
    return at(write.name, "i") + " = " +
           at(notation.writeDefinition(write.value.factors.front()), "i");
  return at(write.name, "i") + " = " + at(notation.write(write.value), "i");
}

std::string ChunkEquations::endEquation() {
  bool latex = notation.isLatex();
  std::string old = notation.stateSymbol(transition.state, false);
  std::string text = notation.stateSymbol(transition.state, true) + " = ";
  bool decays = !isOne(transition.update->decay);
  if (decays)
    text += latex ? "P^{*} \\odot " : "P* (.) ";
  text += old;
  std::vector<Write> writes = getWrites(transition.keyAxes);
  for (const Write &write : writes) {
    std::string body;
    if (decays)
      body = at("Q", "i") + (latex ? " \\odot " : " (.) ");
    std::string key =
        isOneProduct(write.key) ? "" : at(notation.write(write.key), "i");
    std::string value = write.name.empty() ? "" : at(write.name, "i");
    bool both = !key.empty() && !value.empty();
    text += " + " + sumOver(notation, "i",
                            body + key +
                                (!both   ? ""
                                 : latex ? " \\otimes "
                                         : " (x) ") +
                                value);
  }
  for (const Straddling &part : getStraddling(transition.keyAxes))
    text += " + " + part.invariant + (latex ? " \\odot " : " (.) ") +
            at(part.symbol, "C");
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
  if (writes.size() > 1)
    for (auto [number, write] : llvm::enumerate(writes)) {
      std::string index = std::to_string(number + 1);
      std::string symbol = latex ? "a_{" + index + "}" : "a" + index;
      std::string value = latex ? "y_{" + index + "}" : "y" + index;
      std::string text = symbol + " = " + notation.write(write.key);
      if (!write.name.empty())
        text +=
            (latex ? ",\\quad " : ",  ") + value + " = " +
            (write.name == value ? notation.write(write.value) : write.name);
      equations.push_back(text);
    }
  else if (writes.size() == 1 && (writes.front().name == "y"))
    equations.push_back("y = " + notation.write(writes.front().value));
  for (const Straddling &part : getStraddling(transition.keyAxes)) {
    std::string text = at(part.symbol, "i") + " = ";
    for (const Decay &decay : getDecaySides())
      text += at(decay.symbol, "i") + (latex ? " \\odot " : " (.) ");
    equations.push_back(text + at(part.symbol, "i-1") + " + " +
                        at(part.written, "i") + (latex ? ",\\quad " : ",  ") +
                        at(part.symbol, "0") + " = 0");
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
      if (llvm::any_of(write.value.factors, [&](Value factor) {
            return analysis.dependsOn(factor, transition.state);
          }))
        equations.push_back(writeEquation(write));
  }
  if (!isConstant)
    equations.push_back(endEquation());
  return equations;
}
