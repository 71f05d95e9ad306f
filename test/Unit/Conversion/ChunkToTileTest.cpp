//===- ChunkToTileTest.cpp - Chunks in tiles --------------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the tile program of a scan on the tile interpreter and compares it with
// the reference.
//
//===----------------------------------------------------------------------===//

#include "ReferenceTestUtils.h"

#include "larc/Conversion/Passes.h"
#include "larc/Reference/TileInterpreter.h"
#include "larc/Specs/Specs.h"
#include "larc/Support/Error.h"

#include "mlir/Pass/PassManager.h"

#include <cmath>
#include <limits>

using namespace larc;
using namespace larc::test;
using namespace mlir;

namespace {

using Dims = std::vector<std::pair<std::string, int64_t>>;

struct Case {
  int64_t tokens = 70;
  int64_t chunk = 32;
  bool wgmma = true;
  int64_t segments = 0; ///< 0: the program is not segmented
  bool initialStates = true;
  /// What some gates are set to: every `strideOfGates`-th.
  double gate = 0;
  size_t strideOfGates = 0;
  DType dtype = DType::BF16;
  Values attributes;
};

class ChunkToTileTest : public ReferenceTest {
protected:
  ChunkToTileTest() {
    context
        .loadDialect<chunk::ChunkDialect, tile::TileDialect,
                     arith::ArithDialect, math::MathDialect, scf::SCFDialect>();
  }

  TensorMap makeInputs(RecurrenceOp spec, const Dims &dims, const Case &given);
  OwningOpRef<ModuleOp> compile(Problem &problem, const Case &given);
  TensorMap run(Problem &problem, const Case &given);
  void check(RecurrenceOp spec, const Dims &dims, const Case &given,
             double limit = 6e-3);
};

} // namespace

TensorMap ChunkToTileTest::makeInputs(RecurrenceOp spec, const Dims &dims,
                                      const Case &given) {
  RandomInputs request;
  request.dims = {{"H", 1}, {"B", 1}, {"T", given.tokens}};
  request.dims.append(dims.begin(), dims.end());
  request.seed = 7;
  request.initialStates = given.initialStates;
  llvm::Expected<TensorMap> made =
      makeRandomInputs(spec, given.attributes, request);
  if (!made) {
    ADD_FAILURE() << renderError(made.takeError());
    return {};
  }
  TensorMap inputs = std::move(*made);
  if (given.strideOfGates == 0)
    return inputs;
  for (auto decl : spec.getTokenOperands().getAsRange<OperandDeclAttr>()) {
    if (decl.getDomain() != Domain::LogDecay)
      continue;
    Tensor &gate = inputs.find(decl.getName().str())->second;
    std::vector<double> values = getValues(gate);
    for (size_t i = 0; i < values.size(); i += given.strideOfGates)
      values[i] = given.gate;
    gate =
        llvm::cantFail(Tensor::fromValues(DType::F32, gate.getShape(), values));
  }
  return inputs;
}

OwningOpRef<ModuleOp> ChunkToTileTest::compile(Problem &problem,
                                               const Case &given) {
  OwningOpRef<ModuleOp> module = problem.module->clone();
  TileProgramOptions options;
  auto addTypes = [](ArrayRef<const Tensor *> tensors,
                     SmallVectorImpl<std::string> &types) {
    for (const Tensor *tensor : tensors)
      types.push_back(getName(tensor ? tensor->getDType() : DType::F32).str());
  };
  addTypes(problem.operands, options.operandTypes);
  addTypes(problem.constants, options.constantTypes);
  for (size_t i = 0; i < problem.recurrence.getOutputs().size(); ++i)
    options.outputTypes.push_back("f32");
  PassManager pm(&context);
  ChunkTileOptions chunks;
  chunks.size = given.chunk;
  chunks.wgmma = given.wgmma;
  chunks.segments = given.segments > 0;
  buildChunkTiles(pm, options, chunks);
  if (failed(pm.run(*module)))
    return nullptr;
  return module;
}

TensorMap ChunkToTileTest::run(Problem &problem, const Case &given) {
  OwningOpRef<ModuleOp> module = compile(problem, given);
  if (!module) {
    ADD_FAILURE() << "does not compile";
    return {};
  }
  auto programs = llvm::to_vector(module->getOps<tile::ProgramOp>());
  tile::ProgramOp program = programs.back();
  RecurrenceOp recurrence = problem.recurrence;
  TensorMap results = llvm::cantFail(createResults(problem, false));
  std::vector<Tensor *> states;
  for (auto [i, decl] :
       llvm::enumerate(recurrence.getStates().getAsRange<StateDeclAttr>())) {
    Tensor &memory = results.find("final." + decl.getName().str())->second;
    std::vector<double> values(memory.getNumElements());
    if (const Tensor *initial = problem.states[i])
      values = getValues(*initial);
    memory = llvm::cantFail(
        Tensor::fromValues(DType::F32, memory.getShape(), values));
    states.push_back(&memory);
  }
  std::vector<GlobalView> views;
  std::vector<char> nothing(1 << 20);
  auto add = [&](const Tensor *tensor) {
    auto type =
        cast<tile::GlobalType>(program.getArgumentTypes()[views.size()]);
    GlobalView view;
    view.elementType = type.getElementType();
    view.cols = view.rowStride = type.getCols();
    view.rows = type.hasDynamicRows() ? problem.tokens : type.getRows();
    view.data =
        tensor ? const_cast<char *>(tensor->getRawData()) : nothing.data();
    views.push_back(view);
  };
  for (ArrayRef<const Tensor *> tensors :
       {ArrayRef<const Tensor *>(problem.operands),
        ArrayRef<const Tensor *>(problem.constants)})
    for (const Tensor *tensor : tensors)
      add(tensor);
  for (auto decl : recurrence.getOutputs().getAsRange<OutputDeclAttr>()) {
    Tensor &output = results.find("out." + decl.getName().str())->second;
    output = llvm::cantFail(
        Tensor::fromValues(DType::F32, output.getShape(),
                           std::vector<double>(output.getNumElements(), 77)));
    add(&output);
  }
  for (int copy = 0; copy < 2; ++copy)
    for (Tensor *state : states)
      add(state);
  std::vector<float> scratch;
  if (given.segments > 0) {
    auto type = cast<tile::GlobalType>(program.getArgumentTypes().back());
    scratch.assign(given.segments * type.getRows() * type.getCols(), NAN);
    views.push_back({scratch.data(), type.getElementType(),
                     given.segments * type.getRows(), type.getCols(),
                     type.getCols()});
  }
  TileBlock block;
  block.arguments = views;
  block.length = problem.tokens;
  block.segments = std::max<int64_t>(given.segments, 1);
  // A sequence that is not cut needs no summaries.
  if (block.segments == 1)
    programs.erase(programs.begin(), programs.end() - 1);
  for (tile::ProgramOp each : programs)
    for (block.segment = block.segments - 1; block.segment >= 0;
         --block.segment)
      EXPECT_TRUE(succeeded(interpretTileProgram(each, block)));
  return results;
}

void ChunkToTileTest::check(RecurrenceOp spec, const Dims &dims,
                            const Case &given, double limit) {
  ASSERT_TRUE(spec);
  TensorMap inputs = makeInputs(spec, dims, given);
  auto bind = [&](bool wide) {
    ConversionOptions conversion;
    conversion.dtype = conversion.gateDType = given.dtype;
    conversion.allFloat64 = wide;
    return bindProblem(spec, given.attributes, cloneTensors(inputs), conversion,
                       false);
  };
  llvm::Expected<Problem> exact = bind(true);
  if (!exact) {
    ADD_FAILURE() << renderError(exact.takeError());
    return;
  }
  TensorMap expected = llvm::cantFail(runReference(*exact, {}));
  Problem problem = llvm::cantFail(bind(false));
  TensorMap got = run(problem, given);
  if (!got.empty())
    expectClose(got, expected, limit);
}

//===----------------------------------------------------------------------===//
// Built-in specs
//===----------------------------------------------------------------------===//

static const char *const kMatrixSpecs[] = {
    "linear_attention", "retention", "simple_gla", "gla", "hgrn2", "rwkv6"};

TEST_F(ChunkToTileTest, BuiltIn) {
  for (const char *name : kMatrixSpecs) {
    SCOPED_TRACE(name);
    Dims dims = {{"K", 64}, {"V", 64}};
    check(load(name), dims, Case());
  }
}

TEST_F(ChunkToTileTest, StrongGates) {
  for (const char *name : {"simple_gla", "gla", "hgrn2", "rwkv6"}) {
    for (double gate :
         {-1000.0, -5.0, -std::numeric_limits<double>::infinity()}) {
      SCOPED_TRACE(std::string(name) + " " + std::to_string(gate));
      Case given;
      given.gate = gate;
      given.strideOfGates = 3;
      check(load(name), {{"K", 64}, {"V", 64}}, given);
    }
  }
}

TEST_F(ChunkToTileTest, Cascades) {
  for (const char *name : {"gsa", "gsa_explicit"}) {
    for (size_t stride : {0, 3}) {
      SCOPED_TRACE(name);
      Case given;
      given.gate = -1000;
      given.strideOfGates = stride;
      check(load(name), {{"K", 128}, {"V", 128}, {"M", 64}}, given);
    }
  }
}

/// What the matrix unit does not take as it came is written anew.
TEST_F(ChunkToTileTest, WideOperands) {
  for (bool wgmma : {true, false}) {
    Case given;
    given.dtype = DType::F32;
    given.wgmma = wgmma;
    for (const char *name : kMatrixSpecs) {
      SCOPED_TRACE(name);
      check(load(name), {{"K", 64}, {"V", 64}}, given);
    }
    SCOPED_TRACE("gsa");
    check(load("gsa"), {{"K", 64}, {"V", 64}, {"M", 64}}, given);
  }
}

/// The last segment runs first, and writes what the initial states were.
TEST_F(ChunkToTileTest, Segments) {
  for (const char *name : {"retention", "gla", "linear_attention"}) {
    for (int64_t segments : {1, 2, 4}) {
      SCOPED_TRACE(std::string(name) + " " + std::to_string(segments));
      Case given;
      given.segments = segments;
      given.tokens = segments == 2 ? 40 : 200;
      check(load(name), {{"K", 128}, {"V", 64}}, given);
    }
  }
  Case given;
  given.segments = 3;
  given.tokens = 150;
  check(load("gsa"), {{"K", 64}, {"V", 128}, {"M", 64}}, given);
}

/// More segments than are composed at once, and than there are chunks: the
/// last ones are empty.
TEST_F(ChunkToTileTest, ManySegments) {
  Case given;
  given.segments = 19;
  given.chunk = 16;
  for (int64_t tokens : {0, 5, 200, 305}) {
    SCOPED_TRACE(tokens);
    given.tokens = tokens;
    given.initialStates = tokens != 200;
    check(load("gla"), {{"K", 128}, {"V", 128}}, given);
  }
  // Decays along both axes, of states that fill no tile.
  check(load("outer_gate"), {{"K", 48}, {"V", 100}}, given);
  given.segments = 2;
  check(load("hgrn2"), {{"K", 24}, {"V", 72}}, given);
}

TEST_F(ChunkToTileTest, Lengths) {
  for (int64_t tokens : {0, 1, 2, 15, 16, 17, 31, 32, 33, 64, 65, 127}) {
    SCOPED_TRACE(tokens);
    Case given;
    given.tokens = tokens;
    given.initialStates = tokens != 17;
    check(load("gla"), {{"K", 64}, {"V", 64}}, given);
    check(load("simple_gla"), {{"K", 128}, {"V", 64}}, given);
  }
}

/// Channels that fill neither tiles nor swizzled rows.
TEST_F(ChunkToTileTest, Sizes) {
  for (auto [k, v] : {std::pair(16, 24), {48, 100}, {128, 40}, {72, 128}}) {
    SCOPED_TRACE(std::to_string(k) + " " + std::to_string(v));
    check(load("gla"), {{"K", k}, {"V", v}}, Case());
    check(load("hgrn2"), {{"K", k}, {"V", v}}, Case());
    check(load("gsa"), {{"K", k}, {"V", v}, {"M", 24}}, Case());
  }
}

TEST_F(ChunkToTileTest, ChunkSizes) {
  Case given;
  given.chunk = 16;
  check(load("linear_attention"), {{"K", 64}, {"V", 64}}, given);
  check(load("retention"), {{"K", 64}, {"V", 64}}, given);
  check(load("gla"), {{"K", 128}, {"V", 128}}, given);
  check(load("outer_gate"), {{"K", 128}, {"V", 128}}, given);
}

/// Products of single warps, for GPUs before Hopper.
TEST_F(ChunkToTileTest, SingleWarpProducts) {
  Case given;
  given.wgmma = false;
  check(load("gla"), {{"K", 64}, {"V", 128}}, given);
  check(load("gsa"), {{"K", 64}, {"V", 64}, {"M", 64}}, given);
}
