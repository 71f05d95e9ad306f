//===- DeriveChunk.cpp - The pass derive-chunk -*- C++ -*- ----------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChunkDeriver.h"

#include "larc/Conversion/Passes.h"

using namespace mlir;
using namespace larc;

namespace larc {
#define GEN_PASS_DEF_DERIVECHUNK
#include "larc/Conversion/Passes.h.inc"
} // namespace larc

/// A name for a token axis that no axis of the recurrence has.
static StringAttr makeAxisName(RecurrenceOp recurrence, StringRef base) {
  SmallVector<StringAttr> axes = recurrence.getAllAxes();
  std::string name = base.str();
  while (llvm::any_of(axes, [&](StringAttr axis) { return axis == name; }))
    name += "_";
  return StringAttr::get(recurrence.getContext(), name);
}

static bool hasFires(RecurrenceOp recurrence) {
  return recurrence.getBody()
      .walk([](FireOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// An empty scan after `recurrence`, with its arguments.
static chunk::ScanOp createScan(RecurrenceOp recurrence,
                                const TransitionAnalysis &analysis,
                                int64_t size) {
  OpBuilder builder(recurrence->getContext());
  builder.setInsertionPointAfter(recurrence);
  bool boundary = hasFires(recurrence);
  if (int64_t period = recurrence.getPeriod())
    size = std::clamp<int64_t>(period - (boundary ? 1 : 0), 1, size);
  StringAttr token = makeAxisName(recurrence, "token");
  StringAttr source = makeAxisName(recurrence, "source");
  SmallVector<Attribute> tokens = {
      chunk::TokenAxisAttr::get(builder.getContext(), token, 0, size),
      chunk::TokenAxisAttr::get(builder.getContext(), source, 0, size)};
  SmallVector<Attribute> classes;
  for (const StateTransition &transition : analysis.getTransitions())
    classes.push_back(chunk::TransitionClassAttr::get(
        builder.getContext(), transition.transitionClass));
  auto scan = chunk::ScanOp::create(
      builder, recurrence.getLoc(), recurrence.getSymName(), size,
      builder.getArrayAttr(tokens),
      recurrence.getDims().value_or(builder.getDictionaryAttr({})),
      builder.getArrayAttr(classes),
      static_cast<int64_t>(recurrence.getTokenOperands().size()),
      static_cast<int64_t>(recurrence.getConstants().size()),
      static_cast<int64_t>(recurrence.getStates().size()), boundary);
  Block &body = scan.getBody().emplaceBlock();
  auto withToken = [&](Type type) {
    SmallVector<StringAttr> axes = {token};
    return ArrayType::unionOf(cast<ArrayType>(type),
                              ArrayType::ofAxes(builder.getContext(), axes));
  };
  for (Value argument : recurrence.getOperandArguments())
    body.addArgument(withToken(argument.getType()), argument.getLoc());
  for (Value argument : recurrence.getConstantArguments())
    body.addArgument(argument.getType(), argument.getLoc());
  for (Value argument : recurrence.getStateArguments())
    body.addArgument(argument.getType(), argument.getLoc());
  for (unsigned state : recurrence.getAnchoredStates())
    body.addArgument(recurrence.getStateArguments()[state].getType(),
                     recurrence.getLoc());
  return scan;
}

static LogicalResult deriveScan(RecurrenceOp recurrence, int64_t size) {
  if (!recurrence.isFlat() || !recurrence.getDims())
    return recurrence.emitError()
           << "is not flat and bound: specialise it, expand its levels and "
              "bind its axes first";
  TransitionAnalysis analysis(recurrence);
  {
    chunk::ScanOp scan = createScan(recurrence, analysis, size);
    if (succeeded(ChunkDeriver(recurrence, analysis, scan).run()))
      return success();
    scan.erase();
  }
  chunk::ScanOp scan = createScan(recurrence, analysis, size);
  return ChunkDeriver(recurrence, analysis, scan).runTokenByToken();
}

namespace {
struct DeriveChunkPass : larc::impl::DeriveChunkBase<DeriveChunkPass> {
  using DeriveChunkBase::DeriveChunkBase;

  void runOnOperation() override {
    if (chunkSize < 1) {
      getOperation().emitError() << "a chunk of " << chunkSize << " tokens";
      return signalPassFailure();
    }
    for (RecurrenceOp recurrence :
         llvm::to_vector(getOperation().getOps<RecurrenceOp>()))
      if ((prepare && failed(prepareForAnalysis(recurrence))) ||
          failed(deriveScan(recurrence, chunkSize)))
        return signalPassFailure();
  }
};
} // namespace
