//===- TileCostTest.cpp - Tests of the cost of tile programs ----*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Analysis/TileCost.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace larc;
using namespace mlir;

namespace {

class TileCostTest : public testing::Test {
protected:
  TileCostTest() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<tile::TileDialect, arith::ArithDialect,
                        math::MathDialect, scf::SCFDialect>();
  }

  /// A program with the number of tokens %n, some constants, and `body`.
  tile::ProgramOp parse(const std::string &body, int64_t warps = 4) {
    std::string text =
        "tile.program @p(%x: !tile.global<?x64xbf16> {tile.argument = "
        "#tile.argument<operand>, tile.box_rows = 32}, %common: "
        "!tile.global<1x64xbf16> {tile.argument = #tile.argument<constant>}, "
        "%s: "
        "!tile.global<64x64xf32> {tile.argument = #tile.argument<initial>}) "
        "warps " +
        std::to_string(warps) + R"( {
          %n = tile.length
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %c8 = arith.constant 8 : index
          %c32 = arith.constant 32 : index
          %c128 = arith.constant 128 : index
          %zero = arith.constant 0.0 : f32
          %z = tile.splat %zero : !tile.reg<16x64xf32, acc>
        )" +
        body + "  tile.return\n}";
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    return *module->getOps<tile::ProgramOp>().begin();
  }

  /// What a token costs whose work is `body`, for four warps.
  TileProgramCost measureToken(const std::string &body) {
    return measureTiles(
        parse("scf.for %i = %c0 to %n step %c1 {\n" + body + "\n}\n"), model,
        {});
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  const GPUModel &model = GPUModel::get(90);
};

/// A scalar operation on each of the 32 registers of %z.
std::string map(const std::string &scalars, const std::string &operand = "%z",
                const std::string &result = "%y") {
  return result + " = tile.map (%e = " + operand +
         ") : (!tile.reg<16x64xf32, acc>) -> !tile.reg<16x64xf32, acc> {\n" +
         scalars + "\n tile.yield %r : f32\n}\n";
}

const std::string product = "%r = arith.mulf %e, %e : f32";

} // namespace

TEST_F(TileCostTest, KnowsEveryOperation) {
  for (RegisteredOperationName name :
       context.getRegisteredOperationsByDialect("tile"))
    EXPECT_TRUE(isTileCostKnown(name)) << name.getStringRef().str();
}

TEST_F(TileCostTest, CountsElements) {
  TileProgramCost cost = measureToken(map(product));
  ASSERT_EQ(cost.roles.size(), 1u);
  const TileWork &work = cost.roles[0].work;
  EXPECT_EQ(work.instructions, 4 * 32);
  EXPECT_EQ(work.alu, 0);
  EXPECT_EQ(work.special, 0);
  // Each of the four schedulers has one of the warps.
  EXPECT_EQ(cost.issue, 32);
}

TEST_F(TileCostTest, FusesProductsAndSums) {
  TileProgramCost cost = measureToken(
      map("%p = arith.mulf %e, %e : f32\n %r = arith.addf %p, %e : f32"));
  EXPECT_EQ(cost.roles[0].work.instructions, 4 * 32);
}

TEST_F(TileCostTest, CountsFunctionsAndConversions) {
  TileProgramCost cost =
      measureToken(map("%r = math.exp2 %e : f32") +
                   "%b = tile.convert %y : !tile.reg<16x64xf32, acc> -> "
                   "!tile.reg<16x64xbf16, acc>\n");
  const TileWork &work = cost.roles[0].work;
  EXPECT_EQ(work.special, 4 * 32);
  // Two numbers are rounded by one instruction.
  EXPECT_EQ(work.alu, 4 * 16);
  EXPECT_EQ(work.instructions, 4 * (32 + 16));
  EXPECT_EQ(cost.special, 32 * model.specialCycles);
}

/// The unit's own logarithm is less than a polynomial.
TEST_F(TileCostTest, CountsLogarithms) {
  TileProgramCost unit =
      measureToken(map("%r = math.log1p %e fastmath<afn> : f32"));
  EXPECT_EQ(unit.roles[0].work.instructions, 4 * 3 * 32);
  EXPECT_EQ(unit.roles[0].work.special, 4 * 32);
  TileProgramCost exact = measureToken(map("%r = math.log1p %e : f32"));
  EXPECT_GT(exact.roles[0].work.instructions, unit.roles[0].work.instructions);
}

TEST_F(TileCostTest, CountsProductsOfAWarp) {
  TileProgramCost cost = measureToken(R"(
    %h = arith.constant 0.0 : bf16
    %a = tile.splat %h : !tile.reg<16x32xbf16, lhs>
    %b = tile.splat %h : !tile.reg<32x64xbf16, rhs>
    %d = tile.mma %a, %b, %z : !tile.reg<16x32xbf16, lhs>, !tile.reg<32x64xbf16, rhs>, !tile.reg<16x64xf32, acc>
  )");
  EXPECT_EQ(cost.roles[0].work.instructions, 4 * 2 * 8);
  EXPECT_DOUBLE_EQ(cost.matrix,
                   2.0 * 16 * 64 * 32 / (model.matrixFlops * model.mmaShare));
}

TEST_F(TileCostTest, CountsProductsOfFourWarps) {
  TileProgramCost cost = measureTiles(parse(R"(
    %h = arith.constant 0.0 : bf16
    %a = tile.splat %h : !tile.reg<16x32xbf16, lhs>
    %b = tile.alloc : !tile.shared<64x64xbf16, swizzle = 128>
    scf.for %i = %c0 to %n step %c1 {
      tile.wgmma_fence
      %f = tile.wgmma %z, %a, %b[%c0, %c0] : !tile.reg<16x64xf32, acc>, !tile.reg<16x32xbf16, lhs>, !tile.shared<64x64xbf16, swizzle = 128>
      tile.wgmma_commit
      %d = tile.wgmma_wait %f pending 0 : !tile.flight<16x64xf32, acc>
    }
  )"),
                                      model, {});
  // 64 columns take as long as the fewest that use the unit well.
  EXPECT_DOUBLE_EQ(cost.matrix,
                   2.0 * 16 * model.wgmmaLeastCols * 32 / model.matrixFlops);
  EXPECT_GE(cost.roles[0].cycles, cost.matrix + model.wgmmaLatency);
}

TEST_F(TileCostTest, MultipliesLoopsOfConstantLength) {
  TileProgramCost once = measureToken(map(product));
  TileProgramCost eight = measureToken("scf.for %j = %c0 to %c8 step %c1 {\n" +
                                       map(product) + "}\n");
  EXPECT_EQ(eight.roles[0].work.instructions,
            8 * once.roles[0].work.instructions);
  EXPECT_DOUBLE_EQ(eight.roles[0].cycles, 8 * once.roles[0].cycles);
}

TEST_F(TileCostTest, WaitsForOperands) {
  std::string other = map("%r = math.exp2 %e : f32", "%z", "%w");
  TileProgramCost apart = measureToken(map("%r = math.exp2 %e : f32") + other);
  std::string after = map("%r = math.exp2 %e : f32", "%y", "%w");
  TileProgramCost chain = measureToken(map("%r = math.exp2 %e : f32") + after);
  EXPECT_EQ(chain.roles[0].work.instructions, apart.roles[0].work.instructions);
  EXPECT_GT(chain.roles[0].cycles, apart.roles[0].cycles);
}

TEST_F(TileCostTest, DividesChunksAmongWarps) {
  std::string loop = "tile.role first 0 warps 4 {\n scf.for %i = %c0 to %n "
                     "step %STEP {\n" +
                     map(product) + "}\n}\n";
  auto measure = [&](const std::string &step) {
    std::string text = loop;
    text.replace(text.find("%STEP"), 5, step);
    TileMeasure options;
    options.tokensPerChunk = 32;
    return measureTiles(parse(text), model, options);
  };
  // All warps do all chunks, or each every fourth.
  TileProgramCost all = measure("%c32"), fourth = measure("%c128");
  EXPECT_EQ(fourth.roles[0].work.instructions,
            all.roles[0].work.instructions / 4);
  EXPECT_DOUBLE_EQ(fourth.roles[0].cycles, all.roles[0].cycles / 4);
}

TEST_F(TileCostTest, SharesSchedulersAmongRoles) {
  auto role = [&](int first) {
    return "tile.role first " + std::to_string(first) +
           " warps 4 {\n scf.for %i = %c0 to %n step %c1 {\n" + map(product) +
           "}\n}\n";
  };
  double alone = measureTiles(parse(role(0), 4), model, {}).roles[0].cycles;
  TileProgramCost both = measureTiles(parse(role(0) + role(4), 8), model, {});
  ASSERT_EQ(both.roles.size(), 2u);
  EXPECT_GT(both.roles[0].cycles, alone);
  EXPECT_EQ(both.issue, 64);
}

TEST_F(TileCostTest, TakesTheUsualBranch) {
  auto branches = [&](const std::string &kind, const std::string &first,
                      const std::string &second) {
    return measureToken("%t = arith.constant true\n"
                        "%p = tile.splat %t : !tile.reg<1x8xi1, cols acc>\n"
                        "%v = tile.vote " +
                        kind +
                        " %p : !tile.reg<1x8xi1, cols acc>\n"
                        "scf.if %v {\n" +
                        first + "} else {\n" + second + "}\n");
  };
  std::string work = map(product);
  double all = branches("all", work, "").roles[0].work.instructions;
  double none = branches("all", "", work).roles[0].work.instructions;
  EXPECT_EQ(all - none, 4 * 32);
  // What holds anywhere is the exception.
  EXPECT_EQ(branches("any", "", work).roles[0].work.instructions, all);
}

TEST_F(TileCostTest, TakesTheLongerBranchOnTheExactPath) {
  tile::ProgramOp program =
      parse("scf.for %i = %c0 to %n step %c1 {\n %t = arith.cmpi eq, %i, %c8 : "
            "index\n scf.if %t {\n } else {\n" +
            map(product) + "}\n}\n");
  TileMeasure exact;
  exact.exactPath = true;
  double usual = measureTiles(program, model, {}).roles[0].work.instructions;
  EXPECT_EQ(measureTiles(program, model, exact).roles[0].work.instructions,
            usual + 4 * 32);
}

TEST_F(TileCostTest, CountsBranchesOfOneWarpOnce) {
  TileProgramCost cost = measureToken(
      "%w = tile.warp\n %is = arith.cmpi eq, %w, %c0 : index\n scf.if %is {\n" +
      map(product) + "}\n");
  // The comparison of four warps, and the work of one.
  EXPECT_EQ(cost.roles[0].work.instructions, 4 + 32);
  // Of two pairs, one warp each.
  TileProgramCost pairs = measureToken(
      "%w = tile.warp\n %two = arith.constant 2 : index\n %in = arith.remui "
      "%w, %two : index\n %is = arith.cmpi eq, %in, %c0 : index\n scf.if %is "
      "{\n" +
      map(product) + "}\n");
  EXPECT_GE(pairs.roles[0].work.instructions, 4 + 2 * 32);
}

TEST_F(TileCostTest, CountsLoopsThatWarpsShare) {
  // Each of two warps does every other of eight turns.
  TileProgramCost whole = measureToken("scf.for %j = %c0 to %c8 step %c1 {\n" +
                                       map(product) + "}\n");
  TileProgramCost shared = measureToken(
      "%w = tile.warp\n %two = arith.constant 2 : index\n %in = arith.remui "
      "%w, %two : index\n scf.for %j = %in to %c8 step %two {\n" +
      map(product) + "}\n");
  EXPECT_LT(shared.roles[0].cycles, whole.roles[0].cycles * 3 / 4);
  EXPECT_GT(shared.roles[0].cycles, whole.roles[0].cycles * 3 / 8);
}

TEST_F(TileCostTest, CountsMemoryOnce) {
  // All warps read the same row of 64 numbers.
  TileProgramCost cost = measureTiles(parse(R"(
    %u = tile.load %s[%c0, %c0] : !tile.global<64x64xf32> -> !tile.reg<16x64xf32, acc>
    scf.for %i = %c0 to %n step %c1 {
      %r = tile.load %x[%i, %c0] : !tile.global<?x64xbf16> -> !tile.reg<1x64xbf16, cols acc>
    }
  )"),
                                      model, {});
  EXPECT_EQ(cost.bytes, 128);
  EXPECT_EQ(cost.outsideBytes, 4 * 16 * 64 * 4);
}

TEST_F(TileCostTest, StartsLoadsBeforeItWaits) {
  auto load = [](const std::string &name) {
    return "%" + name +
           " = tile.load %x[%i, %c0] : !tile.global<?x64xbf16> -> "
           "!tile.reg<1x64xbf16, cols acc>\n%f" +
           name + " = tile.convert %" + name +
           " : !tile.reg<1x64xbf16, cols acc> -> !tile.reg<1x64xf32, cols "
           "acc>\n";
  };
  double one = measureToken(load("a")).roles[0].cycles;
  double two = measureToken(load("a") + load("b")).roles[0].cycles;
  EXPECT_LT(two - one, model.globalLatency / 4);
  // Nothing is moved across a barrier.
  double apart =
      measureToken(load("a") + "tile.barrier\n" + load("b")).roles[0].cycles;
  EXPECT_GT(apart - one, model.globalLatency / 4);
}

TEST_F(TileCostTest, HasConstantsInTheCache) {
  auto measure = [&](const std::string &memory, const std::string &type) {
    return measureToken("%a = tile.load " + memory + ", %c0] : !tile.global<" +
                        type +
                        "x64xbf16> -> !tile.reg<1x64xbf16, cols acc>\n"
                        "%f = tile.convert %a : !tile.reg<1x64xbf16, cols acc> "
                        "-> !tile.reg<1x64xf32, cols acc>\n")
        .roles[0]
        .cycles;
  };
  double waits = measure("%x[%i", "?"), has = measure("%common[%c0", "1");
  EXPECT_LT(has, waits);
  EXPECT_GE(has, model.cachedLatency / 2);
}

TEST_F(TileCostTest, CountsCopies) {
  TileMeasure measure;
  measure.tokensPerChunk = 32;
  TileProgramCost cost = measureTiles(parse(R"(
    %m = tile.alloc : !tile.shared<32x64xbf16, swizzle = 128>
    scf.for %i = %c0 to %n step %c32 {
      tile.copy_async %x[%i, %c0] below %n to %m : !tile.global<?x64xbf16>, !tile.shared<32x64xbf16, swizzle = 128>
      tile.copy_commit
      tile.copy_wait 0
    }
  )"),
                                      model, measure);
  EXPECT_EQ(cost.bytes, 32 * 64 * 2);
  EXPECT_DOUBLE_EQ(cost.shared, 32 * 64 * 2 / model.sharedBytesPerCycle);
  // Nothing is copied ahead.
  EXPECT_GT(cost.roles[0].cycles, model.globalLatency);
}

/// One warp tells the copy unit, in a few instructions.
TEST_F(TileCostTest, CountsBulkCopies) {
  TileMeasure measure;
  measure.tokensPerChunk = 32;
  const std::string phases = "!tile.phases<1 x 1>";
  TileProgramCost cost = measureTiles(
      parse("%m = tile.alloc : !tile.shared<32x64xbf16, swizzle = 128>\n"
            "%p = tile.alloc_phases : " +
            phases + R"(
    %w = tile.warp
    %first = arith.cmpi eq, %w, %c0 : index
    scf.if %first {
      scf.for %i = %c0 to %n step %c32 {
        tile.copy_bulk %x[%i, %c0] to %m on %p[%c0] : !tile.global<?x64xbf16>, !tile.shared<32x64xbf16, swizzle = 128>, )" +
            phases + "\ntile.phase_arrive %p[%c0] : " + phases + "\n}\n}"),
      model, measure);
  EXPECT_EQ(cost.bytes, 32 * 64 * 2);
  EXPECT_DOUBLE_EQ(cost.shared, 32 * 64 * 2 / model.sharedBytesPerCycle);
  EXPECT_LT(cost.roles[0].cycles, model.globalLatency / 4);
}

/// A stage is free again once its chunk is done, whoever does it.
TEST_F(TileCostTest, BoundsByStages) {
  TileCall call{/*sequences=*/1, /*tokens=*/10000, /*heads=*/132};
  call.tokensPerChunk = 32;
  auto predict = [&](int stages) {
    std::string type =
        "!tile.phases<" + std::to_string(stages) + " x 1, copies>";
    // What is handed on from warp to warp is no stage.
    std::string loop = "%h = tile.alloc_phases : !tile.phases<1 x 1>\n"
                       "%i = tile.alloc_phases : !tile.phases<8 x 1>\n"
                       "%p = tile.alloc_phases : " +
                       type +
                       "\nscf.for %t = %c0 to %n step %c32 {\n"
                       "tile.phase_arrive %p[%c0] : " +
                       type + "\n}\n";
    return predictTiles(parse(loop), model, call);
  };
  TilePrediction two = predict(2), four = predict(4);
  EXPECT_EQ(two.bound, TileBound::Ring);
  EXPECT_GT(two.cycles, model.globalLatency / 2);
  EXPECT_NEAR(two.cycles / four.cycles, 2, 1e-6);
  EXPECT_EQ(two.describeBound(), "how few chunks shared memory has room for");
}

/// A loop that carries a tile, changed by `body` from %z to %y, and writes it.
static std::string carry(const std::string &step, const std::string &body) {
  return "%o = scf.for %i = %c0 to %n step " + step +
         " iter_args(%e0 = %z) -> (!tile.reg<16x64xf32, acc>) {\n" + body +
         "scf.yield %y : !tile.reg<16x64xf32, acc>\n}\n"
         "tile.store %o, %s[%c0, %c0] : !tile.reg<16x64xf32, acc>, "
         "!tile.global<64x64xf32>\n";
}

TEST_F(TileCostTest, PredictsWhatBounds) {
  tile::ProgramOp program = parse(carry("%c1", map(product, "%e0")));
  TileCall call{/*sequences=*/1, /*tokens=*/10000, /*heads=*/132};
  TilePrediction one = predictTiles(program, model, call);
  EXPECT_EQ(one.bound, TileBound::Role);
  EXPECT_EQ(one.blocks, 132);
  // One block more is another wave.
  call.heads = 133;
  TilePrediction two = predictTiles(program, model, call);
  EXPECT_NEAR((two.seconds - model.launchSeconds) /
                  (one.seconds - model.launchSeconds),
              2, 0.01);
  call.tokens = 0;
  EXPECT_EQ(predictTiles(program, model, call).bound, TileBound::Launch);
  call.heads = 0;
  EXPECT_EQ(predictTiles(program, model, call).seconds, 0);
}

TEST_F(TileCostTest, PredictsMemory) {
  tile::ProgramOp program = parse(carry("%c32", R"(
      %r = tile.load %x[%i, %c0] : !tile.global<?x64xbf16> -> !tile.reg<32x64xbf16, acc>
      %q = tile.slice %r[0, 0] : !tile.reg<32x64xbf16, acc> -> !tile.reg<16x64xbf16, acc>
      %y = tile.convert %q : !tile.reg<16x64xbf16, acc> -> !tile.reg<16x64xf32, acc>
  )"));
  TileCall call{/*sequences=*/64, /*tokens=*/4096, /*heads=*/132};
  call.tokensPerChunk = 32;
  TilePrediction prediction = predictTiles(program, model, call);
  EXPECT_EQ(prediction.bytes, 64.0 * 132 * (4096 * 128 + 16 * 1024));
  EXPECT_GE(prediction.seconds, prediction.bytes / model.bytesPerSecond);
}

TEST_F(TileCostTest, FindsModels) {
  EXPECT_EQ(GPUModel::get(80).name, "A100");
  EXPECT_EQ(GPUModel::get(89).name, "A100");
  EXPECT_EQ(GPUModel::get(90).name, "H200");
  EXPECT_EQ(GPUModel::get(120).name, "B200");
}
