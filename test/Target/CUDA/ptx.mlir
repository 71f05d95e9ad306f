// RUN: larc-translate --mlir-to-ptx %s | FileCheck %s
// RUN: larc-translate --mlir-to-ptx --compute-capability=80 %s \
// RUN:   | FileCheck %s --check-prefixes=CHECK,SM80

// CHECK: .version 8.6
// CHECK: .target {{sm_90a|sm_80}}
// SM80-NOT: sm_90

// The product and the sum are one operation, and the quotient is exact.
// CHECK-LABEL: .visible .entry scale(
// CHECK: .reqntid 128
// CHECK-NOT: mul.f32
// CHECK-NOT: mul.rn.f32
// CHECK: fma.rn.f32
// CHECK: div.rn.f32
// CHECK: ret;
llvm.func @scale(%p: !llvm.ptr<1>) attributes {
    nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
  %thread = nvvm.read.ptx.sreg.tid.x : i32
  %address = llvm.getelementptr %p[%thread]
      : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %x = llvm.load %address : !llvm.ptr<1> -> f32
  %product = llvm.fmul %x, %x : f32
  %sum = llvm.fadd %product, %x : f32
  %quotient = llvm.fdiv %sum, %x : f32
  llvm.store %quotient, %address : f32, !llvm.ptr<1>
  llvm.return
}
