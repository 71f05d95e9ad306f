// RUN: larc-opt %s --convert-chunk-to-tile -split-input-file -verify-diagnostics

larc.recurrence @matrices(%q[K], %k[K], %v[V], %g[K]: gate, %c: gate) state(%S[K, V]) -> (o[V])
    dims(K = 16, V = 16) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}
chunk.scan @matrices size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %g[K], %c)
    states(%S[K, V]: diagonal) {
  // expected-error @below {{has a matrix for each token, which no program of register tiles holds}}
  %w = larc.mul %k, %v
  %o = larc.contract %w, %q over K
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %o
}

// -----

larc.recurrence @long(%q[K], %k[K], %v[V], %g[K]: gate, %c: gate) state(%S[K, V]) -> (o[V])
    dims(K = 264, V = 16) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}
// expected-error @below {{has 264 channels on axis 'K': expected at most 256}}
chunk.scan @long size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 264, V = 16) operands(%q[K], %k[K], %v[V], %g[K], %c)
    states(%S[K, V]: diagonal) {
  %o = larc.contract %q, %S over K
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %o
}

// -----

larc.recurrence @both_axes(%q[K], %k[K], %v[V], %g[K]: gate, %c: gate) state(%S[K, V]) -> (o)
    dims(K = 16, V = 16) {
  %r = larc.contract %S, %q over K
  %o = larc.reduce sum %r over V
  larc.yield %S, %o
}
chunk.scan @both_axes size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %g[K], %c)
    states(%S[K, V]: diagonal) {
  // expected-error @below {{sums a state over two axes}}
  %o = larc.contract %c, %S over K, V
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %o
}

// -----

larc.recurrence @either_axis(%q[K], %k[K], %v[V], %g[K]: gate, %c: gate) state(%S[K, V]) -> (o[V])
    dims(K = 16, V = 16) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}
chunk.scan @either_axis size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %g[K], %c)
    states(%S[K, V]: diagonal) {
  %r = larc.contract %q, %S over K
  // expected-error @below {{reads a state over axis 'V', which is read over axis 'K' too}}
  %s = larc.contract %v, %S over V
  %o = larc.contract %s, %k over K
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %r
}

// -----

larc.recurrence @no_reader(%q[K], %k[K], %v[V], %g[K]: gate, %c: gate) state(%S[K, V]) -> (o[V])
    dims(K = 16, V = 16) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}
chunk.scan @no_reader size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %g[K], %c)
    states(%S[K, V]: diagonal) {
  // expected-error @below {{reads a state without a reader along axis 'K'}}
  %o = larc.contract %c, %S over K
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %o
}

// -----

larc.recurrence @odd_reader(%q[K], %k[K], %v[V], %g[K]: gate, %c: gate) state(%S[K, V]) -> (o[V])
    dims(K = 16, V = 16) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}
chunk.scan @odd_reader size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %g[K], %c)
    states(%S[K, V]: diagonal) {
  // expected-error @below {{reads a state with factors along an axis that is not summed}}
  %o = larc.contract %v, %S over K
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %o
}

// -----

larc.recurrence @twice(%q[K], %k[K], %v[V], %g[K]: gate, %c: gate) state(%S[K, V]) -> (o[V])
    dims(K = 16, V = 16) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}
chunk.scan @twice size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %g[K], %c)
    states(%S[K, V]: diagonal) {
  %o = larc.contract %q, %S over K
  %n = chunk.update %S over token keys(%k) values(%v)
  // expected-error @below {{expected to update what a state is at first}}
  %m = chunk.update %n over token keys(%k) values(%v)
  chunk.yield %m, %o
}

// -----

larc.recurrence @scalar_scores(%q[K], %k[K], %v[V], %g[K]: gate, %c: gate) state(%S[K, V]) -> (o[V])
    dims(K = 16, V = 16) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}
chunk.scan @scalar_scores size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %g[K], %c)
    states(%S[K, V]: diagonal) {
  // expected-error @below {{expected scores to be summed over one axis, found 0}}
  %A = chunk.scores %c, %c token to source
  %o = chunk.mix %A, %v token to source
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %o
}

// -----

larc.recurrence @many_scores(%q[K], %k[K], %v[V], %g[K]: gate, %c: gate) state(%S[K, V]) -> (o[V])
    dims(K = 16, V = 16) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}
chunk.scan @many_scores size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %g[K], %c)
    states(%S[K, V]: diagonal) {
  // expected-error @below {{has scores for each index of a further axis}}
  %A = chunk.scores %v, %k over K token to source
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %v
}

// -----

larc.recurrence @scalar_writer(%q[K], %k[K], %v[V], %g[K]: gate, %c: gate) state(%S[K, V]) -> (o[V])
    dims(K = 16, V = 16) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}
chunk.scan @scalar_writer size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %g[K], %c)
    states(%S[K, V]: diagonal) {
  // expected-error @below {{expected reader and writer along axis 'K'}}
  %A = chunk.scores %q, %c over K token to source
  %o = chunk.mix %A, %v token to source
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %o
}

// -----

larc.recurrence @late_decays(%q[K], %k[K], %v[V], %g[K]: gate, %c: gate) state(%S[K, V]) -> (o[V])
    dims(K = 16, V = 16) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}
chunk.scan @late_decays size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %g[K], %c)
    states(%S[K, V]: diagonal) {
  %r = larc.contract %v, %S over V
  %d = larc.sigmoid %r
  // expected-error @below {{has decays that depend on a state}}
  %A = chunk.scores %q, %k over K token to source decay(%d)
  %o = chunk.mix %A, %v token to source
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %o
}

// -----

larc.recurrence @changed_scores(%q[K], %k[K], %v[V], %g[K]: gate, %c: gate) state(%S[K, V]) -> (o[V])
    dims(K = 16, V = 16) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}
chunk.scan @changed_scores size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %g[K], %c)
    states(%S[K, V]: diagonal) {
  %A = chunk.scores %q, %k over K token to source
  %B = larc.exp %A
  // expected-error @below {{expected what 'chunk.scores' gives}}
  %o = chunk.mix %B, %v token to source
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %o
}

// -----

larc.recurrence @scalar_values(%q[K], %k[K], %v[V], %g[K]: gate, %c: gate) state(%S[K, V]) -> (o)
    dims(K = 16, V = 16) {
  %o = larc.contract %k, %q over K
  larc.yield %S, %o
}
chunk.scan @scalar_values size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %g[K], %c)
    states(%S[K, V]: diagonal) {
  %A = chunk.scores %q, %k over K token to source
  // expected-error @below {{mixes values of no axis}}
  %o = chunk.mix %A, %c token to source
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %o
}

// -----

larc.recurrence @decayed_diagonal(%q[K], %k[K], %v[V], %g[K]: gate, %c: gate) state(%S[K, V]) -> (o[V])
    dims(K = 16, V = 16) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}
chunk.scan @decayed_diagonal size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %g[K], %c)
    states(%S[K, V]: diagonal) {
  %d = larc.contract %q, %k over K
  %A = chunk.scores %q, %k over K token to source diagonal(%d)
  %a = larc.exp %c
  // expected-error @below {{has decays, and scores with a diagonal}}
  %o = chunk.mix %A, %v token to source decay(%a)
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %o
}

// -----

larc.recurrence @other_axis(%q[K], %k[K], %v[V], %g[K]: gate, %c: gate) state(%S[K, V]) -> (o[V])
    dims(K = 16, V = 16) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}
chunk.scan @other_axis size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %g[K], %c)
    states(%S[K, V]: diagonal) {
  %A = chunk.scores %q, %k over K token to source
  %a = larc.exp %c
  // expected-error @below {{has decays along another axis than its values}}
  %o = chunk.mix %A, %v token to source decay(%a)
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %o
}

// -----

larc.recurrence @late_mix(%q[K], %k[K], %v[V], %g[K]: gate, %c: gate) state(%S[K, V]) -> (o[V])
    dims(K = 16, V = 16) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}
chunk.scan @late_mix size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %g[K], %c)
    states(%S[K, V]: diagonal) {
  %r = larc.contract %q, %S over K
  %d = larc.sigmoid %r
  %A = chunk.scores %q, %k over K token to source
  // expected-error @below {{has decays that depend on a state}}
  %o = chunk.mix %A, %v token to source decay(%d)
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %o
}

// -----

larc.recurrence @reduced(%q[K], %k[K], %v[V], %g[K]: gate, %c: gate) state(%S[K, V]) -> (o[V])
    dims(K = 16, V = 16) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}
chunk.scan @reduced size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %g[K], %c)
    states(%S[K, V]: diagonal) {
  // expected-error @below {{reads a state otherwise than by a contraction}}
  %r = larc.reduce max %S over K
  %o = larc.mul %r, %v
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %o
}

// -----

larc.recurrence @late_sum(%q[K], %k[K], %v[V], %g[K]: gate, %c: gate) state(%S[K, V]) -> (o[V])
    dims(K = 16, V = 16) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}
chunk.scan @late_sum size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %g[K], %c)
    states(%S[K, V]: diagonal) {
  %o = larc.contract %q, %S over K
  // expected-error @below {{runs over values that depend on a state}}
  %s = chunk.cumulate sum %o over token
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %s
}

// -----

larc.recurrence @late_total(%q[K], %k[K], %v[V], %g[K]: gate, %c: gate) state(%S[K, V]) -> (o[V])
    dims(K = 16, V = 16) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}
chunk.scan @late_total size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %g[K], %c)
    states(%S[K, V]: diagonal) {
  %o = larc.contract %q, %S over K
  // expected-error @below {{runs over values that depend on a state}}
  %s = chunk.total sum %o over token
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %o
}

// -----

larc.recurrence @renamed(%q[K], %k[K], %v[V], %g[K]: gate, %c: gate) state(%S[K, V]) -> (o[V])
    dims(K = 16, V = 16) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}
chunk.scan @renamed size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %g[K], %c)
    states(%S[K, V]: diagonal) {
  // expected-error @below {{which has no form in a program of register tiles}}
  %x = larc.rename %q K to V
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %x
}

// -----

larc.recurrence @kept(%q[K], %k[K], %v[V], %g[K]: gate, %c: gate) state(%S[K, V]) -> (o[V])
    dims(K = 16, V = 16) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}
chunk.scan @kept size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %g[K], %c)
    states(%S[K, V]: diagonal) {
  %o = larc.contract %q, %S over K
  // expected-error @below {{reads a state otherwise than by a contraction}}
  chunk.yield %S, %o
}

// -----

larc.recurrence @shared(%q[K], %k[K], %v[V], %g[K]: gate, %c: gate) state(%S[K, V], %T[K, V]) -> (o[V])
    dims(K = 16, V = 16) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %S, %o
}
// expected-error @below {{state 1 is not what 'chunk.update' makes of it}}
chunk.scan @shared size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %g[K], %c)
    states(%S[K, V]: diagonal, %T[K, V]: diagonal) {
  %o = larc.contract %q, %S over K
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %n, %o
}

// -----

larc.recurrence @scalar_key(%q[K], %k[K], %v[V], %g[K]: gate, %c: gate) state(%S[K, V]) -> (o[V])
    dims(K = 16, V = 16) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}
chunk.scan @scalar_key size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %g[K], %c)
    states(%S[K, V]: diagonal) {
  %o = larc.contract %q, %S over K
  // expected-error @below {{adds products other than of a key and a value of one axis each}}
  %n = chunk.update %S over token keys(%c) values(%v)
  chunk.yield %n, %o
}

// -----

larc.recurrence @short(%q[K], %k[K], %v[V], %g[K]: gate, %c: gate) state(%S[K, V]) -> (o[V])
    dims(K = 16, V = 16) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}
// expected-error @below {{expected chunks of 16 or 32 tokens, found 8}}
chunk.scan @short size 8 tokens(token from 0 size 8, source from 0 size 8)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %g[K], %c)
    states(%S[K, V]: diagonal) {
  %o = larc.contract %q, %S over K
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %o
}

// -----

larc.recurrence @tall(%q[K], %k[K], %v[V], %g[K]: gate, %c: gate) state(%S[K, V]) -> (o[V])
    dims(K = 16, V = 16) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}
// expected-error @below {{expected chunks of 16 or 32 tokens, found 64}}
chunk.scan @tall size 64 tokens(token from 0 size 64, source from 0 size 64)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %g[K], %c)
    states(%S[K, V]: diagonal) {
  %o = larc.contract %q, %S over K
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %o
}

// -----

larc.recurrence @vector(%q[K], %k[K], %v[V], %g[K]: gate, %c: gate) state(%S[K]) -> (o[V])
    dims(K = 16, V = 16) {
  larc.yield %S, %v
}
// expected-error @below {{has a state that is no matrix}}
chunk.scan @vector size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %g[K], %c)
    states(%S[K]: diagonal) {
  chunk.yield %S, %v
}

// -----

larc.recurrence @fires(%x[K]) state(%s[K]) attributes(period = period(10)) -> (o[K])
    dims(K = 32) {
  %a = larc.anchor %s
  %fired = larc.fire every 1 iter(%y = %s) {
    %z = larc.neg %y
    larc.yield %z
  }
  %o = larc.mul %a, %x
  larc.yield %fired, %o
}
// expected-error @below {{has periods, which a program of register tiles does not keep}}
chunk.scan @fires size 16 tokens(token from 0 size 16) dims(K = 32)
    operands(%x[K]) states(%s[K]: constant) anchors(%a[K]) boundary {
  %o = larc.mul %a, %x
  chunk.yield %s, %o
}

// -----

larc.recurrence @sums(%q[K], %k[K], %v[V], %g[K]: gate, %c: gate) state(%S[K, V]) -> (o[V])
    dims(K = 16, V = 16) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}
chunk.scan @sums size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %g[K], %c)
    states(%S[K, V]: diagonal) {
  // expected-error @below {{runs over tokens otherwise than by products}}
  %a = chunk.cumulate sum %g over token
  %x = larc.mul %q, %a
  %o = larc.contract %x, %S over K
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %o
}

// -----

larc.recurrence @totals(%q[K], %k[K], %v[V], %g[K]: gate, %c: gate) state(%S[K, V]) -> (o[V])
    dims(K = 16, V = 16) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}
chunk.scan @totals size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %g[K], %c)
    states(%S[K, V]: diagonal) {
  // expected-error @below {{runs over tokens otherwise than by products}}
  %t = chunk.total sum %g over token
  %o = larc.contract %q, %S over K
  %n = chunk.update %S over token decay(%t) keys(%k) values(%v)
  chunk.yield %n, %o
}

// -----

larc.recurrence @after(%q[K], %k[K], %v[V], %g[K]: gate, %c: gate) state(%S[K, V]) -> (o[V])
    dims(K = 16, V = 16) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}
chunk.scan @after size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %g[K], %c)
    states(%S[K, V]: diagonal) {
  %n = chunk.update %S over token keys(%k) values(%v)
  // expected-error @below {{reads a state that was updated}}
  %o = larc.contract %q, %n over K
  chunk.yield %n, %o
}

// -----

larc.recurrence @scored(%q[K], %k[K], %v[V], %g[K]: gate, %c: gate) state(%S[K, V]) -> (o[V])
    dims(K = 16, V = 16) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}
chunk.scan @scored size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %g[K], %c)
    states(%S[K, V]: diagonal) {
  %A = chunk.scores %q, %k over K token to source
  // expected-error @below {{takes scores, which only 'chunk.mix' does}}
  %B = larc.neg %A
  %C = larc.neg %B
  %o = chunk.mix %C, %v token to source
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %o
}
