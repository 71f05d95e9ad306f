// What types the operations infer.

// RUN: larc-opt %s -mlir-print-op-generic | FileCheck %s

// CHECK: sym_name = "elementwise"
larc.recurrence @elementwise(%k[K], %v[V], %s, %x[V, K]) -> (o[K, V]) {
  // CHECK: "larc.exp"({{.*}}) : (!larc.array<K>) -> !larc.array<K>
  %1 = larc.exp %k
  // An outer product.
  // CHECK: "larc.mul"({{.*}}) : (!larc.array<V>, !larc.array<K>) -> !larc.array<K, V>
  %2 = larc.mul %v, %k
  // CHECK: "larc.add"({{.*}}) : (!larc.array<>, !larc.array<K>) -> !larc.array<K>
  %3 = larc.add %s, %k
  // CHECK: "larc.sub"({{.*}}) : (!larc.array<K, V>, !larc.array<V>) -> !larc.array<K, V>
  %4 = larc.sub %x, %v
  // All four operands count.
  // CHECK: "larc.select"({{.*}}) <{{.*}}> : (!larc.array<K>, !larc.array<>, !larc.array<>, !larc.array<V>) -> !larc.array<K, V>
  %5 = larc.select %k gt %s, %s, %v
  // CHECK: "larc.broadcast"({{.*}}) <{axes = ["V", "K"]}> : (!larc.array<>) -> !larc.array<K, V>
  %6 = larc.broadcast %s to [V, K]
  // CHECK: "larc.broadcast"({{.*}}) <{axes = ["V"]}> : (!larc.array<K>) -> !larc.array<K, V>
  %7 = larc.broadcast %k to [V]
  // CHECK: "larc.constant"() {{.*}} -> !larc.array<>
  %8 = larc.constant 1.0
  larc.yield %7
}

// CHECK: sym_name = "axes"
larc.recurrence @axes(%x[K, V], %k[K], %m[M]) -> (o) {
  // CHECK: "larc.contract"({{.*}}) <{axes = ["K"]}> : (!larc.array<K, V>, !larc.array<K>) -> !larc.array<V>
  %1 = larc.contract %x, %k over K
  // An axis of one operand alone is summed too.
  // CHECK: "larc.contract"({{.*}}) <{axes = ["V"]}> : (!larc.array<K, V>, !larc.array<M>) -> !larc.array<K, M>
  %2 = larc.contract %x, %m over V
  // CHECK: "larc.contract"({{.*}}) <{axes = ["K", "V"]}> : (!larc.array<K, V>, !larc.array<K, V>) -> !larc.array<>
  %3 = larc.contract %x, %x over K, V
  // CHECK: "larc.reduce"({{.*}}) <{{.*}}> : (!larc.array<K, V>) -> !larc.array<K>
  %4 = larc.reduce max %x over V
  // CHECK: "larc.norm"({{.*}}) <{{.*}}> : (!larc.array<K, V>) -> !larc.array<V>
  %5 = larc.norm %x over K
  // CHECK: "larc.normalize"({{.*}}) <{{.*}}> : (!larc.array<K, V>) -> !larc.array<K, V>
  %6 = larc.normalize %x over K
  // CHECK: "larc.softmax"({{.*}}) <{{.*}}> : (!larc.array<K, V>) -> !larc.array<K, V>
  %7 = larc.softmax %x over V
  // CHECK: "larc.orthogonalize"({{.*}}) <{{.*}}> : (!larc.array<K, V>) -> !larc.array<K, V>
  %8 = larc.orthogonalize %x over K, V iterations(2)
  // CHECK: "larc.rename"({{.*}}) <{from = "K", to = "Z"}> : (!larc.array<K, V>) -> !larc.array<V, Z>
  %9 = larc.rename %x K to Z
  // CHECK: "larc.slice"({{.*}}) <{{.*}}> : (!larc.array<K, V>) -> !larc.array<V>
  %10 = larc.slice %x[K = 0]
  larc.yield %3
}

// CHECK: sym_name = "regions"
larc.recurrence @regions(%k[n, K]) state(%F[K] per L, %S[K])
    attributes(every[L] = [1, 2], period = period(4), c = a of [a, b]) -> (o[K]) {
  // CHECK: "larc.member"({{.*}}) <{{.*}}> : (!larc.family<level = L, first = 0, member = !larc.array<K>>) -> !larc.array<K>
  %1 = larc.member %F[0]
  // CHECK: "larc.insert"({{.*}}) <{{.*}}> : (!larc.array<K>, !larc.family<{{.*}}>) -> !larc.family<level = L, first = 0, member = !larc.array<K>>
  %2 = larc.insert %1 into %F[0]
  // CHECK: "larc.anchor"({{.*}}) : (!larc.array<K>) -> !larc.array<K>
  %3 = larc.anchor %S
  // CHECK: "larc.levels"
  // CHECK-NEXT: ^bb0(%{{.*}}: index, %{{.*}}: !larc.family<{{.*}}>, %{{.*}}: !larc.array<K>):
  // CHECK: (!larc.family<{{.*}}>, !larc.array<K>) -> (!larc.family<level = L, first = 0, member = !larc.array<K>>, !larc.array<K>)
  %4:2 = larc.levels %l = 1 to L iter(%G = %F, %x = %1) {
    larc.yield %G, %x
  }
  // CHECK: "larc.fold"
  // CHECK-NEXT: ^bb0(%{{.*}}: !larc.array<K>, %{{.*}}: !larc.array<K>):
  // CHECK: (!larc.array<K, n>, !larc.array<K>) -> !larc.array<K>
  %5 = larc.fold n over(%kj = %k) iter(%x = %S) {
    %y = larc.add %x, %kj
    larc.yield %y
  }
  // CHECK: "larc.fire"
  // CHECK-NEXT: ^bb0(%{{.*}}: !larc.array<K>):
  // CHECK: (!larc.array<K>) -> !larc.array<K>
  %6 = larc.fire every 1 iter(%x = %5) { larc.yield %x }
  // CHECK: "larc.choose"
  // CHECK: () -> (!larc.array<K>, !larc.array<>)
  %7:2 = larc.choose c {
    case a {
      %n = larc.norm %6 over K
      larc.yield %6, %n
    }
    case b {
      %n = larc.reduce sum %6 over K
      larc.yield %6, %n
    }
  }
  // CHECK: "larc.nest"
  // CHECK: () -> !larc.array<>
  %8 = larc.nest over [K] {
    %r = larc.reduce sum %6 over K
    larc.yield %r
  }
  larc.yield %4#0, %6, %7#0
}
