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

larc.recurrence @full_gate(%q[K], %k[K], %v[V], %g[K, V]: gate)
    state(%S[K, V]) -> (o[V]) {
  %e = larc.exp %g
  %w = larc.mul %k, %v
  %Sd = larc.mul %S, %e
  %Sn = larc.add %Sd, %w
  %o = larc.contract %Sn, %q over K
  larc.yield %Sn, %o
}

larc.recurrence @skip(%q[K], %k[K], %v[V], %m)
    state(%S[K, V]) -> (o[V]) {
  %zero = larc.constant 0.0
  %w = larc.mul %k, %v
  %Sn = larc.add %S, %w
  %T = larc.select %m gt %zero, %Sn, %S
  %o = larc.contract %T, %q over K
  larc.yield %T, %o
}

larc.recurrence @shift(%q[K], %k[K], %v[V])
    state(%prev[K], %S[K, V]) -> (o[V]) {
  %kk = larc.mul %prev, %k
  %w = larc.mul %kk, %v
  %Sn = larc.add %S, %w
  %o = larc.contract %Sn, %q over K
  larc.yield %k, %Sn, %o
}

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

larc.recurrence @read_both(%q[K], %p[V], %k[K], %v[V])
    state(%S[K, V]) -> (o) {
  %w = larc.mul %k, %v
  %Sn = larc.add %S, %w
  %qp = larc.mul %q, %p
  %o = larc.contract %Sn, %qp over K, V
  larc.yield %Sn, %o
}

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

larc.recurrence @clamped(%q[K], %k[K], %v[V])
    state(%S[K, V]) -> (o[V]) {
  %w = larc.mul %k, %v
  %T = larc.add %S, %w
  %Sn = larc.tanh %T
  %o = larc.contract %Sn, %q over K
  larc.yield %Sn, %o
}

larc.recurrence @smallest(%a, %b, %x[K]) state(%m[K]) -> (o[K]) {
  %up = larc.add %m, %a
  %down = larc.sub %m, %b
  %n = larc.min %up, %down
  %next = larc.min %n, %x
  %o = larc.exp %next
  larc.yield %next, %o
}

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

larc.recurrence @ema(%k[K], %g: gate) state(%n[K]) -> (o[K]) {
  %e = larc.exp %g
  %a = larc.mul %n, %e
  %b = larc.add %a, %k
  larc.yield %b, %b
}

larc.recurrence @whole(%k[K], %v[V], %g: gate) state(%n[K, V]) -> (o[K, V]) {
  %e = larc.exp %g
  %a = larc.mul %n, %e
  %w = larc.mul %k, %v
  %b = larc.add %a, %w
  larc.yield %b, %b
}

larc.recurrence @reduced(%q[K], %k[K], %v[V], %g: gate) state(%n[K, V]) -> (o[V]) {
  %e = larc.exp %g
  %a = larc.mul %n, %e
  %w = larc.mul %k, %v
  %b = larc.add %a, %w
  %c = larc.mul %b, %q
  %o = larc.reduce sum %c over K
  larc.yield %b, %o
}

larc.recurrence @heads(%q[h, K], %k[h, K], %v[h, V], %g[h]: gate) state(%n[h, K, V]) -> (o[h, V]) {
  %e = larc.exp %g
  %a = larc.mul %n, %e
  %w = larc.mul %k, %v
  %b = larc.add %a, %w
  %o = larc.contract %b, %q over K
  larc.yield %b, %o
}

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

larc.recurrence @minus(%q[K], %k[K], %v[V], %b[K]: coefficient) state(%S[K, V]) -> (o[V]) {
  %d = larc.mul %b, %S
  %T = larc.sub %S, %d
  %w = larc.mul %k, %v
  %U = larc.add %T, %w
  %o = larc.contract %U, %q over K
  larc.yield %U, %o
}

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

// Symbols of its own that equations of chunks use elsewhere: the score matrix,
// the chunk's length, decays, tokens.
larc.recurrence @letters(%q[K], %i[K], %v[V], %D[K]: gate, %j[V]: gate)
    state(%A[K, V], %C[K, V]) -> (o[V]) {
  %d = larc.exp %D
  %e = larc.exp %j
  %w = larc.mul %i, %v
  %Ad = larc.mul %A, %d
  %An = larc.add %Ad, %w
  %Cd = larc.mul %C, %e
  %Cn = larc.add %Cd, %w
  %sum = larc.add %An, %Cn
  %read = larc.contract %sum, %q over K
  %o = larc.tanh %read
  larc.yield %An, %Cn, %o
}

// As @mutual, with one of the two at the start of the period.
larc.recurrence @parted(%q[K], %k[K], %v[V])
    state(%S[K, V], %T[K, V]) attributes(p = period(16)) -> (o[V]) {
  %TA = larc.anchor %T
  %rs = larc.contract %S, %q over K
  %rt = larc.contract %TA, %q over K
  %ws = larc.mul %k, %rt
  %wt = larc.mul %k, %rs
  %Sn = larc.add %S, %ws
  %Tn = larc.add %T, %wt
  %o = larc.contract %Sn, %q over K
  larc.yield %Sn, %Tn, %o
}
