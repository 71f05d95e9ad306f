//===- TensorTest.cpp - Dense tensors in memory ---------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Support/Tensor.h"

#include "larc/Support/Error.h"

#include "gtest/gtest.h"

#include <cstdint>

using namespace larc;
using llvm::cantFail;

namespace {

template <typename T>
static std::string messageOf(llvm::Expected<T> value) {
  EXPECT_FALSE(bool(value));
  return value ? "" : renderError(value.takeError());
}

TEST(Tensor, CreateZeroed) {
  Tensor tensor = cantFail(Tensor::create(DType::F32, {2, 3, 5}));
  EXPECT_EQ(tensor.getDType(), DType::F32);
  EXPECT_EQ(tensor.getRank(), 3);
  EXPECT_EQ(tensor.getDim(1), 3);
  EXPECT_EQ(tensor.getNumElements(), 30);
  EXPECT_EQ(tensor.getByteSize(), 120);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.getRawData()) % 64, 0u);
  for (float value : tensor.getValues<float>())
    EXPECT_EQ(value, 0);
}

TEST(Tensor, ScalarAndEmptyShapes) {
  Tensor scalar = cantFail(Tensor::fromValues(DType::F64, {}, {4.5}));
  EXPECT_EQ(scalar.getRank(), 0);
  EXPECT_EQ(scalar.getAs<double>(0), 4.5);

  Tensor empty = cantFail(Tensor::create(DType::I64, {3, 0, 2}));
  EXPECT_EQ(empty.getNumElements(), 0);
  EXPECT_NE(empty.getRawData(), nullptr);
  Tensor copy = cantFail(empty.convertTo(DType::F16));
  EXPECT_EQ(copy.getShape(), llvm::ArrayRef<int64_t>({3, 0, 2}));

  Tensor none;
  EXPECT_EQ(none.getNumElements(), 0);
  EXPECT_EQ(none.getRank(), 1);
  EXPECT_EQ(cantFail(none.clone()).getNumElements(), 0);
}

TEST(Tensor, MoveAndClone) {
  Tensor first = cantFail(Tensor::fromValues(DType::BF16, {3}, {1, 2, 3}));
  const char *data = first.getRawData();
  Tensor moved = std::move(first);
  EXPECT_EQ(moved.getRawData(), data);
  EXPECT_EQ(first.getNumElements(), 0); // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(first.getRawData(), nullptr);

  Tensor copy = cantFail(moved.clone());
  copy.set(1, 7.0);
  EXPECT_EQ(moved.getAs<double>(1), 2);
  EXPECT_EQ(copy.getAs<float>(1), 7);
  moved = std::move(copy);
  EXPECT_EQ(moved.getAs<int32_t>(1), 7);
  EXPECT_EQ(moved.getDType(), DType::BF16);
}

TEST(Tensor, Conversions) {
  Tensor tensor =
      cantFail(Tensor::fromValues(DType::F32, {2, 2}, {0.1, -2.5, 3, 1e30}));
  Tensor wide = cantFail(tensor.toFloat64());
  EXPECT_EQ(wide.getValues<double>()[0], double(0.1f));
  Tensor half = cantFail(wide.convertTo(DType::F16));
  EXPECT_EQ(half.getValues<Half>()[3].bits, 0x7c00);
  EXPECT_EQ(half.getAs<int64_t>(1), -2);
  tensor.set<int64_t>(0, 12);
  EXPECT_EQ(tensor.getAs<double>(0), 12);
}

TEST(Tensor, Reshape) {
  Tensor tensor = cantFail(Tensor::create(DType::F32, {2, 6}));
  tensor.reshape({3, 4, 1});
  EXPECT_EQ(tensor.getShape(), llvm::ArrayRef<int64_t>({3, 4, 1}));
}

TEST(Tensor, BadShapes) {
  EXPECT_EQ(messageOf(Tensor::create(DType::F32, {2, -3})),
            "error: shape [2, -3] has a negative size: -3");
  int64_t big = int64_t(1) << 32;
  EXPECT_EQ(messageOf(Tensor::create(DType::F32, {big, big}, "q")),
            "error: tensor 'q': shape [4294967296, 4294967296] has more "
            "elements than 64 bits can count");
  // Zeros do not hide an overflow.
  EXPECT_FALSE(bool(countElements({big, big, 0})) ||
               !messageOf(countElements({big, 0, big})).size());
  EXPECT_EQ(messageOf(Tensor::create(DType::F64, {int64_t(1) << 61})),
            "error: a tensor of shape [2305843009213693952] and type f64 has "
            "more bytes than 64 bits can count");
  EXPECT_EQ(messageOf(Tensor::fromValues(DType::F64, {3}, {1, 2})),
            "error: shape [3] has 3 elements, but there are 2 values");
}

TEST(Tensor, DoesNotFitMemory) {
  EXPECT_GT(getMemoryLimit(), uint64_t(1) << 20);
  std::string message =
      messageOf(Tensor::create(DType::F64, {int64_t(1) << 50}, "state.S"));
  EXPECT_EQ(message.find("error: tensor 'state.S' of shape [1125899906842624] "
                         "and type f64 needs 9007199254740992 bytes"),
            0u)
      << message;
  // Half of the memory fits, twice half does not: nothing is touched, so that
  // no memory is used.
  int64_t half = int64_t(getMemoryLimit() / 2);
  llvm::Expected<Tensor> first =
      Tensor::createUninitialized(DType::Bool, {half - 4096});
  if (!first) {
    llvm::consumeError(first.takeError());
    GTEST_SKIP() << "the system does not give half of the memory";
  }
  message = messageOf(Tensor::createUninitialized(DType::Bool, {half + 8192}));
  EXPECT_NE(message.find("note: other tensors hold "), std::string::npos)
      << message;
}

TEST(Tensor, FormatShape) {
  EXPECT_EQ(formatShape({}), "[]");
  EXPECT_EQ(formatShape({2, 27}), "[2, 27]");
  std::vector<int64_t> many(1000, 1);
  EXPECT_EQ(formatShape(many),
            "[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, ... 1000 sizes]");
}

} // namespace
