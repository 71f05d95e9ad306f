// RUN: larc-opt %s --larc-tile-to-kernel | larc-translate --mlir-to-ptx - | FileCheck %s

// Columns that the tile has and the shared memory has not are neither written
// nor read: there the next row begins.
// CHECK-LABEL: .entry overhang(
// CHECK:         setp.ne.b32 p, {{.+}}; @p st.shared.v4.b32
// CHECK:         mov.b32 {{.+}}, 0; @p ld.shared.v4.b32
tile.program @overhang(
    %x: !tile.global<?x72xf32> {tile.argument = #tile.argument<operand>},
    %o: !tile.global<?x72xf32> {tile.argument = #tile.argument<output>})
    warps 1 {
  %c0 = arith.constant 0 : index
  %m = tile.alloc : <4x72xf32>
  %t = tile.load %x[%c0, %c0] : !tile.global<?x72xf32> -> <1x128xf32, lane = [0, 4, 0, 8, 0, 16, 0, 32, 0, 64], register = [0, 1, 0, 2]>
  tile.store %t, %m[%c0, %c0] : <1x128xf32, lane = [0, 4, 0, 8, 0, 16, 0, 32, 0, 64], register = [0, 1, 0, 2]>, !tile.shared<4x72xf32>
  tile.barrier
  %r = tile.load %m[%c0, %c0] : !tile.shared<4x72xf32> -> <1x128xf32, lane = [0, 4, 0, 8, 0, 16, 0, 32, 0, 64], register = [0, 1, 0, 2]>
  tile.store %r, %o[%c0, %c0] : <1x128xf32, lane = [0, 4, 0, 8, 0, 16, 0, 32, 0, 64], register = [0, 1, 0, 2]>, !tile.global<?x72xf32>
  tile.return
}
