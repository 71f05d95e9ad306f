//===- ChunkOps.td - Operations of the chunk dialect -*- tablegen -*- -----===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_DIALECT_CHUNK_IR_CHUNKOPS_TD
#define LARC_DIALECT_CHUNK_IR_CHUNKOPS_TD

include "larc/Dialect/Chunk/IR/ChunkAttributes.td"
include "larc/Dialect/Chunk/IR/ChunkDialect.td"
include "larc/Dialect/Larc/IR/LarcTypes.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// As in the larc dialect, types are not written.
class Chunk_Op<string mnemonic, list<Trait> traits = []>
    : Op<Chunk_Dialect, mnemonic, traits> {
  let hasCustomAssemblyFormat = 1;
}

class Chunk_Axes<string text> : TypedArrayAttrBase<StrAttr, text>;

//===----------------------------------------------------------------------===//
// The scan
//===----------------------------------------------------------------------===//

def Chunk_ScanOp : Chunk_Op<"scan", [
    IsolatedFromAbove, SingleBlock,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "a recurrence's loop over chunks of tokens";
  let description = [{
    Computes the recurrence `definition` chunk by chunk. The region is the program of one
    chunk of at most `size` tokens. Its arguments are, in this order, the token operands
    with the axis `token` added, the constants, the states at the chunk's start, and for
    each state that the definition's `larc.anchor` reads, its value at the start of the
    running period. Its `chunk.yield` gives the states at the chunk's end and then the
    outputs, which have the token axis.

    `tokens` lists the axes that count tokens; the first is that of operands and outputs.
    `dims` are the sizes of the other axes. Behind every state is the class of its
    transition: what may be concluded about the map from the states at one token to
    those at the next.

    A chunk ends early at the end of a sequence and at the end of a period, where the
    definition has one. With `boundary`, the last token of a period is not part of any chunk: the
    definition's own step runs it. (It contains a `larc.fire`, which the region then need
    not know.)

    The region holds operations of this dialect and, of the larc dialect, elementwise operations,
    reductions, constants, renamings, slices and nests. What speaks of time or of variants
    (`larc.fire`, `larc.anchor`, `larc.fold`, `larc.choose`, levels) is resolved before.
    A single token cannot be sliced out, since it may not exist; tokens may be renamed to an axis over the
    same tokens.

    Example:

    ```mlir
    chunk.scan @decayed size 16
        tokens(token from 0 size 16, source from 0 size 16)
        dims(K = 64, V = 64)
        operands(%q[K], %k[K], %v[V], %g[K])
        states(%S[K, V]: diagonal) {
      %a = larc.exp %g
      ...
      chunk.yield %next, %o
    }
    ```
  }];
  let arguments = (ins
    FlatSymbolRefAttr:$definition,
    I64Attr:$size,
    TypedArrayAttrBase<Chunk_TokenAxisAttr, "token axes">:$tokens,
    DictionaryAttr:$dims,
    TypedArrayAttrBase<Chunk_TransitionClassAttr, "classes">:$transitions,
    I64Attr:$numOperands, I64Attr:$numConstants, I64Attr:$numStates,
    UnitAttr:$boundary);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block::BlockArgListType getOperandArguments();
    ::mlir::Block::BlockArgListType getConstantArguments();
    ::mlir::Block::BlockArgListType getStateArguments();
    ::mlir::Block::BlockArgListType getAnchorArguments();
    ::larc::chunk::YieldOp getYield();
    /// The axis of operands and outputs: the first of `tokens`.
    ::mlir::StringAttr getTokenAxis();
    /// What is declared of `axis`, or null where it does not count tokens.
    TokenAxisAttr lookupTokenAxis(::mlir::StringAttr axis);
    /// The size of any axis, or nothing where there is no such axis.
    std::optional<int64_t> getAxisSize(::mlir::StringAttr axis);
    /// The token axis over tokens [offset, offset + size) whose name begins with
    /// `base`, declared if there is none.
    ::mlir::StringAttr getOrAddTokenAxis(::llvm::StringRef base, int64_t offset,
                                         int64_t size);
  }];
}

def Chunk_YieldOp : Chunk_Op<"yield", [
    Pure, Terminator, ParentOneOf<["ScanOp", "SolveOp", "TokensOp"]>]> {
  let summary = "ends a region with its values";
  let description = [{
    In a scan: the new states, then the outputs. In the other regions: see there.

    Example:

    ```mlir
    chunk.yield %next, %o
    ```
  }];
  let arguments = (ins Variadic<Larc_ArrayType>:$values);
}

//===----------------------------------------------------------------------===//
// In the order of tokens
//===----------------------------------------------------------------------===//

def Chunk_CumulateOp : Chunk_Op<"cumulate", [Pure, InferTypeOpAdaptor]> {
  let summary = "running sums, products or maxima over tokens";
  let description = [{
    Element i along the token axis combines those of tokens 0 to i; with `exclusive`, to
    i - 1, starting from the neutral element. `backward` runs from the last token that
    exists: i to n - 1, exclusive i + 1 to n - 1.

    Example:

    ```mlir
    %before = chunk.cumulate product %a over token exclusive
    %after = chunk.cumulate product %a over token backward exclusive
    ```
  }];
  let arguments = (ins Larc_ArrayType:$operand, Chunk_CombineKindAttr:$kind, StrAttr:$token,
                       UnitAttr:$exclusive, UnitAttr:$backward);
  let results = (outs Larc_ArrayType:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Chunk_TotalOp : Chunk_Op<"total", [Pure, InferTypeOpAdaptor]> {
  let summary = "the sum, product or maximum over all tokens of the chunk";
  let description = [{
    Combines the tokens that exist; the result has no token axis.

    Example:

    ```mlir
    %decay = chunk.total product %a over token
    ```
  }];
  let arguments = (ins Larc_ArrayType:$operand, Chunk_CombineKindAttr:$kind, StrAttr:$token);
  let results = (outs Larc_ArrayType:$result);
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def Chunk_ScoresOp : Chunk_Op<"scores", [
    Pure, AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let summary = "what each token reads of what each earlier token wrote";
  let description = [{
    With i along `token` and j along `source`, the lower triangular array

        A[i, j] = sum over axes of  reader[i] (product of decays[l] over j < l < i) writer[j]     j < i
        A[i, i] = diagonal[i], or 0 without one
        A[i, j] = 0                                                                            j > i

    `reader`, `writer` and the decays have the token axis and any of the summed axes
    (a missing one means the same value along it); a reader may have further axes, which the
    result keeps. Decays are factors in [0, 1] where the definition's gates are not positive, so no intermediate product
    overflows; a product over no token is 1. The decay between two tokens is made from the
    gates between them alone, never from a quotient or difference (docs/numerics.md).

    Example:

    ```mlir
    %A = chunk.scores %q, %k over K token to source decay(%a) diagonal(%qk)
    ```
  }];
  let arguments = (ins Larc_ArrayType:$reader, Larc_ArrayType:$writer,
                       Variadic<Larc_ArrayType>:$decays, Optional<Larc_ArrayType>:$diagonal,
                       Chunk_Axes<"summed axes">:$axes, StrAttr:$token, StrAttr:$source);
  let results = (outs Larc_ArrayType:$result);
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def Chunk_MixOp : Chunk_Op<"mix", [
    Pure, AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let summary = "sums what tokens wrote, weighted by scores";
  let description = [{
        o[i] = init[i] + sum over j <= i of  scores[i, j] (product of decays[l] over j < l < i) values[j]

    `scores` has the axes `token` (i) and `source` (j); `values` and the decays have the axis `token` and
    others, which the scores do not have and the result keeps. Scores above the diagonal are not read.

    Example:

    ```mlir
    %o = chunk.mix %A, %v token to source decay(%a) init(%past)
    ```
  }];
  let arguments = (ins Larc_ArrayType:$scores, Larc_ArrayType:$values,
                       Variadic<Larc_ArrayType>:$decays, Optional<Larc_ArrayType>:$init,
                       StrAttr:$token, StrAttr:$source);
  let results = (outs Larc_ArrayType:$result);
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def Chunk_SolveOp : Chunk_Op<"solve", [
    AttrSizedOperandSegments, RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock]> {
  let summary = "values of tokens that depend on those of earlier tokens";
  let description = [{
    The unit lower triangular system of a state whose writes depend on reads of it. Token after
    token, for each read m

        past_m[i] = sum over writes w, j < i of  scores_mw[i, j] (product of decays[l] over j < l < i) write_w[j]

    and the region turns them into the token's writes. Its arguments are the past of every
    read and the token's slices of the arrays after `over`; it yields the `numWrites`
    writes and then any further values. Results have the token axis. Where the region is an
    affine function of the pasts this is the solution of a triangular linear system, and `affine`
    says so.

    `pairs` lists, two numbers for each of `scores`, its read m and write w; a read and a
    write without scores do not meet. The axes of past m, which are written behind its name, are
    those of the scores beside the tokens', of the writes it sums and of the decays, joined; so
    every read takes part in a pair.

    Values from outside without an axis of tokens may be used in the region.

    Example, the delta rule (`A` = scores of erase keys against keys):

    ```mlir
    %u = chunk.solve scores(%A [0, 0]) writes 1 token to source affine
        over(%b = %beta, %w = %wanted) past(%p[V]) {
      %error = larc.sub %w, %p
      %y = larc.mul %b, %error
      chunk.yield %y
    }
    ```
  }];
  let arguments = (ins Variadic<Larc_ArrayType>:$scores, Variadic<Larc_ArrayType>:$over,
                       Variadic<Larc_ArrayType>:$decays,
                       DenseI64ArrayAttr:$pairs, I64Attr:$numWrites, StrAttr:$token,
                       StrAttr:$source, UnitAttr:$affine);
  let results = (outs Variadic<Larc_ArrayType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The past of each read; the region's first arguments.
    ::mlir::Block::BlockArgListType getPastArguments();
    ::mlir::Block::BlockArgListType getSliceArguments();
    ::larc::chunk::YieldOp getYield();
  }];
}

def Chunk_UpdateOp : Chunk_Op<"update", [
    Pure, AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let summary = "the state at the chunk's end";
  let description = [{
        S' = (product of decays) S + sum over pairs and tokens i of  keys[i] values[i]

    Decays have no token axis: those of all tokens together. `keys` and `values` are
    paired in order and already carry the decay from their token to the chunk's end. The
    result has the axes of the state.

    Example:

    ```mlir
    %next = chunk.update %S over token decay(%total) keys(%kd) values(%v)
    ```
  }];
  let arguments = (ins Larc_ArrayType:$state, Variadic<Larc_ArrayType>:$decays,
                       Variadic<Larc_ArrayType>:$keys, Variadic<Larc_ArrayType>:$values,
                       StrAttr:$token);
  let results = (outs Larc_ArrayType:$result);
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def Chunk_TokensOp : Chunk_Op<"tokens", [
    AttrSizedOperandSegments, RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock]> {
  let summary = "a loop over the chunk's tokens";
  let description = [{
    Runs its region for each token in order. The arguments are the token's slices of the arrays
    after `over` and the carried values; the region yields the new carried values and then
    what the token has of its own. Results are the carried values after the last token
    and then, with a token axis, the others. It computes what no faster form exists for (sequential
    states), what is cheap this way on a processor without many cores (`semiring` says
    that the carried update is associative, so that a prefix scan can replace the loop), and reads that are not linear in
    a state (replay).

    Values from outside without an axis of tokens may be used in the region.

    Example:

    ```mlir
    %m_end, %m_old, %m_new = chunk.tokens token semiring over(%f = %fs, %i = %is) iter(%x = %m) {
      %decayed = larc.add %x, %f
      %next = larc.max %decayed, %i
      chunk.yield %next, %x, %next
    }
    ```
  }];
  let arguments = (ins Variadic<Larc_ArrayType>:$over, Variadic<Larc_ArrayType>:$inits,
                       StrAttr:$token, UnitAttr:$semiring);
  let results = (outs Variadic<Larc_ArrayType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block::BlockArgListType getSliceArguments();
    ::mlir::Block::BlockArgListType getCarriedArguments();
    ::larc::chunk::YieldOp getYield();
  }];
}

//===----------------------------------------------------------------------===//
// Parts of a chunk
//===----------------------------------------------------------------------===//

def Chunk_RowsOp : Chunk_Op<"rows", [Pure, InferTypeOpAdaptor]> {
  let summary = "the rows of some tokens";
  let description = [{
    The tokens of the axis `to`, which lie within those of `from`. The result has `to` in the
    place of `from`.

    Example:

    ```mlir
    %q1 = chunk.rows %q token to token_1
    ```
  }];
  let arguments = (ins Larc_ArrayType:$operand, StrAttr:$from, StrAttr:$to);
  let results = (outs Larc_ArrayType:$result);
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
  let hasFolder = 1;
}

def Chunk_StackOp : Chunk_Op<"stack", [Pure, InferTypeOpAdaptor]> {
  let summary = "puts the rows of some tokens together";
  let description = [{
    Each part has one of the axes `from`, in order, and is placed at that axis's tokens of `to`;
    tokens that no part covers are 0. Parts have the same other axes.

    Example:

    ```mlir
    %A = chunk.stack %A0, %A1 from [token_0, token_1] to token
    ```
  }];
  let arguments = (ins Variadic<Larc_ArrayType>:$parts, Chunk_Axes<"axes">:$from, StrAttr:$to);
  let results = (outs Larc_ArrayType:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // LARC_DIALECT_CHUNK_IR_CHUNKOPS_TD
