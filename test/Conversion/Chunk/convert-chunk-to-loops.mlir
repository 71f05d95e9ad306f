// RUN: larc-opt %s --convert-chunk-to-loops --canonicalize --cse | FileCheck %s

larc.recurrence @decayed(%q[K], %k[K], %v[V], %g) state(%S[K, V]) -> (o[V])
    dims(K = 32, V = 64) {
  %o = larc.contract %S, %q over K
  larc.yield %S, %o
}

// The arguments are those of the token loop. Values have their places in
// scratch memory, which are used again: the product that starts the sums of
// the mix is where the mix goes.
// CHECK-LABEL: func.func private @decayed_tokens(%arg0: index, %arg1: index,
// CHECK-SAME:      %arg10: memref<?xf32>, %arg11: index,
// CHECK-SAME:      %arg12: memref<32x64xf32, strided<[?, 1], offset: ?>>, %arg13: memref<?xi8>)
// CHECK-SAME:      larc.scratch_bytes = 13440
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG:     %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK:         %[[Q:.*]] = memref.view %arg13{{.*}} to memref<16x32xf32>
// CHECK:         %[[K:.*]] = memref.view %arg13{{.*}} to memref<16x32xf32>
// CHECK:         %[[V:.*]] = memref.view %arg13{{.*}} to memref<16x64xf32>
// CHECK:         %[[G:.*]] = memref.view %arg13{{.*}} to memref<16xf32>
// CHECK:         %[[TOTAL:.*]] = memref.view %arg13{{.*}} to memref<f32>
// CHECK:         %[[OUT:.*]] = memref.view %arg13{{.*}} to memref<16x64xf32>
// CHECK:         %[[A:.*]] = memref.view %arg13{{.*}} to memref<16x16xf32>

// A chunk has all tokens that are left, or as many as the scan says.
// CHECK:         scf.for %[[T:.*]] = %[[C0]] to %arg0 step %[[C16]] {
// CHECK:           %[[LEFT:.*]] = arith.subi %arg0, %[[T]]
// CHECK:           %[[N:.*]] = arith.minsi %[[LEFT]], %[[C16]]

// Rows of operands are copied.
// CHECK:           scf.for %[[I:.*]] = %[[C0]] to %[[N]] step %[[C1]] {
// CHECK:             %[[TOKEN:.*]] = arith.addi %[[T]], %[[I]]
// CHECK:             %[[AT:.*]] = arith.muli %[[TOKEN]], %arg3
// CHECK:             memref.reinterpret_cast %arg2 to offset: [%[[AT]]], sizes: [32]

// The total goes through the tokens that exist.
// CHECK:           scf.for {{.*}} to %[[N]] step %[[C1]] iter_args({{.*}}) -> (f32)

// The read: tiles of 8 rows by 2 vectors. Each asks for the next chunk's rows.
// CHECK:           scf.for %{{.*}} = %[[C0]] to %[[C64]] step %[[C32]] {
// CHECK-NEXT:        scf.for %{{.*}} = %[[C0]] to %[[N]] step %[[C8]] {
// CHECK-NEXT:          scf.for %{{.*}} = %[[C0]] to %[[C32]] step %[[C1]] iter_args
// CHECK:                 memref.load %[[Q]]
// CHECK:                 vector.load %arg12
// CHECK:                 llvm.intr.fmuladd
// CHECK:               vector.store %{{.*}}, %[[OUT]]
// CHECK:               memref.prefetch %arg2[{{.*}}], read

// Scores: rows with rows, then times what decays between.
// CHECK:           scf.for %{{.*}} = %[[C0]] to %[[N]] step %[[C4]] {
// CHECK:             vector.store %{{.*}}, %[[A]]
// CHECK:           scf.for %[[ROW:.*]] = %[[C0]] to %[[N]] step %[[C1]] iter_args(%[[BETWEEN:.*]] = %{{.*}}) -> (vector<16xf32>) {
// CHECK:             vector.load %[[A]]
// CHECK:             memref.load %[[G]]
// CHECK:             arith.mulf %[[BETWEEN]]
// CHECK:             vector.store %{{.*}}, %[[A]]

// The mix starts from the read, in its place, and ends at the diagonal.
// CHECK:           scf.for %{{.*}} = %[[C0]] to %[[C64]] step %[[C32]] {
// CHECK-NEXT:        scf.for %[[TILE:.*]] = %[[C0]] to %[[N]] step %[[C8]] {
// CHECK-NEXT:          vector.load %[[OUT]]
// CHECK:               scf.for %{{.*}} = %[[C0]] to %[[TILE]] step %[[C1]]
// CHECK:                 memref.load %[[A]]
// CHECK:                 vector.load %[[V]]
// CHECK:               memref.load %[[A]]
// CHECK:               vector.store %{{.*}}, %[[OUT]]

// The state is updated in place, from the tokens that exist.
// CHECK:           scf.for %{{.*}} = %[[C0]] to %[[C64]] step %[[C32]] {
// CHECK-NEXT:        scf.for %{{.*}} = %[[C0]] to %[[C32]] step %[[C8]] {
// CHECK:               vector.load %arg12
// CHECK:               memref.load %[[TOTAL]]
// CHECK:               scf.for %{{.*}} = %[[C0]] to %[[N]] step %[[C1]]
// CHECK:                 memref.load %[[K]]
// CHECK:               vector.store %{{.*}}, %arg12

// Rows of outputs are copied back.
// CHECK:           scf.for %{{.*}} = %[[C0]] to %[[N]] step %[[C1]] {
// CHECK:             memref.subview %[[OUT]]
// CHECK:             memref.reinterpret_cast %arg10
chunk.scan @decayed size 16
    tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 32, V = 64)
    operands(%q[K], %k[K], %v[V], %g) states(%S[K, V]: diagonal) {
  %t = chunk.total product %g over token
  %past = larc.contract %q, %S over K
  %A = chunk.scores %q, %k over K token to source decay(%g)
  %o = chunk.mix %A, %v token to source init(%past)
  %n = chunk.update %S over token decay(%t) keys(%k) values(%v)
  chunk.yield %n, %o
}
