// RUN: larc-opt %s --larc-decompose | FileCheck %s

// The norm is the root of a contraction with itself.
// CHECK-LABEL: larc.recurrence @norm
// CHECK:         %[[S:.*]] = larc.contract %x, %x over K
// CHECK-NEXT:    %[[N:.*]] = larc.sqrt %[[S]]
// CHECK-NEXT:    larc.yield %[[N]]
larc.recurrence @norm(%x[K, V]) -> (o[V]) {
  %o = larc.norm %x over K
  larc.yield %o
}

// The rule inside adds to the sum of squares.
// CHECK-LABEL: larc.recurrence @inside
// CHECK:         %[[S:.*]] = larc.contract %x, %x over K
// CHECK:         larc.add %[[S]]
// CHECK-NOT:     larc.normalize
larc.recurrence @inside(%x[K]) -> (o[K]) {
  %o = larc.normalize %x over K inside 1.0e-6
  larc.yield %o
}

// The rule max bounds the norm from below.
// CHECK-LABEL: larc.recurrence @bounded
// CHECK:         %[[S:.*]] = larc.contract %x, %x over K
// CHECK:         larc.max
// CHECK-NOT:     larc.normalize
larc.recurrence @bounded(%x[K]) -> (o[K]) {
  %o = larc.normalize %x over K max 1.0e-6
  larc.yield %o
}

// The softmax takes differences to the largest.
// CHECK-LABEL: larc.recurrence @softmax
// CHECK:         %[[M:.*]] = larc.reduce max %x over K
// CHECK-NEXT:    %[[D:.*]] = larc.sub %x, %[[M]]
// CHECK-NEXT:    %[[E:.*]] = larc.exp %[[D]]
// CHECK-NEXT:    %[[S:.*]] = larc.reduce sum %[[E]] over K
// CHECK-NEXT:    larc.div %[[E]], %[[S]]
larc.recurrence @softmax(%x[K]) -> (o[K]) {
  %o = larc.softmax %x over K
  larc.yield %o
}

// An orthogonalisation meets itself along an axis of another name, which has
// the size of the one it renames.
// CHECK-LABEL: larc.recurrence @orthogonalize
// CHECK:         dims(K = 4,{{.*}}V = 8
// CHECK-NOT:     larc.orthogonalize
// CHECK:         larc.rename %{{.*}} to
// CHECK-NOT:     larc.orthogonalize
larc.recurrence @orthogonalize(%C[K, V]) -> (o[K, V]) dims(K = 4, V = 8) {
  %o = larc.orthogonalize %C over K, V iterations(2)
  larc.yield %o
}

// Inside of regions, too.
// CHECK-LABEL: larc.recurrence @region
// CHECK:         larc.fold n
// CHECK:           larc.contract
// CHECK-NOT:     larc.norm
larc.recurrence @region(%x[n, K], %s) -> (o) {
  %o = larc.fold n over(%xj = %x) iter(%a = %s) {
    %l = larc.norm %xj over K
    %b = larc.add %a, %l
    larc.yield %b
  }
  larc.yield %o
}
