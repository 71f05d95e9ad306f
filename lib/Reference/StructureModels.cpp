//===- StructureModels.cpp - Views, constants, regions ----------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Nest.h"
#include "ReferenceModels.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace larc;

//===----------------------------------------------------------------------===//
// Operations that only re-label an array
//===----------------------------------------------------------------------===//

/// `view` with its axes in the order of `type`.
static View orderAxes(View view, ArrayType type) {
  llvm::sort(view.axes, [&](const ViewAxis &lhs, const ViewAxis &rhs) {
    return llvm::find(type.getAxes(), lhs.name) <
           llvm::find(type.getAxes(), rhs.name);
  });
  return view;
}

/// `view` at `index` of an axis.
static View takeIndex(View view, StringAttr axis, int64_t index) {
  view.offset += index * view.find(axis)->stride;
  llvm::erase_if(view.axes,
                 [&](const ViewAxis &own) { return own.name == axis; });
  return view;
}

namespace {

struct ConstantModel
    : ReferenceOpInterface::ExternalModel<ConstantModel, ConstantOp> {
  LogicalResult buildReference(Operation *op, ProgramBuilder &builder) const {
    auto constant = cast<ConstantOp>(op);
    builder.setView(
        constant.getResult(),
        builder.allocateLiteral(constant.getValue().convertToDouble()));
    return success();
  }
};

struct BroadcastModel
    : ReferenceOpInterface::ExternalModel<BroadcastModel, BroadcastOp> {
  LogicalResult buildReference(Operation *op, ProgramBuilder &builder) const {
    auto broadcast = cast<BroadcastOp>(op);
    View view = builder.getView(broadcast.getOperand());
    for (StringAttr axis : broadcast.getType().getAxes())
      if (!view.find(axis))
        view.axes.push_back(
            {axis, *builder.getRecurrence().getAxisSize(axis), 0});
    builder.setView(broadcast.getResult(),
                    orderAxes(std::move(view), broadcast.getType()));
    return success();
  }
};

struct RenameModel
    : ReferenceOpInterface::ExternalModel<RenameModel, RenameOp> {
  LogicalResult buildReference(Operation *op, ProgramBuilder &builder) const {
    auto rename = cast<RenameOp>(op);
    View view = builder.getView(rename.getOperand());
    for (ViewAxis &axis : view.axes)
      if (axis.name == rename.getFromAttr())
        axis.name = rename.getToAttr();
    builder.setView(rename.getResult(),
                    orderAxes(std::move(view), rename.getType()));
    return success();
  }
};

struct SliceModel : ReferenceOpInterface::ExternalModel<SliceModel, SliceOp> {
  LogicalResult buildReference(Operation *op, ProgramBuilder &builder) const {
    auto slice = cast<SliceOp>(op);
    if (slice.getIndex())
      return op->emitOpError("has a level index, which no flat recurrence has");
    View view = builder.getView(slice.getOperand());
    int64_t size = view.find(slice.getAxisAttr())->size;
    int64_t offset = slice.getOffset();
    if (offset < 0 || offset >= size)
      return op->emitOpError("takes index ")
             << offset << " of axis '" << slice.getAxis() << "', which has "
             << size << " elements";
    builder.setView(slice.getResult(),
                    takeIndex(std::move(view), slice.getAxisAttr(), offset));
    return success();
  }
};

struct AnchorModel
    : ReferenceOpInterface::ExternalModel<AnchorModel, AnchorOp> {
  LogicalResult buildReference(Operation *op, ProgramBuilder &builder) const {
    auto anchor = cast<AnchorOp>(op);
    builder.setView(anchor.getResult(), builder.getAnchor(anchor.getState()));
    return success();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// The terminator of a region of one block.
static YieldOp getYield(Region &region) {
  return cast<YieldOp>(region.front().getTerminator());
}

namespace {

/// A nest is its operations in order.
struct NestModel : ReferenceOpInterface::ExternalModel<NestModel, NestOp> {
  LogicalResult buildReference(Operation *op, ProgramBuilder &builder) const {
    auto nest = cast<NestOp>(op);
    if (failed(builder.buildBody(nest.getBody().front())))
      return failure();
    for (auto [result, value] :
         llvm::zip(nest.getResults(), getYield(nest.getBody()).getValues()))
      builder.setView(result, builder.getView(value));
    return success();
  }
};

/// A fold is unrolled: the frame keeps what every step computes, as the
/// derivative needs. Steps are alike, so the first says what all will take.
struct FoldModel : ReferenceOpInterface::ExternalModel<FoldModel, FoldOp> {
  LogicalResult buildReference(Operation *op, ProgramBuilder &builder) const {
    auto fold = cast<FoldOp>(op);
    SmallVector<View> sources, carried;
    for (Value source : fold.getSources())
      sources.push_back(builder.getView(source));
    for (Value init : fold.getInits())
      carried.push_back(builder.getView(init));
    int64_t size = sources.front().find(fold.getAxisAttr())->size;
    std::string what =
        ("unrolled over the " + Twine(size) + " elements of axis '" +
         fold.getAxis() + "' by the reference")
            .str();
    uint64_t before = builder.getByteSize();
    if (failed(builder.checkMemory(op, 0, what)))
      return failure();
    for (int64_t step = 0; step < size; ++step) {
      if (step == 1) {
        uint64_t rest = llvm::SaturatingMultiply<uint64_t>(
            builder.getByteSize() - before, size - 1);
        if (failed(builder.checkMemory(op, rest, what)))
          return failure();
      }
      for (auto [argument, source] :
           llvm::zip(fold.getSliceArguments(), sources))
        builder.setView(argument, takeIndex(source, fold.getAxisAttr(), step));
      for (auto [argument, view] :
           llvm::zip(fold.getCarriedArguments(), carried))
        builder.setView(argument, view);
      if (failed(builder.buildBody(fold.getBody().front())))
        return failure();
      for (auto [view, value] :
           llvm::zip(carried, getYield(fold.getBody()).getValues()))
        view = builder.getView(value);
    }
    for (auto [result, view] : llvm::zip(fold.getResults(), carried))
      builder.setView(result, view);
    return success();
  }
};

/// Runs its body at the last token of every `interval`-th period, and gives the
/// initial values at all others.
class FireInstruction final : public Instruction {
public:
  FireInstruction(int64_t period, int64_t interval, InstructionList body)
      : period(period), interval(interval), body(std::move(body)) {}

  void addResult(const View &result, const View &init, const View &fired) {
    results.push_back({Nest<2>({&result, &init}), init.active,
                       Nest<2>({&result, &fired}), fired.active});
  }

  void forward(const TokenContext &context) const override {
    bool fires = isFiring(context);
    if (fires)
      for (const auto &instruction : body)
        instruction->forward(context);
    double *v = context.values;
    for (const Result &result : results)
      forEachElement(fires ? result.fromBody : result.fromInit,
                     [v](const auto &at) { v[at[0]] = v[at[1]]; });
  }

  void backward(const TokenContext &context) const override {
    bool fires = isFiring(context);
    double *c = context.cotangents;
    for (const Result &result : results)
      if (fires ? result.bodyActive : result.initActive)
        forEachElement(fires ? result.fromBody : result.fromInit,
                       [c](const auto &at) { c[at[1]] += c[at[0]]; });
    if (fires)
      for (const auto &instruction : llvm::reverse(body))
        instruction->backward(context);
  }

private:
  struct Result {
    Nest<2> fromInit; // result, initial value
    bool initActive;
    Nest<2> fromBody; // result, yielded value
    bool bodyActive;
  };

  bool isFiring(const TokenContext &context) const {
    return context.count % period == 0 &&
           context.count / period % interval == 0;
  }

  int64_t period, interval;
  InstructionList body;
  std::vector<Result> results;
};

struct FireModel : ReferenceOpInterface::ExternalModel<FireModel, FireOp> {
  LogicalResult buildReference(Operation *op, ProgramBuilder &builder) const {
    auto fire = cast<FireOp>(op);
    auto interval = dyn_cast<IntegerAttr>(fire.getInterval());
    if (!interval)
      return op->emitOpError("has an interval that is not bound yet");
    for (auto [argument, init] :
         llvm::zip(fire.getBody().getArguments(), fire.getInits()))
      builder.setView(argument, builder.getView(init));
    InstructionList body;
    if (failed(builder.buildBody(fire.getBody().front(), body)))
      return failure();
    auto instruction = std::make_unique<FireInstruction>(
        builder.getProgram().period, interval.getInt(), std::move(body));
    for (auto [result, init, value] :
         llvm::zip(fire.getResults(), fire.getInits(),
                   getYield(fire.getBody()).getValues())) {
      View from = builder.getView(init), fired = builder.getView(value);
      View view = builder.allocate(cast<ArrayType>(result.getType()),
                                   from.active || fired.active);
      instruction->addResult(view, from, fired);
      builder.setView(result, view);
    }
    builder.add(std::move(instruction));
    return success();
  }
};

} // namespace

void larc::attachStructureModels(MLIRContext &context) {
  ConstantOp::attachInterface<ConstantModel>(context);
  BroadcastOp::attachInterface<BroadcastModel>(context);
  RenameOp::attachInterface<RenameModel>(context);
  SliceOp::attachInterface<SliceModel>(context);
  AnchorOp::attachInterface<AnchorModel>(context);
  NestOp::attachInterface<NestModel>(context);
  FoldOp::attachInterface<FoldModel>(context);
  FireOp::attachInterface<FireModel>(context);
}
