// RUN: larc-opt %s --convert-chunk-to-tile=segments -split-input-file | FileCheck %s

// The first program runs over its segment from zeros, and keeps the state that
// it makes and the product of all decays.
// CHECK-LABEL: tile.program @gated_segments(
// CHECK-SAME:    %[[I:[^:]+]]: !tile.global<16x16xf32> {tile.argument = #tile.argument<initial>}
// CHECK-SAME:    %[[R:[^:]+]]: !tile.global<66x128xf32> {tile.argument = #tile.argument<scratch>}) warps 20 {
// CHECK:       %[[LENGTH:.+]] = tile.length
// CHECK:       %[[SEGMENT:.+]] = tile.segment{{$}}
// CHECK:       %[[COUNT:.+]] = tile.segments
// CHECK:       %[[LAST:.+]] = arith.subi %[[COUNT]], %c1
// CHECK:       %[[CHUNKS:.+]] = arith.divui
// CHECK:       %[[SIZE:.+]] = arith.muli %[[CHUNKS]], %c16
// CHECK:       %[[AT:.+]] = arith.muli %[[SEGMENT]], %[[SIZE]]
// CHECK:       %[[FROM:.+]] = arith.minui %[[AT]], %[[LENGTH]]
// CHECK:       %[[TO:.+]] = arith.addi %[[FROM]], %[[SIZE]]
// CHECK:       %[[END:.+]] = arith.minui %[[TO]], %[[LENGTH]]
// CHECK:       %[[IS_LAST:.+]] = arith.cmpi eq, %[[SEGMENT]], %[[LAST]]
// CHECK:       %[[STOP:.+]] = arith.select %[[IS_LAST]], %[[FROM]], %[[END]]
// Neither readers nor scores are computed, so that twice the warps have
// registers.
// CHECK:       tile.role first 0 warps 4
// CHECK:         scf.for %{{.+}} = %[[FROM]] to %[[STOP]] step
// CHECK-NOT:       tile.copy_async %arg0
// CHECK:       tile.role first 4 warps 8 registers 112
// CHECK:         %[[SELF:.+]] = tile.warp
// Two warps share a chunk.
// CHECK:         %[[GROUP:.+]] = arith.divui %[[SELF]], %c2
// CHECK:         %[[NUMBER:.+]] = arith.remui %[[SELF]], %c2
// CHECK:         %[[OWN:.+]] = arith.muli %[[GROUP]], %c16
// CHECK:         %[[BEGIN:.+]] = arith.addi %[[FROM]], %[[OWN]]
// CHECK:         arith.select %{{.+}}, %[[BEGIN]], %[[STOP]]
// CHECK:         scf.for %{{.+}} = %[[NUMBER]] to
// CHECK-NOT:     tile.mma_rows
// CHECK:       tile.role first 12 warps 8
// CHECK:         %[[HANDS_ON:.+]] = arith.cmpi eq, %[[SEGMENT]], %[[LAST]]
// CHECK:         %[[FIRST:.+]] = scf.if %[[HANDS_ON]] -> (!tile.reg<16x64xf32, acc>)
// CHECK:           tile.load %[[I]][
// CHECK:         } else {
// CHECK:           tile.splat %cst
// CHECK:         }
// CHECK:         %[[ONES:.+]] = tile.splat
// CHECK:         %[[RESULT:.+]]:2 = scf.for {{.+}} iter_args(%{{.+}} = %[[FIRST]], %{{.+}} = %[[ONES]])
// CHECK:         tile.store %[[RESULT]]#0, %[[R]][
// CHECK:         tile.store %[[RESULT]]#1, %[[R]][

// The second composes the records, of which it loads many before it uses the
// first. Blocks divide the rows of a head's state, two of which a warp has.
// CHECK-LABEL: tile.program @gated_compose(
// CHECK-SAME:    %[[R:[^:]+]]: !tile.global<66x128xf32> {tile.argument = #tile.argument<scratch>}) warps 8 {
// CHECK-DAG:   %[[SEGMENT:.+]] = tile.segment{{$}}
// CHECK-DAG:   %[[COUNT:.+]] = tile.segments
// CHECK:       %[[END:.+]] = arith.muli %[[COUNT]], %c66
// CHECK:       %[[WARP:.+]] = tile.warp
// CHECK:       %[[OTHERS:.+]] = arith.muli %[[WARP]], %[[COUNT]]
// CHECK:       %[[NUMBER:.+]] = arith.addi %[[OTHERS]], %[[SEGMENT]]
// CHECK:       %[[FEW:.+]] = arith.cmpi ule, %[[COUNT]], %c5
// CHECK:       scf.if %[[FEW]] {
// CHECK:         tile.load {{.+}} -> <8x64xf32,
// CHECK:       } else {
// CHECK:       %[[FIRST:.+]] = arith.muli %[[NUMBER]], %c2
// CHECK:       %[[STEP:.+]] = arith.muli %[[COUNT]], %c16
// CHECK:       scf.for %[[ROW:.+]] = %[[FIRST]] to %c16{{.*}} step %[[STEP]] {
// CHECK:         %[[INITIAL:.+]] = tile.load %[[R]][%[[ROW]],
// CHECK:         scf.for %[[RECORD:.+]] = %c1{{.*}} to %[[COUNT]] step %c16{{.*}} iter_args(%[[S:.+]] = %[[INITIAL]])
// CHECK:           %[[AT:.+]] = arith.muli %[[RECORD]], %c66
// CHECK:           %[[PLACE:.+]] = arith.addi %[[AT]], %[[ROW]]
// CHECK:           %[[ADDED:.+]] = tile.load %[[R]][%[[PLACE]], {{.+}} below %[[END]] : {{.+}} -> <2x64xf32,
// CHECK:           %[[DECAY:.+]] = tile.load %[[R]]{{.+}} below %[[END]] : {{.+}} -> <1x64xf32,
// CHECK-NOT:       tile.map
// CHECK-COUNT-30:  tile.load
// CHECK:           %[[NEXT:.+]] = tile.map ({{.+}} = %[[ADDED]], {{.+}} = %[[S]], {{.+}} = %[[DECAY]])
// CHECK-NEXT:        arith.mulf
// CHECK-NEXT:        arith.addf
// CHECK:           tile.store %[[NEXT]], %[[R]][{{.+}} below %[[END]]
// CHECK:           tile.map ({{.+}}, {{.+}} = %[[NEXT]],

// The third begins with what the segments before its own have led to.
// CHECK-LABEL: tile.program @gated(
// CHECK-SAME:    %[[O:[^:]+]]: !tile.global<?x16xbf16> {tile.argument = #tile.argument<output>}
// CHECK-SAME:    %[[I:[^:]+]]: !tile.global<16x16xf32> {tile.argument = #tile.argument<initial>}
// CHECK-SAME:    %[[R:[^:]+]]: !tile.global<66x128xf32> {tile.argument = #tile.argument<scratch>}) warps 16 {
// CHECK:       %[[SEGMENT:.+]] = tile.segment{{$}}
// CHECK:       tile.role first 8 warps 8
// CHECK:         scf.if
// CHECK:           tile.load %[[I]][
// CHECK:         } else {
// CHECK:           arith.muli %[[SEGMENT]], %c66
// CHECK:           tile.load %[[R]][
// CHECK-NEXT:      scf.yield
// CHECK:         tile.store %{{.+}}, %[[O]][
larc.recurrence @gated(%q[K], %k[K], %v[V], %g[K]: gate) state(%S[K, V])
    -> (o[V]) dims(K = 16, V = 16) {
  %a = larc.exp %g
  %d = larc.mul %a, %S
  %w = larc.mul %k, %v
  %n = larc.add %d, %w
  %o = larc.contract %n, %q over K
  larc.yield %n, %o
}
chunk.scan @gated size 16
    tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16)
    operands(%q[K], %k[K], %v[V], %g[K])
    states(%S[K, V]: diagonal) {
  %a = larc.exp %g
  %before = chunk.cumulate product %a over token exclusive
  %r = larc.mul %q, %a
  %reader = larc.mul %r, %before
  %past = larc.contract %reader, %S over K
  %own = larc.contract %q, %k over K
  %A = chunk.scores %r, %k over K token to source decay(%a) diagonal(%own)
  %o = chunk.mix %A, %v token to source init(%past)
  %after = chunk.cumulate product %a over token backward exclusive
  %all = chunk.total product %a over token
  %key = larc.mul %k, %after
  %n = chunk.update %S over token decay(%all) keys(%key) values(%v)
  chunk.yield %n, %o
}
