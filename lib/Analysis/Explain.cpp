//===- Explain.cpp - A recurrence's analysis for a person -*- C++ -*- -----===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Analysis/Explain.h"

#include "ChunkEquations.h"
#include "Expressions.h"
#include "Work.h"

#include "larc/Analysis/Summaries.h"

#include "larc/Dialect/Larc/Transforms/Flatten.h"
#include "larc/Dialect/Larc/Transforms/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace larc;

using chunk::TransitionClass;

namespace {

/// A copy of a recurrence, alone in a module.
struct Copy {
  OwningOpRef<ModuleOp> module;
  RecurrenceOp recurrence;

  explicit Copy(RecurrenceOp op) : module(ModuleOp::create(op.getLoc())) {
    module->push_back(op->clone());
    recurrence = getRecurrence(*module);
  }
};

class Explainer {
public:
  Explainer(RecurrenceOp spec, RecurrenceOp decomposed,
            const TransitionAnalysis &analysis, const ExplainOptions &options,
            ArrayRef<StringAttr> folded, RecurrenceOp unfolded, raw_ostream &os)
      : spec(spec), unfolded(unfolded), decomposed(decomposed),
        analysis(analysis), prepared(analysis.getRecurrence()),
        options(options), folded(folded),
        notation(spec, analysis, options.markdown), os(os) {}

  void run() {
    explainTitle();
    explainToken();
    explainStages();
    explainChunk();
    explainCarry();
    explainSegments();
    explainWork();
    explainObstacles();
  }

private:
  ArrayRef<StateTransition> getTransitions() const {
    return analysis.getTransitions();
  }
  StringRef nameOf(unsigned state) {
    return cast<StateDeclAttr>(prepared.getStates()[state]).getName();
  }
  void heading(const Twine &text);
  /// A formula on a line of its own.
  void formula(const Twine &text);
  /// A sentence on a line of its own.
  void line(const Twine &text);
  std::string code(const Twine &text) {
    return options.markdown ? ("`" + text + "`").str() : text.str();
  }
  std::string math(const Twine &text) {
    return options.markdown ? ("$" + text + "$").str() : text.str();
  }

  void explainTitle();
  void explainToken();
  std::string describeClass(const StateTransition &transition);
  void explainUpdate(const StateTransition &transition);
  void explainStages();
  void explainChunk();
  void explainCarry();
  void explainSegments();
  void explainSegment(const StateTransition &transition);
  void explainWork();
  void printWork(StringRef form, const Work &flops, const Work &bytes);
  StringRef getSpecOperation(Operation *op);
  void explainObstacles();
  std::string getAdvice(const StateTransition &transition,
                        const Obstacle &obstacle);
  void defineNamed(StringRef introduction);
  void explainLegend();
  void explainOutputs();
  bool isMadeInLoop(Value value);
  std::string at(StringRef symbol) const;
  std::string print(const Work &work) const {
    return work.print(options.markdown, notation.getSymbols().tokens);
  }

  RecurrenceOp spec;
  /// The spec with the number of steps that the analysis saw.
  RecurrenceOp unfolded;
  RecurrenceOp decomposed;
  const TransitionAnalysis &analysis;
  RecurrenceOp prepared;
  const ExplainOptions &options;
  ArrayRef<StringAttr> folded;
  Notation notation;
  raw_ostream &os;
};

} // namespace

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

static std::string formatAxes(ArrayRef<StringAttr> axes) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(axes, os,
                        [&](StringAttr axis) { os << axis.getValue(); });
  return text;
}

void Explainer::heading(const Twine &text) {
  os << (options.markdown ? "\n## " : "\n") << text << "\n";
  if (options.markdown)
    os << "\n";
}

void Explainer::formula(const Twine &text) {
  if (options.markdown)
    os << "$$" << text << "$$\n\n";
  else
    os << "    " << text << "\n";
}

void Explainer::line(const Twine &text) {
  os << (options.markdown ? "- " : "  ") << text << "\n";
}

void Explainer::explainTitle() {
  os << (options.markdown ? "# " : "") << prepared.getSymName();
  if (std::optional<StringRef> summary = prepared.getSummary())
    os << ": " << *summary;
  os << "\n";
  if (std::optional<StringRef> paper = prepared.getPaper())
    os << (options.markdown ? "\n" : "") << *paper << "\n";
}

//===----------------------------------------------------------------------===//
// A token
//===----------------------------------------------------------------------===//

std::string Explainer::describeClass(const StateTransition &transition) {
  std::string text;
  switch (transition.transitionClass) {
  case TransitionClass::Constant:
    text = "constant: no token of a period changes it";
    break;
  case TransitionClass::Diagonal:
    text = "diagonal: a token scales it and adds what does not depend on it";
    break;
  case TransitionClass::LowRank: {
    size_t factors = llvm::count_if(
        transition.reads, [](const Read &read) { return read.isInner; });
    std::string number = std::to_string(factors);
    if (!folded.empty() && factors > 1)
      number = folded.front().getValue().str();
    text = "low rank: a token adds outer products whose values are affine in "
           "reads of it, " +
           number + (number == "1" ? " factor a token" : " factors a token");
    break;
  }
  case TransitionClass::Implicit:
    text = "implicit: a token adds outer products whose values depend on reads "
           "of it, not linearly";
    break;
  case TransitionClass::Semiring:
    text =
        "semiring: the sum is a maximum, minimum or logaddexp; a prefix scan";
    break;
  case TransitionClass::Elementwise:
    text = "elementwise: an element depends on its own old value alone";
    break;
  case TransitionClass::Sequential:
    text = "sequential: token by token";
    break;
  }
  if (transition.isScheduled)
    text += "; scheduled: changed at the end of every " +
            (transition.interval > 1
                 ? std::to_string(transition.interval) + " periods"
                 : std::string("period"));
  if (transition.isAnchored)
    text += "; anchored: its coefficients depend on the state at the start of "
            "the period alone";
  if (!transition.nonlinearReads.empty())
    text += "; replay: read as a whole, not linearly, so that what is read is "
            "computed token by token";
  return text;
}

void Explainer::explainUpdate(const StateTransition &transition) {
  std::string next = notation.stateSymbol(transition.state, /*isNew=*/true);
  std::string old = notation.stateSymbol(transition.state, /*isNew=*/false);
  if (const std::optional<MatrixForm> &update = transition.update) {
    std::string text;
    ArrayType axes = ArrayType::scalar(prepared.getContext());
    for (const Product &product : update->decay)
      axes = ArrayType::unionOf(axes, product.getAxes(axes.getContext()));
    std::string decay = notation.write(update->decay, /*tight=*/true);
    ArrayType state = cast<ArrayType>(
        prepared.getStateArguments()[transition.state].getType());
    if (decay == "1")
      text = old;
    else if (decay != "0")
      text = decay + notation.join(axes, state) + old;
    for (const Product &write : update->writes) {
      std::string term = notation.write(write);
      StringRef part = term;
      if (text.empty())
        text = term;
      else if (part.consume_front("-"))
        text += " - " + part.str();
      else
        text += " + " + term;
    }
    return formula(Twine(next) + " = " + text);
  }
  if (const std::optional<SemiringForm> &form = transition.semiring) {
    static constexpr StringRef names[] = {"max", "min", "logaddexp"};
    StringRef name = names[static_cast<unsigned>(form->kind)];
    std::string text = options.markdown
                           ? ("\\operatorname{" + name + "}\\left(").str()
                           : (name + "(").str();
    llvm::ListSeparator comma;
    for (const Sum &shift : form->shifts) {
      text += StringRef(comma).str() + old;
      if (!shift.empty()) {
        std::string sum = notation.write(shift);
        StringRef part = sum;
        text += part.consume_front("-") ? " - " + part.str() : " + " + sum;
      }
    }
    for (const Sum &input : form->inputs)
      text += StringRef(comma).str() + notation.write(input);
    return formula(Twine(next) + " = " + text +
                   (options.markdown ? "\\right)" : ")"));
  }
  Value value = prepared.getYield().getValues()[transition.state];
  formula(Twine(next) + " = " + notation.writeDefinition(value));
}

void Explainer::explainToken() {
  heading("One token");
  for (const StateTransition &transition : getTransitions()) {
    auto decl = cast<StateDeclAttr>(prepared.getStates()[transition.state]);
    std::string axes = decl.getAxes().empty()
                           ? std::string()
                           : "[" + formatAxes(decl.getAxes()) + "]";
    line("state " + code(decl.getName().getValue() + axes) + ": " +
         describeClass(transition));
    if (options.markdown)
      os << "\n";
    explainUpdate(transition);
  }
  auto outputs =
      prepared.getYield().getValues().drop_front(prepared.getStates().size());
  for (auto [decl, value] :
       llvm::zip(prepared.getOutputs().getAsRange<OutputDeclAttr>(), outputs)) {
    formula(notation.symbol(decl.getName()) + " = " +
            notation.writeDefinition(value));
    if (notation.hasOwnName(value) && getSourceName(value) == decl.getName())
      notation.define(value);
  }
  defineNamed("with");
  if (!folded.empty())
    line("written out for " + folded.front().getValue() +
         " = 2 steps; any number is the same");
}

/// Gives the formulas of names that have been used and have none yet.
void Explainer::defineNamed(StringRef introduction) {
  SmallVector<Value> named = notation.takeNamed();
  if (named.empty())
    return;
  line(introduction);
  if (options.markdown)
    os << "\n";
  for (Value value : named)
    formula(notation.write(value) + " = " + notation.writeDefinition(value));
  (void)notation.takeNamed();
}

void Explainer::explainStages() {
  heading("Stages");
  unsigned last = 0;
  for (const StateTransition &transition : getTransitions())
    last = std::max(last, transition.stage);
  if (getTransitions().empty())
    line("none: there is no state");
  for (unsigned stage = 0; !getTransitions().empty() && stage <= last;
       ++stage) {
    std::string members;
    SmallVector<unsigned> before;
    for (ArrayRef<unsigned> group : analysis.getGroupsInOrder()) {
      if (getTransitions()[group.front()].stage != stage)
        continue;
      std::string names;
      for (unsigned state : group)
        names += (names.empty() ? "" : " with ") + nameOf(state).str();
      bool follows = llvm::any_of(group, [&](unsigned state) {
        Value next = prepared.getYield().getValues()[state];
        return llvm::any_of(before, [&](unsigned other) {
          return analysis.dependsOn(next, other);
        });
      });
      bool joins = !before.empty() && !follows;
      if (follows)
        before.clear();
      members += members.empty() ? "" : joins ? ", " : ", then ";
      members += names;
      before.append(group.begin(), group.end());
    }
    line("stage " + Twine(stage + 1) + ": " + members);
  }
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

/// The line of the spec, or 0.
static unsigned getLine(Location location) {
  if (auto place = location->findInstanceOf<FileLineColLoc>())
    return place.getLine();
  return 0;
}

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

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

void Explainer::printWork(StringRef form, const Work &flops,
                          const Work &bytes) {
  auto size = [&](StringRef name) -> std::optional<double> {
    if (name == Work::chunkTokens)
      return static_cast<double>(options.chunkSize);
    std::optional<int64_t> bound =
        decomposed.getAxisSize(StringAttr::get(decomposed.getContext(), name));
    return bound ? std::optional<double>(static_cast<double>(*bound))
                 : std::nullopt;
  };
  line(form + ": " + math(print(flops)) + " flops, " + math(print(bytes)) +
       " bytes");
  std::optional<double> flopCount = flops.evaluate(size),
                        byteCount = bytes.evaluate(size);
  if (!flopCount || !byteCount)
    return;
  std::string text;
  llvm::raw_string_ostream numbers(text);
  numbers << llvm::format("%.0f flops, %.0f bytes", *flopCount, *byteCount);
  if (*byteCount > 0)
    numbers << llvm::format(", %.1f flops a byte", *flopCount / *byteCount);
  if (form.starts_with("chunk"))
    numbers << ", " << notation.getSymbols().tokens << " = "
            << options.chunkSize;
  os << (options.markdown ? "  - " : "    ") << text << "\n";
}

void Explainer::explainWork() {
  heading("Work of a token and head");
  Work tokenBytes = countTokenElements(decomposed).times(options.elementBytes);
  // The state is written and read once: by each token of a loop that does not
  // keep it in cache, or by each chunk.
  Work stateBytes =
      countStateElements(decomposed).times(2.0 * options.stateBytes);
  printWork("recurrent form", countRecurrentFlops(decomposed), tokenBytes);
  Work chunkBytes = tokenBytes;
  printWork("chunk form", countChunkFlops(analysis), chunkBytes);
  if (getTransitions().empty())
    return;
  line("bytes are those of operands and outputs; the state adds " +
       math(print(stateBytes)) +
       " a token of the recurrent form, and as much a chunk of the other, "
       "where it does not stay in cache");
}

//===----------------------------------------------------------------------===//
// Obstacles
//===----------------------------------------------------------------------===//

/// What would make it faster.
std::string Explainer::getAdvice(const StateTransition &transition,
                                 const Obstacle &obstacle) {
  if (transition.transitionClass == TransitionClass::Sequential &&
      prepared.getPeriodDecl() && prepared.getPeriod() == 1)
    return "with a period above 1, coefficients that are read from larc.anchor "
           "are known for a whole period";
  return obstacle.remedy;
}

/// The name of the spec's operation at fault, of which `op` may be a part.
StringRef Explainer::getSpecOperation(Operation *op) {
  StringRef name = op->getName().getStringRef();
  spec.getBody().walk([&](Operation *other) {
    if (!isa<UnknownLoc>(placeOf(other)) && placeOf(other) == placeOf(op))
      name = other->getName().getStringRef();
  });
  return name;
}

void Explainer::explainObstacles() {
  heading("What keeps it from a faster form");
  bool any = false;
  llvm::StringSet<> said;
  for (const StateTransition &transition : getTransitions()) {
    std::string name = code(nameOf(transition.state));
    for (const Obstacle &obstacle : transition.obstacles) {
      any = true;
      std::string place;
      if (unsigned number = getLine(obstacle.op->getLoc()))
        place = "line " + std::to_string(number) + ": ";
      line(name + ": " + place + getSpecOperation(obstacle.op) + " " +
           obstacle.property);
      std::string advice = getAdvice(transition, obstacle);
      if (!advice.empty() && said.insert(advice).second)
        line("what would help: " + advice);
    }
    if (!transition.obstacles.empty())
      continue;
    // Loops that no rewriting would spare.
    switch (transition.transitionClass) {
    case TransitionClass::Sequential:
      line(name + ": runs in the loop of the states that it is a group with");
      break;
    case TransitionClass::Elementwise:
      line(name + ": a loop over the tokens, which has no matrix product to "
                  "gain from: its value is used whole at every token, and has "
                  "one axis at most");
      break;
    case TransitionClass::Semiring:
      line(name + ": a scan over the tokens, of as much work as in the "
                  "recurrent form");
      break;
    default:
      continue;
    }
    any = true;
  }
  if (!any)
    line("nothing: no state needs a loop over the tokens");
}

//===----------------------------------------------------------------------===//
// explain
//===----------------------------------------------------------------------===//

/// The axes of folds whose size is not bound.
static SmallVector<StringAttr> getOpenFolds(RecurrenceOp recurrence) {
  SmallVector<StringAttr> axes;
  recurrence.getBody().walk([&](FoldOp fold) {
    if (!recurrence.getAxisSize(fold.getAxisAttr()) &&
        !llvm::is_contained(axes, fold.getAxisAttr()))
      axes.push_back(fold.getAxisAttr());
  });
  return axes;
}

LogicalResult larc::explain(RecurrenceOp recurrence,
                            const ExplainOptions &options, raw_ostream &os) {
  Copy spec(recurrence), decomposed(recurrence), unfolded(recurrence);
  PassManager pm(recurrence.getContext(), RecurrenceOp::getOperationName());
  pm.addPass(createDecompose());
  if (failed(pm.run(decomposed.recurrence)))
    return failure();
  SmallVector<StringAttr> folded = getOpenFolds(recurrence);
  SmallVector<std::pair<std::string, int64_t>> sizes;
  for (StringAttr axis : folded)
    sizes.emplace_back(axis.getValue().str(), 2);
  if (!sizes.empty() &&
      failed(bindDims(unfolded.recurrence, sizes, /*complete=*/false)))
    return failure();
  Copy prepared(unfolded.recurrence);
  if (failed(prepareForAnalysis(prepared.recurrence)))
    return failure();
  TransitionAnalysis analysis(prepared.recurrence);
  Explainer(spec.recurrence, decomposed.recurrence, analysis, options, folded,
            unfolded.recurrence, os)
      .run();
  return success();
}
