// RUN: larc-opt %s --larc-form-nests --larc-count-work -o /dev/null | FileCheck %s --check-prefix=LOOP
// RUN: larc-opt %s --derive-chunk=chunk-size=16 --cse --canonicalize --larc-form-nests --larc-count-work -o /dev/null | FileCheck %s --check-prefix=CHUNK

// The state, 32 by 32 numbers or 64 registers, is read and written by one nest;
// k is read for each of its rows, and v once a register. Flops are of elements:
// a product and a sum for the write, a multiply-add for the read.
// LOOP:      recurrence sum
// LOOP-NEXT:   token loop, blocks 1
// LOOP-NEXT:   per task copy 256
// LOOP-NEXT:   per token access
// LOOP-NEXT:   per token arithmetic
// LOOP-NEXT:   per token row 32
// LOOP-NEXT:   per token step-launch
// LOOP-NEXT:   per token memory 8
// LOOP-NEXT:   per token flop 4096

// Products: with the state, and of it, 64 registers a token each; 32 numbers or
// 2 registers to a score, 2 to a value mixed, for half of the pairs. Flops: two
// for each element of them, and 64 for a token's own score.
// CHUNK:      recurrence sum
// CHUNK-NEXT:   chunks of 16, blocks 1
// CHUNK-NEXT:   per task copy 256
// CHUNK-NEXT:   per chunk state 192
// CHUNK:        per token product 128
// CHUNK:        per token flop 4160
// CHUNK-NEXT:   per pair product 2
// CHUNK-NEXT:   per pair flop 64
larc.recurrence @sum(%q[K], %k[K], %v[V]) state(%S[K, V]) -> (o[V])
    dims(K = 32, V = 32) {
  %write = larc.mul %k, %v
  %next = larc.add %S, %write
  %o = larc.contract %next, %q over K
  larc.yield %next, %o
}
