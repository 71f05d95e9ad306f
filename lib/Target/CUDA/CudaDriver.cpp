//===- CudaDriver.cpp - Running on NVIDIA GPUs ----------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Target/CUDA/CudaDriver.h"

#include "larc/Support/Error.h"

#include "llvm/ADT/SmallVector.h"

#include <dlfcn.h>

using namespace larc;

//===----------------------------------------------------------------------===//
// The driver
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral libraryName = "libcuda.so.1";

llvm::Error CudaDriver::check(larc_cu_result result,
                              llvm::StringRef doing) const {
  if (!result)
    return llvm::Error::success();
  const char *name = nullptr, *reason = nullptr;
  api.getErrorName(result, &name);
  api.getErrorString(result, &reason);
  return makeFault(llvm::Twine("cannot ") + doing + " on the GPU: " +
                   (reason ? reason : "unknown error") + " (" +
                   (name ? llvm::Twine(name) : llvm::Twine(result)) + ")");
}

llvm::Expected<std::unique_ptr<CudaDriver>>
CudaDriver::load(llvm::StringRef library) {
  // The driver has threads of its own: it is never unloaded.
  void *handle = ::dlopen(library.str().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return makeFault("no CUDA driver: " + library + " was not found",
                     {::dlerror()});
  auto driver = std::make_unique<CudaDriver>();
  larc_cuda_api &api = driver->api;
#define LARC_LOAD(member, symbol, parameters)                                  \
  api.member =                                                                 \
      reinterpret_cast<larc_cu_result(*) parameters>(::dlsym(handle, symbol)); \
  if (!api.member)                                                             \
    return makeFault("the CUDA driver in " + library +                         \
                     " is too old: it has no " symbol);
  LARC_CUDA_FUNCTIONS(LARC_LOAD)
#undef LARC_LOAD

  larc_cu_result result = api.init(0);
  if (result == LARC_CU_ERROR_NO_DEVICE)
    return makeFault("the CUDA driver finds no GPU");
  if (llvm::Error error = driver->check(result, "start the CUDA driver"))
    return std::move(error);
  if (llvm::Error error =
          driver->check(api.driverGetVersion(&driver->version), "ask"))
    return std::move(error);
  return driver;
}

llvm::Expected<const CudaDriver *> CudaDriver::get() {
  struct Loaded {
    std::unique_ptr<CudaDriver> driver;
    std::string message;
    std::vector<std::string> notes;
  };
  static const Loaded loaded = [] {
    Loaded result;
    auto driver = load(libraryName);
    if (driver) {
      result.driver = std::move(*driver);
      return result;
    }
    llvm::handleAllErrors(driver.takeError(), [&](const Fault &fault) {
      result.message = fault.getMessage().str();
      result.notes = fault.getNotes();
    });
    return result;
  }();
  if (!loaded.driver)
    return makeFault(loaded.message, loaded.notes);
  return loaded.driver.get();
}

llvm::Expected<int> CudaDriver::countDevices() const {
  int count = 0;
  if (llvm::Error error = check(api.deviceGetCount(&count), "count devices"))
    return std::move(error);
  return count;
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

llvm::Expected<CudaContext> CudaContext::create(int ordinal) {
  auto driver = CudaDriver::get();
  if (!driver)
    return driver.takeError();
  const larc_cuda_api &api = (*driver)->getApi();
  auto count = (*driver)->countDevices();
  if (!count)
    return count.takeError();
  if (ordinal < 0 || ordinal >= *count)
    return makeFault("no GPU " + llvm::Twine(ordinal) + ": there are " +
                     llvm::Twine(*count));
  larc_cu_device device = 0;
  if (llvm::Error error =
          (*driver)->check(api.deviceGet(&device, ordinal), "open the device"))
    return std::move(error);
  larc_cu_context context = nullptr;
  if (llvm::Error error = (*driver)->check(
          api.primaryContextRetain(&context, device), "create a context"))
    return std::move(error);
  return CudaContext(*driver, device, context);
}

CudaContext::~CudaContext() {
  if (context)
    driver->getApi().primaryContextRelease(device);
}

std::string CudaContext::getName() const {
  char name[256] = {};
  driver->getApi().deviceGetName(name, sizeof(name) - 1, device);
  return name;
}

int CudaContext::getAttribute(int attribute) const {
  int value = 0;
  if (driver->getApi().deviceGetAttribute(&value, attribute, device))
    return 0;
  return value;
}

unsigned CudaContext::getComputeCapability() const {
  return getAttribute(LARC_CU_CAPABILITY_MAJOR) * 10 +
         getAttribute(LARC_CU_CAPABILITY_MINOR);
}

llvm::Expected<CudaContext::Scope> CudaContext::enter() const {
  if (llvm::Error error = driver->check(driver->getApi().contextPush(context),
                                        "enter the context"))
    return std::move(error);
  return Scope(driver);
}

CudaContext::Scope::~Scope() {
  larc_cu_context ignored;
  if (driver)
    driver->getApi().contextPop(&ignored);
}

//===----------------------------------------------------------------------===//
// Streams, events, memory
//===----------------------------------------------------------------------===//

/// The driver, and a new handle that `create` makes.
template <typename HandleT>
static llvm::Expected<std::pair<const CudaDriver *, HandleT>> createHandle(
    llvm::StringRef doing,
    llvm::function_ref<larc_cu_result(const larc_cuda_api &, HandleT *)>
        create) {
  auto driver = CudaDriver::get();
  if (!driver)
    return driver.takeError();
  HandleT handle = HandleT();
  if (llvm::Error error =
          (*driver)->check(create((*driver)->getApi(), &handle), doing))
    return std::move(error);
  return std::pair(*driver, handle);
}

llvm::Expected<CudaStream> CudaStream::create() {
  auto made = createHandle<larc_cu_stream>(
      "create a stream", [](const larc_cuda_api &api, larc_cu_stream *stream) {
        return api.streamCreate(stream, LARC_CU_STREAM_NON_BLOCKING);
      });
  if (!made)
    return made.takeError();
  return CudaStream(made->first, made->second);
}

llvm::Error CudaStream::synchronize() const {
  return driver->check(driver->getApi().streamSynchronize(get()),
                       "finish the work of a stream");
}

llvm::Expected<CudaEvent> CudaEvent::create() {
  auto made = createHandle<larc_cu_event>(
      "create an event", [](const larc_cuda_api &api, larc_cu_event *event) {
        return api.eventCreate(event, /*flags=*/0);
      });
  if (!made)
    return made.takeError();
  return CudaEvent(made->first, made->second);
}

llvm::Error CudaEvent::record(const CudaStream &stream) const {
  return driver->check(driver->getApi().eventRecord(event.get(), stream.get()),
                       "record an event");
}

llvm::Error CudaEvent::synchronize() const {
  return driver->check(driver->getApi().eventSynchronize(event.get()),
                       "wait for an event");
}

llvm::Expected<float>
CudaEvent::getMillisecondsSince(const CudaEvent &start) const {
  float milliseconds = 0;
  if (llvm::Error error =
          driver->check(driver->getApi().eventElapsedTime(
                            &milliseconds, start.event.get(), event.get()),
                        "measure the time between events"))
    return std::move(error);
  return milliseconds;
}

llvm::Expected<CudaBuffer> CudaBuffer::create(size_t bytes) {
  std::string doing = "allocate " + std::to_string(bytes) + " bytes";
  auto made = createHandle<larc_cu_pointer>(
      doing, [&](const larc_cuda_api &api, larc_cu_pointer *memory) {
        // The driver refuses to allocate nothing.
        return bytes ? api.memAlloc(memory, bytes) : 0;
      });
  if (!made)
    return made.takeError();
  return CudaBuffer(made->first, made->second, bytes);
}

/// An error if a copy goes beyond the end of a buffer.
static llvm::Error checkSize(size_t copied, size_t size) {
  if (copied <= size)
    return llvm::Error::success();
  return makeFault("a copy of " + llvm::Twine(copied) +
                   " bytes goes beyond a buffer of " + llvm::Twine(size));
}

llvm::Error CudaBuffer::write(llvm::ArrayRef<char> data,
                              const CudaStream &stream) const {
  if (llvm::Error error = checkSize(data.size(), bytes))
    return error;
  if (data.empty())
    return llvm::Error::success();
  return driver->check(driver->getApi().memcpyToDevice(
                           get(), data.data(), data.size(), stream.get()),
                       "write memory");
}

llvm::Error CudaBuffer::read(llvm::MutableArrayRef<char> data,
                             const CudaStream &stream) const {
  if (llvm::Error error = checkSize(data.size(), bytes))
    return error;
  if (data.empty())
    return llvm::Error::success();
  return driver->check(driver->getApi().memcpyToHost(data.data(), get(),
                                                     data.size(), stream.get()),
                       "read memory");
}

llvm::Error CudaBuffer::fill(unsigned char byte,
                             const CudaStream &stream) const {
  if (!bytes)
    return llvm::Error::success();
  return driver->check(
      driver->getApi().memset8(get(), byte, bytes, stream.get()),
      "fill memory");
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

llvm::Expected<CudaModule> CudaModule::load(llvm::StringRef image) {
  auto made = createHandle<larc_cu_module>(
      "load machine code",
      [&](const larc_cuda_api &api, larc_cu_module *module) {
        return api.moduleLoadData(module, image.data());
      });
  if (!made)
    return made.takeError();
  return CudaModule(made->first, made->second);
}

llvm::Expected<CudaKernel> CudaModule::getKernel(llvm::StringRef name) const {
  larc_cu_function function = nullptr;
  if (llvm::Error error =
          driver->check(driver->getApi().moduleGetFunction(
                            &function, module.get(), name.str().c_str()),
                        ("find the kernel '" + name + "'").str()))
    return std::move(error);
  return CudaKernel(driver, function);
}

llvm::Error CudaKernel::allowShared(unsigned bytes) const {
  return driver->check(
      driver->getApi().funcSetAttribute(
          function, LARC_CU_FUNC_MAX_DYNAMIC_SHARED, int(bytes)),
      "get " + std::to_string(bytes) + " bytes of shared memory");
}

llvm::Expected<int> CudaKernel::getAttribute(int attribute) const {
  int value = 0;
  if (llvm::Error error = driver->check(
          driver->getApi().funcGetAttribute(&value, attribute, function),
          "ask for an attribute of a kernel"))
    return std::move(error);
  return value;
}

llvm::Expected<int> CudaKernel::getOccupancy(unsigned threads,
                                             unsigned sharedBytes) const {
  int blocks = 0;
  if (llvm::Error error =
          driver->check(driver->getApi().occupancy(&blocks, function,
                                                   int(threads), sharedBytes),
                        "ask for the occupancy of a kernel"))
    return std::move(error);
  return blocks;
}

llvm::Error CudaKernel::launch(const CudaLaunch &launch,
                               llvm::ArrayRef<void *> arguments,
                               const CudaStream &stream) const {
  larc_cu_launch_attribute cluster = {};
  cluster.id = LARC_CU_LAUNCH_CLUSTER;
  cluster.value.cluster = {launch.cluster, 1, 1};
  larc_cu_launch_config config = {};
  config.gridX = launch.grid[0];
  config.gridY = launch.grid[1];
  config.gridZ = launch.grid[2];
  config.blockX = launch.block[0];
  config.blockY = launch.block[1];
  config.blockZ = launch.block[2];
  config.sharedBytes = launch.sharedBytes;
  config.stream = stream.get();
  config.attributes = &cluster;
  config.attributeCount = launch.cluster > 1 ? 1 : 0;
  return driver->check(
      driver->getApi().launchKernelEx(&config, function,
                                      const_cast<void **>(arguments.data()),
                                      /*extra=*/nullptr),
      "launch a kernel");
}

llvm::Expected<CudaGraph>
CudaGraph::capture(const CudaStream &stream,
                   llvm::function_ref<llvm::Error()> work) {
  auto driver = CudaDriver::get();
  if (!driver)
    return driver.takeError();
  const larc_cuda_api &api = (*driver)->getApi();
  if (llvm::Error error = (*driver)->check(
          api.streamBeginCapture(stream.get(), LARC_CU_CAPTURE_THREAD_LOCAL),
          "record a graph"))
    return std::move(error);
  llvm::Error workError = work();
  // Also after an error, so that the stream is of use again.
  larc_cu_graph recorded = nullptr;
  larc_cu_result result = api.streamEndCapture(stream.get(), &recorded);
  CudaHandle<larc_cu_graph> graph(recorded, api.graphDestroy);
  if (workError)
    return std::move(workError);
  if (llvm::Error error = (*driver)->check(result, "record a graph"))
    return std::move(error);
  larc_cu_graph_exec executable = nullptr;
  if (llvm::Error error = (*driver)->check(
          api.graphInstantiate(&executable, graph.get(), /*flags=*/0),
          "make a graph"))
    return std::move(error);
  return CudaGraph(*driver, executable);
}

llvm::Error CudaGraph::launch(const CudaStream &stream) const {
  return driver->check(driver->getApi().graphLaunch(graph.get(), stream.get()),
                       "launch a graph");
}

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

llvm::Expected<larc_cu_tensor_map>
larc::encodeTensorMap(larc_cu_pointer address, const CudaTensorLayout &layout) {
  constexpr size_t maxRank = 5;
  size_t rank = layout.sizes.size();
  if (rank == 0 || rank > maxRank || layout.box.size() != rank ||
      layout.byteStrides.size() != rank - 1)
    return makeFault("a tensor map has one to five axes, with a size and a box "
                     "for each and a stride for all but the first");
  auto driver = CudaDriver::get();
  if (!driver)
    return driver.takeError();
  llvm::SmallVector<uint32_t, maxRank> elementStrides(rank, 1);
  larc_cu_tensor_map map = {};
  larc_cu_result result = (*driver)->getApi().tensorMapEncodeTiled(
      &map, layout.type, uint32_t(rank), reinterpret_cast<void *>(address),
      layout.sizes.data(), layout.byteStrides.data(), layout.box.data(),
      elementStrides.data(), /*interleave=*/0, layout.swizzle,
      layout.l2Promotion, /*fillWithNaN=*/0);
  if (llvm::Error error = (*driver)->check(result, "describe a tensor"))
    return std::move(error);
  return map;
}
