//===- SafetensorsHeader.h - The header of a safetensors file - -*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_SUPPORT_SAFETENSORSHEADER_H
#define LARC_LIB_SUPPORT_SAFETENSORSHEADER_H

#include "larc/Support/DType.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace larc {

/// What the header says about one tensor.
struct TensorEntry {
  std::string name;
  DType type = DType::F32;
  llvm::SmallVector<int64_t, 6> shape;
  /// Bytes of the data section; the size matches the shape and the type.
  uint64_t begin = 0;
  uint64_t end = 0;
};

/// A checked header: the entries are sorted by their offsets and cover
/// [0, dataSize) without holes or overlaps.
struct SafetensorsHeader {
  std::vector<TensorEntry> entries;
  std::map<std::string, std::string> metadata;
  uint64_t dataSize = 0;
};

/// Parses and checks the JSON text of a header. `available` is the number of
/// bytes after it, where that is known; the tensors must cover exactly these.
llvm::Expected<SafetensorsHeader>
parseSafetensorsHeader(llvm::StringRef text, std::optional<uint64_t> available);

} // namespace larc

#endif // LARC_LIB_SUPPORT_SAFETENSORSHEADER_H
