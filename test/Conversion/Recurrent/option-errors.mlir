// RUN: not larc-opt %s --convert-larc-to-loops=compute-type=f16 2>&1 | FileCheck %s --check-prefix=COMPUTE
// RUN: not larc-opt %s --convert-larc-to-loops=operand-types=f32 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not larc-opt %s --convert-larc-to-loops=operand-types=f32,i32 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not larc-opt %s --convert-larc-to-loops=constant-types=f32,f32 2>&1 | FileCheck %s --check-prefix=CONSTANTS
// RUN: not larc-opt %s --convert-larc-to-loops=output-types=f8,f8,f8 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: not larc-opt %s --larc-emit-entry 2>&1 | FileCheck %s --check-prefix=LOOP
// RUN: not larc-opt %s --convert-larc-to-loops --larc-emit-entry=compute-type=i8 2>&1 | FileCheck %s --check-prefix=ENTRY

// COMPUTE:   error: {{.*}}cannot compute in 'f16': expected f32 or f64
// COUNT:     error: {{.*}}is compiled for 1 types of operands, but declares 2
// TYPE:      error: {{.*}}cannot be compiled for the type 'i32': expected f64, f32, f16 or bf16
// CONSTANTS: error: {{.*}}is compiled for 2 types of constants, but declares 1
// OUTPUT:    error: {{.*}}cannot be compiled for the type 'f8': expected f64, f32, f16 or bf16
// LOOP:      error: {{.*}}has no token loop 'r_tokens': run convert-larc-to-loops first
// ENTRY:     error: {{.*}}cannot compute in 'i8': expected f32 or f64
larc.recurrence @r(%x[K], %y[K]) constant(%u[K]) -> (o[K], p[K], q[K]) dims(K = 4) {
  larc.yield %x, %y, %u
}
