// RUN: larc-opt %s --convert-tile-to-llvm | FileCheck %s
// RUN: larc-opt %s --larc-tile-to-kernel | larc-translate --mlir-to-ptx | FileCheck %s --check-prefixes=PTX,SM90
// RUN: larc-opt %s --larc-tile-to-kernel=compute-capability=80 | larc-translate --mlir-to-ptx --compute-capability=80 \
// RUN:   | FileCheck %s --check-prefixes=PTX,SM80
// RUN: larc-opt %s --convert-tile-to-llvm=lane-arrivals | FileCheck %s --check-prefix=EACH
// RUN: larc-opt %s --larc-tile-to-kernel=lane-arrivals | larc-translate --mlir-to-ptx | FileCheck %s --check-prefix=EACHPTX --implicit-check-not="@p mbarrier.arrive"

// Barriers lie behind the matrices, which are in 4096 + 4 bytes here, at a
// multiple of 8; one thread makes them ready before any role begins.
// EACHPTX-LABEL: .entry ring(
// EACHPTX: @%{{.*}} bra
// EACHPTX: mbarrier.arrive.shared.b64 _, [%r{{[0-9]*}}];
// CHECK-LABEL: llvm.func @ring(
// EACH-LABEL: llvm.func @ring(
// CHECK-SAME:    larc.shared_bytes = 4136
// PTX-LABEL: .entry ring(
tile.program @ring(
    %x: !tile.global<?x32xf32> {tile.argument = #tile.argument<operand>},
    %o: !tile.global<?x32xf32> {tile.argument = #tile.argument<output>})
    warps 12 {
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %tokens = tile.length
  // CHECK:      %[[FULL:.*]] = llvm.getelementptr %[[SHARED:.*]][4104] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  // CHECK-NEXT: %[[EMPTY:.*]] = llvm.getelementptr %[[SHARED]][4120] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  // CHECK-NEXT: scf.if %{{.*}} {
  // Copies of 32 lanes of 4 warps arrive, and one lane of each of 8 warps.
  // CHECK:        %[[LANES:.*]] = arith.constant 128 : i32
  // CHECK-COUNT-2: nvvm.mbarrier.init %{{.*}}, %[[LANES]] : !llvm.ptr<3>, i32
  // Where every lane arrives, 32 of each of 8 warps.
  // EACH: %[[LANES:.*]] = arith.constant 256 : i32
  // EACH-COUNT-2: nvvm.mbarrier.init %{{.*}}, %[[LANES]] : !llvm.ptr<3>, i32
  // CHECK:        %[[WARPS:.*]] = arith.constant 8 : i32
  // CHECK-COUNT-2: nvvm.mbarrier.init %{{.*}}, %[[WARPS]] : !llvm.ptr<3>, i32
  // CHECK-NOT:    nvvm.mbarrier.init
  // CHECK:        nvvm.fence.mbarrier.init
  // CHECK-NEXT: }
  // CHECK-NEXT: nvvm.barrier0
  // PTX-DAG: mbarrier.init.shared.b64 [larc_shared+4104], %r[[#COPIES:]];
  // PTX-DAG: mbarrier.init.shared.b64 [larc_shared+4112], %r[[#COPIES]];
  // PTX-DAG: mbarrier.init.shared.b64 [larc_shared+4120], %r[[#ARRIVALS:]];
  // PTX-DAG: mbarrier.init.shared.b64 [larc_shared+4128], %r[[#ARRIVALS]];
  // SM90: fence.mbarrier_init.release.cluster;
  // SM80-NOT: fence.mbarrier_init
  // PTX: bar.sync 0;
  %full = tile.alloc_phases : !tile.phases<2 x 4, copies>
  %ring = tile.alloc : !tile.shared<16x32xf32, stages = 2>
  %word = tile.alloc : !tile.shared<1x1xf32>
  %empty = tile.alloc_phases : !tile.phases<2 x 8>
  // CHECK: scf.if
  // CHECK: scf.for
  tile.role first 0 warps 4 {
    scf.for %t = %zero to %tokens step %two {
      %stage = arith.remui %t, %two : index
      // CHECK: %[[BARRIER:.*]] = llvm.getelementptr %[[EMPTY]][%{{.*}}] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      // CHECK: %[[ADDRESS:.*]] = llvm.ptrtoint %[[BARRIER]] : !llvm.ptr<3> to i32
      // CHECK: llvm.inline_asm has_side_effects {{.*}}"{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [$0], $1; @!p bra again; }", "r,r,~{memory}" %[[ADDRESS]], %{{.*}} : (i32, i32)
      // SM90: mbarrier.try_wait.parity.shared.b64 p,
      // SM80: mbarrier.test_wait.parity.shared.b64 p,
      tile.phase_wait %empty[%stage] parity %stage : !tile.phases<2 x 8>
      %now = tile.stage %ring[%stage] : !tile.shared<16x32xf32, stages = 2>
      // CHECK: nvvm.cp.async.shared.global
      // PTX: cp.async.cg.shared.global
      tile.copy_async %x[%t, %zero] below %tokens to %now : !tile.global<?x32xf32>, !tile.shared<16x32xf32>
      // Every lane's copies; no lane waits for another.
      // CHECK-NOT: nvvm.bar.warp.sync
      // CHECK: %[[BARRIER:.*]] = llvm.getelementptr %[[FULL]][%{{.*}}]
      // CHECK: nvvm.cp.async.mbarrier.arrive %[[BARRIER]] {noinc = true} : !llvm.ptr<3>
      // PTX: cp.async.mbarrier.arrive.noinc.shared.b64
      tile.phase_arrive %full[%stage] : !tile.phases<2 x 4, copies>
    }
  }
  tile.role first 4 warps 8 {
    scf.for %t = %zero to %tokens step %two {
      %stage = arith.remui %t, %two : index
      // CHECK: mbarrier.try_wait.parity
      // PTX: _wait.parity.shared.b64 p,
      tile.phase_wait %full[%stage] parity %stage : !tile.phases<2 x 4, copies>
      // One lane, once all are there.
      // CHECK: nvvm.bar.warp.sync
      // CHECK: llvm.inline_asm has_side_effects {{.*}}"{ .reg .pred p; setp.eq.u32 p, $1, 0; @p mbarrier.arrive.shared.b64 _, [$0]; }", "r,r,~{memory}"
      // EACH: nvvm.cp.async.mbarrier.arrive
      // EACH: llvm.inline_asm has_side_effects {{.*}}"mbarrier.arrive.shared.b64 _, [$0];", "r,~{memory}"
      // PTX: bar.warp.sync -1;
      // PTX: mbarrier.arrive.shared.b64 _,
      tile.phase_arrive %empty[%stage] : !tile.phases<2 x 8>
      // CHECK: nvvm.bar.warp.sync
      // PTX: bar.warp.sync -1;
      tile.sync_warp
    }
  }
  tile.return
}

// Programs without barriers begin as ever.
// CHECK-LABEL: llvm.func @none(
// CHECK-NOT: nvvm.barrier0
// CHECK-NOT: nvvm.mbarrier
// CHECK: llvm.return
tile.program @none() warps 4 {
  tile.return
}

// What has its place keeps it; everything else stands behind.
// CHECK-LABEL: llvm.func @places(
// CHECK-SAME:    larc.shared_bytes = 3080
// CHECK: llvm.getelementptr %{{.*}}[3072]
// CHECK: llvm.getelementptr %{{.*}}[2048]
// CHECK: llvm.getelementptr %{{.*}}[1024]
tile.program @places() warps 4 {
  %p = tile.alloc_phases : !tile.phases<1 x 4>
  %a = tile.alloc : !tile.shared<16x16xf32>
  %b = tile.alloc at 1024 : !tile.shared<16x16xf32>
  tile.return
}
