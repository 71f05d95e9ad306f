//===- Dims.cpp - Sizes on the command line -------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dims.h"

#include "CommandLine.h"

#include "larc/Dialect/Larc/Transforms/Flatten.h"
#include "larc/Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace larc;
using namespace larc::driver;

/// A range of more sizes than this is a slip.
static constexpr size_t maxRangeSize = 10000;

static llvm::Expected<int64_t>
parseSize(llvm::StringRef text, llvm::StringRef what, int64_t smallest) {
  int64_t value;
  if (text.trim().getAsInteger(10, value) || value < smallest)
    return makeUsageFault(what + " needs an integer from " +
                          llvm::Twine(smallest) + " on, not " +
                          quoteName(text));
  return value;
}

/// Parses `8`, `1:8`, `1:8:2` or `1:8:x2`, the value of a dim `name`.
static llvm::Error parseRange(llvm::StringRef text, llvm::StringRef name,
                              bool allowRanges,
                              llvm::SmallVectorImpl<int64_t> &values) {
  std::string what = "dim " + quoteName(name);
  int64_t smallest = name == "B" || name == "T" ? 0 : 1;
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ':');
  if (parts.size() > 1 && !allowRanges)
    return makeUsageFault(what + " has a range, " + quoteName(text) +
                          ": only 'larc bench' takes ranges");
  if (parts.size() > 3)
    return makeUsageFault(what +
                          " needs FIRST:LAST:STEP or FIRST:LAST:xFACTOR, " +
                          "not " + quoteName(text));
  auto first = parseSize(parts[0], what, smallest);
  if (!first)
    return first.takeError();
  values.push_back(*first);
  if (parts.size() == 1)
    return llvm::Error::success();

  auto last = parseSize(parts[1], what, *first);
  if (!last)
    return last.takeError();
  bool isFactor = parts.size() == 3 && parts[2].consume_front("x");
  int64_t step = 1;
  if (parts.size() == 3) {
    auto parsed =
        parseSize(parts[2], what + (isFactor ? ": the factor" : ": the step"),
                  isFactor ? 2 : 1);
    if (!parsed)
      return parsed.takeError();
    step = *parsed;
  }
  if (isFactor && *first == 0)
    return makeUsageFault(what + ": a factor leads nowhere from 0");
  while (true) {
    int64_t next;
    if (isFactor ? llvm::MulOverflow(values.back(), step, next)
                 : llvm::AddOverflow(values.back(), step, next))
      break;
    if (next > *last)
      break;
    if (values.size() == maxRangeSize)
      return makeUsageFault(what + " has more than " +
                            llvm::Twine(maxRangeSize) + " sizes, " +
                            quoteName(text));
    values.push_back(next);
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<DimValues>> driver::parseDims(llvm::StringRef text,
                                                         bool allowRanges) {
  std::vector<DimValues> dims;
  for (llvm::StringRef part : llvm::split(text, ',')) {
    llvm::StringRef name, value;
    std::tie(name, value) = part.split('=');
    name = name.trim();
    if (name.empty() || !part.contains('='))
      return makeUsageFault("option '--dims' needs NAME=SIZE, not " +
                            quoteName(part));
    if (llvm::any_of(dims,
                     [&](const DimValues &dim) { return dim.name == name; }))
      return makeUsageFault("dim " + quoteName(name) + " is given twice");
    DimValues dim;
    dim.name = name.str();
    if (llvm::Error error = parseRange(value, name, allowRanges, dim.values))
      return error;
    dims.push_back(std::move(dim));
  }
  return dims;
}

llvm::Expected<std::vector<int64_t>>
driver::parseLengths(llvm::StringRef text) {
  std::vector<int64_t> lengths;
  int64_t total = 0;
  for (llvm::StringRef part : llvm::split(text, ',')) {
    auto length = parseSize(part, "option '--seqlens'", 0);
    if (!length)
      return length.takeError();
    if (llvm::AddOverflow(total, *length, total))
      return makeUsageFault("the lengths of '--seqlens' have a sum that does "
                            "not fit 64 bits");
    lengths.push_back(*length);
  }
  return lengths;
}

llvm::Expected<std::vector<std::pair<std::string, int64_t>>>
driver::parseHeadCounts(llvm::StringRef text) {
  std::vector<std::pair<std::string, int64_t>> counts;
  for (llvm::StringRef part : llvm::split(text, ',')) {
    llvm::StringRef name, value;
    std::tie(name, value) = part.split(':');
    name = name.trim();
    if (name.empty() || !part.contains(':'))
      return makeUsageFault("option '--heads' needs OPERAND:COUNT, not " +
                            quoteName(part));
    if (llvm::any_of(counts,
                     [&](const auto &entry) { return entry.first == name; }))
      return makeUsageFault("option '--heads' names " + quoteName(name) +
                            " twice");
    auto count = parseSize(value, "option '--heads'", 1);
    if (!count)
      return count.takeError();
    counts.emplace_back(name.str(), *count);
  }
  return counts;
}

std::vector<DimList> driver::expandDims(llvm::ArrayRef<DimValues> dims) {
  std::vector<DimList> result(1);
  for (const DimValues &dim : dims) {
    std::vector<DimList> longer;
    for (const DimList &prefix : result) {
      for (int64_t value : dim.values) {
        longer.push_back(prefix);
        longer.back().emplace_back(dim.name, value);
      }
    }
    result = std::move(longer);
  }
  return result;
}

DimList driver::getSingleDims(llvm::ArrayRef<DimValues> dims) {
  DimList result;
  for (const DimValues &dim : dims)
    result.emplace_back(dim.name, dim.values.front());
  return result;
}

std::string
driver::formatDims(llvm::ArrayRef<std::pair<std::string, int64_t>> dims) {
  std::string text;
  for (const auto &[name, size] : dims) {
    if (!text.empty())
      text += ',';
    text += name + "=" + std::to_string(size);
  }
  return text;
}

llvm::json::Value
driver::dimsToJSON(llvm::ArrayRef<std::pair<std::string, int64_t>> dims) {
  llvm::json::Object object;
  for (const auto &[name, size] : dims)
    object[name] = size;
  return object;
}

static bool isRunTimeDim(llvm::StringRef name) {
  return name == "B" || name == "T" || name == "H";
}

/// The axes that some tensor of the flat `recurrence` has which the step uses.
/// Operands that the chosen variants leave unused need no sizes.
static llvm::SmallVector<mlir::StringAttr>
getUsedAxes(RecurrenceOp recurrence) {
  llvm::SmallVector<mlir::StringAttr> used;
  auto addOperands = [&](mlir::ArrayAttr decls,
                         mlir::Block::BlockArgListType arguments) {
    for (auto [decl, argument] :
         llvm::zip(decls.getAsRange<OperandDeclAttr>(), arguments))
      if (!argument.use_empty())
        llvm::append_range(used, decl.getAxes());
  };
  addOperands(recurrence.getTokenOperands(), recurrence.getOperandArguments());
  addOperands(recurrence.getConstants(), recurrence.getConstantArguments());
  for (auto decl : recurrence.getStates().getAsRange<StateDeclAttr>())
    llvm::append_range(used, decl.getAxes());
  for (auto decl : recurrence.getOutputs().getAsRange<OutputDeclAttr>())
    llvm::append_range(used, decl.getAxes());
  return used;
}

llvm::Error
driver::bindDimsOption(RecurrenceOp recurrence,
                       llvm::ArrayRef<std::pair<std::string, int64_t>> dims,
                       llvm::ArrayRef<llvm::StringRef> required,
                       bool complete) {
  llvm::SmallVector<mlir::StringAttr> axes = recurrence.getAllAxes();
  llvm::SmallVector<llvm::StringRef> names = {"B", "T", "H"};
  for (mlir::StringAttr axis : axes)
    names.push_back(axis.getValue());
  std::string specName = quoteName(recurrence.getSymName());

  DimList sizes;
  for (const auto &[name, size] : dims) {
    if (!llvm::is_contained(names, llvm::StringRef(name)))
      return makeUsageFault("spec " + specName + " has no dim " +
                                quoteName(name) + didYouMean(name, names),
                            {"its dims are " + llvm::join(names, ", ")});
    if (isRunTimeDim(name))
      continue;
    auto axis = mlir::StringAttr::get(recurrence.getContext(), name);
    std::optional<int64_t> bound = recurrence.getAxisSize(axis);
    if (bound && *bound != size)
      return makeUsageFault("dim " + quoteName(name) + " is " +
                            llvm::Twine(size) + ", but the attributes of " +
                            specName + " make it " + llvm::Twine(*bound));
    sizes.emplace_back(name, size);
  }

  llvm::SmallVector<llvm::StringRef> missing;
  for (llvm::StringRef name : required)
    if (llvm::none_of(dims, [&](const auto &dim) { return dim.first == name; }))
      missing.push_back(name);
  if (mlir::failed(bindDims(recurrence, sizes, /*complete=*/false)))
    return makeUsageFault("the sizes of '--dims' contradict each other");
  if (!complete)
    return llvm::Error::success();
  llvm::SmallVector<mlir::StringAttr> used = getUsedAxes(recurrence);
  DimList unused;
  for (mlir::StringAttr axis : axes) {
    if (recurrence.getAxisSize(axis))
      continue;
    if (llvm::is_contained(used, axis))
      missing.push_back(axis.getValue());
    else
      unused.emplace_back(axis.str(), 1);
  }
  if (!missing.empty()) {
    std::string values = llvm::join(missing, "=N,") + "=N'";
    return makeUsageFault("spec " + specName + " needs a size of " +
                              llvm::join(missing, ", "),
                          {dims.empty() ? "give them with '--dims=" + values
                                        : "add '" + values + " to '--dims'"});
  }
  if (mlir::failed(bindDims(recurrence, unused, /*complete=*/true)))
    return makeUsageFault("the sizes of '--dims' contradict each other");
  return llvm::Error::success();
}
