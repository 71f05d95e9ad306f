//===- TileOpBase.td - What operations of the tile dialect share -*- tablegen -*- ===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_DIALECT_TILE_IR_TILEOPBASE_TD
#define LARC_DIALECT_TILE_IR_TILEOPBASE_TD

include "larc/Dialect/Tile/IR/TileTypes.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tile_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tile_Dialect, mnemonic, traits>;

// What meets other warps or the machine's queues: neither moved nor removed.
class Tile_SyncOp<string mnemonic, list<Trait> traits = []>
    : Tile_Op<mnemonic, traits # [MemoryEffects<[MemRead, MemWrite]>]>;

def Tile_Memory : AnyTypeOf<[Tile_SharedType, Tile_GlobalType]>;
def Tile_InFlight : AnyTypeOf<[Tile_RegType, Tile_FlightType]>;

#endif // LARC_DIALECT_TILE_IR_TILEOPBASE_TD
