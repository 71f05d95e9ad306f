// RUN: larc-opt %s --convert-tile-to-llvm | FileCheck %s

// Eight pieces of 16 bytes for each lane of a role are a loop of four, which
// nothing unrolls; four are none.
// CHECK-LABEL: llvm.func @copies(
tile.program @copies(%x: !tile.global<?x256xbf16> {tile.argument = #tile.argument<operand>}) warps 4 {
  %zero = arith.constant 0 : index
  %tokens = tile.length
  %wide = tile.alloc : !tile.shared<32x256xbf16, swizzle = 128>
  %narrow = tile.alloc : !tile.shared<32x128xbf16, swizzle = 128>
  tile.role first 0 warps 4 {
    // CHECK:         %[[COUNT:.+]] = llvm.inline_asm has_side_effects{{.*}} "mov.u32 $0, 1024;", "=r"
    // CHECK:         %[[END:.+]] = arith.index_cast %[[COUNT]]
    // CHECK:         scf.for %{{.+}} = %{{.+}} to %[[END]] step %c512
    // CHECK-NEXT:      llvm.inline_asm has_side_effects{{.*}} ".pragma \22nounroll\22;"
    // CHECK-COUNT-4:   nvvm.cp.async.shared.global
    // CHECK-NOT:       nvvm.cp.async.shared.global
    // CHECK:         }
    tile.copy_async %x[%zero, %zero] below %tokens to %wide : !tile.global<?x256xbf16>, !tile.shared<32x256xbf16, swizzle = 128>
    // CHECK-NOT:     scf.for
    // CHECK-COUNT-4: nvvm.cp.async.shared.global
    // CHECK-NOT:     nvvm.cp.async.shared.global
    // CHECK:         nvvm.cp.async.commit.group
    tile.copy_async %x[%zero, %zero] below %tokens to %narrow : !tile.global<?x256xbf16>, !tile.shared<32x128xbf16, swizzle = 128>
    tile.copy_commit
    tile.copy_wait 0
  }
  tile.return
}
