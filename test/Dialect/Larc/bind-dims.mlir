// RUN: larc-opt %s --larc-bind-dims="sizes=K=64;V=3" | FileCheck %s
// RUN: larc-opt %s --larc-bind-dims="sizes=K=64 complete=false" | FileCheck %s --check-prefix=PART

// Sizes are added to the ones declared; real attributes become constants.
// CHECK-LABEL: larc.recurrence @reals
// CHECK:         dims(K = 64, V = 3)
// CHECK-DAG:     %[[C:.*]] = larc.constant 0.125
// CHECK-DAG:     %[[E:.*]] = larc.constant 0.5
// CHECK:         %[[A:.*]] = larc.mul %q, %[[C]]
// CHECK-NEXT:    larc.add %[[A]], %[[E]]
// PART-LABEL:  larc.recurrence @reals
// PART:          dims(K = 64)
// PART-NOT:      larc.constant
// PART-DAG:      %[[C:.*]] = larc.constant 0.125
// PART:          larc.mul %q, %[[C]]
larc.recurrence @reals(%q[K], %v[V]) attributes(%scale = rsqrt(K), %eps = 0.5, %unused = size(K)) -> (o[K], p[V]) {
  %a = larc.mul %q, %scale
  %o = larc.add %a, %eps
  larc.yield %o, %v
}

// A real number of a size that is not known stays an argument.
// CHECK-LABEL: larc.recurrence @later
// CHECK:         %[[C:.*]] = larc.constant 3.0
// CHECK-NEXT:    larc.mul %q, %[[C]]
// PART-LABEL:  larc.recurrence @later
// PART:          larc.mul %q, %columns
larc.recurrence @later(%q[K], %v[V]) attributes(%columns = size(V)) -> (o[K], p[V]) {
  %o = larc.mul %q, %columns
  larc.yield %o, %v
}

// Both names of a rename have one size, along chains and backwards.
// CHECK-LABEL: larc.recurrence @renames
// CHECK:         dims(J = 64, K = 64, M = 64, V = 3)
larc.recurrence @renames(%q[K], %v[V]) -> (o[K], p[V]) {
  %a = larc.rename %q K to J
  %b = larc.rename %a J to M
  %o = larc.contract %a, %b over J, M
  %w = larc.mul %o, %q
  larc.yield %w, %v
}

// 1/K and K.
// CHECK-LABEL: larc.recurrence @functions
// CHECK-DAG:     larc.constant 0.015625
// CHECK-DAG:     larc.constant 64.0
larc.recurrence @functions(%q[K], %v[V]) attributes(%a = reciprocal(K), %b = size(K)) -> (o[K], p[V]) {
  %x = larc.mul %q, %a
  %o = larc.add %x, %b
  larc.yield %o, %v
}
