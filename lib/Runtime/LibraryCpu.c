//===- LibraryCpu.c - Compiled libraries on CPUs -*- C -*- ----------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LibraryRuntime.h"

#include <pthread.h>
#include <stdlib.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

//===----------------------------------------------------------------------===//
// The machine
//===----------------------------------------------------------------------===//

/// What the CPU has of `larc_data_cpu_levels`, and the system saves.
static uint32_t getLevels(void) {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d))
    return 0;
  const unsigned fma = 1u << 12, osxsave = 1u << 27, avx = 1u << 28;
  if ((c & (fma | osxsave | avx)) != (fma | osxsave | avx))
    return 0;
  unsigned saved = 0, high = 0;
  __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
    return 0;
  const unsigned avx2 = 1u << 5, f = 1u << 16, dq = 1u << 17, cd = 1u << 28,
                 bw = 1u << 30, vl = 1u << 31;
  uint32_t levels = 0;
  if ((saved & 0x6) == 0x6 && (b & avx2))
    levels |= LARC_CPU_AVX2;
  if ((saved & 0xe6) == 0xe6 &&
      (b & (f | dq | cd | bw | vl)) == (f | dq | cd | bw | vl))
    levels |= LARC_CPU_AVX512;
  return levels;
#else
  return ~(uint32_t)0;
#endif
}

larc_status larc_cpu_load(void) {
  const larc_data *data = &larc_library_data;
  if (data->num_cpu == 0)
    return larc_fail(LARC_UNSUPPORTED, "the library has no code for CPUs");
  uint32_t missing = data->cpu_levels & ~getLevels();
  if (missing)
    return larc_fail(LARC_UNSUPPORTED, "the library's code needs a CPU with %s",
                     missing & LARC_CPU_AVX512 ? "AVX-512" : "AVX2 and FMA");
  return LARC_OK;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

static size_t alignTo(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/// Where a run has what it needs of the workspace: scratch memory of each
/// thread, then lengths of packed sequences, then final states that are not
/// wanted.
static size_t getLengthsPlace(const larc_plan *plan) {
  return alignTo(plan->scratch_bytes * (size_t)plan->shape.threads, 256);
}

larc_status larc_cpu_plan(larc_plan *plan) {
  const larc_data *data = &larc_library_data;
  larc_shape *shape = &plan->shape;
  larc_status status = larc_cpu_load();
  if (status != LARC_OK)
    return status;
  int64_t tokens = larc_mean_tokens(shape);
  for (uint32_t i = 0; i < data->num_cpu; ++i) {
    const larc_data_cpu_form *form = &data->cpu[i];
    if (shape->form == LARC_FORM_AUTO ? (i == 0 || tokens >= form->least_tokens)
                                      : form->form == (uint32_t)shape->form)
      plan->cpu = form;
  }
  if (!plan->cpu)
    return larc_fail(LARC_UNSUPPORTED, "the library has no form '%s' for CPUs",
                     larc_form_name(shape->form));
  if (__builtin_mul_overflow(shape->sequences, shape->heads,
                             &plan->info.blocks) ||
      __builtin_mul_overflow(plan->info.blocks, *plan->cpu->blocks,
                             &plan->info.blocks))
    return larc_fail(LARC_TOO_LARGE, "too many sequences and heads");
  plan->info.form = (larc_form)plan->cpu->form;
  plan->info.chunk_size = plan->cpu->chunk_size;
  plan->info.segments = 1;
  if (shape->threads == 0)
    shape->threads = 1;
  if (shape->threads > plan->info.blocks)
    shape->threads = plan->info.blocks > 0 ? (int32_t)plan->info.blocks : 1;
  plan->scratch_bytes = alignTo((size_t)*plan->cpu->scratch_bytes, 64);
  size_t bytes = getLengthsPlace(plan);
  if (shape->packed)
    bytes = alignTo(bytes + (size_t)shape->sequences * sizeof(int64_t), 256);
  status = larc_reserve_discarded(plan, &bytes);
  plan->info.workspace_bytes = bytes;
  // What sequences have in common if no list says otherwise.
  size_t count = (size_t)shape->sequences;
  plan->begins = calloc(count * 2 + 1, sizeof(int64_t));
  if (!plan->begins)
    return larc_fail(LARC_OUT_OF_MEMORY, "no memory for a plan");
  plan->zeros = plan->begins;
  plan->lengths = plan->begins + count;
  for (size_t i = 0; i < count; ++i)
    plan->lengths[i] = shape->tokens;
  return status;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

enum { maxTensors = 256 };

/// What the threads of a run share.
typedef struct larc_cpu_work {
  const larc_plan *plan;
  larc_call call;
  const int32_t *slots;
  char *workspace;
  int64_t next;   ///< task that nobody has taken yet
  int32_t thread; ///< that nobody is yet
} larc_cpu_work;

/// Runs a task of a sequence whose states are in a slot.
static void runInSlot(const larc_cpu_work *run, int64_t task, void *scratch) {
  const larc_data *data = &larc_library_data;
  int64_t tasks = run->call.heads * *run->plan->cpu->blocks;
  int64_t sequence = task / tasks;
  int64_t slot = run->slots[sequence];
  if (slot < 0)
    return;
  larc_tensor tensors[maxTensors];
  larc_call call = run->call;
  for (uint32_t i = 0; i < data->num_tensors; ++i) {
    tensors[i] = run->call.tensors[i];
    if (!tensors[i].data)
      continue;
    int64_t place =
        data->tensors[i].role >= LARC_ROLE_INITIAL ? slot : sequence;
    tensors[i].data =
        (char *)tensors[i].data + place * tensors[i].stride_sequence *
                                      (int64_t)data->tensors[i].element_bytes;
  }
  call.sequences = 1;
  call.tensors = tensors;
  call.begins += sequence;
  call.lengths += sequence;
  call.positions += sequence;
  task -= sequence * tasks;
  run->plan->cpu->entry(&call, task, task + 1, scratch);
}

static void *work(void *argument) {
  larc_cpu_work *run = argument;
  int32_t thread = __atomic_fetch_add(&run->thread, 1, __ATOMIC_RELAXED);
  void *scratch = run->workspace + run->plan->scratch_bytes * (size_t)thread;
  for (;;) {
    int64_t task = __atomic_fetch_add(&run->next, 1, __ATOMIC_RELAXED);
    if (task >= run->plan->info.blocks)
      return NULL;
    if (run->slots)
      runInSlot(run, task, scratch);
    else
      run->plan->cpu->entry(&run->call, task, task + 1, scratch);
  }
}

static larc_status setSequences(const larc_plan *plan, const larc_lists *lists,
                                char *workspace, larc_call *call) {
  call->begins = plan->begins;
  call->lengths = plan->lengths;
  call->positions = lists->positions ? lists->positions : plan->zeros;
  if (!plan->shape.packed)
    return LARC_OK;
  const int64_t *offsets = lists->offsets;
  int64_t *lengths = (int64_t *)(void *)(workspace + getLengthsPlace(plan));
  for (int64_t i = 0; i < plan->shape.sequences; ++i)
    lengths[i] = offsets[i + 1] - offsets[i];
  int isOrdered =
      offsets[0] == 0 && offsets[plan->shape.sequences] == plan->shape.tokens;
  for (int64_t i = 0; i < plan->shape.sequences; ++i)
    isOrdered &= lengths[i] >= 0;
  if (!isOrdered)
    return larc_fail(LARC_INVALID,
                     "expected offsets from 0 to %lld that do not decrease",
                     (long long)plan->shape.tokens);
  call->begins = offsets;
  call->lengths = lengths;
  return LARC_OK;
}

larc_status larc_cpu_run(const larc_plan *plan, const void *const *tensors,
                         const larc_lists *lists, void *workspace) {
  const larc_data *data = &larc_library_data;
  larc_tensor bound[maxTensors];
  for (uint32_t i = 0; i < data->num_tensors; ++i) {
    const larc_plan_tensor *layout = &plan->tensors[i];
    larc_tensor tensor = {(void *)(uintptr_t)tensors[i], layout->sequence,
                          layout->row, layout->head, layout->heads};
    uint32_t role = data->tensors[i].role;
    if (!tensors[i] &&
        (role == LARC_ROLE_FINAL || role == LARC_ROLE_FINAL_ANCHOR)) {
      tensor.data = (char *)workspace + layout->discard;
      tensor.stride_sequence = 0;
      tensor.stride_head = data->tensors[i].elements;
    }
    bound[i] = tensor;
  }
  larc_cpu_work run = {
      .plan = plan, .slots = lists->slots, .workspace = workspace};
  run.call.sequences = plan->shape.sequences;
  run.call.heads = plan->shape.heads;
  run.call.tensors = bound;
  larc_status status = setSequences(plan, lists, workspace, &run.call);
  if (status != LARC_OK)
    return status;
  pthread_t threads[256];
  int32_t others = plan->shape.threads - 1, started = 0;
  if (others > 256)
    others = 256;
  // Fewer threads than wished for do the same work.
  while (started < others &&
         pthread_create(&threads[started], NULL, work, &run) == 0)
    ++started;
  work(&run);
  for (int32_t i = 0; i < started; ++i)
    pthread_join(threads[i], NULL);
  return LARC_OK;
}
