//===- ChunkToTile.cpp - Scans in tiles -*- C++ -*- -----------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StateRole.h"

#include "larc/Conversion/Passes.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace larc;

using tile::ArgumentKind;
using tile::GlobalType;

namespace larc {
#define GEN_PASS_DEF_CONVERTCHUNKTOTILE
#include "larc/Conversion/Passes.h.inc"
} // namespace larc

/// Registers of a lane of the role that copies. In a cascade they are the
/// fewest that addresses of a few operands take, unless another split is asked
/// for.
static int64_t getCopyRegisters(const ScanPlan &plan) {
  if (plan.hasBulkCopies())
    return 24;
  if (plan.getStateRoles() == 1)
    return 48;
  return plan.options.factorRegisters > 0 ? 40 : 32;
}

static int64_t getFactorRegisters(const ScanPlan &plan) {
  if (plan.factorWarps == ScanPlan::kSummaryFactorWarps)
    return 112;
  if (plan.options.factorRegisters > 0)
    return plan.options.factorRegisters;
  if (plan.getStateRoles() > 1)
    return 96;
  // What rounding leaves of what the copies give up.
  int64_t spare = plan.hasBulkCopies() ? 8 : 0;
  return (plan.decaysChannels() ? 160 : 112) + spare;
}

/// Registers of a lane of a role with states. Those share what the others leave
/// of the registers that the block gets when it starts: in proportion to their
/// states, which are accumulators and left operands.
static int64_t getStateRegisters(const ScanPlan &plan, int64_t role) {
  constexpr int64_t step = 8, most = 232;
  int64_t warps = plan.copyWarps + plan.factorWarps + plan.getAllStateWarps();
  int64_t each = tile::kMultiprocessorRegisters / tile::LayoutAttr::kLanes /
                 warps / step * step;
  int64_t left = each * warps - getCopyRegisters(plan) * plan.copyWarps -
                 getFactorRegisters(plan) * plan.factorWarps;
  auto getNeed = [&](int64_t of) {
    constexpr int64_t others = 112;
    int64_t need = others;
    for (const StateForm &state : plan.states)
      if (state.role == of)
        need += plan.getPadded(state.cols) / state.parts / 2;
    return need;
  };
  int64_t all = 0;
  for (int64_t of = 1; of <= plan.getStateRoles(); ++of)
    all += getNeed(of) * plan.getStateWarps(of);
  SmallVector<int64_t> given;
  int64_t rest = left;
  for (int64_t of = 1; of <= plan.getStateRoles(); ++of) {
    given.push_back(std::min(left * getNeed(of) / all / step * step, most));
    rest -= given.back() * plan.getStateWarps(of);
  }
  // What rounding leaves.
  for (int64_t of = plan.getStateRoles(); of > 0; --of)
    for (int64_t warps = plan.getStateWarps(of);
         rest >= step * warps && given[of - 1] < most; rest -= step * warps)
      given[of - 1] += step;
  return given[role - 1];
}

/// Whether roles have the registers of their states, as accumulators and as
/// left operands, and of a tile. What else they need the assembler knows.
static LogicalResult checkRegisters(const ScanPlan &plan) {
  if (!plan.options.wgmma)
    return success();
  chunk::ScanOp scan = plan.scan;
  for (int64_t role = 1; role <= plan.getStateRoles(); ++role) {
    int64_t need = plan.chunk / 2;
    for (const StateForm &state : plan.states)
      if (state.role == role)
        need += plan.getPadded(state.cols) / state.parts * 3 / 4;
    int64_t has = getStateRegisters(plan, role);
    if (has < need)
      return scan.emitError("needs ")
             << need << " registers of a lane for stage " << role
             << " of states: expected at most " << has;
  }
  return success();
}

namespace {

/// Builds the program of a scan.
class ScanProgram {
public:
  explicit ScanProgram(const ScanPlan &plan)
      : plan(plan), loc(plan.scan.getLoc()), builder(plan.scan.getContext()) {}

  /// Makes the program before the operation `before`: that of a segment, or of
  /// what it does to states alone.
  LogicalResult build(Operation *before, StringRef name, bool summary = false);
  /// Makes the program of what segments before others do to states.
  void buildComposition(Operation *before, StringRef name);

private:
  tile::ProgramOp makeProgram(Operation *before, StringRef name, int64_t warps,
                              int64_t parts, ArgumentNumbers &numbers);
  void addArguments(ArgumentNumbers &numbers);
  void markBoxes();
  TokenRange getTokens(SegmentRange *segment);
  tile::RoleOp makeRole(int64_t first, int64_t count, int64_t registers);
  template <typename DeclT>
  void addArgument(DeclT decl, ArgumentKind kind, FloatType type);

  const ScanPlan &plan;
  Location loc;
  OpBuilder builder;
  SmallVector<Type> types;
  SmallVector<Attribute> attributes;
};

} // namespace

template <typename DeclT>
void ScanProgram::addArgument(DeclT decl, ArgumentKind kind, FloatType type) {
  int64_t rows = 1, cols = 1;
  ArrayRef<StringAttr> axes = decl.getAxes();
  for (StringAttr axis : axes)
    cols *= plan.getSize(axis);
  if (kind == ArgumentKind::Operand || kind == ArgumentKind::Output) {
    rows = ShapedType::kDynamic;
  } else if (axes.size() == 2) {
    rows = plan.getSize(axes.front());
    cols = plan.getSize(axes.back());
  }
  types.push_back(GlobalType::get(builder.getContext(), rows, cols, type));
  attributes.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
      tile::kArgumentAttrName,
      tile::ArgumentKindAttr::get(builder.getContext(), kind))));
}

void ScanProgram::addArguments(ArgumentNumbers &numbers) {
  RecurrenceOp op = plan.definition;
  for (auto [decl, type] :
       llvm::zip_equal(op.getTokenOperands().getAsRange<OperandDeclAttr>(),
                       plan.options.operandTypes))
    addArgument(decl, ArgumentKind::Operand, type);
  for (auto [decl, type] :
       llvm::zip_equal(op.getConstants().getAsRange<OperandDeclAttr>(),
                       plan.options.constantTypes))
    addArgument(decl, ArgumentKind::Constant, type);
  markBoxes();
  numbers.outputs = types.size();
  for (auto [decl, type] :
       llvm::zip_equal(op.getOutputs().getAsRange<OutputDeclAttr>(),
                       plan.options.outputTypes))
    addArgument(decl, ArgumentKind::Output, type);
  numbers.initials = types.size();
  for (auto decl : op.getStates().getAsRange<StateDeclAttr>())
    addArgument(decl, ArgumentKind::Initial, builder.getF32Type());
  numbers.finals = types.size();
  for (auto decl : op.getStates().getAsRange<StateDeclAttr>())
    addArgument(decl, ArgumentKind::Final, builder.getF32Type());
  numbers.scratch = types.size();
  if (!plan.options.segments)
    return;
  types.push_back(GlobalType::get(builder.getContext(), getRecordRows(plan),
                                  getRecordCols(plan), builder.getF32Type()));
  attributes.push_back(builder.getDictionaryAttr(
      builder.getNamedAttr(tile::kArgumentAttrName,
                           tile::ArgumentKindAttr::get(
                               builder.getContext(), ArgumentKind::Scratch))));
}

/// Notes which operands the copy unit brings, in all programs of the scan
/// alike.
void ScanProgram::markBoxes() {
  chunk::ScanOp scan = plan.scan;
  if (!plan.hasBulkCopies())
    return;
  for (auto [i, argument] : llvm::enumerate(scan.getOperandArguments())) {
    if (!plan.getRawOperand(argument))
      continue;
    NamedAttrList list(cast<DictionaryAttr>(attributes[i]));
    list.set(tile::kBoxRowsAttrName, builder.getI64IntegerAttr(plan.chunk));
    attributes[i] = list.getDictionary(builder.getContext());
  }
}

/// The block's tokens: of its sequence, or of its segment of that.
TokenRange ScanProgram::getTokens(SegmentRange *segment) {
  Value length = tile::LengthOp::create(builder, loc);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value channel;
  if (plan.valueParts > 1)
    channel = arith::MulIOp::create(
        builder, loc, tile::PartOp::create(builder, loc),
        arith::ConstantIndexOp::create(builder, loc, plan.dividedChannels));
  if (!segment)
    return {zero, length, channel};
  segment->number = tile::SegmentOp::create(builder, loc);
  segment->count = tile::SegmentsOp::create(builder, loc);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  segment->last = arith::SubIOp::create(builder, loc, segment->count, one);
  // Whole chunks, as equal in number as may be.
  Value chunk = arith::ConstantIndexOp::create(builder, loc, plan.chunk);
  Value step = arith::MulIOp::create(builder, loc, segment->count, chunk);
  Value chunks = arith::DivUIOp::create(
      builder, loc,
      arith::AddIOp::create(builder, loc, length,
                            arith::SubIOp::create(builder, loc, step, one)),
      step);
  Value size = arith::MulIOp::create(builder, loc, chunks, chunk);
  auto limit = [&](Value token) -> Value {
    return arith::MinUIOp::create(builder, loc, token, length);
  };
  TokenRange tokens;
  tokens.channel = channel;
  tokens.first =
      limit(arith::MulIOp::create(builder, loc, segment->number, size));
  tokens.end = limit(arith::AddIOp::create(builder, loc, tokens.first, size));
  if (!segment->isSummary)
    return tokens;
  // Nothing comes after the last one, and its block has something else to do.
  Value isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       segment->number, segment->last);
  tokens.end =
      arith::SelectOp::create(builder, loc, isLast, tokens.first, tokens.end);
  return tokens;
}

tile::RoleOp ScanProgram::makeRole(int64_t first, int64_t count,
                                   int64_t registers) {
  IntegerAttr limit;
  if (plan.options.wgmma)
    limit = builder.getI64IntegerAttr(registers);
  auto role =
      tile::RoleOp::create(builder, loc, builder.getI64IntegerAttr(first),
                           builder.getI64IntegerAttr(count), limit);
  builder.createBlock(&role.getBody());
  tile::YieldOp::create(builder, loc);
  builder.setInsertionPointAfter(role);
  return role;
}

/// An empty one, whose body is where to go on.
tile::ProgramOp ScanProgram::makeProgram(Operation *before, StringRef name,
                                         int64_t warps, int64_t parts,
                                         ArgumentNumbers &numbers) {
  builder.setInsertionPoint(before);
  addArguments(numbers);
  auto program = tile::ProgramOp::create(
      builder, loc, builder.getStringAttr(name),
      TypeAttr::get(builder.getFunctionType(types, {})),
      builder.getI64IntegerAttr(warps), builder.getI64IntegerAttr(parts),
      builder.getI64IntegerAttr(1), builder.getArrayAttr(attributes),
      ArrayAttr());
  builder.createBlock(&program.getBody(), {}, types,
                      SmallVector<Location>(types.size(), loc));
  return program;
}

void ScanProgram::buildComposition(Operation *before, StringRef name) {
  ArgumentNumbers numbers;
  tile::ProgramOp program =
      makeProgram(before, name, kComposingWarps, /*parts=*/1, numbers);
  auto end = tile::ReturnOp::create(builder, loc);
  emitComposition(plan, OpBuilder(end),
                  program.getBody().getArgument(numbers.scratch));
}

LogicalResult ScanProgram::build(Operation *before, StringRef name,
                                 bool summary) {
  int64_t firstState = plan.copyWarps + plan.factorWarps;
  ArgumentNumbers numbers;
  tile::ProgramOp program =
      makeProgram(before, name, firstState + plan.getAllStateWarps(),
                  plan.valueParts, numbers);
  Block *body = &program.getBody().front();
  SegmentRange range;
  range.isSummary = summary;
  SegmentRange *segment = plan.options.segments ? &range : nullptr;
  TokenRange tokens = getTokens(segment);
  tile::RoleOp copyRole = makeRole(0, plan.copyWarps, getCopyRegisters(plan));
  tile::RoleOp factorRole =
      makeRole(plan.copyWarps, plan.factorWarps, getFactorRegisters(plan));
  SmallVector<tile::RoleOp> stateRoles;
  for (int64_t role = 1; role <= plan.getStateRoles(); ++role) {
    stateRoles.push_back(makeRole(firstState, plan.getStateWarps(role),
                                  getStateRegisters(plan, role)));
    firstState += plan.getStateWarps(role);
  }
  tile::ReturnOp::create(builder, loc);

  // Each role says what those before it have to write.
  OpBuilder entry(copyRole);
  SharedArrays shared(plan, entry);
  shared.allocateRings();
  for (int64_t role = plan.getStateRoles(); role > 0; --role)
    StateRole(plan, shared, body->getArguments(), numbers, segment, role)
        .emit(stateRoles[role - 1], tokens);
  shared.overlay();
  FactorRole(plan, shared, body->getArguments(), numbers)
      .emit(factorRole, tokens);
  emitCopies(plan, shared, body->getArguments(), copyRole, tokens);
  if (succeeded(shared.chooseStages()))
    return success();
  program.erase();
  return failure();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static FailureOr<SmallVector<FloatType>>
parseTypes(Operation *op, ArrayRef<std::string> names, size_t count,
           FloatType otherwise, StringRef what) {
  if (!names.empty() && names.size() != count)
    return op->emitError() << "expected " << count << " types of " << what
                           << ", found " << names.size(),
           failure();
  SmallVector<FloatType> types(count, otherwise);
  for (auto [name, type] : llvm::zip(names, types)) {
    type = llvm::StringSwitch<FloatType>(name)
               .Case("f32", Float32Type::get(op->getContext()))
               .Case("bf16", BFloat16Type::get(op->getContext()))
               .Default(FloatType());
    if (!type)
      return op->emitError() << "cannot keep '" << name
                             << "' in chunks of tiles: expected f32 or bf16",
             failure();
  }
  return types;
}

namespace {
struct ConvertChunkToTilePass
    : larc::impl::ConvertChunkToTileBase<ConvertChunkToTilePass> {
  using ConvertChunkToTileBase::ConvertChunkToTileBase;

  FailureOr<ScanTileOptions> getOptions(chunk::ScanOp scan, RecurrenceOp op) {
    auto list = [](const ListOption<std::string> &names) {
      return SmallVector<std::string>(names.begin(), names.end());
    };
    MLIRContext *context = &getContext();
    auto bf16 = BFloat16Type::get(context);
    auto operands = parseTypes(scan, list(operandTypes),
                               op.getTokenOperands().size(), bf16, "operands");
    auto constants =
        parseTypes(scan, list(constantTypes), op.getConstants().size(),
                   Float32Type::get(context), "constants");
    auto outputs = parseTypes(scan, list(outputTypes), op.getOutputs().size(),
                              bf16, "outputs");
    if (failed(operands) || failed(constants) || failed(outputs))
      return failure();
    if (matrixUnit != "wgmma" && matrixUnit != "mma")
      return scan.emitError() << "unknown matrix unit '" << matrixUnit
                              << "': expected wgmma or mma",
             failure();
    // One chunk is worked on while another is on its way.
    if (stages != 0 && stages < 2)
      return scan.emitError("expected at least 2 stages, or 0, found ")
                 << stages.getValue(),
             failure();
    if (parts < 0)
      return scan.emitError("expected parts, or 0, found ") << parts.getValue(),
             failure();
    if (factorRegisters != 0 && matrixUnit != "wgmma")
      return scan.emitError("registers of a role need Hopper's wgmma"),
             failure();
    if (copies != "async" && copies != "bulk")
      return scan.emitError()
                 << "unknown copies '" << copies << "': expected async or bulk",
             failure();
    if (copies == "bulk" && matrixUnit != "wgmma")
      return scan.emitError("bulk copies go with Hopper's wgmma"), failure();
    ScanTileOptions options;
    options.bulkCopies = copies == "bulk";
    options.operandTypes = *operands;
    options.constantTypes = *constants;
    options.outputTypes = *outputs;
    options.wgmma = matrixUnit == "wgmma";
    options.stages = stages;
    options.sharedBytes = sharedBytes;
    options.segments = segments;
    options.parts = parts;
    options.factorRegisters = factorRegisters;
    return options;
  }

  LogicalResult convert(chunk::ScanOp scan) {
    auto definition = SymbolTable::lookupNearestSymbolFrom<RecurrenceOp>(
        scan, scan.getDefinitionAttr());
    FailureOr<ScanTileOptions> options = getOptions(scan, definition);
    if (failed(options))
      return failure();
    FailureOr<ScanPlan> plan = ScanPlan::create(scan, definition, *options);
    if (failed(plan) || failed(checkRegisters(*plan)))
      return failure();
    std::string name = definition.getSymName().str();
    if (segments) {
      ScanPlan summary = plan->getSummary();
      if (failed(ScanProgram(summary).build(scan, name + "_segments",
                                            /*summary=*/true)))
        return failure();
      ScanProgram(*plan).buildComposition(scan, name + "_compose");
    }
    if (failed(ScanProgram(*plan).build(scan, name)))
      return failure();
    scan.erase();
    definition.erase();
    return success();
  }

  void runOnOperation() override {
    for (auto scan : llvm::to_vector(getOperation().getOps<chunk::ScanOp>()))
      if (failed(convert(scan)))
        return signalPassFailure();
  }
};
} // namespace

void larc::buildChunkTiles(OpPassManager &pm, const TileProgramOptions &options,
                           const ChunkTileOptions &chunks) {
  buildChunkDerivation(pm, chunks.size);
  ConvertChunkToTileOptions converted;
  converted.operandTypes.assign(options.operandTypes.begin(),
                                options.operandTypes.end());
  converted.constantTypes.assign(options.constantTypes.begin(),
                                 options.constantTypes.end());
  converted.outputTypes.assign(options.outputTypes.begin(),
                               options.outputTypes.end());
  converted.matrixUnit = chunks.wgmma ? "wgmma" : "mma";
  converted.sharedBytes = chunks.sharedBytes;
  converted.segments = chunks.segments;
  converted.parts = chunks.parts;
  converted.factorRegisters = chunks.factorRegisters;
  converted.copies = chunks.bulkCopies ? "bulk" : "async";
  pm.addPass(createConvertChunkToTile(converted));
}
