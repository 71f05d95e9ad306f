//===- Transitions.cpp - The transition algebra -*- C++ -*- ---------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Analysis/Transitions.h"

#include "Classifier.h"
#include "Expressions.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace larc;

using chunk::TransitionClass;

struct TransitionAnalysis::Impl {
  explicit Impl(RecurrenceOp recurrence);

  /// Which states each state's update depends on, itself left out; and those
  /// that must run in one loop with it.
  void findEdges();
  void findGroups();
  void markSequential(ArrayRef<unsigned> group);
  void findSchedule(StateTransition &transition);
  void findAnchor(StateTransition &transition);
  void findStages();

  unsigned rankOf(unsigned state) const {
    return arrayOf(dependence.getState(state)).getRank();
  }
  StringRef nameOf(unsigned state) const {
    return cast<StateDeclAttr>(op.getStates()[state]).getName();
  }
  /// Whether `from` leads to `to` over `edges`.
  bool reaches(ArrayRef<llvm::SmallBitVector> edges, unsigned from,
               unsigned to) const;

  mutable RecurrenceOp op;
  Dependence dependence;
  MatrixForms forms;
  std::vector<StateTransition> transitions;
  SmallVector<llvm::SmallBitVector> edges;
  SmallVector<SmallVector<unsigned>> groups;
};

TransitionAnalysis::Impl::Impl(RecurrenceOp recurrence)
    : op(recurrence), dependence(recurrence), forms(recurrence, dependence) {
  unsigned numStates = dependence.getNumStates();
  transitions.resize(numStates);
  for (unsigned state = 0; state < numStates; ++state)
    transitions[state].state = state;
  findEdges();
  findGroups();
  for (ArrayRef<unsigned> group : groups) {
    if (group.size() > 1)
      markSequential(group);
    else
      Classifier(op, dependence, forms, transitions[group.front()]).run();
  }
  for (StateTransition &transition : transitions) {
    findSchedule(transition);
    findAnchor(transition);
  }
  findStages();
}

void TransitionAnalysis::Impl::findEdges() {
  unsigned numStates = dependence.getNumStates();
  edges.assign(numStates, llvm::SmallBitVector(numStates));
  for (unsigned state = 0; state < numStates; ++state) {
    edges[state] = dependence.getStates(dependence.getNext(state));
    edges[state].reset(state);
  }
  // What uses another state's whole matrix at every token runs in the loop that
  // has it.
  for (unsigned state = 0; state < numStates; ++state)
    for (unsigned other : edges[state].set_bits())
      if (rankOf(other) > 1 &&
          Dependence::throughFire(dependence.getNext(other)) !=
              dependence.getState(other) &&
          dependence.holdsWhole(dependence.getNext(state), other))
        edges[other].set(state);
}

bool TransitionAnalysis::Impl::reaches(ArrayRef<llvm::SmallBitVector> edges,
                                       unsigned from, unsigned to) const {
  llvm::SmallBitVector seen(edges.size());
  SmallVector<unsigned> worklist = {from};
  while (!worklist.empty())
    for (unsigned next : edges[worklist.pop_back_val()].set_bits()) {
      if (next == to)
        return true;
      if (!seen.test(next)) {
        seen.set(next);
        worklist.push_back(next);
      }
    }
  return false;
}

void TransitionAnalysis::Impl::findGroups() {
  unsigned numStates = dependence.getNumStates();
  llvm::SmallBitVector placed(numStates);
  for (unsigned state = 0; state < numStates; ++state) {
    if (placed.test(state))
      continue;
    SmallVector<unsigned> group = {state};
    for (unsigned other = state + 1; other < numStates; ++other)
      if (reaches(edges, state, other) && reaches(edges, other, state))
        group.push_back(other);
    for (unsigned member : group) {
      placed.set(member);
      transitions[member].group = groups.size();
    }
    groups.push_back(std::move(group));
  }
}

/// What would part two states of a group, of which the first uses the second;
/// `isMutual`: and the second the first, itself or through others.
static std::string getRemedy(StringRef user, StringRef used, bool whole,
                             bool isMutual) {
  if (!isMutual)
    return ("chunks are derived for states that use others through reads: a "
            "read of " +
            used +
            " (a sum over one of its axes) in place of the whole would make " +
            used + " a stage before " + user)
        .str();
  return ("a use of " + used +
          " at the start of a period only (larc.anchor) "
          "in the update of " +
          user + ", or none, would make " + user + " a stage before " + used)
      .str();
}

void TransitionAnalysis::Impl::markSequential(ArrayRef<unsigned> group) {
  for (unsigned state : group) {
    StateTransition &transition = transitions[state];
    transition.transitionClass = TransitionClass::Sequential;
    Value next = dependence.getNext(state);
    llvm::SmallBitVector used = edges[state];
    for (unsigned other : used.set_bits()) {
      if (!llvm::is_contained(group, other))
        continue;
      // Where the other state enters the update.
      Operation *place = nullptr;
      for (Operation *member : dependence.getSlice(next))
        if (!place && llvm::any_of(member->getResults(), [&](Value value) {
              return dependence.dependsOn(value, other);
            }))
          place = member;
      if (!place)
        continue;
      bool whole = dependence.holdsWhole(next, other) && rankOf(other) > 1;
      if (whole)
        for (Operation *member : dependence.getSlice(next))
          if (member->getNumResults() == 1 &&
              dependence.dependsOn(member->getResult(0), other) &&
              dependence.dependsOn(member->getResult(0), state)) {
            place = member;
            break;
          }
      bool mutual = dependence.dependsOn(dependence.getNext(other), state);
      std::string S = "'" + nameOf(state).str() + "'";
      std::string T = "'" + nameOf(other).str() + "'";
      std::string property = "makes the update of state " + S + " use " +
                             (whole ? "the whole of " : "") + "state " + T;
      property += mutual ? ", whose update uses " + S
                  : whole
                      ? " at every token"
                      : ", whose update comes back to " + S + " through others";
      transition.obstacles.push_back(
          {place, property, getRemedy(S, T, whole, mutual || !whole)});
    }
  }
}

void TransitionAnalysis::Impl::findSchedule(StateTransition &transition) {
  SmallVector<Value> worklist = {dependence.getNext(transition.state)};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    Operation *def = value.getDefiningOp();
    if (!def || !seen.insert(def).second)
      continue;
    if (auto fire = dyn_cast<FireOp>(def)) {
      Value init = fire.getInits()[cast<OpResult>(value).getResultNumber()];
      if (dependence.holdsWhole(init, transition.state)) {
        transition.isScheduled = true;
        if (auto interval = dyn_cast<IntegerAttr>(fire.getInterval()))
          transition.interval = interval.getInt();
      }
      worklist.push_back(init);
      continue;
    }
    llvm::append_range(worklist, def->getOperands());
  }
}

void TransitionAnalysis::Impl::findAnchor(StateTransition &transition) {
  auto usesAnchor = [&](Value value) {
    return llvm::any_of(dependence.getSlice(value), [](Operation *member) {
      return isa<AnchorOp>(member);
    });
  };
  transition.isAnchored = usesAnchor(dependence.getNext(transition.state));
  for (const Read &read : transition.reads)
    for (Value factor : read.coefficient.factors)
      transition.isAnchored |= usesAnchor(factor);
}

void TransitionAnalysis::Impl::findStages() {
  // What the coefficients of reads use comes before, too, unless that closed a
  // circle: an output may read a state with what another made of it.
  SmallVector<llvm::SmallBitVector> all = edges;
  for (const StateTransition &transition : transitions)
    for (const Read &read : transition.reads)
      for (Value factor : read.coefficient.factors)
        for (unsigned other : dependence.getStates(factor).set_bits())
          if (other != transition.state &&
              !reaches(all, other, transition.state))
            all[transition.state].set(other);
  // Groups in an order in which what they use comes first.
  SmallVector<unsigned> order;
  llvm::SmallBitVector done(groups.size());
  SmallVector<unsigned> stages(groups.size(), 0);
  while (order.size() < groups.size()) {
    size_t before = order.size();
    for (unsigned group = 0; group < groups.size(); ++group) {
      if (done.test(group))
        continue;
      bool ready = true;
      unsigned stage = 0;
      for (unsigned state : groups[group])
        for (unsigned other : all[state].set_bits()) {
          unsigned source = transitions[other].group;
          if (source == group)
            continue;
          ready &= done.test(source);
          TransitionClass sourceClass = transitions[other].transitionClass;
          bool feeds = sourceClass == TransitionClass::Semiring ||
                       sourceClass == TransitionClass::Elementwise ||
                       sourceClass == TransitionClass::Constant;
          stage = std::max(stage, stages[source] + (feeds ? 0 : 1));
        }
      if (!ready)
        continue;
      stages[group] = stage;
      done.set(group);
      order.push_back(group);
    }
    if (order.size() == before)
      break;
  }
  SmallVector<SmallVector<unsigned>> sorted;
  for (unsigned stage = 0; sorted.size() < order.size(); ++stage)
    for (unsigned group : order) {
      if (stages[group] != stage)
        continue;
      for (unsigned state : groups[group]) {
        transitions[state].group = sorted.size();
        transitions[state].stage = stage;
      }
      sorted.push_back(groups[group]);
    }
  groups = std::move(sorted);
}

//===----------------------------------------------------------------------===//
// TransitionAnalysis
//===----------------------------------------------------------------------===//

TransitionAnalysis::TransitionAnalysis(RecurrenceOp recurrence)
    : impl(std::make_unique<Impl>(recurrence)) {}
TransitionAnalysis::~TransitionAnalysis() = default;
TransitionAnalysis::TransitionAnalysis(TransitionAnalysis &&) = default;

RecurrenceOp TransitionAnalysis::getRecurrence() const { return impl->op; }

ArrayRef<StateTransition> TransitionAnalysis::getTransitions() const {
  return impl->transitions;
}

ArrayRef<SmallVector<unsigned>> TransitionAnalysis::getGroupsInOrder() const {
  return impl->groups;
}

bool TransitionAnalysis::dependsOn(Value value, unsigned state) const {
  return impl->dependence.dependsOn(value, state);
}

bool TransitionAnalysis::isState(Value value) const {
  return impl->dependence.getStates(value).any();
}

bool TransitionAnalysis::holdsWhole(Value value, unsigned state) const {
  return impl->dependence.holdsWhole(value, state);
}

bool TransitionAnalysis::isInvariant(Value value) const {
  return impl->dependence.isInvariant(value);
}

const MatrixForm *TransitionAnalysis::getMatrixForm(Value value) const {
  return impl->forms.lookup(value);
}

const Read *TransitionAnalysis::getRead(Value value) const {
  for (const StateTransition &transition : impl->transitions)
    for (const Read &read : transition.reads)
      if (read.getResult() == value)
        return &read;
  return nullptr;
}

SplitProduct TransitionAnalysis::split(const Product &product,
                                       ArrayRef<StringAttr> keyAxes) const {
  SplitProduct result;
  result.key.coefficient = product.coefficient;
  auto place = [&](Value factor) -> Product & {
    bool onKey = false, onValue = false;
    for (StringAttr axis : arrayOf(factor).getAxes())
      (llvm::is_contained(keyAxes, axis) ? onKey : onValue) = true;
    if (onKey)
      return onValue ? result.straddling : result.key;
    // A scalar made from a read belongs to what is solved for.
    return onValue || isState(factor) ? result.value : result.key;
  };
  for (Value factor : product.factors)
    place(factor).factors.push_back(factor);
  for (Value divisor : product.divisors)
    place(divisor).divisors.push_back(divisor);
  return result;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static void printAxes(raw_ostream &os, ArrayRef<StringAttr> axes) {
  os << "[";
  llvm::interleaveComma(axes, os,
                        [&](StringAttr axis) { os << axis.getValue(); });
  os << "]";
}

static void printForm(raw_ostream &os, const MatrixForm &form) {
  os << "(" << describeSum(form.decay) << ") S";
  for (const Product &write : form.writes)
    os << " + " << describeProduct(write);
}

static void printTransition(raw_ostream &os, RecurrenceOp op,
                            const StateTransition &transition) {
  auto decl = cast<StateDeclAttr>(op.getStates()[transition.state]);
  os << "state " << decl.getName().getValue();
  printAxes(os, decl.getAxes());
  os << ": " << chunk::stringifyTransitionClass(transition.transitionClass)
     << ", stage " << transition.stage << ", group " << transition.group;
  if (transition.isScheduled)
    os << ", scheduled every " << transition.interval;
  if (transition.isAnchored)
    os << ", anchored";
  os << "\n";
  if (transition.update) {
    os << "  keys over ";
    printAxes(os, transition.keyAxes);
    os << "\n  S' = ";
    printForm(os, *transition.update);
    os << "\n";
  }
  if (transition.semiring) {
    static constexpr StringRef names[] = {"max", "min", "logaddexp"};
    os << "  S' = " << names[static_cast<unsigned>(transition.semiring->kind)]
       << "(";
    llvm::ListSeparator comma;
    for (const Sum &shift : transition.semiring->shifts) {
      os << comma << "S";
      if (!shift.empty())
        os << " + " << describeSum(shift);
    }
    for (const Sum &input : transition.semiring->inputs)
      os << comma << describeSum(input);
    os << ")\n";
  }
  for (const Read &read : transition.reads) {
    os << "  " << (read.isInner ? "inner read " : "read ")
       << describeValue(read.getResult()) << " over ";
    printAxes(os, read.axes);
    os << ": " << describeProduct(read.coefficient) << " . ";
    printForm(os, read.form);
    os << "\n";
  }
  for (Operation *use : transition.nonlinearReads)
    os << "  replayed "
       << (use->getNumResults() ? describeValue(use->getResult(0)) : "S")
       << "\n";
  for (const Obstacle &obstacle : transition.obstacles)
    os << "  obstacle: " << obstacle.op->getName() << " " << obstacle.property
       << "\n";
}

void TransitionAnalysis::print(raw_ostream &os) const {
  os << "recurrence " << impl->op.getSymName() << "\n";
  for (const StateTransition &transition : impl->transitions)
    printTransition(os, impl->op, transition);
}
