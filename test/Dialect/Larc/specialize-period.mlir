// RUN: larc-opt %s --larc-specialize="attributes=steps=1" | FileCheck %s
// RUN: larc-opt %s --larc-specialize="attributes=steps=4;" | FileCheck %s --check-prefix=FOUR

// With periods of one token the anchor is the old state.
// CHECK-LABEL: larc.recurrence @anchored
// CHECK-SAME:    steps = period(1)
// CHECK-NEXT:    %[[N:.*]] = larc.add %S, %x
// CHECK-NEXT:    larc.yield %[[N]], %S
// FOUR-LABEL:  larc.recurrence @anchored
// FOUR-SAME:     steps = period(4)
// FOUR:          %[[A:.*]] = larc.anchor %S
// FOUR:          larc.yield %{{.*}}, %[[A]]
larc.recurrence @anchored(%x[K]) state(%S[K]) attributes(steps = period(2)) -> (o[K]) {
  %A = larc.anchor %S
  %n = larc.add %S, %x
  larc.yield %n, %A
}
