// RUN: not larc-translate --mlir-to-ptx --compute-capability=75 %s 2>&1 \
// RUN:   | FileCheck %s --check-prefix=OLD
// RUN: not larc-translate --mlir-to-ptx --compute-capability=999 %s 2>&1 \
// RUN:   | FileCheck %s --check-prefix=UNKNOWN
// RUN: not larc-translate --mlir-to-cubin %s 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NONE

// OLD: error: GPUs of compute capability 7.5 are not supported: expected 8.0 or newer
// UNKNOWN: error: 'sm_999' is no GPU that this LLVM knows
// NONE: error: has no kernel: expected a function with the attribute 'nvvm.kernel'
llvm.func @no_kernel() {
  llvm.return
}
