//===- PredictForm.cpp - The time that kernels take -----------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Target/CUDA/PredictForm.h"

#include "larc/Runtime/Segments.h"

#include <algorithm>

using namespace mlir;
using namespace larc;

const CudaPrediction::Kernel &CudaPrediction::getLongest() const {
  return *llvm::max_element(kernels, [](const Kernel &lhs, const Kernel &rhs) {
    return lhs.prediction.seconds < rhs.prediction.seconds;
  });
}

/// As libraries choose.
static int64_t chooseSegments(const CudaForm &form, const GPUModel &model,
                              const CudaCall &call) {
  if (form.leastSegmentTokens <= 0)
    return 1;
  int64_t blocks = call.sequences * call.heads * form.launches.back().parts;
  return larc_choose_segments(blocks, call.tokens,
                              int64_t(model.multiprocessors) * form.blocksPerSM,
                              form.leastSegmentTokens, /*limit=*/0);
}

CudaPrediction larc::predictForm(const CudaForm &form, ModuleOp programs,
                                 const GPUModel &model, const CudaCall &call) {
  CudaPrediction result;
  result.segments =
      call.segments > 0 ? call.segments : chooseSegments(form, model, call);
  TileCall each{call.sequences, call.tokens, call.heads, result.segments,
                std::max<int64_t>(form.chunkSize, 1)};
  for (const CudaFormLaunch &launch : form.launches) {
    if (launch.onlyIfCut && result.segments == 1)
      continue;
    auto program = programs.lookupSymbol<tile::ProgramOp>(launch.kernel);
    if (!program)
      continue;
    result.kernels.push_back(
        {launch.kernel, predictTiles(program, model, each)});
    result.seconds += result.kernels.back().prediction.seconds;
  }
  return result;
}
