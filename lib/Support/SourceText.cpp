//===- SourceText.cpp - Checking text before MLIR parses it ---------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Support/SourceText.h"

#include "larc/Support/Error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace larc;
using llvm::StringRef;
using llvm::Twine;

static constexpr unsigned maxNesting = 128;

static llvm::Error makePlacedFault(StringRef text, size_t pos, StringRef path,
                                   const Twine &message) {
  StringRef before = text.take_front(pos);
  size_t line = before.count('\n') + 1;
  // rfind gives npos in the first line, and npos + 1 is 0.
  size_t column = pos - (before.rfind('\n') + 1) + 1;
  return makeFileFault((path + ":" + Twine(line) + ":" + Twine(column)).str(),
                       message);
}

/// The position behind the string literal that starts at `pos`; like the lexer,
/// ends an unterminated one at the end of the line.
static size_t skipString(StringRef text, size_t pos) {
  for (++pos; pos < text.size(); ++pos) {
    if (text[pos] == '"')
      return pos + 1;
    if (text[pos] == '\n')
      return pos;
    if (text[pos] == '\\')
      ++pos;
  }
  return text.size();
}

llvm::Error larc::checkSourceText(StringRef text, StringRef path) {
  if (text.starts_with("ML\xefR"))
    return makeFileFault(path, "expected MLIR text, found MLIR bytecode");
  unsigned depth = 0;
  size_t pos = 0;
  while (pos < text.size()) {
    char c = text[pos];
    if (c == '"') {
      pos = skipString(text, pos);
      continue;
    }
    StringRef rest = text.substr(pos);
    if (rest.starts_with("//")) {
      pos = std::min(text.find('\n', pos), text.size());
      continue;
    }
    if (rest.starts_with("->")) {
      pos += 2;
      continue;
    }
    if (StringRef("([{<").contains(c)) {
      if (++depth > maxNesting)
        return makePlacedFault(text, pos, path,
                               "brackets nest deeper than " +
                                   Twine(maxNesting) + " levels");
    } else if (StringRef(")]}>").contains(c)) {
      depth -= depth > 0;
    } else if (llvm::isAlpha(c) || c == '_') {
      StringRef word = rest.take_while(
          [](char letter) { return llvm::isAlnum(letter) || letter == '_'; });
      if (word == "affine_map" || word == "affine_set")
        return makePlacedFault(text, pos, path,
                               word + " is not part of a spec");
      pos += word.size();
      continue;
    }
    ++pos;
  }
  return llvm::Error::success();
}
