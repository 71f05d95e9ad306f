// RUN: larc-opt %s --convert-chunk-to-tile=segments -split-input-file -verify-diagnostics

// What a segment adds to the second state depends on what the first one was.
larc.recurrence @late_value(%q[K], %k[K], %v[V]) state(%S[K, V], %R[K, V]) -> (o[V])
    dims(K = 16, V = 16) {
  %o = larc.contract %R, %q over K
  larc.yield %S, %R, %o
}
chunk.scan @late_value size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V])
    states(%S[K, V]: diagonal, %R[K, V]: diagonal) {
  %u = larc.contract %k, %S over K
  %o = larc.contract %q, %R over K
  %n = chunk.update %S over token keys(%k) values(%v)
  // expected-error @below {{adds what depends on a state, which segments do not compose}}
  %m = chunk.update %R over token keys(%k) values(%u)
  chunk.yield %n, %m, %o
}

// -----

// What a segment does to a state depends on where its scan began.
larc.recurrence @scanned(%q[K], %k[K], %v[V], %s[K]) state(%S[K, V], %z[K]) -> (o[V])
    dims(K = 16, V = 16) {
  larc.yield %S, %z, %v
}
chunk.scan @scanned size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %s[K])
    states(%S[K, V]: diagonal, %z[K]: semiring) {
  // expected-error @below {{scans a state, which segments do not compose}}
  %end, %all = chunk.tokens token semiring over(%x = %s) iter(%y = %z) {
    %a = larc.max %y, %x
    chunk.yield %a, %a
  }
  %w = larc.mul %all, %k
  %n = chunk.update %S over token keys(%w) values(%v)
  chunk.yield %n, %end, %v
}
