//===- UnrollFolds.cpp - Writes the steps of a fold out -*- C++ -*- -------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Dialect/Larc/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace larc;

namespace larc {
#define GEN_PASS_DEF_UNROLLFOLDS
#include "larc/Dialect/Larc/Transforms/Passes.h.inc"
} // namespace larc

/// Replaces `fold` by `steps` copies of its body.
static void unroll(FoldOp fold, int64_t steps) {
  OpBuilder builder(fold);
  Block &body = fold.getBody().front();
  SmallVector<Value> carried(fold.getInits());
  for (int64_t step = 0; step < steps; ++step) {
    IRMapping mapping;
    for (auto [argument, source] :
         llvm::zip(fold.getSliceArguments(), fold.getSources()))
      mapping.map(argument, SliceOp::create(builder, source.getLoc(), source,
                                            fold.getAxisAttr(), Value(),
                                            static_cast<uint64_t>(step)));
    for (auto [argument, value] :
         llvm::zip(fold.getCarriedArguments(), carried))
      mapping.map(argument, value);
    for (Operation &op : body.without_terminator()) {
      Operation *copy = builder.clone(op, mapping);
      // Names of values are names of one step's.
      if (auto name = dyn_cast<NameLoc>(op.getLoc()))
        copy->setLoc(
            NameLoc::get(builder.getStringAttr(name.getName().getValue() + "_" +
                                               Twine(step)),
                         name.getChildLoc()));
    }
    for (auto [value, yielded] :
         llvm::zip(carried, cast<YieldOp>(body.getTerminator()).getValues()))
      value = mapping.lookupOrDefault(yielded);
  }
  fold.replaceAllUsesWith(carried);
  fold.erase();
}

namespace {
struct UnrollFoldsPass : larc::impl::UnrollFoldsBase<UnrollFoldsPass> {
  using UnrollFoldsBase::UnrollFoldsBase;

  void runOnOperation() override {
    RecurrenceOp op = getOperation();
    // Outer folds first: what they copy may hold more.
    while (true) {
      FoldOp found;
      int64_t steps = 0;
      op.getBody().walk<WalkOrder::PreOrder>([&](FoldOp fold) {
        std::optional<int64_t> size = op.getAxisSize(fold.getAxisAttr());
        if (!size || *size > maxSteps)
          return WalkResult::advance();
        found = fold;
        steps = *size;
        return WalkResult::interrupt();
      });
      if (!found)
        return;
      unroll(found, steps);
      ++numUnrolled;
    }
  }
};
} // namespace
