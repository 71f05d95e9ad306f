//===- TaskRunner.cpp - Tasks of compiled code on threads -*- C++ -*- -----===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TaskRunner.h"

#include "larc/Support/Error.h"

#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Threading.h"

#include <atomic>
#include <cfenv>

using namespace larc;

llvm::Expected<AlignedMemory> larc::allocateAligned(int64_t bytes,
                                                    const llvm::Twine &what) {
  void *memory =
      std::aligned_alloc(64, llvm::alignTo(std::max<int64_t>(bytes, 1), 64));
  if (!memory)
    return makeFault("out of memory: no " + llvm::Twine(bytes) + " bytes of " +
                     what);
  return AlignedMemory(memory);
}

llvm::Error TaskRunner::reserve(unsigned threads, int64_t bytes) {
  if (bytes > scratchBytes) {
    scratch.clear();
    scratchBytes = bytes;
  }
  while (scratch.size() < threads) {
    llvm::Expected<AlignedMemory> memory =
        allocateAligned(scratchBytes, "workspace");
    if (!memory)
      return memory.takeError();
    scratch.push_back(std::move(*memory));
  }
  return llvm::Error::success();
}

llvm::Error TaskRunner::run(llvm::ArrayRef<Job> jobs, unsigned threads) {
  int64_t tasks = 0, bytes = 0;
  for (const Job &job : jobs) {
    tasks += job.getNumTasks();
    bytes = std::max(bytes, job.kernel.scratchBytes);
  }
  if (tasks == 0)
    return llvm::Error::success();
  if (threads == 0)
    threads = llvm::hardware_concurrency().compute_thread_count();
  threads = static_cast<unsigned>(std::min<int64_t>(threads, tasks));
  if (llvm::Error error = reserve(threads, bytes))
    return error;
  if (threads == 1) {
    for (const Job &job : jobs)
      job.kernel.entry(&job.call, 0, job.getNumTasks(), scratch[0].get());
    return llvm::Error::success();
  }
  if (poolThreads < threads) {
    pool = std::make_unique<llvm::DefaultThreadPool>(
        llvm::hardware_concurrency(threads - 1));
    poolThreads = threads;
  }
  // Tasks differ in length when sequences do: each thread takes the next one.
  std::atomic<int64_t> next{0};
  auto work = [&](unsigned thread) {
    for (int64_t task; (task = next.fetch_add(1)) < tasks;) {
      const Job *job = jobs.begin();
      for (; task >= job->getNumTasks(); ++job)
        task -= job->getNumTasks();
      job->kernel.entry(&job->call, task, task + 1, scratch[thread].get());
    }
  };
  // The caller's rounding and flush modes are those of all threads.
  std::fenv_t modes;
  std::fegetenv(&modes);
  for (unsigned thread = 1; thread < threads; ++thread)
    pool->async([&work, &modes, thread] {
      std::fenv_t own;
      std::fegetenv(&own);
      std::fesetenv(&modes);
      work(thread);
      std::fesetenv(&own);
    });
  work(0);
  pool->wait();
  return llvm::Error::success();
}
