// RUN: larc-opt %s --convert-chunk-to-tile -split-input-file -verify-diagnostics

larc.recurrence @reduced_step(%q[K], %k[K], %v[V], %s[K], %c: gate) state(%S[K, V], %z[K]) -> (o[V])
    dims(K = 16, V = 16) {
  larc.yield %S, %z, %v
}
chunk.scan @reduced_step size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %s[K], %c)
    states(%S[K, V]: diagonal, %z[K]: semiring) {
  %end, %all = chunk.tokens token semiring over(%x = %s) iter(%y = %z) {
    %a = larc.max %y, %x
  // expected-error @below {{which has no form in a program of register tiles}}
    %b = larc.contract %a, %x over K
    chunk.yield %a, %b
  }
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %end, %v
}

// -----

larc.recurrence @no_state(%q[K], %k[K], %v[V], %s[K], %c: gate) state(%S[K, V]) -> (o[V])
    dims(K = 16, V = 16) {
  larc.yield %S, %v
}
chunk.scan @no_state size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %s[K], %c)
    states(%S[K, V]: diagonal) {
  %zero = larc.constant 0.0
  %zeros = larc.broadcast %zero to [K]
  // expected-error @below {{scans from what is no state}}
  %end, %all = chunk.tokens token semiring over(%x = %s) iter(%y = %zeros) {
    %a = larc.max %y, %x
    chunk.yield %a, %a
  }
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %v
}

// -----

larc.recurrence @read_too(%q[K], %k[K], %v[V], %s[K], %c: gate) state(%S[K, V], %z[K]) -> (o[V])
    dims(K = 16, V = 16) {
  larc.yield %S, %z, %v
}
chunk.scan @read_too size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %s[K], %c)
    states(%S[K, V]: diagonal, %z[K]: semiring) {
  // expected-error @below {{scans a state that is read otherwise, too}}
  %end, %all = chunk.tokens token semiring over(%x = %s) iter(%y = %z) {
    %a = larc.max %y, %x
    chunk.yield %a, %a
  }
  %w = larc.mul %z, %k
  %n = chunk.update %S over token keys(%w) values(%v)
  chunk.yield %n, %end, %v
}

// -----

larc.recurrence @read_after(%q[K], %k[K], %v[V], %s[K], %c: gate) state(%S[K, V], %z[K]) -> (o[V])
    dims(K = 16, V = 16) {
  larc.yield %S, %z, %v
}
chunk.scan @read_after size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %s[K], %c)
    states(%S[K, V]: diagonal, %z[K]: semiring) {
  // expected-error @below {{reads a state after the last token of a chunk}}
  %end, %all = chunk.tokens token semiring over(%x = %s) iter(%y = %z) {
    %a = larc.max %y, %x
    chunk.yield %a, %a
  }
  %w = larc.mul %end, %k
  %n = chunk.update %S over token keys(%w) values(%v)
  chunk.yield %n, %end, %v
}

// -----

larc.recurrence @sum(%q[K], %k[K], %v[V], %s[K], %c: gate) state(%S[K, V], %z[K]) -> (o[V])
    dims(K = 16, V = 16) {
  larc.yield %S, %z, %v
}
chunk.scan @sum size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %s[K], %c)
    states(%S[K, V]: diagonal, %z[K]: semiring) {
  // expected-error @below {{expected the maximum, minimum or logaddexp of what is carried and what is not}}
  %end, %all = chunk.tokens token semiring over(%x = %s) iter(%y = %z) {
    %a = larc.add %y, %x
    chunk.yield %a, %a
  }
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %end, %v
}

// -----

larc.recurrence @forgetful(%q[K], %k[K], %v[V], %s[K], %c: gate) state(%S[K, V], %z[K]) -> (o[V])
    dims(K = 16, V = 16) {
  larc.yield %S, %z, %v
}
chunk.scan @forgetful size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %s[K], %c)
    states(%S[K, V]: diagonal, %z[K]: semiring) {
  // expected-error @below {{carries on what does not depend on what was carried}}
  %end, %all = chunk.tokens token semiring over(%x = %s) iter(%y = %z) {
    %a = larc.max %x, %x
    chunk.yield %a, %y
  }
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %end, %v
}

// -----

larc.recurrence @scaled(%q[K], %k[K], %v[V], %s[K], %c: gate) state(%S[K, V], %z[K]) -> (o[V])
    dims(K = 16, V = 16) {
  larc.yield %S, %z, %v
}
chunk.scan @scaled size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %s[K], %c)
    states(%S[K, V]: diagonal, %z[K]: semiring) {
  %end, %all = chunk.tokens token semiring over(%x = %s) iter(%y = %z) {
  // expected-error @below {{changes what is carried otherwise than by sums, maxima, minima or logaddexp}}
    %a = larc.mul %y, %x
    %b = larc.max %a, %x
    chunk.yield %b, %b
  }
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %end, %v
}

// -----

larc.recurrence @doubled(%q[K], %k[K], %v[V], %s[K], %c: gate) state(%S[K, V], %z[K]) -> (o[V])
    dims(K = 16, V = 16) {
  larc.yield %S, %z, %v
}
chunk.scan @doubled size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %s[K], %c)
    states(%S[K, V]: diagonal, %z[K]: semiring) {
  %end, %all = chunk.tokens token semiring over(%x = %s) iter(%y = %z) {
  // expected-error @below {{has what is carried on both sides}}
    %a = larc.add %y, %y
    %b = larc.max %a, %x
    chunk.yield %b, %b
  }
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %end, %v
}

// -----

larc.recurrence @subtracted(%q[K], %k[K], %v[V], %s[K], %c: gate) state(%S[K, V], %z[K]) -> (o[V])
    dims(K = 16, V = 16) {
  larc.yield %S, %z, %v
}
chunk.scan @subtracted size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %s[K], %c)
    states(%S[K, V]: diagonal, %z[K]: semiring) {
  %end, %all = chunk.tokens token semiring over(%x = %s) iter(%y = %z) {
  // expected-error @below {{subtracts what is carried}}
    %a = larc.sub %x, %y
    %b = larc.max %a, %x
    chunk.yield %b, %b
  }
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %end, %v
}

// -----

larc.recurrence @both_sides(%q[K], %k[K], %v[V], %s[K], %c: gate) state(%S[K, V], %z[K]) -> (o[V])
    dims(K = 16, V = 16) {
  larc.yield %S, %z, %v
}
chunk.scan @both_sides size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %s[K], %c)
    states(%S[K, V]: diagonal, %z[K]: semiring) {
  %end, %all = chunk.tokens token semiring over(%x = %s) iter(%y = %z) {
    %a = larc.add %y, %x
  // expected-error @below {{has what is carried on both sides}}
    %b = larc.max %a, %y
    chunk.yield %b, %b
  }
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %end, %v
}

// -----

larc.recurrence @mixed(%q[K], %k[K], %v[V], %s[K], %c: gate) state(%S[K, V], %z[K]) -> (o[V])
    dims(K = 16, V = 16) {
  larc.yield %S, %z, %v
}
chunk.scan @mixed size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %s[K], %c)
    states(%S[K, V]: diagonal, %z[K]: semiring) {
  %end, %all = chunk.tokens token semiring over(%x = %s) iter(%y = %z) {
  // expected-error @below {{combines what is carried in another way than 'larc.max'}}
    %a = larc.min %y, %x
    %b = larc.max %a, %x
    chunk.yield %b, %b
  }
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %end, %v
}

// -----

larc.recurrence @of_each_other(%q[K], %k[K], %v[V], %s[K], %c: gate) state(%S[K, V], %z[K], %y[K]) -> (o[V])
    dims(K = 16, V = 16) {
  larc.yield %S, %z, %y, %v
}
chunk.scan @of_each_other size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %s[K], %c)
    states(%S[K, V]: diagonal, %z[K]: semiring, %y[K]: semiring) {
  // expected-error @below {{carries a state whose update depends on another that it carries}}
  %end:3 = chunk.tokens token semiring over(%x = %s) iter(%a = %z, %b = %y) {
    %c0 = larc.add %x, %b
    %d = larc.max %a, %c0
    %e = larc.max %b, %x
    chunk.yield %d, %e, %d
  }
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %end#0, %end#1, %v
}

// -----

larc.recurrence @of_another(%q[K], %k[K], %v[V], %s[K], %c: gate) state(%S[K, V], %z[K], %y[K]) -> (o[V])
    dims(K = 16, V = 16) {
  larc.yield %S, %z, %y, %v
}
chunk.scan @of_another size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %s[K], %c)
    states(%S[K, V]: diagonal, %z[K]: semiring, %y[K]: semiring) {
  // expected-error @below {{scans what depends on a state}}
  %end, %all = chunk.tokens token semiring over(%x = %s) iter(%a = %z) {
    %c0 = larc.add %x, %y
    %d = larc.max %a, %c0
    chunk.yield %d, %d
  }
  %other, %others = chunk.tokens token semiring over(%x = %s) iter(%a = %y) {
    %d = larc.max %a, %x
    chunk.yield %d, %d
  }
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %end, %other, %v
}

// -----

larc.recurrence @of_sums(%q[K], %k[K], %v[V], %s[K], %c: gate) state(%S[K, V], %z[K]) -> (o[V])
    dims(K = 16, V = 16) {
  larc.yield %S, %z, %v
}
chunk.scan @of_sums size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %s[K], %c)
    states(%S[K, V]: diagonal, %z[K]: semiring) {
  // expected-error @below {{is scanned over tokens, which takes what is computed from operands element by element}}
  %r = larc.contract %q, %k over K
  %e = larc.mul %r, %s
  %end, %all = chunk.tokens token semiring over(%x = %e) iter(%y = %z) {
    %a = larc.max %y, %x
    chunk.yield %a, %a
  }
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %end, %v
}

// -----

larc.recurrence @no_matrix(%q[K], %k[K], %v[V], %s[K], %c: gate) state(%z[K]) -> (o[V])
    dims(K = 16, V = 16) {
  larc.yield %z, %v
}
// expected-error @below {{has no state that is a matrix}}
chunk.scan @no_matrix size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %s[K], %c)
    states(%z[K]: semiring) {
  %end, %all = chunk.tokens token semiring over(%x = %s) iter(%y = %z) {
    %a = larc.max %y, %x
    chunk.yield %a, %a
  }
  chunk.yield %end, %v
}

// -----

larc.recurrence @token_by_token(%q[K], %k[K], %v[V], %s[K], %c: gate) state(%S[K, V], %z[K]) -> (o[V])
    dims(K = 16, V = 16) {
  larc.yield %S, %z, %v
}
// expected-error @below {{has a state that is no matrix, and that no scan over tokens carries}}
chunk.scan @token_by_token size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V], %s[K], %c)
    states(%S[K, V]: diagonal, %z[K]: semiring) {
  %end, %all = chunk.tokens token over(%x = %s) iter(%y = %z) {
    %a = larc.max %y, %x
    chunk.yield %a, %a
  }
  %n = chunk.update %S over token keys(%k) values(%v)
  chunk.yield %n, %end, %v
}
