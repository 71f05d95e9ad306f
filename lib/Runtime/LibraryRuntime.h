//===- LibraryRuntime.h - The runtime of compiled libraries -*- C -*- -----===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_RUNTIME_LIBRARYRUNTIME_H
#define LARC_LIB_RUNTIME_LIBRARYRUNTIME_H

#include "LibraryData.h"

#include "larc/Runtime/CudaDriverApi.h"

// Names as C has them.
// NOLINTBEGIN(readability-identifier-naming)

/// Where a tensor of a plan lies, defaults filled in. The order of the members
/// is that of a kernel's parameters.
typedef struct larc_plan_tensor {
  int64_t sequence, row, head;
  int32_t group; ///< heads that share one
  int32_t padding;
  int64_t heads;  ///< of this tensor
  size_t discard; ///< where in the workspace it goes if it is not wanted
} larc_plan_tensor;

/// A kernel with all that does not change from run to run.
typedef struct larc_plan_launch {
  larc_cu_function function;
  const larc_data_launch *data;
  uint32_t blocks;
  int overlaps;       ///< may start before the one before it has ended
  size_t maps_offset; ///< of the tensor maps among the parameters
} larc_plan_launch;

/// What does not change from run to run of the tensor map of an operand:
/// channels, heads, tokens and sequences, with the distances of the last three.
typedef struct larc_plan_map {
  const larc_data_map *data;
  uint64_t dims[4], strides[3]; ///< strides in bytes
} larc_plan_map;

struct larc_plan {
  larc_shape shape;
  larc_plan_info info;
  larc_plan_tensor *tensors;
  // Of a GPU.
  larc_plan_launch *launches;
  larc_cu_pointer rows; ///< of initial values
  uint64_t *words;      ///< parameters of the kernels
  larc_plan_map *maps;
  int64_t num_maps;
  // Of a CPU.
  const larc_data_cpu_form *cpu;
  size_t scratch_bytes;              ///< of a thread, a multiple of 64
  int64_t *begins, *lengths, *zeros; ///< of sequences that are not packed
};

/// Remembers what is wrong, for the calling thread; gives `status` back.
larc_status larc_fail(larc_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

/// The average number of tokens of a sequence.
int64_t larc_mean_tokens(const larc_shape *shape);

/// The name of a form.
const char *larc_form_name(larc_form form);

/// What a target does for the functions of a library. `tensors` of the plan are
/// set; `plan` sets the rest.
larc_status larc_cuda_load(void);
larc_status larc_cuda_unload(void);
larc_status larc_cuda_plan(larc_plan *plan);
larc_status larc_cuda_run(const larc_plan *plan, const void *const *tensors,
                          const larc_lists *lists, void *workspace,
                          void *stream);
larc_status larc_cpu_load(void);
larc_status larc_cpu_plan(larc_plan *plan);
larc_status larc_cpu_run(const larc_plan *plan, const void *const *tensors,
                         const larc_lists *lists, void *workspace);

/// Whether the kernels of a form can copy the tensors of a plan by maps. Else
/// says why not, if `told`.
int larc_can_map(const larc_cuda_api *api, const larc_plan *plan,
                 const larc_data_cuda_form *form, int told);
larc_status larc_plan_maps(larc_plan *plan, const larc_data_cuda_form *form);

/// Makes the maps of a run, two of each tensor: of boxes, and, where another
/// sequence may lie behind the end of one, of single rows. `maps` has room for
/// 2 * LARC_MOST_MAPS. After an error `failed` is the tensor's name.
enum { LARC_MOST_MAPS = 8 };
larc_cu_result larc_encode_maps(const larc_cuda_api *api, const larc_plan *plan,
                                const void *const *tensors,
                                larc_cu_tensor_map *maps, const char **failed);

/// Reserves memory of the workspace for the final states that are not wanted.
/// The sequences write over each other's.
larc_status larc_reserve_discarded(larc_plan *plan, size_t *bytes);

// NOLINTEND(readability-identifier-naming)

#endif // LARC_LIB_RUNTIME_LIBRARYRUNTIME_H
