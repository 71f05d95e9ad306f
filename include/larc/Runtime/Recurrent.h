//===- Recurrent.h - C interface of compiled recurrences -*- C -*- --------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What `larc compile --emit=obj` emits for a recurrence NAME:
//
//   void larc_NAME(const larc_call *call, int64_t first, int64_t last,
//                  void *scratch);
//   extern const int64_t larc_NAME_scratch_bytes;  // scratch memory, a thread
//   extern const int64_t larc_NAME_blocks;         // tasks of one head
//
// A call has `sequences * heads * larc_NAME_blocks` tasks. The function runs
// tasks [first, last) in the calling thread; tasks are independent, so that
// several threads may run disjoint ranges with a scratch memory (64-byte
// aligned) each. It allocates nothing and calls nothing but functions of the C
// library on numbers and memory. docs/architecture.md has an example.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_RUNTIME_RECURRENT_H
#define LARC_RUNTIME_RECURRENT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Names as C has them.
// NOLINTBEGIN(readability-identifier-naming)

/// A tensor of a call. Strides are in elements; the axes after the head are
/// dense, in the order of the recurrence's declaration.
typedef struct larc_tensor {
  /// Element (0, 0, 0), or null: an initial state at the spec's value, an
  /// unused operand.
  void *data;
  int64_t stride_sequence; ///< from a sequence to the next: 0 for operands of
                           ///< packed sequences
  int64_t stride_token; ///< from a token to the next; unused for constants and
                        ///< states
  int64_t stride_head;  ///< from a head to the next
  int64_t heads; ///< heads of this tensor; head i of a call reads i / (heads /
                 ///< this)
} larc_tensor;

/// One call. Tensors in this order: token operands, constants, outputs, initial
/// states, final states, initial anchors, final anchors; each in the order of
/// the declaration, anchors for the states that have one. A final state may be
/// the same memory as the initial one.
typedef struct larc_call {
  int64_t sequences;
  int64_t heads;
  const int64_t *begins;  ///< [sequences] first token of each, counted from its
                          ///< tensors' data
  const int64_t *lengths; ///< [sequences] number of tokens
  const int64_t *positions; ///< [sequences] tokens seen before
  const larc_tensor *tensors;
} larc_call;

// NOLINTEND(readability-identifier-naming)

#ifdef __cplusplus
}
#endif

#endif // LARC_RUNTIME_RECURRENT_H
