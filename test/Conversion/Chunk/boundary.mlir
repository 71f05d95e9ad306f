// RUN: larc-opt %s --convert-chunk-to-loops --canonicalize --cse | FileCheck %s

// Chunks end with a period, and its last token is a step of its own; anchors
// are set where a period starts.
// CHECK-LABEL: func.func private @fires_tokens(%arg0: index, %arg1: index,
// CHECK-SAME:      %arg6: memref<32xf32, strided<[1], offset: ?>>, %arg7: memref<32xf32, strided<[1], offset: ?>>, %arg8: memref<?xi8>)
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C9:.*]] = arith.constant 9 : index
// CHECK-DAG:     %[[C10:.*]] = arith.constant 10 : index
// CHECK-DAG:     %[[C8:.*]] = arith.constant 8 : index
// CHECK:         scf.while (%[[T:.*]] = %[[C0]]) : (index) -> index {
// CHECK:           arith.cmpi slt, %[[T]], %arg0
// CHECK:         } do {
// CHECK:         ^bb0(%[[T:.*]]: index):
// CHECK:           %[[AT:.*]] = arith.addi %[[T]], %arg1
// CHECK:           %[[DONE:.*]] = arith.remui %[[AT]], %[[C10]]
// CHECK:           scf.if
// CHECK:             vector.load %arg6
// CHECK:             vector.store %{{.*}}, %arg7
// CHECK:           %[[LEFT:.*]] = arith.subi %arg0, %[[T]]
// CHECK:           %[[MOST:.*]] = arith.minsi %[[LEFT]], %[[C8]]
// CHECK:           %[[PERIOD:.*]] = arith.subi %[[C9]], %[[DONE]]
// CHECK:           %[[N:.*]] = arith.minsi %[[MOST]], %[[PERIOD]]
// CHECK:           arith.cmpi sgt, %[[N]], %[[C0]]
// CHECK:           scf.if
// CHECK:             scf.for %{{.*}} = %[[C0]] to %[[N]] step %[[C1]]
// CHECK:           } else {
// CHECK:             arith.remui
// CHECK:             scf.if
// CHECK:           }
// CHECK:           %[[STEP:.*]] = arith.maxsi %[[N]], %[[C1]]
// CHECK:           %[[NEXT:.*]] = arith.addi %[[T]], %[[STEP]]
// CHECK:           scf.yield %[[NEXT]]
// CHECK:         %[[END:.*]] = arith.addi %arg1, %arg0
// CHECK:         arith.remui %[[END]], %[[C10]]
larc.recurrence @fires(%x[K]) state(%s[K]) attributes(period = period(10)) -> (o[K])
    dims(K = 32) {
  %a = larc.anchor %s
  %fired = larc.fire every 1 iter(%y = %s) {
    %z = larc.nest over [K] {
      %z = larc.neg %y
      larc.yield %z
    }
    larc.yield %z
  }
  %o = larc.nest over [K] {
    %o = larc.mul %a, %x
    larc.yield %o
  }
  larc.yield %fired, %o
}
chunk.scan @fires size 8 tokens(token from 0 size 8) dims(K = 32)
    operands(%x[K]) states(%s[K]: constant) anchors(%a[K]) boundary {
  %o = larc.nest over [token, K] {
    %o = larc.mul %a, %x
    larc.yield %o
  }
  chunk.yield %s, %o
}
