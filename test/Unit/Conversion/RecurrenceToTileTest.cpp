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
  int64_t parts = 1;
  int64_t position = 0;
  int64_t sequences = 1, heads = 1;
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
  request.dims = {
      {"H", given.heads}, {"B", given.sequences}, {"T", given.tokens}};
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
      std::fill(values.begin(), values.end(),
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
  EXPECT_LE(program.getParts(), static_cast<uint64_t>(given.parts));

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
      view.rows = type.hasDynamicRows() ? problem.tokens : type.getRows();
      view.rowStride = isToken ? heads * view.cols : view.cols;
      view.data = nothing.data();
      if (tensor) {
        int64_t rows = isToken ? problem.tokens : view.rows;
        int64_t own = head / (problem.heads / heads);
        int64_t first = isToken
                            ? index * rows * heads * view.cols + own * view.cols
                            : (index * heads + own) * rows * view.cols;
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
    block.length = problem.tokens;
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
  if (given.position > 0)
    inputs.try_emplace("position", makeIntegers(std::vector<int64_t>(
                                       given.sequences, given.position)));
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
