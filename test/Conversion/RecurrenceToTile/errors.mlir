// RUN: larc-opt %s --convert-recurrence-to-tile -split-input-file -verify-diagnostics

// expected-error @below {{is not flat and bound}}
larc.recurrence @unbound(%q[K]) -> (o[K]) {
  larc.yield %q
}

// -----

larc.recurrence @composite(%q[K]) -> (o[K]) dims(K = 8) {
  // expected-error @below {{is not decomposed yet}}
  %o = larc.softmax %q over K
  larc.yield %o
}

// -----

// expected-error @below {{has a state 'S' of 3 axes: a tile has rows and columns only}}
larc.recurrence @cube(%q[K]) state(%S[K, L, M]) -> (o[L, M]) dims(K = 4, L = 4, M = 4) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}

// -----

// Three states on three axes.
// expected-error @below {{those that stand together in an array form an odd ring}}
larc.recurrence @ring(%q[K]) state(%A[K, L], %B[L, M], %C[M, K]) -> (o[L])
    dims(K = 4, L = 4, M = 4) {
  %o = larc.contract %A, %q over K
  larc.yield %A, %B, %C, %o
}

// -----

larc.recurrence @product(%q[K]) state(%A[K, L], %B[L, M]) -> (o[L])
    dims(K = 4, L = 4, M = 4) {
  // expected-error @below {{has no place in tiles of rows and columns: the axes [K, L, M] are those of states}}
  %p = larc.contract %A, %B over L
  %r = larc.contract %p, %q over K
  %s = larc.contract %B, %r over M
  larc.yield %A, %B, %s
}

// -----

// Columns that a sum runs over cannot be divided.
// expected-error @below {{needs about 524 registers a lane in 16 warps: expected at most 128}}
larc.recurrence @large(%q[K]) state(%S[K, V]) -> (o[V]) dims(K = 256, V = 512) {
  %r = larc.contract %S, %q over K
  %m = larc.reduce max %r over V
  %o = larc.sub %r, %m
  larc.yield %S, %o
}

// -----

// expected-error @below {{has an axis 'K' of size 2048: expected 1 to 1024}}
larc.recurrence @long(%q[K]) -> (o[K]) dims(K = 2048) {
  larc.yield %q
}
