// REQUIRES: ptxas
// RUN: larc-translate --mlir-to-cubin --verify-diagnostics %s -o %t

!sums = !llvm.struct<(f32, f32, f32, f32)>

// Sums are used before the products have been waited for.
// expected-error @below {{kernel 'hasty' has matrix products that the assembler serialises: (C75}}
llvm.func @hasty(%y: !llvm.ptr<1>, %a: i64, %b: i64) attributes {
    nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
  %none = llvm.mlir.poison : !sums
  nvvm.wgmma.fence.aligned
  %sums = nvvm.wgmma.mma_async %a, %b, %none,
      #nvvm.shape<m = 64, n = 8, k = 16>,
      D [<f32>, #nvvm.wgmma_scale_out<zero>],
      A [<bf16>, #nvvm.wgmma_scale_in<one>, <row>],
      B [<bf16>, #nvvm.wgmma_scale_in<one>, <col>] : !sums -> !sums
  nvvm.wgmma.commit.group.sync.aligned
  %sum = llvm.extractvalue %sums[0] : !sums
  llvm.store %sum, %y : f32, !llvm.ptr<1>
  llvm.return
}
