//===- DType.h - Element types of tensors --------------------- -*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The element types that tensors have in files and in memory, and conversions
// between them. All conversions to a floating-point type round once, to nearest
// and ties to even, from the exact value of the source: in particular f64 to
// f16 and f64 to bf16 do not go through f32. Overflow gives an infinity,
// subnormals are kept, NaNs stay NaNs (quiet, with the leading bits of their
// payload).
//
//===----------------------------------------------------------------------===//

#ifndef LARC_SUPPORT_DTYPE_H
#define LARC_SUPPORT_DTYPE_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace larc {

/// Element types, wide to narrow within each family. Bool takes one byte.
enum class DType : uint8_t { F64, F32, F16, BF16, I32, I64, Bool };

/// All element types, in the order of their declaration.
inline constexpr DType allDTypes[] = {DType::F64,  DType::F32, DType::F16,
                                      DType::BF16, DType::I32, DType::I64,
                                      DType::Bool};

/// Bytes of one element.
constexpr int64_t getByteWidth(DType type) {
  switch (type) {
  case DType::F64:
  case DType::I64:
    return 8;
  case DType::F32:
  case DType::I32:
    return 4;
  case DType::F16:
  case DType::BF16:
    return 2;
  case DType::Bool:
    return 1;
  }
  return 0;
}

constexpr bool isFloat(DType type) {
  return type == DType::F64 || type == DType::F32 || type == DType::F16 ||
         type == DType::BF16;
}

/// The name in a safetensors file: `F32`, `BOOL`.
llvm::StringRef getFileName(DType type);

/// The name in options, messages and MLIR types: `f32`, `bool`.
llvm::StringRef getName(DType type);

/// The element type that a safetensors file calls `name`, or nullopt.
std::optional<DType> parseFileDType(llvm::StringRef name);

/// The element type that an option calls `name`, or nullopt.
std::optional<DType> parseDType(llvm::StringRef name);

/// Storage of f16 and bf16 values, as bit patterns. Types of their own, so that
/// a pattern is never taken for a number.
struct Half {
  uint16_t bits = 0;
};
struct BFloat {
  uint16_t bits = 0;
};

/// Exact widening.
float toFloat(Half value);
float toFloat(BFloat value);

/// Narrowing with one rounding, to nearest and ties to even.
Half toHalf(float value);
Half toHalf(double value);
BFloat toBFloat(float value);
BFloat toBFloat(double value);

/// Converts `count` elements at `source` of type `from` to `to` at `target`.
/// The buffers must be aligned for their element types and must not overlap.
///
/// Floats become integers by truncation, saturating, NaN as zero; a bool is
/// whether the value differs from zero (a NaN does), and any byte but zero is
/// true.
void convertElements(const void *source, DType from, void *target, DType to,
                     int64_t count);

} // namespace larc

#endif // LARC_SUPPORT_DTYPE_H
