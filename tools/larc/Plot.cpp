//===- Plot.cpp - Curves as SVG -------------------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Plot.h"

#include "Report.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace larc::driver;

// Lengths are in pixels; the diagram lies between the margins.
static constexpr double width = 760, height = 460;
static constexpr double left = 80, right = 190, top = 48, bottom = 64;
static constexpr double markRadius = 3.5, tickLength = 5;
static constexpr double legendLine = 28, legendStep = 22;
/// The most ticks that an axis has room for.
static constexpr size_t maxTicks = 12;

/// Colours that people tell apart who see few (Okabe and Ito, 2008).
static constexpr llvm::StringLiteral colors[] = {
    "#0072b2", "#d55e00", "#009e73", "#cc79a7",
    "#e69f00", "#56b4e9", "#8a6d00", "#555555"};
static constexpr llvm::StringLiteral limitColor = "#000000";

namespace {

/// A logarithmic axis: values to pixels.
class Axis {
public:
  /// Values from `low` to `high` go from pixel `first` to `last`.
  Axis(double low, double high, double first, double last)
      : low(low), high(high), first(first), last(last) {}

  double toPixel(double value) const {
    double fraction =
        high > low ? std::log(value / low) / std::log(high / low) : 0.5;
    return first + fraction * (last - first);
  }

  double low, high;

private:
  double first, last;
};

/// Writes one diagram.
class Writer {
public:
  Writer(const Plot &plot, llvm::raw_ostream &os);

  void print();

private:
  void printFrame();
  void printTick(double pixel, double value, bool isX);
  void printCurve(const Curve &curve, llvm::StringRef color);
  void printLegendEntry(const Curve &curve, llvm::StringRef color, double y);
  void printText(double x, double y, llvm::StringRef anchor,
                 llvm::StringRef text, llvm::StringRef more = "");
  void printLine(double x1, double y1, double x2, double y2,
                 llvm::StringRef style);
  std::vector<double> getXTicks() const;
  std::vector<double> getYTicks() const;

  const Plot &plot;
  llvm::raw_ostream &os;
  Axis x, y;
};

} // namespace

/// The smallest of 1, 2 and 5 times a power of ten that is at least `value`, or
/// the largest that is at most `value`.
static double roundToStep(double value, bool up) {
  double power = std::pow(10.0, std::floor(std::log10(value)) - 1);
  double result = power;
  for (int decade = 0; decade < 3; ++decade, power *= 10)
    for (double step : {1.0, 2.0, 5.0}) {
      // A value that is such a number, but for its last bits, stays.
      if (up && step * power >= value * (1 - 1e-9))
        return step * power;
      if (!up && step * power <= value * (1 + 1e-9))
        result = step * power;
    }
  return result;
}

/// The smallest and largest coordinate of the curves, as `get` takes it from a
/// point.
template <typename Get>
static std::pair<double, double> findRange(const Plot &plot, Get get) {
  double low = HUGE_VAL, high = 0;
  for (const Curve &curve : plot.curves)
    for (const auto &point : curve.points) {
      low = std::min(low, get(point));
      high = std::max(high, get(point));
    }
  return {low, high};
}

static Axis makeXAxis(const Plot &plot) {
  auto [low, high] = findRange(plot, [](auto point) { return point.first; });
  return Axis(low, high, left, width - right);
}

static Axis makeYAxis(const Plot &plot) {
  auto [low, high] = findRange(plot, [](auto point) { return point.second; });
  return Axis(roundToStep(low, /*up=*/false), roundToStep(high, /*up=*/true),
              height - bottom, top);
}

Writer::Writer(const Plot &plot, llvm::raw_ostream &os)
    : plot(plot), os(os), x(makeXAxis(plot)), y(makeYAxis(plot)) {}

/// Every n-th of `ticks`, so that there is room.
static std::vector<double> thin(std::vector<double> ticks) {
  size_t step = (ticks.size() + maxTicks - 1) / maxTicks;
  std::vector<double> result;
  for (size_t i = 0; i < ticks.size(); i += step)
    result.push_back(ticks[i]);
  return result;
}

/// The values that were measured.
std::vector<double> Writer::getXTicks() const {
  std::vector<double> ticks;
  for (const Curve &curve : plot.curves)
    for (const auto &point : curve.points)
      ticks.push_back(point.first);
  llvm::sort(ticks);
  ticks.erase(llvm::unique(ticks), ticks.end());
  return thin(std::move(ticks));
}

/// 1, 2 and 5 times powers of ten, or powers of ten alone.
std::vector<double> Writer::getYTicks() const {
  std::vector<double> steps, powers;
  double first = std::pow(10.0, std::floor(std::log10(y.low * (1 + 1e-9))));
  for (double power = first; power <= y.high * (1 + 1e-9); power *= 10)
    for (double step : {1.0, 2.0, 5.0}) {
      double value = step * power;
      if (value < y.low * (1 - 1e-9) || value > y.high * (1 + 1e-9))
        continue;
      steps.push_back(value);
      if (step == 1.0)
        powers.push_back(value);
    }
  return steps.size() <= maxTicks ? steps : thin(powers);
}

/// A length, with few digits.
static std::string pixels(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.1f", value);
  return text;
}

static std::string escape(llvm::StringRef text) {
  std::string result;
  llvm::raw_string_ostream os(result);
  llvm::printHTMLEscaped(text, os);
  return result;
}

void Writer::printLine(double x1, double y1, double x2, double y2,
                       llvm::StringRef style) {
  os << "  <line x1=\"" << pixels(x1) << "\" y1=\"" << pixels(y1) << "\" x2=\""
     << pixels(x2) << "\" y2=\"" << pixels(y2) << "\" " << style << "/>\n";
}

void Writer::printText(double x, double y, llvm::StringRef anchor,
                       llvm::StringRef text, llvm::StringRef more) {
  os << "  <text x=\"" << pixels(x) << "\" y=\"" << pixels(y)
     << "\" text-anchor=\"" << anchor << '"' << more << '>' << escape(text)
     << "</text>\n";
}

void Writer::printTick(double pixel, double value, bool isX) {
  llvm::StringRef grid = "stroke=\"#dddddd\"", mark = "stroke=\"#333333\"";
  std::string label = formatNumber(value, 6);
  double base = height - bottom;
  if (isX) {
    printLine(pixel, top, pixel, base, grid);
    printLine(pixel, base, pixel, base + tickLength, mark);
    printText(pixel, base + 20, "middle", label);
    return;
  }
  printLine(left, pixel, width - right, pixel, grid);
  printLine(left - tickLength, pixel, left, pixel, mark);
  printText(left - 10, pixel + 4, "end", label);
}

void Writer::printFrame() {
  for (double tick : getXTicks())
    printTick(x.toPixel(tick), tick, /*isX=*/true);
  for (double tick : getYTicks())
    printTick(y.toPixel(tick), tick, /*isX=*/false);
  os << "  <rect x=\"" << pixels(left) << "\" y=\"" << pixels(top)
     << "\" width=\"" << pixels(width - left - right) << "\" height=\""
     << pixels(height - top - bottom)
     << "\" fill=\"none\" stroke=\"#333333\"/>\n";
  double center = (left + width - right) / 2;
  printText(left, top - 20, "start", plot.title, " font-weight=\"bold\"");
  printText(center, height - 18, "middle", plot.xLabel);
  double middle = (top + height - bottom) / 2;
  std::string turned = " transform=\"rotate(-90 22.0 " + pixels(middle) + ")\"";
  printText(22, middle, "middle", plot.yLabel, turned);
}

static std::string getStroke(const Curve &curve, llvm::StringRef color) {
  std::string stroke = "stroke=\"" + color.str() + "\" stroke-width=\"2\"";
  if (curve.isLimit)
    stroke += " stroke-dasharray=\"6 4\"";
  return stroke;
}

void Writer::printCurve(const Curve &curve, llvm::StringRef color) {
  os << "  <g class=\"" << (curve.isLimit ? "limit" : "form")
     << "\">\n  <title>" << escape(curve.label)
     << "</title>\n  <polyline fill=\"none\" " << getStroke(curve, color)
     << " points=\"";
  llvm::interleave(
      curve.points, os,
      [&](const auto &point) {
        os << pixels(x.toPixel(point.first)) << ','
           << pixels(y.toPixel(point.second));
      },
      " ");
  os << "\"/>\n";
  if (!curve.isLimit)
    for (const auto &point : curve.points)
      os << "  <circle cx=\"" << pixels(x.toPixel(point.first)) << "\" cy=\""
         << pixels(y.toPixel(point.second)) << "\" r=\"" << pixels(markRadius)
         << "\" fill=\"" << color << "\"/>\n";
  os << "  </g>\n";
}

void Writer::printLegendEntry(const Curve &curve, llvm::StringRef color,
                              double y) {
  double start = width - right + 16;
  printLine(start, y, start + legendLine, y, getStroke(curve, color));
  printText(start + legendLine + 8, y + 4, "start", curve.label);
}

void Writer::print() {
  int w = int(width), h = int(height);
  os << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << w
     << "\" height=\"" << h << "\" viewBox=\"0 0 " << w << ' ' << h
     << "\" font-family=\"sans-serif\" font-size=\"12\">\n"
     << "  <title>" << escape(plot.title) << "</title>\n"
     << "  <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  printFrame();
  double legendY = top + 12;
  size_t numForms = 0;
  for (const Curve &curve : plot.curves) {
    llvm::StringRef color =
        curve.isLimit ? llvm::StringRef(limitColor)
                      : llvm::StringRef(colors[numForms++ % std::size(colors)]);
    printCurve(curve, color);
    printLegendEntry(curve, color, legendY);
    legendY += legendStep;
  }
  os << "</svg>\n";
}

void larc::driver::printSVG(const Plot &plot, llvm::raw_ostream &os) {
  Writer(plot, os).print();
}
