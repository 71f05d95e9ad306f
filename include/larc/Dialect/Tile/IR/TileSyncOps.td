//===- TileSyncOps.td - Where warps of a tile program meet -*- tablegen -*- ===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_DIALECT_TILE_IR_TILESYNCOPS_TD
#define LARC_DIALECT_TILE_IR_TILESYNCOPS_TD

include "larc/Dialect/Tile/IR/TileOpBase.td"

def Tile_BarrierOp : Tile_SyncOp<"barrier"> {
  let summary = "waits for the other warps";
  let description = [{
    No warp goes on before all have come, and what was written to memory before is seen after it. Given
    an `id` (1 to 15, the block's own barrier being 0) and a number of warps, only so many meet; an id may
    depend on the warp.

    Example:

    ```mlir
    tile.barrier
    tile.barrier id %id warps 4
    ```
  }];
  let arguments = (ins Optional<Index>:$id, OptionalAttr<I64Attr>:$warps);
  let assemblyFormat = "(`id` $id^ `warps` $warps)? attr-dict";
  let hasVerifier = 1;
}

def Tile_ArriveOp : Tile_SyncOp<"arrive"> {
  let summary = "comes to a barrier without waiting there";
  let description = [{
    The warp counts among those that a `tile.barrier` of the same id and number of warps waits for: what it wrote
    before is seen by those that waited.

    Example:

    ```mlir
    tile.arrive id %id warps 16
    ```
  }];
  let arguments = (ins Index:$id, I64Attr:$warps);
  let assemblyFormat = "`id` $id `warps` $warps attr-dict";
  let hasVerifier = 1;
}

def Tile_AllocPhasesOp : Tile_Op<"alloc_phases", [
    MemoryEffects<[MemAlloc]>, HasParent<"ProgramOp">]> {
  let summary = "barriers in the block's shared memory";
  let description = [{
    All warps have the same barriers. They are ready, in phase 0, when the program starts.

    Example:

    ```mlir
    %full = tile.alloc_phases : !tile.phases<6 x 8, copies>
    ```
  }];
  let results = (outs Tile_PhasesType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Tile_PhaseArriveOp : Tile_SyncOp<"phase_arrive"> {
  let summary = "counts the warp in at a barrier's phase";
  let description = [{
    The warp does not wait. What it wrote before is seen by those that wait for the phase. Where the type says `copies`,
    the warp counts once all asynchronous copies that it has started have landed, and it is these that are seen: not what
    it stored itself.

    Example:

    ```mlir
    tile.phase_arrive %empty[%stage] : !tile.phases<6 x 8>
    ```
  }];
  let arguments = (ins Tile_PhasesType:$phases, Index:$stage);
  let assemblyFormat = "$phases `[` $stage `]` attr-dict `:` type($phases)";
}

def Tile_PhaseWaitOp : Tile_SyncOp<"phase_wait"> {
  let summary = "waits for the end of a barrier's phase";
  let description = [{
    `parity` is that of the phase's number, 0 or 1. The warp goes on if the barrier is in a phase of the other parity: the
    phase before has ended. A new barrier, being in phase 0, does not keep one that waits for parity 1.

    Example:

    ```mlir
    tile.phase_wait %full[%stage] parity %parity : !tile.phases<6 x 8>
    ```
  }];
  let arguments = (ins Tile_PhasesType:$phases, Index:$stage, Index:$parity);
  let assemblyFormat = [{
    $phases `[` $stage `]` `parity` $parity attr-dict `:` type($phases)
  }];
}

def Tile_SyncWarpOp : Tile_SyncOp<"sync_warp"> {
  let summary = "orders what the warp's lanes do in shared memory";
  let description = [{
    Between a `tile.store` to shared memory and a `tile.load` of the same warp that reads in one lane what another wrote
    stands this operation, or a barrier.

    Example:

    ```mlir
    tile.sync_warp
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_FenceAsyncOp : Tile_SyncOp<"fence_async"> {
  let summary = "orders the lane's writes to shared memory before what the matrix and copy units do";
  let description = [{
    Between a `tile.store` to shared memory and a `tile.wgmma` that reads it, or a `tile.copy_bulk` that writes there, stand this
    operation, by the warp that wrote, and then a barrier.

    Example:

    ```mlir
    tile.fence_async
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_VoteOp : Tile_SyncOp<"vote"> {
  let summary = "asks whether a predicate holds everywhere in the block";
  let description = [{
    Whether all elements (`all`), or any of them, of all the block's warps are true. It is a barrier of the
    block too. Given an `id` and a number of warps, so many are asked.

    Example:

    ```mlir
    %safe = tile.vote all %bounded : !tile.reg<1x16xi1, cols acc>
    ```
  }];
  let arguments = (ins Tile_VoteKind:$kind, Tile_RegType:$predicate,
                       Optional<Index>:$id, OptionalAttr<I64Attr>:$warps);
  let results = (outs I1:$result);
  let assemblyFormat = [{
    $kind $predicate (`id` $id^ `warps` $warps)? attr-dict `:` type($predicate)
  }];
  let hasVerifier = 1;
}

#endif // LARC_DIALECT_TILE_IR_TILESYNCOPS_TD
