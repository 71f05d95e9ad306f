// RUN: larc-opt %s --larc-expand-vector-math | FileCheck %s

// Functions of f32 vectors become polynomials on vectors.
// CHECK-LABEL: func.func @f32(
// CHECK-NOT:     math.exp
// CHECK-NOT:     math.tanh
// CHECK-NOT:     call @
// CHECK:         math.fma {{.*}} : vector<8xf32>
// CHECK:         return
func.func @f32(%x: vector<8xf32>) -> (vector<8xf32>, vector<8xf32>) {
  %0 = math.exp %x : vector<8xf32>
  %1 = math.tanh %x : vector<8xf32>
  return %0, %1 : vector<8xf32>, vector<8xf32>
}

// Those of f64 call the C library for each element.
// CHECK-LABEL: func.func @f64(
// CHECK-COUNT-2: call @exp(%{{.*}}) : (f64) -> f64
// CHECK-NOT:     math.exp
func.func @f64(%x: vector<2xf64>) -> vector<2xf64> {
  %0 = math.exp %x : vector<2xf64>
  return %0 : vector<2xf64>
}

// What is one instruction stays.
// CHECK-LABEL: func.func @instructions(
// CHECK:         math.sqrt %{{.*}} : vector<8xf32>
// CHECK:         math.absf %{{.*}} : vector<8xf32>
func.func @instructions(%x: vector<8xf32>) -> (vector<8xf32>, vector<8xf32>) {
  %0 = math.sqrt %x : vector<8xf32>
  %1 = math.absf %x : vector<8xf32>
  return %0, %1 : vector<8xf32>, vector<8xf32>
}
