//===- Report.h - Tables, progress and times --------------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TOOLS_LARC_REPORT_H
#define LARC_TOOLS_LARC_REPORT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace larc::driver {

using Clock = std::chrono::steady_clock;

inline double getMilliseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

/// A table of text; the first `numLeft` columns are aligned left, the others
/// right.
class Table {
public:
  Table(llvm::ArrayRef<llvm::StringRef> header, unsigned numLeft);
  void addRow(std::vector<std::string> cells) {
    rows.push_back(std::move(cells));
  }
  void print(llvm::raw_ostream &os) const;

private:
  std::vector<std::vector<std::string>> rows;
  unsigned numLeft;
};

/// `1.23e-07`, `0`, `inf`: `digits` significant digits.
std::string formatNumber(double value, int digits = 3);

/// A JSON number, or null where JSON has none (NaN and infinities).
llvm::json::Value toJSON(double value);

/// A JSON string; names of files need not be UTF-8.
inline llvm::json::Value toJSONText(llvm::StringRef text) {
  return llvm::json::fixUTF8(text);
}

/// A JSON list of sizes.
llvm::json::Value toJSON(llvm::ArrayRef<int64_t> shape);

/// Prints `value` with a final newline to the standard output.
void printJSON(const llvm::json::Value &value);

/// The same for a list, which is printed as its only element if it has one.
void printJSONList(llvm::json::Array values);

/// Adds up the time of named phases.
class PhaseTimer {
public:
  /// A phase, which ends with the object.
  class Scope {
  public:
    Scope(PhaseTimer &timer, llvm::StringRef name)
        : timer(timer), name(name), start(Clock::now()) {}
    ~Scope() { timer.add(name, getMilliseconds(Clock::now() - start)); }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    PhaseTimer &timer;
    llvm::StringRef name;
    Clock::time_point start;
  };

  void add(llvm::StringRef name, double milliseconds);
  void print(llvm::raw_ostream &os) const;

private:
  std::vector<std::pair<std::string, double>> phases;
  Clock::time_point start = Clock::now();
};

/// A line on stderr that says how far long work has come. Nothing is printed
/// unless stderr is a terminal and a second has passed.
class Progress {
public:
  explicit Progress(std::string what);
  ~Progress() { clear(); }
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// `fraction` is from 0 to 1.
  void update(double fraction);

  /// Takes the line away, for other output.
  void clear();

private:
  std::string what;
  Clock::time_point start, last;
  bool enabled;
  bool shown = false;
};

/// A line on stderr with the seconds that work has taken which cannot say how
/// far it is. Nothing is printed unless stderr is a terminal and a second has
/// passed. The line goes with the object; nothing else may print meanwhile.
class Ticker {
public:
  explicit Ticker(std::string what);
  ~Ticker();
  Ticker(const Ticker &) = delete;
  Ticker &operator=(const Ticker &) = delete;

private:
  void run();

  std::string what;
  Clock::time_point start;
  std::mutex mutex;
  std::condition_variable wake;
  bool done = false;
  std::thread thread;
};

} // namespace larc::driver

#endif // LARC_TOOLS_LARC_REPORT_H
