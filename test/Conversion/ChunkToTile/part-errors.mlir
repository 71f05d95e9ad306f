// RUN: larc-opt %s --convert-chunk-to-tile -split-input-file -verify-diagnostics

larc.recurrence @summed(%q[K], %k[K], %v[V]) state(%S[K, V]) -> (o[V])
    dims(K = 64, V = 136) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}
// expected-error @below {{has 136 channels on axis 'V', of which a thread block takes 128 values, and which cannot be divided: what reads of states give is summed over them}}
chunk.scan @summed size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 64, V = 136) operands(%q[K], %k[K], %v[V])
    states(%S[K, V]: diagonal) {
  %r = larc.contract %q, %S over K
  %m = larc.reduce max %r over V
  %o = larc.sub %r, %m
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %o
}

// -----

larc.recurrence @scored(%q[K], %k[K], %v[V]) state(%S[K, V]) -> (o[V])
    dims(K = 64, V = 136) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}
// expected-error @below {{cannot be divided: what reads of states give is summed over them}}
chunk.scan @scored size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 64, V = 136) operands(%q[K], %k[K], %v[V])
    states(%S[K, V]: diagonal) {
  %r = larc.contract %q, %S over K
  %A = chunk.scores %v, %v over V token to source
  %o = chunk.mix %A, %v token to source init(%r)
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %o
}

// -----

// 64 values for each block, since there are more than 128 keys.
larc.recurrence @number(%q[K], %k[K], %v[V]) state(%S[K, V]) -> (o[K])
    dims(K = 136, V = 72) {
  larc.yield %S, %q
}
// expected-error @below {{has 72 channels on axis 'V', of which a thread block takes 64 values, and which cannot be divided: an output without them would be of several thread blocks}}
chunk.scan @number size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 136, V = 72) operands(%q[K], %k[K], %v[V])
    states(%S[K, V]: diagonal) {
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %q
}

// -----

larc.recurrence @cascade(%q[K], %k[K], %v[V], %s[M]) state(%S[K, M], %R[M, V])
    -> (o[V]) dims(K = 64, M = 64, V = 136) {
  %p = larc.contract %S, %q over K
  %o = larc.contract %R, %p over M
  larc.yield %S, %R, %o
}
// expected-error @below {{cannot be divided: a state without them would be of several thread blocks}}
chunk.scan @cascade size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 64, M = 64, V = 136) operands(%q[K], %k[K], %v[V], %s[M])
    states(%S[K, M]: diagonal, %R[M, V]: diagonal) {
  %p = larc.contract %q, %S over K
  %o = larc.contract %p, %R over M
  %n = chunk.update %S over token keys(%k) values(%s)
  %m = chunk.update %R over token keys(%s) values(%v)
  chunk.yield %n, %m, %o
}

// -----

larc.recurrence @circle(%q[V], %k[V], %v[V], %s[K]) state(%S[K, V], %R[V, K])
    -> (o[V]) dims(K = 64, V = 136) {
  %o = larc.contract %S, %s over K
  larc.yield %S, %R, %o
}
// expected-error @below {{cannot be divided: reads of states sum over them}}
chunk.scan @circle size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 64, V = 136) operands(%q[V], %k[V], %v[V], %s[K])
    states(%R[V, K]: diagonal, %S[K, V]: diagonal) {
  %p = larc.contract %q, %R over V
  %o = larc.contract %p, %S over K
  %n = chunk.update %R over token keys(%k) values(%s)
  %m = chunk.update %S over token keys(%s) values(%v)
  chunk.yield %n, %m, %o
}

// -----

larc.recurrence @slots(%q[K], %k[K], %v[V], %s[M]) state(%S[K, M], %R[M, V])
    -> (o[V]) dims(K = 64, M = 136, V = 64) {
  %p = larc.contract %S, %q over K
  %o = larc.contract %R, %p over M
  larc.yield %S, %R, %o
}
// expected-error @below {{needs 16 warps for stage 1 of states: expected at most 8}}
chunk.scan @slots size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 64, M = 136, V = 64) operands(%q[K], %k[K], %v[V], %s[M])
    states(%S[K, M]: diagonal, %R[M, V]: diagonal) {
  %p = larc.contract %q, %S over K
  %o = larc.contract %p, %R over M
  %n = chunk.update %S over token keys(%k) values(%s)
  %m = chunk.update %R over token keys(%s) values(%v)
  chunk.yield %n, %m, %o
}

// -----

larc.recurrence @late_keys(%q[K], %k[K], %v[V], %x[K]) state(%S[K, V]) -> (o[V], x[K])
    dims(K = 136, V = 64) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o, %x
}
chunk.scan @late_keys size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 136, V = 64) operands(%q[K], %k[K], %v[V], %x[K])
    states(%S[K, V]: diagonal) {
  %o = larc.contract %q, %S over K
  %A = chunk.scores %q, %k over K token to source
  // expected-error @below {{has 136 channels that depend on a state: expected at most 128}}
  %y = chunk.mix %A, %x token to source
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %o, %y
}

// -----

larc.recurrence @two(%q[K], %k[K], %v[V], %w[W]) state(%S[K, V], %R[K, W])
    -> (o[V], p[W]) dims(K = 136, V = 72, W = 64) {
  %o = larc.contract %S, %q over K
  %p = larc.contract %R, %q over K
  larc.yield %S, %R, %o, %p
}
// expected-error @below {{has state 0 of 128x256 elements: expected at most 16384}}
chunk.scan @two size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 136, V = 72, W = 64) operands(%q[K], %k[K], %v[V], %w[W])
    states(%S[K, V]: diagonal, %R[K, W]: diagonal) {
  %o = larc.contract %q, %S over K
  %p = larc.contract %q, %R over K
  %n = chunk.update %S over token keys(%k) values(%v)
  %m = chunk.update %R over token keys(%k) values(%w)
  chunk.yield %n, %m, %o, %p
}

// -----

// 256 columns of 64 rows are divided among eight warps, which have to share the
// registers with the eight of the second stage.
larc.recurrence @registers(%q[K], %k[K], %v[V], %s[M]) state(%S[K, M], %R[M, V])
    -> (o[V]) dims(K = 256, M = 64, V = 128) {
  %p = larc.contract %S, %q over K
  %o = larc.contract %R, %p over M
  larc.yield %S, %R, %o
}
// expected-error @below {{needs 104 registers of a lane for stage 1 of states: expected at most 96}}
chunk.scan @registers size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 256, M = 64, V = 128) operands(%q[K], %k[K], %v[V], %s[M])
    states(%S[K, M]: diagonal, %R[M, V]: diagonal) {
  %p = larc.contract %q, %S over K
  %o = larc.contract %p, %R over M
  %n = chunk.update %S over token keys(%k) values(%s)
  %m = chunk.update %R over token keys(%s) values(%v)
  chunk.yield %n, %m, %o
}
