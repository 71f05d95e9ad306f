//===- BenchReport.cpp - Telling of measurements -------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bench.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace larc;
using namespace larc::driver;

/// What computed: `2 threads`, `NVIDIA H200`.
static std::string getMachine(const Measurement &m, const Options &options) {
  if (!m.device.empty())
    return m.device;
  return std::to_string(options.threads) +
         (options.threads == 1 ? " thread" : " threads");
}

void Measurement::setSamples(std::vector<double> samples) {
  llvm::sort(samples);
  size_t middle = samples.size() / 2;
  median = samples.size() % 2 ? samples[middle]
                              : (samples[middle - 1] + samples[middle]) / 2;
  min = samples.front();
  max = samples.back();
  runs = samples.size();
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

/// Null where the form has no such number.
static llvm::json::Value toJSONCount(int64_t count) {
  return count ? llvm::json::Value(count) : llvm::json::Value(nullptr);
}

llvm::json::Value driver::measurementToJSON(const Measurement &m,
                                            const SpecChoice &spec,
                                            const Options &options) {
  bool onGPU = !m.device.empty();
  llvm::json::Object object{
      {"spec", toJSONText(spec.name)},
      {"form", driver::getName(m.form)},
      {"dims", dimsToJSON(m.dims)},
      {"dtype", larc::getName(m.dtype)},
      {"threads", toJSONCount(onGPU ? 0 : options.threads)},
      {"chunk_size", toJSONCount(m.plan.chunkSize)},
      {"segments", toJSONCount(m.plan.segments)},
      {"median_ms", m.median},
      {"min_ms", m.min},
      {"max_ms", m.max},
      {"runs", int64_t(m.runs)},
      {"flops", m.flops},
      {"bytes", m.bytes},
      {"gflops", driver::toJSON(m.getGFlops())},
      {"gbps", driver::toJSON(m.getGBps())},
      {"peak_gflops",
       m.limits.gflops ? driver::toJSON(m.limits.gflops) : nullptr},
      {"copy_gbps", driver::toJSON(m.limits.copyGBps)},
      {"share", driver::toJSON(m.getShare())},
      {"workspace_bytes", m.workspaceBytes
                              ? llvm::json::Value(*m.workspaceBytes)
                              : llvm::json::Value(nullptr)},
      {"compile_ms", m.compileMilliseconds},
      {"predicted_ms", m.plan.milliseconds
                           ? driver::toJSON(*m.plan.milliseconds)
                           : llvm::json::Value(nullptr)}};
  if (onGPU) {
    object["device"] = m.device;
    object["host_us"] = driver::toJSON(m.hostMicroseconds);
    object["first_ms"] = driver::toJSON(m.firstMilliseconds);
  }
  if (options.peers)
    object["peers"] = llvm::json::Array(m.peers);
  return object;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static std::string formatTime(double value) { return formatNumber(value, 4); }

static std::string formatShare(double share) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.1f %%", 100 * share);
  return text;
}

/// The columns that all machines have.
static std::vector<std::string> getCells(const Measurement &m) {
  auto count = [](int64_t value) {
    return value ? std::to_string(value) : std::string("-");
  };
  return {driver::getName(m.form).str(),
          larc::getName(m.dtype).str(),
          formatDims(m.dims),
          count(m.plan.chunkSize),
          count(m.plan.segments),
          formatTime(m.median),
          formatTime(m.min),
          formatTime(m.max),
          m.plan.milliseconds ? formatTime(*m.plan.milliseconds) : "-",
          std::to_string(m.runs),
          formatTime(m.getGFlops()),
          formatTime(m.getGBps()),
          formatShare(m.getShare())};
}

void driver::printTable(llvm::ArrayRef<Measurement> measurements,
                        const SpecChoice &spec, const Options &options) {
  bool onGPU = !measurements.front().device.empty();
  llvm::raw_ostream &os = llvm::outs();
  os << spec.name << ", " << getMachine(measurements.front(), options) << '\n';
  std::vector<llvm::StringRef> header = {
      "form", "type",      "dims", "chunk",   "segments", "median ms", "min",
      "max",  "predicted", "runs", "GFLOP/s", "GB/s",     "share"};
  if (onGPU)
    header.insert(header.end(),
                  {"copy GB/s", "host us", "first ms", "compile ms"});
  else
    header.insert(header.end(), {"peak GFLOP/s", "copy GB/s", "compile ms"});
  Table table(header, /*numLeft=*/3);
  for (const Measurement &m : measurements) {
    std::vector<std::string> cells = getCells(m);
    if (!onGPU)
      cells.push_back(formatTime(m.limits.gflops));
    cells.push_back(formatTime(m.limits.copyGBps));
    if (onGPU) {
      cells.push_back(formatTime(m.hostMicroseconds));
      cells.push_back(formatTime(m.firstMilliseconds));
    }
    cells.push_back(formatTime(m.compileMilliseconds));
    table.addRow(std::move(cells));
  }
  table.print(os);
}

//===----------------------------------------------------------------------===//
// The plot
//===----------------------------------------------------------------------===//

/// The dims without T, which is returned.
static std::pair<int64_t, DimList> splitTokens(const DimList &dims) {
  int64_t tokens = 0;
  DimList rest;
  for (const auto &dim : dims) {
    if (dim.first == "T")
      tokens = dim.second;
    else
      rest.push_back(dim);
  }
  return {tokens, rest};
}

Plot driver::makePlot(llvm::ArrayRef<Measurement> measurements,
                      const SpecChoice &spec, const Options &options) {
  DimList fixed;
  for (const DimValues &dim : options.dims)
    if (dim.values.size() == 1)
      fixed.emplace_back(dim.name, dim.values.front());
  std::map<std::string, std::map<double, double>> limits;
  std::vector<Curve> curves;
  auto getCurve = [&](std::string label) -> Curve & {
    auto it = llvm::find_if(
        curves, [&](const Curve &curve) { return curve.label == label; });
    if (it != curves.end())
      return *it;
    curves.push_back(Curve{std::move(label), {}});
    return curves.back();
  };
  for (const Measurement &m : measurements) {
    auto [tokens, rest] = splitTokens(m.dims);
    // What all curves have in common is said in the title.
    llvm::erase_if(
        rest, [&](const auto &dim) { return llvm::is_contained(fixed, dim); });
    std::string suffix = rest.empty() ? "" : ", " + formatDims(rest);
    for (Form form : m.requested)
      getCurve(driver::getName(form).str() + suffix)
          .points.emplace_back(double(tokens), m.min);
    double &limit = limits["limit" + suffix]
                        .try_emplace(double(tokens), HUGE_VAL)
                        .first->second;
    limit = std::min(limit, m.getLimit());
  }
  for (auto &[label, points] : limits)
    curves.push_back(Curve{label,
                           {points.begin(), points.end()},
                           /*isLimit=*/true});
  // The reference is float64 whatever is compiled.
  const Measurement *compiled =
      llvm::find_if(measurements, [](const Measurement &m) {
        return m.form != Form::Reference;
      });
  DType dtype = compiled == measurements.end() ? measurements.front().dtype
                                               : compiled->dtype;
  std::string title = spec.name + ", " + larc::getName(dtype).str() + ", " +
                      formatDims(fixed) + ", " +
                      getMachine(measurements.front(), options);
  return Plot{std::move(title), "T", "best time of a call, ms",
              std::move(curves)};
}
