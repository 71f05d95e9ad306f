//===- Nest.cpp - Loop nests over views -------------------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Nest.h"

using namespace larc;

/// One row of `multiplyAdd` for known strides.
template <bool guard, int64_t targetStride, int64_t xStride, int64_t yStride>
static void multiplyAddRow(double *__restrict target, const double *x,
                           const double *y, int64_t size) {
  auto product = [](double a, double b) {
    return guard ? guarded(a, b) : a * b;
  };
  if constexpr (targetStride == 0) {
// Sums in lanes: the order is the compiler's, and the same in every run.
#pragma clang fp reassociate(on)
    double sum = 0;
    for (int64_t i = 0; i < size; ++i)
      sum += product(x[i * xStride], y[i * yStride]);
    *target += sum;
  } else {
    for (int64_t i = 0; i < size; ++i)
      target[i * targetStride] += product(x[i * xStride], y[i * yStride]);
  }
}

template <bool guard>
static void multiplyAddImpl(const Nest<3> &nest, double *target,
                            const double *x, const double *y) {
  auto [targetStride, xStride, yStride] = nest.inner.strides;
  int64_t size = nest.inner.size;
  auto run = [&](auto row) {
    nest.forEachRow([&](const std::array<int64_t, 3> &at) {
      row(target + at[0], x + at[1], y + at[2], size);
    });
  };
  auto is = [&, ts = targetStride, xs = xStride,
             ys = yStride](int64_t t, int64_t a, int64_t b) {
    return ts == t && xs == a && ys == b;
  };
  if (is(1, 0, 1))
    return run([](double *t, const double *a, const double *b, int64_t n) {
      if (!guard || *a != 0.0)
        multiplyAddRow<false, 1, 0, 1>(t, a, b, n);
    });
  if (is(1, 1, 0))
    return run(multiplyAddRow<guard, 1, 1, 0>);
  if (is(1, 1, 1))
    return run(multiplyAddRow<guard, 1, 1, 1>);
  if (is(0, 1, 1))
    return run(multiplyAddRow<guard, 0, 1, 1>);
  run([ts = targetStride, xs = xStride,
       ys = yStride](double *t, const double *a, const double *b, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
      t[i * ts] +=
          guard ? guarded(a[i * xs], b[i * ys]) : a[i * xs] * b[i * ys];
  });
}

void larc::multiplyAdd(const Nest<3> &nest, double *target, const double *x,
                       const double *y, bool guard) {
  if (guard)
    return multiplyAddImpl<true>(nest, target, x, y);
  multiplyAddImpl<false>(nest, target, x, y);
}
