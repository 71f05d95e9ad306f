//===- TileElements.h - Elements of tile programs ---------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_REFERENCE_TILEELEMENTS_H
#define LARC_LIB_REFERENCE_TILEELEMENTS_H

#include "mlir/IR/Operation.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace larc::tilerun {

/// An element, or a scalar of a program. Every floating-point type is kept as
/// the double of the same value, every integer type extended to 64 bits: with
/// its sign, but for predicates, which are 0 or 1.
union Element {
  double real;
  int64_t integer;
};

using Elements = std::vector<Element>;

/// What a type does to the bits of an element.
struct Format {
  enum Kind : uint8_t { F64, F32, F16, BF16, Integer } kind;
  unsigned bits;

  bool isReal() const { return kind != Integer; }
};

/// The format of a scalar type; nothing for types that elements do not have.
std::optional<Format> getFormat(mlir::Type type);

/// `value` rounded to a floating-point format, to nearest and ties to even.
double roundTo(Format format, double value);
/// `value` cut to an integer format.
int64_t wrapTo(Format format, int64_t value);

/// The bits of an element as it lies in memory or in a register, and back.
uint64_t toBits(Format format, Element element);
Element fromBits(Format format, uint64_t bits);

/// An element in memory; formats of whole bytes.
Element readElement(Format format, const void *source);
void writeElement(Format format, Element element, void *target);

/// An element in another format of the same family. A predicate becomes 0 or
/// -1, as every signed number of one bit.
Element convertElement(Element element, Format from, Format to);

/// Elements that an operation reads: one by one, or the same each time.
struct ElementSpan {
  const Element *data = nullptr;
  bool uniform = false;

  Element operator[](int64_t index) const { return data[uniform ? 0 : index]; }
};

/// Computes `count` results of an operation of `arith` or `math` on scalars.
/// Emits an error at an operation that is not known, and at divisions by zero.
llvm::LogicalResult evaluateElements(mlir::Operation *op,
                                     llvm::ArrayRef<ElementSpan> operands,
                                     Element *results, int64_t count);

} // namespace larc::tilerun

#endif // LARC_LIB_REFERENCE_TILEELEMENTS_H
