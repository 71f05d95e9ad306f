//===- kda.mlir - Kimi delta attention ------------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rows of the state decay by a gate for each key channel, then the state takes
// a step of the delta rule:
//
//   S <- e^g S
//   S <- S + k (x) beta (v - S^T k)
//   o  = scale S^T q
//
//===----------------------------------------------------------------------===//

larc.recurrence @kda(%q[K], %k[K]: data unit(K), %v[V], %g[K]: gate, %beta: coefficient)
    state(%S[K, V])
    attributes(%scale = rsqrt(K))
    -> (o[V])
    summary "the delta rule with one gate per key channel"
    paper "Kimi Team, Kimi Linear, arXiv:2510.26692" {
  %decay = larc.exp %g
  %decayed = larc.mul %decay, %S
  %known = larc.contract %decayed, %k over K
  %error = larc.sub %v, %known
  %step = larc.mul %beta, %error
  %write = larc.mul %k, %step
  %next = larc.add %decayed, %write
  %read = larc.contract %next, %q over K
  %o = larc.mul %read, %scale
  larc.yield %next, %o
}
