//===- SummarizePass.cpp - larc-summarize -*- C++ -*- ---------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Analysis/Passes.h"
#include "larc/Analysis/Summaries.h"

using namespace mlir;
using namespace larc;

namespace larc {
#define GEN_PASS_DEF_SUMMARIZE
#include "larc/Analysis/Passes.h.inc"
} // namespace larc

namespace {
struct SummarizePass : larc::impl::SummarizeBase<SummarizePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<RecurrenceOp> recurrences(module.getOps<RecurrenceOp>());
    for (RecurrenceOp recurrence : recurrences) {
      FailureOr<Summaries> summaries = summarize(recurrence);
      if (failed(summaries))
        return signalPassFailure();
      Operation *last = recurrence;
      for (SummaryLevel &level : summaries->levels)
        for (RecurrenceOp op : {level.summary, level.composition}) {
          op->moveAfter(last);
          last = op;
        }
    }
  }
};
} // namespace
