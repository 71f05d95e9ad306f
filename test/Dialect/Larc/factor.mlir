// RUN: larc-opt %s --larc-factor | FileCheck %s

// A factor without the summed axis joins the result.
// CHECK-LABEL: larc.recurrence @result
// CHECK:         %[[C:.*]] = larc.contract %S, %k over K
// CHECK-NEXT:    larc.mul %[[C]], %v
larc.recurrence @result(%k[K], %v[V]) state(%S[K, V]) -> (o[V]) {
  %a = larc.mul %v, %S
  %o = larc.contract %a, %k over K
  larc.yield %S, %o
}

// One with the summed axis joins the other operand.
// CHECK-LABEL: larc.recurrence @operand
// CHECK:         %[[AK:.*]] = larc.mul %a, %k
// CHECK-NEXT:    larc.contract %S, %[[AK]] over K
larc.recurrence @operand(%a[K], %k[K]) state(%S[K, V]) -> (o[V]) {
  %d = larc.mul %a, %S
  %o = larc.contract %d, %k over K
  larc.yield %S, %o
}

// Of two factors the one without the summed axis is moved; the sum needs the
// other.
// CHECK-LABEL: larc.recurrence @only
// CHECK:         %[[C:.*]] = larc.contract %a, %w over K
// CHECK-NEXT:    larc.mul %[[C]], %v
larc.recurrence @only(%a[K], %v[V], %w[V]) -> (o[V]) {
  %d = larc.mul %a, %v
  %o = larc.contract %d, %w over K
  larc.yield %o
}

// Arrays of few axes are multiplied first.
// CHECK-LABEL: larc.recurrence @product
// CHECK:         %[[B:.*]] = larc.mul %k, %beta
// CHECK-NEXT:    larc.mul %[[B]], %v
larc.recurrence @product(%k[K], %v[V], %beta) -> (o[K, V]) {
  %a = larc.mul %k, %v
  %o = larc.mul %a, %beta
  larc.yield %o
}

// Division by fewer numbers than there are quotients is done once for each.
// CHECK-LABEL: larc.recurrence @quotient
// CHECK:         %[[R:.*]] = larc.reciprocal %d
// CHECK-NEXT:    larc.mul %x, %[[R]]
larc.recurrence @quotient(%x[K, V], %d[V]) -> (o[K, V]) {
  %o = larc.div %x, %d
  larc.yield %o
}

// Otherwise it stays a division.
// CHECK-LABEL: larc.recurrence @division
// CHECK:         larc.div %x, %y
larc.recurrence @division(%x[K], %y[K]) -> (o[K]) {
  %o = larc.div %x, %y
  larc.yield %o
}
