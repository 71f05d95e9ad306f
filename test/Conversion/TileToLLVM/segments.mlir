// RUN: larc-opt %s --convert-tile-to-llvm -split-input-file | FileCheck %s
// RUN: larc-opt %s --convert-tile-to-llvm=compute-capability=80 -split-input-file | FileCheck %s --check-prefix=GPU80

// A segmented program takes, at last, the number of segments and a pointer to
// their records, which is no tensor with distances of its own.
// CHECK-LABEL: llvm.func @segmented(
// CHECK-SAME:    %arg4: i32, %arg5: !llvm.ptr<1>, %arg6: i64, %arg7: i64, %arg8: i64, %arg9: i32, %arg10: i32, %arg11: !llvm.ptr<1>)
// CHECK-SAME:    nvvm.kernel
tile.program @segmented(
    %o: !tile.global<?x8xf32> {tile.argument = #tile.argument<output>},
    %records: !tile.global<64x32xf32> {tile.argument = #tile.argument<scratch>})
    warps 1 {
  // Segments run faster than heads.
  // CHECK:     %[[BLOCK:.+]] = nvvm.read.ptx.sreg.ctaid.x
  // CHECK:     %[[REST:.+]] = arith.divui %[[BLOCK]],
  // CHECK:     %[[SEGMENTS:.+]] = arith.index_cast %arg10 : i32 to index
  // CHECK:     %[[NUMBER:.+]] = arith.remui %[[REST]], %arg10
  // CHECK:     %[[SEGMENT:.+]] = arith.index_cast %[[NUMBER]] : i32 to index
  // CHECK:     %[[OTHERS:.+]] = arith.divui %[[REST]], %arg10
  // CHECK:     %[[HEAD:.+]] = arith.remui %[[OTHERS]], %arg4
  // CHECK:     %[[SEQUENCE:.+]] = arith.divui %[[OTHERS]], %arg4
  // CHECK:     %[[SEQUENCE64:.+]] = arith.extui %[[SEQUENCE]]
  // CHECK-DAG: %[[HEADS64:.+]] = arith.extui %arg4
  // CHECK-DAG: %[[HEAD64:.+]] = arith.extui %[[HEAD]]
  // CHECK-DAG: %[[BEFORE:.+]] = arith.muli %[[SEQUENCE64]], %[[HEADS64]]
  // CHECK:     %[[NUMBERED:.+]] = arith.addi %[[BEFORE]], %[[HEAD64]]
  %zero = arith.constant 0 : index
  %c0 = arith.constant 0.0 : f32
  %segment = tile.segment
  %segments = tile.segments
  %x = tile.splat %c0 : !tile.reg<16x8xf32, acc>
  // 64 rows of 32 for each segment, of each sequence and head.
  // CHECK:     %[[COUNT:.+]] = arith.index_cast %[[SEGMENTS]] : index to i64
  // CHECK:     %[[RECORDS:.+]] = arith.muli %[[NUMBERED]], %[[COUNT]]
  // CHECK:     %[[SIZE:.+]] = arith.constant 2048 : i64
  // CHECK:     %[[OFFSET:.+]] = arith.muli %[[RECORDS]], %[[SIZE]]
  // CHECK:     llvm.getelementptr %arg11[%[[OFFSET]]]
  tile.store %x, %records[%segment, %zero] : !tile.reg<16x8xf32, acc>, !tile.global<64x32xf32>
  // CHECK:     llvm.getelementptr %arg5[
  tile.store %x, %o[%zero, %zero] below %segments : !tile.reg<16x8xf32, acc>, !tile.global<?x8xf32>
  tile.return
}

// -----

// CHECK-LABEL: llvm.func @whole(
// CHECK-SAME:    %arg4: i32, %arg5: !llvm.ptr<1>, %arg6: i64, %arg7: i64, %arg8: i64, %arg9: i32)
tile.program @whole(
    %o: !tile.global<?x8xf32> {tile.argument = #tile.argument<output>})
    warps 1 {
  tile.return
}

// -----

// What hands something on lets the next kernel start; what has something from
// others, or overwrites what they read, waits. Other roles go ahead.
// CHECK-LABEL: llvm.func @sums_up(
// CHECK:       griddepcontrol.launch_dependents
// CHECK-NOT:   griddepcontrol
// CHECK:       llvm.load {{.+}} : !llvm.ptr<1> -> vector
// CHECK:       griddepcontrol.wait
// CHECK:       llvm.store
// GPU80-LABEL: llvm.func @sums_up(
// GPU80-NOT:   griddepcontrol
tile.program @sums_up(
    %x: !tile.global<?x8xf32> {tile.argument = #tile.argument<operand>},
    %records: !tile.global<64x32xf32> {tile.argument = #tile.argument<scratch>})
    warps 2 {
  %zero = arith.constant 0 : index
  %segment = tile.segment
  %c0 = arith.constant 0.0 : f32
  tile.role first 0 warps 1 {
    %a = tile.load %x[%zero, %zero] : !tile.global<?x8xf32> -> <16x8xf32, acc>
    %memory = tile.alloc : !tile.shared<16x8xf32>
    tile.store %a, %memory[%zero, %zero] : <16x8xf32, acc>, !tile.shared<16x8xf32>
  }
  tile.role first 1 warps 1 {
    %b = tile.splat %c0 : !tile.reg<16x8xf32, acc>
    tile.store %b, %records[%zero, %zero] : !tile.reg<16x8xf32, acc>, !tile.global<64x32xf32>
  }
  tile.return
}

// -----

// CHECK-LABEL: llvm.func @goes_on(
// CHECK-NOT:   launch_dependents
// CHECK:       griddepcontrol.wait
// CHECK:       llvm.load {{.+}} : !llvm.ptr<1> -> vector
// CHECK-NOT:   griddepcontrol
// GPU80-LABEL: llvm.func @goes_on(
// GPU80-NOT:   griddepcontrol
tile.program @goes_on(
    %o: !tile.global<?x8xf32> {tile.argument = #tile.argument<output>},
    %records: !tile.global<64x32xf32> {tile.argument = #tile.argument<scratch>})
    warps 1 {
  %zero = arith.constant 0 : index
  %segment = tile.segment
  %a = tile.load %records[%zero, %zero] : !tile.global<64x32xf32> -> <16x8xf32, acc>
  tile.store %a, %o[%zero, %zero] : <16x8xf32, acc>, !tile.global<?x8xf32>
  tile.return
}
