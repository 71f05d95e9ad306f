//===- BenchGPU.cpp - larc bench on a GPU ---------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Times are those of events on the stream, with all tensors in the GPU's
// memory. The limit is what the GPU itself reaches when it copies memory,
// measured before and after.
//
//===----------------------------------------------------------------------===//

#include "Bench.h"
#include "GPUSchedule.h"
#include "Peers.h"

#include "larc/Support/Error.h"
#include "larc/Target/CUDA/CudaDriver.h"

using namespace larc;
using namespace larc::driver;

/// Copies of so many bytes, or of an eighth of the memory that is free, are
/// large enough for caches not to matter.
static constexpr size_t copyBytes = size_t(1) << 30;
static constexpr unsigned numCopies = 8;
/// Time to measure a form for, in each of so many turns.
static constexpr double secondsOfTurn = 0.5;
static constexpr unsigned numTurns = 2;

/// Bytes read plus written a second by copies in the GPU's memory; the best.
static llvm::Expected<double> measureCopyGBps(const CudaContext &gpu) {
  llvm::Expected<CudaContext::Scope> scope = gpu.enter();
  if (!scope)
    return scope.takeError();
  const CudaDriver &driver = gpu.getDriver();
  size_t available = 0, total = 0;
  if (llvm::Error error =
          driver.check(driver.getApi().memGetInfo(&available, &total),
                       "cannot ask for the memory that is free"))
    return std::move(error);
  size_t bytes = std::min(copyBytes, available / 8);
  llvm::Expected<CudaBuffer> from = CudaBuffer::create(bytes);
  if (!from)
    return from.takeError();
  llvm::Expected<CudaBuffer> to = CudaBuffer::create(bytes);
  if (!to)
    return to.takeError();
  llvm::Expected<CudaStream> stream = CudaStream::create();
  if (!stream)
    return stream.takeError();
  std::vector<CudaEvent> events;
  for (unsigned i = 0; i <= numCopies; ++i) {
    llvm::Expected<CudaEvent> event = CudaEvent::create();
    if (!event)
      return event.takeError();
    events.push_back(std::move(*event));
  }
  if (llvm::Error error = from->fill(0, *stream))
    return std::move(error);
  for (unsigned i = 0; i <= numCopies; ++i) {
    if (llvm::Error error = events[i].record(*stream))
      return std::move(error);
    if (i == numCopies)
      break;
    if (llvm::Error error =
            driver.check(driver.getApi().memcpyOnDevice(to->get(), from->get(),
                                                        bytes, stream->get()),
                         "cannot copy memory of the GPU"))
      return std::move(error);
  }
  if (llvm::Error error = stream->synchronize())
    return std::move(error);
  double best = 0;
  for (unsigned i = 0; i < numCopies; ++i) {
    llvm::Expected<float> ms = events[i + 1].getMillisecondsSince(events[i]);
    if (!ms)
      return ms.takeError();
    best = std::max(best, 2.0 * double(bytes) / double(*ms) * 1e-6);
  }
  return best;
}

namespace {
/// A form of a recurrence on the GPU.
struct Subject {
  Measurement told;
  Problem problem;
  TensorMap results;
  Library *library = nullptr;
  std::vector<double> samples;
};
} // namespace

/// The time of a call, by the model of GPUs.
static std::optional<double> predict(const Session &session, Subject &subject,
                                     const larc_plan_info &info,
                                     unsigned capability) {
  Problem &problem = subject.problem;
  if (problem.numSequences == 0)
    return std::nullopt;
  CPUOptions types = CPUOptions::of(problem);
  CudaOptions options;
  options.operandTypes = types.operandTypes;
  options.constantTypes = types.constantTypes;
  options.outputTypes = types.outputTypes;
  options.stateType = session.getStoredStateDType();
  options.computeCapability = capability;
  options.chunkSize = info.chunk_size;
  options.copies = session.getOptions().copies;
  // Packed sequences are taken for as long as they are on average.
  CudaCall call{problem.numSequences,
                problem.batch * problem.tokens / problem.numSequences,
                problem.heads, info.segments};
  return predictGPUMilliseconds(problem.recurrence, options,
                                toLibraryForm(subject.told.form), call);
}

static llvm::Expected<std::unique_ptr<Subject>>
createSubject(Session &session, const SpecChoice &spec, Form form,
              const DimList &dims, unsigned capability) {
  auto subject = std::make_unique<Subject>();
  Measurement &told = subject->told;
  told.dims = dims;
  told.requested = {form};
  told.form = form;
  llvm::Expected<Problem> problem = makeBenchProblem(session, spec, form, dims);
  if (!problem)
    return problem.takeError();
  subject->problem = std::move(*problem);
  llvm::Expected<TensorMap> results =
      createResults(subject->problem, /*float64=*/false);
  if (!results)
    return results.takeError();
  subject->results = std::move(*results);
  llvm::Expected<Library *> library =
      session.getLibrary(spec, subject->problem, form);
  if (!library)
    return library.takeError();
  subject->library = *library;
  told.compileMilliseconds = (*library)->milliseconds;
  llvm::Expected<CallPlan> plan =
      describeCall(**library, subject->problem, told.form);
  if (!plan)
    return plan.takeError();
  told.plan = *plan;
  llvm::Expected<larc_plan_info> info = (*library)->code->describe(
      subject->problem, (*library)->getRun(told.form));
  if (!info)
    return info.takeError();
  told.workspaceBytes = static_cast<int64_t>(info->workspace_bytes);
  told.dtype = getResultDType(told.form, subject->problem);

  TokenCost cost = countTokenCost(subject->problem.recurrence,
                                  CPUOptions::of(subject->problem));
  double steps = double(subject->problem.batch) *
                 double(subject->problem.tokens) *
                 double(subject->problem.heads);
  told.flops = plan->flops.value_or(cost.flops * steps);
  told.bytes =
      cost.bytes * steps + countStateBytes(subject->problem, subject->results,
                                           session.getStoredStateDType());
  told.plan.milliseconds = predict(session, *subject, *info, capability);
  return subject;
}

/// Takes samples for one turn.
static llvm::Error sample(Subject &subject) {
  LibraryTimeOptions time;
  time.seconds = secondsOfTurn;
  llvm::Expected<LibraryTimes> times = subject.library->code->measure(
      subject.problem, subject.results,
      subject.library->getRun(subject.told.form), time);
  if (!times)
    return times.takeError();
  llvm::append_range(subject.samples, times->milliseconds);
  Measurement &told = subject.told;
  // The first turn alone loads anything.
  if (told.hostMicroseconds == 0)
    told.firstMilliseconds = times->firstMilliseconds;
  told.hostMicroseconds = times->hostMicroseconds;
  return llvm::Error::success();
}

llvm::Error driver::measureOnGPU(Session &session, const SpecChoice &spec,
                                 llvm::ArrayRef<Form> forms,
                                 const DimList &dims,
                                 std::vector<Measurement> &measurements) {
  llvm::Expected<CudaContext> gpu = CudaContext::create();
  if (!gpu)
    return gpu.takeError();
  std::vector<std::unique_ptr<Subject>> subjects;
  for (Form form : forms) {
    auto subject =
        createSubject(session, spec, form, dims, gpu->getComputeCapability());
    if (!subject)
      return blameCommandLine(subject.takeError());
    auto same = llvm::find_if(subjects, [&](auto &other) {
      return other->told.form == (*subject)->told.form;
    });
    if (same == subjects.end())
      subjects.push_back(std::move(*subject));
    else
      (*same)->told.requested.push_back(form);
  }

  double copy = 0;
  auto updateCopy = [&]() -> llvm::Error {
    llvm::Expected<double> measured = measureCopyGBps(*gpu);
    if (!measured)
      return measured.takeError();
    copy = std::max(copy, *measured);
    return llvm::Error::success();
  };
  if (llvm::Error error = updateCopy())
    return error;
  for (unsigned turn = 0; turn < numTurns; ++turn) {
    for (auto &subject : subjects)
      if (llvm::Error error = sample(*subject))
        return error;
    if (llvm::Error error = updateCopy())
      return error;
  }
  for (auto &subject : subjects) {
    Measurement &told = subject->told;
    told.device = gpu->getName();
    told.limits.copyGBps = copy;
    told.setSamples(std::move(subject->samples));
    if (session.getOptions().peers)
      if (llvm::Error error = measurePeers(*subject->library, told))
        return error;
    measurements.push_back(std::move(told));
  }
  return llvm::Error::success();
}
