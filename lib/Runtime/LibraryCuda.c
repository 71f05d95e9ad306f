//===- LibraryCuda.c - Compiled libraries on NVIDIA GPUs -*- C -*- --------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LibraryRuntime.h"

#include "larc/Runtime/Segments.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// The driver
//===----------------------------------------------------------------------===//

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static larc_cuda_api api;
static int isReady;
/// The driver's version, 12030 for 12.3.
static int version;

static larc_status check(larc_cu_result result, const char *doing,
                         const char *name) {
  if (!result)
    return LARC_OK;
  const char *code = NULL, *reason = NULL;
  api.getErrorName(result, &code);
  api.getErrorString(result, &reason);
  return larc_fail(LARC_DEVICE_FAILED, "cannot %s%s%s%s: %s (%s %d)", doing,
                   name ? " '" : "", name ? name : "", name ? "'" : "",
                   reason ? reason : "unknown error", code ? code : "error",
                   (int)result);
}

/// Where a kernel's parameter lies in the buffer of all. Drivers before CUDA
/// 12.4 do not have it.
static larc_cu_result (*getParamInfo)(larc_cu_function, size_t index,
                                      size_t *offset, size_t *bytes);

/// Loads the driver once. Needs the lock.
static larc_status loadDriver(void) {
  if (isReady)
    return LARC_OK;
  // The driver has threads of its own: it is never unloaded.
  void *handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return larc_fail(LARC_NO_DEVICE,
                     "no CUDA driver: libcuda.so.1 was not found");
#define LARC_LOAD(member, symbol, parameters)                                  \
  *(void **)(&api.member) = dlsym(handle, symbol);                             \
  if (!api.member)                                                             \
    return larc_fail(LARC_NO_DEVICE,                                           \
                     "the CUDA driver is too old: it has no " symbol);
  LARC_CUDA_FUNCTIONS(LARC_LOAD)
#undef LARC_LOAD
  *(void **)(&getParamInfo) = dlsym(handle, "cuFuncGetParamInfo");
  larc_cu_result result = api.init(0);
  if (result == LARC_CU_ERROR_NO_DEVICE)
    return larc_fail(LARC_NO_DEVICE, "the CUDA driver finds no GPU");
  larc_status status = check(result, "start the CUDA driver", NULL);
  if (status == LARC_OK)
    status = check(api.driverGetVersion(&version),
                   "ask for the driver's version", NULL);
  isReady = status == LARC_OK;
  return status;
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

/// What the library has in one context of the driver.
typedef struct larc_loaded_context {
  struct larc_loaded_context *next;
  unsigned long long id; ///< no later context has it again
  const larc_data_cuda *code;
  int multiprocessors;
  larc_cu_pointer rows;
  larc_cu_module *modules;      ///< of each form; null: not loaded yet
  larc_cu_function **functions; ///< of each form, for each launch
} larc_loaded_context;

static larc_loaded_context *contexts;

/// The code for a GPU: that of the highest capability it can run.
static larc_status findCode(larc_cu_device device,
                            const larc_data_cuda **result) {
  int major = 0, minor = 0;
  larc_status status =
      check(api.deviceGetAttribute(&major, LARC_CU_CAPABILITY_MAJOR, device),
            "ask for the GPU's kind", NULL);
  if (status == LARC_OK)
    status =
        check(api.deviceGetAttribute(&minor, LARC_CU_CAPABILITY_MINOR, device),
              "ask for the GPU's kind", NULL);
  if (status != LARC_OK)
    return status;
  const larc_data *data = &larc_library_data;
  *result = NULL;
  for (uint32_t i = 0; i < data->num_cuda; ++i) {
    const larc_data_cuda *code = &data->cuda[i];
    int fits = (int)code->major == major && (int)code->minor <= minor &&
               (!code->exact || (int)code->minor == minor);
    if (fits && (!*result || code->minor > (*result)->minor))
      *result = code;
  }
  if (!*result)
    return larc_fail(LARC_UNSUPPORTED,
                     "the library has no code for GPUs of compute capability "
                     "%d.%d",
                     major, minor);
  return LARC_OK;
}

static void freeContext(larc_loaded_context *context) {
  if (context->rows)
    api.memFree(context->rows);
  for (uint32_t i = 0; i < context->code->num_forms; ++i) {
    if (context->modules && context->modules[i])
      api.moduleUnload(context->modules[i]);
    if (context->functions)
      free(context->functions[i]);
  }
  free(context->modules);
  free(context->functions);
  free(context);
}

/// Prepares a context that was not seen before.
static larc_status enterContext(unsigned long long id,
                                larc_loaded_context **result) {
  const larc_data *data = &larc_library_data;
  larc_cu_device device = 0;
  const larc_data_cuda *code = NULL;
  larc_status status =
      check(api.contextGetDevice(&device), "ask for the GPU", NULL);
  if (status == LARC_OK)
    status = findCode(device, &code);
  if (status != LARC_OK)
    return status;
  larc_loaded_context *context = calloc(1, sizeof(larc_loaded_context));
  if (!context)
    return larc_fail(LARC_OUT_OF_MEMORY, "no memory for a context");
  context->id = id;
  context->code = code;
  context->modules = calloc(code->num_forms, sizeof(larc_cu_module));
  context->functions = calloc(code->num_forms, sizeof(larc_cu_function *));
  if (!context->modules || !context->functions)
    status = larc_fail(LARC_OUT_OF_MEMORY, "no memory for a context");
  if (status == LARC_OK)
    status = check(api.deviceGetAttribute(&context->multiprocessors,
                                          LARC_CU_MULTIPROCESSOR_COUNT, device),
                   "ask for the GPU's size", NULL);
  if (status == LARC_OK && data->rows_bytes > 0) {
    status = check(api.memAlloc(&context->rows, (size_t)data->rows_bytes),
                   "allocate memory of the GPU", NULL);
    if (status == LARC_OK)
      status = check(api.memcpyToDeviceNow(context->rows, data->rows,
                                           (size_t)data->rows_bytes),
                     "copy to the GPU", NULL);
  }
  if (status != LARC_OK) {
    freeContext(context);
    return status;
  }
  context->next = contexts;
  contexts = context;
  *result = context;
  return LARC_OK;
}

/// The current context's id. Needs the lock, as does what follows.
static larc_status getCurrent(unsigned long long *id) {
  larc_status status = loadDriver();
  if (status != LARC_OK)
    return status;
  larc_cu_context current = NULL;
  status = check(api.contextGetCurrent(&current), "ask for the context", NULL);
  if (status != LARC_OK)
    return status;
  if (!current)
    return larc_fail(LARC_NO_DEVICE,
                     "no CUDA context is current in this thread: choose a GPU "
                     "first");
  return check(api.contextGetId(current, id), "ask for the context", NULL);
}

static larc_status getContext(larc_loaded_context **context) {
  unsigned long long id = 0;
  larc_status status = getCurrent(&id);
  if (status != LARC_OK)
    return status;
  for (*context = contexts; *context; *context = (*context)->next)
    if ((*context)->id == id)
      return LARC_OK;
  return enterContext(id, context);
}

/// Loads the kernels of a form.
static larc_status loadForm(larc_loaded_context *context, uint32_t index) {
  if (context->functions[index])
    return LARC_OK;
  const larc_data_cuda_form *form = &context->code->forms[index];
  larc_cu_module module = NULL;
  larc_status status =
      check(api.moduleLoadData(&module, form->image),
            "load the kernels of form", larc_form_name((larc_form)form->form));
  if (status != LARC_OK)
    return status;
  larc_cu_function *functions =
      calloc(form->num_launches, sizeof(larc_cu_function));
  if (!functions)
    status = larc_fail(LARC_OUT_OF_MEMORY, "no memory for kernels");
  for (uint32_t i = 0; i < form->num_launches && status == LARC_OK; ++i) {
    const larc_data_launch *launch = &form->launches[i];
    status = check(api.moduleGetFunction(&functions[i], module, launch->kernel),
                   "find the kernel", launch->kernel);
    if (status == LARC_OK && launch->shared_bytes > 0)
      status = check(api.funcSetAttribute(functions[i],
                                          LARC_CU_FUNC_MAX_DYNAMIC_SHARED,
                                          (int)launch->shared_bytes),
                     "get shared memory for the kernel", launch->kernel);
  }
  if (status != LARC_OK) {
    free(functions);
    api.moduleUnload(module);
    return status;
  }
  context->modules[index] = module;
  context->functions[index] = functions;
  return LARC_OK;
}

larc_status larc_cuda_load(void) {
  larc_loaded_context *context = NULL;
  pthread_mutex_lock(&lock);
  larc_status status = getContext(&context);
  for (uint32_t i = 0; status == LARC_OK && i < context->code->num_forms; ++i)
    status = loadForm(context, i);
  pthread_mutex_unlock(&lock);
  return status;
}

larc_status larc_cuda_unload(void) {
  unsigned long long id = 0;
  pthread_mutex_lock(&lock);
  larc_status status = getCurrent(&id);
  for (larc_loaded_context **link = &contexts; status == LARC_OK && *link;) {
    larc_loaded_context *context = *link;
    if (context->id != id) {
      link = &context->next;
      continue;
    }
    *link = context->next;
    freeContext(context);
  }
  pthread_mutex_unlock(&lock);
  return status;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

static larc_status chooseForm(const larc_loaded_context *context,
                              const larc_plan *plan, uint32_t *index) {
  const larc_shape *shape = &plan->shape;
  const larc_data_cuda *code = context->code;
  int64_t tokens = larc_mean_tokens(shape);
  const larc_data_cuda_form *refused = NULL;
  int isFound = 0;
  for (uint32_t i = 0; i < code->num_forms; ++i) {
    const larc_data_cuda_form *form = &code->forms[i];
    int isMeant = shape->form == LARC_FORM_AUTO
                      ? (i == 0 || tokens >= form->least_tokens)
                      : form->form == (uint32_t)shape->form;
    if (!isMeant)
      continue;
    if ((form->num_maps > 0 && !getParamInfo) ||
        !larc_can_map(&api, plan, form, /*told=*/0)) {
      refused = form;
      continue;
    }
    *index = i;
    isFound = 1;
  }
  if (!isFound && refused && !getParamInfo)
    return larc_fail(LARC_UNSUPPORTED,
                     "the CUDA driver is too old for kernels with tensor maps: "
                     "it has no cuFuncGetParamInfo");
  if (!isFound && refused) {
    larc_can_map(&api, plan, refused, /*told=*/1);
    return LARC_UNSUPPORTED;
  }
  if (!isFound)
    return larc_fail(LARC_UNSUPPORTED,
                     "the library has no form '%s' for this GPU",
                     larc_form_name(shape->form));
  return LARC_OK;
}

/// Blocks of a kernel, or 0 if there are too many.
static uint32_t countBlocks(const larc_shape *shape,
                            const larc_data_launch *launch, int64_t segments) {
  int64_t blocks;
  if (__builtin_mul_overflow(shape->sequences, shape->heads, &blocks) ||
      __builtin_mul_overflow(blocks, (int64_t)launch->parts, &blocks) ||
      (launch->segmented &&
       __builtin_mul_overflow(blocks, segments, &blocks)) ||
      blocks > INT32_MAX)
    return 0;
  return (uint32_t)blocks;
}

/// Segments that give every multiprocessor work, if sequences are long enough.
/// Lengths of packed ones are only known on the GPU.
static int64_t chooseSegments(const larc_loaded_context *context,
                              const larc_data_cuda_form *form,
                              const larc_shape *shape) {
  if (form->least_segment_tokens <= 0)
    return 1;
  uint32_t blocks =
      countBlocks(shape, &form->launches[form->num_launches - 1], 1);
  if (blocks == 0)
    return 1;
  return larc_choose_segments(blocks, larc_mean_tokens(shape),
                              context->multiprocessors * form->blocks_per_sm,
                              form->least_segment_tokens, shape->segments);
}

static larc_status planWorkspace(larc_plan *plan,
                                 const larc_data_cuda_form *form) {
  int64_t bytes = 0;
  // Whole sequences have no records.
  if (plan->info.segments > 1 &&
      (__builtin_mul_overflow(plan->shape.sequences, plan->shape.heads,
                              &bytes) ||
       __builtin_mul_overflow(bytes, plan->info.segments, &bytes) ||
       __builtin_mul_overflow(bytes, form->segment_bytes, &bytes) ||
       bytes > INT64_MAX / 2))
    return larc_fail(LARC_TOO_LARGE, "the workspace has too many bytes");
  size_t all = ((size_t)bytes + 255) / 256 * 256;
  larc_status status = larc_reserve_discarded(plan, &all);
  plan->info.workspace_bytes = all;
  return status;
}

/// Whether kernels of a run that wait for each other themselves may overlap, in
/// graphs too.
static int canOverlap(const larc_loaded_context *context) {
  return context->code->major >= 9 && version >= 12030;
}

/// Finds where a kernel's tensor maps lie: at a multiple of 64 bytes of the
/// memory for parameters, whose start is none.
static larc_status findMaps(larc_plan_launch *launch) {
  size_t bytes = 0;
  for (size_t i = 0; bytes != sizeof(larc_cu_tensor_map); ++i) {
    larc_cu_result error =
        getParamInfo(launch->function, i, &launch->maps_offset, &bytes);
    if (error)
      return check(error, "find the tensor maps of the kernel",
                   launch->data->kernel);
  }
  return LARC_OK;
}

static larc_status planLaunches(larc_plan *plan,
                                const larc_loaded_context *context,
                                uint32_t index) {
  const larc_data_cuda_form *form = &context->code->forms[index];
  plan->launches = calloc(form->num_launches, sizeof(larc_plan_launch));
  if (!plan->launches)
    return larc_fail(LARC_OUT_OF_MEMORY, "no memory for a plan");
  for (uint32_t i = 0; i < form->num_launches; ++i) {
    const larc_data_launch *data = &form->launches[i];
    if (data->only_if_cut && plan->info.segments == 1)
      continue;
    larc_plan_launch *launch = &plan->launches[plan->info.launches++];
    launch->overlaps =
        plan->info.launches > 1 && data->segmented && canOverlap(context);
    launch->function = context->functions[index][i];
    launch->data = data;
    larc_status status = form->num_maps > 0 ? findMaps(launch) : LARC_OK;
    if (status != LARC_OK)
      return status;
    launch->blocks = countBlocks(&plan->shape, data, plan->info.segments);
    if (launch->blocks == 0 && plan->shape.sequences && plan->shape.heads)
      return larc_fail(LARC_TOO_LARGE,
                       "%lld sequences of %lld heads are more than the %d "
                       "thread blocks of a launch",
                       (long long)plan->shape.sequences,
                       (long long)plan->shape.heads, INT32_MAX);
    plan->info.blocks = launch->blocks;
  }
  return LARC_OK;
}

/// A kernel's parameters as the driver lays them out, in words of 8 bytes: what
/// all kernels have, then a tensor after the other. A segmented kernel has the
/// segments in the second half of the last word, which numbers of 4 bytes leave
/// free, and the workspace in one more. Tensor maps come last, with less than
/// 64 bytes in between.
enum {
  maxTensors = 256,
  wordOffsets = 0,
  wordSlots,
  wordPositions,
  wordTokens,
  wordHeads,
  commonWords,
  wordPointer = 0, // of a tensor
  wordSequence,
  wordRow,
  wordHead,
  wordGroup,
  tensorWords,
  maxWords = commonWords + maxTensors * tensorWords + 1,
  mapWords = sizeof(larc_cu_tensor_map) / sizeof(uint64_t),
  mapUnit = 64 // bytes
};

static uint64_t *getTensorWords(uint64_t *words, uint32_t index) {
  return words + commonWords + (size_t)index * tensorWords;
}

/// Writes the parameters that all runs have in common.
static larc_status planParameters(larc_plan *plan) {
  uint32_t count = larc_library_data.num_tensors;
  plan->words =
      calloc(commonWords + (size_t)count * tensorWords + 1, sizeof(uint64_t));
  if (!plan->words)
    return larc_fail(LARC_OUT_OF_MEMORY, "no memory for a plan");
  plan->words[wordTokens] = (uint64_t)plan->shape.tokens;
  plan->words[wordHeads] = (uint64_t)plan->shape.heads;
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t *words = getTensorWords(plan->words, i);
    const larc_plan_tensor *tensor = &plan->tensors[i];
    words[wordSequence] = (uint64_t)tensor->sequence;
    words[wordRow] = (uint64_t)tensor->row;
    words[wordHead] = (uint64_t)tensor->head;
    words[wordGroup] = (uint64_t)tensor->group;
  }
  // The last number of 4 bytes is a group, or the heads.
  plan->words[commonWords + (size_t)count * tensorWords - 1] |=
      (uint64_t)plan->info.segments << 32;
  return LARC_OK;
}

larc_status larc_cuda_plan(larc_plan *plan) {
  larc_loaded_context *context = NULL;
  uint32_t index = 0;
  pthread_mutex_lock(&lock);
  larc_status status = getContext(&context);
  if (status == LARC_OK)
    status = chooseForm(context, plan, &index);
  if (status == LARC_OK)
    status = loadForm(context, index);
  pthread_mutex_unlock(&lock);
  if (status != LARC_OK)
    return status;
  const larc_data_cuda_form *form = &context->code->forms[index];
  plan->rows = context->rows;
  plan->info.form = (larc_form)form->form;
  plan->info.chunk_size = form->chunk_size;
  plan->info.segments = chooseSegments(context, form, &plan->shape);
  status = planWorkspace(plan, form);
  if (status == LARC_OK)
    status = planLaunches(plan, context, index);
  if (status == LARC_OK)
    status = larc_plan_maps(plan, form);
  if (status == LARC_OK)
    status = planParameters(plan);
  return status;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// Sets the memory that stands for a tensor.
static void bindTensor(const larc_plan *plan, uint32_t index, const void *given,
                       const char *workspace, uint64_t *words) {
  const larc_data_tensor *data = &larc_library_data.tensors[index];
  words[wordPointer] = (uint64_t)(uintptr_t)given;
  if (given)
    return;
  switch (data->role) {
  case LARC_ROLE_INITIAL:
  case LARC_ROLE_INITIAL_ANCHOR:
    // One row stands for all of the state.
    words[wordPointer] = plan->rows + (larc_cu_pointer)data->initial;
    words[wordSequence] = words[wordRow] = words[wordHead] = 0;
    break;
  case LARC_ROLE_FINAL:
  case LARC_ROLE_FINAL_ANCHOR:
    words[wordPointer] =
        (uint64_t)(uintptr_t)(workspace + plan->tensors[index].discard);
    words[wordSequence] = 0;
    words[wordRow] = (uint64_t)data->row;
    words[wordHead] = (uint64_t)data->elements;
    break;
  default:
    break;
  }
}

static larc_status launch(const larc_plan_launch *launch, uint64_t *words,
                          size_t bytes, void *stream) {
  // The first three of the driver's interface.
  void *const end = NULL, *const buffer = (void *)1, *const size = (void *)2;
  void *extra[] = {buffer, words, size, &bytes, end};
  larc_cu_launch_config config = {0};
  config.gridX = launch->blocks;
  config.gridY = config.gridZ = 1;
  config.blockX = launch->data->threads;
  config.blockY = config.blockZ = 1;
  config.sharedBytes = launch->data->shared_bytes;
  config.stream = stream;
  larc_cu_launch_attribute overlap = {LARC_CU_LAUNCH_PROGRAMMATIC, 0, {{0}}};
  overlap.value.programmatic = 1;
  config.attributes = &overlap;
  config.attributeCount = launch->overlaps ? 1 : 0;
  larc_cu_result result =
      api.launchKernelEx(&config, launch->function, NULL, extra);
  return result ? check(result, "launch the kernel", launch->data->kernel)
                : LARC_OK;
}

larc_status larc_cuda_run(const larc_plan *plan, const void *const *tensors,
                          const larc_lists *lists, void *workspace,
                          void *stream) {
  uint64_t words[maxWords + mapUnit / sizeof(uint64_t) +
                 (size_t)2 * LARC_MOST_MAPS * mapWords];
  larc_cu_tensor_map maps[2 * LARC_MOST_MAPS];
  uint32_t count = larc_library_data.num_tensors;
  size_t numWords = commonWords + (size_t)count * tensorWords;
  memcpy(words, plan->words, numWords * sizeof(uint64_t));
  words[wordOffsets] = (uint64_t)(uintptr_t)lists->offsets;
  words[wordSlots] = (uint64_t)(uintptr_t)lists->slots;
  words[wordPositions] = (uint64_t)(uintptr_t)lists->positions;
  for (uint32_t i = 0; i < count; ++i)
    bindTensor(plan, i, tensors[i], workspace, getTensorWords(words, i));
  words[numWords] = (uint64_t)(uintptr_t)workspace;
  const char *failed = NULL;
  larc_cu_result error = larc_encode_maps(&api, plan, tensors, maps, &failed);
  if (error)
    return check(error, "make a tensor map of", failed);
  for (int64_t i = 0; i < plan->info.launches; ++i) {
    size_t bytes = plan->launches[i].data->segmented
                       ? (numWords + 1) * sizeof(uint64_t)
                       : numWords * sizeof(uint64_t) - sizeof(uint32_t);
    if (plan->num_maps > 0) {
      size_t size = 2 * (size_t)plan->num_maps * sizeof(larc_cu_tensor_map);
      bytes = plan->launches[i].maps_offset;
      memcpy((char *)words + bytes, maps, size);
      bytes += size;
    }
    larc_status status = launch(&plan->launches[i], words, bytes, stream);
    if (status != LARC_OK)
      return status;
  }
  return LARC_OK;
}
