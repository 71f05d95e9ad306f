// RUN: larc-opt %s --convert-larc-to-loops=cache-bytes=4096 --larc-emit-entry=cache-bytes=4096 --canonicalize --cse | FileCheck %s
// RUN: larc-opt %s --convert-larc-to-loops --larc-emit-entry --canonicalize --cse | FileCheck %s --check-prefix=WHOLE

// A state of 16 KB, of which the columns are independent: blocks of 4 KB.
// CHECK-LABEL: func.func private @split_tokens(
// CHECK-SAME:    memref<64x16xf32, strided<[?, 1], offset: ?>>
// CHECK:         llvm.mlir.global external constant @larc_split_blocks(4 : i64)
// WHOLE-LABEL: func.func private @split_tokens(
// WHOLE-SAME:    memref<64x64xf32, strided<[?, 1], offset: ?>>
// WHOLE:         llvm.mlir.global external constant @larc_split_blocks(1 : i64)
larc.recurrence @split(%q[K], %v[V]) state(%S[K, V]) -> (o[V]) dims(K = 64, V = 64) {
  %0:2 = larc.nest over [K, V] {
    %w = larc.mul %q, %v
    %n = larc.add %S, %w
    %o = larc.contract %n, %q over K
    larc.yield %n, %o
  }
  larc.yield %0#0, %0#1
}

// Columns that a sum runs over are not independent.
// CHECK-LABEL: func.func private @mixed_tokens(
// CHECK-SAME:    memref<64x64xf32, strided<[?, 1], offset: ?>>
// CHECK:         llvm.mlir.global external constant @larc_mixed_blocks(1 : i64)
larc.recurrence @mixed(%q[K], %v[V]) state(%S[K, V]) -> (o) dims(K = 64, V = 64) {
  %0:2 = larc.nest over [K, V] {
    %w = larc.mul %q, %v
    %n = larc.add %S, %w
    %o = larc.reduce max %n over K, V
    larc.yield %n, %o
  }
  larc.yield %0#0, %0#1
}
