// RUN: larc-opt %s --convert-chunk-to-tile | FileCheck %s

// Of 64 channels there are 24, which the first role does in one pass. What it
// writes of the others is zero in all stages: the decays. Copies of readers and
// keys bring zeros to what lies over those.
// CHECK-LABEL: tile.program @gated(
// CHECK:       tile.role first 4 warps 4
// CHECK:         %[[SELF:.+]] = tile.warp
// CHECK:         scf.for %[[STAGE:.+]] = %[[SELF]] to %c{{.+}} step %c4{{.*}} {
// CHECK:           %[[DECAYS:.+]] = tile.stage %{{.+}}[%[[STAGE]]] : <1x64xf32, stages =
// CHECK:           %[[ZEROS:.+]] = tile.splat %{{.+}} : <1x32xf32,
// CHECK:           tile.store %[[ZEROS]], %[[DECAYS]][%{{.+}}, %c32{{.*}}]
// CHECK-NOT:       tile.store
// CHECK:         }
// CHECK-NEXT:    tile.fence_async
// CHECK:         tile.barrier id %{{.+}} warps 4
// CHECK:         scf.for
// CHECK-NOT:       scf.for
// CHECK:           tile.vote
larc.recurrence @gated(%q[K], %k[K], %v[V], %g[K]: gate) state(%S[K, V])
    -> (o[V]) dims(K = 24, V = 64) {
  %a = larc.exp %g
  %d = larc.mul %a, %S
  %w = larc.mul %k, %v
  %n = larc.add %d, %w
  %o = larc.contract %n, %q over K
  larc.yield %n, %o
}
chunk.scan @gated size 16
    tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 24, V = 64)
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
