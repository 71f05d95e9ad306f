//===- DeviceCall.cpp - Calls of libraries on GPUs --------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LibraryCall.h"

#include <chrono>

using namespace larc;

using Role = LibraryTensor::Role;

static const void *toPointer(const CudaBuffer &buffer) {
  return reinterpret_cast<const void *>(buffer.get());
}

template <typename T>
static llvm::ArrayRef<char> bytesOf(llvm::ArrayRef<T> values) {
  return {reinterpret_cast<const char *>(values.data()),
          values.size() * sizeof(T)};
}

llvm::Expected<const CudaBuffer *> DeviceCall::allocate(size_t bytes) {
  // The driver gives no memory of no bytes.
  llvm::Expected<CudaBuffer> buffer =
      CudaBuffer::create(std::max<size_t>(bytes, 1));
  if (!buffer)
    return buffer.takeError();
  buffers.push_back(std::move(*buffer));
  return &buffers.back();
}

llvm::Expected<const void *> DeviceCall::copy(llvm::ArrayRef<char> bytes) {
  llvm::Expected<const CudaBuffer *> buffer = allocate(bytes.size());
  if (!buffer)
    return buffer.takeError();
  if (!bytes.empty())
    if (llvm::Error error = (*buffer)->write(bytes, *stream))
      return std::move(error);
  return toPointer(**buffer);
}

llvm::Error DeviceCall::addResult(const Tensor &tensor) {
  llvm::Expected<const CudaBuffer *> buffer = allocate(tensor.getByteSize());
  if (!buffer)
    return buffer.takeError();
  pointers.push_back(toPointer(**buffer));
  // All bits set are a NaN of every type.
  return (*buffer)->fill(0xff, *stream);
}

llvm::Error DeviceCall::makePlan(const LibraryRunOptions &options) {
  return plan.get() ? llvm::Error::success() : plan.create(host, options);
}

llvm::Error DeviceCall::addLists() {
  if (problem.packed) {
    auto memory = copy(bytesOf(llvm::ArrayRef(problem.offsets)));
    if (!memory)
      return memory.takeError();
    lists.offsets = static_cast<const int64_t *>(*memory);
  }
  if (llvm::any_of(problem.positions, [](int64_t at) { return at != 0; })) {
    auto memory = copy(bytesOf(llvm::ArrayRef(problem.positions)));
    if (!memory)
      return memory.takeError();
    lists.positions = static_cast<const int64_t *>(*memory);
  }
  return llvm::Error::success();
}

/// Puts initial states where final ones go.
llvm::Error DeviceCall::placeStates() {
  auto findAll = [&](Role role) {
    llvm::SmallVector<size_t> found;
    for (auto [i, tensor] : llvm::enumerate(manifest.tensors))
      if (tensor.role == role)
        found.push_back(i);
    return found;
  };
  using Pair = std::pair<Role, Role>;
  for (auto [initial, final] : {Pair(Role::InitialState, Role::FinalState),
                                Pair(Role::InitialAnchor, Role::FinalAnchor)})
    for (auto [from, to] : llvm::zip_equal(findAll(initial), findAll(final))) {
      const CudaBuffer &memory =
          *llvm::find_if(buffers, [&, at = pointers[to]](const CudaBuffer &b) {
            return toPointer(b) == at;
          });
      const Tensor *given = host.inputs[from];
      llvm::Error error = given ? memory.write({given->getRawData(),
                                                size_t(given->getByteSize())},
                                               *stream)
                                : memory.fill(0, *stream);
      if (error)
        return error;
      pointers[from] = pointers[to];
    }
  return llvm::Error::success();
}

llvm::Error DeviceCall::prepare(const LibraryRunOptions &options,
                                bool inPlace) {
  if (llvm::Error error = makePlan(options))
    return error;
  llvm::Expected<CudaStream> created = CudaStream::create();
  if (!created)
    return created.takeError();
  stream.emplace(std::move(*created));
  for (const auto &[input, output] :
       llvm::zip_equal(host.inputs, host.outputs)) {
    if (output) {
      results.emplace_back(buffers.size(), output);
      if (llvm::Error error = addResult(*output))
        return error;
      continue;
    }
    if (!input) {
      pointers.push_back(nullptr);
      continue;
    }
    llvm::Expected<const void *> memory =
        copy({input->getRawData(), size_t(input->getByteSize())});
    if (!memory)
      return memory.takeError();
    pointers.push_back(*memory);
  }
  if (llvm::Error error = addLists())
    return error;
  if (size_t bytes = plan.getWorkspaceBytes()) {
    llvm::Expected<const CudaBuffer *> buffer = allocate(bytes);
    if (!buffer)
      return buffer.takeError();
    workspace = (*buffer)->get();
  }
  return inPlace ? placeStates() : llvm::Error::success();
}

llvm::Error DeviceCall::fetch() {
  for (const auto &[index, tensor] : results)
    if (tensor->getByteSize() > 0)
      if (llvm::Error error = buffers[index].read(
              {tensor->getRawData(), size_t(tensor->getByteSize())}, *stream))
        return error;
  return stream->synchronize();
}

//===----------------------------------------------------------------------===//
// Timing
//===----------------------------------------------------------------------===//

llvm::Error DeviceCall::runTimes(unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    if (llvm::Error error = run())
      return error;
  return llvm::Error::success();
}

/// Milliseconds that the stream is busy with `work`.
llvm::Expected<double>
DeviceCall::timeOnce(llvm::function_ref<llvm::Error()> work) {
  llvm::Expected<CudaEvent> start = CudaEvent::create();
  if (!start)
    return start.takeError();
  llvm::Expected<CudaEvent> end = CudaEvent::create();
  if (!end)
    return end.takeError();
  if (llvm::Error error = start->record(*stream))
    return std::move(error);
  if (llvm::Error error = work())
    return std::move(error);
  if (llvm::Error error = end->record(*stream))
    return std::move(error);
  if (llvm::Error error = end->synchronize())
    return std::move(error);
  llvm::Expected<float> milliseconds = end->getMillisecondsSince(*start);
  if (!milliseconds)
    return milliseconds.takeError();
  return static_cast<double>(*milliseconds);
}

/// Median time of a call on the host, while the GPU has its queue.
static llvm::Expected<double> timeHost(llvm::function_ref<llvm::Error()> run) {
  constexpr unsigned calls = 101;
  std::vector<double> microseconds;
  for (unsigned i = 0; i < calls; ++i) {
    auto start = std::chrono::steady_clock::now();
    if (llvm::Error error = run())
      return std::move(error);
    microseconds.push_back(std::chrono::duration<double, std::micro>(
                               std::chrono::steady_clock::now() - start)
                               .count());
  }
  llvm::sort(microseconds);
  return microseconds[calls / 2];
}

llvm::Error DeviceCall::measure(const LibraryTimeOptions &time,
                                LibraryTimes &times) {
  // The first run loads what the driver left for it.
  if (llvm::Error error = run())
    return error;
  if (llvm::Error error = stream->synchronize())
    return error;
  llvm::Expected<double> once = timeOnce([&] { return run(); });
  if (!once)
    return once.takeError();
  // A sample fills a millisecond: events are not finer than that allows.
  constexpr double sampleMilliseconds = 1.0;
  constexpr double mostRepeats = 200.0;
  auto repeats = static_cast<unsigned>(
      std::clamp(sampleMilliseconds / std::max(*once, 1e-3), 1.0, mostRepeats));
  std::optional<CudaGraph> graph;
  if (time.graph) {
    llvm::Expected<CudaGraph> captured =
        CudaGraph::capture(*stream, [&] { return runTimes(repeats); });
    if (!captured)
      return captured.takeError();
    graph.emplace(std::move(*captured));
    if (llvm::Error error = graph->launch(*stream))
      return error;
  }
  double spent = 0.0;
  for (unsigned sample = 0;
       sample < time.samples && (sample < 3 || spent < time.seconds * 1e3);
       ++sample) {
    llvm::Expected<double> milliseconds = timeOnce(
        [&] { return graph ? graph->launch(*stream) : runTimes(repeats); });
    if (!milliseconds)
      return milliseconds.takeError();
    spent += *milliseconds;
    times.milliseconds.push_back(*milliseconds / repeats);
  }
  llvm::Expected<double> host = timeHost([&] { return run(); });
  if (!host)
    return host.takeError();
  times.hostMicroseconds = *host;
  return stream->synchronize();
}
