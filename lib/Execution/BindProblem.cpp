//===- BindProblem.cpp - Tensors bound to a recurrence ----------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShapeBinder.h"
#include "ZeroSlices.h"
#include "larc/Execution/Problem.h"
#include "larc/Support/Error.h"
#include "larc/Support/Spelling.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace larc;

namespace {

/// What a tensor of the input is to the recurrence.
enum class Role {
  Operand,
  Constant,
  State,
  Anchor,
  OutputCotangent,
  StateCotangent,
  AnchorCotangent,
};

/// A tensor that the recurrence can be given, and whether it was.
struct Slot {
  Role role;
  unsigned index; ///< of the declaration
  std::string name;
  DimNames dims;
  OperandKind kind = OperandKind::Data;
  bool required = false;
  Tensor *tensor = nullptr;

  bool isCotangent() const {
    return role == Role::OutputCotangent || role == Role::StateCotangent ||
           role == Role::AnchorCotangent;
  }
  /// Whether it is of the states' type, and not of the operands'.
  bool isOfState() const {
    return role == Role::State || role == Role::Anchor ||
           role == Role::StateCotangent || role == Role::AnchorCotangent;
  }
};

class ProblemBinder {
public:
  ProblemBinder(RecurrenceOp spec, Problem &problem,
                const ConversionOptions &conversion, bool needCotangents)
      : spec(spec), problem(problem), recurrence(problem.recurrence),
        conversion(conversion), needCotangents(needCotangents) {}

  llvm::Error bind();

private:
  llvm::Error findTensors();
  llvm::Error reportUnknown(StringRef name);
  llvm::Error checkRequired();
  llvm::Error checkElementTypes();
  llvm::Error bindShapes();
  llvm::Error bindSequences();
  llvm::Error bindPositions();
  llvm::Error bindSizes();
  llvm::Error convert();
  llvm::Error convertTo(Tensor &tensor, DType type);
  llvm::Error checkStates();
  llvm::Error checkNonzero(const Slot &slot, StateDeclAttr decl);
  void setPointers();

  Tensor *lookup(StringRef name) {
    auto it = problem.storage.find(name.str());
    return it == problem.storage.end() ? nullptr : &it->second;
  }
  StateDeclAttr getState(unsigned index) {
    return cast<StateDeclAttr>(recurrence.getStates()[index]);
  }
  bool isAnchored(unsigned state) {
    return llvm::is_contained(anchoredStates, state);
  }
  /// Whether the sequence's first token is inside of a period.
  bool isInsidePeriod(int64_t sequence) {
    return problem.positions[sequence] % recurrence.getPeriod() != 0;
  }

  RecurrenceOp spec; ///< before it was specialised
  Problem &problem;
  RecurrenceOp recurrence;
  const ConversionOptions &conversion;
  bool needCotangents;
  std::vector<Slot> slots;
  SmallVector<unsigned> anchoredStates;
  ShapeBinder shapes;
};

} // namespace

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

llvm::Error ProblemBinder::findTensors() {
  bool packed = lookup("cu_seqlens");
  StringRef rows = packed ? "N" : "B";
  auto addSlot = [&](Role role, unsigned index, std::string name,
                     DimNames dims) -> Slot & {
    slots.push_back({role, index, std::move(name), std::move(dims)});
    return slots.back();
  };
  for (auto [index, decl] : llvm::enumerate(
           recurrence.getTokenOperands().getAsRange<OperandDeclAttr>())) {
    Slot &slot = addSlot(Role::Operand, index, decl.getName().str(),
                         makeDims({"B", "T", "heads"}, decl.getAxes()));
    slot.kind = decl.getKind();
    slot.required = !recurrence.getOperandArguments()[index].use_empty();
  }
  for (auto [index, decl] : llvm::enumerate(
           recurrence.getConstants().getAsRange<OperandDeclAttr>())) {
    Slot &slot = addSlot(Role::Constant, index, decl.getName().str(),
                         makeDims({"H"}, decl.getAxes()));
    slot.kind = decl.getKind();
    slot.required = !recurrence.getConstantArguments()[index].use_empty();
  }
  // An anchor that specialisation found to be the state itself is not used, but
  // may be given.
  llvm::StringSet<> mayHaveAnchor;
  for (unsigned index : spec.getAnchoredStates())
    mayHaveAnchor.insert(
        cast<StateDeclAttr>(spec.getStates()[index]).getName().getValue());
  for (auto [index, decl] :
       llvm::enumerate(recurrence.getStates().getAsRange<StateDeclAttr>())) {
    std::string name = decl.getName().str();
    DimNames dims = makeDims({rows, "H"}, decl.getAxes());
    addSlot(Role::State, index, "state." + name, dims).required =
        decl.isRequired();
    addSlot(Role::StateCotangent, index, "cot.final." + name, dims);
    if (isAnchored(index) || mayHaveAnchor.contains(name))
      addSlot(Role::Anchor, index, "anchor." + name, dims);
    if (isAnchored(index))
      addSlot(Role::AnchorCotangent, index, "cot.final.anchor." + name, dims);
  }
  for (auto [index, decl] :
       llvm::enumerate(recurrence.getOutputs().getAsRange<OutputDeclAttr>()))
    addSlot(Role::OutputCotangent, index, "cot." + decl.getName().str(),
            makeDims({"B", "T", "H"}, decl.getAxes()));

  llvm::StringSet<> known = {"cu_seqlens"};
  if (recurrence.getPeriodDecl())
    known.insert("position");
  for (Slot &slot : slots) {
    slot.tensor = lookup(slot.name);
    known.insert(slot.name);
  }
  for (auto it = problem.storage.begin(); it != problem.storage.end();) {
    StringRef name = it->first;
    if (known.contains(name)) {
      ++it;
      continue;
    }
    bool isResult = name.starts_with("out.") || name.starts_with("final.") ||
                    name.starts_with("grad.");
    if (!isResult)
      return reportUnknown(name);
    it = problem.storage.erase(it);
  }
  return llvm::Error::success();
}

llvm::Error ProblemBinder::reportUnknown(StringRef name) {
  // A name that is still wanted is the likelier one.
  SmallVector<StringRef> missing, all = {"cu_seqlens"};
  if (recurrence.getPeriodDecl())
    all.push_back("position");
  for (const Slot &slot : slots) {
    all.push_back(slot.name);
    if (slot.required && !slot.tensor)
      missing.push_back(slot.name);
  }
  unsigned maxDistance = std::max<unsigned>(2, name.size() / 3);
  std::vector<std::string> notes;
  std::string closest = closestName(name, missing, maxDistance);
  if (!closest.empty())
    notes.push_back("did you mean " + quoteName(closest) +
                    ", which is missing?");
  else if (closest = closestName(name, all, maxDistance); !closest.empty())
    notes.push_back("did you mean " + quoteName(closest) + "?");
  if (name == "position")
    notes.push_back("the recurrence has no period");
  notes.push_back("the recurrence reads " + llvm::join(all, ", "));
  return makeFault("unknown tensor " + quoteName(name), std::move(notes));
}

llvm::Error ProblemBinder::checkRequired() {
  for (const Slot &slot : slots) {
    if (!slot.required || slot.tensor)
      continue;
    std::string what = slot.role == Role::Operand    ? "operand"
                       : slot.role == Role::Constant ? "constant"
                                                     : "initial state";
    std::vector<std::string> notes = {"expected a tensor " +
                                      formatDims(slot.dims)};
    if (slot.role == Role::State)
      notes.push_back("the recurrence declares no value that state " +
                      quoteName(getState(slot.index).getName()) +
                      " starts from");
    return makeFault("missing " + what + " " + quoteName(slot.name),
                     std::move(notes));
  }
  if (needCotangents && llvm::none_of(slots, [](const Slot &slot) {
        return slot.isCotangent() && slot.tensor;
      })) {
    SmallVector<StringRef> names;
    for (const Slot &slot : slots)
      if (slot.isCotangent())
        names.push_back(slot.name);
    return makeFault("gradients need at least one cotangent, found none",
                     {"cotangents are " + llvm::join(names, ", ")});
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

llvm::Error ProblemBinder::checkElementTypes() {
  for (const Slot &slot : slots)
    if (slot.tensor && !isFloat(slot.tensor->getDType()))
      return makeFault("tensor " + quoteName(slot.name) + " has type " +
                       getName(slot.tensor->getDType()) +
                       ", expected f64, f32, f16 or bf16");
  for (StringRef name : {"cu_seqlens", "position"}) {
    const Tensor *tensor = lookup(name);
    if (!tensor)
      continue;
    if (tensor->getDType() != DType::I64 && tensor->getDType() != DType::I32)
      return makeFault("tensor " + quoteName(name) + " has type " +
                       getName(tensor->getDType()) + ", expected i64 or i32");
    if (tensor->getRank() != 1)
      return makeFault("tensor " + quoteName(name) + " has rank " +
                       Twine(tensor->getRank()) + ", expected rank 1: " +
                       (name == "position" ? "[sequences]" : "[N + 1]"));
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

llvm::Error ProblemBinder::bindShapes() {
  if (std::optional<DictionaryAttr> dims = recurrence.getDims()) {
    for (NamedAttribute size : *dims) {
      std::string origin = "the recurrence";
      for (auto decl :
           recurrence.getAttributeDecls().getAsRange<AttributeDeclAttr>())
        if (decl.getLevel() == size.getName())
          origin = "attribute " + quoteName(decl.getName());
      shapes.preset(size.getName(), cast<IntegerAttr>(size.getValue()).getInt(),
                    origin);
    }
  }
  if (const Tensor *offsets = lookup("cu_seqlens")) {
    if (offsets->getDim(0) == 0)
      return makeFault("'cu_seqlens' is empty, expected N + 1 offsets");
    shapes.preset("N", offsets->getDim(0) - 1, "'cu_seqlens'");
  }
  for (const Slot &slot : slots) {
    bool decidesHeads = slot.role == Role::Operand || slot.role == Role::State;
    if (slot.tensor)
      if (llvm::Error error =
              shapes.bind(slot.name, *slot.tensor, slot.dims, decidesHeads))
        return error;
  }
  return shapes.bindHeads();
}

llvm::Error ProblemBinder::bindSequences() {
  std::optional<int64_t> batch = shapes.lookup("B"),
                         tokens = shapes.lookup("T");
  if (!batch || !tokens)
    return makeFault("no tensor gives the number of tokens",
                     {"token operands and cotangents of outputs do"});
  problem.batch = *batch;
  problem.tokens = *tokens;
  problem.heads = shapes.getHeads();
  problem.numSequences = *batch;
  const Tensor *offsets = lookup("cu_seqlens");
  if (!offsets)
    return llvm::Error::success();

  problem.packed = true;
  if (*batch != 1)
    return makeFault("packed sequences need B = 1, but " +
                     shapes.getOrigin("B") + " has B = " + Twine(*batch));
  problem.numSequences = offsets->getDim(0) - 1;
  for (int64_t i = 0; i <= problem.numSequences; ++i)
    problem.offsets.push_back(offsets->getAs<int64_t>(i));
  if (problem.offsets.front() != 0)
    return makeFault("'cu_seqlens' starts at " +
                     Twine(problem.offsets.front()) + ", expected 0");
  for (int64_t i = 0; i < problem.numSequences; ++i)
    if (problem.offsets[i + 1] < problem.offsets[i])
      return makeFault("'cu_seqlens' decreases: entry " + Twine(i + 1) +
                       " is " + Twine(problem.offsets[i + 1]) + " after " +
                       Twine(problem.offsets[i]));
  if (problem.offsets.back() != *tokens)
    return makeFault("'cu_seqlens' ends at " + Twine(problem.offsets.back()) +
                     ", but " + shapes.getOrigin("T") +
                     " has T = " + Twine(*tokens));
  return llvm::Error::success();
}

llvm::Error ProblemBinder::bindPositions() {
  problem.positions.assign(problem.numSequences, 0);
  const Tensor *positions = lookup("position");
  if (!positions)
    return llvm::Error::success();
  if (positions->getDim(0) != problem.numSequences)
    return makeFault("'position' has " + Twine(positions->getDim(0)) +
                     " entries, expected one for each of the " +
                     Twine(problem.numSequences) + " sequences");
  // So far that adding the index of a token never overflows.
  constexpr int64_t largest = int64_t(1) << 62;
  for (int64_t i = 0; i < problem.numSequences; ++i) {
    int64_t position = positions->getAs<int64_t>(i);
    if (position < 0 || position > largest)
      return makeFault("entry " + Twine(i) + " of 'position' is " +
                       Twine(position) + ", expected a number from 0 to 2^62");
    problem.positions[i] = position;
  }
  return llvm::Error::success();
}

llvm::Error ProblemBinder::bindSizes() {
  // Axes that something uses need a size; others get any.
  llvm::StringSet<> renamed, unneeded;
  recurrence.getBody().walk(
      [&](RenameOp rename) { renamed.insert(rename.getTo()); });
  for (const Slot &slot : slots)
    if ((slot.role == Role::Operand || slot.role == Role::Constant) &&
        !slot.required)
      for (const std::string &dim : slot.dims)
        unneeded.insert(dim);
  for (const Slot &slot : slots)
    if ((slot.role != Role::Operand && slot.role != Role::Constant) ||
        slot.required)
      for (const std::string &dim : slot.dims)
        unneeded.erase(dim);

  SmallVector<std::pair<std::string, int64_t>> sizes;
  for (StringAttr axis : recurrence.getAllAxes()) {
    if (recurrence.getAxisSize(axis))
      continue;
    if (std::optional<int64_t> size = shapes.lookup(axis)) {
      sizes.push_back({axis.str(), *size});
    } else if (unneeded.contains(axis.getValue())) {
      sizes.push_back({axis.str(), 1});
    } else if (!renamed.contains(axis.getValue())) {
      std::vector<std::string> notes;
      for (const Slot &slot : slots)
        if (!slot.isCotangent() && llvm::is_contained(slot.dims, axis.str()))
          notes.push_back(quoteName(slot.name) + " " + formatDims(slot.dims) +
                          " would");
      return makeFault("no tensor gives the size of axis " + axis.str(),
                       std::move(notes));
    }
  }
  if (failed(bindDims(recurrence, sizes)))
    return makeFault("");
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

llvm::Error ProblemBinder::convertTo(Tensor &tensor, DType type) {
  if (tensor.getDType() == type)
    return llvm::Error::success();
  llvm::Expected<Tensor> converted = tensor.convertTo(type);
  if (!converted)
    return converted.takeError();
  tensor = std::move(*converted);
  return llvm::Error::success();
}

/// The wider of two float types; the 16-bit ones are alike.
static DType getWider(DType lhs, DType rhs) {
  return getByteWidth(rhs) > getByteWidth(lhs) ? rhs : lhs;
}

llvm::Error ProblemBinder::convert() {
  std::optional<DType> dtype = conversion.dtype;
  std::optional<DType> gateDType =
      conversion.gateDType ? conversion.gateDType : conversion.dtype;
  bool hasFloat64 = false;
  for (const Slot &slot : slots)
    hasFloat64 |= slot.tensor && !slot.isCotangent() &&
                  slot.tensor->getDType() == DType::F64;
  bool isConverted = conversion.dtype || conversion.gateDType;
  problem.stateDType = dtype == DType::F64 || (!isConverted && hasFloat64)
                           ? DType::F64
                           : DType::F32;

  for (Slot &slot : slots) {
    if (!slot.tensor)
      continue;
    std::optional<DType> target = slot.isOfState() ? problem.stateDType
                                  : slot.kind == OperandKind::Gate ? gateDType
                                                                   : dtype;
    if (target)
      if (llvm::Error error = convertTo(*slot.tensor, *target))
        return error;
  }

  // Outputs are as wide as the data, or as everything where nothing is data.
  std::optional<DType> widest;
  const Slot *half = nullptr;
  for (bool dataOnly : {true, false}) {
    for (const Slot &slot : slots) {
      if (slot.role != Role::Operand || !slot.tensor ||
          (dataOnly && slot.kind != OperandKind::Data))
        continue;
      DType type = slot.tensor->getDType();
      widest = widest ? getWider(*widest, type) : type;
      if (getByteWidth(type) != 2)
        continue;
      if (half && half->tensor->getDType() != type)
        return makeFault(
            "data operands " + quoteName(half->name) + " and " +
                quoteName(slot.name) + " are " +
                getName(half->tensor->getDType()) + " and " + getName(type),
            {"f16 and bf16 cannot be mixed; --dtype converts all to one type"});
      half = &slot;
    }
    if (widest)
      break;
  }
  problem.outputDType = widest.value_or(problem.stateDType);

  if (conversion.allFloat64) {
    for (Slot &slot : slots)
      if (slot.tensor)
        if (llvm::Error error = convertTo(*slot.tensor, DType::F64))
          return error;
    problem.outputDType = problem.stateDType = DType::F64;
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

llvm::Error ProblemBinder::checkNonzero(const Slot &slot, StateDeclAttr decl) {
  SmallVector<bool> isSummed(slot.dims.size(), false);
  for (auto [i, axis] : llvm::enumerate(decl.getAxes()))
    isSummed[i + 2] = llvm::is_contained(decl.getNonzero(), axis);
  auto isUsed = [&](ArrayRef<int64_t> index) {
    // The anchor of a sequence that starts a period is not used.
    return slot.role != Role::Anchor || isInsidePeriod(index.front());
  };
  std::optional<SmallVector<int64_t>> zero =
      findZeroSlice(*slot.tensor, isSummed, problem.stateDType, isUsed);
  if (!zero)
    return llvm::Error::success();
  SmallVector<std::string> place;
  for (auto [i, dim] : llvm::enumerate(slot.dims))
    if (!isSummed[i])
      place.push_back(dim + " " + std::to_string((*zero)[i]));
  std::string axes =
      llvm::join(llvm::map_range(decl.getNonzero(),
                                 [](StringAttr axis) { return axis.str(); }),
                 ", ");
  return makeFault(quoteName(slot.name) + " is zero along " + axes + " at " +
                       llvm::join(place, ", "),
                   {"the recurrence divides by the length of each slice of " +
                    quoteName(slot.name) + " along " + axes});
}

llvm::Error ProblemBinder::checkStates() {
  for (unsigned state : anchoredStates) {
    std::string name = "anchor." + getState(state).getName().str();
    if (lookup(name))
      continue;
    for (int64_t i = 0; i < problem.numSequences; ++i)
      if (isInsidePeriod(i))
        return makeFault("missing anchor " + quoteName(name),
                         {"position " + std::to_string(problem.positions[i]) +
                          " of sequence " + std::to_string(i) +
                          " is inside of a period of " +
                          std::to_string(recurrence.getPeriod()) + " tokens"});
  }
  for (const Slot &slot : slots) {
    bool isState = slot.role == Role::State ||
                   (slot.role == Role::Anchor && isAnchored(slot.index));
    if (!isState || !slot.tensor)
      continue;
    StateDeclAttr decl = getState(slot.index);
    if (!decl.getNonzero().empty())
      if (llvm::Error error = checkNonzero(slot, decl))
        return error;
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

void ProblemBinder::setPointers() {
  size_t numStates = recurrence.getStates().size();
  problem.operands.assign(recurrence.getTokenOperands().size(), nullptr);
  problem.operandHeads.assign(problem.operands.size(), problem.heads);
  problem.constants.assign(recurrence.getConstants().size(), nullptr);
  for (auto *list : {&problem.states, &problem.anchors,
                     &problem.stateCotangents, &problem.anchorCotangents})
    list->assign(numStates, nullptr);
  problem.outputCotangents.assign(recurrence.getOutputs().size(), nullptr);
  for (const Slot &slot : slots) {
    switch (slot.role) {
    case Role::Operand:
      problem.operands[slot.index] = slot.tensor;
      if (slot.tensor)
        problem.operandHeads[slot.index] = slot.tensor->getDim(2);
      break;
    case Role::Constant:
      problem.constants[slot.index] = slot.tensor;
      break;
    case Role::State:
      problem.states[slot.index] = slot.tensor;
      break;
    case Role::Anchor:
      problem.anchors[slot.index] = slot.tensor;
      break;
    case Role::OutputCotangent:
      problem.outputCotangents[slot.index] = slot.tensor;
      break;
    case Role::StateCotangent:
      problem.stateCotangents[slot.index] = slot.tensor;
      break;
    case Role::AnchorCotangent:
      problem.anchorCotangents[slot.index] = slot.tensor;
      break;
    }
  }
}

llvm::Error ProblemBinder::bind() {
  anchoredStates = recurrence.getAnchoredStates();
  if (llvm::Error error = findTensors())
    return error;
  if (llvm::Error error = checkRequired())
    return error;
  if (llvm::Error error = checkElementTypes())
    return error;
  if (llvm::Error error = bindShapes())
    return error;
  if (llvm::Error error = bindSequences())
    return error;
  if (llvm::Error error = bindPositions())
    return error;
  if (llvm::Error error = bindSizes())
    return error;
  if (!needCotangents)
    for (Slot &slot : slots)
      if (slot.isCotangent() && slot.tensor) {
        slot.tensor = nullptr;
        problem.storage.erase(slot.name);
      }
  if (llvm::Error error = convert())
    return error;
  if (llvm::Error error = checkStates())
    return error;
  setPointers();
  return llvm::Error::success();
}

llvm::Expected<Problem>
larc::bindProblem(RecurrenceOp spec, AttributeValues values, TensorMap inputs,
                  const ConversionOptions &conversion, bool needCotangents) {
  FailureOr<OwningOpRef<ModuleOp>> module = flatten(spec, values);
  if (failed(module))
    return makeFault("");
  Problem problem;
  problem.module = std::move(*module);
  problem.recurrence = getRecurrence(*problem.module);
  problem.storage = std::move(inputs);
  ProblemBinder binder(spec, problem, conversion, needCotangents);
  if (llvm::Error error = binder.bind())
    return std::move(error);
  return std::move(problem);
}
