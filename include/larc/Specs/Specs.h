//===- Specs.h - Built-in and user specs -*- C++ -*- ----------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_SPECS_SPECS_H
#define LARC_SPECS_SPECS_H

#include "larc/Dialect/Larc/IR/Larc.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"

namespace larc {

/// A spec of lib/Specs, embedded.
struct BuiltinSpec {
  llvm::StringRef name;   ///< the recurrence's symbol
  llvm::StringRef source; ///< the file it is in, as MLIR text
  llvm::StringRef file;   ///< that file's name, for locations
};

/// All built-in specs, sorted by name.
llvm::ArrayRef<BuiltinSpec> getBuiltinSpecs();

/// A parsed spec: a module and the recurrence meant.
struct LoadedSpec {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  RecurrenceOp recurrence;
};

/// Loads `name`: a built-in name, else a path `FILE.mlir`, or `FILE.mlir:NAME`
/// where the file has several recurrences. An unknown built-in name is a usage
/// fault with the closest names; a file that cannot be read, that has no or
/// several recurrences and none named is a fault. Syntax and verification
/// errors go to the context's diagnostic handler, and the error returned then
/// has no text to add.
llvm::Expected<LoadedSpec> loadSpec(mlir::MLIRContext &context,
                                    llvm::StringRef name);

} // namespace larc

#endif // LARC_SPECS_SPECS_H
