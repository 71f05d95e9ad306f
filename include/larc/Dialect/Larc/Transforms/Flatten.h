//===- Flatten.h - From a spec to a flat, bound recurrence -*- C++ -*- ----===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A spec becomes something that runs in two steps: attribute values make it
// flat (variants chosen, levels expanded, families split into members), and the
// sizes of its axes bind it. Between the two, its declarations name every
// tensor of the interface, so that sizes can be read off the tensors' shapes.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_DIALECT_LARC_TRANSFORMS_FLATTEN_H
#define LARC_DIALECT_LARC_TRANSFORMS_FLATTEN_H

#include "larc/Dialect/Larc/IR/Larc.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <utility>

namespace larc {

/// Attribute values as text, by name: `{"link", "softmax"}`, `{"intervals",
/// "1,2,4"}`.
using AttributeValues = llvm::ArrayRef<std::pair<std::string, std::string>>;
/// Sizes of axes, by name.
using AxisSizes = llvm::ArrayRef<std::pair<std::string, int64_t>>;

/// The value of the attribute `decl` that `text` spells. The error says what is
/// wrong: not a number, no such choice, the entry of a schedule that does not
/// increase from 1.
llvm::Expected<mlir::Attribute> parseAttributeValue(AttributeDeclAttr decl,
                                                    llvm::StringRef text);

/// Sets attributes to `values` and resolves every `larc.choose`, every
/// reference to an integer attribute and, where the period is 1, every
/// `larc.anchor`. Errors are emitted at `op` (an unknown attribute or a bad
/// value).
mlir::LogicalResult specialize(RecurrenceOp op, AttributeValues values);

/// Unrolls `larc.levels` and replaces families by their members, named `S0`,
/// `S1`, …; member `l` of a family with axis `n` sized by level has the axis
/// `n<l>`. The schedule's axis is bound to its length.
mlir::LogicalResult expandLevels(RecurrenceOp op);

/// Binds axes to sizes and replaces the real attributes by constants where they
/// are known. An axis that `larc.rename` makes gets the size of the one it
/// renames. With `complete`, an axis without a size is an error, and so are two
/// names of one size with two sizes.
mlir::LogicalResult bindDims(RecurrenceOp op, AxisSizes sizes,
                             bool complete = true);

/// A copy of `spec`, alone in a module, specialised and expanded and
/// canonicalised. Arguments that the chosen variants do not use have no uses.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
flatten(RecurrenceOp spec, AttributeValues values);

/// The one recurrence of a module that `flatten` made.
RecurrenceOp getRecurrence(mlir::ModuleOp module);

} // namespace larc

#endif // LARC_DIALECT_LARC_TRANSFORMS_FLATTEN_H
