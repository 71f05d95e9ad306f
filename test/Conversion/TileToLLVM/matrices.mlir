// RUN: larc-opt %s --convert-tile-to-llvm | FileCheck %s
// RUN: larc-opt %s --convert-tile-to-llvm=compute-capability=80 | FileCheck %s --check-prefix=OLD
// RUN: larc-opt %s --larc-tile-to-kernel | larc-translate --mlir-to-ptx | FileCheck %s --check-prefix=PTX
// RUN: larc-opt %s --larc-tile-to-kernel=compute-capability=80 | larc-translate --mlir-to-ptx --compute-capability=80 \
// RUN:   | FileCheck %s --check-prefix=SM80

// Accumulators of 16 bits, tokens along the rows, at a column that is the
// loop's: four 8x8 matrices at once, both groups of them from one address, which
// takes a few instructions.
// CHECK-LABEL: llvm.func @columns(
// OLD-LABEL: llvm.func @columns(
// PTX-LABEL: .entry columns(
// SM80-LABEL: .entry columns(
tile.program @columns(
    %x: !tile.global<?x128xbf16> {tile.argument = #tile.argument<operand>})
    warps 4 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %width = arith.constant 16 : index
  %end = arith.constant 128 : index
  %f0 = arith.constant 0.0 : f32
  %tokens = tile.length
  %s = tile.alloc : !tile.shared<32x128xbf16, swizzle = 128>
  %t = tile.alloc : !tile.shared<32x128xbf16, swizzle = 128>
  %z = tile.splat %f0 : !tile.reg<32x16xf32, acc>
  tile.copy_async %x[%zero, %zero] below %tokens to %s : !tile.global<?x128xbf16>, !tile.shared<32x128xbf16, swizzle = 128>
  tile.copy_commit
  tile.copy_wait 0
  tile.barrier
  tile.role first 0 warps 4 {
    // Accumulators are carried by loops of a role.
    // CHECK: scf.for {{.*}} iter_args({{.*}}) -> (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)
    // PTX: mov.u32 %r{{[0-9]+}}, %tid.x;
    // PTX: mov.u32 %r{{[0-9]+}}, %tid.x;
    %sum = scf.for %c = %zero to %end step %width iter_args(%before = %z) -> (!tile.reg<32x16xf32, acc>) {
      // CHECK-COUNT-2: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4 : i32
      // CHECK-NOT: nvvm.ldmatrix
      // PTX: ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{.*}}, [%rd[[#FROM:]]];
      // PTX-NEXT: ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{.*}}, [%rd[[#FROM]]+2048];
      %a = tile.load %s[%zero, %c] : !tile.shared<32x128xbf16, swizzle = 128> -> !tile.reg<32x16xbf16, acc>
      %f = tile.convert %a : !tile.reg<32x16xbf16, acc> -> !tile.reg<32x16xf32, acc>
      %after = tile.map (%p = %before, %q = %f) : (!tile.reg<32x16xf32, acc>, !tile.reg<32x16xf32, acc>) -> !tile.reg<32x16xf32, acc> {
        %y = arith.addf %p, %q : f32
        tile.yield %y : f32
      }
      %b = tile.convert %after : !tile.reg<32x16xf32, acc> -> !tile.reg<32x16xbf16, acc>
      // CHECK-COUNT-2: nvvm.stmatrix %{{.*}}, {{.*}}, {{.*}}, {{.*}}, {{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>
      // CHECK-NOT: nvvm.stmatrix
      // PTX-COUNT-2: stmatrix.sync.aligned.m8n8.x4.shared.b16
      // Pairs of columns, where there is no such instruction.
      // OLD-NOT: nvvm.stmatrix
      // OLD-COUNT-8: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : vector<2xbf16>, !llvm.ptr<3>
      // OLD-NOT: llvm.store
      // SM80-NOT: stmatrix
      // SM80-COUNT-8: st.shared.b32
      // SM80-NOT: st.shared
      tile.store %b, %t[%zero, %c] : !tile.reg<32x16xbf16, acc>, !tile.shared<32x128xbf16, swizzle = 128>
      scf.yield %after : !tile.reg<32x16xf32, acc>
    }
  }
  tile.return
}

// Right operands whose sum runs over tokens, at a column of the warp: turned
// over on the way.
// CHECK-LABEL: llvm.func @right(
// OLD-LABEL: llvm.func @right(
// SM80-LABEL: .entry right(
// PTX-LABEL: .entry right(
tile.program @right() warps 8 {
  %zero = arith.constant 0 : index
  %width = arith.constant 16 : index
  %f0 = arith.constant 0.0 : bf16
  %warp = tile.warp
  %col = arith.muli %warp, %width : index
  %s = tile.alloc : !tile.shared<32x128xbf16, swizzle = 128>
  // CHECK-COUNT-2: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<col>, num = 4 : i32
  // CHECK-NOT: nvvm.ldmatrix
  // PTX-COUNT-2: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
  %b = tile.load %s[%zero, %col] : !tile.shared<32x128xbf16, swizzle = 128> -> !tile.reg<32x16xbf16, rhs>
  // CHECK: nvvm.stmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<col>
  tile.store %b, %s[%zero, %col] : !tile.reg<32x16xbf16, rhs>, !tile.shared<32x128xbf16, swizzle = 128>
  tile.return
}
