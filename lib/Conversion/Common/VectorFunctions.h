//===- VectorFunctions.h - Functions as polynomials -*- C++ -*- -----------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function makes the code of one function of f32 or f64 numbers or vectors
// of any shape, from operations that are one instruction each on a vector. None
// branches, and none depends on the rounding mode for more than its last
// digits.
//
// All keep NaN, and are within 3 units in the last place wherever the result
// is a normal number, infinities and signed zeros included. Denormal results
// of an exponential in f32 are 0; others, and those in f64, are right to one
// denormal step.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_CONVERSION_COMMON_VECTORFUNCTIONS_H
#define LARC_LIB_CONVERSION_COMMON_VECTORFUNCTIONS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace larc {

mlir::Value buildExp(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value x);
mlir::Value buildExpm1(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value x);
mlir::Value buildTanh(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value x);
/// ln(1 + x) for x from 0 to 1.
mlir::Value buildLog1pOfFraction(mlir::OpBuilder &builder, mlir::Location loc,
                                 mlir::Value x);

/// These take f32 only.
mlir::Value buildLog(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value x);
mlir::Value buildLog1p(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value x);
mlir::Value buildErf(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value x);

/// What the `math` operation `op` becomes: one of these, or null where none
/// stands for it in its type.
mlir::Value buildPolynomial(mlir::OpBuilder &builder, mlir::Operation *op);

} // namespace larc

#endif // LARC_LIB_CONVERSION_COMMON_VECTORFUNCTIONS_H
