// RUN: larc-opt %s --convert-larc-to-loops --split-input-file --verify-diagnostics

// expected-error @+1 {{is not flat: specialise and expand levels first}}
larc.recurrence @family(%x[K] per L) attributes(every[L] = [1, 2]) -> (o[K]) dims(K = 4, L = 2) {
  %o = larc.member %x[0]
  larc.yield %o
}

// -----

// expected-error @+1 {{has no size for axis 'V'}}
larc.recurrence @unbound(%x[K], %v[V]) -> (o[K]) dims(K = 4) {
  larc.yield %x
}

// -----

larc.recurrence @loose(%x[K]) -> (o[K]) dims(K = 4) {
  // expected-error @+1 {{is not in a nest: form nests before loops are made}}
  %o = larc.exp %x
  larc.yield %o
}

// -----

larc.recurrence @inside(%x[n, K]) state(%S[K]) -> (o[n, K]) dims(K = 4, n = 2) {
  %r = larc.fold n over(%a = %x) iter(%b = %S) {
    // expected-error @+1 {{is not in a nest: form nests before loops are made}}
    %c = larc.mul %a, %b
    larc.yield %c
  }
  larc.yield %r, %x
}

// -----

larc.recurrence @fired(%x[K]) state(%S[K]) attributes(p = period(2)) -> (o[K]) dims(K = 4) {
  %r = larc.fire every 1 iter(%b = %S) {
    // expected-error @+1 {{is not in a nest: form nests before loops are made}}
    %c = larc.mul %x, %b
    larc.yield %c
  }
  larc.yield %r, %x
}
