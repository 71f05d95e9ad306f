// RUN: larc-opt %s --convert-chunk-to-loops --canonicalize --cse | FileCheck %s
// RUN: larc-opt %s --convert-chunk-to-loops --larc-emit-entry --larc-loops-to-llvm -o /dev/null
// RUN: larc-opt %s --convert-chunk-to-loops="vector-bits=128 compute-type=f64" --larc-emit-entry="vector-bits=128 compute-type=f64" --larc-loops-to-llvm -o /dev/null

// Running values of a group of lanes are in registers; backward from the last
// token that exists.
// CHECK-LABEL: func.func private @running_tokens
// CHECK:         scf.for %[[T:.*]] = %c0 to %arg0 step %c5 {
// CHECK:           %[[N:.*]] = arith.minsi
// CHECK:           scf.for %{{.*}} = %c0 to %[[N]] step %c1 iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}) -> (vector<16xf32>, vector<16xf32>) {
// CHECK:             %[[X:.*]] = vector.load
// CHECK:             %[[NEXT:.*]] = arith.mulf %[[A]], %[[X]]
// CHECK:             vector.store %[[A]]
// CHECK:             vector.maskedload
// CHECK:             vector.maskedstore {{.*}}, %[[B]]
// CHECK:           scf.for %[[I:.*]] = %c0 to %[[N]] step %c1 iter_args
// CHECK:             %[[LAST:.*]] = arith.addi %[[N]], %c-1
// CHECK:             arith.subi %[[LAST]], %[[I]]
// CHECK:             arith.maximumf
larc.recurrence @running(%x[K]) state(%S[K]) -> (o[K], p[K]) dims(K = 20) {
  larc.yield %S, %x, %x
}
chunk.scan @running size 5 tokens(token from 0 size 5) dims(K = 20)
    operands(%x[K]) states(%S[K]: constant) {
  %o = chunk.cumulate product %x over token exclusive
  %p = chunk.cumulate max %x over token backward
  chunk.yield %S, %o, %p
}

// Scores that decay along the summed axis: row by row, the reader going back
// from writer to writer; only rows that exist.
// CHECK-LABEL: func.func private @paired_tokens
// CHECK:           %[[N:.*]] = arith.minsi
// CHECK:           %[[EXISTS:.*]] = arith.cmpi sgt, %[[N]], %c2
// CHECK:           scf.if %[[EXISTS]] {
// CHECK:             %[[READER:.*]] = vector.maskedload %{{.*}}[%c2, %c0]
// CHECK:             %[[WRITER:.*]] = vector.maskedload %{{.*}}[%c1, %c0]
// CHECK:             %[[SUM:.*]] = llvm.intr.fmuladd(%[[READER]], %[[WRITER]]
// CHECK:             %[[DECAY:.*]] = vector.maskedload %{{.*}}[%c1, %c0]
// CHECK:             %[[DECAYED:.*]] = arith.mulf %[[READER]], %[[DECAY]]
// CHECK:             vector.maskedload %{{.*}}[%c0, %c0]
// CHECK:             llvm.intr.fmuladd(%[[DECAYED]]
// CHECK:             vector.shuffle
// CHECK:             vector.insert %{{.*}} [2]
// CHECK:             vector.store
// Sums that decay along the values: panels of rows.
// CHECK:           scf.for %[[ROW:.*]] = %c0 to %[[N]] step %c8 {
larc.recurrence @paired(%q[K], %k[K], %v[V], %g[K], %h[V]) state(%S[K, V]) -> (o[V])
    dims(K = 12, V = 20) {
  larc.yield %S, %v
}
chunk.scan @paired size 7 tokens(token from 0 size 7, source from 0 size 7) dims(K = 12, V = 20)
    operands(%q[K], %k[K], %v[V], %g[K], %h[V]) states(%S[K, V]: constant) {
  %d = larc.nest over [token, K] {
    %d = larc.contract %q, %k over K
    larc.yield %d
  }
  %A = chunk.scores %q, %k over K token to source decay(%g) diagonal(%d)
  %o = chunk.mix %A, %v token to source decay(%h)
  chunk.yield %S, %o
}

// More tokens than a vector has lanes, in panels.
// CHECK-LABEL: func.func private @panels_tokens
// CHECK:           arith.ceildivsi
larc.recurrence @panels(%q[K], %k[K], %v[V], %g[K], %h[V]) state(%S[K, V]) -> (o[V])
    dims(K = 32, V = 20) {
  larc.yield %S, %v
}
chunk.scan @panels size 40 tokens(token from 0 size 40, source from 0 size 40) dims(K = 32, V = 20)
    operands(%q[K], %k[K], %v[V], %g[K], %h[V]) states(%S[K, V]: constant) {
  %A = chunk.scores %q, %k over K token to source decay(%g)
  %o = chunk.mix %A, %v token to source decay(%h)
  chunk.yield %S, %o
}

// Substitution: sums over what earlier tokens wrote, then the region on rows.
// CHECK-LABEL: func.func private @solved_tokens
// CHECK:           %[[N:.*]] = arith.minsi
// CHECK:           scf.for %[[I:.*]] = %c0 to %[[N]] step %c1 {
// CHECK:             scf.for %[[J:.*]] = %c0 to %[[I]] step %c1 iter_args
// CHECK:               memref.load %{{.*}}[%[[I]], %[[J]]]
// CHECK:               llvm.intr.fmuladd
// CHECK:             memref.subview
// CHECK:             arith.subf
larc.recurrence @solved(%k[K], %v[V]) state(%S[K, V]) -> (o[V]) dims(K = 16, V = 16) {
  larc.yield %S, %v
}
chunk.scan @solved size 16 tokens(token from 0 size 16, source from 0 size 16) dims(K = 16, V = 16)
    operands(%k[K], %v[V]) states(%S[K, V]: low_rank) {
  %A = chunk.scores %k, %k over K token to source
  %u = chunk.solve scores(%A [0, 0]) writes 1 token to source affine over(%w = %v) past(%p[V]) {
    %y = larc.nest over [V] {
      %y = larc.sub %w, %p
      larc.yield %y
    }
    chunk.yield %y
  }
  %next = chunk.update %S over token keys(%k) values(%u)
  chunk.yield %next, %u
}

// A loop over tokens carries the state in its own memory.
// CHECK-LABEL: func.func private @carried_tokens
// CHECK:           scf.for %[[I:.*]] = %c0 to %{{.*}} step %c1 {
// CHECK:             vector.load %arg6
// CHECK:             arith.maximumf
// CHECK:             vector.store %{{.*}}, %arg6
larc.recurrence @carried(%i[K]) state(%m[K]) -> (o[K]) dims(K = 16) {
  larc.yield %m, %i
}
chunk.scan @carried size 16 tokens(token from 0 size 16) dims(K = 16)
    operands(%i[K]) states(%m[K]: semiring) {
  %end, %o = chunk.tokens token semiring over(%x = %i) iter(%y = %m) {
    %next = larc.nest over [K] {
      %next = larc.max %x, %y
      larc.yield %next
    }
    chunk.yield %next, %next
  }
  chunk.yield %end, %o
}

// Parts are made where they belong; tokens that none covers are 0. Rows of whole
// tiles are views, others copies.
// CHECK-LABEL: func.func private @parts_tokens
// CHECK-DAG:       %[[STACK:.*]] = memref.view %{{.*}} to memref<32x16xf32>
// CHECK:           %[[N:.*]] = arith.minsi
// CHECK:           %[[AFTER:.*]] = arith.subi %[[N]], %c16
// CHECK:           %[[REST:.*]] = arith.maxsi %[[AFTER]], %c0
// CHECK:           memref.subview %{{.*}}[16, 0] [16, 16] [1, 1]
// CHECK:           memref.subview %[[STACK:.*]][16, 0] [16, 16] [1, 1]
// CHECK:           scf.for %{{.*}} = %c0 to %[[REST]] step %c1 {
// CHECK:             math.exp
larc.recurrence @parts(%x[K]) state(%S[K]) -> (o[K], p[K]) dims(K = 16) {
  larc.yield %S, %x, %x
}
chunk.scan @parts size 32
    tokens(token from 0 size 32, b from 16 size 16, c from 3 size 5) dims(K = 16)
    operands(%x[K]) states(%S[K]: constant) {
  %xb = chunk.rows %x token to b
  %xc = chunk.rows %x token to c
  %yb = larc.nest over [b, K] {
    %y = larc.exp %xb
    larc.yield %y
  }
  %yc = larc.nest over [c, K] {
    %y = larc.neg %xc
    larc.yield %y
  }
  %o = chunk.stack %yb from [b] to token
  %p = chunk.stack %yc from [c] to token
  chunk.yield %S, %o, %p
}
