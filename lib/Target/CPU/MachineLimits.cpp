//===- MachineLimits.cpp - What this machine can do -*- C++ -*- -----------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compiler.h"
#include "larc/Support/Error.h"
#include "larc/Support/ObjectCache.h"
#include "larc/Support/Tensor.h"
#include "larc/Target/CPU/CostModel.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/Threading.h"
#include "llvm/TargetParser/Host.h"

#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>

using namespace mlir;
using namespace larc;

/// Sums that a loop keeps in flight: enough for two multiply-add units of a
/// latency of up to six cycles, few enough for the registers of every target.
static constexpr unsigned peakSums = 12;
/// Bytes of each of the two arrays that the copy goes between, over all
/// threads: beyond every cache.
static constexpr size_t copyBytes = size_t(128) << 20;
static constexpr int copyRepeats = 5;
/// Bursts of multiply-adds, of two to three milliseconds: about as long as the
/// calls that are held against them, since other work on the machine interrupts
/// long ones more.
static constexpr int peakRepeats = 20;
static constexpr int64_t peakRounds = 1'200'000;

/// `void peak(i64 n, ptr out)`: n rounds of `peakSums` independent
/// multiply-adds.
static std::string makePeakSource(DType type, unsigned lanes) {
  std::string element = type == DType::F64 ? "double" : "float";
  std::string vector = "<" + std::to_string(lanes) + " x " + element + ">";
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "define void @peak(i64 %n, ptr %out) {\nentry:\n  %scale = load "
     << vector << ", ptr %out\n  br label %loop\nloop:\n"
     << "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]\n";
  for (unsigned i = 0; i < peakSums; ++i)
    os << "  %s" << i << " = phi " << vector << " [ %scale, %entry ], [ %t" << i
       << ", %loop ]\n";
  for (unsigned i = 0; i < peakSums; ++i)
    os << "  %p" << i << " = fmul contract " << vector << " %s" << i
       << ", %scale\n"
       << "  %t" << i << " = fadd contract " << vector << " %p" << i
       << ", %scale\n";
  os << "  %next = add i64 %i, 1\n  %more = icmp ult i64 %next, %n\n"
     << "  br i1 %more, label %loop, label %done\ndone:\n";
  std::string sum = "%t0";
  for (unsigned i = 1; i < peakSums; ++i) {
    os << "  %u" << i << " = fadd " << vector << " " << sum << ", %t" << i
       << "\n";
    sum = "%u" + std::to_string(i);
  }
  os << "  store " << vector << " " << sum << ", ptr %out\n  ret void\n}\n";
  return text;
}

/// Runs `work(thread)` on all threads at once and returns the seconds from the
/// common start to the last end.
static double timeTogether(unsigned threads,
                           llvm::function_ref<void(unsigned)> work) {
  using Clock = std::chrono::steady_clock;
  std::atomic<unsigned> ready{0};
  std::atomic<bool> go{false};
  std::vector<Clock::time_point> ends(threads);
  Clock::time_point start;
  std::vector<std::thread> others;
  for (unsigned thread = 1; thread < threads; ++thread)
    others.emplace_back([&, thread] {
      ++ready;
      while (!go)
        std::this_thread::yield();
      work(thread);
      ends[thread] = Clock::now();
    });
  while (ready != threads - 1)
    std::this_thread::yield();
  start = Clock::now();
  go = true;
  work(0);
  ends[0] = Clock::now();
  for (std::thread &other : others)
    other.join();
  return std::chrono::duration<double>(*llvm::max_element(ends) - start)
      .count();
}

namespace {
/// The peak loop, and the code that it is part of.
struct PeakLoop {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  void (*run)(int64_t, void *) = nullptr;
  unsigned lanes = 0;
};
} // namespace

static llvm::Expected<PeakLoop> compilePeakLoop(DType type) {
  auto builder = getTargetMachineBuilder("");
  if (!builder)
    return builder.takeError();
  auto machine = builder->createTargetMachine();
  if (!machine)
    return machine.takeError();
  unsigned lanes = getVectorBits(**machine) / (8 * getByteWidth(type));
  auto context = std::make_unique<llvm::LLVMContext>();
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(makePeakSource(type, lanes),
                                          diagnostic, *context);
  if (!module)
    return makeFault("the peak loop cannot be built: " +
                     diagnostic.getMessage());
  module->setDataLayout((*machine)->createDataLayout());
  auto jit = createJIT(std::move(*builder));
  if (!jit)
    return jit.takeError();
  if (llvm::Error error = (*jit)->addIRModule(
          llvm::orc::ThreadSafeModule(std::move(module), std::move(context))))
    return std::move(error);
  auto symbol = (*jit)->lookup("peak");
  if (!symbol)
    return symbol.takeError();
  return PeakLoop{std::move(*jit), symbol->toPtr<void (*)(int64_t, void *)>(),
                  lanes};
}

/// The best of some bursts, in 10^9 flops a second.
static double measurePeak(const PeakLoop &loop, unsigned threads, int repeats,
                          int64_t rounds) {
  double best = 0.0;
  double flops =
      2.0 * peakSums * loop.lanes * static_cast<double>(rounds) * threads;
  for (int i = 0; i < repeats; ++i) {
    double seconds = timeTogether(threads, [&](unsigned) {
      alignas(64) char memory[64] = {};
      loop.run(rounds, memory);
    });
    best = std::max(best, flops / seconds * 1e-9);
  }
  return best;
}

/// The best of some copies of `bytes` bytes, in 10^9 bytes a second.
static llvm::Expected<double> measureCopy(unsigned threads, int repeats,
                                          size_t bytes) {
  auto elements = static_cast<int64_t>(bytes);
  auto from = Tensor::create(DType::Bool, {elements}, "the copy's source");
  if (!from)
    return from.takeError();
  auto to = Tensor::create(DType::Bool, {elements}, "the copy's target");
  if (!to)
    return to.takeError();
  size_t part = bytes / threads;
  double best = 0.0;
  for (int i = 0; i < repeats; ++i) {
    double seconds = timeTogether(threads, [&](unsigned thread) {
      std::memcpy(to->getRawData() + thread * part,
                  from->getRawData() + thread * part, part);
    });
    best = std::max(best,
                    2.0 * static_cast<double>(part * threads) / seconds * 1e-9);
  }
  return best;
}

llvm::Expected<MachineLimits> larc::measureLimits(DType type,
                                                  unsigned threads) {
  if (threads == 0)
    threads = llvm::hardware_concurrency().compute_thread_count();
  llvm::Expected<PeakLoop> loop = compilePeakLoop(type);
  if (!loop)
    return loop.takeError();
  llvm::Expected<double> copy = measureCopy(threads, copyRepeats, copyBytes);
  if (!copy)
    return copy.takeError();
  return MachineLimits{measurePeak(*loop, threads, peakRepeats, peakRounds),
                       *copy};
}

//===----------------------------------------------------------------------===//
// The limits that the cost model goes by
//===----------------------------------------------------------------------===//

/// A few milliseconds for both.
static constexpr int quickRepeats = 4;
static constexpr int64_t quickRounds = 60'000;
static constexpr size_t quickCopyBytes = size_t(16) << 20;
/// Where nothing can be measured: a plain core.
static constexpr MachineLimits fallbackLimits = {100.0, 10.0};

static MachineLimits measureQuickly(DType type) {
  llvm::Expected<PeakLoop> loop = compilePeakLoop(type);
  if (!loop) {
    llvm::consumeError(loop.takeError());
    return fallbackLimits;
  }
  llvm::Expected<double> copy = measureCopy(1, quickRepeats, quickCopyBytes);
  if (!copy) {
    llvm::consumeError(copy.takeError());
    return fallbackLimits;
  }
  return {measurePeak(*loop, 1, quickRepeats, quickRounds), *copy};
}

static std::optional<MachineLimits> parseLimits(llvm::StringRef text) {
  auto [gflops, copy] = text.split(' ');
  MachineLimits limits;
  if (gflops.getAsDouble(limits.gflops) || copy.getAsDouble(limits.copyGBps) ||
      !(limits.gflops > 0) || !(limits.copyGBps > 0))
    return std::nullopt;
  return limits;
}

/// Measures, or takes what an earlier process measured on the same CPU.
static MachineLimits findLimits(DType type) {
  ObjectCache cache = ObjectCache::fromEnvironment();
  std::string key = getBuildIdentity();
  if (!cache.isEnabled() || key.empty())
    return measureQuickly(type);
  key += ("limits of a thread of " + llvm::sys::getHostCPUName() + ", " +
          getName(type))
             .str();
  if (std::optional<CachedObject> kept = cache.load(key))
    if (std::optional<MachineLimits> limits = parseLimits(kept->metadata))
      return *limits;
  MachineLimits limits = measureQuickly(type);
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::format("%.6g %.6g", limits.gflops, limits.copyGBps);
  // What cannot be kept is measured again.
  llvm::consumeError(cache.store(key, "", text));
  return limits;
}

MachineLimits larc::getThreadLimits(DType type) {
  static std::mutex mutex;
  static std::optional<MachineLimits> known[2];
  std::lock_guard<std::mutex> lock(mutex);
  std::optional<MachineLimits> &limits = known[type == DType::F64 ? 1 : 0];
  if (!limits)
    limits = findLimits(type);
  return *limits;
}
