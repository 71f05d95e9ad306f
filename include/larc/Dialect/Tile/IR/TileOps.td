//===- TileOps.td - Operations of the tile dialect -*- tablegen -*- -------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_DIALECT_TILE_IR_TILEOPS_TD
#define LARC_DIALECT_TILE_IR_TILEOPS_TD

include "larc/Dialect/Tile/IR/TileOpBase.td"

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

def Tile_ProgramOp : Tile_Op<"program", [
    FunctionOpInterface, IsolatedFromAbove, OpAsmOpInterface]> {
  let summary = "what one thread block does";
  let description = [{
    A block of `warps` warps, all of which run the body. A grid has such a block for every
    sequence, every head and every one of `parts` parts into which the work of a head is cut
    (`tile.part` says which). `resident` blocks shall fit on one multiprocessor at a time, which bounds the
    registers of each. Arguments are what the block sees of the tensors; each has an attribute
    `tile.argument` that says what it is to the recurrence: an operand, a constant, an initial or a final
    state, or an output. A state may be read and written in place: its `initial` and its `final` argument may
    be the same memory. `scratch` is memory between programs, with rows of its own for each sequence and head.

    An operand with an attribute `tile.box_rows` has a *tensor map*, with which the machine's copy unit finds its elements by
    itself: boxes of so many rows and 128 bytes of columns, as `tile.copy_bulk` brings them. Its rows are multiples of 16
    bytes. A program has maps of at most 8 operands.

    A program that asks for `tile.segment` is *segmented*: the tokens of a sequence may be divided among several blocks,
    and the grid has as many of them as the launch says.

    Example:

    ```mlir
    tile.program @sum(%x: !tile.global<?x64xf32> {tile.argument = #tile.argument<operand>},
                      %o: !tile.global<?x64xf32> {tile.argument = #tile.argument<output>})
        warps 4 {
      ...
      tile.return
    }
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
    I64Attr:$warps, DefaultValuedAttr<I64Attr, "1">:$parts,
    DefaultValuedAttr<I64Attr, "1">:$resident,
    OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    ::mlir::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::mlir::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    /// What argument `index` is to the recurrence.
    ArgumentKind getArgumentKind(unsigned index);
    /// Whether the tokens of a sequence may be divided among blocks.
    bool isSegmented();
    /// The rows of the boxes in which argument `index` is copied; 0: it has no
    /// tensor map.
    int64_t getBoxRows(unsigned index);
    /// The arguments that have tensor maps.
    ::llvm::SmallVector<unsigned> getMappedArguments();
  }];
}

def Tile_RoleOp : Tile_Op<"role", [
    HasParent<"ProgramOp">, RecursiveMemoryEffects,
    SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "what some warps of the block do apart from the others";
  let description = [{
    Warps `first` to `first + warps - 1` run the region, the others pass it by. In it `tile.warp` counts from 0,
    asynchronous copies are divided among the role's warps, and barriers have ids. Warps of different roles run at the same
    time and meet at barriers by `tile.arrive` and `tile.barrier`.

    `registers` is how many registers each lane may have: roles with few leave theirs to those with many. It is
    asked of groups of four warps.

    Example:

    ```mlir
    tile.role first 8 warps 8 registers 168 {
      ...
    }
    ```
  }];
  let arguments = (ins I64Attr:$first, I64Attr:$warps, OptionalAttr<I64Attr>:$registers);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `first` $first `warps` $warps (`registers` $registers^)? $body attr-dict
  }];
  let hasVerifier = 1;
}

def Tile_ReturnOp : Tile_Op<"return", [Pure, Terminator, HasParent<"ProgramOp">]> {
  let summary = "ends a program";
  let description = [{
    Example:

    ```mlir
    tile.return
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_LengthOp : Tile_Op<"length", [Pure]> {
  let summary = "the number of tokens of the block's sequence";
  let description = [{
    Example:

    ```mlir
    %tokens = tile.length
    ```
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

def Tile_PositionOp : Tile_Op<"position", [Pure]> {
  let summary = "the number of tokens that the block's sequence had before these";
  let description = [{
    Where in a period the first token stands follows from it.

    Example:

    ```mlir
    %before = tile.position
    ```
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

def Tile_PartOp : Tile_Op<"part", [Pure]> {
  let summary = "which part of its head's work the block does";
  let description = [{
    Example:

    ```mlir
    %part = tile.part
    ```
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

def Tile_SegmentOp : Tile_Op<"segment", [Pure]> {
  let summary = "which segment of its sequence the block does";
  let description = [{
    Which tokens those are is for the program to say: `tile.length` is that of the whole sequence.

    Example:

    ```mlir
    %segment = tile.segment
    ```
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

def Tile_SegmentsOp : Tile_Op<"segments", [Pure]> {
  let summary = "the number of segments into which sequences are divided";
  let description = [{
    Example:

    ```mlir
    %segments = tile.segments
    ```
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

def Tile_WarpOp : Tile_Op<"warp", [Pure]> {
  let summary = "the number of the warp in its block";
  let description = [{
    Example:

    ```mlir
    %warp = tile.warp
    ```
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def Tile_AllocOp : Tile_Op<"alloc", [MemoryEffects<[MemAlloc]>]> {
  let summary = "a matrix in the block's shared memory";
  let description = [{
    All warps have the same matrix; what is in it at first is unknown. Its place is fixed
    when the program is compiled, so that it stands outside loops.

    Example:

    ```mlir
    %q = tile.alloc : !tile.shared<32x128xbf16, swizzle = 128, stages = 2>
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset);
  let results = (outs Tile_SharedType:$result);
  let assemblyFormat = "(`at` $offset^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_StageOp : Tile_Op<"stage", [Pure, InferTypeOpAdaptor]> {
  let summary = "one stage of a ring of shared matrices";
  let description = [{
    Example:

    ```mlir
    %now = tile.stage %q[%i] : !tile.shared<32x128xbf16, swizzle = 128, stages = 2>
    ```
  }];
  let arguments = (ins Tile_SharedType:$ring, Index:$index);
  let results = (outs Tile_SharedType:$result);
  let assemblyFormat = "$ring `[` $index `]` attr-dict `:` type($ring)";
}

def Tile_LoadOp : Tile_Op<"load", [MemoryEffects<[MemRead]>]> {
  let summary = "reads a register tile from memory";
  let description = [{
    Element (i, j) of the result is element (row + i, col + j) of the memory; with `transposed`
    it is element (row + j, col + i). With `below`, rows of the *memory* from that number on
    are not read; their elements are zero. Columns past the last are zero likewise.

    Example:

    ```mlir
    %a = tile.load %q[%row, %col] : !tile.shared<32x128xbf16, swizzle = 128> -> !tile.reg<16x16xbf16, lhs>
    %x = tile.load %g[%row, %col] below %tokens : !tile.global<?x128xbf16> -> !tile.reg<16x16xbf16, acc>
    ```
  }];
  let arguments = (ins Tile_Memory:$memory, Index:$row, Index:$col, Optional<Index>:$below,
                       UnitAttr:$transposed);
  let results = (outs Tile_RegType:$result);
  let assemblyFormat = [{
    $memory `[` $row `,` $col `]` (`transposed` $transposed^)? (`below` $below^)?
    attr-dict `:` type($memory) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes a register tile to memory";
  let description = [{
    The places are those of `tile.load`; what lies from row `below` on, and columns past the
    last, are left alone. Where several lanes hold an element, one of them writes it.

    Example:

    ```mlir
    tile.store %x, %o[%row, %col] below %tokens : !tile.reg<16x16xbf16, acc>, !tile.global<?x128xbf16>
    ```
  }];
  let arguments = (ins Tile_RegType:$value, Tile_Memory:$memory, Index:$row, Index:$col,
                       Optional<Index>:$below, UnitAttr:$transposed);
  let assemblyFormat = [{
    $value `,` $memory `[` $row `,` $col `]` (`transposed` $transposed^)? (`below` $below^)?
    attr-dict `:` type($value) `,` type($memory)
  }];
  let hasVerifier = 1;
}

def Tile_CopyAsyncOp : Tile_SyncOp<"copy_async"> {
  let summary = "starts copying rows from global to shared memory";
  let description = [{
    All warps of the block together copy as many rows as the shared matrix has, from row `row` and
    column `col` on; rows from `below` on and columns past the last become zero. `tile.copy_commit` ends a group of
    copies, `tile.copy_wait` waits for groups, and a barrier then makes what has arrived visible to other
    warps.

    Example:

    ```mlir
    tile.copy_async %q[%token, %zero] below %tokens to %stage
        : !tile.global<?x128xbf16>, !tile.shared<32x128xbf16, swizzle = 128>
    ```
  }];
  let arguments = (ins Tile_GlobalType:$source, Index:$row, Index:$col, Index:$below,
                       Tile_SharedType:$target);
  let assemblyFormat = [{
    $source `[` $row `,` $col `]` `below` $below `to` $target attr-dict
    `:` type($source) `,` type($target)
  }];
  let hasVerifier = 1;
}

def Tile_CopyBulkOp : Tile_SyncOp<"copy_bulk"> {
  let summary = "starts copying a box of rows by the machine's copy unit";
  let description = [{
    The warp, by one lane, has as many rows copied as the shared matrix has, from row `row` and column `col` on. Rows from
    the sequence's end (`tile.length`) on and columns past the last become zero. Addresses are the unit's affair: the
    source is an operand with a tensor map, of boxes with as many rows (`tile.box_rows`), and the target has a swizzle of 128.

    The bytes are counted at the barrier `stage` of `phases`: its present phase does not end before they have landed. The
    warp arrives there afterwards, so that the phase has not ended yet. What a `tile.store` of any warp wrote in the target
    before is ordered before the copy by the writer's `tile.fence_async`, and then a barrier.

    Example:

    ```mlir
    tile.copy_bulk %q[%token, %zero] to %now on %full[%stage]
        : !tile.global<?x128xbf16>, !tile.shared<32x128xbf16, swizzle = 128>, !tile.phases<6 x 1>
    tile.phase_arrive %full[%stage] : !tile.phases<6 x 1>
    ```
  }];
  let arguments = (ins Tile_GlobalType:$source, Index:$row, Index:$col,
                       Tile_SharedType:$target, Tile_PhasesType:$phases, Index:$stage);
  let assemblyFormat = [{
    $source `[` $row `,` $col `]` `to` $target `on` $phases `[` $stage `]` attr-dict
    `:` type($source) `,` type($target) `,` type($phases)
  }];
  let hasVerifier = 1;
}

def Tile_CopyCommitOp : Tile_SyncOp<"copy_commit"> {
  let summary = "ends a group of asynchronous copies";
  let description = [{
    Example:

    ```mlir
    tile.copy_commit
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_CopyWaitOp : Tile_SyncOp<"copy_wait"> {
  let summary = "waits until at most so many groups of copies are under way";
  let description = [{
    It waits for the copies that the calling warp took part in.

    Example:

    ```mlir
    tile.copy_wait 1
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$pending);
  let assemblyFormat = "$pending attr-dict";
}

include "larc/Dialect/Tile/IR/TileSyncOps.td"

//===----------------------------------------------------------------------===//
// Register tiles
//===----------------------------------------------------------------------===//

def Tile_SplatOp : Tile_Op<"splat", [Pure,
    TypesMatchWith<"the scalar has the tile's element type", "result", "value",
                   "::llvm::cast<RegType>($_self).getElementType()">]> {
  let summary = "a tile of equal elements";
  let description = [{
    Example:

    ```mlir
    %zeros = tile.splat %zero : !tile.reg<16x128xf32, acc>
    ```
  }];
  let arguments = (ins AnyType:$value);
  let results = (outs Tile_RegType:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
}

def Tile_IndexOp : Tile_Op<"index", [Pure]> {
  let summary = "the number of each row, or column";
  let description = [{
    Example:

    ```mlir
    %i = tile.index rows : !tile.reg<16x1xi32, rows acc>
    ```
  }];
  let arguments = (ins Tile_Dimension:$dimension);
  let results = (outs Tile_RegType:$result);
  let assemblyFormat = "$dimension attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_MapOp : Tile_Op<"map", [
    RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "computes elements one by one";
  let description = [{
    The region computes elements of the results from elements of the operands, by operations of
    `arith` and `math` on scalars. An operand with an extent of 1 serves all rows (or
    columns) of the results; its layout is then that slice of theirs, so that every lane has what it needs.

    Example:

    ```mlir
    %scaled = tile.map (%x = %s, %d = %decay) : (!tile.reg<16x128xf32, acc>, !tile.reg<1x128xf32, cols acc>)
        -> !tile.reg<16x128xf32, acc> {
      %y = arith.mulf %x, %d : f32
      tile.yield %y : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_RegType>:$operands);
  let results = (outs Variadic<Tile_RegType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let builders = [OpBuilder<(ins
    "::mlir::TypeRange":$results, "::mlir::ValueRange":$operands,
    "::llvm::function_ref<::llvm::SmallVector<::mlir::Value>(::mlir::OpBuilder &, ::mlir::Location, ::mlir::ValueRange)>":$body)>];
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ParentOneOf<["MapOp", "RoleOp"]>]> {
  let summary = "ends a region with its elements";
  let description = [{
    Example:

    ```mlir
    tile.yield %y : f32
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, {}); }]>];
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure, InferTypeOpAdaptor]> {
  let summary = "combines the columns of each row, or the rows of each column";
  let description = [{
    With `along cols` a value for each row results, in the layout's slice. The order in
    which elements are combined follows from the layout alone: registers first, then lanes by halves.

    Example:

    ```mlir
    %sum = tile.reduce sum %x along cols : !tile.reg<16x64xf32, acc>
    ```
  }];
  let arguments = (ins Tile_CombineKind:$kind, Tile_RegType:$operand,
                       Tile_Dimension:$dimension);
  let results = (outs Tile_RegType:$result);
  let assemblyFormat = "$kind $operand `along` $dimension attr-dict `:` type($operand)";
  let hasVerifier = 1;
}

def Tile_ScanOp : Tile_Op<"scan", [Pure, AllTypesMatch<["operand", "result"]>]> {
  let summary = "combines each row with the rows before it";
  let description = [{
    Row i of the result combines rows 0 to i (`exclusive`: to i - 1, the first row being the
    neutral element); with `backward` rows i to the last (`exclusive`: from i + 1). `along cols` likewise.
    Partial results are those of aligned blocks of 1, 2, 4, ... rows: never a difference of sums.
    With a `block`, a power of two, every aligned block of so many rows is scanned by itself.

    Example:

    ```mlir
    %prefix = tile.scan product %decay along rows exclusive : !tile.reg<16x16xf32, acc>
    %inHalves = tile.scan product %decay along rows block 8 : !tile.reg<16x16xf32, acc>
    ```
  }];
  let arguments = (ins Tile_CombineKind:$kind, Tile_RegType:$operand,
                       Tile_Dimension:$dimension, UnitAttr:$backward, UnitAttr:$exclusive,
                       OptionalAttr<I64Attr>:$block);
  let results = (outs Tile_RegType:$result);
  let assemblyFormat = [{
    $kind $operand `along` $dimension (`backward` $backward^)? (`exclusive` $exclusive^)?
    (`block` $block^)? attr-dict `:` type($operand)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The number of rows (or columns) that are scanned together.
    int64_t getBlockSize();
  }];
}

def Tile_ExchangeOp : Tile_Op<"exchange", [Pure, AllTypesMatch<["operand", "result"]>]> {
  let summary = "swaps rows that are some distance apart";
  let description = [{
    Row i of the result is row (i xor `distance`) of the operand; `along cols` likewise. The distance is a power of two,
    and the tile is made of whole pairs of blocks of so many rows. Lanes exchange what they hold, or a lane takes
    another of its registers, as the layout says.

    Example:

    ```mlir
    %y = tile.exchange %x along rows distance 4 : !tile.reg<32x16xf32, acc>
    ```
  }];
  let arguments = (ins Tile_RegType:$operand, Tile_Dimension:$dimension, I64Attr:$distance);
  let results = (outs Tile_RegType:$result);
  let assemblyFormat = [{
    $operand `along` $dimension `distance` $distance attr-dict `:` type($operand)
  }];
  let hasVerifier = 1;
}

def Tile_PickOp : Tile_Op<"pick", [Pure, InferTypeOpAdaptor]> {
  let summary = "one row, or column, of a tile";
  let description = [{
    With `along rows` the row of that number results, in the layout's slice: as if all others had been left out of a
    `tile.reduce`.

    Example:

    ```mlir
    %last = tile.pick %x[31] along rows : !tile.reg<32x16xf32, acc>
    ```
  }];
  let arguments = (ins Tile_RegType:$operand, Tile_Dimension:$dimension, I64Attr:$number);
  let results = (outs Tile_RegType:$result);
  let assemblyFormat = [{
    $operand `[` $number `]` `along` $dimension attr-dict `:` type($operand)
  }];
  let hasVerifier = 1;
}

def Tile_ConvertOp : Tile_Op<"convert", [Pure]> {
  let summary = "the same matrix in another element type or layout";
  let description = [{
    Floating-point types are rounded to nearest, ties to even. A layout may change where each lane has all
    elements that it is to have: nothing is moved between lanes. (Two cells of accumulators are a left operand.)

    Example:

    ```mlir
    %a = tile.convert %s : !tile.reg<16x16xf32, acc> -> !tile.reg<16x16xbf16, lhs>
    ```
  }];
  let arguments = (ins Tile_RegType:$operand);
  let results = (outs Tile_RegType:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_SliceOp : Tile_Op<"slice", [Pure]> {
  let summary = "some cells of a tile";
  let description = [{
    The elements from (`row`, `col`) on, as many as the result has; both are multiples of the cell.

    Example:

    ```mlir
    %half = tile.slice %x[0, 64] : !tile.reg<16x128xf32, acc> -> !tile.reg<16x64xf32, acc>
    ```
  }];
  let arguments = (ins Tile_RegType:$operand, I64Attr:$row, I64Attr:$col);
  let results = (outs Tile_RegType:$result);
  let assemblyFormat = [{
    $operand `[` $row `,` $col `]` attr-dict `:` type($operand) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_ConcatOp : Tile_Op<"concat", [Pure, InferTypeOpAdaptor]> {
  let summary = "tiles side by side, or one below the other";
  let description = [{
    With `along cols` the columns of the operands follow each other in the order of the operands. All have one element type,
    one layout, and the same number of rows. Lanes keep what they hold.

    Example:

    ```mlir
    %x = tile.concat %a, %b along cols : !tile.reg<16x8xf32, acc>, !tile.reg<16x24xf32, acc>
    ```
  }];
  let arguments = (ins Variadic<Tile_RegType>:$operands, Tile_Dimension:$dimension);
  let results = (outs Tile_RegType:$result);
  let assemblyFormat = "$operands `along` $dimension attr-dict `:` type($operands)";
  let hasVerifier = 1;
}

include "larc/Dialect/Tile/IR/TileMatrixOps.td"

#endif // LARC_DIALECT_TILE_IR_TILEOPS_TD
