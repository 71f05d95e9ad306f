//===- CompiledLoops.h - Emitted loops run in tests -*- C++ -*- -----------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TEST_UNIT_CONVERSION_COMPILEDLOOPS_H
#define LARC_TEST_UNIT_CONVERSION_COMPILEDLOOPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

namespace larc::test {

/// A function made of emitted loops, compiled for the host.
class CompiledLoops {
public:
  /// Emits the function's body: `memory` is a dense memref of unknown size,
  /// `extents` are index values.
  using Body = llvm::function_ref<void(mlir::OpBuilder &, mlir::Value memory,
                                       mlir::ValueRange extents)>;

  /// Null, and a test failure, if it does not compile. `cpu` names the machine
  /// to compile for; empty is the host.
  static std::unique_ptr<CompiledLoops> compile(mlir::MLIRContext &context,
                                                mlir::FloatType element,
                                                unsigned numExtents,
                                                llvm::StringRef cpu, Body body);

  template <typename T>
  void run(T *memory, llvm::ArrayRef<int64_t> extents) const {
    std::array<int64_t, maxExtents> all = {};
    llvm::copy(extents, all.begin());
    auto *call = entry.toPtr<void (*)(T *, T *, int64_t, int64_t, int64_t,
                                      int64_t, int64_t, int64_t, int64_t)>();
    call(memory, memory, 0, 0, 1, all[0], all[1], all[2], all[3]);
  }

private:
  static constexpr unsigned maxExtents = 4;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  llvm::orc::ExecutorAddr entry;
};

/// A context with the dialects that loops are made of.
std::unique_ptr<mlir::MLIRContext> makeLoopContext();

} // namespace larc::test

#endif // LARC_TEST_UNIT_CONVERSION_COMPILEDLOOPS_H
