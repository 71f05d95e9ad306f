//===- Flags.h - The options, declared --------------------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The options as llvm::cl has them, with their commands and help; values are
// text. Options.cpp makes sense of them.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TOOLS_LARC_FLAGS_H
#define LARC_TOOLS_LARC_FLAGS_H

#include "llvm/Support/CommandLine.h"

#include <string>

namespace larc::driver::flags {

using Text = llvm::cl::opt<std::string>;
using Flag = llvm::cl::opt<bool>;
using TextList = llvm::cl::list<std::string>;

extern llvm::cl::SubCommand listCommand, runCommand, checkCommand,
    explainCommand, benchCommand, compileCommand;
extern llvm::cl::OptionCategory tensorCategory, formCategory,
    comparisonCategory, inspectionCategory;
extern Text spec, inputs, outputs, checkDims, benchDims, explainDims,
    compileDims, seed, seqlens, heads, cases, plot, header, output, form,
    chunkSize, segments, dtype, gateDType, target, stateDType, ptxas, copies,
    cpu, emit, threads, tolerance, uselessTolerance, format, printIRAfter;
extern Flag grad, laneArrivals, peers, noGrad, twice, listJSON, json, timing;
extern TextList data, set;

} // namespace larc::driver::flags

#endif // LARC_TOOLS_LARC_FLAGS_H
