//===- SegmentTransition.h - Transitions over many tokens -*- C++ -*- -----===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_ANALYSIS_SEGMENTTRANSITION_H
#define LARC_LIB_ANALYSIS_SEGMENTTRANSITION_H

#include "larc/Analysis/Transitions.h"

#include "mlir/IR/IRMapping.h"

namespace larc {

/// A state of a summary that tells what a segment does to an older state.
struct TransitionPart {
  enum class Kind {
    Product, ///< the older state is multiplied by it
    Keep,    ///< 1, or 0 where the older state is forgotten
    Map,     ///< a matrix from the axes R' to R, applied to it
    Shift    ///< added to it
  };
  Kind kind;
  llvm::SmallVector<mlir::StringAttr> axes;
  mlir::Value next; ///< its new value
};

/// Derives how the transition of a segment grows by one more token.
///
/// For each value of the step that depends on the state, its derivative with
/// respect to the state at the segment's start. The step is linear in the
/// state, so that does not depend on the state. With the diagonal class it is a
/// product of arrays; with the low-rank class a matrix from R' to R, the same
/// for every index of the other axes but for factors along them that all terms
/// have.
class SegmentTransition {
public:
  /// Declares a state of the summary: its argument.
  using AddState = llvm::function_ref<mlir::Value(
      TransitionPart::Kind, llvm::ArrayRef<mlir::StringAttr>)>;

  /// `known` maps values of the recurrence to those of the summary, in which
  /// `builder` builds. `startAxes` has R' for the key axes R.
  SegmentTransition(const TransitionAnalysis &analysis,
                    const StateTransition &transition, mlir::OpBuilder &builder,
                    const mlir::IRMapping &known,
                    llvm::ArrayRef<mlir::StringAttr> startAxes)
      : analysis(analysis), transition(transition), builder(builder),
        known(known), startAxes(startAxes) {}

  /// The parts and their new values. An error at the operation at fault where
  /// the transition does not compose.
  mlir::FailureOr<llvm::SmallVector<TransitionPart>> build(AddState addState);

private:
  /// A derivative: arrays that multiply it, and the matrix (none with the
  /// diagonal class, where the factors may have any axes).
  struct Tangent {
    llvm::SmallVector<mlir::Value> factors;
    mlir::Value matrix;
  };
  /// No tangent: the value does not depend on the state.
  using MaybeTangent = mlir::FailureOr<std::optional<Tangent>>;

  bool isMap() const;
  MaybeTangent derive(mlir::Operation &op);
  MaybeTangent deriveSum(mlir::Operation &op, bool subtract);
  mlir::LogicalResult scaleBy(mlir::Operation &op, mlir::Value factor,
                              bool divide, Tangent &tangent);
  MaybeTangent deriveRead(mlir::Operation &op, mlir::Value array,
                          mlir::Value coefficient);
  MaybeTangent deriveSelect(SelectOp op);
  MaybeTangent deriveBroadcast(BroadcastOp op);
  mlir::LogicalResult refuse(mlir::Operation &op, const llvm::Twine &why,
                             const llvm::Twine &remedy) const;

  mlir::FailureOr<llvm::SmallVector<TransitionPart>>
  buildLinear(AddState addState);
  llvm::SmallVector<TransitionPart> buildShift(AddState addState);
  void addProducts(llvm::ArrayRef<mlir::Value> factors, AddState addState,
                   llvm::SmallVectorImpl<TransitionPart> &parts);

  std::optional<Tangent> lookup(mlir::Value value) const;
  bool depends(mlir::Value value) const {
    return analysis.dependsOn(value, transition.state);
  }
  mlir::Value mapped(mlir::Value value) const { return known.lookup(value); }
  mlir::Value multiply(mlir::Value lhs, mlir::Value rhs);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs, bool subtract);
  mlir::Value negate(mlir::Value value);
  mlir::Value getProduct(llvm::ArrayRef<mlir::Value> factors);
  mlir::Value getConstant(double value);
  mlir::Value materialize(const Sum &sum);

  const TransitionAnalysis &analysis;
  const StateTransition &transition;
  mlir::OpBuilder &builder;
  const mlir::IRMapping &known;
  llvm::ArrayRef<mlir::StringAttr> startAxes;
  mlir::Location loc = builder.getUnknownLoc();
  llvm::DenseMap<mlir::Value, Tangent> tangents;
  llvm::DenseMap<mlir::Value, mlir::Value> reciprocals;
};

} // namespace larc

#endif // LARC_LIB_ANALYSIS_SEGMENTTRANSITION_H
