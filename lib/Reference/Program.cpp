//===- Program.cpp - A step as a list of instructions -----------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Reference/Program.h"
#include "ReferenceModels.h"
#include "larc/Reference/Reference.h"
#include "larc/Support/Tensor.h"

#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace larc;

#include "larc/Reference/ReferenceInterfaces.cpp.inc"

Instruction::~Instruction() = default;

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

int64_t ProgramBuilder::allocateScratch(int64_t count) {
  int64_t offset = program.frameSize;
  if (llvm::AddOverflow(offset, count, program.frameSize) || count < 0) {
    overflowed = true;
    program.frameSize = offset;
  }
  return offset;
}

View ProgramBuilder::allocate(ArrayRef<ViewAxis> axes, bool active) {
  View view;
  view.active = active;
  view.axes.assign(axes.begin(), axes.end());
  int64_t stride = 1;
  for (ViewAxis &axis : llvm::reverse(view.axes)) {
    axis.stride = stride;
    if (llvm::MulOverflow(stride, axis.size, stride)) {
      overflowed = true;
      stride = 1;
    }
  }
  view.offset = allocateScratch(stride);
  return view;
}

View ProgramBuilder::allocate(ArrayType type, bool active) {
  SmallVector<ViewAxis> axes;
  for (StringAttr axis : type.getAxes())
    axes.push_back({axis, *recurrence.getAxisSize(axis), 0});
  return allocate(axes, active);
}

View ProgramBuilder::allocateLiteral(double value) {
  View view = allocate(ArrayRef<ViewAxis>(), /*active=*/false);
  // A list that has just grown.
  program.codeBytes += 3 * sizeof(program.literals[0]);
  program.literals.push_back({view.offset, value});
  return view;
}

LogicalResult ProgramBuilder::checkOverflow(Operation *op) const {
  if (!overflowed)
    return success();
  return op->emitOpError("needs arrays of more elements than 64 bits count");
}

uint64_t ProgramBuilder::getByteSize() const {
  return llvm::SaturatingMultiplyAdd<uint64_t>(
      program.frameSize, sizeof(double), program.codeBytes);
}

LogicalResult ProgramBuilder::checkMemory(Operation *op, uint64_t bytes,
                                          const Twine &what) {
  llvm::Error error =
      checkFitsMemory(llvm::SaturatingAdd(getByteSize(), bytes), what);
  if (!error)
    return success();
  return op->emitOpError(llvm::toString(std::move(error)));
}

View ProgramBuilder::getAnchor(Value state) const {
  unsigned first = program.operands.size() + program.constants.size();
  unsigned index = cast<BlockArgument>(state).getArgNumber() - first;
  for (auto [anchored, view] :
       llvm::zip(program.anchoredStates, program.anchors))
    if (anchored == index)
      return view;
  llvm_unreachable("the state is not anchored");
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

LogicalResult ProgramBuilder::buildBody(Block &block) {
  for (Operation &op : block.without_terminator()) {
    auto interface = dyn_cast<ReferenceOpInterface>(op);
    if (!interface)
      return op.emitOpError("has no meaning to the reference interpreter");
    if (failed(interface.buildReference(*this)) || failed(checkOverflow(&op)))
      return failure();
  }
  return success();
}

LogicalResult ProgramBuilder::buildBody(Block &block, InstructionList &list) {
  InstructionList *outer = std::exchange(code, &list);
  LogicalResult built = buildBody(block);
  code = outer;
  return built;
}

LogicalResult ProgramBuilder::checkSizes() {
  if (!recurrence.isFlat())
    return recurrence.emitOpError(
        "is not flat: specialise it and expand its levels first");
  for (StringAttr axis : recurrence.getAllAxes())
    if (!recurrence.getAxisSize(axis))
      return recurrence.emitOpError("has an axis '")
             << axis.getValue() << "' without a size";
  return success();
}

LogicalResult ProgramBuilder::buildArguments() {
  auto take = [&](Value argument) {
    View view = allocate(cast<ArrayType>(argument.getType()), /*active=*/true);
    setView(argument, view);
    return view;
  };
  // Anchors are found by state index, which needs the numbers of the others.
  program.operands.resize(recurrence.getOperandArguments().size());
  program.constants.resize(recurrence.getConstantArguments().size());
  for (Value state : recurrence.getStateArguments())
    program.states.push_back(take(state));
  program.anchoredStates = recurrence.getAnchoredStates();
  for (unsigned index : program.anchoredStates)
    program.anchors.push_back(
        allocate(program.states[index].axes, /*active=*/true));
  program.carrySize = program.frameSize;
  for (auto [view, argument] :
       llvm::zip(program.constants, recurrence.getConstantArguments()))
    view = take(argument);
  program.constantsEnd = program.frameSize;
  for (auto [view, argument] :
       llvm::zip(program.operands, recurrence.getOperandArguments()))
    view = take(argument);

  auto *real = recurrence.getRealArguments().begin();
  for (auto decl :
       recurrence.getAttributeDecls().getAsRange<AttributeDeclAttr>()) {
    if (decl.getKind() != AttributeKind::Real)
      continue;
    double value;
    if (auto size = dyn_cast<SizeFnAttr>(decl.getValue()))
      value = size.evaluate(*recurrence.getAxisSize(size.getAxis()));
    else
      value = cast<FloatAttr>(decl.getValue()).getValueAsDouble();
    setView(*real++, allocateLiteral(value));
  }
  return success();
}

FailureOr<Program> ProgramBuilder::build(RecurrenceOp recurrence) {
  ProgramBuilder builder(recurrence);
  builder.program.period = recurrence.getPeriod();
  if (failed(builder.checkSizes()) || failed(builder.buildArguments()) ||
      failed(builder.checkOverflow(recurrence)) ||
      failed(builder.buildBody(recurrence.getBody().front())))
    return failure();
  Program &program = builder.program;
  auto values = recurrence.getYield().getValues();
  for (Value value : values.take_front(program.states.size()))
    program.nextStates.push_back(builder.getView(value));
  for (Value value : values.drop_front(program.states.size()))
    program.outputs.push_back(builder.getView(value));
  return std::move(program);
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

void larc::registerReferenceModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, LarcDialect *) {
    attachElementwiseModels(*context);
    attachReductionModels(*context);
    attachOrthogonalizeModel(*context);
    attachStructureModels(*context);
  });
}
