//===- linear_attention.mlir - Linear attention ---------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state is the sum of all outer products of keys and values:
//
//   S <- S + k (x) v
//   o  = scale S^T q
//
//===----------------------------------------------------------------------===//

larc.recurrence @linear_attention(%q[K], %k[K], %v[V])
    state(%S[K, V])
    attributes(%scale = rsqrt(K))
    -> (o[V])
    summary "linear attention: a sum of outer products, without a gate"
    paper "Katharopoulos et al., Transformers are RNNs, arXiv:2006.16236" {
  %write = larc.mul %k, %v
  %next = larc.add %S, %write
  %read = larc.contract %next, %q over K
  %o = larc.mul %read, %scale
  larc.yield %next, %o
}
