// RUN: larc-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expected 'tile.box_rows' of argument 0 to be 8 to 256 in steps of 8, found 4 : i64}}
tile.program @too_few(%x: !tile.global<?x64xbf16> {tile.argument = #tile.argument<operand>, tile.box_rows = 4}) warps 1 {
  tile.return
}

// -----

// expected-error @below {{expected 'tile.box_rows' of argument 0 to be 8 to 256 in steps of 8, found 20 : i64}}
tile.program @odd(%x: !tile.global<?x64xbf16> {tile.argument = #tile.argument<operand>, tile.box_rows = 20}) warps 1 {
  tile.return
}

// -----

// expected-error @below {{expected 'tile.box_rows' of argument 0 to be 8 to 256 in steps of 8, found 264 : i64}}
tile.program @too_many(%x: !tile.global<?x64xbf16> {tile.argument = #tile.argument<operand>, tile.box_rows = 264}) warps 1 {
  tile.return
}

// -----

// expected-error @below {{expected 'tile.box_rows' of argument 0 to be 8 to 256 in steps of 8, found "16"}}
tile.program @type(%x: !tile.global<?x64xbf16> {tile.argument = #tile.argument<operand>, tile.box_rows = "16"}) warps 1 {
  tile.return
}

// -----

// expected-error @below {{expected argument 0 with 'tile.box_rows' to be an operand with a row for each token}}
tile.program @output(%x: !tile.global<?x64xbf16> {tile.argument = #tile.argument<output>, tile.box_rows = 16}) warps 1 {
  tile.return
}

// -----

// expected-error @below {{expected argument 0 with 'tile.box_rows' to be an operand with a row for each token}}
tile.program @constant(%x: !tile.global<16x64xbf16> {tile.argument = #tile.argument<operand>, tile.box_rows = 16}) warps 1 {
  tile.return
}

// -----

// expected-error @below {{expected rows of argument 0 with 'tile.box_rows' to be a multiple of 16 bytes, found 40}}
tile.program @row_bytes(%x: !tile.global<?x20xbf16> {tile.argument = #tile.argument<operand>, tile.box_rows = 16}) warps 1 {
  tile.return
}

// -----

// expected-error @below {{expected at most 8 operands with 'tile.box_rows', found 9}}
tile.program @many(%x0: !tile.global<?x64xbf16> {tile.argument = #tile.argument<operand>, tile.box_rows = 16},
    %x1: !tile.global<?x64xbf16> {tile.argument = #tile.argument<operand>, tile.box_rows = 16},
    %x2: !tile.global<?x64xbf16> {tile.argument = #tile.argument<operand>, tile.box_rows = 16},
    %x3: !tile.global<?x64xbf16> {tile.argument = #tile.argument<operand>, tile.box_rows = 16},
    %x4: !tile.global<?x64xbf16> {tile.argument = #tile.argument<operand>, tile.box_rows = 16},
    %x5: !tile.global<?x64xbf16> {tile.argument = #tile.argument<operand>, tile.box_rows = 16},
    %x6: !tile.global<?x64xbf16> {tile.argument = #tile.argument<operand>, tile.box_rows = 16},
    %x7: !tile.global<?x64xbf16> {tile.argument = #tile.argument<operand>, tile.box_rows = 16},
    %x8: !tile.global<?x64xbf16> {tile.argument = #tile.argument<operand>, tile.box_rows = 16}) warps 1 {
  tile.return
}

// -----

tile.program @no_map(%x: !tile.global<?x64xbf16> {tile.argument = #tile.argument<operand>}) warps 1 {
  %zero = arith.constant 0 : index
  %full = tile.alloc_phases : !tile.phases<2 x 1>
  %s = tile.alloc : !tile.shared<16x64xbf16, swizzle = 128>
  // expected-error @below {{expected an argument of the program with 'tile.box_rows'}}
  tile.copy_bulk %x[%zero, %zero] to %s on %full[%zero] : !tile.global<?x64xbf16>, !tile.shared<16x64xbf16, swizzle = 128>, !tile.phases<2 x 1>
  tile.return
}

// -----

tile.program @elements(%x: !tile.global<?x64xbf16> {tile.argument = #tile.argument<operand>, tile.box_rows = 16}) warps 1 {
  %zero = arith.constant 0 : index
  %full = tile.alloc_phases : !tile.phases<2 x 1>
  %s = tile.alloc : !tile.shared<16x64xf32, swizzle = 128>
  // expected-error @below {{expected elements of type 'bf16', found 'f32'}}
  tile.copy_bulk %x[%zero, %zero] to %s on %full[%zero] : !tile.global<?x64xbf16>, !tile.shared<16x64xf32, swizzle = 128>, !tile.phases<2 x 1>
  tile.return
}

// -----

tile.program @ring(%x: !tile.global<?x64xbf16> {tile.argument = #tile.argument<operand>, tile.box_rows = 16}) warps 1 {
  %zero = arith.constant 0 : index
  %full = tile.alloc_phases : !tile.phases<2 x 1>
  %s = tile.alloc : !tile.shared<16x64xbf16, swizzle = 128, stages = 2>
  // expected-error @below {{expected one stage of the ring}}
  tile.copy_bulk %x[%zero, %zero] to %s on %full[%zero] : !tile.global<?x64xbf16>, !tile.shared<16x64xbf16, swizzle = 128, stages = 2>, !tile.phases<2 x 1>
  tile.return
}

// -----

tile.program @swizzle(%x: !tile.global<?x64xbf16> {tile.argument = #tile.argument<operand>, tile.box_rows = 16}) warps 1 {
  %zero = arith.constant 0 : index
  %full = tile.alloc_phases : !tile.phases<2 x 1>
  %s = tile.alloc : !tile.shared<16x64xbf16, swizzle = 64>
  // expected-error @below {{expected a target with a swizzle of 128, found 64}}
  tile.copy_bulk %x[%zero, %zero] to %s on %full[%zero] : !tile.global<?x64xbf16>, !tile.shared<16x64xbf16, swizzle = 64>, !tile.phases<2 x 1>
  tile.return
}

// -----

tile.program @plain(%x: !tile.global<?x64xbf16> {tile.argument = #tile.argument<operand>, tile.box_rows = 16}) warps 1 {
  %zero = arith.constant 0 : index
  %full = tile.alloc_phases : !tile.phases<2 x 1>
  %s = tile.alloc : !tile.shared<16x64xbf16>
  // expected-error @below {{expected a target with a swizzle of 128, found 0}}
  tile.copy_bulk %x[%zero, %zero] to %s on %full[%zero] : !tile.global<?x64xbf16>, !tile.shared<16x64xbf16>, !tile.phases<2 x 1>
  tile.return
}

// -----

tile.program @rows(%x: !tile.global<?x64xbf16> {tile.argument = #tile.argument<operand>, tile.box_rows = 16}) warps 1 {
  %zero = arith.constant 0 : index
  %full = tile.alloc_phases : !tile.phases<2 x 1>
  %s = tile.alloc : !tile.shared<32x64xbf16, swizzle = 128>
  // expected-error @below {{expected boxes of 32 rows, found 16}}
  tile.copy_bulk %x[%zero, %zero] to %s on %full[%zero] : !tile.global<?x64xbf16>, !tile.shared<32x64xbf16, swizzle = 128>, !tile.phases<2 x 1>
  tile.return
}

// -----

tile.program @bytes(%x: !tile.global<?x2048xbf16> {tile.argument = #tile.argument<operand>, tile.box_rows = 256}) warps 1 {
  %zero = arith.constant 0 : index
  %full = tile.alloc_phases : !tile.phases<2 x 1>
  %s = tile.alloc : !tile.shared<256x2048xbf16, swizzle = 128>
  // expected-error @below {{expected a target of at most 1048575 bytes, found 1048576}}
  tile.copy_bulk %x[%zero, %zero] to %s on %full[%zero] : !tile.global<?x2048xbf16>, !tile.shared<256x2048xbf16, swizzle = 128>, !tile.phases<2 x 1>
  tile.return
}

// -----

tile.program @copies(%x: !tile.global<?x64xbf16> {tile.argument = #tile.argument<operand>, tile.box_rows = 16}) warps 1 {
  %zero = arith.constant 0 : index
  %full = tile.alloc_phases : !tile.phases<2 x 1, copies>
  %s = tile.alloc : !tile.shared<16x64xbf16, swizzle = 128>
  // expected-error @below {{expected barriers at which the warp itself arrives}}
  tile.copy_bulk %x[%zero, %zero] to %s on %full[%zero] : !tile.global<?x64xbf16>, !tile.shared<16x64xbf16, swizzle = 128>, !tile.phases<2 x 1, copies>
  tile.return
}
