// RUN: larc-opt %s -split-input-file -verify-diagnostics

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+1 {{what is accumulated [K, V] lacks the axis 'token'}}
  %c = chunk.cumulate sum %S over token
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+1 {{'chunk.cumulate' op takes 'K' as an axis of tokens, which the scan does not declare}}
  %c = chunk.cumulate sum %x over K
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+1 {{what is combined [K, V] lacks the axis 'token'}}
  %c = chunk.total sum %S over token
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+1 {{'chunk.total' op takes 'K' as an axis of tokens, which the scan does not declare}}
  %c = chunk.total sum %x over K
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+1 {{unknown way to combine 'mean': expected sum, product or max}}
  %c = chunk.total mean %x over token
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K]) -> (o) {
  // expected-error @+1 {{'chunk.total' op is only allowed in a chunk.scan}}
  %o = chunk.total sum %x over K
  larc.yield %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+1 {{the reader [K, V] lacks the axis 'token'}}
  %c = chunk.scores %S, %x over K token to source
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+1 {{the writer [K, V] lacks the axis 'token'}}
  %c = chunk.scores %x, %S over K token to source
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+1 {{a decay [K, V] lacks the axis 'token'}}
  %c = chunk.scores %x, %x over K token to source decay(%S)
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+1 {{the writer [V, token] has axis 'V', over which nothing is summed}}
  %c = chunk.scores %x, %y over K token to source
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+1 {{a decay [V, token] has axis 'V', over which nothing is summed}}
  %c = chunk.scores %x, %x over K token to source decay(%y)
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+1 {{axis 'K' is named twice}}
  %c = chunk.scores %x, %x over K, K token to source
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+2 {{scores name axis 'K' twice}}
  // expected-error @+1 {{'chunk.scores' op failed to infer returned types}}
  %c = "chunk.scores"(%x, %x) <{axes = ["K", "K"], token = "token", source = "source", operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (!larc.array<K, token>, !larc.array<K, token>) -> !larc.array<source, token>
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+1 {{scores over axis 'V', which is no axis of a reader, a writer or a decay beside that of tokens}}
  %c = chunk.scores %x, %x over K, V token to source
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+1 {{scores over axis 'token', which is no axis of a reader, a writer or a decay beside that of tokens}}
  %c = chunk.scores %x, %x over K, token token to source
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %z = larc.rename %g token to source
  %w = larc.mul %z, %g
  // expected-error @+1 {{the reader [source, token] has the axis of tokens that wrote 'source'}}
  %c = chunk.scores %w, %g token to source
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+1 {{the diagonal has axis 'V', but the scores of a token are [token]}}
  %c = chunk.scores %x, %x over K token to source diagonal(%y)
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+1 {{expected one value in 'diagonal', not 2}}
  %c = chunk.scores %x, %x over K token to source diagonal(%g, %g)
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+1 {{the reader [token] has the axis of tokens that wrote 'token'}}
  %c = chunk.scores %g, %g token to token
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+1 {{'chunk.scores' op takes 'V' as an axis of tokens, which the scan does not declare}}
  %c = chunk.scores %g, %g token to V
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %k = larc.reduce sum %S over V
  // expected-error @+1 {{'chunk.scores' op takes 'K' as an axis of tokens, which the scan does not declare}}
  %c = chunk.scores %k, %k K to source
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 2)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+1 {{'chunk.scores' op has axes 'token' and 'source', which do not count the same tokens}}
  %c = chunk.scores %x, %x over K token to source
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+1 {{the scores [K, V] lacks the axis 'token'}}
  %c = chunk.mix %S, %y token to source
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+1 {{the scores [K, token] lacks the axis 'source'}}
  %c = chunk.mix %x, %y token to source
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %s = chunk.scores %x, %x over K token to source
  // expected-error @+1 {{what is mixed [K, V] lacks the axis 'token'}}
  %c = chunk.mix %s, %S token to source
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %s = chunk.scores %x, %x over K token to source
  // expected-error @+1 {{a decay [K, V] lacks the axis 'token'}}
  %c = chunk.mix %s, %y token to source decay(%S)
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %s = chunk.scores %x, %x over K token to source
  // expected-error @+1 {{what is mixed [source, token] has axis 'source' of the scores}}
  %c = chunk.mix %s, %s token to source
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %r = larc.mul %x, %y
  %s = chunk.scores %r, %x over K token to source
  %d = larc.mul %x, %y
  // expected-error @+1 {{a decay [K, V, token] has axis 'V' of the scores}}
  %c = chunk.mix %s, %x token to source decay(%d)
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %s = chunk.scores %x, %x over K token to source
  // expected-error @+1 {{the initial value of a mix has the axis of tokens that wrote 'source'}}
  %c = chunk.mix %s, %y token to source init(%s)
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4, later from 0 size 2)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %s = chunk.scores %g, %g token to source
  %z = larc.rename %y token to source
  %b = larc.broadcast %s to [later]
  %t = chunk.total sum %b over token
  // expected-error @+1 {{'chunk.mix' op has axes 'source' and 'later', which do not count the same tokens}}
  %c = chunk.mix %t, %z source to later
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+1 {{'chunk.update' op takes 'K' as an axis of tokens, which the scan does not declare}}
  %c = chunk.update %S over K
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+1 {{'chunk.update' op takes a state [K, token] that has the axis of tokens 'token'}}
  %c = chunk.update %x over token
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+1 {{'chunk.update' op has a decay [token] with axis 'token', which the state [K, V] lacks}}
  %c = chunk.update %S over token decay(%g)
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+1 {{'chunk.update' op pairs 1 keys with 0 values}}
  %c = chunk.update %S over token keys(%x)
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+1 {{'chunk.update' op has a key and a value that lack the axis of tokens 'token'}}
  %c = chunk.update %S over token keys(%S) values(%S)
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %z = larc.rename %y token to source
  // expected-error @+1 {{'chunk.update' op has a key and a value [K, V, source, token] with axis 'source', which the state [K, V] lacks}}
  %c = chunk.update %S over token keys(%x) values(%z)
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4, a from 0 size 2, b from 2 size 2, c from 1 size 2)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+1 {{what rows are taken of [K, V] lacks the axis 'token'}}
  %c = chunk.rows %S token to a
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4, a from 0 size 2, b from 2 size 2, c from 1 size 2)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+1 {{axis 'K' is an axis of [K, token] already}}
  %c = chunk.rows %x token to K
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4, a from 0 size 2, b from 2 size 2, c from 1 size 2)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+1 {{'chunk.rows' op takes 'V' as an axis of tokens, which the scan does not declare}}
  %c = chunk.rows %x token to V
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4, a from 0 size 2, b from 2 size 2, c from 1 size 2)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+1 {{'chunk.rows' op takes 'K' as an axis of tokens, which the scan does not declare}}
  %c = chunk.rows %x K to a
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4, a from 0 size 2, b from 2 size 2, c from 1 size 2)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %r = chunk.rows %x token to a
  // expected-error @+1 {{'chunk.rows' op takes tokens 'c', which are not all tokens of 'a'}}
  %c = chunk.rows %r a to c
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4, a from 0 size 2, b from 2 size 2, c from 1 size 2)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+2 {{a stack has at least one part and an axis for each, not 0 parts and 0 axes}}
  // expected-error @+1 {{'chunk.stack' op failed to infer returned types}}
  %c = "chunk.stack"() <{from = [], to = "token"}> : () -> !larc.array<token>
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4, a from 0 size 2, b from 2 size 2, c from 1 size 2)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %a = chunk.rows %x token to a
  // expected-error @+1 {{a stack has at least one part and an axis for each, not 1 parts and 2 axes}}
  %c = chunk.stack %a from [a, b] to token
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4, a from 0 size 2, b from 2 size 2, c from 1 size 2)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %a = chunk.rows %x token to a
  // expected-error @+1 {{a part [K, a] lacks the axis 'b'}}
  %c = chunk.stack %a from [b] to token
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4, a from 0 size 2, b from 2 size 2, c from 1 size 2)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %a = chunk.rows %x token to a
  %b = chunk.rows %g token to b
  // expected-error @+1 {{parts of a stack have the same other axes, but one has [K] and one []}}
  %c = chunk.stack %a, %b from [a, b] to token
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4, a from 0 size 2, b from 2 size 2, c from 1 size 2)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %a = chunk.rows %x token to a
  // expected-error @+1 {{axis 'K' is an axis of the parts already}}
  %c = chunk.stack %a from [a] to K
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4, a from 0 size 2, b from 2 size 2, c from 1 size 2)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %a = chunk.rows %x token to a
  // expected-error @+1 {{'chunk.stack' op takes 'V' as an axis of tokens, which the scan does not declare}}
  %c = chunk.stack %a from [a] to V
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4, a from 0 size 2, b from 2 size 2, c from 1 size 2)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+1 {{'chunk.stack' op takes 'K' as an axis of tokens, which the scan does not declare}}
  %c = chunk.stack %S from [K] to token
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4, a from 0 size 2, b from 2 size 2, c from 1 size 2)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %a = chunk.rows %x token to a
  // expected-error @+1 {{'chunk.stack' op places tokens "a", which are not all tokens of 'b'}}
  %c = chunk.stack %a from [a] to b
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4, a from 0 size 2, b from 2 size 2, c from 1 size 2)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %a = chunk.rows %x token to a
  %d = chunk.rows %x token to c
  // expected-error @+1 {{'chunk.stack' op places tokens "c" behind later ones: parts are in order and do not overlap}}
  %c = chunk.stack %a, %d from [a, c] to token
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}
