//===- LarcOps.td - Operations -*- tablegen -*- ---------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_DIALECT_LARC_IR_LARCOPS_TD
#define LARC_DIALECT_LARC_IR_LARCOPS_TD

include "larc/Dialect/Larc/IR/LarcAttributes.td"
include "larc/Dialect/Larc/IR/LarcDialect.td"
include "larc/Dialect/Larc/IR/LarcInterfaces.td"
include "larc/Dialect/Larc/IR/LarcTypes.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// Types are not written in the custom syntax: `parse` looks up the operands'
// types and infers the results' (TypeScope.h says how), which the declarative
// format cannot express.
class Larc_Op<string mnemonic, list<Trait> traits = []>
    : Op<Larc_Dialect, mnemonic, traits> {
  let hasCustomAssemblyFormat = 1;
}

def Larc_Value : AnyTypeOf<[Larc_ArrayType, Larc_FamilyType], "an array or a family">;

//===----------------------------------------------------------------------===//
// The recurrence
//===----------------------------------------------------------------------===//

def Larc_RecurrenceOp : Larc_Op<"recurrence", [
    IsolatedFromAbove, Symbol, SingleBlock,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "what happens to the states of a recurrence at one token";
  let description = [{
    Declares the token operands, per-head constants, states, attributes and
    outputs, and holds one region: the step. The region's arguments are, in this
    order, the operands, the constants, the old states and the real attributes; its
    `larc.yield` gives the new states and then the outputs.

    Brackets after a name list the axes in memory order; a scalar has none. An
    operand may name its kind (`data`, `gate`, `coefficient`) and the domain of random
    inputs (`normal`, `unit(K)`, `log_decay`, `interval(low, high)`, `softmax(L)`); the defaults
    are `data normal`, `gate log_decay` and `coefficient interval`. A state may give its
    initial value (`= -inf`), or be `required` and `nonzero(D)`. `per L from 1 sizes(n)`
    declares a family, one member for each level.

    Attributes with a `%` are real numbers and arguments of the step. The others are
    compile-time values: an integer (`= 5`), the period (`= period(64)`), a choice
    (`= softmax of [softmax, identity]`) or a schedule (`intervals[L] = [1, 2, 4]`).

    Example:

    ```mlir
    larc.recurrence @decayed(%q[K], %k[K], %v[V], %g[K]: gate)
        state(%S[K, V]) attributes(%scale = rsqrt(K)) -> (o[V])
        summary "linear attention with a gate per key channel" {
      %a = larc.exp %g
      %decayed = larc.mul %a, %S
      %write = larc.mul %k, %v
      %next = larc.add %decayed, %write
      %read = larc.contract %next, %q over K
      %o = larc.mul %read, %scale
      larc.yield %next, %o
    }
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    TypedArrayAttrBase<Larc_OperandDeclAttr, "operand declarations">:$token_operands,
    TypedArrayAttrBase<Larc_OperandDeclAttr, "constant declarations">:$constants,
    TypedArrayAttrBase<Larc_StateDeclAttr, "state declarations">:$states,
    TypedArrayAttrBase<Larc_AttributeDeclAttr, "attribute declarations">:$attribute_decls,
    TypedArrayAttrBase<Larc_OutputDeclAttr, "output declarations">:$outputs,
    OptionalAttr<DictionaryAttr>:$dims,
    OptionalAttr<StrAttr>:$summary,
    OptionalAttr<StrAttr>:$paper);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The step's arguments, by role.
    ::mlir::Block::BlockArgListType getOperandArguments();
    ::mlir::Block::BlockArgListType getConstantArguments();
    ::mlir::Block::BlockArgListType getStateArguments();
    /// One argument for each attribute of kind `real`, in declaration order.
    ::mlir::Block::BlockArgListType getRealArguments();
    ::larc::YieldOp getYield();

    /// The attribute declared as `name`, or null.
    AttributeDeclAttr lookupAttribute(::llvm::StringRef name);
    /// The attribute of kind `period`, or null.
    AttributeDeclAttr getPeriodDecl();
    /// The number of tokens of a period; 0 where none is declared.
    int64_t getPeriod();
    /// Every axis a declaration names or `larc.rename` makes, in order of appearance.
    ::llvm::SmallVector<::mlir::StringAttr> getAllAxes();
    /// The size bound to `axis`, or nothing before it is bound.
    std::optional<int64_t> getAxisSize(::mlir::StringAttr axis);
    /// Whether specialisation and level expansion left only arrays: no families,
    /// choices or loops over levels.
    bool isFlat();
    /// State indices whose value at the start of a period `larc.anchor` reads.
    ::llvm::SmallVector<unsigned> getAnchoredStates();
  }];
}

def Larc_YieldOp : Larc_Op<"yield", [
    Pure, Terminator,
    ParentOneOf<["RecurrenceOp", "ChooseOp", "LevelsOp", "FoldOp", "FireOp", "NestOp"]>]> {
  let summary = "ends a region with its values";
  let description = [{
    In a recurrence: the new states in order of declaration, then the outputs. In the
    other regions: one value for each result.

    Example:

    ```mlir
    larc.yield %next, %o
    ```
  }];
  let arguments = (ins Variadic<Larc_Value>:$values);
}

//===----------------------------------------------------------------------===//
// Elementwise operations
//===----------------------------------------------------------------------===//

class Larc_ElementwiseOp<string mnemonic, string formula, list<Trait> traits = []>
    : Larc_Op<mnemonic, [Pure, InferTypeOpAdaptor,
        DeclareOpInterfaceMethods<Larc_ElementwiseOpInterface,
          ["buildScalar"]>] # traits> {
  let summary = formula # ", element by element";
  let results = (outs Larc_ArrayType:$result);
}

class Larc_UnaryOp<string mnemonic, string formula, string text, bit cheap, list<Trait> traits = []>
    : Larc_ElementwiseOp<mnemonic, formula, traits> {
  let arguments = (ins Larc_ArrayType:$operand);
  let description = text # [{

    Example:

    ```mlir
    %y = larc.}] # mnemonic # [{ %x
    ```
  }];
  let extraClassDeclaration = "bool isCheap() { return "
      # !if(cheap, "true", "false") # "; }";
}

def Larc_NegOp : Larc_UnaryOp<"neg", "-x", "Negates.", 1> { let hasFolder = 1; }
def Larc_AbsOp : Larc_UnaryOp<"abs", "|x|", "Its derivative at 0 is 0.", 1>;
def Larc_ExpOp : Larc_UnaryOp<"exp", "e^x",
    "The factor that a log-decay stands for: `-inf` gives 0.", 0> { let hasFolder = 1; }
def Larc_Expm1Op : Larc_UnaryOp<"expm1", "e^x - 1", "Keeps its digits near 0.", 0>;
def Larc_LogOp : Larc_UnaryOp<"log", "ln x", "Of 0 it is `-inf`.", 0>;
def Larc_Log1pOp : Larc_UnaryOp<"log1p", "ln(1 + x)", "Keeps its digits near 0.", 0>;
def Larc_SqrtOp : Larc_UnaryOp<"sqrt", "the square root of x", "IEEE's square root.", 0>;
def Larc_RsqrtOp : Larc_UnaryOp<"rsqrt", "1 / sqrt(x)", "Of 0 it is `inf`.", 0>;
def Larc_ReciprocalOp : Larc_UnaryOp<"reciprocal", "1 / x", "Of 0 it is `inf`.", 0>;
def Larc_SquareOp : Larc_UnaryOp<"square", "x x", "Multiplies by itself.", 1>;
def Larc_SigmoidOp : Larc_UnaryOp<"sigmoid", "1 / (1 + e^-x)", "The logistic function.", 0>;
def Larc_LogSigmoidOp : Larc_UnaryOp<"logsigmoid", "ln sigmoid(x)",
    "Computed as `min(x, 0) - log1p(e^-|x|)`: finite wherever x is.", 0>;
def Larc_SoftplusOp : Larc_UnaryOp<"softplus", "ln(1 + e^x)",
    "Computed as `max(x, 0) + log1p(e^-|x|)`.", 0>;
def Larc_TanhOp : Larc_UnaryOp<"tanh", "tanh x", "The hyperbolic tangent.", 0>;
def Larc_ReluOp : Larc_UnaryOp<"relu", "max(x, 0)", "Its derivative at 0 is 0.", 1>;
def Larc_SinOp : Larc_UnaryOp<"sin", "sin x", "Of radians.", 0>;
def Larc_CosOp : Larc_UnaryOp<"cos", "cos x", "Of radians.", 0>;
def Larc_ErfOp : Larc_UnaryOp<"erf", "erf x", "The error function.", 0>;

class Larc_BinaryOp<string mnemonic, string formula, string text, bit cheap, list<Trait> traits = []>
    : Larc_ElementwiseOp<mnemonic, formula, traits> {
  let arguments = (ins Larc_ArrayType:$lhs, Larc_ArrayType:$rhs);
  let description = text # [{ The result has the axes of either operand: an operand is
    the same along the axes that it lacks.

    Example:

    ```mlir
    %z = larc.}] # mnemonic # [{ %x, %y
    ```
  }];
  let extraClassDeclaration = "bool isCheap() { return "
      # !if(cheap, "true", "false") # "; }";
}

def Larc_AddOp : Larc_BinaryOp<"add", "x + y", "Adds.", 1, [Commutative]> { let hasFolder = 1; }
def Larc_SubOp : Larc_BinaryOp<"sub", "x - y", "Subtracts.", 1> { let hasFolder = 1; }
def Larc_MulOp : Larc_BinaryOp<"mul", "x y",
    "Multiplies; of `[K]` and `[V]` it is the outer product `[K, V]`.", 1, [Commutative]> {
  let hasFolder = 1;
}
def Larc_DivOp : Larc_BinaryOp<"div", "x / y", "Divides.", 0> { let hasFolder = 1; }
def Larc_MaxOp : Larc_BinaryOp<"max", "max(x, y)",
    "Gives NaN if either is. At a tie each has half of the derivative, unless the other is a `larc.constant`: then none.",
    1, [Commutative]>;
def Larc_MinOp : Larc_BinaryOp<"min", "min(x, y)",
    "Gives NaN if either is. At a tie each has half of the derivative, unless the other is a `larc.constant`: then none.",
    1, [Commutative]>;
def Larc_LogAddExpOp : Larc_BinaryOp<"logaddexp", "ln(e^x + e^y)",
    "Computed from the larger operand, so that nothing overflows; of two `-inf` it is `-inf`.",
    0, [Commutative]>;

def Larc_SelectOp : Larc_ElementwiseOp<"select", "x or y by a comparison"> {
  let description = [{
    Gives `x` where the comparison of `lhs` with `rhs` holds (`gt`, `ge`, `lt`, `le`,
    `eq`; with NaN none of them does), else `y`. `ne` is the opposite of `eq`. The
    derivative goes to the chosen one alone: what was not chosen may be NaN.

    Example:

    ```mlir
    %y = larc.select %x gt %threshold, %x, %zero
    ```
  }];
  let arguments = (ins Larc_PredicateAttr:$predicate, Larc_ArrayType:$lhs, Larc_ArrayType:$rhs,
                       Larc_ArrayType:$x, Larc_ArrayType:$y);
}

def Larc_BroadcastOp : Larc_ElementwiseOp<"broadcast", "x along more axes"> {
  let description = [{
    Gives a value the axes named, along which it is the same, for where a type must
    match and no operation brings the axis.

    Example:

    ```mlir
    %S = larc.broadcast %zero to [K, V]
    ```
  }];
  let arguments = (ins Larc_ArrayType:$operand, TypedArrayAttrBase<StrAttr, "axes">:$axes);
  let hasFolder = 1;
  let extraClassDeclaration = [{
    unsigned getFlops() { return 0; }
  }];
}

def Larc_ConstantOp : Larc_Op<"constant", [Pure, ConstantLike, InferTypeOpAdaptor]> {
  let summary = "a real number";
  let description = [{
    A scalar, the same for every token and head. `inf` and `-inf` are allowed.

    Example:

    ```mlir
    %eps = larc.constant 1.0e-6
    %low = larc.constant -inf
    ```
  }];
  let arguments = (ins F64Attr:$value);
  let results = (outs Larc_ArrayType:$result);
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Operations along axes
//===----------------------------------------------------------------------===//

def Larc_ContractOp : Larc_Op<"contract", [
    Pure, InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<Larc_ReductionOpInterface>]> {
  let summary = "multiplies and sums over axes";
  let description = [{
    Multiplies as `larc.mul` does and sums over the axes named; each of them must be an
    axis of at least one operand. `over K` of a state `[K, V]` and a query `[K]` is
    the read S^T q.

    Example:

    ```mlir
    %read = larc.contract %S, %q over K
    ```
  }];
  let arguments = (ins Larc_ArrayType:$lhs, Larc_ArrayType:$rhs,
                       TypedArrayAttrBase<StrAttr, "axes">:$axes);
  let results = (outs Larc_ArrayType:$result);
}

def Larc_ReduceOp : Larc_Op<"reduce", [
    Pure, InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<Larc_ReductionOpInterface>]> {
  let summary = "sum, largest or smallest along axes";
  let description = [{
    `sum`, `max` or `min` over the axes named. The derivative of `max` and `min` is
    shared equally among the elements that attain it. Over an axis of size 0 they
    are 0, `-inf` and `inf`.

    Example:

    ```mlir
    %m = larc.reduce max %x over M
    ```
  }];
  let arguments = (ins Larc_ReduceKindAttr:$kind, Larc_ArrayType:$operand,
                       TypedArrayAttrBase<StrAttr, "axes">:$axes);
  let results = (outs Larc_ArrayType:$result);
}

def Larc_NormOp : Larc_Op<"norm", [Pure, InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<Larc_CompositeOpInterface>]> {
  let summary = "l2 norm along axes";
  let description = [{
    The square root of the sum of squares over the axes named. Its derivative at 0 is 0.

    Example:

    ```mlir
    %n = larc.norm %S over D
    ```
  }];
  let arguments = (ins Larc_ArrayType:$operand, TypedArrayAttrBase<StrAttr, "axes">:$axes);
  let results = (outs Larc_ArrayType:$result);
}

def Larc_NormalizeOp : Larc_Op<"normalize", [Pure, InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<Larc_CompositeOpInterface>]> {
  let summary = "divides by the l2 norm along axes";
  let description = [{
    With n the l2 norm of x over the axes, and the rule naming where eps enters:
    `max`: x / max(n, eps); `add`: x / (n + eps); `inside`: x / sqrt(n n + eps). Without
    a rule, x / n. The derivative of n at 0 is 0, that of max(n, eps) is 0 up to n = eps.

    Example:

    ```mlir
    %unit = larc.normalize %x over K max 1.0e-12
    ```
  }];
  let arguments = (ins Larc_ArrayType:$operand, TypedArrayAttrBase<StrAttr, "axes">:$axes,
                       Larc_EpsRuleAttr:$rule, F64Attr:$eps);
  let results = (outs Larc_ArrayType:$result);
  let hasVerifier = 1;
}

def Larc_SoftmaxOp : Larc_Op<"softmax", [Pure, InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<Larc_CompositeOpInterface>]> {
  let summary = "softmax along axes";
  let description = [{
    e^(x - m) / sum e^(x - m) over the axes named, m the largest.

    Example:

    ```mlir
    %p = larc.softmax %logits over M
    ```
  }];
  let arguments = (ins Larc_ArrayType:$operand, TypedArrayAttrBase<StrAttr, "axes">:$axes);
  let results = (outs Larc_ArrayType:$result);
}

def Larc_OrthogonalizeOp : Larc_Op<"orthogonalize", [Pure, InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<Larc_CompositeOpInterface>]> {
  let summary = "Newton-Schulz iteration toward the orthogonal factor";
  let description = [{
    X = C / (|C|_F + eps), then `iterations` times X <- c0 X + c1 X (X^T X) [+ c2 X (X^T X)^2],
    where X^T X sums over the first axis named and has the second twice. The default
    coefficients are those of the cubic iteration X (3 I - X^T X) / 2, eps 1e-6. `iterations`
    is a number or the name of an integer attribute of the recurrence.

    Example:

    ```mlir
    %O = larc.orthogonalize %C over K, V iterations(5)
    %P = larc.orthogonalize %C over K, V iterations(steps) coefficients([3.4445, -4.775, 2.0315]) eps(1.0e-7)
    ```
  }];
  let arguments = (ins Larc_ArrayType:$operand, StrAttr:$rows, StrAttr:$columns,
                       AnyAttrOf<[I64Attr, StrAttr]>:$iterations,
                       DefaultValuedAttr<DenseF64ArrayAttr, "{1.5, -0.5}">:$coefficients,
                       DefaultValuedAttr<F64Attr, "1.0e-6">:$eps);
  let results = (outs Larc_ArrayType:$result);
  let hasVerifier = 1;
}

def Larc_RenameOp : Larc_Op<"rename", [Pure, InferTypeOpAdaptor]> {
  let summary = "gives an axis another name";
  let description = [{
    The two names then have one size. With it a value meets itself along another axis:
    the outer product of k with itself is `larc.mul %k, %kj` over `[J, K]`.

    Example:

    ```mlir
    %kj = larc.rename %k K to J
    ```
  }];
  let arguments = (ins Larc_ArrayType:$operand, StrAttr:$from, StrAttr:$to);
  let results = (outs Larc_ArrayType:$result);
}

def Larc_SliceOp : Larc_Op<"slice", [Pure, InferTypeOpAdaptor]> {
  let summary = "one index of an axis";
  let description = [{
    Takes an array at index `offset` of an axis, or at level index plus offset.

    Example:

    ```mlir
    %g0 = larc.slice %g[L = 0]
    %gl = larc.slice %g[L = %l]
    %gp = larc.slice %g[L = %l -1]
    ```
  }];
  let arguments = (ins Larc_ArrayType:$operand, StrAttr:$axis, Optional<Index>:$index,
                       DefaultValuedAttr<I64Attr, "0">:$offset);
  let results = (outs Larc_ArrayType:$result);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Families and levels
//===----------------------------------------------------------------------===//

def Larc_MemberOp : Larc_Op<"member", [Pure, InferTypeOpAdaptor]> {
  let summary = "one member of a family";
  let description = [{
    The member at level `offset`, or at level index plus offset. A family with axes
    sized by level is read at the loop's own level only.

    Example:

    ```mlir
    %S0 = larc.member %S[0]
    %below = larc.member %S[%l -1]
    ```
  }];
  let arguments = (ins Larc_FamilyType:$family, Optional<Index>:$index,
                       DefaultValuedAttr<I64Attr, "0">:$offset);
  let results = (outs Larc_ArrayType:$result);
  let hasVerifier = 1;
}

def Larc_InsertOp : Larc_Op<"insert", [Pure, InferTypeOpAdaptor]> {
  let summary = "a family with one member replaced";
  let description = [{
    Example:

    ```mlir
    %T = larc.insert %next into %S[%l]
    ```
  }];
  let arguments = (ins Larc_ArrayType:$value, Larc_FamilyType:$family,
                       Optional<Index>:$index, DefaultValuedAttr<I64Attr, "0">:$offset);
  let results = (outs Larc_FamilyType:$result);
  let hasVerifier = 1;
}

def Larc_LevelsOp : Larc_Op<"levels", [
    RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock]> {
  let summary = "a loop over levels, unrolled at compile time";
  let description = [{
    Runs its region for each index of a level axis from `first` on, in order. The
    region's arguments are the index and the carried values, which are the results
    after the last level.

    Example:

    ```mlir
    %o, %T = larc.levels %l = 1 to L iter(%sum = %o0, %F = %S) {
      %Sl = larc.member %F[%l]
      %next = larc.add %sum, %Sl
      larc.yield %next, %F
    }
    ```
  }];
  let arguments = (ins StrAttr:$level, I64Attr:$first, Variadic<Larc_Value>:$inits);
  let results = (outs Variadic<Larc_Value>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Control within a token
//===----------------------------------------------------------------------===//

def Larc_FoldOp : Larc_Op<"fold", [
    AttrSizedOperandSegments, RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock]> {
  let summary = "steps in order along an operand's axis";
  let description = [{
    Runs its region for each index of `axis`, in order: the several steps of one token.
    The region's arguments are the slices of the arrays after `over` and the carried
    values, which are the results after the last step.

    Example:

    ```mlir
    %T = larc.fold n over(%kj = %k, %vj = %v) iter(%X = %S) {
      %write = larc.mul %kj, %vj
      %next = larc.add %X, %write
      larc.yield %next
    }
    ```
  }];
  let arguments = (ins StrAttr:$axis, Variadic<Larc_ArrayType>:$sources,
                       Variadic<Larc_ArrayType>:$inits);
  let results = (outs Variadic<Larc_ArrayType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block::BlockArgListType getSliceArguments();
    ::mlir::Block::BlockArgListType getCarriedArguments();
  }];
}

def Larc_FireOp : Larc_Op<"fire", [
    AttrSizedOperandSegments, RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock]> {
  let summary = "a region that runs at the end of every n-th period";
  let description = [{
    At the last token of a period, if its number (counted from 1) is a multiple of the
    interval, the results are what the region yields; at all other tokens they are the
    initial values. The region's arguments are the initial values. The interval is a
    number, or an entry of a schedule attribute. The recurrence needs an attribute of
    kind `period`. Whether the region runs before or after a read is dataflow.

    Example:

    ```mlir
    %T = larc.fire every 2 iter(%X = %S) {
      %unit = larc.normalize %X over D
      larc.yield %unit
    }
    %U = larc.fire every intervals[%l] iter(%X = %S) { larc.yield %below }
    ```
  }];
  let arguments = (ins AnyAttrOf<[I64Attr, StrAttr]>:$interval, Optional<Index>:$index,
                       DefaultValuedAttr<I64Attr, "0">:$offset,
                       Variadic<Larc_ArrayType>:$inits);
  let results = (outs Variadic<Larc_ArrayType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Larc_AnchorOp : Larc_Op<"anchor", [Pure, InferTypeOpAdaptor]> {
  let summary = "a state's value at the start of the current period";
  let description = [{
    The operand is a state of the recurrence, which needs an attribute of kind `period`. With a
    period of one token it is the state itself.

    Example:

    ```mlir
    %A = larc.anchor %S
    ```
  }];
  let arguments = (ins Larc_ArrayType:$state);
  let results = (outs Larc_ArrayType:$result);
  let hasVerifier = 1;
}

def Larc_ChooseOp : Larc_Op<"choose", [
    RecursiveMemoryEffects, RecursivelySpeculatable]> {
  let summary = "a variant by the value of an attribute";
  let description = [{
    A compile-time choice: one region for each case, a case for each value of a `choice`
    attribute of the recurrence. All regions yield the same types.

    Example:

    ```mlir
    %p = larc.choose link {
      case softmax {
        %s = larc.softmax %x over M
        larc.yield %s
      }
      case identity, linear { larc.yield %x }
    }
    ```
  }];
  let arguments = (ins StrAttr:$attribute,
                       TypedArrayAttrBase<ArrayAttr, "values of each region">:$cases);
  let results = (outs Variadic<Larc_Value>:$results);
  let regions = (region VariadicRegion<SizedRegion<1>>:$regions);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

def Larc_NestOp : Larc_Op<"nest", [
    RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock]> {
  let summary = "operations that run as one loop nest";
  let description = [{
    Groups elementwise operations and reductions that have one iteration space: `axes`, outermost
    first, the last one along the vector lanes. Inside, no operation uses what a reduction
    of the same nest makes, so that one pass over the space computes everything. Its meaning is that
    of its operations in order.

    Example:

    ```mlir
    %u = larc.nest over [K, V] {
      %d = larc.mul %a, %S
      %r = larc.contract %d, %k over K
      larc.yield %r
    }
    ```
  }];
  let arguments = (ins TypedArrayAttrBase<StrAttr, "axes">:$axes);
  let results = (outs Variadic<Larc_ArrayType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // LARC_DIALECT_LARC_IR_LARCOPS_TD
