//===- Explainer.h - Prints what larc explain says -*- C++ -*- ------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_ANALYSIS_EXPLAINER_H
#define LARC_LIB_ANALYSIS_EXPLAINER_H

#include "larc/Analysis/Explain.h"

#include "ChunkEquations.h"
#include "Work.h"

namespace larc {

/// Prints the analysis of a recurrence, section by section.
class Explainer {
public:
  Explainer(RecurrenceOp spec, RecurrenceOp decomposed,
            const TransitionAnalysis &analysis, const ExplainOptions &options,
            llvm::ArrayRef<mlir::StringAttr> folded, RecurrenceOp unfolded,
            llvm::raw_ostream &os)
      : spec(spec), unfolded(unfolded), decomposed(decomposed),
        analysis(analysis), prepared(analysis.getRecurrence()),
        options(options), folded(folded),
        notation(spec, analysis, options.markdown), os(os) {}

  void run() {
    explainTitle();
    explainToken();
    explainStages();
    explainChunk();
    explainCarry();
    explainSegments();
    explainWork();
    explainObstacles();
  }

private:
  llvm::ArrayRef<StateTransition> getTransitions() const {
    return analysis.getTransitions();
  }
  llvm::StringRef nameOf(unsigned state) {
    return llvm::cast<StateDeclAttr>(prepared.getStates()[state]).getName();
  }
  void heading(const llvm::Twine &text);
  /// A formula on a line of its own.
  void formula(const llvm::Twine &text);
  /// A sentence on a line of its own.
  void line(const llvm::Twine &text);
  std::string code(const llvm::Twine &text) {
    return options.markdown ? ("`" + text + "`").str() : text.str();
  }
  std::string math(const llvm::Twine &text) {
    return options.markdown ? ("$" + text + "$").str() : text.str();
  }

  void explainTitle();
  void explainToken();
  std::string describeClass(const StateTransition &transition);
  void explainUpdate(const StateTransition &transition);
  void explainStages();
  void explainChunk();
  void explainCarry();
  void explainSegments();
  void explainSegment(const StateTransition &transition);
  void explainWork();
  void printWork(llvm::StringRef form, const Work &flops, const Work &bytes);
  llvm::StringRef getSpecOperation(mlir::Operation *op);
  void explainObstacles();
  std::string getAdvice(const StateTransition &transition,
                        const Obstacle &obstacle);
  void defineNamed(llvm::StringRef introduction);
  void explainLegend();
  void explainOutputs();
  bool isMadeInLoop(mlir::Value value);
  std::string at(llvm::StringRef symbol) const;
  std::string print(const Work &work) const {
    return work.print(options.markdown, notation.getSymbols().tokens);
  }

  RecurrenceOp spec;
  /// The spec with the number of steps that the analysis saw.
  RecurrenceOp unfolded;
  RecurrenceOp decomposed;
  const TransitionAnalysis &analysis;
  RecurrenceOp prepared;
  const ExplainOptions &options;
  llvm::ArrayRef<mlir::StringAttr> folded;
  Notation notation;
  llvm::raw_ostream &os;
};

/// The line of the spec, or 0.
inline unsigned getLine(mlir::Location location) {
  if (auto place = location->findInstanceOf<mlir::FileLineColLoc>())
    return place.getLine();
  return 0;
}

} // namespace larc

#endif // LARC_LIB_ANALYSIS_EXPLAINER_H
