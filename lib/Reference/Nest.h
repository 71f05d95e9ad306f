//===- Nest.h - Loop nests over views ---------------------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every instruction runs over the union of its arrays' axes. A nest is made
// once, when the program is built: axes of size 1 are left out, those that all
// arrays step through alike are joined, and the axis with the smallest strides
// is innermost. What is left at run time is a loop over rows, and inside a row
// a loop that is compiled for the strides 0 and 1.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_REFERENCE_NEST_H
#define LARC_LIB_REFERENCE_NEST_H

#include "larc/Reference/Program.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <array>

namespace larc {

/// Loops over `N` arrays at once.
template <unsigned N>
struct Nest {
  using Offsets = std::array<int64_t, N>;

  struct Loop {
    int64_t size;
    Offsets strides;
  };

  /// Outermost first.
  llvm::SmallVector<Loop, 3> outer;
  /// The row; of size 1 with strides 0 where every array is a scalar.
  Loop inner = {1, {}};
  /// Each array's first element in the frame.
  Offsets offsets = {};

  Nest() = default;
  explicit Nest(std::array<const View *, N> views) {
    llvm::SmallVector<mlir::StringAttr> names;
    llvm::SmallVector<Loop, 4> loops;
    for (unsigned i = 0; i < N; ++i)
      offsets[i] = views[i]->offset;
    for (const View *view : views) {
      for (const ViewAxis &axis : view->axes) {
        if (axis.size == 1 || llvm::is_contained(names, axis.name))
          continue;
        names.push_back(axis.name);
        Loop loop = {axis.size, {}};
        for (unsigned i = 0; i < N; ++i)
          if (const ViewAxis *own = views[i]->find(axis.name))
            loop.strides[i] = own->stride;
        loops.push_back(loop);
      }
    }
    auto weight = [](const Loop &loop) {
      int64_t sum = 0;
      for (int64_t stride : loop.strides)
        sum += stride;
      return sum;
    };
    // A stable insertion sort: there are a few.
    for (auto it = loops.begin(); it != loops.end(); ++it)
      for (auto at = it; at != loops.begin() && weight(at[-1]) < weight(*at);
           --at)
        std::swap(at[-1], *at);
    for (const Loop &loop : loops) {
      if (!outer.empty() && canJoin(outer.back(), loop)) {
        outer.back().size *= loop.size;
        outer.back().strides = loop.strides;
      } else {
        outer.push_back(loop);
      }
    }
    if (!outer.empty())
      inner = outer.pop_back_val();
  }

  /// Calls `fn` with the offsets of each row.
  template <typename Fn>
  void forEachRow(Fn &&fn) const {
    visit(0, offsets, fn);
  }

private:
  static bool canJoin(const Loop &outer, const Loop &inner) {
    for (unsigned i = 0; i < N; ++i)
      if (outer.strides[i] != inner.strides[i] * inner.size)
        return false;
    return true;
  }

  template <typename Fn>
  void visit(unsigned depth, Offsets at, Fn &fn) const {
    if (depth == outer.size())
      return fn(at);
    const Loop &loop = outer[depth];
    for (int64_t i = 0; i < loop.size; ++i) {
      visit(depth + 1, at, fn);
      for (unsigned k = 0; k < N; ++k)
        at[k] += loop.strides[k];
    }
  }
};

/// `factor` times a cotangent, where a cotangent of zero gives zero even if the
/// factor is infinite or NaN.
inline double guarded(double cotangent, double factor) {
  return cotangent == 0.0 ? 0.0 : cotangent * factor;
}

/// Calls `fn` with each element's offsets. Rows whose strides are all 1, and
/// rows of `N - 1` ones and a last stride of 0, have loops of their own.
template <unsigned N, typename Fn>
void forEachElement(const Nest<N> &nest, Fn fn) {
  std::array<int64_t, N> strides = nest.inner.strides;
  int64_t size = nest.inner.size;
  std::array<int64_t, N> ones, lastZero;
  ones.fill(1);
  lastZero = ones;
  lastZero[N - 1] = 0;
  nest.forEachRow([&](const std::array<int64_t, N> &at) {
    std::array<int64_t, N> element = at;
    if (strides == ones) {
      for (int64_t i = 0; i < size; ++i) {
        for (unsigned k = 0; k < N; ++k)
          element[k] = at[k] + i;
        fn(element);
      }
      return;
    }
    if (strides == lastZero) {
      for (int64_t i = 0; i < size; ++i) {
        for (unsigned k = 0; k + 1 < N; ++k)
          element[k] = at[k] + i;
        fn(element);
      }
      return;
    }
    for (int64_t i = 0; i < size; ++i) {
      fn(element);
      for (unsigned k = 0; k < N; ++k)
        element[k] += strides[k];
    }
  });
}

/// target += x y, over the union of their axes: contractions and the adjoints
/// of products. With `guard`, x is a cotangent.
void multiplyAdd(const Nest<3> &nest, double *target, const double *x,
                 const double *y, bool guard);

/// Sets the elements of a dense array.
inline void fillArray(double *values, const View &view, double value) {
  std::fill_n(values + view.offset, view.getNumElements(), value);
}

} // namespace larc

#endif // LARC_LIB_REFERENCE_NEST_H
