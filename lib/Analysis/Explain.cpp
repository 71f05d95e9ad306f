//===- Explain.cpp - A recurrence's analysis for a person -*- C++ -*- -----===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explainer.h"

#include "Expressions.h"

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

} // namespace

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
