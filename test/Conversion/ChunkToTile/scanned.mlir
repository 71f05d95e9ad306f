// RUN: larc-opt %s --convert-chunk-to-tile -split-input-file | FileCheck %s

// A state that is scanned: by the warp that has the chunk, before all else.
larc.recurrence @weighted(%q[K], %k[K], %v[V], %s[K])
    state(%S[K, V], %z[K] = -inf) -> (o[V]) dims(K = 64, V = 16) {
  larc.yield %S, %z, %v
}
chunk.scan @weighted size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 64, V = 16) operands(%q[K], %k[K], %v[V], %s[K])
    states(%S[K, V]: diagonal, %z[K]: semiring) {
  %end, %after, %before = chunk.tokens token semiring over(%x = %s) iter(%y = %z) {
    %a = larc.logaddexp %y, %x
    chunk.yield %a, %a, %y
  }
  %change = larc.sub %before, %after
  %decay = larc.exp %change
  %share = larc.sub %s, %after
  %weight = larc.exp %share
  %key = larc.mul %weight, %k
  %reads = chunk.cumulate product %decay over token
  %reader = larc.mul %q, %reads
  %o = larc.contract %S, %reader over K
  %suffix = chunk.cumulate product %decay over token backward exclusive
  %total = chunk.total product %decay over token
  %last = larc.mul %key, %suffix
  %n = chunk.update %S over token decay(%total) keys(%last) values(%v)
  chunk.yield %n, %end, %o
}

// CHECK-LABEL: tile.program @weighted(
// CHECK-SAME:    %[[S:[^:]+]]: !tile.global<?x64xbf16> {tile.argument = #tile.argument<operand>}, %{{[^:]+}}: !tile.global<?x16xbf16> {tile.argument = #tile.argument<output>}
// CHECK-SAME:    %[[I:[^:]+]]: !tile.global<1x64xf32> {tile.argument = #tile.argument<initial>}
// CHECK-SAME:    %[[F:[^:]+]]: !tile.global<1x64xf32> {tile.argument = #tile.argument<final>}) warps 16 {
// What it is before the chunk, and after each token, crosses as a whole.
// CHECK:       %[[STATES:.+]] = tile.alloc : <17x64xf32, pad = 4, stages = 8>
// CHECK:       %[[CARRY:.+]] = tile.alloc : <1x64xf32, pad = 8>
// A barrier for each of the first role's warps.
// CHECK-NEXT:  %[[HANDED:.+]] = tile.alloc_phases : <4 x 1>

// The first warp hands the initial state on, to itself.
// CHECK:       tile.role first 4 warps 4
// CHECK:         %[[SELF:.+]] = tile.warp
// CHECK:         scf.if
// CHECK:           %[[INITIAL:.+]] = tile.load %[[I]]
// CHECK:           tile.store %[[INITIAL]], %[[CARRY]]
// CHECK-NEXT:      tile.phase_arrive %[[HANDED]][%[[SELF]]] : <4 x 1>

// Four groups of four tokens at a time; then what the chunk before made of the
// state, which goes on as soon as may be; then all tokens.
// CHECK:         scf.for
// CHECK:           tile.phase_wait
// CHECK:           tile.phase_wait
// CHECK:           tile.sync_warp
// CHECK-COUNT-4:   tile.load %{{.+}} : !tile.shared<16x64xbf16, swizzle = 128> -> <1x64xbf16, lane = [0, 2, 0, 4, 0, 8, 0, 16, 0, 32], register = [0, 1]>
// CHECK-NEXT:      tile.concat %{{.+}} along rows
// CHECK:             arith.constant 0xFF800000 : f32
// CHECK:           tile.map
// CHECK:             math.exp %{{.+}} fastmath<afn> : f32
// CHECK-NEXT:        math.log1p %{{.+}} fastmath<afn> : f32
// CHECK:           %[[AT:.+]] = tile.stage %[[STATES]]
// CHECK:           tile.store %{{.+}}, %[[AT]][%c0
// CHECK:           tile.phase_wait %[[HANDED]][%[[SELF]]] parity
// CHECK:           %[[BEFORE:.+]] = tile.load %[[CARRY]]
// CHECK:           tile.store %[[BEFORE]], %[[AT]][%c0
// CHECK:           %[[AFTER:.+]] = tile.map
// CHECK:           tile.store %[[AFTER]], %[[CARRY]]
// CHECK:           %[[NEXT:.+]] = arith.remui
// CHECK-NEXT:      tile.phase_arrive %[[HANDED]][%[[NEXT]]] : <4 x 1>
// CHECK:           tile.load %[[AT]][%c0
// CHECK-COUNT-16:  tile.store %{{.+}} : <1x64xf32, lane = [0, 2, 0, 4, 0, 8, 0, 16, 0, 32], register = [0, 1]>, !tile.shared<17x64xf32, pad = 4>
// CHECK:           tile.sync_warp

// The logarithms of a decay are a state's decreases, whose sum is one, too: no
// scan, and no triangle of ones.
// CHECK:           scf.for
// CHECK:             tile.load %{{.+}} : !tile.shared<17x64xf32, pad = 4> -> <1x32xf32, cols acc>
// CHECK:             tile.load %{{.+}} : !tile.shared<17x64xf32, pad = 4> -> <16x32xf32, acc>
// CHECK-NOT:         tile.scan
// CHECK:             tile.vote all
// CHECK:         scf.if
// CHECK:           tile.phase_wait %[[HANDED]][%[[SELF]]] parity
// CHECK-NEXT:      %{{.*}} = arith.constant
// CHECK:           tile.load %[[CARRY]]
// CHECK:           tile.store %{{.+}}, %[[F]]

// -----

// A number that is shifted, too: what shifts add up to goes along.
larc.recurrence @shifted(%q[K], %k[K], %v[V], %f, %i)
    state(%m, %S[K, V]) -> (o[V]) dims(K = 64, V = 16) {
  larc.yield %m, %S, %v
}
chunk.scan @shifted size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 64, V = 16) operands(%q[K], %k[K], %v[V], %f, %i)
    states(%m: semiring, %S[K, V]: diagonal) {
  %end, %after = chunk.tokens token semiring over(%x = %f, %y = %i) iter(%z = %m) {
    %a = larc.sub %z, %x
    %b = larc.min %y, %a
    chunk.yield %b, %b
  }
  %key = larc.mul %after, %k
  %o = larc.contract %S, %q over K
  %n = chunk.update %S over token keys(%key) values(%v)
  chunk.yield %end, %n, %o
}

// CHECK-LABEL: tile.program @shifted(
// CHECK:       tile.alloc : <17x1xf32, pad = 3, stages = 8>
// CHECK:       tile.role first 4 warps 4
// CHECK:           tile.pick
// CHECK:             arith.constant 0x7F800000 : f32
// CHECK:             arith.negf
// CHECK:             arith.addf
// CHECK:             arith.minimumf
