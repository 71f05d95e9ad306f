// REQUIRES: ptxas
// RUN: larc-translate --mlir-to-resources %s | FileCheck %s
// RUN: larc-translate --mlir-to-cubin %S/wgmma.mlir -o %t.cubin
// RUN: larc-translate --mlir-to-resources %S/wgmma.mlir \
// RUN:   | FileCheck %s --check-prefix=PRODUCT

// CHECK: empty: {{[0-9]+}} registers, 0 barriers, 0 bytes of static shared memory, 0 bytes of stack, spills 0 bytes stored and 0 loaded
// PRODUCT: product: {{[0-9]+}} registers
llvm.func @empty() attributes {nvvm.kernel} {
  llvm.return
}
