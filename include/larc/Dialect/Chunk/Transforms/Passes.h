//===- Passes.h - Passes on the chunk dialect -*- C++ -*-
//------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_DIALECT_CHUNK_TRANSFORMS_PASSES_H
#define LARC_DIALECT_CHUNK_TRANSFORMS_PASSES_H

#include "larc/Dialect/Chunk/IR/Chunk.h"

#include "mlir/Pass/Pass.h"

namespace larc::chunk {

#define GEN_PASS_DECL
#include "larc/Dialect/Chunk/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "larc/Dialect/Chunk/Transforms/Passes.h.inc"

} // namespace larc::chunk

#endif // LARC_DIALECT_CHUNK_TRANSFORMS_PASSES_H
