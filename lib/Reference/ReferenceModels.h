//===- ReferenceModels.h - Models of the dialect's operations ---*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_REFERENCE_REFERENCEMODELS_H
#define LARC_LIB_REFERENCE_REFERENCEMODELS_H

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace larc {

/// Each attaches the models of some operations to the loaded dialect.
void attachElementwiseModels(mlir::MLIRContext &context);
void attachReductionModels(mlir::MLIRContext &context);
void attachOrthogonalizeModel(mlir::MLIRContext &context);
void attachStructureModels(mlir::MLIRContext &context);

} // namespace larc

#endif // LARC_LIB_REFERENCE_REFERENCEMODELS_H
