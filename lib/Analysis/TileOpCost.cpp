//===- TileOpCost.cpp - What an operation costs a warp --------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions are counted as the lowering of tiles and the assembler make
// them, but for those of addresses, of which there are so many as the model
// says.
//
//===----------------------------------------------------------------------===//

#include "TileOpCost.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <functional>
#include <numeric>

using namespace mlir;
using namespace larc;
using namespace larc::tile;

TileWork TileWork::operator*(double times) const {
  return {instructions * times, alu * times, special * times, matrix * times,
          sharedBytes * times};
}

TileWork &TileWork::operator+=(const TileWork &other) {
  instructions += other.instructions;
  alu += other.alu;
  special += other.special;
  matrix += other.matrix;
  sharedBytes += other.sharedBytes;
  return *this;
}

static double getBits(Type type) {
  return type.isIndex() ? 32 : type.getIntOrFloatBitWidth();
}

static double getBytes(RegType type) {
  return double(type.getRows() * type.getCols()) *
         getBits(type.getElementType()) / 8;
}

static double countRegisters(RegType type) {
  return double(type.getNumRegisters());
}

static TileOpCost makeAlu(double instructions, double latency) {
  TileOpCost cost;
  cost.work.instructions = cost.work.alu = instructions;
  cost.latency = latency;
  return cost;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

namespace {
/// Instructions of a scalar operation in a `tile.map`.
struct ScalarCost {
  double instructions, alu, special;
  double depth; ///< of them one after the other
};
} // namespace

static bool isApproximate(arith::FastMathFlags flags) {
  return arith::bitEnumContainsAll(flags, arith::FastMathFlags::afn);
}

static ScalarCost getScalarCost(Operation &op) {
  return llvm::TypeSwitch<Operation *, ScalarCost>(&op)
      .Case<arith::ConstantOp, YieldOp>(
          [](auto) { return ScalarCost{0, 0, 0, 0}; })
      .Case<arith::AddFOp, arith::SubFOp, arith::MulFOp, math::FmaOp>(
          [](auto) { return ScalarCost{1, 0, 0, 1}; })
      .Case<math::Exp2Op, math::RsqrtOp>(
          [](auto) { return ScalarCost{1, 0, 1, 1}; })
      // A product in two parts, clamped; 2^x; a correction. Or a product alone.
      .Case<math::ExpOp>([](math::ExpOp exp) {
        return isApproximate(exp.getFastmath()) ? ScalarCost{2, 0, 1, 2}
                                                : ScalarCost{10, 4, 1, 9};
      })
      // A polynomial, an exponential less 1, and which of both.
      .Case<math::ExpM1Op>([](math::ExpM1Op expm1) {
        return isApproximate(expm1.getFastmath()) ? ScalarCost{13, 2, 1, 9}
                                                  : ScalarCost{21, 6, 1, 12};
      })
      // A sum, the unit's logarithm and a product; else as other functions.
      .Case<math::Log1pOp>([](math::Log1pOp log1p) {
        return isApproximate(log1p.getFastmath()) ? ScalarCost{3, 0, 1, 3}
                                                  : ScalarCost{20, 6, 1, 16};
      })
      // An estimate and its correction.
      .Case<arith::DivFOp, math::SqrtOp>(
          [](auto) { return ScalarCost{9, 1, 1, 8}; })
      // Negations are of the instruction that reads them.
      .Case<arith::NegFOp, math::AbsFOp>(
          [](auto) { return ScalarCost{0, 0, 0, 0}; })
      .Default([](Operation *other) {
        // Of other functions, polynomials with a range reduction.
        if (isa<math::MathDialect>(other->getDialect()))
          return ScalarCost{20, 6, 1, 16};
        return ScalarCost{1, 1, 0, 1};
      });
}

static TileOpCost getCost(MapOp op, const GPUModel &model) {
  TileOpCost cost;
  double depth = 0, functions = 0;
  for (Operation &scalar : op.getBody().front()) {
    ScalarCost one = getScalarCost(scalar);
    cost.work.instructions += one.instructions;
    cost.work.alu += one.alu;
    cost.work.special += one.special;
    depth += one.depth;
    functions += one.special;
  }
  // A product that a sum takes is done with it.
  for (Operation &scalar : op.getBody().front()) {
    if (!isa<arith::AddFOp, arith::SubFOp>(scalar) ||
        !llvm::any_of(scalar.getOperands(), [](Value value) {
          return value.getDefiningOp<arith::MulFOp>() && value.hasOneUse();
        }))
      continue;
    cost.work.instructions -= 1;
    depth -= 1;
  }
  cost.work =
      cost.work * countRegisters(cast<RegType>(op.getResult(0).getType()));
  cost.latency = depth * model.aluLatency + functions * model.specialLatency;
  return cost;
}

//===----------------------------------------------------------------------===//
// Combining
//===----------------------------------------------------------------------===//

/// How many bits of `bases` move along `dimension` by less than `limit`.
static double countBits(ArrayRef<int64_t> bases, unsigned dimension,
                        int64_t limit) {
  double count = 0;
  for (size_t bit = 0; 2 * bit < bases.size(); ++bit) {
    int64_t step = bases[2 * bit + dimension];
    count += step != 0 && step < limit;
  }
  return count;
}

static constexpr int64_t noLimit = INT64_MAX;
/// A shuffle moves a word of each lane through shared memory's wires.
static constexpr double shuffleBytes = 32 * 4;

static TileOpCost getCost(ReduceOp op, const GPUModel &model) {
  RegType type = op.getOperand().getType(), result = op.getType();
  unsigned along = op.getDimension() == Dimension::Rows ? 0 : 1;
  double kept = countRegisters(result), all = countRegisters(type);
  double lanes = countBits(type.getLayout().getLanes(), along, noLimit);
  TileOpCost cost;
  cost.work.instructions = all - kept + 2 * kept * lanes;
  cost.work.sharedBytes = kept * lanes * shuffleBytes;
  cost.latency = (all / kept - 1) * model.aluLatency +
                 lanes * (model.shuffleLatency + model.aluLatency);
  return cost;
}

static TileOpCost getCost(ScanOp op, const GPUModel &model) {
  RegType type = op.getType();
  LayoutAttr layout = type.getLayout();
  unsigned along = op.getDimension() == Dimension::Rows ? 0 : 1;
  int64_t block = op.getBlockSize();
  double all = countRegisters(type);
  double lanes = countBits(layout.getLanes(), along, block);
  double registers = countBits(layout.getRegisters(), along, block);
  int64_t cell = along == 0 ? layout.getCellRows() : layout.getCellCols();
  double cells = std::max<double>(double(block) / double(cell), 1);
  TileOpCost cost;
  // A lane's step: a shuffle, two combinations, a selection.
  cost.work.alu = all * lanes;
  cost.work.instructions = all * (4 * lanes + registers);
  if (cells > 1)
    cost.work.instructions += 2 * all;
  cost.work.sharedBytes = all * lanes * shuffleBytes;
  cost.latency = lanes * (model.shuffleLatency + 2 * model.aluLatency) +
                 (registers + cells - 1) * model.aluLatency;
  return cost;
}

static TileOpCost getCost(ExchangeOp op, const GPUModel &model) {
  RegType type = op.getType();
  unsigned along = op.getDimension() == Dimension::Rows ? 0 : 1;
  // Lanes' bits move what registers' bits do not.
  for (size_t bit = 0; bit < LayoutAttr::kLaneBits; ++bit) {
    if (type.getLayout().getLanes()[2 * bit + along] !=
        static_cast<int64_t>(op.getDistance()))
      continue;
    TileOpCost cost;
    cost.work.instructions = countRegisters(type);
    cost.work.sharedBytes = cost.work.instructions * shuffleBytes;
    cost.latency = model.shuffleLatency;
    return cost;
  }
  return {};
}

static TileOpCost getCost(PickOp op, const GPUModel &model) {
  RegType type = op.getOperand().getType();
  unsigned along = op.getDimension() == Dimension::Rows ? 0 : 1;
  TileOpCost cost;
  if (countBits(type.getLayout().getLanes(), along, noLimit) == 0)
    return cost;
  cost.work.instructions = countRegisters(op.getType());
  cost.work.sharedBytes = cost.work.instructions * shuffleBytes;
  cost.latency = model.shuffleLatency;
  return cost;
}

static TileOpCost getCost(ConvertOp op, const GPUModel &model) {
  RegType from = op.getOperand().getType(), to = op.getType();
  if (from.getElementType() == to.getElementType())
    return {};
  double count = countRegisters(to);
  // One instruction rounds two numbers.
  bool inPairs = isa<FloatType>(to.getElementType()) &&
                 getBits(to.getElementType()) < getBits(from.getElementType());
  return makeAlu(inPairs ? std::ceil(count / 2) : count, model.aluLatency + 2);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Whether pairs of registers are 8x8 matrices of 16-bit numbers, four of which
/// one instruction moves.
static bool isMovedAsMatrices(RegType type, Type memory, bool hasLimit) {
  if (!isa<SharedType>(memory) || hasLimit ||
      getBits(type.getElementType()) != 16 || type.getNumRegisters() < 2)
    return false;
  ArrayRef<int64_t> lanes = type.getLayout().getLanes();
  for (unsigned pair : {0, 1}) {
    const int64_t along[] = {2, 4, 0, 0, 0}, across[] = {0, 0, 1, 2, 4};
    bool fits = true;
    for (unsigned bit = 0; bit < 5; ++bit)
      fits &= lanes[2 * bit + pair] == along[bit] &&
              lanes[2 * bit + 1 - pair] == across[bit];
    if (fits)
      return true;
  }
  return false;
}

/// How many registers one access of memory moves.
static double getVectorWidth(RegType type, Type memory, bool transposed) {
  ArrayRef<int64_t> registers = type.getLayout().getRegisters();
  unsigned contiguous = transposed ? 0 : 1;
  int64_t limit = 128 / int64_t(getBits(type.getElementType()));
  if (auto shared = dyn_cast<SharedType>(memory)) {
    if (shared.getSwizzle() == 0)
      limit = std::gcd(limit, shared.getCols() + shared.getPad());
  } else {
    limit = std::gcd(limit, cast<GlobalType>(memory).getCols());
  }
  int64_t width = 1;
  for (size_t bit = 0; 2 * bit < registers.size() && 2 * width <= limit &&
                       registers[2 * bit + contiguous] == width;
       ++bit)
    width *= 2;
  return double(width);
}

template <typename AccessOp>
static TileOpCost getAccessCost(AccessOp op, RegType type,
                                const GPUModel &model) {
  Type memory = op.getMemory().getType();
  bool hasLimit = op.getBelow() != nullptr;
  double width = isMovedAsMatrices(type, memory, hasLimit)
                     ? 8
                     : getVectorWidth(type, memory, op.getTransposed());
  double accesses = std::ceil(countRegisters(type) / width);
  bool isShared = isa<SharedType>(memory);
  TileOpCost cost;
  cost.work.alu =
      accesses * (isShared ? model.sharedAddressing : model.globalAddressing);
  cost.work.instructions = cost.work.alu + accesses;
  if (isShared) {
    // A lane takes as many bytes as it has registers, copies included.
    cost.work.sharedBytes = countRegisters(type) * LayoutAttr::kLanes *
                            getBits(type.getElementType()) / 8;
    return cost;
  }
  cost.bytes = getBytes(type);
  cost.argument = op.getMemory();
  return cost;
}

static TileOpCost getCost(LoadOp op, const GPUModel &model) {
  TileOpCost cost = getAccessCost(op, op.getType(), model);
  cost.latency = cost.argument ? model.globalLatency : model.sharedLatency;
  // What all tokens have in common stays in the multiprocessor's cache.
  auto argument = dyn_cast<BlockArgument>(op.getMemory());
  auto program = op->getParentOfType<ProgramOp>();
  if (argument && program &&
      program.getArgumentKind(argument.getArgNumber()) ==
          ArgumentKind::Constant)
    cost.latency = model.cachedLatency;
  return cost;
}

static TileOpCost getCost(CopyAsyncOp op, const GPUModel &model,
                          int64_t warps) {
  SharedType target = op.getTarget().getType();
  double bytes = double(target.getRows() * target.getCols()) *
                 getBits(target.getElementType()) / 8;
  // A lane copies 16 bytes at once, where rows are multiples of them.
  double piece =
      std::gcd<int64_t>(16, op.getSource().getType().getCols() *
                                int64_t(getBits(target.getElementType())) / 8);
  double copies = std::ceil(bytes / piece / LayoutAttr::kLanes / double(warps));
  TileOpCost cost;
  cost.work.alu = copies * model.copyAddressing;
  cost.work.instructions = cost.work.alu + copies;
  cost.work.sharedBytes = bytes / double(warps);
  cost.bytes = bytes / double(warps);
  cost.argument = op.getSource();
  return cost;
}

/// One lane has the unit copy panels of 128 bytes of columns.
static TileOpCost getCost(CopyBulkOp op, const GPUModel &model) {
  SharedType target = op.getTarget().getType();
  double panels = std::ceil(double(target.getStageBytes()) /
                            double(target.getRows() * kBoxBytes));
  TileOpCost cost;
  cost.work.alu = (1 + panels) * model.sharedAddressing;
  cost.work.instructions = cost.work.alu + 1 + panels;
  cost.work.sharedBytes = double(target.getStageBytes());
  cost.bytes =
      double(target.getRows() *
             std::min(target.getCols(), op.getSource().getType().getCols())) *
      getBits(target.getElementType()) / 8;
  cost.argument = op.getSource();
  return cost;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Of instructions that multiply 16 rows, 8 columns and `depth` products.
static TileOpCost getProductCost(double rows, double cols, double contraction,
                                 double depth, bool isTf32,
                                 const GPUModel &model) {
  double steps = contraction / depth;
  TileOpCost cost;
  cost.work.instructions = rows / 16 * (cols / 8) * steps;
  double flops = 2 * rows * cols * contraction;
  cost.work.matrix =
      flops * (isTf32 ? 2 : 1) / (model.matrixFlops * model.mmaShare);
  // Sums are handed from step to step.
  cost.latency = steps * model.mmaLatency;
  return cost;
}

static TileOpCost getCost(MmaOp op, const GPUModel &model) {
  RegType lhs = op.getLhs().getType(), result = op.getType();
  bool isTf32 = lhs.getElementType().isF32();
  return getProductCost(double(result.getRows()), double(result.getCols()),
                        double(lhs.getCols()), isTf32 ? 8 : 16, isTf32, model);
}

static TileOpCost getCost(MmaRowsOp op, const GPUModel &model) {
  RegType result = op.getType();
  return getProductCost(double(result.getRows()), double(result.getCols()),
                        double(op.getLhs().getType().getCols()), 8,
                        /*isTf32=*/true, model);
}

static TileOpCost getCost(WgmmaOp op, const GPUModel &model) {
  double cols = double(op.getTile().getCols());
  double contraction = double(op.getContraction());
  TileOpCost cost;
  cost.work.instructions = contraction / 16 * (1 + model.wgmmaAddressing);
  // A warp's 16 rows of the 64.
  cost.work.matrix = 2 * 16 * std::max(cols, model.wgmmaLeastCols) *
                     contraction / model.matrixFlops;
  cost.work.sharedBytes = contraction * cols * 2 / 4;
  if (isa<SharedType>(op.getLhs().getType()))
    cost.work.sharedBytes += contraction * 64 * 2 / 4;
  cost.latency = model.wgmmaLatency;
  return cost;
}

//===----------------------------------------------------------------------===//
// All
//===----------------------------------------------------------------------===//

static TileOpCost makeMeeting(double instructions, double pause) {
  TileOpCost cost;
  cost.work.instructions = instructions;
  cost.isOrdered = true;
  cost.pause = pause;
  return cost;
}

namespace {
/// The cost of each operation of the dialect.
class CostTable {
public:
  using Function =
      std::function<TileOpCost(Operation *, const GPUModel &, int64_t warps)>;

  static const CostTable &get() {
    static const CostTable table;
    return table;
  }
  /// None for an operation that is not there.
  Function lookup(TypeID op) const { return functions.lookup(op); }

private:
  CostTable();
  template <typename... Ops, typename CostFunction>
  void add(CostFunction cost) {
    auto addOne = [&](auto cast, TypeID id) {
      functions[id] = [cost, cast](Operation *op, const GPUModel &model,
                                   int64_t warps) {
        return cost(cast(op), model, warps);
      };
    };
    (addOne([](Operation *op) { return llvm::cast<Ops>(op); },
            TypeID::get<Ops>()),
     ...);
  }

  llvm::DenseMap<TypeID, Function> functions;
};
} // namespace

CostTable::CostTable() {
  using Model = const GPUModel &;
  add<ProgramOp, RoleOp, ReturnOp, YieldOp, LengthOp, PositionOp, PartOp,
      SegmentOp, SegmentsOp, WarpOp, AllocOp, AllocPhasesOp, SplatOp, SliceOp,
      ConcatOp>([](auto, Model, int64_t) { return TileOpCost(); });
  add<StageOp>([](auto, Model model, int64_t) {
    return makeAlu(2, 2 * model.aluLatency);
  });
  add<IndexOp>([](auto op, Model model, int64_t) {
    return makeAlu(countRegisters(op.getType()), model.aluLatency);
  });
  add<StoreOp>([](auto op, Model model, int64_t) {
    return getAccessCost(op, op.getValue().getType(), model);
  });
  add<CopyAsyncOp>([](auto op, Model model, int64_t warps) {
    return getCost(op, model, warps);
  });
  add<LoadOp, CopyBulkOp, MapOp, ReduceOp, ScanOp, ExchangeOp, PickOp,
      ConvertOp, MmaOp, MmaRowsOp, WgmmaOp>(
      [](auto op, Model model, int64_t) { return getCost(op, model); });
  add<CopyCommitOp, CopyWaitOp, WgmmaCommitOp, WgmmaWaitOp>(
      [](auto, Model, int64_t) { return makeMeeting(1, 0); });
  add<WgmmaFenceOp, SyncWarpOp>([](auto, Model model, int64_t) {
    return makeMeeting(1, 2 * model.aluLatency);
  });
  add<FenceAsyncOp>([](auto, Model model, int64_t) {
    return makeMeeting(1, model.fenceCycles);
  });
  add<ArriveOp, PhaseArriveOp>(
      [](auto, Model, int64_t) { return makeMeeting(3, 0); });
  add<BarrierOp>([](auto, Model model, int64_t) {
    return makeMeeting(2, model.barrierCycles);
  });
  add<PhaseWaitOp>([](auto, Model model, int64_t) {
    return makeMeeting(5, model.sharedLatency);
  });
  add<VoteOp>([](VoteOp op, Model model, int64_t) {
    // A warp that asks itself waits for no other.
    bool isOwn = op.getWarps() && *op.getWarps() == 1;
    TileOpCost cost = makeMeeting(4, isOwn ? 0 : model.barrierCycles);
    cost.work.instructions += countRegisters(op.getPredicate().getType());
    cost.latency = model.shuffleLatency;
    return cost;
  });
}

bool larc::isTileCostKnown(OperationName name) {
  return static_cast<bool>(CostTable::get().lookup(name.getTypeID()));
}

TileOpCost larc::getTileOpCost(Operation *op, const GPUModel &model,
                               int64_t warps) {
  if (CostTable::Function function =
          CostTable::get().lookup(op->getName().getTypeID()))
    return function(op, model, warps);
  // Numbers that all lanes have; those that are constant are in the
  // instruction. Of what is unknown, an instruction for each register.
  TileOpCost cost;
  if (matchPattern(op, m_Constant()))
    return cost;
  for (Type type : op->getResultTypes()) {
    auto tile = dyn_cast<RegType>(type);
    cost.work.instructions += tile ? countRegisters(tile) : 1;
  }
  cost.latency = model.aluLatency;
  return cost;
}
