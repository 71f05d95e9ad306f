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
