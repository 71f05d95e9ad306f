//===- outer_gate.mlir - Linear attention with gates on both axes ---------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gates of the key channels and of the value channels; their outer product
// scales the state:
//
//   S <- (e^gk (x) e^gv) (.) S + k (x) v
//   o  = scale S^T q
//
// The gates are applied one after the other, since one exponent of a sum would
// need K V exponentials instead of K + V.
//
//===----------------------------------------------------------------------===//

larc.recurrence @outer_gate(%q[K], %k[K], %v[V], %gk[K]: gate, %gv[V]: gate)
    state(%S[K, V])
    attributes(%scale = rsqrt(K))
    -> (o[V])
    summary "linear attention with gates per key channel and per value channel"
    paper "Yang et al., Gated Linear Attention Transformers, arXiv:2312.06635" {
  %rows = larc.exp %gk
  %columns = larc.exp %gv
  %half = larc.mul %rows, %S
  %decayed = larc.mul %columns, %half
  %write = larc.mul %k, %v
  %next = larc.add %decayed, %write
  %read = larc.contract %next, %q over K
  %o = larc.mul %read, %scale
  larc.yield %next, %o
}
