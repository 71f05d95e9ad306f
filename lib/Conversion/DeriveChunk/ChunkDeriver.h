//===- ChunkDeriver.h - From a step to a chunk -*- C++ -*- ----------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Derivation is driven by demand. The outputs and new states of the step are
// asked for as arrays with a token axis, and what they need is asked for in
// turn: an operation on known values is the same operation with the token axis;
// a read of a linear state is made by the equations of its class
// (LinearState.h); what can only be computed token by token is put into one
// `chunk.tokens`. So stages need no scheduling: a read that a second state's
// coefficients use is simply derived first.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_CONVERSION_DERIVECHUNK_CHUNKDERIVER_H
#define LARC_LIB_CONVERSION_DERIVECHUNK_CHUNKDERIVER_H

#include "ArrayBuilder.h"

#include "larc/Analysis/Transitions.h"

#include "llvm/ADT/SetVector.h"

#include <map>

namespace larc {

class LinearState;
class TokenLoop;

class ChunkDeriver {
public:
  ChunkDeriver(RecurrenceOp recurrence, const TransitionAnalysis &analysis,
               chunk::ScanOp scan);
  ~ChunkDeriver();

  /// Fills the scan's region. Fails with a remark where the step has something
  /// that no rule covers.
  mlir::LogicalResult run();
  /// Fills the region with one loop over tokens that runs the whole step.
  mlir::LogicalResult runTokenByToken();

  /// The chunk's value for a value of the step: with the token axis, or without
  /// where it is the same for all tokens. Null after a failure.
  mlir::Value get(mlir::Value value);
  /// Records the chunk's value of a value of the step.
  void set(mlir::Value value, mlir::Value chunkValue) {
    values[value] = chunkValue;
  }
  /// As an array over the token axis and `axes`.
  mlir::Value perToken(mlir::Value chunkValue, Axes axes = {});
  /// The value of a product or sum of values of the step; null where it is 1
  /// (a product) or 0 (a sum). `lookup` gives the factors.
  using Lookup = llvm::function_ref<mlir::Value(mlir::Value)>;
  mlir::Value materialize(ArrayBuilder &at, const Product &product,
                          Lookup lookup);
  mlir::Value materialize(ArrayBuilder &at, const Sum &sum, Lookup lookup);

  /// Reports why derivation stops, at `op`.
  std::nullptr_t fail(mlir::Operation *op, const llvm::Twine &why);
  bool hasFailed() const { return failed; }

  mlir::StringAttr getToken() { return token; }
  mlir::StringAttr getSource() { return source; }
  bool hasToken(mlir::Value value) { return arrayOf(value).hasAxis(token); }

  // A handle of MLIR has no const methods.
  mutable RecurrenceOp recurrence;
  const TransitionAnalysis &analysis;
  chunk::ScanOp scan;
  mlir::OpBuilder builder;
  ArrayBuilder build;

private:
  const StateTransition &transitionOf(unsigned state) const {
    return analysis.getTransitions()[state];
  }
  /// Whether the state is computed by the equations of a linear class.
  bool isLinear(unsigned state) const;
  bool isConstant(unsigned state) const {
    return transitionOf(state).transitionClass ==
           chunk::TransitionClass::Constant;
  }
  /// The equations of a linear state. Null after a failure.
  LinearState *getLinearState(unsigned state);
  ArrayType getStateType(unsigned state) const;
  std::optional<unsigned> getStateOf(mlir::Value argument) const;
  /// The linear read that makes `value`, or null.
  const Read *getLinearRead(mlir::Value value) const;

  /// Whether `value` is only known inside a token loop: a whole state.
  bool needsLoop(mlir::Value value);
  bool isInLoop(mlir::Operation *op);
  /// Makes the loop that computes `root`, a value of the step or a state that
  /// only loops compute, and all else that can be computed with it.
  mlir::LogicalResult deriveLoop(mlir::Value root);
  /// Whether `op` belongs to the update of a state that only loops compute.
  bool isLoopUpdate(mlir::Operation *op) const {
    return llvm::any_of(loopUpdates, [&](const auto &group) {
      return group.second.contains(op);
    });
  }
  const llvm::SmallPtrSet<mlir::Operation *, 16> &
  loopUpdatesOf(unsigned group) const {
    return loopUpdates.at(group);
  }
  void findLoopUpdates();
  friend class TokenLoop;

  mlir::Value derive(mlir::Value value);
  mlir::Value getNewState(unsigned state);
  mlir::LogicalResult yield(llvm::ArrayRef<mlir::Value> states,
                            llvm::ArrayRef<mlir::Value> outputs);
  void pruneResults();

  mlir::StringAttr token, source;
  llvm::DenseMap<mlir::Value, mlir::Value> values;
  llvm::DenseMap<mlir::Value, bool> loopValues;
  /// Null while the state's writes are being derived.
  std::map<unsigned, std::unique_ptr<LinearState>> linearStates;
  /// New values of the states of loops, by state.
  std::map<unsigned, mlir::Value> loopStates;
  /// By group.
  std::map<unsigned, llvm::SmallPtrSet<mlir::Operation *, 16>> loopUpdates;
  bool failed = false;
};

} // namespace larc

#endif // LARC_LIB_CONVERSION_DERIVECHUNK_CHUNKDERIVER_H
