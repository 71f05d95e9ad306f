//===- rwkv6.mlir - RWKV-6 ------------------------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The read comes before the write; the current token enters it through a bonus
// u for each key channel:
//
//   o  = (S + (u k) (x) v)^T r
//   S <- e^w S + k (x) v
//
// The bonus is read as v times the number (u k) . r, so that S + (u k) (x) v is
// never formed.
//
//===----------------------------------------------------------------------===//

larc.recurrence @rwkv6(%r[K], %k[K], %v[V], %w[K]: gate)
    constant(%u[K])
    state(%S[K, V])
    -> (o[V])
    summary "RWKV-6: one gate per key channel, read before the write with a bonus"
    paper "Peng et al., Eagle and Finch, arXiv:2404.05892" {
  // The read.
  %past = larc.contract %S, %r over K
  %bonus = larc.mul %u, %k
  %weight = larc.contract %bonus, %r over K
  %present = larc.mul %weight, %v
  %o = larc.add %past, %present

  // The write.
  %decay = larc.exp %w
  %decayed = larc.mul %decay, %S
  %write = larc.mul %k, %v
  %next = larc.add %decayed, %write
  larc.yield %next, %o
}
