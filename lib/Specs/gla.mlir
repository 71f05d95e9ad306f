//===- gla.mlir - Gated linear attention ----------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A log-decay for each key channel scales the rows of the state:
//
//   S <- e^g S + k (x) v
//   o  = scale S^T q
//
//===----------------------------------------------------------------------===//

larc.recurrence @gla(%q[K], %k[K], %v[V], %g[K]: gate)
    state(%S[K, V])
    attributes(%scale = rsqrt(K))
    -> (o[V])
    summary "gated linear attention: one gate per key channel"
    paper "Yang et al., Gated Linear Attention Transformers, arXiv:2312.06635" {
  %decay = larc.exp %g
  %decayed = larc.mul %decay, %S
  %write = larc.mul %k, %v
  %next = larc.add %decayed, %write
  %read = larc.contract %next, %q over K
  %o = larc.mul %read, %scale
  larc.yield %next, %o
}
