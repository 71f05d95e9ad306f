// RUN: larc compile outer_gate --form=chunk --chunk-size=16 --dims=K=64,V=64 --emit=chunk | larc-opt --convert-chunk-to-tile=segments | FileCheck %s

// Keys and values times decays lie over keys and values, which no other role
// reads here; readers have no memory.
// CHECK-LABEL: tile.program @outer_gate_segments(
// CHECK-COUNT-4: tile.alloc : <16x64xbf16, swizzle = 128, stages =
// CHECK-NOT:     tile.alloc : <16x64xbf16, swizzle = 128, stages =
// CHECK:         tile.role

// Here the last role reads values and their gates, too. Values divided by
// decays lie over the gates of keys, which come before them; those times the
// decays that follow have a ring besides those of the five operands.
// CHECK-LABEL: tile.program @outer_gate(
// CHECK-COUNT-6: tile.alloc : <16x64xbf16, swizzle = 128, stages =
// CHECK-NOT:     tile.alloc : <16x64xbf16, swizzle = 128, stages =
// CHECK:         tile.role
