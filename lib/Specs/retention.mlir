//===- retention.mlir - Retention -----------------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A log-decay for each head that no token changes:
//
//   S <- e^g S + k (x) v
//   o  = scale S^T q
//
//===----------------------------------------------------------------------===//

larc.recurrence @retention(%q[K], %k[K], %v[V])
    constant(%g: gate)
    state(%S[K, V])
    attributes(%scale = rsqrt(K))
    -> (o[V])
    summary "linear attention with one constant decay per head"
    paper "Sun et al., Retentive Network, arXiv:2307.08621" {
  %decay = larc.exp %g
  %decayed = larc.mul %decay, %S
  %write = larc.mul %k, %v
  %next = larc.add %decayed, %write
  %read = larc.contract %next, %q over K
  %o = larc.mul %read, %scale
  larc.yield %next, %o
}
