// RUN: larc-opt %s -canonicalize | FileCheck %s

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V], p[K])
    dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o, %x
}

// Neutral elements: what is cumulated stays, a total needs no tokens.
// CHECK-LABEL: chunk.scan @r size 8
// CHECK-NOT: chunk.cumulate
// CHECK-NOT: chunk.total
// CHECK: %[[INF:.*]] = larc.constant -inf
// CHECK: %[[M:.*]] = larc.broadcast %[[INF]] to [V, token]
// CHECK: %[[MT:.*]] = larc.broadcast %[[INF]] to [V]{{$}}
// CHECK: chunk.cumulate sum %{{.*}} over token exclusive
// CHECK-NEXT: chunk.total product %{{.*}} over token
// CHECK-NOT: chunk.total
// CHECK: chunk.yield
chunk.scan @r size 8
    tokens(token from 0 size 8, source from 0 size 8)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: diagonal) {
  %one = larc.constant 1.0
  %zero = larc.constant 0.0
  %low = larc.constant -inf
  %ones = larc.broadcast %one to [token]
  %zeros = larc.broadcast %zero to [K, token]
  %lows = larc.broadcast %low to [V, token]
  %p = chunk.cumulate product %ones over token backward exclusive
  %s = chunk.cumulate sum %zeros over token
  %m = chunk.cumulate max %lows over token
  %tp = chunk.total product %ones over token
  %tm = chunk.total max %lows over token
  // Not neutral: these stay.
  %kept = chunk.cumulate sum %ones over token exclusive
  %tk = chunk.total product %kept over token
  %a = larc.add %p, %y
  %b = larc.max %a, %m
  %c = larc.mul %b, %tp
  %d = larc.max %c, %tm
  %e = larc.mul %d, %tk
  %f = larc.add %s, %x
  chunk.yield %S, %e, %f
}

// Decays of 1 go, where no axis goes with them.
// CHECK-LABEL: chunk.scan @r size 8
// CHECK: %[[ONES:.*]] = larc.broadcast %{{.*}} to [V, token]
// CHECK: %[[A:.*]] = chunk.scores %x, %x over K token to source{{$}}
// CHECK: %[[B:.*]] = chunk.scores %g, %g over K token to source decay(%{{.*}})
// CHECK: chunk.solve scores(%[[A]] [0, 0]) writes 1 token to source over
// CHECK: chunk.solve scores(%[[A]] [0, 0]) writes 1 token to source decay(%[[ONES]])
// CHECK: chunk.mix %[[A]], %y token to source{{$}}
// CHECK: chunk.mix %[[B]], %g token to source decay(%[[ONES]])
// CHECK: chunk.update %S over token keys(%x) values(%y)
chunk.scan @r size 8
    tokens(token from 0 size 8, source from 0 size 8)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: low_rank) {
  %one = larc.constant 1.0
  %ones = larc.broadcast %one to [token]
  %onesk = larc.broadcast %one to [K, token]
  %onesv = larc.broadcast %one to [V, token]
  %a = chunk.scores %x, %x over K token to source decay(%ones, %onesk)
  %b = chunk.scores %g, %g over K token to source decay(%onesk)
  %u = chunk.solve scores(%a [0, 0]) writes 1 token to source decay(%onesv)
      over(%w = %y) past(%p[V]) {
    %e = larc.sub %w, %p
    chunk.yield %e
  }
  %u2 = chunk.solve scores(%a [0, 0]) writes 1 token to source decay(%onesv)
      over(%w = %g) past(%p[V]) {
    %e = larc.reduce sum %p over V
    %f = larc.sub %w, %e
    chunk.yield %f
  }
  %o = chunk.mix %a, %y token to source decay(%onesv)
  %o2 = chunk.mix %b, %g token to source decay(%onesv)
  %t = chunk.total product %onesk over token
  %next = chunk.update %S over token decay(%t) keys(%x) values(%y)
  %q = larc.add %o, %o2
  %q2 = larc.add %q, %u
  %q3 = larc.add %q2, %u2
  chunk.yield %next, %q3, %x
}

// Rows of rows, of stacks and of what all tokens share; a stack of everything.
// CHECK-LABEL: chunk.scan @r size 8
// CHECK: tokens(token from 0 size 8
// CHECK: %[[RX:.*]] = chunk.rows %x token to a
// CHECK-NOT: chunk.stack
// CHECK: %[[B:.*]] = larc.broadcast %{{.*}} to [a]
// CHECK: %[[C:.*]] = chunk.rows %x token to c
// CHECK: %[[D:.*]] = larc.mul %[[RX]], %[[RX]]
// CHECK: %[[E:.*]] = larc.mul %[[D]], %[[B]]
// CHECK: %[[C2:.*]] = chunk.rows %x token to c
// CHECK: %[[F:.*]] = larc.mul %[[C]], %[[C2]]
// CHECK: %[[FB:.*]] = chunk.stack %[[F]] from [c] to b
// CHECK: chunk.stack %[[E]], %[[FB]] from [a, b] to token
chunk.scan @r size 8
    tokens(token from 0 size 8, a from 0 size 4, b from 4 size 4,
           c from 4 size 2)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %same = chunk.rows %x token to token
  %rx = chunk.rows %same token to a
  %all = chunk.stack %x from [token] to token
  %rb = chunk.rows %all token to b
  %half = larc.constant 0.5
  %halves = larc.broadcast %half to [token]
  %h = chunk.rows %halves token to a
  %stacked = chunk.stack %rx, %rb from [a, b] to token
  %ra2 = chunk.rows %stacked token to a
  %rc = chunk.rows %stacked token to c
  %d = larc.mul %rx, %ra2
  %e = larc.mul %d, %h
  %rc2 = chunk.rows %rb b to c
  %f = larc.mul %rc, %rc2
  %fb = chunk.stack %f from [c] to b
  %p = chunk.stack %e, %fb from [a, b] to token
  chunk.yield %S, %y, %p
}
