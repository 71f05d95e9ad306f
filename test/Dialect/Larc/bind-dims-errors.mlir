// RUN: larc-opt %s --larc-bind-dims="sizes=K=64" --split-input-file --verify-diagnostics
// RUN: not larc-opt %s --larc-bind-dims="sizes=K" 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not larc-opt %s --larc-bind-dims="sizes=K=0" 2>&1 | FileCheck %s --check-prefix=ZERO

// FORM: error: size 'K' is not of the form axis=integer
// ZERO: error: axis 'K' has size 0: sizes are positive

// expected-error @+1 {{axis 'V' of recurrence 'unbound' has no size}}
larc.recurrence @unbound(%q[K], %v[V]) -> (o[K]) {
  larc.yield %q
}

// -----

// expected-error @+1 {{recurrence 'other' has no axis 'K'}}
larc.recurrence @other(%v[V]) -> (o[V]) dims(V = 2) {
  larc.yield %v
}

// -----

// expected-error @+1 {{axis 'K' has two sizes, 32 and 64}}
larc.recurrence @twice(%q[K]) -> (o[K]) dims(K = 32) {
  larc.yield %q
}

// -----

larc.recurrence @renamed(%q[K], %v[V]) -> (o) dims(V = 2) {
  // expected-error @+1 {{axis 'V' has two sizes, 2 and 64}}
  %a = larc.rename %q K to V
  %o = larc.contract %a, %v over V
  larc.yield %o
}

// -----

larc.recurrence @outside(%q[K]) -> (o) {
  // expected-error @+1 {{index 64 is outside of axis 'K' of size 64}}
  %o = larc.slice %q[K = 64]
  larc.yield %o
}
