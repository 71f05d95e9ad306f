// RUN: larc-opt %s --pass-pipeline='builtin.module(larc.recurrence(larc-specialize,larc-bind-dims,larc-decompose,cse,canonicalize),convert-recurrence-to-tile)' -split-input-file | FileCheck %s
// RUN: larc-opt %s --pass-pipeline='builtin.module(larc.recurrence(larc-specialize,larc-bind-dims,larc-decompose,cse,canonicalize),convert-recurrence-to-tile{state-type=bf16})' -split-input-file | FileCheck %s --check-prefix=BF16
// RUN: larc-opt %s --pass-pipeline='builtin.module(larc.recurrence(larc-specialize,larc-bind-dims,larc-decompose,cse,canonicalize),convert-recurrence-to-tile{spare-registers=80})' -split-input-file | FileCheck %s --check-prefix=SPARE

// A part has at most 32 KB of states: 64 KB of f32 are divided, 32 KB of bf16
// are not. 16 warps share a multiprocessor.
// CHECK-LABEL: tile.program @divided(
// CHECK-SAME:    warps 8 parts 2 resident 2 {
// BF16-LABEL: tile.program @divided(
// BF16-SAME:    warps 8 resident 2 {
// With 80 of 128 registers to be left free, parts are smaller.
// SPARE-LABEL: tile.program @divided(
// SPARE-SAME:    warps 8 parts 4 resident 2 {
larc.recurrence @divided(%q[K], %k[K], %v[V]) state(%S[K, V]) -> (o[V])
    dims(K = 128, V = 128) {
  %w = larc.mul %k, %v
  %n = larc.add %S, %w
  %o = larc.contract %n, %q over K
  larc.yield %n, %o
}

// -----

// CHECK-LABEL: tile.program @large(
// CHECK-SAME:    warps 8 parts 8 resident 2 {
// BF16-LABEL: tile.program @large(
// BF16-SAME:    warps 8 parts 4 resident 2 {
larc.recurrence @large(%q[K], %k[K], %v[V]) state(%S[K, V]) -> (o[V])
    dims(K = 256, V = 256) {
  %w = larc.mul %k, %v
  %n = larc.add %S, %w
  %o = larc.contract %n, %q over K
  larc.yield %n, %o
}

// -----

// CHECK-LABEL: tile.program @small(
// CHECK-SAME:    warps 4 resident 4 {
larc.recurrence @small(%q[K], %k[K], %v[V]) state(%S[K, V]) -> (o[V])
    dims(K = 64, V = 64) {
  %w = larc.mul %k, %v
  %n = larc.add %S, %w
  %o = larc.contract %n, %q over K
  larc.yield %n, %o
}

// -----

// Where warps wait for each other twice or more, blocks are small: for each more
// half as large. The turns of a short fold are written out, and what they need
// is loaded before.
// CHECK-LABEL: tile.program @twice(
// CHECK-SAME:    warps 4 parts 4 resident 4 {
larc.recurrence @twice(%q[K], %k[K], %v[V]) state(%S[K, V]) -> (o[V])
    dims(K = 128, V = 128) {
  %r = larc.contract %S, %k over K
  %d = larc.sub %v, %r
  %w = larc.mul %k, %d
  %n = larc.add %S, %w
  %o = larc.contract %n, %q over K
  larc.yield %n, %o
}

// -----

// CHECK-LABEL: tile.program @turns(
// CHECK-SAME:    warps 2 parts 8 resident 10 {
// CHECK-COUNT-5: below %
// CHECK:         scf.for
// CHECK-NOT:     scf.for
// CHECK-COUNT-3: tile.store {{.+}} !tile.shared<2x16xf32>
// CHECK-COUNT-5: below %
// CHECK-NOT:     scf.for
// CHECK:         tile.return
larc.recurrence @turns(%q[K], %k[n, K], %v[n, V]) state(%S[K, V]) -> (o[V])
    dims(K = 128, V = 128, n = 2) {
  %next = larc.fold n over(%kj = %k, %vj = %v) iter(%X = %S) {
    %r = larc.contract %X, %kj over K
    %d = larc.sub %vj, %r
    %w = larc.mul %kj, %d
    %Y = larc.add %X, %w
    larc.yield %Y
  }
  %o = larc.contract %next, %q over K
  larc.yield %next, %o
}

// -----

// The state of the normaliser has no columns to divide. It does not ask for more
// warps, either: what is the same in all lanes needs no registers of theirs.
// CHECK-LABEL: tile.program @whole(
// CHECK-SAME:    warps 8 resident 2 {
// CHECK:         tile.load %{{.+}} -> <16x1xf32, lane = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
larc.recurrence @whole(%q[K], %k[K], %v[V]) state(%C[K, V], %n[K]) -> (o[V])
    dims(K = 128, V = 128) {
  %w = larc.mul %k, %v
  %c = larc.add %C, %w
  %n2 = larc.add %n, %k
  %r = larc.contract %c, %q over K
  %d = larc.contract %n2, %q over K
  %o = larc.div %r, %d
  larc.yield %c, %n2, %o
}

// -----

// The product of vectors comes first in a sum, which is contracted with it. The
// other way it would be computed, and kept, before the state is there.
// CHECK-LABEL: tile.program @order(
// CHECK:         tile.map (%[[A:.+]] = %{{.+}}, %[[S:.+]] = %{{.+}}, %[[K:.+]] = %{{.+}}, %[[V:.+]] = %{{.+}}) :
// CHECK-NEXT:      %[[DECAYED:.+]] = arith.mulf %[[A]], %[[S]]
// CHECK-NEXT:      %[[WRITE:.+]] = arith.mulf %[[K]], %[[V]]
// CHECK-NEXT:      arith.addf %[[WRITE]], %[[DECAYED]]
larc.recurrence @order(%q[K], %k[K], %v[V], %g: gate) state(%S[K, V]) -> (o[V])
    dims(K = 64, V = 64) {
  %a = larc.exp %g
  %d = larc.mul %a, %S
  %w = larc.mul %k, %v
  %n = larc.add %d, %w
  %o = larc.contract %n, %q over K
  larc.yield %n, %o
}

// -----

// Two states share an axis, so that one lies across. It is the one with the
// longer rows in memory, of which each warp then has the larger piece: 64 bytes
// at a time at least.
// CHECK-LABEL: tile.program @across(
// CHECK:         tile.load %{{.+}}[%{{.+}}, %c0] : !tile.global<64x32xf32>
// CHECK:         tile.load %{{.+}}[%c0, %{{.+}}] transposed : !tile.global<32x64xf32> -> <{{.+}}, lane = [0, 4, 0, 8, 0, 16, 4, 0, 8, 0], register = [0, 1, 0, 2, 1, 0, 2, 0]>
larc.recurrence @across(%k[K], %v[V], %s[M]) state(%A[K, M], %B[M, V])
    -> (o[V]) dims(K = 64, V = 64, M = 32) {
  %x = larc.mul %k, %s
  %a = larc.add %A, %x
  %y = larc.mul %s, %v
  %b = larc.add %B, %y
  %r = larc.contract %a, %k over K
  %o = larc.contract %b, %r over M
  larc.yield %a, %b, %o
}

// -----

// The Gram matrix needs columns as rows: both times in the same shared memory.
// What is read only after the loops is loaded there.
// CHECK-LABEL: tile.program @squares(
// CHECK-COUNT-1: tile.alloc : <64x32xf32>
// CHECK-NOT:     tile.alloc : <64x32xf32>
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:           scf.for
// CHECK:           tile.load %{{.+}} transposed : !tile.global<?x64xf32>
larc.recurrence @squares(%q[K]) state(%S[K, V]) -> (o[V]) dims(K = 64, V = 32, W = 32) {
  %t = larc.rename %S V to W
  %g = larc.contract %S, %t over K
  %x = larc.contract %t, %g over W
  %u = larc.rename %x V to W
  %h = larc.contract %x, %u over K
  %y = larc.contract %u, %h over W
  %o = larc.contract %y, %q over K
  larc.yield %x, %o
}
