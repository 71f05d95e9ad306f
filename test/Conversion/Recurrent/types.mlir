// RUN: larc-opt %s --convert-larc-to-loops="operand-types=bf16,f32 constant-types=f16 output-types=bf16" --canonicalize --cse | FileCheck %s
// RUN: larc-opt %s --convert-larc-to-loops="compute-type=f64 operand-types=bf16,f64 constant-types=f32 output-types=f16" --canonicalize --cse | FileCheck %s --check-prefix=F64

// Operands of 16 bits are widened once a token, constants once a call; outputs
// are made in the compute type and narrowed.
// CHECK-LABEL: func.func private @types_tokens(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?xbf16>
// CHECK-SAME:    %[[Y:[^:]*]]: memref<?xf32>
// CHECK-SAME:    %[[U:[^:]*]]: memref<?xf16>
// CHECK-SAME:    %[[O:[^:]*]]: memref<?xbf16>
// CHECK-SAME:    memref<16xf32
// CHECK:         arith.extf %{{.*}} : vector<16xf16> to vector<16xf32>
// CHECK:         scf.for
// CHECK:           arith.extf %{{.*}} : vector<16xbf16> to vector<16xf32>
// CHECK-NOT:       arith.extf
// CHECK:           arith.truncf %{{.*}} : vector<16xf32> to vector<16xbf16>

// Between f64 and 16 bits numbers go through f32.
// F64-LABEL: func.func private @types_tokens(
// F64-SAME:    memref<16xf64
// F64:         arith.extf %{{.*}} : vector<8xf32> to vector<8xf64>
// F64:         %[[W:.*]] = arith.extf %{{.*}} : vector<8xbf16> to vector<8xf32>
// F64:         arith.extf %[[W]] : vector<8xf32> to vector<8xf64>
// F64:         %[[N:.*]] = arith.truncf %{{.*}} : vector<8xf64> to vector<8xf32>
// F64:         arith.truncf %[[N]] : vector<8xf32> to vector<8xf16>
larc.recurrence @types(%x[K], %y[K]) constant(%u[K]) state(%S[K]) -> (o[K]) dims(K = 16) {
  %0:2 = larc.nest over [K] {
    %a = larc.mul %x, %y
    %n = larc.add %S, %a
    %o = larc.mul %n, %u
    larc.yield %n, %o
  }
  larc.yield %0#0, %0#1
}
