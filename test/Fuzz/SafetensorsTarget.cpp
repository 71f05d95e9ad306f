//===- SafetensorsTarget.cpp - Fuzzing the safetensors reader -------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuzzTargets.h"

#include "larc/Support/Error.h"
#include "larc/Support/Safetensors.h"

#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <string>

static std::string serialize(const larc::TensorFile &file) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::cantFail(larc::writeSafetensors(os, file));
  return text;
}

void larc::fuzzSafetensors(llvm::StringRef input) {
  llvm::Expected<TensorFile> file = parseSafetensors(input, "input");
  if (!file) {
    if (renderError(file.takeError()).find("input: error: ") != 0)
      std::abort();
    return;
  }
  std::string written = serialize(*file);
  TensorFile again = llvm::cantFail(parseSafetensors(written, "written"));
  if (again.tensors.size() != file->tensors.size() ||
      again.metadata != file->metadata || serialize(again) != written)
    std::abort();
}
