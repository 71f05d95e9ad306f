//===- MixPlan.cpp - How scores are mixed ---------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScanPlan.h"

using namespace mlir;
using namespace larc;

using chunk::MixOp;
using chunk::ScoresOp;

LogicalResult ScanPlan::planMix(MixOp op) {
  if (!op.getScores().getDefiningOp<ScoresOp>())
    return op.emitError("expected what 'chunk.scores' gives");
  if (!getChannels(op.getValues()))
    return op.emitError("mixes values of no axis");
  SmallVector<Value> decays(op.getDecays());
  if (!decays.empty()) {
    const ScoresForm &form = scores.at(op.getScores().getDefiningOp());
    if (form.diagonal || form.ownScore)
      return op.emitError("has decays, and scores with a diagonal");
    for (Value decay : decays) {
      if (isLate(decay))
        return op.emitError("has decays that depend on a state");
      if (getChannels(decay) != getChannels(op.getValues()))
        return op.emitError("has decays along another axis than its values");
    }
  }
  MixForm form;
  form.decay = multiply(decays, op);
  if (form.decay)
    planWholeMix(op, form);
  else
    takeFactors(op, form);
  mixes[op] = form;
  return success();
}

/// Numbers that depend on a state are known last, and best multiplied with
/// last.
void ScanPlan::takeFactors(MixOp op, MixForm &form) {
  auto scoresOp = op.getScores().getDefiningOp<ScoresOp>();
  ScoresForm &scoresForm = scores.at(scoresOp);
  if (!scoresOp->hasOneUse() || scoresForm.diagonal)
    return;
  ReadForm *read = nullptr;
  if (Value init = op.getInit()) {
    auto it = reads.find(init.getDefiningOp());
    if (it == reads.end() || !init.hasOneUse())
      return;
    read = &it->second;
  }
  for (Value factor : SmallVector<Value>(scoresForm.readerFactors)) {
    if (!isLate(factor) || (read && !take(read->factors, factor)))
      continue;
    take(scoresForm.readerFactors, factor);
    form.factors.push_back(factor);
  }
}

/// The only user of `value`, if it is an `OpT`.
template <typename OpT>
static OpT getOnlyUser(Value value) {
  return value.hasOneUse() ? dyn_cast<OpT>(*value.user_begin()) : OpT();
}

/// Finds `mix * decays + own score * value`, where the mix begins with
/// something times the decays of the tokens before.
void ScanPlan::planWholeMix(MixOp op, MixForm &form) {
  auto scoresOp = op.getScores().getDefiningOp<ScoresOp>();
  auto decayed = getOnlyUser<MulOp>(op.getResult());
  auto all = decayed ? getOnlyUser<AddOp>(decayed.getResult()) : AddOp();
  if (!all || !scoresOp->hasOneUse())
    return;
  SmallVector<Value> factors = getFactors(decayed.getResult());
  bool fits = take(factors, op.getResult());
  for (Value decay : op.getDecays())
    fits &= take(factors, decay);
  SmallVector<Value> own = getFactors(
      all.getLhs() == decayed.getResult() ? all.getRhs() : all.getLhs());
  for (Value factor : getFactors(op.getValues()))
    fits &= take(own, factor);
  ScoresForm &scoresForm = scores.at(scoresOp);
  if (!fits || !factors.empty() || !isOwnScore(scoresForm, own))
    return;
  if (op.getInit()) {
    SmallVector<Value> init = getFactors(op.getInit());
    const Value *before = llvm::find_if(init, [&](Value factor) {
      return asScale(factor) == Recipe{{}, Scale::Exclusive, form.decay};
    });
    if (before == init.end())
      return;
    take(init, *before);
    form.init = multiply(init, op);
    if (!form.init)
      return;
  }
  scoresForm.ownScore = true;
  form.whole = all.getResult();
  wholes[form.whole] = op;
}
