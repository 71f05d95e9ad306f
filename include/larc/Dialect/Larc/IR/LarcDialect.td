//===- LarcDialect.td - Dialect definition -*- tablegen -*- ---------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_DIALECT_LARC_IR_LARCDIALECT_TD
#define LARC_DIALECT_LARC_IR_LARCDIALECT_TD

include "mlir/IR/DialectBase.td"

def Larc_Dialect : Dialect {
  let name = "larc";
  let cppNamespace = "::larc";
  let summary = "One token of a linear-attention recurrence, over named axes";
  let description = [{
    The `larc` dialect says what happens to the states of a recurrence at one
    token. Its values are real numbers over a *set* of named axes: they have no
    storage type and no memory layout, so that a transposed state cannot be
    written by accident. Elementwise operations broadcast by axis name and a
    contraction names the axes it sums over.

    A `larc.recurrence` holds the step as a region: the region's arguments are
    the token's operands, the per-head constants, the *old* states and the real
    attributes; its `larc.yield` gives the *new* states and the outputs. Reading
    a state before or after it is written is plain dataflow.

    Types are not written: every operation's result follows from its operands.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
}

#endif // LARC_DIALECT_LARC_IR_LARCDIALECT_TD
