//===- Passes.td - Passes on the larc dialect -*- tablegen -*- ------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_DIALECT_LARC_TRANSFORMS_PASSES_TD
#define LARC_DIALECT_LARC_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

class Larc_RecurrencePass<string argument> : Pass<argument, "::larc::RecurrenceOp"> {
  let dependentDialects = ["::larc::LarcDialect"];
}

def Specialize : Larc_RecurrencePass<"larc-specialize"> {
  let summary = "sets a recurrence's attributes and resolves its variants";
  let description = [{
    Gives attributes the values of `attributes` (`name=value` pairs separated by `;`), the
    others keep their defaults. Every `larc.choose` is replaced by the region of its value,
    every reference to an integer attribute by the number, and with a period of one token every
    `larc.anchor` by the state. An unknown attribute or a bad value is an error.

    `--larc-specialize="attributes=link=b"` turns

    ```mlir
    %p = larc.choose link {
      case a { larc.yield %x }
      case b { larc.yield %y }
    }
    larc.yield %p
    ```

    into

    ```mlir
    larc.yield %y
    ```
  }];
  let options = [Option<"attributes", "attributes", "std::string", "",
                        "values by name, `name=value` separated by `;`">];
}

def ExpandLevels : Larc_RecurrencePass<"larc-expand-levels"> {
  let summary = "unrolls loops over levels and splits families";
  let description = [{
    Replaces each family of operands, constants or states by its members and unrolls
    `larc.levels`. Member `l` of `S` is called `S<l>`; an axis `n` that the family sizes by
    level becomes `n<l>`. The axis of a schedule is bound to the schedule's length. A member outside
    the levels is an error.

    With `intervals[L] = [1, 2]`

    ```mlir
    %o = larc.levels %l = 0 to L iter(%sum = %zero) {
      %Sl = larc.member %S[%l]
      %next = larc.add %sum, %Sl
      larc.yield %next
    }
    ```

    becomes

    ```mlir
    %a = larc.add %zero, %S0
    %o = larc.add %a, %S1
    ```
  }];
}

def BindDims : Larc_RecurrencePass<"larc-bind-dims"> {
  let summary = "binds axes to sizes";
  let description = [{
    Adds the sizes of `sizes` (`K=64` separated by `;`) to the recurrence's `dims`, gives axes
    that `larc.rename` makes the size of the axis renamed, and replaces real attributes by
    constants. With `complete` an axis that is left without a size is an error.

    ```mlir
    larc.recurrence @r(%q[K]) attributes(%scale = rsqrt(K)) -> (o[K]) {
      %o = larc.mul %q, %scale
      larc.yield %o
    }
    ```

    with `sizes=K=64` becomes

    ```mlir
    larc.recurrence @r(%q[K]) attributes(%scale = rsqrt(K)) -> (o[K]) dims(K = 64) {
      %c = larc.constant 0.125
      %o = larc.mul %q, %c
      larc.yield %o
    }
    ```
  }];
  let options = [Option<"sizes", "sizes", "std::string", "", "sizes by axis, `K=64` separated by `;`">,
                 Option<"complete", "complete", "bool", "true", "every axis needs a size">];
}

def Decompose : Larc_RecurrencePass<"larc-decompose"> {
  let summary = "replaces composite operations by simpler ones";
  let description = [{
    Replaces operations that are short for others (norms, normalisations, softmax,
    orthogonalisation; `CompositeOpInterface`) by elementwise operations, reductions and
    contractions.

    ```mlir
    %n = larc.norm %x over K
    ```

    becomes

    ```mlir
    %s = larc.contract %x, %x over K
    %n = larc.sqrt %s
    ```
  }];
  let statistics = [Statistic<"numDecomposed", "decomposed", "operations replaced">];
}

def UnrollFolds : Larc_RecurrencePass<"larc-unroll-folds"> {
  let summary = "writes the steps of a fold out";
  let description = [{
    Replaces a `larc.fold` over an axis of known size by its steps, each on the slices of its index,
    so that an analysis sees them as operations of the step. Folds of more than `max-steps` steps, or of
    an unknown number, are left as they are.

    With n of size 2

    ```mlir
    %T = larc.fold n over(%kj = %k) iter(%X = %S) {
      %next = larc.add %X, %kj
      larc.yield %next
    }
    ```

    becomes

    ```mlir
    %k0 = larc.slice %k[n = 0]
    %a = larc.add %S, %k0
    %k1 = larc.slice %k[n = 1]
    %T = larc.add %a, %k1
    ```
  }];
  let options = [Option<"maxSteps", "max-steps", "int64_t", "16",
                        "steps that are written out at most">];
  let statistics = [Statistic<"numUnrolled", "unrolled", "folds replaced">];
}

def Distribute : Larc_RecurrencePass<"larc-distribute"> {
  let summary = "distributes sums over products where no large array is left";
  let description = [{
    Rewrites sums and products, in exact arithmetic, where an array over several axes that every token would
    have of its own becomes sums of products of smaller ones:

    - a contraction whose operands are such arrays, made of products and sums, becomes a sum of contractions of
      their parts. What is the same for all tokens of a period counts as a part;
    - a contraction of a sum of two states becomes the sum of two contractions;
    - a contraction of a state over several axes, with a product of one array for each, sums over one axis after
      the other;
    - a contraction over an axis of known size up to 16 that is added to a state becomes a sum of products;
    - e to the sum of two arrays that scales a state is the product of two powers;
    - two multiples of one state that are added are one multiple, and the sum of its product with an array is a contraction.

    Squares are written out: |h - a p|^2 with p over two axes becomes |h|^2 - 2 a (p h) + a^2 |p|^2,
    which does not assume that p has length 1.

    ```mlir
    %along = larc.mul %a, %p                 // [M], [D, M]
    %across = larc.sub %h, %along            // [D, M]
    %s = larc.contract %across, %across over D
    ```

    becomes, with %p from `larc.anchor`,

    ```mlir
    %hh = larc.contract %h, %h over D        // []
    %hp = larc.contract %h, %p over D        // [M]
    %pp = larc.contract %p, %p over D        // [M], the same for all tokens
    ...
    ```
  }];
}

def Factor : Larc_RecurrencePass<"larc-factor"> {
  let summary = "moves factors to where they cost least";
  let description = [{
    Rewrites products, in exact arithmetic, so that work is done on arrays with few axes:

    - a factor of a contracted array that lacks some of its axes joins the other operand or, where it
      has none of the summed axes, the result;
    - division by an array with fewer axes becomes multiplication by its reciprocal;
    - of a product of several arrays, those with fewer axes are multiplied first.

    Each rewrite changes roundings only, by at most one for each product moved. It is made only where the
    array it takes work from has more axes than the one it gives it to.

    ```mlir
    %d = larc.mul %a, %S                    // [K], [K, V]
    %u = larc.contract %d, %k over K
    ```

    becomes

    ```mlir
    %ak = larc.mul %a, %k                   // [K]
    %u = larc.contract %S, %ak over K
    ```
  }];
}

def FormNests : Pass<"larc-form-nests"> {
  let summary = "groups operations of steps and chunks into loop nests";
  let description = [{
    Runs on all recurrences and chunk scans that are, or are in, the operation. Fuses the
    operations of each block into `larc.nest`s: one pass over an iteration
    space for as many operations as dependences allow. Reductions decide how many passes a space
    needs. Cheap elementwise values over two or more axes are computed again in every nest that
    uses them, and a state's new value is stored by the last nest that uses it, so that a
    step reads and writes a state as seldom as its reductions allow. Axes of a nest are ordered so
    that the last one, along vector lanes, is one that its reductions do not sum over, if there is one.

    Products of matrices (contractions where either operand has an axis of its own that is kept)
    and the operations of the chunk dialect stay outside of nests.

    A recurrence must be flat, bound and decomposed.
  }];
}

#endif // LARC_DIALECT_LARC_TRANSFORMS_PASSES_TD
