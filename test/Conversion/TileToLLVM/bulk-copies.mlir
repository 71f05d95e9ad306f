// RUN: larc-opt %s --convert-tile-to-llvm | FileCheck %s
// RUN: larc-opt %s --larc-tile-to-kernel | larc-translate --mlir-to-ptx | FileCheck %s --check-prefix=PTX
// RUN: not larc-opt %s --convert-tile-to-llvm=compute-capability=80 2>&1 | FileCheck %s --check-prefix=OLD

// OLD: 'tile.copy_bulk' op needs a GPU of compute capability 9.0, found 8.0

// Maps come after all other parameters, two for each argument that has some.
// CHECK-LABEL: llvm.func @copies(
// CHECK-SAME:    %arg9: i32, %arg10: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}, %arg11: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant})
// PTX-LABEL: .entry copies(
// PTX: .param .align 64 .b8 copies_param_{{[0-9]+}}[128],
// PTX-NEXT: .param .align 64 .b8 copies_param_{{[0-9]+}}[128]
// PTX-NEXT: )
tile.program @copies(
    %q: !tile.global<?x104xbf16> {tile.argument = #tile.argument<operand>, tile.box_rows = 16})
    warps 4 {
  tile.return
}

// CHECK-LABEL: llvm.func @copy(
// CHECK-SAME:    %[[OFFSETS:[a-z0-9]+]]: !llvm.ptr<1>,
// PTX-LABEL: .entry copy(
tile.program @copy(
    %q: !tile.global<?x128xbf16> {tile.argument = #tile.argument<operand>, tile.box_rows = 32},
    %g: !tile.global<?x64xf32> {tile.argument = #tile.argument<operand>, tile.box_rows = 32})
    warps 4 {
  %zero = arith.constant 0 : index
  %row = arith.constant 64 : index
  %full = tile.alloc_phases : !tile.phases<2 x 1>
  %s = tile.alloc : !tile.shared<32x128xbf16, swizzle = 128>
  %t = tile.alloc : !tile.shared<32x64xf32, swizzle = 128>
  // One lane counts the bytes of all panels.
  // CHECK: llvm.inline_asm has_side_effects {{.*}}"{ .reg .pred p; elect.sync _|p, 0xffffffff; @p mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$0], 8192; }"
  // A whole box, if the tokens exist or nothing lies behind them; else rows one
  // by one, those that do not exist from outside of the tensor.
  // CHECK: %[[EXIST:.*]] = arith.cmpi sle
  // CHECK: %[[ALONE:.*]] = llvm.icmp "eq" %[[OFFSETS]], %{{.*}} : !llvm.ptr<1>
  // CHECK: %[[WHOLE:.*]] = arith.ori %[[EXIST]], %[[ALONE]]
  // CHECK: %[[MAP:.*]] = arith.select %[[WHOLE]], %arg15, %arg16 : !llvm.ptr
  // CHECK: %[[ONE:.*]] = arith.constant 1 : index
  // CHECK: %[[ROWS:.*]] = arith.constant 32 : index
  // CHECK: %[[COUNT:.*]] = arith.select %[[WHOLE]], %[[ONE]], %[[ROWS]] : index
  // CHECK: scf.for %{{.*}} = %{{.*}} to %[[COUNT]]
  // CHECK:   nvvm.bar.warp.sync
  // CHECK:   %[[OUTSIDE:.*]] = arith.constant -1 : i32
  // CHECK:   %[[TOKEN:.*]] = arith.select %{{.*}}, %{{.*}}, %[[OUTSIDE]] : i32
  // What has a distance of 0 has one coordinate.
  // CHECK:   arith.cmpi eq, %{{.*}}, %{{.*}} : i64
  // CHECK:   %[[SEQUENCE:.*]] = arith.select
  // CHECK:   llvm.inline_asm has_side_effects {{.*}}cp.async.bulk.tensor.4d.shared::cta.global.tile.mbarrier::complete_tx::bytes [$5], [$1, {$6, $2, $3, $4}], [$0]; @p cp.async.bulk.tensor.4d.shared::cta.global.tile.mbarrier::complete_tx::bytes [$7], [$1, {$8, $2, $3, $4}], [$0]; }", "r,l,r,r,r,r,r,r,r,~{memory}" %{{.*}}, %[[MAP]], %{{.*}}, %[[TOKEN]], %[[SEQUENCE]],
  // PTX: mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r{{[0-9]+}}], 8192;
  // PTX: @p cp.async.bulk.tensor.4d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r{{[0-9]+}}], [%rd{{[0-9]+}}, {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}}], [%r{{[0-9]+}}];
  tile.copy_bulk %q[%row, %zero] to %s on %full[%zero] : !tile.global<?x128xbf16>, !tile.shared<32x128xbf16, swizzle = 128>, !tile.phases<2 x 1>
  // Panels of 32 float32.
  // CHECK: mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$0], 8192;
  // CHECK: arith.constant 32 : i32
  // CHECK: cp.async.bulk.tensor.4d
  // PTX: mbarrier.expect_tx
  tile.copy_bulk %g[%row, %zero] to %t on %full[%zero] : !tile.global<?x64xf32>, !tile.shared<32x64xf32, swizzle = 128>, !tile.phases<2 x 1>
  // PTX: mbarrier.arrive.shared.b64
  tile.phase_arrive %full[%zero] : !tile.phases<2 x 1>
  tile.return
}
