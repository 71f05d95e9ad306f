//===- CostModelTest.cpp - What the cost model chooses -*- C++ -*- --------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledTestUtils.h"

#include "larc/Target/CPU/CostModel.h"

using namespace larc;
using namespace larc::test;

namespace {

// Nothing here depends on how fast the machine is, only on proportions that
// hold on all of them.
class CostModelTest : public CompiledTest {
protected:
  /// The model of a built-in spec in f32 with all axes of `size`.
  CostModel make(llvm::StringRef name, int64_t size) {
    RecurrenceOp spec = load(name);
    std::vector<std::pair<std::string, int64_t>> dims;
    for (mlir::StringAttr axis : spec.getAllAxes())
      dims.push_back({axis.str(), size});
    TensorMap inputs = makeInputs(spec, dims, {1, 2, 1, {}, {}, {}, 100}, 1);
    problem = llvm::cantFail(
        bindProblem(spec, {}, std::move(inputs), ConversionOptions(), false));
    options = CPUOptions::of(problem);
    auto model = CostModel::create(problem.recurrence, options);
    EXPECT_TRUE(mlir::succeeded(model));
    return std::move(*model);
  }
  FormChoice choose(const CostModel &model, int64_t heads, int64_t tokens,
                    unsigned threads) {
    CallShape shape;
    shape.heads = heads;
    shape.lengths = {tokens};
    shape.threads = threads;
    return model.choose(shape, options, /*anyForm=*/true);
  }

  Problem problem;
  CPUOptions options;
};

TEST_F(CostModelTest, DecodesTokenByToken) {
  CostModel model = make("gla", 128);
  for (int64_t heads : {1, 16, 512})
    EXPECT_EQ(choose(model, heads, 1, 2).form, CPUForm::Recurrent);
}

TEST_F(CostModelTest, TimesGrowWithTheCall) {
  CostModel model = make("delta_net", 64);
  double before = 0.0;
  for (int64_t tokens : {1, 16, 17, 100, 1000, 100000}) {
    double now = choose(model, 4, tokens, 1).milliseconds;
    EXPECT_GT(now, before);
    before = now;
  }
  double one = choose(model, 4, 100000, 1).milliseconds;
  double two = choose(model, 4, 100000, 2).milliseconds;
  EXPECT_NEAR(two / one, 0.5, 0.02);
}

TEST_F(CostModelTest, HonoursWhatIsGiven) {
  CostModel model = make("gsa", 32);
  options.form = CPUForm::Chunk;
  options.chunkSize = 64;
  options.segments = 5;
  CallShape shape;
  shape.lengths = {5000};
  shape.threads = 2;
  FormChoice choice = model.choose(shape, options, /*anyForm=*/false);
  EXPECT_EQ(choice.form, CPUForm::Chunk);
  EXPECT_EQ(choice.chunkSize, 64);
  EXPECT_EQ(choice.segments, 5);
}

TEST_F(CostModelTest, CutsOneLongSequenceForThreads) {
  CostModel model = make("gsa", 64);
  options.form = CPUForm::Chunk;
  CallShape shape;
  shape.lengths = {16384};
  shape.threads = 2;
  FormChoice choice = model.choose(shape, options, /*anyForm=*/false);
  EXPECT_EQ(choice.segments, 3);
  // Nothing to gain for one thread, for few tokens, or where heads suffice.
  shape.threads = 1;
  EXPECT_EQ(model.choose(shape, options, false).segments, 1);
  shape.threads = 2;
  shape.heads = 8;
  EXPECT_EQ(model.choose(shape, options, false).segments, 1);
  shape.heads = 1;
  shape.lengths = {40};
  EXPECT_EQ(model.choose(shape, options, false).segments, 1);
}

TEST_F(CostModelTest, LeavesWholeWhatCannotBeCut) {
  CostModel model = make("lattice_dec", 16);
  CallShape shape;
  shape.lengths = {16384};
  shape.threads = 8;
  EXPECT_EQ(model.choose(shape, options, /*anyForm=*/true).segments, 1);
}

} // namespace
