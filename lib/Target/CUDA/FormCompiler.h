//===- FormCompiler.h - One form of a recurrence as kernels -----*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_TARGET_CUDA_FORMCOMPILER_H
#define LARC_LIB_TARGET_CUDA_FORMCOMPILER_H

#include "larc/Target/CUDA/CompileRecurrence.h"

#include "mlir/Support/Timing.h"

namespace larc {

/// The compute capability that has `wgmma`, the copy unit and registers that
/// roles divide.
constexpr unsigned kHopperCapability = 90;

/// A form, and how many tokens its chunks have; 0: there are none.
struct FormChoice {
  larc_form form;
  int64_t chunkSize = 0;
  /// Of a lane of the warps that prepare chunks; 0: the usual number.
  int64_t factorRegisters = 0;
  /// Whether sequences may be cut, which not all programs take.
  bool segments = false;
  /// Registers of a lane that a token loop leaves free where it can; how many
  /// the assembler takes is only estimated.
  int64_t spareRegisters = 0;
  /// Whether the copy unit brings operands, where it can.
  bool bulkCopies = false;
};

/// Compiles one form of a recurrence, step by step.
class FormCompiler {
public:
  FormCompiler(RecurrenceOp recurrence, const CudaOptions &options,
               FormChoice choice)
      : recurrence(recurrence), options(options), choice(choice) {
    timing.setEnabled(options.timing);
    scope = timing.getRootScope();
  }

  /// Makes the tile programs.
  mlir::LogicalResult makeTiles();
  /// Fails for GPUs and types that chunks do not take.
  mlir::LogicalResult checkChunks();
  /// Makes kernels of them.
  mlir::LogicalResult makeKernels();
  mlir::FailureOr<CudaForm> assemble();
  mlir::FailureOr<CudaTarget> getTarget();
  void listMaps();

  mlir::ModuleOp getModule() { return *module; }
  /// Without the cubin.
  const CudaForm &getForm() const { return result; }

private:
  RecurrenceOp recurrence;
  const CudaOptions &options;
  FormChoice choice;
  mlir::DefaultTimingManager timing;
  mlir::TimingScope scope;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  CudaForm result;
};

} // namespace larc

#endif // LARC_LIB_TARGET_CUDA_FORMCOMPILER_H
