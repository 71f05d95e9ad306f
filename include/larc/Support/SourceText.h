//===- SourceText.h - Checking text before MLIR parses it ----- -*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_SUPPORT_SOURCETEXT_H
#define LARC_SUPPORT_SOURCETEXT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace larc {

/// Refuses text that would exhaust the stack of MLIR's parser, which recurses
/// without a limit: brackets nested deeper than 128, and affine maps and sets,
/// whose expressions recurse with their length and which no spec uses. Also
/// refuses MLIR bytecode, whose reader is not made for untrusted files. To be
/// called before a file of a user is parsed; all other faults are the parser's.
///
/// Errors are faults of `path:LINE:COLUMN`.
llvm::Error checkSourceText(llvm::StringRef text, llvm::StringRef path);

} // namespace larc

#endif // LARC_SUPPORT_SOURCETEXT_H
