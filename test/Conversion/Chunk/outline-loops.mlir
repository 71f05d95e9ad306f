// RUN: larc-opt %s "--larc-outline-loops=least-program=1 least-loop=4" | FileCheck %s
// RUN: larc-opt %s --larc-outline-loops | FileCheck %s --check-prefix=SHORT

// A short program stays as it is.
// SHORT-LABEL: func.func private @tokens
// SHORT-NOT:   call
// SHORT-NOT:   func.func

// Loops that differ in the memory they work on share a function; a loop with
// another constant, or of other operations, has its own.
// CHECK-LABEL: func.func private @tokens_part(
// CHECK-SAME:      %[[N:.*]]: index, %[[M:.*]]: memref<32xf32>) attributes {llvm.linkage = #llvm.linkage<internal>, passthrough = ["noinline"]}
// CHECK:         %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %[[N]]
// CHECK:           %[[X:.*]] = memref.load %[[M]][%[[I]]]
// CHECK:           arith.mulf %[[X]], %[[TWO]]
// CHECK:         return
// CHECK:       func.func private @tokens_part_0(
// CHECK:         arith.constant 3.000000e+00 : f32
// CHECK:       func.func private @tokens_part_1(
// CHECK:         arith.addf
// CHECK:       func.func private @tokens(%[[COUNT:.*]]: index, %[[A:.*]]: memref<32xf32>, %[[B:.*]]: memref<32xf32>)
// CHECK:         call @tokens_part(%[[COUNT]], %[[A]])
// CHECK-NEXT:    call @tokens_part(%[[COUNT]], %[[B]])
// CHECK-NEXT:    call @tokens_part_0(%[[COUNT]], %[[B]])
// CHECK-NEXT:    call @tokens_part_1(%[[COUNT]], %[[A]])
// CHECK-NEXT:    return
func.func private @tokens(%n: index, %a: memref<32xf32>, %b: memref<32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2.0 : f32
  %three = arith.constant 3.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %a[%i] : memref<32xf32>
    %y = arith.mulf %x, %two : f32
    memref.store %y, %a[%i] : memref<32xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %b[%i] : memref<32xf32>
    %y = arith.mulf %x, %two : f32
    memref.store %y, %b[%i] : memref<32xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %b[%i] : memref<32xf32>
    %y = arith.mulf %x, %three : f32
    memref.store %y, %b[%i] : memref<32xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %a[%i] : memref<32xf32>
    %y = arith.addf %x, %two : f32
    memref.store %y, %a[%i] : memref<32xf32>
  }
  return
}
