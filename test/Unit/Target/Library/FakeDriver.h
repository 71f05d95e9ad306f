//===- FakeDriver.h - A CUDA driver without a GPU ---------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A shared object with the driver's functions. Memory of the device is that of
// the host; kernels are not run, but seen.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TEST_UNIT_TARGET_LIBRARY_FAKEDRIVER_H
#define LARC_TEST_UNIT_TARGET_LIBRARY_FAKEDRIVER_H

#include "larc/Runtime/CudaDriverApi.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace larc::test {

struct FakeDriver {
  /// Calls of each function since the last `reset`, by its symbol.
  std::map<std::string, int> calls;
  /// The error that a function gives, by its symbol.
  std::map<std::string, int> errors;
  /// Gets the bytes of the parameters.
  std::function<void(const larc_cu_launch_config &, const std::string &kernel,
                     const std::string &parameters)>
      onLaunch;
  int major = 9, minor = 0, multiprocessors = 132;
  unsigned long long context = 1;              ///< 0: none is current
  int modulesLoaded = 0, buffersAllocated = 0; ///< that are alive
  std::vector<std::string> kernels;       ///< by the function's handle, from 1
  std::map<std::string, int> sharedBytes; ///< allowed, by kernel

  void reset() { *this = FakeDriver(); }
};

/// Where kernels have their tensor maps: at no multiple of 64 bytes, as with
/// the driver, whose parameters begin at none.
inline constexpr size_t fakeMapsOffset = 368;

/// What the shared object exports beside the driver's functions.
using FakeDriverFunction = FakeDriver *(*)();
inline constexpr const char *fakeDriverFunction = "larcFakeDriver";

} // namespace larc::test

#endif // LARC_TEST_UNIT_TARGET_LIBRARY_FAKEDRIVER_H
