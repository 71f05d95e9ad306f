// RUN: larc-opt %s --derive-chunk --cse --canonicalize | FileCheck %s

// A bonus for the token itself is the diagonal of the scores.
// CHECK-LABEL: chunk.scan @bonus
// CHECK:         %[[WEIGHT:.*]] = larc.contract %{{.*}}, %r over K
// CHECK:         %[[SCORES:.*]] = chunk.scores %r, %k over K token to source decay(%{{.*}}) diagonal(%[[WEIGHT]])
// CHECK-NEXT:    %[[READ:.*]] = chunk.mix %[[SCORES]], %v token to source init
// CHECK-NOT:     larc.add
// CHECK:         chunk.yield %{{.*}}, %[[READ]]
larc.recurrence @bonus(%r[K], %k[K], %v[V], %w[K]: gate) constant(%u[K])
    state(%S[K, V]) -> (o[V]) dims(K = 32, V = 32) {
  %past = larc.contract %S, %r over K
  %bonus = larc.mul %u, %k
  %weight = larc.contract %bonus, %r over K
  %present = larc.mul %weight, %v
  %o = larc.add %past, %present
  %decay = larc.exp %w
  %decayed = larc.mul %decay, %S
  %write = larc.mul %k, %v
  %next = larc.add %decayed, %write
  larc.yield %next, %o
}

// A path beside the state joins what the token reads of its own write.
// CHECK-LABEL: chunk.scan @beside
// CHECK:         %[[OWN:.*]] = larc.contract %q, %k over K
// CHECK:         %[[SUM:.*]] = larc.add %{{.*}}
// CHECK:         chunk.scores %{{.*}}, %k over K token to source decay(%{{.*}}) diagonal(%[[SUM]])
// CHECK-NEXT:    chunk.mix
// CHECK-NOT:     larc.add
// CHECK:         chunk.yield
larc.recurrence @beside(%q[K], %k[K], %v[V], %g: gate) constant(%D)
    state(%S[K, V]) -> (o[V]) dims(K = 32, V = 32) {
  %decay = larc.exp %g
  %decayed = larc.mul %decay, %S
  %write = larc.mul %k, %v
  %next = larc.add %decayed, %write
  %read = larc.contract %next, %q over K
  %skip = larc.mul %D, %v
  %o = larc.add %skip, %read
  larc.yield %next, %o
}

// A weight for each value, another array, and a mix that is an output too stay
// apart.
// CHECK-LABEL: chunk.scan @apart
// CHECK:         %[[MIXED:.*]] = chunk.mix
// CHECK:         %[[ONE:.*]] = larc.add %[[MIXED]]
// CHECK:         %[[TWO:.*]] = larc.add %[[ONE]]
// CHECK:         %[[THREE:.*]] = larc.add %[[MIXED]]
// CHECK:         chunk.yield %{{.*}}, %[[MIXED]], %[[TWO]], %[[THREE]]
larc.recurrence @apart(%q[K], %k[K], %v[V], %x[V], %b)
    state(%S[K, V]) -> (o[V], p[V], r[V]) dims(K = 32, V = 32) {
  %write = larc.mul %k, %v
  %next = larc.add %S, %write
  %read = larc.contract %S, %q over K
  %each = larc.mul %x, %v
  %one = larc.add %read, %each
  %other = larc.mul %b, %x
  %two = larc.add %one, %other
  %own = larc.mul %b, %v
  %three = larc.add %read, %own
  larc.yield %next, %read, %two, %three
}
