//===- HostCall.cpp - Calls of libraries on the host ------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LibraryCall.h"

#include "llvm/Support/Threading.h"

#include <cstdlib>

using namespace larc;

using Role = LibraryTensor::Role;

/// The tensor that is the library's `index`th in its role.
const Tensor *HostCall::findInput(const LibraryTensor &tensor,
                                  size_t index) const {
  auto at = [](auto &list, size_t i) -> const Tensor * {
    return i < list.size() ? list[i] : nullptr;
  };
  switch (tensor.role) {
  case Role::Operand:
    return at(problem.operands, index);
  case Role::Constant:
    return at(problem.constants, index);
  case Role::InitialState:
    return at(problem.states, index);
  case Role::InitialAnchor: {
    RecurrenceOp recurrence = problem.recurrence;
    llvm::SmallVector<unsigned> anchored = recurrence.getAnchoredStates();
    return index < anchored.size() ? at(problem.anchors, anchored[index])
                                   : nullptr;
  }
  default:
    return nullptr;
  }
}

llvm::Error HostCall::addInput(const LibraryTensor &tensor,
                               const Tensor *given) {
  if (given && given->getDType() != tensor.dtype) {
    llvm::Expected<Tensor> other = given->convertTo(tensor.dtype);
    if (!other)
      return other.takeError();
    given = &(converted[tensor.name] = std::move(*other));
  }
  inputs.push_back(given);
  outputs.push_back(nullptr);
  return llvm::Error::success();
}

llvm::Error HostCall::addOutput(const LibraryTensor &tensor) {
  inputs.push_back(nullptr);
  auto it = results->find(tensor.name);
  if (it == results->end())
    return makeFault("no memory for the result " + tensor.name);
  if (it->second.getDType() == tensor.dtype) {
    outputs.push_back(&it->second);
    return llvm::Error::success();
  }
  llvm::Expected<Tensor> other = Tensor::createUninitialized(
      tensor.dtype, it->second.getShape(), tensor.name);
  if (!other)
    return other.takeError();
  outputs.push_back(&(converted[tensor.name] = std::move(*other)));
  return llvm::Error::success();
}

llvm::Error HostCall::prepare() {
  std::map<Role, size_t> counts;
  for (const LibraryTensor &tensor : manifest.tensors) {
    size_t index = counts[tensor.role]++;
    bool isResult = tensor.role == Role::Output ||
                    tensor.role == Role::FinalState ||
                    tensor.role == Role::FinalAnchor;
    llvm::Error error = isResult ? addOutput(tensor)
                                 : addInput(tensor, findInput(tensor, index));
    if (error)
      return error;
  }
  return llvm::Error::success();
}

llvm::Error HostCall::finish() {
  for (const auto &[tensor, output] :
       llvm::zip_equal(manifest.tensors, outputs)) {
    if (!output)
      continue;
    Tensor &wanted = results->at(tensor.name);
    if (&wanted == output)
      continue;
    llvm::Expected<Tensor> result = output->convertTo(wanted.getDType());
    if (!result)
      return result.takeError();
    wanted = std::move(*result);
  }
  return llvm::Error::success();
}

larc_shape HostCall::getShape(const LibraryRunOptions &options) const {
  larc_shape shape = {};
  shape.target = options.target;
  shape.form = options.form;
  shape.sequences = problem.numSequences;
  shape.tokens = problem.tokens;
  shape.heads = problem.heads;
  shape.packed = problem.packed;
  shape.segments = options.segments;
  shape.threads = static_cast<int32_t>(
      options.threads ? options.threads
                      : llvm::hardware_concurrency().compute_thread_count());
  return shape;
}

std::vector<larc_layout> HostCall::getLayouts() const {
  std::vector<larc_layout> layouts;
  size_t operand = 0;
  for (const LibraryTensor &tensor : manifest.tensors) {
    larc_layout &layout = layouts.emplace_back(larc_layout{});
    if (tensor.role == Role::Operand && operand < problem.operandHeads.size())
      layout.heads = problem.operandHeads[operand++];
  }
  return layouts;
}

namespace {

struct FreeDeleter {
  void operator()(void *memory) const { std::free(memory); }
};

} // namespace

llvm::Error larc::runOnHost(const larc_library &functions,
                            const Problem &problem, HostCall &call,
                            const LibraryRunOptions &options) {
  Plan plan(functions);
  if (llvm::Error error = plan.create(call, options))
    return error;
  constexpr size_t alignment = 256;
  size_t bytes = llvm::alignTo(plan.getWorkspaceBytes() + 1, alignment);
  std::unique_ptr<void, FreeDeleter> workspace(
      std::aligned_alloc(alignment, bytes));
  if (!workspace)
    return makeFault("out of memory: no " + llvm::Twine(bytes) +
                     " bytes of workspace");
  std::vector<const void *> pointers;
  for (const auto &[input, output] : llvm::zip_equal(call.inputs, call.outputs))
    pointers.push_back(input    ? input->getRawData()
                       : output ? output->getRawData()
                                : nullptr);
  larc_lists lists = {};
  if (problem.packed)
    lists.offsets = problem.offsets.data();
  if (problem.positions.size() == size_t(problem.numSequences))
    lists.positions = problem.positions.data();
  if (functions.run(plan.get(), pointers.data(), &lists, workspace.get(),
                    nullptr) != LARC_OK)
    return makeFault(functions.message());
  return llvm::Error::success();
}
