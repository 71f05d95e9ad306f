//===- Library.c - Plans of compiled libraries -*- C -*- ------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LibraryRuntime.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

static __thread char lastMessage[512];

larc_status larc_fail(larc_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(lastMessage, sizeof(lastMessage), format, arguments);
  va_end(arguments);
  return status;
}

const char *larc_rt_message(void) { return lastMessage; }

const char *larc_form_name(larc_form form) {
  return form == LARC_FORM_CHUNK ? "chunk" : "recurrent";
}

//===----------------------------------------------------------------------===//
// Shapes and layouts
//===----------------------------------------------------------------------===//

int64_t larc_mean_tokens(const larc_shape *shape) {
  if (!shape->packed || shape->sequences == 0)
    return shape->tokens;
  return (shape->tokens + shape->sequences - 1) / shape->sequences;
}

static larc_status checkShape(const larc_shape *shape) {
  const int64_t largest = INT32_MAX;
  if (shape->target != LARC_CPU && shape->target != LARC_CUDA)
    return larc_fail(LARC_INVALID, "unknown target %d", (int)shape->target);
  if (shape->form < LARC_FORM_AUTO || shape->form > LARC_FORM_CHUNK)
    return larc_fail(LARC_INVALID, "unknown form %d", (int)shape->form);
  if (shape->sequences < 0 || shape->tokens < 0 || shape->heads < 0)
    return larc_fail(LARC_INVALID,
                     "expected a shape without negative sizes, found %lld "
                     "sequences, %lld tokens, %lld heads",
                     (long long)shape->sequences, (long long)shape->tokens,
                     (long long)shape->heads);
  if (shape->threads < 0 || shape->segments < 0)
    return larc_fail(LARC_INVALID, "negative number of threads or segments");
  if (shape->sequences > largest || shape->heads > largest)
    return larc_fail(LARC_TOO_LARGE,
                     "expected at most %lld sequences and heads, found %lld "
                     "and %lld",
                     (long long)largest, (long long)shape->sequences,
                     (long long)shape->heads);
  if (!shape->packed && shape->tokens > largest)
    return larc_fail(LARC_TOO_LARGE,
                     "expected sequences of at most %lld tokens, found %lld",
                     (long long)largest, (long long)shape->tokens);
  return LARC_OK;
}

static int isTokenTensor(const larc_data_tensor *data) {
  return data->role == LARC_ROLE_OPERAND || data->role == LARC_ROLE_OUTPUT;
}

static int isState(const larc_data_tensor *data) {
  return data->role >= LARC_ROLE_INITIAL;
}

/// Sets the strides of a tensor whose elements lie one after the other.
static larc_status layOutDensely(const larc_shape *shape,
                                 const larc_data_tensor *data,
                                 larc_plan_tensor *tensor) {
  int64_t all;
  tensor->head = data->elements;
  if (__builtin_mul_overflow(data->elements, tensor->heads, &all))
    return larc_fail(LARC_TOO_LARGE, "tensor '%s' has too many elements",
                     data->name);
  if (isState(data)) {
    tensor->row = data->row;
    tensor->sequence = all;
  } else if (isTokenTensor(data)) {
    tensor->row = all;
    if (__builtin_mul_overflow(all, shape->tokens, &tensor->sequence))
      return larc_fail(LARC_TOO_LARGE, "tensor '%s' has too many elements",
                       data->name);
  } else {
    tensor->row = data->row;
  }
  if (__builtin_mul_overflow(tensor->sequence, shape->sequences, &all) ||
      __builtin_mul_overflow(all, (int64_t)data->element_bytes, &all))
    return larc_fail(LARC_TOO_LARGE, "tensor '%s' has too many elements",
                     data->name);
  return LARC_OK;
}

/// Vectors of memory must not lie across what the device can load at once.
static larc_status checkStride(const larc_data_tensor *data, const char *what,
                               int64_t stride, int64_t count) {
  int64_t unit = data->alignment / data->element_bytes;
  if (count > 1 && unit > 1 && stride % unit != 0)
    return larc_fail(LARC_INVALID,
                     "tensor '%s': expected a distance between %s that is a "
                     "multiple of %lld elements, found %lld",
                     data->name, what, (long long)unit, (long long)stride);
  return LARC_OK;
}

static larc_status layOut(const larc_shape *shape, const larc_layout *layout,
                          const larc_data_tensor *data,
                          larc_plan_tensor *tensor) {
  tensor->heads = shape->heads;
  if (layout && layout->heads != 0)
    tensor->heads = layout->heads;
  int shares = data->role == LARC_ROLE_OPERAND;
  if (tensor->heads < 0 || (tensor->heads == 0 && shape->heads != 0) ||
      (tensor->heads != shape->heads &&
       (!shares || shape->heads % tensor->heads != 0)))
    return larc_fail(
        LARC_INVALID, "tensor '%s' has %lld heads, expected %s%lld", data->name,
        (long long)tensor->heads, shares ? "a number that divides " : "",
        (long long)shape->heads);
  tensor->group = tensor->heads ? (int32_t)(shape->heads / tensor->heads) : 1;
  larc_status status = layOutDensely(shape, data, tensor);
  if (status != LARC_OK)
    return status;
  if (layout && layout->strided) {
    tensor->head = layout->head;
    if (isTokenTensor(data))
      tensor->row = layout->token;
    if (data->role != LARC_ROLE_CONSTANT)
      tensor->sequence = layout->sequence;
  }
  if (isTokenTensor(data) && shape->packed)
    tensor->sequence = 0;
  if (shape->target == LARC_CPU)
    return LARC_OK;
  // A single sequence may have its states in any slot.
  status = checkStride(data, "sequences", tensor->sequence,
                       isState(data) ? 2 : shape->sequences);
  if (status == LARC_OK && isTokenTensor(data))
    status = checkStride(data, "tokens", tensor->row, shape->tokens);
  if (status == LARC_OK)
    status = checkStride(data, "heads", tensor->head, tensor->heads);
  return status;
}

static size_t alignTo(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

larc_status larc_reserve_discarded(larc_plan *plan, size_t *bytes) {
  if (!plan->shape.discard_finals)
    return LARC_OK;
  const larc_data *data = &larc_library_data;
  for (uint32_t i = 0; i < data->num_tensors; ++i) {
    const larc_data_tensor *tensor = &data->tensors[i];
    if (tensor->role != LARC_ROLE_FINAL &&
        tensor->role != LARC_ROLE_FINAL_ANCHOR)
      continue;
    size_t size;
    if (__builtin_mul_overflow((size_t)tensor->elements * tensor->element_bytes,
                               (size_t)plan->shape.heads, &size) ||
        __builtin_add_overflow(*bytes, size, &size) || size > INT64_MAX / 2)
      return larc_fail(LARC_TOO_LARGE, "the workspace has too many bytes");
    plan->tensors[i].discard = *bytes;
    *bytes = alignTo(size, 256);
  }
  return LARC_OK;
}

//===----------------------------------------------------------------------===//
// The functions of a library
//===----------------------------------------------------------------------===//

larc_status larc_rt_load(larc_target target) {
  if (target == LARC_CUDA)
    return larc_cuda_load();
  if (target == LARC_CPU)
    return larc_cpu_load();
  return larc_fail(LARC_INVALID, "unknown target %d", (int)target);
}

larc_status larc_rt_unload(larc_target target) {
  if (target == LARC_CUDA)
    return larc_cuda_unload();
  if (target == LARC_CPU)
    return LARC_OK;
  return larc_fail(LARC_INVALID, "unknown target %d", (int)target);
}

void larc_rt_release(larc_plan *plan) {
  if (!plan)
    return;
  free(plan->tensors);
  free(plan->launches);
  free(plan->words);
  free(plan->maps);
  free(plan->begins);
  free(plan);
}

static larc_status fillPlan(larc_plan *plan, const larc_layout *layouts) {
  const larc_data *data = &larc_library_data;
  plan->tensors = calloc(data->num_tensors + 1, sizeof(larc_plan_tensor));
  if (!plan->tensors)
    return larc_fail(LARC_OUT_OF_MEMORY, "no memory for a plan");
  for (uint32_t i = 0; i < data->num_tensors; ++i) {
    larc_status status = layOut(&plan->shape, layouts ? &layouts[i] : NULL,
                                &data->tensors[i], &plan->tensors[i]);
    if (status != LARC_OK)
      return status;
  }
  if (plan->shape.target == LARC_CUDA)
    return larc_cuda_plan(plan);
  return larc_cpu_plan(plan);
}

larc_status larc_rt_plan(const larc_shape *shape, const larc_layout *layouts,
                         larc_plan **result) {
  if (!shape || !result)
    return larc_fail(LARC_INVALID, "expected a shape and a place for the plan");
  *result = NULL;
  larc_status status = checkShape(shape);
  if (status != LARC_OK)
    return status;
  larc_plan *plan = calloc(1, sizeof(larc_plan));
  if (!plan)
    return larc_fail(LARC_OUT_OF_MEMORY, "no memory for a plan");
  plan->shape = *shape;
  status = fillPlan(plan, layouts);
  if (status == LARC_OK)
    *result = plan;
  else
    larc_rt_release(plan);
  return status;
}

size_t larc_rt_workspace(const larc_plan *plan) {
  return plan ? plan->info.workspace_bytes : 0;
}

void larc_rt_describe(const larc_plan *plan, larc_plan_info *info) {
  if (plan && info)
    *info = plan->info;
}

/// Whether a tensor may be left out of this plan's runs.
static int isOptional(const larc_plan *plan, const larc_data_tensor *data) {
  if (data->role == LARC_ROLE_FINAL || data->role == LARC_ROLE_FINAL_ANCHOR)
    return plan->shape.discard_finals != 0;
  return !data->required;
}

static larc_status checkRun(const larc_plan *plan, const void *const *tensors,
                            const larc_lists *lists, const void *workspace) {
  if (!plan || !tensors)
    return larc_fail(LARC_INVALID, "expected a plan and tensors");
  const larc_data *data = &larc_library_data;
  // Nothing is read or written of a call without sequences or heads.
  int isEmpty = plan->shape.sequences == 0 || plan->shape.heads == 0;
  for (uint32_t i = 0; i < data->num_tensors && !isEmpty; ++i) {
    const larc_data_tensor *tensor = &data->tensors[i];
    if (!tensors[i]) {
      int isEmptyTensor = isTokenTensor(tensor) && plan->shape.tokens == 0;
      if (!isEmptyTensor && !isOptional(plan, tensor))
        return larc_fail(LARC_INVALID, "tensor '%s' is null", tensor->name);
      continue;
    }
    uint32_t unit = plan->shape.target == LARC_CUDA ? tensor->alignment
                                                    : tensor->element_bytes;
    if ((uintptr_t)tensors[i] % unit != 0)
      return larc_fail(LARC_INVALID,
                       "tensor '%s' does not lie at a multiple of %u bytes",
                       tensor->name, unit);
  }
  int hasOffsets = lists && lists->offsets;
  if (!isEmpty && hasOffsets != (plan->shape.packed != 0))
    return larc_fail(LARC_INVALID,
                     plan->shape.packed
                         ? "the plan is for packed sequences: expected offsets"
                         : "the plan is not for packed sequences: expected no "
                           "offsets");
  if (plan->info.workspace_bytes != 0 &&
      (!workspace || (uintptr_t)workspace % 256 != 0))
    return larc_fail(LARC_INVALID,
                     "expected a workspace of %zu bytes at a multiple of 256",
                     plan->info.workspace_bytes);
  return LARC_OK;
}

larc_status larc_rt_run(const larc_plan *plan, const void *const *tensors,
                        const larc_lists *lists, void *workspace,
                        void *stream) {
  static const larc_lists none;
  larc_status status = checkRun(plan, tensors, lists, workspace);
  if (status != LARC_OK)
    return status;
  if (plan->shape.sequences == 0 || plan->shape.heads == 0)
    return LARC_OK;
  if (!lists)
    lists = &none;
  if (plan->shape.target == LARC_CUDA)
    return larc_cuda_run(plan, tensors, lists, workspace, stream);
  return larc_cpu_run(plan, tensors, lists, workspace);
}

const larc_library *larc_library_functions(void) { return &larc_library_table; }
