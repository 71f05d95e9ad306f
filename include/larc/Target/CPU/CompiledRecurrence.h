//===- CompiledRecurrence.h - Compiled forms on this CPU -*- C++ -*- ------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TARGET_CPU_COMPILEDRECURRENCE_H
#define LARC_TARGET_CPU_COMPILEDRECURRENCE_H

#include "larc/Execution/Problem.h"

#include <memory>
#include <optional>

namespace larc {

struct Kernel;

/// The forms that are compiled: a loop over tokens, and one over chunks of
/// them.
enum class CPUForm { Recurrent, Chunk };

/// The forms that this version compiles.
llvm::ArrayRef<CPUForm> getCPUForms();

/// What a compiled recurrence is compiled for; B, T, H and lengths are dynamic.
struct CPUOptions {
  /// Type of each token operand, constant and output, by declaration.
  llvm::SmallVector<DType> operandTypes, constantTypes, outputTypes;
  /// F32 or F64: states, anchors and all arithmetic.
  DType computeType = DType::F32;
  /// An LLVM CPU name; empty: the host with all its features.
  std::string cpu;
  CPUForm form = CPUForm::Recurrent;
  /// Of the chunk form: the most tokens of a chunk, and the pieces that a
  /// sequence is cut into; 0: the cost model's choice.
  int64_t chunkSize = 0, segments = 0;

  /// Prints everything that code depends on, as a key of caches.
  void print(llvm::raw_ostream &os) const;

  /// The types of `problem`'s tensors.
  static CPUOptions of(Problem &problem);
  /// Every data operand and output of `dtype`, gates of `gateDType`.
  static CPUOptions uniform(RecurrenceOp recurrence, DType dtype,
                            DType gateDType);
};

/// Hooks of the driver's options.
struct CompileHooks {
  std::string printIRAfter; ///< a pass argument, or `all`; printed to stderr
  bool timing = false;      ///< the passes' times to stderr
};

/// Work of one token of one head, counted on the flat recurrence as written:
/// an estimate that is there before anything is compiled.
struct TokenCost {
  double flops = 0; ///< multiply and add count one each
  double bytes = 0; ///< operands, outputs once; the state is resident
};

/// Counts the flat, bound `recurrence` as written, composite operations by what
/// they are short for.
TokenCost countTokenCost(RecurrenceOp recurrence, const CPUOptions &options);

/// How a call is carried out.
struct CallPlan {
  /// Of the chunk form; 0: there are none.
  int64_t chunkSize = 0, segments = 0;
  /// The cost model's expectation of the time of the call.
  std::optional<double> milliseconds;
  /// What the form does: additions and multiplications of the programs that
  /// run, a function as one. None where the model knows nothing.
  std::optional<double> flops;
};

class CompiledRecurrence {
public:
  /// `recurrence` is flat and bound. Errors are emitted at its operations.
  ///
  /// Code is kept on disk, in the folder that the environment names (see
  /// `docs/driver.md`), and loaded from there without running any pass, unless
  /// `hooks` ask to see the passes. A folder that cannot be written is a
  /// warning, once a process.
  static mlir::FailureOr<std::unique_ptr<CompiledRecurrence>>
  compile(RecurrenceOp recurrence, const CPUOptions &options,
          const CompileHooks &hooks = {});
  ~CompiledRecurrence();

  /// Runs on tensors of the types compiled for; `results` is what
  /// `createResults` made.
  llvm::Error run(Problem &problem, TensorMap &results, unsigned threads);

  /// How `run` does the same call.
  CallPlan getPlan(const Problem &problem, unsigned threads) const;

  TokenCost getTokenCost() const;
  /// Scratch bytes a thread.
  int64_t getWorkspaceBytes() const;

  /// The entry point, for runs of several kernels.
  const Kernel &getKernel() const;

private:
  CompiledRecurrence();
  /// Compiles, or loads, what runs whole sequences.
  static mlir::FailureOr<std::unique_ptr<CompiledRecurrence>>
  compileKernel(RecurrenceOp recurrence, const CPUOptions &options,
                const CompileHooks &hooks);
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// What `larc compile --emit=` writes of compiled code; `Chunk` is the
/// recurrence in the chunk dialect.
enum class CPUEmit { Chunk, LLVM, Assembly, Object };
mlir::LogicalResult emitCPU(RecurrenceOp recurrence, const CPUOptions &options,
                            CPUEmit what, llvm::raw_ostream &os,
                            const CompileHooks &hooks = {});

/// The measured limits of this machine for f32 or f64: best of interleaved
/// repeats of a few milliseconds.
struct MachineLimits {
  double gflops = 0; ///< multiply-add peak of `threads` threads, two flops each
  double copyGBps = 0; ///< bytes read plus written a second by a large copy
};
llvm::Expected<MachineLimits> measureLimits(DType type, unsigned threads);

} // namespace larc

#endif // LARC_TARGET_CPU_COMPILEDRECURRENCE_H
