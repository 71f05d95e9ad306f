//===- Dependence.h - What values of a step depend on -*- C++ -*- ---------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Facts about values of a step that need no algebra. Inside a chunk nothing
// fires: a result of larc.fire is what the value it starts from is, and the
// operations in its region are none of the chunk's.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_DIALECT_LARC_TRANSFORMS_DEPENDENCE_H
#define LARC_DIALECT_LARC_TRANSFORMS_DEPENDENCE_H

#include "larc/Dialect/Larc/IR/Larc.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallBitVector.h"

namespace larc {

class Dependence {
public:
  explicit Dependence(RecurrenceOp recurrence);

  unsigned getNumStates() const { return numStates; }
  mlir::BlockArgument getState(unsigned state) const;
  /// The state's new value, as `larc.yield` gives it.
  mlir::Value getNext(unsigned state) const;
  /// The state whose old value `value` is, or nothing.
  std::optional<unsigned> getStateOf(mlir::Value value) const;

  /// What `value` is between fires: the value that a result of larc.fire starts
  /// from, else itself.
  static mlir::Value throughFire(mlir::Value value);

  /// The states that `value` depends on.
  const llvm::SmallBitVector &getStates(mlir::Value value) const;
  bool dependsOn(mlir::Value value, unsigned state) const {
    return getStates(value).test(state);
  }
  /// The states whose whole `value` holds, through elementwise operations.
  const llvm::SmallBitVector &getWholes(mlir::Value value) const;
  bool holdsWhole(mlir::Value value, unsigned state) const {
    return getWholes(value).test(state);
  }
  /// Made from constants, anchors and states that do not change alone.
  bool isInvariant(mlir::Value value) const {
    return invariants.contains(value);
  }

  /// The operations that `value` is computed by, in program order; those of
  /// fires left out.
  llvm::SetVector<mlir::Operation *> getSlice(mlir::Value value) const;

private:
  void visit(mlir::Operation &op);

  mlir::Operation *recurrence;
  unsigned numStates;
  llvm::SmallBitVector none;
  llvm::DenseMap<mlir::Value, llvm::SmallBitVector> states, wholes;
  llvm::DenseSet<mlir::Value> invariants;
};

} // namespace larc

#endif // LARC_DIALECT_LARC_TRANSFORMS_DEPENDENCE_H
