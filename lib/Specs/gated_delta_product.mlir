//===- gated_delta_product.mlir - Gated DeltaProduct ----------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One decay and then n steps of the delta rule for each token, in order:
//
//   S <- e^g S
//   S <- S + k_j (x) beta_j (v_j - S^T k_j)      for j = 1 .. n
//   o  = scale S^T q
//
//===----------------------------------------------------------------------===//

larc.recurrence @gated_delta_product(%q[K], %k[n, K]: data unit(K), %v[n, V], %g: gate,
                                     %beta[n]: coefficient)
    state(%S[K, V])
    attributes(%scale = rsqrt(K))
    -> (o[V])
    summary "a gate and n steps of the delta rule per token"
    paper "Siems et al., DeltaProduct, arXiv:2502.10297" {
  %decay = larc.exp %g
  %decayed = larc.mul %decay, %S
  %next = larc.fold n over(%kj = %k, %vj = %v, %betaj = %beta) iter(%X = %decayed) {
    %known = larc.contract %X, %kj over K
    %error = larc.sub %vj, %known
    %step = larc.mul %betaj, %error
    %write = larc.mul %kj, %step
    %Y = larc.add %X, %write
    larc.yield %Y
  }
  %read = larc.contract %next, %q over K
  %o = larc.mul %read, %scale
  larc.yield %next, %o
}
