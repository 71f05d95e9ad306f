// RUN: larc-opt %s -split-input-file -verify-diagnostics

chunk.scan @r size 4
    // expected-error @+1 {{unknown class of transitions 'linear': expected constant, diagonal, low_rank, implicit, semiring, elementwise or sequential}}
    tokens(token from 0 size 4) states(%S: linear) {
  chunk.yield %S
}

// -----

chunk.scan @r size 4
    // expected-error @+1 {{axis 'K' is bound twice}}
    tokens(token from 0 size 4) dims(K = 1, K = 1) states(%S: constant) {
  chunk.yield %S
}

// -----

// expected-error @+1 {{expected an axis that counts tokens}}
chunk.scan @r size 4 tokens() states(%S: constant) {
  chunk.yield %S
}

// -----

chunk.scan @r size 4
    // expected-error @+1 {{expected a region that ends with 'chunk.yield'}}
    tokens(token from 0 size 4) {
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
  // expected-error @+1 {{'chunk.solve' op has scores [K, token] without the axis of tokens 'source'}}
  %c = chunk.solve scores(%x [0, 0]) writes 1 token to source past(%p[V]) {
    chunk.yield %p
  }
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
  // expected-error @+1 {{'chunk.solve' op has scores [K, V] without the axis of tokens 'token'}}
  %c = chunk.solve scores(%S [0, 0]) writes 1 token to source past(%p[V]) {
    chunk.yield %p
  }
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
  // expected-error @+1 {{'chunk.solve' op has a decay [K, V] without the axis of tokens 'token'}}
  %c = chunk.solve scores(%s [0, 0]) writes 1 token to source decay(%S) past(%p[V]) {
    chunk.yield %p
  }
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
  // expected-error @+1 {{goes over tokens 'token' of %S, which does not have that axis}}
  %c = chunk.solve scores(%s [0, 0]) writes 1 token to source over(%z = %S) past(%p[V]) {
    chunk.yield %p
  }
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
  // expected-error @+1 {{'chunk.solve' op needs two axes for tokens that read and tokens that wrote, not 'token' twice}}
  %c = chunk.solve scores(%s [0, 0]) writes 1 token to token past(%p[V]) {
    chunk.yield %p
  }
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
  // expected-error @+1 {{'chunk.solve' op needs at least one write, not 0}}
  %c = chunk.solve scores(%s [0, 0]) writes 0 token to source past(%p[V]) {
    chunk.yield %p
  }
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
  // expected-error @+1 {{'chunk.solve' op pairs read 0 with write 1 of 1 reads and 1 writes}}
  %c = chunk.solve scores(%s [0, 1]) writes 1 token to source past(%p[V]) {
    chunk.yield %p
  }
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
  // expected-error @+1 {{'chunk.solve' op pairs read 1 with write 0 of 1 reads and 1 writes}}
  %c = chunk.solve scores(%s [1, 0]) writes 1 token to source past(%p[V]) {
    chunk.yield %p
  }
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
  // expected-error @+1 {{'chunk.solve' op pairs read -1 with write 0 of 1 reads and 1 writes}}
  %c = chunk.solve scores(%s [-1, 0]) writes 1 token to source past(%p[V]) {
    chunk.yield %p
  }
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
  // expected-error @+1 {{'chunk.solve' op pairs read 0 with write 0 twice}}
  %c = chunk.solve scores(%s [0, 0], %s [0, 0]) writes 1 token to source past(%p[V]) {
    chunk.yield %p
  }
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
  // expected-error @+1 {{'chunk.solve' op has read 1, which no scores belong to}}
  %c = chunk.solve scores(%s [0, 0]) writes 1 token to source past(%p[V], %q[V]) {
    chunk.yield %p
  }
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
  // expected-error @+1 {{'chunk.solve' op has [K, V] as past 0, but what it sums is [V]}}
  %c = chunk.solve scores(%s [0, 0]) writes 1 token to source over(%z = %y) past(%p[K, V]) {
    chunk.yield %z
  }
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
  // expected-error @+1 {{'chunk.solve' op sums a write [V] that has axis 'V' of its scores}}
  %c = chunk.solve scores(%s [0, 0]) writes 1 token to source past(%p[V]) {
    chunk.yield %p
  }
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
  // expected-error @+1 {{'chunk.solve' op has the axis of tokens 'token' in the region of one token}}
  %c = chunk.solve scores(%s [0, 0]) writes 1 token to source past(%p[token]) {
    chunk.yield %p
  }
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
  %c = chunk.solve scores(%s [0, 0]) writes 1 token to source past(%p[V]) {
    // expected-error @+1 {{'larc.add' op has the axis of tokens 'token' in the region of one token}}
    %q = larc.add %p, %y
    chunk.yield %q
  }
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
  chunk.solve scores(%s [0, 0]) writes 1 token to source past(%p[V]) {
    // expected-error @+1 {{'chunk.yield' op gives 0 values, but there are 1 writes}}
    chunk.yield
  }
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
  // expected-error @+1 {{'chunk.solve' op needs a read and a write for each of 1 scores, not 1 numbers}}
  %c = "chunk.solve"(%s) <{numWrites = 1 : i64, pairs = array<i64: 0>, token = "token", source = "source", operandSegmentSizes = array<i32: 1, 0, 0>}> ({
  ^bb0(%p: !larc.array<V>):
    "chunk.yield"(%p) : (!larc.array<V>) -> ()
  }) : (!larc.array<source, token>) -> !larc.array<V, token>

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
  // expected-error @+1 {{'chunk.solve' op has fewer region arguments than arrays to go over}}
  %c = "chunk.solve"(%s, %y, %y) <{numWrites = 1 : i64, pairs = array<i64: 0, 0>, token = "token", source = "source", operandSegmentSizes = array<i32: 1, 2, 0>}> ({
  ^bb0(%p: !larc.array<V>):
    "chunk.yield"(%p) : (!larc.array<V>) -> ()
  }) : (!larc.array<source, token>, !larc.array<V, token>, !larc.array<V, token>) -> !larc.array<V, token>

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
  // expected-error @+1 {{'chunk.solve' op has '!larc.array<K>' as region argument 1, which is a slice of type '!larc.array<V>'}}
  %c = "chunk.solve"(%s, %y) <{numWrites = 1 : i64, pairs = array<i64: 0, 0>, token = "token", source = "source", operandSegmentSizes = array<i32: 1, 1, 0>}> ({
  ^bb0(%p: !larc.array<V>, %z: !larc.array<K>):
    "chunk.yield"(%p) : (!larc.array<V>) -> ()
  }) : (!larc.array<source, token>, !larc.array<V, token>) -> !larc.array<V, token>

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
  // expected-error @+1 {{'chunk.solve' op has 2 results, but its region gives 1}}
  %c:2 = "chunk.solve"(%s) <{numWrites = 1 : i64, pairs = array<i64: 0, 0>, token = "token", source = "source", operandSegmentSizes = array<i32: 1, 0, 0>}> ({
  ^bb0(%p: !larc.array<V>):
    "chunk.yield"(%p) : (!larc.array<V>) -> ()
  }) : (!larc.array<source, token>) -> (!larc.array<V, token>, !larc.array<V, token>)

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
  // expected-error @+1 {{'chunk.solve' op has '!larc.array<V>' as result 0, but its region gives '!larc.array<V, token>'}}
  %c = "chunk.solve"(%s) <{numWrites = 1 : i64, pairs = array<i64: 0, 0>, token = "token", source = "source", operandSegmentSizes = array<i32: 1, 0, 0>}> ({
  ^bb0(%p: !larc.array<V>):
    "chunk.yield"(%p) : (!larc.array<V>) -> ()
  }) : (!larc.array<source, token>) -> !larc.array<V>

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
  // expected-error @+1 {{'chunk.solve' op has a value that is not an array in the region of one token}}
  %c = "chunk.solve"(%s) <{numWrites = 1 : i64, pairs = array<i64: 0, 0>, token = "token", source = "source", operandSegmentSizes = array<i32: 1, 0, 0>}> ({
  ^bb0(%p: !larc.array<V>, %i: index):
    "chunk.yield"(%p) : (!larc.array<V>) -> ()
  }) : (!larc.array<source, token>) -> !larc.array<V, token>

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
  // expected-error @+1 {{'chunk.solve' op needs a region that ends with chunk.yield}}
  chunk.solve scores(%s [0, 0]) writes 1 token to source past(%p[V]) {
    llvm.unreachable
  }
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
  // expected-error @+1 {{'chunk.tokens' op takes 'K' as an axis of tokens, which the scan does not declare}}
  %c = chunk.tokens K over(%z = %x) iter(%m = %S) {
    chunk.yield %m
  }
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
  // expected-error @+1 {{goes over tokens 'token' of %S, which does not have that axis}}
  %c = chunk.tokens token over(%z = %S) {
    chunk.yield %z
  }
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
  chunk.tokens token over(%z = %y) iter(%m = %S) {
    // expected-error @+1 {{'chunk.yield' op gives 0 values, but there are 1 carried values}}
    chunk.yield
  }
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
  %c = chunk.tokens token over(%z = %y) iter(%m = %S) {
    // expected-error @+1 {{'chunk.yield' op gives '!larc.array<V>' for carried value 0, which starts as '!larc.array<K, V>'}}
    chunk.yield %z
  }
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
  %c = chunk.tokens token over(%z = %y) iter(%m = %S) {
    // expected-error @+1 {{'larc.mul' op has the axis of tokens 'token' in the region of one token}}
    %q = larc.mul %x, %m
    chunk.yield %m
  }
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
  // expected-error @+1 {{'chunk.tokens' op needs a region that ends with chunk.yield}}
  chunk.tokens token over(%z = %y) {
    llvm.unreachable
  }
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
  // expected-error @+1 {{'chunk.tokens' op has 1 region arguments for 1 arrays and 1 carried values}}
  %c = "chunk.tokens"(%y, %S) <{token = "token", operandSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%m: !larc.array<K, V>):
    "chunk.yield"(%m) : (!larc.array<K, V>) -> ()
  }) : (!larc.array<V, token>, !larc.array<K, V>) -> !larc.array<K, V>

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
  // expected-error @+1 {{'chunk.tokens' op has '!larc.array<K>' as region argument 0, which is a slice of type '!larc.array<V>'}}
  %c = "chunk.tokens"(%y, %S) <{token = "token", operandSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%z: !larc.array<K>, %m: !larc.array<K, V>):
    "chunk.yield"(%m) : (!larc.array<K, V>) -> ()
  }) : (!larc.array<V, token>, !larc.array<K, V>) -> !larc.array<K, V>

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
  // expected-error @+1 {{'chunk.tokens' op has 2 results, but its region gives 1}}
  %c:2 = "chunk.tokens"(%y, %S) <{token = "token", operandSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%z: !larc.array<V>, %m: !larc.array<K, V>):
    "chunk.yield"(%m) : (!larc.array<K, V>) -> ()
  }) : (!larc.array<V, token>, !larc.array<K, V>) -> (!larc.array<K, V>, !larc.array<K, V>)

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
  // expected-error @+1 {{'chunk.tokens' op has '!larc.array<V>' as result 1, but its region gives '!larc.array<V, token>'}}
  %c:2 = "chunk.tokens"(%y, %S) <{token = "token", operandSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%z: !larc.array<V>, %m: !larc.array<K, V>):
    "chunk.yield"(%m, %z) : (!larc.array<K, V>, !larc.array<V>) -> ()
  }) : (!larc.array<V, token>, !larc.array<K, V>) -> (!larc.array<K, V>, !larc.array<V>)

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
  // expected-error @+1 {{'chunk.tokens' op has a value that is not an array in the region of one token}}
  %c = "chunk.tokens"(%y, %S) <{token = "token", operandSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%z: !larc.array<V>, %m: index):
    "chunk.yield"(%z) : (!larc.array<V>) -> ()
  }) : (!larc.array<V, token>, !larc.array<K, V>) -> !larc.array<V>

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
  // expected-error @+1 {{'chunk.tokens' op has an array [K, V] without the axis of tokens 'token'}}
  %c = "chunk.tokens"(%S, %S) <{token = "token", operandSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%z: !larc.array<K, V>, %m: !larc.array<K, V>):
    "chunk.yield"(%m) : (!larc.array<K, V>) -> ()
  }) : (!larc.array<K, V>, !larc.array<K, V>) -> !larc.array<K, V>
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}
