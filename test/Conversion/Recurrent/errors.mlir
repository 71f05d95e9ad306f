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

// -----

// expected-error @+1 {{has sizes that make 'x' larger than 70368744177664 bytes}}
larc.recurrence @operand(%x[K]) -> (o) dims(K = 100000000000000) {
  %c = larc.constant 1.0
  larc.yield %c
}

// -----

// expected-error @+1 {{has sizes that make 'S' larger than 70368744177664 bytes}}
larc.recurrence @state(%x) state(%S[K, V]) -> (o) dims(K = 100000000, V = 100000000) {
  larc.yield %S, %x
}

// -----

// expected-error @+1 {{has sizes that make 'o' larger than 70368744177664 bytes}}
larc.recurrence @output(%x) -> (o[K]) dims(K = 100000000000000) {
  %0 = larc.nest over [K] {
    %o = larc.broadcast %x to [K]
    larc.yield %o
  }
  larc.yield %0
}

// -----

// Three states that rotate are all saved.
// expected-error @+1 {{needs more than 70368744177664 bytes of workspace for these sizes}}
larc.recurrence @workspace(%x) state(%A[K], %B[K], %C[K]) -> (o) dims(K = 8796093022208) {
  larc.yield %B, %C, %A, %x
}
