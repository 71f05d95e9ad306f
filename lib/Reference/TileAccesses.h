//===- TileAccesses.h - Accesses of memory in tile programs -----*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_REFERENCE_TILEACCESSES_H
#define LARC_LIB_REFERENCE_TILEACCESSES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace larc::tilerun {

/// Which of two events in different warps comes first, by vector clocks: a
/// warp's clock moves on where it meets others, and it then knows what they had
/// done before. An event is a warp and the time (`now`) that its clock showed.
/// The copies that a warp has started are somebody of their own: that they have
/// landed, the warp itself knows only once it has waited. So is each barrier
/// that counts arrivals, whose clock shows how many of its phases have ended.
class Ordering {
public:
  explicit Ordering(int64_t warps, int64_t barriers = 0);

  int64_t getWarps() const { return static_cast<int64_t>(fences.size()); }
  uint32_t now(int64_t warp) const { return getRow(warp)[warp]; }
  /// Whether an event of `warp` at `time` comes before what `other` does next.
  bool isBefore(int64_t warp, uint32_t time, int64_t other) const {
    return warp == other || getRow(other)[warp] >= time;
  }
  /// What `warp` knows and has done, for others to learn at a meeting that it
  /// does not wait for.
  std::vector<uint32_t> leave(int64_t warp);
  /// Lets the copies that `warp` has started land: no more than that is in the
  /// note.
  std::vector<uint32_t> land(int64_t warp);
  /// When the copies landed, for those that are started now: at the next
  /// `land`.
  uint32_t getLanding(int64_t warp) const { return landings[warp] + 1; }
  /// Whether `other` knows that copies of `warp` landed at `time`.
  bool knowsLanding(int64_t warp, uint32_t time, int64_t other) const {
    return getRow(other)[getWarps() + warp] >= time;
  }
  /// Adds to a note that so many phases of a barrier have ended.
  void endPhase(int64_t barrier, uint32_t phases, std::vector<uint32_t> &note);
  /// Whether `other` knows that.
  bool knowsPhase(int64_t barrier, uint32_t phases, int64_t other) const {
    return getRow(other)[2 * getWarps() + barrier] >= phases;
  }
  /// Whether `warp` knows all that is in a note.
  bool knows(int64_t warp, llvm::ArrayRef<uint32_t> note) const;
  /// Lets the warps know what the others had done, and what those that have
  /// left a note had.
  void meet(llvm::ArrayRef<int64_t> warps,
            llvm::ArrayRef<std::vector<uint32_t>> notes = {});
  /// What `warp` has written is ordered before what the matrix unit reads.
  void fence(int64_t warp);
  /// Whether `warp` fenced what it wrote at `time`, before what `other` does
  /// next.
  bool isFenced(int64_t warp, uint32_t time, int64_t other) const;

private:
  /// What `warp` knows of each warp, then of each warp's copies, and then of
  /// each barrier.
  const uint32_t *getRow(int64_t warp) const { return &clocks[warp * width]; }
  uint32_t *getRow(int64_t warp) { return &clocks[warp * width]; }

  int64_t width;
  std::vector<uint32_t> clocks;
  /// How often the copies of each warp landed.
  std::vector<uint32_t> landings;
  /// When each warp fenced, ascending.
  std::vector<std::vector<uint32_t>> fences;
};

/// What goes wrong at an access, to be said at the operation.
using Fault = std::optional<std::string>;

/// The bytes of a block's shared memory, with who wrote and read them last.
class SharedMemory {
public:
  SharedMemory(int64_t bytes, Ordering &ordering);

  /// A copy that `count` warps from `first` on do together. Which warp brings
  /// which byte is not said, so that it has arrived when all have waited.
  int64_t addCopy(int64_t first, int64_t count);
  void finishCopy(int64_t copy, int64_t warp);
  /// Says that what `warp` brings of a copy lands at its next `land`.
  void landCopy(int64_t copy, int64_t warp);

  /// A copy of the copy unit, which has landed when so many phases of a barrier
  /// have ended.
  int64_t addBulkCopy(int64_t barrier, uint32_t phases);

  /// Reads and writes of `warp`; `bytes` is even, `offset` too, and both are
  /// within the memory.
  Fault read(int64_t warp, int64_t offset, int64_t bytes, void *target);
  Fault write(int64_t warp, int64_t offset, int64_t bytes, const void *source);
  /// Writes as part of a copy; each warp that takes part does all of it. The
  /// copy unit writes over what was stored only once that is fenced.
  Fault writeCopy(int64_t warp, int64_t copy, int64_t offset, int64_t bytes,
                  const void *source);
  /// Reads by a product of `warp` that runs until `release` is called with what
  /// this appends to `held`.
  Fault readHeld(int64_t warp, int64_t offset, int64_t bytes, void *target,
                 std::vector<int64_t> &held);
  void release(int64_t warp, llvm::ArrayRef<int64_t> held);

private:
  /// The least that is written at once: 2 bytes.
  static constexpr int64_t kGranule = 2;
  static constexpr int32_t kNobody = -1;

  struct Granule {
    int32_t writer = kNobody; ///< the warp that stored here last, or
    int32_t copy = kNobody;   ///< the copy that brought what is here
    uint32_t time = 0;        ///< when it was stored
    uint32_t held = 0;        ///< products in flight that read it
  };

  Fault checkRead(int64_t warp, int64_t granule) const;
  Fault checkWrite(int64_t warp, int64_t granule, int64_t copy) const;
  /// Why `warp` may not use what a copy brings, if so.
  Fault checkCopy(int64_t warp, int64_t copy) const;

  Ordering &ordering;
  std::vector<char> data;
  std::vector<Granule> granules;
  /// When each warp read each granule last.
  std::vector<uint32_t> reads;
  /// A copy: its first warp, when each warp waited for it, and when its share
  /// landed by itself; 0 while that has not been.
  /// One of the copy unit has a barrier and a number of phases instead.
  struct Copy {
    int64_t first;
    std::vector<uint32_t> times, landings;
    int64_t barrier = -1;
    uint32_t phases = 0;
  };
  std::vector<Copy> copies;
};

/// Who wrote and read each element of global memory last. Two arguments may be
/// the same memory, as a state is before and after.
class GlobalAccesses {
public:
  explicit GlobalAccesses(Ordering &ordering) : ordering(ordering) {}

  Fault read(int64_t warp, const char *address);
  /// Several warps may write an element if that does not change it.
  Fault write(int64_t warp, const char *address, bool changes);

private:
  struct Writing {
    int64_t warp = -1;
    uint32_t time = 0;
  };

  /// The number of an element.
  size_t getNumber(const char *address);

  Ordering &ordering;
  llvm::DenseMap<const char *, size_t> numbers;
  std::vector<Writing> writings;
  /// When each warp read each element last.
  std::vector<uint32_t> reads;
};

} // namespace larc::tilerun

#endif // LARC_LIB_REFERENCE_TILEACCESSES_H
