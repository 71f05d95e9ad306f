//===- CudaDriver.h - Running on NVIDIA GPUs --------------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Owners of what the CUDA driver gives out. The driver is loaded when it is
// first asked for; a machine without one gets an error and nothing worse. Every
// function but `CudaDriver`'s and `CudaContext`'s needs a context that is
// current in the calling thread (`CudaContext::enter`).
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TARGET_CUDA_CUDADRIVER_H
#define LARC_TARGET_CUDA_CUDADRIVER_H

#include "larc/Runtime/CudaDriverApi.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <utility>

namespace larc {

/// The driver's functions.
class CudaDriver {
public:
  /// The driver of this process, which stays loaded.
  static llvm::Expected<const CudaDriver *> get();

  /// Loads and initialises `library`. The error says whether it was not found,
  /// is too old, or finds no GPU.
  static llvm::Expected<std::unique_ptr<CudaDriver>>
  load(llvm::StringRef library);

  const larc_cuda_api &getApi() const { return api; }

  /// The CUDA version that the driver is for: 13000 is 13.0.
  int getVersion() const { return version; }
  llvm::Expected<int> countDevices() const;

  /// Success, or an error with what failed, `doing`, and the driver's reason.
  llvm::Error check(larc_cu_result result, llvm::StringRef doing) const;

private:
  larc_cuda_api api = {};
  int version = 0;
};

/// A handle that is destroyed with its owner.
template <typename HandleT>
class CudaHandle {
public:
  using Destroy = larc_cu_result (*)(HandleT);

  CudaHandle() = default;
  CudaHandle(HandleT handle, Destroy destroy)
      : handle(handle), destroy(destroy) {}
  CudaHandle(CudaHandle &&other) noexcept
      : handle(std::exchange(other.handle, HandleT())), destroy(other.destroy) {
  }
  CudaHandle &operator=(CudaHandle &&other) noexcept {
    std::swap(handle, other.handle);
    std::swap(destroy, other.destroy);
    return *this;
  }
  ~CudaHandle() {
    if (handle)
      destroy(handle);
  }

  HandleT get() const { return handle; }

private:
  HandleT handle = HandleT();
  Destroy destroy = nullptr;
};

/// The context of a GPU that all users in the process share.
class CudaContext {
public:
  /// Retains the context of the GPU of that number.
  static llvm::Expected<CudaContext> create(int ordinal = 0);
  CudaContext(CudaContext &&other) noexcept
      : driver(other.driver), device(other.device),
        context(std::exchange(other.context, nullptr)) {}
  CudaContext &operator=(CudaContext &&) = delete;
  ~CudaContext();

  const CudaDriver &getDriver() const { return *driver; }
  std::string getName() const;
  /// 90 for 9.0.
  unsigned getComputeCapability() const;
  /// One of `larc_cu_device_attribute`; 0 if the driver does not know it.
  int getAttribute(int attribute) const;

  /// Makes the context current as long as the result lives.
  class Scope {
  public:
    Scope(Scope &&other) noexcept
        : driver(std::exchange(other.driver, nullptr)) {}
    Scope &operator=(Scope &&) = delete;
    ~Scope();

  private:
    friend class CudaContext;
    explicit Scope(const CudaDriver *driver) : driver(driver) {}
    const CudaDriver *driver;
  };
  llvm::Expected<Scope> enter() const;

private:
  CudaContext(const CudaDriver *driver, larc_cu_device device,
              larc_cu_context context)
      : driver(driver), device(device), context(context) {}

  const CudaDriver *driver;
  larc_cu_device device;
  larc_cu_context context;
};

/// A stream of work in order, beside the default stream.
class CudaStream {
public:
  static llvm::Expected<CudaStream> create();
  larc_cu_stream get() const { return stream.get(); }
  llvm::Error synchronize() const;

private:
  CudaStream(const CudaDriver *driver, larc_cu_stream stream)
      : driver(driver), stream(stream, driver->getApi().streamDestroy) {}
  const CudaDriver *driver;
  CudaHandle<larc_cu_stream> stream;
};

/// A point in a stream, and its time.
class CudaEvent {
public:
  static llvm::Expected<CudaEvent> create();
  llvm::Error record(const CudaStream &stream) const;
  llvm::Error synchronize() const;
  /// From `start` to this one, which both have happened.
  llvm::Expected<float> getMillisecondsSince(const CudaEvent &start) const;

private:
  CudaEvent(const CudaDriver *driver, larc_cu_event event)
      : driver(driver), event(event, driver->getApi().eventDestroy) {}
  const CudaDriver *driver;
  CudaHandle<larc_cu_event> event;
};

/// Memory of the GPU, at a multiple of 256; copies are ordered by the stream.
class CudaBuffer {
public:
  static llvm::Expected<CudaBuffer> create(size_t bytes);
  larc_cu_pointer get() const { return memory.get(); }
  size_t size() const { return bytes; }

  /// `data` must stay until the stream has come there.
  llvm::Error write(llvm::ArrayRef<char> data, const CudaStream &stream) const;
  llvm::Error read(llvm::MutableArrayRef<char> data,
                   const CudaStream &stream) const;
  llvm::Error fill(unsigned char byte, const CudaStream &stream) const;

private:
  CudaBuffer(const CudaDriver *driver, larc_cu_pointer memory, size_t bytes)
      : driver(driver), memory(memory, driver->getApi().memFree), bytes(bytes) {
  }
  const CudaDriver *driver;
  CudaHandle<larc_cu_pointer> memory;
  size_t bytes;
};

/// How a kernel is launched.
struct CudaLaunch {
  unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  unsigned cluster = 1;     ///< thread blocks along x
  unsigned sharedBytes = 0; ///< dynamic ones
};

/// A kernel of a module, which must outlive it.
class CudaKernel {
public:
  /// Allows launches with `bytes` of dynamic shared memory, which is more than
  /// 48 KB without being asked.
  llvm::Error allowShared(unsigned bytes) const;
  /// One of `larc_cu_function_attribute`.
  llvm::Expected<int> getAttribute(int attribute) const;
  /// Thread blocks that run at the same time on one multiprocessor.
  llvm::Expected<int> getOccupancy(unsigned threads,
                                   unsigned sharedBytes) const;
  /// `arguments` are the addresses of the kernel's arguments, in order.
  llvm::Error launch(const CudaLaunch &launch, llvm::ArrayRef<void *> arguments,
                     const CudaStream &stream) const;

private:
  friend class CudaModule;
  CudaKernel(const CudaDriver *driver, larc_cu_function function)
      : driver(driver), function(function) {}
  const CudaDriver *driver;
  larc_cu_function function;
};

/// Machine code on the GPU.
class CudaModule {
public:
  /// Loads a cubin, which the driver copies.
  static llvm::Expected<CudaModule> load(llvm::StringRef image);
  llvm::Expected<CudaKernel> getKernel(llvm::StringRef name) const;

private:
  CudaModule(const CudaDriver *driver, larc_cu_module module)
      : driver(driver), module(module, driver->getApi().moduleUnload) {}
  const CudaDriver *driver;
  CudaHandle<larc_cu_module> module;
};

/// Work that was recorded once and is launched as a whole.
class CudaGraph {
public:
  /// Records what `work` does on `stream`.
  static llvm::Expected<CudaGraph>
  capture(const CudaStream &stream, llvm::function_ref<llvm::Error()> work);
  llvm::Error launch(const CudaStream &stream) const;

private:
  CudaGraph(const CudaDriver *driver, larc_cu_graph_exec graph)
      : driver(driver), graph(graph, driver->getApi().graphExecDestroy) {}
  const CudaDriver *driver;
  CudaHandle<larc_cu_graph_exec> graph;
};

/// A tensor in the GPU's memory as asynchronous copies of boxes see it. Axes go
/// from the innermost, which is dense, to the outermost; there are up to five.
struct CudaTensorLayout {
  int type = 0;                         ///< of `larc_cu_tensor_type`
  llvm::ArrayRef<uint64_t> sizes;       ///< elements along each axis
  llvm::ArrayRef<uint64_t> byteStrides; ///< of all axes but the innermost
  llvm::ArrayRef<uint32_t> box;         ///< elements of a copy along each axis
  int swizzle = LARC_CU_SWIZZLE_NONE;   ///< of `larc_cu_tensor_swizzle`
  int l2Promotion = LARC_CU_L2_256;     ///< of `larc_cu_tensor_l2`
};

/// The description of `layout` at `address`, which a kernel takes as an
/// argument. Elements outside of the tensor are read as zeros.
llvm::Expected<larc_cu_tensor_map>
encodeTensorMap(larc_cu_pointer address, const CudaTensorLayout &layout);

} // namespace larc

#endif // LARC_TARGET_CUDA_CUDADRIVER_H
