//===- RecurrenceToTileTest.cpp - Token loops in tiles ----------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the tile program of a recurrence on the tile interpreter and compares it
// with the reference.
//
//===----------------------------------------------------------------------===//

#include "ReferenceTestUtils.h"

#include "larc/Conversion/Passes.h"
#include "larc/Reference/TileInterpreter.h"
#include "larc/Specs/Specs.h"
#include "larc/Support/Error.h"

#include "mlir/Pass/PassManager.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace larc;
using namespace larc::test;
using namespace mlir;

namespace {

using Dims = std::vector<std::pair<std::string, int64_t>>;

struct Case {
  int64_t tokens = 2;
  Values attributes;
  bool initialStates = true;
  /// Sets every third gate to -inf.
  bool wipe = false;
  DType dtype = DType::F32;
  std::string stateType = "f32";
  /// 0: as many as the pass chooses.
  int64_t parts = 0;
  int64_t position = 0;
  /// State whose anchor is given where the position is not 0.
  std::string anchor;
  int64_t sequences = 1, heads = 1;
  /// Tokens of packed sequences, in place of the tokens of each.
  SmallVector<int64_t> lengths;
  /// Heads of operands that several heads share.
  SmallVector<std::pair<std::string, int64_t>> operandHeads;
};

class RecurrenceToTileTest : public ReferenceTest {
protected:
  RecurrenceToTileTest() {
    context.loadDialect<tile::TileDialect, arith::ArithDialect,
                        math::MathDialect, scf::SCFDialect>();
  }

  TensorMap makeInputs(RecurrenceOp spec, const Dims &dims, const Case &given);
  /// Compiles and runs every block, with final states in the memory of the
  /// initial ones.
  TensorMap runTiles(Problem &problem, const Case &given);
  void check(RecurrenceOp spec, const Dims &dims, const Case &given,
             double limit = 2e-5);

  /// The sizes among `sizes` of the axes that a recurrence has.
  static Dims chooseDims(RecurrenceOp spec, const Dims &sizes);
};

} // namespace

TensorMap RecurrenceToTileTest::makeInputs(RecurrenceOp spec, const Dims &dims,
                                           const Case &given) {
  RandomInputs request;
  request.dims = {{"H", given.heads}};
  if (given.lengths.empty())
    request.dims.append({{"B", given.sequences}, {"T", given.tokens}});
  request.lengths = given.lengths;
  request.headCounts = given.operandHeads;
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
  if (given.wipe)
    for (auto decl : spec.getTokenOperands().getAsRange<OperandDeclAttr>()) {
      if (decl.getDomain() != Domain::LogDecay)
        continue;
      Tensor &gate = inputs.find(decl.getName().str())->second;
      std::vector<double> values = getValues(gate);
      for (size_t i = 0; i < values.size(); i += 3)
        values[i] = -std::numeric_limits<double>::infinity();
      gate = llvm::cantFail(
          Tensor::fromValues(DType::F32, gate.getShape(), values));
    }
  return inputs;
}

static Type getType(MLIRContext *context, DType type) {
  switch (type) {
  case DType::BF16:
    return BFloat16Type::get(context);
  case DType::F16:
    return Float16Type::get(context);
  default:
    return Float32Type::get(context);
  }
}

TensorMap RecurrenceToTileTest::runTiles(Problem &problem, const Case &given) {
  RecurrenceOp recurrence = problem.recurrence;
  // Initial states and anchors by name, then results that are not written show.
  TensorMap results = llvm::cantFail(createResults(problem, false));
  std::vector<Tensor> initials;
  auto makeState = [&](unsigned i, const Tensor *initial, StringRef prefix) {
    auto decl = cast<StateDeclAttr>(recurrence.getStates()[i]);
    Tensor &memory = results.find(prefix.str() + decl.getName().str())->second;
    std::vector<double> values(memory.getNumElements());
    if (initial)
      values = getValues(*initial);
    else
      llvm::fill(values,
                 decl.getInit() ? decl.getInit().getValueAsDouble() : 0);
    DType type = given.stateType == "bf16" ? DType::BF16 : DType::F32;
    memory =
        llvm::cantFail(Tensor::fromValues(type, memory.getShape(), values));
    return &memory;
  };
  std::vector<Tensor *> states, anchors;
  for (unsigned i = 0; i < recurrence.getStates().size(); ++i)
    states.push_back(makeState(i, problem.states[i], "final."));
  for (unsigned i : recurrence.getAnchoredStates()) {
    const Tensor *anchor = problem.anchors[i];
    anchors.push_back(
        makeState(i, anchor ? anchor : problem.states[i], "final.anchor."));
  }

  OwningOpRef<ModuleOp> module = problem.module->clone();
  TileProgramOptions options;
  options.stateType = given.stateType;
  options.parts = given.parts;
  for (const Tensor *tensor : problem.operands)
    options.operandTypes.push_back(
        getName(tensor ? tensor->getDType() : DType::F32).str());
  for (const Tensor *tensor : problem.constants)
    options.constantTypes.push_back(
        getName(tensor ? tensor->getDType() : DType::F32).str());
  for (size_t i = 0; i < recurrence.getOutputs().size(); ++i)
    options.outputTypes.push_back(getName(problem.outputDType).str());
  PassManager pm(&context);
  buildRecurrentTiles(pm, options);
  if (failed(pm.run(*module))) {
    ADD_FAILURE() << "does not compile";
    return {};
  }
  auto program = *module->getOps<tile::ProgramOp>().begin();
  if (given.parts > 0)
    EXPECT_EQ(program.getParts(), static_cast<uint64_t>(given.parts));

  auto run = [&](int64_t sequence, int64_t head, int64_t part) {
    std::vector<GlobalView> views;
    std::vector<char> nothing(1 << 20);
    // `index` numbers sequences' or constants' matrices, of `heads` heads.
    auto add = [&](const Tensor *tensor, int64_t index, int64_t heads,
                   bool isToken) {
      auto type =
          cast<tile::GlobalType>(program.getArgumentTypes()[views.size()]);
      GlobalView view;
      view.elementType = type.getElementType();
      view.cols = type.getCols();
      view.rows =
          type.hasDynamicRows() ? problem.getLength(sequence) : type.getRows();
      view.rowStride = isToken ? heads * view.cols : view.cols;
      view.data = nothing.data();
      if (tensor) {
        int64_t own = head / (problem.heads / heads);
        int64_t row =
            problem.getRow(index) * problem.tokens + problem.getBegin(index);
        int64_t first = isToken ? (row * heads + own) * view.cols
                                : (index * heads + own) * view.rows * view.cols;
        EXPECT_EQ(getType(&context, tensor->getDType()), view.elementType);
        view.data = const_cast<char *>(tensor->getRawData()) +
                    first * getByteWidth(tensor->getDType());
      }
      views.push_back(view);
    };
    for (auto [tensor, heads] :
         llvm::zip_equal(problem.operands, problem.operandHeads))
      add(tensor, sequence, tensor ? heads : 1, true);
    for (const Tensor *tensor : problem.constants)
      add(tensor, 0, problem.heads, false);
    for (auto decl : recurrence.getOutputs().getAsRange<OutputDeclAttr>())
      add(&results.find("out." + decl.getName().str())->second, sequence,
          problem.heads, true);
    for (ArrayRef<Tensor *> tensors : {ArrayRef(states), ArrayRef(states),
                                       ArrayRef(anchors), ArrayRef(anchors)})
      for (Tensor *tensor : tensors)
        add(tensor, sequence, problem.heads, false);
    TileBlock block;
    block.arguments = views;
    block.length = problem.getLength(sequence);
    block.part = part;
    block.position = problem.positions[sequence];
    EXPECT_TRUE(succeeded(interpretTileProgram(program, block)));
  };
  for (int64_t sequence = 0; sequence < problem.numSequences; ++sequence)
    for (int64_t head = 0; head < problem.heads; ++head)
      for (int64_t part = 0; part < static_cast<int64_t>(program.getParts());
           ++part)
        run(sequence, head, part);
  return results;
}

void RecurrenceToTileTest::check(RecurrenceOp spec, const Dims &dims,
                                 const Case &given, double limit) {
  ASSERT_TRUE(spec);
  TensorMap inputs = makeInputs(spec, dims, given);
  if (given.position > 0) {
    inputs.try_emplace("position", makeIntegers(std::vector<int64_t>(
                                       given.sequences, given.position)));
    // It differs from the state.
    if (!given.anchor.empty()) {
      const Tensor &state = inputs.find("state." + given.anchor)->second;
      std::vector<double> values = getValues(state);
      for (double &value : values)
        value = 0.5 - value;
      inputs.try_emplace("anchor." + given.anchor,
                         llvm::cantFail(Tensor::fromValues(
                             DType::F32, state.getShape(), values)));
    }
  }
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
  TensorMap got = runTiles(problem, given);
  if (!got.empty())
    expectClose(got, expected, limit);
}

Dims RecurrenceToTileTest::chooseDims(RecurrenceOp spec, const Dims &sizes) {
  Dims dims;
  auto addAxes = [&](ArrayRef<StringAttr> axes) {
    for (StringAttr axis : axes)
      for (const auto &entry : sizes)
        if (axis == entry.first && !llvm::is_contained(dims, entry))
          dims.push_back(entry);
  };
  for (ArrayAttr decls : {spec.getTokenOperands(), spec.getConstants()})
    for (auto decl : decls.getAsRange<OperandDeclAttr>()) {
      if (!decl.getFamily()) {
        addAxes(decl.getAxes());
        continue;
      }
      for (StringAttr axis : decl.getFamily().getSized())
        for (int level : {1, 2})
          dims.emplace_back(axis.str() + std::to_string(level), 1 + level);
    }
  for (auto state : spec.getStates().getAsRange<StateDeclAttr>())
    addAxes(state.getAxes());
  return dims;
}

//===----------------------------------------------------------------------===//
// All built-in specs
//===----------------------------------------------------------------------===//

static const Dims smallSizes = {{"K", 12}, {"V", 20}, {"M", 7},
                                {"D", 20}, {"n", 3},  {"L", 3}};

TEST_F(RecurrenceToTileTest, BuiltIn) {
  for (const BuiltinSpec &builtin : getBuiltinSpecs()) {
    for (int64_t tokens : {0, 1, 5}) {
      SCOPED_TRACE(builtin.name.str() + ", tokens " + std::to_string(tokens));
      RecurrenceOp spec = load(builtin.name);
      Case given;
      given.tokens = tokens;
      given.wipe = tokens == 5;
      given.initialStates = tokens != 1;
      given.sequences = tokens == 5 ? 2 : 1;
      given.heads = 2;
      check(spec, chooseDims(spec, smallSizes), given);
    }
  }
}

/// States of several warps, with rows and columns that do not fill cells.
TEST_F(RecurrenceToTileTest, BuiltInLarge) {
  static const Dims sizes = {{"K", 48},  {"V", 100}, {"M", 36},
                             {"D", 100}, {"n", 2},   {"L", 3}};
  for (const BuiltinSpec &builtin : getBuiltinSpecs()) {
    SCOPED_TRACE(builtin.name.str());
    RecurrenceOp spec = load(builtin.name);
    Case given;
    check(spec, chooseDims(spec, sizes), given);
    given.dtype = DType::BF16;
    given.stateType = "bf16";
    given.wipe = true;
    check(spec, chooseDims(spec, sizes), given, 2e-2);
  }
}

TEST_F(RecurrenceToTileTest, WholeHeads) {
  static const Dims sizes = {{"K", 128}, {"V", 128}, {"M", 64},
                             {"D", 128}, {"n", 2},   {"L", 3}};
  for (const BuiltinSpec &builtin : getBuiltinSpecs()) {
    SCOPED_TRACE(builtin.name.str());
    RecurrenceOp spec = load(builtin.name);
    Case given;
    given.tokens = 1;
    given.dtype = DType::BF16;
    check(spec, chooseDims(spec, sizes), given, 2e-2);
  }
}

/// Three matrices of 64 KB do not fit the registers: they are in shared memory
/// between their uses, those that others need as they were until the end.
TEST_F(RecurrenceToTileTest, StatesInSharedMemory) {
  Case given;
  given.tokens = 7;
  given.position = 3;
  given.attributes = {{"period", "2"}, {"intervals", "1,2,3"}};
  check(load("nested_gdn2"), {{"K", 128}, {"V", 128}, {"n1", 2}, {"n2", 3}},
        given);
  RecurrenceOp turns = parse(R"(
    larc.recurrence @turns(%q[K], %k[K], %v[V])
        state(%A[K, V], %B[K, V], %C[K, V], %n[K]) -> (o[V]) {
      %w = larc.mul %k, %v
      %a = larc.add %B, %w
      %s = larc.contract %A, %k over K
      %x = larc.mul %q, %s
      %b = larc.add %C, %x
      %m = larc.add %n, %k
      %o = larc.contract %B, %m over K
      larc.yield %a, %b, %A, %m, %o
    }
  )");
  given = Case();
  given.tokens = 4;
  check(turns, {{"K", 128}, {"V", 128}}, given);
}

/// The turns of short folds are written out, with vectors that are loaded ahead
/// for every token; states that lie across are read by rows of memory.
TEST_F(RecurrenceToTileTest, LoadedAhead) {
  for (int64_t tokens : {0, 1, 3}) {
    Case given;
    given.tokens = tokens;
    given.dtype = DType::BF16;
    check(load("gated_delta_product"), {{"K", 128}, {"V", 64}, {"n", 4}}, given,
          2e-2);
    check(load("delta_cascade"), {{"K", 64}, {"V", 128}, {"M", 64}}, given,
          2e-2);
  }
}

//===----------------------------------------------------------------------===//
// Variants
//===----------------------------------------------------------------------===//

TEST_F(RecurrenceToTileTest, Parts) {
  for (const char *source :
       {"larc.recurrence @plain(%q[K], %k[K], %v[V], %g[K, V]: gate)"
        " state(%S[K, V]) -> (o[V]) {"
        "  %a = larc.exp %g"
        "  %d = larc.mul %a, %S"
        "  %w = larc.mul %k, %v"
        "  %n = larc.add %d, %w"
        "  %o = larc.contract %n, %q over K"
        "  larc.yield %n, %o"
        "}"}) {
    RecurrenceOp spec = parse(source);
    Case given;
    given.parts = 4;
    check(spec, {{"K", 40}, {"V", 64}}, given);
    given.dtype = DType::F16;
    check(spec, {{"K", 24}, {"V", 128}}, given, 5e-3);
  }
}

/// Sequences of any lengths in one row of tokens, and heads that share
/// operands.
TEST_F(RecurrenceToTileTest, PackedAndGrouped) {
  for (const BuiltinSpec &builtin : getBuiltinSpecs()) {
    SCOPED_TRACE(builtin.name.str());
    RecurrenceOp spec = load(builtin.name);
    Case given;
    given.lengths = {0, 3, 1, 0, 2};
    given.heads = 4;
    for (auto [i, decl] :
         llvm::enumerate(spec.getTokenOperands().getAsRange<OperandDeclAttr>()))
      given.operandHeads.emplace_back(decl.getName().str(), 1 << (i % 3));
    check(spec, chooseDims(spec, smallSizes), given);
  }
}

/// Periods: what fires and what is remembered, at every position.
TEST_F(RecurrenceToTileTest, Periods) {
  RecurrenceOp spec = parse(R"(
    larc.recurrence @periods(%q[K], %k[K], %v[V])
        state(%S[K, V], %slow[K, V], %count)
        attributes(period = period(3)) -> (o[V], c) {
      %A = larc.anchor %S
      %known = larc.contract %A, %k over K
      %error = larc.sub %v, %known
      %write = larc.mul %k, %error
      %next = larc.add %S, %write
      %one = larc.constant 1.0
      %more = larc.add %count, %one
      %fast, %kept, %n = larc.fire every 2 iter(%X = %next, %Y = %slow, %c = %more) {
        %unit = larc.normalize %X over K max 1.0e-6
        %sum = larc.add %X, %Y
        %zero = larc.mul %c, %count
        larc.yield %unit, %sum, %zero
      }
      %both = larc.add %fast, %kept
      %o = larc.contract %both, %q over K
      larc.yield %fast, %kept, %n, %o, %n
    }
  )");
  for (int64_t position : {0, 1, 2, 5, 6}) {
    for (int64_t tokens : {0, 1, 7}) {
      SCOPED_TRACE(position);
      Case given;
      given.position = position;
      given.anchor = "S";
      given.tokens = tokens;
      check(spec, {{"K", 10}, {"V", 36}}, given);
    }
  }
}

TEST_F(RecurrenceToTileTest, BuiltInVariants) {
  struct Variant {
    const char *name;
    Values attributes;
    Dims dims;
    bool anchors = false;
  };
  Dims lattice = {{"M", 7}, {"D", 36}};
  std::vector<Variant> variants;
  for (const char *link : {"identity", "swish", "relu", "relu2"})
    variants.push_back(
        {"gsa", {{"link", link}}, {{"K", 20}, {"V", 40}, {"M", 12}}});
  for (const char *name : {"lattice_dec", "lattice_enc", "lattice_dot"})
    for (const char *form : {"gradient", "gate"})
      for (const char *normalize : {"token", "period", "both"})
        variants.push_back(
            {name,
             {{"period", "2"}, {"form", form}, {"normalize", normalize}},
             lattice,
             true});
  variants.push_back({"lattice_dec_l1", {{"period", "3"}}, lattice, true});
  for (const char *promotion : {"learned", "additive"})
    variants.push_back(
        {"nested_gdn2",
         {{"period", "2"}, {"intervals", "1,2,3"}, {"promotion", promotion}},
         {{"K", 20}, {"V", 36}, {"n1", 2}, {"n2", 5}}});
  variants.push_back(
      {"ortho_mlstm", {{"iterations", "2"}}, {{"K", 20}, {"V", 36}}});
  for (const Variant &variant : variants) {
    for (int64_t position : {0, 3}) {
      std::string text = variant.name;
      for (const auto &[attribute, value] : variant.attributes)
        text += " " + attribute + "=" + value;
      SCOPED_TRACE(text);
      Case given;
      given.attributes = variant.attributes;
      given.tokens = 7;
      given.position = position;
      given.anchor = variant.anchors ? "S" : "";
      if (position > 0 && !variant.anchors &&
          !StringRef(variant.name).starts_with("nested"))
        continue;
      check(load(variant.name), variant.dims, given, 5e-5);
    }
  }
}

/// What no built-in spec has: axes by other names, states that lie the other
/// way round, arrays of two axes among operands and outputs.
TEST_F(RecurrenceToTileTest, Shapes) {
  const char *sources[] = {
      // A state whose columns are another's rows.
      R"(larc.recurrence @chain(%k[K], %s[M], %v[V])
          state(%A[K, M], %B[M, V], %z[M] = -inf, %n)
          -> (o[V], p[M], m) {
        %w = larc.mul %k, %s
        %a = larc.add %A, %w
        %r = larc.contract %a, %k over K
        %p = larc.softmax %r over M
        %x = larc.mul %p, %v
        %b = larc.add %B, %x
        %o = larc.contract %b, %p over M
        %z2 = larc.logaddexp %z, %s
        %m = larc.reduce max %b over M, V
        %n2 = larc.add %n, %m
        larc.yield %a, %b, %z2, %n2, %o, %p, %m
      })",
      // Keys against keys: rows become columns.
      R"(larc.recurrence @gram(%k[K], %q[K]) state(%G[J, K]) -> (o[K], d[J]) {
        %e = larc.exp %k
        %kj = larc.rename %e K to J
        %w = larc.mul %e, %kj
        %g = larc.add %G, %w
        %o = larc.contract %g, %kj over J
        %d = larc.contract %g, %q over K
        larc.yield %g, %o, %d
      })",
      // Matrices in and out; slices of what is computed.
      R"(larc.recurrence @wide(%x[K, V], %y[n, V]) constant(%c[K, V])
          state(%S[K, V]) -> (o[K, V], p[n, V], r[K], s) {
        %t = larc.tanh %x
        %u = larc.add %S, %t
        %n = larc.mul %u, %c
        %e = larc.exp %y
        %f = larc.contract %n, %e over V
        %p = larc.contract %n, %f over K
        %r = larc.slice %n[V = 3]
        %l = larc.slice %x[V = 1]
        %rl = larc.add %r, %l
        %s = larc.slice %rl[K = 2]
        larc.yield %n, %n, %p, %rl, %s
      })",
      // A fold over what is computed, with a sum over the fold's own axis.
      R"(larc.recurrence @folded(%k[n, K], %v[n, V], %b[n]) state(%S[K, V]) -> (o[V], m) {
        %keys = larc.normalize %k over K max 1.0e-6
        %c = larc.softmax %b over n
        %next = larc.fold n over(%kj = %keys, %vj = %v, %cj = %c) iter(%X = %S) {
          %known = larc.contract %X, %kj over K
          %error = larc.sub %vj, %known
          %step = larc.mul %cj, %error
          %write = larc.mul %kj, %step
          %Y = larc.add %X, %write
          larc.yield %Y
        }
        %m = larc.reduce max %b over n
        %w = larc.contract %keys, %c over n
        %o = larc.contract %next, %w over K
        larc.yield %next, %o, %m
      })",
      // No state at all.
      R"(larc.recurrence @none(%x[K]) -> (o[K]) {
        %o = larc.softmax %x over K
        larc.yield %o
      })"};
  for (const char *source : sources) {
    SCOPED_TRACE(source);
    RecurrenceOp spec = parse(source);
    for (int64_t size : {9, 40, 64}) {
      Dims sizes = {{"K", size}, {"V", 76}, {"M", 20}, {"n", 3}};
      check(spec, chooseDims(spec, sizes), Case());
    }
  }
}
