//===- ProgramEmitter.h - Kernels of tile programs -*- C++ -*- ------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes the kernel of a tile program: every register of a register tile becomes
// a value of one lane. Control flow and index arithmetic stay in the dialects
// scf and arith, and functions in math, for the conversions that exist.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_CONVERSION_TILETOLLVM_PROGRAMEMITTER_H
#define LARC_LIB_CONVERSION_TILETOLLVM_PROGRAMEMITTER_H

#include "larc/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace larc::tile {

/// The attribute of a kernel that gives its bytes of shared memory.
constexpr llvm::StringLiteral kSharedBytesAttrName = "larc.shared_bytes";

/// The first compute capability with `stmatrix` and barriers that warps sleep
/// at.
constexpr unsigned kHopper = 90;

using Values = llvm::SmallVector<mlir::Value>;

/// A matrix in global memory: element (row, col) is at base + row * stride +
/// col.
struct GlobalMatrix {
  mlir::Value base;      // !llvm.ptr<1>
  mlir::Value rowStride; // i64, in elements
};

/// Offsets that a lane adds to the place of an access, and which bits of the
/// column they may have set.
struct LaneOffsets {
  mlir::Value row, col; // index
  int64_t colBits = 0;
};

class ProgramEmitter {
public:
  /// For GPUs of a compute capability (90 is 9.0). With `laneArrivals` every
  /// lane arrives at a phase by itself, not one for its warp.
  ProgramEmitter(mlir::OpBuilder &builder, ProgramOp program,
                 unsigned computeCapability, bool laneArrivals)
      : builder(builder), program(program), loc(program.getLoc()),
        computeCapability(computeCapability), laneArrivals(laneArrivals) {}

  /// Adds the kernel at the builder's place. `shared` is the symbol of the
  /// module's dynamic shared memory.
  mlir::FailureOr<mlir::LLVM::LLVMFuncOp> emit(mlir::LLVM::GlobalOp shared);

  /// The kernel's parameter with the pointer of an argument that is a tensor;
  /// the distances of sequences, rows and heads, and heads that share one come
  /// after it.
  static unsigned getFirstParameter(unsigned argument);

private:
  // ProgramEmitter.cpp: the kernel and control flow.
  mlir::Value divideSmall(mlir::Value number, mlir::Value divisor);
  void bindGlobal(mlir::Value memory);
  /// Gives all shared matrices and barriers their places.
  void placeShared();
  mlir::Value readThread();
  void bindArguments(mlir::Block &entry);
  /// Element `at` of a list of the kernel's, or `otherwise` where the list is
  /// null.
  mlir::Value loadListed(mlir::Value list, mlir::Value at,
                         mlir::Value otherwise);
  mlir::LogicalResult emitBlock(mlir::Block &block);
  mlir::LogicalResult emitOperation(mlir::Operation *op);
  mlir::LogicalResult emitFor(mlir::scf::ForOp loop);
  mlir::LogicalResult emitIf(mlir::scf::IfOp branch);
  mlir::LogicalResult emitYield(mlir::scf::YieldOp yield);
  mlir::LogicalResult emitRole(RoleOp role);
  Values expand(mlir::ValueRange values);
  void expandTypes(mlir::TypeRange types,
                   llvm::SmallVectorImpl<mlir::Type> &expanded);
  void bind(mlir::ValueRange values, mlir::ValueRange expanded);

  // RegisterOps.cpp: what happens within a warp's registers.
  void emitSplat(SplatOp op);
  void emitIndex(IndexOp op);
  void emitMap(MapOp op);
  void emitReduce(ReduceOp op);
  void emitScan(ScanOp op);
  void emitExchange(ExchangeOp op);
  void emitPick(PickOp op);
  mlir::Value extendFloat(mlir::Value value, mlir::Type element);
  void emitConvert(ConvertOp op);
  void emitSlice(SliceOp op);
  void emitConcat(ConcatOp op);
  mlir::Value combine(CombineKind kind, mlir::Value lhs, mlir::Value rhs);
  mlir::Value getNeutral(CombineKind kind, mlir::Type type);
  /// The value of the lane whose number differs in one bit.
  mlir::Value shuffle(mlir::Value value, int64_t laneBit);
  /// The value of lane `from` (i32), or of the one that differs in `from`.
  mlir::Value shuffle(mlir::Value value, mlir::Value from,
                      mlir::NVVM::ShflKind kind);

  // MemoryOps.cpp and Matrices.cpp: memory.
  void emitAlloc(AllocOp op);
  void emitStage(StageOp op);
  void emitLoad(LoadOp op);
  void emitStore(StoreOp op);
  void emitCopyAsync(CopyAsyncOp op);
  /// Loads by `ldmatrix`, if type and layouts allow.
  std::optional<Values> loadMatrices(LoadOp op, RegType type);
  bool storeMatrices(StoreOp op, RegType type,
                     llvm::ArrayRef<mlir::Value> values);
  /// The bits of a register's number that tell those apart which one access
  /// moves: they are consecutive in memory, at most 16 bytes, and aligned.
  llvm::SmallVector<int64_t> getVectorBits(RegType type, mlir::Type memory,
                                           mlir::Value col, bool transposed);
  LaneOffsets getLaneOffsets(RegType type, bool transposed);
  mlir::Value getSharedAddress(SharedType type, mlir::Value matrix,
                               mlir::Value row, mlir::Value col,
                               const LaneOffsets &lane, int64_t addRow,
                               int64_t addCol);
  mlir::Value getGlobalAddress(const GlobalMatrix &matrix, mlir::Type element,
                               mlir::Value row, mlir::Value col);
  mlir::Value getPredicate(int64_t cols, mlir::Value row, mlir::Value col,
                           mlir::Value below, int64_t width, bool colsInside);
  /// Where one vector of registers is in memory, and whether it is there, if
  /// that has to be asked.
  struct Place {
    mlir::Value address, predicate;
  };
  /// The place of the registers at (addRow, addCol) of a load or store.
  template <typename AccessOp>
  Place locate(AccessOp op, RegType type, const LaneOffsets &offsets,
               int64_t addRow, int64_t addCol, int64_t width);
  mlir::Value loadVector(mlir::Value address, mlir::Type type,
                         mlir::Value predicate);
  void storeVector(mlir::Value address, mlir::Value value,
                   mlir::Value predicate);

  // BulkCopies.cpp: the copy unit.
  /// Says of a kernel's parameter that it is a tensor map.
  void markMap(mlir::LLVM::LLVMFuncOp kernel, unsigned parameter);
  mlir::LogicalResult emitCopyBulk(CopyBulkOp op);
  /// Copies a box with `map`, from row `token` of the tensor on.
  void emitBoxes(CopyBulkOp op, mlir::Value map, mlir::Value target,
                 mlir::Value barrier, mlir::Value token);
  /// The tensor map of an argument, of boxes or of single rows.
  mlir::Value getMap(unsigned argument, bool ofRows);

  // Products.cpp: the matrix units.
  void emitMma(MmaOp op);
  void emitMmaRows(MmaRowsOp op);
  void emitWgmma(WgmmaOp op);
  void emitWgmmaWait(WgmmaWaitOp op);
  mlir::Value getDescriptor(SharedType type, mlir::Value matrix,
                            mlir::Value row, mlir::Value col, bool depthAcross,
                            int64_t step);

  // Synchronisation.cpp.
  void emitProgramStart();
  /// Waits for the programs before this one, if that is needed in `region`.
  void emitProgramWait(mlir::Region &region);
  void emitBarrier(BarrierOp op);
  void emitArrive(ArriveOp op);
  void emitVote(VoteOp op);
  void emitPhaseStart();
  void emitPhaseArrive(PhaseArriveOp op);
  void emitPhaseWait(PhaseWaitOp op);
  mlir::Value getBarrierAddress(mlir::Value phases, mlir::Value stage);
  /// A pointer to shared memory as inline assembly takes it.
  mlir::Value toWord(mlir::Value pointer);

  // Small things.
  mlir::Value index(int64_t number);
  mlir::Value i32(int64_t number);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value multiply(mlir::Value lhs, int64_t rhs);
  mlir::Value toI32(mlir::Value index);
  mlir::Value i64(int64_t number);
  mlir::Value toI64(mlir::Value index);
  /// Inline assembly; no results, one, or (as a struct) several.
  Values assembly(llvm::StringRef text, llvm::StringRef constraints,
                  mlir::ValueRange operands, mlir::TypeRange results);
  /// One value for each register, and back to what stands for the tile.
  Values unpack(mlir::Value tile);
  Values getRegisters(RegType type, mlir::ValueRange components);
  Values pack(RegType type, llvm::ArrayRef<mlir::Value> registers);
  void setTile(mlir::Value tile, llvm::ArrayRef<mlir::Value> registers);

  mlir::OpBuilder &builder;
  ProgramOp program;
  mlir::Location loc;
  unsigned computeCapability;
  bool laneArrivals;
  mlir::IRMapping scalars;
  llvm::DenseMap<mlir::Value, Values> tiles;
  /// Of the operation that is being emitted.
  llvm::DenseMap<mlir::Value, GlobalMatrix> globals;
  llvm::SmallVector<unsigned> mapped; ///< arguments with tensor maps
  mlir::Block *kernelEntry = nullptr;
  /// The block's head (i32), sequence, slot, first token, and number among all
  /// sequences and heads (i64).
  struct {
    mlir::Value head, sequence, slot, firstToken, numbered;
  } place;
  mlir::Value lane; // index
  /// The number of the warp, and of the thread, in its role; how many warps the
  /// role has. Outside roles, those of the block.
  mlir::Value warp, thread; // index
  int64_t numWarps = 0;
  int64_t firstThread = 0; ///< of the role
  bool inRole = false;
  mlir::Value length, position, part, segment, segments; // index
  mlir::Value sharedBase;                                // !llvm.ptr<3>
  int64_t sharedBytes = 0;
  /// Of what is allocated, in bytes from there.
  llvm::DenseMap<mlir::Operation *, int64_t> sharedPlaces;
};

/// The type that holds registers 2i and 2i + 1 of `type`, or one register where
/// its elements are not packed in pairs.
mlir::Type getComponentType(RegType type);
int64_t getNumComponents(RegType type);

/// A number that divides `value` (an index) whatever it is; 0 for the constant
/// 0.
int64_t getKnownDivisor(mlir::Value value);

} // namespace larc::tile

#endif // LARC_LIB_CONVERSION_TILETOLLVM_PROGRAMEMITTER_H
