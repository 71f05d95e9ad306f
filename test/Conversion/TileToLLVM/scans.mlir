// RUN: larc-opt %s --convert-tile-to-llvm -split-input-file | FileCheck %s

// A lane has pairs of columns of two rows: blocks of two never leave it.
// CHECK-LABEL: llvm.func @pairs(
tile.program @pairs(%a: !tile.global<16x8xf32> {tile.argument = #tile.argument<operand>}) warps 1 {
  %zero = arith.constant 0 : index
  %x = tile.load %a[%zero, %zero] : !tile.global<16x8xf32> -> !tile.reg<16x8xf32, acc>
  // CHECK-NOT: nvvm.shfl
  // CHECK:     arith.mulf
  // CHECK-NOT: nvvm.shfl
  %y = tile.scan product %x along cols block 2 : !tile.reg<16x8xf32, acc>
  tile.store %y, %a[%zero, %zero] : !tile.reg<16x8xf32, acc>, !tile.global<16x8xf32>
  tile.return
}

// -----

// Blocks of four: the neighbour's total, for each of four registers.
// CHECK-LABEL: llvm.func @fours(
tile.program @fours(%a: !tile.global<16x8xf32> {tile.argument = #tile.argument<operand>}) warps 1 {
  %zero = arith.constant 0 : index
  %x = tile.load %a[%zero, %zero] : !tile.global<16x8xf32> -> !tile.reg<16x8xf32, acc>
  // CHECK-COUNT-4: nvvm.shfl.sync bfly
  // CHECK-NOT:     nvvm.shfl
  %y = tile.scan product %x along cols block 4 : !tile.reg<16x8xf32, acc>
  tile.store %y, %a[%zero, %zero] : !tile.reg<16x8xf32, acc>, !tile.global<16x8xf32>
  tile.return
}

// -----

// CHECK-LABEL: llvm.func @whole(
tile.program @whole(%a: !tile.global<16x8xf32> {tile.argument = #tile.argument<operand>}) warps 1 {
  %zero = arith.constant 0 : index
  %x = tile.load %a[%zero, %zero] : !tile.global<16x8xf32> -> !tile.reg<16x8xf32, acc>
  // CHECK-COUNT-8: nvvm.shfl.sync bfly
  // CHECK-NOT:     nvvm.shfl
  %y = tile.scan product %x along cols : !tile.reg<16x8xf32, acc>
  tile.store %y, %a[%zero, %zero] : !tile.reg<16x8xf32, acc>, !tile.global<16x8xf32>
  tile.return
}
