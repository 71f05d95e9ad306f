//===- Decompose.cpp - Replaces composite operations -*- C++ -*- ----------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Dialect/Larc/Transforms/Flatten.h"
#include "larc/Dialect/Larc/Transforms/Passes.h"

using namespace mlir;
using namespace larc;

namespace larc {
#define GEN_PASS_DEF_DECOMPOSE
#include "larc/Dialect/Larc/Transforms/Passes.h.inc"
} // namespace larc

namespace {
struct DecomposePass : larc::impl::DecomposeBase<DecomposePass> {
  void runOnOperation() override {
    SmallVector<CompositeOpInterface> composites;
    getOperation().getBody().walk(
        [&](CompositeOpInterface op) { composites.push_back(op); });
    for (CompositeOpInterface op : composites) {
      OpBuilder builder(op);
      FailureOr<Value> value = op.decompose(builder);
      if (failed(value))
        return signalPassFailure();
      op->replaceAllUsesWith(ValueRange(*value));
      op.erase();
      ++numDecomposed;
    }
    // Axes that a decomposition renames have the sizes of those it took.
    if (getOperation().getDims() &&
        failed(bindDims(getOperation(), {}, /*complete=*/false)))
      signalPassFailure();
  }
};
} // namespace
