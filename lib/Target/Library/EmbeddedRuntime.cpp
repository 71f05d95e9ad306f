//===- EmbeddedRuntime.cpp - What all libraries have ------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Describe.h"

using namespace larc;

template <size_t size>
static llvm::StringRef makeText(const unsigned char (&bytes)[size]) {
  return {reinterpret_cast<const char *>(bytes), size};
}

// The arrays `header`, `object0` and so on, made by Embed.cmake.
#include "Runtime.inc"

llvm::StringRef larc::getCommonHeader() { return makeText(header); }

llvm::ArrayRef<llvm::StringRef> larc::getRuntimeObjects() {
  static const llvm::StringRef objects[] = {LARC_RUNTIME_OBJECTS};
  return objects;
}
