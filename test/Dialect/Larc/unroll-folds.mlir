// RUN: larc-opt %s -larc-unroll-folds | FileCheck %s

// CHECK-LABEL: larc.recurrence @two
// CHECK:         %[[K0:.*]] = larc.slice %k[n = 0]
// CHECK-NEXT:    %[[A:.*]] = larc.add %S, %[[K0]]
// CHECK-NEXT:    %[[K1:.*]] = larc.slice %k[n = 1]
// CHECK-NEXT:    %[[T:.*]] = larc.add %[[A]], %[[K1]]
// CHECK-NEXT:    larc.yield %[[T]], %[[T]]
larc.recurrence @two(%k[n, K]) state(%S[K]) -> (o[K]) dims(n = 2) {
  %T = larc.fold n over(%kj = %k) iter(%X = %S) {
    %next = larc.add %X, %kj
    larc.yield %next
  }
  larc.yield %T, %T
}

// A fold in a fold.
// CHECK-LABEL: larc.recurrence @nested
// CHECK-COUNT-4: larc.add
// CHECK-NOT:     larc.fold
larc.recurrence @nested(%k[n, m, K]) state(%S[K]) -> (o[K]) dims(n = 2, m = 2) {
  %T = larc.fold n over(%kj = %k) iter(%X = %S) {
    %U = larc.fold m over(%kk = %kj) iter(%Y = %X) {
      %next = larc.add %Y, %kk
      larc.yield %next
    }
    larc.yield %U
  }
  larc.yield %T, %T
}

// CHECK-LABEL: larc.recurrence @unknown
// CHECK:         larc.fold n
larc.recurrence @unknown(%k[n, K]) state(%S[K]) -> (o[K]) {
  %T = larc.fold n over(%kj = %k) iter(%X = %S) {
    %next = larc.add %X, %kj
    larc.yield %next
  }
  larc.yield %T, %T
}

// CHECK-LABEL: larc.recurrence @long
// CHECK:         larc.fold n
larc.recurrence @long(%k[n, K]) state(%S[K]) -> (o[K]) dims(n = 17) {
  %T = larc.fold n over(%kj = %k) iter(%X = %S) {
    %next = larc.add %X, %kj
    larc.yield %next
  }
  larc.yield %T, %T
}
