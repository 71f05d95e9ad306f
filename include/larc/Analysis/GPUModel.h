//===- GPUModel.h - What a GPU can do ---------------------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_ANALYSIS_GPUMODEL_H
#define LARC_ANALYSIS_GPUMODEL_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace larc {

/// A GPU as far as predictions go. A multiprocessor has four schedulers, each
/// with its own warps, arithmetic and matrix unit; a cycle is one of its clock.
/// What the fields without a word about it are is in the vendor's tables of
/// throughputs; the latencies are those that microbenchmarks of the
/// architecture found, rounded.
struct GPUModel {
  unsigned computeCapability;
  llvm::StringLiteral name;
  int64_t multiprocessors;
  /// Under matrix products, not the highest.
  double clockHertz;
  double bytesPerSecond; ///< that copies of memory reach
  /// The matrix unit's, for 16-bit numbers, of one scheduler in a cycle. What
  /// is multiplied as tf32 is half as fast.
  double matrixFlops;

  /// The share of the matrix unit's rate that `mma` reaches.
  double mmaShare = 0.62;
  /// Fewer columns of a `wgmma` take as long.
  double wgmmaLeastCols = 96;
  int64_t schedulers = 4;
  /// That an instruction of a warp occupies its unit: integers, comparisons,
  /// selections and conversions; functions such as 2^x.
  double aluCycles = 2, specialCycles = 8;
  /// Of a multiprocessor; the second between it and the cache of all.
  double sharedBytesPerCycle = 128, globalBytesPerCycle = 64;
  /// A multiprocessor takes no more than this of the whole bandwidth.
  double mostShareOfBandwidth = 1.0 / 48;

  // Latencies, in cycles: until an instruction can use the result.
  double aluLatency = 4.5, specialLatency = 20, sharedLatency = 30,
         shuffleLatency = 24, globalLatency = 700, cachedLatency = 40,
         mmaLatency = 33, wgmmaLatency = 60;
  /// The share of the cycles in which an operand is not there yet that the
  /// assembler fills with other instructions.
  double overlap = 0.5;
  /// That warps lose where they meet.
  double barrierCycles = 120;
  /// That writes take to be seen by the matrix unit.
  double fenceCycles = 40;

  /// Instructions beside the tile's own, of each instruction that moves
  /// memory: addresses, predicates, descriptors.
  double sharedAddressing = 0.75, globalAddressing = 1, copyAddressing = 9,
         wgmmaAddressing = 5;

  /// Between a launch and the first instruction, and from the last to the next
  /// kernel of a graph.
  double launchSeconds = 2.5e-6;

  double getBytesPerCycle() const { return bytesPerSecond / clockHertz; }

  /// The one of that compute capability, or the newest before it.
  static const GPUModel &get(unsigned computeCapability);
};

} // namespace larc

#endif // LARC_ANALYSIS_GPUMODEL_H
