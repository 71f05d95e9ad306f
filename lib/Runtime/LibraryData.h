//===- LibraryData.h - What a compiled library holds -*- C -*- ------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The tables of a library, which the writer of libraries (lib/Target/Library)
// makes and the runtime reads. The writer builds these structures member by
// member: a change here is one there.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_RUNTIME_LIBRARYDATA_H
#define LARC_LIB_RUNTIME_LIBRARYDATA_H

#include "larc/Runtime/Library.h"
#include "larc/Runtime/Recurrent.h"

// Names as C has them.
// NOLINTBEGIN(readability-identifier-naming)

enum larc_data_role {
  LARC_ROLE_OPERAND,
  LARC_ROLE_CONSTANT,
  LARC_ROLE_OUTPUT,
  LARC_ROLE_INITIAL,
  LARC_ROLE_FINAL,
  LARC_ROLE_INITIAL_ANCHOR,
  LARC_ROLE_FINAL_ANCHOR
};

/// A tensor of a call.
typedef struct larc_data_tensor {
  const char *name;
  uint32_t role;
  uint32_t required; ///< a run must have it
  uint32_t element_bytes;
  uint32_t alignment; ///< on a GPU, of the pointer and of strides, in bytes
  int64_t elements;   ///< of all axes after the head
  int64_t row;        ///< of a row of a state: its last axis
  int64_t initial; ///< of initial states and anchors: where in `rows` a row of
                   ///< the initial value lies
} larc_data_tensor;

/// A kernel of a form, see CudaFormLaunch.
typedef struct larc_data_launch {
  const char *kernel;
  uint32_t threads, shared_bytes, parts;
  uint32_t segmented, only_if_cut;
  uint32_t padding;
} larc_data_launch;

/// See CudaTensorMap.
typedef struct larc_data_map {
  uint32_t tensor;
  uint32_t rows;
  uint32_t type; ///< larc_cu_tensor_type
  uint32_t padding;
} larc_data_map;

/// See CudaForm.
typedef struct larc_data_cuda_form {
  uint32_t form;
  uint32_t num_launches;
  int64_t chunk_size, least_tokens;
  int64_t least_segment_tokens, blocks_per_sm, segment_bytes;
  const void *image;
  const larc_data_launch *launches;
  const larc_data_map *maps;
  int64_t num_maps;
} larc_data_cuda_form;

typedef struct larc_data_cuda {
  uint32_t major, minor;
  uint32_t exact; ///< for GPUs of this very capability
  uint32_t num_forms;
  const larc_data_cuda_form *forms; ///< by least_tokens
} larc_data_cuda;

/// An entry point, see larc/Runtime/Recurrent.h.
typedef struct larc_data_cpu_form {
  uint32_t form;
  uint32_t padding;
  int64_t chunk_size, least_tokens;
  void (*entry)(const larc_call *, int64_t first, int64_t last, void *scratch);
  const int64_t *scratch_bytes, *blocks;
} larc_data_cpu_form;

enum larc_data_cpu_levels { LARC_CPU_AVX2 = 1, LARC_CPU_AVX512 = 2 };

typedef struct larc_data {
  const char *manifest;
  const larc_data_tensor *tensors;
  const larc_data_cuda *cuda;
  const larc_data_cpu_form *cpu; ///< by least_tokens
  const void *rows; ///< rows of initial values, each at a multiple of 16
  int64_t rows_bytes;
  uint32_t num_tensors, num_cuda, num_cpu;
  uint32_t cpu_levels; ///< what the CPU must have
} larc_data;

/// Those of this library.
extern const larc_data larc_library_data;
extern const larc_library larc_library_table;

/// The functions in it; what a library exports are other names of them.
const char *larc_rt_message(void);
larc_status larc_rt_load(larc_target target);
larc_status larc_rt_unload(larc_target target);
larc_status larc_rt_plan(const larc_shape *shape, const larc_layout *layouts,
                         larc_plan **result);
size_t larc_rt_workspace(const larc_plan *plan);
void larc_rt_describe(const larc_plan *plan, larc_plan_info *info);
larc_status larc_rt_run(const larc_plan *plan, const void *const *tensors,
                        const larc_lists *lists, void *workspace, void *stream);
void larc_rt_release(larc_plan *plan);
__attribute__((visibility("default"))) const larc_library *
larc_library_functions(void);

// NOLINTEND(readability-identifier-naming)

#endif // LARC_LIB_RUNTIME_LIBRARYDATA_H
