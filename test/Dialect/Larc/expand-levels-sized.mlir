// An axis that a family sizes by level has the member's name in domains and
// nonzero lists too.

// RUN: larc-opt %s -larc-expand-levels | FileCheck %s

// CHECK-LABEL: larc.recurrence @sized(%x)
// CHECK-NEXT:      constant(%u1[n1, K]: data unit(n1), %u2[n2, K]: data unit(n2))
// CHECK-NEXT:      state(%S2[n2, K] required nonzero(n2))
larc.recurrence @sized(%x) constant(%u[n, K] per L from 1 sizes(n): unit(n))
    state(%S[n, K] per L from 2 sizes(n) required nonzero(n))
    attributes(e[L] = [1, 2, 3]) -> (o) {
  larc.yield %S, %x
}
