// RUN: larc-opt %s --pass-pipeline='builtin.module(larc.recurrence(larc-specialize,larc-expand-levels,larc-bind-dims,larc-decompose,cse,canonicalize),convert-recurrence-to-tile{parts=1})' -split-input-file | FileCheck %s
// RUN: larc-opt %s --pass-pipeline='builtin.module(larc.recurrence(larc-specialize,larc-expand-levels,larc-bind-dims,larc-decompose,cse,canonicalize,larc-form-nests),convert-recurrence-to-tile{state-type=bf16 parts=1})' -split-input-file | FileCheck %s --check-prefix=BF16

// Rows of the state are divided over 8 warps. The read is summed in each of
// them, and then across them.
// CHECK-LABEL: tile.program @gated(
// CHECK-SAME:    %[[Q:[^:]+]]: !tile.global<?x128xf32> {tile.argument = #tile.argument<operand>}
// CHECK-SAME:    %[[O:[^:]+]]: !tile.global<?x128xf32> {tile.argument = #tile.argument<output>}
// CHECK-SAME:    %[[S:[^:]+]]: !tile.global<128x128xf32> {tile.argument = #tile.argument<initial>}
// CHECK-SAME:    %[[F:[^:]+]]: !tile.global<128x128xf32> {tile.argument = #tile.argument<final>}) warps 8 resident 2 {
// CHECK:         %[[WARP:.+]] = tile.warp
// CHECK:         %[[ROW:.+]] = arith.muli %[[WARP]], %c16
// CHECK:         tile.alloc : <8x128xf32>
// CHECK:         %[[INITIAL:.+]] = tile.load %[[S]][%[[ROW]], %c0]
// CHECK:         %[[FINAL:.+]] = scf.for %[[T:.+]] = {{.+}} iter_args(%[[OLD:.+]] = %[[INITIAL]])
// CHECK:           %[[QT:.+]] = tile.load %[[Q]][%[[T]], %[[ROW]]] transposed : {{.+}} -> <16x1xf32
// CHECK:           %[[A:.+]] = tile.map
// CHECK-NEXT:        math.exp
// CHECK:           %[[NEW:.+]] = tile.map ({{.+}} = %[[A]], {{.+}} = %[[OLD]],
// CHECK-NEXT:        arith.mulf
// CHECK-NEXT:        arith.mulf
// CHECK-NEXT:        arith.addf
// CHECK:           %[[P:.+]] = tile.map ({{.+}} = %[[NEW]], {{.+}} = %[[QT]])
// CHECK:           %[[PARTIAL:.+]] = tile.reduce sum %[[P]] along rows
// CHECK:           tile.barrier
// CHECK-NEXT:      tile.store %[[PARTIAL]], %[[X:.+]][%[[WARP]], %c0]
// CHECK-NEXT:      tile.barrier
// CHECK-NEXT:      %[[ALL:.+]] = tile.load %[[X]][%c0, %c0]
// CHECK-NEXT:      %[[SUM:.+]] = tile.reduce sum %[[ALL]] along rows
// CHECK:           arith.cmpi eq, %[[WARP]], %c0
// CHECK:           scf.if
// CHECK-NEXT:        tile.store %{{.+}}, %[[O]][%[[T]], %c0]
// CHECK:           scf.yield %[[NEW]]
// CHECK:         tile.store %[[FINAL]], %[[F]][%[[ROW]], %c0]

// A state in bf16 is computed with in f32, and rounded once.
// BF16-LABEL: tile.program @gated(
// BF16:         tile.load %{{.+}} : !tile.global<128x128xbf16> -> <16x128xbf16
// BF16-NEXT:    tile.convert
// BF16:         scf.for
// BF16-NOT:     bf16
// BF16:           math.exp
// BF16:           scf.yield
// BF16:         tile.convert
// BF16-NEXT:    tile.store
larc.recurrence @gated(%q[K], %k[K], %v[V], %g[K]: gate) state(%S[K, V])
    -> (o[V]) dims(K = 128, V = 128) {
  %a = larc.exp %g
  %d = larc.mul %a, %S
  %w = larc.mul %k, %v
  %n = larc.add %d, %w
  %o = larc.contract %n, %q over K
  larc.yield %n, %o
}

// -----

// The read before the write and the read after it take turns in shared memory:
// one barrier for each. No vector is loaded in between: those of the first token
// come with the states, those of the next at the end of each, if there is one.
// CHECK-LABEL: tile.program @delta(
// CHECK:         %[[LENGTH:.+]] = tile.length
// CHECK-NEXT:    tile.load %{{.+}}[%c0, %{{.+}}] transposed below %[[LENGTH]] : !tile.global<?x64xf32>
// CHECK-COUNT-3: tile.load %{{.+}}[%c0, %{{.+}}below %[[LENGTH]]
// CHECK:         tile.load %{{.+}} : !tile.global<64x64xf32>
// CHECK:         scf.for
// CHECK:         tile.barrier
// CHECK-NEXT:    tile.store {{.+}}, %[[X:[0-9]+]][
// CHECK-NEXT:    tile.barrier
// CHECK-NEXT:    tile.load %[[X]]
// CHECK-NOT:     tile.barrier
// CHECK:         tile.store {{.+}}, %[[Y:[0-9]+]][%{{.+}}, %c0] : <1x64xf32
// CHECK-NEXT:    tile.barrier
// CHECK-NEXT:    tile.load %[[Y]]
// CHECK-NOT:     tile.barrier
// CHECK:         %[[NEXT:.+]] = arith.addi %{{.+}}, %c1
// CHECK:         tile.load %{{.+}}[%[[NEXT]], %{{.+}}] transposed below %[[LENGTH]] : !tile.global<?x64xf32>
// CHECK:         scf.yield
// CHECK:         tile.return
larc.recurrence @delta(%q[K], %k[K], %v[V], %b: coefficient) state(%S[K, V])
    -> (o[V]) dims(K = 64, V = 64) {
  %known = larc.contract %S, %k over K
  %error = larc.sub %v, %known
  %step = larc.mul %b, %error
  %w = larc.mul %k, %step
  %n = larc.add %S, %w
  %o = larc.contract %n, %q over K
  larc.yield %n, %o
}

// -----

// Two states share the axis of their rows; the softmax runs along it. Slots
// that only the tile has are left out.
// CHECK-LABEL: tile.program @slots(
// CHECK:         %[[I:.+]] = tile.index rows
// CHECK:         %[[MASK:.+]] = tile.map ({{.+}} = %[[I]]
// CHECK:           arith.cmpi slt
// CHECK:         tile.load %{{.+}}[%{{.+}}, %c0] below %{{.+}} : !tile.global<50x64xf32>
// CHECK:         tile.load %{{.+}}[%{{.+}}, %c0] below %{{.+}} : !tile.global<50x32xf32>
// CHECK:         scf.for
// CHECK:         tile.reduce sum %{{.+}} along cols
// CHECK:         %[[LEFT:.+]] = tile.map ({{.+}}, {{.+}} = %[[MASK]])
// CHECK:           arith.select
// CHECK:         tile.reduce max %[[LEFT]] along rows
// CHECK:         tile.reduce max
// CHECK:         math.exp
// CHECK:         tile.reduce sum %{{.+}} along rows
larc.recurrence @slots(%q[K], %k[K], %v[V], %s[M])
    state(%A[M, K], %B[M, V]) -> (o[V]) dims(K = 64, V = 32, M = 50) {
  %w = larc.mul %s, %k
  %a = larc.add %A, %w
  %x = larc.mul %s, %v
  %b = larc.add %B, %x
  %r = larc.contract %a, %q over K
  %p = larc.softmax %r over M
  %o = larc.contract %b, %p over M
  larc.yield %a, %b, %o
}

// -----

// Vectors over columns and numbers are the same in all warps: one of them
// writes, after all have read.
// CHECK-LABEL: tile.program @normalised(
// CHECK-COUNT-3: tile.load
// CHECK:         %[[LOOP:.+]]:7 = scf.for
// CHECK:           scf.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    tile.barrier
// CHECK-NEXT:    tile.store %[[LOOP]]#0, %{{.+}}[%{{.+}}, %c0]
// CHECK:         tile.store %[[LOOP]]#1, %{{.+}}[%c0, %{{.+}}] transposed
// CHECK:         scf.if
// CHECK-NEXT:      tile.store %{{.+}}#2,
larc.recurrence @normalised(%q[K], %k[K], %v[V], %i) state(%C[K, V], %n[K], %m)
    -> (o[V]) dims(K = 64, V = 64) {
  %m2 = larc.max %m, %i
  %w = larc.mul %k, %v
  %c = larc.add %C, %w
  %n2 = larc.add %n, %k
  %r = larc.contract %c, %q over K
  %d = larc.contract %n2, %q over K
  %o = larc.div %r, %d
  larc.yield %c, %n2, %m2, %o
}

// -----

// A third axis in a sum gets a loop; what fires stands in a branch.
// CHECK-LABEL: tile.program @bank(
// CHECK:         tile.position
// CHECK:         scf.for
// CHECK:           arith.remui
// CHECK:           scf.if
// CHECK:             scf.for %[[J:.+]] = %c0 to %c8 step %c1 iter_args
// CHECK:               tile.load %{{.+}}[%[[J]], %{{.+}}] transposed : !tile.global<8x64xf32>
// CHECK:               tile.reduce sum
// CHECK:               scf.yield
// CHECK:             scf.yield
// CHECK:           } else {
// CHECK-NEXT:        scf.yield
larc.recurrence @bank(%q[K], %k[K], %v[V]) constant(%bank[n, K])
    state(%S[K, V]) attributes(period = period(4)) -> (o[V])
    dims(K = 64, V = 64, n = 8) {
  %w = larc.mul %k, %v
  %a = larc.add %S, %w
  %s = larc.fire every 2 iter(%X = %a) {
    %values = larc.contract %X, %bank over K
    %y = larc.contract %values, %bank over n
    larc.yield %y
  }
  %o = larc.contract %s, %q over K
  larc.yield %s, %o
}
