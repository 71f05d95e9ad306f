//===- delta_net.mlir - DeltaNet ------------------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Before v is written under k, what k reads is taken away:
//
//   S <- S + k (x) beta (v - S^T k)
//   o  = scale S^T q
//
//===----------------------------------------------------------------------===//

larc.recurrence @delta_net(%q[K], %k[K]: data unit(K), %v[V], %beta: coefficient)
    state(%S[K, V])
    attributes(%scale = rsqrt(K))
    -> (o[V])
    summary "the delta rule: a write replaces what its key reads"
    paper "Yang et al., Parallelizing Linear Transformers with the Delta Rule, arXiv:2406.06484" {
  %known = larc.contract %S, %k over K
  %error = larc.sub %v, %known
  %step = larc.mul %beta, %error
  %write = larc.mul %k, %step
  %next = larc.add %S, %write
  %read = larc.contract %next, %q over K
  %o = larc.mul %read, %scale
  larc.yield %next, %o
}
