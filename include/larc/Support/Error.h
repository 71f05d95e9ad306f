//===- Error.h - Errors for users ----------------------------- -*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Library code reports what is wrong with a user's input as llvm::Error. A
// `Fault` carries what the driver needs to print it as `FILE: error: ...` with
// notes and to pick the exit code, so no library ever prints or exits.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_SUPPORT_ERROR_H
#define LARC_SUPPORT_ERROR_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace larc {

/// Whose mistake a fault is. The driver maps `Content` to exit code 1 and
/// `Usage` to exit code 2.
enum class FaultKind { Content, Usage };

/// One fault of the input: a one-line message (lower case, no full stop), the
/// file that it concerns (may be empty), and notes that give the reason or the
/// remedy.
class Fault : public llvm::ErrorInfo<Fault> {
public:
  static char ID;

  Fault(FaultKind kind, std::string file, std::string message,
        std::vector<std::string> notes = {})
      : kind(kind), file(std::move(file)), message(std::move(message)),
        notes(std::move(notes)) {}

  FaultKind getKind() const { return kind; }
  llvm::StringRef getFile() const { return file; }
  llvm::StringRef getMessage() const { return message; }
  const std::vector<std::string> &getNotes() const { return notes; }

  /// Prints `FILE: MESSAGE`, or `MESSAGE` without a file: what llvm::toString
  /// gives, to be quoted in another message. See `renderError` for the full
  /// form.
  void log(llvm::raw_ostream &os) const override;

  std::error_code convertToErrorCode() const override;

private:
  FaultKind kind;
  std::string file;
  std::string message;
  std::vector<std::string> notes;
};

/// A fault of the content of some input (exit code 1).
llvm::Error makeFault(const llvm::Twine &message,
                      std::vector<std::string> notes = {});

/// A fault of the content of a file, or a file that cannot be read or written
/// (exit code 1).
llvm::Error makeFileFault(llvm::StringRef file, const llvm::Twine &message,
                          std::vector<std::string> notes = {});

/// A fault of the command line (exit code 2).
llvm::Error makeUsageFault(const llvm::Twine &message,
                           std::vector<std::string> notes = {});

/// Gives `error`, if it is one, the file that it concerns: faults that name no
/// file yet keep their kind and notes; foreign errors become content faults.
llvm::Error addFile(llvm::Error error, llvm::StringRef file);

/// Consumes `error` and returns the text to print: one or more lines, each
/// starting with `error:` or `FILE: error:` or `note:`, without a final
/// newline. A fault without a message was reported where it was found and adds
/// no text. `exitCode`, if given, becomes 2 if any fault is of the command
/// line, else 1; it is left alone if `error` is success.
std::string renderError(llvm::Error error, int *exitCode = nullptr);

/// `name` in single quotes, with control characters escaped and cut after 80
/// bytes, for messages that repeat text from untrusted input.
std::string quoteName(llvm::StringRef name);

} // namespace larc

#endif // LARC_SUPPORT_ERROR_H
