// RUN: larc-opt %s --convert-chunk-to-tile -split-input-file | FileCheck %s
// RUN: larc-opt %s --convert-chunk-to-tile=matrix-unit=mma -split-input-file | FileCheck %s --check-prefix=MMA
// RUN: larc-opt %s --convert-chunk-to-tile=factor-registers=72 -split-input-file | FileCheck %s --check-prefix=REGISTERS
// RUN: larc-opt %s --convert-chunk-to-tile='stages=2 operand-types=bf16,bf16,f32,f32 output-types=f32' -split-input-file | FileCheck %s --check-prefix=TYPES

// A gate for each channel. The first role prepares what no state is needed for,
// the second holds the state; they meet at barriers of all 16 warps.
// CHECK-LABEL: tile.program @gated(
// CHECK-SAME:    %[[Q:[^:]+]]: !tile.global<?x16xbf16> {tile.argument = #tile.argument<operand>}
// CHECK-SAME:    %[[K:[^:]+]]: !tile.global<?x16xbf16>
// CHECK-SAME:    %[[V:[^:]+]]: !tile.global<?x16xbf16>
// CHECK-SAME:    %[[G:[^:]+]]: !tile.global<?x16xbf16> {tile.argument = #tile.argument<operand>}
// CHECK-SAME:    %[[O:[^:]+]]: !tile.global<?x16xbf16> {tile.argument = #tile.argument<output>}
// CHECK-SAME:    %[[I:[^:]+]]: !tile.global<16x16xf32> {tile.argument = #tile.argument<initial>}
// CHECK-SAME:    %[[F:[^:]+]]: !tile.global<16x16xf32> {tile.argument = #tile.argument<final>}) warps 16 {
// CHECK:       %[[LENGTH:.+]] = tile.length
// CHECK:       %[[QS:.+]] = tile.alloc : <16x64xbf16, swizzle = 128, stages = 4>
// CHECK:       %[[KS:.+]] = tile.alloc : <16x64xbf16, swizzle = 128, stages = 4>
// CHECK:       %[[VS:.+]] = tile.alloc : <16x64xbf16, swizzle = 128, stages = 4>
// CHECK:       %[[GS:.+]] = tile.alloc : <16x64xbf16, swizzle = 128, stages = 4>
// CHECK:       %[[A:.+]] = tile.alloc : <16x16xbf16, swizzle = 32, stages = 2>
// CHECK:       tile.role first 0 warps 8 registers 96 {

// Three chunks are on their way when the first is worked on.
// CHECK:         scf.for {{.+}} = %c0{{.*}} to %c3{{.*}} step
// CHECK:           tile.copy_async %[[Q]][%[[T:.+]], %{{.+}}] below %[[LENGTH]] to
// CHECK:           tile.copy_async %[[K]][%[[T]], %{{.+}}] below %[[LENGTH]] to
// CHECK:           tile.copy_async %[[V]][%[[T]], %{{.+}}] below %[[LENGTH]] to
// CHECK:           tile.copy_async %[[G]][%[[T]], %{{.+}}] below %[[LENGTH]] to
// CHECK:           tile.copy_commit
// CHECK:         scf.for
// CHECK-NEXT:      tile.copy_wait 2
// CHECK:           tile.barrier id %{{.+}} warps 8

// The sums of the gates are a product with ones. Where they are small enough,
// scaled readers and writers are multiplied; else decays go from block to
// block.
// CHECK:           tile.mma
// CHECK:           math.exp2
// CHECK:           %[[SAFE:.+]] = tile.vote all %{{.+}} id %{{.+}} warps 8
// CHECK-NEXT:      %[[SCORES:.+]] = scf.if %[[SAFE]]
// CHECK-NOT:         tile.scan
// CHECK:             tile.mma
// CHECK:           } else {
// CHECK:             tile.scan product %{{.+}} along cols :
// CHECK:             tile.scan product %{{.+}} along cols backward exclusive :
// CHECK:             tile.scan product %{{.+}} along cols block 8 :
// CHECK:             tile.scan product %{{.+}} along cols backward exclusive block 8 :
// CHECK:           }
// CHECK:           %[[ATHEN:.+]] = tile.stage %[[A]]
// CHECK:           %[[HALF:.+]] = tile.convert %[[SCORES]]
// CHECK:           tile.store %[[HALF]], %[[ATHEN]]
// CHECK:           tile.fence_async
// CHECK:           tile.arrive id %{{.+}} warps 16
// CHECK:           tile.barrier id %{{.+}} warps 16
// CHECK:           tile.copy_async %[[Q]]
// CHECK:           tile.copy_commit

// CHECK:       tile.role first 8 warps 8 registers 160 {
// CHECK:         %[[INITIAL:.+]] = tile.load %[[I]][%{{.+}}] transposed below %{{.+}} -> <16x64xf32, acc>
// CHECK:         %[[FINAL:.+]] = scf.for {{.+}} iter_args(%[[S:.+]] = %[[INITIAL]])
// CHECK:           tile.wgmma_wait pending 0{{$}}
// CHECK:           %[[S16:.+]] = tile.convert %[[S]] : <16x64xf32, acc> -> <16x64xbf16, lhs>
// CHECK:           tile.barrier id %{{.+}} warps 16
// CHECK:           %[[ANOW:.+]] = tile.stage %[[A]]
// CHECK:           %[[VNOW:.+]] = tile.stage %[[VS]]
// CHECK:           %[[VT:.+]] = tile.load %[[VNOW]]{{.+}} transposed
// CHECK:           tile.wgmma_fence
// CHECK:           %[[PAST:.+]] = tile.wgmma %{{.+}}, %[[S16]], %{{.+}} transposed
// CHECK:           %[[OUT:.+]] = tile.wgmma %[[PAST]], %[[VT]], %[[ANOW]]{{.+}} transposed
// CHECK-NEXT:      tile.wgmma_commit
// CHECK:           %[[DECAYED:.+]] = tile.map ({{.+}} = %[[S]], {{.+}} = %{{.+}}) : {{.+}} !tile.reg<1x64xf32, cols acc>
// CHECK:           %[[NEW:.+]] = tile.wgmma %[[DECAYED]], %[[VT]],
// CHECK-NEXT:      tile.wgmma_commit
// CHECK-NEXT:      %{{.+}} = tile.wgmma_wait %[[OUT]] pending 1
// CHECK:           tile.store %{{.+}}, %[[O]][{{.+}}] below %[[LENGTH]]
// CHECK:           %[[NEXT:.+]] = tile.wgmma_wait %[[NEW]] pending 0
// CHECK:           tile.arrive id %{{.+}} warps 16
// CHECK-NEXT:      scf.yield %[[NEXT]]
// CHECK:         tile.store %[[FINAL]], %[[F]][%{{.+}}] transposed

// Without a group's unit, warps multiply; none asks for registers.
// MMA-LABEL: tile.program @gated(
// MMA-NOT:     wgmma
// MMA:         tile.role first 0 warps 8 {
// MMA:         tile.role first 8 warps 8 {
// MMA-NOT:     wgmma
// MMA:           tile.mma
// MMA-NOT:     wgmma
// MMA:         tile.return

// REGISTERS-LABEL: tile.program @gated(
// REGISTERS:         tile.role first 0 warps 8 registers 72 {
// REGISTERS:         tile.role first 8 warps 8 registers 184 {

// TYPES-LABEL: tile.program @gated(
// TYPES-SAME:    !tile.global<?x16xbf16>{{.+}}!tile.global<?x16xbf16>{{.+}}!tile.global<?x16xf32>{{.+}}!tile.global<?x16xf32>{{.+}}!tile.global<?x16xf32> {tile.argument = #tile.argument<output>}
// TYPES:         tile.alloc : <16x64xbf16, swizzle = 128, stages = 2>
// TYPES:         tile.alloc : <16x64xbf16, swizzle = 128, stages = 2>
// TYPES:         tile.alloc : <16x64xf32, pad = 4, stages = 2>
// TYPES:         tile.alloc : <16x64xf32, pad = 4, stages = 2>
// TYPES:         tile.copy_wait 0
larc.recurrence @gated(%q[K], %k[K], %v[V], %g[K]: gate) state(%S[K, V])
    -> (o[V]) dims(K = 16, V = 16) {
  %a = larc.exp %g
  %d = larc.mul %a, %S
  %w = larc.mul %k, %v
  %n = larc.add %d, %w
  %o = larc.contract %n, %q over K
  larc.yield %n, %o
}
chunk.scan @gated size 16
    tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16)
    operands(%q[K], %k[K], %v[V], %g[K])
    states(%S[K, V]: diagonal) {
  %a = larc.exp %g
  %before = chunk.cumulate product %a over token exclusive
  %r = larc.mul %q, %a
  %reader = larc.mul %r, %before
  %past = larc.contract %reader, %S over K
  %own = larc.contract %q, %k over K
  %A = chunk.scores %r, %k over K token to source decay(%a) diagonal(%own)
  %o = chunk.mix %A, %v token to source init(%past)
  %after = chunk.cumulate product %a over token backward exclusive
  %all = chunk.total product %a over token
  %key = larc.mul %k, %after
  %n = chunk.update %S over token decay(%all) keys(%key) values(%v)
  chunk.yield %n, %o
}

// -----

// One gate for all channels multiplies the scores from block to block, always:
// there is nothing to vote on. It is loaded a chunk ahead, and not copied.
// CHECK-LABEL: tile.program @scalar(
// CHECK-SAME:    %[[G:[^:]+]]: !tile.global<?x1xbf16>
// CHECK-NOT:     tile.vote
// CHECK-NOT:     tile.copy_async %[[G]]
// CHECK:         tile.role first 0 warps 8 registers 96 {
// CHECK:           %[[FIRST:.+]] = tile.load %[[G]][
// CHECK:           scf.for {{.+}} iter_args(%[[NOW:.+]] = %[[FIRST]])
// CHECK:             %[[NEXT:.+]] = tile.load %[[G]][
// CHECK:             tile.convert %[[NOW]]
// CHECK:             tile.scan product %{{.+}} along cols block 1 :
// CHECK:             tile.scan product %{{.+}} along cols block 8 :
// CHECK:             scf.yield %[[NEXT]]
// CHECK-NOT:     tile.vote
// CHECK-NOT:     tile.copy_async %[[G]]
// CHECK:         tile.role first 8 warps 8
// CHECK-NOT:     tile.vote
// CHECK:         tile.return
// MMA-LABEL: tile.program @scalar(
// REGISTERS-LABEL: tile.program @scalar(
// TYPES-LABEL: tile.program @scalar(
larc.recurrence @scalar(%q[K], %k[K], %v[V], %g: gate) state(%S[K, V])
    -> (o[V]) dims(K = 16, V = 16) {
  %a = larc.exp %g
  %d = larc.mul %a, %S
  %w = larc.mul %k, %v
  %n = larc.add %d, %w
  %o = larc.contract %n, %q over K
  larc.yield %n, %o
}
chunk.scan @scalar size 16
    tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16)
    operands(%q[K], %k[K], %v[V], %g)
    states(%S[K, V]: diagonal) {
  %a = larc.exp %g
  %before = chunk.cumulate product %a over token exclusive
  %r = larc.mul %q, %a
  %reader = larc.mul %r, %before
  %past = larc.contract %reader, %S over K
  %own = larc.contract %q, %k over K
  %A = chunk.scores %r, %k over K token to source decay(%a) diagonal(%own)
  %o = chunk.mix %A, %v token to source init(%past)
  %after = chunk.cumulate product %a over token backward exclusive
  %all = chunk.total product %a over token
  %key = larc.mul %k, %after
  %n = chunk.update %S over token decay(%all) keys(%key) values(%v)
  chunk.yield %n, %o
}
