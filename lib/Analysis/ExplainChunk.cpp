//===- ExplainChunk.cpp - Chunks and segments, for a person -*- C++ -*- ---===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explainer.h"

#include "Expressions.h"

#include "larc/Analysis/Summaries.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace larc;

using chunk::TransitionClass;

/// Whether `value` is made from results of `source`.
static bool reaches(Operation *source, Value value) {
  SmallVector<Value> worklist = {value};
  llvm::SmallPtrSet<Operation *, 32> seen;
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (op == source)
      return true;
    if (op && seen.insert(op).second)
      llvm::append_range(worklist, op->getOperands());
  }
  return false;
}

//===----------------------------------------------------------------------===//
// A chunk
//===----------------------------------------------------------------------===//

std::string Explainer::at(StringRef symbol) const {
  bool isOne =
      llvm::all_of(symbol, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  const std::string &token = notation.getSymbols().i;
  if (options.markdown)
    return isOne ? ("{" + symbol + "}_{" + token + "}").str()
                 : ("\\left(" + symbol + "\\right)_{" + token + "}").str();
  return ((isOne ? symbol : "(" + symbol + ")") + "[" + token + "]").str();
}

void Explainer::explainLegend() {
  const ChunkSymbols &s = notation.getSymbols();
  bool hasLinear = false, hasDecay = false, hasScores = false, hasOther = false;
  for (const StateTransition &transition : getTransitions()) {
    if (!transition.update)
      continue;
    hasLinear = true;
    hasDecay |= !isOne(transition.update->decay);
    hasScores |= !transition.reads.empty() &&
                 transition.transitionClass != TransitionClass::Constant;
    ChunkEquations equations(analysis, transition, notation);
    hasOther |= equations.hasOtherDecay();
  }
  if (!hasLinear)
    return;
  std::string tokens = math(s.i) + ", " + math(s.j) + ", " + math(s.l);
  std::string own = options.markdown ? "x_" + s.i : "x[" + s.i + "]";
  line(tokens + " are tokens of the chunk, " + math(own) + " is x of token " +
       math(s.i) +
       " by the formulas of one token; elsewhere a state's symbol is its value "
       "at the chunk's start, with ' at its end");
  std::string ij =
      options.markdown ? "_{" + s.i + s.j + "}" : "[" + s.i + "," + s.j + "]";
  if (hasScores)
    line("the scores " + math(s.scores + ij) +
         " are the weights with which a "
         "read of token " +
         math(s.i) + " finds what token " + math(s.j) +
         " wrote; each state has its own");
  if (hasDecay)
    line(math(s.decay) +
         (hasOther ? " and " + math(s.other) + " are the decays of a token, "
                   : std::string(" is the decay of a token, ")) +
         math(s.before) +
         " the product of the decays over the chunk's tokens "
         "before " +
         math(s.i) + ", " + math(s.after) + " over those after " + math(s.i) +
         ", " + math(options.markdown ? s.before + "^{*}" : s.before + "*") +
         " over all; each state has its own");
}

/// Whether `value` is made inside of a loop over the tokens that has a whole
/// matrix.
bool Explainer::isMadeInLoop(Value value) {
  for (const StateTransition &transition : getTransitions()) {
    ArrayType type = cast<ArrayType>(
        prepared.getStateArguments()[transition.state].getType());
    bool loops = transition.transitionClass == TransitionClass::Sequential ||
                 (transition.transitionClass == TransitionClass::Elementwise &&
                  type.getRank() > 1);
    if (loops && analysis.dependsOn(value, transition.state))
      return true;
    for (Operation *op : transition.nonlinearReads)
      if (reaches(op, value))
        return true;
  }
  return false;
}

/// Outputs and what else is made from reads.
void Explainer::explainOutputs() {
  std::vector<std::string> formulas, looped;
  auto outputs =
      prepared.getYield().getValues().drop_front(prepared.getStates().size());
  for (auto [decl, value] :
       llvm::zip(prepared.getOutputs().getAsRange<OutputDeclAttr>(), outputs)) {
    std::string name = notation.symbol(decl.getName());
    if (isMadeInLoop(value)) {
      looped.push_back(name);
      continue;
    }
    // Read, or given below, under this name.
    bool isGiven = analysis.getRead(value) ||
                   llvm::is_contained(notation.getNamedParts(), value);
    std::string given = isGiven ? notation.write(value) : std::string();
    if (given == name)
      continue;
    if (given.empty())
      given = notation.writeDefinition(value);
    formulas.push_back(at(name) + " = " + at(given));
  }
  for (Value value : llvm::reverse(notation.getNamedParts())) {
    if (!notation.isMentioned(value) || isMadeInLoop(value))
      continue;
    notation.define(value);
    formulas.insert(formulas.begin(),
                    at(notation.symbol(getSourceName(value))) + " = " +
                        at(notation.writeDefinition(value)));
  }
  if (!formulas.empty()) {
    line("then, for all tokens of the chunk at once");
    if (options.markdown)
      os << "\n";
    for (const std::string &text : formulas)
      formula(text);
  }
  for (const std::string &name : looped)
    line(math(name) + ": by the formulas of one token, in the loop over the "
                      "tokens");
}

void Explainer::explainChunk() {
  heading("A chunk of " + notation.getSymbols().tokens + " tokens");
  notation.enterChunk();
  explainLegend();
  for (ArrayRef<unsigned> group : analysis.getGroupsInOrder())
    for (unsigned state : group) {
      const StateTransition &transition = getTransitions()[state];
      ChunkEquations equations(analysis, transition, notation);
      line(code(nameOf(state)) + ": " + equations.describe());
      if (options.markdown)
        os << "\n";
      for (const std::string &equation : equations.getEquations())
        formula(equation);
    }
  explainOutputs();
  defineNamed("with");
}

void Explainer::explainCarry() {
  heading("Carried from chunk to chunk");
  if (getTransitions().empty())
    line("nothing");
  for (const StateTransition &transition : getTransitions()) {
    ArrayType type = cast<ArrayType>(
        prepared.getStateArguments()[transition.state].getType());
    line(code(nameOf(transition.state)) + ": " + math(print(Work(1.0, type))) +
         (type.isScalar() ? " number" : " numbers") +
         (transition.isScheduled ? ", changed between periods" : ""));
  }
  for (unsigned state : prepared.getAnchoredStates())
    line(code(nameOf(state)) + " at the start of the period");
  if (prepared.getPeriod() > 1)
    line("a chunk ends where a period of " + Twine(prepared.getPeriod()) +
         " tokens does");
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

/// What a segment makes of the state at its start.
void Explainer::explainSegment(const StateTransition &transition) {
  const ChunkSymbols &s = notation.getSymbols();
  bool latex = options.markdown;
  std::string next = notation.stateSymbol(transition.state, /*isNew=*/true);
  std::string old = notation.stateSymbol(transition.state, /*isNew=*/false);
  std::string times = latex ? " \\odot " : " (.) ";
  auto valueOf = [&](unsigned state) {
    return prepared.getYield().getValues()[state];
  };
  if (transition.transitionClass == TransitionClass::Constant)
    return formula(next + " = " + old);
  if (!analysis.dependsOn(valueOf(transition.state), transition.state))
    return formula(next + " = " + s.segment);
  if (transition.semiring) {
    static constexpr StringRef names[] = {"max", "min", "logaddexp"};
    StringRef name = names[static_cast<unsigned>(transition.semiring->kind)];
    std::string arguments = old + " + " + s.shift + ", " + s.segment;
    return formula(
        next + " = " +
        (latex ? "\\operatorname{" + name + "}\\left(" + arguments + "\\right)"
               : name + "(" + arguments + ")"));
  }
  std::string product = s.before + (latex ? "^{*}" : "*");
  if (transition.transitionClass != TransitionClass::LowRank)
    return formula(next + " = " + product + times + old + " + " + s.segment);
  std::string map = s.matrix + (latex ? "\\," : " ") + old;
  bool decays = llvm::any_of(transition.update->decay, [&](const Product &d) {
    SplitProduct split = analysis.split(d, transition.keyAxes);
    return split.value.getAxes(prepared.getContext()).getRank() > 0;
  });
  if (decays)
    map = product + times + "(" + map + ")";
  formula(next + " = " + map + " + " + s.segment);
}

void Explainer::explainSegments() {
  if (getTransitions().empty())
    return;
  heading("Segments of a sequence");
  struct Fault {
    std::string message;
    std::vector<std::string> notes;
    unsigned line = 0;
  };
  std::vector<Fault> faults;
  FailureOr<Summaries> summaries = [&] {
    ScopedDiagnosticHandler handler(
        prepared.getContext(), [&](Diagnostic &diagnostic) {
          Fault fault{diagnostic.str(), {}, 0};
          for (Diagnostic &note : diagnostic.getNotes())
            fault.notes.push_back(note.str());
          if (diagnostic.getLocation() != unfolded.getLoc())
            fault.line = getLine(diagnostic.getLocation());
          faults.push_back(std::move(fault));
          return success();
        });
    return summarize(unfolded);
  }();
  if (failed(summaries)) {
    line("a sequence cannot be cut into pieces that are computed at the same "
         "time and put together");
    llvm::StringSet<> said;
    for (const Fault &fault : faults) {
      StringRef message = fault.message;
      message.consume_front("the sequence cannot be cut into segments: ");
      line((fault.line ? "line " + std::to_string(fault.line) + ": " : "") +
           message);
      if (!fault.notes.empty() && said.insert(fault.notes.back()).second)
        line("what would help: " + fault.notes.back());
    }
    return;
  }
  const ChunkSymbols &s = notation.getSymbols();
  bool hasProduct = false, hasMap = false, hasShift = false;
  for (const StateTransition &transition : getTransitions()) {
    hasShift |= transition.semiring.has_value();
    hasMap |= transition.transitionClass == TransitionClass::LowRank;
    hasProduct |= transition.transitionClass == TransitionClass::Diagonal ||
                  transition.transitionClass == TransitionClass::Elementwise;
  }
  std::string text = "pieces of a sequence can be computed at the same time "
                     "and put together: " +
                     math(s.segment) + " is what a piece gives from zero";
  if (hasShift)
    text += " (the semiring's), " + math(s.shift) + " the sum of its shifts";
  if (hasProduct)
    text += ", " + math(options.markdown ? s.before + "^{*}" : s.before + "*") +
            " the product of its decays";
  if (hasMap)
    text += ", " + math(s.matrix) +
            " the matrix, over the axes that reads "
            "sum over, by which it maps what it starts from";
  line(text);
  if (options.markdown)
    os << "\n";
  for (const SummaryLevel &level : summaries->levels) {
    for (unsigned state : level.states)
      explainSegment(getTransitions()[state]);
  }
  if (summaries->levels.size() > 1) {
    std::string order;
    llvm::ListSeparator then("; then ");
    for (const SummaryLevel &level : summaries->levels) {
      order += StringRef(then).str();
      llvm::ListSeparator comma;
      for (unsigned state : level.states)
        order += StringRef(comma).str() + code(nameOf(state));
    }
    line("in this order, since later ones need the earlier at the starts of "
         "pieces: " +
         order);
  }
}
