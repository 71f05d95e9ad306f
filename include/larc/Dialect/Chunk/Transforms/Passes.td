//===- Passes.td - Passes on the chunk dialect -*- tablegen -*- -----------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_DIALECT_CHUNK_TRANSFORMS_PASSES_TD
#define LARC_DIALECT_CHUNK_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def SplitBlocks : Pass<"chunk-split-blocks", "::larc::chunk::ScanOp"> {
  let summary = "divides a chunk's pairs of tokens into blocks";
  let description = [{
    Secondary chunking. Operations over more than `block` tokens that go pair by pair or
    token by token are divided by halves down to blocks of at most that many:

    - `chunk.scores` with a decay along a summed axis, where no matrix product gives all pairs;
    - `chunk.mix` with a decay along an axis of the values;
    - every `chunk.solve`.

    Between two halves there are only pairs of a reader in the later and a writer in the
    earlier one, and the decay between them is a product of two: from the boundary to
    the reader (an exclusive running product over the later half) and from the writer to the
    boundary (backward, over the earlier one). Both are products of exactly the gates
    between. With each side scaled by its own, all these pairs are one matrix product. What is left
    are blocks on the diagonal, which keep the operation.

    In a solve, the earlier half's writes are known before the later half begins; what
    it reads of them is one matrix product, which its region adds to the past.

    A half that has tokens beyond the chunk's end is never read by tokens that exist: an existing reader in
    the later half means that the earlier one is full.

    Scores and mixes with no decay or with one number a token stay: they are matrix products, masked
    or multiplied pair by pair.

    With `block=2`

    ```mlir
    %A = chunk.scores %q, %k over K token to source decay(%a)
    ```

    over 4 tokens becomes

    ```mlir
    %q0 = chunk.rows %q token to token_0
    ...
    %A00 = chunk.scores %q0, %k0 over K token_0 to source_0 decay(%a0)
    %A11 = chunk.scores %q2, %k2 over K token_2 to source_2 decay(%a2)
    %p = chunk.cumulate product %a2 over token_2 exclusive
    %reader = larc.mul %q2, %p
    %s = chunk.cumulate product %a0 over token_0 backward exclusive
    %scaled = larc.mul %k0, %s
    %writer = larc.rename %scaled token_0 to source_0
    %A10 = larc.contract %reader, %writer over K
    %r0 = chunk.stack %A00 from [source_0] to source
    %r1 = chunk.stack %A10, %A11 from [source_0, source_2] to source
    %A = chunk.stack %r0, %r1 from [token_0, token_2] to token
    ```
  }];
  let options = [Option<"block", "block", "int64_t", "16", "the most tokens of a block">];
  let statistics = [Statistic<"numSplit", "split", "operations divided into blocks">];
  let dependentDialects = ["::larc::LarcDialect", "::larc::chunk::ChunkDialect"];
}

#endif // LARC_DIALECT_CHUNK_TRANSFORMS_PASSES_TD
