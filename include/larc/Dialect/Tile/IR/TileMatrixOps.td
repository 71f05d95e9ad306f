//===- TileMatrixOps.td - Matrix products of the tile dialect -*- tablegen -*- ===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_DIALECT_TILE_IR_TILEMATRIXOPS_TD
#define LARC_DIALECT_TILE_IR_TILEMATRIXOPS_TD

include "larc/Dialect/Tile/IR/TileOpBase.td"

def Tile_MmaOp : Tile_Op<"mma", [Pure, AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "a warp's matrix product";
  let description = [{
    The accumulator plus the product of `lhs` [M, K] and `rhs` [K, N]. Products of bf16 and f16 are exact and summed
    in float32; float32 operands are read as tf32, with 10 bits of fraction.

    Example:

    ```mlir
    %d = tile.mma %a, %b, %c : !tile.reg<16x16xbf16, lhs>, !tile.reg<16x8xbf16, rhs>, !tile.reg<16x8xf32, acc>
    ```
  }];
  let arguments = (ins Tile_RegType:$lhs, Tile_RegType:$rhs, Tile_RegType:$accumulator);
  let results = (outs Tile_RegType:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $accumulator attr-dict
    `:` type($lhs) `,` type($rhs) `,` type($accumulator)
  }];
  let hasVerifier = 1;
}

def Tile_MmaRowsOp : Tile_Op<"mma_rows", [Pure, AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "a warp's product of rows with rows, all in accumulators";
  let description = [{
    The accumulator [M, N] plus the product of `lhs` [M, K] and the transpose of `rhs` [N, K]: element (i, j) gains the sum over
    c of lhs[i, c] * rhs[j, c]. All three are float32 in the layout of accumulators, so that nothing is moved between lanes. Both operands are read as
    tf32, as `tile.mma` reads them.

    Example:

    ```mlir
    %d = tile.mma_rows %a, %b, %c : !tile.reg<16x8xf32, acc>, !tile.reg<32x8xf32, acc>, !tile.reg<16x32xf32, acc>
    ```
  }];
  let arguments = (ins Tile_RegType:$lhs, Tile_RegType:$rhs, Tile_RegType:$accumulator);
  let results = (outs Tile_RegType:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $accumulator attr-dict
    `:` type($lhs) `,` type($rhs) `,` type($accumulator)
  }];
  let hasVerifier = 1;
}

def Tile_WgmmaOp : Tile_SyncOp<"wgmma", [
    AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let summary = "starts a matrix product of four warps";
  let description = [{
    Warps 4n to 4n + 3 together add the product of a left operand of 64 rows and a right operand in
    shared memory to their accumulators: each warp has 16 rows of the accumulators and, where the left operand is
    in registers, of that. In shared memory the left operand starts at row and column given, has 64 rows and
    `depth` columns. The right operand [depth, N] starts where given too; `transposed` says that what lies in
    shared memory is its transpose, [N, depth].

    The product runs until `tile.wgmma_wait`. Registers that it reads or
    writes are not touched before; that is why the accumulators are of another type.

    Example:

    ```mlir
    tile.wgmma_fence
    %f = tile.wgmma %c, %a, %b[%row, %col] transposed
        : !tile.reg<16x32xf32, acc>, !tile.reg<16x128xbf16, lhs>, !tile.shared<32x128xbf16, swizzle = 128>
    tile.wgmma_commit
    %d = tile.wgmma_wait %f pending 0 : !tile.flight<16x32xf32, acc>
    ```
  }];
  let arguments = (ins Tile_InFlight:$accumulator,
                       AnyTypeOf<[Tile_RegType, Tile_SharedType]>:$lhs,
                       Optional<Index>:$lhsRow, Optional<Index>:$lhsCol,
                       Tile_SharedType:$rhs, Index:$row, Index:$col,
                       OptionalAttr<I64Attr>:$depth, UnitAttr:$transposed);
  let results = (outs Tile_FlightType:$result);
  let assemblyFormat = [{
    $accumulator `,` $lhs (`[` $lhsRow^ `,` $lhsCol `]` `depth` $depth)? `,` $rhs `[` $row `,` $col `]`
    (`transposed` $transposed^)? attr-dict
    `:` type($accumulator) `,` type($lhs) `,` type($rhs)
  }];
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$accumulator, "::mlir::Value":$lhs,
                                 "::mlir::Value":$rhs, "::mlir::Value":$row, "::mlir::Value":$col,
                                 "bool":$transposed)>];
  let extraClassDeclaration = [{
    /// The accumulators' tile, in flight or not.
    RegType getTile();
    /// The number of products that are summed.
    int64_t getContraction();
  }];
}

def Tile_WgmmaFenceOp : Tile_SyncOp<"wgmma_fence"> {
  let summary = "makes registers ready for the matrix unit";
  let description = [{
    Stands before the first `tile.wgmma` of a group, once its accumulators and left operands are written.

    Example:

    ```mlir
    tile.wgmma_fence
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_WgmmaCommitOp : Tile_SyncOp<"wgmma_commit"> {
  let summary = "ends a group of matrix products";
  let description = [{
    Example:

    ```mlir
    tile.wgmma_commit
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_WgmmaWaitOp : Tile_SyncOp<"wgmma_wait", [InferTypeOpAdaptor]> {
  let summary = "waits for groups of matrix products and gives their accumulators back";
  let description = [{
    Waits until at most `pending` groups run. The tiles must belong to groups that have ended.

    Example:

    ```mlir
    %o = tile.wgmma_wait %f pending 1 : !tile.flight<16x32xf32, acc>
    ```
  }];
  let arguments = (ins Variadic<Tile_FlightType>:$tiles,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$pending);
  let results = (outs Variadic<Tile_RegType>:$results);
  let assemblyFormat = "($tiles^)? `pending` $pending attr-dict (`:` type($tiles)^)?";
}

#endif // LARC_DIALECT_TILE_IR_TILEMATRIXOPS_TD
