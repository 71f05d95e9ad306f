//===- Plot.h - Curves as SVG -----------------------------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TOOLS_LARC_PLOT_H
#define LARC_TOOLS_LARC_PLOT_H

#include "llvm/Support/raw_ostream.h"

#include <string>
#include <utility>
#include <vector>

namespace larc::driver {

/// A line through points (x, y), all positive and finite.
struct Curve {
  std::string label;
  std::vector<std::pair<double, double>> points;
  /// Drawn dashed and without marks: a limit, not a measurement.
  bool isLimit = false;
};

/// A diagram with two logarithmic axes.
struct Plot {
  std::string title, xLabel, yLabel;
  std::vector<Curve> curves;
};

/// Writes `plot` as an SVG document that needs nothing from elsewhere. The same
/// plot gives the same text. There is at least one point.
void printSVG(const Plot &plot, llvm::raw_ostream &os);

} // namespace larc::driver

#endif // LARC_TOOLS_LARC_PLOT_H
