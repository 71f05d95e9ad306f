//===- BindDims.cpp - Binds axes to sizes -*- C++ -*- ---------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Dialect/Larc/Transforms/Flatten.h"
#include "larc/Dialect/Larc/Transforms/Passes.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace larc;

namespace larc {
#define GEN_PASS_DEF_BINDDIMS
#include "larc/Dialect/Larc/Transforms/Passes.h.inc"
} // namespace larc

namespace {

/// Sizes found so far, in a stable order.
struct SizeBinder {
  RecurrenceOp op;
  llvm::MapVector<StringAttr, int64_t> sizes = {};

  LogicalResult bind(StringAttr axis, int64_t size, Operation *at) {
    if (size < 1)
      return at->emitError() << "axis '" << axis.getValue() << "' has size "
                             << size << ": sizes are positive";
    auto [it, isNew] = sizes.try_emplace(axis, size);
    if (isNew || it->second == size)
      return success();
    return at->emitError() << "axis '" << axis.getValue() << "' has two sizes, "
                           << it->second << " and " << size;
  }

  /// Both names of a rename have one size; chains of renames need several
  /// rounds.
  LogicalResult followRenames() {
    bool changed = true;
    while (changed) {
      size_t before = sizes.size();
      WalkResult walked = op.getBody().walk([&](RenameOp rename) -> WalkResult {
        auto from = sizes.find(rename.getFromAttr()),
             to = sizes.find(rename.getToAttr());
        if (from != sizes.end())
          return WalkResult(bind(rename.getToAttr(), from->second, rename));
        if (to != sizes.end())
          return WalkResult(bind(rename.getFromAttr(), to->second, rename));
        return WalkResult::advance();
      });
      if (walked.wasInterrupted())
        return failure();
      changed = sizes.size() != before;
    }
    return success();
  }

  LogicalResult checkSlices() {
    WalkResult walked = op.getBody().walk([&](SliceOp slice) -> WalkResult {
      auto *size = sizes.find(slice.getAxisAttr());
      if (slice.getIndex() || size == sizes.end() ||
          int64_t(slice.getOffset()) < size->second)
        return WalkResult::advance();
      slice.emitError() << "index " << slice.getOffset()
                        << " is outside of axis '" << slice.getAxis()
                        << "' of size " << size->second;
      return WalkResult::interrupt();
    });
    return failure(walked.wasInterrupted());
  }

  /// Real attributes whose value is known become constants.
  void bindReals() {
    OpBuilder builder = OpBuilder::atBlockBegin(&op.getBody().front());
    auto arguments = op.getRealArguments();
    unsigned index = 0;
    for (auto decl : op.getAttributeDecls().getAsRange<AttributeDeclAttr>()) {
      if (decl.getKind() != AttributeKind::Real)
        continue;
      BlockArgument argument = arguments[index++];
      auto number = dyn_cast<FloatAttr>(decl.getValue());
      if (auto function = dyn_cast<SizeFnAttr>(decl.getValue())) {
        auto *size = sizes.find(function.getAxis());
        if (size == sizes.end())
          continue;
        number = builder.getF64FloatAttr(function.evaluate(size->second));
      }
      if (!argument.use_empty())
        argument.replaceAllUsesWith(
            ConstantOp::create(builder, op.getLoc(), number));
    }
  }
};

} // namespace

LogicalResult larc::bindDims(RecurrenceOp op, AxisSizes sizes, bool complete) {
  SizeBinder binder{op};
  MLIRContext *context = op.getContext();
  if (std::optional<DictionaryAttr> dims = op.getDims())
    for (NamedAttribute size : *dims)
      binder.sizes[size.getName()] =
          cast<IntegerAttr>(size.getValue()).getInt();
  SmallVector<StringAttr> axes = op.getAllAxes();
  for (const auto &[name, size] : sizes) {
    StringAttr axis = StringAttr::get(context, name);
    if (!llvm::is_contained(axes, axis))
      return op.emitError() << "recurrence '" << op.getSymName()
                            << "' has no axis '" << name << "'";
    if (failed(binder.bind(axis, size, op)))
      return failure();
  }
  if (failed(binder.followRenames()) || failed(binder.checkSlices()))
    return failure();
  if (complete)
    for (StringAttr axis : axes)
      if (!binder.sizes.contains(axis))
        return op.emitError()
               << "axis '" << axis.getValue() << "' of recurrence '"
               << op.getSymName() << "' has no size";
  NamedAttrList dims;
  Builder builder(context);
  for (auto [axis, size] : binder.sizes)
    dims.set(axis, builder.getI64IntegerAttr(size));
  op.setDimsAttr(dims.getDictionary(context));
  binder.bindReals();
  return success();
}

namespace {
struct BindDimsPass : larc::impl::BindDimsBase<BindDimsPass> {
  using BindDimsBase::BindDimsBase;

  void runOnOperation() override {
    SmallVector<std::pair<std::string, int64_t>> list;
    SmallVector<StringRef> parts;
    StringRef(sizes).split(parts, ';', -1, /*KeepEmpty=*/false);
    for (StringRef part : parts) {
      auto [name, text] = part.split('=');
      int64_t size;
      if (text.trim().getAsInteger(10, size)) {
        getOperation().emitError()
            << "size '" << part << "' is not of the form axis=integer";
        return signalPassFailure();
      }
      list.emplace_back(name.trim().str(), size);
    }
    if (failed(bindDims(getOperation(), list, complete)))
      signalPassFailure();
  }
};
} // namespace
