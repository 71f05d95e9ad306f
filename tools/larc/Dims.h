//===- Dims.h - Sizes on the command line -----------------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TOOLS_LARC_DIMS_H
#define LARC_TOOLS_LARC_DIMS_H

#include "Options.h"

#include "larc/Dialect/Larc/IR/Larc.h"

#include "llvm/Support/JSON.h"

namespace larc::driver {

using DimList = llvm::SmallVector<std::pair<std::string, int64_t>>;

/// Parses `B=2,T=1024:65536:x2,K=64`. A range `FIRST:LAST` steps by one,
/// `FIRST:LAST:STEP` by STEP and `FIRST:LAST:xFACTOR` by a factor; where
/// `allowRanges` is not set a range is an error. H and axes are positive, B
/// and T may be 0. Errors are usage faults.
llvm::Expected<std::vector<DimValues>> parseDims(llvm::StringRef text,
                                                 bool allowRanges);

/// Parses `17,0,64`: numbers of tokens.
llvm::Expected<std::vector<int64_t>> parseLengths(llvm::StringRef text);

/// Parses `q:2,k:2`: positive head counts by operand.
llvm::Expected<std::vector<std::pair<std::string, int64_t>>>
parseHeadCounts(llvm::StringRef text);

/// All combinations of the values, the last dim varying fastest.
std::vector<DimList> expandDims(llvm::ArrayRef<DimValues> dims);

/// The dims that have one value, which is all of them without ranges.
DimList getSingleDims(llvm::ArrayRef<DimValues> dims);

/// `B=2,T=100`.
std::string formatDims(llvm::ArrayRef<std::pair<std::string, int64_t>> dims);

/// `{"B": 2, "T": 100}`.
llvm::json::Value
dimsToJSON(llvm::ArrayRef<std::pair<std::string, int64_t>> dims);

/// Binds the axes of the flat `recurrence` to `dims` (B, T and H are no axes
/// and stand beside them). A name that is no axis, a size that contradicts the
/// length of a schedule, and a missing axis are usage faults; so are missing
/// ones of `required` (B, T, H). Unless `complete` is set, nothing is missing:
/// axes without a size stay without one.
llvm::Error bindDimsOption(RecurrenceOp recurrence,
                           llvm::ArrayRef<std::pair<std::string, int64_t>> dims,
                           llvm::ArrayRef<llvm::StringRef> required,
                           bool complete = true);

} // namespace larc::driver

#endif // LARC_TOOLS_LARC_DIMS_H
