//===- TileTypes.td - Types of the tile dialect -*- tablegen -*- ----------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_DIALECT_TILE_IR_TILETYPES_TD
#define LARC_DIALECT_TILE_IR_TILETYPES_TD

include "larc/Dialect/Tile/IR/TileAttributes.td"
include "mlir/IR/BuiltinTypeInterfaces.td"

class Tile_Type<string cppName, string typeMnemonic, list<Trait> traits = []>
    : TypeDef<Tile_Dialect, cppName, traits> {
  let mnemonic = typeMnemonic;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tile_RegType : Tile_Type<"Reg", "reg"> {
  let summary = "a matrix in the registers of one warp";
  let description = [{
    `rows` x `cols` elements, each held by a lane (or by several) as the layout says.
    Both extents are multiples of the layout's cell. A vector is a tile with an
    extent of 1.

    ```mlir
    !tile.reg<16x16xf32, acc>
    !tile.reg<16x1xf32, rows acc>
    ```
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$cols, "::mlir::Type":$elementType,
                        "LayoutAttr":$layout);
  let extraClassDeclaration = [{
    /// The number of registers (elements) that each lane has.
    int64_t getNumRegisters() const;
    /// The (row, column) of register `reg` of lane `lane`.
    std::pair<int64_t, int64_t> getElement(int64_t lane, int64_t reg) const;
    /// This type with another element type.
    RegType withElementType(::mlir::Type type) const;
    /// The type of a value for each row (or each column) of this tile.
    RegType getSlice(Dimension kept) const;
    bool hasSameShape(RegType other) const {
      return getRows() == other.getRows() && getCols() == other.getCols();
    }
  }];
}

def Tile_FlightType : Tile_Type<"Flight", "flight"> {
  let summary = "accumulators that the matrix unit is still writing";
  let description = [{
    A register tile in the hands of `tile.wgmma`. Nothing but another `tile.wgmma` and
    `tile.wgmma_wait` takes one, so that no accumulator is read too early.

    ```mlir
    !tile.flight<16x32xf32, acc>
    ```
  }];
  let parameters = (ins "RegType":$tile);
}

def Tile_SharedType : Tile_Type<"Shared", "shared"> {
  let summary = "a matrix in shared memory";
  let description = [{
    `rows` x `cols` elements, row after row. With a swizzle of 32, 64 or 128 the columns
    are cut into panels of so many bytes; a panel has its rows one after the other, and
    the 16-byte pieces of row r lie in the order `piece xor (r * swizzle / 128 mod (swizzle / 16))`, as the
    matrix and copy units expect it. Without one, a row is followed by `pad` unused elements.
    With stages the tile is a ring of such matrices.

    ```mlir
    !tile.shared<32x128xbf16, swizzle = 128, stages = 3>
    !tile.shared<8x128xf32>
    !tile.shared<32x33xf32, pad = 1>
    ```
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$cols, "::mlir::Type":$elementType,
                        "int64_t":$swizzle, "int64_t":$pad, "int64_t":$stages);
  let extraClassDeclaration = [{
    /// The bytes of one stage.
    int64_t getStageBytes() const;
    int64_t getBytes() const { return getStageBytes() * getStages(); }
    /// What the address of a stage is a multiple of, in bytes.
    int64_t getAlignment() const;
    /// Where element (row, col) is, in bytes from the start of its stage.
    int64_t getOffset(int64_t row, int64_t col) const;
    /// This type without its other stages.
    SharedType getStage() const;
  }];
}

def Tile_GlobalType : Tile_Type<"Global", "global"> {
  let summary = "a matrix in global memory";
  let description = [{
    What a block sees of a tensor: the tokens of its sequence and head by the channels, or
    a state. The columns are consecutive in memory, the rows any distance apart. A number of rows
    that is only known when the program runs is written `?`; it is that of `tile.length`.

    ```mlir
    !tile.global<?x128xbf16>
    !tile.global<128x64xf32>
    ```
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$cols, "::mlir::Type":$elementType);
  let extraClassDeclaration = [{
    bool hasDynamicRows() const { return ::mlir::ShapedType::isDynamic(getRows()); }
  }];
}

def Tile_PhasesType : Tile_Type<"Phases", "phases"> {
  let summary = "barriers in shared memory that count arrivals";
  let description = [{
    `stages` barriers, each of which goes through phases 0, 1, 2, ...: a phase ends, and the next begins, when `warps`
    arrivals of warps have come and the bytes of `tile.copy_bulk` that were counted there have landed. With `copies` a
    warp's arrival comes by itself, once the asynchronous copies that it has started have landed.

    ```mlir
    !tile.phases<6 x 8>
    !tile.phases<6 x 8, copies>
    ```
  }];
  let parameters = (ins "int64_t":$stages, "int64_t":$warps, "bool":$copies);
  let extraClassDeclaration = [{
    /// The bytes of a barrier, of which its address is a multiple.
    static constexpr int64_t kBarrierBytes = 8;

    int64_t getBytes() const { return getStages() * kBarrierBytes; }
  }];
}

#endif // LARC_DIALECT_TILE_IR_TILETYPES_TD
