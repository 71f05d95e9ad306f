//===- TileElements.cpp - Elements of tile programs -------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileElements.h"

#include "larc/Support/DType.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir;
using namespace larc;
using namespace larc::tilerun;

std::optional<Format> tilerun::getFormat(Type type) {
  if (isa<Float64Type>(type))
    return Format{Format::F64, 64};
  if (isa<Float32Type>(type))
    return Format{Format::F32, 32};
  if (isa<Float16Type>(type))
    return Format{Format::F16, 16};
  if (isa<BFloat16Type>(type))
    return Format{Format::BF16, 16};
  if (isa<IndexType>(type))
    return Format{Format::Integer, 64};
  auto integer = dyn_cast<IntegerType>(type);
  if (integer && integer.getWidth() >= 1 && integer.getWidth() <= 64)
    return Format{Format::Integer, integer.getWidth()};
  return std::nullopt;
}

double tilerun::roundTo(Format format, double value) {
  switch (format.kind) {
  case Format::F32:
    return static_cast<float>(value);
  case Format::F16:
    return toFloat(toHalf(value));
  case Format::BF16:
    return toFloat(toBFloat(value));
  case Format::F64:
  case Format::Integer:
    break;
  }
  return value;
}

int64_t tilerun::wrapTo(Format format, int64_t value) {
  if (format.bits == 1)
    return value & 1;
  return llvm::SignExtend64(static_cast<uint64_t>(value), format.bits);
}

uint64_t tilerun::toBits(Format format, Element element) {
  switch (format.kind) {
  case Format::F64:
    return llvm::bit_cast<uint64_t>(element.real);
  case Format::F32:
    return llvm::bit_cast<uint32_t>(static_cast<float>(element.real));
  case Format::F16:
    return toHalf(element.real).bits;
  case Format::BF16:
    return toBFloat(element.real).bits;
  case Format::Integer:
    break;
  }
  return static_cast<uint64_t>(element.integer) &
         llvm::maskTrailingOnes<uint64_t>(format.bits);
}

Element tilerun::fromBits(Format format, uint64_t bits) {
  Element element;
  switch (format.kind) {
  case Format::F64:
    element.real = llvm::bit_cast<double>(bits);
    break;
  case Format::F32:
    element.real = llvm::bit_cast<float>(static_cast<uint32_t>(bits));
    break;
  case Format::F16:
    element.real = toFloat(Half{static_cast<uint16_t>(bits)});
    break;
  case Format::BF16:
    element.real = toFloat(BFloat{static_cast<uint16_t>(bits)});
    break;
  case Format::Integer:
    element.integer = wrapTo(format, static_cast<int64_t>(bits));
    break;
  }
  return element;
}

// Elements lie in memory as on the machines that run either program: the
// lowest byte first.
Element tilerun::readElement(Format format, const void *source) {
  uint64_t bits = 0;
  std::memcpy(&bits, source, format.bits / 8);
  return fromBits(format, bits);
}

void tilerun::writeElement(Format format, Element element, void *target) {
  uint64_t bits = toBits(format, element);
  std::memcpy(target, &bits, format.bits / 8);
}

Element tilerun::convertElement(Element element, Format from, Format to) {
  Element result;
  if (from.isReal())
    result.real = roundTo(to, element.real);
  else
    result.integer =
        wrapTo(to, from.bits == 1 ? -element.integer : element.integer);
  return result;
}
