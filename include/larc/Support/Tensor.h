//===- Tensor.h - Dense tensors in memory --------------------- -*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An owning, dense, row-major tensor: what files are read into, what kernels
// read and write. All sizes come from users, so creation checks them: a product
// that overflows or memory that the machine does not have is an error, not a
// crash.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_SUPPORT_TENSOR_H
#define LARC_SUPPORT_TENSOR_H

#include "larc/Support/DType.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <cassert>
#include <map>
#include <string>
#include <utility>

namespace larc {

namespace detail {
/// The element type that a C++ type stores.
template <typename T>
struct DTypeOf;
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::F64;
};
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::F32;
};
template <>
struct DTypeOf<Half> {
  static constexpr DType value = DType::F16;
};
template <>
struct DTypeOf<BFloat> {
  static constexpr DType value = DType::BF16;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr DType value = DType::I32;
};
template <>
struct DTypeOf<int64_t> {
  static constexpr DType value = DType::I64;
};
template <>
struct DTypeOf<uint8_t> {
  static constexpr DType value = DType::Bool;
};
} // namespace detail

/// `[2, 27, 16]`; long shapes are cut.
std::string formatShape(llvm::ArrayRef<int64_t> shape);

/// The number of elements of a tensor of this shape: 1 for a scalar, 0 if any
/// size is 0. A negative size, and sizes whose product (zeros counted as ones)
/// does not fit int64, are errors.
llvm::Expected<int64_t> countElements(llvm::ArrayRef<int64_t> shape);

/// The memory that this process may use, in bytes: what the machine has, or
/// less if the process or the group that it runs in has a limit.
uint64_t getMemoryLimit();

/// Fails, naming `what` and the number of bytes, if `bytes` more do not fit the
/// memory beside the tensors that are alive.
llvm::Error checkFitsMemory(uint64_t bytes, const llvm::Twine &what);

/// A dense row-major tensor that owns its elements, which are 64-byte aligned
/// and padded to a multiple of 64 bytes. Move only; `clone` copies.
class Tensor {
public:
  /// Bytes that the data is aligned to, and padded to a multiple of.
  static constexpr size_t alignment = 64;

  /// An f32 tensor of shape [0] without storage.
  Tensor() = default;
  Tensor(Tensor &&other) noexcept { swap(other); }
  Tensor &operator=(Tensor &&other) noexcept {
    Tensor taken(std::move(other));
    swap(taken);
    return *this;
  }
  Tensor(const Tensor &) = delete;
  Tensor &operator=(const Tensor &) = delete;
  ~Tensor();

  /// A tensor of zeros (`false`). `name` is what errors call it.
  static llvm::Expected<Tensor>
  create(DType type, llvm::ArrayRef<int64_t> shape, llvm::StringRef name = "");

  /// The same with indeterminate elements, for callers that write all of them.
  static llvm::Expected<Tensor>
  createUninitialized(DType type, llvm::ArrayRef<int64_t> shape,
                      llvm::StringRef name = "");

  /// A tensor with the given values in row-major order, converted to `type`.
  /// There must be as many as the shape has elements.
  static llvm::Expected<Tensor> fromValues(DType type,
                                           llvm::ArrayRef<int64_t> shape,
                                           llvm::ArrayRef<double> values,
                                           llvm::StringRef name = "");

  llvm::Expected<Tensor> clone() const { return convertTo(type); }

  /// A copy with elements of another type, see `convertElements`.
  llvm::Expected<Tensor> convertTo(DType target) const;

  /// A copy in float64.
  llvm::Expected<Tensor> toFloat64() const { return convertTo(DType::F64); }

  DType getDType() const { return type; }
  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getRank() const { return int64_t(shape.size()); }
  int64_t getDim(int64_t axis) const { return shape[axis]; }
  int64_t getNumElements() const { return numElements; }
  int64_t getByteSize() const { return numElements * getByteWidth(type); }

  /// The same elements under another shape with as many.
  void reshape(llvm::ArrayRef<int64_t> newShape);

  /// The bytes of the elements; never null, except for a default-constructed or
  /// moved-from tensor.
  char *getRawData() { return data; }
  const char *getRawData() const { return data; }

  /// The elements as the C++ type that stores them: double, float, Half,
  /// BFloat, int32_t, int64_t, or uint8_t for bool.
  template <typename T>
  llvm::MutableArrayRef<T> getValues() {
    assert(detail::DTypeOf<T>::value == type && "elements have another type");
    return {reinterpret_cast<T *>(data), size_t(numElements)};
  }
  template <typename T>
  llvm::ArrayRef<T> getValues() const {
    assert(detail::DTypeOf<T>::value == type && "elements have another type");
    return {reinterpret_cast<const T *>(data), size_t(numElements)};
  }

  /// Element `index` in row-major order as a double, float, int32_t, int64_t or
  /// uint8_t (a bool). Slow; for loops over all elements, convert the tensor.
  template <typename T>
  T getAs(int64_t index) const {
    assert(index >= 0 && index < numElements && "index out of bounds");
    T value;
    convertElements(data + index * getByteWidth(type), type, &value,
                    detail::DTypeOf<T>::value, 1);
    return value;
  }

  /// Sets element `index` in row-major order, converted to the tensor's type.
  template <typename T>
  void set(int64_t index, T value) {
    assert(index >= 0 && index < numElements && "index out of bounds");
    convertElements(&value, detail::DTypeOf<T>::value,
                    data + index * getByteWidth(type), type, 1);
  }

  void swap(Tensor &other) noexcept {
    std::swap(type, other.type);
    std::swap(shape, other.shape);
    std::swap(numElements, other.numElements);
    std::swap(data, other.data);
  }

private:
  DType type = DType::F32;
  llvm::SmallVector<int64_t, 6> shape = {0};
  int64_t numElements = 0;
  char *data = nullptr;
};

/// Tensors by name.
using TensorMap = std::map<std::string, Tensor>;

/// What a safetensors file holds.
struct TensorFile {
  TensorMap tensors;
  std::map<std::string, std::string> metadata;
};

} // namespace larc

#endif // LARC_SUPPORT_TENSOR_H
