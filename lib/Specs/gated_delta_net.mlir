//===- gated_delta_net.mlir - Gated DeltaNet ------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state decays by one gate, then takes a step of the delta rule:
//
//   S <- e^g S
//   S <- S + k (x) beta (v - S^T k)
//   o  = scale S^T q
//
//===----------------------------------------------------------------------===//

larc.recurrence @gated_delta_net(%q[K], %k[K]: data unit(K), %v[V], %g: gate, %beta: coefficient)
    state(%S[K, V])
    attributes(%scale = rsqrt(K))
    -> (o[V])
    summary "the delta rule with one gate per token and head"
    paper "Yang et al., Gated Delta Networks, arXiv:2412.06464" {
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
