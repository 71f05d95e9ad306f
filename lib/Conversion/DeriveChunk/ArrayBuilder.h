//===- ArrayBuilder.h - Builds expressions on arrays -*- C++ -*- ----------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_CONVERSION_DERIVECHUNK_ARRAYBUILDER_H
#define LARC_LIB_CONVERSION_DERIVECHUNK_ARRAYBUILDER_H

#include "larc/Dialect/Larc/IR/Larc.h"

#include "mlir/IR/IRMapping.h"

namespace larc {

using Axes = llvm::ArrayRef<mlir::StringAttr>;

/// Whether `value` has any of `axes`.
bool hasAnyAxis(mlir::Value value, Axes axes);

/// Builds larc operations at one place. A null value stands for what is
/// neutral: 1 in products, 0 in sums; nothing is built for it.
class ArrayBuilder {
public:
  ArrayBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  mlir::Value constant(double value);
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value div(mlir::Value lhs, mlir::Value rhs);
  /// `value` with at least `axes`.
  mlir::Value broadcast(mlir::Value value, Axes axes);
  /// The sum over `axes` of `lhs` times `rhs`, either of which may be null.
  mlir::Value contract(mlir::Value lhs, mlir::Value rhs, Axes axes);

  /// A copy of `op` with the operands that `mapping` gives, and with the result
  /// types that follow from them.
  mlir::Operation *clone(mlir::Operation *op, mlir::IRMapping &mapping);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace larc

#endif // LARC_LIB_CONVERSION_DERIVECHUNK_ARRAYBUILDER_H
