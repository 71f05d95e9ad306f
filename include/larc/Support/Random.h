//===- Random.h - Reproducible random inputs ------------------ -*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random numbers for inputs that a seed reproduces on every machine: the
// generator and the distributions are written out here, since those of the
// standard library differ between implementations.
//
// The fill functions round every value to float32, so that a tensor that is
// then stored as f64 or f32 holds the same numbers, and a float64 reference
// computes from exactly what a float32 kernel reads.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_SUPPORT_RANDOM_H
#define LARC_SUPPORT_RANDOM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace larc {

/// xoshiro256++, seeded through splitmix64.
class Random {
public:
  /// Generators with the same seed and different stream names are independent:
  /// one a tensor, named by it, keeps its values when other tensors come or go.
  explicit Random(uint64_t seed, llvm::StringRef stream = "");

  /// 64 random bits.
  uint64_t next();

  /// Uniform in the open interval (0, 1): an odd multiple of 2^-24, which is a
  /// float32.
  double uniform();

  /// Normal with mean 0 and variance 1.
  double normal();

private:
  uint64_t state[4];
  /// Normal numbers come in pairs.
  double spare = 0;
  bool hasSpare = false;
};

/// Normal numbers with mean 0 and variance 1.
void fillNormal(Random &random, llvm::MutableArrayRef<double> values);

/// Numbers in the open interval (0, 1).
void fillUniform(Random &random, llvm::MutableArrayRef<double> values);

/// Logarithms of decays: negative, -softplus(1.5 n - 2) of a normal n, so that
/// exp is 0.88 at the median, and 0.995 to 0.26 at two standard deviations.
void fillLogDecay(Random &random, llvm::MutableArrayRef<double> values);

/// Row-major values of the given shape whose slices along `axis` are uniform on
/// the unit sphere.
void fillUnit(Random &random, llvm::MutableArrayRef<double> values,
              llvm::ArrayRef<int64_t> shape, int64_t axis);

/// Row-major values of the given shape whose slices along `axis` are softmaxes
/// of normal numbers: positive with sum 1.
void fillSoftmax(Random &random, llvm::MutableArrayRef<double> values,
                 llvm::ArrayRef<int64_t> shape, int64_t axis);

} // namespace larc

#endif // LARC_SUPPORT_RANDOM_H
