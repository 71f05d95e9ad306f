// RUN: larc-opt %s -chunk-split-blocks -cse | FileCheck %s

larc.recurrence @r(%q[K], %k[K], %v[V], %a[K], %s) state(%S[K, V])
    -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}

// 40 tokens in blocks of 16: 32 and 8, then 16 and 16. Decays on both axes and
// scalar ones scale both sides.
// CHECK: chunk.scan @r size 40
// CHECK-NEXT: tokens(token from 0 size 40, source from 0 size 40,
// CHECK-SAME: token_0 from 0 size 16, source_0 from 0 size 16
// CHECK-SAME: token_16 from 16 size 16, source_16 from 16 size 16
// CHECK-SAME: token_32 from 32 size 8
// CHECK-SAME: token_0_32 from 0 size 32, source_0_32 from 0 size 32
// CHECK: %[[S0:.*]] = chunk.scores %{{.*}}, %{{.*}} over K token_0 to source_0 decay(%{{.*}}, %{{.*}}){{$}}
// CHECK: chunk.cumulate product %{{.*}} over token_16 exclusive
// CHECK: chunk.cumulate product %{{.*}} over token_16 exclusive
// CHECK: %[[S10:.*]] = larc.contract
// CHECK: %[[S1:.*]] = chunk.scores %{{.*}}, %{{.*}} over K token_16 to source_16
// CHECK: chunk.cumulate product %{{.*}} over token_32 exclusive
// CHECK: chunk.cumulate product %{{.*}} over token_0_32 backward exclusive
// CHECK: %[[S2X:.*]] = larc.contract
// CHECK: %[[S2:.*]] = chunk.scores %{{.*}}, %{{.*}} over K token_32 to source_32
// CHECK: %[[R0:.*]] = chunk.stack %[[S0]] from [source_0] to source
// CHECK: %[[R1:.*]] = chunk.stack %[[S10]], %[[S1]] from [source_0, source_16] to source
// CHECK: %[[R2:.*]] = chunk.stack %[[S2X]], %[[S2]] from [source_0_32, source_32] to source
// CHECK: %[[A:.*]] = chunk.stack %[[R0]], %[[R1]], %[[R2]] from [token_0, token_16, token_32] to token
// CHECK: chunk.mix %[[A]], %v token to source{{$}}

// The solve takes the blocks of the scores as they were before they were put
// together, and stacks the writes that a half reads.
// CHECK: %[[U0:.*]] = chunk.solve scores(%[[S0]] [0, 0]) writes 1 token_0 to source_0 past
// CHECK: larc.contract %[[S10]], %{{.*}} over source_0
// CHECK: %[[U1:.*]] = chunk.solve scores(%[[S1]] [0, 0]) writes 1 token_16 to source_16 over
// CHECK: %[[U01:.*]] = chunk.stack %[[U0]], %[[U1]] from [token_0, token_16] to token_0_32
// CHECK: %[[W01:.*]] = larc.rename %[[U01]] token_0_32 to source_0_32
// CHECK: larc.contract %[[S2X]], %[[W01]] over source_0_32
// CHECK: %[[U2:.*]] = chunk.solve scores(%[[S2]] [0, 0]) writes 1 token_32 to source_32 over
// CHECK: chunk.stack %[[U0]], %[[U1]], %[[U2]] from [token_0, token_16, token_32] to token
chunk.scan @r size 40 tokens(token from 0 size 40, source from 0 size 40)
    dims(K = 4, V = 8)
    operands(%q[K], %k[K], %v[V], %a[K], %s) states(%S[K, V]: low_rank) {
  %A = chunk.scores %q, %k over K token to source decay(%a, %s)
  %o = chunk.mix %A, %v token to source
  %u = chunk.solve scores(%A [0, 0]) writes 1 token to source past(%p[V]) {
    %x = larc.tanh %p
    chunk.yield %x
  }
  %r = larc.add %o, %u
  chunk.yield %S, %r
}
