//===- TileDialect.td - The tile dialect -*- tablegen -*- -----------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_DIALECT_TILE_IR_TILEDIALECT_TD
#define LARC_DIALECT_TILE_IR_TILEDIALECT_TD

include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::larc::tile";
  let summary = "What one thread block of a GPU does";
  let description = [{
    The `tile` dialect says what one thread block does, warp by warp. Its values
    are *register tiles*: small matrices spread over the lanes of one warp in a
    layout that is part of the type. Every warp runs the program, and warps meet
    in shared memory and at barriers; nothing is moved between warps, or between
    the lanes of a warp, unless an operation says so.

    What the hardware fixes is in the types (which lane holds which element) and
    what it chooses freely is not: whether a shared tile is read by `ldmatrix` or
    by plain loads follows from the two layouts.

    A tile program has a meaning on a CPU too, lane by lane, which is how programs
    are tested where there is no GPU.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

#endif // LARC_DIALECT_TILE_IR_TILEDIALECT_TD
