//===- Error.cpp - Errors for users ---------------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Support/Error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace larc;

char Fault::ID = 0;

void Fault::log(llvm::raw_ostream &os) const {
  if (!file.empty())
    os << file << ": ";
  os << message;
}

std::error_code Fault::convertToErrorCode() const {
  return llvm::inconvertibleErrorCode();
}

llvm::Error larc::makeFault(const llvm::Twine &message,
                            std::vector<std::string> notes) {
  return llvm::make_error<Fault>(FaultKind::Content, "", message.str(),
                                 std::move(notes));
}

llvm::Error larc::makeFileFault(llvm::StringRef file,
                                const llvm::Twine &message,
                                std::vector<std::string> notes) {
  return llvm::make_error<Fault>(FaultKind::Content, file.str(), message.str(),
                                 std::move(notes));
}

llvm::Error larc::makeUsageFault(const llvm::Twine &message,
                                 std::vector<std::string> notes) {
  return llvm::make_error<Fault>(FaultKind::Usage, "", message.str(),
                                 std::move(notes));
}

llvm::Error larc::addFile(llvm::Error error, llvm::StringRef file) {
  llvm::Error result = llvm::Error::success();
  auto add = [&](llvm::Error next) {
    result = llvm::joinErrors(std::move(result), std::move(next));
  };
  llvm::handleAllErrors(
      std::move(error),
      [&](std::unique_ptr<Fault> fault) {
        if (!fault->getFile().empty())
          return add(llvm::Error(std::move(fault)));
        add(llvm::make_error<Fault>(fault->getKind(), file.str(),
                                    fault->getMessage().str(),
                                    fault->getNotes()));
      },
      [&](const llvm::ErrorInfoBase &other) {
        add(makeFileFault(file, other.message()));
      });
  return result;
}

std::string larc::renderError(llvm::Error error, int *exitCode) {
  std::string text;
  llvm::raw_string_ostream os(text);
  int code = 1;
  bool any = false, failed = false;
  auto startLine = [&](llvm::StringRef file) -> llvm::raw_ostream & {
    if (any)
      os << '\n';
    any = true;
    if (!file.empty())
      os << file << ": ";
    return os << "error: ";
  };
  llvm::handleAllErrors(
      std::move(error),
      [&](const Fault &fault) {
        failed = true;
        if (fault.getKind() == FaultKind::Usage)
          code = 2;
        if (fault.getMessage().empty())
          return; // Reported where it was found.
        startLine(fault.getFile()) << fault.getMessage();
        for (const std::string &note : fault.getNotes())
          os << "\nnote: " << note;
      },
      [&](const llvm::ErrorInfoBase &other) {
        failed = true;
        startLine("") << other.message();
      });
  if (failed && exitCode)
    *exitCode = code;
  return text;
}

std::string larc::quoteName(llvm::StringRef name) {
  constexpr size_t limit = 80;
  std::string text = "'";
  // Cutting may split a UTF-8 sequence; fixUTF8 replaces what is broken.
  for (char c : llvm::json::fixUTF8(name.take_front(limit))) {
    unsigned char byte = c;
    if (byte < 0x20 || byte == 0x7f) {
      text += "\\x";
      text += llvm::toHex(llvm::StringRef(&c, 1), /*LowerCase=*/true);
      continue;
    }
    text += c;
  }
  if (name.size() > limit)
    text += "...";
  return text + "'";
}
