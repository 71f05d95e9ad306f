//===- Transitions.h - The transition algebra -*- C++ -*- -----------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What a token does to each state, put into a normal form. A value that holds a
// whole state S is
//
//   X = D (.) S + sum over writes of  a_w (x) y_w          (a matrix form)
//
// with a decay D and keys a_w that are known before the state is, and values
// y_w that may depend on reads of the state. A read is a sum over some axes R
// of a matrix form times a known coefficient. docs/transition-algebra.md has
// the rules and their proofs.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_ANALYSIS_TRANSITIONS_H
#define LARC_ANALYSIS_TRANSITIONS_H

#include "larc/Dialect/Chunk/IR/Chunk.h"
#include "larc/Dialect/Larc/IR/Larc.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <optional>
#include <string>

namespace larc {

/// A product of values of the step, some in the denominator, and a number.
struct Product {
  double coefficient = 1.0;
  llvm::SmallVector<mlir::Value, 4> factors;
  llvm::SmallVector<mlir::Value, 1> divisors;

  /// The axes of all factors and divisors.
  ArrayType getAxes(mlir::MLIRContext *context) const;
};
Product operator*(const Product &lhs, const Product &rhs);

/// A sum of products. Empty: 0.
using Sum = llvm::SmallVector<Product, 1>;

/// X = decay (.) S + sum of writes: a value over all axes of state S.
struct MatrixForm {
  unsigned state;
  Sum decay;
  /// Factors are known, or depend on reads of the state; `splitWrite` tells
  /// which belong to the key and which to the value.
  llvm::SmallVector<Product> writes;
};

/// A sum over `axes` of a matrix form times a coefficient. The result is that
/// of the operation `op` (a larc.contract, or a larc.reduce sum).
struct Read {
  mlir::Operation *op = nullptr;
  /// The step's value that is read, and its form.
  mlir::Value point;
  MatrixForm form;
  /// What it is multiplied by; factors known. 1 for a reduce.
  Product coefficient;
  llvm::SmallVector<mlir::StringAttr> axes;
  /// Whether the state's own update depends on it.
  bool isInner = false;

  mlir::Value getResult() const { return op->getResult(0); }
};

/// A product split with respect to the axes R that reads sum over: the key has
/// the factors with axes in R and those without axes, the value those with
/// axes outside of R. A factor with both is `straddling`: it must not depend on
/// the token.
struct SplitProduct {
  Product key, value, straddling;
};

/// An elementwise update that is linear over a semiring: with (+) the maximum,
/// the minimum or ln(e^x + e^y),
///
///   S' = (S + shift_1) (+) (S + shift_2) (+) ... (+) input_1 (+) input_2 ...
struct SemiringForm {
  enum class Kind { Max, Min, LogAddExp };
  Kind kind = Kind::Max;
  llvm::SmallVector<Sum, 1> shifts, inputs;
};

/// Why something is not of a faster class.
struct Obstacle {
  mlir::Operation *op;     ///< the operation at fault
  std::string property;    ///< "multiplies the state by a read of it"
  std::string remedy = {}; ///< "a gate from ... would ..."; may be empty
};

/// What is known of one state's transition.
struct StateTransition {
  unsigned state = 0;
  chunk::TransitionClass transitionClass = chunk::TransitionClass::Sequential;
  /// Whether a larc.fire changes it, and then every how many periods.
  bool isScheduled = false;
  int64_t interval = 0;
  /// Whether a coefficient depends on a state through larc.anchor.
  bool isAnchored = false;
  /// Computed in this order. A state is of a later stage than those whose reads
  /// its update or its own reads use; semiring and elementwise states that feed
  /// gates belong to the stage that they feed. States of one `group` depend on
  /// each other.
  unsigned stage = 0, group = 0;
  /// Of the new state; constant, diagonal, low rank and implicit only.
  std::optional<MatrixForm> update;
  /// Of the new state; semiring only.
  std::optional<SemiringForm> semiring;
  /// All reads of points of the chain; inner reads first, each group in
  /// program order.
  llvm::SmallVector<Read, 1> reads;
  /// The axes that all inner reads sum over (where there are none: those of the
  /// first read, or all but the last declared axis).
  llvm::SmallVector<mlir::StringAttr> keyAxes;
  /// Operations that use the whole state and are not linear in it, or read it
  /// with a coefficient that does not split; what they make is computed by
  /// replay. Empty for constant, semiring, elementwise and sequential states,
  /// whose values are known at every token anyway.
  llvm::SmallVector<mlir::Operation *> nonlinearReads;
  /// What keeps it from a faster class.
  llvm::SmallVector<Obstacle> obstacles;
};

/// The transitions of all states of a flat recurrence whose composites are
/// decomposed and whose folds are unrolled (`prepareForAnalysis`). Holds
/// pointers into the recurrence, which must not change meanwhile.
class TransitionAnalysis {
public:
  explicit TransitionAnalysis(RecurrenceOp recurrence);
  ~TransitionAnalysis();
  TransitionAnalysis(TransitionAnalysis &&);

  RecurrenceOp getRecurrence() const;
  /// One for each state, in order of declaration.
  llvm::ArrayRef<StateTransition> getTransitions() const;
  /// State indices, by stage and, within one, by group.
  llvm::ArrayRef<llvm::SmallVector<unsigned>> getGroupsInOrder() const;

  /// Whether `value` depends on the old value of `state` (not through an
  /// anchor), in whatever way.
  bool dependsOn(mlir::Value value, unsigned state) const;
  /// Whether `value` depends on the old value of any state.
  bool isState(mlir::Value value) const;
  /// Whether `value` holds the whole of `state`, old or new, or an elementwise
  /// function of it: an array that exists for every token only inside a loop
  /// over tokens.
  bool holdsWhole(mlir::Value value, unsigned state) const;
  /// Whether `value` is the same for all tokens of a period: made from
  /// constants, anchors and constant states alone.
  bool isInvariant(mlir::Value value) const;
  /// The matrix form of a value that holds the whole of a state, or nothing.
  const MatrixForm *getMatrixForm(mlir::Value value) const;
  /// The read that makes `value`, or nothing.
  const Read *getRead(mlir::Value value) const;

  /// Splits `product` with respect to the axes `keyAxes`.
  SplitProduct split(const Product &product,
                     llvm::ArrayRef<mlir::StringAttr> keyAxes) const;

  /// The whole result for a person: one paragraph a state.
  void print(llvm::raw_ostream &os) const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// Decomposes composites, unrolls folds, distributes contractions over sums of
/// token-wise arrays, and cleans up: the form that the analysis reads. The
/// recurrence must be flat; the sizes of its axes may be unbound.
mlir::LogicalResult prepareForAnalysis(RecurrenceOp recurrence);

} // namespace larc

#endif // LARC_ANALYSIS_TRANSITIONS_H
