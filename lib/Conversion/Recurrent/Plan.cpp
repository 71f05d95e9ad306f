//===- Plan.cpp - Decisions of the loops over tokens -*- C++ -*- ----------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Plan.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace larc;

static FloatType parseFloatType(MLIRContext *context, StringRef name) {
  if (name == "f64")
    return Float64Type::get(context);
  if (name == "f32")
    return Float32Type::get(context);
  if (name == "f16")
    return Float16Type::get(context);
  if (name == "bf16")
    return BFloat16Type::get(context);
  return {};
}

/// Types of `count` tensors: as named, or all `fallback` where none is named.
static LogicalResult parseTypes(RecurrenceOp op, StringRef what,
                                ArrayRef<std::string> names, size_t count,
                                FloatType fallback,
                                SmallVectorImpl<FloatType> &types) {
  if (names.empty()) {
    types.assign(count, fallback);
    return success();
  }
  if (names.size() != count)
    return op.emitError() << "is compiled for " << names.size() << " types of "
                          << what << ", but declares " << count;
  for (const std::string &name : names) {
    FloatType type = parseFloatType(op.getContext(), name);
    if (!type)
      return op.emitError() << "cannot be compiled for the type '" << name
                            << "': expected f64, f32, f16 or bf16";
    types.push_back(type);
  }
  return success();
}

FailureOr<RecurrentPlan>
RecurrentPlan::create(RecurrenceOp op, const RecurrentOptions &options) {
  RecurrentPlan plan;
  plan.recurrence = op;
  for (auto scan : op->getParentRegion()->getOps<chunk::ScanOp>())
    if (scan.getDefinition() == op.getSymName())
      plan.scan = scan;
  if (!op.isFlat())
    return op.emitError("is not flat: specialise and expand levels first"),
           failure();
  for (StringAttr axis : op.getAllAxes())
    if (!op.getAxisSize(axis))
      return op.emitError()
                 << "has no size for axis '" << axis.getValue() << "'",
             failure();

  plan.computeType = parseFloatType(op.getContext(), options.computeType);
  if (!plan.computeType || plan.computeType.getWidth() < 32)
    return op.emitError() << "cannot compute in '" << options.computeType
                          << "': expected f32 or f64",
           failure();
  if (failed(parseTypes(op, "operands", options.operandTypes,
                        op.getTokenOperands().size(), plan.computeType,
                        plan.operandTypes)) ||
      failed(parseTypes(op, "constants", options.constantTypes,
                        op.getConstants().size(), plan.computeType,
                        plan.constantTypes)) ||
      failed(parseTypes(op, "outputs", options.outputTypes,
                        op.getOutputs().size(), plan.computeType,
                        plan.outputTypes)))
    return failure();
  // Remainders and sums over lanes halve vectors.
  plan.lanes = llvm::bit_floor(
      std::max(options.vectorBits / plan.computeType.getWidth(), 1u));

  // Whole tensors, before any axis is split: strides are made of these sizes.
  auto checkSize = [&](StringAttr name,
                       ArrayRef<StringAttr> axes) -> LogicalResult {
    if (plan.getBufferBytes(plan.getExtents(axes)))
      return success();
    return op.emitError() << "has sizes that make '" << name.getValue()
                          << "' larger than " << maxBytes << " bytes";
  };
  for (ArrayAttr decls : {op.getTokenOperands(), op.getConstants()})
    for (auto decl : decls.getAsRange<OperandDeclAttr>())
      if (failed(checkSize(decl.getName(), decl.getAxes())))
        return failure();
  for (auto decl : op.getStates().getAsRange<StateDeclAttr>())
    if (failed(checkSize(decl.getName(), decl.getAxes())))
      return failure();
  for (auto decl : op.getOutputs().getAsRange<OutputDeclAttr>())
    if (failed(checkSize(decl.getName(), decl.getAxes())))
      return failure();

  if (plan.scan)
    plan.orderScan();
  // Nests say how they walk arrays; declarations how tensors lie in memory.
  op.getBody().walk([&](NestOp nest) {
    SmallVector<StringAttr> axes;
    for (Attribute axis : nest.getAxes())
      axes.push_back(cast<StringAttr>(axis));
    plan.orders.try_emplace(ArrayType::ofAxes(op.getContext(), axes), axes);
  });
  auto addOrder = [&](ArrayRef<StringAttr> axes) {
    plan.orders.try_emplace(ArrayType::ofAxes(op.getContext(), axes),
                            SmallVector<StringAttr>(axes));
  };
  for (auto decl : op.getStates().getAsRange<StateDeclAttr>())
    addOrder(decl.getAxes());
  for (auto decl : op.getTokenOperands().getAsRange<OperandDeclAttr>())
    addOrder(decl.getAxes());
  for (auto decl : op.getConstants().getAsRange<OperandDeclAttr>())
    addOrder(decl.getAxes());
  for (auto decl : op.getOutputs().getAsRange<OutputDeclAttr>())
    addOrder(decl.getAxes());
  // Arrays of none of these lie as the nests that make them walk.
  op.getBody().walk([&](NestOp nest) {
    for (Type result : nest.getResultTypes()) {
      SmallVector<StringAttr> axes;
      for (Attribute axis : nest.getAxes())
        if (cast<ArrayType>(result).hasAxis(cast<StringAttr>(axis)))
          axes.push_back(cast<StringAttr>(axis));
      addOrder(axes);
    }
  });
  plan.chooseBlocks(options.cacheBytes, options.blockColumns);
  return plan;
}

/// The orders of arrays without a token axis that a scan asks for.
void RecurrentPlan::orderScan() {
  MLIRContext *context = scan.getContext();
  scan.walk([&](Operation *op) {
    if (auto scores = dyn_cast<chunk::ScoresOp>(op))
      sources.insert(scores.getSourceAttr());
    else if (auto mix = dyn_cast<chunk::MixOp>(op))
      sources.insert(mix.getSourceAttr());
    else if (auto solve = dyn_cast<chunk::SolveOp>(op))
      sources.insert(solve.getSourceAttr());
  });
  // Reads sum over some of a state's axes: lanes go along one they keep. Of
  // equals, the last in memory that fills a vector.
  for (auto decl : recurrence.getStates().getAsRange<StateDeclAttr>()) {
    ArrayType type = ArrayType::ofAxes(context, decl.getAxes());
    SmallVector<StringAttr> axes(decl.getAxes());
    if (axes.size() < 2 || orders.contains(type))
      continue;
    llvm::DenseMap<StringAttr, int64_t> costs;
    scan.walk([&](ContractOp contract) {
      if (contract.getLhs().getType() != type &&
          contract.getRhs().getType() != type)
        return;
      for (StringAttr axis : contract.getReducedAxes())
        costs[axis] += 2;
    });
    for (StringAttr axis : axes)
      if (getSize(axis) < lanes)
        costs[axis] += 3;
    auto *lane = axes.begin();
    for (auto *it = axes.begin(); it != axes.end(); ++it)
      if (costs[*it] <= costs[*lane])
        lane = it;
    std::rotate(lane, lane + 1, axes.end());
    orders.try_emplace(type, axes);
  }
}

//===----------------------------------------------------------------------===//
// Blocks of columns
//===----------------------------------------------------------------------===//

/// Whether a step or scan computes each index of `axis` by itself and, unless
/// `mayRepeat`, next to nothing that has no such index.
static bool isIndependent(Operation *op, StringAttr axis, bool mayRepeat) {
  WalkResult walked = op->walk([&](Operation *inner) -> WalkResult {
    bool touches = false;
    if (auto reduction = dyn_cast<ReductionOpInterface>(inner))
      touches = llvm::is_contained(reduction.getReducedAxes(), axis);
    else if (auto rename = dyn_cast<RenameOp>(inner))
      touches = rename.getFromAttr() == axis || rename.getToAttr() == axis;
    else if (auto slice = dyn_cast<SliceOp>(inner))
      touches = slice.getAxisAttr() == axis;
    else if (auto fold = dyn_cast<FoldOp>(inner))
      touches = fold.getAxisAttr() == axis;
    // Loops without the axis would run once for each block.
    else if (auto nest = dyn_cast<NestOp>(inner))
      touches = !mayRepeat && nest.getAxes().size() > 1 &&
                !llvm::is_contained(nest.getAxes(), axis);
    else if (auto scores = dyn_cast<chunk::ScoresOp>(inner))
      touches = llvm::is_contained(scores.getAxes(), axis) ||
                cast<ArrayType>(scores.getType()).hasAxis(axis);
    return touches ? WalkResult::interrupt() : WalkResult::advance();
  });
  return !walked.wasInterrupted();
}

void RecurrentPlan::chooseBlocks(int64_t cacheBytes, int64_t blockColumns) {
  // Scores are computed again for every block: only where they are asked for.
  if (scan && !blockColumns)
    return;
  auto states = recurrence.getStates().getAsRange<StateDeclAttr>();
  if (states.empty())
    return;
  for (StringAttr axis : (*states.begin()).getAxes()) {
    int64_t rowBytes = 0;
    bool everyTensor = true;
    for (StateDeclAttr state : states) {
      everyTensor &= llvm::is_contained(state.getAxes(), axis);
      int64_t bytes = computeType.getWidth() / 8;
      for (StringAttr other : state.getAxes())
        if (other != axis)
          bytes *= getSize(other);
      rowBytes += bytes;
    }
    // An output without the axis would be written by every block.
    for (auto output : recurrence.getOutputs().getAsRange<OutputDeclAttr>())
      everyTensor &= llvm::is_contained(output.getAxes(), axis);
    // Vectors along the axis: blocks of whole registers only.
    ArrayType type =
        ArrayType::ofAxes(recurrence.getContext(), (*states.begin()).getAxes());
    if (!everyTensor || getOrder(type).back() != axis ||
        !isIndependent(recurrence, axis, /*mayRepeat=*/bool(scan)) ||
        (scan && !isIndependent(scan, axis, /*mayRepeat=*/true)))
      continue;
    int64_t size = getSize(axis), best = 0;
    for (int64_t block = lanes; block < size; block += lanes)
      if (size % block == 0 && (blockColumns ? block <= blockColumns
                                             : block * rowBytes <= cacheBytes))
        best = block;
    if (!best || (!blockColumns && size * rowBytes <= cacheBytes))
      return;
    splitAxis = axis;
    blockSize = best;
    return;
  }
}

//===----------------------------------------------------------------------===//
// Sizes and types
//===----------------------------------------------------------------------===//

std::optional<int64_t>
RecurrentPlan::getBufferBytes(ArrayRef<int64_t> shape) const {
  int64_t bytes = computeType.getWidth() / 8;
  for (int64_t size : shape) {
    if (size > maxBytes / bytes)
      return std::nullopt;
    bytes *= size;
  }
  return bytes;
}

SmallVector<int64_t>
RecurrentPlan::getBufferShape(ArrayRef<StringAttr> axes) const {
  // Rows so far apart fall into the same few sets of the innermost cache.
  constexpr int64_t aliasingBytes = 4096;
  SmallVector<int64_t> shape = getExtents(axes);
  bool hasTokens = false;
  for (auto [axis, size] : llvm::zip(axes, shape))
    if (isTokenAxis(axis)) {
      size = llvm::alignTo(size, getTokenPadding());
      hasTokens = true;
    }
  if (!hasTokens || shape.size() < 2)
    return shape;
  // Rows start at vectors.
  if (shape.back() > lanes)
    shape.back() = llvm::alignTo(shape.back(), lanes);
  if (shape.back() * computeType.getWidth() / 8 % aliasingBytes == 0)
    shape.back() += lanes;
  return shape;
}

SmallVector<int64_t>
RecurrentPlan::getExtents(ArrayRef<StringAttr> axes) const {
  return llvm::map_to_vector(axes,
                             [&](StringAttr axis) { return getExtent(axis); });
}

SmallVector<int64_t>
RecurrentPlan::getStrides(ArrayRef<StringAttr> axes) const {
  SmallVector<int64_t> strides(axes.size());
  int64_t stride = 1;
  for (size_t i = axes.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= getSize(axes[i]);
  }
  return strides;
}

SmallVector<StringAttr> RecurrentPlan::getOrder(ArrayType type) const {
  auto it = orders.find(type);
  if (it != orders.end())
    return it->second;
  SmallVector<StringAttr> tokens, writers, others;
  for (StringAttr axis : type.getAxes()) {
    if (!isTokenAxis(axis))
      others.push_back(axis);
    else
      (sources.contains(axis) ? writers : tokens).push_back(axis);
  }
  if (tokens.empty() && writers.empty())
    return others;
  // Scores: a dense matrix for each index of other axes.
  others = getOrder(ArrayType::ofAxes(type.getContext(), others));
  bool isMatrix = !writers.empty() && !tokens.empty();
  if (isMatrix) {
    llvm::append_range(others, tokens);
    llvm::append_range(others, writers);
    return others;
  }
  llvm::append_range(tokens, writers);
  llvm::append_range(tokens, others);
  return tokens;
}

MemRefType RecurrentPlan::getViewType(ArrayRef<StringAttr> axes,
                                      Type element) const {
  SmallVector<int64_t> strides(axes.size(), ShapedType::kDynamic);
  if (!strides.empty())
    strides.back() = 1;
  auto layout = StridedLayoutAttr::get(recurrence.getContext(),
                                       ShapedType::kDynamic, strides);
  return MemRefType::get(getExtents(axes), element, layout);
}

MemRefType RecurrentPlan::getStateType(unsigned index) const {
  ArrayType type =
      ArrayType::ofAxes(recurrence.getContext(), getState(index).getAxes());
  return getViewType(getOrder(type), computeType);
}

bool RecurrentPlan::isInMemoryOrder(unsigned state) const {
  ArrayRef<StringAttr> axes = getState(state).getAxes();
  return ArrayRef(getOrder(ArrayType::ofAxes(recurrence.getContext(), axes))) ==
         axes;
}

Buffer RecurrentPlan::makeView(OpBuilder &builder, Location loc, Value memory,
                               Value offset, ArrayRef<StringAttr> axes,
                               FloatType element) const {
  SmallVector<int64_t> strides = getStrides(axes), extents = getExtents(axes);
  auto layout = StridedLayoutAttr::get(recurrence.getContext(),
                                       ShapedType::kDynamic, strides);
  auto type = MemRefType::get(extents, element, layout);
  SmallVector<OpFoldResult> sizes, strideValues;
  for (auto [extent, stride] : llvm::zip(extents, strides)) {
    sizes.push_back(builder.getIndexAttr(extent));
    strideValues.push_back(builder.getIndexAttr(stride));
  }
  Value view = memref::ReinterpretCastOp::create(
      builder, loc, type, memory, OpFoldResult(offset), sizes, strideValues);
  return {view, SmallVector<StringAttr>(axes)};
}
