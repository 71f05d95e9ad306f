//===- ortho_mlstm.mlir - xLSTM's memory read through its orthogonal factor ===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The states are those of xLSTM's matrix memory; the read sees the memory with its
// singular values pulled toward 1 by a few Newton-Schulz iterations:
//
//   m' = max(logsigmoid(f) + m, i)
//   C <- e^(logsigmoid(f) + m - m') C + e^(i - m') k (x) v          (n alike)
//   o  = NS(C)^T q
//
//   NS(C):  X = C / (|C| + 1e-6), then `iterations` times X <- X (3 I - X^T X) / 2
//
// The memory itself is not overwritten by NS(C).
//
//===----------------------------------------------------------------------===//

larc.recurrence @ortho_mlstm(%q[K], %k[K], %v[V], %i: gate normal, %f: gate normal)
    state(%C[K, V], %n[K], %m)
    attributes(iterations = 5)
    -> (o[V])
    summary "xLSTM's matrix memory, orthogonalised before it is read"
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
  %factor = larc.orthogonalize %C_next over K, V iterations(iterations)
  %o = larc.contract %factor, %q over K
  larc.yield %C_next, %n_next, %m_next, %o
}
