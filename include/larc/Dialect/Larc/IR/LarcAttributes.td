//===- LarcAttributes.td - Attributes -*- tablegen -*- --------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_DIALECT_LARC_IR_LARCATTRIBUTES_TD
#define LARC_DIALECT_LARC_IR_LARCATTRIBUTES_TD

include "larc/Dialect/Larc/IR/LarcDialect.td"
include "larc/Dialect/Larc/IR/LarcTypes.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Larc_I32Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::larc";
  let genSpecializedAttr = 0;
}

def Larc_OperandKind : Larc_I32Enum<"OperandKind", "what a token operand is", [
  I32EnumAttrCase<"Data", 0, "data">,
  I32EnumAttrCase<"Gate", 1, "gate">,
  I32EnumAttrCase<"Coefficient", 2, "coefficient">
]>;

def Larc_Domain : Larc_I32Enum<"Domain", "what random inputs are drawn from", [
  I32EnumAttrCase<"Normal", 0, "normal">,
  I32EnumAttrCase<"Unit", 1, "unit">,
  I32EnumAttrCase<"LogDecay", 2, "log_decay">,
  I32EnumAttrCase<"Interval", 3, "interval">,
  I32EnumAttrCase<"Softmax", 4, "softmax">
]>;

def Larc_AttributeKind : Larc_I32Enum<"AttributeKind", "kind of a recurrence's attribute", [
  I32EnumAttrCase<"Real", 0, "real">,
  I32EnumAttrCase<"Integer", 1, "integer">,
  I32EnumAttrCase<"Period", 2, "period">,
  I32EnumAttrCase<"Choice", 3, "choice">,
  I32EnumAttrCase<"Schedule", 4, "schedule">
]>;

def Larc_SizeFunction : Larc_I32Enum<"SizeFunction", "function of an axis' size", [
  I32EnumAttrCase<"Size", 0, "size">,
  I32EnumAttrCase<"Rsqrt", 1, "rsqrt">,
  I32EnumAttrCase<"Reciprocal", 2, "reciprocal">
]>;

def Larc_ReduceKind : Larc_I32Enum<"ReduceKind", "how a reduction combines", [
  I32EnumAttrCase<"Sum", 0, "sum">,
  I32EnumAttrCase<"Max", 1, "max">,
  I32EnumAttrCase<"Min", 2, "min">
]>;

def Larc_EpsRule : Larc_I32Enum<"EpsRule", "where a normalisation's eps enters", [
  I32EnumAttrCase<"Max", 0, "max">,
  I32EnumAttrCase<"Add", 1, "add">,
  I32EnumAttrCase<"Inside", 2, "inside">
]>;

def Larc_Predicate : Larc_I32Enum<"Predicate", "ordered comparison", [
  I32EnumAttrCase<"GT", 0, "gt">, I32EnumAttrCase<"GE", 1, "ge">,
  I32EnumAttrCase<"LT", 2, "lt">, I32EnumAttrCase<"LE", 3, "le">,
  I32EnumAttrCase<"EQ", 4, "eq">, I32EnumAttrCase<"NE", 5, "ne">
]>;

class Larc_EnumAttr<EnumAttrInfo info, string attrMnemonic>
    : EnumAttr<Larc_Dialect, info, attrMnemonic>;
def Larc_ReduceKindAttr : Larc_EnumAttr<Larc_ReduceKind, "reduce_kind">;
def Larc_EpsRuleAttr : Larc_EnumAttr<Larc_EpsRule, "eps_rule">;
def Larc_PredicateAttr : Larc_EnumAttr<Larc_Predicate, "predicate">;

class Larc_Attr<string cppName, string attrMnemonic> : AttrDef<Larc_Dialect, cppName> {
  let mnemonic = attrMnemonic;
}

// A list of axes or names in brackets; an empty one is left out.
def Larc_NameList : OptionalArrayRefParameter<"::mlir::StringAttr", "names"> {
  let parser = "parseNameList($_parser)";
  let printer = "printNameList($_printer, $_self)";
}

def Larc_FamilyAttr : Larc_Attr<"FamilyDecl", "per"> {
  let summary = "declares one member per level";
  let description = [{
    `level` is the level axis, `first` the first member's index, `sized` the axes
    whose size differs by level.
  }];
  let parameters = (ins "::mlir::StringAttr":$level, "int64_t":$first,
                        Larc_NameList:$sized);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Larc_OperandDeclAttr : Larc_Attr<"OperandDecl", "operand"> {
  let summary = "declares a token operand or a per-head constant";
  let description = [{
    `axes` is the memory layout, outermost first: a token operand has shape
    `[B, T, heads, axes]`, a constant `[H, axes]`. `kind` decides which dtype
    option applies, `domain` what random inputs are drawn from (`unit` and
    `softmax` along `domain_axis`, `interval` between the two numbers of `range`, by
    default 0 and 1).
  }];
  let parameters = (ins "::mlir::StringAttr":$name,
                        Larc_NameList:$axes,
                        EnumParameter<Larc_OperandKind>:$kind,
                        EnumParameter<Larc_Domain>:$domain,
                        OptionalParameter<"::mlir::StringAttr">:$domain_axis,
                        OptionalParameter<"::mlir::DenseF64ArrayAttr">:$range,
                        OptionalParameter<"::larc::FamilyDeclAttr">:$family);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// The type of the step's block argument: an array or a family.
    ::mlir::Type getArgumentType() const;
  }];
}

def Larc_StateDeclAttr : Larc_Attr<"StateDecl", "state"> {
  let summary = "declares a state";
  let description = [{
    `axes` is the memory layout of `[B, H, axes]`, outermost first. A state
    starts at the tensor given, else at `init`; without `init` it is required.
    No slice of a given state along the axes `nonzero` may be zero: its l2 norm
    over those axes is positive.
  }];
  let parameters = (ins "::mlir::StringAttr":$name,
                        Larc_NameList:$axes,
                        OptionalParameter<"::mlir::FloatAttr">:$init,
                        Larc_NameList:$nonzero,
                        OptionalParameter<"::larc::FamilyDeclAttr">:$family);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    bool isRequired() const { return !getInit(); }
    ::mlir::Type getArgumentType() const;
  }];
}

def Larc_OutputDeclAttr : Larc_Attr<"OutputDecl", "output"> {
  let summary = "declares an output of shape [B, T, H, axes]";
  let parameters = (ins "::mlir::StringAttr":$name,
                        Larc_NameList:$axes);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Larc_SizeAttr : Larc_Attr<"SizeFn", "of_size"> {
  let summary = "a real number made from the size of an axis";
  let parameters = (ins EnumParameter<Larc_SizeFunction>:$function,
                        "::mlir::StringAttr":$axis);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    double evaluate(int64_t size) const;
  }];
}

def Larc_AttributeDeclAttr : Larc_Attr<"AttributeDecl", "attribute"> {
  let summary = "declares an attribute of a recurrence with its value";
  let description = [{
    `value` is the default until the recurrence is specialised and the chosen value
    after: an f64 or `#larc.of_size` for `real`, an i64 for `integer` and `period`
    (positive), a string for `choice` (one of `choices`), an `array<i64>` for
    `schedule` (strictly increasing from 1; axis `level` has its length).
    Only real attributes are arguments of the step.
  }];
  let parameters = (ins "::mlir::StringAttr":$name,
                        EnumParameter<Larc_AttributeKind>:$kind,
                        "::mlir::Attribute":$value,
                        Larc_NameList:$choices,
                        OptionalParameter<"::mlir::StringAttr">:$level);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    AttributeDeclAttr withValue(::mlir::Attribute value) const;
  }];
}

#endif // LARC_DIALECT_LARC_IR_LARCATTRIBUTES_TD
