//===- TileMachine.h - One block of a tile program --------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_REFERENCE_TILEMACHINE_H
#define LARC_LIB_REFERENCE_TILEMACHINE_H

#include "TileAccesses.h"
#include "TileElements.h"

#include "larc/Reference/TileInterpreter.h"

#include "llvm/ADT/DenseMap.h"

#include <memory>

namespace larc::tilerun {

constexpr int64_t kLanes = tile::LayoutAttr::kLanes;

/// The elements of a register tile: that of register r of lane l has number
/// r * 32 + l. Never changed once made, so that values may share them.
struct Registers {
  Elements elements;
  /// When the warp wrote them, in its own operations.
  int64_t step = 0;
  /// Equal elements of a `tile.splat`, of which a compiler makes as many copies
  /// as it needs.
  bool equal = false;
  /// Whether the matrix unit is writing there.
  bool inFlight = false;
};
using RegistersRef = std::shared_ptr<Registers>;

/// A product of the matrix unit that has been started. Products with the same
/// accumulators are a chain of these.
struct Product {
  Elements sums;
  /// The registers that were given to it, if any.
  RegistersRef accumulators;
  /// What it reads in shared memory.
  std::vector<int64_t> held;
  bool committed = false, complete = false;
  /// Whether another product or a wait has had it.
  bool taken = false;
};
using ProductRef = std::shared_ptr<Product>;

/// What a value is while the program runs; which member counts follows from its
/// type.
struct Slot {
  Element scalar = {};
  /// The place of a shared matrix in bytes, or the number of an argument or of
  /// a barrier.
  int64_t memory = 0;
  RegistersRef registers;
  ProductRef product;
};

/// A block of operations that a warp is in the midst of.
struct Frame {
  mlir::Block *block;
  mlir::Block::iterator next;
  /// Of a loop: the next values of its variable.
  int64_t variable = 0, upper = 0, step = 0;
};

struct Warp {
  enum State : uint8_t { Runs, Waits, Ended };

  int64_t number = 0;
  State state = Runs;
  std::vector<Frame> frames;
  /// By the number of the value.
  std::vector<Slot> slots;
  /// Operations run, and how many of them before the last fence of registers.
  int64_t step = 0, fenceStep = -1;
  /// The barrier or vote at which it waits.
  mlir::Operation *waitsAt = nullptr;
  /// Its own answer to a vote.
  bool answer = false;

  /// Numbers of the copies that it took part in: of groups that run, and of
  /// the group that has not ended.
  std::vector<std::vector<int64_t>> copyGroups;
  std::vector<int64_t> openCopies;
  /// Those that it started after its last arrival by landing.
  std::vector<int64_t> flyingCopies;
  std::vector<std::vector<ProductRef>> productGroups;
  std::vector<ProductRef> openProducts;
  /// How many products it has started, and copies in each role (null: none).
  int64_t products = 0;
  llvm::SmallDenseMap<mlir::Operation *, size_t> copies;
};

/// Where the elements of a type of register tile are.
struct Geometry {
  /// (row, column) by the number of the element.
  std::vector<std::pair<int64_t, int64_t>> places;
  /// Whether the lane is the first of those that hold the element.
  std::vector<char> first;
};

/// What several warps must do alike: an operation and the numbers it is given.
struct Joint {
  mlir::Operation *op;
  std::vector<int64_t> numbers;
  int64_t warps = 0; ///< that have done it
  int64_t expected = 4;
};

/// A warp that has come to a barrier.
struct Arrival {
  int64_t warp;
  mlir::Operation *op;
  /// Where it does not wait: what it had done (see Ordering::leave).
  std::vector<uint32_t> note;
};

/// A barrier that counts arrivals.
struct PhaseBarrier {
  /// Arrivals in the present phase.
  int64_t arrived = 0;
  /// What is known to those who wait for each phase: the last is that of the
  /// present phase, and not complete.
  std::vector<std::vector<uint32_t>> notes = {{}};
  /// Whether copies count their bytes in the present phase.
  bool hasBytes = false;
  /// Warps that have started copies in the present phase and not arrived since,
  /// and where they have.
  llvm::SmallVector<std::pair<int64_t, mlir::Operation *>, 1> starters;
  /// Warps that wait, and the parities for which they do.
  std::vector<std::pair<int64_t, int64_t>> waiting;

  /// The number of the present phase.
  int64_t getPhase() const { return static_cast<int64_t>(notes.size()) - 1; }
};

/// Some warps of the block that do something together.
struct Team {
  mlir::Operation *role; ///< null for the whole block
  int64_t first, warps;
};

/// Interprets one block.
class TileMachine {
public:
  TileMachine(tile::ProgramOp program, const TileBlock &block,
              TileStatistics &statistics);

  llvm::LogicalResult run();

private:
  // Control (TileInterpreter.cpp).
  llvm::LogicalResult checkArguments();
  void numberValues();
  void placeShared();
  llvm::LogicalResult runWarp(Warp &warp);
  llvm::LogicalResult runOperation(Warp &warp, mlir::Operation *op);
  llvm::LogicalResult runFor(Warp &warp, mlir::scf::ForOp op);
  llvm::LogicalResult runIf(Warp &warp, mlir::scf::IfOp op);
  llvm::LogicalResult runYield(Warp &warp, mlir::scf::YieldOp op);
  llvm::LogicalResult runScalar(Warp &warp, mlir::Operation *op);
  llvm::LogicalResult runRole(Warp &warp, tile::RoleOp op);
  /// The warps of the role that `op` is in, or all.
  Team getTeam(mlir::Operation *op) const;
  llvm::LogicalResult meet(Warp &warp, mlir::Operation *op, mlir::Value id,
                           std::optional<uint64_t> count);
  void resume(llvm::ArrayRef<Arrival> arrivals);
  llvm::LogicalResult runVote(Warp &warp, tile::VoteOp op);
  llvm::LogicalResult reportDeadlock();
  PhaseBarrier *getBarrier(Warp &warp, mlir::Operation *op, mlir::Value phases,
                           mlir::Value stage);
  llvm::LogicalResult runPhaseArrive(Warp &warp, tile::PhaseArriveOp op);
  llvm::LogicalResult runPhaseWait(Warp &warp, tile::PhaseWaitOp op);
  void passPhase(Warp &warp, const PhaseBarrier &barrier, int64_t parity);
  llvm::LogicalResult endPhase(PhaseBarrier &barrier);
  llvm::LogicalResult checkJoints(llvm::ArrayRef<Joint> joints);

  // Memory (TileMemoryOps.cpp).
  llvm::LogicalResult runStage(Warp &warp, tile::StageOp op);
  llvm::LogicalResult runLoad(Warp &warp, tile::LoadOp op);
  llvm::LogicalResult runStore(Warp &warp, tile::StoreOp op);
  llvm::LogicalResult runCopy(Warp &warp, tile::CopyAsyncOp op);
  /// Copies what a `tile.copy_async` or `tile.copy_bulk` does; rows from
  /// `below` on are zero.
  template <typename CopyT>
  llvm::LogicalResult copyRows(Warp &warp, CopyT op, int64_t copy,
                               int64_t firstRow, int64_t firstCol,
                               int64_t below, bool isCounted);
  llvm::LogicalResult runCopyBulk(Warp &warp, tile::CopyBulkOp op);
  llvm::LogicalResult runCopyWait(Warp &warp, tile::CopyWaitOp op);
  /// The element at (row, col) of an argument, or nothing after an error.
  char *getGlobal(mlir::Operation *op, int64_t argument, int64_t row,
                  int64_t col);

  // Register tiles (TileRegisterOps.cpp).
  llvm::LogicalResult runSplat(Warp &warp, tile::SplatOp op);
  llvm::LogicalResult runIndex(Warp &warp, tile::IndexOp op);
  llvm::LogicalResult runMap(Warp &warp, tile::MapOp op);
  llvm::LogicalResult runReduce(Warp &warp, tile::ReduceOp op);
  llvm::LogicalResult runScan(Warp &warp, tile::ScanOp op);
  llvm::LogicalResult runExchange(Warp &warp, tile::ExchangeOp op);
  llvm::LogicalResult runPick(Warp &warp, tile::PickOp op);
  llvm::LogicalResult runConvert(Warp &warp, tile::ConvertOp op);
  llvm::LogicalResult runSlice(Warp &warp, tile::SliceOp op);
  llvm::LogicalResult runConcat(Warp &warp, tile::ConcatOp op);

  // Products (TileMatrixUnit.cpp).
  llvm::LogicalResult runMma(Warp &warp, tile::MmaOp op);
  /// A product of a warp; the matrix [K, N] is the right operand's, transposed
  /// if asked for.
  template <typename MmaT>
  llvm::LogicalResult multiply(Warp &warp, MmaT op, bool transposed);
  llvm::LogicalResult runMmaRows(Warp &warp, tile::MmaRowsOp op);
  llvm::LogicalResult runWgmma(Warp &warp, tile::WgmmaOp op);
  llvm::LogicalResult checkFenced(Warp &warp, mlir::Operation *op,
                                  const Registers &registers);
  llvm::LogicalResult takeAccumulators(Warp &warp, tile::WgmmaOp op,
                                       Product &product);
  llvm::LogicalResult joinProduct(Warp &warp, tile::WgmmaOp op);
  llvm::LogicalResult readMatrix(Warp &warp, mlir::Operation *op,
                                 mlir::Value memory, int64_t row, int64_t col,
                                 int64_t rows, int64_t cols,
                                 std::vector<float> &matrix, Product &product);
  llvm::LogicalResult runWgmmaWait(Warp &warp, tile::WgmmaWaitOp op);
  /// A tile as a matrix of `rows` x `cols`, as the matrix unit reads it.
  std::vector<float> getMatrix(tile::RegType type, const Elements &elements);
  /// Adds a product to accumulators.
  void addProduct(tile::RegType type, llvm::ArrayRef<float> lhs,
                  llvm::ArrayRef<float> rhs, int64_t depth, Elements &sums);

  // Values.
  Slot &getSlot(Warp &warp, mlir::Value value) {
    return warp.slots[numbers.find(value)->second];
  }
  int64_t getInteger(Warp &warp, mlir::Value value) {
    return getSlot(warp, value).scalar.integer;
  }
  /// The elements of a tile that `op` touches; nothing after an error.
  const Registers *getTile(Warp &warp, mlir::Operation *op, mlir::Value value);
  void setTile(Warp &warp, mlir::Value value, Elements elements);
  const Geometry &getGeometry(tile::RegType type);
  /// For each register of `result`, the register of `operand` it is made of.
  llvm::ArrayRef<int64_t> getMap(tile::RegType operand, tile::RegType result);

  tile::ProgramOp program;
  const TileBlock &block;
  TileStatistics &statistics;

  std::vector<Warp> warps;
  Ordering ordering;
  std::optional<SharedMemory> shared;
  GlobalAccesses globals;
  int64_t sharedBytes = 0;
  /// Warps that wait, by the number of the barrier.
  std::vector<std::vector<Arrival>> waiting;
  /// How many warps meet at each.
  std::vector<int64_t> expected;
  std::vector<PhaseBarrier> barriers;
  /// All copies so far, those of each role in their order, and all products of
  /// each four warps.
  std::vector<Joint> copies;
  llvm::SmallDenseMap<mlir::Operation *, std::vector<int64_t>> roleCopies;
  std::vector<std::vector<Joint>> products;

  llvm::DenseMap<mlir::Value, size_t> numbers;
  /// Of shared matrices, and the first of some barriers.
  llvm::DenseMap<mlir::Operation *, int64_t> places;
  llvm::DenseMap<mlir::Type, std::unique_ptr<Geometry>> geometries;
  llvm::DenseMap<std::pair<mlir::Type, mlir::Type>,
                 std::unique_ptr<llvm::SmallVector<int64_t>>>
      maps;
};

} // namespace larc::tilerun

#endif // LARC_LIB_REFERENCE_TILEMACHINE_H
