//===- larc-safetensors-fuzzer.cpp - Fuzzer -------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuzzTargets.h"

#include "llvm/Support/Endian.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  larc::fuzzSafetensors({reinterpret_cast<const char *>(data), size});
  return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

/// Most random changes of a file break the length of its header, and nothing
/// behind it is reached. Three times in four, mutates the header alone and sets
/// its length, or the data alone.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  if (size < 8 || maxSize < 16 || seed % 4 == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  uint64_t length = llvm::support::endian::read64le(data);
  size_t headerSize = std::min<uint64_t>(length, size - 8);
  size_t dataSize = size - 8 - headerSize;
  uint8_t *header = data + 8;
  if (seed % 4 == 1)
    return 8 + headerSize +
           LLVMFuzzerMutate(header + headerSize, dataSize,
                            maxSize - 8 - headerSize);
  // The mutator works in place: it gets a copy with the room that the header
  // may take.
  size_t room = maxSize - 8 - dataSize;
  std::string copy(std::max(room, headerSize), '\0');
  std::memcpy(copy.data(), header, headerSize);
  size_t newSize = LLVMFuzzerMutate(reinterpret_cast<uint8_t *>(copy.data()),
                                    headerSize, room);
  std::memmove(header + newSize, header + headerSize, dataSize);
  std::memcpy(header, copy.data(), newSize);
  llvm::support::endian::write64le(data, newSize);
  return 8 + newSize + dataSize;
}
