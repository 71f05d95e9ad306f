// RUN: larc-opt %s --larc-expand-vector-math | FileCheck %s

// Functions become polynomials on vectors.
// CHECK-LABEL: func.func @f32(
// CHECK-SAME:    %[[X:.*]]: vector<16xf32>
// CHECK:         %[[SCALED:.*]] = arith.mulf %[[X]], %{{.*}} : vector<16xf32>
// CHECK:         %[[N:.*]] = math.roundeven %[[SCALED]] : vector<16xf32>
// CHECK:         %[[R:.*]] = math.fma %[[N]], %{{.*}}, %[[X]] : vector<16xf32>
// CHECK:         math.fma %[[N]], %{{.*}}, %[[R]] : vector<16xf32>
// CHECK-COUNT-6: math.fma
// CHECK:         arith.shli %{{.*}} : vector<16xi32>
// CHECK:         arith.select
// CHECK:         %[[EXP:.*]] = arith.select
// CHECK-NEXT:    return %[[EXP]]
func.func @f32(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.exp %x : vector<16xf32>
  return %0 : vector<16xf32>
}

// So do those of scalars, of vectors of any shape, and of f64.
// CHECK-LABEL: func.func @shapes(
// CHECK-NOT:     math.{{exp|tanh}}
// CHECK-NOT:     call @
// CHECK:         math.fma {{.*}} : f32
// CHECK:         math.fma {{.*}} : vector<2x5xf32>
// CHECK:         math.fma {{.*}} : vector<8xf64>
// CHECK:         return
func.func @shapes(%x: f32, %y: vector<2x5xf32>, %z: vector<8xf64>)
    -> (f32, vector<2x5xf32>, vector<8xf64>) {
  %0 = math.exp %x : f32
  %1 = math.expm1 %y : vector<2x5xf32>
  %2 = math.tanh %z : vector<8xf64>
  return %0, %1, %2 : f32, vector<2x5xf32>, vector<8xf64>
}

// ln(1 + e^-|x|) needs no exponent of 1 + e^-|x|.
// CHECK-LABEL: func.func @softplus(
// CHECK-NOT:     arith.shrsi
// CHECK:         return
func.func @softplus(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.absf %x : vector<16xf32>
  %1 = arith.negf %0 : vector<16xf32>
  %2 = math.exp %1 : vector<16xf32>
  %3 = math.log1p %2 : vector<16xf32>
  return %3 : vector<16xf32>
}

// CHECK-LABEL: func.func @log1p(
// CHECK:         arith.shrsi
func.func @log1p(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.exp %x : vector<16xf32>
  %1 = math.log1p %0 : vector<16xf32>
  return %1 : vector<16xf32>
}

// The rest call the C library for each element.
// CHECK-LABEL: func.func @library(
// CHECK-COUNT-2: call @erf(%{{.*}}) : (f64) -> f64
// CHECK-COUNT-2: call @sinf(%{{.*}}) : (f32) -> f32
func.func @library(%x: vector<2xf64>, %y: vector<2xf32>)
    -> (vector<2xf64>, vector<2xf32>) {
  %0 = math.erf %x : vector<2xf64>
  %1 = math.sin %y : vector<2xf32>
  return %0, %1 : vector<2xf64>, vector<2xf32>
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
