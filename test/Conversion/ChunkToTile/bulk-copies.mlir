// RUN: larc-opt %s --convert-chunk-to-tile='copies=bulk segments' -split-input-file | FileCheck %s
// RUN: larc-opt %s --convert-chunk-to-tile='copies=bulk' -split-input-file | larc-opt --split-input-file --larc-tile-to-kernel | FileCheck %s --check-prefix=KERNEL

// All programs have the same tensor maps, of operands with channels.
// CHECK-LABEL: tile.program @gated_segments(
// CHECK-SAME:    tile.box_rows = 16
// CHECK-LABEL: tile.program @gated_compose(
// CHECK-SAME:    %{{[^:]+}}: !tile.global<?x16xbf16> {tile.argument = #tile.argument<operand>, tile.box_rows = 16 : i64}
// CHECK-LABEL: tile.program @gated(
// CHECK-SAME:    %[[Q:[^:]+]]: !tile.global<?x16xbf16> {tile.argument = #tile.argument<operand>, tile.box_rows = 16 : i64}
// CHECK-SAME:    %[[K:[^:]+]]: !tile.global<?x16xbf16> {tile.argument = #tile.argument<operand>, tile.box_rows = 16 : i64}
// CHECK-SAME:    %[[V:[^:]+]]: !tile.global<?x16xbf16> {tile.argument = #tile.argument<operand>, tile.box_rows = 16 : i64}
// CHECK-SAME:    %[[G:[^:]+]]: !tile.global<1x1xf32> {tile.argument = #tile.argument<constant>}
// CHECK:       %[[QS:.+]] = tile.alloc : <16x64xbf16, swizzle = 128, stages = 8>
// CHECK:       %[[LANDED:.+]] = tile.alloc_phases : <8 x 1>
// CHECK-NEXT:  tile.alloc_phases : <8 x 1>
// CHECK-NEXT:  tile.alloc_phases : <8 x 8>
// One warp says what is to be copied, and needs few registers.
// CHECK:       tile.role first 0 warps 4 registers 24 {
// CHECK:         %[[WARP:.+]] = tile.warp
// CHECK:         %[[FIRST:.+]] = arith.cmpi eq, %[[WARP]], %c0
// CHECK-NEXT:    scf.if %[[FIRST]] {
// CHECK:           scf.for %[[T:.+]] = 
// CHECK:             tile.phase_wait
// CHECK:             %[[AT:.+]] = tile.stage %[[QS]][%[[STAGE:.+]]]
// CHECK-NEXT:        tile.copy_bulk %[[Q]][%[[T]], %{{.+}}] to %[[AT]] on %[[LANDED]][%[[STAGE]]]
// CHECK:             tile.copy_bulk %[[K]][
// CHECK:             tile.copy_bulk %[[V]][
// CHECK-NOT:         tile.copy
// CHECK:             tile.phase_arrive %[[LANDED]][%[[STAGE]]]
// Who reads them waits for the stage, too: first, since copies land in any
// order.
// CHECK:       tile.role first 4 warps 4 registers
// CHECK:         scf.for
// CHECK:           tile.phase_wait %{{.+}} : <8 x 8>
// CHECK-NEXT:      tile.phase_wait %[[LANDED]]
// KERNEL: llvm.func @gated(
// KERNEL-SAME: nvvm.grid_constant
// KERNEL: cp.async.bulk.tensor.4d
larc.recurrence @gated(%q[K], %k[K], %v[V]) constant(%g: gate) state(%S[K, V])
    -> (o[V]) dims(K = 16, V = 16) {
  %a = larc.exp %g
  %d = larc.mul %a, %S
  %w = larc.mul %k, %v
  %n = larc.add %d, %w
  %o = larc.contract %n, %q over K
  larc.yield %n, %o
}
chunk.scan @gated size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V]) constants(%g)
    states(%S[K, V]: diagonal) {
  %a = larc.exp %g
  %o = larc.contract %q, %S over K
  %n = chunk.update %S over token decay(%a) keys(%k) values(%v)
  chunk.yield %n, %o
}

// -----

// Rows of 20 bytes are in no map: all operands are copied by warps.
// CHECK-LABEL: tile.program @odd(
// CHECK-NOT:     tile.box_rows
// CHECK:       tile.role first 0 warps 4 registers 48 {
// CHECK-NOT:     tile.copy_bulk
// CHECK:         tile.copy_async
// CHECK-NOT:     tile.copy_bulk
// CHECK:       tile.return
// KERNEL: llvm.func @odd(
// KERNEL-NOT: nvvm.grid_constant
larc.recurrence @odd(%q[K], %k[K], %v[V]) constant(%g: gate) state(%S[K, V])
    -> (o[V]) dims(K = 10, V = 16) {
  %a = larc.exp %g
  %d = larc.mul %a, %S
  %w = larc.mul %k, %v
  %n = larc.add %d, %w
  %o = larc.contract %n, %q over K
  larc.yield %n, %o
}
chunk.scan @odd size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 10, V = 16) operands(%q[K], %k[K], %v[V]) constants(%g)
    states(%S[K, V]: diagonal) {
  %a = larc.exp %g
  %o = larc.contract %q, %S over K
  %n = chunk.update %S over token decay(%a) keys(%k) values(%v)
  chunk.yield %n, %o
}
