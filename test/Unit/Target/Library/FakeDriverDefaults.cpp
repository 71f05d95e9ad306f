//===- FakeDriverDefaults.cpp - Functions that do nothing -----------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeDriver.h"

namespace larc::test {
FakeDriver &fakeDriver();
larc_cu_result countCall(const char *symbol);
} // namespace larc::test

using namespace larc::test;

// What FakeDriver.cpp has more to say of is taken from there.
#define LARC_DEFAULT(member, symbol, parameters)                               \
  extern "C" __attribute__((weak, visibility("default"))) larc_cu_result       \
      larc_fake_##member parameters __asm__(symbol);                           \
  larc_cu_result larc_fake_##member parameters { return countCall(symbol); }
LARC_CUDA_FUNCTIONS(LARC_DEFAULT)
#undef LARC_DEFAULT
