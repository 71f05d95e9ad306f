// Every operation in its custom form: what is written, and that it comes back from
// the custom form, the generic form and bytecode.

// RUN: larc-opt %s | FileCheck %s
// RUN: larc-opt %s -verify-roundtrip
// RUN: larc-opt %s -mlir-print-op-generic | larc-opt | FileCheck %s

// CHECK-LABEL: larc.recurrence @bare(%x) -> (y) {
// CHECK-NEXT:    larc.yield %x
// CHECK-NEXT:  }
larc.recurrence @bare(%x) -> (y) {
  larc.yield %x
}

// No token operand at all: only constants and states.
// CHECK-LABEL: larc.recurrence @no_operand() constant(%u[K]) state(%S[K]) -> (o[K]) {
larc.recurrence @no_operand() constant(%u[K]) state(%S[K]) -> (o[K]) {
  %T = larc.add %S, %u
  larc.yield %T, %S
}

// Kinds and domains; the usual domain of a kind is not written.
// CHECK-LABEL: larc.recurrence @kinds(%a, %b, %c: gate, %d: coefficient, %e[K]: data unit(K), %f[L, K]: coefficient softmax(L), %g: gate normal, %h: data interval, %i: data log_decay, %j: coefficient interval(0.5, 1.0))
larc.recurrence @kinds(%a, %b: data normal, %c: gate log_decay, %d: coefficient interval,
                       %e[K]: unit(K), %f[L, K]: coefficient softmax(L), %g: gate normal,
                       %h: interval, %i: log_decay, %j: coefficient interval(0.5, 1)) -> (o) {
  larc.yield %a
}

// A signature that does not fit a line.
// CHECK-LABEL: larc.recurrence @signature(%q[L, K], %k[K])
// CHECK-NEXT:      constant(%u: gate, %bank[n, K] per L from 1 sizes(n), %p[K] per L)
// CHECK-NEXT:      state(%S[K, V], %z[M] = -inf, %y = 1.5, %R[D, M] required nonzero(D), %F[K] per L)
// CHECK-NEXT:      attributes(%scale = rsqrt(K), %eps = 1.0E-6, %size = size(K), %half = reciprocal(V), steps = 5, period = period(64), link = softmax of [softmax, identity], every[L] = [1, 2, 4])
// CHECK-NEXT:      -> (o[V], p)
// CHECK-NEXT:      dims(K = 16, V = 8)
// CHECK-NEXT:      summary "a \22summary\22"
// CHECK-NEXT:      paper "arXiv:1234.56789" with {note = "kept"} {
// CHECK-NEXT:    %[[O:.*]] = larc.contract %S, %k over K
larc.recurrence @signature(%q[L, K], %k[K])
    constant(%u: gate, %bank[n, K] per L from 1 sizes(n), %p[K] per L)
    state(%S[K, V], %z[M] = -inf, %y = 1.5, %R[D, M] required nonzero(D), %F[K] per L)
    attributes(%scale = rsqrt(K), %eps = 1.0e-6, %size = size(K), %half = reciprocal(V), steps = 5,
               period = period(64), link = softmax of [softmax, identity], every[L] = [1, 2, 4])
    -> (o[V], p) dims(K = 16, V = 8) summary "a \"summary\"" paper "arXiv:1234.56789"
    with {note = "kept"} {
  %o = larc.contract %S, %k over K
  larc.yield %S, %z, %y, %R, %F, %o, %scale
}

// CHECK-LABEL: larc.recurrence @elementwise
larc.recurrence @elementwise(%x[K], %y[V]) -> (o[K, V]) {
  // CHECK: larc.neg %x
  %1 = larc.neg %x
  // CHECK: larc.abs %
  %2 = larc.abs %1
  // CHECK: larc.exp %
  %3 = larc.exp %2
  // CHECK: larc.expm1 %
  %4 = larc.expm1 %3
  // CHECK: larc.log %
  %5 = larc.log %4
  // CHECK: larc.log1p %
  %6 = larc.log1p %5
  // CHECK: larc.sqrt %
  %7 = larc.sqrt %6
  // CHECK: larc.rsqrt %
  %8 = larc.rsqrt %7
  // CHECK: larc.reciprocal %
  %9 = larc.reciprocal %8
  // CHECK: larc.square %
  %10 = larc.square %9
  // CHECK: larc.sigmoid %
  %11 = larc.sigmoid %10
  // CHECK: larc.logsigmoid %
  %12 = larc.logsigmoid %11
  // CHECK: larc.softplus %
  %13 = larc.softplus %12
  // CHECK: larc.tanh %
  %14 = larc.tanh %13
  // CHECK: larc.relu %
  %15 = larc.relu %14
  // CHECK: larc.sin %
  %16 = larc.sin %15
  // CHECK: larc.cos %
  %17 = larc.cos %16
  // CHECK: larc.erf %
  %18 = larc.erf %17
  // CHECK: larc.add %{{.*}}, %y
  %19 = larc.add %18, %y
  // CHECK: larc.sub %{{.*}}, %y
  %20 = larc.sub %19, %y
  // CHECK: larc.mul %x, %
  %21 = larc.mul %x, %20
  // CHECK: larc.div %
  %22 = larc.div %21, %x
  // CHECK: larc.max %
  %23 = larc.max %22, %x
  // CHECK: larc.min %
  %24 = larc.min %23, %x
  // CHECK: larc.logaddexp %
  %25 = larc.logaddexp %24, %x
  // CHECK: larc.select %x gt %y, %x, %
  %26 = larc.select %x gt %y, %x, %25
  // CHECK: larc.select %x ge %y
  %27 = larc.select %x ge %y, %x, %26
  // CHECK: larc.select %x lt %y
  %28 = larc.select %x lt %y, %x, %27
  // CHECK: larc.select %x le %y
  %29 = larc.select %x le %y, %x, %28
  // CHECK: larc.select %x eq %y
  %30 = larc.select %x eq %y, %x, %29
  // CHECK: larc.select %x ne %y, %x, %{{.*}} {note = 1 : i64}
  %31 = larc.select %x ne %y, %x, %30 {note = 1}
  // CHECK: larc.broadcast %x to [V]
  %32 = larc.broadcast %x to [V]
  %33 = larc.add %31, %32
  larc.yield %33
}

// CHECK-LABEL: larc.recurrence @constants
larc.recurrence @constants(%x) -> (o) {
  // CHECK-NEXT: larc.constant 1.0
  %1 = larc.constant 1
  // CHECK-NEXT: larc.constant -2.5
  %2 = larc.constant -2.5
  // CHECK-NEXT: larc.constant 1.0E-12
  %3 = larc.constant 1.0e-12
  // CHECK-NEXT: larc.constant 0.1
  %4 = larc.constant 0.1
  // CHECK-NEXT: larc.constant 0.30000000000000004
  %5 = larc.constant 0.30000000000000004
  // CHECK-NEXT: larc.constant inf
  %6 = larc.constant inf
  // CHECK-NEXT: larc.constant -inf
  %7 = larc.constant -inf
  // CHECK-NEXT: larc.constant nan
  %8 = larc.constant nan
  // CHECK-NEXT: larc.constant -0.0
  %9 = larc.constant -0.0
  // CHECK-NEXT: larc.constant 1.7976931348623157E+308
  %10 = larc.constant 1.7976931348623157e308
  // CHECK-NEXT: larc.constant 5.0E-324
  %11 = larc.constant 5.0e-324
  larc.yield %x
}

// CHECK-LABEL: larc.recurrence @along_axes
larc.recurrence @along_axes(%x[K, V], %k[K]) attributes(steps = 3) -> (o[J, V]) {
  // CHECK: larc.contract %x, %k over K
  %1 = larc.contract %x, %k over K
  // CHECK: larc.contract %x, %x over K, V
  %2 = larc.contract %x, %x over K, V
  // CHECK: larc.reduce sum %x over K
  %3 = larc.reduce sum %x over K
  // CHECK: larc.reduce max %x over K, V
  %4 = larc.reduce max %x over K, V
  // CHECK: larc.reduce min %x over V
  %5 = larc.reduce min %x over V
  // CHECK: larc.norm %x over K
  %6 = larc.norm %x over K
  // CHECK: larc.normalize %x over K{{$}}
  %7 = larc.normalize %x over K
  // CHECK: larc.normalize %x over K max 1.0E-12
  %8 = larc.normalize %x over K max 1.0e-12
  // CHECK: larc.normalize %x over K, V add 1.0E-6
  %9 = larc.normalize %x over K, V add 1.0e-6
  // CHECK: larc.normalize %x over K inside 0.5
  %10 = larc.normalize %x over K inside 0.5
  // CHECK: larc.normalize %x over K add 0.0
  %11 = larc.normalize %x over K add 0
  // CHECK: larc.softmax %x over K, V
  %12 = larc.softmax %x over K, V
  // CHECK: larc.orthogonalize %x over K, V iterations(5){{$}}
  %13 = larc.orthogonalize %x over K, V iterations(5)
  // CHECK: larc.orthogonalize %x over V, K iterations(steps) coefficients([3.4445, -4.775, 2.0315]) eps(1.0E-7)
  %14 = larc.orthogonalize %x over V, K iterations(steps) coefficients([3.4445, -4.775, 2.0315]) eps(1.0e-7)
  // CHECK: larc.rename %{{.*}} K to J
  %15 = larc.rename %14 K to J
  // CHECK: larc.slice %x[K = 2]
  %16 = larc.slice %x[K = 2]
  larc.yield %15
}

// CHECK-LABEL: larc.recurrence @levels
larc.recurrence @levels(%q[L, K]) constant(%bank[n, K] per L from 1 sizes(n)) state(%S[K] per L)
    attributes(every[L] = [1, 2], period = period(4)) -> (o[K]) {
  // CHECK: %[[S0:.*]] = larc.member %S[0]
  %S0 = larc.member %S[0]
  // CHECK: %[[I:.*]] = larc.insert %[[S0]] into %S[0]
  %I = larc.insert %S0 into %S[0]
  // CHECK: %[[R:.*]]:2 = larc.levels %[[l:.*]] = 1 to L iter(%[[sum:.*]] = %[[S0]], %[[F:.*]] = %[[I]]) {
  %R:2 = larc.levels %l = 1 to L iter(%sum = %S0, %F = %I) {
    // CHECK: larc.slice %q[L = %[[l]]]
    %ql = larc.slice %q[L = %l]
    // CHECK: larc.slice %q[L = %[[l]] -1]
    %qp = larc.slice %q[L = %l -1]
    // CHECK: larc.member %bank[%[[l]]]
    %b = larc.member %bank[%l]
    // CHECK: %[[below:.*]] = larc.member %[[F]][%[[l]] -1]
    %below = larc.member %F[%l -1]
    %old = larc.member %F[%l]
    // CHECK: %[[fired:.*]] = larc.fire every every[%[[l]]] iter(%{{.*}} = %{{.*}}) {
    %fired = larc.fire every every[%l] iter(%X = %old) {
      // CHECK: larc.yield %[[below]]
      larc.yield %below
    }
    // CHECK: %[[G:.*]] = larc.insert %[[fired]] into %[[F]][%[[l]]]
    %G = larc.insert %fired into %F[%l]
    %more = larc.add %sum, %ql
    // CHECK: larc.yield %{{.*}}, %[[G]]
    larc.yield %more, %G
  }
  // CHECK: larc.levels %{{.*}} = 2 to L {
  larc.levels %l = 2 to L {
    // CHECK-NEXT: larc.yield{{$}}
    larc.yield
  }
  // CHECK: larc.yield %[[R]]#1, %[[R]]#0
  larc.yield %R#1, %R#0
}

// CHECK-LABEL: larc.recurrence @steps
larc.recurrence @steps(%k[n, K], %b[n]) state(%S[K]) attributes(period = period(2)) -> (o[K]) {
  // CHECK: %[[A:.*]] = larc.anchor %S
  %A = larc.anchor %S
  // CHECK: larc.fold n over(%[[kj:.*]] = %k, %[[bj:.*]] = %b) iter(%[[X:.*]] = %[[A]]) {
  %T = larc.fold n over(%kj = %k, %bj = %b) iter(%X = %A) {
    // CHECK: larc.mul %[[kj]], %[[bj]]
    %w = larc.mul %kj, %bj
    %Y = larc.add %X, %w
    larc.yield %Y
  }
  // CHECK: larc.fire every 3 iter(
  %U = larc.fire every 3 iter(%X = %T) {
    %unit = larc.normalize %X over K
    larc.yield %unit
  }
  larc.yield %U, %T
}

// A choice may be called as what a period is written with.
// CHECK: larc.recurrence @choose_period(%x[K])
// CHECK-NEXT: attributes(every = period(4), scope = period of [token, period])
larc.recurrence @choose_period(%x[K])
    attributes(every = period(4), scope = period of [token, period]) -> (o[K]) {
  larc.yield %x
}

// CHECK-LABEL: larc.recurrence @choose(
larc.recurrence @choose(%x[K]) attributes(link = a of [a, b, c]) -> (o[K]) {
  // CHECK:      %[[Y:.*]]:2 = larc.choose link {
  // CHECK-NEXT:   case a {
  // CHECK-NEXT:     %[[E:.*]] = larc.exp %x
  // CHECK-NEXT:     larc.yield %[[E]], %x
  // CHECK-NEXT:   }
  // CHECK-NEXT:   case b, c {
  // CHECK-NEXT:     larc.yield %x, %x
  // CHECK-NEXT:   }
  // CHECK-NEXT: }
  %y:2 = larc.choose link {
    case a {
      %e = larc.exp %x
      larc.yield %e, %x
    }
    case b, c { larc.yield %x, %x }
  }
  // CHECK: larc.yield %[[Y]]#0
  larc.yield %y#0
}

// CHECK-LABEL: larc.recurrence @nest
larc.recurrence @nest(%a[K], %k[K]) state(%S[K, V]) -> (o[V]) {
  // CHECK: %[[N:.*]]:2 = larc.nest over [K, V] {
  %n:2 = larc.nest over [K, V] {
    %d = larc.mul %a, %S
    %r = larc.contract %d, %k over K
    larc.yield %d, %r
  }
  // CHECK: larc.nest over [] {
  larc.nest over [] {
    larc.yield
  }
  larc.yield %n#0, %n#1
}

// Recurrences nest in modules, and several in one.
// CHECK: module @inner
module @inner {
  // CHECK: larc.recurrence @inside(%x) -> (o) {
  larc.recurrence @inside(%x) -> (o) { larc.yield %x }
  larc.recurrence @beside(%x) -> (o) { larc.yield %x }
}
