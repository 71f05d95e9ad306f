//===- Classifier.h - Classes of transitions -*- C++ -*- ------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_ANALYSIS_CLASSIFIER_H
#define LARC_LIB_ANALYSIS_CLASSIFIER_H

#include "MatrixForms.h"

namespace larc {

/// How a value depends on reads of one state.
enum class Degree { None, Affine, Nonlinear };

/// Finds the class of one state that is alone in its group.
class Classifier {
public:
  Classifier(RecurrenceOp recurrence, const Dependence &dependence,
             MatrixForms &forms, StateTransition &transition);

  void run();

private:
  using Check = std::optional<Obstacle>;

  void classifyLinear(MatrixForm update);
  void classifySolved(const MatrixForm &update);
  void classifyDiagonal(const MatrixForm &update);
  void classifyOther();
  bool becomeElementwise();
  bool becomeSemiring();
  void becomeSequential(Obstacle obstacle);
  void addObstacle(Obstacle obstacle);

  /// Sets the axes of reads, and leaves in `reads` those that the equations of
  /// linear classes cover.
  void finishLinear(llvm::ArrayRef<mlir::StringAttr> keyAxes);
  llvm::SmallVector<llvm::SmallVector<mlir::StringAttr>> getKeyCandidates();

  Check checkForm(const MatrixForm &form, const Sides &sides,
                  mlir::Operation *op) const;
  Check checkDecay(const Sum &decay, const Sides &sides,
                   mlir::Operation *op) const;
  Check checkWrite(const Product &write, const Sum &decay, const Sides &sides,
                   mlir::Operation *op) const;
  Check checkRead(const Read &read) const;
  /// That decay, keys and coefficient do not depend on the state.
  Check checkKnown(const MatrixForm &form, const Sides &sides,
                   mlir::Operation *op) const;

  /// The first operation of the update's slice that uses the whole state and
  /// is not linear in it, or null.
  mlir::Operation *getNonlinearUpdate() const;
  bool depends(mlir::Value value) const {
    return dependence.dependsOn(value, transition.state);
  }
  std::string describeState() const;

  /// Operations have no const methods.
  mutable RecurrenceOp recurrence;
  const Dependence &dependence;
  MatrixForms &forms;
  StateTransition &transition;
  ArrayType stateType;
  llvm::SetVector<mlir::Operation *> slice;
};

} // namespace larc

#endif // LARC_LIB_ANALYSIS_CLASSIFIER_H
