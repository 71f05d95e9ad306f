//===- AccuracyTest.cpp - Digits of functions as compiled -------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Functions of one number, compiled, at a dense sample of all numbers: within 4
// units in the last place where the result is a normal number; a denormal
// result is right to one step, or 0 in f32.

#include "CompiledTestUtils.h"

#include "llvm/ADT/bit.h"

#include <cfenv>
#include <cmath>
#include <cstring>

using namespace larc;
using namespace larc::test;

namespace {

/// A function in the larger type that its results are compared with.
template <typename Wide>
struct Function {
  const char *name;
  Wide (*evaluate)(Wide);
};

template <typename Wide>
Wide sigmoid(Wide x) {
  Wide e = std::exp(-std::fabs(x));
  return (x < 0 ? e : 1) / (1 + e);
}
template <typename Wide>
Wide logsigmoid(Wide x) {
  return std::fmin(x, Wide(0)) - std::log1p(std::exp(-std::fabs(x)));
}
template <typename Wide>
Wide softplus(Wide x) {
  return std::fmax(x, Wide(0)) + std::log1p(std::exp(-std::fabs(x)));
}
template <typename Wide>
Wide rsqrt(Wide x) {
  return 1 / std::sqrt(x);
}

template <typename Wide>
constexpr Function<Wide> functions[] = {
    {"exp", std::exp},          {"expm1", std::expm1},  {"log", std::log},
    {"log1p", std::log1p},      {"tanh", std::tanh},    {"erf", std::erf},
    {"sin", std::sin},          {"cos", std::cos},      {"sigmoid", sigmoid},
    {"logsigmoid", logsigmoid}, {"softplus", softplus}, {"sqrt", std::sqrt},
    {"rsqrt", rsqrt<Wide>},
};
/// The C library's, without which the others are tested on more numbers.
bool isOfLibrary(llvm::StringRef name) {
  return name == "sin" || name == "cos";
}

/// A spec that has each function's value as an output: fNAME.
std::string makeSource(llvm::StringRef axis, bool library) {
  std::string outputs, body, yields;
  std::string axes = axis.empty() ? "" : ("[" + axis + "]").str();
  for (const Function<double> &function : functions<double>) {
    if (!library && isOfLibrary(function.name))
      continue;
    std::string name = function.name;
    llvm::StringRef comma = outputs.empty() ? "" : ", ";
    outputs += (comma + "f" + name + axes).str();
    yields += (comma + "%f" + name).str();
    body += "  %f" + name + " = larc." + name + " %x\n";
  }
  return "larc.recurrence @r(%x" + axes + ") -> (" + outputs + ") {\n" + body +
         "  larc.yield " + yields + "\n}\n";
}

/// The distance of `got` from `want` in units of the last place of a T; 0 where
/// either is a right result of too large or too small a number.
template <typename T, typename Wide>
double countUlps(T got, Wide want) {
  constexpr double wrong = std::numeric_limits<double>::infinity();
  if (std::isnan(want))
    return std::isnan(got) ? 0 : wrong;
  if (std::isnan(got))
    return wrong;
  if (std::isinf(want))
    return got == want ? 0 : wrong;
  constexpr int digits = std::numeric_limits<T>::digits;
  Wide smallest = std::numeric_limits<T>::min();
  if (std::fabs(want) < smallest) {
    bool flushed = sizeof(T) == 4 && got == 0;
    Wide step = std::numeric_limits<T>::denorm_min();
    return flushed || std::fabs(got - want) <= step ? 0 : wrong;
  }
  // Infinity stands where the next number after the largest would.
  constexpr int most = std::numeric_limits<T>::max_exponent;
  Wide beyond = std::ldexp(Wide(1), most);
  Wide value = std::isinf(got) ? std::copysign(beyond, Wide(got)) : Wide(got);
  if (std::fabs(want) > beyond)
    want = std::copysign(beyond, want);
  int exponent;
  std::frexp(want, &exponent);
  exponent = std::min(exponent, most);
  return double(std::fabs(value - want) /
                std::ldexp(Wide(1), exponent - digits));
}

class AccuracyTest : public CompiledTest {
protected:
  /// One compilation of all functions for vectors of `width` numbers (0:
  /// scalars), run on tokens.
  template <typename T, typename Wide>
  struct Sampler {
    AccuracyTest &test;
    int64_t width;
    std::string cpu;
    bool library = true;
    int64_t tokens = 1;
    RecurrenceOp spec = nullptr;
    std::unique_ptr<CompiledRecurrence> compiled = nullptr;
    std::vector<T> pending = {};
    std::map<std::string, std::pair<double, T>> worst = {};

    void add(T x) {
      pending.push_back(x);
      if (int64_t(pending.size()) == tokens * std::max<int64_t>(width, 1))
        flush();
    }

    void flush() {
      if (pending.empty())
        return;
      pending.resize(tokens * std::max<int64_t>(width, 1), T(1));
      constexpr DType dtype = sizeof(T) == 4 ? DType::F32 : DType::F64;
      llvm::SmallVector<int64_t> shape = {1, tokens, 1};
      if (width)
        shape.push_back(width);
      Tensor x = llvm::cantFail(Tensor::create(dtype, shape));
      std::memcpy(x.getRawData(), pending.data(), pending.size() * sizeof(T));
      TensorMap inputs;
      inputs.try_emplace("x", std::move(x));
      if (!spec)
        spec = test.parse(makeSource(width ? "K" : "", library));
      ConversionOptions conversion;
      conversion.dtype = conversion.gateDType = dtype;
      Problem problem = llvm::cantFail(
          bindProblem(spec, {}, std::move(inputs), conversion, false));
      if (!compiled) {
        CPUOptions options = CPUOptions::of(problem);
        options.cpu = cpu;
        auto made = CompiledRecurrence::compile(problem.recurrence, options);
        ASSERT_TRUE(succeeded(made));
        compiled = std::move(*made);
      }
      TensorMap results = llvm::cantFail(createResults(problem, false));
      llvm::cantFail(compiled->run(problem, results, 1));
      for (const Function<Wide> &function : functions<Wide>) {
        auto it = results.find("out.f" + std::string(function.name));
        if (it == results.end())
          continue;
        llvm::ArrayRef<T> got =
            std::as_const(it->second).template getValues<T>();
        auto &[most, at] = worst[function.name];
        for (size_t i = 0; i < got.size(); ++i) {
          double ulps =
              countUlps<T, Wide>(got[i], function.evaluate(pending[i]));
          if (pending[i] == 0 && got[i] == 0 &&
              std::signbit(got[i]) !=
                  std::signbit(function.evaluate(pending[i])))
            ulps = std::numeric_limits<double>::infinity();
          if (!(ulps <= most)) {
            most = ulps;
            at = pending[i];
          }
        }
      }
      pending.clear();
    }

    void expectAccurate(double limit) {
      flush();
      for (const auto &[name, found] : worst) {
        EXPECT_LE(found.first, limit)
            << name << " of " << found.second << " (width " << width << ")";
        test.RecordProperty(name, std::to_string(found.first));
      }
    }
  };

  /// Numbers at which functions change course.
  template <typename T, typename Add>
  static void addSpecial(Add add) {
    using Limits = std::numeric_limits<T>;
    for (T x : {T(0),
                Limits::infinity(),
                Limits::quiet_NaN(),
                Limits::max(),
                Limits::min(),
                Limits::denorm_min(),
                T(1),
                T(0.5),
                T(0.9),
                T(3.95),
                T(2) / 3,
                T(4) / 3,
                T(88.7228317),
                T(88.7228394),
                T(87.3365402),
                T(87.3365479),
                T(103.9),
                T(104),
                T(708.3),
                T(708.4),
                T(709.7),
                T(709.8),
                T(745.1),
                T(745.2),
                T(20),
                T(40)})
      for (T y : {x, std::nextafter(x, T(0)), std::nextafter(x, T(1e30))}) {
        add(y);
        add(-y);
      }
  }

  /// Every `step`th f32.
  template <typename Add>
  static void addPatterns32(uint64_t step, Add add) {
    addSpecial<float>(add);
    for (uint64_t bits = 0; bits < uint64_t(1) << 32; bits += step)
      add(llvm::bit_cast<float>(uint32_t(bits)));
  }
  /// Numbers of all sizes, and those where most functions are curved.
  template <typename Add>
  static void addPatterns64(int64_t count, Add add) {
    addSpecial<double>(add);
    for (int64_t i = 0; i < count; ++i) {
      add(llvm::bit_cast<double>(uint64_t(i) * 0x9e3779b97f4a7c15));
      double fraction = double(i) / double(count);
      add(80 * fraction - 40);
      add(1500 * fraction - 750);
      add(std::exp(60 * fraction - 50));
      add(-std::exp(60 * fraction - 50));
    }
  }
};

TEST_F(AccuracyTest, F32) {
  Sampler<float, double> sampler{*this, 64, "", /*library=*/false, 4096};
  addPatterns32(997, [&](float x) { sampler.add(x); });
  sampler.expectAccurate(4);
}

// Parts of vectors, and no vector at all.
TEST_F(AccuracyTest, F32OtherWidths) {
  for (int64_t width : {0, 1, 5, 37}) {
    Sampler<float, double> sampler{*this, width, "", true, 2048};
    addPatterns32(99991, [&](float x) { sampler.add(x); });
    sampler.expectAccurate(4);
  }
}

TEST_F(AccuracyTest, F64) {
  Sampler<double, long double> sampler{*this, 64, "", false, 512};
  addPatterns64(20000, [&](double x) { sampler.add(x); });
  sampler.expectAccurate(4);
  Sampler<double, long double> scalar{*this, 0, "", true, 4096};
  addPatterns64(1000, [&](double x) { scalar.add(x); });
  scalar.expectAccurate(4);
}

TEST_F(AccuracyTest, OtherProcessors) {
#if defined(__x86_64__)
  for (const char *cpu : {"x86-64", "x86-64-v3"}) {
    Sampler<float, double> f32{*this, 64, cpu, false, 256};
    addPatterns32(199999, [&](float x) { f32.add(x); });
    f32.expectAccurate(4);
    Sampler<double, long double> f64{*this, 64, cpu, false, 64};
    addPatterns64(500, [&](double x) { f64.add(x); });
    f64.expectAccurate(4);
  }
#else
  GTEST_SKIP() << "names processors of x86-64";
#endif
}

// The modes of the thread that calls are in force in all threads, change no
// more than roundings, and stay.
TEST_F(AccuracyTest, CallersModes) {
  RecurrenceOp spec = parse("larc.recurrence @r(%x[K]) -> (o[K]) {\n"
                            "  %e = larc.exp %x\n  %o = larc.tanh %e\n"
                            "  larc.yield %o\n}\n");
  ASSERT_TRUE(spec);
  constexpr int64_t heads = 6, size = 37;
  std::vector<double> x;
  x.reserve(heads * size);
  for (int64_t i = 0; i < heads * size; ++i)
    x.push_back(float(0.03 * double(i) - 5));
  TensorMap inputs;
  inputs.try_emplace("x", makeTensor({1, 1, heads, size}, x));
  ConversionOptions conversion;
  conversion.dtype = conversion.gateDType = DType::F32;
  Problem problem = llvm::cantFail(
      bindProblem(spec, {}, std::move(inputs), conversion, false));
  auto compiled =
      CompiledRecurrence::compile(problem.recurrence, CPUOptions::of(problem));
  ASSERT_TRUE(succeeded(compiled));
  auto run = [&](unsigned threads) {
    TensorMap results = llvm::cantFail(createResults(problem, false));
    llvm::cantFail((*compiled)->run(problem, results, threads));
    return getValues(results.at("out.o"));
  };
  std::vector<double> nearest = run(3);
  for (int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    std::vector<double> one = run(1), three = run(3);
    int after = std::fegetround();
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(after, mode);
    EXPECT_EQ(one, three);
    EXPECT_NE(one, nearest);
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_NEAR(one[i], nearest[i], 1e-6 * nearest[i]) << x[i];
  }
  EXPECT_EQ(run(3), nearest);
}

} // namespace
