//===- Notation.h - Values of a step as mathematics -*- C++ -*- -----------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_ANALYSIS_NOTATION_H
#define LARC_LIB_ANALYSIS_NOTATION_H

#include "larc/Analysis/Transitions.h"
#include "larc/Dialect/Larc/Transforms/Dependence.h"

#include "llvm/ADT/StringMap.h"

namespace larc {

/// Names with commas between: `K,V`.
std::string joinAxes(llvm::ArrayRef<mlir::StringAttr> axes);

/// Writes values as formulas, plain or in LaTeX: by their names in the spec,
/// short ones and those used once written out in place. Values of the prepared
/// recurrence are shown as the spec has them where a name leads there.
class Notation {
public:
  /// `spec` is the flat recurrence as it was before preparation.
  Notation(RecurrenceOp spec, RecurrenceOp prepared, bool latex);

  /// A formula; `tight`: in parentheses if it is a sum.
  std::string write(mlir::Value value, bool tight = false);
  std::string write(const Product &product);
  std::string write(const Sum &sum, bool tight = false);
  /// The formula that `value`'s name stands for.
  std::string writeDefinition(mlir::Value value);
  /// Values that formulas so far name and that have definitions, with those
  /// that their definitions name, in the order of the step.
  llvm::SmallVector<mlir::Value> takeNamed();

  /// Whether formulas name `value`: an argument, or one with a definition.
  bool names(mlir::Value value);
  /// The symbol of the state before (`isNew`: after) the token.
  std::string stateSymbol(unsigned state, bool isNew);
  /// A name of the spec as a symbol.
  std::string symbol(llvm::StringRef name) const;
  std::string number(double value) const;
  bool isLatex() const { return latex; }

  /// Joins two factors: a space, `(x)` for an outer product, `(.)` for one
  /// element by element.
  std::string join(ArrayType lhs, ArrayType rhs) const;

private:
  /// How tightly a formula binds.
  enum Level { Addition, Multiplication, Atom };
  struct Formula {
    std::string text;
    Level level;
  };
  Formula formula(mlir::Value value);
  Formula formulaOf(mlir::Operation *op);
  Formula contraction(ContractOp op);
  Formula call(llvm::StringRef function, mlir::ValueRange arguments);
  Formula indexed(llvm::StringRef function,
                  llvm::ArrayRef<mlir::StringAttr> axes, mlir::Value argument);
  Formula multiply(llvm::ArrayRef<mlir::Value> factors);
  std::string parenthesize(const Formula &inner, Level level) const;
  mlir::Value toSpec(mlir::Value value) const;
  bool isNamed(mlir::Value value);
  std::optional<unsigned> newStateOf(mlir::Value value) const;
  /// The state of which `value`, over the same axes, holds the whole.
  std::optional<unsigned> matrixOf(mlir::Value value) const;

  mutable RecurrenceOp spec, prepared;
  Dependence specDependence, preparedDependence;
  bool latex;
  /// Values of the spec by name, where one name is one value.
  llvm::StringMap<mlir::Value> named;
  /// How many values have a name, in the spec and in the prepared recurrence.
  llvm::StringMap<unsigned> specCounts, preparedCounts;
  llvm::DenseMap<mlir::Value, bool> inlined;
  llvm::SetVector<mlir::Value> mentioned;
};

} // namespace larc

#endif // LARC_LIB_ANALYSIS_NOTATION_H
