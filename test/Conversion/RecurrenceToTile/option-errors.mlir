// RUN: not larc-opt %s --convert-recurrence-to-tile=state-type=f64 2>&1 | FileCheck %s --check-prefix=STATE
// RUN: not larc-opt %s --convert-recurrence-to-tile=operand-types=f32,f32 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not larc-opt %s --convert-recurrence-to-tile=output-types=i8 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: not larc-opt %s --convert-recurrence-to-tile=parts=-1 2>&1 | FileCheck %s --check-prefix=PARTS
// RUN: not larc-opt %s --convert-recurrence-to-tile=spare-registers=-1 2>&1 | FileCheck %s --check-prefix=SPARE

// STATE: error: cannot keep 'f64' in tiles: expected f32, bf16 or f16
// COUNT: error: expected 1 types of operands, found 2
// OUTPUT: error: cannot keep 'i8' in tiles
// PARTS: error: expected parts, or 0, found -1
// SPARE: error: expected registers to spare, found -1
larc.recurrence @r(%q[K]) -> (o[K]) dims(K = 8) {
  larc.yield %q
}
