// RUN: larc-opt --larc-summarize --split-input-file %s | FileCheck %s

// A decay on each side: one product for either.
// CHECK-LABEL: larc.recurrence @both(
// CHECK-LABEL: larc.recurrence @both_summary0(%k[K], %v[V], %g[K]: gate, %h[V]: gate, %f: gate)
// CHECK-NEXT:    state(%S[K, V], %S_decay[K] = 1.0, %S_decay_1[V] = 1.0)
// CHECK-NEXT:    -> ()
// CHECK-DAG:     %[[A:.*]] = larc.exp %g
// CHECK-DAG:     %[[B:.*]] = larc.exp %h
// CHECK-DAG:     %[[C:.*]] = larc.exp %f
// CHECK:         %[[NEXT:.*]] = larc.add
// CHECK:         larc.mul %S_decay,
// CHECK:         larc.mul %S_decay_1,
// CHECK-NEXT:    larc.yield %[[NEXT]],
// CHECK-LABEL: larc.recurrence @both_composition0(%S_end[K, V], %S_decay[K], %S_decay_1[V])
// CHECK-NEXT:    state(%S[K, V])
// CHECK-NEXT:    -> (S_1[K, V])
// CHECK:         %[[X:.*]] = larc.mul %S_decay, %S
// CHECK-NEXT:    %[[Y:.*]] = larc.mul %S_decay_1, %[[X]]
// CHECK-NEXT:    %[[Z:.*]] = larc.add %[[Y]], %S_end
// CHECK-NEXT:    larc.yield %[[Z]], %[[Z]]
larc.recurrence @both(%k[K], %v[V], %g[K]: gate, %h[V]: gate, %f: gate)
    state(%S[K, V] = 3.0) -> (o[K, V]) {
  %a = larc.exp %g
  %b = larc.exp %h
  %c = larc.exp %f
  %rows = larc.mul %a, %S
  %columns = larc.mul %b, %rows
  %kept = larc.mul %c, %columns
  %write = larc.mul %k, %v
  %next = larc.add %kept, %write
  larc.yield %next, %next
}

// -----

// No decay: nothing but the end is needed.
// CHECK-LABEL: larc.recurrence @sum_summary0(
// CHECK-NEXT:    state(%S[K])
// CHECK-LABEL: larc.recurrence @sum_composition0(%S_end[K])
// CHECK:         %[[X:.*]] = larc.add %S, %S_end
larc.recurrence @sum(%k[K]) state(%S[K] required nonzero(K)) -> (o[K]) {
  %next = larc.add %S, %k
  larc.yield %next, %next
}

// -----

// The delta rule: a matrix, bound to the size of K on both axes. It starts at
// the identity, which is given.
// CHECK-LABEL: larc.recurrence @delta_summary0(
// CHECK-NEXT:    state(%S[K, V], %S_map[K, K_start] required)
// CHECK-NEXT:    -> ()
// CHECK-NEXT:    dims(K = 4, K_start = 4, V = 3)
// CHECK:         %[[KNOWN:.*]] = larc.contract %S_map, %k over K
// CHECK-NEXT:    %[[MINUS:.*]] = larc.neg %[[KNOWN]]
// CHECK-NEXT:    %[[STEP:.*]] = larc.mul %[[MINUS]], %k
// CHECK-NEXT:    larc.add %S_map, %[[STEP]]
// CHECK-LABEL: larc.recurrence @delta_composition0(%S_end[K, V], %S_map[K, K_start])
// CHECK:         %[[OLD:.*]] = larc.rename %S K to K_start
// CHECK-NEXT:    %[[MOVED:.*]] = larc.contract %S_map, %[[OLD]] over K_start
// CHECK-NEXT:    larc.add %[[MOVED]], %S_end
larc.recurrence @delta(%k[K], %v[V]) state(%S[K, V]) -> (o[V])
    dims(K = 4, V = 3) {
  %known = larc.contract %S, %k over K
  %error = larc.sub %v, %known
  %write = larc.mul %k, %error
  %next = larc.add %S, %write
  %o = larc.contract %next, %k over K
  larc.yield %next, %o
}

// -----

// Levels: a maximum, and a sum that decays as the maximum changes. The second
// one runs the first again, from where it is at the segment's start.
// CHECK-LABEL: larc.recurrence @levels_summary0(
// CHECK-NEXT:    state(%m = -inf, %m_shift)
// CHECK-LABEL: larc.recurrence @levels_composition0(%m_end, %m_shift)
// CHECK:         %[[X:.*]] = larc.add %m, %m_shift
// CHECK-NEXT:    larc.max %[[X]], %m_end
// CHECK-LABEL: larc.recurrence @levels_summary1(
// CHECK-NEXT:    state(%m = 2.0, %n[K], %n_decay = 1.0)
// CHECK-LABEL: larc.recurrence @levels_composition1(%n_end[K], %n_decay)
larc.recurrence @levels(%x, %f: gate, %k[K]) state(%n[K], %m = 2.0) -> (o[K]) {
  %moved = larc.add %m, %f
  %m_next = larc.max %moved, %x
  %change = larc.sub %moved, %m_next
  %decay = larc.exp %change
  %kept = larc.mul %decay, %n
  %n_next = larc.add %kept, %k
  larc.yield %n_next, %m_next, %n_next
}

// -----

// What a token replaces is kept by a segment without tokens only.
// CHECK-LABEL: larc.recurrence @last_summary0(
// CHECK-NEXT:    state(%S[K], %S_kept = 1.0)
// CHECK:         %[[ZERO:.*]] = larc.constant 0
// CHECK:         larc.yield %x, %[[ZERO]]
// CHECK-LABEL: larc.recurrence @last_composition0(
// CHECK:         larc.select %S_kept eq
larc.recurrence @last(%x[K]) state(%S[K] = -inf) -> (o[K]) {
  larc.yield %x, %S
}
