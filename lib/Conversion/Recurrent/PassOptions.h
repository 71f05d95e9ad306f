//===- PassOptions.h - Options of passes that make loops -*- C++ -*- ------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_CONVERSION_RECURRENT_PASSOPTIONS_H
#define LARC_LIB_CONVERSION_RECURRENT_PASSOPTIONS_H

#include "larc/Conversion/Passes.h"

namespace larc {

/// `Base`, a pass or the options of a pipeline, with its options as a
/// structure. TableGen gives every pass members of its own, which only what
/// derives from it may read.
template <typename Base>
struct WithRecurrentOptions : Base {
  using Base::Base;

  RecurrentOptions getRecurrentOptions() const {
    RecurrentOptions options;
    options.computeType = this->computeType;
    options.operandTypes.assign(this->operandTypes.begin(),
                                this->operandTypes.end());
    options.constantTypes.assign(this->constantTypes.begin(),
                                 this->constantTypes.end());
    options.outputTypes.assign(this->outputTypes.begin(),
                               this->outputTypes.end());
    options.vectorBits = this->vectorBits;
    options.cacheBytes = this->cacheBytes;
    options.blockColumns = this->blockColumns;
    return options;
  }
};

} // namespace larc

#endif // LARC_LIB_CONVERSION_RECURRENT_PASSOPTIONS_H
