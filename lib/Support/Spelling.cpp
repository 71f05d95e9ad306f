//===- Spelling.cpp - The name that was meant -----------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Support/Spelling.h"

#include <algorithm>
#include <climits>

using namespace larc;

std::string larc::closestName(llvm::StringRef name,
                              llvm::ArrayRef<llvm::StringRef> candidates,
                              unsigned maxDistance) {
  // Distances take quadratic time, and nobody means such a name.
  name = name.take_front(256);
  llvm::StringRef best;
  // As many edits as the name has letters make any name of it.
  unsigned bestDistance = UINT_MAX;
  if (maxDistance)
    bestDistance = std::min<unsigned>(maxDistance + 1, name.size());
  for (llvm::StringRef candidate : candidates) {
    if (name.equals_insensitive(candidate))
      return candidate.str();
    unsigned distance = name.edit_distance(candidate);
    if (distance < bestDistance) {
      bestDistance = distance;
      best = candidate;
    }
  }
  return best.str();
}
