//===- ReferenceInterfaces.td - Interpreted operations ----*- tablegen -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_REFERENCE_REFERENCEINTERFACES_TD
#define LARC_REFERENCE_REFERENCEINTERFACES_TD

include "mlir/IR/OpBase.td"

def Larc_ReferenceOpInterface : OpInterface<"ReferenceOpInterface"> {
  let cppNamespace = "::larc";
  let description = [{
    An operation that the float64 interpreter runs and differentiates.
  }];
  let methods = [
    InterfaceMethod<[{
      Gives each result a view: of a new array that instructions added to the
      program compute, or of an array that exists. The operands have theirs.
    }], "::llvm::LogicalResult", "buildReference",
    (ins "::larc::ProgramBuilder &":$builder)>
  ];
}

#endif // LARC_REFERENCE_REFERENCEINTERFACES_TD
