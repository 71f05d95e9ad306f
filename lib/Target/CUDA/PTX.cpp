//===- PTX.cpp - From the LLVM dialect to PTX -----------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Target/CUDA/PTX.h"

#include "larc/Support/Error.h"

#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Config/Targets.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace mlir;
using namespace larc;

static constexpr llvm::StringLiteral tripleName = "nvptx64-nvidia-cuda";

/// The version of the PTX that is written, as LLVM has it: asynchronous copies
/// into the shared memory of the thread block itself came with 8.6, some GPUs
/// later.
static StringRef getPTXFeature(const CudaTarget &target) {
  return llvm::StringSwitch<StringRef>(target.chip)
      .Case("sm_120", "+ptx87")
      .Cases({"sm_103", "sm_121"}, "+ptx88")
      .Cases({"sm_88", "sm_110"}, "+ptx90")
      .Default("+ptx86");
}

static constexpr unsigned oldestCapability = 80;

//===----------------------------------------------------------------------===//
// The target
//===----------------------------------------------------------------------===//

static const llvm::Target *findTarget(std::string &message) {
#if LLVM_HAS_NVPTX_TARGET
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
#endif
  return llvm::TargetRegistry::lookupTarget(llvm::Triple(tripleName), message);
}

llvm::Expected<CudaTarget> CudaTarget::get(unsigned computeCapability) {
  std::string message;
  const llvm::Target *target = findTarget(message);
  if (!target)
    return makeFault("this LLVM has no NVPTX target: " + message);
  if (computeCapability < oldestCapability)
    return makeUsageFault("GPUs of compute capability " +
                          Twine(computeCapability / 10) + "." +
                          Twine(computeCapability % 10) +
                          " are not supported: expected 8.0 or newer");
  std::string chip = "sm_" + std::to_string(computeCapability);
  if (computeCapability == 90)
    chip += 'a';
  std::unique_ptr<llvm::MCSubtargetInfo> info(
      target->createMCSubtargetInfo(llvm::Triple(tripleName), "", ""));
  if (!info->isCPUStringValid(chip))
    return makeUsageFault("'" + chip + "' is no GPU that this LLVM knows");
  return CudaTarget{std::move(chip)};
}

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createMachine(const CudaTarget &cudaTarget) {
  std::string message;
  const llvm::Target *target = findTarget(message);
  if (!target)
    return makeFault("this LLVM has no NVPTX target: " + message);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(llvm::Triple(tripleName), cudaTarget.chip,
                                  getPTXFeature(cudaTarget), options,
                                  /*RM=*/std::nullopt, /*CM=*/std::nullopt,
                                  llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    return makeFault("LLVM makes no code for '" + cudaTarget.chip + "'");
  return machine;
}

//===----------------------------------------------------------------------===//
// What LLVM would end the process for
//===----------------------------------------------------------------------===//

/// Why the target cannot do the function of an operation; empty if it can, or
/// if the operation is none of mathematics.
static StringRef findMissingInstruction(Operation *op) {
  enum class Support { All, Single, Approximate, None };
  Support support =
      llvm::StringSwitch<Support>(op->getName().getStringRef())
          .Case("llvm.intr.exp2", Support::Single)
          .Cases({"llvm.intr.sin", "llvm.intr.cos", "llvm.intr.tanh"},
                 Support::Approximate)
          .Cases({"llvm.intr.exp", "llvm.intr.exp10", "llvm.intr.log",
                  "llvm.intr.log2", "llvm.intr.log10"},
                 Support::None)
          .Cases({"llvm.intr.pow", "llvm.intr.powi", "llvm.intr.tan",
                  "llvm.intr.asin", "llvm.intr.acos", "llvm.intr.atan"},
                 Support::None)
          .Cases({"llvm.intr.atan2", "llvm.intr.sinh", "llvm.intr.cosh",
                  "llvm.intr.sincos", "llvm.intr.frexp", "llvm.intr.ldexp"},
                 Support::None)
          .Default(Support::All);
  if (support == Support::All)
    return "";
  if (support == Support::None)
    return "the target has no instruction for it";
  Type type = op->getResult(0).getType();
  if (auto vector = dyn_cast<VectorType>(type))
    type = vector.getElementType();
  if (type.isF64())
    return "the target has no instruction for it in float64";
  auto flags = dyn_cast<LLVM::FastmathFlagsInterface>(op);
  if (support == Support::Approximate && flags &&
      !LLVM::bitEnumContainsAll(
          cast<LLVM::FastmathFlagsAttr>(flags.getFastmathAttr()).getValue(),
          LLVM::FastmathFlags::afn))
    return "the target has an approximate instruction only, which the "
           "operation's fast-math flags do not allow";
  return "";
}

/// True if calls of `name` need no definition in the module.
static bool isKnownToTarget(StringRef name) {
  return name.starts_with("llvm.") || name == "vprintf" ||
         name == "__assertfail";
}

/// Emits an error at every operation that LLVM or the assembler could not take.
static LogicalResult verifyForTarget(ModuleOp module) {
  llvm::StringSet<> defined;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (!function.isExternal())
      defined.insert(function.getSymName());

  WalkResult result = module.walk([&](Operation *op) {
    if (StringRef reason = findMissingInstruction(op); !reason.empty()) {
      op->emitOpError("cannot be compiled for a GPU: ") << reason;
      return WalkResult::interrupt();
    }
    auto call = dyn_cast<LLVM::CallOp>(op);
    if (!call || !call.getCallee() || defined.contains(*call.getCallee()) ||
        isKnownToTarget(*call.getCallee()))
      return WalkResult::advance();
    op->emitOpError("calls '")
        << *call.getCallee() << "', which nothing defines";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

/// Operations of `nvvm` that are short for inline PTX become that; the others
/// have intrinsics.
static LogicalResult expandInlinePTX(ModuleOp module) {
  PassManager pm(module.getContext());
  pm.addPass(createConvertNVVMToLLVMPass());
  return pm.run(module);
}

static void registerTranslations(MLIRContext *context) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  context->appendDialectRegistry(registry);
}

/// Writes PTX of `module`; errors of the code generator are put into `errors`.
static LogicalResult emitPTX(llvm::Module &module, llvm::TargetMachine &machine,
                             llvm::raw_pwrite_stream &os, std::string &errors) {
  module.getContext().setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo *info, void *data) {
        if (info->getSeverity() != llvm::DS_Error)
          return;
        std::string &text = *static_cast<std::string *>(data);
        if (!text.empty())
          return;
        llvm::raw_string_ostream stream(text);
        llvm::DiagnosticPrinterRawOStream printer(stream);
        info->print(printer);
      },
      &errors);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, os, /*DwoOut=*/nullptr,
                                  llvm::CodeGenFileType::AssemblyFile)) {
    errors = "the target writes no PTX";
    return failure();
  }
  passes.run(module);
  return success(errors.empty());
}

FailureOr<std::string> larc::translateToPTX(ModuleOp module,
                                            const CudaTarget &target) {
  auto report = [&](llvm::Error error) -> LogicalResult {
    return emitError(module.getLoc()) << llvm::toString(std::move(error));
  };
  auto machine = createMachine(target);
  if (!machine)
    return report(machine.takeError());
  if (failed(verifyForTarget(module)))
    return failure();

  registerTranslations(module.getContext());
  OwningOpRef<ModuleOp> expanded = module.clone();
  if (failed(expandInlinePTX(*expanded)))
    return failure();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(*expanded, context);
  if (!llvmModule)
    return emitError(module.getLoc(), "cannot be translated to LLVM IR"),
           failure();
  llvmModule->setDataLayout((*machine)->createDataLayout());
  llvmModule->setTargetTriple((*machine)->getTargetTriple());
  auto optimize = makeOptimizingTransformer(/*optLevel=*/3, /*sizeLevel=*/0,
                                            machine->get());
  if (llvm::Error error = optimize(llvmModule.get()))
    return report(std::move(error));

  llvm::SmallString<0> ptx;
  llvm::raw_svector_ostream os(ptx);
  std::string errors;
  if (failed(emitPTX(*llvmModule, **machine, os, errors)))
    return emitError(module.getLoc(), "cannot be compiled to PTX: ") << errors,
           failure();
  return ptx.str().str();
}
