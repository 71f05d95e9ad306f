//===- LarcInterfaces.td - Operation interfaces -*- tablegen -*- ----------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_DIALECT_LARC_IR_LARCINTERFACES_TD
#define LARC_DIALECT_LARC_IR_LARCINTERFACES_TD

include "mlir/IR/OpBase.td"

def Larc_ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let cppNamespace = "::larc";
  let description = [{
    An operation that computes each element of its one result from the elements of
    its operands at the same named indices.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the operation on `arith` and `math` values: floats, or vectors of
      floats, all of the same type. Rounds as IEEE does, except that products and
      sums may contract.
    }], "::mlir::Value", "buildScalar",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
         "::mlir::ValueRange":$args)>,
    InterfaceMethod<[{
      Floating point operations an element, as benchmarks count them.
    }], "unsigned", "getFlops", (ins), [{}], [{ return 1; }]>,
    InterfaceMethod<[{
      Whether computing an element again costs no more than loading it from cache.
    }], "bool", "isCheap", (ins), [{}], [{ return true; }]>
  ];
}

def Larc_ReductionOpInterface : OpInterface<"ReductionOpInterface"> {
  let cppNamespace = "::larc";
  let description = [{
    An operation that combines, over some axes, a product of its operands.
  }];
  let methods = [
    InterfaceMethod<"The axes that the result does not have any more.",
      "::llvm::SmallVector<::mlir::StringAttr>", "getReducedAxes">,
    InterfaceMethod<"How elements combine.", "::larc::ReduceKind", "getCombiner">
  ];
}

def Larc_CompositeOpInterface : OpInterface<"CompositeOpInterface"> {
  let cppNamespace = "::larc";
  let description = [{
    An operation that is short for several simpler ones of the dialect.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the simpler operations and returns the value that replaces the
      operation's one result. `dims` gives the sizes of axes.
    }], "::mlir::FailureOr<::mlir::Value>", "decompose",
    (ins "::mlir::OpBuilder &":$builder)>
  ];
}

#endif // LARC_DIALECT_LARC_IR_LARCINTERFACES_TD
