//===- Cubin.cpp - Machine code for GPUs ----------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Target/CUDA/Cubin.h"

#include "larc/Support/Error.h"
#include "larc/Support/ObjectCache.h"
#include "larc/Target/CUDA/Ptxas.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace larc;

//===----------------------------------------------------------------------===//
// Assembling
//===----------------------------------------------------------------------===//

/// The machine code depends on the text and on the assembler, and on nothing
/// else of larc's.
static std::string makeCacheKey(StringRef ptx, const CudaTarget &target,
                                const Ptxas &ptxas) {
  return ("cubin " + target.chip + "\n" + ptxas.getIdentity() + "\n" + ptx)
      .str();
}

/// Resources are read from the messages again each time, so that a later larc
/// may read more from them.
static Cubin makeCubin(std::unique_ptr<llvm::MemoryBuffer> image,
                       StringRef messages) {
  return {std::move(image), ResourceReport::parse(messages)};
}

llvm::Expected<Cubin> larc::assembleCubin(MLIRContext *context, StringRef ptx,
                                          const CudaTarget &target,
                                          StringRef ptxasPath) {
  auto ptxas = findPtxas(PtxasPlaces::fromEnvironment(ptxasPath),
                         PtxasNeed::of(ptx, target));
  if (!ptxas)
    return ptxas.takeError();
  ObjectCache cache = ObjectCache::fromEnvironment();
  std::string key = makeCacheKey(ptx, target, *ptxas);
  if (cache.isEnabled())
    if (std::optional<CachedObject> entry = cache.load(key))
      return makeCubin(std::move(entry->object), entry->metadata);

  auto assembled = ptxas->assemble(ptx, target);
  if (!assembled)
    return assembled.takeError();
  if (cache.isEnabled())
    if (llvm::Error error = cache.store(key, assembled->cubin->getBuffer(),
                                        assembled->messages))
      warnOfCache(context, std::move(error));
  return makeCubin(std::move(assembled->cubin), assembled->messages);
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

/// Emits `error` with its notes.
static void emitFaults(Location loc, llvm::Error error) {
  llvm::handleAllErrors(
      std::move(error),
      [&](const Fault &fault) {
        InFlightDiagnostic diagnostic = emitError(loc);
        if (!fault.getFile().empty())
          diagnostic << fault.getFile() << ": ";
        diagnostic << fault.getMessage();
        for (const std::string &note : fault.getNotes())
          diagnostic.attachNote() << note;
      },
      [&](const llvm::ErrorInfoBase &other) {
        emitError(loc) << other.message();
      });
}

/// What the attributes of a kernel promise of its launch.
static LaunchBounds getLaunchBounds(LLVM::LLVMFuncOp kernel) {
  LaunchBounds bounds;
  bounds.kernel = kernel.getSymName().str();
  for (StringRef name : {NVVM::NVVMDialect::getReqntidAttrName(),
                         NVVM::NVVMDialect::getMaxntidAttrName()})
    if (auto sizes = kernel->getAttrOfType<DenseI32ArrayAttr>(name)) {
      bounds.threads = 1;
      for (int32_t size : sizes.asArrayRef())
        bounds.threads *= size;
      break;
    }
  if (auto blocks = kernel->getAttrOfType<IntegerAttr>(
          NVVM::NVVMDialect::getMinctasmAttrName()))
    bounds.blocksPerSM = blocks.getInt();
  return bounds;
}

/// Emits what is wrong with the kernels, each at its function.
static LogicalResult checkResources(ModuleOp module,
                                    const ResourceReport &report,
                                    ArrayRef<LaunchBounds> bounds) {
  std::vector<ResourceFault> faults = findResourceFaults(report, bounds);
  for (const ResourceFault &fault : faults) {
    Operation *place = module.lookupSymbol(fault.kernel);
    emitError(place ? place->getLoc() : module.getLoc()) << fault.message;
  }
  return success(faults.empty());
}

FailureOr<Cubin> larc::compileToCubin(ModuleOp module, const CudaTarget &target,
                                      StringRef ptxas) {
  SmallVector<LaunchBounds> bounds;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
      bounds.push_back(getLaunchBounds(function));
  if (bounds.empty())
    return emitError(module.getLoc(),
                     "has no kernel: expected a function with the "
                     "attribute 'nvvm.kernel'"),
           failure();
  FailureOr<std::string> ptx = translateToPTX(module, target);
  if (failed(ptx))
    return failure();

  llvm::Expected<Cubin> cubin =
      assembleCubin(module.getContext(), *ptx, target, ptxas);
  if (!cubin) {
    emitFaults(module.getLoc(), cubin.takeError());
    return failure();
  }
  if (failed(checkResources(module, cubin->report, bounds)))
    return failure();
  return std::move(*cubin);
}
