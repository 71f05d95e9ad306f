//===- Library.h - C interface of compiled libraries -*- C -*- ------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What all libraries that larc compiles have in common. The header that belongs
// to a library contains this file and adds the library's own functions and
// tensors; docs/library.md explains their use.
//
// A plan is made once for the shape of a call, and run any number of times with
// the call's pointers:
//
//   larc_plan *plan;
//   status = larc_NAME_plan(&shape, NULL, &plan);
//   bytes = larc_NAME_workspace(plan);         // the caller's memory
//   status = larc_NAME_run(plan, &tensors, NULL, workspace, stream);
//   ...
//   larc_NAME_release(plan);
//
// Running a plan allocates nothing and, on a GPU, waits for nothing: it
// launches kernels on the caller's stream, and may be captured into a graph.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_RUNTIME_LIBRARY_H
#define LARC_RUNTIME_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Names as C has them.
// NOLINTBEGIN(readability-identifier-naming, modernize-use-using)

/// The version of everything below. Libraries of different versions may be in
/// one process, but not in one source file.
#define LARC_LIBRARY_VERSION 1

/// What a function returns. `larc_NAME_message` has more to say.
typedef enum larc_status {
  LARC_OK = 0,
  /// A null pointer, a negative size, a stride that vectors of memory do not
  /// allow.
  LARC_INVALID = 1,
  /// The library has no code for this target, form or machine.
  LARC_UNSUPPORTED = 2,
  /// There is no CUDA driver, it is too old, or the thread has no context.
  LARC_NO_DEVICE = 3,
  LARC_OUT_OF_MEMORY = 4,
  /// The CUDA driver refused something; the message has its reason.
  LARC_DEVICE_FAILED = 5,
  /// More sequences, heads or bytes than can be counted.
  LARC_TOO_LARGE = 6
} larc_status;

typedef enum larc_target {
  /// Pointers are of the host's memory, and the call returns when all is done.
  LARC_CPU = 1,
  /// Pointers are of the memory of the device whose context is current, and the
  /// call returns when the kernels are on the stream.
  LARC_CUDA = 2
} larc_target;

/// How results are computed.
typedef enum larc_form {
  LARC_FORM_AUTO = 0,      ///< one of the others, by the number of tokens
  LARC_FORM_RECURRENT = 1, ///< token by token
  LARC_FORM_CHUNK = 2      ///< in chunks of tokens, by products of matrices
} larc_form;

/// Where the elements of a tensor lie. Strides are in elements; the axes after
/// the head are dense. Rows of tokens and heads may overlap with those of other
/// tensors (views of a fused projection) and with each other (a stride of 0),
/// but not those of results.
typedef struct larc_layout {
  /// Heads of this tensor, a divisor of the call's, H: its head i is read by
  /// heads i * (H / heads) to (i + 1) * (H / heads) - 1. Outputs, constants and
  /// states have H. 0: H.
  int64_t heads;
  int64_t strided;  ///< 0: the tensor is dense, and no stride is looked at
  int64_t sequence; ///< from a sequence to the next; of states from a slot to
                    ///< the next; unused if sequences are packed, of constants
  int64_t token; ///< from a token to the next; unused of constants and states
  int64_t head;  ///< from a head to the next
} larc_layout;

/// The shape of a call. Fields that are zero have their defaults.
typedef struct larc_shape {
  larc_target target;
  larc_form form;
  int64_t sequences; ///< B; N if packed
  int64_t tokens;    ///< T, of each sequence; of all together if packed
  int64_t heads;     ///< H
  /// Sequences lie one after the other in one row of tokens, and a run is given
  /// their offsets.
  int32_t packed;
  /// Final states are not wanted: their pointers may be null.
  int32_t discard_finals;
  /// Of LARC_CPU: threads that a run may use; 0: the calling one.
  int32_t threads;
  /// Of LARC_CUDA: pieces that a sequence is cut into at most, where there are
  /// too few sequences and heads to fill the device; 0: the library's choice.
  int32_t segments;
} larc_shape;

/// Lists with an entry for each sequence, in the memory of the target. All may
/// be null.
typedef struct larc_lists {
  /// [sequences + 1] of packed sequences: the first token of each, and the
  /// number of all. The first is 0, and they do not decrease.
  const int64_t *offsets;
  /// [sequences] the slot in which a sequence has its states: initial and final
  /// states are then those of a pool. No two sequences have the same, but any
  /// number may have a negative one: nothing of theirs is read or written.
  const int32_t *slots;
  /// [sequences] tokens that each sequence had before, which recurrences with
  /// a period need to know; null: none.
  const int64_t *positions;
} larc_lists;

/// What was decided for a plan.
typedef struct larc_plan_info {
  larc_form form;
  int64_t chunk_size; ///< 0: there are no chunks
  int64_t segments;   ///< of each sequence
  int64_t launches;   ///< kernels of a run; 0 on a CPU
  int64_t blocks;     ///< thread blocks of the last one; on a CPU tasks
  size_t workspace_bytes;
} larc_plan_info;

/// A plan. It belongs to the caller, who releases it. It does not change: any
/// number of threads may run it at the same time, each with its own workspace.
/// One for LARC_CUDA belongs to the context that was current when it was made.
typedef struct larc_plan larc_plan;

/// The functions of a library, for programs that load it. Those that are linked
/// with it find the same as `larc_NAME_plan` and so on in the library's header.
typedef struct larc_library {
  uint32_t version; ///< LARC_LIBRARY_VERSION
  uint32_t tensors; ///< of a call
  /// Names, shapes, types and the recurrence itself, as JSON.
  const char *manifest;

  /// What was wrong when a function of this library last failed in this
  /// thread; empty if none did. Valid until the next call in the thread.
  const char *(*message)(void);

  /// Loads what runs need to the device whose context is current; of LARC_CPU
  /// looks whether the machine can run the code. Making a plan does the same.
  larc_status (*load)(larc_target target);

  /// Frees what was loaded to the device whose context is current. No plan of
  /// this context may be used any more, and no kernel be on a stream.
  larc_status (*unload)(larc_target target);

  /// Makes a plan for calls of a shape, at `*plan`. `layouts` has one for each
  /// tensor; null: all are dense, of shape [B, T, H, axes] (packed: [T, H,
  /// axes]), [H, axes] of constants, [B, H, axes] of states.
  larc_status (*plan)(const larc_shape *shape, const larc_layout *layouts,
                      larc_plan **plan);

  /// The bytes of memory that each run needs to have for itself, of the target,
  /// at a multiple of 256; 0: none. What is in it does not matter.
  size_t (*workspace)(const larc_plan *plan);

  void (*describe)(const larc_plan *plan, larc_plan_info *info);

  /// Runs a plan. `tensors` has a pointer for each tensor, null for an initial
  /// state or anchor that starts at its declared value. `lists` may be null.
  /// `stream` is a CUstream or cudaStream_t, null the default stream.
  larc_status (*run)(const larc_plan *plan, const void *const *tensors,
                     const larc_lists *lists, void *workspace, void *stream);

  /// Frees a plan, which no run uses any more; null is fine. Kernels that are
  /// still on a stream or in a graph do not need it.
  void (*release)(larc_plan *plan);
} larc_library;

/// Every library has a function of this type and of the name below, which is
/// looked up in the library itself (dlsym) and not linked with.
typedef const larc_library *(*larc_library_function)(void);
#define LARC_LIBRARY_FUNCTION "larc_library_functions"

// NOLINTEND(readability-identifier-naming, modernize-use-using)

#ifdef __cplusplus
}
#endif

#endif // LARC_RUNTIME_LIBRARY_H
