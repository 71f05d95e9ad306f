//===- ChunkEquations.h - Equations of a chunk as text -*- C++ -*- --------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_ANALYSIS_CHUNKEQUATIONS_H
#define LARC_LIB_ANALYSIS_CHUNKEQUATIONS_H

#include "Notation.h"

namespace larc {

/// Whether `sum` is the number 1.
bool isOne(const Sum &sum);

/// Writes the equations by which the tokens of a chunk are computed together
/// (docs/transition-algebra.md), for one state.
class ChunkEquations {
public:
  ChunkEquations(const TransitionAnalysis &analysis,
                 const StateTransition &transition, Notation &notation)
      : analysis(analysis), transition(transition), notation(notation),
        symbols(notation.getSymbols()) {}

  /// In words.
  std::string describe() const;
  std::vector<std::string> getEquations();
  /// Whether there are decays along axes of keys and along others.
  bool hasOtherDecay() const { return getDecaySides().size() > 1; }

private:
  struct Write {
    Product key, value;
    std::string name; ///< of the value: y
    bool hasName;     ///< whether it is the step's own
    bool isSolved;    ///< whether the value depends on reads of the state
  };

  /// A part Phi (.) s of the state, with s over fewer axes.
  struct Straddling {
    std::string invariant, written, symbol;
  };
  struct Reader {
    std::string plain; ///< the coefficient
    std::string key;   ///< times the point's decay of the axes summed over
    std::string value; ///< the point's decay of axes kept; empty: 1
  };
  struct Decay {
    std::string symbol, text;
    llvm::SmallVector<mlir::StringAttr> axes;
  };

  std::string at(llvm::StringRef name, llvm::StringRef token) const;
  std::string paren(llvm::StringRef text) const;
  std::string readEquation(const Read &read, unsigned number);
  std::string scoresEquation(const Read &read, unsigned number);
  std::string writeEquation(const Write &write);
  std::string endEquation();
  std::string earlierWrites(const Read &read, const Reader &reader);
  std::string straddlingTerms(const Read &read, llvm::StringRef coefficient,
                              llvm::StringRef token);
  std::string ofWrite(llvm::StringRef letter) const;
  std::string getScores(unsigned number, bool several, llvm::StringRef i,
                        llvm::StringRef j) const;
  Reader getReader(const Read &read) const;
  std::vector<Decay> getDecaySides() const;
  std::vector<std::string> getDecays(llvm::ArrayRef<mlir::StringAttr> axes,
                                     bool inside) const;
  bool isEarlierWrite(const Read &read) const;
  std::vector<Straddling>
  getStraddling(llvm::ArrayRef<mlir::StringAttr> keyAxes);
  /// Writes that do not straddle.
  std::vector<Write> getWrites(llvm::ArrayRef<mlir::StringAttr> keyAxes);

  const TransitionAnalysis &analysis;
  const StateTransition &transition;
  Notation &notation;
  const ChunkSymbols &symbols;
};

} // namespace larc

#endif // LARC_LIB_ANALYSIS_CHUNKEQUATIONS_H
