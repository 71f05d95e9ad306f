//===- Report.cpp - Tables, progress and times ----------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace larc;
using namespace larc::driver;

Table::Table(llvm::ArrayRef<llvm::StringRef> header, unsigned numLeft)
    : numLeft(numLeft) {
  std::vector<std::string> cells;
  for (llvm::StringRef cell : header)
    cells.push_back(cell.str());
  addRow(std::move(cells));
}

void Table::print(llvm::raw_ostream &os) const {
  std::vector<size_t> widths(rows.front().size());
  for (const std::vector<std::string> &row : rows)
    for (auto [width, cell] : llvm::zip(widths, row))
      width = std::max(width, cell.size());
  for (const std::vector<std::string> &row : rows) {
    for (auto [i, cell] : llvm::enumerate(row)) {
      os << "  ";
      if (i >= numLeft)
        os.indent(widths[i] - cell.size());
      os << cell;
      // No blanks at the end of a line.
      if (i < numLeft && i + 1 != row.size())
        os.indent(widths[i] - cell.size());
    }
    os << '\n';
  }
}

std::string driver::formatNumber(double value, int digits) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::format("%.*g", digits, value);
  return text;
}

llvm::json::Value driver::toJSON(double value) {
  return std::isfinite(value) ? llvm::json::Value(value)
                              : llvm::json::Value(nullptr);
}

llvm::json::Value driver::toJSON(llvm::ArrayRef<int64_t> shape) {
  llvm::json::Array array;
  for (int64_t size : shape)
    array.push_back(size);
  return array;
}

void driver::printJSON(const llvm::json::Value &value) {
  llvm::outs() << llvm::formatv("{0:2}", value) << '\n';
}

void driver::printJSONList(llvm::json::Array values) {
  if (values.size() == 1)
    printJSON(values.front());
  else
    printJSON(std::move(values));
}

void PhaseTimer::add(llvm::StringRef name, double milliseconds) {
  auto it = llvm::find_if(
      phases, [&](const auto &phase) { return phase.first == name; });
  if (it == phases.end())
    phases.emplace_back(name.str(), milliseconds);
  else
    it->second += milliseconds;
}

void PhaseTimer::print(llvm::raw_ostream &os) const {
  Table table({"phase", "ms"}, /*numLeft=*/1);
  auto format = [](double milliseconds) {
    std::string text;
    llvm::raw_string_ostream(text) << llvm::format("%.3f", milliseconds);
    return text;
  };
  for (const auto &[name, milliseconds] : phases)
    table.addRow({name, format(milliseconds)});
  table.addRow({"total", format(getMilliseconds(Clock::now() - start))});
  table.print(os);
}

Progress::Progress(std::string what)
    : what(std::move(what)), start(Clock::now()), last(start),
      enabled(llvm::errs().is_displayed()) {}

void Progress::update(double fraction) {
  if (!enabled)
    return;
  Clock::time_point now = Clock::now();
  if (getMilliseconds(now - start) < 1000 || getMilliseconds(now - last) < 100)
    return;
  last = now;
  shown = true;
  // Back to the line's start, and erase what it held.
  llvm::errs() << "\r\x1b[K" << what << ": "
               << llvm::format("%3.0f %%", 100 * fraction);
  llvm::errs().flush();
}

void Progress::clear() {
  if (shown)
    llvm::errs() << "\r\x1b[K";
  shown = false;
}

Ticker::Ticker(std::string what) : what(std::move(what)), start(Clock::now()) {
  if (llvm::errs().is_displayed())
    thread = std::thread([this] { run(); });
}

Ticker::~Ticker() {
  if (!thread.joinable())
    return;
  {
    std::lock_guard<std::mutex> lock(mutex);
    done = true;
  }
  wake.notify_one();
  thread.join();
}

void Ticker::run() {
  std::unique_lock<std::mutex> lock(mutex);
  for (int seconds = 1;; ++seconds) {
    if (wake.wait_until(lock, start + std::chrono::seconds(seconds),
                        [&] { return done; })) {
      if (seconds > 1)
        llvm::errs() << "\r\x1b[K";
      return;
    }
    // Back to the line's start, and erase what it held.
    llvm::errs() << "\r\x1b[K" << what << ": " << seconds << " s";
  }
}
