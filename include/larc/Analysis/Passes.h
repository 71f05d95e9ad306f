//===- Passes.h - Analyses as passes -*- C++ -*- --------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_ANALYSIS_PASSES_H
#define LARC_ANALYSIS_PASSES_H

#include "larc/Dialect/Larc/IR/Larc.h"

#include "mlir/Pass/Pass.h"

namespace larc {

#define GEN_PASS_DECL
#include "larc/Analysis/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "larc/Analysis/Passes.h.inc"

} // namespace larc

#endif // LARC_ANALYSIS_PASSES_H
