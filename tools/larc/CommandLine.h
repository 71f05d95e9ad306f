//===- CommandLine.h - Checking the argument list ---------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TOOLS_LARC_COMMANDLINE_H
#define LARC_TOOLS_LARC_COMMANDLINE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace larc::driver {

/// Checks `arguments` (without the program's name) against the commands and
/// options registered with llvm::cl: unknown ones, missing and superfluous
/// values, options given twice. What passes is parsed by llvm::cl without
/// errors. Errors are usage faults that name the closest command or option.
llvm::Error checkCommandLine(llvm::ArrayRef<const char *> arguments);

/// The fault for something that the interface names but this version does not
/// have, such as a form for a target; `remedy` says what it has instead.
llvm::Error makeLaterFault(const llvm::Twine &what,
                           const llvm::Twine &remedy = "");

/// The fault for `value`, which `what` (an option or an attribute) does not
/// take, with the closest of those that it takes.
llvm::Error makeValueFault(llvm::StringRef what, llvm::StringRef value,
                           llvm::ArrayRef<llvm::StringRef> known);

/// `, did you mean 'name'?` if a candidate is close to `name`, else nothing.
std::string didYouMean(llvm::StringRef name,
                       llvm::ArrayRef<llvm::StringRef> candidates,
                       llvm::StringRef prefix = "");

} // namespace larc::driver

#endif // LARC_TOOLS_LARC_COMMANDLINE_H
