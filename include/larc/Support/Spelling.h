//===- Spelling.h - The name that was meant ------------------- -*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_SUPPORT_SPELLING_H
#define LARC_SUPPORT_SPELLING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace larc {

/// The candidate closest to `name`: equal but for case, or else of the smallest
/// edit distance, the first of several. Empty if there are no candidates, or if
/// all are farther than `maxDistance` edits (0: no limit).
std::string closestName(llvm::StringRef name,
                        llvm::ArrayRef<llvm::StringRef> candidates,
                        unsigned maxDistance = 0);

} // namespace larc

#endif // LARC_SUPPORT_SPELLING_H
