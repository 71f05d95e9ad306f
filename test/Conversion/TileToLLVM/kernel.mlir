// RUN: larc-opt %s --convert-tile-to-llvm | FileCheck %s

// CHECK: llvm.mlir.global external @larc_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

// The kernel's parameters; offsets and slots may be null.
// CHECK-LABEL: llvm.func @copies(
// CHECK-SAME:    %arg0: !llvm.ptr<1>, %arg1: !llvm.ptr<1>, %arg2: !llvm.ptr<1>, %arg3: i64, %arg4: i32, %arg5: !llvm.ptr<1>, %arg6: i64,
// CHECK-SAME:    larc.shared_bytes = 17408
// CHECK-SAME:    nvvm.kernel
// CHECK-SAME:    nvvm.reqntid = array<i32: 256, 1, 1>
tile.program @copies(
    %x: !tile.global<?x128xbf16> {tile.argument = #tile.argument<operand>},
    %o: !tile.global<?x128xbf16> {tile.argument = #tile.argument<output>})
    warps 8 {
  %zero = arith.constant 0 : index
  %tokens = tile.length
  %s = tile.alloc : !tile.shared<8x128xf32, swizzle = 128>
  %ring = tile.alloc : !tile.shared<32x128xbf16, swizzle = 128>
  %next = tile.alloc : !tile.shared<32x72xbf16, pad = 8>
  // Two pieces of 16 bytes for each of 256 lanes.
  // CHECK-COUNT-2: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %{{.*}} :
  // CHECK-NOT: nvvm.cp.async.shared.global
  tile.copy_async %x[%zero, %zero] below %tokens to %ring : !tile.global<?x128xbf16>, !tile.shared<32x128xbf16, swizzle = 128>
  // CHECK: nvvm.cp.async.commit.group
  tile.copy_commit
  // CHECK: nvvm.cp.async.wait.group 0
  tile.copy_wait 0
  // CHECK: nvvm.barrier0
  tile.barrier
  // CHECK: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4 : i32
  %a = tile.load %ring[%zero, %zero] : !tile.shared<32x128xbf16, swizzle = 128> -> !tile.reg<16x16xbf16, lhs>
  // CHECK: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<col>, num = 2 : i32
  %b = tile.load %ring[%zero, %zero] : !tile.shared<32x128xbf16, swizzle = 128> -> !tile.reg<16x8xbf16, rhs>
  // CHECK: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 2 : i32
  %c = tile.load %ring[%zero, %zero] transposed : !tile.shared<32x128xbf16, swizzle = 128> -> !tile.reg<16x8xbf16, rhs>
  // CHECK: nvvm.stmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>
  tile.store %a, %next[%zero, %zero] : !tile.reg<16x16xbf16, lhs>, !tile.shared<32x72xbf16, pad = 8>
  // Rows behind the last are left alone.
  // CHECK-COUNT-4: llvm.inline_asm has_side_effects {{.*}}@p st.global.b32 [$0], $2;
  // CHECK-NOT: llvm.inline_asm
  tile.store %a, %o[%zero, %zero] below %tokens : !tile.reg<16x16xbf16, lhs>, !tile.global<?x128xbf16>
  tile.return
}

// CHECK-LABEL: llvm.func @registers(
tile.program @registers() warps 1 {
  %c0 = arith.constant 0.0 : f32
  %x = tile.splat %c0 : !tile.reg<16x32xf32, acc>
  // Eight columns in a lane, then four lanes.
  // CHECK-COUNT-4: nvvm.shfl.sync bfly
  %m = tile.reduce max %x along cols : !tile.reg<16x32xf32, acc>
  tile.return
}

// CHECK-LABEL: llvm.func @products(
tile.program @products() warps 4 {
  %zero = arith.constant 0 : index
  %c0 = arith.constant 0.0 : f32
  %s = tile.alloc : !tile.shared<64x128xbf16, swizzle = 128>
  %a = tile.load %s[%zero, %zero] : !tile.shared<64x128xbf16, swizzle = 128> -> !tile.reg<16x32xbf16, lhs>
  %b = tile.load %s[%zero, %zero] : !tile.shared<64x128xbf16, swizzle = 128> -> !tile.reg<32x8xbf16, rhs>
  %acc = tile.splat %c0 : !tile.reg<16x8xf32, acc>
  // CHECK-COUNT-2: nvvm.mma.sync {{.*}} {{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 16>
  %d = tile.mma %a, %b, %acc : !tile.reg<16x32xbf16, lhs>, !tile.reg<32x8xbf16, rhs>, !tile.reg<16x8xf32, acc>
  // CHECK: nvvm.wgmma.fence.aligned
  tile.wgmma_fence
  // The right operand as it lies ([depth, N]) is read along its rows.
  // CHECK-COUNT-2: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, {$8, $9, $10, $11}, $12, p, 1, 1, 1; }
  %f = tile.wgmma %d, %a, %s[%zero, %zero] : !tile.reg<16x8xf32, acc>, !tile.reg<16x32xbf16, lhs>, !tile.shared<64x128xbf16, swizzle = 128>
  // CHECK: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, $8, $9, p, 1, 1, 0, 0; }
  %g = tile.wgmma %f, %s[%zero, %zero] depth 16, %s[%zero, %zero] transposed : !tile.flight<16x8xf32, acc>, !tile.shared<64x128xbf16, swizzle = 128>, !tile.shared<64x128xbf16, swizzle = 128>
  // CHECK: nvvm.wgmma.commit.group.sync.aligned
  tile.wgmma_commit
  // CHECK: llvm.inline_asm has_side_effects {{.*}}"wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,0,1,2,3,~{memory}"
  %h = tile.wgmma_wait %g pending 0 : !tile.flight<16x8xf32, acc>
  // CHECK: barrier.cta.red.and.pred
  %p = tile.map (%x = %h) : (!tile.reg<16x8xf32, acc>) -> !tile.reg<16x8xi1, acc> {
    %big = arith.cmpf ogt, %x, %c0 : f32
    tile.yield %big : i1
  }
  %v = tile.vote all %p : !tile.reg<16x8xi1, acc>
  tile.return
}

// CHECK-LABEL: llvm.func @roles(
tile.program @roles() warps 16 {
  %one = arith.constant 1 : index
  // CHECK: nvvm.setmaxregister decrease 40
  // CHECK: "bar.arrive $0, $1;"
  tile.role first 0 warps 4 registers 40 {
    tile.arrive id %one warps 8
  }
  // CHECK: nvvm.setmaxregister increase 240
  // CHECK: "bar.sync $0, $1;"
  tile.role first 4 warps 4 registers 240 {
    tile.barrier id %one warps 8
  }
  tile.return
}
