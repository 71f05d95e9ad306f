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
#include <functional>
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
  bool bulkCopies = false;
  bool initialStates = true;
  /// What some gates are set to: every `strideOfGates`-th.
  double gate = 0;
  size_t strideOfGates = 0;
  /// What a gate is instead, given its operand, token, channel and value.
  std::function<double(StringRef, size_t, size_t, double)> changeGate;
  /// The operand that this changes, instead of the gates.
  std::string changed;
  int64_t stages = 0; ///< 0: as many as fit
  int64_t parts = 0;  ///< of the values; 0: as few as have room
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
  if (given.strideOfGates == 0 && !given.changeGate)
    return inputs;
  for (auto decl : spec.getTokenOperands().getAsRange<OperandDeclAttr>()) {
    if (given.changed.empty() ? decl.getDomain() != Domain::LogDecay
                              : decl.getName().getValue() != given.changed)
      continue;
    Tensor &gate = inputs.find(decl.getName().str())->second;
    std::vector<double> values = getValues(gate);
    if (given.strideOfGates > 0)
      for (size_t i = 0; i < values.size(); i += given.strideOfGates)
        values[i] = given.gate;
    size_t channels = values.size() / std::max<size_t>(given.tokens, 1);
    if (given.changeGate)
      for (auto [i, value] : llvm::enumerate(values))
        value =
            given.changeGate(decl.getName(), i / channels, i % channels, value);
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
  chunks.parts = given.parts;
  chunks.bulkCopies = given.bulkCopies;
  if (given.stages == 0) {
    buildChunkTiles(pm, options, chunks);
  } else {
    ConvertChunkToTileOptions converted;
    converted.operandTypes.assign(options.operandTypes.begin(),
                                  options.operandTypes.end());
    converted.constantTypes.assign(options.constantTypes.begin(),
                                   options.constantTypes.end());
    converted.outputTypes.assign(options.outputTypes.begin(),
                                 options.outputTypes.end());
    converted.stages = given.stages;
    converted.copies = given.bulkCopies ? "bulk" : "async";
    buildChunkDerivation(pm, given.chunk);
    pm.addPass(createConvertChunkToTile(converted));
  }
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
    FloatAttr init = decl.getInit();
    std::vector<double> values(memory.getNumElements(),
                               init ? init.getValueAsDouble() : 0);
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
      for (block.part = 0; block.part < int64_t(each.getParts()); ++block.part)
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

/// Channels of one pass and of several, that fill it or not, of chunks that two
/// warps share.
TEST_F(ChunkToTileTest, SegmentsOfSizes) {
  for (int64_t chunk : {16, 32})
    for (auto [k, v] : {std::pair(16, 24), {32, 64}, {100, 48}}) {
      SCOPED_TRACE(std::to_string(chunk) + " " + std::to_string(k));
      Case given;
      given.chunk = chunk;
      given.segments = 2;
      given.tokens = 150;
      check(load("gla"), {{"K", k}, {"V", v}}, given);
      check(load("rwkv6"), {{"K", k}, {"V", v}}, given);
      given.gate = -9;
      given.strideOfGates = 5;
      check(load("outer_gate"), {{"K", k}, {"V", v}}, given);
    }
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
  check(load("outer_gate"), {{"K", 48}, {"V", 100}}, given);
}

//===----------------------------------------------------------------------===//
// Wide states
//===----------------------------------------------------------------------===//

/// Blocks divide the values.
TEST_F(ChunkToTileTest, ValueParts) {
  for (const char *name : kMatrixSpecs) {
    SCOPED_TRACE(name);
    check(load(name), {{"K", 64}, {"V", 200}}, Case());
  }
  Case given;
  given.parts = 2;
  for (const char *name : {"gla", "hgrn2", "outer_gate"}) {
    SCOPED_TRACE(name);
    check(load(name), {{"K", 40}, {"V", 128}}, given);
  }
  given.parts = 4;
  given.gate = -1000;
  given.strideOfGates = 3;
  for (const char *name : {"simple_gla", "outer_gate"}) {
    SCOPED_TRACE(name);
    check(load(name), {{"K", 64}, {"V", 256}}, given);
  }
}

TEST_F(ChunkToTileTest, SegmentsOfValueParts) {
  for (int64_t segments : {1, 3, 7}) {
    for (int64_t parts : {0, 3}) {
      SCOPED_TRACE(std::to_string(segments) + " " + std::to_string(parts));
      Case given;
      given.segments = segments;
      given.parts = parts;
      given.tokens = 150;
      given.chunk = 16;
      check(load("gla"), {{"K", 128}, {"V", parts ? 168 : 256}}, given);
      check(load("outer_gate"), {{"K", 48}, {"V", parts ? 168 : 256}}, given);
    }
  }
}

/// Warps divide the columns of states besides.
TEST_F(ChunkToTileTest, WideKeys) {
  for (const char *name : kMatrixSpecs) {
    for (auto [k, v] :
         {std::pair(256, 256), {136, 200}, {256, 128}, {200, 16}}) {
      SCOPED_TRACE(std::string(name) + " " + std::to_string(k) + " " +
                   std::to_string(v));
      Case given;
      given.chunk = v == 200 ? 16 : 32;
      check(load(name), {{"K", k}, {"V", v}}, given);
    }
  }
  Case given;
  given.gate = -1000;
  given.strideOfGates = 7;
  for (int64_t chunk : {16, 32}) {
    given.chunk = chunk;
    for (const char *name : {"gla", "rwkv6", "outer_gate"}) {
      SCOPED_TRACE(name);
      check(load(name), {{"K", 136}, {"V", 72}}, given);
    }
  }
}

TEST_F(ChunkToTileTest, SegmentsOfWideKeys) {
  for (int64_t segments : {1, 2, 9}) {
    SCOPED_TRACE(segments);
    Case given;
    given.segments = segments;
    given.tokens = 150;
    given.chunk = 16;
    given.initialStates = segments != 9;
    check(load("gla"), {{"K", 256}, {"V", 136}}, given);
    check(load("outer_gate"), {{"K", 136}, {"V", 72}}, given);
    check(load("simple_gla"), {{"K", 200}, {"V", 64}}, given);
  }
}

TEST_F(ChunkToTileTest, TailsOfWideStates) {
  for (int64_t tokens : {0, 1, 15, 33}) {
    SCOPED_TRACE(tokens);
    Case given;
    given.tokens = tokens;
    given.chunk = tokens == 15 ? 16 : 32;
    given.initialStates = tokens != 1;
    check(load("gla"), {{"K", 152}, {"V", 136}}, given);
    check(load("simple_gla"), {{"K", 256}, {"V", 72}}, given);
  }
}

/// Products of single warps, operands that are written anew, few stages.
TEST_F(ChunkToTileTest, KindsOfWideStates) {
  Case given;
  given.wgmma = false;
  check(load("gla"), {{"K", 168}, {"V", 104}}, given);
  given.dtype = DType::F32;
  given.chunk = 16;
  check(load("simple_gla"), {{"K", 168}, {"V", 104}}, given);
  given.wgmma = true;
  given.gate = -9;
  given.strideOfGates = 5;
  check(load("gla"), {{"K", 136}, {"V", 72}}, given);
  given.dtype = DType::BF16;
  given.stages = 2;
  given.tokens = 300;
  check(load("gla"), {{"K", 136}, {"V", 72}}, given);
  check(load("hgrn2"), {{"K", 24}, {"V", 136}}, given);
}

/// A stage of a cascade whose warps divide more columns, where registers are
/// no roles' own.
TEST_F(ChunkToTileTest, CascadesOfWideKeys) {
  Case given;
  given.chunk = 16;
  given.wgmma = false;
  for (const char *name : {"gsa", "gsa_explicit"}) {
    SCOPED_TRACE(name);
    check(load(name), {{"K", 200}, {"V", 128}, {"M", 40}}, given);
  }
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

//===----------------------------------------------------------------------===//
// States that are scanned
//===----------------------------------------------------------------------===//

TEST_F(ChunkToTileTest, ScannedStates) {
  for (int64_t chunk : {16, 32})
    for (int64_t tokens :
         {0, 1, 2, 3, 4, 5, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 100}) {
      for (bool initial : {true, false}) {
        SCOPED_TRACE(std::to_string(chunk) + " " + std::to_string(tokens));
        Case given;
        given.chunk = chunk;
        given.tokens = tokens;
        given.initialStates = initial;
        check(load("abc"), {{"K", 64}, {"V", 64}, {"M", 64}}, given);
      }
    }
}

/// Channels that fill no tile, and so many that they do not stay in registers.
TEST_F(ChunkToTileTest, ScannedSizes) {
  for (auto [k, v, m] :
       {std::tuple(128, 128, 64), {48, 100, 24}, {16, 24, 128}}) {
    for (bool wgmma : {true, false}) {
      SCOPED_TRACE(m);
      Case given;
      given.chunk = 16;
      given.wgmma = wgmma;
      check(load("abc"), {{"K", k}, {"V", v}, {"M", m}}, given);
    }
  }
}

TEST_F(ChunkToTileTest, ScannedWideOperands) {
  Case given;
  given.chunk = 16;
  given.dtype = DType::F32;
  check(load("abc"), {{"K", 64}, {"V", 64}, {"M", 64}}, given);
  check(load("abc"), {{"K", 64}, {"V", 64}, {"M", 40}}, given);
}

/// Slots that nothing is written to, for some tokens or all, others that are
/// forgotten at once, and states that nothing was written to.
TEST_F(ChunkToTileTest, ScannedExtremes) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  using Change = std::function<double(size_t, size_t, double)>;
  const Change changes[] = {
      [](size_t, size_t, double) { return -infinity; },
      [](size_t token, size_t channel, double value) {
        return token < 10 * channel ? -infinity : value;
      },
      [](size_t token, size_t channel, double value) {
        return (token + channel) % 3 == 0 ? -infinity : value;
      },
      [](size_t token, size_t channel, double value) {
        return (token + channel) % 37 == 0 ? 90 + double(token) : value;
      },
      [](size_t token, size_t channel, double) {
        return channel % 2 == 0 ? 5.0 * double(token) : -7.0 * double(token);
      },
      [](size_t token, size_t channel, double value) {
        return channel / 16 == token / 16 % 4 ? -1000 : value;
      },
      [](size_t token, size_t, double value) {
        return token == 20 ? 1e30 : value;
      }};
  for (size_t i = 0; i < std::size(changes); ++i) {
    for (int64_t tokens : {70, 100, 39}) {
      for (bool initial : {true, false}) {
        SCOPED_TRACE(std::to_string(i) + " " + std::to_string(tokens));
        Case given;
        given.chunk = tokens == 70 ? 32 : 16;
        given.tokens = tokens;
        given.initialStates = initial;
        given.changed = "s";
        given.changeGate = [&apply = changes[i]](StringRef, size_t token,
                                                 size_t channel, double value) {
          return apply(token, channel, value);
        };
        check(load("abc"), {{"K", 64}, {"V", 64}, {"M", 64}}, given);
      }
    }
  }
}

/// Maxima and minima of shifted states, numbers, several at once, and what
/// feeds keys, decays and outputs.
TEST_F(ChunkToTileTest, ScannedForms) {
  const char *const sources[] = {
      R"(
    larc.recurrence @shifted(%q[K], %k[K], %v[V], %g[K]: gate, %s[K])
        constant(%c[K]) state(%m[K], %S[K, V]) -> (top[K], o[V]) {
      %more = larc.add %g, %c
      %shifted = larc.add %m, %more
      %next = larc.max %shifted, %s
      %change = larc.sub %shifted, %next
      %a = larc.exp %change
      %strength = larc.sub %s, %next
      %b = larc.exp %strength
      %key = larc.mul %b, %k
      %decayed = larc.mul %a, %S
      %write = larc.mul %key, %v
      %T = larc.add %decayed, %write
      %o = larc.contract %T, %q over K
      larc.yield %next, %T, %next, %o
    }
  )",
      R"(
    larc.recurrence @numbers(%q[K], %k[K], %v[V], %i, %f)
        state(%S[K, V], %m) -> (o[V], l) {
      %g = larc.logsigmoid %f
      %shifted = larc.add %m, %g
      %next = larc.max %shifted, %i
      %change = larc.sub %shifted, %next
      %a = larc.exp %change
      %strength = larc.sub %i, %next
      %b = larc.exp %strength
      %key = larc.mul %b, %k
      %decayed = larc.mul %a, %S
      %write = larc.mul %key, %v
      %T = larc.add %decayed, %write
      %o = larc.contract %T, %q over K
      larc.yield %T, %next, %o, %m
    }
  )",
      R"(
    larc.recurrence @several(%q[K], %k[K], %v[V], %s[K], %t[K], %u[V])
        state(%S[K, V], %z[K] = -inf, %n[V]) -> (o[V]) {
      %y = larc.logaddexp %z, %s
      %next = larc.logaddexp %t, %y
      %less = larc.sub %n, %u
      %least = larc.min %u, %less
      %change = larc.sub %z, %next
      %a = larc.exp %change
      %strength = larc.sub %s, %next
      %b = larc.exp %strength
      %key = larc.mul %b, %k
      %value = larc.mul %least, %v
      %decayed = larc.mul %a, %S
      %write = larc.mul %key, %value
      %T = larc.add %decayed, %write
      %read = larc.contract %T, %q over K
      %o = larc.add %read, %n
      larc.yield %T, %next, %least, %o
    }
  )"};
  for (const char *source : sources) {
    RecurrenceOp spec = parse(source);
    for (int64_t chunk : {16, 32}) {
      for (auto [k, v] : {std::pair(64, 128), {128, 64}, {40, 24}}) {
        // Larger ones need more shared memory than there is.
        if (chunk == 32 && k > 40)
          continue;
        SCOPED_TRACE(std::to_string(chunk) + " " + std::to_string(k));
        Case given;
        given.chunk = chunk;
        given.tokens = 90;
        given.initialStates = k != 128;
        check(spec, {{"K", k}, {"V", v}}, given);
        given.tokens = 0;
        check(spec, {{"K", k}, {"V", v}}, given);
      }
    }
  }
}

TEST_F(ChunkToTileTest, ScannedManyChunks) {
  Case given;
  given.chunk = 16;
  given.tokens = 600;
  given.initialStates = false;
  check(load("abc"), {{"K", 64}, {"V", 64}, {"M", 64}}, given);
  for (int64_t stages : {2, 3}) {
    given.tokens = 130;
    given.stages = stages;
    check(load("abc"), {{"K", 64}, {"V", 64}, {"M", 64}}, given);
  }
}

//===----------------------------------------------------------------------===//
// What does not exist
//===----------------------------------------------------------------------===//

/// Keys and decays that are 0 / 0 at tokens and channels that do not exist.
TEST_F(ChunkToTileTest, QuotientsBeyond) {
  const char *const sources[] = {
      R"(
    larc.recurrence @normalised(%q[K], %k[K], %v[V], %g[K]: gate)
        state(%S[K, V]) -> (o[V]) {
      %squares = larc.contract %k, %k over K
      %norm = larc.sqrt %squares
      %key = larc.div %k, %norm
      %a = larc.exp %g
      %decayed = larc.mul %a, %S
      %write = larc.mul %key, %v
      %next = larc.add %decayed, %write
      %o = larc.contract %next, %q over K
      larc.yield %next, %o
    }
  )",
      R"(
    larc.recurrence @inverse(%q[K], %k[K], %v[V], %g: gate)
        state(%S[K, V]) -> (o[V]) {
      %squares = larc.contract %k, %k over K
      %share = larc.rsqrt %squares
      %key = larc.mul %k, %share
      %a = larc.exp %g
      %decayed = larc.mul %a, %S
      %write = larc.mul %key, %v
      %next = larc.add %decayed, %write
      %o = larc.contract %next, %q over K
      larc.yield %next, %o
    }
  )",
      R"(
    larc.recurrence @shares(%q[K], %k[K], %v[V], %x[K]: coefficient,
                            %y[K]: coefficient)
        state(%S[K, V]) -> (o[V]) {
      %sum = larc.add %x, %y
      %a = larc.div %x, %sum
      %decayed = larc.mul %a, %S
      %write = larc.mul %k, %v
      %next = larc.add %decayed, %write
      %o = larc.contract %next, %q over K
      larc.yield %next, %o
    }
  )"};
  for (const char *source : sources) {
    RecurrenceOp spec = parse(source);
    for (int64_t chunk : {16, 32})
      for (int64_t tokens : {19, 35, 64})
        for (int64_t k : {24, 64}) {
          SCOPED_TRACE(std::to_string(chunk) + " " + std::to_string(tokens) +
                       " " + std::to_string(k));
          Case given;
          given.chunk = chunk;
          given.tokens = tokens;
          check(spec, {{"K", k}, {"V", 64}}, given);
          // Sums over channels take all of them in one warp.
          given.segments = 2;
          check(spec, {{"K", k}, {"V", 64}}, given);
        }
  }
}

/// A state that is updated by what another gives, and read by what depends on
/// none: warps write the next chunk's keys while others may multiply by these.
TEST_F(ChunkToTileTest, LateKeys) {
  RecurrenceOp spec = parse(R"(
    larc.recurrence @late(%q[K], %k[K], %v[V], %r[M], %m[M])
        state(%S[K, M], %T[M, V]) -> (o[V]) {
      %w = larc.mul %k, %m
      %S_next = larc.add %S, %w
      %read = larc.contract %S_next, %q over K
      %little = larc.constant 0.02
      %some = larc.mul %read, %little
      %key = larc.tanh %some
      %write = larc.mul %key, %v
      %T_next = larc.add %T, %write
      %o = larc.contract %T_next, %r over M
      larc.yield %S_next, %T_next, %o
    }
  )");
  for (int64_t chunk : {16, 32}) {
    SCOPED_TRACE(chunk);
    Case given;
    given.chunk = chunk;
    given.tokens = 130;
    check(spec, {{"K", 64}, {"V", 64}, {"M", 64}}, given);
  }
}

//===----------------------------------------------------------------------===//
// The copy unit
//===----------------------------------------------------------------------===//

TEST_F(ChunkToTileTest, BulkCopies) {
  Case given;
  given.bulkCopies = true;
  for (int64_t tokens : {0, 1, 16, 33, 64, 300}) {
    SCOPED_TRACE(tokens);
    given.tokens = tokens;
    check(load("gla"), {{"K", 128}, {"V", 64}}, given);
    check(load("simple_gla"), {{"K", 64}, {"V", 128}}, given);
  }
  given.chunk = 16;
  check(load("outer_gate"), {{"K", 64}, {"V", 64}}, given);
  check(load("gsa"), {{"K", 64}, {"V", 64}, {"M", 64}}, given);
}

/// Boxes are wider than these operands; some have rows that no map has.
TEST_F(ChunkToTileTest, BulkCopiesOfFewChannels) {
  Case given;
  given.bulkCopies = true;
  for (auto [k, v] : {std::pair(16, 24), {48, 104}, {128, 40}, {20, 64}}) {
    SCOPED_TRACE(std::to_string(k) + " " + std::to_string(v));
    check(load("gla"), {{"K", k}, {"V", v}}, given);
    check(load("hgrn2"), {{"K", k}, {"V", v}}, given);
  }
}

/// Operands of float32 have swizzled rings too.
TEST_F(ChunkToTileTest, BulkCopiesOfWideOperands) {
  Case given;
  given.bulkCopies = true;
  given.dtype = DType::F32;
  given.tokens = 100;
  for (const char *name : {"simple_gla", "gla", "rwkv6"})
    for (size_t stride : {0, 3}) {
      SCOPED_TRACE(name);
      given.gate = -1000;
      given.strideOfGates = stride;
      check(load(name), {{"K", 64}, {"V", 128}}, given);
    }
}

/// Stages are overwritten that hold what warps have stored; segments end
/// within a sequence.
TEST_F(ChunkToTileTest, BulkCopiesOverWhatWasStored) {
  Case given;
  given.bulkCopies = true;
  given.tokens = 300;
  for (int64_t stages : {2, 3, 5}) {
    SCOPED_TRACE(stages);
    given.stages = stages;
    check(load("gla"), {{"K", 64}, {"V", 64}}, given);
    check(load("rwkv6"), {{"K", 64}, {"V", 64}}, given);
    if (stages < 5)
      check(load("gsa"), {{"K", 64}, {"V", 64}, {"M", 64}}, given);
  }
  given.stages = 0;
  for (int64_t segments : {1, 3, 4}) {
    SCOPED_TRACE(segments);
    given.segments = segments;
    check(load("gla"), {{"K", 64}, {"V", 64}}, given);
    check(load("retention"), {{"K", 64}, {"V", 64}}, given);
  }
}

//===----------------------------------------------------------------------===//
// Stages and passes
//===----------------------------------------------------------------------===//

/// Every stage serves many chunks, and every warp of the first role does.
TEST_F(ChunkToTileTest, ManyChunks) {
  Case given;
  given.tokens = 600;
  for (int64_t chunk : {16, 32}) {
    SCOPED_TRACE(chunk);
    given.chunk = chunk;
    check(load("gla"), {{"K", 64}, {"V", 64}}, given);
  }
  check(load("simple_gla"), {{"K", 64}, {"V", 64}}, given);
  check(load("gsa"), {{"K", 64}, {"V", 64}, {"M", 64}}, given);
}

/// Of each chunk some passes have strong gates, and others not: all of a pass
/// or one channel, all of a chunk or one token.
TEST_F(ChunkToTileTest, MixedPasses) {
  Case given;
  given.tokens = 600;
  given.changeGate = [](StringRef, size_t token, size_t channel, double value) {
    size_t pass = channel / 16, chunk = token / 32;
    bool strong = pass == chunk % 5 && (chunk % 2 == 0 || channel % 16 == 3) &&
                  (chunk % 3 == 0 || token % 32 == 7);
    return strong ? -70.0 : value;
  };
  for (int64_t chunk : {16, 32}) {
    SCOPED_TRACE(chunk);
    given.chunk = chunk;
    check(load("gla"), {{"K", 64}, {"V", 64}}, given);
  }
  given.tokens = 200;
  given.dtype = DType::F32;
  check(load("gla"), {{"K", 64}, {"V", 64}}, given);
  check(load("rwkv6"), {{"K", 128}, {"V", 64}}, given);
}

/// With fewer stages than warps of the first role some have nothing to do.
TEST_F(ChunkToTileTest, FewStages) {
  for (int64_t stages : {2, 3, 5}) {
    SCOPED_TRACE(stages);
    Case given;
    given.tokens = 300;
    given.stages = stages;
    check(load("gla"), {{"K", 64}, {"V", 64}}, given);
    check(load("retention"), {{"K", 64}, {"V", 64}}, given);
    given.tokens = 75;
    given.gate = -1000;
    given.strideOfGates = 7;
    check(load("gla"), {{"K", 64}, {"V", 64}}, given);
  }
}

TEST_F(ChunkToTileTest, GrowingStates) {
  using Change = std::function<double(size_t, double)>;
  auto pair = [](size_t token, double first, double second) -> Change {
    return [=](size_t at, double value) {
      return at == token ? first : at == token + 1 ? second : value;
    };
  };
  // All a little; up and down again, within a chunk, a pass's bound and
  // beyond it, across chunks; down and up.
  std::vector<Change> changes = {[](size_t, double) { return 0.1; },
                                 pair(40, 50, -50),
                                 pair(40, 80, -80),
                                 pair(31, 80, -80),
                                 pair(40, -80, 80),
                                 pair(31, -50, 50)};
  for (size_t i = 0; i < changes.size(); ++i) {
    for (const char *axis : {"g", "gk", "gv"}) {
      SCOPED_TRACE(std::to_string(i) + " " + axis);
      Case given;
      given.changeGate = [&](StringRef name, size_t token, size_t channel,
                             double value) {
        bool changed = name == axis && (i == 0 || channel == 5);
        return changed ? changes[i](token, value) : value;
      };
      StringRef spec = StringRef(axis) == "g" ? "gla" : "outer_gate";
      check(load(spec), {{"K", 64}, {"V", 64}}, given);
    }
  }
}

/// Nothing that lies beyond the last token takes part.
TEST_F(ChunkToTileTest, TailsWithStrongGates) {
  for (int64_t tokens : {1, 15, 17, 31, 33, 47, 129}) {
    for (double gate : {-80.0, -std::numeric_limits<double>::infinity()}) {
      SCOPED_TRACE(std::to_string(tokens) + " " + std::to_string(gate));
      Case given;
      given.tokens = tokens;
      given.gate = gate;
      given.strideOfGates = 5;
      for (const char *name : {"simple_gla", "gla", "outer_gate"})
        check(load(name), {{"K", 64}, {"V", 64}}, given);
    }
  }
}

TEST_F(ChunkToTileTest, WideOperandsWithStrongGates) {
  for (const char *name : {"simple_gla", "gla", "hgrn2", "rwkv6", "outer_gate"})
    for (double gate : {-1000.0, -9.0}) {
      SCOPED_TRACE(name);
      Case given;
      given.dtype = DType::F32;
      given.gate = gate;
      given.strideOfGates = 3;
      check(load(name), {{"K", 64}, {"V", 64}}, given);
    }
}

/// What a pass over the one axis or the other finds is a matter of either role.
TEST_F(ChunkToTileTest, StrongGatesOfEitherAxis) {
  for (int64_t chunk : {16, 32}) {
    for (const char *axis : {"gk", "gv"}) {
      SCOPED_TRACE(axis);
      Case given;
      given.chunk = chunk;
      given.changeGate = [&](StringRef name, size_t token, size_t channel,
                             double value) {
        return name == axis && (token + channel) % 9 == 0 ? -1000 : value;
      };
      check(load("outer_gate"), {{"K", 64}, {"V", 128}}, given);
    }
  }
}
