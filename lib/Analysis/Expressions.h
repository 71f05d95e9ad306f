//===- Expressions.h - Values of a step as text -*- C++ -*- ---------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_ANALYSIS_EXPRESSIONS_H
#define LARC_LIB_ANALYSIS_EXPRESSIONS_H

#include "larc/Analysis/Transitions.h"

namespace larc {

/// The name that the spec gives `value`: that of its declaration, or of the
/// line that defines it. Empty where it has none.
llvm::StringRef getSourceName(mlir::Value value);

/// `value` by its name, or as its operation on the names of its operands.
std::string describeValue(mlir::Value value);
std::string describeProduct(const Product &product);
std::string describeSum(const Sum &sum);

} // namespace larc

#endif // LARC_LIB_ANALYSIS_EXPRESSIONS_H
