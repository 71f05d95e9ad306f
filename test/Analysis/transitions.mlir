// RUN: larc-opt %s -split-input-file -larc-analyze-transitions -o /dev/null \
// RUN:   | FileCheck %s --match-full-lines --strict-whitespace

// A cascade of three memories, each read with what the one before gives.
//CHECK-LABEL:recurrence three_stages
//  CHECK-NEXT:state A[K, M]: diagonal, stage 0, group 0
//  CHECK-NEXT:  keys over [K]
//  CHECK-NEXT:  S' = (1) S + k * a
//  CHECK-NEXT:  read s1 over [K]: q . (1) S + k * a
//  CHECK-NEXT:state B[M, N_]: diagonal, stage 1, group 1
//  CHECK-NEXT:  keys over [M]
//  CHECK-NEXT:  S' = (d) S + a * b
//  CHECK-NEXT:  read s2 over [M]: p1 . (d) S + a * b
//  CHECK-NEXT:state C[N_, V]: diagonal, stage 2, group 2
//  CHECK-NEXT:  keys over [N_]
//  CHECK-NEXT:  S' = (1) S + b * v
//  CHECK-NEXT:  read o over [N_]: p2 . (1) S + b * v
larc.recurrence @three_stages(%q[K], %k[K], %a[M], %b[N_], %v[V], %g[M]: gate)
    state(%A[K, M], %B[M, N_], %C[N_, V]) -> (o[V]) {
  %d = larc.exp %g
  %wa = larc.mul %k, %a
  %An = larc.add %A, %wa
  %s1 = larc.contract %An, %q over K
  %p1 = larc.softmax %s1 over M
  %Bd = larc.mul %B, %d
  %wb = larc.mul %a, %b
  %Bn = larc.add %Bd, %wb
  %s2 = larc.contract %Bn, %p1 over M
  %p2 = larc.softmax %s2 over N_
  %wc = larc.mul %b, %v
  %Cn = larc.add %C, %wc
  %o = larc.contract %Cn, %p2 over N_
  larc.yield %An, %Bn, %Cn, %o
}

// -----

// Two states with different decays, read by one query as a sum.
//CHECK-LABEL:recurrence two_decays
//  CHECK-NEXT:state S[K, V]: diagonal, stage 0, group 0
//  CHECK-NEXT:  keys over [K]
//  CHECK-NEXT:  S' = (d) S + k * v
//  CHECK-NEXT:  read contract(Sn, q) over [K]: q . (d) S + k * v
//  CHECK-NEXT:state T[K, V]: diagonal, stage 0, group 1
//  CHECK-NEXT:  keys over [K]
//  CHECK-NEXT:  S' = (e) S + k * v
//  CHECK-NEXT:  read contract(Tn, q) over [K]: q . (e) S + k * v
larc.recurrence @two_decays(%q[K], %k[K], %v[V], %g[K]: gate, %f: gate)
    state(%S[K, V], %T[K, V]) -> (o[V]) {
  %d = larc.exp %g
  %e = larc.exp %f
  %w = larc.mul %k, %v
  %Sd = larc.mul %S, %d
  %Sn = larc.add %Sd, %w
  %Td = larc.mul %T, %e
  %Tn = larc.add %Td, %w
  %sum = larc.add %Sn, %Tn
  %o = larc.contract %sum, %q over K
  larc.yield %Sn, %Tn, %o
}

// -----

// A delta rule with a step size for each value channel and decays on both
// axes, whose sum is exponentiated: e^(x + y) over more axes than x and y is a
// product.
//CHECK-LABEL:recurrence channel_delta
//  CHECK-NEXT:state S[K, V]: low_rank, stage 0, group 0
//  CHECK-NEXT:  keys over [K]
//  CHECK-NEXT:  S' = (exp(gk) * exp(gv)) S + k * step
//  CHECK-NEXT:  inner read known over [K]: k . (exp(gk) * exp(gv)) S
//  CHECK-NEXT:  read o over [K]: q . (exp(gk) * exp(gv)) S + k * step
larc.recurrence @channel_delta(%q[K], %k[K]: unit(K), %v[V], %beta[V]: coefficient, %gk[K]: gate, %gv[V]: gate)
    state(%S[K, V]) -> (o[V]) {
  %sum = larc.add %gk, %gv
  %d = larc.exp %sum
  %Sd = larc.mul %S, %d
  %known = larc.contract %Sd, %k over K
  %error = larc.sub %v, %known
  %step = larc.mul %beta, %error
  %w = larc.mul %k, %step
  %Sn = larc.add %Sd, %w
  %o = larc.contract %Sn, %q over K
  larc.yield %Sn, %o
}

// -----

// A state that is normalised in its read only: the read stays linear, the norm
// is replayed.
//CHECK-LABEL:recurrence normed_read
//  CHECK-NEXT:state S[K, V]: diagonal, stage 0, group 0
//  CHECK-NEXT:  keys over [K]
//  CHECK-NEXT:  S' = (d) S + k * v
//  CHECK-NEXT:  read contract(Sn, q) over [K]: q . (d) S + k * v
//  CHECK-NEXT:  replayed contract(Sn, Sn)
//  CHECK-NEXT:  obstacle: larc.contract is not linear in state 'S': what it makes is computed token by token
larc.recurrence @normed_read(%q[K], %k[K], %v[V], %g[K]: gate)
    state(%S[K, V]) -> (o[V]) {
  %d = larc.exp %g
  %Sd = larc.mul %S, %d
  %w = larc.mul %k, %v
  %Sn = larc.add %Sd, %w
  %unit = larc.normalize %Sn over K max 1.0e-6
  %o = larc.contract %unit, %q over K
  larc.yield %Sn, %o
}

// -----

// A gate that is a function of another state's read.
//CHECK-LABEL:recurrence read_gate
//  CHECK-NEXT:state n[K]: diagonal, stage 0, group 0
//  CHECK-NEXT:  keys over [K]
//  CHECK-NEXT:  S' = (1) S + k
//  CHECK-NEXT:  read r over [K]: u . (1) S + k
//  CHECK-NEXT:state S[K, V]: diagonal, stage 1, group 1
//  CHECK-NEXT:  keys over [K]
//  CHECK-NEXT:  S' = (gate) S + k * v
//  CHECK-NEXT:  read o over [K]: q . (gate) S + k * v
larc.recurrence @read_gate(%q[K], %k[K], %v[V], %u[K])
    state(%n[K], %S[K, V]) -> (o[V]) {
  %nn = larc.add %n, %k
  %r = larc.contract %nn, %u over K
  %gate = larc.sigmoid %r
  %Sd = larc.mul %gate, %S
  %w = larc.mul %k, %v
  %Sn = larc.add %Sd, %w
  %o = larc.contract %Sn, %q over K
  larc.yield %nn, %Sn, %o
}

// -----

// A write that is nonlinear in a read of its own state.
//CHECK-LABEL:recurrence implicit
//  CHECK-NEXT:state S[K, V]: implicit, stage 0, group 0
//  CHECK-NEXT:  keys over [K]
//  CHECK-NEXT:  S' = (1) S + k * step
//  CHECK-NEXT:  inner read known over [K]: k . (1) S
//  CHECK-NEXT:  read o over [K]: q . (1) S + k * step
//  CHECK-NEXT:  obstacle: larc.tanh is not affine in the read of state 'S' that its update uses: tokens are solved one after the other
larc.recurrence @implicit(%q[K], %k[K]: unit(K), %v[V])
    state(%S[K, V]) -> (o[V]) {
  %known = larc.contract %S, %k over K
  %error = larc.sub %v, %known
  %step = larc.tanh %error
  %w = larc.mul %k, %step
  %Sn = larc.add %S, %w
  %o = larc.contract %Sn, %q over K
  larc.yield %Sn, %o
}

// -----

// Decays that are sums and quotients, constants times states.
//CHECK-LABEL:recurrence quotient_decay
//  CHECK-NEXT:state S[K, V]: diagonal, stage 0, group 0
//  CHECK-NEXT:  keys over [K]
//  CHECK-NEXT:  S' = (mul(reciprocal(bb), c) + -1 * a) S + mul(k, c) * v
//  CHECK-NEXT:  read o over [K]: q . (mul(reciprocal(bb), c) + -1 * a) S + mul(k, c) * v
larc.recurrence @quotient_decay(%q[K], %k[K], %v[V], %a[K]: coefficient, %b[K]: coefficient)
    state(%S[K, V]) attributes(%c = 0.5) -> (o[V]) {
  %one = larc.constant 1.0
  %bb = larc.add %b, %one
  %d = larc.div %S, %bb
  %e = larc.mul %d, %c
  %t = larc.mul %a, %S
  %u = larc.sub %e, %t
  %w = larc.mul %k, %v
  %h = larc.mul %w, %c
  %Sn = larc.add %u, %h
  %o = larc.contract %Sn, %q over K
  larc.yield %Sn, %o
}

// -----

// Reads before the decay, between and after the write, and over another axis.
// The second is the first times the decay.
//CHECK-LABEL:recurrence three_reads
//  CHECK-NEXT:state S[K, V]: diagonal, stage 0, group 0
//  CHECK-NEXT:  keys over [K]
//  CHECK-NEXT:  S' = (e) S + k * v
//  CHECK-NEXT:  read a over [K]: q . (1) S
//  CHECK-NEXT:  read c over [K]: q . (e) S + k * v
//  CHECK-NEXT:  read d over [V]: v . (e) S + k * v
larc.recurrence @three_reads(%q[K], %k[K], %v[V], %g: gate)
    state(%S[K, V]) -> (a[V], b[V], c[V], d[K]) {
  %a = larc.contract %S, %q over K
  %e = larc.exp %g
  %Sd = larc.mul %S, %e
  %b = larc.contract %Sd, %q over K
  %w = larc.mul %k, %v
  %Sn = larc.add %Sd, %w
  %c = larc.contract %Sn, %q over K
  %d = larc.contract %Sn, %v over V
  larc.yield %Sn, %a, %b, %c, %d
}

// -----

// States over 0, 1, 2 and 3 axes, small ones used as a whole, and one that
// nothing reads.
//CHECK-LABEL:recurrence ranks
//  CHECK-NEXT:state s0[]: elementwise, stage 0, group 0
//  CHECK-NEXT:state s1[K]: elementwise, stage 0, group 1
//  CHECK-NEXT:state s3[H_, K, V]: diagonal, stage 0, group 2
//  CHECK-NEXT:  keys over [K]
//  CHECK-NEXT:  S' = (1) S + h * k * v
//  CHECK-NEXT:  read o over [K]: q . (1) S + h * k * v
//  CHECK-NEXT:state unused[K, V]: diagonal, stage 0, group 3
//  CHECK-NEXT:  keys over [K]
//  CHECK-NEXT:  S' = (1) S + k * v
larc.recurrence @ranks(%q[K], %k[K], %v[V], %h[H_], %x, %g: gate)
    state(%s0, %s1[K], %s3[H_, K, V], %unused[K, V]) -> (o[V, H_], y, z[K]) {
  %e = larc.exp %g
  %a0 = larc.mul %s0, %e
  %n0 = larc.add %a0, %x
  %a1 = larc.mul %s1, %e
  %n1 = larc.add %a1, %k
  %y = larc.tanh %n0
  %z = larc.sigmoid %n1
  %w = larc.mul %k, %v
  %w3 = larc.mul %w, %h
  %n3 = larc.add %s3, %w3
  %o = larc.contract %n3, %q over K
  %nu = larc.add %unused, %w
  larc.yield %n0, %n1, %n3, %nu, %o, %y, %z
}

// -----

// States that depend on each other.
//CHECK-LABEL:recurrence mutual
//  CHECK-NEXT:state S[K, V]: sequential, stage 0, group 0
//  CHECK-NEXT:  obstacle: larc.contract makes the update of state 'S' use state 'T', whose update uses 'S'
//  CHECK-NEXT:state T[K, V]: sequential, stage 0, group 0
//  CHECK-NEXT:  obstacle: larc.contract makes the update of state 'T' use state 'S', whose update uses 'T'
larc.recurrence @mutual(%q[K], %k[K], %v[V])
    state(%S[K, V], %T[K, V]) -> (o[V]) {
  %rs = larc.contract %S, %q over K
  %rt = larc.contract %T, %q over K
  %ws = larc.mul %k, %rt
  %wt = larc.mul %k, %rs
  %Sn = larc.add %S, %ws
  %Tn = larc.add %T, %wt
  %o = larc.contract %Sn, %q over K
  larc.yield %Sn, %Tn, %o
}

// -----

// A state that adds the whole of another.
//CHECK-LABEL:recurrence momentum
//  CHECK-NEXT:state S[K, V]: sequential, stage 0, group 0
//  CHECK-NEXT:  obstacle: larc.add makes the update of state 'S' use the whole of state 'M' at every token
//  CHECK-NEXT:state M[K, V]: sequential, stage 0, group 0
larc.recurrence @momentum(%q[K], %k[K], %v[V], %g: gate)
    state(%S[K, V], %M[K, V]) -> (o[V]) {
  %e = larc.exp %g
  %w = larc.mul %k, %v
  %Md = larc.mul %M, %e
  %Mn = larc.add %Md, %w
  %Sn = larc.add %S, %Mn
  %o = larc.contract %Sn, %q over K
  larc.yield %Sn, %Mn, %o
}

// -----

// A decay for each element that is no product.
//CHECK-LABEL:recurrence full_gate
//  CHECK-NEXT:state S[K, V]: elementwise, stage 0, group 0
//  CHECK-NEXT:  obstacle: larc.exp scales state 'S' along axes that a read sums over and axes that it keeps, and is no product of a factor for each
larc.recurrence @full_gate(%q[K], %k[K], %v[V], %g[K, V]: gate)
    state(%S[K, V]) -> (o[V]) {
  %e = larc.exp %g
  %w = larc.mul %k, %v
  %Sd = larc.mul %S, %e
  %Sn = larc.add %Sd, %w
  %o = larc.contract %Sn, %q over K
  larc.yield %Sn, %o
}

// -----

// A choice that is known before the state is, in the update.
//CHECK-LABEL:recurrence skip
//  CHECK-NEXT:state S[K, V]: diagonal, stage 0, group 0
//  CHECK-NEXT:  keys over [K]
//  CHECK-NEXT:  S' = (select(m, 0, 1, 0) + select(m, 0, 0, 1)) S + select(m, 0, 1, 0) * k * v
//  CHECK-NEXT:  read o over [K]: q . (select(m, 0, 1, 0) + select(m, 0, 0, 1)) S + select(m, 0, 1, 0) * k * v
larc.recurrence @skip(%q[K], %k[K], %v[V], %m)
    state(%S[K, V]) -> (o[V]) {
  %zero = larc.constant 0.0
  %w = larc.mul %k, %v
  %Sn = larc.add %S, %w
  %T = larc.select %m gt %zero, %Sn, %S
  %o = larc.contract %T, %q over K
  larc.yield %T, %o
}

// -----

// A state that is overwritten, and used by another.
//CHECK-LABEL:recurrence shift
//  CHECK-NEXT:state prev[K]: elementwise, stage 0, group 0
//  CHECK-NEXT:state S[K, V]: diagonal, stage 0, group 1
//  CHECK-NEXT:  keys over [K]
//  CHECK-NEXT:  S' = (1) S + kk * v
//  CHECK-NEXT:  read o over [K]: q . (1) S + kk * v
larc.recurrence @shift(%q[K], %k[K], %v[V])
    state(%prev[K], %S[K, V]) -> (o[V]) {
  %kk = larc.mul %prev, %k
  %w = larc.mul %kk, %v
  %Sn = larc.add %S, %w
  %o = larc.contract %Sn, %q over K
  larc.yield %k, %Sn, %o
}

// -----

// A read with what another read of the same state gave.
//CHECK-LABEL:recurrence two_hops
//  CHECK-NEXT:state S[K, J]: diagonal, stage 0, group 0
//  CHECK-NEXT:  keys over [K]
//  CHECK-NEXT:  S' = (1) S + k * vj
//  CHECK-NEXT:  read a over [K]: q . (1) S + k * vj
//  CHECK-NEXT:  read o over [K]: c . (1) S + k * vj
larc.recurrence @two_hops(%q[K], %k[K], %v[K])
    state(%S[K, J]) -> (o[J]) {
  %vj = larc.rename %v K to J
  %w = larc.mul %k, %vj
  %Sn = larc.add %S, %w
  %a = larc.contract %Sn, %q over K
  %b = larc.rename %a J to K
  %c = larc.softmax %b over K
  %o = larc.contract %Sn, %c over K
  larc.yield %Sn, %o
}

// -----

// A read over both axes, with a product of one factor for each, sums over one
// after the other.
//CHECK-LABEL:recurrence read_both
//  CHECK-NEXT:state S[K, V]: diagonal, stage 0, group 0
//  CHECK-NEXT:  keys over [K]
//  CHECK-NEXT:  S' = (1) S + k * v
//  CHECK-NEXT:  read contract(Sn, q) over [K]: q . (1) S + k * v
larc.recurrence @read_both(%q[K], %p[V], %k[K], %v[V])
    state(%S[K, V]) -> (o) {
  %w = larc.mul %k, %v
  %Sn = larc.add %S, %w
  %qp = larc.mul %q, %p
  %o = larc.contract %Sn, %qp over K, V
  larc.yield %Sn, %o
}

// -----

// Reads over two axes that the update uses.
//CHECK-LABEL:recurrence other_axes
//  CHECK-NEXT:state S[K, V]: sequential, stage 0, group 0
//  CHECK-NEXT:  obstacle: larc.contract sums state 'S' over other axes than the first read that its update uses
larc.recurrence @other_axes(%q[K], %k[K], %v[V])
    state(%S[K, V]) -> (o[V]) {
  %a = larc.contract %S, %k over K
  %b = larc.contract %S, %v over V
  %w1 = larc.mul %k, %a
  %w2 = larc.mul %b, %v
  %S1 = larc.sub %S, %w1
  %Sn = larc.sub %S1, %w2
  %o = larc.contract %Sn, %q over K
  larc.yield %Sn, %o
}

// -----

// A decay that depends on a read of the state.
//CHECK-LABEL:recurrence read_scales
//  CHECK-NEXT:state S[K, V]: sequential, stage 0, group 0
//  CHECK-NEXT:  obstacle: larc.sigmoid scales state 'S' by a factor that depends on a read of it
larc.recurrence @read_scales(%q[K], %k[K], %v[V])
    state(%S[K, V]) -> (o[V]) {
  %a = larc.contract %S, %k over K
  %g = larc.sigmoid %a
  %Sd = larc.mul %g, %S
  %w = larc.mul %k, %v
  %Sn = larc.add %Sd, %w
  %o = larc.contract %Sn, %q over K
  larc.yield %Sn, %o
}

// -----

// Several writes at once, each from its own read: a contraction over an axis
// of known size.
//CHECK-LABEL:recurrence multi_write
//  CHECK-NEXT:state S[K, V]: low_rank, stage 0, group 0
//  CHECK-NEXT:  keys over [K]
//  CHECK-NEXT:  S' = (1) S + k[n = 0] * mul(sub(v[n = 0], contract(S, k[n = 0])), beta[n = 0]) + k[n = 1] * mul(sub(v[n = 1], contract(S, k[n = 1])), beta[n = 1])
//  CHECK-NEXT:  inner read contract(S, k[n = 0]) over [K]: k[n = 0] . (1) S
//  CHECK-NEXT:  inner read contract(S, k[n = 1]) over [K]: k[n = 1] . (1) S
//  CHECK-NEXT:  read o over [K]: q . (1) S + k[n = 0] * mul(sub(v[n = 0], contract(S, k[n = 0])), beta[n = 0]) + k[n = 1] * mul(sub(v[n = 1], contract(S, k[n = 1])), beta[n = 1])
larc.recurrence @multi_write(%q[K], %k[n, K], %v[n, V], %beta[n]: coefficient)
    state(%S[K, V]) -> (o[V]) dims(n = 2) {
  %a = larc.contract %S, %k over K
  %e = larc.sub %v, %a
  %b = larc.mul %e, %beta
  %w = larc.contract %k, %b over n
  %Sn = larc.add %S, %w
  %o = larc.contract %Sn, %q over K
  larc.yield %Sn, %o
}

// -----

// Levels over a gated memory: those above change when they fire.
//CHECK-LABEL:recurrence levels_gla
//  CHECK-NEXT:state S0[K, V]: diagonal, stage 0, group 0
//  CHECK-NEXT:  keys over [K]
//  CHECK-NEXT:  S' = (d) S + k * v
//  CHECK-NEXT:  read a over [K]: q . (d) S + k * v
//  CHECK-NEXT:state S1[K, V]: constant, stage 0, group 1, scheduled every 2
//  CHECK-NEXT:  keys over [K]
//  CHECK-NEXT:  S' = (1) S
//  CHECK-NEXT:  read b over [K]: q . (1) S
larc.recurrence @levels_gla(%q[K], %k[K], %v[V], %g[K]: gate)
    state(%S0[K, V], %S1[K, V]) attributes(period = period(16)) -> (o[V]) {
  %d = larc.exp %g
  %Sd = larc.mul %S0, %d
  %w = larc.mul %k, %v
  %Sn = larc.add %Sd, %w
  %fired = larc.fire every 2 iter(%X = %S1) {
    %Xd = larc.mul %X, %d
    %Y = larc.add %Xd, %Sn
    larc.yield %Y
  }
  %a = larc.contract %Sn, %q over K
  %b = larc.contract %S1, %q over K
  %o = larc.add %a, %b
  larc.yield %Sn, %fired, %o
}

// -----

// Steps that know the state at the start of the period only: what is the same
// for all tokens may straddle.
//CHECK-LABEL:recurrence anchored
//  CHECK-NEXT:state S[D, M]: diagonal, stage 0, group 0, anchored
//  CHECK-NEXT:  keys over [M]
//  CHECK-NEXT:  S' = (1) S + weight * v + -1 * weight * A * along
//  CHECK-NEXT:  read o over [M]: q . (1) S + weight * v + -1 * weight * A * along
larc.recurrence @anchored(%q[M], %k[M]: unit(M), %v[D]: unit(D), %rate: coefficient)
    state(%S[D, M]) attributes(period = period(8)) -> (o[D], size[M]) {
  %A = larc.anchor %S
  %along = larc.contract %A, %v over D
  %parallel = larc.mul %A, %along
  %across = larc.sub %v, %parallel
  %size = larc.contract %across, %across over D
  %weight = larc.mul %rate, %k
  %step = larc.mul %weight, %across
  %Sn = larc.add %S, %step
  %o = larc.contract %Sn, %q over M
  larc.yield %Sn, %o, %size
}

// -----

// An elementwise update that is not linear.
//CHECK-LABEL:recurrence clamped
//  CHECK-NEXT:state S[K, V]: elementwise, stage 0, group 0
//  CHECK-NEXT:  obstacle: larc.tanh is not linear in state 'S': its elements are computed token by token
larc.recurrence @clamped(%q[K], %k[K], %v[V])
    state(%S[K, V]) -> (o[V]) {
  %w = larc.mul %k, %v
  %T = larc.add %S, %w
  %Sn = larc.tanh %T
  %o = larc.contract %Sn, %q over K
  larc.yield %Sn, %o
}

// -----

// Semirings: the smallest, with two ways from the old value.
//CHECK-LABEL:recurrence smallest
//  CHECK-NEXT:state m[K]: semiring, stage 0, group 0
//  CHECK-NEXT:  S' = min(S + a, S + -1 * b, x)
larc.recurrence @smallest(%a, %b, %x[K]) state(%m[K]) -> (o[K]) {
  %up = larc.add %m, %a
  %down = larc.sub %m, %b
  %n = larc.min %up, %down
  %next = larc.min %n, %x
  %o = larc.exp %next
  larc.yield %next, %o
}

// -----

// A fold of unknown length.
//CHECK-LABEL:recurrence long_fold
//  CHECK-NEXT:state S[K, V]: sequential, stage 0, group 0
//  CHECK-NEXT:  obstacle: larc.fold runs steps of state 'S' whose number is unknown or above 16
larc.recurrence @long_fold(%q[K], %k[n, K], %v[n, V])
    state(%S[K, V]) -> (o[V]) {
  %Sn = larc.fold n over(%kj = %k, %vj = %v) iter(%X = %S) {
    %w = larc.mul %kj, %vj
    %Y = larc.add %X, %w
    larc.yield %Y
  }
  %o = larc.contract %Sn, %q over K
  larc.yield %Sn, %o
}

// -----

// A key made from a read.
//CHECK-LABEL:recurrence key_from_read
//  CHECK-NEXT:state S[K, J]: sequential, stage 0, group 0
//  CHECK-NEXT:  obstacle: larc.rename is the key of a write to state 'S' and depends on a read of it
larc.recurrence @key_from_read(%q[K], %k[K], %v[K])
    state(%S[K, J]) -> (o[J]) {
  %a = larc.contract %S, %k over K
  %key = larc.rename %a J to K
  %vj = larc.rename %v K to J
  %w = larc.mul %key, %vj
  %Sn = larc.add %S, %w
  %o = larc.contract %Sn, %q over K
  larc.yield %Sn, %o
}

// -----

// A small state that is an output as a whole.
//CHECK-LABEL:recurrence ema
//  CHECK-NEXT:state n[K]: elementwise, stage 0, group 0
larc.recurrence @ema(%k[K], %g: gate) state(%n[K]) -> (o[K]) {
  %e = larc.exp %g
  %a = larc.mul %n, %e
  %b = larc.add %a, %k
  larc.yield %b, %b
}

// -----

// A matrix that is an output at every token.
//CHECK-LABEL:recurrence whole
//  CHECK-NEXT:state n[K, V]: diagonal, stage 0, group 0
//  CHECK-NEXT:  keys over [K]
//  CHECK-NEXT:  S' = (e) S + k * v
//  CHECK-NEXT:  replayed b
//  CHECK-NEXT:  obstacle: larc.add gives the whole of state 'n' out: it is computed token by token
larc.recurrence @whole(%k[K], %v[V], %g: gate) state(%n[K, V]) -> (o[K, V]) {
  %e = larc.exp %g
  %a = larc.mul %n, %e
  %w = larc.mul %k, %v
  %b = larc.add %a, %w
  larc.yield %b, %b
}

// -----

// A read written as the sum of a product.
//CHECK-LABEL:recurrence reduced
//  CHECK-NEXT:state n[K, V]: diagonal, stage 0, group 0
//  CHECK-NEXT:  keys over [K]
//  CHECK-NEXT:  S' = (e) S + k * v
//  CHECK-NEXT:  read o over [K]: q . (e) S + k * v
larc.recurrence @reduced(%q[K], %k[K], %v[V], %g: gate) state(%n[K, V]) -> (o[V]) {
  %e = larc.exp %g
  %a = larc.mul %n, %e
  %w = larc.mul %k, %v
  %b = larc.add %a, %w
  %c = larc.mul %b, %q
  %o = larc.reduce sum %c over K
  larc.yield %b, %o
}

// -----

// An axis that keys and values share.
//CHECK-LABEL:recurrence heads
//  CHECK-NEXT:state n[h, K, V]: elementwise, stage 0, group 0
//  CHECK-NEXT:  obstacle: larc.mul is written to state 'n' and is no product of a factor over axes that a read sums over and one over axes that it keeps
larc.recurrence @heads(%q[h, K], %k[h, K], %v[h, V], %g[h]: gate) state(%n[h, K, V]) -> (o[h, V]) {
  %e = larc.exp %g
  %a = larc.mul %n, %e
  %w = larc.mul %k, %v
  %b = larc.add %a, %w
  %o = larc.contract %b, %q over K
  larc.yield %b, %o
}

// -----

// A delta rule with the error of the period's start.
//CHECK-LABEL:recurrence ttt
//  CHECK-NEXT:state W[K, V]: diagonal, stage 0, group 0, anchored
//  CHECK-NEXT:  keys over [K]
//  CHECK-NEXT:  S' = (1) S + -1 * k * s
//  CHECK-NEXT:  read o over [K]: q . (1) S + -1 * k * s
larc.recurrence @ttt(%q[K], %k[K]: unit(K), %v[V], %eta: coefficient) state(%W[K, V]) attributes(b = period(16)) -> (o[V]) {
  %A = larc.anchor %W
  %p = larc.contract %A, %k over K
  %e = larc.sub %p, %v
  %s = larc.mul %eta, %e
  %g = larc.mul %k, %s
  %Wn = larc.sub %W, %g
  %o = larc.contract %Wn, %q over K
  larc.yield %Wn, %o
}

// -----

// A vector that is gated after the update.
//CHECK-LABEL:recurrence hgrn
//  CHECK-NEXT:state h[K]: elementwise, stage 0, group 0
larc.recurrence @hgrn(%f[K]: gate, %x[K], %g[K]) state(%h[K]) -> (o[K]) {
  %a = larc.exp %f
  %m = larc.expm1 %f
  %b = larc.neg %m
  %hd = larc.mul %a, %h
  %w = larc.mul %b, %x
  %hn = larc.add %hd, %w
  %s = larc.sigmoid %g
  %o = larc.mul %s, %hn
  larc.yield %hn, %o
}

// -----

// A multiple of the state taken away from it.
//CHECK-LABEL:recurrence minus
//  CHECK-NEXT:state S[K, V]: diagonal, stage 0, group 0
//  CHECK-NEXT:  keys over [K]
//  CHECK-NEXT:  S' = (sub(1, b)) S + k * v
//  CHECK-NEXT:  read o over [K]: q . (sub(1, b)) S + k * v
larc.recurrence @minus(%q[K], %k[K], %v[V], %b[K]: coefficient) state(%S[K, V]) -> (o[V]) {
  %d = larc.mul %b, %S
  %T = larc.sub %S, %d
  %w = larc.mul %k, %v
  %U = larc.add %T, %w
  %o = larc.contract %U, %q over K
  larc.yield %U, %o
}

// -----

// A decay over both axes that is a product only after a common factor is
// found.
//CHECK-LABEL:recurrence factored
//  CHECK-NEXT:state S[K, V]: diagonal, stage 0, group 0
//  CHECK-NEXT:  keys over [K]
//  CHECK-NEXT:  S' = (sub(1, d) * b * c) S + k * v
//  CHECK-NEXT:  read o over [K]: q . (sub(1, d) * b * c) S + k * v
larc.recurrence @factored(%q[K], %k[K], %v[V], %b[K]: coefficient, %c[V]: coefficient, %d: coefficient) state(%S[K, V]) -> (o[V]) {
  %bc = larc.mul %b, %c
  %T = larc.mul %bc, %S
  %e = larc.mul %d, %T
  %U = larc.sub %T, %e
  %w = larc.mul %k, %v
  %X = larc.add %U, %w
  %o = larc.contract %X, %q over K
  larc.yield %X, %o
}
