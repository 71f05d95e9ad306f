// RUN: not larc-opt %s --convert-chunk-to-tile=operand-types=bf16 2>&1 | FileCheck %s --check-prefix=OPERANDS
// RUN: not larc-opt %s --convert-chunk-to-tile=constant-types=f32,f32 2>&1 | FileCheck %s --check-prefix=CONSTANTS
// RUN: not larc-opt %s --convert-chunk-to-tile=output-types=f32,f32 2>&1 | FileCheck %s --check-prefix=OUTPUTS
// RUN: not larc-opt %s --convert-chunk-to-tile=output-types=f16 2>&1 | FileCheck %s --check-prefix=F16
// RUN: not larc-opt %s --convert-chunk-to-tile=operand-types=bf16,i8,bf16 2>&1 | FileCheck %s --check-prefix=I8
// RUN: not larc-opt %s --convert-chunk-to-tile=matrix-unit=tensor 2>&1 | FileCheck %s --check-prefix=UNIT
// RUN: not larc-opt %s --convert-chunk-to-tile=shared-bytes=4096 2>&1 | FileCheck %s --check-prefix=BYTES
// RUN: not larc-opt %s --convert-chunk-to-tile=stages=64 2>&1 | FileCheck %s --check-prefix=STAGES
// RUN: not larc-opt %s --convert-chunk-to-tile=stages=1 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: not larc-opt %s --convert-chunk-to-tile=factor-registers=36 2>&1 | FileCheck %s --check-prefix=REGISTERS
// RUN: not larc-opt %s --convert-chunk-to-tile="matrix-unit=mma factor-registers=96" 2>&1 | FileCheck %s --check-prefix=MMA
// RUN: not larc-opt %s --convert-chunk-to-tile=parts=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not larc-opt %s --convert-chunk-to-tile=parts=2 2>&1 | FileCheck %s --check-prefix=PARTS
// RUN: not larc-opt %s --convert-chunk-to-tile=copies=tma 2>&1 | FileCheck %s --check-prefix=COPIES
// RUN: not larc-opt %s --convert-chunk-to-tile="matrix-unit=mma copies=bulk" 2>&1 | FileCheck %s --check-prefix=BULK

// NEGATIVE: error: expected parts, or 0, found -1
// PARTS: error: cannot divide 16 channels of axis 'V' into 2 parts: expected 1
// MMA: error: registers of a role need Hopper's wgmma

// COPIES: error: unknown copies 'tma': expected async or bulk
// BULK: error: bulk copies go with Hopper's wgmma
// OPERANDS: error: expected 3 types of operands, found 1
// CONSTANTS: error: expected 1 types of constants, found 2
// OUTPUTS: error: expected 1 types of outputs, found 2
// F16: error: cannot keep 'f16' in chunks of tiles: expected f32 or bf16
// I8: error: cannot keep 'i8' in chunks of tiles: expected f32 or bf16
// UNIT: error: unknown matrix unit 'tensor': expected wgmma or mma
// BYTES: error: needs {{[0-9]+}} bytes of shared memory: expected at most 4096
// STAGES: error: needs {{[0-9]+}} bytes of shared memory: expected at most 232448
// FEW: error: expected at least 2 stages, or 0, found 1
// REGISTERS: error: {{.*}}expected 24 to 240 registers in steps of 8, found 36
larc.recurrence @r(%q[K], %k[K], %v[V]) constant(%g: gate) state(%S[K, V])
    -> (o[V]) dims(K = 16, V = 16) {
  %a = larc.exp %g
  %d = larc.mul %a, %S
  %w = larc.mul %k, %v
  %n = larc.add %d, %w
  %o = larc.contract %n, %q over K
  larc.yield %n, %o
}
chunk.scan @r size 16 tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16) operands(%q[K], %k[K], %v[V]) constants(%g)
    states(%S[K, V]: diagonal) {
  %a = larc.exp %g
  %o = larc.contract %q, %S over K
  %n = chunk.update %S over token decay(%a) keys(%k) values(%v)
  chunk.yield %n, %o
}
