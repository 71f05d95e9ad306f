//===- FileOutput.h - Writing files whole or not at all ------- -*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_SUPPORT_FILEOUTPUT_H
#define LARC_SUPPORT_FILEOUTPUT_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace larc {

/// Writes what `write` produces to `path`, whole or not at all: it goes to a
/// temporary file in the same folder, which takes the name `path` at the end
/// and disappears if `write` fails, the disk is full, or a signal ends the
/// process. A symbolic link is followed, and an existing file keeps its
/// permissions; a new one gets those of `mode` that the process's mask leaves.
///
/// `-` is the standard output. That, existing files that are not regular
/// (`/dev/null`, a pipe), and `/dev/stdout` and its like, wherever they lead,
/// are written straight. Errors are faults of the file `path`.
llvm::Error
writeFileAtomically(llvm::StringRef path,
                    llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write,
                    unsigned mode = 0666);

} // namespace larc

#endif // LARC_SUPPORT_FILEOUTPUT_H
