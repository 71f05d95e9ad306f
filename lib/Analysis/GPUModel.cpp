//===- GPUModel.cpp - What a GPU can do -----------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Analysis/GPUModel.h"

using namespace larc;

/// From the data sheets of A100 80 GB, H200 and B200; copies reach nine tenths
/// of the bandwidth there.
static constexpr GPUModel models[] = {
    {80, "A100", 108, 1.41e9, 1.8e12, 512},
    {90, "H200", 132, 1.755e9, 4.3e12, 1024},
    {100, "B200", 148, 1.85e9, 7.2e12, 2048},
};

const GPUModel &GPUModel::get(unsigned computeCapability) {
  const GPUModel *best = &models[0];
  for (const GPUModel &model : models)
    if (model.computeCapability <= computeCapability)
      best = &model;
  return *best;
}
