// RUN: larc-opt %s -chunk-split-blocks=block=2 | FileCheck %s
// RUN: larc-opt %s -chunk-split-blocks=block=4 | FileCheck %s --check-prefix=WHOLE
// RUN: larc-opt %s -chunk-split-blocks | FileCheck %s --check-prefix=WHOLE

// Blocks that hold all tokens change nothing.
// WHOLE-NOT: chunk.rows
// WHOLE-NOT: chunk.stack

larc.recurrence @r(%q[K], %k[K], %v[V], %a[K], %d[V], %s) state(%S[K, V])
    -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}

// Scores with a decay along the summed axis, a part of the diagonal for each
// block; a mix without decays keeps the whole.
// CHECK-LABEL: chunk.scan @r size 4
// CHECK-NEXT: tokens(token from 0 size 4, source from 0 size 4, token_0 from 0 size 2, source_0 from 0 size 2, token_2 from 2 size 2, source_2 from 2 size 2)
// CHECK: %[[D:.*]] = larc.contract %q, %k over K
// CHECK-DAG: %[[Q0:.*]] = chunk.rows %q token to token_0
// CHECK-DAG: %[[K0:.*]] = chunk.rows %k token to token_0
// CHECK-DAG: %[[A0:.*]] = chunk.rows %a token to token_0
// CHECK-DAG: %[[D0:.*]] = chunk.rows %[[D]] token to token_0
// CHECK: %[[S00:.*]] = chunk.scores %[[Q0]], %[[K0]] over K token_0 to source_0 decay(%[[A0]]) diagonal(%[[D0]])
// CHECK: %[[Q2:.*]] = chunk.rows %q token to token_2
// CHECK: %[[A2:.*]] = chunk.rows %a token to token_2
// CHECK: %[[P2:.*]] = chunk.cumulate product %[[A2]] over token_2 exclusive
// CHECK: %[[READER:.*]] = larc.mul %[[Q2]], %[[P2]]
// CHECK: %[[P0:.*]] = chunk.cumulate product %[[A0]] over token_0 backward exclusive
// CHECK: %[[SCALED:.*]] = larc.mul %[[K0]], %[[P0]]
// CHECK: %[[WRITER:.*]] = larc.rename %[[SCALED]] token_0 to source_0
// CHECK: %[[S10:.*]] = larc.contract %[[READER]], %[[WRITER]] over K
// CHECK: %[[S11:.*]] = chunk.scores %[[Q2]], %{{.*}} over K token_2 to source_2 decay(%[[A2]]) diagonal(%{{.*}})
// CHECK: %[[R0:.*]] = chunk.stack %[[S00]] from [source_0] to source
// CHECK: %[[R1:.*]] = chunk.stack %[[S10]], %[[S11]] from [source_0, source_2] to source
// CHECK: %[[A:.*]] = chunk.stack %[[R0]], %[[R1]] from [token_0, token_2] to token
// CHECK: %[[O:.*]] = chunk.mix %[[A]], %v token to source{{$}}
// CHECK: chunk.yield %S, %[[O]]
chunk.scan @r size 4 tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%q[K], %k[K], %v[V], %a[K], %d[V], %s) states(%S[K, V]: diagonal) {
  %diag = larc.contract %q, %k over K
  %A = chunk.scores %q, %k over K token to source decay(%a) diagonal(%diag)
  %o = chunk.mix %A, %v token to source
  chunk.yield %S, %o
}

// A decay along the values: the mix is divided, and scores with no decay or
// one number a token are not. What the later half reads of the earlier one
// is in its initial value.
// CHECK-LABEL: chunk.scan @r size 4
// CHECK: %[[A:.*]] = chunk.scores %q, %k over K token to source decay(%s)
// CHECK: %[[I:.*]] = larc.contract %S, %q over K
// CHECK: %[[I0:.*]] = chunk.rows %[[I]] token to token_0
// CHECK: %[[AT0:.*]] = chunk.rows %[[A]] token to token_0
// CHECK: %[[A00:.*]] = chunk.rows %[[AT0]] source to source_0
// CHECK: %[[V0:.*]] = chunk.rows %v token to token_0
// CHECK: %[[D0:.*]] = chunk.rows %d token to token_0
// CHECK: %[[O0:.*]] = chunk.mix %[[A00]], %[[V0]] token_0 to source_0 decay(%[[D0]]) init(%[[I0]])
// CHECK: %[[B0:.*]] = chunk.cumulate product %[[D0]] over token_0 backward exclusive
// CHECK: %[[VB:.*]] = larc.mul %[[V0]], %[[B0]]
// CHECK: %[[VS:.*]] = larc.rename %[[VB]] token_0 to source_0
// CHECK: %[[AT2:.*]] = chunk.rows %[[A]] token to token_2
// CHECK: %[[A20:.*]] = chunk.rows %[[AT2]] source to source_0
// CHECK: %[[SUM:.*]] = larc.contract %[[A20]], %[[VS]] over source_0
// CHECK: %[[D2:.*]] = chunk.rows %d token to token_2
// CHECK: %[[P2:.*]] = chunk.cumulate product %[[D2]] over token_2 exclusive
// CHECK: %[[PAST:.*]] = larc.mul %[[SUM]], %[[P2]]
// CHECK: %[[I2:.*]] = chunk.rows %[[I]] token to token_2
// CHECK: %[[INIT:.*]] = larc.add %[[I2]], %[[PAST]]
// CHECK: %[[O2:.*]] = chunk.mix %{{.*}}, %{{.*}} token_2 to source_2 decay(%[[D2]]) init(%[[INIT]])
// CHECK: %[[O:.*]] = chunk.stack %[[O0]], %[[O2]] from [token_0, token_2] to token
// CHECK: %[[KEPT:.*]] = chunk.mix %[[A]], %v token to source decay(%s){{$}}
// CHECK: larc.add %[[O]], %[[KEPT]]
chunk.scan @r size 4 tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%q[K], %k[K], %v[V], %a[K], %d[V], %s) states(%S[K, V]: diagonal) {
  %A = chunk.scores %q, %k over K token to source decay(%s)
  %init = larc.contract %S, %q over K
  %o = chunk.mix %A, %v token to source decay(%d) init(%init)
  %p = chunk.mix %A, %v token to source decay(%s)
  %r = larc.add %o, %p
  chunk.yield %S, %r
}

// A solve by halves; the region of the later one adds what it reads of the
// earlier one to the past.
// CHECK-LABEL: chunk.scan @r size 4
// CHECK: %[[B:.*]] = chunk.scores %k, %k over K token to source
// CHECK: %[[U0:.*]]:2 = chunk.solve scores(%{{.*}} [0, 0]) writes 1 token_0 to source_0 affine decay(%{{.*}}) over(%[[W:.*]] = %{{.*}}) past(%[[P:.*]][V]) {
// CHECK-NEXT: %[[E:.*]] = larc.sub %[[W]], %[[P]]
// CHECK-NEXT: chunk.yield %[[E]], %[[P]]
// CHECK: larc.mul %[[U0]]#0, %
// CHECK: %[[BT:.*]] = chunk.rows %[[B]] token to token_2
// CHECK: %[[B20:.*]] = chunk.rows %[[BT]] source to source_0
// CHECK: larc.contract %[[B20]], %{{.*}} over source_0
// CHECK: %[[PAST:.*]] = larc.mul
// CHECK: %[[U1:.*]]:2 = chunk.solve scores(%{{.*}} [0, 0]) writes 1 token_2 to source_2 affine decay(%{{.*}}) over(%[[W:.*]] = %{{.*}}, %[[BEFORE:.*]] = %[[PAST]]) past(%[[P:.*]][V]) {
// CHECK-NEXT: %[[ALL:.*]] = larc.add %[[BEFORE]], %[[P]]
// CHECK-NEXT: %[[E:.*]] = larc.sub %[[W]], %[[ALL]]
// CHECK-NEXT: chunk.yield %[[E]], %[[ALL]]
// CHECK: chunk.stack %[[U0]]#0, %[[U1]]#0 from [token_0, token_2] to token
// CHECK: chunk.stack %[[U0]]#1, %[[U1]]#1 from [token_0, token_2] to token
chunk.scan @r size 4 tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%q[K], %k[K], %v[V], %a[K], %d[V], %s) states(%S[K, V]: low_rank) {
  %B = chunk.scores %k, %k over K token to source
  %u, %e = chunk.solve scores(%B [0, 0]) writes 1 token to source affine
      decay(%d) over(%w = %v) past(%p[V]) {
    %x = larc.sub %w, %p
    chunk.yield %x, %p
  }
  %o = larc.mul %u, %e
  chunk.yield %S, %o
}
