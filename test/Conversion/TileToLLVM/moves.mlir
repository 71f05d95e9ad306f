// RUN: larc-opt %s --convert-tile-to-llvm | FileCheck %s
// RUN: larc-opt %s --larc-tile-to-kernel | larc-translate --mlir-to-ptx | FileCheck %s --check-prefix=PTX

// A distance is a bit of the lane's number, of the register's in its cell, or
// of the cell's.
// CHECK-LABEL: llvm.func @exchange(
// PTX-LABEL: .entry exchange(
tile.program @exchange(
    %x: !tile.global<32x16xf32> {tile.argument = #tile.argument<initial>},
    %y: !tile.global<32x16xf32> {tile.argument = #tile.argument<final>})
    warps 1 {
  %zero = arith.constant 0 : index
  %a = tile.load %x[%zero, %zero] : !tile.global<32x16xf32> -> !tile.reg<32x16xf32, acc>
  // CHECK: %[[BIT:.*]] = arith.constant 16 : i32
  // CHECK: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %[[BIT]], %{{.*}} : f32 -> f32
  // CHECK-COUNT-15: nvvm.shfl.sync bfly
  // PTX-COUNT-16: shfl.sync.bfly.b32 {{.*}}, 16, 31, -1;
  %b = tile.exchange %a along rows distance 4 : !tile.reg<32x16xf32, acc>
  // Lane bit 0 counts two columns.
  // CHECK: %[[BIT:.*]] = arith.constant 1 : i32
  // CHECK: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %[[BIT]], %{{.*}} : f32 -> f32
  // CHECK-COUNT-15: nvvm.shfl.sync bfly
  // PTX-COUNT-16: shfl.sync.bfly.b32 {{.*}}, 1, 31, -1;
  %c = tile.exchange %b along cols distance 2 : !tile.reg<32x16xf32, acc>
  // CHECK-NOT: nvvm.shfl
  // PTX-NOT: shfl.sync
  %d = tile.exchange %c along rows distance 8 : !tile.reg<32x16xf32, acc>
  %e = tile.exchange %d along rows distance 16 : !tile.reg<32x16xf32, acc>
  %f = tile.exchange %e along cols distance 1 : !tile.reg<32x16xf32, acc>
  %g = tile.exchange %f along cols distance 8 : !tile.reg<32x16xf32, acc>
  // CHECK: llvm.store
  // PTX: st.global
  tile.store %g, %y[%zero, %zero] : !tile.reg<32x16xf32, acc>, !tile.global<32x16xf32>
  tile.return
}

// Each register once, though lanes hold copies of columns.
// CHECK-LABEL: llvm.func @slices(
tile.program @slices() warps 1 {
  %i = tile.index cols : !tile.reg<1x32xi32, cols acc>
  // CHECK-COUNT-8: nvvm.shfl.sync bfly %{{.*}} : i32 -> i32
  // CHECK-NOT: nvvm.shfl
  %a = tile.exchange %i along cols distance 4 : !tile.reg<1x32xi32, cols acc>
  %b = tile.exchange %a along cols distance 16 : !tile.reg<1x32xi32, cols acc>
  // CHECK: llvm.return
  tile.return
}

// CHECK-LABEL: llvm.func @halves(
tile.program @halves() warps 1 {
  %zero = arith.constant 0.0 : bf16
  %x = tile.splat %zero : !tile.reg<16x8xbf16, acc>
  // CHECK-COUNT-4: nvvm.shfl.sync bfly %{{.*}} : i32 -> i32
  %a = tile.exchange %x along rows distance 1 : !tile.reg<16x8xbf16, acc>
  tile.return
}

// Row 31 is in the registers of row 24 of its cell's lower half, of lane 7 of
// each column; two columns of two cells are left.
// CHECK-LABEL: llvm.func @pick(
// PTX-LABEL: .entry pick(
tile.program @pick(
    %x: !tile.global<32x16xf32> {tile.argument = #tile.argument<initial>},
    %y: !tile.global<1x16xf32> {tile.argument = #tile.argument<final>},
    %z: !tile.global<32x1xf32> {tile.argument = #tile.argument<final>})
    warps 1 {
  %zero = arith.constant 0 : index
  %a = tile.load %x[%zero, %zero] : !tile.global<32x16xf32> -> !tile.reg<32x16xf32, acc>
  // CHECK: %[[OWN:.*]] = arith.constant 3 : i32
  // CHECK: %[[LANE:.*]] = arith.andi %{{.*}}, %[[OWN]] : i32
  // CHECK: %[[ROW:.*]] = arith.constant 28 : i32
  // CHECK: %[[FROM:.*]] = arith.ori %[[LANE]], %[[ROW]] : i32
  // CHECK-COUNT-4: nvvm.shfl.sync idx %{{.*}}, %{{.*}}, %[[FROM]], %{{.*}} : f32 -> f32
  // CHECK-NOT: nvvm.shfl
  // PTX-COUNT-4: shfl.sync.idx.b32
  %last = tile.pick %a[31] along rows : !tile.reg<32x16xf32, acc>
  // CHECK: llvm.store
  tile.store %last, %y[%zero, %zero] : !tile.reg<1x16xf32, cols acc>, !tile.global<1x16xf32>
  // Column 11: the second register of lanes 1, 5, 9, ... in the second cells.
  // CHECK: %[[OWN:.*]] = arith.constant 28 : i32
  // CHECK: %[[LANE:.*]] = arith.andi %{{.*}}, %[[OWN]] : i32
  // CHECK: %[[COL:.*]] = arith.constant 1 : i32
  // CHECK: %[[FROM:.*]] = arith.ori %[[LANE]], %[[COL]] : i32
  // CHECK-COUNT-4: nvvm.shfl.sync idx %{{.*}}, %{{.*}}, %[[FROM]], %{{.*}} : f32 -> f32
  // CHECK-NOT: nvvm.shfl
  // PTX-COUNT-4: shfl.sync.idx.b32
  %column = tile.pick %a[11] along cols : !tile.reg<32x16xf32, acc>
  tile.store %column, %z[%zero, %zero] : !tile.reg<32x1xf32, rows acc>, !tile.global<32x1xf32>
  // CHECK: llvm.return
  // PTX: ret;
  tile.return
}

// Where no lane bit moves along the dimension, registers are chosen.
// CHECK-LABEL: llvm.func @pick_registers(
tile.program @pick_registers() warps 1 {
  %i = tile.index rows : !tile.reg<4x1xi32, lane = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0], register = [1, 0, 2, 0]>
  // CHECK-NOT: nvvm.shfl
  %a = tile.pick %i[3] along rows : !tile.reg<4x1xi32, lane = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0], register = [1, 0, 2, 0]>
  // CHECK: llvm.return
  tile.return
}

// Four products of 16 rows with 8 rows for each 8 columns; the operands are the
// accumulators as they lie, registers 0, 2, 1, 3 of the left cell.
// CHECK-LABEL: llvm.func @rows(
// PTX-LABEL: .entry rows(
tile.program @rows(
    %x: !tile.global<16x16xf32> {tile.argument = #tile.argument<initial>},
    %y: !tile.global<16x16xf32> {tile.argument = #tile.argument<final>})
    warps 1 {
  %zero = arith.constant 0 : index
  %c0 = arith.constant 0.0 : f32
  %a = tile.load %x[%zero, %zero] : !tile.global<16x16xf32> -> !tile.reg<16x16xf32, acc>
  %c = tile.splat %c0 : !tile.reg<16x16xf32, acc>
  // CHECK: %[[A0:.*]] = llvm.bitcast %[[R0:.*]] : f32 to i32
  // CHECK-NEXT: %[[A1:.*]] = llvm.bitcast %[[R2:.*]] : f32 to i32
  // CHECK-NEXT: %[[A2:.*]] = llvm.bitcast %[[R1:.*]] : f32 to i32
  // CHECK-NEXT: %[[A3:.*]] = llvm.bitcast %[[R3:.*]] : f32 to i32
  // CHECK-NEXT: %[[B0:.*]] = llvm.bitcast %[[R0]] : f32 to i32
  // CHECK-NEXT: %[[B1:.*]] = llvm.bitcast %[[R1]] : f32 to i32
  // CHECK-NEXT: nvvm.mma.sync A[%[[A0]], %[[A1]], %[[A2]], %[[A3]]] B[%[[B0]], %[[B1]]] C[{{.*}}] {{.*}}multiplicandAPtxType = #nvvm.mma_type<tf32>{{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 8>
  // The second step, of the cells to the right.
  // CHECK-COUNT-6: llvm.bitcast
  // CHECK: nvvm.mma.sync
  // The second half of the columns: rows 8 to 15 of the right operand.
  // CHECK-COUNT-4: llvm.bitcast
  // CHECK-NEXT: %[[B2:.*]] = llvm.bitcast %[[R2]] : f32 to i32
  // CHECK-NEXT: %[[B3:.*]] = llvm.bitcast %[[R3]] : f32 to i32
  // CHECK-NEXT: nvvm.mma.sync A[{{.*}}] B[%[[B2]], %[[B3]]]
  // CHECK: nvvm.mma.sync
  // CHECK-NOT: nvvm.mma.sync
  // PTX-COUNT-4: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
  // PTX-NOT: mma.sync
  // PTX-NOT: shfl
  %d = tile.mma_rows %a, %a, %c : !tile.reg<16x16xf32, acc>, !tile.reg<16x16xf32, acc>, !tile.reg<16x16xf32, acc>
  tile.store %d, %y[%zero, %zero] : !tile.reg<16x16xf32, acc>, !tile.global<16x16xf32>
  tile.return
}

// Cell after cell of each row of cells, without an instruction: what comes
// from the right operand's first cell is stored first.
// CHECK-LABEL: llvm.func @concat(
tile.program @concat(
    %x: !tile.global<32x16xf32> {tile.argument = #tile.argument<initial>},
    %y: !tile.global<32x16xf32> {tile.argument = #tile.argument<final>})
    warps 1 {
  %zero = arith.constant 0 : index
  %a = tile.load %x[%zero, %zero] : !tile.global<32x16xf32> -> !tile.reg<32x16xf32, acc>
  %l = tile.slice %a[0, 0] : !tile.reg<32x16xf32, acc> -> !tile.reg<32x8xf32, acc>
  %r = tile.slice %a[0, 8] : !tile.reg<32x16xf32, acc> -> !tile.reg<32x8xf32, acc>
  // CHECK: %[[L:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> vector<2xf32>
  // CHECK: %[[L0:.*]] = llvm.extractelement %[[L]]
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<1> -> vector<2xf32>
  // CHECK: %[[R:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> vector<2xf32>
  // CHECK: %[[R0:.*]] = llvm.extractelement %[[R]]
  // CHECK: llvm.insertelement %[[R0]]
  // CHECK: llvm.store
  // CHECK: llvm.store
  // CHECK: llvm.insertelement %[[L0]]
  %b = tile.concat %r, %l along cols : !tile.reg<32x8xf32, acc>, !tile.reg<32x8xf32, acc>
  tile.store %b, %y[%zero, %zero] : !tile.reg<32x16xf32, acc>, !tile.global<32x16xf32>
  tile.return
}

// A bf16 is the upper half of a float32: of two in a register, one is moved
// there and the other is there when the rest is cleared.
// CHECK-LABEL: llvm.func @widened(
// PTX-LABEL: .entry widened(
tile.program @widened(
    %x: !tile.global<16x8xbf16> {tile.argument = #tile.argument<initial>},
    %y: !tile.global<16x8xf32> {tile.argument = #tile.argument<final>})
    warps 1 {
  %zero = arith.constant 0 : index
  %a = tile.load %x[%zero, %zero] : !tile.global<16x8xbf16> -> !tile.reg<16x8xbf16, acc>
  // CHECK-NOT: extf
  // CHECK:     %[[PAIR:.*]] = llvm.bitcast %[[TWO:.*]] : vector<2xbf16> to i32
  // CHECK:     %[[BITS:.*]] = arith.constant 16 : i32
  // CHECK:     %[[FIRST:.*]] = llvm.shl %[[PAIR]], %[[BITS]]
  // CHECK:     llvm.bitcast %[[FIRST]] : i32 to f32
  // CHECK:     %[[PAIR:.*]] = llvm.bitcast %[[TWO]] : vector<2xbf16> to i32
  // CHECK:     %[[MASK:.*]] = arith.constant -65536 : i32
  // CHECK:     %[[SECOND:.*]] = llvm.and %[[PAIR]], %[[MASK]]
  // CHECK:     llvm.bitcast %[[SECOND]] : i32 to f32
  // CHECK-NOT: extf
  // PTX-NOT:   cvt.f32.bf16
  // PTX:       shl.b32 %{{.*}}, 16;
  // PTX:       and.b32 %{{.*}}, -65536;
  // PTX-NOT:   cvt.f32.bf16
  %w = tile.convert %a : !tile.reg<16x8xbf16, acc> -> !tile.reg<16x8xf32, acc>
  tile.store %w, %y[%zero, %zero] : !tile.reg<16x8xf32, acc>, !tile.global<16x8xf32>
  tile.return
}
