// RUN: larc-opt %s | larc-opt | FileCheck %s
// RUN: larc-opt --mlir-print-op-generic %s | larc-opt | FileCheck %s

larc.recurrence @decayed(%q[K], %k[K], %v[V], %g[K]: gate)
    state(%S[K, V]) -> (o[V]) dims(K = 64, V = 32) {
  %a = larc.exp %g
  %decayed = larc.mul %a, %S
  %write = larc.mul %k, %v
  %next = larc.add %decayed, %write
  %o = larc.contract %next, %q over K
  larc.yield %next, %o
}

// CHECK: chunk.scan @decayed size 16
// CHECK-NEXT: tokens(token from 0 size 16, source from 0 size 16)
// CHECK-NEXT: dims(K = 64, V = 32)
// CHECK-NEXT: operands(%q[K], %k[K], %v[V], %g[K])
// CHECK-NEXT: states(%S[K, V]: diagonal) {
// CHECK-NEXT: %[[A:.*]] = larc.exp %g
// CHECK-NEXT: %[[P:.*]] = chunk.cumulate product %[[A]] over token
// CHECK-NEXT: %[[Q:.*]] = chunk.cumulate product %[[A]] over token backward exclusive
// CHECK-NEXT: %[[T:.*]] = chunk.total product %[[A]] over token
// CHECK-NEXT: %[[QA:.*]] = larc.mul %q, %[[A]]
// CHECK-NEXT: %[[QP:.*]] = larc.mul %q, %[[P]]
// CHECK-NEXT: %[[D:.*]] = larc.contract %q, %k over K
// CHECK-NEXT: %[[SC:.*]] = chunk.scores %[[QA]], %k over K token to source decay(%[[A]]) diagonal(%[[D]])
// CHECK-NEXT: %[[PAST:.*]] = larc.contract %S, %[[QP]] over K
// CHECK-NEXT: %[[O:.*]] = chunk.mix %[[SC]], %v token to source init(%[[PAST]])
// CHECK-NEXT: %[[KQ:.*]] = larc.mul %k, %[[Q]]
// CHECK-NEXT: %[[N:.*]] = chunk.update %S over token decay(%[[T]]) keys(%[[KQ]]) values(%v)
// CHECK-NEXT: chunk.yield %[[N]], %[[O]]
chunk.scan @decayed size 16
    tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 64, V = 32)
    operands(%q[K], %k[K], %v[V], %g[K]) states(%S[K, V]: diagonal) {
  %a = larc.exp %g
  %p = chunk.cumulate product %a over token
  %b = chunk.cumulate product %a over token backward exclusive
  %t = chunk.total product %a over token
  %qa = larc.mul %q, %a
  %qp = larc.mul %q, %p
  %d = larc.contract %q, %k over K
  %scores = chunk.scores %qa, %k over K token to source decay(%a) diagonal(%d)
  %past = larc.contract %S, %qp over K
  %o = chunk.mix %scores, %v token to source init(%past)
  %kd = larc.mul %k, %b
  %next = chunk.update %S over token decay(%t) keys(%kd) values(%v)
  chunk.yield %next, %o
}

// A step size for each value channel, decays on both axes; a state that runs
// token by token; parts; nests; constants; anchors.
larc.recurrence @more(%q[K], %k[K], %v[V], %g[V]: gate, %beta)
    constant(%u[K]) state(%S[K, V], %m)
    attributes(period = period(4)) -> (o[V], p[K]) dims(K = 64, V = 32) {
  %A = larc.anchor %S
  %r = larc.contract %A, %v over V
  %old = larc.contract %S, %k over K
  %e = larc.sub %v, %old
  %w = larc.mul %k, %e
  %a = larc.exp %g
  %d = larc.mul %a, %S
  %next = larc.add %d, %w
  %mn = larc.max %m, %beta
  %o = larc.mul %old, %mn
  %p = larc.mul %r, %u
  larc.yield %next, %mn, %o, %p
}

// CHECK: chunk.scan @more size 40
// CHECK-NEXT: tokens(token from 0 size 40, source from 0 size 40, token_0 from 0 size 16, token_16 from 16 size 24)
// CHECK-NEXT: dims(K = 64, V = 32)
// CHECK-NEXT: operands(%q[K], %k[K], %v[V], %g[V], %beta)
// CHECK-NEXT: constants(%u[K])
// CHECK-NEXT: states(%S[K, V]: low_rank, %m: semiring)
// CHECK-NEXT: anchors(%S_anchor[K, V])
// CHECK-NEXT: boundary with {note = 1 : i64} {
// CHECK: %[[A:.*]] = larc.exp %g
// CHECK-NEXT: %[[KK:.*]] = chunk.scores %k, %k over K token to source
// CHECK-NEXT: %[[PAST:.*]] = larc.contract %S, %k over K
// CHECK-NEXT: %[[U:.*]]:2 = chunk.solve scores(%[[KK]] [0, 0]) writes 1 token to source affine decay(%[[A]]) over(%[[V:.*]] = %v, %[[P:.*]] = %[[PAST]]) past(%[[OLD:.*]][V]) {
// CHECK-NEXT: %[[SUM:.*]] = larc.add %[[OLD]], %[[P]]
// CHECK-NEXT: %[[E:.*]] = larc.sub %[[V]], %[[SUM]]
// CHECK-NEXT: chunk.yield %[[E]], %[[SUM]]
// CHECK: %[[M:.*]]:2 = chunk.tokens token semiring over(%[[B:.*]] = %beta) iter(%[[X:.*]] = %m) {
// CHECK-NEXT: %[[MAX:.*]] = larc.max %[[X]], %[[B]]
// CHECK-NEXT: chunk.yield %[[MAX]], %[[MAX]]
// CHECK: larc.nest over [token, V] {
// CHECK: %[[R0:.*]] = chunk.rows %{{.*}} token to token_0
// CHECK-NEXT: %[[R1:.*]] = chunk.rows %{{.*}} token to token_16
// CHECK-NEXT: chunk.stack %[[R0]], %[[R1]] from [token_0, token_16] to token
chunk.scan @more size 40
    tokens(token from 0 size 40, source from 0 size 40,
           token_0 from 0 size 16, token_16 from 16 size 24)
    dims(K = 64, V = 32)
    operands(%q[K], %k[K], %v[V], %g[V], %beta) constants(%u[K])
    states(%S[K, V]: low_rank, %m: semiring) anchors(%S_anchor[K, V])
    boundary with {note = 1} {
  %a = larc.exp %g
  %kk = chunk.scores %k, %k over K token to source
  %past = larc.contract %S, %k over K
  %u0:2 = chunk.solve scores(%kk [0, 0]) writes 1 token to source affine decay(%a)
      over(%vi = %v, %pi = %past) past(%p[V]) {
    %old = larc.add %p, %pi
    %e = larc.sub %vi, %old
    chunk.yield %e, %old
  }
  %m2:2 = chunk.tokens token semiring over(%b = %beta) iter(%x = %m) {
    %y = larc.max %x, %b
    chunk.yield %y, %y
  }
  %n = larc.nest over [token, V] {
    %s = larc.exp %g
    larc.yield %s
  }
  %t = chunk.total product %n over token
  %after = chunk.cumulate product %n over token backward exclusive
  %values = larc.mul %u0#0, %after
  %next = chunk.update %S over token decay(%t) keys(%k) values(%values)
  %o = larc.mul %u0#1, %m2#1
  %o0 = chunk.rows %o token to token_0
  %o1 = chunk.rows %o token to token_16
  %o2 = chunk.stack %o0, %o1 from [token_0, token_16] to token
  %r = larc.contract %S_anchor, %v over V
  %pp = larc.mul %r, %u
  chunk.yield %next, %m2#0, %o2, %pp
}

// All outputs of a recurrence without states; scores without a summed axis.
larc.recurrence @stateless(%x) -> (y) {
  larc.yield %x
}

// CHECK: chunk.scan @stateless size 4
// CHECK-NEXT: tokens(token from 0 size 4, source from 0 size 4)
// CHECK-NEXT: operands(%x) {
// CHECK-NEXT: %[[S:.*]] = chunk.scores %x, %x token to source
// CHECK-NEXT: %[[Y:.*]] = chunk.mix %[[S]], %x token to source decay(%x)
// CHECK-NEXT: chunk.yield %[[Y]]
chunk.scan @stateless size 4 tokens(token from 0 size 4, source from 0 size 4)
    operands(%x) {
  %s = chunk.scores %x, %x token to source
  %y = chunk.mix %s, %x token to source decay(%x)
  chunk.yield %y
}
