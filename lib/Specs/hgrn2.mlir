//===- hgrn2.mlir - HGRN2 -------------------------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The forget gate is tied to the input gate: what is forgotten is written.
//
//   k  = 1 - e^g
//   S <- e^g S + k (x) v
//   o  = S^T q
//
// 1 - e^g is -expm1(g), which keeps its digits where the gate is near 0.
//
//===----------------------------------------------------------------------===//

larc.recurrence @hgrn2(%q[K], %v[V], %g[K]: gate)
    state(%S[K, V])
    -> (o[V])
    summary "gated linear attention whose keys are the complements of its gates"
    paper "Qin et al., HGRN2: Gated Linear RNNs with State Expansion, arXiv:2404.07904" {
  %decay = larc.exp %g
  %minus_k = larc.expm1 %g
  %k = larc.neg %minus_k
  %decayed = larc.mul %decay, %S
  %write = larc.mul %k, %v
  %next = larc.add %decayed, %write
  %o = larc.contract %next, %q over K
  larc.yield %next, %o
}
