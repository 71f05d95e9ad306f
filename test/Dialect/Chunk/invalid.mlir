// RUN: larc-opt %s -split-input-file -verify-diagnostics

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
// expected-error @+1 {{'chunk.scan' op needs chunks of at least one token, not 0}}
chunk.scan @r size 0
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
// expected-error @+1 {{'chunk.scan' op declares axis 'token' twice}}
chunk.scan @r size 4
    tokens(token from 0 size 4, token from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
// expected-error @+1 {{'chunk.scan' op declares axis 'K' twice}}
chunk.scan @r size 4
    tokens(token from 0 size 4, K from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
// expected-error @+1 {{'chunk.scan' op declares axis 'source' over tokens from 2 size 4, which are not in a chunk of 4}}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 2 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
// expected-error @+1 {{'chunk.scan' op declares axis 'source' over tokens from -1 size 4, which are not in a chunk of 4}}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from -1 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
// expected-error @+1 {{'chunk.scan' op declares axis 'source' over tokens from 0 size 0, which are not in a chunk of 4}}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 0)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
// expected-error @+1 {{'chunk.scan' op needs a first axis of tokens that counts all of them}}
chunk.scan @r size 4
    tokens(token from 0 size 2, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
// expected-error @+1 {{'chunk.scan' op binds axis 'K' to a size that is not a positive i64}}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 0, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
// expected-error @+1 {{'chunk.scan' op needs an axis that counts tokens}}
"chunk.scan"() <{definition = @r, size = 4 : i64, tokens = [], dims = {K = 4 : i64, V = 8 : i64}, transitions = [#chunk<transition constant>], numOperands = 3 : i64, numConstants = 0 : i64, numStates = 1 : i64}> ({
^bb0(%x: !larc.array<K, token>, %y: !larc.array<V, token>, %g: !larc.array<token>, %S: !larc.array<K, V>):
  %o = "larc.contract"(%S, %x) <{axes = ["K"]}> : (!larc.array<K, V>, !larc.array<K, token>) -> !larc.array<V, token>
  "chunk.yield"(%S, %o) : (!larc.array<K, V>, !larc.array<V, token>) -> ()
}) : () -> ()

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
// expected-error @+1 {{'chunk.scan' op binds axis 'K' to a size that is not a positive i64}}
"chunk.scan"() <{definition = @r, size = 4 : i64, tokens = [#chunk.tokens<"token" from 0 size 4>], dims = {K = 4 : i32, V = 8 : i64}, transitions = [#chunk<transition constant>], numOperands = 3 : i64, numConstants = 0 : i64, numStates = 1 : i64}> ({
^bb0(%x: !larc.array<K, token>, %y: !larc.array<V, token>, %g: !larc.array<token>, %S: !larc.array<K, V>):
  %o = "larc.contract"(%S, %x) <{axes = ["K"]}> : (!larc.array<K, V>, !larc.array<K, token>) -> !larc.array<V, token>
  "chunk.yield"(%S, %o) : (!larc.array<K, V>, !larc.array<V, token>) -> ()
}) : () -> ()

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
// expected-error @+1 {{'chunk.scan' op has fewer region arguments than operands, constants and states}}
"chunk.scan"() <{definition = @r, size = 4 : i64, tokens = [#chunk.tokens<"token" from 0 size 4>], dims = {K = 4 : i64, V = 8 : i64}, transitions = [#chunk<transition constant>], numOperands = 4 : i64, numConstants = 0 : i64, numStates = 1 : i64}> ({
^bb0(%x: !larc.array<K, token>, %y: !larc.array<V, token>, %g: !larc.array<token>, %S: !larc.array<K, V>):
  %o = "larc.contract"(%S, %x) <{axes = ["K"]}> : (!larc.array<K, V>, !larc.array<K, token>) -> !larc.array<V, token>
  "chunk.yield"(%S, %o) : (!larc.array<K, V>, !larc.array<V, token>) -> ()
}) : () -> ()

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
// expected-error @+1 {{'chunk.scan' op has fewer region arguments than operands, constants and states}}
"chunk.scan"() <{definition = @r, size = 4 : i64, tokens = [#chunk.tokens<"token" from 0 size 4>], dims = {K = 4 : i64, V = 8 : i64}, transitions = [#chunk<transition constant>], numOperands = -1 : i64, numConstants = 0 : i64, numStates = 1 : i64}> ({
^bb0(%x: !larc.array<K, token>, %y: !larc.array<V, token>, %g: !larc.array<token>, %S: !larc.array<K, V>):
  %o = "larc.contract"(%S, %x) <{axes = ["K"]}> : (!larc.array<K, V>, !larc.array<K, token>) -> !larc.array<V, token>
  "chunk.yield"(%S, %o) : (!larc.array<K, V>, !larc.array<V, token>) -> ()
}) : () -> ()

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
// expected-error @+1 {{'chunk.scan' op gives 2 classes of transitions for 1 states}}
"chunk.scan"() <{definition = @r, size = 4 : i64, tokens = [#chunk.tokens<"token" from 0 size 4>], dims = {K = 4 : i64, V = 8 : i64}, transitions = [#chunk<transition constant>, #chunk<transition constant>], numOperands = 3 : i64, numConstants = 0 : i64, numStates = 1 : i64}> ({
^bb0(%x: !larc.array<K, token>, %y: !larc.array<V, token>, %g: !larc.array<token>, %S: !larc.array<K, V>):
  %o = "larc.contract"(%S, %x) <{axes = ["K"]}> : (!larc.array<K, V>, !larc.array<K, token>) -> !larc.array<V, token>
  "chunk.yield"(%S, %o) : (!larc.array<K, V>, !larc.array<V, token>) -> ()
}) : () -> ()

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
// expected-error @+1 {{'chunk.scan' op has operand 3 without the axis of tokens 'token'}}
"chunk.scan"() <{definition = @r, size = 4 : i64, tokens = [#chunk.tokens<"token" from 0 size 4>], dims = {K = 4 : i64, V = 8 : i64}, transitions = [], numOperands = 4 : i64, numConstants = 0 : i64, numStates = 0 : i64}> ({
^bb0(%x: !larc.array<K, token>, %y: !larc.array<V, token>, %g: !larc.array<token>, %S: !larc.array<K, V>):
  %o = "larc.contract"(%S, %x) <{axes = ["K"]}> : (!larc.array<K, V>, !larc.array<K, token>) -> !larc.array<V, token>
  "chunk.yield"(%S, %o) : (!larc.array<K, V>, !larc.array<V, token>) -> ()
}) : () -> ()

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
// expected-error @+1 {{'chunk.scan' op has region argument 2 over tokens 'token': only operands have the first axis of tokens}}
"chunk.scan"() <{definition = @r, size = 4 : i64, tokens = [#chunk.tokens<"token" from 0 size 4>], dims = {K = 4 : i64, V = 8 : i64}, transitions = [#chunk<transition constant>, #chunk<transition constant>], numOperands = 2 : i64, numConstants = 0 : i64, numStates = 2 : i64}> ({
^bb0(%x: !larc.array<K, token>, %y: !larc.array<V, token>, %g: !larc.array<token>, %S: !larc.array<K, V>):
  %o = "larc.contract"(%S, %x) <{axes = ["K"]}> : (!larc.array<K, V>, !larc.array<K, token>) -> !larc.array<V, token>
  "chunk.yield"(%S, %o) : (!larc.array<K, V>, !larc.array<V, token>) -> ()
}) : () -> ()

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
// expected-error @+1 {{'chunk.scan' op has a region argument that is not an array}}
"chunk.scan"() <{definition = @r, size = 4 : i64, tokens = [#chunk.tokens<"token" from 0 size 4>], dims = {K = 4 : i64, V = 8 : i64}, transitions = [#chunk<transition constant>, #chunk<transition constant>], numOperands = 2 : i64, numConstants = 0 : i64, numStates = 2 : i64}> ({
^bb0(%x: !larc.array<K, token>, %y: !larc.array<V, token>, %g: index, %S: !larc.array<K, V>):
  %o = "larc.contract"(%S, %x) <{axes = ["K"]}> : (!larc.array<K, V>, !larc.array<K, token>) -> !larc.array<V, token>
  "chunk.yield"(%S, %o) : (!larc.array<K, V>, !larc.array<V, token>) -> ()
}) : () -> ()

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
// expected-error @+1 {{'chunk.scan' op has a region argument over axis 'V', which it does not declare}}
"chunk.scan"() <{definition = @r, size = 4 : i64, tokens = [#chunk.tokens<"token" from 0 size 4>], dims = {K = 4 : i64}, transitions = [#chunk<transition constant>], numOperands = 3 : i64, numConstants = 0 : i64, numStates = 1 : i64}> ({
^bb0(%x: !larc.array<K, token>, %y: !larc.array<V, token>, %g: !larc.array<token>, %S: !larc.array<K, V>):
  %o = "larc.contract"(%S, %x) <{axes = ["K"]}> : (!larc.array<K, V>, !larc.array<K, token>) -> !larc.array<V, token>
  "chunk.yield"(%S, %o) : (!larc.array<K, V>, !larc.array<V, token>) -> ()
}) : () -> ()

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
// expected-error @+1 {{'chunk.scan' op needs a region that ends with chunk.yield}}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  llvm.unreachable
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
  // expected-error @+1 {{'arith.constant' op is not an operation of the larc or chunk dialect, as those of a chunk are}}
  %c = arith.constant 1.0 : f32
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
  // expected-error @+1 {{'larc.softmax' op has no meaning in a chunk}}
  %c = larc.softmax %x over K
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
  // expected-error @+1 {{'larc.fold' op has no meaning in a chunk}}
  %c = larc.fold K over(%xk = %x) iter(%s = %g) {
    larc.yield %s
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
  // expected-error @+1 {{'larc.broadcast' op makes an array over axis 'L', which the scan does not declare}}
  %c = larc.broadcast %g to [L]
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
  // expected-error @+1 {{'larc.slice' op takes a single token, which may not exist}}
  %c = larc.slice %x[token = 0]
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
  // expected-error @+1 {{'larc.rename' op renames 'K' to 'V', which do not count the same}}
  %c = larc.rename %x K to V
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
  // expected-error @+1 {{'larc.rename' op renames 'token' to 'K', which do not count the same}}
  %c = larc.rename %g token to K
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
chunk.scan @r size 4
    tokens(token from 0 size 4, later from 1 size 3)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  // expected-error @+1 {{'larc.rename' op renames 'token' to 'later', which do not count the same}}
  %c = larc.rename %g token to later
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
  // expected-error @+1 {{'chunk.yield' op gives 0 values, but the scan has 1 states}}
  chunk.yield
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
  // expected-error @+1 {{'chunk.yield' op gives '!larc.array<K, token>' for state 0, which is '!larc.array<K, V>'}}
  chunk.yield %x, %y
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
  // expected-error @+1 {{'chunk.yield' op gives output 0 over tokens 'source': outputs have the first axis of tokens only}}
  chunk.yield %S, %z
}

// -----

// expected-error @+2 {{expects parent op to be one of 'chunk.scan, chunk.solve, chunk.tokens'}}
larc.recurrence @r(%x) -> (o) {
  chunk.yield %x
}

// -----

// expected-error @+1 {{'chunk.scan' op computes 'r', which is no recurrence of this module}}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V]) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
// expected-error @+1 {{'chunk.scan' op has 3 operands, but 'r' has 2}}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) constant(%u) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
// expected-error @+1 {{'chunk.scan' op has 0 constants, but 'r' has 1}}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V], %m) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %m, %o
}
// expected-error @+1 {{'chunk.scan' op has 1 states, but 'r' has 2}}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) attributes(p = period(8)) -> (o[V]) dims(K = 4, V = 8) {
  %a = larc.anchor %S
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
// expected-error @+1 {{'chunk.scan' op has 0 anchors, but 'r' has 1}}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V], p[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o, %o
}
// expected-error @+1 {{'chunk.scan' op has 1 outputs, but 'r' has 2}}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K, V], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
// expected-error @+1 {{'chunk.scan' op has region argument 0 of type '!larc.array<K, token>', but 'r' makes it '!larc.array<K, V, token>'}}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 4, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
// expected-error @+1 {{'chunk.scan' op leaves the ends of periods to 'r', which has no period}}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) boundary {
  %o = larc.contract %S, %x over K
  chunk.yield %S, %o
}

// -----

larc.recurrence @r(%x[K], %y[V], %g) state(%S[K, V]) -> (o[V]) dims(K = 5, V = 8) {
  %o = larc.contract %S, %x over K
  larc.yield %S, %o
}
// expected-error @+1 {{'chunk.scan' op binds axis 'K' to 4, but 'r' to 5}}
chunk.scan @r size 4
    tokens(token from 0 size 4, source from 0 size 4)
    dims(K = 4, V = 8)
    operands(%x[K], %y[V], %g) states(%S[K, V]: constant) {
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
  // expected-error @+1 {{'chunk.yield' op gives '!larc.array<K, token>' for output 'o', which is '!larc.array<V, token>'}}
  chunk.yield %S, %x
}
