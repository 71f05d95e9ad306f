//===- DType.cpp - Element types of tensors -------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Support/DType.h"

#include "llvm/ADT/bit.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

using namespace larc;

llvm::StringRef larc::getFileName(DType type) {
  switch (type) {
  case DType::F64:
    return "F64";
  case DType::F32:
    return "F32";
  case DType::F16:
    return "F16";
  case DType::BF16:
    return "BF16";
  case DType::I32:
    return "I32";
  case DType::I64:
    return "I64";
  case DType::Bool:
    return "BOOL";
  }
  return "";
}

llvm::StringRef larc::getName(DType type) {
  switch (type) {
  case DType::F64:
    return "f64";
  case DType::F32:
    return "f32";
  case DType::F16:
    return "f16";
  case DType::BF16:
    return "bf16";
  case DType::I32:
    return "i32";
  case DType::I64:
    return "i64";
  case DType::Bool:
    return "bool";
  }
  return "";
}

std::optional<DType> larc::parseFileDType(llvm::StringRef name) {
  for (DType type : allDTypes)
    if (name == getFileName(type))
      return type;
  return std::nullopt;
}

std::optional<DType> larc::parseDType(llvm::StringRef name) {
  for (DType type : allDTypes)
    if (name == getName(type))
      return type;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Scalars. All of them are free of branches, so that loops over them vectorise.
//===----------------------------------------------------------------------===//

static inline float halfToFloat(uint16_t half) {
  uint32_t magnitude = half & 0x7fffu;
  uint32_t sign = uint32_t(half & 0x8000u) << 16;
  // Normal numbers: shift the mantissa, rebias the exponent by 127 - 15.
  uint32_t normal = (magnitude << 13) + (112u << 23);
  // Infinities and NaNs: the largest exponent moves from 31 to 255.
  uint32_t special = (magnitude << 13) | 0x7f800000u;
  // Zeros and subnormals: 2^-14 + m 2^-24 is a normal float, and so is the
  // difference.
  float shifted = llvm::bit_cast<float>((113u << 23) + (magnitude << 13));
  uint32_t subnormal =
      llvm::bit_cast<uint32_t>(shifted - llvm::bit_cast<float>(113u << 23));
  uint32_t bits = magnitude >= 0x7c00u ? special : normal;
  bits = magnitude < 0x0400u ? subnormal : bits;
  return llvm::bit_cast<float>(bits | sign);
}

static inline uint16_t floatToHalf(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  uint32_t sign = (bits >> 16) & 0x8000u;
  uint32_t magnitude = bits & 0x7fffffffu;
  // Normal results: add just under half a unit, and one more if the kept part
  // is odd; a carry out of the mantissa is the next exponent, up to infinity.
  uint32_t normal =
      (magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  // Subnormal results: adding 0.5, whose unit in the last place is the smallest
  // half, makes the adder round.
  float rounded = llvm::bit_cast<float>(magnitude) + 0.5f;
  uint32_t subnormal = llvm::bit_cast<uint32_t>(rounded) - 0x3f000000u;
  uint32_t nan = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  uint32_t result = magnitude < 0x38800000u ? subnormal : normal;
  result = magnitude >= 0x47800000u ? 0x7c00u : result;
  result = magnitude > 0x7f800000u ? nan : result;
  return uint16_t(result | sign);
}

static inline float bfloatToFloat(uint16_t bfloat) {
  return llvm::bit_cast<float>(uint32_t(bfloat) << 16);
}

static inline uint16_t floatToBFloat(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  uint32_t nan = (bits >> 16) | 0x40u;
  return uint16_t((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}

/// Rounds to odd: truncates, and sets the last bit if anything was lost. A
/// second rounding, to a format with at least two bits less, then gives the
/// same as one rounding of `value`.
static inline float roundToOdd(double value) {
  float nearest = float(value);
  double back = double(nearest);
  uint32_t bits = llvm::bit_cast<uint32_t>(nearest);
  bits -= std::fabs(back) > std::fabs(value) ? 1u : 0u;
  bits |= (back > value || back < value) ? 1u : 0u;
  return llvm::bit_cast<float>(bits);
}

/// A double that rounds to every format of at most 24 bits as `value` does: the
/// low bits of large values are gathered in one.
static inline double toStickyDouble(int64_t value) {
  int64_t low = value & 0xfff;
  int64_t sticky = (value - low) | (low != 0 ? 0x800 : 0);
  bool isLarge = value >= (int64_t(1) << 53) || value <= -(int64_t(1) << 53);
  return double(isLarge ? sticky : value);
}

float larc::toFloat(Half value) { return halfToFloat(value.bits); }
float larc::toFloat(BFloat value) { return bfloatToFloat(value.bits); }
Half larc::toHalf(float value) { return {floatToHalf(value)}; }
Half larc::toHalf(double value) { return {floatToHalf(roundToOdd(value))}; }
BFloat larc::toBFloat(float value) { return {floatToBFloat(value)}; }
BFloat larc::toBFloat(double value) {
  return {floatToBFloat(roundToOdd(value))};
}

//===----------------------------------------------------------------------===//
// Loops.
//===----------------------------------------------------------------------===//

namespace {
template <DType type>
struct Storage;
template <>
struct Storage<DType::F64> {
  using Type = double;
};
template <>
struct Storage<DType::F32> {
  using Type = float;
};
template <>
struct Storage<DType::F16> {
  using Type = uint16_t;
};
template <>
struct Storage<DType::BF16> {
  using Type = uint16_t;
};
template <>
struct Storage<DType::I32> {
  using Type = int32_t;
};
template <>
struct Storage<DType::I64> {
  using Type = int64_t;
};
template <>
struct Storage<DType::Bool> {
  using Type = uint8_t;
};
} // namespace

/// The exact value of an element, in a type of C++.
template <DType from>
static inline auto decode(typename Storage<from>::Type value) {
  if constexpr (from == DType::F16)
    return halfToFloat(value);
  else if constexpr (from == DType::BF16)
    return bfloatToFloat(value);
  else if constexpr (from == DType::Bool)
    return int32_t(value != 0);
  else
    return value;
}

template <typename Integer, typename Value>
static inline Integer saturate(Value value) {
  using Limits = std::numeric_limits<Integer>;
  if constexpr (std::is_integral_v<Value>) {
    if (value > Limits::max())
      return Limits::max();
    return value < Limits::min() ? Limits::min() : Integer(value);
  } else {
    double exact = double(value);
    // -min is a power of two, so both bounds are exact.
    double bound = -double(Limits::min());
    if (!(exact > -bound))
      return exact == exact ? Limits::min() : 0;
    return exact >= bound ? Limits::max() : Integer(exact);
  }
}

template <DType from, DType to>
static inline typename Storage<to>::Type
convertElement(typename Storage<from>::Type element) {
  auto value = decode<from>(element);
  using Value = decltype(value);
  if constexpr (to == DType::Bool) {
    return value != 0 ? 1 : 0;
  } else if constexpr (to == DType::I32 || to == DType::I64) {
    return saturate<typename Storage<to>::Type>(value);
  } else if constexpr (to == DType::F64) {
    return double(value);
  } else if constexpr (to == DType::F32) {
    return float(value);
  } else {
    float narrow;
    if constexpr (std::is_same_v<Value, float>)
      narrow = value;
    else if constexpr (std::is_same_v<Value, int64_t>)
      narrow = roundToOdd(toStickyDouble(value));
    else
      narrow = roundToOdd(double(value));
    return to == DType::F16 ? floatToHalf(narrow) : floatToBFloat(narrow);
  }
}

template <DType from, DType to>
static void convertLoop(const void *source, void *target, int64_t count) {
  if constexpr (from == to && from != DType::Bool) {
    std::memcpy(target, source, size_t(count) * getByteWidth(to));
  } else {
    auto *input = static_cast<const typename Storage<from>::Type *>(source);
    auto *output = static_cast<typename Storage<to>::Type *>(target);
    for (int64_t i = 0; i < count; ++i)
      output[i] = convertElement<from, to>(input[i]);
  }
}

template <DType from>
static void convertFrom(const void *source, void *target, DType to,
                        int64_t count) {
  switch (to) {
  case DType::F64:
    return convertLoop<from, DType::F64>(source, target, count);
  case DType::F32:
    return convertLoop<from, DType::F32>(source, target, count);
  case DType::F16:
    return convertLoop<from, DType::F16>(source, target, count);
  case DType::BF16:
    return convertLoop<from, DType::BF16>(source, target, count);
  case DType::I32:
    return convertLoop<from, DType::I32>(source, target, count);
  case DType::I64:
    return convertLoop<from, DType::I64>(source, target, count);
  case DType::Bool:
    return convertLoop<from, DType::Bool>(source, target, count);
  }
}

void larc::convertElements(const void *source, DType from, void *target,
                           DType to, int64_t count) {
  if (count <= 0)
    return;
  switch (from) {
  case DType::F64:
    return convertFrom<DType::F64>(source, target, to, count);
  case DType::F32:
    return convertFrom<DType::F32>(source, target, to, count);
  case DType::F16:
    return convertFrom<DType::F16>(source, target, to, count);
  case DType::BF16:
    return convertFrom<DType::BF16>(source, target, to, count);
  case DType::I32:
    return convertFrom<DType::I32>(source, target, to, count);
  case DType::I64:
    return convertFrom<DType::I64>(source, target, to, count);
  case DType::Bool:
    return convertFrom<DType::Bool>(source, target, to, count);
  }
}
