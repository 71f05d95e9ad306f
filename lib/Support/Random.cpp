//===- Random.cpp - Reproducible random inputs ----------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Support/Random.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cassert>
#include <cmath>

using namespace larc;

static uint64_t splitmix64(uint64_t &state) {
  state += 0x9e3779b97f4a7c15;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

static uint64_t rotateLeft(uint64_t value, int bits) {
  return (value << bits) | (value >> (64 - bits));
}

Random::Random(uint64_t seed, llvm::StringRef stream) {
  // FNV-1a: a hash that no version of a library changes.
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : stream)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  uint64_t mixed = seed;
  mixed = splitmix64(mixed) ^ hash;
  for (uint64_t &word : state)
    word = splitmix64(mixed);
}

uint64_t Random::next() {
  uint64_t result = rotateLeft(state[0] + state[3], 23) + state[0];
  uint64_t shifted = state[1] << 17;
  state[2] ^= state[0];
  state[3] ^= state[1];
  state[1] ^= state[2];
  state[0] ^= state[3];
  state[2] ^= shifted;
  state[3] = rotateLeft(state[3], 45);
  return result;
}

double Random::uniform() { return (double(next() >> 41) + 0.5) * 0x1p-23; }

double Random::normal() {
  if (hasSpare) {
    hasSpare = false;
    return spare;
  }
  // Marsaglia's polar method.
  double x, y, square;
  do {
    x = double(next() >> 11) * 0x1p-52 - 1;
    y = double(next() >> 11) * 0x1p-52 - 1;
    square = x * x + y * y;
  } while (square >= 1 || square == 0);
  double scale = std::sqrt(-2 * std::log(square) / square);
  spare = y * scale;
  hasSpare = true;
  return x * scale;
}

static double roundToFloat(double value) { return double(float(value)); }

void larc::fillNormal(Random &random, llvm::MutableArrayRef<double> values) {
  for (double &value : values)
    value = roundToFloat(random.normal());
}

void larc::fillUniform(Random &random, llvm::MutableArrayRef<double> values) {
  for (double &value : values)
    value = random.uniform();
}

void larc::fillLogDecay(Random &random, llvm::MutableArrayRef<double> values) {
  for (double &value : values)
    value = roundToFloat(-std::log1p(std::exp(1.5 * random.normal() - 2)));
}

/// Fills `values` with normal numbers, and replaces every slice along `axis` by
/// what `change` makes of it.
static void
fillSlices(Random &random, llvm::MutableArrayRef<double> values,
           llvm::ArrayRef<int64_t> shape, int64_t axis,
           llvm::function_ref<void(llvm::MutableArrayRef<double>)> change) {
  assert(axis >= 0 && axis < int64_t(shape.size()) && "axis out of bounds");
  for (double &value : values)
    value = random.normal();
  int64_t size = shape[axis];
  int64_t stride = 1;
  for (int64_t inner : shape.drop_front(axis + 1))
    stride *= inner;
  if (values.empty())
    return;
  assert(int64_t(values.size()) % (size * stride) == 0 && "shape mismatch");

  llvm::SmallVector<double> slice(size);
  for (int64_t outer = 0; outer < int64_t(values.size());
       outer += size * stride) {
    for (int64_t inner = 0; inner < stride; ++inner) {
      double *first = &values[outer + inner];
      for (int64_t i = 0; i < size; ++i)
        slice[i] = first[i * stride];
      change(slice);
      for (int64_t i = 0; i < size; ++i)
        first[i * stride] = roundToFloat(slice[i]);
    }
  }
}

void larc::fillUnit(Random &random, llvm::MutableArrayRef<double> values,
                    llvm::ArrayRef<int64_t> shape, int64_t axis) {
  fillSlices(random, values, shape, axis,
             [](llvm::MutableArrayRef<double> slice) {
               double square = 0;
               for (double value : slice)
                 square += value * value;
               // Never zero: the polar method gives no exact zeros.
               for (double &value : slice)
                 value /= std::sqrt(square);
             });
}

void larc::fillSoftmax(Random &random, llvm::MutableArrayRef<double> values,
                       llvm::ArrayRef<int64_t> shape, int64_t axis) {
  fillSlices(random, values, shape, axis,
             [](llvm::MutableArrayRef<double> slice) {
               double largest = *llvm::max_element(slice);
               double sum = 0;
               for (double &value : slice)
                 sum += value = std::exp(value - largest);
               for (double &value : slice)
                 value /= sum;
             });
}
