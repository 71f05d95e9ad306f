//===- Compare.cpp - Results against expected values ------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Execution/Compare.h"

#include "larc/Support/Error.h"

#include <cmath>
#include <limits>

using namespace larc;

llvm::Expected<Comparison> larc::compareTensors(llvm::StringRef name,
                                                const Tensor &got,
                                                const Tensor &expected,
                                                double limit) {
  if (got.getShape() != expected.getShape())
    return makeFault("tensor " + quoteName(name) + " has shape " +
                     formatShape(got.getShape()) + ", but " +
                     formatShape(expected.getShape()) + " is expected");
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double errorSquares = 0, squares = 0, maxAbs = 0;
  int64_t count = 0;
  // Converted a piece at a time: the tensors may fill half of the memory.
  constexpr int64_t piece = 4096;
  double gotValues[piece], expectedValues[piece];
  for (int64_t begin = 0; begin < got.getNumElements(); begin += piece) {
    int64_t size = std::min(piece, got.getNumElements() - begin);
    auto convert = [&](const Tensor &tensor, double *values) {
      DType type = tensor.getDType();
      convertElements(tensor.getRawData() + begin * getByteWidth(type), type,
                      values, DType::F64, size);
    };
    convert(got, gotValues);
    convert(expected, expectedValues);
    for (int64_t i = 0; i < size; ++i) {
      double value = gotValues[i], wanted = expectedValues[i];
      if (!std::isfinite(wanted)) {
        bool same = std::isnan(wanted) ? std::isnan(value) : value == wanted;
        if (!same)
          maxAbs = infinity;
        continue;
      }
      double error = std::fabs(value - wanted);
      if (!std::isfinite(error)) {
        maxAbs = infinity;
        continue;
      }
      maxAbs = std::max(maxAbs, error);
      errorSquares += error * error;
      squares += wanted * wanted;
      ++count;
    }
  }
  Comparison comparison;
  comparison.limit = limit;
  comparison.maxAbs = maxAbs;
  double denominator = 0.01;
  if (count) {
    denominator = std::max(denominator, std::sqrt(squares / double(count)));
    comparison.rel = std::sqrt(errorSquares / double(count)) / denominator;
  }
  if (std::isinf(maxAbs))
    comparison.rel = infinity;
  comparison.pass =
      comparison.rel <= limit && comparison.maxAbs <= 100 * limit * denominator;
  return comparison;
}

double larc::getDefaultTolerance(DType type) {
  switch (type) {
  case DType::F32:
    return 2e-5;
  case DType::F16:
    return 2e-3;
  case DType::BF16:
    return 1e-2;
  default:
    return 1e-9;
  }
}

bool larc::isGradientName(llvm::StringRef name) {
  return name.starts_with("grad.");
}
