//===- Tensor.cpp - Dense tensors in memory -------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Support/Tensor.h"

#include "larc/Support/Error.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/resource.h>
#include <unistd.h>

using namespace larc;

/// Bytes held by all tensors of the process. Memory is handed out lazily by the
/// system, so an allocation that cannot be backed succeeds and kills the
/// process later; counting is the only way to refuse it in time.
static std::atomic<uint64_t> bytesAlive{0};

std::string larc::formatShape(llvm::ArrayRef<int64_t> shape) {
  constexpr size_t limit = 16;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  for (auto [i, size] : llvm::enumerate(shape.take_front(limit)))
    os << (i ? ", " : "") << size;
  if (shape.size() > limit)
    os << ", ... " << shape.size() << " sizes";
  os << ']';
  return text;
}

llvm::Expected<int64_t> larc::countElements(llvm::ArrayRef<int64_t> shape) {
  int64_t product = 1;
  bool isEmpty = false;
  for (int64_t size : shape) {
    if (size < 0)
      return makeFault("shape " + formatShape(shape) +
                       " has a negative size: " + llvm::Twine(size));
    isEmpty |= size == 0;
    if (llvm::MulOverflow(product, std::max<int64_t>(size, 1), product))
      return makeFault("shape " + formatShape(shape) +
                       " has more elements than 64 bits can count");
  }
  return isEmpty ? 0 : product;
}

/// The number in a file of the control group file system, or the largest number
/// if there is none or it says "max".
static uint64_t readLimit(const char *path) {
  uint64_t limit = UINT64_MAX;
  if (FILE *file = std::fopen(path, "r")) {
    unsigned long long value;
    if (std::fscanf(file, "%llu", &value) == 1)
      limit = value;
    std::fclose(file);
  }
  return limit;
}

uint64_t larc::getMemoryLimit() {
  static const uint64_t limit = [] {
    long pages = sysconf(_SC_PHYS_PAGES);
    long pageSize = sysconf(_SC_PAGESIZE);
    uint64_t machine = pages > 0 && pageSize > 0
                           ? uint64_t(pages) * uint64_t(pageSize)
                           : UINT64_MAX;
    // RLIM_INFINITY is the largest number.
    rlimit space;
    uint64_t own =
        getrlimit(RLIMIT_AS, &space) == 0 ? space.rlim_cur : UINT64_MAX;
    return std::min({machine, own, readLimit("/sys/fs/cgroup/memory.max"),
                     readLimit("/sys/fs/cgroup/memory/memory.limit_in_bytes")});
  }();
  return limit;
}

llvm::Error larc::checkFitsMemory(uint64_t bytes, const llvm::Twine &what) {
  uint64_t limit = getMemoryLimit();
  uint64_t used = bytesAlive.load(std::memory_order_relaxed);
  if (bytes <= limit && used <= limit - bytes)
    return llvm::Error::success();
  std::vector<std::string> notes;
  if (used > 0)
    notes.push_back(
        ("other tensors hold " + llvm::Twine(used) + " bytes").str());
  return makeFault(what + " needs " + llvm::Twine(bytes) +
                       " bytes, which do not fit the memory of " +
                       llvm::Twine(limit) + " bytes",
                   std::move(notes));
}

/// The bytes that an allocation of `size` bytes takes; never zero, so that the
/// data of an empty tensor has an address.
static uint64_t getAllocationSize(uint64_t size) {
  return std::max<uint64_t>(llvm::alignTo(size, Tensor::alignment),
                            Tensor::alignment);
}

Tensor::~Tensor() {
  if (!data)
    return;
  bytesAlive.fetch_sub(getAllocationSize(getByteSize()),
                       std::memory_order_relaxed);
  std::free(data);
}

llvm::Expected<Tensor>
Tensor::createUninitialized(DType type, llvm::ArrayRef<int64_t> shape,
                            llvm::StringRef name) {
  auto describe = [&] {
    return (name.empty() ? std::string("a tensor")
                         : "tensor " + quoteName(name)) +
           " of shape " + formatShape(shape) + " and type " +
           getName(type).str();
  };
  llvm::Expected<int64_t> count = countElements(shape);
  if (!count)
    return name.empty() ? count.takeError()
                        : makeFault("tensor " + quoteName(name) + ": " +
                                    llvm::toString(count.takeError()));
  int64_t bytes;
  if (llvm::MulOverflow(*count, getByteWidth(type), bytes) ||
      bytes > INT64_MAX - int64_t(alignment))
    return makeFault(describe() + " has more bytes than 64 bits can count");
  uint64_t allocation = getAllocationSize(bytes);
  if (llvm::Error error = checkFitsMemory(allocation, describe()))
    return std::move(error);
  auto *data = static_cast<char *>(std::aligned_alloc(alignment, allocation));
  if (!data)
    return makeFault(describe() + " needs " + llvm::Twine(allocation) +
                     " bytes, which the system does not give");
  bytesAlive.fetch_add(allocation, std::memory_order_relaxed);
  // The padding is read by vector loads that run over the end.
  std::memset(data + bytes, 0, allocation - bytes);
  Tensor tensor;
  tensor.type = type;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.numElements = *count;
  tensor.data = data;
  return std::move(tensor);
}

llvm::Expected<Tensor> Tensor::create(DType type, llvm::ArrayRef<int64_t> shape,
                                      llvm::StringRef name) {
  llvm::Expected<Tensor> tensor = createUninitialized(type, shape, name);
  if (tensor)
    std::memset(tensor->data, 0, tensor->getByteSize());
  return tensor;
}

llvm::Expected<Tensor> Tensor::fromValues(DType type,
                                          llvm::ArrayRef<int64_t> shape,
                                          llvm::ArrayRef<double> values,
                                          llvm::StringRef name) {
  llvm::Expected<Tensor> tensor = createUninitialized(type, shape, name);
  if (!tensor)
    return tensor;
  if (tensor->getNumElements() != int64_t(values.size()))
    return makeFault("shape " + formatShape(shape) + " has " +
                     llvm::Twine(tensor->getNumElements()) +
                     " elements, but there are " + llvm::Twine(values.size()) +
                     " values");
  convertElements(values.data(), DType::F64, tensor->data, type,
                  tensor->numElements);
  return tensor;
}

llvm::Expected<Tensor> Tensor::convertTo(DType target) const {
  llvm::Expected<Tensor> tensor = createUninitialized(target, shape);
  if (tensor)
    convertElements(data, type, tensor->data, target, numElements);
  return tensor;
}

void Tensor::reshape(llvm::ArrayRef<int64_t> newShape) {
  assert(llvm::cantFail(countElements(newShape)) == numElements &&
         "reshape changes the number of elements");
  shape.assign(newShape.begin(), newShape.end());
}
