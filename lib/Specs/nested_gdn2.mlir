//===- nested_gdn2.mlir - Gated DeltaNet-2 on several time scales ---------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// L memories. Level 0 takes a step of Gated DeltaNet-2 at every token; level l >= 1
// takes one at the end of every intervals[l]-th period, writing what a bank of
// n_l learned queries reads from the level below:
//
//   S_0 <- D + k (x) (w_0 v - D^T (b_0 k))              D = e^g_0 S_0
//   o    = scale sum_l mix_l S_l^T q_l
//   at the end of a period, for l = 1 .. L-1 whose interval divides its number:
//     V_w  = S_{l-1}^T bank_l,  K_w = proj_l V_w, each row to unit length
//     S_l <- D + sum_j K_w[j] (x) (w_l V_w[j] - D^T (b_l K_w[j]))
//                                                       D = e^g_l S_l
//
// With promotion = additive, S_l <- D + S_{l-1} instead, and neither bank nor
// projection is used. One level is Gated DeltaNet-2 itself.
//
//===----------------------------------------------------------------------===//

larc.recurrence @nested_gdn2(%q[L, K], %k[K]: data unit(K), %v[V], %g[L, K]: gate,
                             %b[L, K]: coefficient, %w[L, V]: coefficient,
                             %mix[L]: coefficient softmax(L))
    constant(%bank[n, K] per L from 1 sizes(n), %proj[K, V] per L from 1)
    state(%S[K, V] per L)
    attributes(%scale = rsqrt(K), period = period(64), intervals[L] = [1, 2, 4],
               promotion = learned of [learned, additive])
    -> (o[V])
    summary "levels of Gated DeltaNet-2 memories that fire on a schedule"
    paper "Hatamizadeh et al., arXiv:2605.22791; Behrouz et al., arXiv:2512.24695" {
  // Level 0 takes its step.
  %g0 = larc.slice %g[L = 0]
  %b0 = larc.slice %b[L = 0]
  %w0 = larc.slice %w[L = 0]
  %S0 = larc.member %S[0]
  %decay0 = larc.exp %g0
  %decayed0 = larc.mul %decay0, %S0
  %erase_key0 = larc.mul %b0, %k
  %known0 = larc.contract %decayed0, %erase_key0 over K
  %wanted0 = larc.mul %w0, %v
  %step0 = larc.sub %wanted0, %known0
  %write0 = larc.mul %k, %step0
  %next0 = larc.add %decayed0, %write0
  %stepped = larc.insert %next0 into %S[0]

  // Every level is read as it stands.
  %q0 = larc.slice %q[L = 0]
  %mix0 = larc.slice %mix[L = 0]
  %read0 = larc.contract %next0, %q0 over K
  %mixed0 = larc.mul %mix0, %read0
  %read = larc.levels %l = 1 to L iter(%sum = %mixed0) {
    %ql = larc.slice %q[L = %l]
    %mixl = larc.slice %mix[L = %l]
    %Sl = larc.member %stepped[%l]
    %readl = larc.contract %Sl, %ql over K
    %mixed = larc.mul %mixl, %readl
    %more = larc.add %sum, %mixed
    larc.yield %more
  }
  %o = larc.mul %read, %scale

  // The levels above fire, each from the one below as it now stands.
  %next = larc.levels %l = 1 to L iter(%F = %stepped) {
    %gl = larc.slice %g[L = %l]
    %bl = larc.slice %b[L = %l]
    %wl = larc.slice %w[L = %l]
    %bankl = larc.member %bank[%l]
    %projl = larc.member %proj[%l]
    %below = larc.member %F[%l -1]
    %Sl = larc.member %F[%l]
    %fired = larc.fire every intervals[%l] iter(%X = %Sl) {
      %decay = larc.exp %gl
      %decayed = larc.mul %decay, %X
      %Y = larc.choose promotion {
        case learned {
          %values = larc.contract %below, %bankl over K
          %raw_keys = larc.contract %projl, %values over V
          %keys = larc.normalize %raw_keys over K max 1.0e-12
          %erase_keys = larc.mul %bl, %keys
          %known = larc.contract %decayed, %erase_keys over K
          %wanted = larc.mul %wl, %values
          %steps = larc.sub %wanted, %known
          %write = larc.contract %keys, %steps over n
          %sum = larc.add %decayed, %write
          larc.yield %sum
        }
        case additive {
          %sum = larc.add %decayed, %below
          larc.yield %sum
        }
      }
      larc.yield %Y
    }
    %G = larc.insert %fired into %F[%l]
    larc.yield %G
  }
  larc.yield %next, %o
}
