//===- larc-spec-fuzzer.cpp - Fuzzer --------------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuzzTargets.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

using llvm::StringRef;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  larc::fuzzSpec({reinterpret_cast<const char *>(data), size});
  return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

/// Splits text into words, numbers and single other characters, each with the
/// white space before it.
static std::vector<StringRef> splitTokens(StringRef text) {
  auto isWordLetter = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  std::vector<StringRef> tokens;
  size_t pos = 0;
  while (pos < text.size()) {
    size_t begin = pos;
    while (pos < text.size() && llvm::isSpace(text[pos]))
      ++pos;
    size_t word = pos;
    while (pos < text.size() && isWordLetter(text[pos]))
      ++pos;
    if (pos == word && pos < text.size())
      ++pos;
    tokens.push_back(text.slice(begin, pos));
  }
  return tokens;
}

/// Copies, moves or removes pieces: a token, or a line if `lines` is set.
static std::string mutatePieces(StringRef text, bool lines,
                                std::minstd_rand &random) {
  std::vector<StringRef> pieces;
  if (lines) {
    llvm::SmallVector<StringRef> split;
    text.split(split, '\n');
    pieces.assign(split.begin(), split.end());
  } else {
    pieces = splitTokens(text);
  }
  for (unsigned count = 1 + random() % 3; count && !pieces.empty(); --count) {
    size_t first = random() % pieces.size(), second = random() % pieces.size();
    switch (random() % 4) {
    case 0:
      pieces[first] = pieces[second];
      break;
    case 1:
      pieces.insert(pieces.begin() + first, pieces[second]);
      break;
    case 2:
      pieces.erase(pieces.begin() + first);
      break;
    case 3:
      std::swap(pieces[first], pieces[second]);
      break;
    }
  }
  std::string result;
  for (StringRef piece : pieces)
    result += piece.str() + (lines ? "\n" : "");
  return result;
}

/// Changes of single bytes rarely give text that parses, so three times in four
/// whole tokens or lines change.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  std::minstd_rand random(seed);
  unsigned choice = random() % 4;
  if (size == 0 || choice == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::string result =
      mutatePieces(StringRef(reinterpret_cast<char *>(data), size),
                   /*lines=*/choice == 1, random);
  size_t newSize = std::min(result.size(), maxSize);
  std::memcpy(data, result.data(), newSize);
  return newSize;
}
