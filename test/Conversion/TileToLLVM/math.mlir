// RUN: larc-opt %s --larc-expand-kernel-math | FileCheck %s

// The unit's logarithm of 1 + x.
// CHECK-LABEL: func.func @approximate(
// CHECK-SAME:    %[[X:.+]]: f32
func.func @approximate(%x: f32) -> f32 {
  // CHECK-DAG:  %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
  // CHECK:      %[[SUM:.+]] = arith.addf %[[X]], %[[ONE]] : f32
  // CHECK-NEXT: %[[LOG:.+]] = llvm.call_intrinsic "llvm.nvvm.lg2.approx.ftz.f"(%[[SUM]]) : (f32) -> f32
  // CHECK-NEXT: %[[LN2:.+]] = arith.constant 0.693147{{[0-9]*}} : f32
  // CHECK-NEXT: arith.mulf %[[LOG]], %[[LN2]] fastmath<contract> : f32
  %y = math.log1p %x fastmath<afn> : f32
  return %y : f32
}

// CHECK-LABEL: func.func @accurate(
// CHECK-NOT:     lg2.approx
func.func @accurate(%x: f32) -> f32 {
  %y = math.log1p %x : f32
  return %y : f32
}
