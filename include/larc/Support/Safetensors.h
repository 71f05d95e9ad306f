//===- Safetensors.h - Reading and writing safetensors -------- -*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A safetensors file is a little-endian 64-bit length, a JSON object of that
// length, and the tensors' bytes. The object maps each name to `dtype`, `shape`
// and `data_offsets` relative to the end of the header; `__metadata__` maps
// strings to strings.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_SUPPORT_SAFETENSORS_H
#define LARC_SUPPORT_SAFETENSORS_H

#include "larc/Support/Tensor.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace larc {

/// Reads a file (`-` is the standard input; pipes are fine), every byte once.
///
/// Files are not trusted. As in the format's own implementation, the header is
/// at most 100 MB, and the tensors, in the order of their offsets, cover the
/// data without holes or overlaps. Beyond it, names may not repeat, the header
/// must start with `{`, and only the element types of `DType` are read. All
/// sizes are checked before memory is taken. Errors are faults of the file
/// `path` and name the tensor and the numbers that contradict each other.
llvm::Expected<TensorFile> readSafetensors(llvm::StringRef path);

/// The same for a file's content in memory; `name` is what errors call it. The
/// tensors are copies.
llvm::Expected<TensorFile> parseSafetensors(llvm::StringRef buffer,
                                            llvm::StringRef name = "<buffer>");

/// Writes a file as `writeFileAtomically` does. The same tensors and metadata
/// give the same bytes: header keys are sorted, `__metadata__` first; the
/// header is padded to a multiple of 8 bytes, and the data is in the order of
/// falling element width and then of the names, so that every element is
/// aligned.
llvm::Error writeSafetensors(llvm::StringRef path, const TensorFile &file);

/// The same to a stream, whose errors are the caller's to check.
llvm::Error writeSafetensors(llvm::raw_ostream &os, const TensorFile &file);

} // namespace larc

#endif // LARC_SUPPORT_SAFETENSORS_H
