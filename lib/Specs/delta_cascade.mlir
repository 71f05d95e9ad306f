//===- delta_cascade.mlir - Two delta rules in a row ----------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two memories joined by a softmax: the first learns the slot vector s that a key
// stands for, the second the value that a slot vector stands for, both by the
// delta rule:
//
//   Kt <- Kt + k (x) beta (s - Kt^T k)
//   Vt <- Vt + s (x) beta (v - Vt^T s)
//   o   = Vt^T softmax(scale Kt^T q)
//
// s is the key of the second memory, hence of unit length in random inputs.
//
//===----------------------------------------------------------------------===//

larc.recurrence @delta_cascade(%q[K], %k[K]: data unit(K), %v[V], %s[M]: data unit(M),
                               %beta: coefficient)
    state(%Kt[K, M], %Vt[M, V])
    attributes(%scale = rsqrt(K))
    -> (o[V])
    summary "two delta-rule memories, the first addressing the second by a softmax"
    paper "Yang et al., arXiv:2406.06484; Zhang et al., arXiv:2409.07146" {
  // From keys to slots.
  %k_known = larc.contract %Kt, %k over K
  %k_error = larc.sub %s, %k_known
  %k_step = larc.mul %beta, %k_error
  %k_write = larc.mul %k, %k_step
  %k_next = larc.add %Kt, %k_write

  // From slots to values.
  %v_known = larc.contract %Vt, %s over M
  %v_error = larc.sub %v, %v_known
  %v_step = larc.mul %beta, %v_error
  %v_write = larc.mul %s, %v_step
  %v_next = larc.add %Vt, %v_write

  // The read.
  %scores = larc.contract %k_next, %q over K
  %logits = larc.mul %scores, %scale
  %p = larc.softmax %logits over M
  %o = larc.contract %v_next, %p over M
  larc.yield %k_next, %v_next, %o
}
