// RUN: larc-opt %s --larc-chunk-to-loops="block-columns=32" | FileCheck %s
// RUN: larc-opt %s --larc-chunk-to-loops | FileCheck %s --check-prefix=WHOLE

// With blocks of columns every task computes the scores again; without the
// option a task has all columns.
// CHECK-LABEL: func.func private @decayed_tokens
// CHECK-SAME:      memref<128x32xf32, strided<[?, 1], offset: ?>>
// CHECK:         llvm.mlir.global external constant @larc_decayed_blocks(4 : i64)
// WHOLE-LABEL: func.func private @decayed_tokens
// WHOLE-SAME:      memref<128x128xf32, strided<[?, 1], offset: ?>>
// WHOLE:         llvm.mlir.global external constant @larc_decayed_blocks(1 : i64)

// What sums over the columns has none.
// CHECK-LABEL: func.func private @normalized_tokens
// CHECK-SAME:      memref<128x128xf32, strided<[?, 1], offset: ?>>
larc.recurrence @decayed(%q[K], %k[K], %v[V], %g[K]: gate) state(%S[K, V]) -> (o[V])
    dims(K = 128, V = 128) {
  %a = larc.exp %g
  %d = larc.mul %a, %S
  %w = larc.mul %k, %v
  %n = larc.add %d, %w
  %o = larc.contract %n, %q over K
  larc.yield %n, %o
}
larc.recurrence @normalized(%q[K], %k[K], %v[V], %g[K]: gate) state(%S[K, V]) -> (o[V])
    dims(K = 128, V = 128) {
  %a = larc.exp %g
  %d = larc.mul %a, %S
  %w = larc.mul %k, %v
  %n = larc.add %d, %w
  %r = larc.contract %n, %q over K
  %m = larc.reduce max %r over V
  %o = larc.sub %r, %m
  larc.yield %n, %o
}
