// RUN: larc-opt %s --larc-expand-levels | FileCheck %s

// Families become members from their first level on, the schedule's axis has
// its length, and the loop is unrolled with its index in the places of offsets.
// CHECK-LABEL: larc.recurrence @loop(%q0[K], %q1[K], %q2[K], %g[L])
// CHECK:         constant(%u1[K], %u2[K])
// CHECK:         state(%S0[K], %S1[K], %S2[K])
// CHECK:         dims(L = 3)
// CHECK:         %[[G1:.*]] = larc.slice %g[L = 1]
// CHECK-NEXT:    %[[A1:.*]] = larc.mul %S0, %[[G1]]
// CHECK-NEXT:    %[[B1:.*]] = larc.add %[[A1]], %u1
// CHECK-NEXT:    %[[G2:.*]] = larc.slice %g[L = 2]
// The level below is the one that the last round made.
// CHECK-NEXT:    %[[A2:.*]] = larc.mul %[[B1]], %[[G2]]
// CHECK-NEXT:    %[[B2:.*]] = larc.add %[[A2]], %u2
// CHECK-NEXT:    larc.yield %S0, %[[B1]], %[[B2]], %[[B2]], %q1
larc.recurrence @loop(%q[K] per L, %g[L]) constant(%u[K] per L from 1) state(%S[K] per L)
    attributes(every[L] = [1, 2, 4]) -> (o[K], p[K]) {
  %F = larc.levels %l = 1 to L iter(%G = %S) {
    %gl = larc.slice %g[L = %l]
    %below = larc.member %G[%l -1]
    %ul = larc.member %u[%l]
    %a = larc.mul %below, %gl
    %b = larc.add %a, %ul
    %H = larc.insert %b into %G[%l]
    larc.yield %H
  }
  %o = larc.member %F[2]
  %p = larc.member %q[1]
  larc.yield %F, %o, %p
}

// Intervals are taken from the schedule; arrays are carried too.
// CHECK-LABEL: larc.recurrence @intervals
// CHECK:         %[[A:.*]] = larc.fire every 1 iter(%[[X:.*]] = %S)
// CHECK-NEXT:      %[[Y:.*]] = larc.add %[[X]], %x
// CHECK-NEXT:      larc.yield %[[Y]]
// CHECK:         %[[B:.*]] = larc.fire every 3 iter(%[[Z:.*]] = %[[A]])
// CHECK:         larc.yield %[[B]], %[[B]]
larc.recurrence @intervals(%x[K]) state(%S[K])
    attributes(period = period(2), every[L] = [1, 3]) -> (o[K]) {
  %n = larc.levels %l = 0 to L iter(%c = %S) {
    %f = larc.fire every every[%l] iter(%X = %c) {
      %Y = larc.add %X, %x
      larc.yield %Y
    }
    larc.yield %f
  }
  larc.yield %n, %n
}

// Carried values are taken over at once: here they swap.
// CHECK-LABEL: larc.recurrence @swap
// CHECK:         larc.yield %y, %x
larc.recurrence @swap(%x[K], %y[K]) attributes(every[L] = [1, 2, 4]) -> (o[K], p[K]) {
  %o:2 = larc.levels %l = 0 to L iter(%a = %x, %b = %y) {
    larc.yield %b, %a
  }
  larc.yield %o#0, %o#1
}

// A loop without rounds is its initial values.
// CHECK-LABEL: larc.recurrence @empty
// CHECK:         dims(L = 1)
// CHECK-NEXT:    larc.yield %x
larc.recurrence @empty(%x[K]) attributes(every[L] = [1]) -> (o[K]) {
  %o = larc.levels %l = 1 to L iter(%a = %x) {
    %b = larc.exp %a
    larc.yield %b
  }
  larc.yield %o
}
