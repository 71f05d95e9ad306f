//===- lattice_dec_l1.mlir - Lattice, decoding, with sparse slots ---------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As the decoding lattice with form = gradient, but the moved slot
// U_i = mu s_i + delta_i is made sparse by the soft threshold st before it is brought
// to unit length:
//
//   h = Phi k - v
//   delta_i = -(gamma k_i / n_i) (h - phi_i (phi_i . h))
//   s_i <- st(U_i) / |st(U_i)|
//   o    = S q
//
// st(x) is x less `threshold` in size, 0 where |x| <= threshold. A slot that st
// empties keeps its old value; the division by its length is avoided, not undone,
// so that no NaN meets a derivative.
//
//===----------------------------------------------------------------------===//

larc.recurrence @lattice_dec_l1(%q[M], %k[M], %v[D],
                                %gamma: coefficient, %mu: coefficient interval(0.5, 1),
                                %threshold: coefficient interval(0, 0.02))
    state(%S[D, M] required nonzero(D))
    attributes(period = period(1))
    -> (o[D])
    summary "the decoding slot memory with slots made sparse by a soft threshold"
    paper "Karami et al., Lattice, arXiv:2504.05646" {
  // The slots at the start of the period: lengths n and directions phi.
  %A = larc.anchor %S
  %n = larc.norm %A over D
  %phi = larc.div %A, %n

  // The error of the decoded key, for each slot with the slot's code.
  %decoded = larc.contract %phi, %k over M
  %h = larc.sub %decoded, %v
  %gc = larc.mul %gamma, %k

  // The step: rate times the part of h that is orthogonal to the slot.
  %rate = larc.div %gc, %n
  %along = larc.contract %phi, %h over D
  %parallel = larc.mul %phi, %along
  %across = larc.sub %h, %parallel
  %minus_delta = larc.mul %rate, %across

  %kept = larc.mul %mu, %S
  %U = larc.sub %kept, %minus_delta

  // The soft threshold.
  %zero = larc.constant 0.0
  %size = larc.abs %U
  %lower = larc.sub %U, %threshold
  %higher = larc.add %U, %threshold
  %nearer = larc.select %U gt %zero, %lower, %higher
  %sparse = larc.select %size le %threshold, %zero, %nearer

  // Unit length, or the old slot where nothing is left.
  %one = larc.constant 1.0
  %length = larc.norm %sparse over D
  %divisor = larc.select %length eq %zero, %one, %length
  %unit = larc.div %sparse, %divisor
  %next = larc.select %length eq %zero, %S, %unit

  %o = larc.contract %next, %q over M
  larc.yield %next, %o
}
