//===- RandomInputs.cpp - Inputs drawn from the domains ---------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Execution/Problem.h"
#include "larc/Support/Error.h"
#include "larc/Support/Random.h"
#include "larc/Support/Spelling.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace larc;

namespace {

class InputMaker {
public:
  InputMaker(RecurrenceOp recurrence, const RandomInputs &request)
      : recurrence(recurrence), request(request) {}

  llvm::Expected<TensorMap> make();

private:
  llvm::Error readDims();
  llvm::Error readLengths();
  llvm::Error readHeads();
  llvm::Error requireAxes(ArrayRef<StringAttr> axes);
  llvm::Error draw(const std::string &name, ArrayRef<int64_t> leading,
                   ArrayRef<StringAttr> axes, Domain domain = Domain::Normal,
                   StringAttr domainAxis = {}, DenseF64ArrayAttr range = {});
  llvm::Error drawAll();
  bool hasSizes(ArrayRef<StringAttr> axes) const {
    return llvm::all_of(
        axes, [&](StringAttr axis) { return sizes.contains(axis.getValue()); });
  }

  RecurrenceOp recurrence;
  const RandomInputs &request;
  llvm::StringMap<int64_t> sizes, headCounts;
  int64_t numSequences = 0;
  TensorMap tensors;
};

} // namespace

llvm::Error InputMaker::readDims() {
  SmallVector<StringRef> known = {"B", "T", "H"};
  for (StringAttr axis : recurrence.getAllAxes()) {
    known.push_back(axis.getValue());
    if (std::optional<int64_t> size = recurrence.getAxisSize(axis))
      sizes[axis.getValue()] = *size;
  }
  for (const auto &[name, size] : request.dims) {
    if (!llvm::is_contained(known, StringRef(name))) {
      std::vector<std::string> notes;
      std::string closest = closestName(name, known, 2);
      if (!closest.empty())
        notes.push_back("did you mean " + quoteName(closest) + "?");
      notes.push_back("the recurrence has " + llvm::join(known, ", "));
      return makeUsageFault("unknown dim " + quoteName(name), std::move(notes));
    }
    bool mayBeEmpty = name == "B" || name == "T";
    if (size < (mayBeEmpty ? 0 : 1))
      return makeUsageFault("dim " + quoteName(name) + " is " + Twine(size) +
                            ": sizes are positive");
    auto [it, isNew] = sizes.try_emplace(name, size);
    if (!isNew && it->second != size)
      return makeUsageFault("dim " + quoteName(name) + " is " + Twine(size) +
                            ", but the recurrence has " + Twine(it->second));
  }
  // Both axes of a rename have one size; chains of renames need several rounds.
  for (bool changed = true; std::exchange(changed, false);)
    recurrence.getBody().walk([&](RenameOp rename) {
      for (auto [from, to] : {std::pair(rename.getFrom(), rename.getTo()),
                              std::pair(rename.getTo(), rename.getFrom())})
        if (sizes.contains(from) && !sizes.contains(to)) {
          sizes[to] = int64_t(sizes[from]);
          changed = true;
        }
    });
  return llvm::Error::success();
}

llvm::Error InputMaker::readLengths() {
  if (!request.lengths.empty()) {
    int64_t total = 0;
    for (int64_t length : request.lengths) {
      if (length < 0)
        return makeUsageFault("sequence length " + Twine(length) +
                              " is negative");
      if (llvm::AddOverflow(total, length, total))
        return makeUsageFault("the sequence lengths add up to more than 64 "
                              "bits can count");
    }
    auto check = [&](StringRef dim, int64_t size) -> llvm::Error {
      auto [it, isNew] = sizes.try_emplace(dim, size);
      if (!isNew && it->second != size)
        return makeUsageFault("dim " + quoteName(dim) + " is " +
                              Twine(it->second) +
                              ", but the packed sequences have " + Twine(size));
      return llvm::Error::success();
    };
    if (llvm::Error error = check("B", 1))
      return error;
    if (llvm::Error error = check("T", total))
      return error;
  }
  for (StringRef dim : {"B", "T", "H"})
    if (!sizes.contains(dim))
      return makeUsageFault("missing dim " + quoteName(dim));
  numSequences =
      request.lengths.empty() ? sizes["B"] : int64_t(request.lengths.size());
  return llvm::Error::success();
}

llvm::Error InputMaker::readHeads() {
  int64_t heads = sizes["H"];
  SmallVector<StringRef> names;
  for (auto decl : recurrence.getTokenOperands().getAsRange<OperandDeclAttr>())
    names.push_back(decl.getName());
  for (const auto &[name, count] : request.headCounts) {
    if (!llvm::is_contained(names, StringRef(name)))
      return makeUsageFault("unknown operand " + quoteName(name),
                            {"the recurrence has " + llvm::join(names, ", ")});
    if (count < 1 || heads % count != 0)
      return makeUsageFault(quoteName(name) + " has " + Twine(count) +
                            " heads, which do not divide H = " + Twine(heads));
    headCounts[name] = count;
  }
  return llvm::Error::success();
}

llvm::Error InputMaker::requireAxes(ArrayRef<StringAttr> axes) {
  for (StringAttr axis : axes)
    if (!sizes.contains(axis.getValue()))
      return makeUsageFault("missing dim " + quoteName(axis));
  return llvm::Error::success();
}

llvm::Error InputMaker::draw(const std::string &name, ArrayRef<int64_t> leading,
                             ArrayRef<StringAttr> axes, Domain domain,
                             StringAttr domainAxis, DenseF64ArrayAttr range) {
  if (llvm::Error error = requireAxes(axes))
    return error;
  SmallVector<int64_t> shape(leading);
  int64_t along = 0;
  for (StringAttr axis : axes) {
    if (axis == domainAxis)
      along = shape.size();
    shape.push_back(sizes[axis.getValue()]);
  }
  llvm::Expected<Tensor> numbers =
      Tensor::createUninitialized(DType::F64, shape, name);
  if (!numbers)
    return numbers.takeError();
  // One stream a tensor: it keeps its values when others come or go.
  Random random(request.seed, name);
  auto values = numbers->getValues<double>();
  switch (domain) {
  case Domain::Normal:
    fillNormal(random, values);
    break;
  case Domain::Unit:
    fillUnit(random, values, shape, along);
    break;
  case Domain::LogDecay:
    fillLogDecay(random, values);
    break;
  case Domain::Interval:
    fillUniform(random, values);
    if (range)
      for (double &value : values)
        value = range[0] + (range[1] - range[0]) * value;
    break;
  case Domain::Softmax:
    fillSoftmax(random, values, shape, along);
    break;
  }
  llvm::Expected<Tensor> tensor = numbers->convertTo(DType::F32);
  if (!tensor)
    return tensor.takeError();
  tensors.insert_or_assign(name, std::move(*tensor));
  return llvm::Error::success();
}

llvm::Error InputMaker::drawAll() {
  int64_t batch = sizes["B"], tokens = sizes["T"], heads = sizes["H"];
  for (auto [decl, argument] :
       llvm::zip(recurrence.getTokenOperands().getAsRange<OperandDeclAttr>(),
                 recurrence.getOperandArguments())) {
    if (argument.use_empty())
      continue;
    std::string name = decl.getName().str();
    auto own = headCounts.find(name);
    int64_t count = own == headCounts.end() ? heads : own->second;
    if (llvm::Error error =
            draw(name, {batch, tokens, count}, decl.getAxes(), decl.getDomain(),
                 decl.getDomainAxis(), decl.getRange()))
      return error;
  }
  for (auto [decl, argument] :
       llvm::zip(recurrence.getConstants().getAsRange<OperandDeclAttr>(),
                 recurrence.getConstantArguments())) {
    if (argument.use_empty())
      continue;
    if (llvm::Error error =
            draw(decl.getName().str(), {heads}, decl.getAxes(),
                 decl.getDomain(), decl.getDomainAxis(), decl.getRange()))
      return error;
  }

  // Where all operands share heads, or none has an axis of a state, the state's
  // tensor says how many or how long.
  llvm::StringSet<> covered;
  int64_t mostHeads = 0;
  for (ArrayAttr decls :
       {recurrence.getTokenOperands(), recurrence.getConstants()})
    for (auto decl : decls.getAsRange<OperandDeclAttr>())
      if (tensors.count(decl.getName().str()))
        for (StringAttr axis : decl.getAxes())
          covered.insert(axis.getValue());
  for (auto decl : recurrence.getTokenOperands().getAsRange<OperandDeclAttr>())
    if (auto it = tensors.find(decl.getName().str()); it != tensors.end())
      mostHeads = std::max(mostHeads, it->second.getDim(2));
  for (auto decl : recurrence.getStates().getAsRange<StateDeclAttr>()) {
    std::string name = decl.getName().str();
    if (llvm::Error error = requireAxes(decl.getAxes()))
      return error;
    bool needed = llvm::any_of(decl.getAxes(), [&](StringAttr axis) {
      return !covered.contains(axis.getValue()) &&
             !recurrence.getAxisSize(axis);
    });
    if (decl.isRequired() || request.initialStates || needed ||
        mostHeads < heads)
      if (llvm::Error error =
              draw("state." + name, {numSequences, heads}, decl.getAxes()))
        return error;
    if (request.cotangents)
      if (llvm::Error error =
              draw("cot.final." + name, {numSequences, heads}, decl.getAxes()))
        return error;
  }
  for (unsigned index : recurrence.getAnchoredStates()) {
    auto decl = cast<StateDeclAttr>(recurrence.getStates()[index]);
    if (request.cotangents)
      if (llvm::Error error = draw("cot.final.anchor." + decl.getName().str(),
                                   {numSequences, heads}, decl.getAxes()))
        return error;
  }
  for (auto decl : recurrence.getOutputs().getAsRange<OutputDeclAttr>()) {
    if (llvm::Error error = requireAxes(decl.getAxes()))
      return error;
    if (request.cotangents)
      if (llvm::Error error = draw("cot." + decl.getName().str(),
                                   {batch, tokens, heads}, decl.getAxes()))
        return error;
  }
  return llvm::Error::success();
}

llvm::Expected<TensorMap> InputMaker::make() {
  if (llvm::Error error = readDims())
    return std::move(error);
  if (llvm::Error error = readLengths())
    return std::move(error);
  if (llvm::Error error = readHeads())
    return std::move(error);
  if (llvm::Error error = drawAll())
    return std::move(error);
  if (!request.lengths.empty()) {
    llvm::Expected<Tensor> offsets =
        Tensor::create(DType::I64, {numSequences + 1}, "cu_seqlens");
    if (!offsets)
      return offsets.takeError();
    auto values = offsets->getValues<int64_t>();
    for (int64_t i = 0; i < numSequences; ++i)
      values[i + 1] = values[i] + request.lengths[i];
    tensors.insert_or_assign("cu_seqlens", std::move(*offsets));
  }
  return std::move(tensors);
}

llvm::Expected<TensorMap> larc::makeRandomInputs(RecurrenceOp spec,
                                                 AttributeValues values,
                                                 const RandomInputs &request) {
  FailureOr<OwningOpRef<ModuleOp>> module = flatten(spec, values);
  if (failed(module))
    return makeFault("");
  return InputMaker(getRecurrence(**module), request).make();
}
