// RUN: larc-opt %s -split-input-file -larc-analyze-transitions=remarks \
// RUN:   -verify-diagnostics -o /dev/null > /dev/null

larc.recurrence @replayed(%q[K], %k[K], %v[V])
    state(%S[K, V]) -> (o[V]) {
  %w = larc.mul %k, %v
  %Sn = larc.add %S, %w
  // expected-remark@+1 {{is not linear in state 'S': what it makes is computed token by token}}
  %unit = larc.normalize %Sn over K
  %o = larc.contract %unit, %q over K
  larc.yield %Sn, %o
}

// -----

larc.recurrence @normalized(%q[K], %k[K], %v[V])
    state(%S[K, V]) -> (o[V]) {
  %w = larc.mul %k, %v
  %T = larc.add %S, %w
  // expected-remark@+1 {{is not linear in state 'S', and its update uses it}}
  %Sn = larc.normalize %T over K
  %o = larc.contract %Sn, %q over K
  larc.yield %Sn, %o
}

// -----

larc.recurrence @scaled_by_read(%q[K], %k[K], %v[V])
    state(%S[K, V]) -> (o[V]) {
  %a = larc.contract %S, %k over K
  // expected-remark@+1 {{scales state 'S' by a factor that depends on a read of it}}
  %g = larc.sigmoid %a
  %Sd = larc.mul %g, %S
  %w = larc.mul %k, %v
  %Sn = larc.add %Sd, %w
  %o = larc.contract %Sn, %q over K
  larc.yield %Sn, %o
}

// -----

larc.recurrence @squared(%q[K], %k[K], %v[V], %w[K, V])
    state(%S[K, V]) -> (o[V]) {
  // expected-remark@+1 {{is written to state 'S' and is no product of a factor over axes that a read sums over and one over axes that it keeps}}
  %w2 = larc.exp %w
  %Sn = larc.add %S, %w2
  %o = larc.contract %Sn, %q over K
  larc.yield %Sn, %o
}

// -----

larc.recurrence @straddling_read(%k[K], %v[V], %w[K, V])
    state(%S[K, V]) -> (o[V]) {
  %write = larc.mul %k, %v
  %Sn = larc.add %S, %write
  // expected-remark@+1 {{reads state 'S' with an array over axes that it sums over and axes that it keeps}}
  %o = larc.contract %Sn, %w over K
  larc.yield %Sn, %o
}

// -----

larc.recurrence @long(%q[K], %k[n, K], %v[n, V])
    state(%S[K, V]) -> (o[V]) dims(n = 17) {
  // expected-remark@+1 {{runs steps of state 'S' whose number is unknown or above 16}}
  %Sn = larc.fold n over(%kj = %k, %vj = %v) iter(%X = %S) {
    %w = larc.mul %kj, %vj
    %Y = larc.add %X, %w
    larc.yield %Y
  }
  %o = larc.contract %Sn, %q over K
  larc.yield %Sn, %o
}

// -----

larc.recurrence @round(%q[K], %k[K], %v[V])
    state(%S[K, V], %T[K, V], %U[K, V]) -> (o[V]) {
  // expected-remark@+1 {{makes the update of state 'U' use state 'S', whose update comes back to 'U' through others}}
  %rs = larc.contract %S, %q over K
  // expected-remark@+1 {{makes the update of state 'S' use state 'T', whose update comes back to 'S' through others}}
  %rt = larc.contract %T, %q over K
  // expected-remark@+1 {{makes the update of state 'T' use state 'U', whose update comes back to 'T' through others}}
  %ru = larc.contract %U, %q over K
  %ws = larc.mul %k, %rt
  %wt = larc.mul %k, %ru
  %wu = larc.mul %k, %rs
  %Sn = larc.add %S, %ws
  %Tn = larc.add %T, %wt
  %Un = larc.add %U, %wu
  %o = larc.contract %Sn, %q over K
  larc.yield %Sn, %Tn, %Un, %o
}
