//===- Plan.cpp - A program and its tensors ---------------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Plan.h"

using namespace mlir;
using namespace larc;

/// The elements of `tensor` in float64.
static llvm::Expected<const double *> getFloat64(Plan &plan,
                                                 const Tensor *tensor) {
  if (!tensor)
    return static_cast<const double *>(nullptr);
  if (tensor->getDType() == DType::F64)
    return tensor->getValues<double>().data();
  llvm::Expected<Tensor> converted = tensor->toFloat64();
  if (!converted)
    return converted.takeError();
  plan.converted.push_back(std::move(*converted));
  // The elements stay where they are when the vector grows.
  return std::as_const(plan.converted.back()).getValues<double>().data();
}

/// Makes one port for each declaration.
template <typename DeclT>
static llvm::Error addInputs(Plan &plan, SmallVectorImpl<Port> &ports,
                             ArrayRef<View> views, ArrayAttr decls,
                             ArrayRef<const Tensor *> tensors) {
  for (auto [view, decl, tensor] :
       llvm::zip(views, decls.getAsRange<DeclT>(), tensors)) {
    llvm::Expected<const double *> source = getFloat64(plan, tensor);
    if (!source)
      return source.takeError();
    ports.emplace_back(view, decl.getAxes()).source = *source;
  }
  return llvm::Error::success();
}

/// The same for anchored states, of tensors by state.
static llvm::Error addAnchorInputs(Plan &plan, SmallVectorImpl<Port> &ports,
                                   ArrayRef<const Tensor *> tensors) {
  auto decls = plan.problem.recurrence.getStates();
  for (auto [index, view] :
       llvm::zip(plan.program.anchoredStates, plan.program.anchors)) {
    llvm::Expected<const double *> source = getFloat64(plan, tensors[index]);
    if (!source)
      return source.takeError();
    ports.emplace_back(view, cast<StateDeclAttr>(decls[index]).getAxes())
        .source = *source;
  }
  return llvm::Error::success();
}

static double *getTarget(TensorMap &results, const std::string &name) {
  auto it = results.find(name);
  return it == results.end() ? nullptr : it->second.getValues<double>().data();
}

llvm::Error larc::addForwardPorts(Plan &plan, TensorMap &results) {
  Problem &problem = plan.problem;
  Program &program = plan.program;
  RecurrenceOp recurrence = problem.recurrence;
  if (llvm::Error error = addInputs<OperandDeclAttr>(
          plan, plan.operands, program.operands, recurrence.getTokenOperands(),
          problem.operands))
    return error;
  if (llvm::Error error = addInputs<OperandDeclAttr>(
          plan, plan.constants, program.constants, recurrence.getConstants(),
          problem.constants))
    return error;
  if (llvm::Error error =
          addInputs<StateDeclAttr>(plan, plan.states, program.states,
                                   recurrence.getStates(), problem.states))
    return error;
  if (llvm::Error error = addAnchorInputs(plan, plan.anchors, problem.anchors))
    return error;

  for (auto [view, next] : llvm::zip(program.states, program.nextStates))
    plan.nextStates.push_back(Nest<2>({&next, &view}));
  auto states = recurrence.getStates().getAsRange<StateDeclAttr>();
  for (auto [view, decl] : llvm::zip(program.states, states)) {
    plan.initialValues.push_back(
        decl.getInit() ? decl.getInit().getValueAsDouble() : 0.0);
    plan.finalStates.emplace_back(view, decl.getAxes()).target =
        getTarget(results, "final." + decl.getName().str());
  }
  for (auto [index, view] :
       llvm::zip(program.anchoredStates, program.anchors)) {
    auto decl = cast<StateDeclAttr>(recurrence.getStates()[index]);
    plan.finalAnchors.emplace_back(view, decl.getAxes()).target =
        getTarget(results, "final.anchor." + decl.getName().str());
  }
  for (auto [view, decl] :
       llvm::zip(program.outputs,
                 recurrence.getOutputs().getAsRange<OutputDeclAttr>()))
    plan.outputs.emplace_back(view, decl.getAxes()).target =
        getTarget(results, "out." + decl.getName().str());
  return llvm::Error::success();
}

/// A gradient beside the input it is of.
static llvm::Error addGradient(Plan &plan, SmallVectorImpl<Port> &ports,
                               TensorMap &gradients, const std::string &name,
                               const View &view, ArrayRef<StringAttr> axes,
                               const Tensor *input, ArrayRef<int64_t> shape) {
  Port &port = ports.emplace_back(view, axes);
  if (!input)
    return llvm::Error::success();
  llvm::Expected<Tensor> gradient = Tensor::create(DType::F64, shape, name);
  if (!gradient)
    return gradient.takeError();
  port.target = gradient->getValues<double>().data();
  gradients.try_emplace(name, std::move(*gradient));
  return llvm::Error::success();
}

llvm::Error larc::addGradientPorts(Plan &plan, TensorMap &gradients) {
  Problem &problem = plan.problem;
  Program &program = plan.program;
  RecurrenceOp recurrence = problem.recurrence;
  for (auto [view, decl, tensor] :
       llvm::zip(program.operands,
                 recurrence.getTokenOperands().getAsRange<OperandDeclAttr>(),
                 problem.operands)) {
    SmallVector<int64_t> shape;
    if (tensor) {
      shape.assign(tensor->getShape().begin(), tensor->getShape().end());
      shape[2] = problem.heads;
    }
    if (llvm::Error error = addGradient(plan, plan.operandGradients, gradients,
                                        "grad." + decl.getName().str(), view,
                                        decl.getAxes(), tensor, shape))
      return error;
  }
  for (auto [view, decl, tensor] :
       llvm::zip(program.constants,
                 recurrence.getConstants().getAsRange<OperandDeclAttr>(),
                 problem.constants)) {
    SmallVector<int64_t> shape = {plan.numBlocks};
    if (tensor)
      shape.append(tensor->getShape().begin(), tensor->getShape().end());
    if (llvm::Error error = addGradient(plan, plan.constantGradients, gradients,
                                        "grad." + decl.getName().str(), view,
                                        decl.getAxes(), tensor, shape))
      return error;
  }
  for (auto [view, decl, tensor] : llvm::zip(
           program.states, recurrence.getStates().getAsRange<StateDeclAttr>(),
           problem.states)) {
    if (llvm::Error error = addGradient(
            plan, plan.stateGradients, gradients,
            "grad.state." + decl.getName().str(), view, decl.getAxes(), tensor,
            tensor ? tensor->getShape() : ArrayRef<int64_t>()))
      return error;
  }
  // Anchors that are given but of no state that has one get zeros.
  SmallVector<Port> unused;
  for (auto [index, tensor] : llvm::enumerate(problem.anchors)) {
    auto decl = cast<StateDeclAttr>(recurrence.getStates()[index]);
    bool anchored = llvm::is_contained(program.anchoredStates, index);
    if (llvm::Error error =
            addGradient(plan, anchored ? plan.anchorGradients : unused,
                        gradients, "grad.anchor." + decl.getName().str(),
                        program.states[index], decl.getAxes(), tensor,
                        tensor ? tensor->getShape() : ArrayRef<int64_t>()))
      return error;
    if (anchored)
      plan.anchorGradients.back().nest.offsets[0] =
          program.anchors[plan.anchorGradients.size() - 1].offset;
  }

  if (llvm::Error error = addInputs<OutputDeclAttr>(
          plan, plan.outputCotangents, program.outputs, recurrence.getOutputs(),
          problem.outputCotangents))
    return error;
  if (llvm::Error error = addInputs<StateDeclAttr>(
          plan, plan.stateCotangents, program.states, recurrence.getStates(),
          problem.stateCotangents))
    return error;
  return addAnchorInputs(plan, plan.anchorCotangents, problem.anchorCotangents);
}

llvm::Error larc::sumGradients(Plan &plan, TensorMap &gradients) {
  Problem &problem = plan.problem;
  RecurrenceOp recurrence = problem.recurrence;
  auto replace = [&](const std::string &name, const Tensor &input,
                     auto sum) -> llvm::Error {
    llvm::Expected<Tensor> total =
        Tensor::create(DType::F64, input.getShape(), name);
    if (!total)
      return total.takeError();
    Tensor &parts = gradients.find(name)->second;
    sum(total->getValues<double>(), std::as_const(parts).getValues<double>());
    parts = std::move(*total);
    return llvm::Error::success();
  };

  auto operands = recurrence.getTokenOperands().getAsRange<OperandDeclAttr>();
  for (auto [decl, tensor, heads, port] :
       llvm::zip(operands, problem.operands, problem.operandHeads,
                 plan.operandGradients)) {
    if (!tensor || heads == problem.heads)
      continue;
    int64_t size = port.size, group = problem.heads / heads;
    llvm::Error error =
        replace("grad." + decl.getName().str(), *tensor,
                [&](MutableArrayRef<double> total, ArrayRef<double> parts) {
                  for (int64_t i = 0, e = parts.size() / size; i < e; ++i)
                    for (int64_t j = 0; j < size; ++j)
                      total[i / group * size + j] += parts[i * size + j];
                });
    if (error)
      return error;
  }
  auto constants = recurrence.getConstants().getAsRange<OperandDeclAttr>();
  for (auto [decl, tensor] : llvm::zip(constants, problem.constants)) {
    if (!tensor)
      continue;
    llvm::Error error =
        replace("grad." + decl.getName().str(), *tensor,
                [&](MutableArrayRef<double> total, ArrayRef<double> parts) {
                  for (size_t i = 0; i < parts.size(); ++i)
                    total[i % total.size()] += parts[i];
                });
    if (error)
      return error;
  }
  return llvm::Error::success();
}
