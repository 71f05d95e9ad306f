//===- LarcTypes.td - Types -*- tablegen -*- ------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_DIALECT_LARC_IR_LARCTYPES_TD
#define LARC_DIALECT_LARC_IR_LARCTYPES_TD

include "larc/Dialect/Larc/IR/LarcDialect.td"
include "mlir/IR/AttrTypeBase.td"

class Larc_Type<string cppName, string typeMnemonic> : TypeDef<Larc_Dialect, cppName> {
  let mnemonic = typeMnemonic;
}

def Larc_ArrayType : Larc_Type<"Array", "array"> {
  let summary = "real numbers over a set of named axes";
  let description = [{
    An array has one real number for each combination of indices of its axes.
    The axes are a set: `!larc.array<V, K>` is read as `!larc.array<K, V>`. An
    array without axes is a scalar. Sizes are bound when a recurrence is
    specialised, not in the type.

    ```mlir
    !larc.array<K, V>
    !larc.array<>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$axes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The array over `axes`, given in any order; duplicates count once.
    static ArrayType ofAxes(::mlir::MLIRContext *context,
                            ::llvm::ArrayRef<::mlir::StringAttr> axes);
    /// The scalar: an array without axes.
    static ArrayType scalar(::mlir::MLIRContext *context);
    /// The array over the axes of either.
    static ArrayType unionOf(ArrayType lhs, ArrayType rhs);
    /// This array's axes less those in `axes`.
    ArrayType without(::llvm::ArrayRef<::mlir::StringAttr> axes) const;
    bool hasAxis(::mlir::StringAttr axis) const;
    bool isScalar() const { return getAxes().empty(); }
    unsigned getRank() const { return getAxes().size(); }
  }];
}

def Larc_FamilyType : Larc_Type<"Family", "family"> {
  let summary = "one array per level";
  let description = [{
    A family has one member, an array, for each index of the level axis, starting
    at `first`. Axes listed in `sized` have a size of their own at each level:
    member `l` has axis `n` under the name `n<l>`.

    ```mlir
    !larc.family<level = L, first = 1, member = !larc.array<K, n>, sized = n>
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$level, "int64_t":$first,
                        "::larc::ArrayType":$member,
                        OptionalArrayRefParameter<"::mlir::StringAttr">:$sized);
  let hasCustomAssemblyFormat = 1;
}

#endif // LARC_DIALECT_LARC_IR_LARCTYPES_TD
