//===- ChunkDialect.td - The chunk dialect -*- tablegen -*- ---------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_DIALECT_CHUNK_IR_CHUNKDIALECT_TD
#define LARC_DIALECT_CHUNK_IR_CHUNKDIALECT_TD

include "mlir/IR/OpBase.td"

def Chunk_Dialect : Dialect {
  let name = "chunk";
  let cppNamespace = "::larc::chunk";
  let summary = "One chunk of tokens of a linear-attention recurrence";
  let description = [{
    The `chunk` dialect says what happens to the states of a recurrence during a
    *chunk*: up to C consecutive tokens at once. Its values are the `larc`
    dialect's arrays, real numbers over named axes; what a token of the chunk has
    of its own is an array with a token axis. Elementwise operations, contractions
    and reductions are those of the `larc` dialect, which need not know that an
    axis counts tokens. The operations here are those that do: what is summed,
    multiplied or solved *in the order of tokens*.

    A `chunk.scan` holds the program of one chunk; the loop over chunks, with the
    states carried from one to the next, is its meaning. All sizes are bound, so
    every array is static; how many of a chunk's tokens exist (the last chunk of a
    sequence may be shorter) is known to the scan alone, and no operation reads
    rows of tokens that do not exist.
  }];
  let dependentDialects = ["::larc::LarcDialect"];
  let useDefaultAttributePrinterParser = 1;
}

#endif // LARC_DIALECT_CHUNK_IR_CHUNKDIALECT_TD
