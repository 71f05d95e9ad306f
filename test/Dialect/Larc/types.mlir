// Types: axes are a set; the generic form writes types out.

// RUN: larc-opt %s -split-input-file -mlir-print-op-generic -verify-diagnostics | FileCheck %s
// RUN: larc-opt %s -split-input-file -verify-diagnostics -verify-roundtrip

// Axes are sorted, whatever the memory layout.
// CHECK: ^bb0(%{{.*}}: !larc.array<K, V>, %{{.*}}: !larc.array<>):
larc.recurrence @set(%x[V, K], %s) -> (o[K, V]) {
  %o = larc.mul %x, %s
  larc.yield %o
}

// -----

// CHECK: ^bb0(%{{.*}}: !larc.family<level = L, first = 0, member = !larc.array<K>>,
// CHECK-SAME: %{{.*}}: !larc.family<level = L, first = 1, member = !larc.array<K, n>, sized = n>):
larc.recurrence @families(%q[K] per L) constant(%u[n, K] per L from 1 sizes(n))
    attributes(i[L] = [1, 2]) -> (o[K]) {
  %o = larc.member %q[0]
  larc.yield %o
}

// -----

// The order in which a type is written does not matter.
// CHECK: "larc.neg"(%{{.*}}) : (!larc.array<K, V>) -> !larc.array<K, V>
func.func @any_order(%x: !larc.array<V, K>) {
  %y = "larc.neg"(%x) : (!larc.array<K, V>) -> !larc.array<V, K>
  return
}

// -----

// CHECK: function_type = (!larc.array<>, !larc.array<A, B_1>, !larc.family<level = L, first = 1, member = !larc.array<K, n>, sized = n, m>) -> ()
func.func private @printed(
  !larc.array<>, !larc.array<B_1, A>,
  !larc.family<level = L, first = 1, member = !larc.array<n, K>, sized = n, m>)

// -----

// expected-error@+1 {{axis 'K' is named twice}}
func.func private @twice(!larc.array<K, K>)

// -----

// expected-error@+1 {{expected valid keyword}}
func.func private @no_axis(!larc.array<3>)

// -----

// expected-error@+1 {{expected '<'}}
func.func private @no_axes(!larc.array)

// -----

// expected-error@+1 {{expected 'level'}}
func.func private @no_level(!larc.family<K>)

// -----

// expected-error@+1 {{expected 'sized'}}
func.func private @no_sized(!larc.family<level = L, first = 1, member = !larc.array<K>, K>)

// -----

// expected-error@+1 {{axis 'n' is named twice}}
func.func private @sized_twice(!larc.family<level = L, first = 1, member = !larc.array<n>, sized = n, n>)

// -----

// expected-error@+1 {{invalid kind of type specified}}
func.func private @not_array(!larc.family<level = L, first = 1, member = f32>)
