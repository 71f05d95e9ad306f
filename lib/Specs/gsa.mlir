//===- gsa.mlir - Gated slot attention ------------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// M slots of keys and values, each with a gate; a slot takes up what it forgets:
//
//   Kt <- e^g Kt + (1 - e^g) (x) k
//   Vt <- e^g Vt + (1 - e^g) (x) v
//   o   = Vt^T link(scale Kt q)
//
//===----------------------------------------------------------------------===//

larc.recurrence @gsa(%q[K], %k[K], %v[V], %g[M]: gate)
    state(%Kt[M, K], %Vt[M, V])
    attributes(%scale = rsqrt(K), link = softmax of [softmax, identity, swish, relu, relu2])
    -> (o[V])
    summary "gated slot attention: two gated memories joined by a link function"
    paper "Zhang et al., Gated Slot Attention, arXiv:2409.07146" {
  %decay = larc.exp %g
  %minus_s = larc.expm1 %g
  %s = larc.neg %minus_s

  // The write.
  %k_decayed = larc.mul %decay, %Kt
  %k_write = larc.mul %s, %k
  %k_next = larc.add %k_decayed, %k_write
  %v_decayed = larc.mul %decay, %Vt
  %v_write = larc.mul %s, %v
  %v_next = larc.add %v_decayed, %v_write

  // The read.
  %scores = larc.contract %k_next, %q over K
  %x = larc.mul %scores, %scale
  %p = larc.choose link {
    case softmax {
      %y = larc.softmax %x over M
      larc.yield %y
    }
    case identity {
      larc.yield %x
    }
    case swish {
      %sigmoid = larc.sigmoid %x
      %y = larc.mul %x, %sigmoid
      larc.yield %y
    }
    case relu {
      %y = larc.relu %x
      larc.yield %y
    }
    case relu2 {
      %positive = larc.relu %x
      %y = larc.square %positive
      larc.yield %y
    }
  }
  %o = larc.contract %v_next, %p over M
  larc.yield %k_next, %v_next, %o
}
