//===- CudaDriverTest.cpp - Running on NVIDIA GPUs ------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Target/CUDA/CudaDriver.h"

#include "CudaTestUtils.h"
#include "larc/Support/Error.h"
#include "larc/Target/CUDA/Cubin.h"

#include <numeric>

using namespace larc;
using namespace larc::test;

namespace {

TEST(CudaDriver, SaysThatThereIsNone) {
  auto driver = CudaDriver::load("libno-such-driver.so.1");
  ASSERT_FALSE(bool(driver));
  EXPECT_EQ(llvm::toString(driver.takeError()),
            "no CUDA driver: libno-such-driver.so.1 was not found");
}

TEST(CudaDriver, SaysThatALibraryIsNone) {
  auto driver = CudaDriver::load("libm.so.6");
  ASSERT_FALSE(bool(driver));
  EXPECT_EQ(llvm::toString(driver.takeError()),
            "the CUDA driver in libm.so.6 is too old: it has no cuInit");
}

TEST(TensorMap, HasAxes) {
  auto map = encodeTensorMap(0, {});
  ASSERT_FALSE(bool(map));
  EXPECT_EQ(llvm::toString(map.takeError()).find("a tensor map has one to"),
            0u);
}

/// On the first GPU, if there is one and an assembler for it.
class DeviceTest : public CudaTest {
protected:
  void SetUp() override {
    auto created = CudaContext::create();
    if (!created)
      GTEST_SKIP() << llvm::toString(created.takeError());
    gpu.emplace(std::move(*created));
    auto entered = gpu->enter();
    ASSERT_TRUE(bool(entered)) << llvm::toString(entered.takeError());
    scope.emplace(std::move(*entered));
    auto target = CudaTarget::get(gpu->getComputeCapability());
    ASSERT_TRUE(bool(target)) << llvm::toString(target.takeError());
    auto cubin = compileToCubin(*parse(squareKernel), *target);
    if (mlir::failed(cubin))
      GTEST_SKIP() << messages.at(0);
    image = std::move(cubin->image);
  }
  /// The value, or the end of the test.
  template <typename T>
  static T take(llvm::Expected<T> value) {
    if (!value)
      ADD_FAILURE() << llvm::toString(value.takeError());
    return std::move(*value);
  }
  static void expect(llvm::Error error) {
    if (error)
      ADD_FAILURE() << llvm::toString(std::move(error));
  }

  std::optional<CudaContext> gpu;
  std::optional<CudaContext::Scope> scope;
  std::unique_ptr<llvm::MemoryBuffer> image;
};

TEST_F(DeviceTest, RunsAKernel) {
  constexpr unsigned size = 1000, threads = 128;
  std::vector<float> x(size), y(size);
  std::iota(x.begin(), x.end(), 0.0f);
  auto bytes = [](std::vector<float> &values) {
    return llvm::MutableArrayRef<char>(reinterpret_cast<char *>(values.data()),
                                       values.size() * sizeof(float));
  };
  CudaModule module = take(CudaModule::load(image->getBuffer()));
  CudaKernel kernel = take(module.getKernel("square"));
  CudaStream stream = take(CudaStream::create());
  CudaBuffer from = take(CudaBuffer::create(bytes(x).size()));
  CudaBuffer to = take(CudaBuffer::create(bytes(y).size()));
  expect(from.write(bytes(x), stream));
  expect(to.fill(0xff, stream));

  larc_cu_pointer pointers[] = {from.get(), to.get()};
  unsigned count = size;
  void *arguments[] = {&pointers[0], &pointers[1], &count};
  CudaLaunch launch;
  launch.grid[0] = (size + threads - 1) / threads;
  launch.block[0] = threads;
  CudaGraph graph = take(CudaGraph::capture(
      stream, [&] { return kernel.launch(launch, arguments, stream); }));
  CudaEvent start = take(CudaEvent::create()), end = take(CudaEvent::create());
  expect(start.record(stream));
  expect(graph.launch(stream));
  expect(end.record(stream));
  expect(to.read(bytes(y), stream));
  expect(stream.synchronize());
  EXPECT_GE(take(end.getMillisecondsSince(start)), 0.0f);
  for (unsigned i = 0; i < size; ++i)
    EXPECT_EQ(y[i], x[i] * x[i] + x[i]) << i;
}

TEST_F(DeviceTest, ReportsErrors) {
  CudaModule module = take(CudaModule::load(image->getBuffer()));
  auto missing = module.getKernel("circle");
  ASSERT_FALSE(bool(missing));
  EXPECT_EQ(llvm::toString(missing.takeError())
                .find("cannot find the kernel 'circle' on the GPU: "),
            0u);
  CudaKernel kernel = take(module.getKernel("square"));
  EXPECT_GT(take(kernel.getOccupancy(128, 0)), 0);
  EXPECT_TRUE(llvm::errorToBool(kernel.allowShared(1 << 24)));
  CudaStream stream = take(CudaStream::create());
  CudaBuffer buffer = take(CudaBuffer::create(8));
  std::vector<char> tooMuch(9);
  EXPECT_TRUE(llvm::errorToBool(buffer.write(tooMuch, stream)));
  auto huge = CudaBuffer::create(size_t(1) << 60);
  ASSERT_FALSE(bool(huge));
  EXPECT_EQ(llvm::toString(huge.takeError())
                .find("cannot allocate 1152921504606846976 bytes on the GPU"),
            0u);
}

TEST_F(DeviceTest, DescribesTensors) {
  CudaBuffer buffer = take(CudaBuffer::create(64 * 64 * 2));
  uint64_t sizes[] = {64, 64}, strides[] = {128};
  uint32_t box[] = {64, 16};
  CudaTensorLayout layout;
  layout.type = LARC_CU_TENSOR_BF16;
  layout.sizes = sizes;
  layout.byteStrides = strides;
  layout.box = box;
  layout.swizzle = LARC_CU_SWIZZLE_128;
  EXPECT_TRUE(bool(encodeTensorMap(buffer.get(), layout)));
  box[0] = 128; // Wider than the swizzle.
  auto wrong = encodeTensorMap(buffer.get(), layout);
  ASSERT_FALSE(bool(wrong));
  llvm::consumeError(wrong.takeError());
}

} // namespace
