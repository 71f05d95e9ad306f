//===- TileEmitterTest.cpp - Tests of tiled products -*- C++ -*- ----------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every element is compared, bit by bit, with the one order of sums that the
// emitter promises: results then cannot depend on tiles, places or extents.
//
//===----------------------------------------------------------------------===//

#include "TileEmitter.h"
#include "CompiledLoops.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace mlir;
using namespace larc;
using namespace larc::test;

namespace {

/// Sizes or positions by axis name.
using Sizes = std::map<std::string, int64_t>;

/// A buffer by the letters of its axes.
struct Layout {
  std::string axes;
  int64_t offset = 0; ///< in elements from the start of the memory
  std::vector<int64_t> shape, strides;

  int64_t at(const Sizes &position) const {
    int64_t index = offset;
    for (size_t i = 0; i < axes.size(); ++i)
      index += position.at(std::string(1, axes[i])) * strides[i];
    return index;
  }
};

struct Machine {
  int64_t lanes;
  std::string cpu;
};

/// A product to test. Letters are axes.
struct Case {
  Case(std::string lhs, std::string rhs, std::string result, Sizes sizes,
       std::string dynamic = "")
      : lhs(std::move(lhs)), rhs(std::move(rhs)), result(std::move(result)),
        sizes(std::move(sizes)), dynamic(std::move(dynamic)) {}

  std::string lhs, rhs, result;
  /// Sizes of buffers.
  Sizes sizes;
  /// Axes whose extents are arguments of the function.
  std::string dynamic;
  std::string padded;
  bool hasInit = false, inPlace = false, subtract = false;
  std::vector<std::string> initFactors, resultFactors;
  /// Axes of tokens: row and column.
  std::string causal;
};

template <typename T>
class ProductTest {
public:
  ProductTest(const Case &test, const Machine &machine)
      : test(test), machine(machine), context(makeLoopContext()) {
    lhs = place(test.lhs);
    rhs = place(test.rhs);
    result = place(test.result);
    init = test.inPlace ? result : place(test.result);
    for (const std::string &axes : test.initFactors)
      initFactors.push_back(place(axes));
    for (const std::string &axes : test.resultFactors)
      resultFactors.push_back(place(axes));
    compile();
  }

  /// Runs with the given extents of the dynamic axes.
  void run(llvm::ArrayRef<int64_t> extents) {
    if (!compiled)
      return;
    Sizes actual = test.sizes;
    for (auto [axis, extent] : llvm::zip(test.dynamic, extents))
      actual[std::string(1, axis)] = extent;
    std::vector<T> before(end);
    std::mt19937 random(1);
    for (T &value : before)
      value = T(int(random() % 2001) - 1000) / T(700);
    if (!test.causal.empty())
      clearFuture(before);
    // What is beyond the extents must not be read, or only for elements that
    // mean nothing.
    for (const Layout *layout : {&lhs, &rhs})
      forEach(*layout, test.sizes, [&](const Sizes &position) {
        for (auto &[axis, at] : position)
          if (at >= actual[axis])
            before[layout->at(position)] = std::nan("");
      });
    std::vector<T> after = before;
    compiled->run(after.data(), extents);

    int wrong = 0;
    forEach(result, test.sizes, [&](const Sizes &position) {
      bool inside = true, free = false;
      for (auto &[axis, at] : position) {
        inside &= at < actual[axis];
        free |= test.padded.find(axis) != std::string::npos;
      }
      if (!inside && free)
        return;
      if (!test.causal.empty() && inside &&
          position.count(test.causal.substr(1)) &&
          position.at(test.causal.substr(1)) >
              position.at(test.causal.substr(0, 1)))
        return;
      int64_t index = result.at(position);
      T expected = inside ? compute(before, position, actual) : before[index];
      if (!(after[index] == expected) &&
          !(std::isnan(after[index]) && std::isnan(expected)) && wrong++ == 0) {
        std::string where;
        for (auto &[axis, at] : position)
          where += " " + axis + "=" + std::to_string(at);
        ADD_FAILURE() << test.lhs << "," << test.rhs << "->" << test.result
                      << describe(actual) << ", lanes " << machine.lanes
                      << ", at" << where << ": " << after[index]
                      << " instead of " << expected;
      }
    });
    // Nothing else is written.
    std::vector<bool> isResult(end);
    forEach(result, test.sizes, [&](const Sizes &position) {
      isResult[result.at(position)] = true;
    });
    for (int64_t i = 0; i < end; ++i)
      if (!isResult[i] && !(after[i] == before[i]) && !std::isnan(before[i])) {
        ADD_FAILURE() << "wrote element " << i << describe(actual);
        break;
      }
  }

private:
  static std::string describe(const Sizes &sizes) {
    std::string text;
    for (auto &[axis, size] : sizes)
      text += " " + axis + "=" + std::to_string(size);
    return text;
  }

  /// Rows are apart, so that strides are not sizes.
  Layout place(const std::string &axes) {
    Layout layout{axes, end, {}, std::vector<int64_t>(axes.size())};
    for (char axis : axes)
      layout.shape.push_back(test.sizes.at(std::string(1, axis)));
    int64_t stride = 1;
    for (size_t i = axes.size(); i-- > 0;) {
      layout.strides[i] = stride;
      stride = stride * layout.shape[i] + (i == axes.size() - 1 ? 3 : 0);
    }
    end += stride + 5;
    return layout;
  }

  void forEach(const Layout &layout, const Sizes &sizes,
               llvm::function_ref<void(const Sizes &)> body) {
    Sizes position;
    std::function<void(size_t)> loop = [&](size_t depth) {
      if (depth == layout.axes.size())
        return body(position);
      std::string axis(1, layout.axes[depth]);
      for (int64_t i = 0; i < sizes.at(axis); ++i) {
        position[axis] = i;
        loop(depth + 1);
      }
    };
    loop(0);
  }

  void clearFuture(std::vector<T> &values) {
    std::string row = test.causal.substr(0, 1), column = test.causal.substr(1);
    if (test.lhs.find(row) != std::string::npos &&
        test.lhs.find(column) != std::string::npos)
      forEach(lhs, test.sizes, [&](const Sizes &position) {
        if (position.at(column) > position.at(row))
          values[lhs.at(position)] = 0;
      });
  }

  T compute(const std::vector<T> &values, Sizes position,
            const Sizes &extents) {
    T start = 0;
    if (test.hasInit) {
      start = values[init.at(position)];
      for (const Layout &factor : initFactors)
        start *= values[factor.at(position)];
    }
    std::string reduced;
    for (char axis : test.lhs + test.rhs)
      if (test.result.find(axis) == std::string::npos &&
          reduced.find(axis) == std::string::npos)
        reduced += axis;
    auto isDense = [&](const Layout &operand) {
      return !operand.axes.empty() && !test.result.empty() &&
             operand.axes.back() == test.result.back();
    };
    bool byRows = !reduced.empty() && !isDense(lhs) && !isDense(rhs) &&
                  test.lhs.back() == test.rhs.back() &&
                  reduced.find(test.lhs.back()) != std::string::npos;
    std::vector<T> sums(byRows ? machine.lanes : 1, byRows ? T(0) : start);
    if (byRows) {
      reduced.erase(reduced.find(test.lhs.back()), 1);
      reduced += test.lhs.back();
    }
    std::function<void(size_t)> loop = [&](size_t depth) {
      if (depth == reduced.size()) {
        T left = values[lhs.at(position)], right = values[rhs.at(position)];
        T &sum =
            sums[byRows ? position.at(reduced.substr(depth - 1)) % machine.lanes
                        : 0];
        sum = std::fma(test.subtract && !byRows ? -left : left, right, sum);
        return;
      }
      std::string axis(1, reduced[depth]);
      for (int64_t i = 0; i < extents.at(axis); ++i) {
        position[axis] = i;
        loop(depth + 1);
      }
    };
    loop(0);
    for (size_t half = sums.size() / 2; half > 0; half /= 2)
      for (size_t i = 0; i < half; ++i)
        sums[i] += sums[i + half];
    T total = sums[0];
    if (byRows && (test.hasInit || test.subtract))
      total = test.subtract ? start - total : start + total;
    for (const Layout &factor : resultFactors)
      total *= values[factor.at(position)];
    return total;
  }

  void compile() {
    auto element =
        FloatType(sizeof(T) == 4 ? FloatType(Float32Type::get(context.get()))
                                 : FloatType(Float64Type::get(context.get())));
    auto nameAxis = [&](char axis) {
      return StringAttr::get(context.get(), std::string(1, axis));
    };
    compiled = CompiledLoops::compile(
        *context, element, test.dynamic.size(), machine.cpu,
        [&](OpBuilder &builder, Value memory, ValueRange extents) {
          Location loc = builder.getUnknownLoc();
          auto bind = [&](const Layout &layout) {
            auto type = MemRefType::get(layout.shape, element,
                                        StridedLayoutAttr::get(context.get(),
                                                               layout.offset,
                                                               layout.strides));
            Buffer buffer;
            buffer.memref = memref::ReinterpretCastOp::create(
                builder, loc, type, memory, layout.offset, layout.shape,
                layout.strides);
            for (char axis : layout.axes)
              buffer.axes.push_back(nameAxis(axis));
            return buffer;
          };
          TileProduct product;
          product.lhs = bind(lhs);
          product.rhs = bind(rhs);
          product.result = bind(result);
          if (test.hasInit)
            product.init = test.inPlace ? product.result : bind(init);
          for (const Layout &factor : initFactors)
            product.initFactors.push_back(bind(factor));
          for (const Layout &factor : resultFactors)
            product.resultFactors.push_back(bind(factor));
          product.subtract = test.subtract;
          for (auto [axis, extent] : llvm::zip(test.dynamic, extents))
            product.extents.emplace_back(nameAxis(axis), extent);
          for (char axis : test.padded)
            product.padded.push_back(nameAxis(axis));
          if (!test.causal.empty())
            product.causal = TileProduct::Causal{nameAxis(test.causal[0]),
                                                 nameAxis(test.causal[1])};
          TileEmitter({element, machine.lanes}).emit(builder, loc, product);
        });
  }

  Case test;
  Machine machine;
  std::unique_ptr<MLIRContext> context;
  std::unique_ptr<CompiledLoops> compiled;
  int64_t end = 7;
  Layout lhs, rhs, result, init;
  std::vector<Layout> initFactors, resultFactors;
};

/// Runs `body` for each element type and vector width that the host has.
template <typename Body>
void forEachMachine(Body body) {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  // Without fused multiply-adds results differ from the expected ones.
  if (!features.lookup("fma"))
    return;
  if (features.lookup("avx512f")) {
    body(float(), Machine{16, ""});
    body(double(), Machine{8, ""});
  }
  body(float(), Machine{8, "haswell"});
  body(double(), Machine{4, "haswell"});
}

template <typename T>
void run(const Case &test, const Machine &machine,
         llvm::ArrayRef<std::vector<int64_t>> extents = {{}}) {
  ProductTest<T> product(test, machine);
  for (const std::vector<int64_t> &each : extents)
    product.run(each);
}

TEST(TileEmitterTest, StaticSizes) {
  std::mt19937 random(2);
  auto draw = [&](int low, int high) {
    return int64_t(low + random() % (high - low + 1));
  };
  forEachMachine([&](auto type, const Machine &machine) {
    using T = decltype(type);
    for (int64_t rows : {1, 2, 3, 5, 7, 8, 9, 12, 15, 16, 17})
      for (int i = 0; i < 2; ++i)
        run<T>({"rk",
                "kv",
                "rv",
                {{"r", rows}, {"k", draw(0, 33)}, {"v", draw(1, 70)}}},
               machine);
    for (int64_t lanes :
         {1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 70}) {
      // Either operand has the lanes; the rows' operand either way round.
      run<T>({"kv",
              "kr",
              "rv",
              {{"r", draw(1, 17)}, {"k", draw(0, 33)}, {"v", lanes}}},
             machine);
      // Rows with rows.
      run<T>({"rk",
              "vk",
              "rv",
              {{"r", draw(1, 9)}, {"k", draw(0, 33)}, {"v", lanes}}},
             machine);
    }
  });
}

TEST(TileEmitterTest, OtherAxes) {
  forEachMachine([&](auto type, const Machine &machine) {
    using T = decltype(type);
    Sizes sizes = {{"a", 3}, {"b", 2}, {"k", 5}, {"l", 4}, {"r", 6}, {"v", 19}};
    for (auto [lhs, rhs, result] :
         {std::tuple("brk", "bkv", "brv"), std::tuple("arkl", "bklv", "abrv"),
          std::tuple("rk", "lkv", "rlv"), std::tuple("k", "kv", "v"),
          std::tuple("rk", "k", "r"), std::tuple("kr", "k", "r"),
          std::tuple("k", "k", ""), std::tuple("r", "v", "rv"),
          std::tuple("bv", "bkv", "bv"), std::tuple("bk", "bk", "b"),
          std::tuple("rlk", "vlk", "rv"), std::tuple("kr", "vk", "rv"),
          std::tuple("rk", "kv", "vr"), std::tuple("blk", "brk", "blr"),
          std::tuple("rk", "lv", "rv"), std::tuple("v", "rv", "rv")})
      run<T>({lhs, rhs, result, sizes}, machine);
  });
}

TEST(TileEmitterTest, InitAndFactors) {
  forEachMachine([&](auto type, const Machine &machine) {
    using T = decltype(type);
    Sizes sizes = {{"k", 13}, {"r", 21}, {"v", 37}};
    for (bool inPlace : {false, true})
      for (bool subtract : {false, true})
        for (auto [lhs, rhs] : {std::pair("kr", "kv"), std::pair("rk", "vk")}) {
          Case test{lhs, rhs, "rv", sizes};
          test.hasInit = true;
          test.inPlace = inPlace;
          test.subtract = subtract;
          run<T>(test, machine);
          test.initFactors = {"r", "", "v"};
          test.resultFactors = {"v", "r"};
          run<T>(test, machine);
        }
    // Without an init, and with nothing to add.
    Case test{"rk", "kv", "rv", sizes};
    test.subtract = true;
    run<T>(test, machine);
    test = {"rk", "vk", "rv", sizes};
    test.subtract = true;
    test.resultFactors = {"rv"};
    run<T>(test, machine);
  });
}

TEST(TileEmitterTest, DynamicExtents) {
  std::vector<std::vector<int64_t>> extents;
  std::mt19937 random(3);
  for (int64_t rows = 0; rows <= 17; ++rows)
    extents.push_back({rows, int64_t(random() % 34), int64_t(random() % 71)});
  for (int64_t lanes = 0; lanes <= 70; ++lanes)
    extents.push_back({int64_t(random() % 18), int64_t(random() % 34), lanes});
  for (int64_t sum = 0; sum <= 33; ++sum)
    extents.push_back({int64_t(random() % 18), sum, int64_t(random() % 71)});
  forEachMachine([&](auto type, const Machine &machine) {
    using T = decltype(type);
    Sizes sizes = {{"r", 24}, {"k", 33}, {"v", 80}};
    for (auto [lhs, rhs] : {std::pair("rk", "kv"), std::pair("kr", "kv"),
                            std::pair("rk", "vk")}) {
      Case test{lhs, rhs, "rv", sizes, "rkv"};
      run<T>(test, machine, extents);
      test.padded = "rv";
      run<T>(test, machine, extents);
      test.padded = "r";
      test.hasInit = test.inPlace = true;
      test.initFactors = {"r"};
      run<T>(test, machine, extents);
    }
  });
}

TEST(TileEmitterTest, Causal) {
  std::vector<std::vector<int64_t>> extents;
  for (int64_t tokens = 0; tokens <= 32; ++tokens)
    extents.push_back({tokens, tokens});
  forEachMachine([&](auto type, const Machine &machine) {
    using T = decltype(type);
    Sizes sizes = {{"t", 32}, {"s", 32}, {"v", 40}, {"k", 18}};
    Case test{"ts", "sv", "tv", sizes, "ts"};
    test.causal = "ts";
    run<T>(test, machine, extents);
    test.padded = "t";
    run<T>(test, machine, extents);
    // Columns that are not summed over.
    test = {"tk", "sk", "ts", sizes, "ts"};
    test.causal = "ts";
    run<T>(test, machine, extents);
    test.padded = "ts";
    run<T>(test, machine, extents);
    // Rows with rows, summed up to the tile.
    test = {"ts", "vs", "tv", sizes, "ts"};
    test.causal = "ts";
    run<T>(test, machine, extents);
  });
}

/// Sums that the innermost loop of a product of 16 x 64 x 128 keeps, and what
/// it loads.
std::pair<unsigned, unsigned> countTile(int64_t lanes, StringRef rhsAxes) {
  auto context = makeLoopContext();
  auto element = FloatType(Float32Type::get(context.get()));
  std::map<char, int64_t> sizes = {{'r', 16}, {'k', 64}, {'v', 128}};
  std::pair<unsigned, unsigned> counts;
  CompiledLoops::compile(
      *context, element, 0, "",
      [&](OpBuilder &builder, Value memory, ValueRange) {
        Location loc = builder.getUnknownLoc();
        auto bind = [&](StringRef axes) -> Buffer {
          SmallVector<int64_t> shape = {sizes[axes[0]], sizes[axes[1]]};
          SmallVector<int64_t> strides = {shape[1], 1};
          auto type = MemRefType::get(
              shape, element,
              StridedLayoutAttr::get(context.get(), 0, strides));
          return {memref::ReinterpretCastOp::create(builder, loc, type, memory,
                                                    int64_t(0), shape, strides),
                  {StringAttr::get(context.get(), axes.take_front(1)),
                   StringAttr::get(context.get(), axes.drop_front(1))}};
        };
        TileProduct product;
        product.lhs = bind("rk");
        product.rhs = bind(rhsAxes);
        product.result = bind("rv");
        TileEmitter({element, lanes}).emit(builder, loc, product);
        builder.getBlock()->walk([&](scf::ForOp loop) {
          if (loop.getNumResults() == 0)
            return;
          counts.first = loop.getNumResults();
          for (Operation &op : *loop.getBody())
            counts.second += isa<memref::LoadOp, vector::LoadOp>(op);
        });
      });
  return counts;
}

TEST(TileEmitterTest, TileSizes) {
  // 8 rows by 2 vectors, and 4 rows by 4 rows.
  EXPECT_EQ(countTile(16, "kv"), std::pair(16u, 10u));
  EXPECT_EQ(countTile(16, "vk"), std::pair(16u, 8u));
  // With half as many registers: 4 by 2 both times.
  EXPECT_EQ(countTile(8, "kv"), std::pair(8u, 6u));
  EXPECT_EQ(countTile(8, "vk"), std::pair(8u, 6u));
}

} // namespace
