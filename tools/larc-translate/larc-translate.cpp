//===- larc-translate.cpp - Writes code of larc's IR ------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-translate with larc's code generation for GPUs.
//
//===----------------------------------------------------------------------===//

#include "larc/Support/Error.h"
#include "larc/Target/CUDA/Cubin.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace {
struct Options {
  llvm::cl::opt<unsigned> capability{
      "compute-capability", llvm::cl::init(90),
      llvm::cl::desc("The GPU's compute capability: 90 is 9.0")};
  llvm::cl::opt<std::string> ptxas{"ptxas",
                                   llvm::cl::desc("The assembler to use"),
                                   llvm::cl::value_desc("file")};
};
} // namespace

static FailureOr<larc::CudaTarget> getTarget(ModuleOp module,
                                             const Options &options) {
  llvm::Expected<larc::CudaTarget> target =
      larc::CudaTarget::get(options.capability);
  if (target)
    return std::move(*target);
  return emitError(module.getLoc()) << llvm::toString(target.takeError());
}

static LogicalResult writePTX(ModuleOp module, llvm::raw_ostream &os,
                              const Options &options) {
  FailureOr<larc::CudaTarget> target = getTarget(module, options);
  if (failed(target))
    return failure();
  FailureOr<std::string> ptx = larc::translateToPTX(module, *target);
  if (failed(ptx))
    return failure();
  os << *ptx;
  return success();
}

static LogicalResult writeCubin(ModuleOp module, llvm::raw_ostream &os,
                                const Options &options, bool onlyResources) {
  FailureOr<larc::CudaTarget> target = getTarget(module, options);
  if (failed(target))
    return failure();
  FailureOr<larc::Cubin> cubin =
      larc::compileToCubin(module, *target, options.ptxas);
  if (failed(cubin))
    return failure();
  if (onlyResources)
    cubin->report.print(os);
  else
    os << cubin->image->getBuffer();
  return success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM initLLVM(argc, argv);
  llvm::setBugReportMsg("PLEASE report this as a bug of larc, with the input, "
                        "the command and the stack trace.\n");
  llvm::cl::AddExtraVersionPrinter([](llvm::raw_ostream &os) {
    os << "larc version " << LARC_VERSION_STRING << "\n";
  });

  Options options;
  auto registerDialects = [](DialectRegistry &registry) {
    registry.insert<LLVM::LLVMDialect, NVVM::NVVMDialect>();
  };
  TranslateFromMLIRRegistration toPTX(
      "mlir-to-ptx", "PTX of the dialects llvm and nvvm",
      [&](ModuleOp module, llvm::raw_ostream &os) {
        return writePTX(module, os, options);
      },
      registerDialects);
  TranslateFromMLIRRegistration toCubin(
      "mlir-to-cubin", "machine code for GPUs of the dialects llvm and nvvm",
      [&](ModuleOp module, llvm::raw_ostream &os) {
        return writeCubin(module, os, options, /*onlyResources=*/false);
      },
      registerDialects);
  TranslateFromMLIRRegistration toResources(
      "mlir-to-resources", "what the kernels of the machine code take",
      [&](ModuleOp module, llvm::raw_ostream &os) {
        return writeCubin(module, os, options, /*onlyResources=*/true);
      },
      registerDialects);
  return failed(
      mlirTranslateMain(argc, argv, "larc's code generation for GPUs"));
}
