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

/// Registers of the lanes of both roles: of 65,536 in all, for 512 lanes, the
/// states' role takes what the other can do without.
static constexpr int64_t kFactorRegisters = 96, kStateRegisters = 160;

namespace {

/// Builds the program of a scan.
class ScanProgram {
public:
  explicit ScanProgram(const ScanPlan &plan)
      : plan(plan), loc(plan.scan.getLoc()), builder(plan.scan.getContext()) {}

  LogicalResult build(Operation *before, StringRef name);

private:
  void addArguments(ArrayAttr decls, ArgumentKind kind,
                    ArrayRef<FloatType> types);
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

LogicalResult ScanProgram::build(Operation *before, StringRef name) {
  RecurrenceOp op = plan.definition;
  builder.setInsertionPoint(before);
  for (auto [decl, type] :
       llvm::zip_equal(op.getTokenOperands().getAsRange<OperandDeclAttr>(),
                       plan.options.operandTypes))
    addArgument(decl, ArgumentKind::Operand, type);
  for (auto [decl, type] :
       llvm::zip_equal(op.getConstants().getAsRange<OperandDeclAttr>(),
                       plan.options.constantTypes))
    addArgument(decl, ArgumentKind::Constant, type);
  ArgumentNumbers numbers;
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

  auto program = tile::ProgramOp::create(
      builder, loc, builder.getStringAttr(name),
      TypeAttr::get(builder.getFunctionType(types, {})),
      builder.getI64IntegerAttr(2 * ScanPlan::kWarps),
      builder.getI64IntegerAttr(1), builder.getI64IntegerAttr(1),
      builder.getArrayAttr(attributes), ArrayAttr());
  Block *body = builder.createBlock(&program.getBody(), {}, types,
                                    SmallVector<Location>(types.size(), loc));
  builder.setInsertionPointToStart(body);
  TokenRange tokens;
  tokens.end = tile::LengthOp::create(builder, loc);
  tokens.first = arith::ConstantIndexOp::create(builder, loc, 0);

  auto makeRole = [&](int64_t first, int64_t registers) {
    IntegerAttr limit;
    if (plan.options.wgmma)
      limit = builder.getI64IntegerAttr(registers);
    auto role = tile::RoleOp::create(
        builder, loc, builder.getI64IntegerAttr(first),
        builder.getI64IntegerAttr(ScanPlan::kWarps), limit);
    Block *block = builder.createBlock(&role.getBody());
    tile::YieldOp::create(builder, loc);
    builder.setInsertionPointAfter(role);
    (void)block;
    return role;
  };
  tile::RoleOp factorRole = makeRole(0, kFactorRegisters);
  tile::RoleOp stateRole = makeRole(ScanPlan::kWarps, kStateRegisters);
  tile::ReturnOp::create(builder, loc);

  // The second role says what the first has to write.
  OpBuilder entry(factorRole);
  SharedArrays shared(plan, entry);
  shared.allocateRings();
  StateRole(plan, shared, body->getArguments(), numbers)
      .emit(stateRole, tokens);
  FactorRole factors(plan, shared, body->getArguments());
  factors.emit(factorRole, tokens);
  int64_t stages = 0;
  if (failed(shared.chooseStages(stages))) {
    program.erase();
    return failure();
  }
  factors.setStages(stages);
  return success();
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
    ScanTileOptions options;
    options.operandTypes = *operands;
    options.constantTypes = *constants;
    options.outputTypes = *outputs;
    options.wgmma = matrixUnit == "wgmma";
    options.stages = stages;
    options.sharedBytes = sharedBytes;
    options.segments = segments;
    return options;
  }

  LogicalResult convert(chunk::ScanOp scan) {
    auto definition = SymbolTable::lookupNearestSymbolFrom<RecurrenceOp>(
        scan, scan.getDefinitionAttr());
    FailureOr<ScanTileOptions> options = getOptions(scan, definition);
    if (failed(options))
      return failure();
    FailureOr<ScanPlan> plan = ScanPlan::create(scan, definition, *options);
    if (failed(plan))
      return failure();
    std::string name = definition.getSymName().str();
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
                           int64_t chunkSize, bool wgmma) {
  buildChunkDerivation(pm, chunkSize);
  ConvertChunkToTileOptions converted;
  converted.operandTypes.assign(options.operandTypes.begin(),
                                options.operandTypes.end());
  converted.constantTypes.assign(options.constantTypes.begin(),
                                 options.constantTypes.end());
  converted.outputTypes.assign(options.outputTypes.begin(),
                               options.outputTypes.end());
  converted.matrixUnit = wgmma ? "wgmma" : "mma";
  pm.addPass(createConvertChunkToTile(converted));
}
