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
/// Chunks under way: those that the first role's warps and the second role
/// have, and those that hide the latency of memory; more do not help.
static constexpr int64_t kMostStages = 8;
/// Of arrays in shared memory.
static constexpr int64_t kAlignment = 1024;

SharedArrays::SharedArrays(const ScanPlan &plan, OpBuilder entry)
    : plan(plan), entry(entry), loc(plan.scan.getLoc()) {}

/// Rows of so many tokens of float32 have one element after them: lanes that
/// store along tokens then meet different banks, and those that load few.
static constexpr int64_t kTokensOfPad = 4;

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
  case ArrayForm::Partials: {
    auto op = cast<ReductionOpInterface>(recipe.value.getDefiningOp());
    return SharedType::get(
        context, plan.getPadded(op.getReducedAxes().front()) / ScanPlan::kRows,
        hasTokens ? plan.chunk : 1, f32, 0, 0, stages);
  }
  case ArrayForm::Float:
    break;
  }
  if (axis && hasTokens)
    return SharedType::get(context, plan.getPadded(axis), plan.chunk, f32, 0,
                           plan.chunk / kTokensOfPad, stages);
  int64_t cols = axis ? plan.getPadded(axis) : hasTokens ? plan.chunk : 1;
  return SharedType::get(context, 1, cols, f32, 0, cols == 1 ? 3 : 0, stages);
}

Value SharedArrays::allocate(SharedType type) {
  bytes += static_cast<int64_t>(llvm::alignTo(type.getBytes(), kAlignment));
  return tile::AllocOp::create(entry, loc, type, IntegerAttr());
}

Value SharedArrays::allocatePhases(int64_t count, int64_t warps) {
  barriers += count;
  return tile::AllocPhasesOp::create(
      entry, loc,
      tile::PhasesType::get(plan.scan.getContext(), count, warps,
                            /*copies=*/false));
}

Value SharedArrays::allocate(const Recipe &recipe, ArrayForm form) {
  return allocate(getType(recipe, form, /*stages=*/1));
}

Value SharedArrays::allocate(int64_t rows, int64_t cols) {
  MLIRContext *context = plan.scan.getContext();
  return allocate(
      SharedType::get(context, rows, cols, Float32Type::get(context), 0, 0, 1));
}

Value SharedArrays::allocateRing(const Recipe &recipe, ArrayForm form) {
  return allocateRing(getType(recipe, form, /*stages=*/1));
}

Value SharedArrays::allocateRing(SharedType type) {
  ringed.push_back(tile::AllocOp::create(entry, loc, type, IntegerAttr()));
  return ringed.back();
}

Value SharedArrays::findCrossing(const Recipe &recipe, ArrayForm form) const {
  for (const Crossing &crossing : crossings)
    if (crossing.recipe == recipe && crossing.form == form)
      return crossing.memory;
  return {};
}

Value SharedArrays::getCarried(const CarriedForm &form) {
  Value &memory = carried[form.argument];
  if (memory)
    return memory;
  int64_t cols = form.axis ? plan.getPadded(form.axis) : 1;
  MLIRContext *context = plan.scan.getContext();
  constexpr int64_t pad = 4;
  memory = allocateRing(
      SharedType::get(context, plan.chunk + 1, cols, Float32Type::get(context),
                      /*swizzle=*/0, form.axis ? pad : pad - 1, /*stages=*/1));
  return memory;
}

Value SharedArrays::cross(const Recipe &recipe, ArrayForm form) {
  for (Crossing &crossing : crossings) {
    if (!(crossing.recipe == recipe) || crossing.form != form)
      continue;
    if (crossing.reader != reader)
      crossing.reader = 0;
    return crossing.memory;
  }
  Value memory = allocateRing(recipe, form);
  int64_t producer = recipe.value ? plan.getRole(recipe.value) : 0;
  crossings.push_back({recipe, form, memory, producer, reader});
  return memory;
}

SmallVector<const Crossing *>
SharedArrays::getCrossings(int64_t producer) const {
  SmallVector<const Crossing *> found;
  for (const Crossing &crossing : crossings)
    if (crossing.producer == producer)
      found.push_back(&crossing);
  return found;
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
    // The copy unit pads no rows.
    bool isSwizzled = element.getWidth() == 16 || plan.hasBulkCopies();
    auto type =
        SharedType::get(context, plan.chunk, cols, element,
                        isSwizzled ? kSwizzle : 0, isSwizzled ? 0 : 4, 1);
    rings.back() = allocateRing(type);
  }
  auto makePhases = [&](int64_t warps, bool copies) -> Value {
    return tile::AllocPhasesOp::create(
        entry, loc, tile::PhasesType::get(context, 1, warps, copies));
  };
  bool isBulk = plan.hasBulkCopies();
  phases.landed = makePhases(isBulk ? 1 : plan.copyWarps, !isBulk);
  for (int64_t role = 0; role < plan.getStateRoles(); ++role)
    phases.ready.push_back(makePhases(
        role == 0 ? plan.chunkWarps : plan.getStateWarps(role), false));
  phases.done = makePhases(plan.getAllStateWarps(), false);
  // Numbers that nothing folds, until the right ones are known.
  stages = arith::ConstantIndexOp::create(entry, loc, kMostStages);
  chunksAtOnce = arith::ConstantIndexOp::create(
      entry, loc, plan.factorWarps / plan.chunkWarps);
}

Value SharedArrays::getParity(OpBuilder &builder, Value number) const {
  Value round = arith::DivUIOp::create(builder, loc, number, stages);
  Value two = arith::ConstantIndexOp::create(builder, loc, 2);
  return arith::RemUIOp::create(builder, loc, round, two);
}

/// Lets `crossing` lie at `memory`, in place of its own.
void SharedArrays::replace(Crossing &crossing, Value memory) {
  Operation *alloc = crossing.memory.getDefiningOp();
  llvm::erase(ringed, crossing.memory);
  alloc->replaceAllUsesWith(ValueRange(memory));
  alloc->erase();
  crossing.memory = memory;
}

void SharedArrays::overlay() {
  overlayOperands();
  overlayCrossings();
}

/// A warp with states reads the channels that are its own, and writes the same
/// channels of what it leaves in the end.
void SharedArrays::overlayCrossings() {
  llvm::SmallDenseSet<Value> taken;
  auto isOwn = [&](const Crossing &crossing, int64_t role) {
    Value value =
        crossing.recipe.value ? crossing.recipe.value : crossing.recipe.decay;
    StringAttr axis = value ? plan.getChannels(value) : StringAttr();
    return axis && crossing.form == ArrayForm::Float &&
           cast<SharedType>(crossing.memory.getType()).getRows() > 1 &&
           plan.getPadded(axis) / ScanPlan::kRows == plan.getStateWarps(role);
  };
  for (Crossing &crossing : crossings) {
    int64_t role = crossing.producer;
    if (role == 0 || !isOwn(crossing, role))
      continue;
    for (const Crossing &before : crossings) {
      if (before.producer != 0 || before.reader != role ||
          !isOwn(before, role) || taken.contains(before.memory) ||
          before.memory.getType() != crossing.memory.getType())
        continue;
      taken.insert(before.memory);
      replace(crossing, before.memory);
      break;
    }
  }
}

/// Whether a value is computed from another.
static bool isMadeOf(Value value, Value from) {
  bool isFound = false;
  walkValues(value, [&](Value part) {
    isFound |= part == from;
    return !isFound;
  });
  return isFound;
}

/// A warp of the first role reads an operand's channels, all it needs of
/// them, before it writes what lies along the same channels, and it is done
/// with the axes of scores before it comes to others. Best over what it is made
/// of: others may turn out not to be read, and then have no memory.
void SharedArrays::overlayOperands() {
  chunk::ScanOp scan = plan.scan;
  llvm::SmallDenseSet<StringAttr> first;
  for (const Crossing *crossing : getCrossings(0))
    if (crossing->form == ArrayForm::Scores)
      first.insert(
          plan.scores.at(crossing->recipe.value.getDefiningOp()).getAxis());
  // Copies bring zeros to channels that do not exist on the operand's own axis
  // alone.
  auto isBefore = [&](StringAttr axis, StringAttr other) {
    return plan.chunkWarps == 1 && first.contains(axis) &&
           !first.contains(other) &&
           static_cast<int64_t>(
               llvm::alignTo(plan.getSize(other), plan.passChannels)) >=
               plan.getPadded(other);
  };
  llvm::SmallDenseSet<Value> taken;
  for (Crossing &crossing : crossings) {
    if (crossing.form != ArrayForm::Matrix && crossing.form != ArrayForm::Low)
      continue;
    Value channelsOf =
        crossing.recipe.value && plan.getChannels(crossing.recipe.value)
            ? crossing.recipe.value
            : crossing.recipe.decay;
    StringAttr axis = plan.getChannels(channelsOf);
    Value best;
    for (auto [argument, ring] : llvm::zip(scan.getOperandArguments(), rings)) {
      StringAttr ringAxis = plan.getChannels(argument);
      if (!ring || !ring.use_empty() || taken.contains(ring) ||
          ring.getType() != crossing.memory.getType() ||
          (ringAxis != axis && !isBefore(ringAxis, axis)))
        continue;
      bool isOwn = isMadeOf(crossing.recipe.value, argument);
      if (!best || isOwn)
        best = ring;
      if (isOwn)
        break;
    }
    if (!best)
      continue;
    taken.insert(best);
    replace(crossing, best);
  }
}

/// What no warp reads is not copied.
void SharedArrays::removeUnusedRings() {
  for (auto [number, ring] : llvm::enumerate(rings)) {
    if (!ring || read.contains(static_cast<unsigned>(number)))
      continue;
    for (Operation *user : llvm::make_early_inc_range(ring.getUsers())) {
      for (Operation *copy : llvm::make_early_inc_range(user->getUsers()))
        if (isa<tile::CopyAsyncOp, tile::CopyBulkOp>(copy))
          copy->erase();
      if (user->use_empty())
        user->erase();
    }
    if (!ring.use_empty())
      continue;
    llvm::erase(ringed, ring);
    ring.getDefiningOp()->erase();
    ring = Value();
  }
}

static SharedType withStages(SharedType type, int64_t stages) {
  return SharedType::get(type.getContext(), type.getRows(), type.getCols(),
                         type.getElementType(), type.getSwizzle(),
                         type.getPad(), stages);
}

/// Of all memories of the program.
int64_t SharedArrays::getBytes(int64_t count) const {
  constexpr int64_t barrierBytes = 8;
  int64_t ofStages = count * static_cast<int64_t>(2 + phases.ready.size());
  int64_t sum = bytes + static_cast<int64_t>(llvm::alignTo(
                            (ofStages + barriers) * barrierBytes, kAlignment));
  for (Value ring : ringed) {
    SharedType type = withStages(cast<SharedType>(ring.getType()), count);
    sum += static_cast<int64_t>(llvm::alignTo(type.getBytes(), kAlignment));
  }
  return sum;
}

LogicalResult SharedArrays::chooseStages() {
  removeUnusedRings();
  int64_t limit = plan.options.sharedBytes;
  // One chunk that is worked on and one that is on its way.
  constexpr int64_t least = 2;
  int64_t chosen = plan.options.stages > 0 ? plan.options.stages : kMostStages;
  if (plan.options.stages == 0)
    while (chosen > least && getBytes(chosen) > limit)
      --chosen;
  if (getBytes(chosen) > limit) {
    chunk::ScanOp scan = plan.scan;
    return scan.emitError("needs ")
           << getBytes(chosen) << " bytes of shared memory: expected at most "
           << limit;
  }
  for (Value ring : ringed)
    ring.setType(withStages(cast<SharedType>(ring.getType()), chosen));
  SmallVector<Value> arrays = phases.ready;
  arrays.append({phases.landed, phases.done});
  for (Value array : arrays) {
    auto type = cast<tile::PhasesType>(array.getType());
    array.setType(tile::PhasesType::get(type.getContext(), chosen,
                                        type.getWarps(), type.getCopies()));
  }
  auto set = [&](Value constant, int64_t number) {
    constant.getDefiningOp<arith::ConstantOp>().setValueAttr(
        IntegerAttr::get(constant.getType(), number));
  };
  set(stages, chosen);
  // A warp must not be so far ahead that it takes a phase for an earlier one.
  set(chunksAtOnce, std::min(plan.factorWarps / plan.chunkWarps, chosen));
  return success();
}
