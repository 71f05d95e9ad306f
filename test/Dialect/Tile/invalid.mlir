// RUN: larc-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expected 1 to 32 warps, found 0}}
tile.program @warps() warps 0 {
  tile.return
}

// -----

// expected-error @below {{expected at least one part, found 0}}
tile.program @parts() warps 1 parts 0 {
  tile.return
}

// -----

// expected-error @below {{expected resident blocks of 64 warps in all, found 3 of 32}}
tile.program @resident() warps 32 resident 3 {
  tile.return
}

// -----

// expected-error @below {{expected roles of at most 2016 registers for a lane of every warp, found 2048}}
tile.program @registers() warps 12 {
  tile.role first 0 warps 4 registers 128 {
  }
  tile.role first 4 warps 8 registers 192 {
  }
  tile.return
}

// -----

// expected-error @below {{a program has no results}}
tile.program @results() -> f32 warps 1 {
  tile.return
}

// -----

// expected-error @below {{expected argument 0 to be a matrix in global memory, found 'f32'}}
tile.program @argument(%x: f32) warps 1 {
  tile.return
}

// -----

// expected-error @below {{argument 0 does not say what it is: it needs a 'tile.argument'}}
tile.program @kind(%x: !tile.global<4x4xf32>) warps 1 {
  tile.return
}

// -----

// expected-error @below {{expected acc, lhs, rhs, lhs32, rhs32 or a lane map, found 'diagonal'}}
func.func private @name(!tile.reg<16x8xf32, diagonal>)

// -----

// expected-error @below {{expected a row and a column for each of 5 lane bits, found 4 numbers}}
func.func private @lanes(!tile.reg<16x8xf32, lane = [0, 1, 0, 2], register = []>)

// -----

// expected-error @below {{expected a row and a column for each register bit, found 1 numbers}}
func.func private @registers(!tile.reg<16x8xf32, lane = [0, 1, 0, 2, 1, 0, 2, 0, 4, 0], register = [8]>)

// -----

// expected-error @below {{expected a bit to move by a power of two along one dimension, found (1, 1)}}
func.func private @diagonal(!tile.reg<16x8xf32, lane = [1, 1, 0, 2, 1, 0, 2, 0, 4, 0], register = []>)

// -----

// expected-error @below {{expected a bit to move by a power of two along one dimension, found (0, 3)}}
func.func private @three(!tile.reg<16x8xf32, lane = [0, 3, 0, 2, 1, 0, 2, 0, 4, 0], register = []>)

// -----

// expected-error @below {{expected a bit to move by a power of two along one dimension, found (0, 0)}}
func.func private @idle(!tile.reg<16x8xf32, lane = [0, 1, 0, 2, 1, 0, 2, 0, 4, 0], register = [0, 0]>)

// -----

// expected-error @below {{no bit, or more than one, moves by 1 along the columns}}
func.func private @gap(!tile.reg<8x8xf32, lane = [0, 2, 0, 4, 1, 0, 2, 0, 4, 0], register = []>)

// -----

// expected-error @below {{no bit, or more than one, moves by 2 along the rows}}
func.func private @twice(!tile.reg<8x8xf32, lane = [0, 1, 0, 2, 1, 0, 1, 0, 4, 0], register = []>)

// -----

// expected-error @below {{a tile of 16x12 is not made of the layout's cells of 16x8}}
func.func private @cells(!tile.reg<16x12xf32, acc>)

// -----

// expected-error @below {{expected elements of type bf16, f16, f32, f64, i32 or i64, or i1, found 'i8'}}
func.func private @element(!tile.reg<16x8xi8, acc>)

// -----

// expected-error @below {{expected elements of type bf16, f16, f32, f64, i32 or i64, found 'i1'}}
func.func private @predicate(!tile.shared<16x8xi1>)

// -----

// expected-error @below {{expected two extents, found 3}}
func.func private @extents(!tile.shared<2x16x8xf32>)

// -----

// expected-error @below {{expected positive extents, found 0x8}}
func.func private @empty(!tile.shared<0x8xf32>)

// -----

// expected-error @below {{expected a swizzle of 32, 64 or 128 bytes, found 96}}
func.func private @swizzle(!tile.shared<16x64xf32, swizzle = 96>)

// -----

// expected-error @below {{a swizzled matrix has no padding}}
func.func private @padding(!tile.shared<16x64xf32, swizzle = 128, pad = 8>)

// -----

// expected-error @below {{a swizzled matrix has a multiple of 8 rows, found 12}}
func.func private @rows(!tile.shared<12x64xf32, swizzle = 128>)

// -----

// expected-error @below {{expected no negative padding and at least one stage}}
func.func private @stages(!tile.shared<16x64xf32, stages = 0>)

// -----

// expected-error @below {{expected swizzle, pad or stages, found 'depth'}}
func.func private @parameter(!tile.shared<16x64xf32, depth = 2>)

// -----

// expected-error @below {{expected float32 accumulators, found '!tile.reg<16x16xbf16, lhs>'}}
func.func private @flight(!tile.flight<16x16xbf16, lhs>)

// -----

tile.program @alloc() warps 1 {
  // expected-error @below {{expected an offset that is a multiple of 1024, found 16}}
  %s = tile.alloc at 16 : !tile.shared<16x64xf32, swizzle = 128>
  tile.return
}

// -----

tile.program @load(%x: !tile.global<?x64xf32> {tile.argument = #tile.argument<operand>}) warps 1 {
  %zero = arith.constant 0 : index
  // expected-error @below {{expected elements of type 'f32', found 'bf16'}}
  %a = tile.load %x[%zero, %zero] : !tile.global<?x64xf32> -> !tile.reg<16x16xbf16, lhs>
  tile.return
}

// -----

tile.program @store(%x: !tile.reg<16x8xf32, acc>) warps 1 {
  tile.return
}
// expected-error @-3 {{expected argument 0 to be a matrix in global memory}}

// -----

tile.program @ring() warps 1 {
  %zero = arith.constant 0 : index
  %s = tile.alloc : !tile.shared<16x64xf32, stages = 2>
  // expected-error @below {{expected one stage of the ring}}
  %a = tile.load %s[%zero, %zero] : !tile.shared<16x64xf32, stages = 2> -> !tile.reg<16x8xf32, acc>
  tile.return
}

// -----

tile.program @copy(%x: !tile.global<?x64xf32> {tile.argument = #tile.argument<operand>}) warps 1 {
  %zero = arith.constant 0 : index
  %s = tile.alloc : !tile.shared<16x64xbf16>
  // expected-error @below {{expected elements of type 'f32', found 'bf16'}}
  tile.copy_async %x[%zero, %zero] below %zero to %s : !tile.global<?x64xf32>, !tile.shared<16x64xbf16>
  tile.return
}

// -----

tile.program @copy_ring(%x: !tile.global<?x64xf32> {tile.argument = #tile.argument<operand>}) warps 1 {
  %zero = arith.constant 0 : index
  %s = tile.alloc : !tile.shared<16x64xf32, stages = 2>
  // expected-error @below {{expected one stage of the ring}}
  tile.copy_async %x[%zero, %zero] below %zero to %s : !tile.global<?x64xf32>, !tile.shared<16x64xf32, stages = 2>
  tile.return
}

// -----

tile.program @copy_odd(%x: !tile.global<?x3xbf16> {tile.argument = #tile.argument<operand>}) warps 1 {
  %zero = arith.constant 0 : index
  %s = tile.alloc : !tile.shared<16x3xbf16>
  // expected-error @below {{expected rows of a multiple of 4 bytes}}
  tile.copy_async %x[%zero, %zero] below %zero to %s : !tile.global<?x3xbf16>, !tile.shared<16x3xbf16>
  tile.return
}

// -----

tile.program @barrier() warps 4 {
  // expected-error @below {{a barrier with an id has a number of warps}}
  "tile.barrier"() {warps = 4 : i64} : () -> ()
  tile.return
}

// -----

tile.program @barrier_of_none() warps 4 {
  %id = arith.constant 1 : index
  // expected-error @below {{expected at least one warp, found 0}}
  tile.barrier id %id warps 0
  tile.return
}

// -----

tile.program @vote() warps 4 {
  %c = arith.constant 0.0 : f32
  %x = tile.splat %c : !tile.reg<16x8xf32, acc>
  // expected-error @below {{expected a predicate, found '!tile.reg<16x8xf32, acc>'}}
  %v = tile.vote any %x : !tile.reg<16x8xf32, acc>
  tile.return
}

// -----

tile.program @index() warps 4 {
  // expected-error @below {{expected one i32 for each of the rows, found '!tile.reg<16x8xi32, acc>'}}
  %x = tile.index rows : !tile.reg<16x8xi32, acc>
  tile.return
}

// -----

tile.program @map_shapes() warps 4 {
  %c = arith.constant 0.0 : f32
  %x = tile.splat %c : !tile.reg<16x8xf32, acc>
  // expected-error @below {{operand 0 of type '!tile.reg<16x8xf32, acc>' does not have its elements where those of '!tile.reg<16x16xf32, acc>' are}}
  %y = tile.map (%e = %x) : (!tile.reg<16x8xf32, acc>) -> !tile.reg<16x16xf32, acc> {
    tile.yield %e : f32
  }
  tile.return
}

// -----

tile.program @map_lanes() warps 4 {
  %c = arith.constant 0.0 : f32
  %x = tile.splat %c : !tile.reg<16x8xf32, rhs>
  // expected-error @below {{does not have its elements where those of '!tile.reg<16x8xf32, acc>' are}}
  %y = tile.map (%e = %x) : (!tile.reg<16x8xf32, rhs>) -> !tile.reg<16x8xf32, acc> {
    tile.yield %e : f32
  }
  tile.return
}

// -----

tile.program @map_nothing() warps 4 {
  // expected-error @below {{expected a result}}
  tile.map () : () -> () {
    tile.yield
  }
  tile.return
}

// -----

tile.program @map_results() warps 4 {
  %c = arith.constant 0.0 : f32
  %x = tile.splat %c : !tile.reg<16x8xf32, acc>
  // expected-error @below {{expected results of one shape and layout, found '!tile.reg<16x8xf32, acc>' and '!tile.reg<16x16xf32, acc>'}}
  %y:2 = tile.map (%e = %x) : (!tile.reg<16x8xf32, acc>) -> (!tile.reg<16x8xf32, acc>, !tile.reg<16x16xf32, acc>) {
    tile.yield %e, %e : f32, f32
  }
  tile.return
}

// -----

tile.program @map_arguments() warps 4 {
  %c = arith.constant 0.0 : f32
  %x = tile.splat %c : !tile.reg<16x8xf32, acc>
  // expected-error @below {{expected 1 region arguments, found 0}}
  %y = "tile.map"(%x) ({
    tile.yield %c : f32
  }) : (!tile.reg<16x8xf32, acc>) -> !tile.reg<16x8xf32, acc>
  tile.return
}

// -----

tile.program @map_argument() warps 4 {
  %c = arith.constant 0.0 : f32
  %x = tile.splat %c : !tile.reg<16x8xf32, acc>
  // expected-error @below {{expected a region argument of type 'f32', found 'i32'}}
  %y = "tile.map"(%x) ({
  ^bb0(%e: i32):
    tile.yield %c : f32
  }) : (!tile.reg<16x8xf32, acc>) -> !tile.reg<16x8xf32, acc>
  tile.return
}

// -----

tile.program @map_yields() warps 4 {
  %c = arith.constant 0.0 : f32
  %x = tile.splat %c : !tile.reg<16x8xf32, acc>
  // expected-error @below {{expected 1 elements to be yielded, found 2}}
  %y = tile.map (%e = %x) : (!tile.reg<16x8xf32, acc>) -> !tile.reg<16x8xf32, acc> {
    tile.yield %e, %e : f32, f32
  }
  tile.return
}

// -----

tile.program @map_yield() warps 4 {
  %c = arith.constant 0.0 : f32
  %x = tile.splat %c : !tile.reg<16x8xf32, acc>
  // expected-error @below {{expected an element of type 'bf16' to be yielded, found 'f32'}}
  %y = tile.map (%e = %x) : (!tile.reg<16x8xf32, acc>) -> !tile.reg<16x8xbf16, acc> {
    tile.yield %e : f32
  }
  tile.return
}

// -----

tile.program @map_effect() warps 4 {
  %c = arith.constant 0.0 : f32
  %x = tile.splat %c : !tile.reg<16x8xf32, acc>
  %y = tile.map (%e = %x) : (!tile.reg<16x8xf32, acc>) -> !tile.reg<16x8xf32, acc> {
    // expected-error @below {{is not an operation on scalars without effects}}
    tile.barrier
    tile.yield %e : f32
  }
  tile.return
}

// -----

tile.program @reduce() warps 4 {
  %c = arith.constant 0 : i32
  %x = tile.splat %c : !tile.reg<16x8xi32, acc>
  // expected-error @below {{expected floating-point elements, found '!tile.reg<16x8xi32, acc>'}}
  %y = tile.reduce sum %x along cols : !tile.reg<16x8xi32, acc>
  tile.return
}

// -----

tile.program @scan() warps 4 {
  %c = arith.constant 0 : i32
  %x = tile.splat %c : !tile.reg<16x8xi32, acc>
  // expected-error @below {{expected floating-point elements, found '!tile.reg<16x8xi32, acc>'}}
  %y = tile.scan sum %x along rows : !tile.reg<16x8xi32, acc>
  tile.return
}

// -----

tile.program @scan_block() warps 4 {
  %c = arith.constant 0.0 : f32
  %x = tile.splat %c : !tile.reg<16x8xf32, acc>
  // expected-error @below {{expected blocks of a power of two of at most 16 elements, found 12}}
  %y = tile.scan sum %x along rows block 12 : !tile.reg<16x8xf32, acc>
  tile.return
}

// -----

tile.program @scan_long_block() warps 4 {
  %c = arith.constant 0.0 : f32
  %x = tile.splat %c : !tile.reg<16x8xf32, acc>
  // expected-error @below {{expected blocks of a power of two of at most 8 elements, found 16}}
  %y = tile.scan sum %x along cols block 16 : !tile.reg<16x8xf32, acc>
  tile.return
}

// -----

tile.program @scan_no_block() warps 4 {
  %c = arith.constant 0.0 : f32
  %x = tile.splat %c : !tile.reg<16x8xf32, acc>
  // expected-error @below {{expected blocks of a power of two of at most 8 elements, found 0}}
  %y = tile.scan sum %x along cols block 0 : !tile.reg<16x8xf32, acc>
  tile.return
}

// -----

tile.program @convert_shape() warps 4 {
  %c = arith.constant 0.0 : f32
  %x = tile.splat %c : !tile.reg<16x8xf32, acc>
  // expected-error @below {{expected a tile of the same shape}}
  %y = tile.convert %x : !tile.reg<16x8xf32, acc> -> !tile.reg<16x16xf32, acc>
  tile.return
}

// -----

tile.program @convert_kind() warps 4 {
  %c = arith.constant 0.0 : f32
  %x = tile.splat %c : !tile.reg<16x8xf32, acc>
  // expected-error @below {{expected both element types to be floating-point types, or none}}
  %y = tile.convert %x : !tile.reg<16x8xf32, acc> -> !tile.reg<16x8xi32, acc>
  tile.return
}

// -----

tile.program @convert_lanes() warps 4 {
  %c = arith.constant 0.0 : f32
  %x = tile.splat %c : !tile.reg<16x8xf32, acc>
  // expected-error @below {{a lane of '!tile.reg<16x8xbf16, rhs>' needs elements that '!tile.reg<16x8xf32, acc>' has in other lanes}}
  %y = tile.convert %x : !tile.reg<16x8xf32, acc> -> !tile.reg<16x8xbf16, rhs>
  tile.return
}

// -----

tile.program @slice_type() warps 4 {
  %c = arith.constant 0.0 : f32
  %x = tile.splat %c : !tile.reg<16x16xf32, acc>
  // expected-error @below {{expected the same element type and layout}}
  %y = tile.slice %x[0, 0] : !tile.reg<16x16xf32, acc> -> !tile.reg<16x8xbf16, acc>
  tile.return
}

// -----

tile.program @slice_cell() warps 4 {
  %c = arith.constant 0.0 : f32
  %x = tile.splat %c : !tile.reg<16x16xf32, acc>
  // expected-error @below {{expected a slice to start at a cell of 16x8, found [0, 4]}}
  %y = tile.slice %x[0, 4] : !tile.reg<16x16xf32, acc> -> !tile.reg<16x8xf32, acc>
  tile.return
}

// -----

tile.program @slice_end() warps 4 {
  %c = arith.constant 0.0 : f32
  %x = tile.splat %c : !tile.reg<16x16xf32, acc>
  // expected-error @below {{the slice is not within '!tile.reg<16x16xf32, acc>'}}
  %y = tile.slice %x[0, 16] : !tile.reg<16x16xf32, acc> -> !tile.reg<16x8xf32, acc>
  tile.return
}

// -----

func.func @concat_type(%x: !tile.reg<16x8xf32, acc>, %y: !tile.reg<16x8xbf16, acc>) {
  // expected-error @below {{expected the same element type and layout, found '!tile.reg<16x8xf32, acc>' and '!tile.reg<16x8xbf16, acc>'}}
  %z = tile.concat %x, %y along cols : !tile.reg<16x8xf32, acc>, !tile.reg<16x8xbf16, acc>
  return
}

// -----

func.func @concat_rows(%x: !tile.reg<16x8xf32, acc>, %y: !tile.reg<32x8xf32, acc>) {
  // expected-error @below {{expected the same number of rows, found '!tile.reg<16x8xf32, acc>' and '!tile.reg<32x8xf32, acc>'}}
  %z = tile.concat %x, %y along cols : !tile.reg<16x8xf32, acc>, !tile.reg<32x8xf32, acc>
  return
}

// -----

func.func @concat_cols(%x: !tile.reg<16x8xf32, acc>, %y: !tile.reg<16x16xf32, acc>) {
  // expected-error @below {{expected the same number of cols, found '!tile.reg<16x8xf32, acc>' and '!tile.reg<16x16xf32, acc>'}}
  %z = tile.concat %x, %y along rows : !tile.reg<16x8xf32, acc>, !tile.reg<16x16xf32, acc>
  return
}

// -----

tile.program @role_warps() warps 4 {
  // expected-error @below {{expected warps of the program's 4, found 2 to 5}}
  tile.role first 2 warps 4 {
  }
  tile.return
}

// -----

tile.program @role_groups() warps 4 {
  // expected-error @below {{registers are given to groups of four warps}}
  tile.role first 0 warps 2 registers 40 {
  }
  tile.return
}

// -----

tile.program @role_registers() warps 4 {
  // expected-error @below {{expected 24 to 240 registers in steps of 8, found 36}}
  tile.role first 0 warps 4 registers 36 {
  }
  tile.return
}

// -----

tile.program @role_barrier() warps 4 {
  tile.role first 0 warps 4 {
    // expected-error @below {{the warps of a role meet at a barrier with an id}}
    tile.barrier
  }
  tile.return
}

// -----

tile.program @arrive() warps 4 {
  %id = arith.constant 1 : index
  // expected-error @below {{expected at least one warp, found 0}}
  tile.arrive id %id warps 0
  tile.return
}

// -----

tile.program @vote_among() warps 4 {
  %t = arith.constant true
  %id = arith.constant 1 : index
  %p = tile.splat %t : !tile.reg<16x8xi1, acc>
  // expected-error @below {{expected at least one warp, found 0}}
  %v = tile.vote any %p id %id warps 0 : !tile.reg<16x8xi1, acc>
  tile.return
}

// -----

// expected-error @below {{expected stages and warps, found 1 numbers}}
func.func private @phases(!tile.phases<6>)

// -----

// expected-error @below {{expected at least one stage, found 0}}
func.func private @no_stages(!tile.phases<0 x 8>)

// -----

// expected-error @below {{expected at least one warp, found 0}}
func.func private @no_warps(!tile.phases<6 x 0>)

// -----

// expected-error @below {{expected 'copies'}}
func.func private @not_copies(!tile.phases<6 x 8, loads>)

// -----

tile.program @phases_of_a_role() warps 4 {
  tile.role first 0 warps 4 {
    // expected-error @below {{expects parent op 'tile.program'}}
    %p = tile.alloc_phases : !tile.phases<6 x 4>
  }
  tile.return
}

// -----

func.func @distance_3(%x: !tile.reg<16x8xf32, acc>) {
  // expected-error @below {{expected a distance of a power of two below 16, found 3}}
  %y = tile.exchange %x along rows distance 3 : !tile.reg<16x8xf32, acc>
  return
}

// -----

func.func @distance_0(%x: !tile.reg<16x8xf32, acc>) {
  // expected-error @below {{expected a distance of a power of two below 16, found 0}}
  %y = tile.exchange %x along rows distance 0 : !tile.reg<16x8xf32, acc>
  return
}

// -----

func.func @distance_16(%x: !tile.reg<16x8xf32, acc>) {
  // expected-error @below {{expected a distance of a power of two below 16, found 16}}
  %y = tile.exchange %x along rows distance 16 : !tile.reg<16x8xf32, acc>
  return
}

// -----

func.func @distance_across(%x: !tile.reg<16x8xf32, acc>) {
  // expected-error @below {{expected a distance of a power of two below 8, found 8}}
  %y = tile.exchange %x along cols distance 8 : !tile.reg<16x8xf32, acc>
  return
}

// -----

func.func @distance_of_pairs(%x: !tile.reg<48x8xf32, acc>) {
  // expected-error @below {{expected a multiple of 32 rows, found 48}}
  %y = tile.exchange %x along rows distance 16 : !tile.reg<48x8xf32, acc>
  return
}

// -----

func.func @exchange_of(%x: !tile.reg<16x8xf64, acc>) {
  // expected-error @below {{expected elements of 16 or 32 bits, found '!tile.reg<16x8xf64, acc>'}}
  %y = tile.exchange %x along rows distance 1 : !tile.reg<16x8xf64, acc>
  return
}

// -----

func.func @pick_of(%x: !tile.reg<16x8xi1, acc>) {
  // expected-error @below {{expected elements of 16 or 32 bits, found '!tile.reg<16x8xi1, acc>'}}
  %y = tile.pick %x[0] along rows : !tile.reg<16x8xi1, acc>
  return
}

// -----

func.func @pick_row(%x: !tile.reg<16x8xf32, acc>) {
  // expected-error @below {{expected a number from 0 to 15, found 16}}
  %y = tile.pick %x[16] along rows : !tile.reg<16x8xf32, acc>
  return
}

// -----

func.func @pick_column(%x: !tile.reg<16x8xf32, acc>) {
  // expected-error @below {{expected a number from 0 to 7, found -1}}
  %y = tile.pick %x[-1] along cols : !tile.reg<16x8xf32, acc>
  return
}
