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

def AnalyzeTransitions : Pass<"larc-analyze-transitions", "::larc::RecurrenceOp"> {
  let summary = "prints the transition of each state";
  let description = [{
    Prints, to standard output, the class and the normal form of every state's transition, the
    reads of the state, the stage in which it is computed, and what keeps it from a faster class
    (docs/transition-algebra.md). The recurrence must be flat; with `prepare` it is first brought into the form that
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

#endif // LARC_ANALYSIS_PASSES_TD
