//===- ScratchMemory.cpp - Memory of a token function -*- C++ -*- ---------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScratchMemory.h"

using namespace mlir;
using namespace larc;

Buffer ScratchMemory::allocate(ArrayRef<StringAttr> axes, Place &place) {
  Location loc = memory.getLoc();
  SmallVector<int64_t> shape = plan.getBufferShape(axes);
  std::optional<int64_t> wanted = plan.getBufferBytes(shape);
  if (!wanted || bytes > RecurrentPlan::maxBytes - *wanted) {
    tooLarge = true;
    wanted = 0;
  }
  place.bytes = alignScratch(*wanted);
  // The first hole that is large enough, else the end.
  auto *hole = llvm::find_if(
      holes, [&](const Place &free) { return free.bytes >= place.bytes; });
  if (hole != holes.end()) {
    place.offset = hole->offset;
    hole->offset += place.bytes;
    hole->bytes -= place.bytes;
    if (!hole->bytes)
      holes.erase(hole);
  } else {
    if (!holes.empty() && holes.back().offset + holes.back().bytes == bytes)
      bytes = holes.pop_back_val().offset;
    place.offset = bytes;
    bytes += place.bytes;
    peak = std::max(peak, bytes);
  }
  Value offset = arith::ConstantIndexOp::create(base, loc, place.offset);
  auto type = MemRefType::get(shape, plan.computeType);
  Value view =
      memref::ViewOp::create(base, loc, type, memory, offset, ValueRange());
  return {view, SmallVector<StringAttr>(axes)};
}

void ScratchMemory::release(Place place) {
  if (!place.bytes)
    return;
  auto *next = llvm::find_if(
      holes, [&](const Place &free) { return free.offset > place.offset; });
  next = holes.insert(next, place);
  auto mergeWithNext = [&](Place *hole) {
    Place *after = hole + 1;
    if (after == holes.end() || hole->offset + hole->bytes != after->offset)
      return;
    hole->bytes += after->bytes;
    holes.erase(after);
  };
  mergeWithNext(next);
  if (next != holes.begin())
    mergeWithNext(next - 1);
}
