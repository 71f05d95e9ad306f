//===- TaskRunner.h - Tasks of compiled code on threads -*- C++ -*- -------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_TARGET_CPU_TASKRUNNER_H
#define LARC_LIB_TARGET_CPU_TASKRUNNER_H

#include "larc/Runtime/Recurrent.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/ThreadPool.h"

#include <cstdlib>
#include <memory>
#include <vector>

namespace larc {

struct FreeDeleter {
  void operator()(void *memory) const { std::free(memory); }
};
/// Memory aligned to 64 bytes.
using AlignedMemory = std::unique_ptr<void, FreeDeleter>;
/// An error where there is not so much.
llvm::Expected<AlignedMemory> allocateAligned(int64_t bytes,
                                              const llvm::Twine &what);

/// An entry point of compiled code.
struct Kernel {
  void (*entry)(const larc_call *, int64_t, int64_t, void *) = nullptr;
  int64_t scratchBytes = 0; ///< of one thread
  int64_t blocks = 1;       ///< tasks of one head
};

/// A call of a kernel. Jobs that run together share no memory that one of them
/// writes.
struct Job {
  Kernel kernel;
  larc_call call;

  int64_t getNumTasks() const {
    return call.sequences * call.heads * kernel.blocks;
  }
};

/// Threads and their scratch memories, kept between runs.
class TaskRunner {
public:
  /// Runs all tasks of `jobs`, those of the first job first, on up to `threads`
  /// threads; 0: all of the machine.
  llvm::Error run(llvm::ArrayRef<Job> jobs, unsigned threads);

private:
  llvm::Error reserve(unsigned threads, int64_t bytes);

  std::unique_ptr<llvm::DefaultThreadPool> pool;
  unsigned poolThreads = 0;
  std::vector<AlignedMemory> scratch;
  int64_t scratchBytes = 0;
};

} // namespace larc

#endif // LARC_LIB_TARGET_CPU_TASKRUNNER_H
