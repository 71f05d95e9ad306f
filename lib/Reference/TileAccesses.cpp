//===- TileAccesses.cpp - Accesses of memory in tile programs ---*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileAccesses.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cstring>

using namespace larc;
using namespace larc::tilerun;

//===----------------------------------------------------------------------===//
// Ordering
//===----------------------------------------------------------------------===//

// Times start at 1; 0 stands for never.
Ordering::Ordering(int64_t warps, int64_t barriers)
    : width(2 * warps + barriers), clocks(width * warps, 0), landings(warps, 0),
      fences(warps) {
  for (int64_t warp = 0; warp < warps; ++warp)
    getRow(warp)[warp] = 1;
}

std::vector<uint32_t> Ordering::leave(int64_t warp) {
  uint32_t *row = getRow(warp);
  std::vector<uint32_t> note(row, row + width);
  ++row[warp];
  return note;
}

std::vector<uint32_t> Ordering::land(int64_t warp) {
  std::vector<uint32_t> note(width, 0);
  note[getWarps() + warp] = ++landings[warp];
  return note;
}

void Ordering::endPhase(int64_t barrier, uint32_t phases,
                        std::vector<uint32_t> &note) {
  note.resize(width, 0);
  note[2 * getWarps() + barrier] = phases;
}

bool Ordering::knows(int64_t warp, llvm::ArrayRef<uint32_t> note) const {
  const uint32_t *row = getRow(warp);
  return llvm::all_of(llvm::enumerate(note), [&](auto entry) {
    return row[entry.index()] >= entry.value();
  });
}

void Ordering::meet(llvm::ArrayRef<int64_t> warps,
                    llvm::ArrayRef<std::vector<uint32_t>> notes) {
  std::vector<uint32_t> joined(width, 0);
  for (const std::vector<uint32_t> &note : notes)
    for (int64_t other = 0; other < width; ++other)
      joined[other] = std::max(joined[other], note[other]);
  for (int64_t warp : warps)
    for (int64_t other = 0; other < width; ++other)
      joined[other] = std::max(joined[other], getRow(warp)[other]);
  for (int64_t warp : warps) {
    llvm::copy(joined, getRow(warp));
    ++getRow(warp)[warp];
  }
}

void Ordering::fence(int64_t warp) {
  uint32_t &clock = getRow(warp)[warp];
  fences[warp].push_back(clock);
  ++clock;
}

bool Ordering::isFenced(int64_t warp, uint32_t time, int64_t other) const {
  auto first = llvm::lower_bound(fences[warp], time);
  return first != fences[warp].end() && isBefore(warp, *first, other);
}

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

static std::string nameWarp(int64_t warp) {
  return "warp " + std::to_string(warp);
}

/// `warp` does what it must not do before `other` has finished.
static std::string makeRace(int64_t warp, const char *does, int64_t other,
                            const char *did) {
  return nameWarp(warp) + " " + does + " what " + nameWarp(other) + " " + did +
         ", and no barrier stands in between";
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

SharedMemory::SharedMemory(int64_t bytes, Ordering &ordering)
    : ordering(ordering), data(bytes), granules((bytes + 1) / kGranule),
      reads(granules.size() * ordering.getWarps(), 0) {}

int64_t SharedMemory::addCopy(int64_t first, int64_t count) {
  copies.push_back({first, std::vector<uint32_t>(count, 0),
                    std::vector<uint32_t>(count, 0)});
  return static_cast<int64_t>(copies.size()) - 1;
}

int64_t SharedMemory::addBulkCopy(int64_t barrier, uint32_t phases) {
  copies.push_back({0, {}, {}, barrier, phases});
  return static_cast<int64_t>(copies.size()) - 1;
}

void SharedMemory::finishCopy(int64_t copy, int64_t warp) {
  copies[copy].times[warp - copies[copy].first] = ordering.now(warp);
}

void SharedMemory::landCopy(int64_t copy, int64_t warp) {
  copies[copy].landings[warp - copies[copy].first] = ordering.getLanding(warp);
}

Fault SharedMemory::checkCopy(int64_t warp, int64_t copy) const {
  if (int64_t barrier = copies[copy].barrier; barrier >= 0) {
    if (ordering.knowsPhase(barrier, copies[copy].phases, warp))
      return std::nullopt;
    return "what is copied here may not have arrived: " + nameWarp(warp) +
           " has not waited for the phase in which it lands";
  }
  for (auto [index, time, landing] :
       llvm::enumerate(copies[copy].times, copies[copy].landings)) {
    int64_t other = copies[copy].first + static_cast<int64_t>(index);
    if (landing != 0 && ordering.knowsLanding(other, landing, warp))
      continue;
    if (time == 0 && landing != 0)
      return "what is copied here may not have arrived: " + nameWarp(warp) +
             " has not waited for the phase that ends when " + nameWarp(other) +
             "'s share has landed";
    if (time == 0)
      return "what is copied here has not arrived: " + nameWarp(other) +
             " has not waited for its share";
    if (!ordering.isBefore(other, time, warp))
      return "what is copied here may not have arrived: no barrier stands "
             "between " +
             nameWarp(other) + "'s wait and " + nameWarp(warp);
  }
  return std::nullopt;
}

Fault SharedMemory::checkRead(int64_t warp, int64_t index) const {
  const Granule &granule = granules[index];
  if (granule.copy != kNobody)
    return checkCopy(warp, granule.copy);
  if (granule.writer == kNobody)
    return "reads shared memory that was never written";
  if (!ordering.isBefore(granule.writer, granule.time, warp))
    return makeRace(warp, "reads", granule.writer, "wrote");
  return std::nullopt;
}

Fault SharedMemory::checkWrite(int64_t warp, int64_t index,
                               int64_t copy) const {
  const Granule &granule = granules[index];
  if (granule.held != 0)
    return "writes shared memory that a matrix product in flight reads";
  if (granule.copy != kNobody) {
    if (granule.copy != copy)
      if (Fault fault = checkCopy(warp, granule.copy))
        return fault;
  } else if (granule.writer != kNobody &&
             !ordering.isBefore(granule.writer, granule.time, warp)) {
    return makeRace(warp, "writes", granule.writer, "wrote");
  }
  for (int64_t other = 0; other < ordering.getWarps(); ++other)
    if (!ordering.isBefore(other, reads[index * ordering.getWarps() + other],
                           warp))
      return makeRace(warp, "writes", other, "reads");
  return std::nullopt;
}

Fault SharedMemory::read(int64_t warp, int64_t offset, int64_t bytes,
                         void *target) {
  for (int64_t index = offset / kGranule; index * kGranule < offset + bytes;
       ++index) {
    if (Fault fault = checkRead(warp, index))
      return fault;
    reads[index * ordering.getWarps() + warp] = ordering.now(warp);
  }
  std::memcpy(target, data.data() + offset, bytes);
  return std::nullopt;
}

Fault SharedMemory::write(int64_t warp, int64_t offset, int64_t bytes,
                          const void *source) {
  for (int64_t index = offset / kGranule; index * kGranule < offset + bytes;
       ++index) {
    if (Fault fault = checkWrite(warp, index, kNobody))
      return fault;
    Granule &granule = granules[index];
    granule.writer = static_cast<int32_t>(warp);
    granule.copy = kNobody;
    granule.time = ordering.now(warp);
  }
  std::memcpy(data.data() + offset, source, bytes);
  return std::nullopt;
}

Fault SharedMemory::writeCopy(int64_t warp, int64_t copy, int64_t offset,
                              int64_t bytes, const void *source) {
  for (int64_t index = offset / kGranule; index * kGranule < offset + bytes;
       ++index) {
    if (Fault fault = checkWrite(warp, index, copy))
      return fault;
    Granule &granule = granules[index];
    bool isStored = granule.copy == kNobody && granule.writer != kNobody;
    if (copies[copy].barrier >= 0 && isStored &&
        !ordering.isFenced(granule.writer, granule.time, warp))
      return "the copy unit writes over what " + nameWarp(granule.writer) +
             " stored, and no tile.fence_async stands in between";
    granule.copy = static_cast<int32_t>(copy);
  }
  std::memcpy(data.data() + offset, source, bytes);
  return std::nullopt;
}

Fault SharedMemory::readHeld(int64_t warp, int64_t offset, int64_t bytes,
                             void *target, std::vector<int64_t> &held) {
  for (int64_t index = offset / kGranule; index * kGranule < offset + bytes;
       ++index) {
    if (Fault fault = checkRead(warp, index))
      return fault;
    Granule &granule = granules[index];
    if (granule.copy == kNobody &&
        !ordering.isFenced(granule.writer, granule.time, warp))
      return "the matrix unit reads what " + nameWarp(granule.writer) +
             " stored, and no tile.fence_async stands in between";
    ++granule.held;
    held.push_back(index);
  }
  std::memcpy(target, data.data() + offset, bytes);
  return std::nullopt;
}

void SharedMemory::release(int64_t warp, llvm::ArrayRef<int64_t> held) {
  for (int64_t index : held) {
    --granules[index].held;
    reads[index * ordering.getWarps() + warp] = ordering.now(warp);
  }
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

size_t GlobalAccesses::getNumber(const char *address) {
  auto [found, isNew] = numbers.try_emplace(address, writings.size());
  if (isNew) {
    writings.emplace_back();
    reads.resize(reads.size() + ordering.getWarps(), 0);
  }
  return found->second;
}

Fault GlobalAccesses::read(int64_t warp, const char *address) {
  size_t number = getNumber(address);
  const Writing &writing = writings[number];
  if (writing.warp >= 0 && !ordering.isBefore(writing.warp, writing.time, warp))
    return makeRace(warp, "reads", writing.warp, "wrote");
  reads[number * ordering.getWarps() + warp] = ordering.now(warp);
  return std::nullopt;
}

Fault GlobalAccesses::write(int64_t warp, const char *address, bool changes) {
  size_t number = getNumber(address);
  Writing &writing = writings[number];
  if (changes && writing.warp >= 0 &&
      !ordering.isBefore(writing.warp, writing.time, warp))
    return makeRace(warp, "writes", writing.warp, "wrote");
  for (int64_t other = 0; other < ordering.getWarps(); ++other)
    if (!ordering.isBefore(other, reads[number * ordering.getWarps() + other],
                           warp))
      return makeRace(warp, "writes", other, "reads");
  writing = {warp, ordering.now(warp)};
  return std::nullopt;
}
