//===- LibraryMaps.c - Tensor maps of compiled libraries -*- C -*- --------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LibraryRuntime.h"

#include <stdlib.h>
#include <string.h>

enum {
  boxBytes = 128,    ///< of a row of a box
  mapAlignment = 16, ///< of a map's distances
};

/// A dimension of a tensor in a map.
typedef struct larc_map_dim {
  const char *name;
  int64_t extent, stride; ///< the stride in elements
} larc_map_dim;

static void getMapDims(const larc_plan *plan, const larc_data_map *map,
                       larc_map_dim dims[3]) {
  const larc_plan_tensor *tensor = &plan->tensors[map->tensor];
  const larc_shape *shape = &plan->shape;
  dims[0] = (larc_map_dim){"heads", tensor->heads, tensor->head};
  dims[1] = (larc_map_dim){"tokens", shape->tokens, tensor->row};
  dims[2] = (larc_map_dim){"sequences", shape->sequences, tensor->sequence};
}

/// Whether a map has such a distance. Heads and sequences that all lie in one
/// place are a single one to a map.
static int hasDistance(const larc_map_dim *dim, int isToken, int64_t bytes) {
  const int64_t most = ((int64_t)1 << 40) - 1;
  if (isToken && dim->extent > INT32_MAX)
    return 0;
  return dim->extent <= 1 ||
         (dim->stride >= (isToken ? 1 : 0) && dim->stride <= most / bytes &&
          dim->stride * bytes % mapAlignment == 0);
}

static void fillMap(const larc_plan *plan, const larc_data_map *data,
                    larc_plan_map *map) {
  const larc_data_tensor *tensor = &larc_library_data.tensors[data->tensor];
  larc_map_dim dims[3];
  getMapDims(plan, data, dims);
  map->data = data;
  map->dims[0] = (uint64_t)tensor->elements;
  for (int i = 0; i < 3; ++i) {
    int isOne = dims[i].extent <= 1 || dims[i].stride == 0;
    map->dims[i + 1] = isOne ? 1 : (uint64_t)dims[i].extent;
    // That of a single one does not count, but must be a distance.
    map->strides[i] = (uint64_t)(isOne ? tensor->elements : dims[i].stride) *
                      tensor->element_bytes;
  }
}

static larc_cu_result encodeMap(const larc_cuda_api *api,
                                const larc_plan_map *map, const void *memory,
                                uint32_t rows, larc_cu_tensor_map *result) {
  const larc_data_tensor *data = &larc_library_data.tensors[map->data->tensor];
  const uint32_t ones[4] = {1, 1, 1, 1};
  const uint32_t box[4] = {boxBytes / data->element_bytes, 1, rows, 1};
  return api->tensorMapEncodeTiled(
      result, (int)map->data->type, 4, (void *)(uintptr_t)memory, map->dims,
      map->strides, box, ones, /*interleave=*/0, LARC_CU_SWIZZLE_128,
      LARC_CU_L2_128, /*fillWithNaN=*/0);
}

/// Whether a kernel can copy a tensor of the plan by a map. Else says why not,
/// if `told`.
static int canMap(const larc_cuda_api *api, const larc_plan *plan,
                  const larc_data_map *data, int told) {
  const larc_data_tensor *tensor = &larc_library_data.tensors[data->tensor];
  larc_map_dim dims[3];
  getMapDims(plan, data, dims);
  for (int i = 0; i < 3; ++i) {
    if (hasDistance(&dims[i], i == 1, tensor->element_bytes))
      continue;
    if (told)
      larc_fail(LARC_UNSUPPORTED,
                "kernels cannot copy tensor '%s': it has %lld %s at a distance "
                "of %lld elements",
                tensor->name, (long long)dims[i].extent, dims[i].name,
                (long long)dims[i].stride);
    return 0;
  }
  // What else the driver asks for does not depend on the address.
  larc_plan_map map;
  larc_cu_tensor_map made;
  fillMap(plan, data, &map);
  larc_cu_result error = encodeMap(api, &map, (void *)4096, data->rows, &made);
  if (error && told)
    larc_fail(LARC_UNSUPPORTED,
              "kernels cannot copy tensor '%s': the driver makes no tensor map "
              "of it (error %d)",
              tensor->name, (int)error);
  return !error;
}

int larc_can_map(const larc_cuda_api *api, const larc_plan *plan,
                 const larc_data_cuda_form *form, int told) {
  for (int64_t i = 0; i < form->num_maps; ++i)
    if (!canMap(api, plan, &form->maps[i], told))
      return 0;
  return 1;
}

larc_status larc_plan_maps(larc_plan *plan, const larc_data_cuda_form *form) {
  plan->maps = calloc((size_t)form->num_maps + 1, sizeof(larc_plan_map));
  if (!plan->maps)
    return larc_fail(LARC_OUT_OF_MEMORY, "no memory for a plan");
  plan->num_maps = form->num_maps;
  for (int64_t i = 0; i < plan->num_maps; ++i)
    fillMap(plan, &form->maps[i], &plan->maps[i]);
  return LARC_OK;
}

larc_cu_result larc_encode_maps(const larc_cuda_api *api, const larc_plan *plan,
                                const void *const *tensors,
                                larc_cu_tensor_map *maps, const char **failed) {
  memset(maps, 0, 2 * (size_t)plan->num_maps * sizeof(larc_cu_tensor_map));
  for (int64_t i = 0; i < plan->num_maps; ++i) {
    const larc_plan_map *map = &plan->maps[i];
    const void *memory = tensors[map->data->tensor];
    // What has no tokens is not read.
    if (!memory || plan->shape.tokens == 0)
      continue;
    larc_cu_result error =
        encodeMap(api, map, memory, map->data->rows, &maps[2 * i]);
    if (!error && plan->shape.packed)
      error = encodeMap(api, map, memory, 1, &maps[2 * i + 1]);
    if (error) {
      *failed = larc_library_data.tensors[map->data->tensor].name;
      return error;
    }
  }
  return 0;
}
