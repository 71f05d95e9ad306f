//===- simple_gla.mlir - Linear attention with a scalar gate --------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A log-decay for each token and head, as in Mamba-2:
//
//   S <- e^g S + k (x) v
//   o  = scale S^T q
//
//===----------------------------------------------------------------------===//

larc.recurrence @simple_gla(%q[K], %k[K], %v[V], %g: gate)
    state(%S[K, V])
    attributes(%scale = rsqrt(K))
    -> (o[V])
    summary "linear attention with one gate per token and head"
    paper "Dao and Gu, Transformers are SSMs (Mamba-2), arXiv:2405.21060" {
  %decay = larc.exp %g
  %decayed = larc.mul %decay, %S
  %write = larc.mul %k, %v
  %next = larc.add %decayed, %write
  %read = larc.contract %next, %q over K
  %o = larc.mul %read, %scale
  larc.yield %next, %o
}
