//===- gsa_explicit.mlir - Gated slot attention with write strengths -------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As gated slot attention with a softmax, but how much a slot takes up is an
// operand and not the complement of its gate:
//
//   Kt <- e^g Kt + s (x) k
//   Vt <- e^g Vt + s (x) v
//   o   = Vt^T softmax(scale Kt q)
//
//===----------------------------------------------------------------------===//

larc.recurrence @gsa_explicit(%q[K], %k[K], %v[V], %s[M]: coefficient, %g[M]: gate)
    state(%Kt[M, K], %Vt[M, V])
    attributes(%scale = rsqrt(K))
    -> (o[V])
    summary "gated slot attention with write strengths apart from the gates"
    paper "Zhang et al., Gated Slot Attention, arXiv:2409.07146" {
  %decay = larc.exp %g

  // The write.
  %k_decayed = larc.mul %decay, %Kt
  %k_write = larc.mul %s, %k
  %k_next = larc.add %k_decayed, %k_write
  %v_decayed = larc.mul %decay, %Vt
  %v_write = larc.mul %s, %v
  %v_next = larc.add %v_decayed, %v_write

  // The read.
  %scores = larc.contract %k_next, %q over K
  %logits = larc.mul %scores, %scale
  %p = larc.softmax %logits over M
  %o = larc.contract %v_next, %p over M
  larc.yield %k_next, %v_next, %o
}
