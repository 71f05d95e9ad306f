// RUN: larc-opt %s -larc-distribute -canonicalize | FileCheck %s

// A square of a difference, without an array over both axes for each token.
// CHECK-LABEL: larc.recurrence @square
// CHECK:         %[[A:.*]] = larc.anchor %S
// CHECK-DAG:     %[[HH:.*]] = larc.contract %h, %h over D
// CHECK-DAG:     %[[HP:.*]] = larc.contract %h, %[[A]] over D
// CHECK-DAG:     %[[PP:.*]] = larc.contract %[[A]], %[[A]] over D
// CHECK-NOT:     larc.sub
// CHECK:         larc.yield %S, %
larc.recurrence @square(%h[D], %a[M]) state(%S[D, M])
    attributes(period = period(4)) -> (o[M]) {
  %A = larc.anchor %S
  %along = larc.mul %a, %A
  %across = larc.sub %h, %along
  %s = larc.contract %across, %across over D
  larc.yield %S, %s
}

// Nothing is gained where a part is as large.
// CHECK-LABEL: larc.recurrence @large_part
// CHECK:         %[[D:.*]] = larc.sub %h, %w
// CHECK-NEXT:    larc.contract %[[D]], %[[D]] over D
larc.recurrence @large_part(%h[D], %w[D, M]) -> (o[M]) {
  %d = larc.sub %h, %w
  %s = larc.contract %d, %d over D
  larc.yield %s
}

// CHECK-LABEL: larc.recurrence @two_states
// CHECK:         %[[A:.*]] = larc.contract %S, %q over K
// CHECK:         %[[B:.*]] = larc.contract %T, %q over K
// CHECK:         %[[O:.*]] = larc.sub %[[A]], %[[B]]
// CHECK-NEXT:    larc.yield %S, %T, %[[O]]
larc.recurrence @two_states(%q[K]) state(%S[K, V], %T[K, V]) -> (o[V]) {
  %sum = larc.sub %S, %T
  %o = larc.contract %sum, %q over K
  larc.yield %S, %T, %o
}

// CHECK-LABEL: larc.recurrence @in_turn
// CHECK:         %[[A:.*]] = larc.contract %S, %q over K
// CHECK-NEXT:    %[[O:.*]] = larc.contract %[[A]], %p over V
larc.recurrence @in_turn(%q[K], %p[V]) state(%S[K, V]) -> (o) {
  %qp = larc.mul %q, %p
  %o = larc.contract %S, %qp over K, V
  larc.yield %S, %o
}

// CHECK-LABEL: larc.recurrence @several_writes
// CHECK:         %[[K0:.*]] = larc.slice %k[n = 0]
// CHECK-NEXT:    %[[V0:.*]] = larc.slice %v[n = 0]
// CHECK-NEXT:    %[[W0:.*]] = larc.mul %[[K0]], %[[V0]]
// CHECK-NEXT:    %[[K1:.*]] = larc.slice %k[n = 1]
// CHECK-NEXT:    %[[V1:.*]] = larc.slice %v[n = 1]
// CHECK-NEXT:    %[[W1:.*]] = larc.mul %[[K1]], %[[V1]]
// CHECK-NEXT:    %[[W:.*]] = larc.add %[[W0]], %[[W1]]
larc.recurrence @several_writes(%k[n, K], %v[n, V]) state(%S[K, V]) -> (o[K, V])
    dims(n = 2) {
  %w = larc.contract %k, %v over n
  %next = larc.add %S, %w
  larc.yield %next, %next
}

// CHECK-LABEL: larc.recurrence @power
// CHECK:         %[[A:.*]] = larc.exp %a
// CHECK-NEXT:    %[[B:.*]] = larc.exp %b
// CHECK-NEXT:    larc.mul %[[A]], %[[B]]
larc.recurrence @power(%a[K], %b[V]) state(%S[K, V]) -> (o[K, V]) {
  %sum = larc.add %a, %b
  %d = larc.exp %sum
  %next = larc.mul %d, %S
  larc.yield %next, %next
}

// A power that scales no state is left alone.
// CHECK-LABEL: larc.recurrence @other_power
// CHECK:         %[[S:.*]] = larc.add
// CHECK-NEXT:    larc.exp %[[S]]
larc.recurrence @other_power(%a[K], %b[V]) -> (o[K, V]) {
  %sum = larc.add %a, %b
  %d = larc.exp %sum
  larc.yield %d
}

// CHECK-LABEL: larc.recurrence @multiples
// CHECK:         %[[F:.*]] = larc.sub %{{.*}}, %b
// CHECK-NEXT:    larc.mul %[[F]], %S
larc.recurrence @multiples(%b[K]) state(%S[K, V]) -> (o[K, V]) {
  %d = larc.mul %b, %S
  %next = larc.sub %S, %d
  larc.yield %next, %next
}

// CHECK-LABEL: larc.recurrence @sum_of_product
// CHECK:         %[[O:.*]] = larc.contract %S, %q over K
// CHECK-NEXT:    larc.yield %S, %[[O]]
larc.recurrence @sum_of_product(%q[K]) state(%S[K, V]) -> (o[V]) {
  %p = larc.mul %S, %q
  %o = larc.reduce sum %p over K
  larc.yield %S, %o
}

// CHECK-LABEL: larc.recurrence @sliced
// CHECK:         %[[K1:.*]] = larc.slice %k[n = 1]
// CHECK-NEXT:    %[[R:.*]] = larc.contract %S, %[[K1]] over K
// CHECK-NEXT:    larc.yield %S, %[[R]]
larc.recurrence @sliced(%k[n, K]) state(%S[K, V]) -> (o[V]) dims(n = 2) {
  %r = larc.contract %S, %k over K
  %o = larc.slice %r[n = 1]
  larc.yield %S, %o
}
