// RUN: larc-opt %s | larc-opt | FileCheck %s

// CHECK-LABEL: tile.program @copies
// CHECK-SAME: {tile.argument = #tile.argument<operand>, tile.box_rows = 32 : i64}
tile.program @copies(
    %x: !tile.global<?x72xbf16> {tile.argument = #tile.argument<operand>, tile.box_rows = 32},
    %g: !tile.global<?x128xf32> {tile.argument = #tile.argument<operand>, tile.box_rows = 32})
    warps 1 {
  %zero = arith.constant 0 : index
  %full = tile.alloc_phases : !tile.phases<2 x 1>
  %s = tile.alloc : !tile.shared<32x128xbf16, swizzle = 128>
  %t = tile.alloc : !tile.shared<32x128xf32, swizzle = 128>
  // CHECK: tile.copy_bulk %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} on %{{.*}}[%{{.*}}] : {{.*}}<?x72xbf16>, {{.*}}<32x128xbf16, swizzle = 128>, {{.*}}<2 x 1>
  tile.copy_bulk %x[%zero, %zero] to %s on %full[%zero] : !tile.global<?x72xbf16>, !tile.shared<32x128xbf16, swizzle = 128>, !tile.phases<2 x 1>
  // CHECK: tile.copy_bulk {{.*}}f32
  tile.copy_bulk %g[%zero, %zero] to %t on %full[%zero] : !tile.global<?x128xf32>, !tile.shared<32x128xf32, swizzle = 128>, !tile.phases<2 x 1>
  tile.return
}
