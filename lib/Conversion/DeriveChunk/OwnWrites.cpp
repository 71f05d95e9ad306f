//===- OwnWrites.cpp - What a token reads of its own write -*- C++ -*- ----===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OwnWrites.h"
#include "ArrayBuilder.h"

using namespace mlir;
using namespace larc;

/// Appends the factors of a product of products.
static void appendFactors(Value value, SmallVectorImpl<Value> &factors) {
  auto product = value.getDefiningOp<MulOp>();
  if (!product) {
    factors.push_back(value);
    return;
  }
  for (Value operand : product->getOperands())
    appendFactors(operand, factors);
}

/// The factors that make `product` of `values`; none if it is no multiple.
static std::optional<SmallVector<Value>> divide(Value product, Value values) {
  SmallVector<Value> factors, divisors;
  appendFactors(product, factors);
  appendFactors(values, divisors);
  for (Value divisor : divisors) {
    auto *factor = llvm::find(factors, divisor);
    if (factor == factors.end())
      return std::nullopt;
    factors.erase(factor);
  }
  return factors;
}

/// Joins `term` with the sum `mix`, at the place of `sum`; the result is null
/// if it is no multiple of the values, by as much as scores have axes for.
static Value join(AddOp sum, chunk::MixOp mix, Value term) {
  auto scores = mix.getScores().getDefiningOp<chunk::ScoresOp>();
  if (!scores || !scores->hasOneUse() || !mix->hasOneUse())
    return nullptr;
  std::optional<SmallVector<Value>> factors = divide(term, mix.getValues());
  ArrayType kept = scores.getType().without({mix.getSourceAttr()});
  if (!factors || llvm::any_of(*factors, [&](Value factor) {
        return ArrayType::unionOf(kept, cast<ArrayType>(factor.getType())) !=
               kept;
      }))
    return nullptr;

  OpBuilder builder(sum);
  ArrayBuilder build(builder, sum.getLoc());
  Value weight;
  for (Value factor : *factors)
    weight = build.mul(weight, factor);
  if (!weight)
    weight = build.constant(1.0);
  Value diagonal = build.broadcast(build.add(scores.getDiagonal(), weight),
                                   {mix.getTokenAttr()});
  Value joined = chunk::ScoresOp::create(
      builder, scores.getLoc(), scores.getReader(), scores.getWriter(),
      scores.getDecays(), diagonal, scores.getAxes(), scores.getToken(),
      scores.getSource());
  return chunk::MixOp::create(builder, mix.getLoc(), joined, mix.getValues(),
                              mix.getDecays(), mix.getInit(), mix.getToken(),
                              mix.getSource());
}

void larc::joinOwnWrites(chunk::ScanOp scan) {
  for (auto sum : llvm::to_vector(scan.getBody().getOps<AddOp>())) {
    for (bool swapped : {false, true}) {
      Value term = sum->getOperand(swapped ? 0 : 1);
      auto mix = sum->getOperand(swapped ? 1 : 0).getDefiningOp<chunk::MixOp>();
      Value joined = mix ? join(sum, mix, term) : Value();
      if (!joined)
        continue;
      sum.getResult().replaceAllUsesWith(joined);
      sum.erase();
      break;
    }
  }
}
