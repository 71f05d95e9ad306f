//===- FormCompiler.cpp - One form of a recurrence as kernels -------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FormCompiler.h"

#include "larc/Conversion/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace larc;

/// Shorter sequences are done before the first chunk would be.
static constexpr int64_t leastTokensOfChunks = 16;
/// What a block does before and after its tokens is to be little beside them.
static constexpr int64_t leastTokensOfSegments = 128;

/// What `convert-tile-to-llvm` notes at a kernel.
static constexpr llvm::StringLiteral sharedBytesName = "larc.shared_bytes";

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

/// Prints IR to stderr after the pass that is named, or after all.
static void enablePrinting(PassManager &pm, StringRef wanted) {
  if (wanted.empty())
    return;
  auto isMeant = [wanted = wanted.str()](Pass *pass, Operation *) {
    return wanted == "all" || pass->getArgument() == wanted;
  };
  pm.enableIRPrinting([](Pass *, Operation *) { return false; }, isMeant,
                      /*printModuleScope=*/false,
                      /*printAfterOnlyOnChange=*/false,
                      /*printAfterOnlyOnFailure=*/false, llvm::errs());
}

static TileProgramOptions makeTileOptions(const CudaOptions &options) {
  TileProgramOptions result;
  auto spell = [](ArrayRef<DType> types, SmallVector<std::string> &names) {
    for (DType type : types)
      names.push_back(getName(type).str());
  };
  result.stateType = getName(options.stateType).str();
  spell(options.operandTypes, result.operandTypes);
  spell(options.constantTypes, result.constantTypes);
  spell(options.outputTypes, result.outputTypes);
  return result;
}

/// How the kernel is called in profiles.
static std::string getKernelName(RecurrenceOp recurrence, StringRef form) {
  std::string name;
  for (char c : recurrence.getSymName())
    name += llvm::isAlnum(c) ? c : '_';
  return "larc_" + name + "_" + form.str();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

FailureOr<CudaTarget> FormCompiler::getTarget() {
  llvm::Expected<CudaTarget> target =
      CudaTarget::get(options.computeCapability);
  if (!target)
    return recurrence.emitError() << llvm::toString(target.takeError()),
           failure();
  return *target;
}

/// The shared memory that a block may have at most (CUDA C++ programming guide,
/// table of technical specifications per compute capability).
static int64_t getSharedBytes(unsigned computeCapability) {
  constexpr int64_t kilobyte = 1024;
  switch (computeCapability) {
  case 80:
  case 87:
    return 163 * kilobyte;
  case 90:
  case 100:
  case 103:
    return 227 * kilobyte;
  default:
    return 99 * kilobyte;
  }
}

LogicalResult FormCompiler::checkChunks() {
  if (options.stateType != DType::F32)
    return recurrence.emitError()
           << "has states of " << getName(options.stateType)
           << " in memory: chunks on GPUs read and write float32";
  // Gates and scalars may have any.
  for (auto [decl, type] :
       llvm::zip(recurrence.getTokenOperands().getAsRange<OperandDeclAttr>(),
                 options.operandTypes))
    if (decl.getKind() != OperandKind::Gate && !decl.getAxes().empty() &&
        type != DType::BF16)
      return recurrence.emitError()
             << "has the operand '" << decl.getName().getValue() << "' of "
             << getName(type) << ": chunks on GPUs take bf16";
  return success();
}

/// The programs of a form have the same maps, of the tensors that come first.
void FormCompiler::listMaps() {
  result.maps.clear();
  for (auto program : module->getOps<tile::ProgramOp>()) {
    std::vector<CudaTensorMap> maps;
    for (unsigned argument : program.getMappedArguments())
      maps.push_back({argument, program.getBoxRows(argument),
                      options.operandTypes[argument]});
    assert((result.maps.empty() ||
            llvm::equal(result.maps, maps,
                        [](const CudaTensorMap &lhs, const CudaTensorMap &rhs) {
                          return lhs.tensor == rhs.tensor &&
                                 lhs.rows == rhs.rows;
                        })) &&
           "programs of a form take the same parameters");
    result.maps = std::move(maps);
  }
}

LogicalResult FormCompiler::makeTiles() {
  bool hasChunks = choice.form == LARC_FORM_CHUNK;
  if (hasChunks && failed(checkChunks()))
    return failure();
  result.form = choice.form;
  result.chunkSize = choice.chunkSize;
  result.leastTokens = hasChunks ? leastTokensOfChunks : 0;
  module = ModuleOp::create(recurrence.getLoc());
  RecurrenceOp renamed = recurrence.clone();
  module->push_back(renamed);
  renamed.setSymName(
      getKernelName(recurrence, hasChunks ? "by_chunk" : "by_token"));
  PassManager pm(recurrence.getContext());
  enablePrinting(pm, options.printIRAfter);
  TimingScope tiles = scope.nest("MakeTilePrograms");
  pm.enableTiming(tiles);
  // Products of warp groups are Hopper's own.
  if (hasChunks) {
    ChunkTileOptions chunks;
    chunks.size = choice.chunkSize;
    chunks.wgmma = options.computeCapability == kHopperCapability;
    chunks.sharedBytes = getSharedBytes(options.computeCapability);
    chunks.segments = choice.segments;
    chunks.factorRegisters = choice.factorRegisters;
    chunks.bulkCopies = choice.bulkCopies;
    buildChunkTiles(pm, makeTileOptions(options), chunks);
    result.leastSegmentTokens = choice.segments ? leastTokensOfSegments : 0;
  } else {
    TileProgramOptions tokens = makeTileOptions(options);
    tokens.spareRegisters = choice.spareRegisters;
    buildRecurrentTiles(pm, tokens);
  }
  if (failed(pm.run(*module)))
    return failure();
  // All programs but the last find out what segments do.
  for (auto program : module->getOps<tile::ProgramOp>()) {
    CudaFormLaunch kernel;
    kernel.kernel = program.getSymName().str();
    kernel.warps = static_cast<unsigned>(program.getWarps());
    kernel.parts = static_cast<int64_t>(program.getParts());
    kernel.segmented = program.isSegmented();
    for (unsigned i = 0; i < program.getNumArguments(); ++i) {
      if (program.getArgumentKind(i) != tile::ArgumentKind::Scratch)
        continue;
      auto record = cast<tile::GlobalType>(program.getArgumentTypes()[i]);
      result.segmentBytes = record.getRows() * record.getCols() *
                            record.getElementType().getIntOrFloatBitWidth() / 8;
    }
    result.launches.push_back(kernel);
  }
  listMaps();
  for (CudaFormLaunch &kernel : MutableArrayRef(result.launches).drop_back())
    kernel.onlyIfCut = true;
  return success();
}

LogicalResult FormCompiler::makeKernels() {
  PassManager pm(recurrence.getContext());
  enablePrinting(pm, options.printIRAfter);
  TimingScope kernels = scope.nest("MakeKernels");
  pm.enableTiming(kernels);
  buildTilePipeline(pm, options.computeCapability, options.laneArrivals);
  if (failed(pm.run(*module)))
    return failure();
  for (CudaFormLaunch &kernel : result.launches) {
    auto function = module->lookupSymbol<LLVM::LLVMFuncOp>(kernel.kernel);
    if (!function)
      return recurrence.emitError()
             << "has lost its kernel '" << kernel.kernel << "'";
    if (auto bytes = function->getAttrOfType<IntegerAttr>(sharedBytesName))
      kernel.sharedBytes = bytes.getInt();
  }
  return success();
}

FailureOr<CudaForm> FormCompiler::assemble() {
  FailureOr<CudaTarget> target = getTarget();
  if (failed(target))
    return failure();
  TimingScope assembly = scope.nest("MakeMachineCode");
  FailureOr<Cubin> cubin = compileToCubin(*module, *target, options.ptxas);
  if (failed(cubin))
    return failure();
  result.cubin = cubin->image->getBuffer().str();
  return std::move(result);
}
