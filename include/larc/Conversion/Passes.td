//===- Passes.td - Conversions from the larc dialect -*- tablegen -*- -----===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_CONVERSION_PASSES_TD
#define LARC_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

class Larc_RecurrentPass<string argument> : Pass<argument, "::mlir::ModuleOp"> {
  let options = [
    Option<"computeType", "compute-type", "std::string", "\"f32\"",
           "type of states and of all arithmetic: f32 or f64">,
    ListOption<"operandTypes", "operand-types", "std::string",
               "element type of each token operand; the compute type if not given">,
    ListOption<"constantTypes", "constant-types", "std::string",
               "element type of each constant; the compute type if not given">,
    ListOption<"outputTypes", "output-types", "std::string",
               "element type of each output; the compute type if not given">,
    Option<"vectorBits", "vector-bits", "unsigned", "512", "bits of a vector register">,
    Option<"cacheBytes", "cache-bytes", "unsigned", "36864",
           "bytes of state that stay in the innermost cache">
  ];
}

def ConvertLarcToLoops : Larc_RecurrentPass<"convert-larc-to-loops"> {
  let summary = "makes the token loop of one head";
  let description = [{
    Adds, for the module's recurrence (flat, bound, grouped into nests), the function
    `@NAME_tokens`: a loop over the tokens of one head of one sequence on buffers, with
    each `larc.nest` as a loop nest over vectors. The recurrence stays, for the pass that makes
    the entry point.

    Values that nests hand on lie in scratch memory at fixed offsets; a state's new value is
    written over the old one where nothing reads that any more. Where all states, all
    outputs and all arithmetic over several axes have an axis that nothing sums over, the function works on a block
    of that axis, small enough for the states to stay in cache.

    Arguments: the number of tokens, the position of the first one, then for each operand,
    constant and output its memory and token stride, for each state and each anchored
    state its buffer, and the scratch memory.
  }];
  let dependentDialects = [
    "::larc::LarcDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def EmitEntry : Larc_RecurrentPass<"larc-emit-entry"> {
  let summary = "makes the C entry point of a recurrence";
  let description = [{
    Adds `larc_NAME(call, first, last, scratch)`, which runs tasks (sequence, head, block of
    columns) of a call described by the structures of `larc/Runtime/Recurrent.h`, and the
    constants `larc_NAME_scratch_bytes` and `larc_NAME_blocks`; removes the recurrence.
    The entry point prepares the states (copies, initial values, the block in cache for long
    sequences), calls `@NAME_tokens`, and stores the final ones.
  }];
  let dependentDialects = [
    "::larc::LarcDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def ExpandVectorMath : Pass<"larc-expand-vector-math"> {
  let summary = "replaces functions on f32 and f64 by polynomials";
  let description = [{
    Rewrites `math` functions on f32 and f64, scalars and vectors of any shape, to arithmetic without branches, within 3
    units in the last place: in both types `exp`, `expm1`, `tanh`, and `log1p` of e^-|x| (as `softplus` and
    its like have it), in f32 also `log`, `log1p` and `erf`. In f32, where `exp` has denormal results, they become 0. All that
    remain become calls of the C library's functions, element by element.

    ```mlir
    %y = math.exp %x : vector<16xf32>
    // becomes n = round(x / ln(2)), r = x - n ln(2), and 2^n P(r):
    %0 = arith.mulf %x, %cst : vector<16xf32>
    %n = math.roundeven %0 : vector<16xf32>
    %1 = math.fma %n, %cst_0, %x : vector<16xf32>
    %r = math.fma %n, %cst_1, %1 : vector<16xf32>
    ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::math::MathDialect", "::mlir::vector::VectorDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

#endif // LARC_CONVERSION_PASSES_TD
