//===- abc.mlir - Attention with bounded-memory control -------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each of M slots keeps a softmax-weighted mean of the keys and values written
// to it. z is the logarithm of the weights' sum so far and starts at -inf:
//
//   z'  = logaddexp(z, s)
//   a   = e^(z - z'), phi = e^(s - z')       (1 and 0 where z' is -inf)
//   Kt <- a Kt + phi (x) k
//   Vt <- a Vt + phi (x) v
//   o   = Vt^T softmax(scale Kt q)
//
// A slot to which nothing was written yet has z' = -inf; there the exponents, not
// the exponentials, are replaced, so that no NaN meets a derivative.
//
//===----------------------------------------------------------------------===//

larc.recurrence @abc(%q[K], %k[K], %v[V], %s[M])
    state(%Kt[M, K], %Vt[M, V], %z[M] = -inf)
    attributes(%scale = rsqrt(K))
    -> (o[V])
    summary "attention with bounded memory: slots of softmax-weighted means"
    paper "Peng et al., ABC: Attention with Bounded-memory Control, arXiv:2110.02488" {
  // Shares of the old mean and of the token.
  %z_next = larc.logaddexp %z, %s
  %zero = larc.constant 0.0
  %nothing = larc.constant -inf
  %log_a = larc.sub %z, %z_next
  %log_phi = larc.sub %s, %z_next
  %log_a_safe = larc.select %z_next eq %nothing, %zero, %log_a
  %log_phi_safe = larc.select %z_next eq %nothing, %nothing, %log_phi
  %a = larc.exp %log_a_safe
  %phi = larc.exp %log_phi_safe

  // The write.
  %k_decayed = larc.mul %a, %Kt
  %k_write = larc.mul %phi, %k
  %k_next = larc.add %k_decayed, %k_write
  %v_decayed = larc.mul %a, %Vt
  %v_write = larc.mul %phi, %v
  %v_next = larc.add %v_decayed, %v_write

  // The read.
  %scores = larc.contract %k_next, %q over K
  %logits = larc.mul %scores, %scale
  %p = larc.softmax %logits over M
  %o = larc.contract %v_next, %p over M
  larc.yield %k_next, %v_next, %z_next, %o
}
