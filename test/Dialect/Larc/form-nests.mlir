// RUN: larc-opt %s --larc-decompose --larc-form-nests | FileCheck %s

// A state is read and written once: all that is made from one element is done
// together.
// CHECK-LABEL: larc.recurrence @gated
// CHECK:         %[[N:.*]]:2 = larc.nest over [K, V] {
// CHECK-NEXT:      %[[D:.*]] = larc.mul %a, %S
// CHECK-NEXT:      %[[W:.*]] = larc.mul %k, %v
// CHECK-NEXT:      %[[S:.*]] = larc.add %[[D]], %[[W]]
// CHECK-NEXT:      %[[O:.*]] = larc.contract %[[S]], %q over K
// CHECK-NEXT:      larc.yield %[[S]], %[[O]]
// CHECK:         larc.yield %[[N]]#0, %[[N]]#1
larc.recurrence @gated(%q[K], %k[K], %v[V], %a[K]) state(%S[K, V]) -> (o[V]) dims(K = 16, V = 32) {
  %d = larc.mul %a, %S
  %w = larc.mul %k, %v
  %n = larc.add %d, %w
  %o = larc.contract %n, %q over K
  larc.yield %n, %o
}

// A cheap value that two nests need is computed in both.
// CHECK-LABEL: larc.recurrence @delta
// CHECK:         %[[U:.*]] = larc.nest over [K, V] {
// CHECK-NEXT:      %[[D:.*]] = larc.mul %a, %S
// CHECK-NEXT:      %[[R:.*]] = larc.contract %[[D]], %k over K
// CHECK-NEXT:      larc.yield %[[R]]
// CHECK:         %[[E:.*]] = larc.nest over [V] {
// CHECK-NEXT:      larc.sub %v, %[[U]]
// CHECK:         %{{.*}}:2 = larc.nest over [K, V] {
// CHECK-NEXT:      larc.mul %a, %S
// CHECK-NEXT:      larc.mul %k, %[[E]]
larc.recurrence @delta(%q[K], %k[K], %v[V], %a[K]) state(%S[K, V]) -> (o[V]) dims(K = 16, V = 32) {
  %d = larc.mul %a, %S
  %u = larc.contract %d, %k over K
  %e = larc.sub %v, %u
  %w = larc.mul %k, %e
  %n = larc.add %d, %w
  %o = larc.contract %n, %q over K
  larc.yield %n, %o
}

// An expensive value is kept instead.
// CHECK-LABEL: larc.recurrence @expensive
// CHECK:         %[[T:.*]]:2 = larc.nest over [K, V] {
// CHECK:           larc.tanh
// CHECK:         larc.nest over [K, V] {
// CHECK-NOT:       larc.tanh
// CHECK:           larc.contract %[[T]]#0, %[[T]]#1 over V
larc.recurrence @expensive(%q[K], %k[K], %v[V]) state(%S[K, V]) -> (o[V], p[K]) dims(K = 16, V = 32) {
  %w = larc.mul %k, %v
  %t = larc.tanh %w
  %u = larc.contract %t, %k over K
  %p = larc.contract %t, %u over V
  larc.yield %t, %u, %p
}

// Reads of the old and of the new state join the nest that writes it, so that
// the old one need not be kept.
// CHECK-LABEL: larc.recurrence @after
// CHECK:         %[[N:.*]]:3 = larc.nest over [K, V] {
// CHECK-DAG:       %[[NEW:.*]] = larc.add %S
// CHECK-DAG:       larc.contract %[[NEW]], %q over K
// CHECK-DAG:       larc.contract %S, %k over K
// CHECK:         larc.nest over [V] {
larc.recurrence @after(%q[K], %k[K], %v[V]) state(%S[K, V]) -> (o[V], p[V]) dims(K = 16, V = 32) {
  %w = larc.mul %k, %v
  %n = larc.add %S, %w
  %o = larc.contract %n, %q over K
  %x = larc.mul %o, %v
  %p0 = larc.contract %S, %k over K
  %p = larc.mul %p0, %x
  larc.yield %n, %o, %p
}

// The last nest that needs the new state stores it; the ones before compute it
// again.
// CHECK-LABEL: larc.recurrence @twice
// CHECK:         %[[A:[^:]*]] = larc.nest over [K, V] {
// CHECK:           larc.add %S
// CHECK:         larc.nest over [V] {
// CHECK:         %[[C:[^:]*]] = larc.nest over [K, V] {
// CHECK:           larc.add %S
// CHECK:         %[[N:.*]]:2 = larc.nest over [K, V] {
// CHECK:           larc.add %S
// CHECK:         larc.yield %[[N]]#0, %[[N]]#1
larc.recurrence @twice(%q[K], %k[K], %v[V]) state(%S[K, V]) -> (o[V]) dims(K = 16, V = 32) {
  %w = larc.mul %k, %v
  %n = larc.add %S, %w
  %a = larc.contract %n, %q over K
  %b = larc.mul %a, %v
  %c = larc.contract %n, %b over V
  %o = larc.contract %n, %c over K
  larc.yield %n, %o
}

// States that swap need no nest.
// CHECK-LABEL: larc.recurrence @swapped
// CHECK-NOT:     larc.nest
// CHECK:         larc.yield %B, %A, %v
larc.recurrence @swapped(%v[V]) state(%A[K, V], %B[K, V]) -> (o[V]) dims(K = 16, V = 32) {
  larc.yield %B, %A, %v
}

// A fold's region has nests of its own.
// CHECK-LABEL: larc.recurrence @fold
// CHECK:         %[[R:.*]] = larc.fold n over(%[[KJ:.*]] = %k, %[[VJ:.*]] = %v) iter(%[[X:.*]] = %S) {
// CHECK-NEXT:      %[[Y:.*]] = larc.nest over [K, V] {
// CHECK-NEXT:        %[[W:.*]] = larc.mul %[[KJ]], %[[VJ]]
// CHECK-NEXT:        larc.add %[[X]], %[[W]]
// CHECK:           larc.yield %[[Y]]
// CHECK:         larc.nest over [K, V] {
// CHECK-NEXT:      larc.reduce sum %[[R]] over K
larc.recurrence @fold(%k[n, K], %v[n, V]) state(%S[K, V]) -> (o[V]) dims(K = 16, V = 32, n = 2) {
  %r = larc.fold n over(%kj = %k, %vj = %v) iter(%X = %S) {
    %w = larc.mul %kj, %vj
    %Y = larc.add %X, %w
    larc.yield %Y
  }
  %o = larc.reduce sum %r over K
  larc.yield %r, %o
}

// What a region reads is kept, even if it is cheap.
// CHECK-LABEL: larc.recurrence @fire
// CHECK:         %[[N:.*]]:3 = larc.nest over [K, V] {
// CHECK:           %[[W:.*]] = larc.mul %k, %v
// CHECK:           %[[S:.*]] = larc.add %S, %[[W]]
// CHECK:           larc.yield %[[W]], %[[S]], %{{.*}}
// CHECK:         larc.fire every 1 iter(%[[X:.*]] = %[[N]]#1) {
// CHECK-NEXT:      larc.nest over [K, V] {
// CHECK-NEXT:        larc.mul %[[X]], %[[N]]#0
larc.recurrence @fire(%k[K], %v[V]) state(%S[K, V]) attributes(p = period(4)) -> (o[V]) dims(K = 16, V = 32) {
  %w = larc.mul %k, %v
  %n = larc.add %S, %w
  %r = larc.fire every 1 iter(%X = %n) {
    %Y = larc.mul %X, %w
    larc.yield %Y
  }
  %o = larc.reduce sum %n over K
  larc.yield %r, %o
}

// Lanes, along the last axis, are not summed over if there is a choice, however
// the state lies in memory.
// CHECK-LABEL: larc.recurrence @lanes
// CHECK:         larc.nest over [K, V] {
// CHECK-NEXT:      larc.contract %S, %k over K
// CHECK:         larc.nest over [M, K] {
// CHECK-NEXT:      larc.reduce max %R over M
larc.recurrence @lanes(%k[K], %v[V]) state(%S[V, K], %R[M, K]) -> (o[V], p[K]) dims(K = 16, V = 32, M = 4) {
  %o = larc.contract %S, %k over K
  %p = larc.reduce max %R over M
  larc.yield %S, %R, %o, %p
}

// An axis of few indices is none for lanes.
// CHECK-LABEL: larc.recurrence @narrow
// CHECK:         larc.nest over [V, K] {
// CHECK-NEXT:      larc.contract %S, %k over K
larc.recurrence @narrow(%k[K], %v[V]) state(%S[K, V]) -> (o[V]) dims(K = 16, V = 2) {
  %o = larc.contract %S, %k over K
  larc.yield %S, %o
}

// Products of matrices stay outside.
// CHECK-LABEL: larc.recurrence @gram
// CHECK:         %[[Y:.*]] = larc.rename %{{.*}} V to V_
// CHECK:         larc.contract %{{.*}}, %{{.*}} over K
// CHECK:         larc.contract %{{.*}} over V_
larc.recurrence @gram(%k[K], %v[V]) state(%S[K, V]) -> (o[K, V]) dims(K = 16, V = 32) {
  %o = larc.orthogonalize %S over K, V iterations(1)
  larc.yield %S, %o
}

// Scalars have nests without axes.
// CHECK-LABEL: larc.recurrence @scalar
// CHECK:         larc.nest over [] {
// CHECK-NEXT:      larc.mul %x, %s
larc.recurrence @scalar(%x) state(%s) -> (o) {
  %n = larc.mul %x, %s
  larc.yield %n, %n
}
