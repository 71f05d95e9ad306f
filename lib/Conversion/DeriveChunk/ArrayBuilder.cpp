//===- ArrayBuilder.cpp - Builds expressions on arrays -*- C++ -*- --------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArrayBuilder.h"

using namespace mlir;
using namespace larc;

static ArrayAttr toArrayAttr(MLIRContext *context, larc::Axes axes) {
  SmallVector<Attribute> list(axes.begin(), axes.end());
  return ArrayAttr::get(context, list);
}

bool larc::hasAnyAxis(Value value, Axes axes) {
  return llvm::any_of(
      axes, [&](StringAttr axis) { return arrayOf(value).hasAxis(axis); });
}

Value ArrayBuilder::constant(double value) {
  return ConstantOp::create(builder, loc, builder.getF64FloatAttr(value));
}

Value ArrayBuilder::mul(Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return MulOp::create(builder, loc, lhs, rhs);
}

Value ArrayBuilder::add(Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return AddOp::create(builder, loc, lhs, rhs);
}

Value ArrayBuilder::div(Value lhs, Value rhs) {
  if (!rhs)
    return lhs;
  return DivOp::create(builder, loc, lhs ? lhs : constant(1.0), rhs);
}

Value ArrayBuilder::broadcast(Value value, Axes axes) {
  SmallVector<StringAttr> missing;
  for (StringAttr axis : axes)
    if (!arrayOf(value).hasAxis(axis))
      missing.push_back(axis);
  if (missing.empty())
    return value;
  return BroadcastOp::create(builder, loc, value,
                             toArrayAttr(builder.getContext(), missing));
}

Value ArrayBuilder::contract(Value lhs, Value rhs, Axes axes) {
  if (!lhs)
    std::swap(lhs, rhs);
  if (!lhs)
    lhs = constant(1.0);
  if (axes.empty())
    return mul(lhs, rhs);
  SmallVector<StringAttr> missing;
  for (StringAttr axis : axes)
    if (!arrayOf(lhs).hasAxis(axis) && !(rhs && arrayOf(rhs).hasAxis(axis)))
      missing.push_back(axis);
  lhs = broadcast(lhs, missing);
  ArrayAttr list = toArrayAttr(builder.getContext(), axes);
  if (!rhs)
    return ReduceOp::create(builder, loc, ReduceKind::Sum, lhs, list);
  return ContractOp::create(builder, loc, lhs, rhs, list);
}

Operation *ArrayBuilder::clone(Operation *op, IRMapping &mapping) {
  Operation *copy = builder.clone(*op, mapping);
  auto inferring = dyn_cast<InferTypeOpInterface>(copy);
  if (!inferring)
    return copy;
  SmallVector<Type> types;
  LogicalResult inferred = inferring.inferReturnTypes(
      builder.getContext(), copy->getLoc(), copy->getOperands(),
      copy->getDiscardableAttrDictionary(), copy->getPropertiesStorage(),
      copy->getRegions(), types);
  if (succeeded(inferred))
    for (auto [result, type] : llvm::zip(copy->getResults(), types))
      result.setType(type);
  return copy;
}
