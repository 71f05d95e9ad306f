//===- Explain.cpp - larc explain -----------------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "Dims.h"
#include "GPUSchedule.h"
#include "Session.h"

#include "larc/Analysis/Explain.h"

#include "llvm/Support/raw_ostream.h"

using namespace larc;
using namespace larc::driver;

llvm::Expected<int> driver::runExplain(Session &session) {
  const Options &options = session.getOptions();
  llvm::Expected<SpecChoice> spec =
      session.chooseSpec(/*file=*/nullptr, /*path=*/"");
  if (!spec)
    return spec.takeError();
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> module =
      flatten(spec->recurrence, spec->attributes);
  if (mlir::failed(module))
    return Session::makePrintedFault();
  // Sizes are optional here: without them, work is counted in their names.
  RecurrenceOp recurrence = getRecurrence(**module);
  if (llvm::Error error =
          bindDimsOption(recurrence, getSingleDims(options.dims),
                         /*required=*/{}, /*complete=*/false))
    return std::move(error);
  ExplainOptions format;
  format.markdown = options.markdown;
  if (options.chunkSize)
    format.chunkSize = options.chunkSize;
  if (options.dtype)
    format.elementBytes = getByteWidth(*options.dtype);
  format.stateBytes = options.dtype == DType::F64 ? 8 : 4;
  if (mlir::failed(explain(recurrence, format, llvm::outs())))
    return Session::makePrintedFault();
  if (options.hasCuda())
    explainGPU(options, recurrence, llvm::outs());
  return 0;
}
