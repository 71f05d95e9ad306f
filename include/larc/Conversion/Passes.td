//===- Passes.td - Conversions from the larc dialect -*- tablegen -*- -----===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_CONVERSION_PASSES_TD
#define LARC_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

class Larc_RecurrentPass<string argument> : Pass<argument, "::mlir::ModuleOp"> {
  let options = [
    Option<"computeType", "compute-type", "std::string", "\"f32\"",
           "type of states and of all arithmetic: f32 or f64">,
    ListOption<"operandTypes", "operand-types", "std::string",
               "element type of each token operand; the compute type if not given">,
    ListOption<"constantTypes", "constant-types", "std::string",
               "element type of each constant; the compute type if not given">,
    ListOption<"outputTypes", "output-types", "std::string",
               "element type of each output; the compute type if not given">,
    Option<"vectorBits", "vector-bits", "unsigned", "512", "bits of a vector register">,
    Option<"cacheBytes", "cache-bytes", "unsigned", "36864",
           "bytes of state that stay in the innermost cache">,
    Option<"blockColumns", "block-columns", "unsigned", "0",
           "columns of a task's block at most; 0: by cache-bytes, and in the chunk form all">
  ];
}

def ConvertLarcToLoops : Larc_RecurrentPass<"convert-larc-to-loops"> {
  let summary = "makes the token loop of one head";
  let description = [{
    Adds, for the module's recurrence (flat, bound, grouped into nests), the function
    `@NAME_tokens`: a loop over the tokens of one head of one sequence on buffers, with
    each `larc.nest` as a loop nest over vectors. The recurrence stays, for the pass that makes
    the entry point.

    Values that nests hand on lie in scratch memory at fixed offsets; a state's new value is
    written over the old one where nothing reads that any more. Where all states, all
    outputs and all arithmetic over several axes have an axis that nothing sums over, the function works on a block
    of that axis, small enough for the states to stay in cache.

    Arguments: the number of tokens, the position of the first one, then for each operand,
    constant and output its memory and token stride, for each state and each anchored
    state its buffer, and the scratch memory.
  }];
  let dependentDialects = [
    "::larc::LarcDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::vector::VectorDialect"];
}

def ConvertChunkToLoops : Larc_RecurrentPass<"convert-chunk-to-loops"> {
  let summary = "makes the loop over chunks of one head";
  let description = [{
    Adds, for the module's recurrence and its `chunk.scan` (both grouped into nests), the function
    `@NAME_tokens` with the arguments that `convert-larc-to-loops` gives it: a loop over chunks of
    the tokens of one head. Rows of operands are copied into scratch memory in the compute type, outputs
    copied back from it.

    Products of matrices and sums weighted by scores become loops over tiles of registers; elementwise
    operations and small reductions loop nests over vectors. Tokens that a chunk lacks are left out of sums over
    tokens, and what is computed for a token depends neither on their number nor on later tokens.
    Values lie in scratch memory at fixed offsets, from where they are made to where they
    are last read. A state is updated in place where nothing reads the old one later.
  }];
  let dependentDialects = [
    "::larc::LarcDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::vector::VectorDialect"];
}

def EmitEntry : Larc_RecurrentPass<"larc-emit-entry"> {
  let summary = "makes the C entry point of a recurrence";
  let description = [{
    Adds `larc_NAME(call, first, last, scratch)`, which runs tasks (sequence, head, block of
    columns) of a call described by the structures of `larc/Runtime/Recurrent.h`, and the
    constants `larc_NAME_scratch_bytes` and `larc_NAME_blocks`; removes the recurrence.
    The entry point prepares the states (copies, initial values, the block in cache for long
    sequences), calls `@NAME_tokens`, and stores the final ones.
  }];
  let dependentDialects = [
    "::larc::LarcDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def DeriveChunk : Pass<"derive-chunk", "::mlir::ModuleOp"> {
  let summary = "derives the program of a chunk from that of a token";
  let description = [{
    Adds a `chunk.scan` to the module's recurrence (flat and bound), which stays; with `prepare` it
    is first brought into the form that the analysis reads. The transition analysis puts each state's update
    into a normal form; from it follow the reads of all tokens as matrix products, and from these
    whatever the step makes of them. A recurrence with a state that nothing is known about gets a
    loop over tokens for the operations concerned, and a remark that says why; so there is a chunk form
    for every recurrence.

    The step

    ```mlir
    %decayed = larc.mul %a, %S
    %write = larc.mul %k, %v
    %next = larc.add %decayed, %write
    %o = larc.contract %next, %q over K
    ```

    becomes, among others,

    ```mlir
    %past = larc.contract %decayed_query, %S over K
    %A = chunk.scores %query, %k over K token to source decay(%a) diagonal(%qk)
    %o = chunk.mix %A, %v token to source init(%past)
    ```
  }];
  let options = [Option<"chunkSize", "chunk-size", "int64_t", "16",
                        "tokens of a chunk at most; a period cuts it">,
                 Option<"prepare", "prepare", "bool", "true",
                        "decompose, unroll, distribute and factor first">];
  let dependentDialects = ["::larc::LarcDialect", "::larc::chunk::ChunkDialect"];
}

def ExpandVectorMath : Pass<"larc-expand-vector-math"> {
  let summary = "replaces functions on f32 and f64 by polynomials";
  let description = [{
    Rewrites `math` functions on f32 and f64, scalars and vectors of any shape, to arithmetic without branches, within 3
    units in the last place: in both types `exp`, `expm1`, `tanh`, and `log1p` of e^-|x| (as `softplus` and
    its like have it), in f32 also `log`, `log1p` and `erf`. In f32, where `exp` has denormal results, they become 0. All that
    remain become calls of the C library's functions, element by element.

    ```mlir
    %y = math.exp %x : vector<16xf32>
    // becomes n = round(x / ln(2)), r = x - n ln(2), and 2^n P(r):
    %0 = arith.mulf %x, %cst : vector<16xf32>
    %n = math.roundeven %0 : vector<16xf32>
    %1 = math.fma %n, %cst_0, %x : vector<16xf32>
    %r = math.fma %n, %cst_1, %1 : vector<16xf32>
    ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::math::MathDialect", "::mlir::vector::VectorDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

def OutlineLoops : Pass<"larc-outline-loops", "::mlir::ModuleOp"> {
  let summary = "makes functions of the loops of long programs";
  let description = [{
    In every function of at least `least-program` operations, each loop of at least `least-loop`
    operations becomes a call of a function. Loops are taken from where most of the function is: from the body of the loop
    over chunks. Those that differ only in the values that they use from outside share one function; constants
    are no such values.

    A function is compiled in a time that grows faster than its length, so this bounds what a
    chunk of many blocks costs. Functions are not inlined.

    ```mlir
    %0 = memref.view %scratch[%c0][] : memref<?xi8> to memref<16x32xf32>
    scf.for %i = %c0_0 to %n step %c1 { ... %0 ... }
    // becomes
    func.call @NAME_tokens_part(%n, %0) : (index, memref<16x32xf32>) -> ()
    ```
  }];
  let options = [
    Option<"leastProgram", "least-program", "int64_t", "4096",
           "operations of a function whose loops become functions, at least">,
    Option<"leastLoop", "least-loop", "int64_t", "16",
           "operations of a loop that becomes a function, at least">];
  let statistics = [
    Statistic<"numLoops", "loops", "loops that became calls">,
    Statistic<"numFunctions", "functions", "functions made">];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect"];
}

def CountWork : Pass<"larc-count-work", "::mlir::ModuleOp"> {
  let summary = "prints what a program makes a processor do";
  let description = [{
    Prints, to standard output, the counts of each kind of work in a task, a chunk, a token and a pair of
    tokens, from which the cost model predicts times (docs/cost-model.md). The recurrences must be bound and in
    nests; of one with a `chunk.scan` the scan's work is counted.
  }];
  let options = [
    Option<"computeType", "compute-type", "std::string", [{"f32"}],
           "f32 or f64">,
    Option<"vectorBits", "vector-bits", "unsigned", "512",
           "bits of a vector register">];
}

def ConvertRecurrenceToTile : Pass<"convert-recurrence-to-tile", "::mlir::ModuleOp"> {
  let summary = "makes the token loop of a head as a tile program";
  let description = [{
    Replaces each recurrence (flat, bound, decomposed; nests are seen through) by a `tile.program` of the same name:
    a loop over the tokens of one head that reads every state once into registers and writes it once. Its
    arguments are the operands, constants, outputs, initial states, final states, initial anchors and final
    anchors, in order of declaration. A final state may be the same memory as the initial one. A state that
    starts at a number is one row of it, with a distance of 0 between rows.

    Every axis gets a place: along the rows of tiles, which the warps share out, along their columns, or, where
    three axes meet in one sum, a loop of its own. All tiles repeat one cell. What is beyond an axis' size is loaded
    as zero, left out of reductions, and not stored.

    Parts, warps, the cell and how many blocks share a multiprocessor are chosen together. The states of a head are cut by
    independent columns into parts of at most 32 KB; two blocks or more then share the registers of a
    multiprocessor, so that the states of one are on their way while another computes. Of the schedules in order of preference
    the first is taken whose live tiles fit the registers of a lane. Where none does, the recurrence is refused with
    what the best of them needs.

    ```mlir
    %decayed = larc.mul %a, %S
    %write = larc.mul %k, %v
    %next = larc.add %decayed, %write
    %o = larc.contract %next, %q over K
    ```

    becomes, with K along rows and 8 warps,

    ```mlir
    %next = tile.map (%0 = %a, %1 = %S, %2 = %k, %3 = %v) : ... { ... }
    %products = tile.map (%0 = %next, %1 = %q) : ... { ... }
    %partial = tile.reduce sum %products along rows : !tile.reg<16x128xf32, ...>
    tile.store %partial, %exchange[%warp, %c0] : ...
    tile.barrier
    %partials = tile.load %exchange[%c0, %c0] : ...
    %o = tile.reduce sum %partials along rows : !tile.reg<8x128xf32, ...>
    ```
  }];
  let options = [
    Option<"stateType", "state-type", "std::string", "\"f32\"",
           "element type of states in memory: f32, bf16 or f16">,
    ListOption<"operandTypes", "operand-types", "std::string",
               "element type of each token operand; f32 if not given">,
    ListOption<"constantTypes", "constant-types", "std::string",
               "element type of each constant; f32 if not given">,
    ListOption<"outputTypes", "output-types", "std::string",
               "element type of each output; f32 if not given">,
    Option<"parts", "parts", "int64_t", "0",
           "blocks at most over which independent columns of a head are divided; 0: by the size of its states">,
    Option<"spareRegisters", "spare-registers", "int64_t", "0",
           "registers of a lane that a schedule shall leave free, if there is one that does">];
  let dependentDialects = ["::larc::tile::TileDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
}

def ConvertChunkToTile : Pass<"convert-chunk-to-tile", "::mlir::ModuleOp"> {
  let summary = "makes tile programs of the scans of states with diagonal transitions";
  let description = [{
    A `chunk.scan` becomes the program of one sequence and head. Its warps have roles:

    - four (one, without `wgmma`) copy operands to shared memory, some chunks ahead; with `copies=bulk` one of the four has the
      copy unit do that, where rows of all operands with channels are multiples of 16 bytes;
    - those of the first role compute what does not depend on any state (products of decays, scaled keys and readers,
      scores). Each has chunks of its own and does them by itself, 16 channels at a time, or 32 of chunks of 16 tokens; tokens lie along rows of
      register tiles;
    - those of the second hold the states in their registers, read them, mix, and update them. Tokens lie along columns,
      and channels, divided among the warps, along rows. A state that is read by what depends on another has a role of
      its own, after that of the other.

    States without rows that a `chunk.tokens` carries, by `larc.max`, `larc.min` or `larc.logaddexp` of what is carried, shifted, and
    what is computed from operands element by element, are scanned by the first role before all else. What they are after a chunk
    goes from warp to warp.

    All that goes from role to role lies in rings of one number of stages. The roles meet at phases, of which there are three
    for each stage: the operands have landed, what crosses is ready, all is done. What crosses lies over operands that only the
    first role reads, where there are such.

    Products over decays that are exponentials are made of sums where these are bounded; else of the factors themselves,
    which go from blocks of 1, 2, 4, ... tokens to blocks twice as long. A warp votes on that for the channels that it takes at a time.

    A block has room for 128 rows of a state (values: what no read sums), and for 64 where more than 128 columns are summed, which
    two times four warps then divide. If there are more, `parts` blocks divide them, and each does all that lies along other axes for itself.
    That takes states and outputs all of which have those values, and nothing that sums over them.

    With `segments`, a second program `@NAME_segments`, whose first role has eight warps, two to a chunk, where registers are not divided by request, computes what each segment of a sequence does to a state of
    zeros, a third `@NAME_compose` makes of these the states at the starts of segments, and `@NAME` does a segment.

    What does not have this form is an error: states that are read otherwise than by a contraction over one axis, transitions that
    are not diagonal, `segments` of what is scanned, and what needs more registers or shared memory than there are.

    ```mlir
    %A = chunk.scores %q, %k over K token to source decay(%a) diagonal(%own)
    %o = chunk.mix %A, %v token to source init(%past)
    ```

    becomes

    ```mlir
    tile.role first 0 warps 4 registers 48 {
      ...
      tile.copy_async %q[%first, %c0] below %end to %operand : ...
      tile.phase_arrive %landed[%stage] : ...
    }
    tile.role first 4 warps 4 registers 160 {
      ...
      tile.phase_wait %landed[%stage] parity %parity : ...
      %scores = tile.mma_rows %reader, %writer, %sums : ...
      tile.store %masked, %A[%row, %col] : ...
      tile.phase_arrive %ready[%stage] : ...
    }
    tile.role first 8 warps 8 registers 152 {
      ...
      tile.phase_wait %ready[%stage] parity %parity : ...
      %past = tile.wgmma %zeros, %S, %reader[%c0, %c0] transposed : ...
      %o = tile.wgmma %past, %v, %A[%c0, %c0] transposed : ...
      tile.phase_arrive %done[%stage] : ...
    }
    ```
  }];
  let options = [
    ListOption<"operandTypes", "operand-types", "std::string",
               "element type of each token operand: bf16 (if not given) or f32">,
    ListOption<"constantTypes", "constant-types", "std::string",
               "element type of each constant; f32 if not given">,
    ListOption<"outputTypes", "output-types", "std::string",
               "element type of each output; bf16 if not given">,
    Option<"matrixUnit", "matrix-unit", "std::string", "\"wgmma\"",
           "how the states' products are made: wgmma or mma">,
    Option<"stages", "stages", "int64_t", "0",
           "chunks in shared memory at a time, of operands and of what goes from role to role; 0: as many as fit, from 2 to 8">,
    Option<"sharedBytes", "shared-bytes", "int64_t", "232448",
           "bytes of shared memory that a block may have">,
    Option<"factorRegisters", "factor-registers", "int64_t", "0",
           "registers of a lane of the first role; 0: by the number of roles with states">,
    Option<"copies", "copies", "std::string", "\"async\"",
           "how operands come to shared memory: async (by warps) or bulk (by the copy unit, with tensor maps)">,
    Option<"segments", "segments", "bool", "false",
           "divide sequences into segments">,
    Option<"parts", "parts", "int64_t", "0",
           "thread blocks that divide the values of a head; 0: as few as have room">];
  let dependentDialects = ["::larc::tile::TileDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
}

def ConvertTileToLLVM : Pass<"convert-tile-to-llvm", "::mlir::ModuleOp"> {
  let summary = "makes a kernel of each tile program";
  let description = [{
    Each `tile.program` becomes an `llvm.func` with the attribute `nvvm.kernel`. A register of a register tile
    becomes a value of one lane (two 16-bit ones share a vector of two), shared matrices get their places in the dynamic
    shared memory, whose size is the kernel's attribute `larc.shared_bytes`, and instructions are chosen by the layouts:
    `ldmatrix` and `stmatrix` where pairs of registers are 8x8 matrices, vectors of up to 16 bytes elsewhere. GPUs of compute capabilities
    below 9.0 have no `stmatrix`, and look at barriers in shared memory again and again instead of sleeping there. Those barriers are made ready
    by the block's first thread when the kernel starts.

    Control flow and index arithmetic are left in `scf` and `arith`, and functions in `math`.

    The kernel takes, in this order: offsets of packed sequences in tokens (i64, one more than sequences; or null), slots of
    states (i32 for each sequence; or null), tokens that each sequence had before (i64; or null), the tokens of a sequence where none are packed (i64), the heads (i32); then for each
    argument of the program a pointer, the distances in elements between sequences (or slots), rows and heads (i64), and how
    many heads share one head of the tensor (i32); and where the program is segmented, at last the segments of each
    sequence (i32) and a pointer to memory for the scratch argument, of which every segment of every sequence and head has as
    many elements as its type. Its grid has sequences * heads * segments * parts blocks in a row, parts
    running fastest. A block whose slot is negative does nothing.

    After all these come, for each argument with `tile.box_rows`, two tensor maps (128 bytes each, at multiples of 64): of boxes of
    so many tokens and 128 bytes of channels with a swizzle of 128, and the same with boxes of one token, which need not be filled in where no sequences are
    packed. Their dimensions are channels, heads, tokens and sequences, with the distances of the argument; one with a
    distance of 0 has an extent of 1.

    From compute capability 9.0 on, segmented kernels that run one after the other may be launched to overlap (programmatic
    dependent launches): one that stores to scratch memory lets the next start, and what reads scratch memory or writes to other
    tensors, roles each for themselves, first waits until the kernels before have ended.
  }];
  let options = [Option<"computeCapability", "compute-capability", "unsigned", "90",
                        "the GPU's compute capability: 90 is 9.0">,
                 Option<"laneArrivals", "lane-arrivals", "bool", "false",
                        "every lane arrives at a phase, for tools that do not know what a warp has agreed on">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect"];
}

def ExpandKernelMath : Pass<"larc-expand-kernel-math"> {
  let summary = "replaces functions on f32 by a GPU's instructions";
  let description = [{
    `exp2` becomes the special-function unit's instruction, and `exp` that instruction with what rounding the
    argument's product with log2(e) loses put back. `rsqrt` is the unit's too, and `log1p` with the fast-math flag
    `afn`, as `exp` with it is the instruction alone. The others become the polynomials
    of `larc-expand-vector-math`. Denormal results of exponentials are 0. What there is no instruction for is an
    error.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect"];
}

#endif // LARC_CONVERSION_PASSES_TD
