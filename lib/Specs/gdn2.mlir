//===- gdn2.mlir - Gated DeltaNet-2 ---------------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is erased and what is written have gates of their own: b chooses the key
// channels that are read and taken away, w the value channels that are written.
//
//   S <- e^g S
//   S <- S + k (x) (w v - S^T (b k))
//   o  = scale S^T q
//
//===----------------------------------------------------------------------===//

larc.recurrence @gdn2(%q[K], %k[K]: data unit(K), %v[V], %g[K]: gate,
                      %b[K]: coefficient, %w[V]: coefficient)
    state(%S[K, V])
    attributes(%scale = rsqrt(K))
    -> (o[V])
    summary "the gated delta rule with separate gates for erasing and writing"
    paper "Hatamizadeh et al., Gated DeltaNet-2, arXiv:2605.22791" {
  %decay = larc.exp %g
  %decayed = larc.mul %decay, %S
  %erase_key = larc.mul %b, %k
  %known = larc.contract %decayed, %erase_key over K
  %wanted = larc.mul %w, %v
  %step = larc.sub %wanted, %known
  %write = larc.mul %k, %step
  %next = larc.add %decayed, %write
  %read = larc.contract %next, %q over K
  %o = larc.mul %read, %scale
  larc.yield %next, %o
}
