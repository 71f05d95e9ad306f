// The interfaces that convert-to-llvm and one-shot-bufferize look for are
// registered.

// RUN: larc-opt %s --one-shot-bufferize=bufferize-function-boundaries \
// RUN:   --convert-linalg-to-loops --convert-scf-to-cf --expand-strided-metadata \
// RUN:   --lower-affine --convert-to-llvm --reconcile-unrealized-casts | FileCheck %s

// CHECK-LABEL: llvm.func @scale
// CHECK: llvm.fmul
// CHECK-NOT: linalg
func.func @scale(%x: tensor<4xf32>, %s: f32) -> tensor<4xf32> {
  %0 = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} outs(%x : tensor<4xf32>) {
  ^bb0(%out: f32):
    %1 = arith.mulf %out, %s : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
