//===- DTypeTest.cpp - Element types and conversions ----------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Support/DType.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace larc;
using llvm::APFloat;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// What LLVM's software floating point gives for one rounding of `value`.
static uint16_t roundWithAPFloat(double value,
                                 const llvm::fltSemantics &semantics) {
  APFloat number(value);
  bool losesInfo;
  number.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  return uint16_t(number.bitcastToAPInt().getZExtValue());
}

static double widenWithAPFloat(uint16_t bits,
                               const llvm::fltSemantics &semantics) {
  APFloat number(semantics, llvm::APInt(16, bits));
  bool losesInfo;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return number.convertToDouble();
}

TEST(DType, NamesRoundTrip) {
  for (DType type : allDTypes) {
    EXPECT_EQ(parseFileDType(getFileName(type)), type);
    EXPECT_EQ(parseDType(getName(type)), type);
  }
  EXPECT_EQ(getFileName(DType::Bool), "BOOL");
  EXPECT_EQ(getName(DType::BF16), "bf16");
  EXPECT_EQ(parseFileDType("f32"), std::nullopt);
  EXPECT_EQ(parseDType("F32"), std::nullopt);
  EXPECT_EQ(parseDType(""), std::nullopt);
}

TEST(DType, EveryHalfRoundTrips) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    Half half{uint16_t(bits)};
    float value = toFloat(half);
    bool isNaN = (bits & 0x7fff) > 0x7c00;
    ASSERT_EQ(std::isnan(value), isNaN) << bits;
    if (isNaN) {
      // Quiet, with the sign and the payload that it had.
      ASSERT_EQ(toHalf(value).bits, bits | 0x200);
      ASSERT_EQ(toHalf(double(value)).bits, bits | 0x200);
      continue;
    }
    ASSERT_EQ(double(value), widenWithAPFloat(bits, APFloat::IEEEhalf()));
    ASSERT_EQ(std::signbit(value), bits >= 0x8000);
    ASSERT_EQ(toHalf(value).bits, bits);
    ASSERT_EQ(toHalf(double(value)).bits, bits);
  }
}

TEST(DType, EveryBFloatRoundTrips) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    BFloat bfloat{uint16_t(bits)};
    float value = toFloat(bfloat);
    bool isNaN = (bits & 0x7fff) > 0x7f80;
    ASSERT_EQ(std::isnan(value), isNaN) << bits;
    if (isNaN) {
      ASSERT_EQ(toBFloat(value).bits, bits | 0x40);
      ASSERT_EQ(toBFloat(double(value)).bits, bits | 0x40);
      continue;
    }
    ASSERT_EQ(double(value), widenWithAPFloat(bits, APFloat::BFloat()));
    ASSERT_EQ(toBFloat(value).bits, bits);
    ASSERT_EQ(toBFloat(double(value)).bits, bits);
  }
}

/// Around the middle between every two neighbours of a format: the ties, and
/// the nearest floats and doubles on both sides of them.
template <typename Narrow>
static void testTies(const llvm::fltSemantics &semantics, uint32_t infinityBits,
                     Narrow (*fromFloat)(float), Narrow (*fromDouble)(double)) {
  for (uint32_t bits = 0; bits < infinityBits; ++bits) {
    double low = widenWithAPFloat(bits, semantics);
    double high = widenWithAPFloat(bits + 1, semantics);
    if (std::isinf(high)) // The tie is where the next finite value would be.
      high = low + (low - widenWithAPFloat(bits - 1, semantics));
    double tie = low / 2 + high / 2;
    for (double sign : {1.0, -1.0}) {
      float tieFloat = float(tie);
      for (float value : {tieFloat, std::nextafter(tieFloat, 0.0f),
                          std::nextafter(tieFloat, INFINITY)}) {
        ASSERT_EQ(fromFloat(float(sign) * value).bits,
                  roundWithAPFloat(sign * value, semantics))
            << value;
      }
      for (double value : {tie, std::nextafter(tie, 0.0),
                           std::nextafter(tie, infinity), low, high}) {
        ASSERT_EQ(fromDouble(sign * value).bits,
                  roundWithAPFloat(sign * value, semantics))
            << value;
      }
    }
  }
}

TEST(DType, HalfTies) {
  testTies<Half>(APFloat::IEEEhalf(), 0x7c00, toHalf, toHalf);
}

TEST(DType, BFloatTies) {
  testTies<BFloat>(APFloat::BFloat(), 0x7f80, toBFloat, toBFloat);
}

TEST(DType, RandomDoublesRoundOnce) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200000; ++i) {
    uint64_t bits = random();
    // Half of them with an exponent in the range of a half.
    if (i % 2)
      bits = (bits & 0x800fffffffffffff) | ((1023 - 30 + random() % 50) << 52);
    double value = llvm::bit_cast<double>(bits);
    if (std::isnan(value))
      continue;
    ASSERT_EQ(toHalf(value).bits, roundWithAPFloat(value, APFloat::IEEEhalf()));
    ASSERT_EQ(toBFloat(value).bits, roundWithAPFloat(value, APFloat::BFloat()));
  }
}

TEST(DType, RandomFloatsRoundOnce) {
  std::mt19937 random(8);
  for (int i = 0; i < 200000; ++i) {
    float value = llvm::bit_cast<float>(uint32_t(random()));
    if (std::isnan(value))
      continue;
    ASSERT_EQ(toHalf(value).bits, roundWithAPFloat(value, APFloat::IEEEhalf()));
    ASSERT_EQ(toBFloat(value).bits, roundWithAPFloat(value, APFloat::BFloat()));
  }
}

TEST(DType, OneRoundingFromDouble) {
  // Just above the middle of 1 and the next half (bfloat): by way of a float,
  // that is the middle, and the tie would go down.
  EXPECT_EQ(toHalf(1 + 0x1p-11 + 0x1p-50).bits, 0x3c01);
  EXPECT_EQ(toHalf(float(1 + 0x1p-11 + 0x1p-50)).bits, 0x3c00);
  EXPECT_EQ(toBFloat(1 + 0x1p-8 + 0x1p-50).bits, 0x3f81);
  EXPECT_EQ(toBFloat(float(1 + 0x1p-8 + 0x1p-50)).bits, 0x3f80);
}

TEST(DType, Extremes) {
  EXPECT_EQ(toHalf(65519.99).bits, 0x7bff);
  EXPECT_EQ(toHalf(65520.0).bits, 0x7c00);
  EXPECT_EQ(toHalf(1e300).bits, 0x7c00);
  EXPECT_EQ(toHalf(-1e300).bits, 0xfc00);
  EXPECT_EQ(toHalf(-infinity).bits, 0xfc00);
  EXPECT_EQ(toHalf(0x1p-25).bits, 0x0000);
  EXPECT_EQ(toHalf(0x1.0000000000001p-25).bits, 0x0001);
  EXPECT_EQ(toHalf(-1e-320).bits, 0x8000);
  EXPECT_EQ(toBFloat(1e300).bits, 0x7f80);
  EXPECT_EQ(toBFloat(double(std::numeric_limits<float>::max())).bits, 0x7f80);
  EXPECT_EQ(toBFloat(-1e-320).bits, 0x8000);
  EXPECT_TRUE(std::isnan(toFloat(toBFloat(nan))));
  EXPECT_TRUE(std::isnan(toFloat(toHalf(nan))));
  // A signalling NaN whose payload is in the bits that are cut stays a NaN.
  EXPECT_TRUE(
      std::isnan(toFloat(toBFloat(llvm::bit_cast<float>(0x7f800001u)))));
}

template <typename To, typename From>
static To convertOne(DType from, DType to, From value) {
  To result;
  convertElements(&value, from, &result, to, 1);
  return result;
}

TEST(DType, FloatToIntegerSaturates) {
  auto toI32 = [](double value) {
    return convertOne<int32_t>(DType::F64, DType::I32, value);
  };
  auto toI64 = [](double value) {
    return convertOne<int64_t>(DType::F64, DType::I64, value);
  };
  EXPECT_EQ(toI32(-3.9), -3);
  EXPECT_EQ(toI32(1e10), INT32_MAX);
  EXPECT_EQ(toI32(-1e10), INT32_MIN);
  EXPECT_EQ(toI32(nan), 0);
  EXPECT_EQ(toI32(2147483647.5), INT32_MAX);
  EXPECT_EQ(toI32(-2147483648.0), INT32_MIN);
  EXPECT_EQ(toI64(9.3e18), INT64_MAX);
  EXPECT_EQ(toI64(-infinity), INT64_MIN);
  EXPECT_EQ(toI64(0x1p62), int64_t(1) << 62);
  EXPECT_EQ(convertOne<int32_t>(DType::I64, DType::I32, INT64_MIN), INT32_MIN);
  EXPECT_EQ(convertOne<int32_t>(DType::I64, DType::I32, INT64_MAX), INT32_MAX);
}

TEST(DType, IntegerToNarrowFloatRoundsOnce) {
  // 2^62 + 2^54 is a tie of bfloats; one more is not, but rounds to it as
  // double.
  int64_t tie = (int64_t(1) << 62) + (int64_t(1) << 54);
  EXPECT_EQ(convertOne<uint16_t>(DType::I64, DType::BF16, tie), 0x5e80);
  EXPECT_EQ(convertOne<uint16_t>(DType::I64, DType::BF16, tie + 1), 0x5e81);
  EXPECT_EQ(convertOne<uint16_t>(DType::I64, DType::BF16, -tie - 1), 0xde81);
  EXPECT_EQ(convertOne<uint16_t>(DType::I64, DType::F16, INT64_MIN), 0xfc00);
  EXPECT_EQ(convertOne<uint16_t>(DType::I64, DType::BF16, INT64_MIN), 0xdf00);
  EXPECT_EQ(convertOne<uint16_t>(DType::I32, DType::F16, int32_t(2049)),
            0x6800);
}

TEST(DType, Bools) {
  EXPECT_EQ(convertOne<uint8_t>(DType::F64, DType::Bool, nan), 1);
  EXPECT_EQ(convertOne<uint8_t>(DType::F64, DType::Bool, -0.0), 0);
  EXPECT_EQ(convertOne<uint8_t>(DType::I64, DType::Bool, int64_t(1) << 40), 1);
  EXPECT_EQ(convertOne<uint8_t>(DType::Bool, DType::Bool, uint8_t(7)), 1);
  EXPECT_EQ(convertOne<float>(DType::Bool, DType::F32, uint8_t(7)), 1.0f);
}

TEST(DType, AllPairsAgreeOnSmallIntegers) {
  std::vector<double> values = {0, 1, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1};
  for (DType from : allDTypes) {
    for (DType to : allDTypes) {
      alignas(8) char source[13 * 8], target[13 * 8];
      std::vector<double> back(values.size());
      convertElements(values.data(), DType::F64, source, from, 13);
      convertElements(source, from, target, to, 13);
      convertElements(target, to, back.data(), DType::F64, 13);
      EXPECT_EQ(back, values) << getName(from).str() << getName(to).str();
    }
  }
}

/// Loops run vectorised, in blocks and with remainders: every one of them gives
/// what the scalar function gives.
TEST(DType, LoopsAgreeWithScalars) {
  std::mt19937_64 random(9);
  for (int64_t count : {0, 1, 3, 7, 16, 33, 1000}) {
    std::vector<double> values(count);
    for (double &value : values)
      value = std::ldexp(double(int64_t(random())), int(random() % 60) - 90);
    std::vector<uint16_t> half(count), bfloat(count);
    std::vector<float> wide(count);
    convertElements(values.data(), DType::F64, half.data(), DType::F16, count);
    convertElements(values.data(), DType::F64, bfloat.data(), DType::BF16,
                    count);
    for (int64_t i = 0; i < count; ++i) {
      ASSERT_EQ(half[i], toHalf(values[i]).bits);
      ASSERT_EQ(bfloat[i], toBFloat(values[i]).bits);
    }
    convertElements(half.data(), DType::F16, wide.data(), DType::F32, count);
    for (int64_t i = 0; i < count; ++i)
      ASSERT_EQ(wide[i], toFloat(Half{half[i]}));
  }
}

} // namespace
