// Every message of the parser and of the verifiers.

// RUN: larc-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// Signatures: syntax
//===----------------------------------------------------------------------===//

// expected-error@+1 {{'a.b' cannot name a tensor: expected a letter and then letters, digits and '_'}}
larc.recurrence @name(%a.b) -> (o) { larc.yield %a.b }

// -----

// expected-error@+1 {{'0' cannot name a tensor}}
larc.recurrence @number(%0) -> (o) { larc.yield %0 }

// -----

// expected-error@+1 {{unknown kind or domain 'gates': kinds are data, gate, coefficient; domains normal, unit(axis), log_decay, interval(low, high), softmax(axis)}}
larc.recurrence @kind(%g: gates) -> (o) { larc.yield %g }

// -----

// expected-error@+1 {{unknown kind or domain 'positive'}}
larc.recurrence @domain(%g: gate positive) -> (o) { larc.yield %g }

// -----

// expected-error@+1 {{expected '('}}
larc.recurrence @domain_axis(%g: unit) -> (o) { larc.yield %g }

// -----

// expected-error@+1 {{axis 'K' is named twice}}
larc.recurrence @axes(%g[K, K]) -> (o) { larc.yield %g }

// -----

// expected-error@+1 {{expected '->'}}
larc.recurrence @no_output(%g) { larc.yield %g }

// -----

// expected-error@+1 {{expected 'of'}}
larc.recurrence @choice(%g) attributes(link = softmax) -> (o) { larc.yield %g }

// -----

// expected-error@+1 {{expected SSA operand}}
larc.recurrence @argument(g) -> (o) { larc.yield %g }

// -----

// expected-error@+1 {{axis 'K' has two sizes}}
larc.recurrence @dims(%x[K]) -> (o[K]) dims(K = 2, K = 3) { larc.yield %x }

// -----

// expected-error@+1 {{expected a region that ends with 'larc.yield'}}
larc.recurrence @region(%x) -> (o) { }

// -----

// expected-error@+1 {{expected floating point literal}}
larc.recurrence @real(%x) attributes(%scale = large) -> (o) { larc.yield %x }

// -----

//===----------------------------------------------------------------------===//
// Signatures: declarations against each other
//===----------------------------------------------------------------------===//

// expected-error@+1 {{is named 'a b', which is not a letter and then letters, digits and '_'}}
larc.recurrence @"a b"(%x) -> (o) { larc.yield %x }

// -----

// expected-error@+1 {{'larc.recurrence' op declares neither an output nor a state}}
larc.recurrence @no_output(%x) -> () { larc.yield }

// -----

// expected-error@+1 {{declares 'S' twice}}
larc.recurrence @twice(%x, %S) state(%T) attributes(S = 5) -> (o) { larc.yield %T, %S }

// -----

// expected-error@+1 {{declares an operand 'position', a name that every recurrence's inputs have}}
larc.recurrence @reserved(%position) -> (o) { larc.yield %position }

// -----

// expected-error@+1 {{declares a constant 'cu_seqlens', a name that every recurrence's inputs have}}
larc.recurrence @reserved(%x) constant(%cu_seqlens) -> (o) { larc.yield %x }

// -----

// expected-error@+1 {{declares 'x' with an axis 'T': B, T, H and N are the batch's, the tokens', the heads' and the sequences'}}
larc.recurrence @reserved_axis(%x[T]) -> (o[T]) { larc.yield %x }

// -----

// expected-error@+1 {{declares 'o' with an axis 'H'}}
larc.recurrence @reserved_axis(%x) -> (o[H]) { larc.yield %x }

// -----

// expected-error@+1 {{declares 'S' with an axis 'K.1', which is not a letter and then letters, digits and '_'}}
larc.recurrence @axis_name(%x) state(%S[K.1]) -> (o) { larc.yield %S, %x }

// -----

// expected-error@+1 {{declares the family 'S' per 'L', which is the axis of no schedule}}
larc.recurrence @no_schedule(%x) state(%S[K] per L) -> (o) { larc.yield %S, %x }

// -----

// expected-error@+1 {{declares the family 'u' from a negative level}}
larc.recurrence @negative(%x) constant(%u per L from -1) attributes(e[L] = [1]) -> (o) { larc.yield %x }

// -----

// expected-error@+1 {{declares the family 'S' from level 1000000000000, but 'L' has 2 levels}}
larc.recurrence @beyond(%x) state(%S[K] per L from 1000000000000) attributes(e[L] = [1, 2]) -> (o) { larc.yield %S, %x }

// -----

// expected-error@+1 {{declares the family 'u' from level 2, but 'L' has 1 level}}
larc.recurrence @beyond(%x) constant(%u per L from 2) attributes(e[L] = [1]) -> (o) { larc.yield %x }

// -----

// expected-error@+1 {{declares the family 'u' with sizes of 'n', which is not one of its axes}}
larc.recurrence @sizes(%x) constant(%u[K] per L sizes(n)) attributes(e[L] = [1]) -> (o) { larc.yield %x }

// -----

// expected-error@+1 {{declares 'u1', the name of a member of the family 'u'}}
larc.recurrence @member(%u1) constant(%u per L) attributes(e[L] = [1, 2]) -> (o) { larc.yield %u1 }

// -----

// expected-error@+1 {{declares 'S0', the name of a member of the family 'S'}}
larc.recurrence @member(%x) state(%S0, %S per L) attributes(e[L] = [1, 2]) -> (o) { larc.yield %S0, %S, %x }

// -----

// expected-error@+1 {{declares 'k' with a domain along an axis that it lacks}}
larc.recurrence @domain(%k[K]: unit(V)) -> (o[K]) { larc.yield %k }

// -----

// expected-error@+1 {{declares state 'S' as nonzero along 'V', which is not one of its axes}}
larc.recurrence @nonzero(%k) state(%S[K] required nonzero(V)) -> (o) { larc.yield %S, %k }

// -----

// expected-error@+1 {{declares 'every' with entry 0 = 2: a schedule increases strictly from 1}}
larc.recurrence @schedule(%k) attributes(every[L] = [2, 3]) -> (o) { larc.yield %k }

// -----

// expected-error@+1 {{declares 'every' with entry 2 = 2: a schedule increases strictly from 1}}
larc.recurrence @schedule(%k) attributes(every[L] = [1, 2, 2]) -> (o) { larc.yield %k }

// -----

// expected-error@+1 {{declares 'every', which needs a list of integers and a level axis}}
larc.recurrence @schedule(%k) attributes(every[L] = []) -> (o) { larc.yield %k }

// -----

// expected-error@+1 {{declares 'every' with an axis 'B'}}
larc.recurrence @schedule(%k) attributes(every[B] = [1]) -> (o) { larc.yield %k }

// -----

// expected-error@+1 {{declares two schedules of 'L'}}
larc.recurrence @schedules(%k) attributes(a[L] = [1], b[L] = [1]) -> (o) { larc.yield %k }

// -----

// expected-error@+1 {{declares 'n' with a value that is no integer from 0 on}}
larc.recurrence @integer(%k) attributes(n = -1) -> (o) { larc.yield %k }

// -----

// expected-error@+1 {{declares 'p' with a period that is not positive}}
larc.recurrence @period(%k) attributes(p = period(0)) -> (o) { larc.yield %k }

// -----

// expected-error@+1 {{declares two periods}}
larc.recurrence @periods(%k) attributes(p = period(1), r = period(2)) -> (o) { larc.yield %k }

// -----

// expected-error@+1 {{declares 'link' with a value that is not one of its choices}}
larc.recurrence @choice(%k) attributes(link = c of [a, b]) -> (o) { larc.yield %k }

// -----

// expected-error@+1 {{declares 'link' with choice 'a.b', which is not a letter and then letters, digits and '_'}}
larc.recurrence @choice(%k) attributes(link = a of [a, a.b]) -> (o) { larc.yield %k }

// -----

// expected-error@+1 {{declares 'link' with choice 'a' twice}}
larc.recurrence @choice(%k) attributes(link = a of [a, a]) -> (o) { larc.yield %k }

// -----

// expected-error@+1 {{declares output 'o' twice}}
larc.recurrence @outputs(%k) -> (o, o) { larc.yield %k, %k }

// -----

// expected-error@+1 {{declares output 'o.p', which is not a letter and then letters, digits and '_'}}
larc.recurrence @outputs(%k) -> (o.p) { larc.yield %k }

// -----

// expected-error@+1 {{binds axis 'K' to a size that is not positive}}
larc.recurrence @dims(%k[K]) -> (o[K]) dims(K = 0) { larc.yield %k }

// -----

// expected-error@+1 {{names axis 'M', which nothing declares}}
larc.recurrence @of_size(%k[K]) attributes(%scale = rsqrt(M)) -> (o[K]) { larc.yield %k }

// -----

// What only the generic form can say.
// expected-error@+1 {{declares an operand 'a b', which is not a letter and then letters, digits and '_'}}
"larc.recurrence"() <{sym_name = "x", token_operands = [#larc.operand<name = "a b", kind = data, domain = normal>],
    constants = [], states = [], attribute_decls = [], outputs = [#larc.output<name = "o">]}> ({
^bb0(%x: !larc.array<>):
  "larc.yield"(%x) : (!larc.array<>) -> ()
}) : () -> ()

// -----

// expected-error@+1 {{declares state 'S' with an initial value that is not f64}}
"larc.recurrence"() <{sym_name = "x", token_operands = [], constants = [],
    states = [#larc.state<name = "S", init = 0.0 : f32>], attribute_decls = [],
    outputs = [#larc.output<name = "o">]}> ({
^bb0(%x: !larc.array<>):
  "larc.yield"(%x, %x) : (!larc.array<>, !larc.array<>) -> ()
}) : () -> ()

// -----

// expected-error@+1 {{declares 'scale' with a value that is no real number}}
"larc.recurrence"() <{sym_name = "x", token_operands = [], constants = [], states = [],
    attribute_decls = [#larc.attribute<name = "scale", kind = real, value = 1.0 : f32>],
    outputs = [#larc.output<name = "o">]}> ({
^bb0(%x: !larc.array<>):
  "larc.yield"(%x) : (!larc.array<>) -> ()
}) : () -> ()

// -----

// expected-error@+1 {{has region arguments that do not match its declarations}}
"larc.recurrence"() <{sym_name = "x", token_operands = [#larc.operand<name = "x", axes = ["K"], kind = data, domain = normal>],
    constants = [], states = [], attribute_decls = [], outputs = [#larc.output<name = "o">]}> ({
^bb0(%x: !larc.array<>):
  "larc.yield"(%x) : (!larc.array<>) -> ()
}) : () -> ()

// -----

// expected-error@+1 {{failed to satisfy constraint: operand declarations}}
"larc.recurrence"() <{sym_name = "x", token_operands = [1], constants = [], states = [],
    attribute_decls = [], outputs = [#larc.output<name = "o">]}> ({
^bb0(%x: !larc.array<>):
  "larc.yield"(%x) : (!larc.array<>) -> ()
}) : () -> ()

// -----

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

larc.recurrence @undefined(%x) -> (o) {
  // expected-error@+1 {{use of undefined value %y}}
  larc.yield %y
}

// -----

larc.recurrence @undefined(%x) -> (o) {
  %y:2 = larc.choose c {
    // expected-error@+1 {{use of undefined value %y#1}}
    case a { larc.yield %y#1 }
  }
  larc.yield %x
}

// -----

larc.recurrence @outside(%x) -> (o) {
  larc.yield %x
}
// Nothing of one recurrence is seen in another.
larc.recurrence @inside(%y) -> (o) {
  // expected-error@+1 {{use of undefined value %x}}
  larc.yield %x
}

// -----

larc.recurrence @undefined_iter(%x) -> (o) {
  // expected-error@+1 {{use of undefined value %z}}
  %y = larc.fold n over(%xj = %z) { larc.yield }
  larc.yield %x
}

// -----

larc.recurrence @count(%x) state(%S) -> (o) {
  // expected-error@+1 {{gives 1 values, but the recurrence declares 1 states and 1 outputs}}
  larc.yield %x
}

// -----

larc.recurrence @state_type(%q[K], %v[V]) state(%S[K, V]) -> (o[V]) {
  // expected-note@+1 {{the value is made here}}
  %T = larc.contract %S, %q over K
  // expected-error@+1 {{gives '!larc.array<V>' for state 'S', which is declared as '!larc.array<K, V>'}}
  larc.yield %T, %v
}

// -----

larc.recurrence @output_type(%q[K], %v[V]) state(%S[K, V]) -> (o[V]) {
  // expected-note@+1 {{the value is made here}}
  %o = larc.mul %v, %q
  // expected-error@+1 {{gives '!larc.array<K, V>' for output 'o', which is declared as '!larc.array<V>'}}
  larc.yield %S, %o
}

// -----

// expected-error@+1 {{needs a region that ends with larc.yield}}
larc.recurrence @terminator(%x) -> (o) {
  "llvm.unreachable"() : () -> ()
}

// -----

larc.recurrence @broadcast(%x) -> (o) {
  // expected-error@+1 {{names axis 'M', which nothing declares}}
  %y = larc.broadcast %x to [M]
  larc.yield %x
}

// -----

larc.recurrence @rename(%x[K]) -> (o[K]) {
  // expected-error@+1 {{makes an axis 'T': expected a letter and then letters, digits and '_', and not B, T, H or N}}
  %y = larc.rename %x K to T
  larc.yield %x
}

// -----

larc.recurrence @levels(%x) -> (o) {
  // expected-error@+1 {{goes to 'L', which is the axis of no schedule}}
  larc.levels %l = 1 to L { larc.yield }
  larc.yield %x
}

// -----

larc.recurrence @iterations(%x[K, V]) attributes(%steps = 5.0) -> (o[K, V]) {
  // expected-error@+1 {{takes its iterations from 'steps', which is no integer attribute of the recurrence}}
  %y = larc.orthogonalize %x over K, V iterations(steps)
  larc.yield %y
}

// -----

// expected-error@+2 {{expects parent op to be one of 'larc.recurrence, larc.choose, larc.levels, larc.fold, larc.fire, larc.nest'}}
func.func @yield(%x: !larc.array<>) {
  "larc.yield"(%x) : (!larc.array<>) -> ()
}

// -----

//===----------------------------------------------------------------------===//
// Elementwise operations
//===----------------------------------------------------------------------===//

larc.recurrence @family(%x[K]) state(%S[K] per L) attributes(e[L] = [1]) -> (o[K]) {
  // expected-error@+1 {{'larc.add' takes arrays, not a family; read one with larc.member}}
  %o = larc.add %x, %S
  larc.yield %S, %o
}

// -----

larc.recurrence @index(%x) attributes(e[L] = [1]) -> (o) {
  larc.levels %l = 1 to L {
    // expected-error@+1 {{'larc.select' takes arrays, not an index of levels}}
    %o = larc.select %x gt %l, %x, %x
    larc.yield
  }
  larc.yield %x
}

// -----

larc.recurrence @family(%x[K]) state(%S[K] per L) attributes(e[L] = [1]) -> (o[K]) {
  // expected-error@+1 {{'larc.broadcast' takes arrays, not a family; read one with larc.member}}
  %o = larc.broadcast %S to [K]
  larc.yield %S, %o
}

// -----

larc.recurrence @predicate(%x) -> (o) {
  // expected-error@+1 {{unknown comparison 'above': expected gt, ge, lt, le, eq or ne}}
  %o = larc.select %x above %x, %x, %x
  larc.yield %o
}

// -----

larc.recurrence @real(%x) -> (o) {
  // expected-error@+1 {{expected floating point literal}}
  %o = larc.constant x
  larc.yield %o
}

// -----

func.func @inferred(%x: !larc.array<K>, %y: !larc.array<V>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) '!larc.array<K, V>' are incompatible with return type(s) of operation '!larc.array<K>'}}
  %z = "larc.mul"(%x, %y) : (!larc.array<K>, !larc.array<V>) -> !larc.array<K>
  return
}

// -----

func.func @operand(%x: f32) {
  // expected-error@+1 {{operand #0 must be real numbers over a set of named axes, but got 'f32'}}
  %z = "larc.exp"(%x) : (f32) -> !larc.array<>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Operations along axes
//===----------------------------------------------------------------------===//

larc.recurrence @contract(%q[K], %S[K, V]) -> (o[V]) {
  // expected-error@+1 {{a contraction over axis 'M', which no operand has: [K, V], [K]}}
  %o = larc.contract %S, %q over M
  larc.yield %o
}

// -----

larc.recurrence @contract(%q[K], %S[K, V]) -> (o[V]) {
  // expected-error@+1 {{axis 'K' is named twice}}
  %o = larc.contract %S, %q over K, K
  larc.yield %o
}

// -----

func.func @contract(%x: !larc.array<K>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{a contraction names axis 'K' twice}}
  %z = "larc.contract"(%x, %x) <{axes = ["K", "K"]}> : (!larc.array<K>, !larc.array<K>) -> !larc.array<>
  return
}

// -----

func.func @contract(%x: !larc.array<K>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{a contraction needs at least one axis}}
  %z = "larc.contract"(%x, %x) <{axes = []}> : (!larc.array<K>, !larc.array<K>) -> !larc.array<K>
  return
}

// -----

larc.recurrence @family(%x[K]) state(%S[K] per L) attributes(e[L] = [1]) -> (o) {
  // expected-error@+1 {{a contraction takes an array, not a family; read one with larc.member}}
  %o = larc.contract %x, %S over K
  larc.yield %S, %o
}

// -----

larc.recurrence @index(%x[K]) attributes(e[L] = [1]) -> (o[K]) {
  larc.levels %l = 1 to L {
    // expected-error@+1 {{a norm takes an array, not an index of levels}}
    %o = larc.norm %l over K
    larc.yield
  }
  larc.yield %x
}

// -----

larc.recurrence @reduce(%x[K]) -> (o) {
  // expected-error@+1 {{unknown reduction 'product': expected sum, max or min}}
  %o = larc.reduce product %x over K
  larc.yield %o
}

// -----

larc.recurrence @reduce(%x[K]) -> (o) {
  // expected-error@+1 {{a reduction over axis 'V', which no operand has: [K]}}
  %o = larc.reduce sum %x over V
  larc.yield %o
}

// -----

larc.recurrence @norm(%x[K]) -> (o) {
  // expected-error@+1 {{a norm over axis 'V', which no operand has: [K]}}
  %o = larc.norm %x over V
  larc.yield %o
}

// -----

larc.recurrence @softmax(%x) -> (o) {
  // expected-error@+1 {{a softmax over axis 'V', which no operand has: []}}
  %o = larc.softmax %x over V
  larc.yield %o
}

// -----

larc.recurrence @normalize(%x[K]) -> (o[K]) {
  // expected-error@+1 {{a normalisation over axis 'V', which no operand has: [K]}}
  %o = larc.normalize %x over V
  larc.yield %o
}

// -----

larc.recurrence @normalize(%x[K]) -> (o[K]) {
  // expected-error@+1 {{needs an eps that is finite and not negative}}
  %o = larc.normalize %x over K max -1.0
  larc.yield %o
}

// -----

larc.recurrence @normalize(%x[K]) -> (o[K]) {
  // expected-error@+1 {{needs an eps that is finite and not negative}}
  %o = larc.normalize %x over K add inf
  larc.yield %o
}

// -----

larc.recurrence @orthogonalize(%x[K, V]) -> (o[K, V]) {
  // expected-error@+1 {{an orthogonalisation needs two axes of its operand [K, V], but is over 'K' and 'K'}}
  %o = larc.orthogonalize %x over K, K iterations(5)
  larc.yield %o
}

// -----

larc.recurrence @orthogonalize(%x[K, V]) -> (o[K, V]) {
  // expected-error@+1 {{an orthogonalisation needs two axes of its operand [K, V], but is over 'K' and 'M'}}
  %o = larc.orthogonalize %x over K, M iterations(5)
  larc.yield %o
}

// -----

larc.recurrence @orthogonalize(%x[K, V]) -> (o[K, V]) {
  // expected-error@+1 {{needs 0 to 100 iterations, not -5}}
  %o = larc.orthogonalize %x over K, V iterations(-5)
  larc.yield %o
}

// -----

larc.recurrence @orthogonalize(%x[K, V]) -> (o[K, V]) {
  // expected-error@+1 {{needs 0 to 100 iterations, not 101}}
  %o = larc.orthogonalize %x over K, V iterations(101)
  larc.yield %o
}

// -----

larc.recurrence @orthogonalize(%x[K, V]) -> (o[K, V]) {
  // expected-error@+1 {{needs two or three coefficients, not 1}}
  %o = larc.orthogonalize %x over K, V iterations(5) coefficients([1.0])
  larc.yield %o
}

// -----

larc.recurrence @orthogonalize(%x[K, V]) -> (o[K, V]) {
  // expected-error@+1 {{needs an eps that is finite and not negative}}
  %o = larc.orthogonalize %x over K, V iterations(5) eps(nan)
  larc.yield %o
}

// -----

larc.recurrence @orthogonalize(%x) state(%S[K, V] per L) attributes(e[L] = [1]) -> (o) {
  // expected-error@+1 {{an orthogonalisation takes an array, not a family; read one with larc.member}}
  %o = larc.orthogonalize %S over K, V iterations(5)
  larc.yield %S, %x
}

// -----

larc.recurrence @rename(%x[K]) -> (o[K]) {
  // expected-error@+1 {{axis 'V' to rename is not an axis of [K]}}
  %o = larc.rename %x V to J
  larc.yield %o
}

// -----

larc.recurrence @rename(%x[K, V]) -> (o[K]) {
  // expected-error@+1 {{axis 'V' is an axis of [K, V] already}}
  %o = larc.rename %x K to V
  larc.yield %o
}

// -----

larc.recurrence @rename(%x) state(%S[K, V] per L) attributes(e[L] = [1]) -> (o) {
  // expected-error@+1 {{a renaming takes an array, not a family; read one with larc.member}}
  %o = larc.rename %S K to J
  larc.yield %S, %x
}

// -----

larc.recurrence @slice(%x[K]) -> (o) {
  // expected-error@+1 {{a slice along axis 'V' of [K], which does not have it}}
  %o = larc.slice %x[V = 0]
  larc.yield %o
}

// -----

larc.recurrence @slice(%x[K]) -> (o) {
  // expected-error@+1 {{needs an index that is not negative, not -1}}
  %o = larc.slice %x[K = -1]
  larc.yield %o
}

// -----

larc.recurrence @slice(%x) state(%S[K, V] per L) attributes(e[L] = [1]) -> (o) {
  // expected-error@+1 {{a slice takes an array, not a family; read one with larc.member}}
  %o = larc.slice %S[K = 0]
  larc.yield %S, %x
}

// -----

func.func @index(%x: !larc.array<K>, %i: index) {
  // expected-error@+1 {{takes its index from an enclosing larc.levels}}
  %z = "larc.slice"(%x, %i) <{axis = "K"}> : (!larc.array<K>, index) -> !larc.array<>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Families and levels
//===----------------------------------------------------------------------===//

larc.recurrence @member(%x[K]) -> (o[K]) {
  // expected-error@+1 {{a member is read of a family, not of an array}}
  %o = larc.member %x[0]
  larc.yield %o
}

// -----

larc.recurrence @member(%x) constant(%u per L from 1) attributes(e[L] = [1]) -> (o) {
  // expected-error@+1 {{takes member 0 of a family that starts at 1}}
  %o = larc.member %u[0]
  larc.yield %o
}

// -----

larc.recurrence @member(%x) constant(%u per L) attributes(e[L] = [1]) -> (o) {
  // expected-error@+1 {{needs an index that is not negative, not -1}}
  %o = larc.member %u[-1]
  larc.yield %o
}

// -----

larc.recurrence @sized(%x) constant(%u[n] per L sizes(n)) attributes(e[L] = [1]) -> (o) {
  // expected-error@+1 {{takes a family with axes sized by level at the level of an enclosing larc.levels only, since 'n' names another axis elsewhere}}
  %o = larc.member %u[0]
  larc.yield %x
}

// -----

larc.recurrence @sized(%x) constant(%u[n] per L sizes(n)) attributes(e[L] = [1]) -> (o) {
  larc.levels %l = 1 to L {
    // expected-error@+1 {{takes a family with axes sized by level at the level of an enclosing larc.levels only}}
    %o = larc.member %u[%l -1]
    larc.yield
  }
  larc.yield %x
}

// -----

larc.recurrence @insert(%x[K]) -> (o[K]) {
  // expected-error@+1 {{a member is inserted into a family, not into an array}}
  %o = larc.insert %x into %x[0]
  larc.yield %o
}

// -----

larc.recurrence @insert(%x[V]) state(%S[K] per L) attributes(e[L] = [1]) -> (o[V]) {
  // expected-error@+1 {{inserts [V] into a family of [K]}}
  %T = larc.insert %x into %S[0]
  larc.yield %T, %x
}

// -----

larc.recurrence @insert(%x[K]) state(%S[K] per L from 2) attributes(e[L] = [1, 2, 3]) -> (o[K]) {
  // expected-error@+1 {{takes member 1 of a family that starts at 2}}
  %T = larc.insert %x into %S[1]
  larc.yield %T, %x
}

// -----

larc.recurrence @levels(%x) attributes(e[L] = [1]) -> (o) {
  // expected-error@+1 {{needs a first level that is not negative, not -1}}
  larc.levels %l = -1 to L { larc.yield }
  larc.yield %x
}

// -----

larc.recurrence @levels(%x[K], %y) attributes(e[L] = [1]) -> (o[K]) {
  %o = larc.levels %l = 1 to L iter(%z = %x) {
    // expected-error@+1 {{gives '!larc.array<>' as value 0 where larc.levels has '!larc.array<K>'}}
    larc.yield %y
  }
  larc.yield %o
}

// -----

larc.recurrence @levels(%x[K]) attributes(e[L] = [1]) -> (o[K]) {
  %o = larc.levels %l = 1 to L iter(%z = %x) {
    // expected-error@+1 {{gives 2 values where larc.levels has 1 results}}
    larc.yield %z, %z
  }
  larc.yield %o
}

// -----

larc.recurrence @levels(%x[K]) attributes(e[L] = [1]) -> (o[K]) {
  // expected-error@+1 {{needs regions that end with larc.yield}}
  larc.levels %l = 1 to L {
    "llvm.unreachable"() : () -> ()
  }
  larc.yield %x
}

// -----

func.func @levels(%x: !larc.array<>) {
  // expected-error@+1 {{has results that do not match its initial values}}
  "larc.levels"(%x) <{level = "L", first = 1 : i64}> ({
  ^bb0(%l: index, %y: !larc.array<>):
    "larc.yield"() : () -> ()
  }) : (!larc.array<>) -> ()
  return
}

// -----

func.func @levels(%x: !larc.array<>) {
  // expected-error@+1 {{has region arguments that do not match its operands}}
  %z = "larc.levels"(%x) <{level = "L", first = 1 : i64}> ({
  ^bb0(%y: !larc.array<>):
    "larc.yield"(%y) : (!larc.array<>) -> ()
  }) : (!larc.array<>) -> !larc.array<>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Control within a token
//===----------------------------------------------------------------------===//

larc.recurrence @fold(%x[K]) state(%S) -> (o[K]) {
  // expected-error@+1 {{a fold along axis 'n' of %x, which does not have it}}
  %T = larc.fold n over(%xj = %x) iter(%X = %S) { larc.yield %X }
  larc.yield %T, %x
}

// -----

larc.recurrence @fold(%x[n]) state(%S) -> (o[n]) {
  // expected-error@+1 {{needs an array to go along}}
  %T = larc.fold n iter(%X = %S) { larc.yield %X }
  larc.yield %T, %x
}

// -----

larc.recurrence @fold(%x[n]) state(%S) -> (o[n]) {
  %T = larc.fold n over(%xj = %x) iter(%X = %S) {
    // expected-error@+1 {{gives 0 values where larc.fold has 1 results}}
    larc.yield
  }
  larc.yield %T, %x
}

// -----

func.func @fold(%x: !larc.array<K>) {
  // expected-error@+1 {{goes along axis 'n', which '!larc.array<K>' does not have}}
  "larc.fold"(%x) <{axis = "n", operandSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0(%y: !larc.array<K>):
    "larc.yield"() : () -> ()
  }) : (!larc.array<K>) -> ()
  return
}

// -----

func.func @fold(%x: !larc.array<K>) {
  // expected-error@+1 {{has results that do not match its initial values}}
  "larc.fold"(%x, %x) <{axis = "K", operandSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%y: !larc.array<>, %z: !larc.array<K>):
    "larc.yield"() : () -> ()
  }) : (!larc.array<K>, !larc.array<K>) -> ()
  return
}

// -----

func.func @fold(%x: !larc.array<K>) {
  // expected-error@+1 {{has region arguments that do not match its operands}}
  "larc.fold"(%x) <{axis = "K", operandSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0(%y: !larc.array<K>):
    "larc.yield"() : () -> ()
  }) : (!larc.array<K>) -> ()
  return
}

// -----

larc.recurrence @fire(%x) state(%S) attributes(period = period(2)) -> (o) {
  // expected-error@+1 {{needs a positive interval, not 0}}
  %T = larc.fire every 0 iter(%X = %S) { larc.yield %X }
  larc.yield %T, %x
}

// -----

larc.recurrence @fire(%x) state(%S) -> (o) {
  // expected-error@+1 {{needs a recurrence with an attribute of kind period}}
  %T = larc.fire every 1 iter(%X = %S) { larc.yield %X }
  larc.yield %T, %x
}

// -----

larc.recurrence @fire(%x) state(%S) attributes(period = period(2), n = 2) -> (o) {
  // expected-error@+1 {{takes its interval from 'n', which is no schedule of the recurrence}}
  %T = larc.fire every n[0] iter(%X = %S) { larc.yield %X }
  larc.yield %T, %x
}

// -----

larc.recurrence @fire(%x) state(%S) attributes(period = period(2), e[L] = [1]) -> (o) {
  // expected-error@+1 {{needs an index that is not negative, not -1}}
  %T = larc.fire every e[-1] iter(%X = %S) { larc.yield %X }
  larc.yield %T, %x
}

// -----

larc.recurrence @fire(%x) state(%S) attributes(period = period(2)) -> (o) {
  // expected-error@+1 {{expected valid keyword}}
  %T = larc.fire every %x iter(%X = %S) { larc.yield %X }
  larc.yield %T, %x
}

// -----

larc.recurrence @fire(%x) state(%S) attributes(period = period(2)) -> (o) {
  %T = larc.fire every 1 iter(%X = %S) {
    // expected-error@+1 {{gives 2 values where larc.fire has 1 results}}
    larc.yield %X, %X
  }
  larc.yield %T, %x
}

// -----

larc.recurrence @fire(%x) state(%S) attributes(period = period(2), e[L] = [1]) -> (o) {
  larc.levels %l = 1 to L {
    // expected-error@+1 {{takes an index with a schedule only}}
    "larc.fire"(%l) <{interval = 1 : i64, operandSegmentSizes = array<i32: 1, 0>}> ({
      larc.yield
    }) : (index) -> ()
    larc.yield
  }
  larc.yield %S, %x
}

// -----

func.func @fire(%i: index) {
  // expected-error@+1 {{takes its index from an enclosing larc.levels}}
  "larc.fire"(%i) <{interval = "e", operandSegmentSizes = array<i32: 1, 0>}> ({
    "larc.yield"() : () -> ()
  }) : (index) -> ()
  return
}

// -----

larc.recurrence @fire(%x) state(%S) attributes(period = period(2)) -> (o) {
  // expected-error@+1 {{has results that do not match its initial values}}
  "larc.fire"(%S) <{interval = 1 : i64, operandSegmentSizes = array<i32: 0, 1>}> ({
  ^bb0(%y: !larc.array<>):
    larc.yield
  }) : (!larc.array<>) -> ()
  larc.yield %S, %x
}

// -----

larc.recurrence @fire(%x) state(%S) attributes(period = period(2)) -> (o) {
  // expected-error@+1 {{has region arguments that do not match its operands}}
  "larc.fire"() <{interval = 1 : i64, operandSegmentSizes = array<i32: 0, 0>}> ({
  ^bb0(%y: !larc.array<>):
    larc.yield
  }) : () -> ()
  larc.yield %S, %x
}

// -----

larc.recurrence @anchor(%x) state(%S) attributes(period = period(2)) -> (o) {
  // expected-error@+1 {{takes a state of the recurrence as it was before this token}}
  %A = larc.anchor %x
  larc.yield %S, %A
}

// -----

larc.recurrence @anchor(%x) state(%S) -> (o) {
  // expected-error@+1 {{needs a recurrence with an attribute of kind period}}
  %A = larc.anchor %S
  larc.yield %S, %A
}

// -----

larc.recurrence @anchor(%x) state(%S per L) attributes(e[L] = [1], period = period(2)) -> (o) {
  // expected-error@+1 {{an anchor takes an array, not a family; read one with larc.member}}
  %A = larc.anchor %S
  larc.yield %S, %x
}

// -----

func.func @anchor(%x: !larc.array<>) {
  // expected-error@+1 {{is only allowed in a recurrence}}
  %A = "larc.anchor"(%x) : (!larc.array<>) -> !larc.array<>
  return
}

// -----

larc.recurrence @choose(%x) attributes(n = 5) -> (o) {
  // expected-error@+1 {{chooses by 'n', which is no choice attribute of the recurrence}}
  %y = larc.choose n { case a { larc.yield %x } }
  larc.yield %y
}

// -----

larc.recurrence @choose(%x) attributes(link = a of [a, b]) -> (o) {
  // expected-error@+1 {{has a case "c", which is no value of 'link'}}
  %y = larc.choose link { case a, c { larc.yield %x } }
  larc.yield %y
}

// -----

larc.recurrence @choose(%x) attributes(link = a of [a, b]) -> (o) {
  // expected-error@+1 {{has two cases for 'a'}}
  %y = larc.choose link { case a { larc.yield %x } case a { larc.yield %x } }
  larc.yield %y
}

// -----

larc.recurrence @choose(%x) attributes(link = a of [a, b]) -> (o) {
  // expected-error@+1 {{has no case for 'b', a value of 'link'}}
  %y = larc.choose link { case a { larc.yield %x } }
  larc.yield %y
}

// -----

larc.recurrence @choose(%x) attributes(link = a of [a, b]) -> (o) {
  // expected-error@+1 {{expected at least one 'case'}}
  %y = larc.choose link { }
  larc.yield %y
}

// -----

larc.recurrence @choose(%x[K]) attributes(link = a of [a, b]) -> (o[K]) {
  %y = larc.choose link {
    case a { larc.yield %x }
    case b {
      %z = larc.norm %x over K
      // expected-error@+1 {{gives '!larc.array<>' as value 0 where larc.choose has '!larc.array<K>'}}
      larc.yield %z
    }
  }
  larc.yield %y
}

// -----

larc.recurrence @choose(%x) attributes(link = a of [a, b]) -> (o) {
  // expected-error@+1 {{needs one region for each case and at least one case}}
  "larc.choose"() <{attribute = "link", cases = [["a"], ["b"]]}> ({ larc.yield }) : () -> ()
  larc.yield %x
}

// -----

larc.recurrence @choose(%x) attributes(link = a of [a]) -> (o) {
  // expected-error@+1 {{needs regions of one block without arguments}}
  "larc.choose"() <{attribute = "link", cases = [["a"]]}> ({
  ^bb0(%y: !larc.array<>):
    larc.yield
  }) : () -> ()
  larc.yield %x
}

// -----

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

larc.recurrence @nest(%x[K]) -> (o[K]) {
  // expected-error@+1 {{axis 'K' is named twice}}
  larc.nest over [K, K] { larc.yield }
  larc.yield %x
}

// -----

func.func @nest() {
  // expected-error@+1 {{names axis "K" twice}}
  "larc.nest"() <{axes = ["K", "K"]}> ({ "larc.yield"() : () -> () }) : () -> ()
  return
}

// -----

func.func @nest() {
  // expected-error@+1 {{needs a region without arguments}}
  "larc.nest"() <{axes = ["K"]}> ({
  ^bb0(%x: !larc.array<>):
    "larc.yield"() : () -> ()
  }) : () -> ()
  return
}

// -----

larc.recurrence @nest(%x[K]) -> (o[K]) {
  %y = larc.nest over [K] {
    // expected-error@+1 {{is neither elementwise nor a reduction, as a nest needs}}
    %z = larc.softmax %x over K
    larc.yield %z
  }
  larc.yield %y
}

// -----

larc.recurrence @nest(%x[K]) -> (o[K]) {
  %y = larc.nest over [K] {
    %n = larc.reduce sum %x over K
    // expected-error@+1 {{uses a reduction of the same nest}}
    %z = larc.div %x, %n
    larc.yield %z
  }
  larc.yield %y
}

// -----

larc.recurrence @nest(%x[K]) -> (o[J]) {
  %y = larc.nest over [K] {
    %e = larc.exp %x
    // expected-error@+1 {{re-labels what the same nest computes}}
    %z = larc.rename %e K to J
    larc.yield %z
  }
  larc.yield %y
}

// -----

larc.recurrence @nest(%x[K, V]) -> (o[K, V]) {
  %y = larc.nest over [K] {
    // expected-error@+1 {{has axis 'V', which the nest lacks}}
    %e = larc.exp %x
    larc.yield %e
  }
  larc.yield %y
}

// -----

larc.recurrence @nest(%x[K]) -> (o[K]) {
  "larc.nest"() <{axes = ["K"]}> ({
    %e = larc.exp %x
    // expected-error@+1 {{gives 1 values where larc.nest has 0 results}}
    larc.yield %e
  }) : () -> ()
  larc.yield %x
}

// -----

// expected-error@+1 {{declares 'a' with a range that is not an interval: two increasing numbers}}
larc.recurrence @range(%a: coefficient interval(1, 0.5)) -> (o) {
  larc.yield %a
}

// -----

// expected-error@+1 {{expected ','}}
larc.recurrence @range(%a: coefficient interval(1)) -> (o) {
  larc.yield %a
}

// -----

larc.recurrence @foreign(%a) -> (o) {
  // expected-error@+1 {{'arith.constant' op is not an operation of the larc dialect, as those of a step are}}
  %c = arith.constant 1.0 : f32
  larc.yield %a
}
