// RUN: larc-opt %s --convert-tile-to-llvm -split-input-file | FileCheck %s

// Roles of different warps in a row are the branches of one decision.
// CHECK-LABEL: llvm.func @pair(
tile.program @pair() warps 16 {
  %one = arith.constant 1 : index
  // CHECK:      %[[WARP:.+]] = arith.shrui
  // CHECK:      %[[FROM0:.+]] = arith.subi %[[WARP]], %c0
  // CHECK:      %[[FIRST:.+]] = arith.cmpi ult, %[[FROM0]], %c8
  // CHECK:      scf.if %[[FIRST]] {
  // CHECK:        nvvm.setmaxregister decrease 96
  // CHECK:        "bar.arrive $0, $1;"
  // CHECK-NOT:    scf.if
  // CHECK:      } else {
  // CHECK:        %[[FROM8:.+]] = arith.subi %[[WARP]], %c8
  // CHECK:        %[[SECOND:.+]] = arith.cmpi ult, %[[FROM8]], %c8
  // CHECK:        scf.if %[[SECOND]] {
  // CHECK:          nvvm.setmaxregister increase 160
  // CHECK:          "bar.sync $0, $1;"
  // CHECK:        }
  // CHECK-NEXT: }
  // CHECK-NOT:  setmaxregister
  // CHECK:      llvm.return
  tile.role first 0 warps 8 registers 96 {
    tile.arrive id %one warps 16
  }
  tile.role first 8 warps 8 registers 160 {
    tile.barrier id %one warps 16
  }
  tile.return
}

// -----

// A warp that has two roles does both: one decision for each. What it has
// when it starts need not be asked for.
// CHECK-LABEL: llvm.func @both(
tile.program @both() warps 16 {
  %one = arith.constant 1 : index
  // CHECK:      scf.if
  // CHECK-NOT:    setmaxregister
  // CHECK:        "bar.arrive $0, $1;"
  // CHECK-NOT:  else
  // CHECK:      scf.if
  // CHECK:        "bar.sync $0, $1;"
  // CHECK-NOT:  else
  // CHECK:      llvm.return
  tile.role first 0 warps 8 registers 128 {
    tile.arrive id %one warps 16
  }
  tile.role first 4 warps 8 {
    tile.barrier id %one warps 16
  }
  tile.return
}

// -----

// One warp is asked by an instruction of its own, and meets no other.
// CHECK-LABEL: llvm.func @vote(
tile.program @vote(
    %x: !tile.global<?x8xf32> {tile.argument = #tile.argument<operand>})
    warps 4 {
  %zero = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %three = arith.constant 3 : index
  %a = tile.load %x[%zero, %zero] : !tile.global<?x8xf32> -> !tile.reg<16x8xf32, acc>
  %p = tile.map (%v = %a) : (!tile.reg<16x8xf32, acc>) -> !tile.reg<16x8xi1, acc> {
    %big = arith.cmpf ogt, %v, %f0 : f32
    tile.yield %big : i1
  }
  // CHECK-NOT:     barrier
  // A lane's elements first.
  // CHECK-COUNT-3: arith.andi %{{.*}} : i1
  // CHECK:         %[[LANES:.*]] = arith.constant -1 : i32
  // CHECK-NEXT:    nvvm.vote.sync all %[[LANES]], %{{.*}} -> i1
  // CHECK-COUNT-3: arith.ori %{{.*}} : i1
  // CHECK:         nvvm.vote.sync any %{{.*}}, %{{.*}} -> i1
  // CHECK-NOT:     barrier
  %all = tile.vote all %p id %three warps 1 : !tile.reg<16x8xi1, acc>
  %any = tile.vote any %p id %three warps 1 : !tile.reg<16x8xi1, acc>
  tile.return
}
