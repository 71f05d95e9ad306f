//===- rwkv7.mlir - RWKV-7 ------------------------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A diagonal decay plus a rank-one change of the old state, with the vectors a and
// b as operands:
//
//   S <- e^w S + b (x) (S^T a) + k (x) v       (S^T a of the old state)
//   o  = S^T r
//
// Random inputs have |a| = 1 and a small b, so that the state stays bounded.
//
//===----------------------------------------------------------------------===//

larc.recurrence @rwkv7(%r[K], %w[K]: gate, %k[K], %v[V], %a[K]: data unit(K),
                       %b[K]: data softmax(K))
    state(%S[K, V])
    -> (o[V])
    summary "RWKV-7: a diagonal decay and a rank-one transition"
    paper "Peng et al., RWKV-7 Goose, arXiv:2503.14456" {
  %decay = larc.exp %w
  %decayed = larc.mul %decay, %S
  %known = larc.contract %S, %a over K
  %change = larc.mul %b, %known
  %write = larc.mul %k, %v
  %changed = larc.add %decayed, %change
  %next = larc.add %changed, %write
  %o = larc.contract %next, %r over K
  larc.yield %next, %o
}
