//===- OwnWrites.h - What a token reads of its own write -*- C++ -*- ------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_CONVERSION_DERIVECHUNK_OWNWRITES_H
#define LARC_LIB_CONVERSION_DERIVECHUNK_OWNWRITES_H

#include "larc/Dialect/Chunk/IR/Chunk.h"

namespace larc {

/// Makes what is added to a mix, a weight for each token times the values that
/// are mixed, the diagonal of its scores:
///
///   add (mix A, v), (mul w, v)   ->   mix (A with w on its diagonal), v
///
/// A definition that reads the state before the write and adds a bonus for the
/// token itself, or lets values through beside the state, then costs no pass
/// over the values of its own.
void joinOwnWrites(chunk::ScanOp scan);

} // namespace larc

#endif // LARC_LIB_CONVERSION_DERIVECHUNK_OWNWRITES_H
