//===- ValueParts.cpp - Which channels a thread block has -*- C++ -*- -----===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rows of states (values) have nothing to do with each other where nothing
// sums over them. So several thread blocks may have a head, each with a part of
// the values, and do what lies along other axes each for itself.
//
//===----------------------------------------------------------------------===//

#include "ScanPlan.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace larc;

using chunk::ScoresOp;

/// Why the values along `axis` cannot be divided; nothing where they can be.
/// What several blocks computed would be written several times: in place of
/// what others have yet to read.
std::optional<std::string> ScanPlan::whyUndivided(StringAttr axis) const {
  chunk::ScanOp op = scan;
  for (const StateForm &state : states)
    if (state.cols == axis)
      return "reads of states sum over them";
  if (!carried.empty() || llvm::any_of(states, [&](const StateForm &state) {
        return state.rows != axis;
      }))
    return "a state without them would be of several thread blocks";
  for (Value output :
       op.getYield().getValues().drop_front(op.getStateArguments().size()))
    if (getChannels(output) != axis)
      return "an output without them would be of several thread blocks";
  for (Operation &inner : op.getBody().front()) {
    bool sums = false;
    if (auto reduction = dyn_cast<ReductionOpInterface>(inner))
      sums = llvm::is_contained(reduction.getReducedAxes(), axis);
    else if (auto scoresOp = dyn_cast<ScoresOp>(inner))
      sums = llvm::is_contained(scoresOp.getAxes(), axis);
    if (sums)
      return "what reads of states give is summed over them";
  }
  return std::nullopt;
}

/// How many channels of a state's rows a block has room for.
int64_t ScanPlan::getMostRows() const {
  int64_t rows = kStateWarps * kRows;
  if (stateRoles > 1)
    return rows;
  for (const StateForm &state : states)
    rows = std::min(rows, kStateWarps * kRows * kMostCols /
                              std::max(kMostCols, getPadded(state.cols)));
  return rows;
}

LogicalResult ScanPlan::divideValues() {
  StringAttr axis = states.front().rows;
  // Where stages have different values, those of the last.
  for (const StateForm &state : states)
    if (state.role == stateRoles)
      axis = state.rows;
  int64_t size = getSize(axis), most = getMostRows();
  auto countParts = [&](int64_t channels) {
    return static_cast<int64_t>(llvm::divideCeil(size, channels));
  };
  int64_t channels = std::min(getPadded(axis), most);
  if (options.parts > 0)
    while (channels > kMatrixChannels && countParts(channels) < options.parts)
      channels /= 2;
  int64_t parts = countParts(channels);
  if (options.parts > 0 && parts != options.parts)
    return scan.emitError("cannot divide ")
           << size << " channels of axis '" << axis.getValue() << "' into "
           << options.parts << " parts: expected " << parts;
  if (parts == 1)
    return success();
  if (std::optional<std::string> reason = whyUndivided(axis))
    return scan.emitError("has ")
           << size << " channels on axis '" << axis.getValue()
           << "', of which a thread block takes " << channels
           << " values, and which cannot be divided: " << *reason;
  dividedAxis = axis;
  dividedChannels = channels;
  valueParts = parts;
  return success();
}

/// Whether the warps' tiles have all that they compute.
LogicalResult ScanPlan::checkSizes() {
  for (int64_t role = 1; role <= stateRoles; ++role)
    if (getStateWarps(role) > kStateWarps)
      return scan.emitError("needs ")
             << getStateWarps(role) << " warps for stage " << role
             << " of states: expected at most " << kStateWarps;
  for (Operation &op : scan.getBody().front())
    for (Value result : op.getResults()) {
      StringAttr axis = getChannels(result);
      if (isa<chunk::UpdateOp>(op) || !axis || !isLate(result) ||
          getPadded(axis) <= getStateWarps(getRole(result)) * kRows)
        continue;
      return op.emitError("has ")
             << getSize(axis) << " channels that depend on a state: expected "
             << "at most " << getStateWarps(getRole(result)) * kRows;
    }
  for (const StateForm &state : states) {
    if (getPadded(state.rows) > getStateWarps(state.role) * kRows ||
        getPadded(state.cols) / state.parts > kMostCols)
      return scan.emitError("has state ")
             << state.number << " of " << getPadded(state.rows) << "x"
             << getPadded(state.cols) << " elements: expected at most "
             << getStateWarps(state.role) * kRows * kMostCols;
  }
  return success();
}
