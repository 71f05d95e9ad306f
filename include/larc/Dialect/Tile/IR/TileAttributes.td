//===- TileAttributes.td - Layouts and enums -*- tablegen -*- -------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_DIALECT_TILE_IR_TILEATTRIBUTES_TD
#define LARC_DIALECT_TILE_IR_TILEATTRIBUTES_TD

include "larc/Dialect/Tile/IR/TileDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Tile_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::larc::tile";
}

def Tile_Dimension : Tile_Enum<"Dimension", "one of a tile's two dimensions", [
    I32EnumAttrCase<"Rows", 0, "rows">, I32EnumAttrCase<"Cols", 1, "cols">]>;

def Tile_CombineKind : Tile_Enum<"CombineKind", "how elements are combined", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Product", 1, "product">,
    I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Min", 3, "min">]>;

def Tile_VoteKind : Tile_Enum<"VoteKind", "what is asked of a predicate", [
    I32EnumAttrCase<"All", 0, "all">, I32EnumAttrCase<"Any", 1, "any">]>;

def Tile_ArgumentKind : I32Enum<"ArgumentKind",
    "what an argument of a program is to the recurrence", [
    I32EnumCase<"Operand", 0, "operand">, I32EnumCase<"Constant", 1, "constant">,
    I32EnumCase<"Initial", 2, "initial">, I32EnumCase<"Final", 3, "final">,
    I32EnumCase<"Output", 4, "output">, I32EnumCase<"Scratch", 5, "scratch">]> {
  let cppNamespace = "::larc::tile";
}
def Tile_ArgumentKindAttr : EnumAttr<Tile_Dialect, Tile_ArgumentKind, "argument"> {
  let assemblyFormat = "`<` $value `>`";
}

def Tile_LayoutAttr : AttrDef<Tile_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "which lane and register of a warp holds which element";
  let description = [{
    A layout describes a *cell*, a small matrix whose extents are powers of two: bit i
    of the lane's number, and bit i of the number of a register within the cell, each stand
    for a bit of the row or of the column, given as the (row, column) by which the bit moves the element.
    Every bit of row and column has one bit that it is read from; a lane bit that moves by (0, 0) makes
    two lanes hold the same. A tile larger than the cell repeats it, row by row of cells: register r of
    cell c is register c * (registers of a cell) + r of the tile.

    The layouts that the matrix units ask for have names:

    | name | cell | |
    |---|---|---|
    | `acc` | 16x8 | accumulators of `mma` and `wgmma`: lane l holds rows l/4 and l/4 + 8, columns 2(l%4) and the next |
    | `lhs` | 16x16 | left operands of 16-bit types: two `acc` cells side by side |
    | `rhs` | 16x8 | right operands of 16-bit types: rows count what is summed over |
    | `lhs32`, `rhs32` | 16x8, 8x8 | operands of 32-bit types (tf32) |

    `rows acc` is what is left of `acc` where all columns are one: a value for each
    row. `cols acc` is a value for each column; both exist of every layout.

    ```mlir
    #tile.layout<acc>
    #tile.layout<rows acc>
    #tile.layout<lane = [0, 4, 0, 8, 0, 16, 0, 32, 0, 64], register = [0, 1, 0, 2]>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t", "row and column of each lane bit">:$lanes,
    OptionalArrayRefParameter<"int64_t", "row and column of each register bit">:$registers);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The number of lanes of a warp, and of its bits.
    static constexpr int64_t kLanes = 32, kLaneBits = 5;

    static LayoutAttr getAcc(::mlir::MLIRContext *context);
    /// The layout of left operands whose elements have `bits` bits (16 or 32).
    static LayoutAttr getLhs(::mlir::MLIRContext *context, unsigned bits = 16);
    /// The layout of right operands.
    static LayoutAttr getRhs(::mlir::MLIRContext *context, unsigned bits = 16);
    /// `rows` x `cols` elements in memory order: a lane has `vector` consecutive
    /// columns, then come lanes along the columns, then along the rows; with too
    /// few columns for 32 lanes and `rows` too, lanes hold copies. All are powers
    /// of two.
    static LayoutAttr getBlocked(::mlir::MLIRContext *context, int64_t rows,
                                 int64_t cols, int64_t vector);
    /// The layout of a value for each row (or each column) of this layout.
    LayoutAttr getSlice(Dimension kept) const;

    int64_t getCellRows() const { return getCellExtent(0); }
    int64_t getCellCols() const { return getCellExtent(1); }
    /// The number of registers that a lane has of a cell.
    int64_t getCellRegisters() const;
    /// The (row, column) in the cell of register `reg` of lane `lane`.
    std::pair<int64_t, int64_t> getElement(int64_t lane, int64_t reg) const;

    /// Parses and prints what stands between `<` and `>`.
    static ::mlir::FailureOr<LayoutAttr> parseBody(::mlir::AsmParser &parser);
    void printBody(::mlir::AsmPrinter &printer) const;

  private:
    int64_t getCellExtent(unsigned dimension) const;

  public:
  }];
}

#endif // LARC_DIALECT_TILE_IR_TILEATTRIBUTES_TD
