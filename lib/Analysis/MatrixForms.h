//===- MatrixForms.h - Matrix forms of the values of a step -*- C++ -*- ---===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_ANALYSIS_MATRIXFORMS_H
#define LARC_LIB_ANALYSIS_MATRIXFORMS_H

#include "larc/Dialect/Larc/Transforms/Dependence.h"

#include "larc/Analysis/Transitions.h"

namespace larc {

/// Axes on two sides of a state: those that a read sums over, the others.
struct Sides {
  llvm::SmallVector<mlir::StringAttr> key, value;

  Sides(ArrayType state, llvm::ArrayRef<mlir::StringAttr> keyAxes);
  /// Whether `array` has axes of both sides.
  bool straddles(mlir::Value array) const;
};

/// Writes products apart until no factor straddles any of `sides`, as far as
/// the step's own products, quotients and sums allow. Factors that are the same
/// for all tokens are left as they are.
llvm::SmallVector<Product> expand(const Product &product,
                                  llvm::ArrayRef<Sides> sides,
                                  const Dependence &dependence);

/// One pass over a step: the matrix form of every value that has one.
class MatrixForms {
public:
  explicit MatrixForms(RecurrenceOp recurrence, const Dependence &dependence);

  const MatrixForm *lookup(mlir::Value value) const {
    auto it = forms.find(Dependence::throughFire(value));
    return it == forms.end() ? nullptr : &it->second;
  }
  /// The form of the state's new value, or nothing. A new value that does not
  /// depend on the old one is a write.
  std::optional<MatrixForm> getUpdate(unsigned state) const;

  /// Expands the products of all forms of `state` with respect to `sides`.
  void expandAll(unsigned state, llvm::ArrayRef<Sides> sides);

  /// Reads of each state, in program order. `isInner` is not set yet.
  std::vector<llvm::SmallVector<Read, 1>> reads;
  /// Operations on a whole state that are neither part of a chain nor reads.
  llvm::SmallVector<llvm::SmallVector<mlir::Operation *>> wholeUses;
  /// Operations of a chain whose result is an output.
  llvm::SmallVector<llvm::SmallVector<mlir::Operation *>> wholeOutputs;

private:
  void visit(mlir::Operation &op);
  std::optional<MatrixForm> combine(mlir::Operation &op);
  std::optional<MatrixForm> addUp(mlir::Value lhs, mlir::Value rhs,
                                  double rhsSign);
  std::optional<MatrixForm> scale(const MatrixForm &form, mlir::Value factor,
                                  bool divide);
  bool addRead(mlir::Operation &op);
  bool fits(mlir::Value value, unsigned state) const;
  bool holdsMatrix(mlir::Value value) const;

  const Dependence &dependence;
  llvm::DenseMap<mlir::Value, MatrixForm> forms;
};

} // namespace larc

#endif // LARC_LIB_ANALYSIS_MATRIXFORMS_H
