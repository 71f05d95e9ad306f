//===- FakeDriver.cpp - A CUDA driver without a GPU -----------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeDriver.h"

#include <cstdlib>
#include <cstring>

namespace larc::test {

FakeDriver &fakeDriver() {
  static FakeDriver driver;
  return driver;
}

larc_cu_result countCall(const char *symbol) {
  FakeDriver &driver = fakeDriver();
  ++driver.calls[symbol];
  auto it = driver.errors.find(symbol);
  return it == driver.errors.end() ? 0 : it->second;
}

extern "C" __attribute__((visibility("default"))) FakeDriver *larcFakeDriver() {
  return &fakeDriver();
}

} // namespace larc::test

using namespace larc::test;

template <typename HandleT>
static HandleT makeHandle(uint64_t number) {
  return reinterpret_cast<HandleT>(number);
}
static void *toMemory(larc_cu_pointer pointer) {
  return reinterpret_cast<void *>(pointer);
}

// NOLINTBEGIN(readability-identifier-naming)
// Functions with the driver's names. Each counts its call, and gives the error
// that the test wants.
#define LARC_FAKE(symbol)                                                      \
  extern "C" __attribute__((visibility("default"))) larc_cu_result symbol
#define LARC_COUNT(symbol)                                                     \
  do                                                                           \
    if (larc_cu_result error = countCall(symbol))                              \
      return error;                                                            \
  while (false)

LARC_FAKE(cuGetErrorName)(larc_cu_result, const char **name) {
  *name = "CUDA_ERROR_FAKE";
  return 0;
}
LARC_FAKE(cuGetErrorString)(larc_cu_result, const char **text) {
  *text = "as the test wants it";
  return 0;
}
LARC_FAKE(cuDriverGetVersion)(int *version) {
  *version = 13000;
  return 0;
}
LARC_FAKE(cuDeviceGetCount)(int *count) {
  *count = 1;
  return 0;
}
LARC_FAKE(cuDeviceGet)(larc_cu_device *device, int ordinal) {
  *device = ordinal;
  return 0;
}
LARC_FAKE(cuDeviceGetName)(char *name, int size, larc_cu_device) {
  std::strncpy(name, "a GPU of the test's own", static_cast<size_t>(size));
  return 0;
}
LARC_FAKE(cuMemGetInfo_v2)(size_t *available, size_t *total) {
  LARC_COUNT("cuMemGetInfo_v2");
  *available = *total = size_t(1) << 24;
  return 0;
}
LARC_FAKE(cuDeviceGetAttribute)(int *value, int attribute, larc_cu_device) {
  LARC_COUNT("cuDeviceGetAttribute");
  const FakeDriver &driver = fakeDriver();
  *value = attribute == LARC_CU_CAPABILITY_MAJOR       ? driver.major
           : attribute == LARC_CU_CAPABILITY_MINOR     ? driver.minor
           : attribute == LARC_CU_MULTIPROCESSOR_COUNT ? driver.multiprocessors
                                                       : 0;
  return 0;
}
LARC_FAKE(cuDevicePrimaryCtxRetain)(larc_cu_context *context, larc_cu_device) {
  *context = makeHandle<larc_cu_context>(fakeDriver().context);
  return 0;
}
LARC_FAKE(cuCtxGetCurrent)(larc_cu_context *context) {
  LARC_COUNT("cuCtxGetCurrent");
  *context = makeHandle<larc_cu_context>(fakeDriver().context);
  return 0;
}
LARC_FAKE(cuCtxGetId)(larc_cu_context context, unsigned long long *id) {
  LARC_COUNT("cuCtxGetId");
  *id = reinterpret_cast<uint64_t>(context);
  return 0;
}
LARC_FAKE(cuCtxGetDevice)(larc_cu_device *device) {
  LARC_COUNT("cuCtxGetDevice");
  *device = 0;
  return 0;
}
LARC_FAKE(cuModuleLoadData)(larc_cu_module *module, const void *) {
  LARC_COUNT("cuModuleLoadData");
  *module = makeHandle<larc_cu_module>(1 + ++fakeDriver().modulesLoaded);
  return 0;
}
LARC_FAKE(cuModuleUnload)(larc_cu_module) {
  LARC_COUNT("cuModuleUnload");
  --fakeDriver().modulesLoaded;
  return 0;
}
LARC_FAKE(cuModuleGetFunction)(larc_cu_function *function, larc_cu_module,
                               const char *name) {
  LARC_COUNT("cuModuleGetFunction");
  fakeDriver().kernels.push_back(name);
  *function = makeHandle<larc_cu_function>(fakeDriver().kernels.size());
  return 0;
}
static const std::string &getName(larc_cu_function function) {
  return fakeDriver().kernels.at(reinterpret_cast<uint64_t>(function) - 1);
}
LARC_FAKE(cuFuncSetAttribute)(larc_cu_function function, int, int value) {
  LARC_COUNT("cuFuncSetAttribute");
  fakeDriver().sharedBytes[getName(function)] = value;
  return 0;
}
LARC_FAKE(cuLaunchKernelEx)
(const larc_cu_launch_config *config, larc_cu_function function,
 void **parameters, void **extra) {
  LARC_COUNT("cuLaunchKernelEx");
  // A buffer of parameters and its size.
  if (parameters || extra[0] != reinterpret_cast<void *>(1) ||
      extra[2] != reinterpret_cast<void *>(2) || extra[4])
    return 1;
  const char *words = static_cast<const char *>(extra[1]);
  if (fakeDriver().onLaunch)
    fakeDriver().onLaunch(*config, getName(function),
                          std::string(words, *static_cast<size_t *>(extra[3])));
  return 0;
}
/// A map shows what it was made of: the kind and swizzle, the address,
/// extents, distances and the box.
LARC_FAKE(cuFuncGetParamInfo)
(larc_cu_function, size_t index, size_t *offset, size_t *bytes) {
  // A number first, then a map.
  *offset = index == 0 ? 0 : fakeMapsOffset;
  *bytes = index == 0 ? 8 : sizeof(larc_cu_tensor_map);
  return 0;
}
LARC_FAKE(cuTensorMapEncodeTiled)
(larc_cu_tensor_map *map, int type, uint32_t rank, void *address,
 const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
 const uint32_t *elementStrides, int interleave, int swizzle, int, int) {
  LARC_COUNT("cuTensorMapEncodeTiled");
  if (rank != 4 || reinterpret_cast<uint64_t>(map) % 64 != 0 || interleave)
    return 1;
  map->opaque[0] = static_cast<uint64_t>(type) << 32 | swizzle;
  map->opaque[1] = reinterpret_cast<uint64_t>(address);
  for (uint32_t i = 0; i < rank; ++i) {
    if (elementStrides[i] != 1)
      return 1;
    map->opaque[2 + i] = dims[i];
    map->opaque[9 + i] = box[i];
    if (i + 1 < rank)
      map->opaque[6 + i] = strides[i];
  }
  return 0;
}
LARC_FAKE(cuMemAlloc_v2)(larc_cu_pointer *pointer, size_t bytes) {
  LARC_COUNT("cuMemAlloc_v2");
  ++fakeDriver().buffersAllocated;
  void *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  *pointer = reinterpret_cast<larc_cu_pointer>(memory);
  return 0;
}
LARC_FAKE(cuMemFree_v2)(larc_cu_pointer pointer) {
  LARC_COUNT("cuMemFree_v2");
  --fakeDriver().buffersAllocated;
  std::free(toMemory(pointer));
  return 0;
}
LARC_FAKE(cuMemcpyHtoD_v2)(larc_cu_pointer to, const void *from, size_t bytes) {
  LARC_COUNT("cuMemcpyHtoD_v2");
  std::memcpy(toMemory(to), from, bytes);
  return 0;
}
LARC_FAKE(cuMemcpyHtoDAsync_v2)(larc_cu_pointer to, const void *from,
                                size_t bytes, larc_cu_stream) {
  LARC_COUNT("cuMemcpyHtoDAsync_v2");
  std::memcpy(toMemory(to), from, bytes);
  return 0;
}
LARC_FAKE(cuMemcpyDtoHAsync_v2)(void *to, larc_cu_pointer from, size_t bytes,
                                larc_cu_stream) {
  LARC_COUNT("cuMemcpyDtoHAsync_v2");
  std::memcpy(to, toMemory(from), bytes);
  // For what compares results with each other.
  if (bytes > 0 && std::getenv("LARC_FAKE_CUDA_UNSTEADY"))
    *static_cast<unsigned char *>(to) =
        static_cast<unsigned char>(fakeDriver().calls["cuMemcpyDtoHAsync_v2"]);
  return 0;
}
LARC_FAKE(cuMemsetD8Async)(larc_cu_pointer to, unsigned char byte, size_t bytes,
                           larc_cu_stream) {
  LARC_COUNT("cuMemsetD8Async");
  std::memset(toMemory(to), byte, bytes);
  return 0;
}
LARC_FAKE(cuStreamCreate)(larc_cu_stream *stream, unsigned) {
  LARC_COUNT("cuStreamCreate");
  *stream = makeHandle<larc_cu_stream>(7);
  return 0;
}
LARC_FAKE(cuEventCreate)(larc_cu_event *event, unsigned) {
  LARC_COUNT("cuEventCreate");
  *event = makeHandle<larc_cu_event>(8);
  return 0;
}
LARC_FAKE(cuEventElapsedTime)(float *milliseconds, larc_cu_event,
                              larc_cu_event) {
  LARC_COUNT("cuEventElapsedTime");
  *milliseconds = 0.5f;
  return 0;
}
LARC_FAKE(cuStreamEndCapture)(larc_cu_stream, larc_cu_graph *graph) {
  LARC_COUNT("cuStreamEndCapture");
  *graph = makeHandle<larc_cu_graph>(9);
  return 0;
}
LARC_FAKE(cuGraphInstantiateWithFlags)(larc_cu_graph_exec *graph, larc_cu_graph,
                                       unsigned long long) {
  LARC_COUNT("cuGraphInstantiateWithFlags");
  *graph = makeHandle<larc_cu_graph_exec>(10);
  return 0;
}
// NOLINTEND(readability-identifier-naming)
