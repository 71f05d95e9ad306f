//===- SharedArrays.cpp - The shared memory of a scan -*- C++ -*- ---------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoleEmitter.h"

using namespace mlir;
using namespace larc;

using tile::SharedType;

/// Rows of matrices are as long as the units' widest pieces.
static constexpr int64_t kSwizzle = 128;
/// Chunks under way hide the latency of memory; more do not help.
static constexpr int64_t kMostStages = 4;
/// Elements of float32 between rows, so that lanes meet different banks.
static constexpr int64_t kPad = 8;

SharedArrays::SharedArrays(const ScanPlan &plan, OpBuilder entry)
    : plan(plan), entry(entry), loc(plan.scan.getLoc()) {}

SharedType SharedArrays::getType(const Recipe &recipe, ArrayForm form,
                                 int64_t stages) const {
  MLIRContext *context = plan.scan.getContext();
  Type f32 = Float32Type::get(context), bf16 = BFloat16Type::get(context);
  StringAttr axis;
  bool hasTokens = false;
  for (Value value : {recipe.value, recipe.decay}) {
    if (!value)
      continue;
    if (StringAttr channels = plan.getChannels(value))
      axis = channels;
    hasTokens |= plan.hasTokens(value) && recipe.scale != Scale::Total;
  }
  switch (form) {
  case ArrayForm::Matrix:
  case ArrayForm::Low:
    return SharedType::get(context, plan.chunk, plan.getPadded(axis), bf16,
                           kSwizzle, /*pad=*/0, stages);
  case ArrayForm::Scores:
    return SharedType::get(context, plan.chunk, plan.chunk, bf16,
                           std::min(2 * plan.chunk, kSwizzle), /*pad=*/0,
                           stages);
  case ArrayForm::Exact:
    return SharedType::get(context, 1, 1, f32, 0, 3, stages);
  case ArrayForm::Float:
    break;
  }
  if (axis && hasTokens)
    return SharedType::get(context, plan.getPadded(axis), plan.chunk, f32, 0,
                           kPad, stages);
  int64_t cols = axis ? plan.getPadded(axis) : hasTokens ? plan.chunk : 1;
  return SharedType::get(context, 1, cols, f32, 0, cols == 1 ? 3 : 0, stages);
}

Value SharedArrays::allocate(SharedType type) {
  bytes += llvm::alignTo(type.getBytes(), 1024);
  return tile::AllocOp::create(entry, loc, type, IntegerAttr());
}

Value SharedArrays::allocate(const Recipe &recipe, ArrayForm form) {
  return allocate(getType(recipe, form, /*stages=*/1));
}

Value SharedArrays::allocate(int64_t rows, int64_t cols) {
  MLIRContext *context = plan.scan.getContext();
  return allocate(
      SharedType::get(context, rows, cols, Float32Type::get(context), 0, 0, 1));
}

Value SharedArrays::cross(const Recipe &recipe, ArrayForm form) {
  for (const Crossing &crossing : crossings)
    if (crossing.recipe == recipe && crossing.form == form)
      return crossing.memory;
  Value memory = allocate(getType(recipe, form, /*stages=*/2));
  crossings.push_back({recipe, form, memory});
  return memory;
}

void SharedArrays::allocateRings() {
  MLIRContext *context = plan.scan.getContext();
  chunk::ScanOp scan = plan.scan;
  for (auto [i, argument] : llvm::enumerate(scan.getOperandArguments())) {
    rings.emplace_back();
    if (!plan.getRawOperand(argument))
      continue;
    int64_t cols = plan.getPadded(plan.getChannels(argument));
    FloatType element = plan.getOperandType(static_cast<unsigned>(i));
    bool is16Bit = element.getWidth() == 16;
    auto type = SharedType::get(context, plan.chunk, cols, element,
                                is16Bit ? kSwizzle : 0, is16Bit ? 0 : 4, 1);
    rings.back() = tile::AllocOp::create(entry, loc, type, IntegerAttr());
    ringBytes += static_cast<int64_t>(llvm::alignTo(type.getBytes(), 1024));
  }
  // Numbers that nothing folds, until the right ones are known.
  stages = arith::ConstantIndexOp::create(entry, loc, kMostStages);
  stagesAhead = arith::ConstantIndexOp::create(entry, loc, kMostStages - 1);
}

/// What no warp reads is not copied.
void SharedArrays::removeUnusedRings() {
  for (Value &ring : rings) {
    if (!ring)
      continue;
    auto isCopied = [](Operation *stage) {
      return llvm::all_of(stage->getUsers(), [](Operation *user) {
        return isa<tile::CopyAsyncOp>(user);
      });
    };
    if (!llvm::all_of(ring.getUsers(), isCopied))
      continue;
    auto type = cast<SharedType>(ring.getType());
    ringBytes -= static_cast<int64_t>(llvm::alignTo(type.getBytes(), 1024));
    for (Operation *user : llvm::make_early_inc_range(ring.getUsers())) {
      for (Operation *copy : llvm::make_early_inc_range(user->getUsers()))
        copy->erase();
      user->erase();
    }
    ring.getDefiningOp()->erase();
    ring = Value();
  }
}

LogicalResult SharedArrays::chooseStages(int64_t &chosen) {
  removeUnusedRings();
  int64_t limit = plan.options.sharedBytes;
  chosen = plan.options.stages;
  if (chosen == 0)
    chosen =
        ringBytes == 0 ? 2 : std::min(kMostStages, (limit - bytes) / ringBytes);
  // One chunk that is worked on and one that is on its way.
  constexpr int64_t least = 2;
  int64_t all = bytes + std::max(chosen, least) * ringBytes;
  if (chosen < least || all > limit) {
    chunk::ScanOp scan = plan.scan;
    return scan.emitError("needs ")
           << all << " bytes of shared memory: expected at most " << limit;
  }
  for (Value ring : rings) {
    if (!ring)
      continue;
    auto type = cast<SharedType>(ring.getType());
    ring.setType(SharedType::get(type.getContext(), type.getRows(),
                                 type.getCols(), type.getElementType(),
                                 type.getSwizzle(), type.getPad(), chosen));
  }
  auto set = [&](Value constant, int64_t number) {
    constant.getDefiningOp<arith::ConstantOp>().setValueAttr(
        IntegerAttr::get(constant.getType(), number));
  };
  set(stages, chosen);
  set(stagesAhead, chosen - 1);
  return success();
}
