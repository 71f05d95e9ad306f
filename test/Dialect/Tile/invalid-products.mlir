// RUN: larc-opt %s -split-input-file -verify-diagnostics

func.func @accumulators(%a: !tile.reg<16x16xbf16, lhs>, %b: !tile.reg<16x8xbf16, rhs>, %c: !tile.reg<16x8xf32, rhs>) {
  // expected-error @below {{expected float32 accumulators in their layout, found '!tile.reg<16x8xf32, rhs>'}}
  %d = tile.mma %a, %b, %c : !tile.reg<16x16xbf16, lhs>, !tile.reg<16x8xbf16, rhs>, !tile.reg<16x8xf32, rhs>
  return
}

// -----

func.func @left(%a: !tile.reg<16x16xbf16, acc>, %b: !tile.reg<16x8xbf16, rhs>, %c: !tile.reg<16x8xf32, acc>) {
  // expected-error @below {{expected bf16, f16 or f32 in the layout of left operands, found '!tile.reg<16x16xbf16, acc>'}}
  %d = tile.mma %a, %b, %c : !tile.reg<16x16xbf16, acc>, !tile.reg<16x8xbf16, rhs>, !tile.reg<16x8xf32, acc>
  return
}

// -----

func.func @left_rows(%a: !tile.reg<32x16xbf16, lhs>, %b: !tile.reg<16x8xbf16, rhs>, %c: !tile.reg<16x8xf32, acc>) {
  // expected-error @below {{expected 16 rows of the left operand, found 32}}
  %d = tile.mma %a, %b, %c : !tile.reg<32x16xbf16, lhs>, !tile.reg<16x8xbf16, rhs>, !tile.reg<16x8xf32, acc>
  return
}

// -----

func.func @right(%a: !tile.reg<16x16xbf16, lhs>, %b: !tile.reg<16x8xf16, rhs>, %c: !tile.reg<16x8xf32, acc>) {
  // expected-error @below {{expected 'bf16' in the layout of right operands, found '!tile.reg<16x8xf16, rhs>'}}
  %d = tile.mma %a, %b, %c : !tile.reg<16x16xbf16, lhs>, !tile.reg<16x8xf16, rhs>, !tile.reg<16x8xf32, acc>
  return
}

// -----

func.func @right_shape(%a: !tile.reg<16x16xbf16, lhs>, %b: !tile.reg<32x8xbf16, rhs>, %c: !tile.reg<16x8xf32, acc>) {
  // expected-error @below {{expected a right operand of 16x8, found '!tile.reg<32x8xbf16, rhs>'}}
  %d = tile.mma %a, %b, %c : !tile.reg<16x16xbf16, lhs>, !tile.reg<32x8xbf16, rhs>, !tile.reg<16x8xf32, acc>
  return
}

// -----

func.func @in_registers(%a: !tile.reg<16x16xbf16, lhs>, %b: !tile.shared<32x64xbf16, swizzle = 128>, %c: !tile.reg<16x32xf32, acc>, %i: index) {
  // expected-error @below {{a left operand in registers has no place in memory}}
  %d = tile.wgmma %c, %a[%i, %i] depth 16, %b[%i, %i] transposed : !tile.reg<16x32xf32, acc>, !tile.reg<16x16xbf16, lhs>, !tile.shared<32x64xbf16, swizzle = 128>
  return
}

// -----

func.func @in_memory(%b: !tile.shared<64x64xbf16, swizzle = 128>, %c: !tile.reg<16x32xf32, acc>, %i: index) {
  // expected-error @below {{a left operand in shared memory needs its place and its depth}}
  %d = tile.wgmma %c, %b, %b[%i, %i] : !tile.reg<16x32xf32, acc>, !tile.shared<64x64xbf16, swizzle = 128>, !tile.shared<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @left_plain(%a: !tile.shared<64x64xbf16>, %b: !tile.shared<64x64xbf16, swizzle = 128>, %c: !tile.reg<16x32xf32, acc>, %i: index) {
  // expected-error @below {{expected one stage of a swizzled matrix, found '!tile.shared<64x64xbf16>'}}
  %d = tile.wgmma %c, %a[%i, %i] depth 16, %b[%i, %i] : !tile.reg<16x32xf32, acc>, !tile.shared<64x64xbf16>, !tile.shared<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @type(%a: !tile.reg<16x8xf32, lhs32>, %b: !tile.shared<64x64xbf16, swizzle = 128>, %c: !tile.reg<16x32xf32, acc>, %i: index) {
  // expected-error @below {{expected operands of type bf16 or f16, found 'f32'}}
  %d = tile.wgmma %c, %a, %b[%i, %i] : !tile.reg<16x32xf32, acc>, !tile.reg<16x8xf32, lhs32>, !tile.shared<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @right_type(%a: !tile.reg<16x16xbf16, lhs>, %b: !tile.shared<64x64xf16, swizzle = 128>, %c: !tile.reg<16x32xf32, acc>, %i: index) {
  // expected-error @below {{expected a right operand of type 'bf16'}}
  %d = tile.wgmma %c, %a, %b[%i, %i] : !tile.reg<16x32xf32, acc>, !tile.reg<16x16xbf16, lhs>, !tile.shared<64x64xf16, swizzle = 128>
  return
}

// -----

func.func @right_ring(%a: !tile.reg<16x16xbf16, lhs>, %b: !tile.shared<64x64xbf16, swizzle = 128, stages = 2>, %c: !tile.reg<16x32xf32, acc>, %i: index) {
  // expected-error @below {{expected one stage of a swizzled matrix}}
  %d = tile.wgmma %c, %a, %b[%i, %i] : !tile.reg<16x32xf32, acc>, !tile.reg<16x16xbf16, lhs>, !tile.shared<64x64xbf16, swizzle = 128, stages = 2>
  return
}

// -----

func.func @rows(%a: !tile.reg<32x16xbf16, lhs>, %b: !tile.shared<64x64xbf16, swizzle = 128>, %c: !tile.reg<32x32xf32, acc>, %i: index) {
  // expected-error @below {{expected 16 rows of accumulators in each warp, found 32}}
  %d = tile.wgmma %c, %a, %b[%i, %i] : !tile.reg<32x32xf32, acc>, !tile.reg<32x16xbf16, lhs>, !tile.shared<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @cols(%a: !tile.reg<16x16xbf16, lhs>, %b: !tile.shared<64x512xbf16, swizzle = 128>, %c: !tile.reg<16x512xf32, acc>, %i: index) {
  // expected-error @below {{expected at most 256 columns, found 512}}
  %d = tile.wgmma %c, %a, %b[%i, %i] : !tile.reg<16x512xf32, acc>, !tile.reg<16x16xbf16, lhs>, !tile.shared<64x512xbf16, swizzle = 128>
  return
}

// -----

func.func @depth(%b: !tile.shared<64x64xbf16, swizzle = 128>, %c: !tile.reg<16x32xf32, acc>, %i: index) {
  // expected-error @below {{expected a multiple of 16 products to sum, found 24}}
  %d = tile.wgmma %c, %b[%i, %i] depth 24, %b[%i, %i] : !tile.reg<16x32xf32, acc>, !tile.shared<64x64xbf16, swizzle = 128>, !tile.shared<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @right_extent(%a: !tile.reg<16x128xbf16, lhs>, %b: !tile.shared<64x64xbf16, swizzle = 128>, %c: !tile.reg<16x32xf32, acc>, %i: index) {
  // expected-error @below {{expected a right operand of at least 128x32}}
  %d = tile.wgmma %c, %a, %b[%i, %i] : !tile.reg<16x32xf32, acc>, !tile.reg<16x128xbf16, lhs>, !tile.shared<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @rows_left(%a: !tile.reg<16x8xf32, lhs32>, %b: !tile.reg<16x8xf32, acc>, %c: !tile.reg<16x16xf32, acc>) {
  // expected-error @below {{expected float32 in the layout of accumulators, found '!tile.reg<16x8xf32, lhs32>'}}
  %d = tile.mma_rows %a, %b, %c : !tile.reg<16x8xf32, lhs32>, !tile.reg<16x8xf32, acc>, !tile.reg<16x16xf32, acc>
  return
}

// -----

func.func @rows_right(%a: !tile.reg<16x8xf32, acc>, %b: !tile.reg<16x8xbf16, acc>, %c: !tile.reg<16x16xf32, acc>) {
  // expected-error @below {{expected float32 in the layout of accumulators, found '!tile.reg<16x8xbf16, acc>'}}
  %d = tile.mma_rows %a, %b, %c : !tile.reg<16x8xf32, acc>, !tile.reg<16x8xbf16, acc>, !tile.reg<16x16xf32, acc>
  return
}

// -----

func.func @rows_sums(%a: !tile.reg<16x8xf32, acc>, %b: !tile.reg<16x8xf32, acc>, %c: !tile.reg<16x16xf64, acc>) {
  // expected-error @below {{expected float32 in the layout of accumulators, found '!tile.reg<16x16xf64, acc>'}}
  %d = tile.mma_rows %a, %b, %c : !tile.reg<16x8xf32, acc>, !tile.reg<16x8xf32, acc>, !tile.reg<16x16xf64, acc>
  return
}

// -----

func.func @rows_depth(%a: !tile.reg<16x8xf32, acc>, %b: !tile.reg<16x16xf32, acc>, %c: !tile.reg<16x16xf32, acc>) {
  // expected-error @below {{expected operands of as many columns, found '!tile.reg<16x8xf32, acc>' and '!tile.reg<16x16xf32, acc>'}}
  %d = tile.mma_rows %a, %b, %c : !tile.reg<16x8xf32, acc>, !tile.reg<16x16xf32, acc>, !tile.reg<16x16xf32, acc>
  return
}

// -----

func.func @rows_shape(%a: !tile.reg<16x8xf32, acc>, %b: !tile.reg<32x8xf32, acc>, %c: !tile.reg<16x16xf32, acc>) {
  // expected-error @below {{expected accumulators of 16x32, found '!tile.reg<16x16xf32, acc>'}}
  %d = tile.mma_rows %a, %b, %c : !tile.reg<16x8xf32, acc>, !tile.reg<32x8xf32, acc>, !tile.reg<16x16xf32, acc>
  return
}

// -----

func.func @rows_below(%a: !tile.reg<32x8xf32, acc>, %b: !tile.reg<16x8xf32, acc>, %c: !tile.reg<16x16xf32, acc>) {
  // expected-error @below {{expected accumulators of 32x16, found '!tile.reg<16x16xf32, acc>'}}
  %d = tile.mma_rows %a, %b, %c : !tile.reg<32x8xf32, acc>, !tile.reg<16x8xf32, acc>, !tile.reg<16x16xf32, acc>
  return
}
