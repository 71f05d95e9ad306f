// RUN: larc-opt %s | larc-opt | FileCheck %s
// RUN: larc-opt %s --mlir-print-op-generic | larc-opt | FileCheck %s

// CHECK-LABEL: tile.program @copies(
// CHECK-SAME:    %{{.*}}: !tile.global<?x128xbf16> {tile.argument = #tile.argument<operand>},
// CHECK-SAME:    %{{.*}}: !tile.global<128x64xf32> {tile.argument = #tile.argument<initial>},
// CHECK-SAME:    %{{.*}}: !tile.global<?x128xbf16> {tile.argument = #tile.argument<output>})
// CHECK-SAME:    warps 8 parts 2
tile.program @copies(
    %x: !tile.global<?x128xbf16> {tile.argument = #tile.argument<operand>},
    %s: !tile.global<128x64xf32> {tile.argument = #tile.argument<initial>},
    %o: !tile.global<?x128xbf16> {tile.argument = #tile.argument<output>})
    warps 8 parts 2 {
  %zero = arith.constant 0 : index
  // CHECK: tile.length
  %tokens = tile.length
  // CHECK: tile.part
  %part = tile.part
  // CHECK: tile.warp
  %warp = tile.warp
  // CHECK: tile.alloc : {{.*}}<32x128xbf16, swizzle = 128, stages = 3>
  %ring = tile.alloc : !tile.shared<32x128xbf16, swizzle = 128, stages = 3>
  // CHECK: tile.alloc at 1024 : {{.*}}<32x33xf32, pad = 1>
  %padded = tile.alloc at 1024 : !tile.shared<32x33xf32, pad = 1>
  // CHECK: tile.stage %{{.*}}[%{{.*}}] : {{.*}}<32x128xbf16, swizzle = 128, stages = 3>
  %now = tile.stage %ring[%zero] : !tile.shared<32x128xbf16, swizzle = 128, stages = 3>
  // CHECK: tile.copy_async %{{.*}}[%{{.*}}, %{{.*}}] below %{{.*}} to %{{.*}} : {{.*}}<?x128xbf16>, {{.*}}<32x128xbf16, swizzle = 128>
  tile.copy_async %x[%zero, %zero] below %tokens to %now : !tile.global<?x128xbf16>, !tile.shared<32x128xbf16, swizzle = 128>
  // CHECK: tile.copy_commit
  tile.copy_commit
  // CHECK: tile.copy_wait 1
  tile.copy_wait 1
  // CHECK: tile.barrier{{$}}
  tile.barrier
  // CHECK: tile.barrier id %{{.*}} warps 4
  tile.barrier id %part warps 4
  // CHECK: tile.fence_async
  tile.fence_async
  // CHECK: tile.load %{{.*}}[%{{.*}}, %{{.*}}] : {{.*}}<32x128xbf16, swizzle = 128> -> {{.*}}<16x16xbf16, lhs>
  %a = tile.load %now[%zero, %zero] : !tile.shared<32x128xbf16, swizzle = 128> -> !tile.reg<16x16xbf16, lhs>
  // CHECK: tile.load %{{.*}}[%{{.*}}, %{{.*}}] transposed below %{{.*}} : {{.*}}<?x128xbf16> -> {{.*}}<16x8xbf16, rhs>
  %b = tile.load %x[%zero, %zero] transposed below %tokens : !tile.global<?x128xbf16> -> !tile.reg<16x8xbf16, rhs>
  // CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] below %{{.*}} : {{.*}}<16x16xbf16, lhs>, {{.*}}<?x128xbf16>
  tile.store %a, %o[%zero, %zero] below %tokens : !tile.reg<16x16xbf16, lhs>, !tile.global<?x128xbf16>
  tile.return
}

// CHECK-LABEL: tile.program @registers() warps 1
tile.program @registers() warps 1 {
  %c0 = arith.constant 0.0 : f32
  // CHECK: tile.splat %{{.*}} : {{.*}}<16x64xf32, acc>
  %x = tile.splat %c0 : !tile.reg<16x64xf32, acc>
  // CHECK: tile.index rows : {{.*}}<16x1xi32, rows acc>
  %i = tile.index rows : !tile.reg<16x1xi32, rows acc>
  // CHECK: tile.index cols : {{.*}}<1x64xi32, cols acc>
  %j = tile.index cols : !tile.reg<1x64xi32, cols acc>
  // CHECK: tile.map (%[[X:.*]] = %{{.*}}, %[[I:.*]] = %{{.*}}, %[[J:.*]] = %{{.*}}) : (!tile.reg<16x64xf32, acc>, !tile.reg<16x1xi32, rows acc>, !tile.reg<1x64xi32, cols acc>) -> !tile.reg<16x64xf32, acc> {
  // CHECK:   arith.cmpi sge, %[[I]], %[[J]] : i32
  // CHECK:   tile.yield %{{.*}} : f32
  %masked = tile.map (%e = %x, %row = %i, %col = %j) : (!tile.reg<16x64xf32, acc>, !tile.reg<16x1xi32, rows acc>, !tile.reg<1x64xi32, cols acc>) -> !tile.reg<16x64xf32, acc> {
    %zero = arith.constant 0.0 : f32
    %kept = arith.cmpi sge, %row, %col : i32
    %y = arith.select %kept, %e, %zero : f32
    tile.yield %y : f32
  }
  // CHECK: tile.reduce max %{{.*}} along cols : {{.*}}<16x64xf32, acc>
  %max = tile.reduce max %masked along cols : !tile.reg<16x64xf32, acc>
  // CHECK: tile.scan product %{{.*}} along rows backward exclusive : {{.*}}<16x64xf32, acc>
  %suffix = tile.scan product %masked along rows backward exclusive : !tile.reg<16x64xf32, acc>
  // CHECK: tile.scan sum %{{.*}} along cols block 8 : {{.*}}<16x64xf32, acc>
  %blocks = tile.scan sum %masked along cols block 8 : !tile.reg<16x64xf32, acc>
  // CHECK: tile.scan max %{{.*}} along rows backward exclusive block 16 : {{.*}}<16x64xf32, acc>
  %column = tile.scan max %masked along rows backward exclusive block 16 : !tile.reg<16x64xf32, acc>
  // CHECK: tile.concat %{{.*}}, %{{.*}} along cols : {{.*}}<16x64xf32, acc>, {{.*}}<16x8xf32, acc>
  %narrow = tile.slice %suffix[0, 8] : !tile.reg<16x64xf32, acc> -> !tile.reg<16x8xf32, acc>
  %wide = tile.concat %suffix, %narrow along cols : !tile.reg<16x64xf32, acc>, !tile.reg<16x8xf32, acc>
  // CHECK: tile.slice %{{.*}}[0, 32] : {{.*}}<16x64xf32, acc> -> {{.*}}<16x32xf32, acc>
  %half = tile.slice %suffix[0, 32] : !tile.reg<16x64xf32, acc> -> !tile.reg<16x32xf32, acc>
  // CHECK: tile.convert %{{.*}} : {{.*}}<16x32xf32, acc> -> {{.*}}<16x32xbf16, lhs>
  %lhs = tile.convert %half : !tile.reg<16x32xf32, acc> -> !tile.reg<16x32xbf16, lhs>
  // CHECK: tile.map (%{{.*}} = %{{.*}}) : (!tile.reg<16x1xf32, rows acc>) -> !tile.reg<16x1xi1, rows acc>
  %p = tile.map (%e = %max) : (!tile.reg<16x1xf32, rows acc>) -> !tile.reg<16x1xi1, rows acc> {
    %zero = arith.constant 0.0 : f32
    %q = arith.cmpf oge, %e, %zero : f32
    tile.yield %q : i1
  }
  // CHECK: tile.vote any %{{.*}} : {{.*}}<16x1xi1, rows acc>
  %any = tile.vote any %p : !tile.reg<16x1xi1, rows acc>
  tile.return
}

// CHECK-LABEL: tile.program @products() warps 4
tile.program @products() warps 4 {
  %zero = arith.constant 0 : index
  %c0 = arith.constant 0.0 : f32
  %h0 = arith.constant 0.0 : bf16
  %s = tile.alloc : !tile.shared<64x128xbf16, swizzle = 128>
  %acc = tile.splat %c0 : !tile.reg<16x8xf32, acc>
  %a = tile.splat %h0 : !tile.reg<16x128xbf16, lhs>
  %b = tile.splat %h0 : !tile.reg<128x8xbf16, rhs>
  // CHECK: tile.mma %{{.*}}, %{{.*}}, %{{.*}} : {{.*}}<16x128xbf16, lhs>, {{.*}}<128x8xbf16, rhs>, {{.*}}<16x8xf32, acc>
  %d = tile.mma %a, %b, %acc : !tile.reg<16x128xbf16, lhs>, !tile.reg<128x8xbf16, rhs>, !tile.reg<16x8xf32, acc>
  %a32 = tile.splat %c0 : !tile.reg<16x8xf32, lhs32>
  %b32 = tile.splat %c0 : !tile.reg<8x8xf32, rhs32>
  // CHECK: tile.mma %{{.*}}, %{{.*}}, %{{.*}} : {{.*}}<16x8xf32, lhs32>, {{.*}}<8x8xf32, rhs32>, {{.*}}<16x8xf32, acc>
  %e = tile.mma %a32, %b32, %d : !tile.reg<16x8xf32, lhs32>, !tile.reg<8x8xf32, rhs32>, !tile.reg<16x8xf32, acc>
  %o = tile.splat %c0 : !tile.reg<16x64xf32, acc>
  // CHECK: tile.wgmma_fence
  tile.wgmma_fence
  // CHECK: %[[F:.*]] = tile.wgmma %{{.*}}, %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] transposed : {{.*}}<16x64xf32, acc>, {{.*}}<16x128xbf16, lhs>, {{.*}}<64x128xbf16, swizzle = 128>
  %f = tile.wgmma %o, %a, %s[%zero, %zero] transposed : !tile.reg<16x64xf32, acc>, !tile.reg<16x128xbf16, lhs>, !tile.shared<64x128xbf16, swizzle = 128>
  // CHECK: %[[G:.*]] = tile.wgmma %[[F]], %{{.*}}[%{{.*}}, %{{.*}}] depth 32, %{{.*}}[%{{.*}}, %{{.*}}] : {{.*}}<16x64xf32, acc>, {{.*}}<64x128xbf16, swizzle = 128>, {{.*}}<64x128xbf16, swizzle = 128>
  %g = tile.wgmma %f, %s[%zero, %zero] depth 32, %s[%zero, %zero] : !tile.flight<16x64xf32, acc>, !tile.shared<64x128xbf16, swizzle = 128>, !tile.shared<64x128xbf16, swizzle = 128>
  // CHECK: tile.wgmma_commit
  tile.wgmma_commit
  // CHECK: tile.wgmma_wait %[[G]] pending 0 : {{.*}}<16x64xf32, acc>
  %h = tile.wgmma_wait %g pending 0 : !tile.flight<16x64xf32, acc>
  // CHECK: tile.wgmma_wait pending 0{{$}}
  tile.wgmma_wait pending 0
  tile.return
}

// CHECK-LABEL: tile.program @roles() warps 8 resident 2
tile.program @roles() warps 8 resident 2 {
  %one = arith.constant 1 : index
  // CHECK: tile.role first 0 warps 4 registers 40 {
  tile.role first 0 warps 4 registers 40 {
    // CHECK: tile.arrive id %{{.*}} warps 8
    tile.arrive id %one warps 8
  }
  // CHECK: tile.role first 4 warps 4 {
  tile.role first 4 warps 4 {
    tile.barrier id %one warps 8
  }
  tile.return
}

// CHECK-LABEL: tile.program @segments(
// CHECK-SAME:    %[[SCRATCH:.*]]: !tile.global<130x128xf32> {tile.argument = #tile.argument<scratch>}) warps 1
tile.program @segments(
    %records: !tile.global<130x128xf32> {tile.argument = #tile.argument<scratch>})
    warps 1 {
  %zero = arith.constant 0 : index
  %c0 = arith.constant 0.0 : f32
  // CHECK: %[[SEGMENT:.*]] = tile.segment{{$}}
  %segment = tile.segment
  // CHECK: tile.segments{{$}}
  %segments = tile.segments
  %x = tile.splat %c0 : !tile.reg<16x8xf32, acc>
  // CHECK: tile.store %{{.*}}, %[[SCRATCH]][%[[SEGMENT]], %{{.*}}] : {{.*}}<16x8xf32, acc>, {{.*}}<130x128xf32>
  tile.store %x, %records[%segment, %zero] : !tile.reg<16x8xf32, acc>, !tile.global<130x128xf32>
  tile.return
}

// CHECK-LABEL: tile.program @phases() warps 8
tile.program @phases() warps 8 {
  %zero = arith.constant 0 : index
  // CHECK: %[[FULL:.*]] = tile.alloc_phases : {{.*}}<6 x 8, copies>
  %full = tile.alloc_phases : !tile.phases<6 x 8, copies>
  // CHECK: %[[EMPTY:.*]] = tile.alloc_phases : {{.*}}<1 x 32>
  %empty = tile.alloc_phases : !tile.phases<1x32>
  tile.role first 0 warps 4 {
    // CHECK: tile.phase_arrive %[[FULL]][%[[ZERO:.*]]] : {{.*}}<6 x 8, copies>
    tile.phase_arrive %full[%zero] : !tile.phases<6 x 8, copies>
    // CHECK: tile.phase_wait %[[EMPTY]][%[[ZERO]]] parity %[[ZERO]] : {{.*}}<1 x 32>
    tile.phase_wait %empty[%zero] parity %zero : !tile.phases<1 x 32>
    // CHECK: tile.sync_warp
    tile.sync_warp
  }
  tile.return
}

// CHECK-LABEL: tile.program @moves() warps 1
tile.program @moves() warps 1 {
  %c0 = arith.constant 0.0 : f32
  %x = tile.splat %c0 : !tile.reg<32x16xf32, acc>
  // CHECK: %[[Y:.*]] = tile.exchange %{{.*}} along rows distance 4 : {{.*}}<32x16xf32, acc>
  %y = tile.exchange %x along rows distance 4 : !tile.reg<32x16xf32, acc>
  // CHECK: %[[ROW:.*]] = tile.pick %[[Y]][31] along rows : {{.*}}<32x16xf32, acc>
  %row = tile.pick %y[31] along rows : !tile.reg<32x16xf32, acc>
  // CHECK: tile.exchange %[[ROW]] along cols distance 8 : {{.*}}<1x16xf32, cols acc>
  %e = tile.exchange %row along cols distance 8 : !tile.reg<1x16xf32, cols acc>
  // CHECK: %[[COL:.*]] = tile.pick %[[Y]][0] along cols : {{.*}}<32x16xf32, acc>
  %col = tile.pick %y[0] along cols : !tile.reg<32x16xf32, acc>
  // CHECK: tile.pick %[[COL]][5] along rows : {{.*}}<32x1xf32, rows acc>
  %one = tile.pick %col[5] along rows : !tile.reg<32x1xf32, rows acc>
  %sums = tile.splat %c0 : !tile.reg<32x32xf32, acc>
  // CHECK: tile.mma_rows %{{.*}}, %[[Y]], %{{.*}} : {{.*}}<32x16xf32, acc>, {{.*}}<32x16xf32, acc>, {{.*}}<32x32xf32, acc>
  %d = tile.mma_rows %x, %y, %sums : !tile.reg<32x16xf32, acc>, !tile.reg<32x16xf32, acc>, !tile.reg<32x32xf32, acc>
  tile.return
}
