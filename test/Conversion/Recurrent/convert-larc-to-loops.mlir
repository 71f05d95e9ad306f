// RUN: larc-opt %s --convert-larc-to-loops --canonicalize --cse | FileCheck %s
// RUN: larc-opt %s --convert-larc-to-loops=vector-bits=256 --canonicalize --cse | FileCheck %s --check-prefix=W256
// RUN: larc-opt %s --convert-larc-to-loops=vector-bits=96 --canonicalize --cse | FileCheck %s --check-prefix=W96

// The arguments: tokens, position, memory and token stride of operands and
// outputs, states, scratch memory.
// CHECK-LABEL: func.func private @gated_tokens(
// CHECK-SAME:    %[[T:[^:]*]]: index, %[[POS:[^:]*]]: index,
// CHECK-SAME:    %[[Q:[^:]*]]: memref<?xf32>, %[[QS:[^:]*]]: index,
// CHECK-SAME:    %[[V:[^:]*]]: memref<?xf32>, %[[VS:[^:]*]]: index,
// CHECK-SAME:    %[[O:[^:]*]]: memref<?xf32>, %[[OS:[^:]*]]: index,
// CHECK-SAME:    %[[S:[^:]*]]: memref<16x32xf32, strided<[?, 1], offset: ?>>,
// CHECK-SAME:    %[[SCRATCH:[^:]*]]: memref<?xi8>) attributes {larc.scratch_bytes = 0 : i64}
// The new state is written over the old one, the sums stay in registers: no
// scratch memory, no other store in the loop.
// CHECK:         scf.for %[[TOKEN:.*]] = %{{.*}} to %[[T]]
// CHECK:           %[[AT:.*]] = arith.muli %[[TOKEN]], %[[OS]]
// CHECK:           %[[OUT:.*]] = memref.reinterpret_cast %[[O]] to offset: [%[[AT]]], sizes: [32]
// CHECK:           %[[SUMS:.*]]:{{[0-9]+}} = scf.for
// CHECK-NOT:         vector.store %{{.*}}, %[[OUT]]
// CHECK:             vector.load %[[S]]
// CHECK:             vector.store %{{.*}}, %[[S]]
// CHECK:           vector.store %{{.*}}, %[[OUT]]
// CHECK-NOT:     memref.view
// W256-LABEL:  func.func private @gated_tokens(
// W256-NOT:      vector<16xf32>
// W256:          vector.load %{{.*}}vector<8xf32>
larc.recurrence @gated(%q[K], %v[V]) state(%S[K, V]) -> (o[V]) dims(K = 16, V = 32) {
  %0:2 = larc.nest over [K, V] {
    %w = larc.mul %q, %v
    %n = larc.add %S, %w
    %o = larc.contract %n, %q over K
    larc.yield %n, %o
  }
  larc.yield %0#0, %0#1
}

// What is left of an axis is done with halves of vectors; sums over lanes halve
// them, too.
// CHECK-LABEL: func.func private @rest_tokens(
// CHECK:         vector.load %{{.*}}vector<16xf32>
// CHECK:         vector.load %{{.*}}vector<4xf32>
// CHECK-NOT:     vector.load
// CHECK:         vector.extract_strided_slice %{{.*}} {offsets = [8], sizes = [8]
// CHECK:         memref.store
// W256-LABEL:  func.func private @rest_tokens(
// W256:          vector.load %{{.*}}vector<8xf32>
// W256:          vector.load %{{.*}}vector<8xf32>
// W256:          vector.load %{{.*}}vector<4xf32>
// No power of two: the next one below.
// W96-LABEL:   func.func private @rest_tokens(
// W96:           vector.load %{{.*}}vector<2xf32>
// W96-NOT:       vector<3xf32>
larc.recurrence @rest(%x[K]) -> (o) dims(K = 20) {
  %0 = larc.nest over [K] {
    %a = larc.reduce sum %x over K
    larc.yield %a
  }
  larc.yield %0
}

// 100 lanes: a group of registers, two more registers, and four lanes. A sum over lanes in
// several groups goes on in memory.
// CHECK-LABEL: func.func private @groups_tokens(
// CHECK-COUNT-4: vector.load %{{.*}}vector<16xf32>
// CHECK:         memref.store %[[SUM:.*]], %[[OUT:.*]][]
// CHECK-COUNT-2: vector.load %{{.*}}vector<16xf32>
// CHECK:         vector.load %{{.*}}vector<4xf32>
// CHECK-NOT:     vector.load
// CHECK:         memref.store %{{.*}}, %[[OUT]][]
larc.recurrence @groups(%x[K]) -> (o) dims(K = 100) {
  %0 = larc.nest over [K] {
    %a = larc.reduce max %x over K
    larc.yield %a
  }
  larc.yield %0
}

// A state that is read after the nest that replaces it is not overwritten: the
// new one waits in scratch memory.
// CHECK-LABEL: func.func private @late_tokens(
// CHECK-SAME:    %[[S:[^:]*]]: memref<16xf32, strided<[1], offset: ?>>, %[[SCRATCH:[^:]*]]: memref<?xi8>)
// CHECK-SAME:    larc.scratch_bytes = 64
// CHECK:         %[[NEW:.*]] = memref.view %[[SCRATCH]]
// CHECK:         vector.store %[[N:.*]], %[[NEW]]
// CHECK:         %[[OLD:.*]] = vector.load %[[S]]
// CHECK:         vector.load %[[NEW]]
// CHECK:         vector.store %{{.*}}, %[[S]]
larc.recurrence @late(%x[K]) state(%S[K]) -> (o[K]) dims(K = 16) {
  %0 = larc.nest over [K] {
    %n = larc.add %S, %x
    larc.yield %n
  }
  %1 = larc.nest over [K] {
    %a = larc.mul %0, %S
    larc.yield %a
  }
  larc.yield %0, %1
}

// Swapped states are both saved before either is overwritten.
// CHECK-LABEL: func.func private @swapped_tokens(
// CHECK-SAME:    %[[A:[^:]*]]: memref<16xf32, strided<[1], offset: ?>>, %[[B:[^:]*]]: memref<16xf32, strided<[1], offset: ?>>, %[[SCRATCH:[^:]*]]: memref<?xi8>)
// CHECK-DAG:     %[[X:.*]] = vector.load %[[B]]
// CHECK-DAG:     %[[Y:.*]] = vector.load %[[A]]
// CHECK:         vector.store %{{.*}}, %[[A]]
// CHECK-NOT:     vector.load %[[A]]
// CHECK:         vector.store %{{.*}}, %[[B]]
larc.recurrence @swapped(%x[K]) state(%A[K], %B[K]) -> (o[K]) dims(K = 16) {
  larc.yield %B, %A, %x
}

// A fold is a loop over slices; its region updates the state in place.
// CHECK-LABEL: func.func private @fold_tokens(
// CHECK-SAME:    %[[S:[^:]*]]: memref<16xf32, strided<[1], offset: ?>>, %{{[^:]*}}: memref<?xi8>) attributes {larc.scratch_bytes = 0
// CHECK:         scf.for
// CHECK:           scf.for %[[J:.*]] = %{{.*}} to %c3
// CHECK:             %[[SLICE:.*]] = memref.subview %{{.*}}[%[[J]], 0] [1, 16] [1, 1]
// CHECK-DAG:         vector.load %[[SLICE]]
// CHECK-DAG:         vector.load %[[S]]
// CHECK:             vector.store %{{.*}}, %[[S]]
larc.recurrence @fold(%k[n, K]) state(%S[K]) -> (o[K]) dims(K = 16, n = 3) {
  %r = larc.fold n over(%kj = %k) iter(%X = %S) {
    %0 = larc.nest over [K] {
      %Y = larc.mul %X, %kj
      larc.yield %Y
    }
    larc.yield %0
  }
  larc.yield %r, %r
}

// What is sliced is not what is carried, even if it starts as the same.
// CHECK-LABEL: func.func private @fold_itself_tokens(
// CHECK-SAME:    %[[S:[^:]*]]: memref<3x16xf32, strided<[?, 1], offset: ?>>, %[[SCRATCH:[^:]*]]: memref<?xi8>)
// CHECK:         %[[X:.*]] = memref.view %[[SCRATCH]]
// CHECK:         scf.for %[[J:.*]] = %{{.*}} to %c3
// CHECK:           memref.subview %[[S]][%{{.*}}, 0] [1, 16] [1, 1]
// CHECK-NOT:       vector.store %{{.*}}, %[[S]]
// CHECK:           vector.store %{{.*}}, %[[X]]
larc.recurrence @fold_itself(%x) state(%S[n, K]) -> (o) dims(K = 16, n = 3) {
  %r = larc.fold n over(%s = %S) iter(%X = %S) {
    %0 = larc.nest over [n, K] {
      %Y = larc.mul %X, %s
      larc.yield %Y
    }
    larc.yield %0
  }
  larc.yield %r, %x
}

// Elements of a slice along the last axis in memory are loaded one by one.
// CHECK-LABEL: func.func private @apart_tokens(
// CHECK:         %[[SLICE:.*]] = memref.subview %{{.*}}[0, 1] [4, 1] [1, 1]
// CHECK-NOT:     vector.load %[[SLICE]]
// CHECK-COUNT-4: memref.load %[[SLICE]]
// CHECK:         vector.from_elements
larc.recurrence @apart(%x[K, n]) -> (o[K]) dims(K = 4, n = 2) {
  %s = larc.slice %x[n = 1]
  %0 = larc.nest over [K] {
    %a = larc.exp %s
    larc.yield %a
  }
  larc.yield %0
}

// At the last token of each second period of three the region runs.
// CHECK-LABEL: func.func private @fire_tokens(
// CHECK-SAME:    %[[T:[^:]*]]: index, %[[POS:[^:]*]]: index
// CHECK:         scf.for %[[TOKEN:.*]] = %{{.*}} to %[[T]]
// CHECK:           %[[GLOBAL:.*]] = arith.addi %[[TOKEN]], %[[POS]]
// CHECK:           %[[NEXT:.*]] = arith.addi %[[GLOBAL]], %c1
// CHECK-DAG:       %[[REST:.*]] = arith.remui %[[NEXT]], %c3
// CHECK-DAG:       %[[ENDS:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK-DAG:       %[[COUNT:.*]] = arith.divui %[[NEXT]], %c3
// CHECK-DAG:       %[[ODD:.*]] = arith.remui %[[COUNT]], %c2
// CHECK-DAG:       %[[MEANT:.*]] = arith.cmpi eq, %[[ODD]], %c0
// CHECK:           %[[FIRES:.*]] = arith.andi %[[ENDS]], %[[MEANT]]
// CHECK:           scf.if %[[FIRES]]
// CHECK:             vector.store
larc.recurrence @fire(%x[K]) state(%S[K]) attributes(p = period(3)) -> (o[K]) dims(K = 16) {
  %r = larc.fire every 2 iter(%X = %S) {
    %0 = larc.nest over [K] {
      %Y = larc.add %X, %x
      larc.yield %Y
    }
    larc.yield %0
  }
  larc.yield %r, %x
}

// The anchor takes the state at the first token of a period, and after the last
// token if a period ends there.
// CHECK-LABEL: func.func private @anchor_tokens(
// CHECK-SAME:    %[[T:[^:]*]]: index, %[[POS:[^:]*]]: index
// CHECK-SAME:    %[[S:[^:]*]]: memref<16xf32, strided<[1], offset: ?>>, %[[A:[^:]*]]: memref<16xf32, strided<[1], offset: ?>>, %{{[^:]*}}: memref<?xi8>)
// CHECK:         scf.for
// CHECK:           %[[REST:.*]] = arith.remui %{{.*}}, %c3
// CHECK:           scf.if
// CHECK:             %[[OLD:.*]] = vector.load %[[S]]
// CHECK:             vector.store %[[OLD]], %[[A]]
// CHECK:           vector.store %{{.*}}, %[[S]]
// CHECK:         %[[END:.*]] = arith.addi %[[POS]], %[[T]]
// CHECK:         arith.remui %[[END]], %c3
// CHECK:         scf.if
// CHECK:           vector.store %{{.*}}, %[[A]]
larc.recurrence @anchor(%x[K]) state(%S[K]) attributes(p = period(3)) -> (o[K]) dims(K = 16) {
  %A = larc.anchor %S
  %0 = larc.nest over [K] {
    %n = larc.add %S, %x
    %m = larc.mul %n, %A
    larc.yield %m
  }
  larc.yield %0, %x
}
