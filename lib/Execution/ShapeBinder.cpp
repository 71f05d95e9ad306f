//===- ShapeBinder.cpp - Sizes read off tensors' shapes ---------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShapeBinder.h"

#include "larc/Support/Error.h"

#include "llvm/ADT/StringExtras.h"

using namespace larc;
using llvm::Twine;

std::string larc::formatDims(const DimNames &dims) {
  return "[" + llvm::join(dims, ", ") + "]";
}

DimNames larc::makeDims(std::initializer_list<llvm::StringRef> prefix,
                        llvm::ArrayRef<mlir::StringAttr> axes) {
  DimNames dims;
  for (llvm::StringRef dim : prefix)
    dims.push_back(dim.str());
  for (mlir::StringAttr axis : axes)
    dims.push_back(axis.str());
  return dims;
}

void ShapeBinder::preset(llvm::StringRef dim, int64_t size,
                         std::string origin) {
  sizes[dim.str()] = {size, std::move(origin), ""};
}

std::optional<int64_t> ShapeBinder::lookup(llvm::StringRef dim) const {
  auto it = sizes.find(dim.str());
  return it == sizes.end() ? std::nullopt
                           : std::optional<int64_t>(it->second.size);
}

std::string ShapeBinder::getOrigin(llvm::StringRef dim) const {
  auto it = sizes.find(dim.str());
  return it == sizes.end() ? "" : it->second.origin;
}

llvm::Error ShapeBinder::contradict(llvm::StringRef dim, const Size &known,
                                    const Size &found) const {
  std::vector<std::string> notes;
  for (const Size *size : {&known, &found})
    if (!size->shape.empty())
      notes.push_back(size->origin + " has shape " + size->shape);
  return makeFault(known.origin + " and " + found.origin +
                       " contradict each other along axis " + dim + ": " +
                       Twine(known.size) + " and " + Twine(found.size),
                   std::move(notes));
}

llvm::Error ShapeBinder::bind(llvm::StringRef name, const Tensor &tensor,
                              const DimNames &dims, bool decidesHeads) {
  if (tensor.getRank() != int64_t(dims.size()))
    return makeFault(
        "tensor " + quoteName(name) + " has rank " + Twine(tensor.getRank()) +
            ", expected rank " + Twine(dims.size()) + ": " + formatDims(dims),
        {quoteName(name) + " has shape " + formatShape(tensor.getShape())});
  std::string shape =
      formatShape(tensor.getShape()) + ", that is " + formatDims(dims);
  for (auto [dim, size] : llvm::zip(dims, tensor.getShape())) {
    bool mayBeEmpty = dim == "B" || dim == "T" || dim == "N";
    if (size == 0 && !mayBeEmpty)
      return makeFault("tensor " + quoteName(name) + " has size 0 along axis " +
                           dim + ": sizes are positive",
                       {quoteName(name) + " has shape " + shape});
    if (dim == "heads" || dim == "H") {
      headCounts.push_back(
          {name.str(), size, dim == "heads", decidesHeads, shape});
      continue;
    }
    Size found = {size, quoteName(name), shape};
    auto [it, isNew] = sizes.insert({dim, found});
    if (!isNew && it->second.size != size)
      return contradict(dim, it->second, found);
  }
  return llvm::Error::success();
}

llvm::Error ShapeBinder::bindHeads() {
  const HeadCount *largest = nullptr;
  for (const HeadCount &own : headCounts)
    if (own.decides && (!largest || own.count > largest->count))
      largest = &own;
  if (!largest)
    for (const HeadCount &own : headCounts)
      if (!largest || own.count > largest->count)
        largest = &own;
  if (!largest)
    return makeFault("no tensor gives the number of heads");
  heads = largest->count;
  for (const HeadCount &own : headCounts) {
    if (own.count == heads)
      continue;
    if (!own.shared)
      return contradict("H", {heads, quoteName(largest->name), largest->shape},
                        {own.count, quoteName(own.name), own.shape});
    if (heads % own.count != 0)
      return makeFault(
          quoteName(own.name) + " has " + Twine(own.count) +
              " heads, which do not divide the " + Twine(heads) + " heads of " +
              quoteName(largest->name),
          {quoteName(own.name) + " has shape " + own.shape,
           quoteName(largest->name) + " has shape " + largest->shape});
  }
  return llvm::Error::success();
}
