// RUN: larc-opt %s --convert-larc-to-loops --larc-emit-entry --canonicalize --cse | FileCheck %s

// The entry point takes the call, the range of tasks and scratch memory; the
// recurrence is gone. Without the state, the final one starts at the initial
// value; a state given is copied unless both are the same memory.
// CHECK-NOT:   larc.recurrence
// CHECK-LABEL: func.func @larc_r(
// CHECK-SAME:    %[[CALL:[^:]*]]: !llvm.ptr, %[[FIRST:[^:]*]]: i64, %[[LAST:[^:]*]]: i64, %[[SCRATCH:[^:]*]]: !llvm.ptr)
// CHECK:         scf.for
// CHECK:           %[[NULL:.*]] = llvm.icmp "eq"
// CHECK:           scf.if %[[NULL]] {
// CHECK:             vector.store %{{.*}} : memref<20xf32{{.*}}, vector<16xf32>
// CHECK:           } else {
// CHECK:             %[[DIFFER:.*]] = arith.cmpi ne
// CHECK:             scf.if %[[DIFFER]]
// CHECK:           func.call @r_tokens(
// CHECK:         return
// Scratch memory is at least a line of the cache.
// CHECK:       llvm.mlir.global external constant @larc_r_scratch_bytes(64 : i64) {{.*}}: i64
// CHECK:       llvm.mlir.global external constant @larc_r_blocks(1 : i64) {{.*}}: i64
// CHECK-NOT:   larc.recurrence
larc.recurrence @r(%x[K]) state(%S[K] = -inf) -> (o[K]) dims(K = 20) {
  %0 = larc.nest over [K] {
    %n = larc.max %S, %x
    larc.yield %n
  }
  larc.yield %0, %x
}

// A state that lies in memory in another order than nests walk it has a buffer
// in scratch memory, and is stored at the end.
// CHECK-LABEL: func.func @larc_columns(
// CHECK:         %[[BUFFER:.*]] = memref.view %{{.*}} to memref<4x32xf32>
// CHECK:         func.call @columns_tokens(
// CHECK:         scf.for
// CHECK:         memref.load %[[BUFFER]]
// CHECK:       @larc_columns_scratch_bytes(512 : i64)
larc.recurrence @columns(%k[K], %v[V]) state(%S[V, K]) -> (o[V]) dims(K = 4, V = 32) {
  %0:2 = larc.nest over [K, V] {
    %w = larc.mul %k, %v
    %n = larc.add %S, %w
    %o = larc.contract %n, %k over K
    larc.yield %n, %o
  }
  larc.yield %0#0, %0#1
}

// An anchor that is not given is set before it is read.
// CHECK-LABEL: func.func @larc_anchored(
// CHECK-COUNT-2: llvm.icmp "eq"
// CHECK:         func.call @anchored_tokens(
larc.recurrence @anchored(%x[K]) state(%S[K]) attributes(p = period(2)) -> (o[K]) dims(K = 16) {
  %A = larc.anchor %S
  %0 = larc.nest over [K] {
    %n = larc.mul %A, %x
    larc.yield %n
  }
  larc.yield %0, %x
}
