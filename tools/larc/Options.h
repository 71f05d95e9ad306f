//===- Options.h - What the command line asks for ---------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Options are parsed in three steps. The argument list is checked first, word
// by word, against the options that are declared for the command (Flags.h,
// CommandLine.h): that gives errors in larc's form, with the name that was
// meant. llvm::cl then stores the values as text and prints the help. Last,
// values are validated and become the structure below.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TOOLS_LARC_OPTIONS_H
#define LARC_TOOLS_LARC_OPTIONS_H

#include "larc/Support/DType.h"
#include "larc/Target/CUDA/CompileRecurrence.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace larc::driver {

enum class Command { List, Run, Check, Explain, Bench, Compile };

/// How a recurrence is computed. `Auto` is the fastest form that can do what is
/// asked for.
enum class Form { Auto, Reference, Recurrent, Chunk };

/// `auto`, `reference`, `recurrent`, `chunk`.
llvm::StringRef getName(Form form);

enum class Emit {
  Larc,
  Chunk,
  Tile,
  LLVM,
  Assembly,
  Object,
  PTX,
  Cubin,
  Library
};

/// As `--emit` has it: `asm`.
llvm::StringRef getName(Emit emit);

/// A machine that code is for.
struct Target {
  bool isCuda = false;
  /// Of a GPU: 90 for 9.0. 0: that of the GPU at hand.
  unsigned computeCapability = 0;

  /// As `--target` has it: `cuda:90`.
  std::string getName() const;
  bool operator==(const Target &other) const {
    return isCuda == other.isCuda &&
           computeCapability == other.computeCapability;
  }
};

/// A size or a range of sizes, `T=1024:65536:x2`.
struct DimValues {
  std::string name;
  llvm::SmallVector<int64_t, 1> values;
};

/// Random inputs to check.
struct RandomCase {
  /// As it stands in a file of cases, and where; empty: on the command line.
  std::string text, place;
  std::vector<DimValues> dims;
  uint64_t seed = 0;
  std::optional<std::vector<int64_t>> sequenceLengths;
  std::vector<std::pair<std::string, int64_t>> headCounts;
};

/// The command line, validated as far as it can be without the spec.
struct Options {
  Command command = Command::List;

  /// Empty where none is given.
  std::string spec;
  /// It is a compiled library.
  bool isLibrary = false;

  // Common to all commands but `list`; `explain` has some of them.
  llvm::SmallVector<Form> forms;
  /// They were asked for as `all`.
  bool allForms = false;
  /// 0: the cost model's choice.
  int64_t chunkSize = 0, segments = 0;
  std::optional<DType> dtype;
  std::optional<DType> gateDType;
  /// How a GPU keeps states.
  std::optional<DType> stateDType;
  /// One, but for `compile`. None for a library whose own is not chosen.
  llvm::SmallVector<Target> targets;
  /// The assembler for GPUs; empty: one that is found.
  std::string ptxas;
  CudaCopies copies = CudaCopies::Auto;
  bool laneArrivals = false;
  /// `--set NAME=VALUE`, in order.
  std::vector<std::pair<std::string, std::string>> attributes;
  unsigned threads = 1;
  std::optional<double> tolerance;
  bool json = false;
  bool timing = false;
  std::string printIRAfter;

  // run
  std::string inputs, outputs;
  bool gradients = false;

  // check
  std::vector<std::string> data;
  bool noGradients = false, twice = false;
  std::vector<RandomCase> cases;

  // explain, bench, compile
  std::vector<DimValues> dims;

  // explain
  bool markdown = false;

  // bench
  std::string plot;
  bool peers = false;

  // compile
  Emit emit = Emit::Larc;
  std::string output;
  std::string header;
  std::string cpu;

  /// Whether any target is a GPU, or is not one.
  bool hasCuda() const {
    return llvm::any_of(targets, [](const Target &t) { return t.isCuda; });
  }
  bool hasCPU() const {
    return llvm::any_of(targets, [](const Target &t) { return !t.isCuda; });
  }
};

/// Parses and validates the command line. Errors are usage faults. `--help` and
/// `--version` print and exit.
llvm::Expected<Options> parseOptions(int argc, const char *const *argv);

} // namespace larc::driver

#endif // LARC_TOOLS_LARC_OPTIONS_H
