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
#include "llvm/ADT/StringSet.h"

namespace larc {

/// Names with commas between: `K,V`.
std::string joinAxes(llvm::ArrayRef<mlir::StringAttr> axes);

/// Letters of the equations of a chunk, none of which the spec uses.
struct ChunkSymbols {
  std::string tokens;          ///< C, how many there are
  std::string i, j, l;         ///< tokens of the chunk
  std::string scores;          ///< A
  std::string decay, other;    ///< D along the axes of keys, E along others
  std::string before, after;   ///< P, Q: products of decays
  std::string write;           ///< w, the number of a write
  std::string key, value;      ///< a, y of a write
  std::string straddling;      ///< s
  std::string read;            ///< r
  std::string part;            ///< x, of what is made from reads
  std::string segment, matrix; ///< Z, F: what a segment gives and does
  std::string shift;           ///< G: what a segment adds
};

/// Writes values as formulas, plain or in LaTeX: by their names in the spec,
/// short ones and those used once written out in place. Values of the prepared
/// recurrence are shown as the spec has them where a name leads there.
class Notation {
public:
  /// `analysis` is of the prepared recurrence, `spec` the flat one as it was
  /// before.
  Notation(RecurrenceOp spec, const TransitionAnalysis &analysis, bool latex);

  const ChunkSymbols &getSymbols() const { return symbols; }
  /// From here on reads that have no name in the spec are r1, r2, ..., and what
  /// is made from them is written with these, until it has a name.
  void enterChunk() { inChunk = true; }
  /// Values with a name that are made from reads without one, in the order of
  /// the step.
  llvm::ArrayRef<mlir::Value> getNamedParts() const { return namedParts; }
  /// The symbol of the result of a read of a linear state.
  std::string readSymbol(const Read &read) const;
  /// Whether the name of a prepared value means one value, in the spec, too.
  bool hasOwnName(mlir::Value value) const;
  /// Whether formulas so far name `value`, themselves or in what they name.
  bool isMentioned(mlir::Value value);
  /// An equation for `value` has been given: it needs none any more.
  void define(mlir::Value value);
  /// A letter with a number.
  std::string index(llvm::StringRef letter, size_t number) const;

  /// A formula; `tight`: in parentheses if it is a sum.
  std::string write(mlir::Value value, bool tight = false);
  std::string write(const Product &product);
  std::string write(const Sum &sum, bool tight = false);
  /// One that stands alone: a sum is not put in parentheses.
  std::string writeAlone(const Product &product);
  /// The formula that `value`'s name stands for.
  std::string writeDefinition(mlir::Value value);
  /// Values that formulas so far name and that have no definition yet, with
  /// those that their definitions name, in the order of the step.
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
  void takeNames();
  std::string pickLetter(llvm::ArrayRef<llvm::StringRef> candidates);
  void nameReads(const TransitionAnalysis &analysis);
  void nameParts();
  void closeMentions();
  std::string partName(mlir::Value value);
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
  llvm::DenseSet<mlir::Value> defined;

  llvm::StringSet<> taken;
  ChunkSymbols symbols;
  bool inChunk = false;
  unsigned numParts = 0;
  /// Values of the spec that formulas name however short they are.
  llvm::DenseSet<mlir::Value> forced;
  /// Prepared values with symbols of the chunk.
  llvm::DenseMap<mlir::Value, std::string> chunkNames;
  /// Prepared values that are made from reads without a name and have none.
  llvm::DenseSet<mlir::Value> parts;
  llvm::SmallVector<mlir::Value> namedParts;
};

} // namespace larc

#endif // LARC_LIB_ANALYSIS_NOTATION_H
