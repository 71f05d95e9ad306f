//===- lattice_enc.mlir - Lattice, encoding -------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The M columns s_i of S are slots. A is the state at the start of the period,
// n_i = |A_i| and phi_i = A_i / n_i. A token moves each slot at right angles to
// itself, by
//
//   h = v, c = Phi^T v - k
//   delta_i = -(gamma c_i / n_i) (h - phi_i (phi_i . h))
//   s_i <- beta_i (mu s_i + delta_i)                                  form = gradient
//   s_i <- beta_i ((mu + gamma c_i (A_i . h) / n_i^3) s_i - (gamma c_i / n_i) h)  gate
//   o    = S q
//
// beta_i is (mu^2 n_i^2 + |delta_i|^2)^-1/2, or 1 where only the end of a period
// normalises; `period` and `both` divide each slot by its length there, before the
// read. With period = 1 the recurrence is exact; a longer one is the chunk
// approximation, and part of the meaning. An initial state without a zero column
// is required.
//
//===----------------------------------------------------------------------===//

larc.recurrence @lattice_enc(%q[M], %k[M], %v[D]: data unit(D),
                             %gamma: coefficient, %mu: coefficient interval(0.5, 1))
    state(%S[D, M] required nonzero(D))
    attributes(period = period(1), form = gradient of [gradient, gate],
               normalize = token of [token, period, both])
    -> (o[D])
    summary "a slot memory that learns to encode values into keys, by steps orthogonal to each slot"
    paper "Karami et al., Lattice, arXiv:2504.05646" {
  // The slots at the start of the period: lengths n and directions phi.
  %A = larc.anchor %S
  %n = larc.norm %A over D
  %phi = larc.div %A, %n

  // The value, for each slot with the error of the encoded value.
  %encoded = larc.contract %phi, %v over D
  %c = larc.sub %encoded, %k
  %gc = larc.mul %gamma, %c

  // The step: rate times the part of h that is orthogonal to the slot.
  %rate = larc.div %gc, %n
  %along = larc.contract %phi, %v over D
  %parallel = larc.mul %phi, %along
  %across = larc.sub %v, %parallel
  %minus_delta = larc.mul %rate, %across

  // The factor that brings a slot back to unit length.
  %beta = larc.choose normalize {
    case token, both {
      %kept = larc.mul %mu, %n
      %kept_square = larc.square %kept
      %step_square = larc.contract %minus_delta, %minus_delta over D
      %length_square = larc.add %kept_square, %step_square
      %y = larc.rsqrt %length_square
      larc.yield %y
    }
    case period {
      %one = larc.constant 1.0
      %y = larc.broadcast %one to [M]
      larc.yield %y
    }
  }

  // The slots after the token, and after the period where it ends.
  %moved = larc.choose form {
    case gradient {
      %kept = larc.mul %mu, %S
      %U = larc.sub %kept, %minus_delta
      larc.yield %U
    }
    case gate {
      %share = larc.mul %rate, %along
      %relative = larc.div %share, %n
      %gate = larc.add %mu, %relative
      %kept = larc.mul %gate, %S
      %step = larc.mul %rate, %v
      %U = larc.sub %kept, %step
      larc.yield %U
    }
  }
  %slots = larc.mul %beta, %moved
  %next = larc.choose normalize {
    case token {
      larc.yield %slots
    }
    case period, both {
      %fired = larc.fire every 1 iter(%X = %slots) {
        %unit = larc.normalize %X over D
        larc.yield %unit
      }
      larc.yield %fired
    }
  }

  %o = larc.contract %next, %q over M
  larc.yield %next, %o
}
