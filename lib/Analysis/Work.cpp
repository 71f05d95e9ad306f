//===- Work.cpp - Work of a token in terms of axis sizes -*- C++ -*- ------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Work.h"

#include "larc/Dialect/Larc/Transforms/Dependence.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace larc;

using chunk::TransitionClass;

//===----------------------------------------------------------------------===//
// Polynomials
//===----------------------------------------------------------------------===//

Work::Work(double number, ArrayType array) {
  Monomial sizes;
  for (StringAttr axis : array.getAxes())
    sizes.push_back(axis.getValue().str());
  add(number, std::move(sizes));
}

void Work::add(double number, Monomial sizes) {
  if (number == 0.0)
    return;
  llvm::sort(sizes);
  terms[std::move(sizes)] += number;
}

Work &Work::operator+=(const Work &other) {
  for (const auto &[sizes, number] : other.terms)
    add(number, sizes);
  return *this;
}

Work Work::times(double number, StringRef size) const {
  Work product;
  for (const auto &[sizes, factor] : terms) {
    Monomial more = sizes;
    if (!size.empty())
      more.push_back(size.str());
    product.add(number * factor, std::move(more));
  }
  return product;
}

std::string Work::print(bool latex, StringRef tokens) const {
  if (terms.empty())
    return "0";
  // High degrees first.
  std::vector<std::pair<Monomial, double>> sorted(terms.begin(), terms.end());
  llvm::sort(sorted, [](const auto &lhs, const auto &rhs) {
    if (lhs.first.size() != rhs.first.size())
      return lhs.first.size() > rhs.first.size();
    return lhs.first < rhs.first;
  });
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::ListSeparator plus(" + ");
  for (const auto &[sizes, number] : sorted) {
    os << plus;
    llvm::ListSeparator space(latex ? "\\," : " ");
    if (number != 1.0 || sizes.empty())
      os << space << llvm::format("%.4g", number);
    for (StringRef size : sizes) {
      if (size == chunkTokens)
        size = tokens;
      os << space;
      if (latex && size.size() > 1)
        os << "\\mathit{" << size << "}";
      else
        os << size;
    }
  }
  return text;
}

std::optional<double> Work::evaluate(
    llvm::function_ref<std::optional<double>(StringRef)> size) const {
  double sum = 0.0;
  for (const auto &[sizes, number] : terms) {
    double product = number;
    for (const std::string &name : sizes) {
      std::optional<double> value = size(name);
      if (!value)
        return std::nullopt;
      product *= *value;
    }
    sum += product;
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

/// Of one operation without a region.
static Work countOperation(Operation &op) {
  if (auto elementwise = dyn_cast<ElementwiseOpInterface>(op))
    return Work(elementwise.getFlops(), arrayOf(op.getResult(0)));
  if (!isa<ReductionOpInterface>(op))
    return Work();
  ArrayType space = ArrayType::scalar(op.getContext());
  for (Value operand : op.getOperands())
    space = ArrayType::unionOf(space, arrayOf(operand));
  // A contraction multiplies and adds.
  return Work(op.getNumOperands(), space);
}

static Work countBlock(RecurrenceOp recurrence, Block &block) {
  Work work;
  for (Operation &op : block) {
    if (auto fold = dyn_cast<FoldOp>(op)) {
      work += countBlock(recurrence, fold.getBody().front())
                  .times(1.0, fold.getAxis());
    } else if (auto fire = dyn_cast<FireOp>(op)) {
      auto interval = dyn_cast<IntegerAttr>(fire.getInterval());
      double tokens = static_cast<double>(recurrence.getPeriod()) *
                      (interval ? static_cast<double>(interval.getInt()) : 1.0);
      work += countBlock(recurrence, fire.getBody().front())
                  .times(1.0 / std::max(tokens, 1.0));
    } else {
      work += countOperation(op);
    }
  }
  return work;
}

Work larc::countRecurrentFlops(RecurrenceOp recurrence) {
  return countBlock(recurrence, recurrence.getBody().front());
}

Work larc::countTokenElements(RecurrenceOp recurrence) {
  Work work;
  for (Value operand : recurrence.getOperandArguments())
    if (!operand.use_empty())
      work += Work(1.0, arrayOf(operand));
  for (auto decl : recurrence.getOutputs().getAsRange<OutputDeclAttr>())
    work +=
        Work(1.0, ArrayType::ofAxes(recurrence.getContext(), decl.getAxes()));
  return work;
}

Work larc::countStateElements(RecurrenceOp recurrence) {
  Work work;
  for (Value state : recurrence.getStateArguments())
    work += Work(1.0, arrayOf(state));
  return work;
}

namespace {

/// Counts what the equations of a chunk compute, from what they need.
struct ChunkCounter {
  const TransitionAnalysis &analysis;
  RecurrenceOp recurrence = analysis.getRecurrence();
  Work work = {};
  llvm::DenseSet<Operation *> seen = {};
  /// States whose chain is run token by token as well.
  llvm::SmallBitVector looped =
      llvm::SmallBitVector(analysis.getTransitions().size());

  bool isLinear(unsigned state) const {
    TransitionClass kind = analysis.getTransitions()[state].transitionClass;
    return kind == TransitionClass::Constant ||
           kind == TransitionClass::Diagonal ||
           kind == TransitionClass::LowRank ||
           kind == TransitionClass::Implicit;
  }

  /// The operations that make `value`; those of linear states are counted by
  /// their equations.
  void need(Value value) {
    value = Dependence::throughFire(value);
    Operation *op = value.getDefiningOp();
    if (!op || seen.contains(op))
      return;
    if (const Read *read = analysis.getRead(value);
        read && isLinear(read->form.state)) {
      seen.insert(op);
      for (Value factor : read->coefficient.factors)
        need(factor);
      return;
    }
    if (const MatrixForm *form = analysis.getMatrixForm(value);
        form && isLinear(form->state)) {
      if (!looped.test(form->state))
        return;
    }
    seen.insert(op);
    // What is the same for all tokens is made once a period.
    if (!analysis.isInvariant(value))
      work += countOperation(*op);
    for (Value operand : op->getOperands())
      need(operand);
  }
  void need(const Product &product) {
    for (Value factor : product.factors)
      need(factor);
    for (Value divisor : product.divisors)
      need(divisor);
  }

  void countState(const StateTransition &transition) {
    ArrayType state = arrayOf(recurrence.getStateArguments()[transition.state]);
    if (!isLinear(transition.state)) {
      need(recurrence.getYield().getValues()[transition.state]);
      return;
    }
    for (const Product &product : transition.update->decay)
      need(product);
    unsigned numKeys = 0;
    bool hasStraddling = false;
    for (const Product &product : transition.update->writes) {
      SplitProduct split = analysis.split(product, transition.keyAxes);
      bool straddles = !split.straddling.factors.empty() ||
                       !split.straddling.divisors.empty();
      numKeys += !straddles;
      hasStraddling |= straddles;
      need(product);
    }
    // Sizes of a read's key and value axes.
    for (const Read &read : transition.reads) {
      need(read.coefficient);
      ArrayType keys = ArrayType::ofAxes(state.getContext(), read.axes);
      ArrayType values = arrayOf(read.getResult());
      ArrayType past = ArrayType::unionOf(keys, values);
      work += Work(2.0, past);
      if (hasStraddling)
        work += Work(2.0, past);
      work += Work(2.0 * numKeys, keys).times(1.0, Work::chunkTokens);
      work += Work(2.0 * numKeys, values).times(1.0, Work::chunkTokens);
    }
    work += Work(2.0 * numKeys, state);
    if (!transition.nonlinearReads.empty()) {
      looped.set(transition.state);
      for (Operation *op : transition.nonlinearReads)
        for (Value result : op->getResults())
          need(result);
    }
  }
};

} // namespace

Work larc::countChunkFlops(const TransitionAnalysis &analysis) {
  ChunkCounter counter{analysis};
  for (const StateTransition &transition : analysis.getTransitions())
    counter.countState(transition);
  RecurrenceOp recurrence = analysis.getRecurrence();
  for (Value output : recurrence.getYield().getValues().drop_front(
           recurrence.getStates().size()))
    counter.need(output);
  return counter.work;
}
