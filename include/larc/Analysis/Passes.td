//===- Passes.td - Analyses as passes -*- tablegen -*- --------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_ANALYSIS_PASSES_TD
#define LARC_ANALYSIS_PASSES_TD

include "mlir/Pass/PassBase.td"

def AnalyzeTransitions : Pass<"larc-analyze-transitions", "::mlir::ModuleOp"> {
  let summary = "prints the transition of each state";
  let description = [{
    Prints, to standard output, the class and the normal form of every state's transition, the
    reads of the state, the stage in which it is computed, and what keeps it from a faster class
    (docs/transition-algebra.md). Recurrences must be flat; with `prepare` they are first brought into the form that
    the analysis reads.

    With `remarks` every obstacle is a remark at its operation, too.

    ```text
    state S[K, V]: diagonal, stage 0, group 0
      keys over [K]
      S' = (decay) S + k * v
      read read over [K]: q . (decay) S + k * v
    ```
  }];
  let dependentDialects = ["::larc::LarcDialect"];
  let options = [
    Option<"prepare", "prepare", "bool", "true",
           "decompose, unroll, distribute and factor first">,
    Option<"remarks", "remarks", "bool", "false",
           "report obstacles as remarks, too">];
}

def Summarize : Pass<"larc-summarize", "::mlir::ModuleOp"> {
  let summary = "derives what a segment of tokens does to states";
  let description = [{
    Adds, after each recurrence `@NAME`, two recurrences for each level of its states:
    `@NAME_summaryN` runs a segment from states of zero and keeps the segment's transition beside them, and
    `@NAME_compositionN`, whose tokens are segments, makes states at the ends of segments of it. A state whose
    update uses others is of a later level than they. The recurrence must be flat. A state whose transition does
    not compose (one that changes in a larc.fire, depends on a larc.anchor, or is sequential) is an error.

    ```mlir
    larc.recurrence @decayed(%k[K], %v[V], %g[K]: gate) state(%S[K, V]) -> (o[V]) { ... }
    ```

    becomes, beside itself,

    ```mlir
    larc.recurrence @decayed_summary0(%k[K], %v[V], %g[K]: gate)
        state(%S[K, V], %S_decay[K] = 1.0) -> () {
      %decay = larc.exp %g
      %kept = larc.mul %decay, %S
      %write = larc.mul %k, %v
      %next = larc.add %kept, %write
      %product = larc.mul %S_decay, %decay
      larc.yield %next, %product
    }
    larc.recurrence @decayed_composition0(%S_end[K, V], %S_decay[K])
        state(%S[K, V]) -> (S_1[K, V]) {
      %moved = larc.mul %S_decay, %S
      %next = larc.add %moved, %S_end
      larc.yield %next, %next
    }
    ```
  }];
  let dependentDialects = ["::larc::LarcDialect"];
}

#endif // LARC_ANALYSIS_PASSES_TD
