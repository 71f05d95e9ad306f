// RUN: larc-opt %s --convert-chunk-to-tile=segments -split-input-file | FileCheck %s
// RUN: larc-opt %s --convert-chunk-to-tile=parts=4 -split-input-file | FileCheck %s --check-prefix=MORE

// Two blocks have 128 values each, and all keys.
// CHECK-LABEL: tile.program @plain_segments(
// CHECK-SAME:    tile.global<258x256xf32> {tile.argument = #tile.argument<scratch>}) warps 20 parts 2 {
// CHECK-LABEL: tile.program @plain_compose({{.*}} warps 8 {
// CHECK-LABEL: tile.program @plain(
// CHECK-SAME:    %[[Q:[^:]+]]: !tile.global<?x64xbf16>
// CHECK-SAME:    %[[V:[^:]+]]: !tile.global<?x200xbf16> {tile.argument = #tile.argument<operand>}
// CHECK-SAME:    %[[O:[^:]+]]: !tile.global<?x200xbf16> {tile.argument = #tile.argument<output>}
// CHECK-SAME:    %[[I:[^:]+]]: !tile.global<64x200xf32> {tile.argument = #tile.argument<initial>}
// CHECK-SAME:    warps 16 parts 2 {
// CHECK:       %[[PART:.+]] = tile.part
// CHECK:       %[[FROM:.+]] = arith.muli %[[PART]], %c128
// CHECK:       tile.copy_async %[[Q]][%{{.+}}, %c0{{.*}}] {{.+}}<16x64xbf16
// CHECK:       tile.copy_async %[[V]][%{{.+}}, %[[FROM]]] {{.+}}<16x128xbf16
// CHECK:       tile.role first 8 warps 8
// CHECK:         %[[OWN:.+]] = arith.muli %{{.+}}, %c16
// CHECK:         %[[AT:.+]] = arith.addi %[[FROM]], %[[OWN]]
// CHECK:         tile.load %[[I]][%{{.+}}, %[[AT]]] transposed below %c64
// CHECK:         scf.for
// CHECK:           %[[COL:.+]] = arith.addi %[[FROM]],
// CHECK:           tile.store %{{.+}}, %[[O]][%{{.+}}, %[[COL]]]
// MORE-LABEL: tile.program @plain({{.*}} warps 16 parts 4 {
// MORE:         arith.muli %{{.+}}, %c64
// MORE:         tile.copy_async %{{.+}}<16x64xbf16
larc.recurrence @plain(%q[K], %k[K], %v[V]) state(%S[K, V]) -> (o[V])
    dims(K = 64, V = 200) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}
chunk.scan @plain size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 64, V = 200) operands(%q[K], %k[K], %v[V])
    states(%S[K, V]: diagonal) {
  %o = larc.contract %q, %S over K
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %o
}

// -----

// Warps divide 256 keys in two, and meet to add what they have read.
// CHECK-LABEL: tile.program @wide({{.*}} warps 16 parts 4 {
// CHECK:       arith.muli %{{.+}}, %c64
// CHECK:       %[[PARTS:.+]] = tile.alloc : <128x32xf32, pad = 8>
// CHECK:       tile.role first 8 warps 8
// CHECK:         scf.for
// CHECK:           %[[HALF:.+]] = arith.divui %{{.+}}, %c4
// CHECK:           %[[COL:.+]] = arith.muli %[[HALF]], %c128
// CHECK:           tile.wgmma {{.+}}[%{{.+}}, %[[COL]]] transposed : !tile.reg<16x32xf32, acc>, !tile.reg<16x128xbf16, lhs>, <32x256xbf16
// CHECK:           tile.wgmma {{.+}} : !tile.reg<16x128xf32, acc>
// CHECK:           tile.barrier
// CHECK:           tile.store %{{.+}}, %[[PARTS]]
// CHECK:           tile.barrier
// CHECK:           tile.load %[[PARTS]]
// MORE-LABEL: tile.program @wide({{.*}} warps 16 parts 4 {
larc.recurrence @wide(%q[K], %k[K], %v[V]) state(%S[K, V]) -> (o[V])
    dims(K = 136, V = 256) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}
chunk.scan @wide size 32 tokens(token from 0 size 32, source from 0 size 32)
    dims(K = 136, V = 256) operands(%q[K], %k[K], %v[V])
    states(%S[K, V]: diagonal) {
  %o = larc.contract %q, %S over K
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %o
}
