//===- TilePrediction.cpp - The time that tile programs take --------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Analysis/TileCost.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace larc;

static llvm::StringRef getOrdinal(size_t number) {
  static constexpr llvm::StringLiteral names[] = {"first", "second", "third",
                                                  "fourth"};
  return number < std::size(names) ? llvm::StringRef(names[number]) : "last";
}

static std::string describeUnit(TileBound unit) {
  switch (unit) {
  case TileBound::Issue:
    return "the number of instructions";
  case TileBound::Alu:
    return "comparisons, conversions and integers";
  case TileBound::Special:
    return "special functions";
  case TileBound::Matrix:
    return "the matrix units";
  default:
    return "instructions that wait for each other";
  }
}

std::string TilePrediction::describeBound() const {
  switch (bound) {
  case TileBound::Role:
    if (cost.roles.size() == 1)
      return describeUnit(within);
    return "the " + getOrdinal(role).str() + " role: " + describeUnit(within);
  case TileBound::Issue:
  case TileBound::Alu:
  case TileBound::Special:
  case TileBound::Matrix:
    return describeUnit(bound);
  case TileBound::Shared:
    return "shared memory";
  case TileBound::Ring:
    return "how few chunks shared memory has room for";
  case TileBound::Memory:
    return "memory";
  case TileBound::Blocks:
    return "few blocks reading memory";
  case TileBound::Start:
    return "what a block does before and after its tokens";
  case TileBound::Launch:
    return "the launch";
  }
  llvm_unreachable("all bounds are handled");
}

/// What bounds a chunk, and its cycles, where `blocks` share a multiprocessor.
static std::pair<double, TileBound> getLimit(const TileProgramCost &cost,
                                             double blocks, size_t &role) {
  std::pair<double, TileBound> limits[] = {
      {0, TileBound::Role},
      {cost.issue * blocks, TileBound::Issue},
      {cost.alu * blocks, TileBound::Alu},
      {cost.special * blocks, TileBound::Special},
      {cost.matrix * blocks, TileBound::Matrix},
      {cost.shared * blocks, TileBound::Shared},
      {cost.ring, TileBound::Ring}};
  for (auto [i, entry] : llvm::enumerate(cost.roles)) {
    if (entry.cycles <= limits[0].first)
      continue;
    limits[0].first = entry.cycles;
    role = i;
  }
  return *llvm::max_element(limits, [](const auto &lhs, const auto &rhs) {
    return lhs.first < rhs.first;
  });
}

/// The unit that has most of a role's cycles, if that is half of them.
static TileBound getLimitWithin(const TileRoleCost &role,
                                const GPUModel &model) {
  // Fewer warps than schedulers are on as many.
  double schedulers = double(std::min(role.warps, model.schedulers));
  std::pair<double, TileBound> limits[] = {
      {role.cycles * schedulers / 2, TileBound::Role},
      {role.work.instructions, TileBound::Issue},
      {role.work.alu * model.aluCycles, TileBound::Alu},
      {role.work.special * model.specialCycles, TileBound::Special},
      {role.work.matrix, TileBound::Matrix}};
  return llvm::max_element(limits,
                           [](const auto &lhs, const auto &rhs) {
                             return lhs.first < rhs.first;
                           })
      ->second;
}

/// The program without what the compiler leaves out of its loops.
static OwningOpRef<tile::ProgramOp> simplify(tile::ProgramOp program) {
  OwningOpRef<tile::ProgramOp> copy = program.clone();
  IRRewriter rewriter(program.getContext());
  DominanceInfo dominance(*copy);
  eliminateCommonSubExpressions(rewriter, dominance, *copy);
  copy->walk([](scf::ForOp loop) { moveLoopInvariantCode(loop); });
  return copy;
}

TilePrediction larc::predictTiles(tile::ProgramOp original,
                                  const GPUModel &model, const TileCall &call) {
  TilePrediction result;
  OwningOpRef<tile::ProgramOp> copy = simplify(original);
  tile::ProgramOp program = *copy;
  int64_t segments = original.isSegmented() ? call.segments : 1;
  result.blocks = call.sequences * call.heads *
                  static_cast<int64_t>(program.getParts()) * segments;
  if (result.blocks == 0)
    return result;
  double blocks = double(result.blocks);
  double processors = double(model.multiprocessors);
  // So many are at work at a time, on so many multiprocessors.
  double resident = std::clamp(std::ceil(blocks / processors), 1.0,
                               double(program.getResident()));
  double busy = std::min(blocks, processors);
  double waves = std::ceil(blocks / (processors * resident));

  TileMeasure measure;
  measure.tokensPerChunk = call.tokensPerChunk;
  measure.resident = int64_t(resident);
  measure.segments = segments;
  measure.exactPath = true;
  TileProgramCost exact = measureTiles(program, model, measure);
  result.exactCycles = getLimit(exact, resident, result.role).first;
  measure.exactPath = false;
  result.cost = measureTiles(program, model, measure);
  TileBound bound;
  std::tie(result.cycles, bound) = getLimit(result.cost, resident, result.role);
  result.within = getLimitWithin(result.cost.roles[result.role], model);

  double tokens = std::ceil(double(call.tokens) / double(segments));
  double chunks = std::ceil(tokens / double(call.tokensPerChunk));
  // No more than there are tokens.
  double perToken = result.cost.bytes / double(call.tokensPerChunk);
  result.bytes = blocks * (tokens * perToken + result.cost.outsideBytes);
  double bandwidth = model.getBytesPerCycle() *
                     std::min(1.0, busy * model.mostShareOfBandwidth);
  result.memoryCycles =
      result.cost.bytes * std::min(blocks, processors * resident) / bandwidth;

  double start = model.launchSeconds;
  double inChunks = waves * chunks * result.cycles / model.clockHertz;
  double outside = waves * result.cost.outsideCycles / model.clockHertz;
  double memory = result.bytes / bandwidth / model.clockHertz;
  double compute = inChunks + outside;
  result.seconds = start + std::max(compute, memory);
  result.bound = bound;
  if (memory > compute)
    result.bound = busy * model.mostShareOfBandwidth < 1 ? TileBound::Blocks
                                                         : TileBound::Memory;
  else if (outside > inChunks)
    result.bound = TileBound::Start;
  if (start > std::max(compute, memory))
    result.bound = TileBound::Launch;
  return result;
}
