// Folders.

// RUN: larc-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: larc.recurrence @neutral
larc.recurrence @neutral(%x[K], %s) -> (a[K], b[K], c[K], d[K], e[K], f[K]) {
  %zero = larc.constant 0.0
  %one = larc.constant 1.0
  %a = larc.add %x, %zero
  %b = larc.add %zero, %x
  %c = larc.sub %x, %zero
  %d = larc.mul %x, %one
  %e = larc.mul %one, %x
  %f = larc.div %x, %one
  // CHECK-NEXT: larc.yield %x, %x, %x, %x, %x, %x
  larc.yield %a, %b, %c, %d, %e, %f
}

// Not neutral on the left, nor any other number.
// CHECK-LABEL: larc.recurrence @not_neutral
larc.recurrence @not_neutral(%x[K]) -> (a[K], b[K], c[K]) {
  // CHECK-DAG: %[[zero:.*]] = larc.constant 0.0
  %zero = larc.constant 0.0
  // CHECK-DAG: %[[one:.*]] = larc.constant 1.0
  %one = larc.constant 1.0
  // CHECK-DAG: %[[a:.*]] = larc.sub %[[zero]], %x
  %a = larc.sub %zero, %x
  // CHECK-DAG: %[[b:.*]] = larc.div %[[one]], %x
  %b = larc.div %one, %x
  // A product with 0 stays: x may be infinite.
  // CHECK-DAG: %[[c:.*]] = larc.mul %{{.*}}, %{{.*}}
  %c = larc.mul %x, %zero
  // CHECK: larc.yield %[[a]], %[[b]], %[[c]]
  larc.yield %a, %b, %c
}

// Constants among themselves.
// CHECK-LABEL: larc.recurrence @constants
larc.recurrence @constants(%x) -> (a, b, c, d, e, f, g) {
  %two = larc.constant 2.0
  %three = larc.constant 3.0
  %zero = larc.constant 0.0
  %a = larc.add %two, %three
  %b = larc.sub %two, %three
  %c = larc.mul %two, %three
  %d = larc.div %three, %two
  %e = larc.neg %two
  %f = larc.exp %zero
  // CHECK-DAG: %[[a:.*]] = larc.constant 5.0
  // CHECK-DAG: %[[b:.*]] = larc.constant -1.0
  // CHECK-DAG: %[[c:.*]] = larc.constant 6.0
  // CHECK-DAG: %[[d:.*]] = larc.constant 1.5
  // CHECK-DAG: %[[e:.*]] = larc.constant -2.0
  // CHECK-DAG: %[[f:.*]] = larc.constant 1.0
  // CHECK: larc.yield %[[a]], %[[b]], %[[c]], %[[d]], %[[e]], %[[f]], %[[f]]
  %g = larc.exp %zero
  larc.yield %a, %b, %c, %d, %e, %f, %g
}

// An infinity minus itself is a constant as well, and printed as one.
// CHECK-LABEL: larc.recurrence @nan
larc.recurrence @nan(%x) -> (a) {
  // CHECK: larc.constant nan
  %inf = larc.constant inf
  %a = larc.sub %inf, %inf
  larc.yield %a
}

// CHECK-LABEL: larc.recurrence @neg_neg
larc.recurrence @neg_neg(%x[K]) -> (a[K]) {
  %y = larc.neg %x
  %z = larc.neg %y
  // CHECK-NEXT: larc.yield %x
  larc.yield %z
}

// A broadcast to axes that are there; others stay.
// CHECK-LABEL: larc.recurrence @broadcast
larc.recurrence @broadcast(%x[K, V], %k[K]) -> (a[K, V], b[K, V]) {
  %a = larc.broadcast %x to [V]
  // CHECK-NEXT: %[[b:.*]] = larc.broadcast %k to [V]
  %b = larc.broadcast %k to [V]
  // CHECK-NEXT: larc.yield %x, %[[b]]
  larc.yield %a, %b
}

// What nothing uses goes away, regions too.
// CHECK-LABEL: larc.recurrence @dead
larc.recurrence @dead(%x[n, K]) state(%S[K]) attributes(period = period(2)) -> (o[K]) {
  %T = larc.fold n over(%xj = %x) iter(%X = %S) {
    %Y = larc.add %X, %xj
    larc.yield %Y
  }
  %U = larc.fire every 1 iter(%X = %S) { larc.yield %X }
  // CHECK-NEXT: larc.yield %S, %S
  larc.yield %S, %S
}
