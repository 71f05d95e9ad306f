//===- InitAll.h - Registration of dialects and passes ----------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a tool registers in order to know everything that larc's pipelines read,
// write and run: larc's dialects and passes, and those upstream ones that
// appear on the way from a recurrence to machine code.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_INITALL_H
#define LARC_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace larc {

/// Adds larc's dialects, the upstream dialects that they are lowered to, and
/// the interface implementations (bufferization, conversion to the LLVM
/// dialect, translation to LLVM IR) that the lowering needs.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Registers larc's passes and upstream's by their command-line names. The
/// pass registry is global: call this once, from a tool's main.
void registerAllPasses();

} // namespace larc

#endif // LARC_INITALL_H
