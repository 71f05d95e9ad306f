//===- CudaDriverApi.h - What larc uses of the CUDA driver -*- C -*- ------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The driver, libcuda.so.1, is loaded when it is needed, so that neither CUDA's
// headers nor its libraries are needed to build. These are the functions that
// are used, as the driver's stable binary interface has them. Plain C: larc
// itself and libraries that it writes may both use it.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_RUNTIME_CUDADRIVERAPI_H
#define LARC_RUNTIME_CUDADRIVERAPI_H

#include <stddef.h>
#include <stdint.h>

typedef int larc_cu_result;       // CUresult; 0 is success
typedef int larc_cu_device;       // CUdevice
typedef uint64_t larc_cu_pointer; // CUdeviceptr
typedef struct larc_cu_context_st *larc_cu_context;
typedef struct larc_cu_module_st *larc_cu_module;
typedef struct larc_cu_function_st *larc_cu_function;
typedef struct larc_cu_stream_st *larc_cu_stream;
typedef struct larc_cu_event_st *larc_cu_event;
typedef struct larc_cu_graph_st *larc_cu_graph;
typedef struct larc_cu_graph_exec_st *larc_cu_graph_exec;

enum larc_cu_result_values {
  LARC_CU_ERROR_NO_DEVICE = 100,
};

enum larc_cu_device_attribute { // CUdevice_attribute
  LARC_CU_MULTIPROCESSOR_COUNT = 16,
  LARC_CU_CAPABILITY_MAJOR = 75,
  LARC_CU_CAPABILITY_MINOR = 76,
  LARC_CU_MAX_SHARED_PER_BLOCK_OPTIN = 97,
};

enum larc_cu_function_attribute { // CUfunction_attribute
  LARC_CU_FUNC_STATIC_SHARED = 1,
  LARC_CU_FUNC_LOCAL_BYTES = 3,
  LARC_CU_FUNC_REGISTERS = 4,
  LARC_CU_FUNC_MAX_DYNAMIC_SHARED = 8,
};

enum larc_cu_flags {
  LARC_CU_STREAM_NON_BLOCKING = 1,
  LARC_CU_CAPTURE_THREAD_LOCAL = 1, // CUstreamCaptureMode
};

enum larc_cu_launch_attribute_id { // CUlaunchAttributeID
  LARC_CU_LAUNCH_CLUSTER = 4,
  LARC_CU_LAUNCH_PROGRAMMATIC = 6, // may overlap the kernel before it
};

// CUlaunchAttribute
typedef struct larc_cu_launch_attribute {
  int id;
  int padding;
  union {
    struct {
      unsigned x, y, z;
    } cluster;
    int programmatic;
    char size[64];
  } value;
} larc_cu_launch_attribute;

// CUlaunchConfig
typedef struct larc_cu_launch_config {
  unsigned gridX, gridY, gridZ;
  unsigned blockX, blockY, blockZ;
  unsigned sharedBytes; // dynamic ones
  larc_cu_stream stream;
  larc_cu_launch_attribute *attributes;
  unsigned attributeCount;
} larc_cu_launch_config;

// CUtensorMap, which lies at a multiple of 64.
typedef struct larc_cu_tensor_map {
#if defined(__cplusplus)
  alignas(64)
#else
  _Alignas(64)
#endif
      uint64_t opaque[16];
} larc_cu_tensor_map;

enum larc_cu_tensor_type { // CUtensorMapDataType
  LARC_CU_TENSOR_F16 = 6,
  LARC_CU_TENSOR_F32 = 7,
  LARC_CU_TENSOR_F64 = 8,
  LARC_CU_TENSOR_BF16 = 9,
};

enum larc_cu_tensor_swizzle { // CUtensorMapSwizzle
  LARC_CU_SWIZZLE_NONE = 0,
  LARC_CU_SWIZZLE_32 = 1,
  LARC_CU_SWIZZLE_64 = 2,
  LARC_CU_SWIZZLE_128 = 3,
};

enum larc_cu_tensor_l2 { // CUtensorMapL2promotion
  LARC_CU_L2_NONE = 0,
  LARC_CU_L2_128 = 2,
  LARC_CU_L2_256 = 3,
};

// X(member, symbol, parameters) for every function that is used. The symbol
// carries the version of the interface that is meant.
#define LARC_CUDA_FUNCTIONS(X)                                                 \
  X(init, "cuInit", (unsigned flags))                                          \
  X(getErrorName, "cuGetErrorName", (larc_cu_result, const char **))           \
  X(getErrorString, "cuGetErrorString", (larc_cu_result, const char **))       \
  X(driverGetVersion, "cuDriverGetVersion", (int *))                           \
  X(deviceGetCount, "cuDeviceGetCount", (int *))                               \
  X(deviceGet, "cuDeviceGet", (larc_cu_device *, int ordinal))                 \
  X(deviceGetName, "cuDeviceGetName", (char *, int size, larc_cu_device))      \
  X(deviceGetAttribute, "cuDeviceGetAttribute",                                \
    (int *, int attribute, larc_cu_device))                                    \
  X(primaryContextRetain, "cuDevicePrimaryCtxRetain",                          \
    (larc_cu_context *, larc_cu_device))                                       \
  X(primaryContextRelease, "cuDevicePrimaryCtxRelease_v2", (larc_cu_device))   \
  X(contextPush, "cuCtxPushCurrent_v2", (larc_cu_context))                     \
  X(contextPop, "cuCtxPopCurrent_v2", (larc_cu_context *))                     \
  X(contextGetCurrent, "cuCtxGetCurrent", (larc_cu_context *))                 \
  X(contextGetDevice, "cuCtxGetDevice", (larc_cu_device *))                    \
  X(contextGetId, "cuCtxGetId", (larc_cu_context, unsigned long long *))       \
  X(contextSynchronize, "cuCtxSynchronize", (void))                            \
  X(moduleLoadData, "cuModuleLoadData", (larc_cu_module *, const void *image)) \
  X(moduleUnload, "cuModuleUnload", (larc_cu_module))                          \
  X(moduleGetFunction, "cuModuleGetFunction",                                  \
    (larc_cu_function *, larc_cu_module, const char *name))                    \
  X(funcSetAttribute, "cuFuncSetAttribute",                                    \
    (larc_cu_function, int attribute, int value))                              \
  X(funcGetAttribute, "cuFuncGetAttribute",                                    \
    (int *, int attribute, larc_cu_function))                                  \
  X(occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                  \
    (int *, larc_cu_function, int threads, size_t sharedBytes))                \
  X(launchKernelEx, "cuLaunchKernelEx",                                        \
    (const larc_cu_launch_config *, larc_cu_function, void **parameters,       \
     void **extra))                                                            \
  X(memAlloc, "cuMemAlloc_v2", (larc_cu_pointer *, size_t))                    \
  X(memFree, "cuMemFree_v2", (larc_cu_pointer))                                \
  X(memGetInfo, "cuMemGetInfo_v2", (size_t *available, size_t *total))         \
  X(memcpyToDeviceNow, "cuMemcpyHtoD_v2",                                      \
    (larc_cu_pointer, const void *, size_t))                                   \
  X(memcpyToDevice, "cuMemcpyHtoDAsync_v2",                                    \
    (larc_cu_pointer, const void *, size_t, larc_cu_stream))                   \
  X(memcpyToHost, "cuMemcpyDtoHAsync_v2",                                      \
    (void *, larc_cu_pointer, size_t, larc_cu_stream))                         \
  X(memcpyOnDevice, "cuMemcpyDtoDAsync_v2",                                    \
    (larc_cu_pointer, larc_cu_pointer source, size_t, larc_cu_stream))         \
  X(memset8, "cuMemsetD8Async",                                                \
    (larc_cu_pointer, unsigned char, size_t, larc_cu_stream))                  \
  X(streamCreate, "cuStreamCreate", (larc_cu_stream *, unsigned flags))        \
  X(streamDestroy, "cuStreamDestroy_v2", (larc_cu_stream))                     \
  X(streamSynchronize, "cuStreamSynchronize", (larc_cu_stream))                \
  X(streamWaitEvent, "cuStreamWaitEvent",                                      \
    (larc_cu_stream, larc_cu_event, unsigned flags))                           \
  X(streamBeginCapture, "cuStreamBeginCapture_v2", (larc_cu_stream, int mode)) \
  X(streamEndCapture, "cuStreamEndCapture", (larc_cu_stream, larc_cu_graph *)) \
  X(eventCreate, "cuEventCreate", (larc_cu_event *, unsigned flags))           \
  X(eventDestroy, "cuEventDestroy_v2", (larc_cu_event))                        \
  X(eventRecord, "cuEventRecord", (larc_cu_event, larc_cu_stream))             \
  X(eventSynchronize, "cuEventSynchronize", (larc_cu_event))                   \
  X(eventElapsedTime, "cuEventElapsedTime",                                    \
    (float *milliseconds, larc_cu_event start, larc_cu_event end))             \
  X(graphInstantiate, "cuGraphInstantiateWithFlags",                           \
    (larc_cu_graph_exec *, larc_cu_graph, unsigned long long flags))           \
  X(graphLaunch, "cuGraphLaunch", (larc_cu_graph_exec, larc_cu_stream))        \
  X(graphExecDestroy, "cuGraphExecDestroy", (larc_cu_graph_exec))              \
  X(graphDestroy, "cuGraphDestroy", (larc_cu_graph))                           \
  X(tensorMapEncodeTiled, "cuTensorMapEncodeTiled",                            \
    (larc_cu_tensor_map *, int type, uint32_t rank, void *address,             \
     const uint64_t *dims, const uint64_t *byteStrides, const uint32_t *box,   \
     const uint32_t *elementStrides, int interleave, int swizzle,              \
     int l2Promotion, int fillWithNaN))

// The functions, once the driver is loaded.
typedef struct larc_cuda_api {
#define LARC_CUDA_MEMBER(member, symbol, parameters)                           \
  larc_cu_result(*member) parameters;
  LARC_CUDA_FUNCTIONS(LARC_CUDA_MEMBER)
#undef LARC_CUDA_MEMBER
} larc_cuda_api;

#endif // LARC_RUNTIME_CUDADRIVERAPI_H
