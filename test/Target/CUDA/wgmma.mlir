// RUN: larc-translate --mlir-to-ptx %s | FileCheck %s

// lit assembles this file to find out whether there is a ptxas that may be
// used for such kernels (the feature `ptxas`).

// CHECK-LABEL: .entry product(
// CHECK: wgmma.fence.sync.aligned
// CHECK: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16
// CHECK: wgmma.commit_group.sync.aligned
// CHECK: wgmma.wait_group.sync.aligned 0

!sums = !llvm.struct<(f32, f32, f32, f32)>
llvm.func @product(%y: !llvm.ptr<1>, %a: i64, %b: i64) attributes {
    nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
  %none = llvm.mlir.poison : !sums
  nvvm.wgmma.fence.aligned
  %sums = nvvm.wgmma.mma_async %a, %b, %none,
      #nvvm.shape<m = 64, n = 8, k = 16>,
      D [<f32>, #nvvm.wgmma_scale_out<zero>],
      A [<bf16>, #nvvm.wgmma_scale_in<one>, <row>],
      B [<bf16>, #nvvm.wgmma_scale_in<one>, <col>] : !sums -> !sums
  nvvm.wgmma.commit.group.sync.aligned
  nvvm.wgmma.wait.group.sync.aligned 0
  %sum = llvm.extractvalue %sums[0] : !sums
  llvm.store %sum, %y : f32, !llvm.ptr<1>
  llvm.return
}
