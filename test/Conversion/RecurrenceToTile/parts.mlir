// RUN: larc-opt %s --convert-recurrence-to-tile=parts=4 -split-input-file | FileCheck %s
// RUN: larc-opt %s --convert-recurrence-to-tile="operand-types=bf16,bf16,f16 output-types=bf16" -split-input-file | FileCheck %s --check-prefix=TYPES

// CHECK-LABEL: tile.program @split(
// CHECK-SAME:    warps 2 parts 4 resident 8 {
// CHECK:         %[[PART:.+]] = tile.part
// CHECK:         %[[COL:.+]] = arith.muli %[[PART]], %c32
// CHECK:         tile.load %{{.+}}[%{{.+}}, %[[COL]]] : !tile.global<64x128xf32> -> <{{[0-9]+}}x32xf32
// TYPES-LABEL: tile.program @split(
// TYPES-SAME:    !tile.global<?x64xbf16>
// TYPES-SAME:    !tile.global<?x64xbf16>
// TYPES-SAME:    !tile.global<?x128xf16>
// TYPES-SAME:    !tile.global<?x128xbf16>
// TYPES:         tile.load %{{.+}} : !tile.global<?x128xf16> -> <1x128xf16
// TYPES-NEXT:    tile.convert
larc.recurrence @split(%q[K], %k[K], %v[V]) state(%S[K, V]) -> (o[V])
    dims(K = 64, V = 128) {
  %w = larc.mul %k, %v
  %n = larc.add %S, %w
  %o = larc.contract %n, %q over K
  larc.yield %n, %o
}

// -----

// Columns that a sum runs over stay together.
// CHECK-LABEL: tile.program @whole(
// CHECK-NOT:     parts
// CHECK:         tile.return
larc.recurrence @whole(%q[K], %k[K], %v[V]) state(%S[K, V]) -> (o[V])
    dims(K = 64, V = 128) {
  %w = larc.mul %k, %v
  %n = larc.add %S, %w
  %r = larc.contract %n, %q over K
  %m = larc.reduce max %r over V
  %o = larc.sub %r, %m
  larc.yield %n, %o
}
