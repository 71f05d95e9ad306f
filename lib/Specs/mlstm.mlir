//===- mlstm.mlir - The matrix memory of xLSTM ----------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// i and f are the gates before their activations, e^i and sigmoid(f):
//
//   C <- sigmoid(f) C + e^i k (x) v
//   n <- sigmoid(f) n + e^i k
//   o  = C^T q' / max(|n . q'|, 1)                      q' = scale q
//
// e^i overflows long before C / n does, so the states are held relative to e^m,
// with m the largest exponent so far:
//
//   m' = max(logsigmoid(f) + m, i)
//   C <- e^(logsigmoid(f) + m - m') C + e^(i - m') k (x) v          (n alike)
//   o  = C^T q' / max(|n . q'|, e^-m')
//
// The denominator is a `select` and not a `max` since at a tie its derivative is
// that of the limit alone. Of logsigmoid(f) + (m - m') the difference comes first:
// where m stays, it is exactly 0.
//
//===----------------------------------------------------------------------===//

larc.recurrence @mlstm(%q[K], %k[K], %v[V], %i: gate normal, %f: gate normal)
    state(%C[K, V], %n[K], %m)
    attributes(%scale = rsqrt(K))
    -> (o[V])
    summary "xLSTM's matrix memory with exponential input gates"
    paper "Beck et al., xLSTM, arXiv:2405.04517" {
  // Decay and write strength, relative to e^m'.
  %log_f = larc.logsigmoid %f
  %m_decayed = larc.add %log_f, %m
  %m_next = larc.max %m_decayed, %i
  %m_change = larc.sub %m, %m_next
  %log_decay = larc.add %log_f, %m_change
  %log_strength = larc.sub %i, %m_next
  %decay = larc.exp %log_decay
  %strength = larc.exp %log_strength

  // The write.
  %key = larc.mul %strength, %k
  %C_decayed = larc.mul %decay, %C
  %C_write = larc.mul %key, %v
  %C_next = larc.add %C_decayed, %C_write
  %n_decayed = larc.mul %decay, %n
  %n_next = larc.add %n_decayed, %key

  // The read.
  %query = larc.mul %scale, %q
  %read = larc.contract %C_next, %query over K
  %weight = larc.contract %n_next, %query over K
  %size = larc.abs %weight
  %minus_m = larc.neg %m_next
  %limit = larc.exp %minus_m
  %divisor = larc.select %limit ge %size, %limit, %size
  %o = larc.div %read, %divisor
  larc.yield %C_next, %n_next, %m_next, %o
}
