// RUN: larc-opt %s --convert-chunk-to-tile -split-input-file | FileCheck %s
// RUN: larc-opt %s --convert-chunk-to-tile=matrix-unit=mma -split-input-file | FileCheck %s --check-prefix=MMA
// RUN: larc-opt %s --convert-chunk-to-tile=factor-registers=72 -split-input-file | FileCheck %s --check-prefix=REGISTERS
// RUN: larc-opt %s --convert-chunk-to-tile='stages=2 operand-types=bf16,bf16,f32,f32 output-types=f32' -split-input-file | FileCheck %s --check-prefix=TYPES
// RUN: larc-opt %s --convert-chunk-to-tile=shared-bytes=65536 -split-input-file | FileCheck %s --check-prefix=FEWER

// A gate for each channel. Some warps copy, others compute what no state is
// needed for, others have the state. All that goes from role to role has as
// many stages, and three phases for each.
// CHECK-LABEL: tile.program @gated(
// CHECK-SAME:    %[[Q:[^:]+]]: !tile.global<?x64xbf16> {tile.argument = #tile.argument<operand>}
// CHECK-SAME:    %[[K:[^:]+]]: !tile.global<?x64xbf16>
// CHECK-SAME:    %[[V:[^:]+]]: !tile.global<?x64xbf16>
// CHECK-SAME:    %[[G:[^:]+]]: !tile.global<?x64xbf16> {tile.argument = #tile.argument<operand>}
// CHECK-SAME:    %[[O:[^:]+]]: !tile.global<?x64xbf16> {tile.argument = #tile.argument<output>}
// CHECK-SAME:    %[[I:[^:]+]]: !tile.global<64x64xf32> {tile.argument = #tile.argument<initial>}
// CHECK-SAME:    %[[F:[^:]+]]: !tile.global<64x64xf32> {tile.argument = #tile.argument<final>}) warps 16 {
// CHECK:       %[[LENGTH:.+]] = tile.length
// CHECK:       %[[QS:.+]] = tile.alloc : <16x64xbf16, swizzle = 128, stages = 8>
// CHECK-NEXT:  %[[KS:.+]] = tile.alloc : <16x64xbf16, swizzle = 128, stages = 8>
// CHECK-NEXT:  %[[VS:.+]] = tile.alloc : <16x64xbf16, swizzle = 128, stages = 8>
// CHECK-NEXT:  %[[GS:.+]] = tile.alloc : <16x64xbf16, swizzle = 128, stages = 8>
// CHECK-NEXT:  %[[LANDED:.+]] = tile.alloc_phases : <8 x 4, copies>
// CHECK-NEXT:  %[[READY:.+]] = tile.alloc_phases : <8 x 1>
// CHECK-NEXT:  %[[DONE:.+]] = tile.alloc_phases : <8 x 8>
// CHECK-NEXT:  %[[STAGES:.+]] = arith.constant 8 : index
// CHECK-NEXT:  %[[WARPS:.+]] = arith.constant 4 : index
// CHECK-NEXT:  %[[AS:.+]] = tile.alloc : <16x16xbf16, swizzle = 32, stages = 8>
// CHECK-NEXT:  %[[DS:.+]] = tile.alloc : <1x64xf32, stages = 8>
// Scaled readers and keys lie where readers and keys did: there is no other
// matrix but that of outputs on their way, and the triangle of ones.
// CHECK-NEXT:  tile.alloc : <16x64xbf16, swizzle = 128>
// CHECK-NEXT:  %[[ONES:.+]] = tile.alloc : <16x16xbf16, swizzle = 32>
// CHECK-NEXT:  tile.role first 0 warps 4 registers 48 {

// The warps that copy wait for stages, and never for what they copy.
// CHECK:         scf.for %[[T:.+]] = %{{.+}} to %[[LENGTH]]
// CHECK:           %[[NUMBER:.+]] = arith.divui
// CHECK:           %[[STAGE:.+]] = arith.remui %[[NUMBER]], %[[STAGES]]
// CHECK:           %[[ROUND:.+]] = arith.divui %[[NUMBER]], %[[STAGES]]
// CHECK:           %[[PARITY:.+]] = arith.remui %[[ROUND]], %c2
// CHECK:           %[[BEFORE:.+]] = arith.subi %c1{{.*}}, %[[PARITY]]
// CHECK-NEXT:      tile.phase_wait %[[DONE]][%[[STAGE]]] parity %[[BEFORE]]
// CHECK:           %[[AT:.+]] = tile.stage %[[QS]][%[[STAGE]]]
// CHECK-NEXT:      tile.copy_async %[[Q]][%[[T]], %{{.+}}] below %[[LENGTH]] to %[[AT]]
// CHECK:           tile.copy_async %[[K]][%[[T]], %{{.+}}] below %[[LENGTH]] to
// CHECK:           tile.copy_async %[[V]][%[[T]], %{{.+}}] below %[[LENGTH]] to
// CHECK:           tile.copy_async %[[G]][%[[T]], %{{.+}}] below %[[LENGTH]] to
// CHECK-NEXT:      tile.phase_arrive %[[LANDED]][%[[STAGE]]]

// Each warp does every fourth chunk.
// CHECK:       tile.role first 4 warps 4 registers 160 {
// CHECK:         %[[SELF:.+]] = tile.warp
// CHECK:         tile.store %{{.+}}, %[[ONES]]
// CHECK:         tile.barrier id %{{.+}} warps 4
// CHECK:         %[[STEP:.+]] = arith.muli %[[WARPS]], %c16
// CHECK:         %[[OWN:.+]] = arith.muli %[[SELF]], %c16
// CHECK:         %[[BEGIN:.+]] = arith.select %{{.+}}, %[[OWN]], %[[LENGTH]]
// CHECK:         scf.for %{{.+}} = %[[BEGIN]] to %[[LENGTH]] step %[[STEP]] {
// CHECK-NOT:       tile.barrier
// CHECK:           %[[PARITY:.+]] = arith.remui %{{.+}}, %c2
// CHECK:           %[[BEFORE:.+]] = arith.subi %c1{{.*}}, %[[PARITY]]
// CHECK:           tile.phase_wait %[[DONE]][%[[STAGE:.+]]] parity %[[BEFORE]]
// CHECK-NEXT:      tile.phase_wait %[[LANDED]][%[[STAGE]]] parity %[[PARITY]]

// Of 64 channels 32 at a time, since chunks are short. The sums of the gates are a product with ones.
// CHECK:           %[[PASSES:.+]]:2 = scf.for %[[PASS:.+]] = %c0{{.*}} to %c2{{.*}} step %c1{{.*}} iter_args(%[[SUM:.+]] = %{{.+}}, %[[EXACT:.+]] = %false)
// CHECK:             %[[TRIANGLE:.+]] = tile.load %[[ONES]]
// CHECK:             %[[GATES:.+]] = tile.stage %[[GS]][%[[STAGE]]]
// CHECK:             %[[CHANNELS:.+]] = tile.load %[[GATES]]{{.+}} -> <16x32xbf16, rhs>
// CHECK:             %[[RUNNING:.+]] = tile.mma %[[TRIANGLE]], %[[CHANNELS]]
// CHECK:             %[[BOUNDED:.+]] = tile.map ({{.+}} = %[[RUNNING]])
// CHECK:               math.absf
// CHECK:               arith.cmpf ole, %{{.+}}, %cst{{.*}} : f32
// CHECK:             %[[SAFE:.+]] = tile.vote all %[[BOUNDED]] id %{{.+}} warps 1
// CHECK-NEXT:        scf.if %[[SAFE]]

// Where the sums are small, readers and keys take exponentials of them, and
// make up for what the matrix unit cuts off.
// CHECK-NOT:           tile.exchange
// CHECK:               math.exp2
// CHECK:               %[[READER:.+]] = tile.stage %[[QS]][%[[STAGE]]]
// CHECK:               tile.load %[[READER]]
// CHECK:               %[[CUT:.+]] = arith.constant 1.00035155 : f32
// CHECK-NEXT:          arith.mulf %{{.+}}, %[[CUT]] : f32
// CHECK:               arith.negf
// CHECK-NEXT:          math.exp2
// CHECK:               %[[PRODUCT:.+]] = tile.mma_rows %{{.+}}, %{{.+}}, %[[SUM]] : <16x32xf32, acc>
// Nothing is written before all has been read.
// CHECK-NOT:           tile.store
// CHECK:               tile.sync_warp
// CHECK-NOT:           tile.load
// CHECK:               %[[OVER:.+]] = tile.stage %[[QS]][%[[STAGE]]]
// CHECK:               tile.store %{{.+}}, %[[OVER]]
// CHECK:               %[[OVER:.+]] = tile.stage %[[KS]][%[[STAGE]]]
// CHECK:               tile.store %{{.+}}, %[[OVER]]
// CHECK:               %[[ALL:.+]] = tile.stage %[[DS]][%[[STAGE]]]
// CHECK:               tile.store %{{.+}}, %[[ALL]]
// CHECK:               scf.yield %[[PRODUCT]]

// Else products of factors go from blocks to blocks twice as long; a block's
// halves are multiplied in between.
// CHECK:             } else {
// CHECK-NOT:           tile.mma {{.+}}
// CHECK:               %[[FACTORS:.+]] = tile.map
// CHECK:                 math.exp %
// CHECK:               tile.mma_rows
// CHECK:               tile.exchange %[[FACTORS]] along rows distance 1 :
// CHECK:               tile.mma_rows
// CHECK:               tile.exchange %{{.+}} along rows distance 2 :
// CHECK:               tile.mma_rows
// CHECK:               tile.exchange %{{.+}} along rows distance 4 :
// CHECK:               tile.mma_rows
// CHECK:               tile.exchange %{{.+}} along rows distance 8 :
// CHECK-NOT:           tile.exchange
// CHECK-NOT:           tile.scan
// The last is of tokens with themselves.
// CHECK:               tile.mma_rows
// CHECK-NOT:           tile.mma_rows
// What the whole chunk's products multiply is what the second role takes.
// CHECK-NOT:           tile.scan
// CHECK:               tile.pick %{{.+}}[0] along rows
// CHECK-NEXT:          tile.sync_warp
// CHECK:               %[[OVER:.+]] = tile.stage %[[QS]][%[[STAGE]]]
// CHECK:               tile.store %{{.+}}, %[[OVER]]
// CHECK:               %[[OVER:.+]] = tile.stage %[[KS]][%[[STAGE]]]
// CHECK:               tile.store %{{.+}}, %[[OVER]]
// CHECK:             }
// CHECK:           %[[ANOW:.+]] = tile.stage %[[AS]][%[[STAGE]]]
// CHECK:           %[[MASKED:.+]] = tile.map ({{.+}} = %[[PASSES]]#0
// CHECK:           %[[ROUNDED:.+]] = tile.convert %[[MASKED]]
// CHECK:           tile.store %[[ROUNDED]], %[[ANOW]]
// CHECK-NEXT:      tile.fence_async
// CHECK-NEXT:      tile.phase_arrive %[[READY]][%[[STAGE]]]

// CHECK:       tile.role first 8 warps 8 registers 152 {
// CHECK:         %[[INITIAL:.+]] = tile.load %[[I]][%{{.+}}] transposed below %{{.+}} -> <16x64xf32, acc>
// CHECK:         %[[FINAL:.+]] = scf.for {{.+}} iter_args(%[[S:.+]] = %[[INITIAL]])
// CHECK:           tile.wgmma_wait pending 0{{$}}
// CHECK:           %[[S16:.+]] = tile.convert %[[S]] : <16x64xf32, acc> -> <16x64xbf16, lhs>
// CHECK:           tile.phase_wait %[[READY]][%[[STAGE:.+]]] parity
// CHECK:           %[[ANOW:.+]] = tile.stage %[[AS]][%[[STAGE]]]
// CHECK:           %[[VNOW:.+]] = tile.stage %[[VS]][%[[STAGE]]]
// CHECK:           %[[VT:.+]] = tile.load %[[VNOW]]{{.+}} transposed
// CHECK:           %[[READER:.+]] = tile.stage %[[QS]][%[[STAGE]]]
// Products of 16 columns are each warp's own.
// CHECK-NOT:       tile.wgmma
// CHECK:           tile.slice %[[S16]][0, 48]
// CHECK:           tile.load %[[READER]]{{.+}} transposed {{.+}} -> <16x16xbf16, rhs>
// CHECK:           %[[PAST:.+]] = tile.mma
// CHECK:           %[[LEFT:.+]] = tile.slice %[[VT]][0, 0]
// CHECK:           %[[RIGHT:.+]] = tile.load %[[ANOW]]{{.+}} transposed
// CHECK:           %[[OUT:.+]] = tile.mma %[[LEFT]], %[[RIGHT]], %[[PAST]]
// CHECK:           %[[DECAYED:.+]] = tile.map ({{.+}} = %[[S]], {{.+}} = %{{.+}}) : {{.+}} !tile.reg<1x64xf32, cols acc>
// CHECK:           %[[KEY:.+]] = tile.stage %[[KS]][%[[STAGE]]]
// CHECK:           tile.wgmma_fence
// CHECK:           %[[NEW:.+]] = tile.wgmma %[[DECAYED]], %[[VT]], %[[KEY]]
// CHECK-NEXT:      tile.wgmma_commit
// CHECK:           tile.convert %[[OUT]]
// CHECK:           tile.store %{{.+}}, %[[O]][{{.+}}] below %[[LENGTH]]
// CHECK:           %[[NEXT:.+]] = tile.wgmma_wait %[[NEW]] pending 0
// CHECK:           tile.phase_arrive %[[DONE]][%[[STAGE]]]
// CHECK-NEXT:      scf.yield %[[NEXT]]
// CHECK:         tile.store %[[FINAL]], %[[F]][%{{.+}}] transposed

// Without a group's unit, warps multiply; none asks for registers.
// MMA-LABEL: tile.program @gated(
// MMA-NOT:     wgmma
// MMA:         tile.role first 0 warps 1 {
// MMA:         tile.role first 1 warps 3 {
// MMA:         tile.role first 4 warps 8 {
// MMA-NOT:     wgmma
// MMA:           tile.mma
// MMA-NOT:     wgmma
// MMA:         tile.return

// REGISTERS-LABEL: tile.program @gated(
// REGISTERS:         tile.role first 0 warps 4 registers 48 {
// REGISTERS:         tile.role first 4 warps 4 registers 72 {
// REGISTERS:         tile.role first 8 warps 8 registers 192 {

// Values in float32 are written anew, in a ring of their own. With two stages
// two warps do every other chunk, and the others nothing: one that is a round
// of stages ahead would take a phase for an earlier one.
// TYPES-LABEL: tile.program @gated(
// TYPES-SAME:    !tile.global<?x64xbf16>{{.+}}!tile.global<?x64xbf16>{{.+}}!tile.global<?x64xf32>{{.+}}!tile.global<?x64xf32>{{.+}}!tile.global<?x64xf32> {tile.argument = #tile.argument<output>}
// TYPES:         tile.alloc : <16x64xbf16, swizzle = 128, stages = 2>
// TYPES-NEXT:    tile.alloc : <16x64xbf16, swizzle = 128, stages = 2>
// TYPES-NEXT:    tile.alloc : <16x64xf32, pad = 4, stages = 2>
// TYPES-NEXT:    tile.alloc : <16x64xf32, pad = 4, stages = 2>
// TYPES-NEXT:    tile.alloc_phases : <2 x 4, copies>
// TYPES-NEXT:    tile.alloc_phases : <2 x 1>
// TYPES-NEXT:    tile.alloc_phases : <2 x 8>
// TYPES-NEXT:    arith.constant 2 : index
// TYPES-NEXT:    %[[WARPS:.+]] = arith.constant 2 : index
// TYPES:         tile.alloc : <16x64xbf16, swizzle = 128, stages = 2>
// TYPES:         tile.role first 4 warps 4
// TYPES:           %[[SELF:.+]] = tile.warp
// TYPES:           %[[STEP:.+]] = arith.muli %[[WARPS]], %c16
// TYPES:           %[[WORKS:.+]] = arith.cmpi ult, %[[SELF]], %[[WARPS]]
// TYPES:           %[[BEGIN:.+]] = arith.select %[[WORKS]],
// TYPES:           scf.for %{{.+}} = %[[BEGIN]] to %{{.+}} step %[[STEP]]
// Float32 has no exact sums in the matrix unit.
// TYPES-NOT:       tile.mma {{.+}}
// TYPES:           tile.scan sum
// TYPES:         tile.role first 8

// As many stages as there is memory for.
// FEWER-LABEL: tile.program @gated(
// FEWER:         tile.alloc : <16x64xbf16, swizzle = 128, stages = 6>
// FEWER:         tile.alloc_phases : <6 x 4, copies>
// FEWER:         arith.constant 6 : index
// FEWER-NEXT:    arith.constant 4 : index
larc.recurrence @gated(%q[K], %k[K], %v[V], %g[K]: gate) state(%S[K, V])
    -> (o[V]) dims(K = 64, V = 64) {
  %a = larc.exp %g
  %d = larc.mul %a, %S
  %w = larc.mul %k, %v
  %n = larc.add %d, %w
  %o = larc.contract %n, %q over K
  larc.yield %n, %o
}
chunk.scan @gated size 16
    tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 64, V = 64)
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

// One gate for all channels multiplies the scores after the passes, from block
// to block, always: there is nothing to vote on. It is loaded ahead of the
// warp's next chunk, and not copied. Readers and keys are multiplied as they
// lie in shared memory, four passes one after the other.
// CHECK-LABEL: tile.program @scalar(
// CHECK-SAME:    %[[G:[^:]+]]: !tile.global<?x1xbf16>
// CHECK-NOT:     tile.vote
// CHECK-NOT:     tile.copy_async %[[G]]
// CHECK:         tile.role first 4 warps 4 registers
// CHECK:           %[[FIRST:.+]] = tile.load %[[G]][
// CHECK:           scf.for {{.+}} iter_args(%[[NOW:.+]] = %[[FIRST]])
// CHECK:             %[[NEXT:.+]] = tile.load %[[G]][
// CHECK:             tile.phase_wait
// CHECK:             tile.convert %[[NOW]]
// CHECK:             tile.exchange %{{.+}} along rows distance 1 : <16x1xf32
// CHECK:             tile.exchange %{{.+}} along rows distance 8 : <16x1xf32
// CHECK:             scf.for
// CHECK-NOT:           tile.mma_rows
// CHECK:               tile.load %{{.+}} -> <16x32xbf16, lhs>
// CHECK:               tile.load %{{.+}} transposed {{.+}} -> <32x16xbf16, rhs>
// CHECK:               tile.mma
// CHECK-NOT:           tile.mma
// CHECK:               scf.yield
// CHECK:             scf.yield %[[NEXT]]
// CHECK-NOT:     tile.vote
// CHECK-NOT:     tile.copy_async %[[G]]
// CHECK:         tile.role first 8 warps 8
// CHECK-NOT:     tile.vote
// CHECK:         tile.return
// MMA-LABEL: tile.program @scalar(
// REGISTERS-LABEL: tile.program @scalar(
// TYPES-LABEL: tile.program @scalar(
// FEWER-LABEL: tile.program @scalar(
larc.recurrence @scalar(%q[K], %k[K], %v[V], %g: gate) state(%S[K, V])
    -> (o[V]) dims(K = 64, V = 64) {
  %a = larc.exp %g
  %d = larc.mul %a, %S
  %w = larc.mul %k, %v
  %n = larc.add %d, %w
  %o = larc.contract %n, %q over K
  larc.yield %n, %o
}
chunk.scan @scalar size 16
    tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 64, V = 64)
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

// -----

// Gates along the axis that no read sums decay what the second role mixes. It
// has a flag for each stage that says whether a pass needed products of factors.
// CHECK-LABEL: tile.program @values(
// CHECK:         %[[FLAGS:.+]] = tile.alloc : <1x1xf32, pad = 3, stages = {{[0-9]+}}>
// CHECK:         tile.role first 4 warps 4
// CHECK:           %[[PASSES:.+]] = scf.for {{.+}} iter_args(%[[BEFORE:.+]] = %false) -> (i1)
// CHECK:             %[[SAFE:.+]] = tile.vote all %{{.+}} warps 1
// CHECK:             %[[NOT:.+]] = arith.xori %[[SAFE]], %true
// CHECK:             %[[ANY:.+]] = arith.ori %[[BEFORE]], %[[NOT]]
// CHECK:             scf.yield %[[ANY]]
// CHECK:           %[[NUMBER:.+]] = arith.select %[[PASSES]], %{{.+}}, %{{.+}} : f32
// CHECK:           %[[FLAG:.+]] = tile.splat %[[NUMBER]]
// CHECK:           %[[NOW:.+]] = tile.stage %[[FLAGS]]
// CHECK:           tile.store %[[FLAG]], %[[NOW]]
// CHECK:           tile.phase_arrive
// CHECK:         tile.role first 8 warps 8
// CHECK:           %[[NOW:.+]] = tile.stage %[[FLAGS]]
// CHECK:           tile.load %[[NOW]]
// CHECK:           %[[EXACTLY:.+]] = tile.vote any %
// CHECK:           scf.if %[[EXACTLY]]
// CHECK:             tile.scan product %{{.+}} along cols backward exclusive block 8
// MMA-LABEL: tile.program @values(
// REGISTERS-LABEL: tile.program @values(
// TYPES-LABEL: tile.program @values(
// FEWER-LABEL: tile.program @values(
larc.recurrence @values(%q[K], %k[K], %v[V], %g[V]: gate) state(%S[K, V])
    -> (o[V]) dims(K = 64, V = 64) {
  %a = larc.exp %g
  %d = larc.mul %a, %S
  %w = larc.mul %k, %v
  %n = larc.add %d, %w
  %o = larc.contract %n, %q over K
  larc.yield %n, %o
}
chunk.scan @values size 16
    tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 64, V = 64)
    operands(%q[K], %k[K], %v[V], %g[V])
    states(%S[K, V]: diagonal) {
  %a = larc.exp %g
  %before = chunk.cumulate product %a over token
  %read = larc.contract %q, %S over K
  %past = larc.mul %read, %before
  %A = chunk.scores %q, %k over K token to source
  %mixed = chunk.mix %A, %v token to source decay(%a) init(%past)
  %after = chunk.cumulate product %a over token backward exclusive
  %all = chunk.total product %a over token
  %value = larc.mul %v, %after
  %n = chunk.update %S over token decay(%all) keys(%k) values(%value)
  chunk.yield %n, %mixed
}

// -----

// What one state gives reads another: each has a role of its own, which waits
// for all before it.
// CHECK-LABEL: tile.program @stages(
// CHECK:         %[[LANDED:.+]] = tile.alloc_phases : <8 x 4, copies>
// CHECK-NEXT:    %[[READY:.+]] = tile.alloc_phases : <8 x 1>
// CHECK-NEXT:    %[[READ:.+]] = tile.alloc_phases : <8 x 4>
// CHECK-NEXT:    %[[DONE:.+]] = tile.alloc_phases : <8 x 8>
// CHECK:         tile.role first 0 warps 4
// CHECK:         tile.role first 4 warps 4
// CHECK:           tile.phase_arrive %[[READY]]
// CHECK:         tile.role first 8 warps 4
// CHECK:           tile.phase_wait %[[READY]]
// CHECK-NOT:       tile.phase_wait
// CHECK:           tile.phase_arrive %[[READ]]
// CHECK:           tile.phase_arrive %[[DONE]]
// CHECK:         tile.role first 12 warps 4
// CHECK:           tile.phase_wait %[[READY]]
// CHECK-NEXT:      tile.phase_wait %[[READ]]
// CHECK:           tile.wgmma
// CHECK:           tile.phase_arrive %[[DONE]]
// MMA-LABEL: tile.program @stages(
// REGISTERS-LABEL: tile.program @stages(
// TYPES-LABEL: tile.program @stages(
// FEWER-LABEL: tile.program @stages(
larc.recurrence @stages(%q[K], %k[K], %v[V], %m[M]) state(%S[K, M], %T[M, V])
    -> (o[V]) dims(K = 64, V = 64, M = 64) {
  %o = larc.contract %T, %m over M
  larc.yield %S, %T, %o
}
chunk.scan @stages size 16
    tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 64, V = 64, M = 64)
    operands(%q[K], %k[K], %v[V], %m[M])
    states(%S[K, M]: diagonal, %T[M, V]: diagonal) {
  %past = larc.contract %q, %S over K
  %A = chunk.scores %q, %k over K token to source
  %read = chunk.mix %A, %m token to source init(%past)
  %reader = larc.sigmoid %read
  %later = larc.contract %reader, %T over M
  %B = chunk.scores %reader, %m over M token to source
  %o = chunk.mix %B, %v token to source init(%later)
  %n = chunk.update %S over token keys(%k) values(%m)
  %w = chunk.update %T over token keys(%m) values(%v)
  chunk.yield %n, %w, %o
}

// -----

// What a token reads of itself, decayed by nothing, belongs to the mix: scores
// have their diagonal, and the products of all decays up to the reading token
// multiply the sum. No decay and no value of a token is needed by itself.
// CHECK-LABEL: tile.program @whole(
// CHECK-SAME:    !tile.global<?x16xbf16>{{.+}}!tile.global<?x16xbf16>{{.+}}%[[V:[^:]+]]: !tile.global<?x16xbf16> {{[^%]+}}%[[G:[^:]+]]: !tile.global<?x16xbf16>
// CHECK:         tile.role first 8 warps 8
// CHECK-COUNT-4:   tile.mma
// CHECK-NOT:       tile.mma
// CHECK:           %[[PRODUCTS:.+]] = tile.load %{{.+}} : !tile.shared<64x16xf32, pad = 4> -> <16x16xf32, acc>
// CHECK:           %[[EXACTLY:.+]] = tile.vote any
// CHECK:           scf.if %[[EXACTLY]]
// Tokens with themselves, and pairs of blocks of 1, 2, 4 and 8.
// CHECK-COUNT-9:     tile.mma
// CHECK-NOT:         tile.mma
// CHECK:             tile.concat
// CHECK:           } else {
// CHECK-NEXT:        tile.stage
// CHECK:             %[[ALL:.+]] = tile.mma
// CHECK-NEXT:        tile.map ({{.+}} = %[[ALL]], {{.+}} = %[[PRODUCTS]])
// CHECK-NOT:       math.exp
// CHECK:         tile.return
// MMA-LABEL: tile.program @whole(
// REGISTERS-LABEL: tile.program @whole(
// TYPES-LABEL: tile.program @whole(
// FEWER-LABEL: tile.program @whole(
larc.recurrence @whole(%q[K], %k[K], %v[V], %g[V]: gate) state(%S[K, V])
    -> (o[V]) dims(K = 16, V = 16) {
  %a = larc.exp %g
  %d = larc.mul %a, %S
  %w = larc.mul %k, %v
  %n = larc.add %d, %w
  %o = larc.contract %n, %q over K
  larc.yield %n, %o
}
chunk.scan @whole size 16
    tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16)
    operands(%q[K], %k[K], %v[V], %g[V])
    states(%S[K, V]: diagonal) {
  %a = larc.exp %g
  %before = chunk.cumulate product %a over token exclusive
  %read = larc.contract %q, %S over K
  %past = larc.mul %read, %before
  %A = chunk.scores %q, %k over K token to source
  %mixed = chunk.mix %A, %v token to source decay(%a) init(%past)
  %decayed = larc.mul %mixed, %a
  %self = larc.contract %q, %k over K
  %own = larc.mul %self, %v
  %o = larc.add %decayed, %own
  %after = chunk.cumulate product %a over token backward exclusive
  %all = chunk.total product %a over token
  %value = larc.mul %v, %after
  %n = chunk.update %S over token decay(%all) keys(%k) values(%value)
  chunk.yield %n, %o
}

// -----

// The warps of a stage do not wait for each other to sum up what only the next
// one takes: they write what each has, and that one adds it. It multiplies with
// it in the end.
// CHECK-LABEL: tile.program @partial(
// CHECK:         %[[PARTS:.+]] = tile.alloc : <4x16xf32, stages = {{[0-9]+}}>
// CHECK:         tile.role first 8 warps 4
// CHECK-NOT:       tile.barrier
// CHECK:           %[[NOW:.+]] = tile.stage %[[PARTS]]
// CHECK:           %[[OWN:.+]] = tile.reduce sum %{{.+}} along rows : <16x16xf32, acc>
// CHECK:           tile.store %[[OWN]], %[[NOW]][
// CHECK-NOT:       tile.barrier
// CHECK:         tile.role first 12 warps 4
// CHECK:           tile.phase_wait
// CHECK:           tile.mma
// CHECK:           tile.barrier
// CHECK:           %[[MIXED:.+]] = tile.mma
// CHECK:           %[[NOW:.+]] = tile.stage %[[PARTS]]
// CHECK:           %[[ALL:.+]] = tile.load %[[NOW]]{{.+}} -> <4x16xf32
// CHECK:           %[[SUM:.+]] = tile.reduce sum %[[ALL]] along rows
// CHECK:           %[[SHARE:.+]] = tile.map ({{.+}} = %[[SUM]])
// CHECK:           tile.map ({{.+}} = %[[MIXED]], {{.+}} = %[[SHARE]])
// MMA-LABEL: tile.program @partial(
// REGISTERS-LABEL: tile.program @partial(
// TYPES-LABEL: tile.program @partial(
// FEWER-LABEL: tile.program @partial(
larc.recurrence @partial(%q[K], %k[K], %v[V], %m[M]) state(%S[K, M], %T[M, V])
    -> (o[V]) dims(K = 16, V = 16, M = 16) {
  %o = larc.contract %T, %m over M
  larc.yield %S, %T, %o
}
chunk.scan @partial size 16
    tokens(token from 0 size 16, source from 0 size 16)
    dims(K = 16, V = 16, M = 16)
    operands(%q[K], %k[K], %v[V], %m[M])
    states(%S[K, M]: diagonal, %T[M, V]: diagonal) {
  %past = larc.contract %q, %S over K
  %A = chunk.scores %q, %k over K token to source
  %read = chunk.mix %A, %m token to source init(%past)
  %weight = larc.sigmoid %read
  %sum = larc.reduce sum %weight over M
  %share = larc.reciprocal %sum
  %reader = larc.mul %weight, %share
  %later = larc.contract %reader, %T over M
  %B = chunk.scores %reader, %m over M token to source
  %o = chunk.mix %B, %v token to source init(%later)
  %n = chunk.update %S over token keys(%k) values(%m)
  %w = chunk.update %T over token keys(%m) values(%v)
  chunk.yield %n, %w, %o
}
