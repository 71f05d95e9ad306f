//===- PredictFormTest.cpp - Tests of the time of kernels -------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Target/CUDA/PredictForm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace larc;
using namespace mlir;

namespace {

class PredictFormTest : public testing::Test {
protected:
  PredictFormTest() : context(MLIRContext::Threading::DISABLED) {
    context
        .loadDialect<tile::TileDialect, arith::ArithDialect, scf::SCFDialect>();
    std::string text = makeProgram("first") + makeProgram("main");
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    form.form = LARC_FORM_CHUNK;
    form.chunkSize = 32;
    form.leastSegmentTokens = 256;
    CudaFormLaunch first;
    first.kernel = "first";
    first.segmented = first.onlyIfCut = true;
    CudaFormLaunch main;
    main.kernel = "main";
    main.segmented = true;
    form.launches = {first, main};
  }

  /// Each segment goes through its tokens and meets after each chunk.
  static std::string makeProgram(const std::string &name) {
    return "tile.program @" + name + R"(() warps 4 {
      %n = tile.length
      %which = tile.segment
      %count = tile.segments
      %tokens = arith.divui %n, %count : index
      %c0 = arith.constant 0 : index
      %c32 = arith.constant 32 : index
      scf.for %i = %c0 to %tokens step %c32 {
        tile.barrier
      }
      tile.return
    }
    )";
  }

  CudaPrediction predict(const CudaCall &call) {
    return predictForm(form, *module, GPUModel::get(90), call);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  CudaForm form;
};

} // namespace

TEST_F(PredictFormTest, LeavesManyHeadsWhole) {
  CudaPrediction whole = predict({/*sequences=*/1, /*tokens=*/8192,
                                  /*heads=*/96});
  EXPECT_EQ(whole.segments, 1);
  ASSERT_EQ(whole.kernels.size(), 1u);
  EXPECT_EQ(whole.kernels[0].name, "main");
  EXPECT_EQ(whole.kernels[0].prediction.blocks, 96);
}

TEST_F(PredictFormTest, CutsFewHeads) {
  CudaCall call{/*sequences=*/2, /*tokens=*/16384, /*heads=*/16};
  CudaPrediction cut = predict(call);
  EXPECT_EQ(cut.segments, 4);
  ASSERT_EQ(cut.kernels.size(), 2u);
  EXPECT_EQ(cut.kernels[1].prediction.blocks, 128);
  EXPECT_DOUBLE_EQ(cut.seconds, cut.kernels[0].prediction.seconds +
                                    cut.kernels[1].prediction.seconds);
  // A quarter of the chunks, twice.
  call.segments = 1;
  EXPECT_LT(cut.seconds, predict(call).seconds);
}

/// 50 heads in two segments each would leave a fourth of the multiprocessors
/// without work; in five, all have two.
TEST_F(PredictFormTest, CutsEvenly) {
  auto count = [&](int64_t heads, int64_t tokens) {
    return predict({/*sequences=*/1, tokens, heads}).segments;
  };
  EXPECT_EQ(count(4, 32768), 33);
  EXPECT_EQ(count(50, 8192), 5);
  EXPECT_EQ(count(66, 8192), 2);
  EXPECT_EQ(count(67, 8192), 1);
  EXPECT_EQ(count(96, 8192), 1);
  EXPECT_EQ(count(140, 8192), 1);
}

TEST_F(PredictFormTest, KeepsSegmentsLong) {
  EXPECT_EQ(predict({/*sequences=*/1, /*tokens=*/1024, /*heads=*/1}).segments,
            4);
  EXPECT_EQ(predict({/*sequences=*/1, /*tokens=*/100, /*heads=*/1}).segments,
            1);
}
