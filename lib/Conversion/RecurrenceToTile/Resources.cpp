//===- Resources.cpp - What a tile program takes -*- C++ -*- --------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Resources.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace larc;

using tile::RegType;

/// Values that are the same in all lanes go into registers that a warp has one
/// of. It has 63 of them, which addresses need, too.
static constexpr int64_t kUniformRegisters = 32;

namespace {
using LiveSet = llvm::SmallSetVector<Value, 16>;
} // namespace

/// Whether an element of `value` is gone before the next one is computed.
static bool isTransient(Value value) {
  if (!value.getDefiningOp<tile::MapOp>() || !value.hasOneUse())
    return false;
  Operation *user = *value.user_begin();
  return isa<tile::ReduceOp>(user) ||
         (isa<tile::MapOp>(user) &&
          value.getDefiningOp()->getNextNode() == user);
}

/// Registers of 32 bits that a lane has of `value`. Two elements of 16 bits
/// share one; truth values are predicates, and made anew more often than kept.
static int64_t countRegisters(RegType type) {
  if (type.getElementType().isInteger(1))
    return 0;
  return static_cast<int64_t>(llvm::divideCeil(
      type.getNumRegisters() * type.getElementType().getIntOrFloatBitWidth(),
      32));
}

static int64_t countRegisters(const LiveSet &live) {
  int64_t registers = 0, uniform = 0;
  for (Value value : live) {
    auto type = dyn_cast<RegType>(value.getType());
    if (!type || isTransient(value))
      continue;
    bool isUniform = llvm::all_of(type.getLayout().getLanes(),
                                  [](int64_t step) { return step == 0; });
    (isUniform ? uniform : registers) += countRegisters(type);
  }
  return registers + std::max<int64_t>(uniform - kUniformRegisters, 0);
}

/// What is live before `block`, whose end `live` is what is needed after. The
/// most that is live at a time in it is put into `peak`.
static LiveSet countBlock(Block &block, LiveSet live, int64_t &peak) {
  for (Operation &op : llvm::reverse(block)) {
    peak = std::max(peak, countRegisters(live));
    for (Value result : op.getResults())
      live.remove(result);
    // The scalar code of a map works on one element after the other.
    if (!isa<tile::MapOp>(op)) {
      LiveSet after = live;
      // What a loop uses it has to keep for its next turn.
      if (isa<LoopLikeOpInterface>(op))
        op.walk([&](Operation *inner) {
          for (Value operand : inner->getOperands())
            if (inner != &op &&
                !op.isAncestor(operand.getParentRegion()->getParentOp()))
              after.insert(operand);
        });
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          live.insert_range(countBlock(inner, after, peak));
    }
    live.insert_range(op.getOperands());
  }
  peak = std::max(peak, countRegisters(live));
  for (Value argument : block.getArguments())
    live.remove(argument);
  return live;
}

/// Registers for addresses, offsets and constants.
static int64_t countScalars(tile::ProgramOp program) {
  // What the token loop reads and writes has an address and a distance of
  // tokens; a few of them fit the warp's registers.
  constexpr int64_t scalars = 12, freeAddresses = 8;
  int64_t accesses = 0;
  program.walk([&](Operation *op) {
    bool isGlobal = false;
    if (auto load = dyn_cast<tile::LoadOp>(op))
      isGlobal = isa<tile::GlobalType>(load.getMemory().getType());
    else if (auto store = dyn_cast<tile::StoreOp>(op))
      isGlobal = isa<tile::GlobalType>(store.getMemory().getType());
    if (isGlobal && op->getParentOfType<scf::ForOp>())
      ++accesses;
  });
  return scalars + 4 * std::max<int64_t>(accesses - freeAddresses, 0);
}

Resources larc::countResources(tile::ProgramOp program) {
  Resources resources;
  countBlock(program.getBody().front(), {}, resources.registers);
  resources.registers += countScalars(program);
  program.walk([&](tile::AllocOp alloc) {
    tile::SharedType type = alloc.getType();
    resources.sharedBytes += type.getRows() * type.getCols() *
                             type.getElementType().getIntOrFloatBitWidth() / 8;
  });
  return resources;
}
